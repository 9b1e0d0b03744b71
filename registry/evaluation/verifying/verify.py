"""Verify that nobody altered a registry, and that its results can be reproduced.

`verify` compares files, gold and submissions with their digests in the log. It recomputes responses, statistics, scores
and comparisons in a copy of the database. They must be equal to the stored ones, bit for bit.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from registry.errors import RegistryError, UnknownNameError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.resolve import resolve_stored
from registry.evaluation.verifying.derived import (
    RESULT_TABLES,
    SCORE_TABLES,
    add_families,
    compare_results,
    compare_scores,
    derive_results,
    derive_scores,
)
from registry.evaluation.verifying.faults import TOLERANCE, Fault, set_aside
from registry.evaluation.verifying.log import (
    describe_purges,
    find_purged_comparisons,
    verify_log,
    verify_tables,
    verify_tombstones,
)
from registry.evaluation.verifying.stored import (
    are_tables_intact,
    describe_parts,
    load_logged_submissions,
    verify_declared,
    verify_definitions,
    verify_files,
    verify_gold,
    verify_hiding,
    verify_ladders,
    verify_manifest,
    verify_references,
    verify_submission,
    verify_use,
)
from registry.significance import Execution
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow, ScoringRow, TaskRow
from registry.store.log import Journal
from registry.store.session import find_unreadable


@dataclass
class VerificationResult:
    """Faults and notes that the verification of a registry has found.

    Attributes:
        faults: Stored objects that differ from their expected content.
        notes: Other messages, for example about data that cannot be verified.
        counts: Number of verified objects of each kind.
    """

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def without_rounding(self) -> VerificationResult:
        """Return a copy with notes instead of faults if only last digits differ.

        Other versions or platforms explain such differences.
        """
        notes = [f"{fault.of} {fault.name}, computed elsewhere: {fault.message}, the same within a relative "
                 f"{TOLERANCE:g}" for fault in self.faults if fault.kind == "rounded"]
        faults = [fault for fault in self.faults if fault.kind != "rounded"]
        return VerificationResult(faults, self.notes + notes, self.counts)


def verify(connection: Connection, journal: Journal, task: str | None, results: str, execution: Execution,
           head: str | None = None) -> VerificationResult:
    """Verify that nobody altered a registry, and that its results can be reproduced.

    Args:
        connection: Connection to a copy of the registry, in a transaction that the caller rolls back.
        journal: Writes the command to the log.
        task: The task's id; None: all tasks.
        results: The comparisons to repeat: `all`, `none`, the size of a random sample, or the id at the end of a
            signature. The id of a study repeats no comparison.
        execution: Number of workers, and a function that receives the progress.
        head: A hash of the log that was published before; None: no hash is compared.

    Raises:
        UnknownNameError: The task, or the comparison or study with that id, is unknown.
    """
    result = VerificationResult()
    if not _is_readable(connection, result):
        return result
    # A registry with a log but without tasks is not empty: it has lost its tasks.
    has_lost_tasks = _count_rows(connection, "task") == 0 < _count_rows(connection, "event")
    tasks = [] if task is None and has_lost_tasks else catalog.tasks(connection, task)
    purged = add_families(connection, find_purged_comparisons(connection))
    chosen = [(number, task_id) for number, task_id in _choose_comparisons(connection, results)
              if number not in purged]
    with _collect_error(result, "source", "all"):
        result.faults += verify_files(connection)
    result.counts["file"] += _count_rows(connection, "source")
    result.faults += [*verify_references(connection), *verify_use(connection)]
    result.notes += describe_parts(connection)
    _verify_log(connection, head, result)
    _verify_scores(connection, journal, tasks, execution, result)
    if chosen:
        set_aside(connection, RESULT_TABLES)
        for row in tasks:
            numbers = [number for number, task_id in chosen if task_id == row.task_id]
            with _collect_error(result, "comparison", row.slug):
                result.faults += derive_results(connection, journal, row, numbers, execution)
            result.counts["comparison"] += len(numbers)
        with _collect_error(result, "comparison", "all"):
            result.faults += compare_results(connection, [number for number, _ in chosen])
    return result


def _is_readable(connection: Connection, result: VerificationResult) -> bool:
    """Return whether all tables are intact and readable.

    If they are not, faults are added to `result`, and nothing else can be verified.
    """
    result.faults += verify_definitions(connection)
    if not are_tables_intact(result.faults):
        result.notes.append("tables are missing or altered, so nothing else was verified; restore a backup")
        return False
    damaged = [Fault("damaged", "table", table, f"cannot be read: {error}")
               for table, error in find_unreadable(connection).items()]
    if damaged:
        result.notes.append("blocks are damaged, so nothing else was verified; restore a backup")
    result.faults += damaged
    return not damaged


def _verify_log(connection: Connection, head: str | None, result: VerificationResult) -> None:
    with _collect_error(result, "log", "all"):
        result.faults += verify_log(connection, head)
        result.faults += verify_tables(connection)
        result.faults += verify_tombstones(connection)
        result.notes += describe_purges(connection)
    result.counts["entry of the log"] += _count_rows(connection, "event")
    if head is None:
        result.notes.append("only a published log head can show that the log was truncated or rewritten; publish the "
                            "hash that `registry show --head` prints, and check it later by `registry verify --head "
                            "HASH`")


def _verify_scores(connection: Connection, journal: Journal, tasks: Sequence[TaskRow], execution: Execution,
                   result: VerificationResult) -> None:
    """Verify the gold and submissions of some tasks, and recompute their scores."""
    connection.exec_driver_sql("CREATE TEMP TABLE derived_scoring (scoring_id INTEGER)")
    set_aside(connection, SCORE_TABLES)
    for row in tasks:
        with _collect_error(result, "task", row.slug):
            _verify_task(connection, journal, row, execution, result)
    with _collect_error(result, "score", "all"):
        result.faults += compare_scores(connection)
    # Repeated comparisons need the stored statistics; `compare_scores` has reported differences.
    for table in SCORE_TABLES:
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608
        connection.exec_driver_sql(f'INSERT INTO "{table}" FROM "stored_{table}"')
    with _collect_error(result, "ladder", "all"):
        result.faults += verify_ladders(connection)


@contextmanager
def _collect_error(result: VerificationResult, object_kind: str, name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = str(getattr(error, "orig", error)).partition("\n")[0]
        result.faults.append(
            Fault("damaged", object_kind, name, f"cannot be verified: {type(error).__name__}: {message}"))


def _verify_task(connection: Connection, journal: Journal, row: TaskRow, execution: Execution,
                 result: VerificationResult) -> None:
    """Verify the gold and submissions of a task, and recompute its scores.

    Args:
        connection: Connection to a copy of the registry.
        journal: Writes the command to the log.
        row: Database row of the task.
        execution: Number of workers, and a function that receives the progress.
        result: Receives faults and counts.
    """
    result.faults += verify_manifest(connection, row)
    result.faults += verify_hiding(connection, row)
    errors: list[RegistryError] = []
    try:
        ingest = Ingest(connection, journal, resolve_stored(row.manifest, row.slug), refuse=errors.append)
        logged = load_logged_submissions(connection, row.slug)
        result.faults += verify_declared(ingest, logged)
    except Exception as error:
        result.faults.append(Fault("damaged", "task", row.slug, f"its manifest or log cannot be read: {error}"))
        return
    broken = set()
    for test_set, revision in _load_revisions(connection, row.task_id):
        try:
            result.faults += verify_gold(ingest, test_set, revision)
            ingest.items(revision.gold_revision_id)
        except Exception as error:
            broken.add(revision.gold_revision_id)
            result.faults.append(_make_unreadable("gold", f"{row.slug}/{test_set}", error))
        result.counts["gold revision"] += 1
    scorings = [scoring for scoring in map(ScoringRow.from_values, connection.execute(select(*ScoringRow.columns())))
                if scoring.gold_revision_id not in broken]
    joined = {scoring.submission_id: scoring.gold_revision_id for scoring in scorings}
    submissions = [submission for submission in catalog.submissions(connection, row.task_id)
                   if submission.submission_id in joined]
    readable = set()
    ingest.parsed.prefetch([submission.submission_id for submission in submissions])
    for submission in submissions:
        try:
            result.faults += verify_submission(ingest, submission, joined[submission.submission_id], logged)
            readable.add(submission.submission_id)
        except Exception as error:
            result.faults.append(_make_unreadable("submission", f"{row.slug}/{submission.full_name}", error))
        result.counts["submission"] += 1
    scorings = [scoring for scoring in scorings if scoring.submission_id in readable]
    if scorings:
        ids = ", ".join(f"({scoring.scoring_id})" for scoring in scorings)
        connection.exec_driver_sql(f"INSERT INTO derived_scoring VALUES {ids}")  # noqa: S608
    result.faults += derive_scores(ingest, scorings, execution)
    result.faults += [Fault("damaged", "score", ingest.slug, f"cannot be recomputed: {error}") for error in errors]


def _make_unreadable(object_kind: str, name: str, error: Exception) -> Fault:
    return Fault("damaged", object_kind, name, f"cannot be read again: {type(error).__name__}: {error}")


def _load_revisions(connection: Connection, task_id: int) -> list[tuple[str, GoldRevisionRow]]:
    revision, test_set = models.gold_revision, models.test_set
    query = select(test_set.c.name, *GoldRevisionRow.columns()).join(
        test_set, test_set.c.test_set_id == revision.c.test_set_id).where(test_set.c.task_id == task_id)
    return [(name, GoldRevisionRow.from_values(row)) for name, *row in connection.execute(query)]


def _choose_comparisons(connection: Connection, results: str) -> Sequence[tuple[int, int]]:
    """Choose the stored comparisons that are repeated to verify them.

    Args:
        connection: Connection to a copy of the registry.
        results: `all`, `none`, the size of a random sample, or the id of a comparison. This id is the end of the
            signature below a leaderboard. The id of a study selects no comparison.

    Returns:
        For each comparison, its id and the id of its task.
    """
    rows = connection.exec_driver_sql("""
        SELECT comparison_id, task_id, signature FROM comparison JOIN test_set USING (test_set_id)
        ORDER BY comparison_id""").all()
    if results in ("all", "none"):
        return [(row[0], row[1]) for row in rows] if results == "all" else []
    if results.isdecimal() and len(results) < 8:
        sample = random.SystemRandom().sample(rows, min(int(results), len(rows)))
        return sorted((row[0], row[1]) for row in sample)
    by_signature_id = {row[2].rpartition("id:")[2]: (row[0], row[1]) for row in rows}
    signature_id = results.rpartition("id:")[2]
    if signature_id in by_signature_id:
        return [by_signature_id[signature_id]]
    studies = {str(signature).rpartition("id:")[2] for signature in connection.exec_driver_sql(
        "SELECT signature FROM study").scalars()}
    if signature_id not in studies:
        raise UnknownNameError("comparison or study", results, by_signature_id.keys() | studies)
    return []


def _count_rows(connection: Connection, table: str) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())  # noqa: S608
