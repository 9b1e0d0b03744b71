"""Read the state of a registry at an earlier entry of its log.

The log records every change, and only `purge` deletes rows. So the earlier rows can be restored in temporary tables. In
SQL, the name of a table means the temporary table if there is one. So all views and queries of the connection show the
earlier state, and the file does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import RegistryError
from registry.evaluation.resolve import ResolvedTask, resolve, resolve_stored
from registry.manifest import read_manifest
from registry.store import catalog, models, sources
from registry.store.database import Database
from registry.store.log import Entry, find_moment, read_entries
from registry.submission_fields import CHANGEABLE

_TABLES_WITH_RUN = ("submission", "scoring", "comparison", "study", "tombstone")
_OTHER_TABLES = ("task", "test_set", "task_metric")


def _copy_tables(connection: Connection, entry: int) -> None:
    """Copy tables to temporary tables, in which an earlier state can be restored.

    Rows that commands added after the log entry with the number `entry` are left out.
    """
    database = str(connection.exec_driver_sql("SELECT current_database()").scalar_one()).replace('"', '""')
    earlier = "WHERE run_id NOT IN (SELECT run_id FROM event GROUP BY run_id HAVING min(event_id) > ?)"
    for table in (*_TABLES_WITH_RUN, *_OTHER_TABLES):
        condition, values = (earlier, (entry,)) if table in _TABLES_WITH_RUN else ("", ())
        connection.exec_driver_sql(
            f'CREATE TEMP TABLE "{table}" AS FROM "{database}".main."{table}" {condition}', values)


def _restore_salts(connection: Connection, entry: int) -> None:
    connection.execute(text("""
        UPDATE task SET salt = NULL WHERE slug IN (
            SELECT subject FROM event WHERE action IN ('task', 'hide') AND (details ->> '$.salt') IS NOT NULL
            GROUP BY subject HAVING min(event_id) > :entry)"""), {"entry": entry})


def _load_changed(connection: Connection, entry: int, *actions: str) -> Iterator[Entry]:
    """Load the values to restore: earlier log entries of objects that changed later.

    An object (subject) is, for example, a submission. Entries up to the number `entry` are returned, oldest first.

    Args:
        connection: Connection to the registry.
        entry: Number of the log entry whose state is restored.
        actions: Actions of the returned entries, such as `gold`.
    """
    logged = _load_entries(connection, *actions)
    changed = {event.subject for event in logged if event.event_id > entry}
    yield from (event for event in logged if event.event_id <= entry and event.subject in changed)


def _load_entries(connection: Connection, *actions: str) -> list[Entry]:
    """Load the log entries with some actions, in their original order.

    A purge (the deletion of a team's data) deletes the texts of some entries, and adds redacted copies at the end of
    the log. A copy is returned with the number of its original.
    """
    logged = [event._replace(event_id=event.details.get("said_in", event.event_id))
              for event in read_entries(connection, *actions) if event.details]
    return sorted(logged, key=lambda event: event.event_id)


def _restore_gold(connection: Connection, entry: int) -> None:
    for event in _load_changed(connection, entry, "gold"):
        connection.execute(text("""
            UPDATE test_set SET gold_revision_id = revision.gold_revision_id
            FROM gold_revision AS revision, task
            WHERE revision.test_set_id = test_set.test_set_id AND task.task_id = test_set.task_id
                AND task.slug || '/' || test_set.name = :subject AND revision.digest = :digest"""),
            {"subject": event.subject, "digest": event.details.get("digest")})


def _restore_submissions(connection: Connection, entry: int) -> None:
    facts: dict[str, dict[str, Any]] = {}
    for event in _load_changed(connection, entry, "submission-added", "submission-changed"):
        facts.setdefault(event.subject, {}).update(
            {key: value for key, value in event.details.items() if key in CHANGEABLE})
    if not facts:
        return
    ids = dict(map(tuple, connection.execute(text("""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version,
            submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id"""))))
    table = models.submission
    for name, values in facts.items():
        if name in ids and values:
            connection.execute(table.update().where(table.c.submission_id == ids[name]).values(**values))


def _restore_comparisons(connection: Connection, entry: int) -> None:
    """Restore which comparison of each leaderboard was the latest at a log entry."""
    by_digest = dict(map(tuple, connection.execute(text("SELECT digest, comparison_id FROM comparison"))))
    sequence: dict[int, int] = {}
    for event in _load_entries(connection, "compare", "compare-again", "board-retired"):
        number = by_digest.get(event.details["digest"])
        if number is not None and event.event_id <= entry:
            sequence[number] = 0 if event.action == "board-retired" else event.event_id
    if sequence:
        rows = [f"({number}, {position})" for number, position in sequence.items()]
        connection.exec_driver_sql(
            "UPDATE comparison SET sequence = replayed.sequence "  # noqa: S608 - whole numbers
            f"FROM (VALUES {', '.join(rows)}) AS replayed(number, sequence) WHERE comparison_id = number")


class PastDatabase(Database):
    """The database in the state of an earlier moment; connections can only read.

    Attributes:
        moment: The moment and its log entry; None before the first connection.
    """

    def __init__(self, path: str | Path, at: str, tell: Callable[[str], None], *, named: Path | None = None) -> None:
        """Prepare to restore an earlier moment when a connection is opened.

        Opening a connection raises an `InputError` if the time is invalid or before the first entry of the log, and an
        `UnknownNameError` if `at` is an unknown signature.

        Args:
            path: The database file.
            at: A time, or the signature of a comparison.
            tell: Function that receives each note for the user.
            named: The path in messages; None: `path`.
        """
        super().__init__(path, named=named)
        self._at, self._tell = at, tell

    def _restore_past(self, connection: Connection) -> None:
        """Restore the state of an earlier moment, in temporary tables of a connection.

        Notes about data that cannot be restored are reported only for the first connection.
        """
        moment = find_moment(connection, self._at)
        _copy_tables(connection, moment.entry)
        notes = _restore_tasks(connection, moment.entry)
        _restore_salts(connection, moment.entry)
        _restore_gold(connection, moment.entry)
        _restore_submissions(connection, moment.entry)
        _restore_comparisons(connection, moment.entry)
        for note in notes if self.moment is None else ():
            self._tell(f"info: {note}")
        self.moment = moment


def _restore_tasks(connection: Connection, entry: int) -> list[str]:
    """Restore the manifest and seed of every task at a log entry; remove later tasks.

    Returns:
        Notes about manifests that cannot be restored.
    """
    connection.execute(text("""
        DELETE FROM task WHERE slug IN (SELECT subject FROM event WHERE action = 'task' GROUP BY subject
            HAVING min(coalesce(CAST(details ->> '$.said_in' AS INTEGER), event_id)) > :entry)"""), {"entry": entry})
    last: dict[str, Mapping[str, Any]] = {}
    seeds: dict[str, int] = {}
    for event in _load_changed(connection, entry, "task"):
        last[event.subject] = event.details
        if event.details.get("seed") is not None:
            seeds[event.subject] = event.details["seed"]
    notes = []
    for slug, details in last.items():
        try:
            task = _load_task(connection, slug, details)
        except Exception as error:  # the file was deleted, or this version of the program refuses it
            reason = str(error) if isinstance(error, RegistryError) else "it is not stored"
            notes.append(f"{slug}: the current manifest is used, because the earlier one cannot be read: {reason}")
            continue
        if details.get("normalized", task.stored_digest) != task.stored_digest:
            notes.append(f"{slug}: this version of the program interprets the earlier manifest differently")
        _declare_task(connection, slug, task, {"seed": seeds[slug]} if slug in seeds else {})
    return notes


def _load_task(connection: Connection, slug: str, details: Mapping[str, Any]) -> ResolvedTask:
    """Load the manifest that a log entry mentions.

    If a purge has deleted the file, the normalized manifest is loaded.

    Args:
        connection: Connection to the registry.
        slug: The task's id.
        details: Details of the entry, with digests of the manifest.
    """
    stored = details.get("manifest")  # public files lack it
    if stored is not None and sources.is_stored(connection, stored):
        content = sources.fetch(connection, stored)
        return resolve(read_manifest(content, f"<manifest of {slug}>"), Path(f"<manifest of {slug}>"))
    return resolve_stored(sources.fetch(connection, details["normalized"]).decode(), slug)


def _declare_task(connection: Connection, slug: str, task: ResolvedTask, seed: Mapping[str, int]) -> None:
    table, declared = models.task, task.manifest.task
    connection.execute(table.update().where(table.c.slug == slug).values(
        title=declared.title, version=declared.version, manifest=task.stored, manifest_digest=task.stored_digest,
        **seed))
    task_id = connection.execute(table.select().where(table.c.slug == slug)).one().task_id
    catalog.declare_test_sets(connection, task_id, [
        (test_set.name, test_set.cluster) for test_set in task.manifest.test_set])
    ids = dict(map(tuple, connection.execute(text("SELECT name, metric_id FROM metric"))))
    catalog.declare_metrics(connection, task_id, [
        (alias, ids[repr(metric)], alias == task.manifest.primary.id) for alias, metric in task.metrics.items()])
