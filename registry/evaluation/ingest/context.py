"""The work of one command on one task: its transaction, its journal, and a cache of parsed files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Row

from registry.columns import Items, JoinedColumns
from registry.errors import Refuse, raising
from registry.evaluation.ingest.answer_ids import AnswerIds
from registry.evaluation.ingest.declared import LastDocument
from registry.evaluation.ingest.fit import join_again
from registry.evaluation.ingest.problems import Collector
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.submissions.purge import tombstones
from registry.items import Answer, Item, by_key
from registry.missing import MissingPolicy
from registry.parallel.execution import Progress
from registry.readers import READERS, Document, Reader
from registry.store import catalog, embargoes, sources, statistics
from registry.store.catalog import GoldRevisionRow, ScoringRow, Submitted, TaskRow, TestSetRow
from registry.store.ledger import Ledger
from registry.store.log import Journal, append
from registry.values import parse

MOST = 2**19  # answers that are kept
IN_COLUMNS = 1 / 8  # of an answer's memory is what one in a column takes


class ParseCache(LastDocument):
    """What has been parsed, by gold revision and by scoring."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._items: dict[int, Items] = {}
        self._answers: dict[int, list[JoinedColumns]] = {}
        self._kept = 0.0
        self._submitted: dict[int, Submitted] = {}
        self._read: dict[int, list[Sequence[Answer]]] = {}
        self._known: dict[int, AnswerIds] = {}

    def keep_items(self, gold_revision_id: int, items: list[Item]) -> None:
        """Keep the items of a gold revision, in its order."""
        self._items[gold_revision_id] = Items(items)

    def stored(self, digest: str, name: str) -> Document:
        """A kept file, unless it is the one that was read last."""
        if self._last is None or self._last[1].digest != digest:
            self._last = None
            self._last = None, Document(name, sources.fetch(self._connection, digest))
        return replace(self._last[1], path=name)

    def keep_answers(self, scoring_id: int, runs: list[JoinedColumns]) -> None:
        """Keep the answers of a scoring, each run's joined with the items, as long as there is room."""
        n = sum(len(run) * (IN_COLUMNS if run.is_numeric else 1) for run in runs)
        if self._kept + n <= MOST:
            self._answers[scoring_id] = runs
            self._kept += n

    def items(self, gold_revision_id: int) -> list[Item]:
        """The items of a gold revision, in its order."""
        if gold_revision_id not in self._items:
            revision = catalog.get(self._connection, GoldRevisionRow, gold_revision_id=gold_revision_id)
            _, found = kept_gold(self._connection, revision)
            keys = catalog.item_keys(self._connection, gold_revision_id)
            self._items[gold_revision_id] = Items(found[key] for key in keys)
        return self._items[gold_revision_id]

    def answer_ids(self, gold_revision_id: int) -> AnswerIds:
        """The answers that are stored of a gold revision; whoever finds new ones there stores them."""
        if gold_revision_id not in self._known:
            known = statistics.load_answers(self._connection, gold_revision_id)
            self._known[gold_revision_id] = AnswerIds(known, catalog.item_ids(self._connection, gold_revision_id)[0])
        return self._known[gold_revision_id]

    def answers(self, scoring: ScoringRow) -> list[JoinedColumns]:
        """The answers of a scoring, each run's joined with the items of its gold revision."""
        if scoring.scoring_id in self._answers:
            return self._answers[scoring.scoring_id]
        reader, documents = self.submitted(scoring.submission_id)
        return join_again(self.items(scoring.gold_revision_id), reader, documents, MissingPolicy(scoring.missing))

    def look_up(self, submission_ids: Sequence[int]) -> None:
        """Find what was submitted, of many submissions at once, before it is asked for."""
        self._submitted.update(catalog.load_submitted(self._connection, submission_ids))

    def reader(self, submission_id: int) -> Reader:
        """The reader of a submission."""
        if submission_id not in self._submitted:
            self.look_up([submission_id])
        return parse("reader", READERS, self._submitted[submission_id].reader)

    def submitted(self, submission_id: int) -> tuple[Reader, tuple[Document, ...]]:
        """The reader and the kept files of a submission, one for each run."""
        reader = self.reader(submission_id)
        files = self._submitted[submission_id].files
        return reader, tuple(self.stored(kept.source_digest, kept.name) for kept in files)

    def read(self, submission_id: int) -> tuple[Reader, tuple[Document, ...], list[Sequence[Answer]]]:
        """The reader and the kept files of a submission, and what these answer; who asks next needs not read again."""
        reader, documents = self.submitted(submission_id)
        if (known := self._read.pop(submission_id, None)) is not None:
            self._kept -= sum(map(len, known))
            return reader, documents, known
        answers = [reader.read_answers(document) for document in documents]
        n = sum(map(len, answers))
        if self._kept + n <= MOST:
            self._read[submission_id] = answers
            self._kept += n
        return reader, documents, answers


def kept_gold(connection: Connection, revision: GoldRevisionRow) -> tuple[Reader, dict[str, Item]]:
    """The reader of a revision of the gold, and what it reads in the kept files: the items by their keys."""
    reader: Reader = parse("reader", READERS, revision.reader)
    digests = catalog.gold_sources(connection, revision.gold_revision_id, revision.reader)
    documents = {role: Document(role, sources.fetch(connection, digest)) for role, digest in digests.items()}
    return reader, by_key(reader.read_gold(documents), "gold")


@dataclass(frozen=True)
class Ingest:
    """The work of one command on one task.

    Attributes:
        connection: In one transaction: all of it is applied, or nothing.
        journal: Of the command.
        task: The task, resolved.
        progress: Told how far each stage of the work is.
        refuse: Called with each error that concerns one file or submission.
        collector: Collects everything that is wrong; None: the first problem is raised.
    """

    connection: Connection
    journal: Journal
    task: ResolvedTask
    progress: Progress | None = None
    refuse: Refuse = raising
    collector: Collector | None = None
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
            sources.store(self.connection, document.digest, document.name, document.content)
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
