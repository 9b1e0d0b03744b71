"""The exact permutation test for sums and quotients of whole numbers.

If two systems are swapped in some units, the two sums of a quotient move on a lattice. The lattice has one dimension if
both systems share the denominators, or if all moves are multiples of one vector. In one dimension the question is: what
is the probability that a sum of weights with random signs reaches a threshold? This is the share of subsets of the
weights with a small sum. Several algorithms compute that share with the same accuracy, and the fastest one is used.
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
    estimate_cost,
    log_probability,
)
from registry.significance.matrix import common_divisor

MOST = 1000  # largest number of weights in a half, because counts must not overflow a float

_LARGEST = 2**23  # largest number of sums of a half: 64 MiB
_AT_ONCE = 2**14  # counts that are added in one step, so that they stay in the cache
_BLOCK = 1024  # counts in one block of a cumulative sum
STEP, _JOIN = 2e4, 16  # extra cost of a weight, and cost of a sum when both halves are joined, in additions


def log_subset_share(weights: Ints, reach: int) -> float:
    """Return the log share of the subsets of some weights with a sum up to `reach`.

    The weights are divided into two halves, and the subsets of each half are counted by their sums (dynamic
    programming). Then every sum of one half is combined with the sums of the other half that are small enough.

    Counts are whole numbers and exact below 2^53, so for up to 53 weights. With more weights each addition rounds by at
    most 2^-53. Nothing is subtracted, so the relative error of the result is at most 2^-53 times the number of
    successive additions: `MOST` for the counts of either half, 2 `_BLOCK` and a few for the cumulative sums, and 40 for
    the last sum, which numpy computes pairwise. Together this is less than 1e-12.

    Args:
        weights: Whole numbers from 1 up; at most 2 `MOST` weights.
        reach: A whole number from 0 up.
    """
    first, second = (_count_subsets(half, reach) for half in _split_halves(weights))
    n_first, n_second = len(weights) - len(weights) // 2, len(weights) // 2
    np.ldexp(first, -n_first, out=first)  # prevents overflow of products
    up_to = _cumulate(second)
    every = max(0, reach - len(up_to) + 1)  # sums to which every sum of the other half can be added
    partners = up_to[max(0, reach - len(first) + 1):reach - every + 1][::-1]
    total = float((first[every:] * partners).sum()) + float(first[:every].sum()) * float(up_to[-1])
    mantissa, exponent = math.frexp(total)
    return math.log(mantissa) + (exponent - n_second) * math.log(2)


def _estimate_subset_cost(weights: Ints, reach: int) -> float:
    if len(weights) > 2 * MOST or min(reach, int(weights.sum()) // 2) > _LARGEST:
        return math.inf
    cells = sum(float(np.minimum(np.cumsum(half) / 2, reach).sum() + _JOIN * min(reach, half.sum()))
                for half in _split_halves(weights))
    return cells + STEP * len(weights)


def _split_halves(weights: Ints) -> tuple[Ints, Ints]:
    # ascending order keeps the number of different sums small
    in_order = np.sort(weights)
    return in_order[::2], in_order[1::2]


def _count_subsets(weights: Ints, reach: int) -> Floats:
    """Return the number of subsets of the weights with the sum 0, 1, ..., `reach`.

    The counts end at the sum of all weights if that is smaller.
    """
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
    # as many subsets have the sum s as have the sum total - s
    middle = min(total // 2, reach)
    if end > middle:
        counts[middle + 1:end + 1] = counts[total - end:total - middle][::-1]


def _cumulate(counts: Floats) -> Floats:
    """Compute cumulative sums in blocks, so that each result needs few additions."""
    if len(counts) <= _BLOCK:
        return np.cumsum(counts)
    rows = np.zeros((-(-len(counts) // _BLOCK), _BLOCK))
    rows.ravel()[:len(counts)] = counts
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += _cumulate(rows[:-1, -1])[:, None]
    return rows.ravel()[:len(counts)]


MOST_WORK = 2**33  # additions, about 2 s; simulation is used for more expensive pairs
LISTED = 44  # largest number of weights for which all sums of either half may be listed: 32 MiB

_ELEMENT = 160  # cost of a listed sum, in additions


@dataclass(frozen=True, eq=False)
class SignTail:
    """Probability that a sum of weights with random signs reaches a threshold.

    The sum is large if the weights with a minus sign have a small sum. So the probability is a share of all subsets of
    the weights: those with a small sum.

    Attributes:
        weights: Whole numbers from 1 up, without a common divisor.
        reach: Largest sum that counts as small; -1 if there is none.
        is_rest: True if the probability is 1 minus this share.
    """

    weights: Ints
    reach: int
    is_rest: bool

    @classmethod
    def prepare(cls, weights: Ints, threshold: int) -> SignTail:
        """Prepare the probability that a sum of weights with random signs is large.

        The signs of the given weights do not matter, and weights of 0 are dropped.

        Args:
            weights: Whole numbers.
            threshold: The least sum that counts as large.
        """
        weights = np.abs(weights[weights != 0])
        common = common_divisor(weights)
        weights = weights // common
        total = int(weights.sum())
        start = (total + -(-threshold // common) + 1) // 2  # the sum is 2 B - total, divided by the common divisor
        is_rest = 2 * start <= total
        return cls(weights, max(-1, start - 1 if is_rest else total - start), is_rest)

    @cached_property
    def work(self) -> float:
        """Estimated cost of `log_p` in additions of about 0.25 ns each."""
        if self.reach < 0 or self.weights.max() == 1:
            return OVERHEAD / 100
        return min(self._works)

    def log_p(self) -> float:
        """Return the natural logarithm of the probability; -inf if it is 0.

        The relative error of the probability is 1e-12.

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
        """Estimated costs of three algorithms for the probability, in additions.

        The first one lists the sums of all subsets, the second one counts subsets by their sum, and the third one uses
        a Fourier transform.
        """
        n = len(self.weights)
        listed = _ELEMENT * 2.0 ** (-(-n // 2)) if n <= LISTED else math.inf
        return listed, _estimate_subset_cost(self.weights, self.reach), estimate_cost(self.weights[:, None] * (1, 0))


def least_work(n: Ints) -> Floats:
    """Return the least cost of an exact permutation test of n items, in additions.

    This quick estimate uses only the number of items. It assumes that the systems differ by different amounts in the
    items; otherwise the test is cheaper.

    Args:
        n: Numbers of items or clusters, of any shape.
    """
    listed = np.where(n <= LISTED, _ELEMENT * 2.0 ** (np.minimum(n, LISTED) // 2), math.inf)
    return np.asarray(np.minimum(np.minimum(listed, STEP * n), OVERHEAD))


def log_sign_tail(weights: Ints, threshold: int) -> float:
    """Return the log probability that a sum of weights with random signs is large.

    The result is log P(sum of ±weights >= threshold).

    Args:
        weights: Whole numbers; their signs and zeros do not matter.
        threshold: A whole number.

    Raises:
        TooLargeError: The computation needs more than `MOST_WORK`, or rounding hides the probability.
    """
    tail = SignTail.prepare(weights, threshold)
    if tail.work > MOST_WORK:
        raise TooLargeError
    return tail.log_p()


def _by_lists(weights: Ints, reach: int) -> float:
    """Return the log share of subsets of the weights with a sum up to `reach`.

    The sums of all subsets are listed for each half of the weights, and pairs of sums that are small enough are counted
    (Horowitz and Sahni 1974). This suits large weights, such as those of scores with many digits.
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
    start = int(weights.sum()) - reach  # first point of the region
    return log_probability(weights[:, None] * (1, 0), Region(lambda _: start, lambda rows: np.full(len(rows), start)))




LARGEST = 2**30  # limit on sums of numerators and denominators: a product of two fits into 64 bits
_SAMPLE = 8  # units that are sufficient to detect a fine lattice
_ROUNDING = 2.0**-45  # relative error of at most 12 products of four sums each, with 10 roundings of 2^-53


def tail_on_lattice(observed: Observed, settings: Settings, most: float = MOST_WORK) -> Tail | None:
    """Return the exact p-value of the permutation test of two systems.

    A permutation swaps the outputs of the two systems in some items. Permutations with the same sums are counted
    together. The score must be a quotient of sums of whole numbers, and the sums must not take too many values.

    Args:
        observed: The pair of systems.
        settings: Settings of the test.
        most: Largest cost in additions if one number per swap is sufficient.

    Returns:
        The p-value, or None if it cannot be computed.
    """
    if (swaps := _Swaps.from_pair(observed)) is None:
        return None
    if not len(swaps.moves):  # the score does not depend on the differences
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
        else:  # the difference favours the other system: all sums are as extreme, except those above it
            log_p = math.log1p(-math.exp(swaps.log_tail(beyond=True)))
    except TooLargeError:
        return None
    return Tail(log_p, "exact", coins=observed.n_discordant)


def estimate_counting_cost(observed: Observed, most: float = MOST_WORK) -> float:
    """Estimate the cost of `tail_on_lattice` in additions.

    The result is infinite if that function returns None.
    """
    swaps = _Swaps.from_pair(observed)
    return math.inf if swaps is None else swaps.work(most)


def have_surely_many_sums(pairs: ObservedPairs) -> Flags:
    """Flag pairs of systems for which an exact permutation p-value is too expensive.

    The cost depends on the number of different sums of all permutations. A few items are sufficient for this quick
    check; `tail_on_lattice` finds the other cases.
    """
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
    """Exact distribution of the difference of two systems' scores under permutations.

    A permutation swaps the two systems in some units (items or clusters). The scores are quotients of sums of whole
    numbers. Each swap changes the numerator and the denominator of a score; the change is called a move. Let (u, w) be
    the sum of the moves of all units that are not swapped. The permutation is extreme if u is at least a threshold that
    depends on w.

    Attributes:
        sign: 1 if the first system has the larger quotient, -1 if the second one has, 0 if the quotients are equal.
        moves: Numerator and denominator of the better system minus those of the worse one in each unit, without zero
            rows, [moves, 2].
    """
    # The better system has the quotient (n_better - u) / (d_better - w), and the worse one (n_worse + u) / (d_worse +
    # w). They are compared in whole numbers, since two differences can be closer than the rounding error.

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
    def from_pair(cls, observed: Observed) -> _Swaps | None:
        """Prepare the distribution of a pair of systems.

        The result is None if numerators or denominators are not whole or too large.
        """
        if observed.matrix.quotient is None or (whole := observed.matrix.whole_parts(observed.pair)) is None:
            return None
        numerators, denominators = whole
        size = np.abs(numerators).sum() + np.abs(denominators).sum()
        if (denominators[:, 0] != denominators[:, 1]).any() and size > LARGEST:
            return None
        return cls(numerators, denominators)

    @cached_property
    def line(self) -> Ints | None:
        """The changes of the scores by each swap, if one number per swap is sufficient.

        A swap changes the numerator and the denominator of a score. If all changes are multiples of the same vector,
        the value has the multiples; otherwise it is None.
        """
        if not self.moves[:, 1].any():
            return self.moves[:, 0]
        first = self.moves[0] // common_divisor(self.moves[0])
        if (self.moves[:, 0] * first[1] != self.moves[:, 1] * first[0]).any():
            return None
        multiples: Ints = self.moves @ first // int(first @ first)
        return multiples

    def work(self, most: float) -> float:
        """Estimate the cost of `log_tail` in additions; infinite if it is impossible.

        If one number per swap is sufficient (`line`), the cost is also infinite if it exceeds `most`. Otherwise the
        result is an upper bound and is not compared with `most`, because the computation usually costs far less.
        """
        if not len(self.moves):
            return 0.0
        if self.line is None:
            return estimate_cost(self.moves // np.array(self.steps))
        return self._sign_tail.work if self._sign_tail.work <= most else math.inf

    def log_tail(self, *, beyond: bool = False) -> float:
        """Return the log probability that random swaps reach the observed difference.

        Args:
            beyond: True: the probability of a larger difference, without equal ones.
        """
        if self.worse[1] + int(np.minimum(self.moves[:, 1], 0).sum()) <= 0:
            raise TooLargeError  # some swaps make a quotient undefined
        if self.line is not None:
            numerators, denominators = (b + w for b, w in zip(self.better, self.worse, strict=True))
            if int(self.moves[0, 0]) * denominators == int(self.moves[0, 1]) * numerators:  # the scores do not change
                return -math.inf if beyond else 0.0
            return (SignTail.prepare(self.line, abs(int(self.line.sum())) + 1) if beyond else self._sign_tail).log_p()
        self.beyond = beyond
        log_p = log_probability(self.moves // np.array(self.steps), Region(self.threshold, self.thresholds))
        if log_p == -math.inf and not beyond:
            raise TooLargeError  # the observed sums are in the region, so this is rounding
        return log_p

    @cached_property
    def _sign_tail(self) -> SignTail:
        assert self.line is not None
        return SignTail.prepare(self.line, abs(int(self.line.sum())))

    def threshold(self, row: float) -> float:
        numerator, denominator = self._compute_limit(row * self.steps[1])
        return float(numerator / denominator)

    def thresholds(self, rows: Ints) -> Ints:
        """Return the least extreme sum u of numerators for each sum w of denominators.

        A permutation is extreme if the difference of the scores reaches the observed one. Both sums are numbers of
        steps. Results that are close to a whole number are recomputed in whole numbers.

        Args:
            rows: Values of w.
        """
        numerator, denominator = self._compute_limit(rows * float(self.steps[1]))
        bounds = numerator / float(denominator)
        error = _ROUNDING * max(map(abs, self.better + self.worse)) ** 4 / denominator
        first: Ints = (np.floor(bounds) + 1 if self.beyond else np.ceil(bounds)).astype(np.int64)
        for n in np.flatnonzero(np.abs(bounds - np.rint(bounds)) <= error).tolist():
            numerator, denominator = self._compute_limit(int(rows[n]) * self.steps[1])
            first[n] = numerator // denominator + 1 if self.beyond else -(-numerator // denominator)
        return first

    def _compute_limit(self, w: Any) -> tuple[Any, Any]:
        # the least extreme u for the given w, in steps, as numerator and denominator
        (numerator, denominator), (numerator_w, denominator_w) = self.better, self.worse
        denominator_product = self.excess * (denominator_w + w) * (denominator - w)
        numerator_difference = numerator * (denominator_w + w) - numerator_w * (denominator - w)
        return (denominator_product + numerator_difference * denominator * denominator_w,
                (denominator + denominator_w) * denominator * denominator_w * self.steps[0])
