"""Stores what a manifest declares: task, gold and submissions, each only as far as it is new or changed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from registry.errors import InputError, ManifestError, MismatchError, Refuse, RegistryError, at_keys, suggest, together
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import Declared, check_runs, declared, natural
from registry.evaluation.ingest.gold import check_names, gold_digest, read_gold
from registry.evaluation.ingest.hiding import declared_hiding, describe_salt, draw_salt, refuse_candidate, told
from registry.evaluation.ingest.problems import read_submission
from registry.evaluation.ingest.remarks import find_gold_warnings
from registry.evaluation.ingest.similar_names import SimilarNames, similar_names
from registry.evaluation.ingest.submissions import Change, apply_submission, rejoin
from registry.evaluation.resolve import ResolvedTask, unit_of
from registry.evaluation.submissions.life import check_limits, follow_deadlines, lateness
from registry.evaluation.submissions.purge import purged_as
from registry.identity import digest
from registry.items import Item
from registry.manifest import Manifest, TestSet, stored_manifest
from registry.parallel.execution import with_progress
from registry.readers import Reader
from registry.store import catalog, models, sources, statistics
from registry.store.catalog import GoldRevisionRow, TaskRow, TestSetRow
from registry.store.log import now
from registry.store.rows import insert, insert_bulk, next_id


@dataclass
class Applied:
    """What an apply did.

    Attributes:
        task: The task's slug.
        task_changed: Whether the task is new or declared otherwise than before.
        gold: The test sets whose gold is new or changed, and which of both it is.
        changes: What happened to every submission, by its name `test_set/team/system@version`.
        drawn_seed: The seed that was drawn because nobody gave one.
        warnings: What may be wrong.
        remarks: What is remarkable about submissions.
        similar: Names of teams and systems that look like a new one.
        of_registry: What may be wrong with what was in the registry before.
        notes: What is worth knowing.
    """

    task: str
    task_changed: bool = False
    gold: dict[str, Change] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    drawn_seed: int | None = None
    warnings: list[str] = field(default_factory=list)
    remarks: list[InputError] = field(default_factory=list)
    similar: list[SimilarNames] = field(default_factory=list)
    of_registry: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def apply(ingest: Ingest, content: bytes) -> Applied:
    """Store everything that a manifest declares; the same manifest twice changes nothing.

    Args:
        ingest: The command and its task. With a collector all problems are collected, and files of test sets whose
            gold is refused are read too; without, the first problem is raised.
        content: The manifest's bytes.

    Raises:
        InputError: A file is wrong.
        MismatchError: The gold has changed under the same version of the task.
    """
    task, refuse = ingest.task, ingest.refuse
    applied, submissions = Applied(ingest.slug), list(declared(task, refuse))
    check_runs(task, submissions, refuse)
    _check_units(task, refuse)
    ingest.journal.read(task.root.manifest_name, digest(content))
    before = _apply_task(ingest, content, applied)
    if before is not None:
        _move_deadlines(ingest, stored_manifest(before.manifest), applied)
    stale, known = _apply_all_gold(ingest, before, applied), ingest.ledger.names

    def take(one: Declared) -> None:
        try:
            if (tombstone := _tombstone(ingest, one)) is not None:
                raise ManifestError(f"the team of {one.name} was purged and is {tombstone} since; take its files and "
                                    "[[submit]] away, or bring new ones in by `registry submit` first",
                                    path=task.root.manifest)
            if one.test_set.name not in stale:
                _apply_one(ingest, one, applied)
            elif ingest.collector is not None:
                read_submission(one.loaded(ingest.parsed.load), None, ingest.collector)
        except InputError as error:
            refuse(error)

    for _ in with_progress(map(take, submissions), len(submissions), "submissions to read", ingest.progress):
        pass
    applied.similar = similar_names(ingest.slug, known, ingest.ledger.names)
    ingest.write()
    _follow_others(ingest, submissions, applied)
    ingest.write()
    return applied


def submit(ingest: Ingest, one: Declared) -> Applied:
    """Bring one more submission into the registry.

    Raises:
        InputError: The file is wrong, or the same system and version is there with other content.
    """
    applied = Applied(ingest.slug)
    check_runs(ingest.task, [one])
    tracks = catalog.tracks(ingest.connection, ingest.task_id)
    track = one.declaration["track"]
    if track is not None and track not in {ingest.task.manifest.submission.track, *tracks}:
        applied.warnings.append(f"track {track!r} is new to {ingest.slug}; {suggest(track, tracks)}")
    if (tombstone := _tombstone(ingest, one)) is not None:
        applied.notes.append(f"a team of that name was purged from {ingest.slug} and is {tombstone} since; this is new")
    known = ingest.ledger.names
    _apply_one(ingest, _under_rules(ingest, one, applied), applied)
    applied.similar = similar_names(ingest.slug, known, ingest.ledger.names)
    ingest.write()
    return applied


def bring(ingest: Ingest, given: Sequence[Declared]) -> Applied:
    """Bring submissions into the registry that came by another platform, which held them against its own limits.

    Those of teams that were purged are left out.

    Raises:
        InputError: Some are refused; carries all that is wrong.
    """
    applied, wrong, known = Applied(ingest.slug), list[InputError](), ingest.ledger.names
    check_runs(ingest.task, given)
    for one in with_progress(given, len(given), "submissions to read", ingest.progress):
        if (tombstone := _tombstone(ingest, one)) is not None:
            applied.notes.append(f"a submission of a team that was purged, and is {tombstone} since, is left out")
            continue
        try:
            _apply_one(ingest, one, applied)
        except InputError as error:
            wrong.append(error)
    if wrong:
        raise together(wrong)
    applied.similar = similar_names(ingest.slug, known, ingest.ledger.names)
    ingest.write()
    return applied


def _tombstone(ingest: Ingest, one: Declared) -> str | None:
    """The tombstone of the team of a submission; None where it was not purged, or has come again."""
    if ingest.ledger.has_team(one.team):
        return None
    return purged_as(ingest.tombstones, one.team)


def _under_rules(ingest: Ingest, one: Declared, applied: Applied) -> Declared:
    """Hold a submission against the task's limits and deadline, if it is new."""
    manifest, test_set_id, at = ingest.task.manifest, ingest.test_sets[one.test_set.name].test_set_id, now()
    if ingest.ledger.find(test_set_id, (one.team, one.system, one.version)) is not None:
        return one
    check_limits(ingest.connection, manifest, test_set_id, one.team, at)
    if (late := lateness(manifest, one.test_set.name, at)) is None:
        return one
    ranked = "" if manifest.board.rank_late else " and has no rank"
    applied.warnings.append(f"{one.name} {late}; it counts as late{ranked}")
    return replace(one, declaration={**one.declaration, "late": True})


def _move_deadlines(ingest: Ingest, before: Manifest, applied: Applied) -> None:
    """Hold what came by `registry submit` against a deadline that the manifest has moved."""
    manifest = ingest.task.manifest
    if [before.task.deadline, *(t.deadline for t in before.test_set)] == [
            manifest.task.deadline, *(t.deadline for t in manifest.test_set)]:
        return
    for name, late in follow_deadlines(ingest.connection, ingest.journal, ingest.task_id, manifest):
        applied.notes.append(f"{name} {'is late' if late else 'is in time'} by the new deadline")


def _apply_all_gold(ingest: Ingest, before: TaskRow | None, applied: Applied) -> set[str]:
    """Store the gold of every test set of a task that was `before`; return the test sets whose gold is refused."""
    task, collector, stale = ingest.task, ingest.collector, set[str]()
    test_sets = {row.name: row for row in catalog.test_sets(ingest.connection, ingest.task_id)}
    for test_set in task.manifest.test_set:
        stored = test_sets[test_set.name]
        try:
            revision = _apply_gold(ingest, test_set, stored, before, redeclared=applied.task_changed)
        except RegistryError as error:
            ingest.refuse(error)
            stale.add(test_set.name)
            continue
        if revision is not None:
            applied.gold[test_set.name] = Change.added if stored.gold_revision_id is None else Change.changed
        if collector is not None and revision is None:
            revision = stored.gold_revision_id
        if revision is not None:
            items = ingest.items(revision)
            applied.warnings += find_gold_warnings(items, task.readers[test_set.name], test_set.gold or "",
                                                   task.metrics)
            if collector is not None:
                collector.items[test_set.name] = items
    if (applied.task_changed or applied.gold or collector is not None) and not stale:
        try:
            applied.warnings += check_names(task, {
                name: partial(catalog.gold_names, ingest.connection, row.gold_revision_id)
                for name, row in ingest.test_sets.items()})
        except ManifestError as error:
            ingest.refuse(error)
    return stale


def _apply_one(ingest: Ingest, one: Declared, applied: Applied) -> None:
    one = one.loaded(ingest.parsed.load)  # everything below is about the same bytes
    change, remarks = apply_submission(ingest, one)
    applied.changes[f"{one.test_set.name}/{one.name}"] = change
    applied.remarks += remarks
    if ingest.collector is not None:
        ingest.collector.warn(one.test_set.name, remarks)


def _check_units(task: ResolvedTask, refuse: Refuse) -> None:
    """Refuse a test of single items or responses if a test set declares clusters and no unit is written out."""
    for test_set in task.manifest.test_set:
        try:
            unit_of(task.manifest.significance, test_set.name, test_set.cluster)
        except InputError as error:
            refuse(at_keys([("significance.test", error)], task.root.manifest))


def _apply_task(ingest: Ingest, content: bytes, applied: Applied) -> TaskRow | None:
    """Bring in what the manifest declares of the task; gives it as it was, if it was there."""
    connection, task, manifest = ingest.connection, ingest.task, ingest.task.manifest
    row = catalog.find(connection, TaskRow, slug=manifest.task.id)
    values: dict[str, Any] = {"title": manifest.task.title, "version": manifest.task.version, "manifest": task.stored,
              "manifest_digest": task.stored_digest}
    if manifest.significance.seed is not None:
        values["seed"] = manifest.significance.seed
    values |= (hiding := declared_hiding(manifest, row))
    try:
        refuse_candidate(manifest, row, hiding)
    except InputError as error:
        ingest.refuse(error)
    values |= (salt := draw_salt(row, hiding, gold=manifest.release.gold))
    if row is None:
        if "seed" not in values:
            values["seed"] = applied.drawn_seed = secrets.randbelow(2**31)
        insert(connection, models.task, slug=manifest.task.id, created_at=now(), **values)
        applied.task_changed = True
    elif any(getattr(row, k) != v for k, v in values.items()):
        if natural(manifest.task.version) < natural(row.version):
            applied.of_registry.append(f"task.version goes down, from {row.version!r} to {manifest.task.version!r}; is "
                                       "this an older manifest?")
        catalog.set_values(connection, models.task, row.task_id, **values)
        applied.task_changed = True
    catalog.declare_test_sets(connection, ingest.task_id, [(t.name, t.cluster) for t in manifest.test_set])
    metrics = []
    for alias, metric in task.metrics.items():
        metric_id = catalog.find_or_insert(connection, models.metric, {"name": repr(metric)}, family=metric.family,
                                           better=metric.better)
        metrics.append((alias, metric_id, alias == manifest.primary.id))
    applied.task_changed |= catalog.declare_metrics(connection, ingest.task_id, metrics)
    if applied.task_changed:
        sources.store(connection, digest(content), task.root.manifest_name, content)
        ingest.event("task", ingest.slug, version=manifest.task.version, manifest=digest(content),
                     normalized=task.stored_digest, seed=values.get("seed"), **told(hiding), **describe_salt(salt))
    return row


def _follow_others(ingest: Ingest, submissions: Sequence[Declared], applied: Applied) -> None:
    """Join with new gold what is in the registry but not among the submissions of the manifest, and tell of it."""
    declared_names = {f"{one.test_set.name}/{one.name}" for one in submissions}
    others = [row for row in ingest.ledger.submissions if row.full_name not in declared_names]
    part = catalog.current_names(ingest.connection, ingest.slug) if others else ()
    others = [row for row in others if f"{ingest.slug}/{row.full_name}" in part]
    for row in others:
        if row.test_set not in applied.gold:
            continue
        try:
            rejoin(ingest, ingest.test_sets[row.test_set], row)
            applied.changes[row.full_name] = Change.rejoined
        except InputError as error:
            applied.of_registry.append(f"{row.full_name} does not fit the new gold and takes no part: {error}")
    if standing := [row.full_name for row in others]:
        more, take = (f" and {len(standing) - 1} more", "take") if len(standing) > 1 else ("", "takes")
        applied.notes.append(f"{standing[0]}{more} came by `registry submit` or an earlier manifest and {take} part; "
                             "`registry withdraw` takes one off the board")


def _apply_gold(ingest: Ingest, test_set: TestSet, stored: TestSetRow, before: TaskRow | None, *,
               redeclared: bool) -> int | None:
    """Store the gold of a test set, and return its revision if it is new or changed.

    The same content in another order or file form is the same gold. Changed gold needs another `task.version` than
    `before`. Files that were read before are read again only if the task is `redeclared`, because it may group items by
    something else.

    Raises:
        InputError: See `read_gold`.
        MismatchError: The gold has changed under the same version of the task.
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
    digest = gold_digest(reader, items)
    known = catalog.find(connection, GoldRevisionRow, test_set_id=stored.test_set_id, digest=digest)
    changed = revision is not None and (known is None or known.gold_revision_id != revision)
    if changed and before is not None and before.version == task.manifest.task.version:
        raise MismatchError(
            f"{documents['gold'].path}: the gold of test set {test_set.name!r} has changed, but task.version is "
            f"still {task.manifest.task.version!r}; raise it, and every submission is scored anew")
    if known is None:
        gold_revision_id = _insert_gold(ingest, stored, reader, items, digest)
        ingest.parsed.keep_items(gold_revision_id, items)
    else:
        gold_revision_id = int(known.gold_revision_id)
    for role, document in documents.items():
        ingest.keep(document)
        row = {"gold_revision_id": gold_revision_id, "role": role, "source_digest": document.digest,
               "reader": repr(reader)}
        if connection.execute(models.gold_source.select().filter_by(**row)).first() is None:
            connection.execute(models.gold_source.insert().values(row))
            ingest.journal.run_id(connection)  # even if the gold is the same: the log then has digests of the tables
    if revision == gold_revision_id:
        return None
    catalog.set_values(connection, models.test_set, stored.test_set_id, gold_revision_id=gold_revision_id)
    ingest.event("gold", f"{ingest.slug}/{test_set.name}", digest=digest, items=len(items))
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
