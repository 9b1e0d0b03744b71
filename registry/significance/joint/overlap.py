"""Tests of the mean ratings of two systems whose rated items overlap in part.

All ratings of a system on one item are averaged first; if documents are declared, all ratings on one document.
`compare_paired` uses the items that both systems share. `compare_unpaired` treats all items as independent.
`compare_overlapping` uses all items, and the correlation of the systems on shared items. These tests ignore that
annotators differ (see `ratings.adjust`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.arrays import ROUNDING, Floats, Ints
from registry.significance.base import Alternative
from registry.significance.distributions import log_t_p
from registry.significance.joint.ratings import Ratings
from registry.significance.pairwise.independent import (
    compute_deviations,
    correlation,
    estimate_pooled,
    estimate_unpooled,
)


@dataclass(frozen=True)
class MeanDifference:
    """Difference of the mean ratings of two systems.

    Attributes:
        difference: Difference, positive if the first system is better.
        error: Standard error; nan if there are too few items.
        degrees: Degrees of freedom of Student's t distribution.
        n_shared: Number of items (or documents) on which both systems were rated.
        n_first, n_second: Numbers of items on which only the first or only the second system was rated.
    """

    difference: float
    error: float
    degrees: float
    n_shared: int
    n_first: int
    n_second: int

    def compute_log_p(self, alternative: Alternative = "two-sided") -> float:
        """Return the log p-value; nan if the error is 0 or undefined and the means differ."""
        if self.difference == 0:
            return log_t_p(0.0, 1.0, alternative)
        return log_t_p(self.difference / self.error, self.degrees, alternative) if self.error > 0 else math.nan

    def compute_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the two-sided confidence interval of the difference; nan if its error is undefined."""
        from scipy.special import stdtrit

        margin = float(stdtrit(self.degrees, (1 + confidence) / 2)) * self.error
        return self.difference - margin, self.difference + margin


def compare_paired(ratings: Ratings, first: int, second: int) -> MeanDifference:
    """Compare two systems by the paired t-test on shared items; ratings on other items are ignored."""
    pair = _Pair.average(ratings, first, second)
    a, b = pair.a[pair.of_a], pair.b[pair.of_b]
    n = len(a)
    if not n:
        return pair.describe(math.nan, 0.0, 0)
    deviations = compute_deviations(a - b, np.concatenate([a, b]))
    return pair.describe(float((a - b).mean()), float(deviations @ deviations) / max(1, n - 1) / n, n - 1)


def compare_unpaired(ratings: Ratings, first: int, second: int) -> MeanDifference:
    """Compare two systems by Welch's t-test of independent samples, also on shared items."""
    pair = _Pair.average(ratings, first, second)
    return pair.describe(pair.difference, *estimate_unpooled(pair.a, pair.b))


def compare_overlapping(ratings: Ratings, first: int, second: int, *, pooled: bool = False) -> MeanDifference:
    """Compare two systems by the t-test of partially overlapping samples.

    The means are those of all items. Without shared items, this is the t-test of independent samples. With exactly one
    shared item, the correlation and the error are undefined. With constant scores, the correlation counts as 0.

    Derrick, Russ, Toher and White (2017), "Test statistics for the comparison of means for two samples that include
    both paired and independent observations", Journal of Modern Applied Statistical Methods 16(1).

    Args:
        ratings: Ratings of all systems.
        first: Number of the first system.
        second: Number of the second system.
        pooled: True: assume equal variances (T_new1). False: do not (T_new2).
    """
    pair = _Pair.average(ratings, first, second)
    n_a, n_b, n_shared = len(pair.a), len(pair.b), len(pair.of_a)
    squared, degrees = (estimate_pooled if pooled else estimate_unpooled)(pair.a, pair.b)
    if not n_shared or not degrees:
        return pair.describe(pair.difference, squared, degrees)
    r = correlation(pair.a[pair.of_a], pair.b[pair.of_b])
    covariance = 0.0 if math.isnan(r) else r * n_shared / (n_a * n_b)
    if pooled:
        reduction = squared * 2 * covariance / (1 / n_a + 1 / n_b)
    else:
        reduction = 2 * covariance * float(pair.a.std(ddof=1) * pair.b.std(ddof=1))
    independent = n_a + n_b - n_shared - 1 if pooled else degrees - n_shared + 1
    degrees = n_shared - 1 + independent / (n_a + n_b) * (n_a + n_b - 2 * n_shared)
    rest = squared - reduction
    return pair.describe(pair.difference, rest if rest > ROUNDING * squared else 0.0, degrees if n_shared > 1 else 0)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Mean ratings of two systems by item or document.

    Attributes:
        a, b: Mean ratings of the systems, [items of the system].
        of_a, of_b: Positions of the shared items in `a` and `b`, [shared items].
    """

    a: Floats
    b: Floats
    of_a: Ints
    of_b: Ints

    @classmethod
    def average(cls, ratings: Ratings, first: int, second: int) -> _Pair:
        (units_a, a), (units_b, b) = (_average(ratings, system) for system in (first, second))
        _, of_a, of_b = np.intersect1d(units_a, units_b, assume_unique=True, return_indices=True)
        return cls(a, b, of_a, of_b)

    @property
    def difference(self) -> float:
        return float(self.a.mean() - self.b.mean())

    def describe(self, difference: float, squared: float, degrees: float) -> MeanDifference:
        n_shared = len(self.of_a)
        error = math.sqrt(squared) if degrees > 0 else math.nan
        return MeanDifference(difference, error, degrees, n_shared, len(self.a) - n_shared, len(self.b) - n_shared)


def _average(ratings: Ratings, system: int) -> tuple[Ints, Floats]:
    chosen = ratings.system == system
    units, numbers = np.unique(ratings.units[chosen], return_inverse=True)
    weights = ratings.weights[chosen]
    return units, np.bincount(numbers, weights * ratings.score[chosen]) / np.bincount(numbers, weights)
