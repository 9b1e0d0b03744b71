"""Counts of resamples that are extreme, and their p-values and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, Tail, Tails, extremity
from registry.significance.distributions import clopper_pearson
from registry.significance.matrix import Matrix, Quotient, Score, StatisticMatrix, additive, are_whole, difference

Systems = Ints

TOLERANCE = 1e-12  # relative to the scores: differences that are closer than this count as equal
_VALUES = 2**17  # sums of swapped pairs in one block: 1 MiB of float64


def tolerances(matrix: Matrix, a: Systems, b: Systems) -> Floats:
    """Return the largest rounding error of the difference of each pair of systems.

    Differences that are closer than this count as equal.

    Args:
        matrix: Statistics of all systems.
        a: Indices of the first systems, [pairs].
        b: Indices of the second systems, [pairs].

    Returns:
        Tolerances, [pairs].
    """
    sizes = np.abs(matrix.observed)
    return TOLERANCE * np.maximum(sizes[a], sizes[b])


def tolerance(observed: Observed) -> float:
    """Return the largest rounding error of the difference of two systems' scores."""
    return float(tolerances(observed.matrix, *np.array(observed.pair)))


def are_extreme(extremities: Floats, bars: Floats | float) -> Flags:
    """Return True for each value that reaches its limit, or that is undefined (nan).

    Args:
        extremities: Numbers that are larger if a difference contradicts the null hypothesis more, such as |difference|.
        bars: The limits.
    """
    return np.asarray(~(extremities < bars))


@dataclass(frozen=True, eq=False)
class SwappedPairs:
    """Pairs of systems whose scores a permutation test recomputes after swaps.

    A permutation swaps the two systems of a pair in some units (items or clusters). Each pair swaps only its own
    systems.

    Attributes:
        score: Function that maps sums of statistics, [..., columns], to scores, [...].
        lower_is_better: True if a lower score is better.
        totals: Sums of the statistics without swaps, [systems, columns].
        a, b: Indices of the first and of the second systems, [pairs].
    """

    score: Score
    lower_is_better: bool
    totals: Floats
    a: Systems
    b: Systems

    @classmethod
    def prepare(cls, matrix: StatisticMatrix, a: Systems, b: Systems) -> SwappedPairs:
        """Prepare the computation of scores after swaps.

        Args:
            matrix: Statistics of all systems.
            a: Indices of the first systems, [pairs].
            b: Indices of the second systems, [pairs].
        """
        return cls(matrix.score, matrix.lower_is_better, matrix.statistics.sum(axis=0), a, b)

    def differences(self, swapped: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Compute the score differences of each pair of systems in several permutations.

        A permutation swaps the two systems of a pair in some units (items or clusters). To save memory, the results
        come in blocks of pairs.

        Args:
            swapped: Sum of the statistics of the swapped units, [permutations, systems, columns].

        Yields:
            A slice that selects the pairs of the block; the statistics of their first systems after the swaps, [pairs,
                permutations, columns]; those of their second systems; and the differences of the scores, [pairs,
                permutations].
        """
        step = max(1, _VALUES // (swapped.shape[0] * swapped.shape[2]))
        by_system = swapped.transpose(1, 2, 0)  # the permutations of a column are contiguous
        for start in range(0, len(self.a), step):
            pairs = slice(start, start + step)
            a, b = self.a[pairs], self.b[pairs]
            moved = by_system[b] - by_system[a]
            sums_a, sums_b = (sums.transpose(0, 2, 1) for sums in (
                self.totals[a, :, None] + moved, self.totals[b, :, None] - moved))
            yield pairs, sums_a, sums_b, difference(
                self.score(sums_a), self.score(sums_b), lower_is_better=self.lower_is_better)


@dataclass(frozen=True, eq=False)
class SwapCounter:
    """Counter of permutations whose difference is as extreme as the observed one.

    Differences that are equal up to rounding errors are ties. But if the scores are quotients of whole numbers, they
    are compared as fractions, because two different fractions can be that close.

    Attributes:
        pairs: The pairs of systems.
        alternative: Alternative hypothesis, which defines extreme differences.
        bars: How extreme the observed differences are, such as |difference|, [pairs].
        tolerances: Largest rounding error of each difference, [pairs].
        quotient: If the score is a quotient of sums of whole numbers: the coefficients of the statistics in the
            numerator and in the denominator. Otherwise None.
    """

    pairs: SwappedPairs
    alternative: Alternative
    bars: Floats
    tolerances: Floats
    quotient: Quotient | None

    @classmethod
    def prepare(cls, pairs: ObservedPairs, alternative: Alternative) -> SwapCounter:
        """Prepare to count permutations that are as extreme as the observed differences."""
        matrix, a, b = additive(pairs.matrix), pairs.a, pairs.b
        bars = extremity(pairs.difference, alternative)
        return cls(SwappedPairs.prepare(matrix, a, b), alternative, bars, tolerances(matrix, a, b),
                   matrix.quotient if are_whole(matrix.statistics) else None)

    def __call__(self, swapped: Floats) -> Ints:
        """Return the number of extreme permutations in a block, for each pair of systems.

        Args:
            swapped: Sums of each system over the swapped units (items or clusters), [permutations, systems, columns].
        """
        return np.concatenate([self._count(*block) for block in self.pairs.differences(swapped)])

    def _count(self, pairs: slice, sums_a: Floats, sums_b: Floats, differences: Floats) -> Ints:
        excess = extremity(differences, self.alternative) - self.bars[pairs, None]
        tolerances = self.tolerances[pairs, None]
        if self.quotient is None:
            return np.array([np.count_nonzero(row) for row in are_extreme(excess, -tolerances)])
        close = np.abs(excess) <= tolerances
        counts = np.array([np.count_nonzero(row) for row in ~close & are_extreme(excess, 0)])
        for n in np.flatnonzero(close.any(axis=1)):
            sides = np.stack([sums_a[n, close[n]], sums_b[n, close[n]]], axis=1)
            sums, times = np.unique(sides, axis=0, return_counts=True)
            bar = self._exact(self.pairs.totals[[self.pairs.a[pairs][n], self.pairs.b[pairs][n]]])
            counts[n] += sum(int(k) for both, k in zip(sums, times, strict=True) if self._exact(both) >= bar)
        return counts

    def _exact(self, sums: Floats) -> Fraction:
        assert self.quotient is not None
        a, b = (Fraction(*(sum(c * int(s) for c, s in zip(side, of_system, strict=True)) for side in self.quotient))
                for of_system in sums)
        return extremity(difference(a, b, lower_is_better=self.pairs.lower_is_better), self.alternative)


def count_reaching(bars: Floats | float, alternative: Alternative, differences: Floats) -> Ints:
    """Count the simulated differences that are at least as extreme as a limit.

    An extreme difference contradicts the null hypothesis; in a two-sided test, this is a large |difference|. An
    undefined difference (nan) is counted.

    Args:
        bars: The limits, of any shape, such as observed values of |difference|.
        alternative: Alternative hypothesis, which defines extreme differences.
        differences: Simulated differences, [resamples, ...].

    Returns:
        Counts, of the shape of `bars`.
    """
    return np.asarray(np.count_nonzero(are_extreme(extremity(differences, alternative), bars), axis=0))


def monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    """Return the Monte-Carlo p-value (c + 1) / (R + 1), with its confidence interval.

    The interval is the Clopper-Pearson interval of c of R.

    Args:
        extremes: Number c of extreme resamples.
        resamples: Number R of all resamples.
    """
    p = (extremes + 1) / (resamples + 1)
    low, high = clopper_pearson(extremes, resamples)
    return Tail(math.log(p), "monte-carlo", float(low), float(high), resamples, p=p)


def monte_carlo_tails(extremes: Sequence[int] | Ints, resamples: int) -> Tails:
    """Return the Monte-Carlo p-values of many pairs, with their confidence intervals."""
    counts = np.asarray(extremes, dtype=np.int64)
    p = (counts + 1) / (resamples + 1)
    low, high = clopper_pearson(counts, resamples)
    return Tails.make(np.log(p), "monte-carlo", resamples=resamples, p=p, p_low=low, p_high=high)


FEW = 8  # largest number of units for which all resamples are tried: 6,435 different ones


def is_reachable(observed: Observed, alternative: Alternative, *, strictly: bool = False) -> bool:
    """Return True if some resample is as extreme as the observed difference.

    Otherwise the bootstrap would give p = 0. For example, two items with differences of 1 and 2 have the mean 1.5. A
    resample is extreme if its mean is at least 3 or at most 0, but no resample of these items is. A resample with an
    undefined difference counts as extreme.

    The result is exact if both systems share the denominators of a quotient, and also if there are few items.
    Otherwise, and with random runs, it is True.

    Args:
        observed: The pair of systems.
        alternative: Alternative hypothesis.
        strictly: True: require a resample that is more extreme than the observed difference.
    """
    matrix, (a, b) = observed.matrix, observed.pair
    if matrix.runs is not None or matrix.family == "pair" or extremity(observed.difference, alternative) <= 0:
        return True
    if matrix.quotient is None or matrix.denominator_groups[a] != matrix.denominator_groups[b]:
        if matrix.n_units > FEW or matrix.strata is not None:
            return True
        alone, d = matrix.select_systems(observed.pair), observed.difference
        drawn = np.array(list(combinations_with_replacement(range(matrix.n_units), matrix.n_units)))
        scores = additive(alone).score(alone.statistics[drawn].sum(axis=1))
        slack = tolerance(observed) if strictly else -tolerance(observed)
        moved = matrix.difference(scores[:, 0], scores[:, 1]) - d
        return bool(are_extreme(extremity(moved, alternative), extremity(d, alternative) + slack).any())
    # The difference of a resample is u / w, with sums u of unit differences and w of denominators. It reaches 2 d if
    # and only if u - 2 d w >= 0. This is largest if every draw from a stratum is its unit with the largest value.
    numerators, denominators = matrix.parts_of(observed.pair)
    weights = denominators[:, 0]
    strata = np.zeros(len(weights), dtype=np.int64) if matrix.strata is None else matrix.strata
    if not _largest_sum(-weights, strata):  # some resample has a denominator of 0 and is undefined
        return True
    differences = np.copysign(1, observed.difference) * matrix.difference(numerators[:, 0], numerators[:, 1])
    rises = [differences - 2 * differences.sum() / weights.sum() * weights]
    rises += [-differences] if alternative == "two-sided" else []
    slack = TOLERANCE * float(np.abs(numerators).sum())
    return any(_largest_sum(rise, strata) > (slack if strictly else -slack) for rise in rises)


def _largest_sum(values: Floats, strata: Ints) -> float:
    present, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    most = np.full(len(present), -np.inf)
    np.maximum.at(most, places, values)
    return float(sizes @ most)


_MARGIN = 1.2  # factor of additional resamples, because the p-value has an error


@dataclass(frozen=True)
class Stopping:
    """Rule that decides which p-values need more resamples.

    A p-value needs more resamples if its Monte-Carlo error leaves open whether it is significant. The resampling stops
    if the p-value is precise enough, even if it is still not clearly above or below its level. With c extreme resamples
    the relative standard error of a p-value is 1 / sqrt(c); Besag and Clifford (1991) also stop by c.

    Attributes:
        most: Largest number of resamples of a p-value.
        precision: Sufficient relative standard error of a p-value; None: no error is sufficient.
    """

    most: int
    precision: float | None = None

    def are_imprecise(self, p: Floats, draws: Ints) -> Flags:
        """Flag the p-values that are not precise enough, [pairs].

        An undefined p-value (nan) is precise enough.

        Args:
            p: p-values, [pairs].
            draws: Number of resamples of each p-value, [pairs].
        """
        return np.asarray(p * draws < self._enough)

    def more_draws(self, resamples: int, least: float) -> int:
        """Return the next number of resamples for pairs that need more.

        The next number is the one that the smallest p-value needs, but at most ten times the previous number. All
        numbers are 1, 2 or 5 times a power of ten, so that leaderboards can share results.

        Args:
            resamples: Previous number of resamples.
            least: The smallest of the p-values.
        """
        needed = min(_MARGIN * self._enough / least, 10.0 * resamples, self.most)
        power: int = 10 ** math.floor(math.log10(needed))
        return min(next(n for n in (power, 2 * power, 5 * power, 10 * power) if n >= needed), 10 * resamples, self.most)

    @property
    def _enough(self) -> float:
        return math.inf if self.precision is None else self.precision**-2


def dual_rank(settings: Settings) -> int:
    """Return which of the sorted resamples is the end of the dual interval.

    The dual interval excludes 0 if and only if the test is significant. Its end is the resample with the rank
    floor(alpha (R + 1)) of R resamples, counted from the most extreme one.
    """
    rank = math.floor((1 - settings.confidence) * (settings.resamples + 1) * (1 + 1e-12))
    return min(rank, settings.resamples)


def dual_interval(d: Floats | float, reach: Floats, bar: Floats | float, tolerance: Floats | float,
                  alternative: Alternative) -> tuple[Floats, Floats]:
    """Return confidence intervals that exclude 0 if and only if p is significant.

    The test is significant if its p-value is at most 1 - confidence. The p-value comes from bootstrap resamples. The
    extremity of a difference says how strongly it contradicts the null hypothesis, for example |difference|.

    Args:
        d: Observed differences, [pairs].
        reach: Extremity of the resample with the rank `dual_rank`, [pairs]. It is below the observed one if and only if
            the test is significant.
        bar: Observed extremities, [pairs].
        tolerance: Largest rounding error between equal extremities.
        alternative: Alternative hypothesis; if it is one-sided, the interval has only one finite end.

    Returns:
        Lower and upper ends, [pairs] each.
    """
    # a tie counts as extreme in the p-value, so the interval ends at 0
    reach = np.where(np.abs(reach - bar) <= tolerance, bar, reach)
    endless = np.full(len(reach), math.inf)
    return -endless if alternative == "less" else d - reach, endless if alternative == "greater" else d + reach


def quantile_interval(o: Observed, resampled: Floats, settings: Settings) -> tuple[float, float]:
    """Return the percentile, basic or BCa bootstrap interval of a difference.

    Args:
        o: The pair of systems.
        resampled: Defined differences in resamples.
        settings: Kind of the interval, and confidence level.
    """
    d, outside = o.difference, 1 - settings.confidence
    levels = (outside / 2, 1 - outside / 2)
    if settings.interval == "bca":
        levels = find_bca_levels(d, resampled, o.matrix.difference(*o.matrix.select_systems(o.pair).jackknife().T),
                                 outside / 2)
    low, high = (float(q) for q in np.quantile(resampled, levels))
    return (2 * d - high, 2 * d - low) if settings.interval == "basic" else (low, high)


def find_bca_levels(estimate: float, resampled: Floats, without: Floats, outside: float) -> tuple[float, float]:
    """Return the quantile levels of the BCa bootstrap interval (Efron 1987).

    BCa means bias-corrected and accelerated. Half of the ties with the estimate count as below. The acceleration is
    estimated by the jackknife.

    Args:
        estimate: The estimate from all items (or clusters), such as a paired difference.
        resampled: Defined estimates in resamples, [resamples].
        without: Estimates without each item (or cluster), [units]; nan if undefined.
        outside: Probability outside of one end of the interval.
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(resampled < estimate) + np.count_nonzero(resampled <= estimate)) / 2
    bias = float(ndtri(min(max(below, 0.5), len(resampled) - 0.5) / len(resampled)))
    deviations = np.nanmean(without) - without
    sum_of_squares = float(np.nansum(deviations**2))
    acceleration = float(np.nansum(deviations**3)) / (6 * sum_of_squares**1.5) if sum_of_squares else 0.0

    def level(z: float) -> float:
        return float(ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))))

    z = float(ndtri(outside))
    return level(z), level(-z)
