"""Stored results: pair results, comparisons and studies.

A pair result is the result of one test of two systems; it never changes. A comparison is a snapshot: the results of one
family of pairs at one time.
"""

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
from registry.store.rows import insert, insert_bulk, insert_many, next_id, text_column
from registry.store.statistics import fetch_columns


def latest_sequence(connection: Connection, **board: Any) -> int:
    """Return the number of the latest stored comparison of a leaderboard.

    Later comparisons have larger numbers. The result is 0 if no comparison is stored.

    Args:
        connection: Connection to the registry.
        board: Columns that identify the board: test set, track, facet and alias of the metric.
    """
    table = models.comparison
    query = select(func.coalesce(func.max(table.c.sequence), 0)).select_from(table).filter_by(**board)
    return int(connection.execute(query).scalar_one())


def find_compared(connection: Connection, *, candidate: str | None, **columns: Any) -> set[int]:
    """Return the ids of the submissions in the latest comparison of a board.

    Args:
        connection: Connection to the registry.
        candidate: System that was tested against all others (setting `candidate`); None selects comparisons without it.
        columns: Values of other columns, which identify the board.
    """
    table, standing = models.comparison, models.standing
    recorded = func.json_extract_string(table.c.request, "$.significance.candidate")
    latest = select(func.max(table.c.comparison_id)).select_from(table).filter_by(**columns).where(
        recorded.is_not_distinct_from(candidate))
    return set(connection.execute(select(standing.c.submission_id).where(
        standing.c.comparison_id == latest.scalar_subquery())).scalars())


def pair_request_id(connection: Connection, request: PairRequestRow) -> int:
    """Return the id under which the settings of a pair test are stored.

    New settings are stored first.
    """
    return catalog.find_or_insert(connection, models.pair_request, asdict(request))


def statistics_ids(connection: Connection, digests: Sequence[str]) -> Ints:
    """Return the ids by which results refer to statistics of systems; store new ones.

    Args:
        connection: Connection to the registry.
        digests: Distinct digests of the statistics.

    Returns:
        Ids, in the order of the digests.
    """
    table = models.tested_statistics
    query = select(table.c.digest, table.c.tested_statistics_id).where(table.c.digest.in_(list(digests)))
    ids = {row.digest: row.tested_statistics_id for row in connection.execute(query)}
    new = [digest for digest in digests if digest not in ids]
    first = next_id(connection, table)
    insert_bulk(connection, table, {"tested_statistics_id": np.arange(first, first + len(new)),
                                    "digest": np.array(new, dtype=np.str_)})
    ids.update(zip(new, range(first, first + len(new)), strict=True))
    return np.array([ids[digest] for digest in digests], dtype=np.int64)


def pair_results(connection: Connection, pair_request_id: int, statistics: Ints, columns: Sequence[str],
                 methods: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Load the stored test results of all pairs within a set of systems.

    A system is identified by its statistics, because the result depends on nothing else of the system.

    Args:
        connection: Connection to the registry.
        pair_request_id: Id of the settings of the test.
        statistics: Ids of the statistics of the systems.
        columns: Names of the columns to load.
        methods: Names of p-value methods; a method is returned as its index in this sequence.

    Returns:
        Each column by name, [results]; NULL becomes nan.
    """
    table, ids = models.pair_result.c, statistics.tolist()
    code = case({method: n for n, method in enumerate(methods)}, value=table.method)
    loaded = fetch_columns(connection, select(*(
        (code if name == "method" else table[name]).label(name) for name in columns)).where(
            table.pair_request_id == pair_request_id, table.statistics_a.in_(ids), table.statistics_b.in_(ids)))
    return {name: np.ma.filled(column, np.nan) if column.dtype.kind == "f" else np.ma.getdata(column)
            for name, column in loaded.items()}


def delete_unused_results(connection: Connection, run_id: int) -> None:
    """Delete the pair results of a command that no comparison uses."""
    result, used = models.pair_result, select(models.comparison_pair.c.pair_result_id)
    connection.execute(result.delete().where(result.c.run_id == run_id, result.c.pair_result_id.not_in(used)))


def find_intervals(connection: Connection, pair_result_ids: Ints) -> Ints:
    """Find the test results that have a stored confidence interval.

    All ids between the smallest and the largest of `pair_result_ids` are searched, so the result may contain other ids.
    """
    table = models.pair_interval
    return np.ma.getdata(fetch_columns(connection, select(table.c.pair_result_id).where(table.c.pair_result_id.between(
        int(pair_result_ids.min()), int(pair_result_ids.max()))))["pair_result_id"])


def find_obsolete(connection: Connection, task: str, current: Sequence[str],
                  metrics: Sequence[str] | None) -> list[Row[Any]]:
    """Return the latest comparisons of a task that are out of date.

    Args:
        connection: Connection to the registry.
        task: Id of the task.
        current: Digests of the comparisons that are up to date.
        metrics: Aliases of the metrics to search; None means all metrics.
    """
    c = models.comparison.c
    if connection.execute(select(c.digest).where(c.sequence > 0, c.digest.not_in(current)).limit(1)).first() is None:
        return []  # the check is faster than a query of the view
    query = text("SELECT comparison_id, digest, signature, metric FROM latest_comparison WHERE task = :task")
    return [row for row in connection.execute(query, {"task": task})
            if row.digest not in current and (metrics is None or row.metric in metrics)]


_PAIRS = """
    SELECT p.* EXCLUDE (comparison_id, pair_result_id), r.* EXCLUDE (pair_result_id, pair_request_id, statistics_a,
        statistics_b, run_id)
    FROM {stored}comparison_pair AS p LEFT JOIN {stored}pair_result AS r USING (pair_result_id)
    WHERE comparison_id = :id ORDER BY ALL"""


def results_digest(connection: Connection, comparison_id: int, prefix: str = "") -> str:
    """Return a digest of all results of a comparison.

    The digest covers settings, pairs, ranking and overall test.

    Args:
        connection: Connection to the registry.
        comparison_id: Id of the comparison.
        prefix: Text before each table name, such as the name of another database and a dot.
    """
    queries = [f"SELECT * EXCLUDE (run_id, sequence) FROM {prefix}comparison WHERE comparison_id = :id",  # noqa: S608
               _PAIRS.format(stored=prefix),
               *(f"FROM {prefix}{table} WHERE comparison_id = :id ORDER BY ALL"
                 for table in ("standing", "overall_result"))]
    return digest_json([[list(map(str, row)) for row in connection.execute(text(query), {"id": comparison_id})]
                        for query in queries])


def find_dependent(connection: Connection, scores: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Return the comparisons that use any of these scores.

    Args:
        connection: Connection to the registry.
        scores: For each score, the id of a scoring (a submission, scored with one version of the gold) and of a metric.

    Returns:
        Ids of the comparisons, by digest of the comparison.
    """
    c, standing = models.comparison.c, models.standing.c
    ids: dict[str, int] = {}
    for metric_id in {metric for _, metric in scores}:
        scorings = [scoring for scoring, metric in scores if metric == metric_id]
        query = select(c.digest, c.comparison_id).distinct().join_from(
            models.comparison, models.standing, c.comparison_id == standing.comparison_id).where(
                c.metric_id == metric_id, standing.scoring_id.in_(scorings))
        ids |= {row.digest: row.comparison_id for row in connection.execute(query)}
    return ids


def dependent_results(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[str, str]:
    """Return digests of the results of all comparisons that use some scores.

    Args:
        connection: Connection to the registry.
        metric_id: Id of the metric of the scores.
        scoring_ids: Ids of the scorings: submissions that were scored with one version of the gold.

    Returns:
        The digest of the results, by the digest that identifies the comparison.
    """
    dependent = find_dependent(connection, [(scoring_id, metric_id) for scoring_id in scoring_ids])
    return {digest: results_digest(connection, comparison_id) for digest, comparison_id in dependent.items()}


Columns = Mapping[str, NDArray[Any]]


class PairsOfRun(NamedTuple):
    """Test results of one command, in a form that can be stored in another registry.

    The results refer to settings and systems by ids, which differ between registries. So the settings, and digests that
    identify the systems, are included.

    Attributes:
        columns: Columns of the table `pair_result`, by name.
        requests: The settings of the tests, by the ids in the column `pair_request_id`.
        digests: Digests of the statistics of the systems, by the ids in the columns `statistics_a` and `statistics_b`.
    """

    columns: Columns
    requests: Mapping[int, PairRequestRow]
    digests: Mapping[int, str]

    @classmethod
    def load(cls, connection: Connection, run_id: int) -> Self:
        """Load the test results that a command has stored.

        Args:
            connection: Connection to the registry.
            run_id: Id of the command.
        """
        result, request, tested = models.pair_result, models.pair_request, models.tested_statistics
        columns = fetch_columns(connection, select(result).where(result.c.run_id == run_id))
        requests = select(*PairRequestRow.columns(), request.c.pair_request_id).where(
            request.c.pair_request_id.in_(np.unique(columns["pair_request_id"]).tolist()))
        used = np.union1d(columns["statistics_a"], columns["statistics_b"]).tolist()
        rows = connection.execute(select(tested).where(tested.c.tested_statistics_id.in_(used)))
        return cls(columns, {row.pair_request_id: PairRequestRow.from_values(row[:-1])
                             for row in connection.execute(requests)},
                   {row.tested_statistics_id: row.digest for row in rows})

    def store(self, connection: Connection, run_id: int) -> None:
        """Store the results in another registry, except results that it already has.

        Args:
            connection: Connection to that registry.
            run_id: Id, in that registry, of the command that stores the results.
        """
        if not self.digests:
            return
        requests = {number: pair_request_id(connection, request) for number, request in self.requests.items()}
        tested = dict(zip(self.digests, statistics_ids(connection, list(self.digests.values())).tolist(), strict=True))
        keys = {"pair_request_id": _replace_ids(self.columns["pair_request_id"], requests)} | {
            side: _replace_ids(self.columns[side], tested) for side in ("statistics_a", "statistics_b")}
        result = models.pair_result
        stored = fetch_columns(connection, select(*(result.c[name] for name in keys)).where(
            result.c.pair_request_id.in_(list(requests.values()))))
        new = ~np.isin(_pack(keys), _pack(stored))
        first = next_id(connection, result)
        insert_bulk(connection, result, {
            name: text_column(column[new].tolist()) if column.dtype == object else column[new]
            for name, column in (dict(self.columns) | keys).items()} | {
            "pair_result_id": np.arange(first, first + int(new.sum())), "run_id": run_id})


def _replace_ids(column: NDArray[Any], ids: Mapping[int, int]) -> NDArray[np.int32]:
    old_ids = np.array(sorted(ids))
    return np.array([ids[n] for n in old_ids.tolist()], dtype=np.int32)[np.searchsorted(old_ids, column)]


def _pack(keys: Columns) -> NDArray[Any]:
    rows = np.empty(len(keys["statistics_a"]), dtype=[(name, np.int32) for name in keys])
    for name, column in keys.items():
        rows[name] = np.ma.getdata(column)
    return rows


def load_parts(connection: Connection, digest: str) -> dict[str, str]:
    """Load the stored results of the finished parts of an unfinished study.

    Args:
        connection: Connection to the registry.
        digest: Digest that identifies the study.

    Returns:
        The result of each part as JSON, by key of the part.
    """
    table = models.study_part
    rows = connection.execute(select(table.c.key, table.c.result).where(table.c.digest == digest))
    return {row.key: row.result for row in rows}


def store_parts(connection: Connection, digest: str, parts: Mapping[str, str]) -> None:
    """Store the results of new parts of an unfinished study.

    Parts that are already stored do not change.

    Args:
        connection: Connection to the registry.
        digest: Digest that identifies the study.
        parts: The result of each part as JSON, by key of the part.
    """
    stored = load_parts(connection, digest)
    insert_many(connection, models.study_part, [
        {"digest": digest, "key": key, "result": result} for key, result in parts.items() if key not in stored])


def store_study(connection: Connection, digest: str, **values: Any) -> None:
    """Store the result of a finished study, and delete the results of its parts.

    Args:
        connection: Connection to the registry.
        digest: Digest that identifies the study.
        values: Other columns of the table `study`.
    """
    if catalog.find(connection, StudyRow, digest=digest) is None:
        insert(connection, models.study, digest=digest, **values)
    connection.execute(models.study_part.delete().where(models.study_part.c.digest == digest))
