"""The studentized difference of two quotients, divided by its standard error.

If precision and recall trade off, two systems with equal F1 are not exchangeable, and the plain permutation test
rejects too often. The studentized test is valid for many units (Janssen 1997; Chung and Romano 2013). The same
statistic is used in the bootstrap-t (Efron and Tibshirani 1993, section 12.5).

With F = N / D for either system, a unit (n, d) changes the difference of the scores by about

    e = (n_a - F_a d_a) / D_a - (n_b - F_b d_b) / D_b,

and the squared standard error is the sum of e^2 (the e add up to 0). It depends on sums over units: of n, d, n^2, n d
and d^2 of each system, and of n_a n_b, n_a d_b, d_a n_b and d_a d_b of each pair. So resamples and permutations are
matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from registry.arrays import Floats, Ints
from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, extremity
from registry.significance.resampling.draws import sum_permutations, sum_resamples
from registry.significance.resampling.exceedances import are_extreme

TOLERANCE = 1e-9  # relative to the statistic: statistics that are closer may be equal up to rounding
_ROUNDING = 2.0**-53  # rounding error of each term of a squared error, relative to the sum of the terms
_OWN, _CROSS = 5, 4  # columns of a system (n, d, n^2, n d, d^2) and of a pair (n_a n_b, n_a d_b, d_a n_b, d_a d_b)


@dataclass(frozen=True, eq=False)
class Studentized:
    """Differences of scores divided by their standard errors, for many pairs.

    The scores are quotients of sums. Numerators, denominators and their products are summed over a resample, and give
    the difference and its standard error.

    Attributes:
        columns: Columns that are summed, [units, systems * 5 + pairs * 4]; units are items or clusters.
        totals: Sums of the columns over all units.
        a, b: Indices of the first and of the second systems, [pairs].
        scale: Factor from a quotient of sums to the score; negative if lower scores are better.
        alternative: Alternative hypothesis, which defines extreme differences.
    """

    columns: Floats
    totals: Floats
    a: Ints
    b: Ints
    scale: float
    alternative: Alternative

    @classmethod
    def prepare(cls, pairs: ObservedPairs, alternative: Alternative) -> Studentized:
        """Compute products of statistics, whose sums give the differences and errors."""
        matrix, a, b = pairs.matrix, pairs.a, pairs.b
        n, d = matrix.parts
        products = np.stack([n, d, n * n, n * d, d * d], axis=-1)
        cross = np.stack([n[:, a] * n[:, b], n[:, a] * d[:, b], d[:, a] * n[:, b], d[:, a] * d[:, b]], axis=-1)
        columns = np.concatenate([side.reshape(len(n), -1) for side in (products, cross)], axis=1)
        scale = -matrix.scale if matrix.lower_is_better else matrix.scale
        return cls(columns, columns.sum(axis=0), a, b, scale, alternative)

    def compute_observed(self) -> tuple[Floats, Floats]:
        """Return the observed differences and their standard errors, [pairs] each."""
        return self.compute_resampled(self.totals)

    def compute_resampled(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the differences in resamples, and their standard errors.

        Args:
            sums: Sums of the columns in resamples, [..., columns].

        Returns:
            Differences and standard errors, [..., pairs] each.
        """
        sums_by_system, cross = self._parts(sums)
        return self._difference_and_error(sums_by_system[..., self.a, :], sums_by_system[..., self.b, :], cross)

    def compute_permuted(self, sums: Floats) -> Floats:
        """Return how extreme the differences of pairs of systems are after permutations.

        A permutation swaps the two systems in some units (items or clusters). In a two-sided test the result is
        |difference / standard error|.

        Args:
            sums: Sums of the columns over the swapped units, [..., columns].

        Returns:
            One value per permutation and pair, [..., pairs]; larger values are more extreme.
        """
        sums_by_system, cross = self._parts(sums)
        totals, crossed = self._parts(self.totals)
        moved = sums_by_system[..., self.b, :] - sums_by_system[..., self.a, :]
        turned = np.zeros_like(cross)
        turned[..., 1] = cross[..., 2] - cross[..., 1]
        turned[..., 2] = -turned[..., 1]
        return self.extremity(*self._difference_and_error(totals[self.a] + moved, totals[self.b] - moved,
                                                          crossed + turned))

    def extremity(self, difference: Floats, error: Floats) -> Floats:
        """Return how strongly studentized differences contradict the null hypothesis.

        For example, this is |difference / error| in a two-sided test. 0 / 0 counts as 0; the result is infinite if only
        the error is 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return extremity(np.where((error == 0) & (difference == 0), 0.0, difference / error), self.alternative)

    def bars(self) -> Floats:
        """Return the limits from which permuted differences count as extreme, [pairs].

        The limits are the observed studentized differences, minus a tolerance for rounding errors.
        """
        bars = self.extremity(*self.compute_observed())
        return bars - TOLERANCE * np.abs(np.where(np.isfinite(bars), bars, 0))

    def _parts(self, sums: Floats) -> tuple[Floats, Floats]:
        split = sums.shape[-1] - len(self.a) * _CROSS
        return (sums[..., :split].reshape(*sums.shape[:-1], -1, _OWN),
                sums[..., split:].reshape(*sums.shape[:-1], -1, _CROSS))

    def _difference_and_error(self, a: Floats, b: Floats, cross: Floats) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            f, g = a[..., 0] / a[..., 1], b[..., 0] / b[..., 1]
            squares = sum((s[..., 2] + q * q * s[..., 4]) / s[..., 1] ** 2 for s, q in ((a, f), (b, g)))
            products = sum(2 * q * s[..., 3] / s[..., 1] ** 2 for s, q in ((a, f), (b, g)))
            both = cross[..., 0] - g * cross[..., 1] - f * cross[..., 2] + f * g * cross[..., 3]
            squared = squares - products - 2 * both / (a[..., 1] * b[..., 1])
            squared = np.where(squared < (len(self.columns) + 8) * _ROUNDING * squares, 0.0, squared)
            return self.scale * (f - g), abs(self.scale) * np.sqrt(squared)


def count_swaps(pairs: ObservedPairs, settings: Settings) -> Iterator[int]:
    """Count the extreme random permutations of each pair of systems.

    A permutation swaps the two systems in random items (or clusters). It is extreme if its studentized difference is at
    least as extreme as the observed one.

    Yields:
        The number of extreme permutations of each pair.
    """
    for group in _group_pairs(pairs, settings):
        studentized = Studentized.prepare(group, settings.alternative)
        counter = partial(_count_extremes, studentized, studentized.bars())
        yield from reduce(np.add, sum_permutations(studentized.columns[:, None, :], settings, counter)).tolist()


def count_all_swaps(observed: Observed, swaps: Ints, settings: Settings) -> int:
    """Count how many of the given permutations of two systems are extreme.

    A permutation swaps the two systems in some units (items or clusters). It is extreme if its studentized difference
    is at least as extreme as the observed one.

    Args:
        observed: The pair of systems.
        swaps: 1 for a swapped unit, otherwise 0, [permutations, discordant units].
        settings: Settings of the test.
    """
    studentized = Studentized.prepare(Observed.compare(observed.matrix, [observed.pair]), settings.alternative)
    sums = swaps @ studentized.columns[(observed.a != observed.b).any(axis=1)]
    return int(_count_extremes(studentized, studentized.bars(), sums[:, None, :])[0])


def bootstrap_t(pairs: ObservedPairs, settings: Settings) -> Iterator[tuple[Floats, float, float]]:
    """Compute resampled differences of pairs of systems, divided by their errors.

    The method is the studentized bootstrap (bootstrap-t).

    Yields:
        For each pair: (d* - d) / error*, [resamples], nan if undefined; the observed difference d; and its standard
            error.
    """
    for group in _group_pairs(pairs, settings):
        studentized = Studentized.prepare(group, settings.alternative)
        differences, errors = studentized.compute_observed()
        slack = TOLERANCE * np.abs(pairs.matrix.observed[[group.a, group.b]]).max(axis=0)
        statistics = np.empty((len(group), settings.resamples))
        start = 0
        for block in sum_resamples(studentized.columns[:, None, :], settings, studentized.compute_resampled,
                                   pairs.matrix.strata):
            difference, error = (values[:, 0] for values in block)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = difference - differences
                is_tied = (error == 0) & (np.abs(moved) <= slack)
                statistics[:, start:start + len(moved)] = np.where(is_tied, 0.0, moved / error).T
            start += len(moved)
        yield from zip(statistics, differences.tolist(), errors.tolist(), strict=True)


def _count_extremes(studentized: Studentized, bars: Floats, sums: Floats) -> Ints:
    return np.asarray(np.count_nonzero(are_extreme(studentized.compute_permuted(sums[:, 0]), bars), axis=0))


def _group_pairs(pairs: ObservedPairs, settings: Settings) -> Iterator[ObservedPairs]:
    bytes_per_pair = 8 * (4 * _CROSS * pairs.matrix.n_units + settings.resamples)
    step = max(1, settings.execution.memory // (2 * bytes_per_pair))
    for start in range(0, len(pairs), step):
        yield pairs[start:start + step]
