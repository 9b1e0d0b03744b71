"""Statistics per item for every submission that takes part and every metric that the task declares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.errors import InputError, Refuse, together
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.scorers import scorer
from registry.evaluation.scoring.item_statistics import KeptItems
from registry.evaluation.scoring.label_codes import with_new_labels
from registry.evaluation.scoring.measure import measure, measure_labels
from registry.evaluation.scoring.released import release
from registry.evaluation.scoring.rescored import Rescored
from registry.evaluation.scoring.stale import StaleScore, stale_scores
from registry.evaluation.scoring.workers import Wanted, compute
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.parallel.execution import Execution
from registry.store import catalog, models, statistics
from registry.store.catalog import DeclaredMetric, Member, ScoringRow
from registry.store.rows import insert_many
from registry.store.statistics import Block
from registry.values import parse


@dataclass
class Scored:
    """How many scores were computed, and how many were there already; what was stale, with the score that it is now."""

    computed: int = 0
    unchanged: int = 0
    stale: list[tuple[StaleScore, float | None]] = field(default_factory=list)


def score(ingest: Ingest, execution: Execution, *, stale: bool = False) -> Scored:
    """Compute what is missing; what is there is left alone, but for what is `stale` where that is asked for.

    What is refused is an `InputError`: a metric does not take what a submission holds, or several runs of a system.

    Args:
        ingest: The command and its task.
        execution: Who computes, and is told how far it is.
        stale: Whether to compute anew what other code, or nobody knows which, has computed.
    """
    connection = ingest.connection
    scored, pending = Scored(), Pending(connection)
    metrics = {row: parse("metric", METRICS, row.name) for row in catalog.task_metrics(connection, ingest.task_id)}
    rescored = Rescored(connection)
    old = list(stale_scores(connection, ingest.task_id)) if stale else []
    again = {(one.scoring_id, one.metric_id) for one in old}
    for test_set in ingest.test_sets.values():
        members = catalog.ranked(connection, test_set.test_set_id)
        _check_runs(connection, members, metrics.values(), ingest.refuse)
        missing = list(_missing(connection, members, metrics, again))
        scored.unchanged += len(members) * len(metrics) - sum(len(lacking) for _, lacking in missing)
        if not missing:
            continue
        for row in metrics:
            rescored.replace(row, [member.scoring_id for member in members
                                   if (member.scoring_id, row.metric_id) in again])
        wanted = [Wanted(member.name, ScoringRow(member.scoring_id, member.submission_id, test_set.gold_revision_id,
                                                 member.missing), {row: metrics[row] for row in lacking})
                  for member, lacking in missing]
        scored.computed += score_wanted(ingest, wanted, execution, pending)
    pending.flush()
    if scored.computed:
        ingest.event("score", ingest.slug, computed=scored.computed,
                     scorers={row.name: scorer(metric) for row, metric in metrics.items()})
    rescored.settle(ingest)
    values = catalog.score_values(connection, again)
    release(ingest)
    scored.stale += [(one, values.get((one.scoring_id, one.metric_id))) for one in old]
    ingest.write()
    return scored


def score_wanted(ingest: Ingest, wanted: Sequence[Wanted], execution: Execution, pending: Pending) -> int:
    """Score submissions, all of one gold revision; gives how many scores that are."""
    revision, n_scores = wanted[0].scoring.gold_revision_id, 0
    first, _ = catalog.item_ids(ingest.connection, revision)
    keys, kept = [item.key for item in ingest.items(revision)], None
    for one, computed in zip(wanted, compute(ingest, wanted, execution), strict=True):
        if isinstance(computed, list):
            ingest.refuse(together([InputError(f"{one.name}: {error}", category="score") for error in computed]))
            continue
        if kept is None or not np.array_equal(kept.of_all, computed.kept):
            kept = KeptItems.of(computed.kept, first, keys)
        for (row, metric), of_runs in zip(one.metrics.items(), computed.statistics, strict=True):
            pending.add(row.family, _kept(ingest, kept, one.scoring, row, metric, of_runs))
            n_scores += 1
    return n_scores


def _missing(connection: Connection, members: Sequence[Member], declared: Collection[DeclaredMetric],
             again: Set[tuple[int, int]]) -> Iterator[tuple[Member, list[DeclaredMetric]]]:
    """The members that lack scores, or whose scores are computed `again`, each with the metrics that it lacks."""
    scorings = [member.scoring_id for member in members]
    there = {row.metric_id: catalog.scores(connection, row.metric_id, scorings) for row in declared}
    for member in members:
        if lacking := [row for row in declared if member.scoring_id not in there[row.metric_id]
                       or (member.scoring_id, row.metric_id) in again]:
            yield member, lacking


def _check_runs(connection: Connection, members: Sequence[Member], metrics: Iterable[Metric],
                refuse: Refuse) -> None:
    """Refuse several runs where a metric is no average over them."""
    if correlation := next((metric for metric in metrics if isinstance(metric, CorrelationMetric)), None):
        submitted = catalog.submitted(connection, [member.submission_id for member in members])
        for member in members:
            if (n := len(submitted[member.submission_id].files)) > 1:
                refuse(InputError(f"{member.name} has {n} runs, and {correlation!r} is no average over runs; name them "
                                  "as systems of their own", category="score"))


Kept = tuple[dict[str, Any], list[dict[str, Any]], list[Block]]  # a score's row, and a row and a block of each run


class Pending:
    """Scores and statistics that wait to be inserted together."""

    MOST = 2**20  # items; what waits stays in memory

    def __init__(self, connection: Connection) -> None:
        self._connection, self._items = connection, 0
        self._kept: defaultdict[str, list[Kept]] = defaultdict(list)

    def add(self, family: str, kept: Kept) -> None:
        """Let the statistics of a submission wait, and insert them once there are many."""
        *_, blocks = kept
        self._kept[family].append(kept)
        self._items += sum(len(block.item_ids) for block in blocks)
        if self._items > self.MOST:
            self.flush()

    def flush(self) -> None:
        """Insert all that waits."""
        for family, kept in self._kept.items():
            scores, replicates, blocks = zip(*kept, strict=True)
            insert_many(self._connection, models.score, scores)
            insert_many(self._connection, models.replicate_score, list(chain.from_iterable(replicates)))
            statistics.insert_statistics(self._connection, family, list(chain.from_iterable(blocks)))
        self._kept.clear()
        self._items = 0


def _kept(ingest: Ingest, items: KeptItems, scoring: ScoringRow, row: DeclaredMetric, metric: Metric,
          computed: Sequence[Floats]) -> Kept:
    """Make what is kept of a submission's statistics by a metric, [runs] of [items, columns]."""
    if isinstance(metric, ConfusionMetric):
        labels = with_new_labels(ingest.connection, scoring.gold_revision_id, computed)
        stored: Sequence[Floats] = [labels.numbered(codes) for codes in computed]
        measured = measure_labels(metric, labels, stored)
    else:
        stored, measured = computed, measure(metric, computed)
    key = {"scoring_id": scoring.scoring_id, "metric_id": row.metric_id}
    return (
        key | {"value": measured.value, "n_items": len(items.ids), "digest": items.digest_of(computed),
               "run_id": ingest.run_id, "step": measured.step},
        [key | {"replicate": n, "value": float(of_run)} for n, of_run in enumerate(measured.of_runs)],
        [Block(scoring.scoring_id, row.metric_id, items.ids, of_run, n) for n, of_run in enumerate(stored)])
