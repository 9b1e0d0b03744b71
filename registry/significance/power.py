"""Planning: the power of a test of one pair, its type S and type M errors, and synthetic systems.

A design is a test with everything that its power depends on, except the true difference and the number of units. The
test is McNemar's exact test if units are right or wrong, and Student's if the score is a mean of units, both without
draws; for other scores the design consists of the bootstrap's draws, shifted by the difference. Synthetic systems have
declared accuracies and correlations, on items that are as hard as given ones.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError
from registry.significance.distributions import quantile_levels
from registry.significance.resampling.draws import OUTPUTS, stream

MOST = 10**8  # units: larger test sets are not planned
_SINGULAR = 1e-12  # smaller eigenvalues are 0 up to rounding


@dataclass(frozen=True, slots=True)
class Power:
    """Power and errors of a test, given the true difference (Gelman and Carlin 2014).

    Attributes:
        power: The probability of a significant result.
        wrong_sign: The share of significant results that favour the worse system (type S error).
        exaggeration: The mean size of significant differences over the true one (type M error); nan if nothing can be
            significant.
    """

    power: float
    wrong_sign: float
    exaggeration: float

    @classmethod
    def of(cls, right: float, wrong: float, size: float, difference: float) -> Power:
        """Combine the probabilities of both significant results and the mean of |difference| over both."""
        power = right + wrong
        if not power:
            return cls(0.0, math.nan, math.nan)
        return cls(power, wrong / power, size / power / difference if difference else math.inf)


@dataclass(frozen=True, eq=False)
class Design:
    """A two-sided test of one pair at the level `alpha`, without the true difference and the number of units."""

    alpha: float

    @abstractmethod
    def at(self, difference: float, units: int) -> Power:
        """Return the power for a true `difference` (0 or more) on this number of units."""

    def detectable(self, units: int, power: float) -> float:
        """Return the smallest true difference that is detected with this power; nan if none is."""
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
        """Return the smallest number of units that detects this true difference with this power; None above `MOST`.

        The power of an exact test is not monotonic in the units; bisection finds a number that has the power while one
        unit less has not.
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
        """The largest possible difference."""
        return math.inf

    @abstractmethod
    def scale(self, units: int) -> float:
        """Return the approximate standard error of the difference."""


@dataclass(frozen=True, eq=False)
class ExactMcNemar(Design):
    """McNemar's exact test, if only one system is right in a share `discordance` of the units.

    The power is summed over all outcomes: the discordant units are binomial, and given their number those that favour
    the better system are. With a difference above the discordance, all discordant units favour it.
    """

    discordance: float
    largest = 1.0

    def scale(self, units: int) -> float:
        """Return the standard error of a small difference."""
        return math.sqrt(self.discordance / units)

    def at(self, difference: float, units: int) -> Power:
        """Sum over the numbers of discordant units that are not too unlikely (1e-13 on either side)."""
        return _mcnemar(units, max(self.discordance, difference), difference, self.alpha)


@lru_cache(maxsize=4096)
def _mcnemar(n: int, discordance: float, difference: float, alpha: float) -> Power:
    from scipy.stats import binom

    if not discordance:
        return Power(0.0, math.nan, math.nan)
    p = min(1.0, (1 + difference / discordance) / 2)
    m = np.arange(int(binom.ppf(1e-13, n, discordance)), int(binom.isf(1e-13, n, discordance)) + 1)
    weights = binom.pmf(m, n, discordance)
    least = binom.isf(alpha / 2, m, 0.5) + 1  # the smallest significant count of the better system
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
        """Integrate over the estimated deviation; given this, the tails are normal."""
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

    A difference is significant if its size exceeds the 1 - alpha quantile of the sizes of the deviations. Under a true
    difference of x, differences are distributed like the deviations plus x. For other numbers of units the deviations
    are scaled by the root of the ratio.
    """

    def __init__(self, alpha: float, moves: Floats, units: int) -> None:
        """Store the deviations d* - d of resampled differences, [draws], on this number of units."""
        super().__init__(alpha)
        both = np.sort(np.concatenate([moves, -moves]))  # a pair has no order: either system may be the better one
        self._draws, self._sums, self._units = both, np.concatenate([[0.0], np.cumsum(both)]), units
        self._bar = float(np.quantile(np.abs(moves), 1 - alpha, method="higher"))

    def scale(self, units: int) -> float:
        return float(np.std(self._draws)) * math.sqrt(self._units / units)

    def at(self, difference: float, units: int) -> Power:
        """Count the shifted deviations above the critical value."""
        factor = math.sqrt(self._units / units)
        shift, n = difference / factor, len(self._draws)
        above = int(np.searchsorted(self._draws, self._bar - shift, side="left"))
        below = int(np.searchsorted(self._draws, -self._bar - shift, side="right"))
        sizes = (self._sums[n] - self._sums[above] + (n - above) * shift) - (self._sums[below] + below * shift)
        return Power.of((n - above) / n, below / n, factor * float(sizes) / n, difference)


def compute_discordance(first: float, second: float, correlation: float) -> float:
    """Return the share of units that only one of two systems gets right, from their rates and correlation.

    Raises:
        ValueError: No two systems of these rates have this correlation.
    """
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    if not max(0.0, first + second - 1) - 1e-12 <= both <= min(first, second) + 1e-12:
        low, high = ((end - first * second) / spread if spread else math.nan
                     for end in (max(0.0, first + second - 1), min(first, second)))
        raise ValueError(f"systems that get {first:g} and {second:g} right have a correlation from {low:.2f} to "
                         f"{high:.2f}, not {correlation:g}")
    return max(0.0, first + second - 2 * both)


@lru_cache(maxsize=4096)
def solve_latent_correlation(first: float, second: float, correlation: float) -> float:
    """Return the correlation of two normal variables whose excesses over thresholds have given rates and correlation.

    Args:
        first: The rate at which the first variable exceeds its threshold.
        second: The rate of the second variable.
        correlation: The phi coefficient of the 2 x 2 table of excesses.

    Raises:
        InputError: No two variables of these rates have this correlation.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    low, high = max(0.0, first + second - 1), min(first, second)
    bars = float(ndtri(first)), float(ndtri(second))

    def over(rho: float) -> float:
        return _both_below(*bars, rho) - both

    most = 1 - 1e-12
    if not low < both < high or not over(-most) < 0 < over(most):  # the latter: too near an end for rounding
        raise InputError(f"systems that get {first:g} and {second:g} right have a correlation between "
                         f"{(low - first * second) / spread:.2f} and {(high - first * second) / spread:.2f}, not "
                         f"{correlation:g}")
    return float(brentq(over, -most, most, xtol=1e-12))


def _both_below(h: float, k: float, rho: float) -> float:
    """Return P(X < h and Y < k) of standard normal variables with this correlation.

    Its derivative by the correlation is the density at (h, k) (Plackett 1954). With rho = sin t the root in the density
    cancels, and 64 nodes between 0 and t leave an error below 1e-12, except for correlations within 1e-3 of 1.
    """
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(64)
    end = math.asin(rho)
    t = end * (nodes + 1) / 2
    inside = np.exp(-(h * h + k * k - 2 * h * k * np.sin(t)) / (2 * np.cos(t) ** 2))
    return float(ndtr(h) * ndtr(k) + end / 2 * (weights @ inside) / (2 * math.pi))


def draw_correct(rates: Floats, correlations: Floats, ease: Floats, seed: int, taken: Ints | None = None) -> Flags:
    """Draw the items that synthetic systems get right, [items, systems].

    A system is right in an item if a normal variable exceeds a threshold; the variables of systems are correlated (a
    Gaussian copula). The mean of an item's variables is how easy the item is: scaled to variance 1, it is the normal
    score of the item's rank among the given ones, and the rest is drawn.

    Args:
        rates: The accuracy of each system, [systems], between 0 and 1.
        correlations: The correlations of systems over items, [systems, systems]; the upper triangle is used.
        ease: How easy each given item is, [given items]; only the order counts, and ties are broken at random.
        seed: The seed of the draws.
        taken: The places of the given items in the test set, [items], with repetitions; None: each item once.

    Raises:
        InputError: No systems of these rates have these correlations.
    """
    from scipy.special import ndtri

    latent = np.eye(len(rates))
    for a, b in combinations(range(len(rates)), 2):
        latent[a, b] = latent[b, a] = solve_latent_correlation(
            float(rates[a]), float(rates[b]), float(correlations[a, b]))
    if np.linalg.eigvalsh(latent).min() <= _SINGULAR:
        raise InputError(f"{len(rates)} systems of these rates cannot have these correlations all at once: where two "
                         "go with a third, they go with each other; take higher ones, or ones that are nearer to each "
                         "other")
    rng = np.random.Generator(stream(seed, OUTPUTS))
    given = len(ease)
    taken = np.arange(given) if taken is None else taken
    drawn = rng.standard_normal((len(taken), len(rates))) @ np.linalg.cholesky(latent).T
    places = np.empty(given)
    places[np.lexsort((rng.random(given), ease))] = np.arange(given)
    scale = math.sqrt(float(latent.sum()))
    common = ndtri((places[taken] + 0.5) / given) - drawn.sum(axis=1) / scale  # the rest of the item's mean
    return np.asarray(drawn + common[:, None] * (latent.sum(axis=0) / scale) > ndtri(1 - rates))
