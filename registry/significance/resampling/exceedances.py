"""How many outcomes are at least as extreme as the observed one, and the p-values of such counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Alternative, Observed, ObservedPairs, Tail, extremity
from registry.significance.compact import are_whole
from registry.significance.distributions.proportions import clopper_pearson
from registry.significance.matrix import Matrix, Quotient, Score, StatisticMatrix, additive, difference
from registry.significance.results import Tails

Systems = Ints

TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be equal
_VALUES = 2**17  # sums of swapped pairs that are computed at once: 1 MiB of float64


def tolerances(matrix: Matrix, a: Systems, b: Systems) -> Floats:
    """How far equal differences of systems `a` and `b` may be apart by rounding, [pairs]."""
    sizes = np.abs(matrix.observed)
    return TOLERANCE * np.maximum(sizes[a], sizes[b])


def tolerance(observed: Observed) -> float:
    """How far equal differences of one pair may be apart by rounding."""
    return float(tolerances(observed.matrix, *np.array(observed.pair)))


def reaches(extremities: Floats, bars: Floats | float) -> Flags:
    """Whether outcomes are at least as extreme as the bars; undefined ones (nan) count as extreme."""
    return np.asarray(~(extremities < bars))


@dataclass(frozen=True, eq=False)
class SwappedPairs:
    """Pairs of systems, each of which swaps only its own two in the units that a draw takes.

    Attributes:
        score: As in `StatisticMatrix`.
        lower_is_better: As in `StatisticMatrix`.
        totals: The sums of the systems without a swap, [systems, columns].
        a, b: The first and the second systems, [pairs].
    """

    score: Score
    lower_is_better: bool
    totals: Floats
    a: Systems
    b: Systems

    @classmethod
    def of(cls, matrix: StatisticMatrix, a: Systems, b: Systems) -> SwappedPairs:
        """Pairs of systems of a matrix."""
        return cls(matrix.score, matrix.lower_is_better, matrix.statistics.sum(axis=0), a, b)

    def differences(self, swapped: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Compute differences after swaps, some pairs at a time.

        Args:
            swapped: The sums that change sides, [draws, systems, columns].

        Yields:
            Which pairs; the sums of their first and second systems, [pairs, draws, columns] each; and the differences
            of their scores, [pairs, draws].
        """
        some = max(1, _VALUES // (swapped.shape[0] * swapped.shape[2]))
        by_system = swapped.transpose(1, 2, 0)  # the draws of a column lie together
        for at in range(0, len(self.a), some):
            pairs = slice(at, at + some)
            a, b = self.a[pairs], self.b[pairs]
            moved = by_system[b] - by_system[a]
            sums_a, sums_b = (sums.transpose(0, 2, 1) for sums in (
                self.totals[a, :, None] + moved, self.totals[b, :, None] - moved))
            yield pairs, sums_a, sums_b, difference(
                self.score(sums_a), self.score(sums_b), lower_is_better=self.lower_is_better)


@dataclass(frozen=True, eq=False)
class SwapCounter:
    """Counts, for each pair, the draws of swaps whose difference is at least as extreme as the observed one.

    Where statistics are whole and the score is their quotient, differences within the tolerance of the observed one are
    compared as fractions: two different ones can be that close. Otherwise they count as ties.

    Attributes:
        pairs: The pairs.
        alternative: What counts as extreme.
        bars: The observed extremities, [pairs].
        tolerances: Of the pairs, [pairs].
        quotient: As in `StatisticMatrix`, where statistics are whole.
    """

    pairs: SwappedPairs
    alternative: Alternative
    bars: Floats
    tolerances: Floats
    quotient: Quotient | None

    @classmethod
    def of(cls, pairs: ObservedPairs, alternative: Alternative) -> SwapCounter:
        """Count for pairs of one matrix."""
        matrix, a, b = additive(pairs.matrix), pairs.a, pairs.b
        bars = extremity(pairs.difference, alternative)
        return cls(SwappedPairs.of(matrix, a, b), alternative, bars, tolerances(matrix, a, b),
                   matrix.quotient if are_whole(matrix.statistics) else None)

    def __call__(self, swapped: Floats) -> Ints:
        """Count among draws in which the sums `swapped` [draws, systems, columns] change sides; returns [pairs]."""
        return np.concatenate([self._count(*found) for found in self.pairs.differences(swapped)])

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
        """The extremity of the difference of two systems' quotients, from their sums [2, columns]."""
        assert self.quotient is not None
        a, b = (Fraction(*(sum(c * int(s) for c, s in zip(side, of_system, strict=True)) for side in self.quotient))
                for of_system in sums)
        return extremity(difference(a, b, lower_is_better=self.pairs.lower_is_better), self.alternative)


def count_reaching(bars: Floats | float, alternative: Alternative, differences: Floats) -> Ints:
    """Count the differences [draws, ...] that reach the bars [...], undefined ones among them; returns [...]."""
    return np.asarray(np.count_nonzero(reaches(extremity(differences, alternative), bars), axis=0))


def monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    """The p-value (c + 1) / (R + 1) of c extreme draws among R, with the interval of its Monte-Carlo error."""
    p = (extremes + 1) / (resamples + 1)
    low, high = clopper_pearson(extremes, resamples)
    return Tail(math.log(p), "monte-carlo", float(low), float(high), resamples, p=p)


def monte_carlo_tails(extremes: Sequence[int] | Ints, resamples: int) -> Tails:
    """The tails of many pairs, as `monte_carlo_tail` gives each."""
    counts = np.asarray(extremes, dtype=np.int64)
    p = (counts + 1) / (resamples + 1)
    low, high = clopper_pearson(counts, resamples)
    return Tails.made(np.log(p), "monte-carlo", resamples=resamples, p=p, p_low=low, p_high=high)
