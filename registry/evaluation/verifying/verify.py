"""Whether a registry holds what was put into it, and whether all that it says follows from that.

Files, gold and submissions have digests, and the log names them; responses, statistics, scores and comparisons are
derived again, by the code that made them, in a copy of the database, and must be the same to the last bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from registry.errors import RegistryError, UnknownNameError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.resolve import resolve_stored
from registry.evaluation.verifying.derived import RESULT_TABLES as OF_RESULTS
from registry.evaluation.verifying.derived import SCORE_TABLES as OF_SCORES
from registry.evaluation.verifying.derived import (
    compare_results,
    compare_scores,
    derive_results,
    derive_scores,
    of_families,
)
from registry.evaluation.verifying.faults import TOLERANCE, Fault, set_aside
from registry.evaluation.verifying.log import (
    notes_on_purges,
    verify_log,
    verify_tables,
    verify_tombstones,
    with_places_of_purged,
)
from registry.evaluation.verifying.stored import (
    can_go_on,
    logged_submissions,
    note_parts,
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
class Verified:
    """What a verification found, what it could not look at, and how much it did look at."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    looked_at: dict[str, int] = field(default_factory=dict)

    def count(self, what: str, n: int) -> None:
        """Add to what was looked at."""
        self.looked_at[what] = self.looked_at.get(what, 0) + n

    def without_rounding(self) -> Verified:
        """The same, where what is only rounded otherwise, by other versions or on another platform, is a note."""
        notes = [f"{fault.of} {fault.name}, computed elsewhere: {fault.message}, the same within a relative "
                 f"{TOLERANCE:g}" for fault in self.faults if fault.kind == "rounded"]
        return Verified([fault for fault in self.faults if fault.kind != "rounded"], self.notes + notes, self.looked_at)


def verify(connection: Connection, journal: Journal, task: str | None, results: str, execution: Execution,
           head: str | None = None) -> Verified:
    """Verify a registry, or one of its tasks.

    Args:
        connection: To a copy of the registry, in a transaction that is undone afterwards: it is written to.
        journal: Of the command.
        task: The task's id; None: all of them.
        results: Which comparisons are made again: `all`, `none`, a number of them drawn at random, or the id at the end
            of a signature, none where that is a study's.
        execution: Who computes.
        head: A head of the log that was published.

    Raises:
        UnknownNameError: There is no such task, or no comparison or study with that id.
    """
    verified = Verified()
    if not _is_readable(connection, verified):
        return verified
    # Without its last task a registry that logged something is altered, not empty.
    tasks = [] if task is None and _number(connection, "task") == 0 < _number(connection, "event") else catalog.tasks(
        connection, task)
    purged = of_families(connection, with_places_of_purged(connection))
    chosen = [(number, task_id) for number, task_id in _chosen(connection, results) if number not in purged]
    with _going_on(verified, "source", "all"):
        verified.faults += verify_files(connection)
    verified.count("file", _number(connection, "source"))
    verified.faults += [*verify_references(connection), *verify_use(connection)]
    verified.notes += note_parts(connection)
    _verify_log(connection, head, verified)
    _verify_scores(connection, journal, tasks, execution, verified)
    if chosen:
        set_aside(connection, OF_RESULTS)
        for row in tasks:
            of_task = [number for number, task_id in chosen if task_id == row.task_id]
            with _going_on(verified, "comparison", row.slug):
                verified.faults += derive_results(connection, journal, row, of_task, execution)
            verified.count("comparison", len(of_task))
        with _going_on(verified, "comparison", "all"):
            verified.faults += compare_results(connection, [number for number, _ in chosen])
    return verified


def _is_readable(connection: Connection, verified: Verified) -> bool:
    """Whether tables are defined as they should be and can be read, without which nothing else can be verified."""
    verified.faults += verify_definitions(connection)
    if not can_go_on(verified.faults):
        verified.notes.append("tables are not those of a registry, so nothing else was looked at; restore a backup")
        return False
    damaged = [Fault("damaged", "table", table, f"cannot be read: {why}")
               for table, why in find_unreadable(connection).items()]
    if damaged:
        verified.notes.append("blocks are damaged, so nothing else was looked at; restore a backup")
    verified.faults += damaged
    return not damaged


def _verify_log(connection: Connection, head: str | None, verified: Verified) -> None:
    """Verify the log, and what purges have left."""
    with _going_on(verified, "log", "all"):
        verified.faults += verify_log(connection, head)
        verified.faults += verify_tables(connection)
        verified.faults += verify_tombstones(connection)
        verified.notes += notes_on_purges(connection)
    verified.count("entry of the log", _number(connection, "event"))
    if head is None:
        verified.notes.append("a truncated or rewritten log can be detected only by a log head that was published "
                              "before; print it by `registry show --head`, and check it by `registry verify --head "
                              "HASH`")


def _verify_scores(connection: Connection, journal: Journal, tasks: Sequence[TaskRow], execution: Execution,
                   verified: Verified) -> None:
    """Verify what was put in for some tasks, and what their scores follow from."""
    connection.exec_driver_sql("CREATE TEMP TABLE derived_scoring (scoring_id INTEGER)")
    set_aside(connection, OF_SCORES)
    for row in tasks:
        with _going_on(verified, "task", row.slug):
            _verify_task(connection, journal, row, execution, verified)
    with _going_on(verified, "score", "all"):
        verified.faults += compare_scores(connection)
    _restore_scores(connection)
    with _going_on(verified, "ladder", "all"):
        verified.faults += verify_ladders(connection)


@contextmanager
def _going_on(verified: Verified, of: str, name: str) -> Iterator[None]:
    """Turn an error of a step into a fault: what was altered must not end the verification."""
    try:
        yield
    except Exception as error:
        why = str(getattr(error, "orig", error)).partition("\n")[0]
        verified.faults.append(Fault("damaged", of, name, f"cannot be verified: {type(error).__name__}: {why}"))


def _verify_task(connection: Connection, journal: Journal, row: TaskRow, execution: Execution,
                 verified: Verified) -> None:
    """Verify what was put in for one task, and derive its scores."""
    verified.faults += verify_manifest(connection, row)
    verified.faults += verify_hiding(connection, row)
    refused: list[RegistryError] = []
    try:
        ingest = Ingest(connection, journal, resolve_stored(row.manifest, row.slug), refuse=refused.append)
        logged = logged_submissions(connection, row.slug)
        verified.faults += verify_declared(ingest, logged)
    except Exception as error:
        verified.faults.append(Fault("damaged", "task", row.slug, f"its manifest or log cannot be read: {error}"))
        return
    broken = set()
    for test_set, revision in _revisions(connection, row.task_id):
        try:
            verified.faults += verify_gold(ingest, test_set, revision)
            ingest.items(revision.gold_revision_id)
        except Exception as error:
            broken.add(revision.gold_revision_id)
            verified.faults.append(_unread("gold", f"{row.slug}/{test_set}", error))
        verified.count("gold revision", 1)
    scorings = [scoring for scoring in map(ScoringRow.of, connection.execute(select(*ScoringRow.columns())))
                if scoring.gold_revision_id not in broken]
    joined = {scoring.submission_id: scoring.gold_revision_id for scoring in scorings}
    submissions = [one for one in catalog.submissions(connection, row.task_id) if one.submission_id in joined]
    whole = set()
    ingest.parsed.look_up([one.submission_id for one in submissions])
    for one in submissions:
        try:
            verified.faults += verify_submission(ingest, one, joined[one.submission_id], logged)
            whole.add(one.submission_id)
        except Exception as error:
            verified.faults.append(_unread("submission", f"{row.slug}/{one.full_name}", error))
        verified.count("submission", 1)
    scorings = [scoring for scoring in scorings if scoring.submission_id in whole]
    if scorings:
        ids = ", ".join(f"({scoring.scoring_id})" for scoring in scorings)
        connection.exec_driver_sql(f"INSERT INTO derived_scoring VALUES {ids}")  # noqa: S608
    verified.faults += derive_scores(ingest, scorings, execution)
    verified.faults += [Fault("damaged", "score", ingest.slug, f"cannot be computed again: {why}") for why in refused]


def _unread(of: str, name: str, error: Exception) -> Fault:
    return Fault("damaged", of, name, f"cannot be read again: {type(error).__name__}: {error}")


def _restore_scores(connection: Connection) -> None:
    """Give the comparisons the stored statistics to rest on again: what differs in them was told."""
    for table in OF_SCORES:
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608
        connection.exec_driver_sql(f'INSERT INTO "{table}" FROM "stored_{table}"')


def _revisions(connection: Connection, task_id: int) -> list[tuple[str, GoldRevisionRow]]:
    """The revisions of the gold of every test set, with the names of these."""
    revision, test_set = models.gold_revision, models.test_set
    query = select(test_set.c.name, *GoldRevisionRow.columns()).join(
        test_set, test_set.c.test_set_id == revision.c.test_set_id).where(test_set.c.task_id == task_id)
    return [(name, GoldRevisionRow.of(row)) for name, *row in connection.execute(query)]


def _chosen(connection: Connection, results: str) -> Sequence[tuple[int, int]]:
    """The comparisons that are made again, each with its task."""
    found = connection.exec_driver_sql("""
        SELECT comparison_id, task_id, signature FROM comparison JOIN test_set USING (test_set_id)
        ORDER BY comparison_id""").all()
    if results in ("all", "none"):
        return [(row[0], row[1]) for row in found] if results == "all" else []
    if results.isdecimal() and len(results) < 8:
        some = random.SystemRandom().sample(found, min(int(results), len(found)))
        return sorted((row[0], row[1]) for row in some)
    known = {row[2].rpartition("id:")[2]: (row[0], row[1]) for row in found}
    asked = results.rpartition("id:")[2]
    if asked in known:
        return [known[asked]]
    studies = {str(signature).rpartition("id:")[2] for signature in connection.exec_driver_sql(
        "SELECT signature FROM study").scalars()}
    if asked not in studies:
        raise UnknownNameError("comparison or study", results, known.keys() | studies)
    return []


def _number(connection: Connection, table: str) -> int:
    return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())  # noqa: S608
