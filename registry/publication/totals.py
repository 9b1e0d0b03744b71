"""Sums of statistics over items, from which scores follow if the statistics of items are withheld.

A total is a whole number of steps, and so exact; `per_one` steps are 1. Families whose statistics do not add up, or are
labels of classes, have no totals.
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

WITHOUT = ("confusion", "pair")  # families
_SCORES = """
    SELECT scoring_id, metric_id, gold_revision_id, score.step, metric.name, metric.family,
        of_scoring.new AS new_scoring, of_metric.new AS new_metric
    FROM score JOIN public_scoring USING (scoring_id) JOIN scoring USING (scoring_id) JOIN metric USING (metric_id)
    JOIN number_scoring AS of_scoring ON of_scoring.old = scoring_id
    JOIN number_metric AS of_metric ON of_metric.old = metric_id
    WHERE NOT has_gold ORDER BY new_scoring, new_metric"""


def sum_statistics(connection: Connection) -> Iterator[dict[str, Any]]:
    """Yield the rows of a public file's table `statistic_total`, for tasks that withhold their gold.

    Args:
        connection: To the registry's own file, with the temporary tables of a publication.
    """
    for score in connection.exec_driver_sql(_SCORES).all():
        if score.family in WITHOUT:
            continue
        (runs,), present = load_statistics(connection, score.family, score.metric_id, [score.scoring_id],
                                           *catalog.item_ids(connection, score.gold_revision_id))
        runs = runs[present.any(axis=1)]
        steps = Steps.of(parse("metric", METRICS, score.name), [runs], score.step)
        totals: Floats = steps.counted(runs).sum(axis=0)
        for replicate, of_run in enumerate(totals):
            for position, (name, total) in enumerate(zip(FAMILIES[score.family].columns, of_run, strict=True)):
                yield {"scoring_id": score.new_scoring, "metric_id": score.new_metric, "replicate": replicate,
                       "position": position, "statistic": name, "total": int(total), "per_one": steps.per_one[position]}
