"""Statistics per item for every submission that takes part and every metric that the task declares."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError, together
from registry.evaluation.ingest.context import Ingest, Refuse
from registry.evaluation.matrices import Counts, Steps, scores_of
from registry.evaluation.scoring.label_codes import with_new_labels
from registry.evaluation.scoring.run_averages import averaged
from registry.evaluation.scoring.workers import Wanted, compute
from registry.families import FAMILIES, step_of
from registry.identity import digest_array, digest_json, digest_lines
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.parallel.execution import with_progress
from registry.store import catalog, models, statistics
from registry.store.row_types import DeclaredMetric, Member, ScoringRow
from registry.store.rows import insert_many
from registry.store.statistics import Block
from registry.values import parse


@dataclass
class Scored:
    """How many scores were computed, and how many were there already."""

    computed: int = 0
    unchanged: int = 0


def score(ingest: Ingest, workers: int | None = None) -> Scored:
    """Compute what is missing; what is there is left alone.

    What is refused is an `InputError`: a metric does not take what a submission holds, or several runs of a system.

    Args:
        ingest: The command and its task.
        workers: The most processes that compute; None: as many as there are processors.
    """
    connection, refuse = ingest.connection, ingest.refuse
    scored, pending = Scored(), _Pending(connection)
    declared = catalog.task_metrics(connection, ingest.task_id)
    metrics = {row.metric_id: parse("metric", METRICS, row.name) for row in declared}
    for test_set in catalog.test_sets(connection, ingest.task_id):
        members = catalog.ranked(connection, test_set.test_set_id)
        _check_runs(connection, members, list(metrics.values()), refuse)
        missing = list(_missing(connection, members, declared))
        for row in declared if missing else ():
            statistics.forget_older(connection, row.family, row.metric_id, [member.scoring_id for member in members])
        scored.unchanged += len(members) * len(declared) - sum(len(lacking) for _, lacking in missing)
        wanted = [Wanted(catalog.get(connection, ScoringRow, scoring_id=member.scoring_id),
                         tuple(metrics[row.metric_id] for row in lacking)) for member, lacking in missing]
        computing = with_progress(compute(ingest, wanted, workers or os.cpu_count() or 1) if wanted else (),
                                  len(wanted), "submissions to score", ingest.progress)
        for (member, lacking), one in zip(missing, wanted, strict=True):
            if isinstance(computed := next(computing), list):
                refuse(together([InputError(f"{member.name}: {error}", category="score") for error in computed]))
                continue
            for row, metric, of_runs in zip(lacking, one.metrics, computed.statistics, strict=True):
                for block in _keep(ingest, one.scoring, row, metric, computed.kept, of_runs):
                    pending.add(block, row.family)
                scored.computed += 1
    pending.flush()
    if scored.computed:
        ingest.event("score", ingest.slug, computed=scored.computed)
    return scored


def _missing(connection: Connection, members: Sequence[Member],
             declared: Sequence[DeclaredMetric]) -> Iterator[tuple[Member, list[DeclaredMetric]]]:
    """The members that lack scores, each with the metrics that it lacks."""
    scorings = [member.scoring_id for member in members]
    there = {row.metric_id: catalog.scores(connection, row.metric_id, scorings) for row in declared}
    for member in members:
        if lacking := [row for row in declared if member.scoring_id not in there[row.metric_id]]:
            yield member, lacking


def _check_runs(connection: Connection, members: Sequence[Member], metrics: Sequence[Metric],
                refuse: Refuse) -> None:
    """Refuse several runs where a metric is no average over them."""
    if correlation := next((metric for metric in metrics if isinstance(metric, CorrelationMetric)), None):
        for member in members:
            if (n := len(catalog.submission_sources(connection, member.submission_id))) > 1:
                refuse(InputError(f"{member.name} has {n} runs, and {correlation!r} is no average over runs; name them "
                                  "as systems of their own", category="score"))


class _Pending:
    """Statistics that wait to be inserted together."""

    MOST = 2**20  # items; what waits stays in memory

    def __init__(self, connection: Connection) -> None:
        self._connection, self._blocks, self._items = connection, defaultdict[str, list[Block]](list), 0

    def add(self, block: Block, family: str) -> None:
        self._blocks[family].append(block)
        self._items += len(block.item_ids)
        if self._items > self.MOST:
            self.flush()

    def flush(self) -> None:
        for family, blocks in self._blocks.items():
            statistics.insert_statistics(self._connection, family, blocks)
        self._blocks.clear()
        self._items = 0


def _keep(ingest: Ingest, scoring: ScoringRow, row: DeclaredMetric, metric: Metric, kept: NDArray[np.bool_],
          computed: Sequence[NDArray[np.float64]]) -> list[Block]:
    """Keep a submission's score by a metric and its runs'; the runs' statistics are given back."""
    connection, items = ingest.connection, ingest.items(scoring.gold_revision_id)
    first, _ = catalog.item_ids(connection, scoring.gold_revision_id)
    at = np.flatnonzero(kept)
    keys = [items[n].key for n in at]
    by_key = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    digest = digest_json([digest_lines(sorted(keys)), *(digest_array(of_run[by_key]) for of_run in computed)])
    stored, counts = computed, computed
    if isinstance(metric, ConfusionMetric):
        labels = with_new_labels(connection, scoring.gold_revision_id, computed)
        stored = [labels.numbered(codes) for codes in computed]
        counts = [labels.counted(metric, of_run) for of_run in stored]
    runs = np.stack(counts, axis=1)
    step = 1.0 if FAMILIES[row.family].integer else step_of(runs)
    steps = Steps.of(metric, [runs], step)
    value = float(scores_of(metric, averaged([runs], steps))[0])
    key = {"scoring_id": scoring.scoring_id, "metric_id": row.metric_id}
    insert_many(connection, models.score, [key | {
        "value": value, "n_items": len(at), "digest": digest, "run_id": ingest.run_id, "step": step}])
    insert_many(connection, models.replicate_score, [
        key | {"replicate": n, "value": float(of_run)}
        for n, of_run in enumerate(scores_of(metric, Counts.of(runs, steps)))])
    return [Block(scoring.scoring_id, row.metric_id, first + at, of_run, n) for n, of_run in enumerate(stored)]
