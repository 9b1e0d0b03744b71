"""Shared state of a command on one task: transaction, journal and cached files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Row

from registry.columns import Items, JoinedColumns
from registry.errors import Refuse, raise_error
from registry.evaluation.ingest.answer_ids import AnswerIds
from registry.evaluation.ingest.declared import LastFileCache
from registry.evaluation.ingest.fit import join_again
from registry.evaluation.ingest.problems import Collector
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.submissions.purge import load_tombstones
from registry.items import Answer, Item, index_by_key
from registry.missing import MissingPolicy
from registry.parallel.execution import Progress
from registry.readers import READERS, Document, Reader
from registry.store import catalog, embargoes, sources, statistics
from registry.store.catalog import GoldRevisionRow, ScoringRow, SubmittedFiles, TaskRow, TestSetRow
from registry.store.ledger import Ledger
from registry.store.log import Journal, append
from registry.values import parse

MAX_ANSWERS = 2**19  # largest number of answers in the cache
COLUMN_SIZE = 1 / 8  # memory of an answer in a column, relative to an `Answer`


class ParseCache(LastFileCache):
    """Cache of parsed files: the items of the gold, and the answers of submissions."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._items: dict[int, Items] = {}
        self._joined: dict[int, list[JoinedColumns]] = {}
        self._answers: dict[int, list[Sequence[Answer]]] = {}
        self._n_answers = 0.0
        self._submitted: dict[int, SubmittedFiles] = {}
        self._answer_ids: dict[int, AnswerIds] = {}

    def add_items(self, gold_revision_id: int, items: list[Item]) -> None:
        """Put the items of one version of the gold into the cache.

        Args:
            gold_revision_id: Id of the revision.
            items: The items in the order of the gold.
        """
        self._items[gold_revision_id] = Items(items)

    def load_document(self, digest: str, name: str) -> Document:
        """Return a file from the database; only the last file is cached.

        Args:
            digest: Digest of the file.
            name: Path of the file for messages.
        """
        if self._last is None or self._last[1].digest != digest:
            self._last = None
            self._last = None, Document(name, sources.fetch(self._connection, digest))
        return replace(self._last[1], path=name)

    def add_joined(self, scoring_id: int, runs: list[JoinedColumns]) -> None:
        """Put the answers of a submission into the cache, unless the cache is full.

        Args:
            scoring_id: Id of the row that joins the submission with a version of the gold.
            runs: The answers of each run, matched with the items of the gold.
        """
        n = sum(len(run) * (COLUMN_SIZE if run.is_numeric else 1) for run in runs)
        if self._n_answers + n <= MAX_ANSWERS:
            self._joined[scoring_id] = runs
            self._n_answers += n

    def items(self, gold_revision_id: int) -> list[Item]:
        """Return the items of one version of the gold, in their order."""
        if gold_revision_id not in self._items:
            revision = catalog.get(self._connection, GoldRevisionRow, gold_revision_id=gold_revision_id)
            _, items = read_stored_gold(self._connection, revision)
            keys = catalog.item_keys(self._connection, gold_revision_id)
            self._items[gold_revision_id] = Items(items[key] for key in keys)
        return self._items[gold_revision_id]

    def answer_ids(self, gold_revision_id: int) -> AnswerIds:
        """Return the index that maps answers to their database ids.

        There is one index for each version of the gold. It assigns ids to new answers, which the caller must store.
        """
        if gold_revision_id not in self._answer_ids:
            stored_answers = statistics.load_answers(self._connection, gold_revision_id)
            first_item, _ = catalog.item_ids(self._connection, gold_revision_id)
            self._answer_ids[gold_revision_id] = AnswerIds(stored_answers, first_item)
        return self._answer_ids[gold_revision_id]

    def load_joined(self, scoring: ScoringRow, columns: Collection[str] = ()) -> list[JoinedColumns]:
        """Return the answers of a submission's runs, matched with the items of the gold.

        Args:
            scoring: Row that joins the submission with a version of the gold.
            columns: Columns of scores that metrics need. The stored reader lacks the columns of metrics that were
                declared later.
        """
        has_columns = not columns or self.reader(scoring.submission_id, columns) == self.reader(scoring.submission_id)
        if scoring.scoring_id in self._joined and has_columns:
            return self._joined[scoring.scoring_id]
        reader, documents = self.load_submitted_files(scoring.submission_id, columns)
        return join_again(self.items(scoring.gold_revision_id), reader, documents, MissingPolicy(scoring.missing))

    def prefetch(self, submission_ids: Sequence[int]) -> None:
        """Load the readers and file names of many submissions with one query."""
        self._submitted.update(catalog.load_submitted_files(self._connection, submission_ids))

    def reader(self, submission_id: int, columns: Collection[str] = ()) -> Reader:
        """Return the reader, which parses the files of a submission, with additional columns of scores."""
        if submission_id not in self._submitted:
            self.prefetch([submission_id])
        reader: Reader = parse("reader", READERS, self._submitted[submission_id].reader)
        return reader.with_columns(columns)

    def load_submitted_files(self, submission_id: int,
                             columns: Collection[str] = ()) -> tuple[Reader, tuple[Document, ...]]:
        """Return the reader and the stored files of a submission, one file for each run.

        The reader is the object that parses the files. It also reads additional columns of scores.
        """
        reader = self.reader(submission_id, columns)
        files = self._submitted[submission_id].files
        return reader, tuple(self.load_document(file.source_digest, file.name) for file in files)

    def read_answers(self, submission_id: int) -> tuple[Reader, tuple[Document, ...], list[Sequence[Answer]]]:
        """Return the reader, the stored files and the parsed answers of a submission.

        The answers stay in the cache for the next call, which removes them.
        """
        reader, documents = self.load_submitted_files(submission_id)
        if (answers := self._answers.pop(submission_id, None)) is not None:
            self._n_answers -= sum(map(len, answers))
            return reader, documents, answers
        answers = [reader.read_answers(document) for document in documents]
        n = sum(map(len, answers))
        if self._n_answers + n <= MAX_ANSWERS:
            self._answers[submission_id] = answers
            self._n_answers += n
        return reader, documents, answers


def read_stored_gold(connection: Connection, revision: GoldRevisionRow) -> tuple[Reader, dict[str, Item]]:
    """Parse the stored files of one version of the gold.

    Returns:
        The reader, which has parsed the files; and the items by key.
    """
    reader: Reader = parse("reader", READERS, revision.reader)
    digests = catalog.gold_sources(connection, revision.gold_revision_id, revision.reader)
    documents = {role: Document(role, sources.fetch(connection, digest)) for role, digest in digests.items()}
    return reader, index_by_key(reader.read_gold(documents), "gold")


@dataclass(frozen=True)
class Ingest:
    """State of a command that stores or scores submissions to one task.

    Attributes:
        connection: Connection in a transaction.
        journal: Writes the command to the log.
        task: The manifest with its readers and metrics.
        progress: Function that receives the progress of each stage.
        refuse: Function that receives each error about one file or submission.
        collector: Collects all problems; None: the first problem is raised.
    """

    connection: Connection
    journal: Journal
    task: ResolvedTask
    progress: Progress | None = None
    refuse: Refuse = raise_error
    collector: Collector | None = None
    _events: list[dict[str, Any]] = field(default_factory=list)
    _stored_documents: set[str] = field(default_factory=set)

    @property
    def slug(self) -> str:
        """The id of the task in the manifest, which is a text."""
        return self.task.manifest.task.id

    @cached_property
    def row(self) -> TaskRow:
        """The database row of the task; it exists only after the manifest is stored."""
        return catalog.get(self.connection, TaskRow, slug=self.slug)

    @property
    def task_id(self) -> int:
        """The number of the task in the database."""
        return self.row.task_id

    @property
    def run_id(self) -> int:
        """The number of the command in the database; the first access stores the command."""
        return self.journal.run_id(self.connection)

    def items(self, gold_revision_id: int) -> list[Item]:
        """Return the items of one version of the gold, in their order."""
        return self.parsed.items(gold_revision_id)

    @cached_property
    def parsed(self) -> ParseCache:
        """The cache of parsed files."""
        return ParseCache(self.connection)

    @cached_property
    def ledger(self) -> Ledger:
        """The task's submissions, including new submissions that are not yet written."""
        return Ledger(self.connection, self.task_id)

    @cached_property
    def tombstones(self) -> Sequence[Row[Any]]:
        """Database rows of the teams that were purged from the task."""
        return load_tombstones(self.connection, self.task_id)

    @cached_property
    def test_sets(self) -> dict[str, TestSetRow]:
        """Database rows of the test sets by name; complete only after the gold is stored."""
        return {row.name: row for row in catalog.test_sets(self.connection, self.task_id)}

    def store_document(self, document: Document) -> None:
        """Store the bytes of a file in the database, if they are not stored yet."""
        if document.digest not in self._stored_documents:
            sources.store(self.connection, document.digest, document.name, document.content)
            self._stored_documents.add(document.digest)

    def log_event(self, action: str, subject: str, **details: object) -> None:
        """Queue an entry for the log; the method `write` stores it."""
        self._events.append(self.journal.entry(self.connection, action, subject, **details))

    def write(self) -> None:
        """Write new submissions, pseudonyms and queued log entries to the database."""
        self.ledger.write()
        if self.row.anonymous_until is not None and (names := embargoes.draw_pseudonyms(self.connection, self.task_id)):
            self.log_event("pseudonyms", self.slug, **names)
        append(self.connection, self._events)
        self._events.clear()
