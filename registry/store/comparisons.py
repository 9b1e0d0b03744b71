"""Results: pair results that never change, comparisons that hold one snapshot of a family, standings, and studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, case, func, select, text

from registry.arrays import Ints
from registry.identity import digest_json
from registry.store import catalog, models
from registry.store.catalog import PairRequestRow, StudyRow
from registry.store.rows import insert, insert_bulk, insert_many, next_id, texts
from registry.store.statistics import fetch_columns


def latest_sequence(connection: Connection, **board: Any) -> int:
    """The highest sequence among the comparisons of one board (test set, track, facet, alias); 0 if there is none."""
    table = models.comparison
    query = select(func.coalesce(func.max(table.c.sequence), 0)).select_from(table).filter_by(**board)
    return int(connection.execute(query).scalar_one())


def compared_before(connection: Connection, *, candidate: str | None, **made: Any) -> set[int]:
    """The submissions of the latest comparison with this candidate of which these columns have these values."""
    table, standing = models.comparison, models.standing
    recorded = func.json_extract_string(table.c.request, "$.significance.candidate")
    latest = select(func.max(table.c.comparison_id)).select_from(table).filter_by(**made).where(
        recorded.is_not_distinct_from(candidate))
    return set(connection.execute(select(standing.c.submission_id).where(
        standing.c.comparison_id == latest.scalar_subquery())).scalars())


def pair_request_id(connection: Connection, request: PairRequestRow) -> int:
    """The number of a request, which is kept if it is new."""
    return catalog.find_or_insert(connection, models.pair_request, asdict(request))


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


def with_intervals(connection: Connection, pair_result_ids: Ints) -> Ints:
    """The numbers of pair results beside which an interval stands, of those between the first and the last of some."""
    table = models.pair_interval
    return np.ma.getdata(fetch_columns(connection, select(table.c.pair_result_id).where(table.c.pair_result_id.between(
        int(pair_result_ids.min()), int(pair_result_ids.max()))))["pair_result_id"])


def obsolete(connection: Connection, task: str, shown: Sequence[str],
             metrics: Sequence[str] | None) -> list[Row[Any]]:
    """The comparisons that boards show although they are not among those that were `shown` last, by digest.

    Only the boards of these metrics (by alias; None: of all) were asked for.
    """
    c = models.comparison.c
    if connection.execute(select(c.digest).where(c.sequence > 0, c.digest.not_in(shown)).limit(1)).first() is None:
        return []  # sooner than the view is planned
    query = text("SELECT comparison_id, digest, signature, metric FROM latest_comparison WHERE task = :task")
    return [row for row in connection.execute(query, {"task": task})
            if row.digest not in shown and (metrics is None or row.metric in metrics)]


_PAIRS = """
    SELECT p.* EXCLUDE (comparison_id, pair_result_id), r.* EXCLUDE (pair_result_id, pair_request_id, statistics_a,
        statistics_b, run_id)
    FROM {stored}comparison_pair AS p LEFT JOIN {stored}pair_result AS r USING (pair_result_id)
    WHERE comparison_id = :id ORDER BY ALL"""


def results_digest(connection: Connection, comparison_id: int, stored: str = "") -> str:
    """The digest of all that a comparison says: settings, pairs, standings, and the test of all systems.

    `stored` is what the names of the tables begin with.
    """
    queries = [f"SELECT * EXCLUDE (run_id, sequence) FROM {stored}comparison WHERE comparison_id = :id",  # noqa: S608
               _PAIRS.format(stored=stored),
               *(f"FROM {stored}{table} WHERE comparison_id = :id ORDER BY ALL"
                 for table in ("standing", "overall_result"))]
    return digest_json([[list(map(str, row)) for row in connection.execute(text(query), {"id": comparison_id})]
                        for query in queries])


def resting_on(connection: Connection, scores: Sequence[tuple[int, int]]) -> dict[str, int]:
    """The comparisons that rest on any of some scores (scoring, metric): their ids by their digests."""
    c, stood = models.comparison.c, models.standing.c
    found: dict[str, int] = {}
    for metric_id in {metric for _, metric in scores}:
        scorings = [scoring for scoring, metric in scores if metric == metric_id]
        query = select(c.digest, c.comparison_id).distinct().join_from(
            models.comparison, models.standing, c.comparison_id == stood.comparison_id).where(
                c.metric_id == metric_id, stood.scoring_id.in_(scorings))
        found |= {row.digest: row.comparison_id for row in connection.execute(query)}
    return found


def results_resting_on(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[str, str]:
    """The digests of the results of all comparisons that rest on scores by a metric, by their own."""
    resting = resting_on(connection, [(scoring_id, metric_id) for scoring_id in scoring_ids])
    return {digest: results_digest(connection, comparison_id) for digest, comparison_id in resting.items()}


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


def parts_of(connection: Connection, digest: str) -> dict[str, str]:
    """The parts of an unfinished study, by key."""
    table = models.study_part
    rows = connection.execute(select(table.c.key, table.c.result).where(table.c.digest == digest))
    return {row.key: row.result for row in rows}


def keep_parts(connection: Connection, digest: str, parts: Mapping[str, str]) -> None:
    """Keep parts of an unfinished study; those that are there already stay as they are."""
    there = parts_of(connection, digest)
    insert_many(connection, models.study_part, [
        {"digest": digest, "key": key, "result": result} for key, result in parts.items() if key not in there])


def keep_study(connection: Connection, digest: str, **values: Any) -> None:
    """Keep a finished study in the place of its parts."""
    if catalog.find(connection, StudyRow, digest=digest) is None:
        insert(connection, models.study, digest=digest, **values)
    connection.execute(models.study_part.delete().where(models.study_part.c.digest == digest))
