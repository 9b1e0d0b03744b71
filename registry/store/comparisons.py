"""Results: pair results that never change, comparisons that hold one snapshot of a family, and their standings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select, text

from registry.store import catalog, models
from registry.store.row_types import ComparisonRow, Obsolete, PairResultRow


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


def pair_results(connection: Connection, digests: Sequence[str]) -> dict[str, PairResultRow]:
    """The pair results that are there, by digest."""
    columns = models.pair_result.c
    query = select(*(columns[name] for name in PairResultRow._fields)).where(columns.digest.in_(list(digests)))
    return {row.digest: row for row in map(PairResultRow._make, connection.execute(query))}


def obsolete(connection: Connection, task: str, shown: Sequence[str],
             metrics: Sequence[str] | None) -> list[Obsolete]:
    """The comparisons that boards show although they are not among those that were `shown` last, by digest.

    Only the boards of these metrics (by alias; None: of all) were asked for.
    """
    query = text("SELECT comparison_id, digest, signature, metric FROM latest_comparison WHERE task = :task")
    rows = map(Obsolete._make, connection.execute(query, {"task": task}))
    return [row for row in rows if row.digest not in shown and (metrics is None or row.metric in metrics)]
