"""Results: pair results that never change, comparisons that hold one snapshot of a family, and their standings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, case, func, select, text

from registry.store import catalog, models
from registry.store.row_types import ComparisonRow, Obsolete, PairRequestRow
from registry.store.rows import insert_bulk, next_id
from registry.store.statistics import fetch_columns

Ints = NDArray[np.int64]


def find_comparison(connection: Connection, digest: str) -> ComparisonRow | None:
    """The snapshot with this content, or None."""
    return catalog.find(connection, ComparisonRow, digest=digest)


def latest_sequence(connection: Connection, **board: Any) -> int:
    """The highest sequence among the comparisons of one board (test set, track, facet, alias); 0 if there is none."""
    query = select(func.coalesce(func.max(models.comparison.c.sequence), 0))
    for name, value in board.items():
        column = models.comparison.c[name]
        query = query.where(column.is_(None) if value is None else column == value)
    return int(connection.execute(query).scalar_one())


def compared_before(connection: Connection, **made: Any) -> set[int]:
    """The submissions of the latest comparison of which these columns have these values."""
    table, standing = models.comparison, models.standing
    latest = select(func.max(table.c.comparison_id))
    for name, value in made.items():
        latest = latest.where(table.c[name].is_(None) if value is None else table.c[name] == value)
    return set(connection.execute(select(standing.c.submission_id).where(
        standing.c.comparison_id == latest.scalar_subquery())).scalars())


def pair_request_id(connection: Connection, request: PairRequestRow) -> int:
    """The number of a request, which is kept if it is new."""
    asked = {column.name: getattr(request, column.name) for column in PairRequestRow.columns()}
    return catalog.find_or_insert(connection, models.pair_request, asked | {"is_valid": True})


def statistics_ids(connection: Connection, digests: Sequence[str]) -> Ints:
    """The numbers that stand for the content of statistics, [digests]; digests differ, and new ones are kept."""
    table = models.tested_statistics
    query = select(table.c.digest, table.c.tested_statistics_id).where(table.c.digest.in_(list(digests)))
    known = {row.digest: row.tested_statistics_id for row in connection.execute(query)}
    new = [digest for digest in digests if digest not in known]
    first = next_id(connection, table)
    insert_bulk(connection, table, {"tested_statistics_id": np.arange(first, first + len(new)),
                                    "digest": np.array(new, dtype=np.str_)})
    known.update(zip(new, range(first, first + len(new)), strict=True))
    return np.array([known[digest] for digest in digests], dtype=np.int64)


def pair_results(connection: Connection, pair_request_id: int, statistics: Ints, columns: Sequence[str],
                 methods: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The pair results of a request between any two of some statistics.

    Args:
        connection: To read from.
        pair_request_id: The request's number.
        statistics: The numbers of the statistics.
        columns: The columns wanted.
        methods: The names of which column `method` gives the place.

    Returns:
        The columns, [results] each; NULL is nan.
    """
    table, ids = models.pair_result.c, statistics.tolist()
    code = case({method: n for n, method in enumerate(methods)}, value=table.method)
    chosen = [code if name == "method" else table[name] for name in columns]
    found = fetch_columns(connection, select(*(column.label(name) for name, column in zip(
        columns, chosen, strict=True))).where(
            table.pair_request_id == pair_request_id, table.statistics_a.in_(ids), table.statistics_b.in_(ids)))
    return {name: np.ma.filled(column, np.nan) if column.dtype.kind == "f" else np.ma.getdata(column)
            for name, column in found.items()}


def obsolete(connection: Connection, task: str, shown: Sequence[str],
             metrics: Sequence[str] | None) -> list[Obsolete]:
    """The comparisons that boards show although they are not among those that were `shown` last, by digest.

    Only the boards of these metrics (by alias; None: of all) were asked for.
    """
    query = text("SELECT comparison_id, digest, signature, metric FROM latest_comparison WHERE task = :task")
    rows = map(Obsolete._make, connection.execute(query, {"task": task}))
    return [row for row in rows if row.digest not in shown and (metrics is None or row.metric in metrics)]
