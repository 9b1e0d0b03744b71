"""The paired permutation test: under the null the two systems' outputs can be swapped in any unit.

Exact where the score is a quotient of sums of whole numbers or of decimals (accuracy, precision, recall, F-beta, error
rates, means of item scores): swaps then move the two sums over a lattice, of one dimension where both systems share the
denominators. Exact by trying every swap where few units differ. Monte Carlo elsewhere, with Noreen's (c + 1) / (R + 1).
Correlations swap standardized predictions (`registry.significance.correlated`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.families import FAMILIES
from registry.significance.base import Alternative, Observed, PairTest, Settings, Tail, extremity
from registry.significance.correlated import (
    PairMatrix,
    all_swapped_differences,
    differing_units,
    swapped_differences,
    unswapped_difference,
)
from registry.significance.draws import swapped_sides, swapped_sums
from registry.significance.lattice import HALVES, TooLargeError, is_fine, log_probability, log_sign_tail
from registry.significance.matrix import Floats, Quotient, Score, StatisticMatrix, as_whole
from registry.significance.proportion import clopper_pearson
from registry.significance.runs import LABELLED, count_relabelled, least_of_runs, n_labellings, unfit_runs
from registry.significance.studentized import count_all_swaps, count_swaps

ENUMERATED = 16  # discordant units up to which every swap is tried, whatever the score
LARGEST = 2**30  # of the sums of numerators and denominators: products of two then fit into 64 bits
_TELLING = 64  # units that tell a fine lattice
TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be one and the same


@dataclass(frozen=True, repr=False)
class Permutation(PairTest):
    """Paired permutation (approximate randomization) of items or clusters; of whole runs where those are random.

    `studentized` compares the difference in units of its standard error, for scores that are quotients. That is right
    also where two systems with equal scores are not exchangeable, as when one finds more and the other errs less; it
    is drawn, unless few units differ.
    """

    name: ClassVar[str] = "permutation"
    null: ClassVar[str] = "in every unit, the outputs of the two systems are exchangeable"
    assumes: ClassVar[str] = "units are independent of each other; the two systems may be correlated"
    citation: ClassVar[str] = "Noreen 1989; Yeh 2000, section 3.2; Deutsch, Dror and Roth 2021 (correlations)"
    families: ClassVar[tuple[str, ...] | None] = tuple(FAMILIES)
    takes_runs: ClassVar[bool] = True
    studentized: bool = False

    def refusal(self, matrix: StatisticMatrix) -> str | None:
        """Refuse to studentize a score that is no quotient, and runs that are random but no sample."""
        if self.studentized and matrix.quotient is None:
            return "a studentized test needs a score that is a quotient of sums, such as F1 or accuracy"
        return unfit_runs(matrix, studentized=self.studentized)

    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Give exact tails where the lattice allows, and draw the other pairs together."""
        if pairs[0].matrix.runs is not None:
            return _of_runs(pairs, settings)
        if self.studentized:
            return _studentized(pairs, settings)
        if isinstance(pairs[0].matrix, PairMatrix):
            return _correlated(pairs, settings)
        coarse = [o for o in pairs if not _is_fine(o)]  # a thread for each of the others would be more than its work
        exact = settings.execution.here.map(lambda o: _exact(o, settings), coarse)
        found = dict(zip((o.pair for o in coarse), exact, strict=True))
        drawn = [o for o in pairs if found.get(o.pair) is None]
        found |= dict(zip((o.pair for o in drawn), _monte_carlo(drawn, settings), strict=True))
        return [tail for o in pairs if (tail := found[o.pair]) is not None]


def _exact(observed: Observed, settings: Settings) -> Tail | None:
    """Give the exact tail of a pair; None where there are too many swaps, or the lattice is too large.

    Few swaps are tried each; a quotient's moves over its lattice are counted.
    """
    if (tail := _on_lattice(observed, settings)) is not None:
        return tail
    return _all_swaps(observed, settings) if observed.n_discordant <= ENUMERATED else None


def _all_swaps(observed: Observed, settings: Settings) -> Tail:
    """Try every way to swap the discordant units, as Yeh 2000 does where there are few."""
    apart = observed.b - observed.a
    apart, swaps = apart[apart.any(axis=1)], _every_swap(observed)
    moved = swaps @ apart
    sums = np.stack([np.zeros_like(moved), moved], axis=1)  # A loses nothing to B but the sum of what is apart
    extremes = _Extremes.of([replace(observed, pair=(0, 1), matrix=observed.matrix.of_systems(observed.pair))],
                            settings.alternative)
    return Tail(math.log(int(extremes.count(sums)[0]) / len(swaps)), "exact", coins=len(apart))


def _every_swap(observed: Observed) -> NDArray[np.int64]:
    """All ways to swap the discordant units, [ways, units]."""
    ways: NDArray[np.int64] = np.arange(2**observed.n_discordant)[:, None] >> np.arange(observed.n_discordant) & 1
    return ways


def _studentized(pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
    few = [o for o in pairs if o.n_discordant <= ENUMERATED]
    many = [o for o in pairs if o.n_discordant > ENUMERATED]
    found = {o.pair: Tail(math.log(count_all_swaps(o, _every_swap(o), settings) / 2**o.n_discordant), "exact",
                          coins=o.n_discordant) for o in few}
    counts = list(count_swaps(many, settings)) if many else []
    found |= dict(zip((o.pair for o in many), monte_carlo_tails(counts, settings.resamples), strict=True))
    return [found[o.pair] for o in pairs]


def _of_runs(pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
    """Give exact tails where every labelling of the runs is tried."""
    tails = []
    for o, extremes in zip(pairs, count_relabelled(pairs, settings), strict=True):
        labellings, note = n_labellings(o), least_of_runs(o, settings)
        tails.append(replace(monte_carlo_tail(extremes, settings.resamples), note=note) if labellings > LABELLED else
                     Tail(math.log(extremes / labellings), "exact", p=extremes / labellings, note=note))
    return tails


def _on_lattice(observed: Observed, settings: Settings) -> Tail | None:
    matrix = observed.matrix
    if matrix.quotient is None:
        return None
    if (whole := matrix.whole_parts(observed.pair)) is None:
        return None
    over, under = whole
    moves = np.stack([part[:, 0] - part[:, 1] for part in (over, under)], axis=1)
    if not moves.any():  # what differs does not enter this score
        return Tail(0.0, "exact")
    if moves[:, 1].any() and np.abs(over).sum() + np.abs(under).sum() > LARGEST:
        return None
    region = _Quotients(*(int(part[:, n].sum()) for n in (0, 1) for part in (over, under)))
    favours = region.sign if not matrix.lower_is_better else -region.sign
    if settings.alternative == "less":
        favours = -favours
    try:
        if settings.alternative == "two-sided":
            log_p = min(0.0, math.log(2) + region.log_tail(moves)) if favours else 0.0
        elif favours > 0:
            log_p = region.log_tail(moves)
        else:  # at least as extreme as a difference that points the other way: all but what is beyond it there
            log_p = math.log1p(-math.exp(region.log_tail(moves, beyond=True)))
    except TooLargeError:
        return None
    return Tail(log_p, "exact", coins=observed.n_discordant)


def _is_fine(observed: Observed) -> bool:
    """Whether few units tell, without the work of all, that differences of numerators lie on too fine a lattice."""
    if observed.matrix.quotient is None or observed.n_discordant <= HALVES:
        return False
    (a, b), (over, under) = observed.pair, observed.matrix.parts
    some = as_whole(over[:_TELLING, [a, b]])
    return some is not None and is_fine(some[:, 0] - some[:, 1]) and np.array_equal(under[:, a], under[:, b])


class _Quotients:
    """The two quotients n / d of the observed sums, and the swaps that set them as far apart.

    With B the sum of the moves (u, w) of the units that are not swapped, the better system has the quotient
    (n_worse + u) / (d_worse + w), the other (n_better - u) / (d_better - w). Their difference reaches the observed one
    where u does not fall below a threshold in w; compared in whole numbers, since two differences can lie closer than
    rounding.
    """

    def __init__(self, over_a: int, under_a: int, over_b: int, under_b: int) -> None:
        excess = over_a * under_b - over_b * under_a
        self.sign = (excess > 0) - (excess < 0)
        self.better = (over_a, under_a) if self.sign >= 0 else (over_b, under_b)
        self.worse = (over_b, under_b) if self.sign >= 0 else (over_a, under_a)
        self.excess = abs(excess)
        self.beyond = False
        self.steps = (1, 1)

    def log_tail(self, moves: NDArray[np.int64], *, beyond: bool = False) -> float:
        """Log P(the difference after random swaps is at least the observed one, or `beyond` it)."""
        moves = moves[(moves != 0).any(axis=1)] * (1 if self.sign >= 0 else -1)
        if self.worse[1] + int(np.minimum(moves[:, 1], 0).sum()) <= 0:
            raise TooLargeError  # some swaps leave a quotient undefined: not for this region
        if (line := _on_a_line(moves)) is not None:
            over, under = (b + w for b, w in zip(self.better, self.worse, strict=True))
            if int(moves[0, 0]) * under == int(moves[0, 1]) * over:  # along it both quotients stay the same
                return -math.inf if beyond else 0.0
            return log_sign_tail(line, abs(int(line.sum())) + beyond)  # along it the difference grows
        self.beyond = beyond
        self.steps = (_common(moves[:, 0]), _common(moves[:, 1]))
        found = log_probability(moves // self.steps, self)
        if found == -math.inf and not beyond:
            raise TooLargeError  # what was observed is in the region, so this is rounding
        return found

    def threshold(self, row: float) -> float:
        over, under = self._bound(row * self.steps[1])
        return float(over / under)

    def thresholds(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        first = []
        for row in rows.tolist():
            over, under = self._bound(row * self.steps[1])
            first.append(over // under + 1 if self.beyond else -(-over // under))
        return np.array(first, dtype=np.int64)

    def _bound(self, w: Any) -> tuple[Any, Any]:
        """The least u at a given w, in steps, as a fraction."""
        (over, under), (over_w, under_w) = self.better, self.worse
        apart = self.excess * (under_w + w) * (under - w)
        return (apart + (over * (under_w + w) - over_w * (under - w)) * under * under_w,
                (under + under_w) * under * under_w * self.steps[0])


def _on_a_line(moves: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The multiples of one vector that all moves are, or None where they do not lie on a line."""
    first = moves[0] // _common(moves[0])
    if (moves[:, 0] * first[1] != moves[:, 1] * first[0]).any():
        return None
    multiples: NDArray[np.int64] = moves @ first // int(first @ first)
    return multiples


def _common(steps: NDArray[np.int64]) -> int:
    """The greatest number that divides all of them."""
    return max(1, int(np.gcd.reduce(np.abs(steps))))


def _monte_carlo(pairs: list[Observed], settings: Settings) -> list[Tail]:
    """Draw the swapped units of all pairs at once; each pair swaps only its own two systems."""
    if not pairs:
        return []
    statistics = pairs[0].matrix.statistics
    extremes = _Extremes.of(pairs, settings.alternative)
    counts = reduce(np.add, swapped_sums(
        statistics, settings.resamples, settings.seed, extremes.count, settings.execution))
    return monte_carlo_tails(counts, settings.resamples)


@dataclass(frozen=True, eq=False)
class _Extremes:
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
    def of(cls, pairs: Sequence[Observed], alternative: Alternative) -> _Extremes:
        matrix = pairs[0].matrix
        whole = np.array_equal(matrix.statistics, np.rint(matrix.statistics))
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


def _correlated(pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
    """Test pairs of a `PairMatrix` by swaps: by all of them where few units differ, else by random ones.

    A swap that leaves a correlation undefined counts as extreme. Ties are those within the tolerance of 1, not of what
    was observed: swaps change correlations that are nearly 0 into others, with all the rounding of those. For the same
    reason the observed difference is that of no swap, rounded as the others are.
    """
    matrix, alternative = pairs[0].matrix, settings.alternative
    assert isinstance(matrix, PairMatrix)
    bars = {o.pair: extremity(unswapped_difference(matrix, o.pair), alternative) - TOLERANCE for o in pairs}
    few = {o.pair: n for o in pairs if (n := len(differing_units(matrix, o.pair))) <= ENUMERATED}
    found = {}
    for pair, n in few.items():
        reached = extremity(all_swapped_differences(matrix, pair), alternative)
        found[pair] = Tail(math.log(np.count_nonzero(~(reached < bars[pair])) / 2**n), "exact", coins=n)
    if many := [o.pair for o in pairs if o.pair not in few]:
        extremes = _Reached(np.array([bars[pair] for pair in many]), alternative)
        counts = reduce(np.add, swapped_differences(
            matrix, many, settings.resamples, settings.seed, extremes, settings.execution))
        found |= dict(zip(many, monte_carlo_tails(counts, settings.resamples), strict=True))
    return [found[o.pair] for o in pairs]


@dataclass(frozen=True, eq=False)
class _Reached:
    """Counts for each pair the differences [draws, pairs] that reach its bar, undefined ones among them."""

    bars: Floats
    alternative: Alternative

    def __call__(self, differences: Floats) -> NDArray[np.int64]:
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
