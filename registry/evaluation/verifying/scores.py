"""Responses, remarks, statistics and scores, derived again from the kept files and held against the stored ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from sqlalchemy import Connection, select

from registry.errors import RegistryError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.join import Policies
from registry.evaluation.ingest.submissions import add_fitted, fit
from registry.evaluation.scoring.score import Pending, score_wanted
from registry.evaluation.scoring.workers import Wanted
from registry.evaluation.verifying.elsewhere import runs_elsewhere
from registry.evaluation.verifying.faults import Difference, Fault, differences, summarized
from registry.metrics import METRICS
from registry.parallel.execution import Execution
from registry.store import models
from registry.store.row_types import DeclaredMetric, ScoringRow
from registry.values import parse

Names = dict[int, str]  # of submissions, by scoring

_STATISTICS = [table.name for table in (*models.statistics.values(), *models.whole_statistics.values())]
TABLES = ("response", "remark", "score", "replicate_score", *_STATISTICS)

_RESPONSES = """
    SELECT scoring_id, replicate, item.key AS item, answer.key AS answer, type, correct, score
    FROM {table} JOIN answer USING (answer_id) JOIN item USING (item_id)"""
_KEYS = {"score": ("scoring_id", "metric_id"), "replicate_score": ("scoring_id", "metric_id", "replicate"),
         "remark": ("scoring_id", "replicate", "category", "message")}


def derive_scores(ingest: Ingest, scorings: Sequence[tuple[ScoringRow, int]], names: Names,
                  execution: Execution) -> Iterator[Fault]:
    """Derive the responses and scores of some scorings again; their tables are set aside.

    Args:
        ingest: The command and the task.
        scorings: With the number of missing answers that is stored of each.
        names: What to call them.
        execution: Who computes.
    """
    refused: list[RegistryError] = []
    ingest = replace(ingest, refuse=refused.append)
    pending = Pending(ingest.connection)
    for revision, group in groupby(sorted(scorings, key=lambda of: of[0].gold_revision_id),
                                   key=lambda of: of[0].gold_revision_id):
        wanted = []
        for scoring, n_missing in group:
            name = names[scoring.scoring_id]
            try:
                reader, documents = ingest.parsed.submitted(ingest.connection, scoring.submission_id)
                fitted = fit(ingest.items(revision), reader, documents, Policies(scoring.missing, tokens="warn"),
                             [reader.read_answers(document) for document in documents])
                add_fitted(ingest, scoring.scoring_id, revision, reader, fitted)
            except Exception as error:
                yield Fault("damaged", "submission", name, f"cannot be joined with the gold again: {error}")
                continue
            if fitted.n_missing != n_missing:
                yield Fault("altered", "submission", name,
                              f"{n_missing} missing answers are stored, and {fitted.n_missing} found again")
            if metrics := _scored_by(ingest.connection, scoring.scoring_id):
                wanted.append(Wanted(name, scoring, metrics, tuple(
                    parse("metric", METRICS, metric.name) for metric in metrics)))
        ingest.write()
        if wanted:
            score_wanted(ingest, wanted, execution, pending)
    pending.flush()
    for why in refused:
        yield Fault("damaged", "score", ingest.slug, f"cannot be computed again: {why}")


def _scored_by(connection: Connection, scoring_id: int) -> tuple[DeclaredMetric, ...]:
    """The metrics that a scoring has scores by; what an older registry kept in another way is left out."""
    found = connection.exec_driver_sql("""
        SELECT metric.name AS alias, FALSE, metric.* FROM stored_score JOIN metric USING (metric_id)
        WHERE scoring_id = ? AND step IS NOT NULL ORDER BY metric_id""", (scoring_id,))
    return tuple(map(DeclaredMetric._make, found))


def compare_scores(connection: Connection, names: Names) -> Iterator[Fault]:
    """Hold what was stored against what was derived again."""
    metrics = {row.metric_id: row.name for row in connection.execute(select(models.metric))}
    keys = ("scoring_id", "replicate", "item", "answer", "type")
    before, after = (_RESPONSES.format(table=table) for table in ("stored_response", "response"))
    found = {"response": differences(connection, _of(before), after, keys)}
    for table in ("remark", "score", "replicate_score"):
        left_out = "* EXCLUDE (run_id)" if table == "score" else "*"
        found[table] = differences(connection, _of(f"SELECT {left_out} FROM stored_{table}", older=table == "score"),  # noqa: S608
                                   f"SELECT {left_out} FROM {table}", _KEYS[table])  # noqa: S608
    for table in _STATISTICS:
        found[table] = differences(
            connection, f"SELECT s.* FROM stored_{table} AS s SEMI JOIN score USING (scoring_id, metric_id)",  # noqa: S608
            f"FROM {table}", ("scoring_id", "metric_id", "replicate", "item_id"))
    others = runs_elsewhere(connection)
    elsewhere = {scoring_id for scoring_id, run_id in connection.exec_driver_sql(
        "SELECT scoring_id, run_id FROM stored_score") if run_id in others}
    for table, all_of_them in found.items():
        of = "statistics" if table in _STATISTICS else table.replace("_", " ")
        for scoring_id, some in _by_scoring(all_of_them):
            by = {str(metrics.get(one.key.pop("metric_id"))) for one in some if "metric_id" in one.key}
            by_metric = f" by {', '.join(sorted(by))}" if by else ""
            yield from summarized(of, names.get(scoring_id, f"scoring {scoring_id}") + by_metric, some, "rows",
                                  elsewhere=scoring_id in elsewhere)


def _of(query: str, *, older: bool = False) -> str:
    """The rows of the scorings that were derived again."""
    also = " AND step IS NOT NULL" if older else ""
    return f"SELECT * FROM ({query}) WHERE scoring_id IN (SELECT scoring_id FROM derived_scoring){also}"  # noqa: S608


def _by_scoring(found: Iterator[Difference]) -> Iterator[tuple[int, list[Difference]]]:
    by_scoring: dict[int, list[Difference]] = {}
    for difference in found:
        by_scoring.setdefault(difference.key.pop("scoring_id"), []).append(difference)
    yield from by_scoring.items()
