"""From a metric and its statistics to the matrix that scores and tests them, which counts in whole steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from registry.arrays import Floats, Ints
from registry.families import finest_places
from registry.metrics import AdditiveMetric, ConfusionMetric, CorrelationMetric, JudgedMean, Metric
from registry.significance import COEFFICIENTS, Matrix, PairMatrix, StatisticMatrix
from registry.significance.matrix import JudgedItems, Statistics

_NOISE = 2.0**-50  # of a decimal times a power of ten, relative


@dataclass(frozen=True)
class Steps:
    """What statistics are counted in.

    Attributes:
        per_one: How many steps are 1, by column.
        rounding: The step that some statistics are rounded to because they have more digits; 0 if none are.
        largest: The largest size of a statistic that is no whole number; 0 if there is none.
    """

    per_one: tuple[int, ...]
    rounding: float = 0.0
    largest: float = 0.0

    @classmethod
    def of(cls, metric: Metric, statistics: Sequence[Floats], step: float) -> Steps:
        """Find the steps of the statistics of systems.

        Columns of whole numbers are counted in ones, and so are those of correlations, which do not add up.

        Args:
            metric: What they are scored by.
            statistics: Of each system, [items, runs, columns].
            step: The finest of their own steps. Together they can need a larger one, so that all sums are exact.
        """
        width = statistics[0].shape[-1]
        if step == 1 or isinstance(metric, CorrelationMetric):
            return cls((1,) * width)
        whole = np.ones(width, dtype=bool)
        largest, largest_sums = np.zeros(width), np.zeros(width)
        for of in statistics:
            sizes = np.abs(of).reshape(-1, width)
            whole &= [np.array_equal(sizes[:, n], np.rint(sizes[:, n])) for n in range(width)]
            largest = np.maximum(largest, sizes.max(axis=0, initial=0))
            largest_sums = np.maximum(largest_sums, sizes.sum(axis=0))
        if whole.all():
            return cls((1,) * width)
        per_one = 10**min(round(-math.log10(step)), *(finest_places(float(largest[n]), float(largest_sums[n]))
                                                      for n in np.flatnonzero(~whole)))
        steps = cls(tuple(np.where(whole, 1, per_one).tolist()), 1 / per_one, float(largest[~whole].max()))
        return steps if any(steps._rounds(of) for of in statistics) else replace(steps, rounding=0.0)

    def _rounds(self, statistics: Floats) -> bool:
        """Whether statistics [..., columns] have more digits than are counted, other than the rounding of decimals."""
        given = statistics * np.array(self.per_one, dtype=np.float64)
        return bool((np.abs(given - np.rint(given)) > _NOISE * np.abs(given)).any())

    def count_new_ties(self, statistics: Sequence[Floats]) -> int:
        """Count the items in which rounding makes different statistics of two systems equal.

        Args:
            statistics: Of each system, [items, runs, columns]; runs are averaged.
        """
        if not self.rounding:
            return 0
        items = np.zeros(len(statistics[0]), dtype=bool)
        for n in np.flatnonzero(np.array(self.per_one) > 1):
            given = np.sort(np.stack([of[..., n].mean(axis=1) for of in statistics], axis=1), axis=1)
            apart = np.diff(given, axis=1) > _NOISE * 4 * np.abs(given[:, 1:])
            items |= (apart & (np.diff(np.rint(given * self.per_one[n]), axis=1) == 0)).any(axis=1)
        return int(items.sum())

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
        rounding=counts.steps.rounding, judged=judged, score_range=metric.score_range,
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
