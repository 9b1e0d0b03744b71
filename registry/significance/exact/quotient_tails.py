"""The exact permutation test of a score that is a quotient, whose two sums swaps move on a lattice.

The lattice has one dimension where both systems share the denominators, and where all moves are on a line.
"""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import Any

import numpy as np

from registry.arrays import Flags, Ints
from registry.significance.base import Observed, ObservedPairs, Settings, Tail
from registry.significance.exact.lattice import HOPELESS, MAX_WORK, Region, TooLargeError, log_probability, window_work
from registry.significance.exact.signed_sums import LISTED, MOST_WORK, SignTail
from registry.significance.matrix import common_divisor

LARGEST = 2**30  # of the sums of numerators and denominators: products of two then fit into 64 bits
_SAMPLE = 8  # units that show a fine lattice
_ROUNDING = 2.0**-45  # of 12 products of four sums each at most, with 10 roundings of 2^-53


def tail_on_lattice(observed: Observed, settings: Settings, most: float = MOST_WORK) -> Tail | None:
    """The exact tail of a pair; None where the score is no quotient of whole sums, or its lattice is too large.

    Args:
        observed: The pair.
        settings: What the test is asked for.
        most: The additions that it may cost where its lattice has one dimension (`_Swaps.work`).
    """
    if (swaps := _Swaps.of(observed)) is None:
        return None
    if not len(swaps.moves):  # what differs does not enter this score
        return Tail(0.0, "exact")
    favours = swaps.sign if not observed.matrix.lower_is_better else -swaps.sign
    if settings.alternative == "less":
        favours = -favours
    if math.isinf(swaps.work(most)):
        return None
    try:
        if settings.alternative == "two-sided":
            log_p = min(0.0, math.log(2) + swaps.log_tail()) if favours else 0.0
        elif favours > 0:
            log_p = swaps.log_tail()
        else:  # at least as extreme as a difference that points the other way: all but what is beyond it there
            log_p = math.log1p(-math.exp(swaps.log_tail(beyond=True)))
    except TooLargeError:
        return None
    return Tail(log_p, "exact", coins=observed.n_discordant)


def lattice_work(observed: Observed, most: float = MOST_WORK) -> float:
    """The cost of the exact tail of a pair in additions; infinite where there is none (`tail_on_lattice`)."""
    swaps = _Swaps.of(observed)
    return math.inf if swaps is None else swaps.work(most)


def surely_fine(pairs: ObservedPairs) -> Flags:
    """Which pairs have too fine a lattice of differences, as few units show, [pairs]; others may have one as well."""
    matrix, a, b = pairs.matrix, pairs.a, pairs.b
    if matrix.quotient is None:
        return np.zeros(len(pairs), dtype=bool)
    bar = 2 * HOPELESS * MAX_WORK / 9
    products = reduce(np.add, (over.T @ over for over, _ in matrix.parts_by_block()))
    squares = products[a, a] + products[b, b] - 2 * products[a, b]
    candidates = np.flatnonzero((squares > bar**2) & (pairs.n_discordant > LISTED))
    over = next(matrix.parts_by_block())[0][:_SAMPLE]
    few = np.rint(over[:, a[candidates]] - over[:, b[candidates]]).astype(np.int64)
    steps = np.maximum(1, np.gcd.reduce(few, axis=0))
    fine = np.zeros(len(pairs), dtype=bool)
    fine[candidates] = squares[candidates] > (bar * steps) ** 2
    return fine


class _Swaps:
    """The swaps of a pair's units, and the rejection region of the difference of its two quotients n / d.

    With B = (u, w) the sum of the moves of the units that are not swapped, the better system has the quotient
    (n_worse + u) / (d_worse + w), and the other one (n_better - u) / (d_better - w). Their difference reaches the
    observed one where u is at least a threshold that depends on w. It is compared in whole numbers, since two
    differences can be closer than rounding.

    Attributes:
        sign: 1 where the first system has the larger quotient, -1 where the second has, 0 where they are equal.
        moves: The differences of the units' parts, better less worse, where they are not 0, [moves, 2].
    """

    def __init__(self, over: Ints, under: Ints) -> None:
        (over_a, over_b), (under_a, under_b) = (map(int, side.sum(axis=0)) for side in (over, under))
        excess = over_a * under_b - over_b * under_a
        self.sign = (excess > 0) - (excess < 0)
        self.better = (over_a, under_a) if self.sign >= 0 else (over_b, under_b)
        self.worse = (over_b, under_b) if self.sign >= 0 else (over_a, under_a)
        self.excess = abs(excess)
        self.beyond = False
        moves = np.stack([part[:, 0] - part[:, 1] for part in (over, under)], axis=1)
        self.moves = moves[moves.any(axis=1)] * (1 if self.sign >= 0 else -1)
        self.steps = (common_divisor(self.moves[:, 0]), common_divisor(self.moves[:, 1]))

    @classmethod
    def of(cls, observed: Observed) -> _Swaps | None:
        """Those of a pair; None where its parts are not whole, or too large."""
        if observed.matrix.quotient is None or (whole := observed.matrix.whole_parts(observed.pair)) is None:
            return None
        over, under = whole
        if (under[:, 0] != under[:, 1]).any() and np.abs(over).sum() + np.abs(under).sum() > LARGEST:
            return None
        return cls(over, under)

    @cached_property
    def line(self) -> Ints | None:
        """The multiples of one vector that all moves are, or None where they do not lie on a line."""
        if not self.moves[:, 1].any():
            return self.moves[:, 0]
        first = self.moves[0] // common_divisor(self.moves[0])
        if (self.moves[:, 0] * first[1] != self.moves[:, 1] * first[0]).any():
            return None
        multiples: Ints = self.moves @ first // int(first @ first)
        return multiples

    @property
    def _steps_moved(self) -> Ints:
        return np.stack([column // step for column, step in zip(self.moves.T, self.steps, strict=True)], axis=1)

    def work(self, most: float) -> float:
        """The cost of `log_tail` in additions; infinite where there is none.

        On a line it is infinite too where it is more than `most`. In two dimensions it is an upper bound, far above
        what tilted windows mostly take, and not held against `most`.
        """
        if not len(self.moves):
            return 0.0
        if self.line is None:
            return window_work(self._steps_moved)
        return self._along.work if self._along.work <= most else math.inf

    def log_tail(self, *, beyond: bool = False) -> float:
        """Log P(the difference after random swaps is at least the observed one, or `beyond` it)."""
        if self.worse[1] + int(np.minimum(self.moves[:, 1], 0).sum()) <= 0:
            raise TooLargeError  # some swaps leave a quotient undefined: not for this region
        if self.line is not None:
            over, under = (b + w for b, w in zip(self.better, self.worse, strict=True))
            if int(self.moves[0, 0]) * under == int(self.moves[0, 1]) * over:  # along it both quotients stay the same
                return -math.inf if beyond else 0.0
            return (SignTail.of(self.line, self._lead + 1) if beyond else self._along).log_p()
        self.beyond = beyond
        found = log_probability(self._steps_moved, Region(self.threshold, self.thresholds))
        if found == -math.inf and not beyond:
            raise TooLargeError  # what was observed is in the region, so this is rounding
        return found

    @property
    def _lead(self) -> int:
        assert self.line is not None
        return abs(int(self.line.sum()))

    @cached_property
    def _along(self) -> SignTail:
        """The tail where all moves are on a line, along which the difference grows."""
        assert self.line is not None
        return SignTail.of(self.line, self._lead)

    def threshold(self, row: float) -> float:
        over, under = self._bound(row * self.steps[1])
        return float(over / under)

    def thresholds(self, rows: Ints) -> Ints:
        """Rounded quotients give nearly all of them; whole numbers those that may be on the other side of one."""
        over, under = self._bound(rows * float(self.steps[1]))
        bounds = over / float(under)
        error = _ROUNDING * max(map(abs, self.better + self.worse)) ** 4 / under
        first: Ints = (np.floor(bounds) + 1 if self.beyond else np.ceil(bounds)).astype(np.int64)
        for n in np.flatnonzero(np.abs(bounds - np.rint(bounds)) <= error).tolist():
            over, under = self._bound(int(rows[n]) * self.steps[1])
            first[n] = over // under + 1 if self.beyond else -(-over // under)
        return first

    def _bound(self, w: Any) -> tuple[Any, Any]:
        """The least u at a given w, in steps, as a fraction."""
        (over, under), (over_w, under_w) = self.better, self.worse
        apart = self.excess * (under_w + w) * (under - w)
        return (apart + (over * (under_w + w) - over_w * (under - w)) * under * under_w,
                (under + under_w) * under * under_w * self.steps[0])
