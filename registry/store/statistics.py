"""Statistics per item, answers and responses: bulk columns in, arrays out."""

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
from registry.store.rows import Columns, driver_of, insert_bulk, next_id, text_column

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
        "key": text_column(keys),
    })
    for name, values in attributes.items():
        there = np.array([v is not None for v in values], dtype=bool)
        insert_bulk(connection, models.item_attribute, {
            "gold_revision_id": gold_revision_id, "item_id": ids[there], "name": text_column([name] * int(there.sum())),
            "value": text_column([v for v in values if v is not None]),
        })
    return first


def answer_columns(gold_revision_id: int, first_id: int, item_ids: Sequence[int], keys: Sequence[str],
                   types: Sequence[str], *, in_gold: bool) -> Columns:
    """Distinct answers to items as columns of their table; the first one has the id `first_id`, the others follow."""
    return {
        "answer_id": np.arange(first_id, first_id + len(keys), dtype=np.int32), "gold_revision_id": gold_revision_id,
        "item_id": np.array(item_ids, dtype=np.int32), "key": text_column(list(keys)), "type": text_column(list(types)),
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


@dataclass(frozen=True, eq=False)
class Responses:
    """Which answers submissions give, and with which scores.

    Attributes:
        given: [answers, submissions].
        scores: nan where an answer has none or is not given, [answers, submissions].
    """

    given: Flags
    scores: Floats


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers that are known of a gold revision, by their ids.

    Attributes:
        ids: Rising, [answers].
        items: The id of the item of each.
        names: Its item's key, its own key and its type.
        in_gold: Whether the gold has it.
    """

    ids: Ints
    items: Ints
    names: list[tuple[str, str, str]]
    in_gold: Flags


def load_responses(connection: Connection, scoring_ids: Sequence[int], answer_ids: Ints) -> Responses:
    """Load what each submission says in its first run of some answers; both in the order wanted."""
    response = models.response
    query = select(response.c.scoring_id, response.c.answer_id, response.c.score).where(
        response.c.scoring_id.in_(list(scoring_ids)), response.c.replicate == 0)
    loaded = fetch_columns(connection, query)
    rows, columns = (_places(wanted, loaded[name]) for wanted, name in (
        (answer_ids, "answer_id"), (np.array(scoring_ids), "scoring_id")))
    at = rows[rows >= 0], columns[rows >= 0]
    given = np.zeros((len(answer_ids), len(scoring_ids)), dtype=bool)
    given[at] = True
    scores = np.full(given.shape, np.nan)
    scores[at] = np.ma.filled(loaded["score"], np.nan)[rows >= 0]  # NULL comes masked
    return Responses(given, scores)


def load_correct(connection: Connection, gold_revision_id: int,
                 runs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.uint64], int]:
    """Load what each run (a scoring and its replicate) gets right: gold answers, or items if items have no answers.

    Returns:
        A bit for each gold answer or item, [runs, words of 64], in an order that is the same for all runs; all other
        bits are 0. And how many gold answers or items there are.

    Raises:
        MismatchError: Items have no answers, and the scores of some run are not all 0 or 1.
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
    packed = driver_of(connection).execute(f"""
        SELECT scoring_id, replicate, bitstring_agg(id, {first}, {first + 64 * words - 1})::BLOB
        FROM ({correct})
        WHERE scoring_id BETWEEN {min(scorings)} AND {max(scorings)} AND id BETWEEN {first} AND {last}
        GROUP BY ALL""").fetchall()  # noqa: S608
    rows = {(scoring_id, replicate): np.frombuffer(bits, dtype=np.uint64) for scoring_id, replicate, bits in packed}
    none = np.zeros(words, dtype=np.uint64)
    return np.stack([rows.get(run, none) for run in runs]), n


def _require_binary(connection: Connection, scoring_ids: Sequence[int]) -> None:
    """Refuse scorings whose items are neither correct nor incorrect."""
    binary = set(connection.execute(text("SELECT scoring_id FROM binary_scoring")).scalars())
    if not binary.issuperset(scoring_ids):
        raise MismatchError("the items are neither correct nor incorrect: they have no answers, and not all scores by "
                            "the primary metric are 0 or 1; the view item_score has the score of each")


def load_named_answers(connection: Connection, gold_revision_id: int) -> Answers:
    """Load every known answer of a gold revision with its names."""
    answer, item = models.answer, models.item
    loaded = fetch_columns(connection, (
        select(answer.c.answer_id, answer.c.item_id, item.c.key.label("item_key"), answer.c.key, answer.c.type,
               answer.c.in_gold)
        .join(item, item.c.item_id == answer.c.item_id)
        .where(answer.c.gold_revision_id == gold_revision_id).order_by(answer.c.answer_id)))
    names = list(zip(*(map(str, loaded[name].tolist()) for name in ("item_key", "key", "type")), strict=True))
    return Answers(loaded["answer_id"].astype(np.int64), loaded["item_id"].astype(np.int64), names, loaded["in_gold"])


def _places(wanted: Ints, found: NDArray[Any]) -> Ints:
    """Where each of the ids that were found stands among those wanted, -1 where it is not among them."""
    places = np.full(1 + max(wanted.max(initial=0), found.max(initial=0)), -1, dtype=np.int64)
    places[wanted] = np.arange(len(wanted))
    return np.asarray(places[found])


def several_runs(connection: Connection, submission_ids: Sequence[int]) -> set[int]:
    """Those of the submissions that have more than one run."""
    table = models.submission_source
    query = select(table.c.submission_id).where(table.c.submission_id.in_(list(submission_ids)), table.c.replicate > 0)
    return {int(found) for found in connection.execute(query).scalars()}
