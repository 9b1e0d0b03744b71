"""Exact tail probabilities of sums of whole numbers with random signs: the permutation test in one dimension.

The sum of ±weights is at least a threshold where the weights with a minus sign add up to no more than a bar. Four ways
to find the share of such subsets of the weights are as exact as each other; the one that costs least is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from registry.arrays import Floats, Ints
from registry.significance.distributions.fair_coins import log_tail
from registry.significance.exact import subset_counts
from registry.significance.exact.lattice import OVERHEAD, Region, TooLargeError, log_probability, window_work
from registry.significance.matrix import common_divisor

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
            return subset_counts.log_share(self.weights, self.reach)
        return _by_transform(self.weights, self.reach)

    @property
    def _are_coins(self) -> bool:
        return int(self.weights.max()) == 1

    @cached_property
    def _works(self) -> tuple[float, float, float]:
        """The cost of the lists of all sums, of adding up counts, and of a transform."""
        n = len(self.weights)
        listed = _ELEMENT * 2.0 ** (-(-n // 2)) if n <= LISTED else math.inf
        return listed, subset_counts.work(self.weights, self.reach), window_work(_on_axis(self.weights))


def least_work(n: Ints) -> Floats:
    """The least that the tail of so many weights costs, [...], unless they are all the same."""
    listed = np.where(n <= LISTED, _ELEMENT * 2.0 ** (np.minimum(n, LISTED) // 2), math.inf)
    return np.asarray(np.minimum(np.minimum(listed, subset_counts.STEP * n), OVERHEAD))


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
