"""Exact tail probabilities of sums of whole numbers with random signs: the permutation test in one dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.significance.distributions.fair_coins import log_coins
from registry.significance.exact import lattice
from registry.significance.exact.half_sums import Ints
from registry.significance.exact.lattice import TooLargeError, is_short, log_probability

HALVES = 32  # weights up to which all sums of either half are listed


def log_sign_tail(weights: Ints, threshold: int) -> float:
    """The natural logarithm of P(sum of ±weights >= threshold), each sign equally likely.

    Args:
        weights: Whole numbers; their signs and zeros do not matter.
        threshold: A whole number.

    Returns:
        The logarithm, with an error of the probability of about 1e-13 relative to it; -inf where it is impossible.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct weights.
    """
    weights = np.abs(weights[weights != 0])
    if not weights.size:
        return 0.0 if threshold <= 0 else -math.inf
    if len(weights) > HALVES and is_fine(weights):
        raise TooLargeError
    common = int(np.gcd.reduce(weights))
    weights = weights // common
    total = int(weights.sum())
    start = (total + -(-threshold // common) + 1) // 2  # the sum is 2 B - total, in units of the common factor
    if start > total:
        return -math.inf
    if start <= 0:
        return 0.0
    if weights.max() == 1:  # fair coins
        return _by_coins(len(weights), start)
    if len(weights) <= HALVES and len(weights) * total > lattice.SMALL:
        return _by_halves(weights, start)
    if is_short(weights):
        return _by_convolved_halves(weights, start)
    vectors = np.stack([weights, np.zeros_like(weights)], axis=1)
    if 2 * start > total:
        return log_probability(vectors, _HalfLine(start))
    # below the middle the tail is the complement of one above it, and loses nothing
    return math.log1p(-math.exp(log_probability(vectors, _HalfLine(total - start + 1))))


def _by_coins(n: int, start: int) -> float:
    """Log P(X >= start) for X binomial(n, 1/2)."""
    for_a, for_b = (np.array([count]) for count in (start, n - start))
    return float(log_coins(for_a, for_b, "greater")[0])


def is_fine(weights: Ints) -> bool:
    """Whether some of more than `HALVES` weights show that their lattice is too fine to be computed on."""
    is_wide = 9 * np.linalg.norm(weights) > lattice.HOPELESS * lattice.MAX_WORK
    return bool(is_wide and np.gcd.reduce(weights[weights != 0][:8]) == 1)


def _by_halves(weights: Ints, start: int) -> float:
    """List the sums of each half of the weights, and count the pairs of sums that reach `start`.

    This is for fine lattices, such as that of scores with all their digits (Horowitz and Sahni 1974; Pagano and
    Tritchler's method is for coarse ones).
    """
    sums = []
    for half in (weights[::2], weights[1::2]):
        found = np.zeros(1, dtype=np.int64)
        for weight in half:
            found = np.concatenate([found, found + weight])
        sums.append(np.sort(found))
    below = np.searchsorted(sums[0], start - sums[1][::-1], side="left")  # in rising order: near in memory
    return math.log(int((len(sums[0]) - below).sum())) - len(weights) * math.log(2)


def _by_convolved_halves(weights: Ints, start: int) -> float:
    """Convolve the weights of each half, and pair the sums that reach `start`.

    Nothing is subtracted, so tails keep all digits. Small weights come first, to keep the sums few.
    """
    halves = []
    for half in (weights[::2], weights[1::2]):
        masses = np.zeros(int(half.sum()) + 1)
        masses[0], last = 1.0, 0
        for weight in np.sort(half).tolist():
            masses[:last + 1] *= 0.5
            masses[weight:weight + last + 1] += masses[:last + 1].copy()
            last += weight
        halves.append(masses)
    tails = np.append(np.cumsum(halves[1][::-1])[::-1], 0.0)  # P(the second half's sum >= n)
    needed = np.clip(start - np.arange(len(halves[0])), 0, len(halves[1]))
    tail = float(halves[0] @ tails[needed])
    return math.log(tail) if tail > 0 else -math.inf


@dataclass(frozen=True)
class _HalfLine:
    """The region of one dimension: everything from `start` on."""

    start: int

    def threshold(self, row: float) -> float:  # noqa: ARG002
        return self.start

    def thresholds(self, rows: Ints) -> Ints:
        return np.full(len(rows), self.start)
