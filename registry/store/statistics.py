"""Statistics of items, answers and responses.

Statistics are inserted as columns and loaded as arrays.

A response is an answer that a run of a submission gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, func, select, text

from registry.arrays import Flags, Floats, Ints
from registry.errors import MismatchError
from registry.families import FAMILIES
from registry.store import models
from registry.store.rows import Columns, get_driver, insert_bulk, next_id, text_column

Ids = NDArray[np.int32]
_MAX_LOADED = 2**21  # largest number of items, over several submissions, in memory


@dataclass(frozen=True, eq=False)
class Block:
    """Sufficient statistics of the items in one run of a submission, for one metric.

    Attributes:
        scoring_id: Id of the scoring: the submission, scored with one version of the gold.
        metric_id: Id of the metric.
        item_ids: Ids of the items, [items].
        statistics: Sufficient statistics, [items, columns].
        replicate: Number of the run, from 0.
    """

    scoring_id: int
    metric_id: int
    item_ids: Ints
    statistics: Floats
    replicate: int = 0


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """All stored answers to the items of one version of the gold, as columns."""

    item_ids: Ids
    keys: list[str]
    types: list[str]
    answer_ids: Ids
    in_gold: Flags


def insert_statistics(connection: Connection, family: str, blocks: Sequence[Block]) -> None:
    """Store the statistics of some runs, for metrics with one kind of statistics.

    One statement inserts all blocks of a table, because DuckDB uses several threads only for about 10^5 rows or more.

    Args:
        connection: Connection to the registry.
        family: Name of the kind (statistics family), such as `bleu`.
        blocks: Statistics of each run and metric.
    """
    whole = [block for block in blocks if family in models.whole_statistics and _are_whole(block.statistics)]
    if whole:
        _insert(connection, models.whole_statistics[family], np.int32, whole)
        inserted = set(map(id, whole))
        blocks = [block for block in blocks if id(block) not in inserted]
    if blocks:
        _insert(connection, models.statistics[family], np.int32 if FAMILIES[family].integer else np.float64, blocks)


def _are_whole(statistics: Floats) -> bool:
    return bool((np.rint(statistics) == statistics).all() and np.abs(statistics).max(initial=0) < 2**31)


def _insert(connection: Connection, table: Table, dtype: type[np.int32 | np.float64], blocks: Sequence[Block]) -> None:
    """Insert the statistics of some runs into one table.

    Every second block is inserted in reverse order. The item ids then have no jumps, and DuckDB compresses them to half
    the size.
    """
    lengths = [len(block.item_ids) for block in blocks]
    orders = [slice(None, None, -1 if n % 2 else 1) for n in range(len(blocks))]

    def repeat(values: list[int]) -> NDArray[np.int32] | int:
        return values[0] if len(set(values)) == 1 else np.repeat(np.array(values, dtype=np.int32), lengths)

    names = [column.name for column in table.columns][4:]
    insert_bulk(connection, table, {
        "scoring_id": repeat([block.scoring_id for block in blocks]),
        "metric_id": repeat([block.metric_id for block in blocks]),
        "replicate": repeat([block.replicate for block in blocks]),
        "item_id": np.concatenate([block.item_ids[order] for block, order in zip(blocks, orders, strict=True)],
                                  dtype=np.int32, casting="unsafe"),
        **{name: np.concatenate([block.statistics[order, n] for block, order in zip(blocks, orders, strict=True)],
                                dtype=dtype, casting="unsafe") for n, name in enumerate(names)},
    })


def delete_statistics(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int]) -> None:
    """Delete stored scores of submissions by one metric, and their statistics.

    Args:
        connection: Connection to the registry.
        family: Kind of statistics (statistics family) that the metric uses, such as `bleu`.
        metric_id: Id of the metric.
        scoring_ids: Ids of scorings: submissions that were scored with one version of the gold.
    """
    for table in (*models.of_family[family], models.replicate_score, models.score):
        connection.execute(table.delete().where(
            table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))))


def load_statistics(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
                    first_item: int, n_items: int) -> tuple[list[Floats], Flags]:
    """Load the sufficient statistics of several submissions for one metric.

    Args:
        connection: Connection to the registry.
        family: Kind of statistics (statistics family) that the metric uses, such as `bleu`.
        metric_id: Id of the metric.
        scoring_ids: Ids of the submissions' scorings, in the order of the result.
        first_item: Id of the first item of the gold; the ids of the other items follow.
        n_items: Number of items of the gold.

    Returns:
        For each submission an array [items, runs, columns], in the order of the gold; and an array that is true if an
        item has statistics, [items, runs of all submissions]. With the policy `drop`, unanswered items have no
        statistics.
    """
    names = FAMILIES[family].columns
    keys = "scoring_id", "replicate", "item_id"
    parts = [fetch_columns(connection, select(*(table.c[name] for name in (*keys, *names))).where(
        table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))))
        for table in models.of_family[family]]
    position = np.zeros(1 + max(scoring_ids, default=0), dtype=np.int64)
    position[list(scoring_ids)] = np.arange(len(scoring_ids))
    n_runs = np.ones(len(scoring_ids), dtype=np.int64)
    for part in parts:
        if part["replicate"].any():
            np.maximum.at(n_runs, position[part["scoring_id"]], part["replicate"] + 1)
    first_runs = np.cumsum(n_runs) - n_runs
    statistics = np.zeros((n_runs.sum(), n_items, len(names)))  # run by run, in the order of insertion
    present = np.zeros(statistics.shape[:2], dtype=bool)
    for part in parts:
        rows = (first_runs[position[part["scoring_id"]]] + part["replicate"]) * n_items
        rows += part["item_id"] - first_item
        present.ravel()[rows] = True
        for n, name in enumerate(names):
            statistics.reshape(-1, len(names))[rows, n] = part[name]
    return [runs.transpose(1, 0, 2) for runs in np.split(statistics, first_runs[1:])], present.T


class StoredStatistics(Sequence[Floats]):
    """The statistics of submissions for one metric, read from the registry on access.

    Element n is the array [items, runs, columns] of submission n. Only a few submissions are in memory at the same
    time.

    Attributes:
        present: True if a run has statistics of an item, [items, runs]. It contains only the runs of incomplete
            submissions, which lack the statistics of some item.
        of_present: For each run in `present`, the index of its submission, [runs].
    """

    def __init__(self, connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
                 first_item: int, n_items: int) -> None:
        """Find the submissions that lack statistics of some items.

        Args:
            connection: Connection to the registry.
            family: Kind of statistics (statistics family) that the metric uses, such as `bleu`.
            metric_id: Id of the metric.
            scoring_ids: Ids of scorings: submissions that were scored with one version of the gold.
            first_item: Id of the first item of the gold; the ids of the other items follow.
            n_items: Number of items of the gold.
        """
        self._scoring_ids, self._n_items = list(scoring_ids), n_items
        self._n_loaded = max(1, _MAX_LOADED // max(1, n_items))
        self._load = partial(load_statistics, connection, family, metric_id, first_item=first_item, n_items=n_items)
        self._items: Ints | None = None
        self._loaded_range = slice(0, 0)
        self._loaded: list[Floats] = []
        incomplete = set(self._scoring_ids) - _find_complete(connection, family, metric_id, scoring_ids, n_items)
        indices = [n for n, scoring_id in enumerate(self._scoring_ids) if scoring_id in incomplete]
        self.of_present, self.present = np.empty(0, dtype=np.int64), np.empty((n_items, 0), dtype=bool)
        for start in range(0, len(indices), self._n_loaded):
            batch = indices[start:start + self._n_loaded]
            loaded, present = self._load([self._scoring_ids[n] for n in batch])
            self.of_present = np.append(self.of_present, np.repeat(batch, [runs.shape[1] for runs in loaded]))
            self.present = np.concatenate([self.present, present], axis=1)

    def take(self, items: Ints) -> None:
        """Select and order the items of all statistics that are returned from now on.

        Args:
            items: Positions of the items in the gold, in the order of the result.
        """
        self._items = None if np.array_equal(items, np.arange(self._n_items)) else items
        self._loaded_range, self._loaded = slice(0, 0), []

    def __len__(self) -> int:
        """Return the number of submissions."""
        return len(self._scoring_ids)

    @overload
    def __getitem__(self, index: int) -> Floats: ...
    @overload
    def __getitem__(self, index: slice) -> list[Floats]: ...
    def __getitem__(self, index: int | slice) -> Floats | list[Floats]:
        """Return the statistics of the submission with this index, or a list for a slice."""
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        if not self._loaded_range.start <= index < self._loaded_range.stop:
            self._loaded_range = slice(index, index + self._n_loaded)
            self._loaded = []  # frees memory before the next statistics are loaded
            self._loaded, _ = self._load(self._scoring_ids[self._loaded_range])
        statistics = self._loaded[index - self._loaded_range.start]
        return statistics if self._items is None else statistics.take(self._items, axis=0)  # much faster than indexing


def _find_complete(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
                   n_items: int) -> set[int]:
    """Find the submissions that have statistics of all items in all runs.

    Args:
        connection: Connection to the registry.
        family: Kind of statistics (statistics family) that the metric uses, such as `bleu`.
        metric_id: Id of the metric.
        scoring_ids: Ids of scorings: submissions that were scored with one version of the gold.
        n_items: Number of all items.

    Returns:
        The scoring ids of these submissions.
    """
    counts: dict[int, dict[int, int]] = defaultdict(dict)
    for table in models.of_family[family]:
        keys = table.c.scoring_id, table.c.replicate
        columns = fetch_columns(connection, select(*keys, func.count().label("n")).where(
            table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))).group_by(*keys))
        for scoring_id, replicate, n in zip(*(columns[name].tolist() for name in columns), strict=True):
            counts[scoring_id][replicate] = n
    return {scoring_id for scoring_id, runs in counts.items()
            if len(runs) == 1 + max(runs) and set(runs.values()) == {n_items}}


def fetch_columns(connection: Connection, query: Any) -> dict[str, NDArray[Any]]:
    """Run a SELECT, and return each column as an array, by name of the column.

    This is fast, because DuckDB makes no Python object for each row.
    """
    statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
    fetched: dict[str, NDArray[Any]] = get_driver(connection).execute(statement).fetchnumpy()
    return fetched


def insert_items(connection: Connection, gold_revision_id: int, keys: list[str],
                 attributes: dict[str, list[str | None]]) -> int:
    """Store the items of a new version of the gold; return the id of the first item.

    Args:
        connection: Connection to the registry.
        gold_revision_id: Id of the version of the gold.
        keys: Key of each item.
        attributes: By name of an attribute, its value for each item; None means no value.
    """
    first, n = next_id(connection, models.item), len(keys)
    ids = np.arange(first, first + n, dtype=np.int32)
    insert_bulk(connection, models.item, {
        "item_id": ids, "gold_revision_id": gold_revision_id, "position": np.arange(n, dtype=np.int32),
        "key": text_column(keys),
    })
    for name, values in attributes.items():
        has_value = np.array([v is not None for v in values], dtype=bool)
        insert_bulk(connection, models.item_attribute, {
            "gold_revision_id": gold_revision_id, "item_id": ids[has_value],
            "name": text_column([name] * int(has_value.sum())),
            "value": text_column([v for v in values if v is not None]),
        })
    return first


def answer_columns(gold_revision_id: int, first_id: int, item_ids: Sequence[int], keys: Sequence[str],
                   types: Sequence[str], *, in_gold: bool) -> Columns:
    """Make new rows of the table `answer` as columns, to insert them in bulk.

    Args:
        gold_revision_id: Id of the version of the gold.
        first_id: Id of the first answer; the ids of the other answers follow.
        item_ids: Id of the item of each answer.
        keys: Key of each answer, such as the position of a span.
        types: Type of each answer, such as a label.
        in_gold: Whether the gold contains the answers.
    """
    return {
        "answer_id": np.arange(first_id, first_id + len(keys), dtype=np.int32), "gold_revision_id": gold_revision_id,
        "item_id": np.array(item_ids, dtype=np.int32), "key": text_column(list(keys)), "type": text_column(list(types)),
        "in_gold": in_gold,
    }


def load_answers(connection: Connection, gold_revision_id: int) -> KnownAnswers:
    """Load all stored answers to the items of one version of the gold."""
    answer = models.answer
    columns = fetch_columns(connection, select(answer).where(answer.c.gold_revision_id == gold_revision_id))
    return KnownAnswers(columns["item_id"], columns["key"].tolist(), columns["type"].tolist(), columns["answer_id"],
                        columns["in_gold"])


def response_columns(scoring_id: int, lengths: Sequence[int], answer_ids: Ids, correct: Flags,
                     scores: Floats) -> Columns:
    """Make new rows of the table `response` as columns, from a submission's answers.

    Args:
        scoring_id: Id of the scoring of the submission.
        lengths: Number of answers of each run, [runs].
        answer_ids: Ids of the answers of all runs, first run first.
        correct: Whether the gold contains each answer.
        scores: Score that the system gives each of its answers; nan if the answer has no score.
    """
    return {
        "scoring_id": scoring_id, "replicate": np.repeat(np.arange(len(lengths), dtype=np.int16), lengths),
        "answer_id": answer_ids, "correct": correct, "score": scores,
    }


@dataclass(frozen=True, eq=False)
class Responses:
    """For several submissions and answers: which submission gives which answer.

    Attributes:
        given: Whether a submission gives an answer, [answers, submissions].
        scores: Score that the system gives the answer, [answers, submissions]; nan if the answer has no score, or if
            the submission does not give the answer.
    """

    given: Flags
    scores: Floats


@dataclass(frozen=True, eq=False)
class Answers:
    """All stored answers to the items of one version of the gold, sorted by id.

    Attributes:
        ids: Ids of the answers in ascending order, [answers].
        items: Id of the item of each answer.
        names: For each answer: the key of its item, the key of the answer, and the type of the answer.
        in_gold: Whether the gold contains each answer.
    """

    ids: Ints
    items: Ints
    names: list[tuple[str, str, str]]
    in_gold: Flags


def load_responses(connection: Connection, scoring_ids: Sequence[int], answer_ids: Ints) -> Responses:
    """Find out which of some answers each submission gives in its first run.

    Args:
        connection: Connection to the registry.
        scoring_ids: Ids of the scorings of the submissions.
        answer_ids: Ids of the answers to look for.
    """
    response = models.response
    query = select(response.c.scoring_id, response.c.answer_id, response.c.score).where(
        response.c.scoring_id.in_(list(scoring_ids)), response.c.replicate == 0)
    loaded = fetch_columns(connection, query)
    rows, columns = (_find_indices(ids, loaded[name]) for ids, name in (
        (answer_ids, "answer_id"), (np.array(scoring_ids), "scoring_id")))
    cells = rows[rows >= 0], columns[rows >= 0]
    given = np.zeros((len(answer_ids), len(scoring_ids)), dtype=bool)
    given[cells] = True
    scores = np.full(given.shape, np.nan)
    scores[cells] = np.ma.filled(loaded["score"], np.nan)[rows >= 0]  # NULL is masked
    return Responses(given, scores)


def load_correct(connection: Connection, gold_revision_id: int,
                 runs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.uint64], int]:
    """Find out which gold answers each run gives, with one bit per gold answer.

    If the task has no stored answers, there is one bit per item: 1 if the run answers the item correctly.

    Args:
        connection: Connection to the registry.
        gold_revision_id: Id of the version of the gold.
        runs: Scoring id and run number of each run.

    Returns:
        The bits in words of 64 bits, [runs, words], in the same order for all runs; unused bits are 0. And the number
        of gold answers or items.

    Raises:
        MismatchError: Items have no answers, and the item scores of some run are not all 0 or 1.
    """
    has_answers = connection.execute(
        select(models.answer.c.answer_id).where(models.answer.c.gold_revision_id == gold_revision_id).limit(1)).first()
    if has_answers:
        answer, correct = models.answer.c, "SELECT scoring_id, replicate, answer_id AS id FROM response WHERE correct"
        ids = select(answer.answer_id.label("id")).where(answer.gold_revision_id == gold_revision_id, answer.in_gold)
    else:
        _require_binary(connection, [scoring_id for scoring_id, _ in runs])
        item, correct = models.item.c, "SELECT scoring_id, replicate, item_id AS id FROM correct_item"
        ids = select(item.item_id.label("id")).where(item.gold_revision_id == gold_revision_id)
    id_ = ids.subquery().c.id
    first, last, n = connection.execute(select(func.min(id_), func.max(id_), func.count())).one()
    if not n or not runs:
        return np.zeros((len(runs), 0), dtype=np.uint64), n
    words = (last - first) // 64 + 1
    scorings = [scoring_id for scoring_id, _ in runs]
    packed = get_driver(connection).execute(f"""
        SELECT scoring_id, replicate, bitstring_agg(id, {first}, {first + 64 * words - 1})::BLOB
        FROM ({correct})
        WHERE scoring_id BETWEEN {min(scorings)} AND {max(scorings)} AND id BETWEEN {first} AND {last}
        GROUP BY ALL""").fetchall()  # noqa: S608
    rows = {(scoring_id, replicate): np.frombuffer(bits, dtype=np.uint64) for scoring_id, replicate, bits in packed}
    no_bits = np.zeros(words, dtype=np.uint64)
    return np.stack([rows.get(run, no_bits) for run in runs]), n


def _require_binary(connection: Connection, scoring_ids: Sequence[int]) -> None:
    """Check that all item scores of some submissions are 0 or 1.

    Args:
        connection: Connection to the registry.
        scoring_ids: Ids of scorings: submissions that were scored with one version of the gold.

    Raises:
        MismatchError: Some item has another score.
    """
    binary = set(connection.execute(text("SELECT scoring_id FROM binary_scoring")).scalars())
    if not binary.issuperset(scoring_ids):
        raise MismatchError("items have no answers, and not all of their scores by the primary metric are 0 or 1, so "
                            "they are neither correct nor incorrect; read their scores from the view item_score")


def load_named_answers(connection: Connection, gold_revision_id: int) -> Answers:
    """Load all stored answers to the items of one version of the gold, sorted by id.

    Each answer is returned with the key of its item.
    """
    answer, item = models.answer, models.item
    loaded = fetch_columns(connection, (
        select(answer.c.answer_id, answer.c.item_id, item.c.key.label("item_key"), answer.c.key, answer.c.type,
               answer.c.in_gold)
        .join(item, item.c.item_id == answer.c.item_id)
        .where(answer.c.gold_revision_id == gold_revision_id).order_by(answer.c.answer_id)))
    names = list(zip(*(map(str, loaded[name].tolist()) for name in ("item_key", "key", "type")), strict=True))
    return Answers(loaded["answer_id"].astype(np.int64), loaded["item_id"].astype(np.int64), names, loaded["in_gold"])


def _find_indices(ids: Ints, loaded: NDArray[Any]) -> Ints:
    indices = np.full(1 + max(ids.max(initial=0), loaded.max(initial=0)), -1, dtype=np.int64)
    indices[ids] = np.arange(len(ids))
    return np.asarray(indices[loaded])


def find_repeated(connection: Connection, submission_ids: Sequence[int]) -> set[int]:
    """Return the ids of the submissions that have more than one run."""
    table = models.submission_source
    query = select(table.c.submission_id).where(table.c.submission_id.in_(list(submission_ids)), table.c.replicate > 0)
    return set(map(int, connection.execute(query).scalars()))
