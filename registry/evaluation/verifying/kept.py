"""What was put in: files, manifests, gold and submissions, held against their digests and against the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from registry.evaluation.ingest.context import Ingest, kept_gold
from registry.evaluation.ingest.fit import content_digest
from registry.evaluation.ingest.gold import gold_digest
from registry.evaluation.verifying.faults import Fault
from registry.identity import canonical_json, digest, digest_json
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow, NamedSubmission, TaskRow
from registry.store.log import entries
from registry.submission_fields import CHANGEABLE

Logged = Mapping[str, Mapping[str, Any]]  # by the submission's name: as it was added last, with all changes


def verify_manifest(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Hold a task against its digest and what the log says of it last."""
    if digest(task.manifest.encode()) != task.manifest_digest:
        yield Fault("altered", "task", task.slug, "its manifest is not the one of its digest")
    logged = _logged(connection, "task", task.slug)
    if not logged:
        yield Fault("missing", "log", task.slug, "the log does not say that this task was declared")
        return
    last = logged[-1]
    if last["normalized"] != task.manifest_digest or last["version"] != task.version:
        yield Fault("altered", "task", task.slug, "its manifest is not the one that the log names last")
    seeds = [entry["seed"] for entry in logged if entry.get("seed") is not None]
    if seeds and seeds[-1] != task.seed:
        yield Fault("altered", "task", task.slug, f"its seed is {task.seed}, and {seeds[-1]} in the log")
    signed = {signature: found for signature, *found in connection.exec_driver_sql(
        "SELECT signature, result, study, subject, digest FROM study WHERE task_id = ?",
        (task.task_id,))}
    for entry in _logged(connection, "study", task.slug):
        if (kept := signed.pop(entry["signature"], None)) is None:
            yield Fault("missing", "study", entry["signature"], "the log says that it was kept")
            continue
        result, *row = kept
        if entry["row"] != digest_json(row):
            yield Fault("altered", "study", entry["signature"], "its kind, subject or digest is not the one of the log")
        if entry["result"] != digest_json(result):
            yield Fault("altered", "study", entry["signature"], "its result is not the one of the log")
    for signature in signed:
        yield Fault("missing", "log", signature, "the log does not say that this study was kept")


def verify_declared(ingest: Ingest, of_submissions: Logged) -> Iterator[Fault]:
    """Hold the metrics and test sets of a task, and which submissions it has, against its manifest and the log."""
    connection, task = ingest.connection, ingest.task
    if catalog.get(connection, TaskRow, slug=ingest.slug).title != task.manifest.task.title:
        yield Fault("altered", "task", ingest.slug, "its title is not the one of its manifest")
    declared = [(alias, repr(metric), metric.family, metric.better, alias == task.manifest.primary.id)
                for alias, metric in task.metrics.items()]
    stored = [(row.alias, row.name, row.family, row.better, row.is_primary)
              for row in catalog.task_metrics(connection, ingest.task_id)]
    if declared != stored:
        yield Fault("altered", "metric", ingest.slug, "the stored metrics are not those of the manifest")
    test_sets = catalog.test_sets(connection, ingest.task_id)
    if [(row.name, row.cluster_attribute) for row in test_sets] != [
            (test_set.name, test_set.cluster) for test_set in task.manifest.test_set]:
        yield Fault("altered", "test set", ingest.slug, "the stored test sets are not those of the manifest")
    for row in test_sets:
        logged = _logged(connection, "gold", f"{ingest.slug}/{row.name}")
        revision = catalog.find(connection, GoldRevisionRow, gold_revision_id=row.gold_revision_id)
        if logged and (revision is None or logged[-1]["digest"] != revision.digest):
            yield Fault("altered", "test set", f"{ingest.slug}/{row.name}",
                        "its gold is not the one that the log names last")
    names = {f"{ingest.slug}/{one.full_name}" for one in catalog.submissions(connection, ingest.task_id)}
    for name in of_submissions:
        if name not in names:
            yield Fault("missing", "submission", name, "the log says that it was added")


def logged_submissions(connection: Connection, slug: str) -> Logged:
    """What the log says of each submission to a task that it says was added."""
    logged = {of.subject: dict(of.details) for of in entries(connection, "submission-added")
              if of.subject.startswith(f"{slug}/")}
    for of in entries(connection, "submission-changed"):
        if of.subject in logged:
            logged[of.subject] |= of.details
    return logged


def verify_gold(ingest: Ingest, test_set: str, revision: GoldRevisionRow) -> Iterator[Fault]:
    """Read a revision of the gold again from its kept files, and hold all that is stored of it against that."""
    connection, number = ingest.connection, revision.gold_revision_id
    name = f"{ingest.slug}/{test_set}, revision {number}"
    reader, kept = kept_gold(connection, revision)
    items = list(kept.values())
    found = gold_digest(reader, items)
    if found != revision.digest:
        yield Fault("altered", "gold", name, f"its kept files give the digest {found}, not {revision.digest}")
    logged = [entry["digest"] for entry in _logged(connection, "gold", f"{ingest.slug}/{test_set}")]
    if revision.digest not in logged:
        yield Fault("missing", "log", name, "the log does not say that this gold was brought in")
    first, _ = catalog.item_ids(connection, number)
    item = models.item.c
    stored_items = connection.execute(select(item.item_id, item.position, item.key).where(
        item.gold_revision_id == number).order_by(item.item_id)).all()
    if [tuple(row) for row in stored_items] != [(first + n, n, item.key) for n, item in enumerate(items)]:
        yield Fault("altered", "gold", name, "its stored items are not those of its files")
        return
    ingest.parsed.keep_items(number, items)
    expected = Counter((first + n, of, value) for n, item in enumerate(items) for of, value in item.attributes.items()
                       if value is not None)
    table = models.item_attribute
    stored = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.name, table.c.value).where(table.c.gold_revision_id == number)))
    if wrong := sorted((expected - stored) + (stored - expected)):
        yield Fault("altered", "gold", name, f"attribute {wrong[0][1]} of item {items[wrong[0][0] - first].key!r} is "
                                               "not that of its files")
    answers = Counter((first + n, answer.key, answer.type) for n, item in enumerate(items)
                      for answer in reader.answer_set(item.gold))
    table = models.answer
    there = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.key, table.c.type).where(table.c.gold_revision_id == number,
                                                                 table.c.in_gold)))
    if wrong := sorted((answers - there) + (there - answers)):
        yield Fault("altered", "gold", name, f"gold answer {wrong[0][1]!r} of item {items[wrong[0][0] - first].key!r}"
                                               " is not that of its files")


def verify_submission(ingest: Ingest, one: NamedSubmission, gold_revision_id: int, logged: Logged) -> Iterator[Fault]:
    """Read a submission again from its kept files, and hold its digest and properties against that and the log.

    Args:
        ingest: The command and the task.
        one: The submission.
        gold_revision_id: A revision of the gold that it was joined with.
        logged: What the log says of the task's submissions.
    """
    name = f"{ingest.slug}/{one.full_name}"
    reader, documents, answers = ingest.parsed.read(one.submission_id)
    found = content_digest(reader, ingest.items(gold_revision_id), answers)
    if found != one.digest:
        yield Fault("altered", "submission", name, f"its kept files give the digest {found}, not {one.digest}")
    if name not in logged:
        yield Fault("missing", "log", name, "the log does not say that it was added")
        return
    last = logged[name]
    if last["source"] != ", ".join(document.digest for document in documents):
        yield Fault("altered", "submission", name, "its files are not those that the log names")
    if canonical_json(_factors(ingest.connection, one)) != last.get("factors", "[]"):
        yield Fault("altered", "submission", name, "what tells its runs apart is not what the log names")
    for key in (*CHANGEABLE, "declared"):
        if last.get(key, getattr(one, key)) != getattr(one, key):
            yield Fault("altered", "submission", name, f"{key} is {getattr(one, key)!r}, and {last[key]!r} in the log")


def _factors(connection: Connection, one: NamedSubmission) -> list[dict[str, str]]:
    """The factors of a submission's runs and their levels, as the log has them; empty if it has none."""
    of = models.replicate_factor
    rows = connection.execute(select(of.c.replicate, of.c.factor, of.c.level).where(
        of.c.submission_id == one.submission_id).order_by(of.c.replicate)).all()
    return [{row.factor: row.level for row in rows if row.replicate == replicate}
            for replicate in range(rows[-1].replicate + 1 if rows else 0)]


def _logged(connection: Connection, action: str, subject: str) -> list[Mapping[str, Any]]:
    """The details of what the log says of something, oldest first."""
    return [of.details for of in entries(connection, action, subject=subject)]
