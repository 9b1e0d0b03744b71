"""Scores of one submission from its statistics: by one metric, or, where it is in no registry, by all of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns
from registry.errors import InputError, counted, together
from registry.evaluation.matrices import Counts, Steps, scores_of
from registry.evaluation.scoring.item_statistics import compute_statistics
from registry.evaluation.scoring.label_numbers import MOST, LabelNumbers
from registry.evaluation.scoring.run_averages import averaged
from registry.families import FAMILIES, step_of
from registry.items import Item
from registry.metrics import ConfusionMetric, Metric
from registry.missing import MissingPolicy


@dataclass(frozen=True, eq=False)
class Measured:
    """The score of a submission by one metric, those of its runs, and the step that its statistics are counted in."""

    value: float
    of_runs: Floats
    step: float


def measure(metric: Metric, runs: Sequence[Floats], steps: Steps | None = None) -> Measured:
    """Score a submission.

    Args:
        metric: The metric.
        runs: The statistics of each run as they add up, [items, columns].
        steps: What they are counted in; None: the largest steps that hold them all.
    """
    counts = np.stack(runs, axis=1)
    step = 1.0 if FAMILIES[metric.family].integer else step_of(counts)
    steps = steps or Steps.of(metric, [counts], step)
    of_runs = scores_of(metric, Counts.of(counts, steps))
    value = of_runs[0] if len(runs) == 1 else scores_of(metric, averaged([counts], 1, steps))[0]
    return Measured(float(value), of_runs, step)


def measure_labels(metric: ConfusionMetric, labels: LabelNumbers, runs: Sequence[Floats]) -> Measured:
    """Score a submission by the labels of its runs, [items, 2] each as they are stored."""
    return measure(metric, [labels.summed(metric, of_run)[None] for of_run in runs])  # as one item: it adds up


def scores_of_submission(items: Sequence[Item], joined: JoinedColumns, missing: MissingPolicy,
                         metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Score a submission of one run, as `registry score` does; an undefined score is nan.

    Args:
        items: The gold's.
        joined: The submission's answers to them.
        missing: Its policy for items without an answer.
        metrics: By their ids.

    Raises:
        InputError: A metric does not take what is submitted.
    """
    found = compute_statistics(items, [joined], missing, metrics.values())
    if isinstance(found, list):
        raise together(found)
    labels: LabelNumbers | None = None
    scores = {}
    for (name, metric), runs in zip(metrics.items(), found.statistics, strict=True):
        if isinstance(metric, ConfusionMetric):
            labels = labels or _labels(items, joined)
            scores[name] = measure_labels(metric, labels, [labels.numbered(codes) for codes in runs]).value
        else:
            scores[name] = measure(metric, runs).value
    return scores


def _labels(items: Sequence[Item], joined: JoinedColumns) -> LabelNumbers:
    """Number the labels of the gold and of the submission."""
    names = sorted({item.gold for item in items} | joined.counts.keys())
    if len(names) > MOST:
        raise InputError(f"{counted(len(names), 'different label')}: measures by class are for {MOST} at the most")
    return LabelNumbers({name: n for n, name in enumerate(names, 1)})
