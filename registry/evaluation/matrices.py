"""From a metric and its statistics to the matrix that scores and tests them, which counts in whole steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.arrays import Floats, Ints
from registry.families import FINEST
from registry.metrics import AdditiveMetric, ConfusionMetric, CorrelationMetric, JudgedMean, Metric
from registry.significance import COEFFICIENTS, Matrix, PairMatrix, StatisticMatrix
from registry.significance.compact import Statistics
from registry.significance.judged_items import JudgedItems


@dataclass(frozen=True)
class Steps:
    """What statistics are counted in: `per_one[n]` steps of column n are 1."""

    per_one: tuple[int, ...]

    @classmethod
    def of(cls, metric: Metric, statistics: Sequence[Floats], step: float) -> Steps:
        """The steps of a metric's statistics, each [..., columns], of which none has a finer step than `step`.

        Columns of whole numbers are counted in ones, and so are those of correlations, which do not add up.
        """
        width = statistics[0].shape[-1]
        if step == 1 or isinstance(metric, CorrelationMetric):
            return cls((1,) * width)
        whole = np.ones(width, dtype=bool)
        for of in statistics:
            whole &= [np.array_equal(of[..., n], np.rint(of[..., n])) for n in range(width)]
        return cls(tuple(np.where(whole, 1, round(1 / step)).tolist()))

    @property
    def are_one(self) -> bool:
        """Whether all statistics are whole numbers."""
        return set(self.per_one) <= {1}

    def counted(self, statistics: Floats) -> Floats:
        """Statistics [..., columns] in whole steps, what is finer rounded half to even."""
        return statistics if self.are_one else np.rint(statistics * np.array(self.per_one, dtype=np.float64)) + 0.0


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of systems (or runs), counted in whole steps.

    Attributes:
        statistics: [items, systems, columns], `multiple` times as large as they are.
        steps: What they are counted in.
        multiple: What makes averages whole numbers.
    """

    statistics: Statistics
    steps: Steps
    multiple: int

    @classmethod
    def of(cls, statistics: Floats, steps: Steps | None = None) -> Counts:
        """Count statistics in steps, or where there are none in ones."""
        ones = Steps((1,) * statistics.shape[-1])
        return Counts(statistics if steps is None else steps.counted(statistics), steps or ones, 1)


def matrix_of(metric: Metric, counts: Counts, units: Ints | None = None, strata: Ints | None = None, *,
              runs: tuple[Floats, ...] | None = None, unequal: bool = False) -> Matrix:
    """Make the matrix of systems (or runs) scored by a metric; see `Matrix` for what else it holds.

    Args:
        metric: What they are scored by.
        counts: Their statistics.
        units: [items].
        strata: [items].
        runs: Of each system whose runs are random, [items, runs, columns].
        unequal: Whether some systems lack items that others have.
    """
    metric = metric.original
    statistics, lower = counts.statistics, metric.better == "lower"
    if isinstance(metric, CorrelationMetric):
        return PairMatrix(statistics[:], units=units, strata=strata, lower_is_better=lower, runs=runs,
                          coefficient=COEFFICIENTS[metric.coefficient], score_range=metric.score_range)
    assert isinstance(metric, AdditiveMetric)
    per_one = counts.steps.per_one
    finest = max(per_one, default=1)
    factors = tuple(finest // of_column for of_column in per_one)  # from a column's steps to the finest
    quotient = None
    if metric.quotient is not None:
        over, under = (tuple(c * factor for c, factor in zip(side, factors, strict=True)) for side in metric.quotient)
        quotient = over, under
    scored = _InSteps(metric, factors, 1 if quotient else finest * counts.multiple)
    judged = JudgedItems(scored.in_ones, metric.slope, lower) if isinstance(metric, JudgedMean) else None
    return StatisticMatrix(
        statistics, metric.score if scored.is_plain else scored, units=units, strata=strata, lower_is_better=lower,
        family=metric.family, multiple=counts.multiple, quotient=quotient, runs=runs, unequal=unequal,
        rounded=finest == round(1 / FINEST), judged=judged, score_range=metric.score_range,
        classes=metric.combines if isinstance(metric, ConfusionMetric) else "pooled")


def scores_of(metric: Metric, counts: Counts) -> Floats:
    """Score systems (or runs), [systems]."""
    return matrix_of(metric, counts).scores()


@dataclass(frozen=True)
class _InSteps:
    """Scores sums of statistics that are counted in steps.

    A quotient is the same of any multiple of both its sides, so it stays one of whole numbers, rounded once.
    """

    metric: AdditiveMetric
    factors: tuple[int, ...]
    divisor: int

    @property
    def is_plain(self) -> bool:
        """Whether the sums are those of the statistics themselves."""
        return self.divisor == 1 and set(self.factors) <= {1}

    def in_ones(self, counted: Floats) -> Floats:
        """Statistics or sums as metrics gave them, from those in steps [..., columns]."""
        return counted * np.array(self.factors, dtype=np.float64) / self.divisor

    def __call__(self, sums: Floats) -> Floats:
        return self.metric.score(self.in_ones(sums))
