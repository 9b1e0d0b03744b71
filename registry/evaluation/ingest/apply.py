"""Store the task, gold and submissions of a manifest, unless they are unchanged."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from registry.errors import (
    InputError,
    ManifestError,
    MismatchError,
    Refuse,
    RegistryError,
    add_keys,
    combine_errors,
    suggest,
)
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import DeclaredSubmission, check_runs, expand_submissions
from registry.evaluation.ingest.gold import check_names, digest_gold, read_gold
from registry.evaluation.ingest.hiding import (
    describe_hiding,
    describe_salt,
    draw_salt,
    find_new_hiding,
    refuse_candidate,
)
from registry.evaluation.ingest.problems import read_submission
from registry.evaluation.ingest.remarks import find_gold_warnings
from registry.evaluation.ingest.similar_names import SimilarNames, find_similar_names
from registry.evaluation.ingest.submissions import Change, rejoin, store_submission
from registry.evaluation.resolve import ResolvedTask, choose_unit
from registry.evaluation.submissions.life import check_limits, describe_lateness, update_lateness
from registry.evaluation.submissions.purge import find_tombstone
from registry.identity import digest
from registry.items import Item
from registry.manifest import Manifest, TestSet, decode_manifest
from registry.manifest.naming import natural_key
from registry.parallel.execution import with_progress
from registry.readers import Reader
from registry.store import catalog, models, sources, statistics
from registry.store.catalog import GoldRevisionRow, TaskRow, TestSetRow
from registry.store.log import now
from registry.store.rows import insert, insert_bulk, next_id


@dataclass
class IngestSummary:
    """Changes and messages of a command that stores a task or submissions.

    Attributes:
        task: The task's id.
        task_changed: True if the declaration of the task is new or changed.
        gold: Changes of the gold by test set; test sets with unchanged gold are absent.
        changes: Changes of submissions, by their names `test_set/team/system@version`.
        drawn_seed: The random seed of a new task whose manifest has no seed; otherwise None.
        warnings: Warnings about the task.
        remarks: Warnings about submissions.
        similar: New names of teams and systems that look like other names.
        registry_warnings: Warnings about data that was already stored.
        notes: Other messages.
    """

    task: str
    task_changed: bool = False
    gold: dict[str, Change] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    drawn_seed: int | None = None
    warnings: list[str] = field(default_factory=list)
    remarks: list[InputError] = field(default_factory=list)
    similar: list[SimilarNames] = field(default_factory=list)
    registry_warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def apply(ingest: Ingest, content: bytes) -> IngestSummary:
    """Store the task, gold and submissions that a manifest declares.

    If all of them are already stored and unchanged, `apply` changes nothing.

    Args:
        ingest: State of the command: its connection, task and caches. If it has a collector, the collector receives all
            problems. Otherwise, the first problem is raised.
        content: The manifest's bytes.

    Raises:
        InputError: A file is invalid.
        MismatchError: The gold has changed, but not the version of the task.
    """
    task, refuse = ingest.task, ingest.refuse
    summary, submissions = IngestSummary(ingest.slug), list(expand_submissions(task, refuse))
    check_runs(task, submissions, refuse)
    _check_units(task, refuse)
    ingest.journal.read(task.root.manifest_name, digest(content))
    previous = _store_task(ingest, content, summary)
    if previous is not None:
        _apply_deadlines(ingest, decode_manifest(previous.manifest), summary)
    refused_test_sets, stored_names = _store_all_gold(ingest, previous, summary), ingest.ledger.names

    def store(submission: DeclaredSubmission) -> None:
        try:
            if (tombstone := _find_tombstone(ingest, submission)) is not None:
                raise ManifestError(f"the team of {submission.name} was purged and is now called {tombstone}; remove "
                                    "its files and [[submit]], or submit new files by `registry submit` first",
                                    path=task.root.manifest)
            if submission.test_set.name not in refused_test_sets:
                _store_submission(ingest, submission, summary)
            elif ingest.collector is not None:
                read_submission(submission.load_files(ingest.parsed.load), None, ingest.collector)
        except InputError as error:
            refuse(error)

    for _ in with_progress(map(store, submissions), len(submissions), "submissions to read", ingest.progress):
        pass
    summary.similar = find_similar_names(ingest.slug, stored_names, ingest.ledger.names)
    ingest.write()
    _rejoin_undeclared(ingest, submissions, summary)
    ingest.write()
    return summary


def submit(ingest: Ingest, submission: DeclaredSubmission) -> IngestSummary:
    """Check and store one submission that the command `registry submit` receives.

    Raises:
        InputError: A file is invalid, the same version of the system is stored with other content, or the team has
            reached a limit.
    """
    summary = IngestSummary(ingest.slug)
    check_runs(ingest.task, [submission])
    tracks = catalog.tracks(ingest.connection, ingest.task_id)
    track = submission.declaration["track"]
    if track is not None and track not in {ingest.task.manifest.submission.track, *tracks}:
        summary.warnings.append(f"track {track!r} is new to {ingest.slug}; {suggest(track, tracks)}")
    if (tombstone := _find_tombstone(ingest, submission)) is not None:
        summary.notes.append(
            f"a team of that name was purged from {ingest.slug} and is now called {tombstone}; this is a new team")
    stored_names = ingest.ledger.names
    _store_submission(ingest, _apply_rules(ingest, submission, summary), summary)
    summary.similar = find_similar_names(ingest.slug, stored_names, ingest.ledger.names)
    ingest.write()
    return summary


def import_submissions(ingest: Ingest, submissions: Sequence[DeclaredSubmission]) -> IngestSummary:
    """Store submissions that were sent to another platform.

    The limits of the task do not apply to them. Submissions of purged teams are skipped.

    Raises:
        InputError: Some submissions are refused. The error contains the errors of all refused submissions.
    """
    summary, errors, stored_names = IngestSummary(ingest.slug), list[InputError](), ingest.ledger.names
    check_runs(ingest.task, submissions)
    for submission in with_progress(submissions, len(submissions), "submissions to read", ingest.progress):
        if (tombstone := _find_tombstone(ingest, submission)) is not None:
            summary.notes.append(f"a submission was skipped, because its team was purged and is now called {tombstone}")
            continue
        try:
            _store_submission(ingest, submission, summary)
        except InputError as error:
            errors.append(error)
    if errors:
        raise combine_errors(errors)
    summary.similar = find_similar_names(ingest.slug, stored_names, ingest.ledger.names)
    ingest.write()
    return summary


def _find_tombstone(ingest: Ingest, submission: DeclaredSubmission) -> str | None:
    """Return the new name of a submission's team if the team was purged.

    A purge deletes the data of a team and renames it. The renamed team is a tombstone.

    Returns:
        The name; None if the team was not purged, or if it has submitted again after the purge.
    """
    if ingest.ledger.has_team(submission.team):
        return None
    return find_tombstone(ingest.tombstones, submission.team)


def _apply_rules(ingest: Ingest, submission: DeclaredSubmission, summary: IngestSummary) -> DeclaredSubmission:
    """Check a new submission against the task's limits and deadline.

    Returns:
        The submission; marked as late if it comes after the deadline.
    """
    manifest, moment = ingest.task.manifest, now()
    test_set_id = ingest.test_sets[submission.test_set.name].test_set_id
    if ingest.ledger.find(test_set_id, (submission.team, submission.system, submission.version)) is not None:
        return submission
    check_limits(ingest.connection, manifest, test_set_id, submission.team, moment)
    if (lateness := describe_lateness(manifest, submission.test_set.name, moment)) is None:
        return submission
    summary.warnings.append(f"{submission.name} {lateness}; {_describe_late(manifest)}")
    return replace(submission, declaration={**submission.declaration, "late": True})


def _describe_late(manifest: Manifest) -> str:
    return "it counts as late" + ("" if manifest.board.rank_late else " and has no rank")


def _apply_deadlines(ingest: Ingest, previous: Manifest, summary: IngestSummary) -> None:
    manifest = ingest.task.manifest
    if [previous.task.deadline, *(test_set.deadline for test_set in previous.test_set)] == [
            manifest.task.deadline, *(test_set.deadline for test_set in manifest.test_set)]:
        return
    for name, late in update_lateness(ingest.connection, ingest.journal, ingest.task_id, manifest):
        if late:
            summary.warnings.append(f"{name} is late by the new deadline; {_describe_late(manifest)}")
        else:
            summary.notes.append(f"{name} is in time by the new deadline")


def _store_all_gold(ingest: Ingest, previous: TaskRow | None, summary: IngestSummary) -> set[str]:
    """Store the gold of every test set, and return the test sets with invalid gold.

    Args:
        ingest: State of the command: its connection, task and caches.
        previous: The task before this command; None if the task is new.
        summary: Receives changes and warnings.
    """
    task, collector, refused = ingest.task, ingest.collector, set[str]()
    test_sets = {row.name: row for row in catalog.test_sets(ingest.connection, ingest.task_id)}
    for test_set in task.manifest.test_set:
        stored = test_sets[test_set.name]
        try:
            revision = _store_gold(ingest, test_set, stored, previous, redeclared=summary.task_changed)
        except RegistryError as error:
            ingest.refuse(error)
            refused.add(test_set.name)
            continue
        if revision is not None:
            summary.gold[test_set.name] = Change.added if stored.gold_revision_id is None else Change.changed
        if collector is not None and revision is None:
            revision = stored.gold_revision_id
        if revision is not None:
            items = ingest.items(revision)
            summary.warnings += find_gold_warnings(items, task.readers[test_set.name], test_set.gold or "",
                                                   task.get_metrics(test_set.name))
            if collector is not None:
                collector.items[test_set.name] = items
    if (summary.task_changed or summary.gold or collector is not None) and not refused:
        try:
            summary.warnings += check_names(task, {
                name: partial(catalog.gold_names, ingest.connection, row.gold_revision_id)
                for name, row in ingest.test_sets.items()})
        except ManifestError as error:
            ingest.refuse(error)
    return refused


def _store_submission(ingest: Ingest, submission: DeclaredSubmission, summary: IngestSummary) -> None:
    submission = submission.load_files(ingest.parsed.load)  # a file may change during the command
    change, remarks = store_submission(ingest, submission)
    summary.changes[f"{submission.test_set.name}/{submission.name}"] = change
    summary.remarks += remarks
    if ingest.collector is not None:
        ingest.collector.warn(submission.test_set.name, remarks)


def _check_units(task: ResolvedTask, refuse: Refuse) -> None:
    """Report an error if a test set declares clusters, and the test cannot use them.

    There is no error if the manifest names another unit, such as `unit = "item"`.
    """
    for test_set in task.manifest.test_set:
        try:
            choose_unit(task.manifest.significance, test_set.name, test_set.cluster)
        except InputError as error:
            refuse(add_keys([("significance.test", error)], task.root.manifest))


def _store_task(ingest: Ingest, content: bytes, summary: IngestSummary) -> TaskRow | None:
    """Store what a manifest declares: the task, its test sets and its metrics.

    Args:
        ingest: State of the command: its connection, task and caches.
        content: The manifest's bytes.
        summary: Receives changes and warnings.

    Returns:
        The row of the task before this command; None if the task is new.
    """
    connection, task, manifest = ingest.connection, ingest.task, ingest.task.manifest
    row = catalog.find(connection, TaskRow, slug=manifest.task.id)
    values: dict[str, Any] = {
        "title": manifest.task.title, "version": manifest.task.version, "manifest": task.stored,
        "manifest_digest": task.stored_digest}
    if manifest.significance.seed is not None:
        values["seed"] = manifest.significance.seed
    hiding = find_new_hiding(manifest, row)
    values |= hiding
    try:
        refuse_candidate(manifest, row, hiding)
    except InputError as error:
        ingest.refuse(error)
    salt = draw_salt(row, hiding, gold=manifest.release.gold)
    values |= salt
    if row is None:
        if "seed" not in values:
            values["seed"] = summary.drawn_seed = secrets.randbelow(2**31)
        insert(connection, models.task, slug=manifest.task.id, created_at=now(), **values)
        summary.task_changed = True
    elif any(getattr(row, column) != value for column, value in values.items()):
        if natural_key(manifest.task.version) < natural_key(row.version):
            summary.registry_warnings.append(f"task.version goes down, from {row.version!r} to "
                                             f"{manifest.task.version!r}; is this an older manifest?")
        catalog.set_values(connection, models.task, row.task_id, **values)
        summary.task_changed = True
    catalog.declare_test_sets(connection, ingest.task_id, [
        (test_set.name, test_set.cluster) for test_set in manifest.test_set])
    metrics = []
    for alias, metric in task.metrics.items():
        metric_id = catalog.find_or_insert(connection, models.metric, {"name": repr(metric)}, family=metric.family,
                                           better=metric.better)
        metrics.append((alias, metric_id, alias == manifest.primary.id))
    summary.task_changed |= catalog.declare_metrics(connection, ingest.task_id, metrics)
    if summary.task_changed:
        sources.store(connection, digest(content), task.root.manifest_name, content)
        ingest.log_event("task", ingest.slug, version=manifest.task.version, manifest=digest(content),
                         normalized=task.stored_digest, seed=values.get("seed"), **describe_hiding(hiding),
                         **describe_salt(salt))
    return row


def _rejoin_undeclared(ingest: Ingest, submissions: Sequence[DeclaredSubmission], summary: IngestSummary) -> None:
    """Match stored submissions that are not in the manifest with the new gold.

    Such submissions were sent by the command `registry submit` or declared by an earlier manifest. The user gets a note
    that they still take part.
    """
    declared_names = {f"{submission.test_set.name}/{submission.name}" for submission in submissions}
    undeclared = [row for row in ingest.ledger.submissions if row.full_name not in declared_names]
    current_names = catalog.current_names(ingest.connection, ingest.slug) if undeclared else ()
    undeclared = [row for row in undeclared if f"{ingest.slug}/{row.full_name}" in current_names]
    for row in undeclared:
        if row.test_set not in summary.gold:
            continue
        try:
            rejoin(ingest, ingest.test_sets[row.test_set], row)
            summary.changes[row.full_name] = Change.rejoined
        except InputError as error:
            summary.registry_warnings.append(
                f"{row.full_name} does not fit the new gold and does not take part: {error}")
    if undeclared:
        more, take, it = ((f" and {len(undeclared) - 1} more", "take", "them") if len(undeclared) > 1 else
                          ("", "takes", "it"))
        summary.notes.append(f"{undeclared[0].full_name}{more} {take} part although this manifest does not declare "
                             f"{it}; `registry withdraw` removes a submission from the leaderboard")


def _store_gold(ingest: Ingest, test_set: TestSet, stored: TestSetRow, previous: TaskRow | None, *,
               redeclared: bool) -> int | None:
    """Store the gold of a test set if it is new or changed.

    The same items in another order or file format are not a change.

    Args:
        ingest: State of the command: its connection, task and caches.
        test_set: The test set in the manifest.
        stored: The database row of the test set.
        previous: The task before this command; None if the task is new.
        redeclared: True if the declaration of the task has changed. Then unchanged files are read again, too, because
            the manifest may require other attributes.

    Returns:
        The id of the version of the gold; None if the gold is unchanged.

    Raises:
        InputError: A file is invalid.
        MismatchError: The gold has changed, but not the version of the task.
    """
    connection, task, reader = ingest.connection, ingest.task, ingest.task.readers[test_set.name]
    documents = task.gold_documents(test_set, ingest.parsed.load)
    for document in documents.values():
        ingest.journal.read(document.name, document.digest)
    files = {role: document.digest for role, document in documents.items()}
    revision = stored.gold_revision_id
    if revision is not None and not redeclared and files == catalog.gold_sources(connection, revision, repr(reader)):
        return None
    read = partial(read_gold, task, test_set)
    items = read(documents) if ingest.collector is None else ingest.collector.read_gold(test_set.name, documents, read)
    digest = digest_gold(reader, items)
    same_revision = catalog.find(connection, GoldRevisionRow, test_set_id=stored.test_set_id, digest=digest)
    changed = revision is not None and (same_revision is None or same_revision.gold_revision_id != revision)
    if changed and previous is not None and previous.version == task.manifest.task.version:
        raise MismatchError(
            f"{documents['gold'].path}: the gold of test set {test_set.name!r} has changed, but task.version is "
            f"still {task.manifest.task.version!r}; increase task.version to score all "
            "submissions again")
    if same_revision is None:
        gold_revision_id = _insert_gold(ingest, stored, reader, items, digest)
        ingest.parsed.add_items(gold_revision_id, items)
    else:
        gold_revision_id = int(same_revision.gold_revision_id)
    for role, document in documents.items():
        ingest.store_document(document)
        row = {"gold_revision_id": gold_revision_id, "role": role, "source_digest": document.digest,
               "reader": repr(reader)}
        if connection.execute(models.gold_source.select().filter_by(**row)).first() is None:
            connection.execute(models.gold_source.insert().values(row))
            ingest.journal.run_id(connection)  # also if the gold is the same, so that the log has digests of the tables
    if revision == gold_revision_id:
        return None
    catalog.set_values(connection, models.test_set, stored.test_set_id, gold_revision_id=gold_revision_id)
    ingest.log_event("gold", f"{ingest.slug}/{test_set.name}", digest=digest, items=len(items))
    return gold_revision_id


def _insert_gold(ingest: Ingest, stored: TestSetRow, reader: Reader, items: Sequence[Item], digest: str) -> int:
    connection = ingest.connection
    earlier = connection.execute(
        models.gold_revision.select().where(models.gold_revision.c.test_set_id == stored.test_set_id)).all()
    gold_revision_id = insert(
        connection, models.gold_revision, test_set_id=stored.test_set_id, revision=len(earlier) + 1, digest=digest,
        task_version=ingest.task.manifest.task.version, reader=repr(reader),
        n_items=len(items), run_id=ingest.run_id, created_at=now())
    names = sorted({name for item in items for name in item.attributes})
    first = statistics.insert_items(connection, gold_revision_id, [item.key for item in items],
                                    {name: [item.attributes.get(name) for item in items] for name in names})
    answers = [(first + n, answer.key, answer.type) for n, item in enumerate(items)
               for answer in reader.answer_set(item.gold)]
    if answers:
        ids, keys, types = (list(column) for column in zip(*answers, strict=True))
        insert_bulk(connection, models.answer, statistics.answer_columns(
            gold_revision_id, next_id(connection, models.answer), ids, keys, types, in_gold=True))
    return gold_revision_id
