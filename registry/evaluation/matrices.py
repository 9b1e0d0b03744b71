"""Matrices for scores and tests, from a metric and its statistics counted in whole steps."""

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

_NOISE = 2.0**-50  # relative error of a decimal times a power of ten


@dataclass(frozen=True)
class Steps:
    """Step sizes that make statistics whole numbers.

    Attributes:
        per_one: Number of steps in 1, by column.
        rounding: Step size if some statistics have more digits and are rounded; otherwise 0.
        largest: The largest size of a statistic that is not a whole number; 0 if all are whole numbers.
    """

    per_one: tuple[int, ...]
    rounding: float = 0.0
    largest: float = 0.0

    @classmethod
    def choose(cls, metric: Metric, statistics: Sequence[Floats], step: float) -> Steps:
        """Choose the steps of the statistics of systems.

        Columns of whole numbers have step 1, and so have columns of correlations, which do not add up.

        Args:
            metric: The metric.
            statistics: Statistics of each system, [items, runs, columns].
            step: The finest step of a single system. Exact sums of all systems can require a larger one.
        """
        width = statistics[0].shape[-1]
        if step == 1 or isinstance(metric, CorrelationMetric):
            return cls((1,) * width)
        is_whole = np.ones(width, dtype=bool)
        largest, largest_sums = np.zeros(width), np.zeros(width)
        for system in statistics:
            sizes = np.abs(system).reshape(-1, width)
            is_whole &= [np.array_equal(sizes[:, n], np.rint(sizes[:, n])) for n in range(width)]
            largest = np.maximum(largest, sizes.max(axis=0, initial=0))
            largest_sums = np.maximum(largest_sums, sizes.sum(axis=0))
        if is_whole.all():
            return cls((1,) * width)
        per_one = 10**min(round(-math.log10(step)), *(finest_places(float(largest[n]), float(largest_sums[n]))
                                                      for n in np.flatnonzero(~is_whole)))
        steps = cls(tuple(np.where(is_whole, 1, per_one).tolist()), 1 / per_one, float(largest[~is_whole].max()))
        return steps if any(steps._rounds(system) for system in statistics) else replace(steps, rounding=0.0)

    def _rounds(self, statistics: Floats) -> bool:
        """Return whether statistics [..., columns] have more digits than the steps, apart from binary rounding."""
        scaled = statistics * np.array(self.per_one, dtype=np.float64)
        return bool((np.abs(scaled - np.rint(scaled)) > _NOISE * np.abs(scaled)).any())

    def count_new_ties(self, statistics: Sequence[Floats]) -> int:
        """Count the items in which rounding makes different statistics of two systems equal.

        Args:
            statistics: Statistics of each system, [items, runs, columns]; runs are averaged.
        """
        if not self.rounding:
            return 0
        is_tied = np.zeros(len(statistics[0]), dtype=bool)
        for n in np.flatnonzero(np.array(self.per_one) > 1):
            values = np.sort(np.stack([system[..., n].mean(axis=1) for system in statistics], axis=1), axis=1)
            differs = np.diff(values, axis=1) > _NOISE * 4 * np.abs(values[:, 1:])
            is_tied |= (differs & (np.diff(np.rint(values * self.per_one[n]), axis=1) == 0)).any(axis=1)
        return int(is_tied.sum())

    @property
    def are_ones(self) -> bool:
        """True if all statistics are whole numbers."""
        return set(self.per_one) <= {1}

    def to_steps(self, statistics: Floats) -> Floats:
        """Return statistics [..., columns] in whole steps; finer parts are rounded half to even."""
        return statistics if self.are_ones else np.rint(statistics * np.array(self.per_one, dtype=np.float64)) + 0.0


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of systems (or runs), counted in whole steps.

    Attributes:
        statistics: Statistics in steps times `multiple`, [items, systems, columns].
        steps: The steps.
        multiple: Factor that makes averages over runs whole numbers.
    """

    statistics: Statistics
    steps: Steps
    multiple: int

    @classmethod
    def from_statistics(cls, statistics: Floats, steps: Steps | None = None) -> Counts:
        """Count statistics in steps; None means step 1 without rounding."""
        unit_steps = Steps((1,) * statistics.shape[-1])
        return Counts(statistics if steps is None else steps.to_steps(statistics), steps or unit_steps, 1)


def build_matrix(metric: Metric, counts: Counts, units: Ints | None = None, strata: Ints | None = None, *,
                 runs: tuple[Floats, ...] | None = None, unequal: bool = False) -> Matrix:
    """Build the matrix of systems (or runs) for scores and tests.

    Args:
        metric: The metric.
        counts: Statistics of the systems.
        units: Number of each item's unit, [items].
        strata: Number of each item's stratum, [items].
        runs: Statistics of the runs of each system, [items, runs, columns], if runs are random.
        unequal: True if some systems lack items that others have.
    """
    metric = metric.original
    statistics, lower = counts.statistics, metric.better == "lower"
    if isinstance(metric, CorrelationMetric):
        return PairMatrix(statistics[:], units=units, strata=strata, lower_is_better=lower, runs=runs,
                          coefficient=COEFFICIENTS[metric.coefficient], score_range=metric.score_range)
    assert isinstance(metric, AdditiveMetric)
    per_one = counts.steps.per_one
    finest = max(per_one, default=1)
    factors = tuple(finest // column for column in per_one)  # from a column's steps to the finest
    quotient = None
    if metric.quotient is not None:
        numerator, denominator = (
            tuple(c * factor for c, factor in zip(side, factors, strict=True)) for side in metric.quotient)
        quotient = numerator, denominator
    scorer = _StepScorer(metric, factors, 1 if quotient else finest * counts.multiple)
    judged = JudgedItems(scorer.to_ones, metric.slope, lower) if isinstance(metric, JudgedMean) else None
    return StatisticMatrix(
        statistics, metric.score if scorer.is_trivial else scorer, units=units, strata=strata, lower_is_better=lower,
        family=metric.family, multiple=counts.multiple, quotient=quotient, runs=runs, unequal=unequal,
        rounding=counts.steps.rounding, judged=judged, score_range=metric.score_range,
        classes=metric.combines if isinstance(metric, ConfusionMetric) else "pooled")


def compute_scores(metric: Metric, counts: Counts) -> Floats:
    """Score systems (or runs), [systems]."""
    return build_matrix(metric, counts).scores()


@dataclass(frozen=True)
class _StepScorer:
    """Scores sums of statistics in steps.

    A quotient does not change if both sides are multiplied, so it stays a quotient of whole numbers, rounded once.
    """

    metric: AdditiveMetric
    factors: tuple[int, ...]
    divisor: int

    @property
    def is_trivial(self) -> bool:
        """True if sums in steps are sums of the statistics."""
        return self.divisor == 1 and set(self.factors) <= {1}

    def to_ones(self, counts: Floats) -> Floats:
        """Return the metric's statistics or sums [..., columns] from those in steps."""
        return counts * np.array(self.factors, dtype=np.float64) / self.divisor

    def __call__(self, sums: Floats) -> Floats:
        return self.metric.score(self.to_ones(sums))
