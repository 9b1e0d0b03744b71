"""The exact permutation test in whole numbers: sums with random signs, and quotients of two sums.

Swaps move the two sums of a quotient on a lattice. It has one dimension if both systems share the denominators, or if
all moves are on a line. The sum of ±weights is then at least a threshold if the weights with a minus sign add up to no
more than a bar. Several algorithms find the share of such subsets with the same accuracy; the cheapest is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Observed, ObservedPairs, Settings, Tail
from registry.significance.distributions import log_tail
from registry.significance.exact.lattice import (
    HOPELESS,
    MAX_WORK,
    OVERHEAD,
    Region,
    TooLargeError,
    log_probability,
    window_work,
)
from registry.significance.matrix import common_divisor

MOST = 1000  # weights of a half, whose counts a float holds

_LARGEST = 2**23  # sums of a half, of 64 MiB
_AT_ONCE = 2**14  # counts that are added at a time, from the last on: what they are added to stays in the cache
_BLOCK = 1024  # counts that are cumulated at a time
STEP, _JOIN = 2e4, 16  # what a weight costs beside its additions, and what a sum costs in the end, in additions


def log_subset_share(weights: Ints, reach: int) -> float:
    """The natural logarithm of the share of subsets of the weights with a sum of at most `reach`.

    Args:
        weights: Whole numbers from 1 up, at most 2 `MOST`.
        reach: A whole number from 0 up.
    """
    first, second = (_count_subsets(half, reach) for half in _halves(weights))
    n_first, n_second = len(weights) - len(weights) // 2, len(weights) // 2
    np.ldexp(first, -n_first, out=first)  # so that no product overflows
    up_to = _cumulated(second)
    every = max(0, reach - len(up_to) + 1)  # sums that all of the other half may be added to
    partners = up_to[max(0, reach - len(first) + 1):reach - every + 1][::-1]
    total = float((first[every:] * partners).sum()) + float(first[:every].sum()) * float(up_to[-1])
    mantissa, exponent = math.frexp(total)
    return math.log(mantissa) + (exponent - n_second) * math.log(2)


def _counting_work(weights: Ints, reach: int) -> float:
    """The cost of `log_subset_share` in additions."""
    if len(weights) > 2 * MOST or min(reach, int(weights.sum()) // 2) > _LARGEST:
        return math.inf
    cells = sum(float(np.minimum(np.cumsum(half) / 2, reach).sum() + _JOIN * min(reach, half.sum()))
                for half in _halves(weights))
    return cells + STEP * len(weights)


def _halves(weights: Ints) -> tuple[Ints, Ints]:
    """Two halves with sums about as large; small weights come first, to keep the sums few."""
    in_order = np.sort(weights)
    return in_order[::2], in_order[1::2]


def _count_subsets(weights: Ints, reach: int) -> Floats:
    """The number of subsets with each sum, from 0 to the total or to `reach`."""
    total, last = int(weights.sum()), 0
    counts = np.zeros(min(total, reach) + 1)
    counts[0] = 1
    for weight in weights.tolist():
        end = min((last + weight) // 2, reach)
        _mirror(counts, last, min(end, last), reach)
        above = end + 1
        while above > weight:
            below = max(weight, above - _AT_ONCE)
            counts[below:above] += counts[below - weight:above - weight]
            above = below
        last += weight
    _mirror(counts, total, len(counts) - 1, reach)
    return counts


def _mirror(counts: Floats, total: int, end: int, reach: int) -> None:
    """Fill in the counts of sums from the middle up to `end`: as many subsets leave out as much."""
    known = min(total // 2, reach)
    if end > known:
        counts[known + 1:end + 1] = counts[total - end:total - known][::-1]


def _cumulated(counts: Floats) -> Floats:
    """The cumulated counts, by blocks and blocks of these: each is the result of few additions."""
    if len(counts) <= _BLOCK:
        return np.cumsum(counts)
    rows = np.zeros((-(-len(counts) // _BLOCK), _BLOCK))
    rows.ravel()[:len(counts)] = counts
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += _cumulated(rows[:-1, -1])[:, None]
    return rows.ravel()[:len(counts)]


MOST_WORK = 2**33  # additions, some 2 s, beyond which Monte Carlo is the better answer
LISTED = 44  # weights up to which all sums of either half may be listed, whatever the weights: they take 32 MiB

_ELEMENT = 160  # what a listed sum costs, in additions


@dataclass(frozen=True, eq=False)
class SignTail:
    """The probability that a sum of weights with random signs reaches a threshold.

    Attributes:
        weights: Whole numbers from 1 up, without a common divisor.
        reach: The largest sum that the weights with a minus sign may have; -1 where there is none.
        is_rest: Whether the tail is all but that: then it is the larger part.
    """

    weights: Ints
    reach: int
    is_rest: bool

    @classmethod
    def of(cls, weights: Ints, threshold: int) -> SignTail:
        """The sum of ±`weights`, whose signs and zeros do not matter, is to be at least the `threshold`."""
        weights = np.abs(weights[weights != 0])
        common = common_divisor(weights)
        weights = weights // common
        total = int(weights.sum())
        start = (total + -(-threshold // common) + 1) // 2  # the sum is 2 B - total, in units of the common factor
        is_rest = 2 * start <= total
        return cls(weights, max(-1, start - 1 if is_rest else total - start), is_rest)

    @cached_property
    def work(self) -> float:
        """The cost in additions, some 0.25 ns each."""
        if self.reach < 0 or self._are_coins:
            return OVERHEAD / 100
        return min(self._works)

    def log_p(self) -> float:
        """The natural logarithm, with an error of the probability of 1e-12 relative to it; -inf where impossible.

        Raises:
            TooLargeError: Rounding hides it.
        """
        found = self._log_share()
        return math.log1p(-math.exp(found)) if self.is_rest else found

    def _log_share(self) -> float:
        if self.reach < 0:
            return -math.inf
        n = len(self.weights)
        if self._are_coins:
            return float(log_tail(np.array([n - self.reach]), np.array([n]))[0])
        listed, added, _ = self._works
        if self.work == listed:
            return _by_lists(self.weights, self.reach)
        if self.work == added:
            return log_subset_share(self.weights, self.reach)
        return _by_transform(self.weights, self.reach)

    @property
    def _are_coins(self) -> bool:
        return int(self.weights.max()) == 1

    @cached_property
    def _works(self) -> tuple[float, float, float]:
        """The cost of the lists of all sums, of adding up counts, and of a transform."""
        n = len(self.weights)
        listed = _ELEMENT * 2.0 ** (-(-n // 2)) if n <= LISTED else math.inf
        return listed, _counting_work(self.weights, self.reach), window_work(_on_axis(self.weights))


def least_work(n: Ints) -> Floats:
    """The least that the tail of so many weights costs, [...], unless they are all the same."""
    listed = np.where(n <= LISTED, _ELEMENT * 2.0 ** (np.minimum(n, LISTED) // 2), math.inf)
    return np.asarray(np.minimum(np.minimum(listed, STEP * n), OVERHEAD))


def log_sign_tail(weights: Ints, threshold: int) -> float:
    """The natural logarithm of P(sum of ±weights >= threshold), each sign equally likely.

    Args:
        weights: Whole numbers; their signs and zeros do not matter.
        threshold: A whole number.

    Raises:
        TooLargeError: It takes more than `MOST_WORK`, or rounding hides the tail.
    """
    tail = SignTail.of(weights, threshold)
    if tail.work > MOST_WORK:
        raise TooLargeError
    return tail.log_p()


def _by_lists(weights: Ints, reach: int) -> float:
    """List the sums of each half of the weights, and count the pairs of sums that are small enough.

    This is for fine lattices, such as that of scores with all their digits (Horowitz and Sahni 1974; Pagano and
    Tritchler's method is for coarse ones).
    """
    sums = []
    for half in (weights[::2], weights[1::2]):
        found = np.zeros(1, dtype=np.int64)
        for weight in half:
            found = np.concatenate([found, found + weight])
        sums.append(np.sort(found))
    enough = np.searchsorted(sums[0], reach - sums[1][::-1], side="right")  # in rising order: near in memory
    return math.log(int(enough.sum())) - len(weights) * math.log(2)


def _by_transform(weights: Ints, reach: int) -> float:
    """The tail of a tilted distribution, of which only a window is transformed."""
    start = int(weights.sum()) - reach  # of the region, which goes on from there
    return log_probability(_on_axis(weights), Region(lambda _: start, lambda rows: np.full(len(rows), start)))


def _on_axis(weights: Ints) -> Ints:
    """The weights as vectors of the first axis, [weights, 2]."""
    return np.stack([weights, np.zeros_like(weights)], axis=1)


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
