"""What every step of bringing in and scoring a task's results works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Row

from registry.errors import Refuse, raising
from registry.evaluation.ingest.parsed_cache import ParseCache
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.submissions.tombstones import tombstones
from registry.items import Item
from registry.parallel.execution import Progress
from registry.readers import Document
from registry.store import catalog, embargoes, sources
from registry.store.catalog import TaskRow, TestSetRow
from registry.store.ledger import Ledger
from registry.store.log import Journal, append


@dataclass(frozen=True)
class Ingest:
    """The work of one command on one task.

    Attributes:
        connection: In one transaction: all of it is applied, or nothing.
        journal: Of the command.
        task: The task, resolved.
        progress: Told how far each stage of the work is.
        refuse: Called with each error that concerns one file or submission.
    """

    connection: Connection
    journal: Journal
    task: ResolvedTask
    progress: Progress | None = None
    refuse: Refuse = raising
    _events: list[dict[str, Any]] = field(default_factory=list)
    _kept: set[str] = field(default_factory=set)

    @property
    def slug(self) -> str:
        """The task's id, as the manifest declares it."""
        return self.task.manifest.task.id

    @cached_property
    def row(self) -> TaskRow:
        """The task's row, to be asked for once it is as the manifest declares it."""
        return catalog.get(self.connection, TaskRow, slug=self.slug)

    @property
    def task_id(self) -> int:
        """The task's number in the database."""
        return self.row.task_id

    @property
    def run_id(self) -> int:
        """The number of the command's run in the database, for a row that is about to be written."""
        return self.journal.run_id(self.connection)

    def items(self, gold_revision_id: int) -> list[Item]:
        """The items of a gold revision, in its order."""
        return self.parsed.items(gold_revision_id)

    @cached_property
    def parsed(self) -> ParseCache:
        """What has been parsed so far."""
        return ParseCache(self.connection)

    @cached_property
    def ledger(self) -> Ledger:
        """The task's submissions, those that are in the database and those that wait to be written."""
        return Ledger(self.connection, self.task_id)

    @cached_property
    def tombstones(self) -> Sequence[Row[Any]]:
        """What stays of the teams that were purged from the task."""
        return tombstones(self.connection, self.task_id)

    @cached_property
    def test_sets(self) -> dict[str, TestSetRow]:
        """The task's test sets by name, to be asked for once their gold is in the database."""
        return {row.name: row for row in catalog.test_sets(self.connection, self.task_id)}

    def keep(self, document: Document) -> None:
        """Keep the bytes of a file in the database, if they are not there."""
        if document.digest not in self._kept:
            sources.keep(self.connection, document.digest, document.name, document.content)
            self._kept.add(document.digest)

    def event(self, action: str, subject: str, **details: object) -> None:
        """Log one change, once what waits is written."""
        self._events.append(self.journal.entry(self.connection, action, subject, **details))

    def write(self) -> None:
        """Write what waits: submissions and events."""
        self.ledger.write()
        if self.row.anonymous_until is not None and (drawn := embargoes.draw_pseudonyms(self.connection, self.task_id)):
            self.event("pseudonyms", self.slug, **drawn)
        append(self.connection, self._events)
        self._events.clear()
