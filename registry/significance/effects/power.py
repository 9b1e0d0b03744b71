"""The power of a test of one pair, and its type S and type M errors.

A design is a test at a level with everything that its power depends on, except for the true difference and the number
of units. It is McNemar's exact test where units are right or wrong, and Student's where the score is the mean of units,
both without draws; for other scores it is made of the bootstrap's draws, shifted by the difference.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from registry.arrays import Floats
from registry.significance.distributions import quantile_levels

MOST = 10**8  # units, beyond which no test set is planned


@dataclass(frozen=True, slots=True)
class Power:
    """The power and the errors of a test, given the true difference.

    Attributes:
        power: The probability of a significant result.
        wrong_sign: The share of significant results that favour the worse system (type S error).
        exaggeration: The mean size of significant differences over the true one (type M error).
            (Gelman and Carlin 2014; nan where nothing can be significant.)
    """

    power: float
    wrong_sign: float
    exaggeration: float

    @classmethod
    def of(cls, right: float, wrong: float, size: float, difference: float) -> Power:
        """From the probabilities of either significant result and the mean of |difference| over both."""
        power = right + wrong
        if not power:
            return cls(0.0, math.nan, math.nan)
        return cls(power, wrong / power, size / power / difference if difference else math.inf)


@dataclass(frozen=True, eq=False)
class Design:
    """A two-sided test of one pair at the level `alpha`."""

    alpha: float

    @abstractmethod
    def at(self, difference: float, units: int) -> Power:
        """The power for a true `difference` (from 0 up) on so many units."""

    def detectable(self, units: int, power: float) -> float:
        """The smallest true difference that is detected with this power; nan where there is none."""
        from scipy.optimize import brentq

        def short(difference: float) -> float:
            return self.at(difference, units).power - power

        if short(0.0) >= 0:
            return 0.0
        most = self.largest
        if math.isinf(most):
            most = self.scale(units)
            while short(most) < 0:
                most *= 2
        elif not short(most) >= 0:
            return math.nan
        return float(brentq(short, 0.0, most, xtol=1e-9 * most))

    def needed(self, difference: float, power: float) -> int | None:
        """The smallest number of units with which this true difference is detected with this power; None beyond `MOST`.

        The power of an exact test is not monotonic in the units; bisection finds a number that has the power where one
        less has not.
        """
        if not 0 < difference <= self.largest:
            return None
        low, high = 1, 2
        while not self.at(difference, high).power >= power:
            low, high = high, 2 * high
            if high > MOST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(difference, middle).power >= power else (middle, high)
        return high

    @property
    def largest(self) -> float:
        """The largest difference that can be."""
        return math.inf

    @abstractmethod
    def scale(self, units: int) -> float:
        """About the standard error of the difference."""


@dataclass(frozen=True, eq=False)
class ExactMcNemar(Design):
    """McNemar's exact test, where only one system is right in a share `discordance` of the units.

    The power is summed over all outcomes: the discordant units are binomial, and given their number those that favour
    the better system are. With a difference above the discordance, all discordant units favour it.
    """

    discordance: float
    largest = 1.0

    def scale(self, units: int) -> float:
        """As if the difference were small."""
        return math.sqrt(self.discordance / units)

    def at(self, difference: float, units: int) -> Power:
        """Add up over the numbers of discordant units that are not too unlikely (1e-13 on either side)."""
        return _mcnemar(units, max(self.discordance, difference), difference, self.alpha)


@lru_cache(maxsize=4096)
def _mcnemar(n: int, discordance: float, difference: float, alpha: float) -> Power:
    from scipy.stats import binom

    if not discordance:
        return Power(0.0, math.nan, math.nan)
    p = min(1.0, (1 + difference / discordance) / 2)
    m = np.arange(int(binom.ppf(1e-13, n, discordance)), int(binom.isf(1e-13, n, discordance)) + 1)
    weights = binom.pmf(m, n, discordance)
    least = binom.isf(alpha / 2, m, 0.5) + 1  # the least count of the better one that is significant
    above, below = binom.sf(least - 1, m, p), binom.cdf(m - least, m, p)
    fewer = np.maximum(m - 1, 0)
    means = (2 * p * binom.sf(least - 2, fewer, p) - above) + (below - 2 * p * binom.cdf(m - least - 1, fewer, p))
    return Power.of(float(weights @ above), float(weights @ below), float(weights @ np.where(m > 0, m * means, 0)) / n,
                    difference)


@dataclass(frozen=True, eq=False)
class MatchedTDesign(Design):
    """Student's test of the mean of normal differences between units, which have the standard deviation `deviation`."""

    deviation: float

    def scale(self, units: int) -> float:
        return self.deviation / math.sqrt(units)

    def at(self, difference: float, units: int) -> Power:
        """Integrate over the estimated deviation, given which the tails are normal."""
        from scipy.special import gammaincinv, ndtr, stdtrit

        if units < 2 or not self.deviation:
            return Power(0.0, math.nan, math.nan)
        half = (units - 1) / 2
        levels, weights = quantile_levels()
        shift, bar = difference / self.scale(units), float(stdtrit(units - 1, 1 - self.alpha / 2))
        bars = bar * np.sqrt(gammaincinv(half, levels) / half)
        above, below = ndtr(shift - bars), ndtr(-shift - bars)
        sizes = shift * (above - below) + _density(bars - shift) + _density(bars + shift)
        return Power.of(float(weights @ above), float(weights @ below), float(weights @ sizes) * self.scale(units),
                        difference)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-np.clip(z, -40, 40) ** 2 / 2) / math.sqrt(2 * math.pi))  # 0 beyond


class DrawnDesign(Design):
    """The recentred bootstrap: the deviations of resampled differences from the observed one.

    A difference is significant where its size exceeds the 1 - alpha quantile of the sizes of the deviations. Under a
    true difference of x, differences are distributed like the deviations plus x. For other numbers of units the
    deviations are scaled by the root of the ratio.
    """

    def __init__(self, alpha: float, moves: Floats, units: int) -> None:
        """Take the deviations d* - d of resampled differences, [draws], on so many units."""
        super().__init__(alpha)
        both = np.sort(np.concatenate([moves, -moves]))  # a pair has no order: either system may be the better one
        self._draws, self._sums, self._units = both, np.concatenate([[0.0], np.cumsum(both)]), units
        self._bar = float(np.quantile(np.abs(moves), 1 - alpha, method="higher"))

    def scale(self, units: int) -> float:
        return float(np.std(self._draws)) * math.sqrt(self._units / units)

    def at(self, difference: float, units: int) -> Power:
        """Count the deviations beyond the bar, after they are shifted."""
        factor = math.sqrt(self._units / units)
        shift, n = difference / factor, len(self._draws)
        above = int(np.searchsorted(self._draws, self._bar - shift, side="left"))
        below = int(np.searchsorted(self._draws, -self._bar - shift, side="right"))
        sizes = (self._sums[n] - self._sums[above] + (n - above) * shift) - (self._sums[below] + below * shift)
        return Power.of((n - above) / n, below / n, factor * float(sizes) / n, difference)


def discordance(first: float, second: float, correlation: float) -> float:
    """The share of units that just one of two systems gets right, from the rates of both and the correlation of units.

    Raises:
        ValueError: No two systems of these rates are so correlated.
    """
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    if not max(0.0, first + second - 1) - 1e-12 <= both <= min(first, second) + 1e-12:
        low, high = ((end - first * second) / spread if spread else math.nan
                     for end in (max(0.0, first + second - 1), min(first, second)))
        raise ValueError(f"systems that get {first:g} and {second:g} right have a correlation from {low:.2f} to "
                         f"{high:.2f}, not {correlation:g}")
    return max(0.0, first + second - 2 * both)
