"""Scores made again from what a release has of statistics: those of every item, or their totals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats
from registry.evaluation.matrices import Steps
from registry.evaluation.scoring.label_codes import stored_labels
from registry.evaluation.scoring.measure import KeptItems, Measured, measure, measure_labels
from registry.evaluation.verifying.faults import Fault
from registry.metrics import METRICS, ConfusionMetric
from registry.publication.totals import WITHOUT
from registry.store import catalog
from registry.store.statistics import load_statistics
from registry.values import parse

_SCORES = """
    SELECT score.*, test_set.task_id, metric.name AS metric, metric.family, revision.gold_revision_id,
        concat(test_set.name, '/', team.name, '/', system.name, '@', submission.version, ' by ', alias) AS name
    FROM score JOIN metric USING (metric_id) JOIN scoring USING (scoring_id) JOIN submission USING (submission_id)
    JOIN system USING (system_id) JOIN team USING (team_id) JOIN gold_revision AS revision USING (gold_revision_id)
    JOIN test_set ON test_set.test_set_id = submission.test_set_id
    JOIN (SELECT metric_id, min(alias) AS alias FROM task_metric GROUP BY metric_id) USING (metric_id)
    ORDER BY metric_id, scoring_id"""


def verify_scores(connection: Connection, with_gold: Collection[int]) -> Iterator[Fault]:
    """Compute every score again from the statistics of its items, or from totals where the gold is withheld.

    Args:
        connection: To a public file.
        with_gold: The tasks whose gold is not withheld. Of others, scores of families that do not add up are left out.
    """
    totals: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for row in connection.exec_driver_sql("FROM statistic_total ORDER BY replicate, position"):
        totals[row.scoring_id, row.metric_id].append(row)
    for stored in connection.exec_driver_sql(_SCORES).all():
        try:
            if stored.task_id in with_gold:
                yield from _of_items(connection, stored)
            elif stored.family not in WITHOUT:
                yield from _of_totals(connection, stored, totals[stored.scoring_id, stored.metric_id])
        except Exception as error:
            yield Fault("damaged", "score", stored.name, f"cannot be computed again: {type(error).__name__}: {error}")


def _of_totals(connection: Connection, stored: Any, rows: Sequence[Any]) -> Iterator[Fault]:
    if not rows:
        yield Fault("missing", "totals", stored.name, "there is nothing that its score follows from")
        return
    width = 1 + max(row.position for row in rows)
    per_one = tuple(row.per_one for row in rows[:width])
    runs = np.array([row.total for row in rows], dtype=np.float64).reshape(-1, 1, width) / per_one
    metric = parse("metric", METRICS, stored.metric)
    yield from _differences(connection, stored, measure(metric, list(runs), Steps(per_one)))


def _of_items(connection: Connection, stored: Any) -> Iterator[Fault]:
    revision = stored.gold_revision_id
    metric = parse("metric", METRICS, stored.metric)
    first, n_items = catalog.item_ids(connection, revision)
    (found,), present = load_statistics(connection, stored.family, stored.metric_id, [stored.scoring_id],
                                        first, n_items)
    is_kept: Flags = np.any(present, axis=1)
    kept = KeptItems.of(is_kept, first, catalog.item_keys(connection, revision))
    runs: list[Floats] = [found[is_kept, n] for n in range(found.shape[1])]
    if isinstance(metric, ConfusionMetric):
        labels = stored_labels(connection, revision)
        measured, contents = measure_labels(metric, labels, runs), [labels.coded(of_run) for of_run in runs]
    else:
        measured, contents = measure(metric, runs), runs
    if (digest := kept.digest_of(contents)) != stored.digest:
        yield Fault("altered", "statistics", stored.name, f"they give the digest {digest}, not {stored.digest}")
    if len(kept.ids) != stored.n_items:
        yield Fault("altered", "score", stored.name, f"n_items is {stored.n_items}, and {len(kept.ids)} items count")
    if measured.step != stored.step:
        yield Fault("altered", "score", stored.name, f"step is {stored.step}, and {measured.step} when derived again")
    yield from _differences(connection, stored, measured)


def _differences(connection: Connection, stored: Any, measured: Measured) -> Iterator[Fault]:
    """Hold a score and those of its runs against what they are when they are made again."""
    of_runs = [row.value for row in connection.exec_driver_sql(
        "SELECT value FROM replicate_score WHERE scoring_id = ? AND metric_id = ? ORDER BY replicate",
        (stored.scoring_id, stored.metric_id))]
    if not _same([stored.value], [measured.value]):
        yield Fault("altered", "score", stored.name, f"is {stored.value}, and {measured.value} when derived again")
    if len(of_runs) != len(measured.of_runs) or not _same(of_runs, measured.of_runs):
        yield Fault("altered", "score", stored.name, "the scores of its runs are others when derived again")


def _same(stored: Any, derived: Any) -> bool:
    return bool(np.array_equal(np.array(stored, dtype=np.float64), derived, equal_nan=True))
