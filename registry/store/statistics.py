"""Per-item statistics, answers and responses: bulk columns in, arrays out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, func, select

from registry.arrays import Flags, Floats, Ints
from registry.families import FAMILIES
from registry.store import models
from registry.store.rows import Columns, driver_of, insert_bulk, next_id, texts

Ids = NDArray[np.int32]
_AT_ONCE = 2**21  # items that are loaded together


@dataclass(frozen=True, eq=False)
class Block:
    """The statistics of one run of a submission by one metric: [items], and [items, columns] of its family."""

    scoring_id: int
    metric_id: int
    item_ids: Ints
    statistics: Floats
    replicate: int = 0


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """Answers to the items of a gold revision, a column each; which of them are the gold's."""

    item_ids: Ids
    keys: list[str]
    types: list[str]
    answer_ids: Ids
    in_gold: Flags


def insert_statistics(connection: Connection, family: str, blocks: Sequence[Block]) -> None:
    """Insert blocks of one family, all in one statement: DuckDB inserts in parallel only from about 10^5 rows."""
    whole = [block for block in blocks if family in models.whole_statistics and _are_whole(block.statistics)]
    if whole:
        _insert(connection, models.whole_statistics[family], np.int32, whole)
        apart = set(map(id, whole))
        blocks = [block for block in blocks if id(block) not in apart]
    if blocks:
        _insert(connection, models.statistics[family], np.int32 if FAMILIES[family].integer else np.float64, blocks)


def _are_whole(statistics: Floats) -> bool:
    return bool((np.rint(statistics) == statistics).all() and np.abs(statistics).max(initial=0) < 2**31)


def _insert(connection: Connection, table: Table, dtype: type[np.int32 | np.float64], blocks: Sequence[Block]) -> None:
    """Insert blocks, every second one backwards: ids that never jump take half the room when DuckDB packs them."""
    lengths = [len(block.item_ids) for block in blocks]
    ways = [slice(None, None, -1 if n % 2 else 1) for n in range(len(blocks))]

    def repeated(values: list[int]) -> NDArray[np.int32] | int:
        return values[0] if len(set(values)) == 1 else np.repeat(np.array(values, dtype=np.int32), lengths)

    names = [column.name for column in table.columns][4:]
    insert_bulk(connection, table, {
        "scoring_id": repeated([block.scoring_id for block in blocks]),
        "metric_id": repeated([block.metric_id for block in blocks]),
        "replicate": repeated([block.replicate for block in blocks]),
        "item_id": np.concatenate([block.item_ids[way] for block, way in zip(blocks, ways, strict=True)],
                                  dtype=np.int32, casting="unsafe"),
        **{name: np.concatenate([block.statistics[way, n] for block, way in zip(blocks, ways, strict=True)],
                                dtype=dtype, casting="unsafe") for n, name in enumerate(names)},
    })


def forget(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int]) -> None:
    """Delete statistics and scores of a metric."""
    for table in (*models.of_family[family], models.replicate_score, models.score):
        connection.execute(table.delete().where(
            table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))))


def load_statistics(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
                    first_item: int, n_items: int) -> tuple[list[Floats], Flags]:
    """Load the statistics of one metric.

    Args:
        connection: To read from.
        family: Of the metric.
        metric_id: The metric.
        scoring_ids: The submissions, in the order wanted.
        first_item: The first item id of the gold revision; its ids have no gap.
        n_items: Of the gold revision.

    Returns:
        The statistics of each submission, [items, runs, columns] in the order of the gold, and whether they are there,
        [items, runs of all submissions] (an item that a submission lacks is not, under the policy `drop`).
    """
    names = FAMILIES[family].columns
    wanted = "scoring_id", "replicate", "item_id", *names
    parts = [fetch_columns(connection, select(*(table.c[name] for name in wanted)).where(
        table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))))
        for table in models.of_family[family]]
    position = np.zeros(1 + max(scoring_ids, default=0), dtype=np.int64)
    position[list(scoring_ids)] = np.arange(len(scoring_ids))
    n_runs = np.ones(len(scoring_ids), dtype=np.int64)
    for part in parts:
        if part["replicate"].any():
            np.maximum.at(n_runs, position[part["scoring_id"]], part["replicate"] + 1)
    first_runs = np.cumsum(n_runs) - n_runs
    statistics = np.zeros((n_runs.sum(), n_items, len(names)))  # as they were inserted: runs one after the other
    present = np.zeros(statistics.shape[:2], dtype=bool)
    for part in parts:
        places = (first_runs[position[part["scoring_id"]]] + part["replicate"]) * n_items
        places += part["item_id"] - first_item
        present.ravel()[places] = True
        for n, name in enumerate(names):
            statistics.reshape(-1, len(names))[places, n] = part[name]
    return [of.transpose(1, 0, 2) for of in np.split(statistics, first_runs[1:])], present.T


class StoredStatistics(Sequence[Floats]):
    """The statistics of submissions by one metric, [items, runs, columns] each; a few are in memory at a time.

    Attributes:
        present: Whether the items of the gold are in the runs that lack some, [items, such runs].
        of_present: The places of the submissions that these runs are of.
    """

    def __init__(self, connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
                 first_item: int, n_items: int) -> None:
        """Find the runs that lack items; the arguments are those of `load_statistics`."""
        self._scoring_ids, self._n_items = list(scoring_ids), n_items
        self._many = max(1, _AT_ONCE // max(1, n_items))
        self._load = partial(load_statistics, connection, family, metric_id, first_item=first_item, n_items=n_items)
        self._items: Ints | None = None
        self._some = slice(0, 0)
        self._loaded: list[Floats] = []
        lacking = set(self._scoring_ids) - _complete(connection, family, metric_id, scoring_ids, n_items)
        places = [n for n, scoring_id in enumerate(self._scoring_ids) if scoring_id in lacking]
        self.of_present, self.present = np.empty(0, dtype=np.int64), np.empty((n_items, 0), dtype=bool)
        for at in range(0, len(places), self._many):
            some = places[at:at + self._many]
            found, present = self._load([self._scoring_ids[n] for n in some])
            self.of_present = np.append(self.of_present, np.repeat(some, [of.shape[1] for of in found]))
            self.present = np.concatenate([self.present, present], axis=1)

    def take(self, items: Ints) -> None:
        """Give from now on only these items, by their places in the gold, in this order."""
        self._items = None if np.array_equal(items, np.arange(self._n_items)) else items
        self._some, self._loaded = slice(0, 0), []

    def __len__(self) -> int:
        """The number of submissions."""
        return len(self._scoring_ids)

    @overload
    def __getitem__(self, at: int) -> Floats: ...
    @overload
    def __getitem__(self, at: slice) -> list[Floats]: ...
    def __getitem__(self, at: int | slice) -> Floats | list[Floats]:
        """Those of one submission, or of several."""
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        if not self._some.start <= at < self._some.stop:
            self._some = slice(at, at + self._many)
            self._loaded = []  # before others take room
            self._loaded, _ = self._load(self._scoring_ids[self._some])
        found = self._loaded[at - self._some.start]
        return found if self._items is None else found.take(self._items, axis=0)  # much faster than by []


def _complete(connection: Connection, family: str, metric_id: int, scoring_ids: Sequence[int],
              n_items: int) -> set[int]:
    """The submissions that have statistics of every item in each of their runs."""
    counted: dict[int, dict[int, int]] = defaultdict(dict)
    for table in models.of_family[family]:
        of = table.c.scoring_id, table.c.replicate
        found = fetch_columns(connection, select(*of, func.count().label("n")).where(
            table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids))).group_by(*of))
        for scoring_id, replicate, n in zip(*(found[name].tolist() for name in found), strict=True):
            counted[scoring_id][replicate] = n
    return {scoring_id for scoring_id, runs in counted.items()
            if len(runs) == 1 + max(runs) and set(runs.values()) == {n_items}}


def fetch_columns(connection: Connection, query: Any) -> dict[str, NDArray[Any]]:
    """Run a SELECT and give its columns as arrays, without a row ever becoming a Python object."""
    statement = str(query.compile(connection, compile_kwargs={"literal_binds": True}))
    fetched: dict[str, NDArray[Any]] = driver_of(connection).execute(statement).fetchnumpy()
    return fetched


def insert_items(connection: Connection, gold_revision_id: int, keys: list[str],
                 attributes: dict[str, list[str | None]]) -> int:
    """Insert the items of a gold revision in their order, with attributes by name; returns the first item's id."""
    first, n = next_id(connection, models.item), len(keys)
    ids = np.arange(first, first + n, dtype=np.int32)
    insert_bulk(connection, models.item, {
        "item_id": ids, "gold_revision_id": gold_revision_id, "position": np.arange(n, dtype=np.int32),
        "key": texts(keys),
    })
    for name, values in attributes.items():
        there = np.array([v is not None for v in values], dtype=bool)
        insert_bulk(connection, models.item_attribute, {
            "gold_revision_id": gold_revision_id, "item_id": ids[there], "name": texts([name] * int(there.sum())),
            "value": texts([v for v in values if v is not None]),
        })
    return first


def answer_columns(gold_revision_id: int, first_id: int, item_ids: Sequence[int], keys: Sequence[str],
                   types: Sequence[str], *, in_gold: bool) -> Columns:
    """Distinct answers to items as columns of their table; the first one has the id `first_id`, the others follow."""
    return {
        "answer_id": np.arange(first_id, first_id + len(keys), dtype=np.int32), "gold_revision_id": gold_revision_id,
        "item_id": np.array(item_ids, dtype=np.int32), "key": texts(list(keys)), "type": texts(list(types)),
        "in_gold": in_gold,
    }


def load_answers(connection: Connection, gold_revision_id: int) -> KnownAnswers:
    """Every known answer of a gold revision."""
    answer = models.answer
    query = select(answer).where(answer.c.gold_revision_id == gold_revision_id)
    found = fetch_columns(connection, query)
    return KnownAnswers(found["item_id"], found["key"].tolist(), found["type"].tolist(), found["answer_id"],
                        found["in_gold"])


def response_columns(scoring_id: int, lengths: Sequence[int], answer_ids: Ids, correct: Flags,
                     scores: Floats) -> Columns:
    """The answers that one submission gave as columns: run after run, of which each gave so many; nan is no score."""
    return {
        "scoring_id": scoring_id, "replicate": np.repeat(np.arange(len(lengths), dtype=np.int16), lengths),
        "answer_id": answer_ids, "correct": correct, "score": scores,
    }
