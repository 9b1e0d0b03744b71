"""The exact distribution of a sum of random signs times whole numbers, with tails right in relative terms.

The sum of ±w_i, each sign equally likely, is 2 B - S with B the sum of b_i w_i (b_i in {0, 1}) and S that of the w_i.
Its distribution is read off its characteristic function by one Fourier transform. A transform is exact to rounding
relative to the *largest* probability, so the distribution is first tilted, P(s) = exp(K - lambda s) P_lambda(s), such
that the point asked for becomes the likely one (Siegmund 1976, "Importance sampling in the Monte Carlo study of
sequential tests", gives the tilt; the field's shift algorithms, Pagano and Tritchler 1983, "On obtaining permutation
distributions in polynomial time", the transform). Only a window around that point is transformed; what lies outside
folds into it and is bounded by Chernoff's inequality, and the window grows until the bound is below 1e-14 of the tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.significance.matrix import Floats

MAX_WORK = 2**25  # cells of the transform times distinct weights; beyond it Monte Carlo is the better answer


class TooLargeError(Exception):
    """The lattice has more cells than are worth transforming."""


def log_tail(weights: NDArray[np.int64], threshold: int) -> float:
    """The natural logarithm of P(sum of ±weights >= threshold).

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
    common = int(np.gcd.reduce(weights))
    values, counts = np.unique(weights // common, return_counts=True)
    total = int(values @ counts)
    # sum >= threshold, by symmetry sum <= -threshold, is B <= (total - threshold) / 2
    at_most = (total - -(-threshold // common)) // 2
    if at_most < 0:
        return -math.inf
    if at_most >= total:
        return 0.0
    tilted = _Tilted(values.astype(np.float64), counts.astype(np.float64))
    if 2 * at_most < total:
        return tilted.log_lower_tail(at_most)
    # above the middle the tail is the complement of one below it, and loses nothing
    return math.log1p(-math.exp(tilted.log_lower_tail(total - at_most - 1)))


@dataclass(frozen=True, eq=False)
class _Tilted:
    """B = sum of b_i w_i with `counts[j]` weights of the value `values[j]`, under tilts exp(-rate B)."""

    values: Floats
    counts: Floats

    def log_moment(self, rate: float) -> float:
        """K(rate) = log E exp(-rate B)."""
        exponents = -rate * self.values
        # log((1 + e^x) / 2), without cancellation near 0, where x times the count of weights still matters
        terms = np.maximum(exponents, 0) + np.log1p(np.expm1(-np.abs(exponents)) / 2)
        return float(self.counts @ terms)

    def probabilities(self, rate: float) -> Floats:
        """P(b_i = 1) under the tilt, for each value."""
        return np.exp(-np.logaddexp(0, rate * self.values))

    def rate_for(self, mean: float) -> float:
        """The tilt under which the mean of B is `mean`, inside its range; to a few digits, which is all it needs."""
        low, high = -1.0, 1.0
        while self._mean(high) > mean:
            low, high = high, 2 * high
        while self._mean(low) < mean:
            low, high = 2 * low, low
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self._mean(middle) > mean else (low, middle)
        return (low + high) / 2

    def _mean(self, rate: float) -> float:
        return float(self.counts * self.values @ self.probabilities(rate))

    def log_lower_tail(self, at_most: int) -> float:
        """Log P(B <= at_most), for a point below the middle."""
        total = int(self.counts @ self.values)
        rate = self.rate_for(max(at_most, 0.5))
        inside = self.probabilities(rate)
        deviation = math.sqrt(float(self.counts * self.values**2 @ (inside * (1 - inside))))
        reach = 10 * deviation + 20
        while True:
            below, above = (min(int(reach), room) for room in (at_most, total - at_most))
            if (below + above + 1) * len(self.values) > MAX_WORK:
                raise TooLargeError
            masses = self._window(rate, at_most, below, above)
            # masses[j] is P_rate(B = at_most - j): undo the tilt, relative to the point
            tail = float(masses @ np.exp(-rate * np.arange(below + 1)))
            outside = self._log_outside(rate, at_most, below, above, total)
            if tail > 0 and outside < math.log(tail) + math.log(1e-14):
                return min(0.0, self.log_moment(rate) + rate * at_most + math.log(tail))
            reach *= 1.5

    def _log_outside(self, rate: float, at: int, below: int, above: int, total: int) -> float:
        """Chernoff's bound on log P_rate(B outside [at - below, at + above])."""
        low = high = -math.inf
        base = self.log_moment(rate)
        if below < at:
            edge = at - below - 1
            other = self.rate_for(max(edge, 0.5))
            low = self.log_moment(other) - base + (other - rate) * edge
        if above < total - at:
            edge = at + above + 1
            other = self.rate_for(min(edge, total - 0.5))
            high = self.log_moment(other) - base + (other - rate) * edge
        return float(np.logaddexp(low, high))

    def _window(self, rate: float, at: int, below: int, above: int) -> Floats:
        """P_rate(B = at - j) for j = 0 .. below, folded modulo the window's size."""
        size = below + above + 1
        inside = self.probabilities(rate)
        frequencies = np.arange(size // 2 + 1)
        log_modulus = np.zeros(len(frequencies))
        phase = -_angle(frequencies, at, size)
        for value, count, p in zip(self.values, self.counts, inside, strict=True):
            angle = _angle(frequencies, int(value), size)
            with np.errstate(divide="ignore"):  # a modulus of 0 is exact: its logarithm is -inf
                log_modulus += count / 2 * np.log1p(-4 * p * (1 - p) * np.sin(angle / 2) ** 2)
            phase += count * np.arctan2(p * np.sin(angle), 1 - p + p * np.cos(angle))
        return np.fft.irfft(np.exp(log_modulus + 1j * phase), size)[: below + 1]


def _angle(frequencies: NDArray[np.int64], multiple: int, size: int) -> Floats:
    """2 pi frequency multiple / size, reduced exactly into (-pi, pi]."""
    residues = frequencies * (multiple % size) % size
    return np.where(2 * residues > size, residues - size, residues) * (2 * math.pi / size)
