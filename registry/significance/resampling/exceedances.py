"""Counts of draws that are as extreme as the observed difference, their p-values, and intervals from draws."""

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

TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be equal
_VALUES = 2**17  # sums of swapped pairs that are computed at once: 1 MiB of float64


def tolerances(matrix: Matrix, a: Systems, b: Systems) -> Floats:
    """Return the largest rounding error between equal differences of systems `a` and `b`, [pairs]."""
    sizes = np.abs(matrix.observed)
    return TOLERANCE * np.maximum(sizes[a], sizes[b])


def tolerance(observed: Observed) -> float:
    """Return the largest rounding error between equal differences of one pair."""
    return float(tolerances(observed.matrix, *np.array(observed.pair)))


def reaches(extremities: Floats, bars: Floats | float) -> Flags:
    """Return whether outcomes are at least as extreme as the bars; undefined ones (nan) count as extreme."""
    return np.asarray(~(extremities < bars))


@dataclass(frozen=True, eq=False)
class SwappedPairs:
    """Pairs of systems; in each pair a permutation swaps only its two systems.

    Attributes:
        score: As in `StatisticMatrix`.
        lower_is_better: As in `StatisticMatrix`.
        totals: Sums of the systems without a swap, [systems, columns].
        a, b: First and second systems, [pairs].
    """

    score: Score
    lower_is_better: bool
    totals: Floats
    a: Systems
    b: Systems

    @classmethod
    def of(cls, matrix: StatisticMatrix, a: Systems, b: Systems) -> SwappedPairs:
        """Make pairs of systems of a matrix."""
        return cls(matrix.score, matrix.lower_is_better, matrix.statistics.sum(axis=0), a, b)

    def differences(self, swapped: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Compute differences after swaps, some pairs at a time.

        Args:
            swapped: Sums that change sides, [draws, systems, columns].

        Yields:
            A slice of the pairs; the sums of their first and second systems, [pairs, draws, columns] each; and the
            differences of their scores, [pairs, draws].
        """
        step = max(1, _VALUES // (swapped.shape[0] * swapped.shape[2]))
        by_system = swapped.transpose(1, 2, 0)  # the draws of a column lie together
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
    """Counter, for each pair, of the draws of swaps whose difference is at least as extreme as the observed one.

    If statistics are whole and the score is their quotient, differences within the tolerance of the observed one are
    compared as fractions: two different ones can be that close. Otherwise they count as ties.

    Attributes:
        pairs: The pairs.
        alternative: The alternative, which defines extreme differences.
        bars: Observed extremities, [pairs].
        tolerances: `tolerances` of the pairs, [pairs].
        quotient: As in `StatisticMatrix`, if statistics are whole; else None.
    """

    pairs: SwappedPairs
    alternative: Alternative
    bars: Floats
    tolerances: Floats
    quotient: Quotient | None

    @classmethod
    def of(cls, pairs: ObservedPairs, alternative: Alternative) -> SwapCounter:
        """Make the counter of pairs of one matrix."""
        matrix, a, b = additive(pairs.matrix), pairs.a, pairs.b
        bars = extremity(pairs.difference, alternative)
        return cls(SwappedPairs.of(matrix, a, b), alternative, bars, tolerances(matrix, a, b),
                   matrix.quotient if are_whole(matrix.statistics) else None)

    def __call__(self, swapped: Floats) -> Ints:
        """Count among draws in which the sums `swapped` [draws, systems, columns] change sides; returns [pairs]."""
        return np.concatenate([self._count(*block) for block in self.pairs.differences(swapped)])

    def _count(self, pairs: slice, sums_a: Floats, sums_b: Floats, differences: Floats) -> Ints:
        excess = extremity(differences, self.alternative) - self.bars[pairs, None]
        tolerances = self.tolerances[pairs, None]
        if self.quotient is None:
            return np.array([np.count_nonzero(row) for row in reaches(excess, -tolerances)])
        close = np.abs(excess) <= tolerances
        counts = np.array([np.count_nonzero(row) for row in ~close & reaches(excess, 0)])
        for n in np.flatnonzero(close.any(axis=1)):
            sides = np.stack([sums_a[n, close[n]], sums_b[n, close[n]]], axis=1)
            sums, times = np.unique(sides, axis=0, return_counts=True)
            bar = self._exact(self.pairs.totals[[self.pairs.a[pairs][n], self.pairs.b[pairs][n]]])
            counts[n] += sum(int(k) for both, k in zip(sums, times, strict=True) if self._exact(both) >= bar)
        return counts

    def _exact(self, sums: Floats) -> Fraction:
        """Return the extremity of the difference of two quotients from their sums [2, columns]."""
        assert self.quotient is not None
        a, b = (Fraction(*(sum(c * int(s) for c, s in zip(side, of_system, strict=True)) for side in self.quotient))
                for of_system in sums)
        return extremity(difference(a, b, lower_is_better=self.pairs.lower_is_better), self.alternative)


def count_reaching(bars: Floats | float, alternative: Alternative, differences: Floats) -> Ints:
    """Count the differences [draws, ...] that reach the bars [...], undefined ones among them; returns [...]."""
    return np.asarray(np.count_nonzero(reaches(extremity(differences, alternative), bars), axis=0))


def monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    """Return the p-value (c + 1) / (R + 1) of c extreme draws among R, with the interval of its Monte-Carlo error."""
    p = (extremes + 1) / (resamples + 1)
    low, high = clopper_pearson(extremes, resamples)
    return Tail(math.log(p), "monte-carlo", float(low), float(high), resamples, p=p)


def monte_carlo_tails(extremes: Sequence[int] | Ints, resamples: int) -> Tails:
    """Return `monte_carlo_tail` of many pairs."""
    counts = np.asarray(extremes, dtype=np.int64)
    p = (counts + 1) / (resamples + 1)
    low, high = clopper_pearson(counts, resamples)
    return Tails.make(np.log(p), "monte-carlo", resamples=resamples, p=p, p_low=low, p_high=high)


FEW = 8  # units, of which there are 6,435 different resamples


def is_reachable(observed: Observed, alternative: Alternative, *, strictly: bool = False) -> bool:
    """Return whether some resample's recentred difference is as extreme as the observed one, or undefined.

    Two units with differences of 1 and 2 have the mean 1.5; no resample of them reaches 3 or falls to 0. The bootstrap
    would give p = 0, and the permutation test, with its four swaps, gives 0.5.

    The answer is exact if both systems share the denominators of a quotient, and if units are few. Otherwise, and with
    random runs, it is True.

    Args:
        observed: The pair.
        alternative: The alternative.
        strictly: Require a resample that is more extreme.
    """
    matrix, (a, b) = observed.matrix, observed.pair
    if matrix.runs is not None or matrix.family == "pair" or extremity(observed.difference, alternative) <= 0:
        return True
    if matrix.quotient is None or matrix.denominators[a] != matrix.denominators[b]:
        if matrix.n_units > FEW or matrix.strata is not None:
            return True
        alone, d = matrix.of_systems(observed.pair), observed.difference
        drawn = np.array(list(combinations_with_replacement(range(matrix.n_units), matrix.n_units)))
        scores = additive(alone).score(alone.statistics[drawn].sum(axis=1))
        slack = tolerance(observed) if strictly else -tolerance(observed)
        moved = matrix.difference(scores[:, 0], scores[:, 1]) - d
        return bool(reaches(extremity(moved, alternative), extremity(d, alternative) + slack).any())
    # The difference of a resample is u / w, with sums u of unit differences and w of denominators. It reaches 2 d if
    # and only if u - 2 d w is not negative, which is largest if each stratum's best unit is drawn every time.
    numerators, denominators = matrix.parts_of(observed.pair)
    weights = denominators[:, 0]
    strata = np.zeros(len(weights), dtype=np.int64) if matrix.strata is None else matrix.strata
    if not _largest_sum(-weights, strata):  # a resample without a denominator is undefined
        return True
    differences = np.copysign(1, observed.difference) * matrix.difference(numerators[:, 0], numerators[:, 1])
    rises = [differences - 2 * differences.sum() / weights.sum() * weights]
    rises += [-differences] if alternative == "two-sided" else []
    slack = TOLERANCE * float(np.abs(numerators).sum())
    return any(_largest_sum(rise, strata) > (slack if strictly else -slack) for rise in rises)


def _largest_sum(values: Floats, strata: Ints) -> float:
    """Return the largest sum of a resample, which takes as many units of each stratum as it has."""
    present, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    most = np.full(len(present), -np.inf)
    np.maximum.at(most, places, values)
    return float(sizes @ most)


_MARGIN = 1.2  # more draws than a p-value seems to need: it has an error yet


@dataclass(frozen=True)
class Stopping:
    """Rule for further draws of pairs whose Monte-Carlo error leaves the decision open.

    A precise p-value that is still on neither side of its level is as good as at it: deciding takes a hundred times
    the draws for a tenth of the distance. With c extreme draws its relative standard error is 1 / sqrt(c); Besag and
    Clifford (1991) also stop by c.

    Attributes:
        most: Largest number of draws of a pair.
        precision: Sufficient relative standard error of a p-value; None: no error is sufficient.
    """

    most: int
    precision: float | None = None

    def unknown(self, p: Floats, draws: Ints) -> Flags:
        """Flag the p-values [pairs] of `draws` draws each that are not precise enough; undefined ones (nan) are."""
        return np.asarray(p * draws < self._enough)

    def more_draws(self, resamples: int, least: float) -> int:
        """Return the next number of draws of pairs.

        The least of their p-values needs as many, limited to ten times the previous number. It is 1, 2 or 5 times a
        power of ten, so that boards share results.
        """
        needed = min(_MARGIN * self._enough / least, 10.0 * resamples, self.most)
        power: int = 10 ** math.floor(math.log10(needed))
        return min(next(n for n in (power, 2 * power, 5 * power, 10 * power) if n >= needed), 10 * resamples, self.most)

    @property
    def _enough(self) -> float:
        return math.inf if self.precision is None else self.precision**-2


def dual_rank(settings: Settings) -> int:
    """Return the rank, from the largest, of the extremity at the end of the dual interval: floor(alpha (R + 1))."""
    rank = math.floor((1 - settings.confidence) * (settings.resamples + 1) * (1 + 1e-12))
    return min(rank, settings.resamples)


def dual_interval(d: Floats | float, reach: Floats, bar: Floats | float, tolerance: Floats | float,
                  alternative: Alternative) -> tuple[Floats, Floats]:
    """Return the intervals that exclude 0 if and only if (c + 1) / (R + 1) <= 1 - confidence, [pairs] each.

    Args:
        d: Observed differences.
        reach: Extremities of `dual_rank`, which are below the observed ones if and only if the test is significant.
        bar: Observed extremities.
        tolerance: Largest rounding error between equal extremities.
        alternative: Alternative of the test; a one-sided interval has one end.
    """
    # a tie, as the p-value counts it: the interval ends at 0
    reach = np.where(np.abs(reach - bar) <= tolerance, bar, reach)
    endless = np.full(len(reach), math.inf)
    return -endless if alternative == "less" else d - reach, endless if alternative == "greater" else d + reach


def quantile_interval(o: Observed, resampled: Floats, settings: Settings) -> tuple[float, float]:
    """Return the percentile, basic or BCa interval of a difference, from its defined resamples."""
    d, outside = o.difference, 1 - settings.confidence
    plain = (outside / 2, 1 - outside / 2)
    levels = _bca_levels(o, resampled, outside / 2) if settings.interval == "bca" else plain
    low, high = (float(q) for q in np.quantile(resampled, levels))
    return (2 * d - high, 2 * d - low) if settings.interval == "basic" else (low, high)


def _bca_levels(o: Observed, resampled: Floats, outside: float) -> tuple[float, float]:
    """Return the levels of the bias-corrected and accelerated interval (Efron 1987); ties count half.

    The acceleration is estimated by the jackknife over units of the paired difference.
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(resampled < o.difference) + np.count_nonzero(resampled <= o.difference)) / 2
    bias = float(ndtri(min(max(below, 0.5), len(resampled) - 0.5) / len(resampled)))
    matrix = o.matrix
    without = matrix.difference(*matrix.of_systems(o.pair).jackknife().T)
    deviations = np.nanmean(without) - without
    sum_of_squares = float(np.nansum(deviations**2))
    acceleration = float(np.nansum(deviations**3)) / (6 * sum_of_squares**1.5) if sum_of_squares else 0.0

    def level(z: float) -> float:
        return float(ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))))

    z = float(ndtri(outside))
    return level(z), level(-z)
