"""Submissions into the registry: read, joined with the gold, and kept with their responses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from registry.errors import InputError, counted
from registry.evaluation.ingest.answer_ids import Responses
from registry.evaluation.ingest.content import content_digest
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import Declared
from registry.evaluation.ingest.join import Joined, Policies, join
from registry.evaluation.ingest.remarks import FEW, Remark, of_copy, of_runs, of_submission
from registry.identity import canonical_json
from registry.items import Answer, Item
from registry.readers import Document, Reader
from registry.store import catalog, models, statistics
from registry.store.log.journal import now
from registry.store.row_types import NamedSubmission, TestSetRow


class Change(StrEnum):
    """What an apply did to a submission; `rejoined`: it is as before, and stands against another gold."""

    added = "added"
    changed = "changed"
    rejoined = "joined with the changed gold"
    unchanged = "unchanged"


def apply_submission(ingest: Ingest, one: Declared) -> tuple[Change, Sequence[InputError]]:
    """Bring one submission into the registry, as far as it is new or changed.

    Gives what happened to it; and what is remarkable about it, if it was joined with the gold anew.

    Raises:
        InputError: The file is wrong, or the same system and version is there with other content.
    """
    ledger = ingest.ledger
    for document in one.documents:
        ingest.journal.read(document.name, document.digest)
    test_set = ingest.test_sets[one.test_set.name]
    there = ledger.find(test_set.test_set_id, (one.team, one.system, one.version))
    kept = [] if there is None else ledger.sources(there.submission_id)
    answers: list[Sequence[Answer]] | None = None
    if there is None or (kept, there.reader) != ([document.digest for document in one.documents], repr(one.reader)):
        items = ingest.items(test_set.gold_revision_id)
        answers = [one.read(one.bounded(document, items)) for document in one.documents]
        digest = content_digest(one.reader, items, answers)
        if there is not None and there.digest != digest:
            raise _other_content(f"{ingest.slug}/{one.test_set.name}/{one.name}", kept, one.documents)
    if there is not None and one.factors and one.factors != catalog.replicate_factors(
            ingest.connection, [there.submission_id]).get(there.submission_id):
        raise InputError(f"{ingest.slug}/{one.test_set.name}/{one.name} is in the registry with other prompts or "
                         "annotators of its runs; give these runs another version", path=one.documents[0].path)
    if there is None:
        there = _add_submission(ingest, test_set, one, digest)
        change = Change.added
    else:
        change = Change.changed if _redeclare(ingest, there, one) else Change.unchanged
    remarks = apply_scoring(ingest, there.submission_id, test_set, one, answers)
    if remarks is None:
        return change, ()
    n_items = len(ingest.items(test_set.gold_revision_id))
    if n_items >= FEW and (other := ledger.same_answers(there)) is not None:
        remarks.append(of_copy(other).error(one.documents[0].path))
    return Change.rejoined if change is Change.unchanged else change, remarks


def _other_content(name: str, kept: list[str], documents: tuple[Document, ...]) -> InputError:
    """Say that the submission called `name` is there with other content, read from files that had these digests."""
    other = next((document for document in documents if document.digest not in kept), documents[0])
    if other.digest in kept and len(kept) == len(documents):
        what = ", since it was read with other options; give it another version"
    elif len(kept) == len(documents) == 1:
        what = "; give this file another version"
    else:
        what = f" ({counted(len(kept), 'run')} there, {len(documents)} here); give these runs another version"
    return InputError(f"{name} is in the registry with other content{what}", path=other.path)


def apply_scoring(ingest: Ingest, submission_id: int, test_set: TestSetRow, one: Declared,
                  answers: list[Sequence[Answer]] | None) -> list[InputError] | None:
    """Join a submission's runs with the current gold; keep their responses, and what is remarkable about them.

    Gives the remarks; None where all that was done before.
    """
    key = submission_id, test_set.gold_revision_id, one.policies.missing
    if ingest.ledger.has_scoring(*key):
        return None
    answers = [one.read(document) for document in one.documents] if answers is None else answers
    items = ingest.items(test_set.gold_revision_id)
    fitted = fit(items, one.reader, one.documents, one.policies, answers)
    for run, document in zip(fitted.joined, one.documents, strict=True):
        for error in one.uncounted(items, run.answers, document.path):
            raise error
    scoring_id = ingest.ledger.add_scoring(*key, n_missing=fitted.n_missing, run_id=ingest.run_id)
    add_fitted(ingest, scoring_id, test_set.gold_revision_id, one.reader, fitted)
    return [*(remark.error(document.path) for of_run, document in zip(fitted.remarks, one.documents, strict=True)
              for remark in of_run), *of_runs(one.documents)]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A submission's runs joined with the gold, and what is remarkable about each."""

    joined: list[Joined]
    remarks: list[list[Remark]]

    @property
    def n_missing(self) -> int:
        """How many items have no answer, over all runs."""
        return sum(run.n_missing for run in self.joined)


def fit(items: Sequence[Item], reader: Reader, documents: Sequence[Document], policies: Policies,
        answers: Sequence[Sequence[Answer]]) -> Fitted:
    """Join the answers of a submission's runs, one document each, with the gold's items.

    Raises:
        InputError: Answers do not fit the gold, and the policies do not allow that.
    """
    joined = [join(items, of_run, reader, policies, document.path)
              for of_run, document in zip(answers, documents, strict=True)]
    return Fitted(joined, [list(of_submission(items, run, reader, document, missing=policies.missing))
                           for run, document in zip(joined, documents, strict=True)])


def add_fitted(ingest: Ingest, scoring_id: int, gold_revision_id: int, reader: Reader, fitted: Fitted) -> None:
    """Keep the responses of a submission that fits the gold, and what is remarkable about it."""
    runs = [run.answers for run in fitted.joined]
    ingest.parsed.keep_answers(scoring_id, runs)
    _add_responses(ingest, scoring_id, gold_revision_id, reader, runs)
    ingest.ledger.add_rows(models.remark, [
        {"scoring_id": scoring_id, "replicate": replicate, "category": remark.category, "code": remark.message.code,
         "parameters": canonical_json(remark.message.parameters)}
        for replicate, of_run in enumerate(fitted.remarks) for remark in of_run])


def rejoin(ingest: Ingest, test_set: TestSetRow, submission: NamedSubmission) -> None:
    """Join a submission that is in the registry with the current gold, from its kept files."""
    reader, documents = ingest.parsed.submitted(submission.submission_id)
    one = Declared(ingest.task.manifest.test_set_named(test_set.name), submission.team, submission.system,
                   submission.version, documents, reader, Policies(submission.missing, tokens="warn"))
    apply_scoring(ingest, submission.submission_id, test_set, one, None)


def _declaration(one: Declared) -> dict[str, Any]:
    """What is declared of a submission that may be declared otherwise later."""
    return {"kind": one.kind, "track": one.track, "withdrawn": one.withdrawn, "late": one.late,
            "attributes": one.attributes}


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
    declaration, before = _declaration(one), _declaration(replace(
        one, kind="primary", track=ingest.task.manifest.submission.track, withdrawn=False, late=False, attributes={}))
    if one.of_manifest and there.declared is not None:
        before = json.loads(there.declared)
    wanted = _columns(ingest, {name: value for name, value in declaration.items() if value != before[name]})
    changed = {name: value for name, value in (wanted | {"missing": one.policies.missing}).items()
               if getattr(there, name) != value}
    declared = {"declared": canonical_json(declaration)} if one.of_manifest else {}
    if not changed and declared.get("declared", there.declared) == there.declared:
        return False
    catalog.set_values(ingest.connection, models.submission, there.submission_id, **changed, **declared)
    ingest.event("submission-changed", f"{ingest.slug}/{one.test_set.name}/{one.name}", **changed, **declared,
                 **_why(one))
    return bool(changed)


def _add_submission(ingest: Ingest, test_set: TestSetRow, one: Declared, digest: str) -> NamedSubmission:
    declaration = _declaration(one)
    properties = _columns(ingest, declaration) | {
        "missing": one.policies.missing, "declared": canonical_json(declaration) if one.of_manifest else None}
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


def _add_responses(ingest: Ingest, scoring_id: int, gold_revision_id: int, reader: Reader,
                   runs: Sequence[Sequence[Answer | None]]) -> None:
    """Keep every answer of the submission's runs as a response, and as an answer where nobody gave it before."""
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
