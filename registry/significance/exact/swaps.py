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
_AT_ONCE = 2**14  # counts that are added at a time, from the last on: their target stays in the cache
_BLOCK = 1024  # counts that are cumulated at a time
STEP, _JOIN = 2e4, 16  # what a weight costs beside its additions, and what a sum costs in the end, in additions


def log_subset_share(weights: Ints, reach: int) -> float:
    """Return the natural logarithm of the share of subsets of the weights with a sum of at most `reach`.

    Subsets of either half of the weights are counted by their sums, weight after weight: with an additional weight w,
    the sum s is reached as often as s and s - w were before. Counts are symmetric about half of the total, so only the
    lower ones are added to, and none above the bar is needed. Then every sum of one half meets the sums of the other
    half that are small enough.

    Counts are whole numbers, exact below 2^53, hence for up to 53 weights. Beyond, each addition rounds, by 2^-53 at
    most. Nothing is subtracted, so the relative error of the result is at most the number of additions in a row times
    that: `MOST` in the counts of either half, 2 `_BLOCK` and a few in cumulating them, and 40 in the last sum, which
    numpy takes in pairs. Together this is less than 1e-12.

    Args:
        weights: Whole numbers from 1 up, at most 2 `MOST`.
        reach: A whole number from 0 up.
    """
    first, second = (_count_subsets(half, reach) for half in _split_halves(weights))
    n_first, n_second = len(weights) - len(weights) // 2, len(weights) // 2
    np.ldexp(first, -n_first, out=first)  # so that no product overflows
    up_to = _cumulate(second)
    every = max(0, reach - len(up_to) + 1)  # sums to which every sum of the other half can be added
    partners = up_to[max(0, reach - len(first) + 1):reach - every + 1][::-1]
    total = float((first[every:] * partners).sum()) + float(first[:every].sum()) * float(up_to[-1])
    mantissa, exponent = math.frexp(total)
    return math.log(mantissa) + (exponent - n_second) * math.log(2)


def _counting_work(weights: Ints, reach: int) -> float:
    """Return the cost of `log_subset_share` in additions."""
    if len(weights) > 2 * MOST or min(reach, int(weights.sum()) // 2) > _LARGEST:
        return math.inf
    cells = sum(float(np.minimum(np.cumsum(half) / 2, reach).sum() + _JOIN * min(reach, half.sum()))
                for half in _split_halves(weights))
    return cells + STEP * len(weights)


def _split_halves(weights: Ints) -> tuple[Ints, Ints]:
    """Return two halves with similar sums; small weights come first, which limits the number of sums."""
    in_order = np.sort(weights)
    return in_order[::2], in_order[1::2]


def _count_subsets(weights: Ints, reach: int) -> Floats:
    """Count the subsets with each sum, from 0 to the total or to `reach`."""
    total, last = int(weights.sum()), 0
    counts = np.zeros(min(total, reach) + 1)
    counts[0] = 1
    for weight in weights.tolist():
        end = min((last + weight) // 2, reach)
        _fill_mirrored(counts, last, min(end, last), reach)
        above = end + 1
        while above > weight:
            below = max(weight, above - _AT_ONCE)
            counts[below:above] += counts[below - weight:above - weight]
            above = below
        last += weight
    _fill_mirrored(counts, total, len(counts) - 1, reach)
    return counts


def _fill_mirrored(counts: Floats, total: int, end: int, reach: int) -> None:
    """Fill in the counts of sums from the middle up to `end`: as many subsets omit as much."""
    middle = min(total // 2, reach)
    if end > middle:
        counts[middle + 1:end + 1] = counts[total - end:total - middle][::-1]


def _cumulate(counts: Floats) -> Floats:
    """Cumulate counts by blocks and blocks of blocks, so that each result has few additions."""
    if len(counts) <= _BLOCK:
        return np.cumsum(counts)
    rows = np.zeros((-(-len(counts) // _BLOCK), _BLOCK))
    rows.ravel()[:len(counts)] = counts
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += _cumulate(rows[:-1, -1])[:, None]
    return rows.ravel()[:len(counts)]


MOST_WORK = 2**33  # additions, some 2 s, beyond which Monte Carlo is the better answer
LISTED = 44  # weights up to which all sums of either half may be listed, whatever the weights: they take 32 MiB

_ELEMENT = 160  # cost of a listed sum, in additions


@dataclass(frozen=True, eq=False)
class SignTail:
    """Probability that a sum of weights with random signs reaches a threshold.

    Attributes:
        weights: Whole numbers from 1 up, without a common divisor.
        reach: Largest sum of the weights with a minus sign; -1 if no sum is small enough.
        is_rest: True if the tail is the complement of these sums, the larger part.
    """

    weights: Ints
    reach: int
    is_rest: bool

    @classmethod
    def of(cls, weights: Ints, threshold: int) -> SignTail:
        """Make the tail of the sum of ±`weights`, without regard to their signs and zeros, from a threshold on."""
        weights = np.abs(weights[weights != 0])
        common = common_divisor(weights)
        weights = weights // common
        total = int(weights.sum())
        start = (total + -(-threshold // common) + 1) // 2  # the sum is 2 B - total, in units of the common factor
        is_rest = 2 * start <= total
        return cls(weights, max(-1, start - 1 if is_rest else total - start), is_rest)

    @cached_property
    def work(self) -> float:
        """Cost in additions, about 0.25 ns each."""
        if self.reach < 0 or self.weights.max() == 1:
            return OVERHEAD / 100
        return min(self._works)

    def log_p(self) -> float:
        """Return the natural logarithm; the relative error of the probability is 1e-12; -inf if impossible.

        Raises:
            TooLargeError: Rounding hides the probability.
        """
        n = len(self.weights)
        if self.reach < 0:
            share = -math.inf
        elif self.weights.max() == 1:
            share = float(log_tail(np.array([n - self.reach]), np.array([n]))[0])
        elif self.work == self._works[0]:
            share = _by_lists(self.weights, self.reach)
        elif self.work == self._works[1]:
            share = log_subset_share(self.weights, self.reach)
        else:
            share = _by_transform(self.weights, self.reach)
        return math.log1p(-math.exp(share)) if self.is_rest else share

    @cached_property
    def _works(self) -> tuple[float, float, float]:
        """The costs of lists of all sums, of adding up counts, and of a transform."""
        n = len(self.weights)
        listed = _ELEMENT * 2.0 ** (-(-n // 2)) if n <= LISTED else math.inf
        return listed, _counting_work(self.weights, self.reach), window_work(self.weights[:, None] * (1, 0))


def least_work(n: Ints) -> Floats:
    """Return a lower bound on the cost of the tail of n weights, [...], unless they are all equal."""
    listed = np.where(n <= LISTED, _ELEMENT * 2.0 ** (np.minimum(n, LISTED) // 2), math.inf)
    return np.asarray(np.minimum(np.minimum(listed, STEP * n), OVERHEAD))


def log_sign_tail(weights: Ints, threshold: int) -> float:
    """Return the natural logarithm of P(sum of ±weights >= threshold), with equally likely signs.

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

    This is for fine lattices, such as that of scores with many digits (Horowitz and Sahni 1974); Pagano and Tritchler's
    method is for coarse ones.
    """
    sums = []
    for half in (weights[::2], weights[1::2]):
        subset_sums = np.zeros(1, dtype=np.int64)
        for weight in half:
            subset_sums = np.concatenate([subset_sums, subset_sums + weight])
        sums.append(np.sort(subset_sums))
    enough = np.searchsorted(sums[0], reach - sums[1][::-1], side="right")  # in rising order: near in memory
    return math.log(int(enough.sum())) - len(weights) * math.log(2)


def _by_transform(weights: Ints, reach: int) -> float:
    """Transform a window of a tilted distribution."""
    start = int(weights.sum()) - reach  # of the region, which has no end
    return log_probability(weights[:, None] * (1, 0), Region(lambda _: start, lambda rows: np.full(len(rows), start)))




LARGEST = 2**30  # of the sums of numerators and denominators: products of two then fit into 64 bits
_SAMPLE = 8  # units that show a fine lattice
_ROUNDING = 2.0**-45  # of 12 products of four sums each at most, with 10 roundings of 2^-53


def tail_on_lattice(observed: Observed, settings: Settings, most: float = MOST_WORK) -> Tail | None:
    """Return the exact tail of a pair; None if its score is not a quotient of whole sums, or its lattice is too large.

    Args:
        observed: The pair.
        settings: Settings of the test.
        most: Limit on the additions if the lattice has one dimension (`_Swaps.work`).
    """
    if (swaps := _Swaps.of(observed)) is None:
        return None
    if not len(swaps.moves):  # the differences do not enter this score
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
        else:  # at least as extreme as a difference that points the other way: all sums except those above it
            log_p = math.log1p(-math.exp(swaps.log_tail(beyond=True)))
    except TooLargeError:
        return None
    return Tail(log_p, "exact", coins=observed.n_discordant)


def lattice_work(observed: Observed, most: float = MOST_WORK) -> float:
    """Return the cost of the exact tail of a pair in additions; infinite if it has none (`tail_on_lattice`)."""
    swaps = _Swaps.of(observed)
    return math.inf if swaps is None else swaps.work(most)


def are_surely_fine(pairs: ObservedPairs) -> Flags:
    """Flag pairs whose lattice of differences is surely too fine, judging by a few units, [pairs]."""
    matrix, a, b = pairs.matrix, pairs.a, pairs.b
    if matrix.quotient is None:
        return np.zeros(len(pairs), dtype=bool)
    bar = 2 * HOPELESS * MAX_WORK / 9
    products = reduce(np.add, (numerators.T @ numerators for numerators, _ in matrix.parts_by_block()))
    squares = products[a, a] + products[b, b] - 2 * products[a, b]
    candidates = np.flatnonzero((squares > bar**2) & (pairs.n_discordant > LISTED))
    numerators = next(matrix.parts_by_block())[0][:_SAMPLE]
    few = np.rint(numerators[:, a[candidates]] - numerators[:, b[candidates]]).astype(np.int64)
    steps = np.maximum(1, np.gcd.reduce(few, axis=0))
    fine = np.zeros(len(pairs), dtype=bool)
    fine[candidates] = squares[candidates] > (bar * steps) ** 2
    return fine


class _Swaps:
    """Swaps of a pair's units, and the rejection region of the difference of its two quotients n / d.

    With B = (u, w) the sum of the moves of the units that are not swapped, the better system has the quotient
    (n_worse + u) / (d_worse + w), and the other one (n_better - u) / (d_better - w). Their difference reaches the
    observed one where u is at least a threshold that depends on w. It is compared in whole numbers, since two
    differences can be closer than rounding.

    Attributes:
        sign: 1 if the first system has the larger quotient, -1 if the second has, 0 if they are equal.
        moves: Differences of the units' parts, better less worse, without zeros, [moves, 2].
    """

    def __init__(self, numerators: Ints, denominators: Ints) -> None:
        (over_a, over_b), (under_a, under_b) = (map(int, side.sum(axis=0)) for side in (numerators, denominators))
        excess = over_a * under_b - over_b * under_a
        self.sign = (excess > 0) - (excess < 0)
        self.better = (over_a, under_a) if self.sign >= 0 else (over_b, under_b)
        self.worse = (over_b, under_b) if self.sign >= 0 else (over_a, under_a)
        self.excess = abs(excess)
        self.beyond = False
        moves = np.stack([part[:, 0] - part[:, 1] for part in (numerators, denominators)], axis=1)
        self.moves = moves[moves.any(axis=1)] * (1 if self.sign >= 0 else -1)
        self.steps = (common_divisor(self.moves[:, 0]), common_divisor(self.moves[:, 1]))

    @classmethod
    def of(cls, observed: Observed) -> _Swaps | None:
        """Make the swaps of a pair; None if its parts are not whole, or too large."""
        if observed.matrix.quotient is None or (whole := observed.matrix.whole_parts(observed.pair)) is None:
            return None
        numerators, denominators = whole
        size = np.abs(numerators).sum() + np.abs(denominators).sum()
        if (denominators[:, 0] != denominators[:, 1]).any() and size > LARGEST:
            return None
        return cls(numerators, denominators)

    @cached_property
    def line(self) -> Ints | None:
        """All moves as multiples of one vector, or None if they are not on a line."""
        if not self.moves[:, 1].any():
            return self.moves[:, 0]
        first = self.moves[0] // common_divisor(self.moves[0])
        if (self.moves[:, 0] * first[1] != self.moves[:, 1] * first[0]).any():
            return None
        multiples: Ints = self.moves @ first // int(first @ first)
        return multiples

    def work(self, most: float) -> float:
        """Return the cost of `log_tail` in additions; infinite if it has none.

        On a line it is also infinite above `most`. In two dimensions it is an upper bound, far above the cost of most
        tilted windows, and not compared with `most`.
        """
        if not len(self.moves):
            return 0.0
        if self.line is None:
            return window_work(self.moves // np.array(self.steps))
        return self._along.work if self._along.work <= most else math.inf

    def log_tail(self, *, beyond: bool = False) -> float:
        """Return log P(the difference after random swaps is at least the observed one, or `beyond` it)."""
        if self.worse[1] + int(np.minimum(self.moves[:, 1], 0).sum()) <= 0:
            raise TooLargeError  # some swaps leave a quotient undefined: not for this region
        if self.line is not None:
            numerators, denominators = (b + w for b, w in zip(self.better, self.worse, strict=True))
            if int(self.moves[0, 0]) * denominators == int(self.moves[0, 1]) * numerators:  # the scores do not change
                return -math.inf if beyond else 0.0
            return (SignTail.of(self.line, abs(int(self.line.sum())) + 1) if beyond else self._along).log_p()
        self.beyond = beyond
        log_p = log_probability(self.moves // np.array(self.steps), Region(self.threshold, self.thresholds))
        if log_p == -math.inf and not beyond:
            raise TooLargeError  # the observed sums are in the region, so this is rounding
        return log_p

    @cached_property
    def _along(self) -> SignTail:
        """The tail if all moves are on a line, along which the difference grows."""
        assert self.line is not None
        return SignTail.of(self.line, abs(int(self.line.sum())))

    def threshold(self, row: float) -> float:
        numerator, denominator = self._compute_limit(row * self.steps[1])
        return float(numerator / denominator)

    def thresholds(self, rows: Ints) -> Ints:
        """Round quotients; those near a whole number are recomputed in whole numbers."""
        numerator, denominator = self._compute_limit(rows * float(self.steps[1]))
        bounds = numerator / float(denominator)
        error = _ROUNDING * max(map(abs, self.better + self.worse)) ** 4 / denominator
        first: Ints = (np.floor(bounds) + 1 if self.beyond else np.ceil(bounds)).astype(np.int64)
        for n in np.flatnonzero(np.abs(bounds - np.rint(bounds)) <= error).tolist():
            numerator, denominator = self._compute_limit(int(rows[n]) * self.steps[1])
            first[n] = numerator // denominator + 1 if self.beyond else -(-numerator // denominator)
        return first

    def _compute_limit(self, w: Any) -> tuple[Any, Any]:
        """Return the least u at a given w, in steps, as a fraction."""
        (numerator, denominator), (numerator_w, denominator_w) = self.better, self.worse
        denominator_product = self.excess * (denominator_w + w) * (denominator - w)
        numerator_difference = numerator * (denominator_w + w) - numerator_w * (denominator - w)
        return (denominator_product + numerator_difference * denominator * denominator_w,
                (denominator + denominator_w) * denominator * denominator_w * self.steps[0])
