"""A registry as it stood at an earlier entry of its log, for one connection that only reads.

Only `purge` removes rows, and the log says whatever changed. So later rows are left out, changed rows have their values
of then, and temporary tables, which SQL finds before the stored ones of the same name, hold the outcome: every view and
every query of the connection sees the past.
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

# What is there once the command that wrote it is.
_BY_RUN = ("submission", "scoring", "comparison", "study", "tombstone")
_WHOLE = ("task", "test_set", "task_metric")


def shadow(connection: Connection, entry: int) -> None:
    """Let temporary tables stand before those that change, with the rows that were there at an entry of the log."""
    name = str(connection.exec_driver_sql("SELECT current_database()").scalar_one()).replace('"', '""')
    by_then = "WHERE run_id NOT IN (SELECT run_id FROM event GROUP BY run_id HAVING min(event_id) > ?)"
    for table in (*_BY_RUN, *_WHOLE):
        there, values = (by_then, (entry,)) if table in _BY_RUN else ("", ())
        connection.exec_driver_sql(f'CREATE TEMP TABLE "{table}" AS FROM "{name}".main."{table}" {there}', values)


def set_back_salts(connection: Connection, entry: int) -> None:
    """Take the salt from every task that had none yet, so that digests are those of then."""
    connection.execute(text("""
        UPDATE task SET salt = NULL WHERE slug IN (
            SELECT subject FROM event WHERE action IN ('task', 'hide') AND (details ->> '$.salt') IS NOT NULL
            GROUP BY subject HAVING min(event_id) > :entry)"""), {"entry": entry})


def until(connection: Connection, entry: int, *actions: str) -> Iterator[Entry]:
    """What the log says under some actions by an entry of it, oldest first; what was blanked is left out.

    Of subjects that nothing is said of later, nothing is given: they are today what they were.
    """
    said = _said(connection, *actions)
    later = {of.subject for of in said if of.event_id > entry}
    yield from (of for of in said if of.event_id <= entry and of.subject in later)


def _said(connection: Connection, *actions: str) -> list[Entry]:
    """What the log says under some actions, in the order in which it was said first, as purges say some of it again."""
    found = [of._replace(event_id=of.details.get("said_in", of.event_id))
             for of in read_entries(connection, *actions) if of.details]
    return sorted(found, key=lambda of: of.event_id)


def set_back_gold(connection: Connection, entry: int) -> None:
    """Give every test set the gold that it had."""
    for of in until(connection, entry, "gold"):
        connection.execute(text("""
            UPDATE test_set SET gold_revision_id = revision.gold_revision_id
            FROM gold_revision AS revision, task
            WHERE revision.test_set_id = test_set.test_set_id AND task.task_id = test_set.task_id
                AND task.slug || '/' || test_set.name = :subject AND revision.digest = :digest"""),
            {"subject": of.subject, "digest": of.details.get("digest")})


def set_back_submissions(connection: Connection, entry: int) -> None:
    """Give every submission the properties that it had."""
    told: dict[str, dict[str, Any]] = {}
    for of in until(connection, entry, "submission-added", "submission-changed"):
        told.setdefault(of.subject, {}).update(
            {key: value for key, value in of.details.items() if key in CHANGEABLE})
    if not told:
        return
    ids = dict(map(tuple, connection.execute(text("""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version,
            submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id"""))))
    table = models.submission
    for name, values in told.items():
        if name in ids and values:
            connection.execute(table.update().where(table.c.submission_id == ids[name]).values(**values))


def set_back_comparisons(connection: Connection, entry: int) -> None:
    """Put the comparisons of every board into the order in which they had been asked for."""
    by_digest = dict(map(tuple, connection.execute(text("SELECT digest, comparison_id FROM comparison"))))
    sequence: dict[int, int] = {}
    for of in _said(connection, "compare", "compare-again", "board-retired"):
        number = by_digest.get(of.details["digest"])
        if number is not None and of.event_id <= entry:
            sequence[number] = 0 if of.action == "board-retired" else of.event_id
    if sequence:
        rows = [f"({number}, {place})" for number, place in sequence.items()]
        connection.exec_driver_sql(
            "UPDATE comparison SET sequence = replayed.sequence "  # noqa: S608 - whole numbers
            f"FROM (VALUES {', '.join(rows)}) AS replayed(number, sequence) WHERE comparison_id = number")


class PastDatabase(Database):
    """A registry's file, read as it stood at a moment.

    Attributes:
        moment: Which one, once it was read.
    """

    def __init__(self, path: str | Path, at: str, tell: Callable[[str], None], *, named: Path | None = None) -> None:
        """Name a moment as `find_moment` takes it, and who is told what is not known of it.

        To open it for reading raises an `InputError` where there was no registry then or the moment is none, and an
        `UnknownNameError` where no comparison has the signature that names the moment.
        """
        super().__init__(path, named=named)
        self._at, self._tell = at, tell

    def _set_back(self, connection: Connection) -> None:
        """Let a connection that only reads see the registry as it stood; what is not known of it is told once."""
        moment = find_moment(connection, self._at)
        shadow(connection, moment.entry)
        notes = _set_back_tasks(connection, moment.entry)
        set_back_salts(connection, moment.entry)
        set_back_gold(connection, moment.entry)
        set_back_submissions(connection, moment.entry)
        set_back_comparisons(connection, moment.entry)
        for note in notes if self.moment is None else ():
            self._tell(f"note: {note}")
        self.moment = moment


def _set_back_tasks(connection: Connection, entry: int) -> list[str]:
    """Declare every task as it was declared, and leave out those that were not there."""
    connection.execute(text("""
        DELETE FROM task WHERE slug IN (SELECT subject FROM event WHERE action = 'task' GROUP BY subject
            HAVING min(coalesce(CAST(details ->> '$.said_in' AS INTEGER), event_id)) > :entry)"""), {"entry": entry})
    last: dict[str, Mapping[str, Any]] = {}
    seeds: dict[str, int] = {}
    for of in until(connection, entry, "task"):
        last[of.subject] = of.details
        if of.details.get("seed") is not None:
            seeds[of.subject] = of.details["seed"]
    notes = []
    for slug, details in last.items():
        try:
            task = _task_of(connection, slug, details)
        except Exception as error:  # a file that is no more, or which this program refuses
            why = str(error) if isinstance(error, RegistryError) else "it is not kept"
            notes.append(f"{slug}: the manifest of then cannot be read, and that of today stands in for it: {why}")
            continue
        if details.get("normalized", task.stored_digest) != task.stored_digest:
            notes.append(f"{slug}: this program reads the manifest of then otherwise than the one that took it did")
        _declare(connection, slug, task, {"seed": seeds[slug]} if slug in seeds else {})
    return notes


def _task_of(connection: Connection, slug: str, details: Mapping[str, Any]) -> ResolvedTask:
    """What a manifest declared that the log names; of one that named a team that was purged its normal form is left."""
    stored = details.get("manifest")  # which no public file has
    if stored is not None and sources.is_stored(connection, stored):
        content = sources.fetch(connection, stored)
        return resolve(read_manifest(content, f"<manifest of {slug}>"), Path(f"<manifest of {slug}>"))
    return resolve_stored(sources.fetch(connection, details["normalized"]).decode(), slug)


def _declare(connection: Connection, slug: str, task: ResolvedTask, seed: Mapping[str, int]) -> None:
    """Put what a manifest declares into the rows of its task."""
    table, declared = models.task, task.manifest.task
    connection.execute(table.update().where(table.c.slug == slug).values(
        title=declared.title, version=declared.version, manifest=task.stored, manifest_digest=task.stored_digest,
        **seed))
    task_id = connection.execute(table.select().where(table.c.slug == slug)).one().task_id
    catalog.declare_test_sets(connection, task_id, [(one.name, one.cluster) for one in task.manifest.test_set])
    ids = dict(map(tuple, connection.execute(text("SELECT name, metric_id FROM metric"))))
    catalog.declare_metrics(connection, task_id, [
        (alias, ids[repr(metric)], alias == task.manifest.primary.id) for alias, metric in task.metrics.items()])
