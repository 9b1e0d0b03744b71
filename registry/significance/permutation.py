"""The paired permutation test: under the null the two systems' outputs can be swapped in any unit.

Exact where the score is a quotient whose denominator is the same for both systems in every unit (accuracy, recall,
error rates on the same items): the difference is then a sum of random signs times whole numbers. Monte Carlo elsewhere,
with Noreen's (c + 1) / (R + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Observed, PairTest, Settings, Tail
from registry.significance.draws import swapped_sums
from registry.significance.lattice import TooLargeError, log_tail
from registry.significance.matrix import Floats, Quotient, StatisticMatrix

TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be one and the same


@dataclass(frozen=True, repr=False)
class Permutation(PairTest):
    """Paired permutation (approximate randomization) of whole items or clusters."""

    name: ClassVar[str] = "permutation"
    null: ClassVar[str] = "in every unit, the outputs of the two systems are exchangeable"
    assumes: ClassVar[str] = "units are independent of each other; the two systems may be correlated"
    citation: ClassVar[str] = "Noreen 1989; Yeh 2000, section 3.2"

    def tails(self, matrix: StatisticMatrix, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Give exact tails where the lattice allows, and draw the other pairs together."""
        found = {o.pair: exact_tail(o, matrix, settings) for o in pairs}
        drawn = [o for o in pairs if found[o.pair] is None]
        found |= dict(zip((o.pair for o in drawn), _monte_carlo(matrix, drawn, settings), strict=True))
        return [tail for o in pairs if (tail := found[o.pair]) is not None]


def exact_tail(observed: Observed, matrix: StatisticMatrix, settings: Settings) -> Tail | None:
    """Give the exact tail of the pair, or None where this module has none."""
    if matrix.quotient is None:
        return None
    over, under = (np.array(side, dtype=np.float64) for side in matrix.quotient)
    if not np.array_equal(observed.a @ under, observed.b @ under):
        return None
    gains = (observed.a @ over - observed.b @ over) * (-1 if matrix.lower_is_better else 1)
    steps = np.rint(gains).astype(np.int64)
    if not np.array_equal(steps, gains):
        return None
    try:
        return Tail(log_sign_p(steps, settings.alternative), "exact")
    except TooLargeError:
        return None


def log_sign_p(steps: NDArray[np.int64], alternative: str) -> float:
    """Log p of the sum of `steps` when the sign of each is random."""
    observed = int(steps.sum())
    if alternative == "greater":
        return log_tail(steps, observed)
    if alternative == "less":
        return log_tail(steps, -observed)
    return 0.0 if observed == 0 else min(0.0, math.log(2) + log_tail(steps, abs(observed)))


def _monte_carlo(matrix: StatisticMatrix, pairs: list[Observed], settings: Settings) -> list[Tail]:
    """Draw the swapped units of all pairs at once; each pair swaps only its own two systems."""
    if not pairs:
        return []
    sums = matrix.statistics.sum(axis=0)
    comparisons = [_Extremes(matrix, o, settings.alternative) for o in pairs]
    for swapped in swapped_sums(matrix.statistics, settings.resamples, settings.seed):
        for comparison in comparisons:
            a, b = comparison.observed.pair
            moved = swapped[:, b] - swapped[:, a]
            comparison.count(sums[a] + moved, sums[b] - moved)
    return [_monte_carlo_tail(c.extremes, settings.resamples) for c in comparisons]


class _Extremes:
    """Counts the draws of one pair that are at least as extreme as what was observed; ties count."""

    def __init__(self, matrix: StatisticMatrix, observed: Observed, alternative: str) -> None:
        self.matrix, self.observed, self.alternative, self.extremes = matrix, observed, alternative, 0
        a, b = observed.a.sum(axis=0), observed.b.sum(axis=0)
        self.bar = self._extremity(np.array(observed.difference))
        self.tolerance = TOLERANCE * float(max(abs(matrix.score(a)), abs(matrix.score(b))))
        whole = np.array_equal(observed.a, np.rint(observed.a)) and np.array_equal(observed.b, np.rint(observed.b))
        self.quotient = matrix.quotient if whole else None
        self.exact_bar = self._exact(a, b) if self.quotient else None

    def count(self, a: Floats, b: Floats) -> None:
        """Count among draws with the sums `a` and `b`, [draws, columns]; an undefined difference is extreme."""
        excess = self._extremity(self.matrix.gain(self.matrix.score(a), self.matrix.score(b))) - self.bar
        close = np.abs(excess) <= self.tolerance
        self.extremes += int(np.count_nonzero(~close & ~(excess < 0)))
        if self.exact_bar is None:
            self.extremes += int(np.count_nonzero(close))
            return
        for i in np.flatnonzero(close):  # two different quotients can lie closer than rounding: compare as fractions
            self.extremes += self._exact(a[i], b[i]) >= self.exact_bar

    def _extremity(self, difference: Floats) -> Floats:
        if self.alternative == "two-sided":
            return np.abs(difference)
        return difference if self.alternative == "greater" else -difference

    def _exact(self, a: Floats, b: Floats) -> Fraction:
        difference = _fraction(a, self.quotient) - _fraction(b, self.quotient)
        if self.matrix.lower_is_better:
            difference = -difference
        if self.alternative == "two-sided":
            return abs(difference)
        return difference if self.alternative == "greater" else -difference


def _fraction(sums: Floats, quotient: Quotient | None) -> Fraction:
    over, under = quotient or ((), ())
    whole = [int(s) for s in sums]
    return Fraction(sum(c * s for c, s in zip(over, whole, strict=True)),
                    sum(c * s for c, s in zip(under, whole, strict=True)))


def _monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    from scipy.special import betaincinv

    low = 0.0 if extremes == 0 else float(betaincinv(extremes, resamples - extremes + 1, 0.025))
    high = 1.0 if extremes == resamples else float(betaincinv(extremes + 1, resamples - extremes, 0.975))
    return Tail(math.log((extremes + 1) / (resamples + 1)), "monte-carlo", low, high, resamples)
