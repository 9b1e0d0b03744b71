"""The paired permutation test: under the null the two systems' outputs can be swapped in any unit.

Exact where the score is a quotient of sums of whole numbers or of decimals (accuracy, precision, recall, F-beta, error
rates, means of item scores): swaps then move the two sums over a lattice, of one dimension where both systems share the
denominators. Exact by trying every swap where few units differ. Monte Carlo elsewhere, with Noreen's (c + 1) / (R + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Alternative, Observed, PairTest, Settings, Tail, extremity
from registry.significance.draws import swapped_sums
from registry.significance.lattice import TooLargeError, log_probability, log_sign_tail
from registry.significance.matrix import Floats, Quotient, as_whole

ENUMERATED = 16  # discordant units up to which every swap is tried, whatever the score
LARGEST = 2**30  # of the sums of numerators and denominators: products of two then fit into 64 bits
TOLERANCE = 1e-12  # relative to the scores: differences closer than this may be one and the same


@dataclass(frozen=True, repr=False)
class Permutation(PairTest):
    """Paired permutation (approximate randomization) of whole items or clusters."""

    name: ClassVar[str] = "permutation"
    null: ClassVar[str] = "in every unit, the outputs of the two systems are exchangeable"
    assumes: ClassVar[str] = "units are independent of each other; the two systems may be correlated"
    citation: ClassVar[str] = "Noreen 1989; Yeh 2000, section 3.2"

    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Give exact tails where the lattice allows, and draw the other pairs together."""
        found = {o.pair: _exact(o, settings) for o in pairs}
        drawn = [o for o in pairs if found[o.pair] is None]
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
    apart = apart[apart.any(axis=1)]
    swaps = np.arange(2**len(apart))[:, None] >> np.arange(len(apart)) & 1
    moved = swaps @ apart
    extremes = _Extremes(observed, settings.alternative)
    extremes.count(observed.a.sum(axis=0) + moved, observed.b.sum(axis=0) - moved)
    return Tail(math.log(extremes.extremes / len(swaps)), "exact", coins=len(apart))


def _on_lattice(observed: Observed, settings: Settings) -> Tail | None:
    matrix = observed.matrix
    if matrix.quotient is None:
        return None
    pair = list(observed.pair)
    over, under = (as_whole(part[:, pair]) for part in matrix.parts)
    if over is None or under is None:
        return None
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
    matrix = pairs[0].matrix
    sums = matrix.statistics.sum(axis=0)
    comparisons = [_Extremes(o, settings.alternative) for o in pairs]
    for swapped in swapped_sums(matrix.statistics, settings.resamples, settings.seed):
        for comparison in comparisons:
            a, b = comparison.observed.pair
            moved = swapped[:, b] - swapped[:, a]
            comparison.count(sums[a] + moved, sums[b] - moved)
    return [monte_carlo_tail(c.extremes, settings.resamples) for c in comparisons]


class _Extremes:
    """Counts the draws of one pair that are at least as extreme as what was observed; ties count."""

    def __init__(self, observed: Observed, alternative: Alternative) -> None:
        self.matrix, self.observed, self.alternative, self.extremes = observed.matrix, observed, alternative, 0
        a, b = observed.a.sum(axis=0), observed.b.sum(axis=0)
        self.bar = extremity(observed.difference, alternative)
        self.tolerance = TOLERANCE * float(np.abs(self.matrix.score(np.stack([a, b]))).max())
        whole = np.array_equal(observed.a, np.rint(observed.a)) and np.array_equal(observed.b, np.rint(observed.b))
        self.quotient = self.matrix.quotient if whole else None
        self.exact_bar = self._exact(a, b) if self.quotient else None

    def count(self, a: Floats, b: Floats) -> None:
        """Count among draws with the sums `a` and `b`, [draws, columns]; an undefined difference is extreme."""
        difference = self.matrix.gain(self.matrix.score(a), self.matrix.score(b))
        excess = extremity(difference, self.alternative) - self.bar
        close = np.abs(excess) <= self.tolerance
        self.extremes += int(np.count_nonzero(~close & ~(excess < 0)))
        if self.exact_bar is None:
            self.extremes += int(np.count_nonzero(close))
            return
        for i in np.flatnonzero(close):  # two different quotients can lie closer than rounding: compare as fractions
            self.extremes += self._exact(a[i], b[i]) >= self.exact_bar

    def _exact(self, a: Floats, b: Floats) -> Fraction:
        difference = _fraction(a, self.quotient) - _fraction(b, self.quotient)
        return extremity(-difference if self.matrix.lower_is_better else difference, self.alternative)


def _fraction(sums: Floats, quotient: Quotient | None) -> Fraction:
    over, under = quotient or ((), ())
    whole = [int(s) for s in sums]
    return Fraction(sum(c * s for c, s in zip(over, whole, strict=True)),
                    sum(c * s for c, s in zip(under, whole, strict=True)))


def monte_carlo_tail(extremes: int, resamples: int) -> Tail:
    """The p-value (c + 1) / (R + 1) of c extremes among R draws, with the interval that its draws leave open."""
    from scipy.special import betaincinv

    low = 0.0 if extremes == 0 else float(betaincinv(extremes, resamples - extremes + 1, 0.025))
    high = 1.0 if extremes == resamples else float(betaincinv(extremes + 1, resamples - extremes, 0.975))
    return Tail(math.log((extremes + 1) / (resamples + 1)), "monte-carlo", low, high, resamples)
