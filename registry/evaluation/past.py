"""A registry as it stood: its boards of the past are read by the code that reads those of today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import RegistryError
from registry.evaluation.resolve import ResolvedTask, resolve, resolve_stored
from registry.manifest import read_manifest
from registry.store import catalog, models, sources
from registry.store.database import Database
from registry.store.log import past
from registry.store.log.moments import moment_of


class PastDatabase(Database):
    """A registry's file, read as it stood at a moment.

    Attributes:
        moment: Which one, once it was read.
    """

    def __init__(self, path: str | Path, at: str, tell: Callable[[str], None], *, named: Path | None = None) -> None:
        """Name a moment as `moment_of` takes it, and who is told what is not known of it.

        To open it for reading raises an `InputError` where there was no registry then or the moment is none, and an
        `UnknownNameError` where no comparison has the signature that names the moment.
        """
        super().__init__(path, named=named)
        self._at, self._tell = at, tell

    def _turn_back(self, connection: Connection) -> None:
        """Let a connection that only reads see the registry as it stood; what is not known of it is told once."""
        moment = moment_of(connection, self._at)
        past.shadow(connection, moment.entry)
        notes = _set_back_tasks(connection, moment.entry)
        past.set_back_salts(connection, moment.entry)
        past.set_back_gold(connection, moment.entry)
        past.set_back_submissions(connection, moment.entry)
        past.set_back_comparisons(connection, moment.entry)
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
    for of in past.until(connection, entry, "task"):
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
    if stored is not None and sources.is_kept(connection, stored):
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
