"""Parsed gold and answers, kept while a command runs and read again from the stored sources when they are not there.

Of answers only so many are kept that memory does not grow with the number of submissions.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from registry.evaluation.ingest.join import Policies, join
from registry.items import Answer, Item, by_key
from registry.readers import READERS, Document, Reader
from registry.store import catalog, sources, statistics
from registry.store.row_types import GoldRevisionRow, ScoringRow, SubmissionRow
from registry.values import parse

MOST = 2**19  # answers that are kept


class ParseCache:
    """What has been parsed, by gold revision and by scoring."""

    def __init__(self) -> None:
        self._items: dict[int, list[Item]] = {}
        self._answers: dict[int, list[list[Answer | None]]] = {}
        self._kept = 0
        self._known: dict[int, statistics.KnownAnswers] = {}

    def keep_items(self, gold_revision_id: int, items: list[Item]) -> None:
        """Keep the items of a gold revision, in its order."""
        self._items[gold_revision_id] = items

    def keep_answers(self, scoring_id: int, runs: list[list[Answer | None]]) -> None:
        """Keep the answers of a scoring, each run's joined with the items, as long as there is room."""
        n = sum(len(run) for run in runs)
        if self._kept + n <= MOST:
            self._answers[scoring_id] = runs
            self._kept += n

    def items(self, connection: Connection, gold_revision_id: int) -> list[Item]:
        """The items of a gold revision, in its order."""
        if gold_revision_id not in self._items:
            revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=gold_revision_id)
            digests = catalog.gold_sources(connection, gold_revision_id, revision.reader)
            documents = {role: Document(role, sources.fetch(connection, d)) for role, d in digests.items()}
            found = by_key(parse("reader", READERS, revision.reader).read_gold(documents), "gold")
            self._items[gold_revision_id] = [found[k] for k in catalog.item_keys(connection, gold_revision_id)]
        return self._items[gold_revision_id]

    def known_answers(self, connection: Connection, gold_revision_id: int) -> statistics.KnownAnswers:
        """The answers that are stored of a gold revision; whoever stores more adds them."""
        if gold_revision_id not in self._known:
            self._known[gold_revision_id] = statistics.load_answers(connection, gold_revision_id)
        return self._known[gold_revision_id]

    def answers(self, connection: Connection, scoring: ScoringRow) -> list[list[Answer | None]]:
        """The answers of a scoring, each run's joined with the items of its gold revision."""
        if scoring.scoring_id in self._answers:
            return self._answers[scoring.scoring_id]
        submission = catalog.get(connection, SubmissionRow, submission_id=scoring.submission_id)
        reader, documents = stored_submission(connection, submission)
        return joined_runs(self.items(connection, scoring.gold_revision_id), reader, documents, scoring.missing)


def joined_runs(items: Sequence[Item], reader: Reader, documents: Sequence[Document],
                 missing: str) -> list[list[Answer | None]]:
    """Read a submission's runs again; what was let pass when it was brought in is let pass again."""
    policies = Policies(missing, tokens="warn")
    return [join(items, reader.read_answers(document), reader, policies, document.path).answers
            for document in documents]


def stored_submission(connection: Connection, submission: SubmissionRow) -> tuple[Reader, tuple[Document, ...]]:
    """The reader and the kept files of a submission, one for each run."""
    documents = tuple(Document(kept.name, sources.fetch(connection, kept.source_digest))
                      for kept in catalog.submission_sources(connection, submission.submission_id))
    return parse("reader", READERS, submission.reader), documents
