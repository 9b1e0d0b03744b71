"""Read the files of submissions, join them with the gold, and store them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from registry.errors import InputError, counted
from registry.evaluation.ingest.answer_ids import Responses
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import DeclaredSubmission
from registry.evaluation.ingest.fit import FittedFile, Policies, digest_submission
from registry.evaluation.ingest.problems import read_submission
from registry.evaluation.ingest.remarks import FEW, describe_copy, find_equal_files
from registry.identity import canonical_json
from registry.items import Item
from registry.missing import MissingPolicy
from registry.readers import READERS, Document, Reader, Scores
from registry.store import catalog, models, statistics
from registry.store.catalog import NamedSubmission, TestSetRow
from registry.store.log import now
from registry.submission_fields import DECLARED
from registry.values import parse


class Change(StrEnum):
    """What a command has changed in a submission or in the gold.

    `rejoined` means that the submission is unchanged, but was matched with changed gold.
    """

    added = "added"
    changed = "changed"
    rejoined = "joined with the changed gold"
    unchanged = "unchanged"


def store_submission(ingest: Ingest, submission: DeclaredSubmission) -> tuple[Change, list[InputError]]:
    """Store one submission if it is new or changed.

    Returns:
        What has changed, and warnings about the files.

    Raises:
        InputError: A file is invalid, or the same version of the system is stored with other content.
    """
    ledger, documents = ingest.ledger, submission.documents
    for document in documents:
        ingest.journal.read(document.name, document.digest)
    test_set = ingest.test_sets[submission.test_set.name]
    revision = test_set.gold_revision_id
    stored = ledger.find(test_set.test_set_id, (submission.team, submission.system, submission.version))
    sources = [] if stored is None else ledger.sources(stored.submission_id)
    has_same_files = stored is not None and sources == [document.digest for document in documents] and (
        _read_alike(stored.reader, submission.reader))
    is_joined = stored is not None and ledger.has_scoring(
        stored.submission_id, revision, submission.policies.missing.value)
    needs_no_reading = stored is not None and is_joined and ingest.collector is None and (
        has_same_files or _has_content(submission, ingest.items(revision), stored.digest))
    files = [] if needs_no_reading else read_submission(submission, ingest.items(revision), ingest.collector)
    digest = None if has_same_files or needs_no_reading else digest_submission(
        submission.reader, ingest.items(revision), [file.answers for file in files])
    full_name = f"{ingest.slug}/{submission.test_set.name}/{submission.name}"
    if stored is not None:
        if digest not in (None, stored.digest):
            raise _make_content_error(full_name, sources, documents)
        if submission.factors and submission.factors != catalog.replicate_factors(
                ingest.connection, [stored.submission_id]).get(stored.submission_id):
            raise InputError(f"{full_name} is already stored, and its stored runs have other prompts or annotators; "
                             "choose another version for the new runs", path=documents[0].path)
    if stored is None:
        assert digest is not None
        stored, change = _add_submission(ingest, test_set, submission, digest), Change.added
    else:
        change = Change.changed if _update_declaration(ingest, stored, submission) else Change.unchanged
    if not is_joined:
        _add_scoring(ingest, stored.submission_id, revision, submission, files)
        change = Change.rejoined if change is Change.unchanged else change
    elif ingest.collector is None:
        return change, []
    remarks = [remark.error(document.path) for file, document in zip(files, documents, strict=True)
               for remark in file.remarks]
    remarks += find_equal_files(documents)
    if len(ingest.items(revision)) >= FEW and (other := ledger.same_answers(stored)) is not None:
        remarks.append(describe_copy(other).error(documents[0].path))
    return change, remarks


def _read_alike(stored: str, reader: Reader) -> bool:
    """Return True if a stored reader reads a file in the same way as another reader.

    Columns of scores may differ if metrics need more columns than before.
    """
    if stored == repr(reader) or not isinstance(reader, Scores):
        return stored == repr(reader)
    other = parse("reader", READERS, stored)
    return isinstance(other, Scores) and reader.score in ("", other.score) and replace(
        other, score=reader.score, other_scores=reader.other_scores) == reader


def _has_content(submission: DeclaredSubmission, items: Sequence[Item], digest: str) -> bool:
    answers = [submission.read_answers(submission.bound(document, items)) for document in submission.documents]
    return digest_submission(submission.reader, items, answers) == digest


def _make_content_error(name: str, sources: list[str], documents: tuple[Document, ...]) -> InputError:
    """Make the error that a submission is already stored with other answers.

    Args:
        name: Full name of the submission.
        sources: Digests of the stored files.
        documents: The new files.
    """
    other = next((document for document in documents if document.digest not in sources), documents[0])
    if other.digest in sources and len(sources) == len(documents):
        difference = (", because the registry read the file with other options; restore the options, or set another "
                      "version, which leaderboards show; if nothing is published yet, you can also store the task in a "
                      "new registry: registry run MANIFEST --db NEW.duckdb")
    elif len(sources) == len(documents) == 1:
        difference = "; to store this file, set another version; to keep the stored answers, restore the old file"
    else:
        difference = (f" ({counted(len(sources), 'run')} stored, {len(documents)} submitted); to store these runs, set "
                      "another version")
    return InputError(f"{name} is already stored with different answers{difference}", path=other.path)


def _add_scoring(ingest: Ingest, submission_id: int, gold_revision_id: int, submission: DeclaredSubmission,
                 files: Sequence[FittedFile]) -> None:
    scoring_id = ingest.ledger.add_scoring(
        submission_id, gold_revision_id, submission.policies.missing.value,
        n_missing=sum(file.joined.n_missing for file in files), run_id=ingest.run_id)
    store_files(ingest, scoring_id, gold_revision_id, submission.reader, files)


def store_files(ingest: Ingest, scoring_id: int, gold_revision_id: int, reader: Reader,
                files: Sequence[FittedFile]) -> None:
    """Store the answers in a submission's files, and the warnings about the files."""
    runs = [file.joined for file in files]
    ingest.parsed.add_joined(scoring_id, runs)
    ingest.ledger.add_rows(models.scoring_message, [
        {"scoring_id": scoring_id, "replicate": replicate, "category": remark.category, "code": remark.message.code,
         "parameters": canonical_json(remark.message.parameters)}
        for replicate, file in enumerate(files) for remark in file.remarks])
    if type(reader).answer_set is Reader.answer_set and reader.gives != "label":
        return  # neither labels nor sets of answers, so there are no responses
    ledger, responses = ingest.ledger, [Responses.from_run(run, reader) for run in runs]
    assigned = ingest.parsed.answer_ids(gold_revision_id).assign(responses, ledger.reserve(models.answer, 0))
    if assigned.new:
        item_ids, names = zip(*assigned.new, strict=True)
        keys, types = zip(*names, strict=True)
        ledger.add_columns(models.answer, statistics.answer_columns(
            gold_revision_id, ledger.reserve(models.answer, len(keys)), item_ids, keys, types, in_gold=False),
            len(keys))
    ledger.add_columns(models.response, statistics.response_columns(
        scoring_id, [len(run.places) for run in responses], assigned.answer_ids, assigned.correct,
        np.concatenate([run.scores for run in responses])), len(assigned.answer_ids))


def rejoin(ingest: Ingest, test_set: TestSetRow, submission: NamedSubmission) -> None:
    """Read the stored files of a submission, and match them with the current gold.

    Raises:
        InputError: The submission does not fit the new gold.
    """
    missing = MissingPolicy(submission.missing)
    if ingest.ledger.has_scoring(submission.submission_id, test_set.gold_revision_id, missing.value):
        return
    reader, documents = ingest.parsed.load_submitted_files(submission.submission_id)
    declared = DeclaredSubmission(
        ingest.task.manifest.get_test_set(test_set.name), submission.team, submission.system, submission.version,
        documents, reader, Policies(missing, tokens="warn"))
    files = read_submission(declared, ingest.items(test_set.gold_revision_id), None)
    _add_scoring(ingest, submission.submission_id, test_set.gold_revision_id, declared, files)


def _make_columns(ingest: Ingest, declaration: Mapping[str, Any]) -> dict[str, Any]:
    columns = dict(declaration)
    if "track" in columns:
        track = columns.pop("track")
        columns["track_id"] = None if track is None else ingest.ledger.track_id(track)
    if "attributes" in columns:
        columns["attributes"] = canonical_json(columns["attributes"])
    return columns


def _make_reason(submission: DeclaredSubmission) -> dict[str, str]:
    return {} if submission.reason is None else {"reason": submission.reason}


def _update_declaration(ingest: Ingest, stored: NamedSubmission, submission: DeclaredSubmission) -> bool:
    """Store declared values of a submission, such as the track, if they have changed.

    The latest declaration counts. If a value in the manifest has not changed since the manifest was last applied, it
    does not undo a command that changed the value later.

    Returns:
        True if a value of the submission has changed.
    """
    declaration, previous = submission.declaration, DECLARED | {"track": ingest.task.manifest.submission.track}
    if submission.is_in_manifest and stored.declared is not None:
        previous = json.loads(stored.declared)
    columns = _make_columns(ingest, {name: value for name, value in declaration.items() if value != previous[name]})
    columns["missing"] = submission.policies.missing.value
    changed = {name: value for name, value in columns.items() if getattr(stored, name) != value}
    declared = {"declared": canonical_json(declaration)} if submission.is_in_manifest else {}
    if not changed and declared.get("declared", stored.declared) == stored.declared:
        return False
    catalog.set_values(ingest.connection, models.submission, stored.submission_id, **changed, **declared)
    ingest.log_event("submission-changed", f"{ingest.slug}/{submission.test_set.name}/{submission.name}", **changed,
                     **declared, **_make_reason(submission))
    return bool(changed)


def _add_submission(ingest: Ingest, test_set: TestSetRow, submission: DeclaredSubmission,
                    digest: str) -> NamedSubmission:
    properties = _make_columns(ingest, submission.declaration) | {
        "missing": submission.policies.missing.value,
        "declared": canonical_json(submission.declaration) if submission.is_in_manifest else None}
    added = ingest.ledger.add(
        test_set, (submission.team, submission.system, submission.version),
        [(document.digest, document.name) for document in submission.documents],
        reader=repr(submission.reader), digest=digest, run_id=ingest.run_id, created_at=now(), **properties)
    ingest.ledger.add_rows(models.replicate_factor, [
        {"submission_id": added.submission_id, "replicate": replicate, "factor": factor, "level": level}
        for replicate, levels in enumerate(submission.factors) for factor, level in levels.items()])
    if submission.factors:
        properties["factors"] = canonical_json(submission.factors)
    for document in submission.documents:
        ingest.store_document(document)
    ingest.log_event("submission-added", f"{ingest.slug}/{submission.test_set.name}/{submission.name}",
                     source=", ".join(document.digest for document in submission.documents), digest=digest,
                     **properties, **_make_reason(submission))
    return added
