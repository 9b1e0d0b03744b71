"""Submissions into the registry: read, joined with the gold, and kept with their responses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from registry.errors import InputError, counted
from registry.evaluation.ingest.answer_ids import Responses
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import Declared
from registry.evaluation.ingest.fit import FittedFile, Policies, content_digest
from registry.evaluation.ingest.problems import read_submission
from registry.evaluation.ingest.remarks import FEW, describe_copy, find_equal_files
from registry.identity import canonical_json
from registry.items import Item
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.store import catalog, models, statistics
from registry.store.catalog import NamedSubmission, TestSetRow
from registry.store.log import now
from registry.submission_fields import DECLARED


class Change(StrEnum):
    """What an apply did to a submission; `rejoined`: it is as before, and stands against another gold."""

    added = "added"
    changed = "changed"
    rejoined = "joined with the changed gold"
    unchanged = "unchanged"


def apply_submission(ingest: Ingest, one: Declared) -> tuple[Change, list[InputError]]:
    """Store one submission, as far as it is new or changed.

    Returns:
        What happened to it, and what is surprising about it if it was joined with the gold.

    Raises:
        InputError: A file is refused, or the same system and version is stored with other content.
    """
    ledger, documents = ingest.ledger, one.documents
    for document in documents:
        ingest.journal.read(document.name, document.digest)
    test_set = ingest.test_sets[one.test_set.name]
    revision = test_set.gold_revision_id
    stored = ledger.find(test_set.test_set_id, (one.team, one.system, one.version))
    kept = [] if stored is None else ledger.sources(stored.submission_id)
    is_read = stored is not None and (kept, stored.reader) == (
        [document.digest for document in documents], repr(one.reader))
    is_joined = stored is not None and ledger.has_scoring(
        stored.submission_id, revision, one.policies.missing.value)
    is_done = stored is not None and is_joined and ingest.collector is None and (
        is_read or _has_content(one, ingest.items(revision), stored.digest))
    files = [] if is_done else read_submission(one, ingest.items(revision), ingest.collector)
    digest = None if is_read or is_done else content_digest(
        one.reader, ingest.items(revision), [file.answers for file in files])
    if stored is not None:
        if digest not in (None, stored.digest):
            raise _describe_other_content(f"{ingest.slug}/{one.test_set.name}/{one.name}", kept, documents)
        if one.factors and one.factors != catalog.replicate_factors(
                ingest.connection, [stored.submission_id]).get(stored.submission_id):
            raise InputError(f"{ingest.slug}/{one.test_set.name}/{one.name} is in the registry with other prompts or "
                             "annotators of its runs; give these runs another version", path=documents[0].path)
    if stored is None:
        assert digest is not None
        stored, change = _add_submission(ingest, test_set, one, digest), Change.added
    else:
        change = Change.changed if _redeclare(ingest, stored, one) else Change.unchanged
    if not is_joined:
        _add_scoring(ingest, stored.submission_id, revision, one, files)
        change = Change.rejoined if change is Change.unchanged else change
    elif ingest.collector is None:
        return change, []
    remarks = [remark.error(document.path) for file, document in zip(files, documents, strict=True)
               for remark in file.remarks]
    remarks += find_equal_files(documents)
    if len(ingest.items(revision)) >= FEW and (other := ledger.same_answers(stored)) is not None:
        remarks.append(describe_copy(other).error(documents[0].path))
    return change, remarks


def _has_content(one: Declared, items: Sequence[Item], digest: str) -> bool:
    """Return whether the files, read with the declared options, have the content with this digest."""
    return content_digest(one.reader, items, [one.read(one.bounded(document, items))
                                              for document in one.documents]) == digest


def _describe_other_content(name: str, kept: list[str], documents: tuple[Document, ...]) -> InputError:
    """Say that the submission called `name` is there with other content, read from files that had these digests."""
    other = next((document for document in documents if document.digest not in kept), documents[0])
    if other.digest in kept and len(kept) == len(documents):
        what = ", since it was read with other options; give it another version"
    elif len(kept) == len(documents) == 1:
        what = "; give this file another version"
    else:
        what = f" ({counted(len(kept), 'run')} there, {len(documents)} here); give these runs another version"
    return InputError(f"{name} is in the registry with other content{what}", path=other.path)


def _add_scoring(ingest: Ingest, submission_id: int, gold_revision_id: int, one: Declared,
                 files: Sequence[FittedFile]) -> None:
    """Store how a submission's runs are joined with the gold, and their responses."""
    scoring_id = ingest.ledger.add_scoring(
        submission_id, gold_revision_id, one.policies.missing.value,
        n_missing=sum(file.joined.n_missing for file in files), run_id=ingest.run_id)
    add_files(ingest, scoring_id, gold_revision_id, one.reader, files)


def add_files(ingest: Ingest, scoring_id: int, gold_revision_id: int, reader: Reader,
              files: Sequence[FittedFile]) -> None:
    """Store the responses of a submission that fits the gold, and what is surprising about it."""
    runs = [file.joined for file in files]
    ingest.parsed.keep_answers(scoring_id, runs)
    ingest.ledger.add_rows(models.scoring_message, [
        {"scoring_id": scoring_id, "replicate": replicate, "category": remark.category, "code": remark.message.code,
         "parameters": canonical_json(remark.message.parameters)}
        for replicate, file in enumerate(files) for remark in file.remarks])
    if type(reader).answer_set is Reader.answer_set and reader.gives != "label":
        return  # labels are their own answers, others have none
    ledger, responses = ingest.ledger, [Responses.of(run, reader) for run in runs]
    given = ingest.parsed.answer_ids(gold_revision_id).take(responses, ledger.reserve(models.answer, 0))
    if given.new:
        item_ids, names = zip(*given.new, strict=True)
        keys, types = zip(*names, strict=True)
        ledger.add_columns(models.answer, statistics.answer_columns(
            gold_revision_id, ledger.reserve(models.answer, len(keys)), item_ids, keys, types, in_gold=False),
            len(keys))
    ledger.add_columns(models.response, statistics.response_columns(
        scoring_id, [len(run.places) for run in responses], given.answer_ids, given.correct,
        np.concatenate([run.scores for run in responses])), len(given.answer_ids))


def rejoin(ingest: Ingest, test_set: TestSetRow, submission: NamedSubmission) -> None:
    """Join a stored submission with the current gold, from its stored files.

    Raises:
        InputError: It does not fit the new gold.
    """
    missing = MissingPolicy(submission.missing)
    if ingest.ledger.has_scoring(submission.submission_id, test_set.gold_revision_id, missing.value):
        return
    reader, documents = ingest.parsed.submitted(submission.submission_id)
    one = Declared(ingest.task.manifest.get_test_set(test_set.name), submission.team, submission.system,
                   submission.version, documents, reader, Policies(missing, tokens="warn"))
    files = read_submission(one, ingest.items(test_set.gold_revision_id), None)
    _add_scoring(ingest, submission.submission_id, test_set.gold_revision_id, one, files)


def _columns(ingest: Ingest, declaration: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a declaration, or of some of it."""
    columns = dict(declaration)
    if "track" in columns:
        track = columns.pop("track")
        columns["track_id"] = None if track is None else ingest.ledger.track_id(track)
    if "attributes" in columns:
        columns["attributes"] = canonical_json(columns["attributes"])
    return columns


def _why(one: Declared) -> dict[str, str]:
    return {} if one.reason is None else {"reason": one.reason}


def _redeclare(ingest: Ingest, there: NamedSubmission, one: Declared) -> bool:
    """Take over what is declared otherwise than it was last; says whether that changes the submission.

    Whoever declares something last is right: what the manifest still says as it did before does not undo what a command
    has said since. What it says for the first time counts where it differs from what goes without saying.
    """
    declaration, before = one.declaration, DECLARED | {"track": ingest.task.manifest.submission.track}
    if one.of_manifest and there.declared is not None:
        before = json.loads(there.declared)
    wanted = _columns(ingest, {name: value for name, value in declaration.items() if value != before[name]})
    changed = {name: value for name, value in (wanted | {"missing": one.policies.missing.value}).items()
               if getattr(there, name) != value}
    declared = {"declared": canonical_json(declaration)} if one.of_manifest else {}
    if not changed and declared.get("declared", there.declared) == there.declared:
        return False
    catalog.set_values(ingest.connection, models.submission, there.submission_id, **changed, **declared)
    ingest.event("submission-changed", f"{ingest.slug}/{one.test_set.name}/{one.name}", **changed, **declared,
                 **_why(one))
    return bool(changed)


def _add_submission(ingest: Ingest, test_set: TestSetRow, one: Declared, digest: str) -> NamedSubmission:
    properties = _columns(ingest, one.declaration) | {
        "missing": one.policies.missing.value, "declared": canonical_json(one.declaration) if one.of_manifest else None}
    added = ingest.ledger.add(
        test_set, (one.team, one.system, one.version),
        [(document.digest, document.name) for document in one.documents],
        reader=repr(one.reader), digest=digest, run_id=ingest.run_id, created_at=now(), **properties)
    ingest.ledger.add_rows(models.replicate_factor, [
        {"submission_id": added.submission_id, "replicate": replicate, "factor": factor, "level": level}
        for replicate, of_run in enumerate(one.factors) for factor, level in of_run.items()])
    if one.factors:
        properties["factors"] = canonical_json(one.factors)
    for document in one.documents:
        ingest.keep(document)
    ingest.event("submission-added", f"{ingest.slug}/{one.test_set.name}/{one.name}",
                 source=", ".join(document.digest for document in one.documents), digest=digest, **properties,
                 **_why(one))
    return added
