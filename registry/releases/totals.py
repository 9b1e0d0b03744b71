"""Sums of statistics over items: what a score can be made of where the statistics of single items are held back.

A total is a whole number of steps, so that it is exact: `per_one` of them are 1. Families that do not add up, and
labels that are counted by class, have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection

from registry.arrays import Floats
from registry.evaluation.matrices import Steps
from registry.families import FAMILIES
from registry.metrics import METRICS
from registry.store import catalog
from registry.store.statistics import load_statistics
from registry.values import parse

WITHOUT = ("confusion", "pair")


def make_totals(connection: Connection) -> None:
    """Sum up the statistics of what is released, into a temporary table."""
    connection.exec_driver_sql("""
        CREATE TEMP TABLE released_total (test_set VARCHAR, submission VARCHAR, metric VARCHAR, run SMALLINT,
            position SMALLINT, statistic VARCHAR, total BIGINT, per_one BIGINT)""")
    rows = [row for asked in connection.exec_driver_sql("""
        SELECT s.test_set, s.submission, m.metric, s.scoring_id, metric_id, metric.name, metric.family, score.step,
            gold_revision_id
        FROM score JOIN released_submission AS s USING (scoring_id) JOIN released_metric AS m USING (metric_id)
        JOIN metric USING (metric_id) JOIN released_gold AS gold ON gold.test_set = s.test_set""").all()
        if asked.family not in WITHOUT for row in _rows(connection, asked)]
    if rows:
        connection.exec_driver_sql("INSERT INTO released_total VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _rows(connection: Connection, asked: Any) -> Iterator[tuple[Any, ...]]:
    """The totals of one submission by one metric."""
    (runs,), present = load_statistics(connection, asked.family, asked.metric_id, [asked.scoring_id],
                                       *catalog.item_ids(connection, asked.gold_revision_id))
    runs = runs[present.any(axis=1)]
    steps = Steps.of(parse("metric", METRICS, asked.name), [runs], asked.step)
    totals: Floats = steps.counted(runs).sum(axis=0)
    for run, of_run in enumerate(totals):
        for n, (name, total) in enumerate(zip(FAMILIES[asked.family].columns, of_run, strict=True)):
            yield asked.test_set, asked.submission, asked.metric, run, n, name, int(total), steps.per_one[n]
