"""Power of a test of one pair, type S and type M errors, synthetic systems.

A `Design` is a test of a pair with all parameters except the true difference and the number of units. For binary units
it is McNemar's exact test, and for means of units Student's test; their power is computed without simulation. For other
scores the design has the differences in resamples, shifted by the true difference. Synthetic systems have declared
accuracies and correlations, on items with a given difficulty.
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

MOST = 10**8  # largest planned number of units
_SINGULAR = 1e-12  # smaller eigenvalues are rounding errors of 0


@dataclass(frozen=True, slots=True)
class Power:
    """Power and errors of a test for a true difference (Gelman and Carlin 2014).

    Attributes:
        power: Probability of a significant result.
        wrong_sign: Share of significant results that favour the worse system (type S error).
        exaggeration: Mean size of significant differences divided by the true difference (type M error); nan if no
            difference can be significant.
    """

    power: float
    wrong_sign: float
    exaggeration: float

    @classmethod
    def from_probabilities(cls, right: float, wrong: float, size: float, difference: float) -> Power:
        """Compute power and errors from the probabilities of significant results.

        Args:
            right: Probability of a significant result in favour of the better system.
            wrong: Probability of a significant result in favour of the worse system.
            size: Mean of |difference| if the result is significant and 0 otherwise.
            difference: True difference.
        """
        power = right + wrong
        if not power:
            return cls(0.0, math.nan, math.nan)
        return cls(power, wrong / power, size / power / difference if difference else math.inf)


@dataclass(frozen=True, eq=False)
class Design:
    """A planned two-sided test, whose power is computed before data are collected.

    Attributes:
        alpha: Significance level.
    """

    alpha: float

    @abstractmethod
    def compute_power(self, difference: float, units: int) -> Power:
        """Return the power for a true difference and a number of items or clusters.

        Args:
            difference: True difference, 0 or more.
            units: Number of items or clusters.
        """

    def find_detectable(self, units: int, power: float) -> float:
        """Return the smallest true difference that the test detects with this power.

        The result is nan if it detects none.

        Args:
            units: Number of items or clusters.
            power: Required probability of a significant result.
        """
        from scipy.optimize import brentq

        def excess(difference: float) -> float:
            return self.compute_power(difference, units).power - power

        if excess(0.0) >= 0:
            return 0.0
        upper = self.largest
        if math.isinf(upper):
            upper = self.standard_error(units)
            if not 0 < upper < math.inf:
                return math.nan  # no difference has any power
            while excess(upper) < 0:
                upper *= 2
        elif not excess(upper) >= 0:
            return math.nan
        return float(brentq(excess, 0.0, upper, xtol=1e-9 * upper))

    def find_units(self, difference: float, power: float) -> int | None:
        """Return the number of items that are needed to detect a difference.

        If clusters are tested, this is a number of clusters. The result is None if more than `MOST` are needed. The
        power of an exact test does not always rise with the number of items. The result has sufficient power, but one
        item less has not.

        Args:
            difference: True difference.
            power: Required probability of a significant result.
        """
        if not 0 < difference <= self.largest:
            return None
        low, high = 1, 2
        while not self.compute_power(difference, high).power >= power:
            low, high = high, 2 * high
            if high > MOST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.compute_power(difference, middle).power >= power else (middle, high)
        return high

    @property
    def largest(self) -> float:
        """The largest possible difference."""
        return math.inf

    @abstractmethod
    def standard_error(self, units: int) -> float:
        """Return the approximate standard error of the difference.

        Args:
            units: Number of items or clusters.
        """


@dataclass(frozen=True, eq=False)
class ExactMcNemar(Design):
    """Planned exact McNemar test.

    The power is a sum over all outcomes. The number of discordant units (items in which exactly one system is correct)
    is binomial. Given that number, the number of units that favour the better system is also binomial. If the
    difference exceeds the discordance, all discordant units favour the better system.

    Attributes:
        discordance: Share of units in which exactly one system is correct.
    """

    discordance: float
    largest = 1.0

    def standard_error(self, units: int) -> float:
        """Return the approximate standard error, that of a small difference."""
        return math.sqrt(self.discordance / units)

    def compute_power(self, difference: float, units: int) -> Power:
        """Sum the power over the likely numbers of discordant items.

        An item is discordant if exactly one system is correct. Tails with a probability of 1e-13 are omitted.
        """
        return _mcnemar(units, max(self.discordance, difference), difference, self.alpha)


@lru_cache(maxsize=4096)
def _mcnemar(n: int, discordance: float, difference: float, alpha: float) -> Power:
    from scipy.stats import binom

    if not discordance:
        return Power(0.0, math.nan, math.nan)
    p = min(1.0, (1 + difference / discordance) / 2)
    m = np.arange(int(binom.ppf(1e-13, n, discordance)), int(binom.isf(1e-13, n, discordance)) + 1)
    weights = binom.pmf(m, n, discordance)
    critical = binom.isf(alpha / 2, m, 0.5) + 1  # the smallest significant count of the better system
    above, below = binom.sf(critical - 1, m, p), binom.cdf(m - critical, m, p)
    fewer = np.maximum(m - 1, 0)
    means = (2 * p * binom.sf(critical - 2, fewer, p) - above) + (below - 2 * p * binom.cdf(m - critical - 1, fewer, p))
    size = float(weights @ np.where(m > 0, m * means, 0)) / n
    return Power.from_probabilities(float(weights @ above), float(weights @ below), size, difference)


@dataclass(frozen=True, eq=False)
class MatchedTDesign(Design):
    """Planned paired t-test of normal differences in single items or clusters.

    Attributes:
        deviation: Standard deviation of these differences.
    """

    deviation: float

    def standard_error(self, units: int) -> float:
        return self.deviation / math.sqrt(units)

    def compute_power(self, difference: float, units: int) -> Power:
        """Average the power over the distribution of the estimated standard deviation."""
        from scipy.special import gammaincinv, ndtr, stdtrit

        if units < 2 or not self.deviation:
            return Power(0.0, math.nan, math.nan)
        half = (units - 1) / 2
        levels, weights = quantile_levels()
        shift, critical = difference / self.standard_error(units), float(stdtrit(units - 1, 1 - self.alpha / 2))
        thresholds = critical * np.sqrt(gammaincinv(half, levels) / half)
        above, below = ndtr(shift - thresholds), ndtr(-shift - thresholds)
        sizes = shift * (above - below) + _density(thresholds - shift) + _density(thresholds + shift)
        size = float(weights @ sizes) * self.standard_error(units)
        return Power.from_probabilities(float(weights @ above), float(weights @ below), size, difference)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-np.clip(z, -40, 40) ** 2 / 2) / math.sqrt(2 * math.pi))


class BootstrapDesign(Design):
    """Planned bootstrap test (recentred), based on resampled differences.

    A deviation is a resampled minus the observed difference. An observed difference is significant if its size exceeds
    the 1 - alpha quantile of the sizes of the deviations. If the true difference is x, observed differences are
    distributed like x plus the deviations. For another number of items the deviations are scaled by the root of the
    ratio.
    """

    def __init__(self, alpha: float, deviations: Floats, units: int) -> None:
        """Store the deviations of resampled differences.

        Args:
            alpha: Significance level.
            deviations: Resampled minus observed differences, d* - d, [resamples].
            units: Number of items or clusters in a resample.
        """
        super().__init__(alpha)
        # Both signs, because either system of a pair may be the better one.
        self._deviations = np.sort(np.concatenate([deviations, -deviations]))
        self._sums = np.concatenate([[0.0], np.cumsum(self._deviations)])
        self._units = units
        self._critical = float(np.quantile(np.abs(deviations), 1 - alpha, method="higher"))

    def standard_error(self, units: int) -> float:
        return float(np.std(self._deviations)) * math.sqrt(self._units / units)

    def compute_power(self, difference: float, units: int) -> Power:
        """Return the share of observed differences that would be significant.

        For this, the true difference is added to the deviations: the differences of bootstrap resamples from the
        observed one.
        """
        factor = math.sqrt(self._units / units)
        shift, n = difference / factor, len(self._deviations)
        above = int(np.searchsorted(self._deviations, self._critical - shift, side="left"))
        below = int(np.searchsorted(self._deviations, -self._critical - shift, side="right"))
        sizes = (self._sums[n] - self._sums[above] + (n - above) * shift) - (self._sums[below] + below * shift)
        return Power.from_probabilities((n - above) / n, below / n, factor * float(sizes) / n, difference)


def compute_discordance(first: float, second: float, correlation: float) -> float:
    """Return the share of items that exactly one of two systems gets right.

    Args:
        first: Share of items that the first system gets right.
        second: Share of items that the second system gets right.
        correlation: Correlation of both systems over items.

    Raises:
        ValueError: No two systems with these shares have this correlation.
    """
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    if not max(0.0, first + second - 1) - 1e-12 <= both <= min(first, second) + 1e-12:
        low, high = ((end - first * second) / spread if spread else math.nan
                     for end in (max(0.0, first + second - 1), min(first, second)))
        raise ValueError(f"the correlation of systems with the accuracies {first:g} and {second:g} is from {low:.2f} "
                         f"to {high:.2f}, not {correlation:g}; set a correlation in this range")
    return max(0.0, first + second - 2 * both)


@lru_cache(maxsize=4096)
def solve_latent_correlation(first: float, second: float, correlation: float) -> float:
    """Return the correlation of two normal variables from that of two binary ones.

    The binary variables are true if the normal ones exceed a threshold.

    Args:
        first: Probability that the first variable exceeds its threshold.
        second: Probability that the second variable exceeds its threshold.
        correlation: Phi coefficient of the two binary variables.

    Raises:
        InputError: No two variables with these probabilities have this correlation.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    both = first * second + correlation * spread
    low, high = max(0.0, first + second - 1), min(first, second)
    thresholds = float(ndtri(first)), float(ndtri(second))

    def excess(rho: float) -> float:
        return _both_below(*thresholds, rho) - both

    limit = 1 - 1e-12  # closer to 1, rounding errors dominate
    if not low < both < high or not excess(-limit) < 0 < excess(limit):
        raise InputError(f"systems that get {first:g} and {second:g} right have a correlation between "
                         f"{(low - first * second) / spread:.2f} and {(high - first * second) / spread:.2f}, not "
                         f"{correlation:g}")
    return float(brentq(excess, -limit, limit, xtol=1e-12))


def _both_below(h: float, k: float, rho: float) -> float:
    """Return P(X < h and Y < k) of standard normal variables with correlation `rho`.

    The error is below 1e-12, except for correlations within 1e-3 of 1.
    """
    # The derivative by the correlation is the density at (h, k) (Plackett 1954). With rho = sin t the root in the
    # density cancels, and 64 nodes between 0 and t are sufficient.
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(64)
    end = math.asin(rho)
    t = end * (nodes + 1) / 2
    inside = np.exp(-(h * h + k * k - 2 * h * k * np.sin(t)) / (2 * np.cos(t) ** 2))
    return float(ndtr(h) * ndtr(k) + end / 2 * (weights @ inside) / (2 * math.pi))


def draw_correct(rates: Floats, correlations: Floats, ease: Floats, seed: int,
                 selection: Ints | None = None) -> Flags:
    """Simulate which items synthetic systems get right, [items, systems].

    A system gets an item right if a normal variable exceeds a threshold; the variables of systems are correlated (a
    Gaussian copula). Easy items have a high mean of their variables over systems, which follows from the rank of the
    item by ease. All other parts of the variables are random.

    Args:
        rates: Accuracy of each system, between 0 and 1, [systems].
        correlations: Correlations of systems over items, [systems, systems]; the upper triangle is used.
        ease: Ease of each item, [items]; only the order matters, and ties are broken at random.
        seed: Seed of the random numbers.
        selection: Indices of the items of the test set, possibly repeated, [selected items]; None: each item once.

    Raises:
        InputError: No systems with these rates have these correlations.
    """
    from scipy.special import ndtri

    latent = np.eye(len(rates))
    for a, b in combinations(range(len(rates)), 2):
        latent[a, b] = latent[b, a] = solve_latent_correlation(
            float(rates[a]), float(rates[b]), float(correlations[a, b]))
    if np.linalg.eigvalsh(latent).min() <= _SINGULAR:
        raise InputError(f"{len(rates)} systems of these rates cannot have these correlations together: the "
                         "correlation matrix is not positive definite; set higher or more similar correlations")
    rng = np.random.Generator(stream(seed, OUTPUTS))
    n_items = len(ease)
    selection = np.arange(n_items) if selection is None else selection
    variables = rng.standard_normal((len(selection), len(rates))) @ np.linalg.cholesky(latent).T
    ranks = np.empty(n_items)
    ranks[np.lexsort((rng.random(n_items), ease))] = np.arange(n_items)
    scale = math.sqrt(float(latent.sum()))
    # Replaces the simulated mean of each item by its normal score.
    shift = ndtri((ranks[selection] + 0.5) / n_items) - variables.sum(axis=1) / scale
    return np.asarray(variables + shift[:, None] * (latent.sum(axis=0) / scale) > ndtri(1 - rates))
