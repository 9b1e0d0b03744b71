"""The results of pairs that one run has stored in a copy of the database, to be taken to another one.

Results are known by content: the statistics of the two systems, and what was asked of them. Their numbers are of no use
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from registry.store import models
from registry.store.comparisons import pair_request_id, statistics_ids
from registry.store.row_types import PairRequestRow
from registry.store.rows import insert_bulk, next_id, texts
from registry.store.statistics import fetch_columns

Columns = Mapping[str, NDArray[Any]]


class PairsOfRun(NamedTuple):
    """Results of pairs as columns, with the requests and the digests of statistics that their numbers stand for."""

    columns: Columns
    requests: Mapping[int, PairRequestRow]
    digests: Mapping[int, str]

    @classmethod
    def of(cls, connection: Connection, run_id: int) -> Self:
        """Those that a run has stored."""
        result, request, tested = models.pair_result, models.pair_request, models.tested_statistics
        columns = fetch_columns(connection, select(result).where(result.c.run_id == run_id))
        asked = select(*PairRequestRow.columns(), request.c.pair_request_id).where(
            request.c.pair_request_id.in_(np.unique(columns["pair_request_id"]).tolist()))
        used = np.union1d(columns["statistics_a"], columns["statistics_b"]).tolist()
        rows = connection.execute(select(tested).where(tested.c.tested_statistics_id.in_(used)))
        return cls(columns, {row.pair_request_id: PairRequestRow.of(row[:-1]) for row in connection.execute(asked)},
                   {row.tested_statistics_id: row.digest for row in rows})

    def keep(self, connection: Connection, run_id: int) -> None:
        """Store those that are not there, as results of a run."""
        if not self.digests:
            return
        asked = {number: pair_request_id(connection, request) for number, request in self.requests.items()}
        tested = dict(zip(self.digests, statistics_ids(connection, list(self.digests.values())).tolist(), strict=True))
        keys = {"pair_request_id": _renumbered(self.columns["pair_request_id"], asked)} | {
            side: _renumbered(self.columns[side], tested) for side in ("statistics_a", "statistics_b")}
        result = models.pair_result
        there = fetch_columns(connection, select(*(result.c[name] for name in keys)).where(
            result.c.pair_request_id.in_(list(asked.values()))))
        new = ~np.isin(_as_one(keys), _as_one(there))
        first = next_id(connection, result)
        insert_bulk(connection, result, {
            name: texts(column[new].tolist()) if column.dtype == object else column[new]
            for name, column in (dict(self.columns) | keys).items()} | {
            "pair_result_id": np.arange(first, first + int(new.sum())), "run_id": run_id})


def _renumbered(column: NDArray[Any], numbers: Mapping[int, int]) -> NDArray[np.int32]:
    known = np.array(sorted(numbers))
    return np.array([numbers[n] for n in known.tolist()], dtype=np.int32)[np.searchsorted(known, column)]


def _as_one(keys: Columns) -> NDArray[Any]:
    """The rows of some columns as one column of values that can be compared."""
    rows = np.empty(len(keys["statistics_a"]), dtype=[(name, np.int32) for name in keys])
    for name, column in keys.items():
        rows[name] = np.ma.getdata(column)
    return rows
