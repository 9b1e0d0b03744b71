"""The exact permutation test of a score that is a quotient, whose two sums swaps move on a lattice.

The lattice has one dimension where both systems share the denominators, and where all moves are on a line.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Observed, Settings, Tail
from registry.significance.exact.lattice import HOPELESS, MAX_WORK, TooLargeError, log_probability, walk
from registry.significance.exact.signed_sums import HALVES, is_fine, log_sign_tail

LARGEST = 2**30  # of the sums of numerators and denominators: products of two then fit into 64 bits
_SAMPLE = 64  # units that show a fine lattice


def tail_on_lattice(observed: Observed, settings: Settings) -> Tail | None:
    """The exact tail of a pair; None where the score is no quotient of whole sums, or the lattice is too large."""
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


def lattice_work(observed: Observed) -> float:
    """The cells times moves of the lattice of a pair before it is tilted; 0 where no lattice is computed on."""
    if (whole := observed.matrix.whole_parts(observed.pair)) is None:
        return 0.0
    moves = np.stack([part[:, 0] - part[:, 1] for part in whole], axis=1)
    moves = moves[(moves != 0).any(axis=1)]
    if not len(moves):
        return 0.0
    if (line := _on_a_line(moves)) is not None:
        moves = np.stack([line, np.zeros_like(line)], axis=1)
    steps = walk(moves // np.array([_common(moves[:, 0]), _common(moves[:, 1])]))
    return 0.0 if steps > HOPELESS * MAX_WORK else steps  # given up at once


def on_fine_lattice(observed: Observed) -> bool:
    """Whether few units show that the differences of numerators lie on too fine a lattice."""
    if observed.matrix.quotient is None or observed.n_discordant <= HALVES:
        return False
    (a, b), (over, under) = observed.pair, observed.matrix.parts
    some = over[:_SAMPLE, a] - over[:_SAMPLE, b]
    return np.array_equal(some, np.rint(some)) and is_fine(some.astype(np.int64)) and np.array_equal(
        under[:, a], under[:, b])


class _Quotients:
    """The rejection region of two quotients n / d.

    With B = (u, w) the sum of the moves of the units that are not swapped, the better system has the quotient
    (n_worse + u) / (d_worse + w), and the other one (n_better - u) / (d_better - w). Their difference reaches the
    observed one where u is at least a threshold that depends on w. It is compared in whole numbers, since two
    differences can be closer than rounding.
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
