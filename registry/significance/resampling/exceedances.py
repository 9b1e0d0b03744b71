"""Which outcomes are at least as extreme as what was observed, and the p-values that counts of random ones give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Alternative, Observed, Tail, extremity
from registry.significance.distributions.clopper_pearson import clopper_pearson
from registry.significance.matrix import Floats, Quotient, Score, are_whole
from registry.significance.resampling.draws import swapped_sides

TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be one and the same


@dataclass(frozen=True, eq=False)
class Extremes:
    """Counts the draws that are at least as extreme for each pair as what was observed; ties count.

    `totals` are the sums of the systems [systems, columns], `a` and `b` the systems of the pairs, `bars` what was
    observed and `tolerances` how close a draw may come and be the same, [pairs]. Where statistics are whole and the
    score is their quotient, what lies that close is compared in fractions: two different quotients may.
    """

    score: Score
    lower_is_better: bool
    alternative: Alternative
    totals: Floats
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    bars: Floats
    tolerances: Floats
    quotient: Quotient | None

    @classmethod
    def of(cls, pairs: Sequence[Observed], alternative: Alternative) -> Extremes:
        """Of pairs of one matrix."""
        matrix = pairs[0].matrix
        whole = are_whole(matrix.statistics)
        a, b = np.array([o.pair for o in pairs]).T
        sizes, bars = np.abs(matrix.scores()), np.array([o.difference for o in pairs])
        return cls(matrix.score, matrix.lower_is_better, alternative, matrix.statistics.sum(axis=0), a, b,
                   extremity(bars, alternative), TOLERANCE * np.maximum(sizes[a], sizes[b]),
                   matrix.quotient if whole else None)

    def count(self, swapped: Floats) -> NDArray[np.int64]:
        """Count among draws in which the sums `swapped` [draws, systems, columns] change sides; gives [pairs]."""
        return np.concatenate([self._count(*sides) for sides in swapped_sides(self.totals, self.a, self.b, swapped)])

    def _count(self, pairs: slice, sums_a: Floats, sums_b: Floats) -> NDArray[np.int64]:
        differences = self.score(sums_a) - self.score(sums_b)
        if self.lower_is_better:
            differences = -differences
        excess = extremity(differences, self.alternative) - self.bars[pairs, None]
        tolerances = self.tolerances[pairs, None]
        if self.quotient is None:
            return np.array([np.count_nonzero(row) for row in ~(excess < -tolerances)])  # an undefined one is extreme
        close = np.abs(excess) <= tolerances
        counts = np.array([np.count_nonzero(row) for row in ~close & ~(excess < 0)])
        for n in np.flatnonzero(close.any(axis=1)):
            sides = np.concatenate([sums_a[n, close[n]], sums_b[n, close[n]]], axis=1)
            rows, times = np.unique(sides, axis=0, return_counts=True)
            bar = self._fraction(np.concatenate([self.totals[self.a[pairs][n]], self.totals[self.b[pairs][n]]]))
            counts[n] += sum(int(k) for row, k in zip(rows, times, strict=True) if self._fraction(row) >= bar)
        return counts

    def _fraction(self, sides: Floats) -> Fraction:
        """The extremity of the difference of two quotients, of the sums of A and of B one after the other."""
        columns = len(sides) // 2
        a, b = (_fraction(side, self.quotient) for side in (sides[:columns], sides[columns:]))
        return extremity(b - a if self.lower_is_better else a - b, self.alternative)


def _fraction(sums: Floats, quotient: Quotient | None) -> Fraction:
    over, under = quotient or ((), ())
    whole = [int(s) for s in sums]
    return Fraction(sum(c * s for c, s in zip(over, whole, strict=True)),
                    sum(c * s for c, s in zip(under, whole, strict=True)))


@dataclass(frozen=True, eq=False)
class ExceedanceCounter:
    """Counts for each pair the differences [draws, pairs] that reach its bar, undefined ones among them."""

    bars: Floats
    alternative: Alternative

    def __call__(self, differences: Floats) -> NDArray[np.int64]:
        """Count, [pairs]."""
        reached = ~(extremity(differences, self.alternative) < self.bars)
        return np.asarray(np.count_nonzero(reached, axis=0))


def monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    """The p-value (c + 1) / (R + 1) of c extremes among R draws, with the interval that its draws leave open."""
    return monte_carlo_tails([extremes], resamples)[0]


def monte_carlo_tails(extremes: Sequence[int] | NDArray[np.int64], resamples: int) -> list[Tail]:
    """The tails of many pairs, as `monte_carlo_tail` gives each."""
    counts = np.asarray(extremes, dtype=np.int64)
    return [Tail(math.log(p), "monte-carlo", low, high, resamples, p=p) for p, low, high in zip(
        ((counts + 1) / (resamples + 1)).tolist(), *(end.tolist() for end in clopper_pearson(counts, resamples)),
        strict=True)]
