"""Parsed gold and answers, kept while a command runs and read again from the stored sources when they are not there.

Of answers only so many are kept that memory does not grow with the number of submissions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from registry.columns import Items, JoinedColumns
from registry.evaluation.ingest.answer_ids import AnswerIds
from registry.evaluation.ingest.join import Runs, joined_runs
from registry.evaluation.ingest.last_document import LastDocument
from registry.items import Answer, Item, by_key
from registry.readers import READERS, Document, Reader
from registry.store import catalog, sources, statistics
from registry.store.catalog import GoldRevisionRow, ScoringRow, Submitted
from registry.values import parse

MOST = 2**19  # answers that are kept
IN_COLUMNS = 1 / 8  # of an answer's memory is what one in a column takes


class ParseCache(LastDocument):
    """What has been parsed, by gold revision and by scoring."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._items: dict[int, Items] = {}
        self._answers: dict[int, Runs] = {}
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

    def keep_answers(self, scoring_id: int, runs: Runs) -> None:
        """Keep the answers of a scoring, each run's joined with the items, as long as there is room."""
        n = sum(len(run) * (IN_COLUMNS if isinstance(run, JoinedColumns) else 1) for run in runs)
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

    def answers(self, scoring: ScoringRow) -> Runs:
        """The answers of a scoring, each run's joined with the items of its gold revision."""
        if scoring.scoring_id in self._answers:
            return self._answers[scoring.scoring_id]
        reader, documents = self.submitted(scoring.submission_id)
        return joined_runs(self.items(scoring.gold_revision_id), reader, documents, scoring.missing)

    def look_up(self, submission_ids: Sequence[int]) -> None:
        """Find what was submitted, of many submissions at once, before it is asked for."""
        self._submitted.update(catalog.submitted(self._connection, submission_ids))

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
