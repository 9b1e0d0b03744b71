"""Tests of a difference against a margin: is system A worse than B by more than the margin?

Each test returns two one-sided p-values. The first one tests whether A is worse by at least the margin; if it is small,
A is not inferior. The second one tests whether A is worse by at most the margin; if it is small, A is inferior. The
observed difference is oriented, so a positive one favours A.

- If units are correct or incorrect: the exact unconditional test of Tango's statistic, maximised over the nuisance
  parameter (Hsueh, Liu and Chen 2001).
- If the score is a mean of bounded unit scores: the betting test (Waudby-Smith and Ramdas 2024), valid for any number
  of units and any distribution.
- For other functions of sums over units: the bootstrap-t (Efron and Tibshirani 1993, section 12.5), which needs many
  units. Two corrections are for few units that differ, and for large losses that may be in none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from registry.arrays import ROUNDING, Floats, Ints
from registry.significance.base import Observed, Settings
from registry.significance.distributions import tango_statistic
from registry.significance.intervals import influences, standard_errors
from registry.significance.matrix import Matrix, StatisticMatrix, additive
from registry.significance.pairwise.matched import log_betting_p, scale_differences
from registry.significance.resampling.draws import ORDER, blocks, draw_counts, group_by_stratum, stream
from registry.significance.units import has_binary_units, unit_scores

MIN_UNITS, MIN_DISCORDANT = 50, 10  # the bootstrap-t decides nothing with fewer units
_INFLATION = 8  # chosen by simulation: `python -m tests.validity.gate`
_GRID, _SMALL_GRID = 400, 60  # values of the nuisance parameter that are tried before the search
_TIED = 1e-9  # statistics that are closer are tied
_CELLS = 2**22  # numbers of a block of resamples
_POWER = 0.8  # of the number of units that would suffice
_SAMPLES, _STEP, _MANY = 200, 1.15, 20_000  # simulated samples, growth of their size, and size without simulation
_FIRST_STEP, _FARTHEST, _TOLERANCE = 0.1, 1e6, 1e-3  # of the search for an end of an interval, in standard errors
_FAR = 1e-14  # probabilities of rows that may be left out, together


@dataclass(frozen=True)
class MarginTest:
    """Result of the tests of one difference against a margin.

    Attributes:
        difference: Observed difference of the scores of A and B, positive if A is better.
        margin: The largest loss of A that is accepted, 0 or more.
        p_inferior: P-value of the hypothesis that A is worse by the margin or more. If small, A is not inferior.
        p_non_inferior: P-value of the hypothesis that A is worse by at most the margin. If small, A is inferior.
        method: `exact`, `bounded` or `bootstrap-t`.
        n_units, n_discordant: Number of units, and of units in which the systems differ.
    """

    difference: float
    margin: float
    p_inferior: float
    p_non_inferior: float
    method: str
    n_units: int
    n_discordant: int


@dataclass(frozen=True)
class MarginTests:
    """The two one-sided tests of one difference, for any margin.

    Attributes:
        observed: The two systems.
        method: `exact`, `bounded` or `bootstrap-t`.
        p_inferior, p_non_inferior: Functions from a margin to the p-value, as in `MarginTest`.
        largest: The largest difference that scores can have.
        fast: The same two functions in a faster form for the search of an interval; None if they are fast.
    """

    observed: Observed
    method: str
    p_inferior: Callable[[float], float]
    p_non_inferior: Callable[[float], float]
    largest: float
    fast: tuple[Callable[[float], float], Callable[[float], float]] | None = None

    @classmethod
    def choose(cls, observed: Observed, settings: Settings) -> MarginTests | None:
        """Return the tests that suit the scores.

        Returns:
            The tests. None if the score cannot be computed from sums over units (items or clusters), or if the
                bootstrap-t has too few units.
        """
        matrix, n = observed.matrix, observed.matrix.n_units
        if observed.is_mean and has_binary_units(observed):
            a, b = unit_scores(observed)
            only_a, only_b = int(np.sum(a > b)), int(np.sum(b > a))
            if matrix.lower_is_better:
                only_a, only_b = only_b, only_a
            return cls(observed, "exact", lambda margin: exact_p_value(only_a, only_b, n, margin),
                       lambda margin: exact_p_value(only_b, only_a, n, -margin), 1.0,
                       (lambda margin: exact_p_value(only_a, only_b, n, margin, _SMALL_GRID),
                        lambda margin: exact_p_value(only_b, only_a, n, -margin, _SMALL_GRID)))
        if observed.is_mean and all(map(math.isfinite, matrix.score_range)):
            shares = scale_differences(matrix, observed.pair)
            shares = shares[np.random.Generator(stream(0, ORDER)).permutation(n)]
            width = matrix.score_range[1] - matrix.score_range[0]
            return cls(observed, "bounded", lambda margin: betting_p_value(shares, margin / width),
                       lambda margin: betting_p_value(-shares, -margin / width), width)
        if (n < MIN_UNITS or observed.n_discordant < MIN_DISCORDANT or matrix.lone_units
                or not isinstance(matrix, StatisticMatrix)):
            return None
        p_values = make_bootstrap_p_values(observed, settings)
        return cls(observed, "bootstrap-t", lambda margin: p_values(margin)[0], lambda margin: p_values(margin)[1],
                   math.inf)

    def compare(self, margin: float) -> MarginTest:
        """Test whether system A is worse than B by more than a margin."""
        return MarginTest(self.observed.difference, margin, self.p_inferior(margin), self.p_non_inferior(margin),
                          self.method, self.observed.matrix.n_units, self.observed.n_discordant)

    def find_interval(self, level: float, test: MarginTest) -> tuple[float, float]:
        """Return the confidence interval of the difference that belongs to the tests.

        It has the differences that neither one-sided test rejects at a level, so its confidence is 1 - 2 level. It
        agrees with the result of the tests at the margin of `test`. An end is infinite if no margin is rejected.
        """
        p_inferior, p_non_inferior = self.fast or (self.p_inferior, self.p_non_inferior)
        low = -self._find_margin(p_inferior, level, 1)
        high = -self._find_margin(p_non_inferior, level, -1)
        # The search has a tolerance, so an end near the margin could be on the wrong side of it.
        bound = -test.margin
        low = max(low, math.nextafter(bound, math.inf)) if test.p_inferior <= level else min(low, bound)
        high = min(high, math.nextafter(bound, -math.inf)) if test.p_non_inferior <= level else max(high, bound)
        return low, high

    def _find_margin(self, p_value: Callable[[float], float], level: float, sign: int) -> float:
        """Return the margin whose p-value is the level; infinity if there is none.

        The p-values fall in the direction of `sign`. The search begins at the end of a normal interval.
        """
        from scipy.optimize import brentq
        from scipy.special import ndtri

        def exceed(margin: float) -> float:
            return math.log(max(p_value(margin), 1e-300) / level)

        matrix = self.observed.matrix
        error = compute_error(compute_gains(self.observed), matrix.unit_strata)
        error = error if 0 < error < math.inf else 1 / matrix.n_units
        start = -self.observed.difference - sign * error * float(ndtri(level))
        near = max(-self.largest, min(self.largest, start))
        direction = sign if exceed(near) > 0 else -sign
        step = _FIRST_STEP * error
        while True:
            far = max(-self.largest, min(self.largest, near + direction * step))
            if (exceed(far) > 0) != (direction == sign):
                return float(brentq(exceed, near, far, xtol=_TOLERANCE * error))
            if abs(far) >= self.largest or step > _FARTHEST * error:
                return direction * self.largest
            near, step = far, 2 * step


def compare_with_margin(observed: Observed, margin: float, settings: Settings) -> MarginTest | None:
    """Test whether system A is worse than B by more than a margin.

    Returns:
        The result; None if there is no suitable test (see `MarginTests.choose`).
    """
    tests = MarginTests.choose(observed, settings)
    return None if tests is None else tests.compare(margin)


def exact_p_value(only_a: int, only_b: int, n: int, margin: float, grid_size: int = _GRID) -> float:
    """Return the exact unconditional p-value for two paired proportions and a margin.

    The null hypothesis is that the proportion of A minus that of B is at most -margin. A sample is extreme if its Tango
    statistic is at least the observed one. The p-value is the largest probability of an extreme sample, over all
    proportions with a difference of exactly -margin.

    Args:
        only_a: Number of units that only A gets right.
        only_b: Number of units that only B gets right.
        n: Number of all units.
        margin: The margin, from -1 to 1.
        grid_size: Number of values of the nuisance parameter that are tried before the search.
    """
    from scipy.optimize import minimize_scalar

    if not -1 < margin < 1:
        return 1.0 if margin <= -1 else 0.0
    least = float(tango_statistic(only_a, only_b, n, -margin)) - _TIED
    thresholds = _find_thresholds(least, n, margin)
    probability = partial(_compute_tail, thresholds, n, margin)
    # A alone is right with the probability q - margin, B alone with q; neither is negative, and their sum is at most 1.
    low, high = max(0.0, margin), (1 + margin) / 2
    angles = np.linspace(0, math.pi / 2, grid_size)
    grid = low + (high - low) * np.sin(angles) ** 2
    values = np.array([probability(q) for q in grid])
    largest = float(values.max())
    peaks = [n for n in range(1, grid_size - 1) if values[n] >= max(values[n - 1], values[n + 1], 0.9 * largest)]
    for peak in sorted(peaks, key=lambda n: -values[n])[:3]:
        found = minimize_scalar(lambda q: -probability(q), bounds=(grid[peak - 1], grid[peak + 1]), method="bounded",
                                options={"xatol": 1e-9})
        largest = max(largest, -float(found.fun))
    return min(1.0, largest)


def _find_thresholds(least: float, n: int, margin: float) -> Ints:
    """Return the least number of units that only A gets right in an extreme sample.

    A sample is extreme if its Tango statistic is at least `least`.

    Returns:
        The number for 0, 1, ..., n units that only B gets right; n + 1 if no sample is extreme.
    """
    only_b = np.arange(n + 1)
    low, high = np.full(n + 1, -1), n - only_b + 1  # the statistic is too small at `low`, and large enough at `high`
    while (high - low > 1).any():
        middle = (low + high) // 2
        tried = np.clip(middle, 0, n - only_b)
        is_extreme = tango_statistic(tried, only_b, n, -margin) >= least
        is_open = high - low > 1
        low, high = np.where(is_open & ~is_extreme, middle, low), np.where(is_open & is_extreme, middle, high)
    return np.where(high > n - only_b, n + 1, high)


def _compute_tail(thresholds: Ints, n: int, margin: float, q: float) -> float:
    """Return the probability of an extreme sample for given probabilities of a unit.

    Args:
        thresholds: Result of `_find_thresholds`.
        n: Number of units.
        margin: The margin.
        q: Probability that only B gets a unit right. Only A gets it right with probability q - margin.
    """
    # scipy.special, because scipy.stats takes 15 times as long for its checks
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    p = max(0.0, q - margin)
    # Bernstein's inequality bounds the probability of numbers that are farther from the mean.
    reach = -math.log(_FAR) / 3 + math.sqrt((math.log(_FAR) / 3) ** 2 - 2 * math.log(_FAR) * n * q * (1 - q))
    only_b = np.arange(max(0, math.floor(n * q - reach)), min(n, math.ceil(n * q + reach)) + 1)
    rows = np.exp(gammaln(n + 1) - gammaln(only_b + 1) - gammaln(n - only_b + 1) + xlogy(only_b, q)
                  + xlog1py(n - only_b, -q))
    share = min(1.0, p / (1 - q)) if q < 1 else 0.0
    k, trials = thresholds[only_b], n - only_b
    can_reach = (k > 0) & (k <= trials)
    tails = np.where(k <= 0, 1.0, 0.0)
    tails[can_reach] = bdtrc(k[can_reach] - 1, trials[can_reach], share)
    return float(rows @ tails)


def betting_p_value(shares: Floats, margin: float) -> float:
    """Return the p-value of the hypothesis that a mean is at most -margin.

    The mean is that of the distribution of independent, bounded numbers. A gambler bets that the numbers are larger;
    the p-value is small if the bets gain much.

    Args:
        shares: The numbers, from -1 to 1. Their order must not depend on their values.
        margin: The margin, from -1 to 1.
    """
    if margin <= -1:
        return 1.0
    return math.exp(log_betting_p(np.clip((shares + margin) / (1 + abs(margin)), -1, 1), "greater"))


def make_bootstrap_p_values(observed: Observed, settings: Settings) -> Callable[[float], tuple[float, float]]:
    """Return a function from a margin to its two one-sided p-values, by the bootstrap-t.

    For a resampled difference d* and the observed one d, the statistic of a resample is (d* - d) / error*. The p-values
    are the shares of resamples in which it is at least, and at most, (d + margin) / error. Two corrections make them
    larger.

    The standard error is imprecise if few units differ much: its square has a relative variance of about 1 / k, where k
    is the effective number of units that differ. With small k, a p-value up to 0.05 occurs in up to 7 % of test sets.
    So p-values are multiplied by 1 + 8 / k.

    A test set shows nothing of a loss that occurs in none of its units. If a unit can lose r of the score, such losses
    bring the difference from d to -margin if (d + margin) / r units are expected to have one. The probability that
    none has one is exp(-(d + margin) / r), and the p-value is at least as large.

    Returns:
        The function. Its p-values are those of the hypotheses that system A is worse by at least the margin, and by at
            most the margin.
    """
    matrix, gains = additive(observed.matrix), compute_gains(observed)
    error = compute_error(gains, matrix.strata)
    largest_loss = find_largest_loss(observed)
    if error <= ROUNDING * largest_loss:  # a constant difference has no statistic
        return lambda _: (1.0, 1.0)
    # Sums over a resample: statistics of A and B, then in each stratum the gains and their squares for the error.
    groups = [members for _, members in group_by_stratum(matrix.strata, len(gains))]
    gains_by_stratum = np.zeros((len(gains), len(groups)))
    for n, members in enumerate(groups):
        gains_by_stratum[members, n] = gains[members]
    columns = np.column_stack([observed.a, observed.b, gains_by_stratum, gains_by_stratum**2])
    width, sizes = observed.a.shape[1], np.array([len(members) for members in groups])
    statistics = []
    for sums in _sum_resamples(columns, matrix.strata, settings):
        difference = matrix.difference(matrix.score(sums[:, :width]), matrix.score(sums[:, width:2 * width]))
        totals, squares = np.split(sums[:, 2 * width:], 2, axis=1)
        errors = np.sqrt(np.maximum(squares - totals**2 / sizes, 0) @ (sizes / (sizes - 1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics.append((difference - observed.difference) / errors)
    values = np.concatenate(statistics)
    n_effective = float(np.sum(gains**2) ** 2 / np.sum(gains**4))
    inflation = (1 + _INFLATION / n_effective) / (len(values) + 1)

    def compute_p_values(margin: float) -> tuple[float, float]:
        distance = observed.difference + margin
        t, n_unseen = distance / error, distance / largest_loss
        above, below = (int(np.count_nonzero(~is_less)) + 1  # nan counts for both
                        for is_less in (values < t, values > t))
        return (min(1.0, max(above * inflation, math.exp(min(0.0, -n_unseen)))),
                min(1.0, max(below * inflation, math.exp(min(0.0, n_unseen)))))

    return compute_p_values


def find_score_range(matrix: Matrix) -> tuple[float, float]:
    """Return the lowest and the highest possible score or, if the range is infinite, those of single units."""
    low, high = matrix.score_range
    if not math.isfinite(high - low) and isinstance(matrix, StatisticMatrix):
        scores = matrix.unit_scores()
        scores = scores[np.isfinite(scores)]
        if scores.size:
            low, high = float(scores.min()), float(scores.max())
            return (0.0, 1.0) if np.isin(scores, (0, 1)).all() else (low, high)
    return low, high


def find_largest_loss(observed: Observed) -> float:
    """Return the largest loss of score by one unit: the range of the influences of all units on both scores."""
    return float(np.ptp(influences(observed.matrix.select_systems(observed.pair))))


def compute_gains(observed: Observed) -> Floats:
    """Return the influence of every unit on the difference of two systems, centred within strata, [units]."""
    matrix = observed.matrix.select_systems(observed.pair)
    strata = matrix.unit_strata
    if matrix.quotient is None and strata is not None:
        moved = -matrix.jackknife()
        sizes = np.bincount(strata)[strata]
        gains = (moved[:, 0] - moved[:, 1]) * (sizes - 1) / sizes
    else:
        gains = np.subtract(*influences(matrix).T)
    for _, members in group_by_stratum(strata, len(gains)):
        gains[members] -= gains[members].mean()
    return -gains if matrix.lower_is_better else gains


def compute_error(gains: Floats, strata: Ints | None) -> float:
    """Return the standard error of a difference, whose units are sampled within strata.

    Args:
        gains: Result of `compute_gains`, [units].
        strata: Stratum of each unit, numbered from 0, [units]; None: one stratum.
    """
    errors = [float(standard_errors(gains[members])) for _, members in group_by_stratum(strata, len(gains))]
    return math.hypot(*errors)


def _sum_resamples(columns: Floats, strata: Ints | None, settings: Settings) -> Iterator[Floats]:
    """Yield sums of columns over bootstrap resamples, [some resamples, columns].

    The columns need not be whole numbers.
    """
    rows = max(1, _CELLS // len(columns))
    for block in blocks(settings.resamples):
        counts = draw_counts(strata, len(columns), settings.seed, block)
        for start in range(0, len(counts), rows):
            yield counts[start:start + rows].astype(np.float64) @ columns


def count_needed_units(observed: Observed, margin: float, expected: float, level: float, method: str) -> int | None:
    """Return about how many units a test against a margin needs for a power of 80 %.

    The spread of the differences of single units is estimated from the data. The observed difference has no influence.
    The normal approximation is too small for the exact and the betting test, so their power is simulated. With the
    bootstrap-t, the observed distance must also be log(1 / level) times the largest loss by a unit.

    Args:
        observed: The two systems.
        margin: The largest loss that is accepted.
        expected: The supposed true difference.
        level: Significance level of the test.
        method: Method of the test, as in `MarginTest`.

    Returns:
        The number of units; None if no number suffices.
    """
    from scipy.special import ndtri

    matrix, distance = observed.matrix, margin + expected
    error = compute_error(compute_gains(observed), matrix.unit_strata)
    if not math.isfinite(error) or distance <= 0:
        return None

    def approximate(quantile: float) -> int:
        return math.ceil(matrix.n_units * ((quantile + float(ndtri(_POWER))) * error / distance) ** 2)

    needed = approximate(float(ndtri(1 - level)))
    if method == "bootstrap-t":
        chance, losses = float(ndtri(_POWER)) * error, -math.log(level) * find_largest_loss(observed) * distance
        share = ((chance + math.sqrt(chance**2 + 4 * losses)) / (2 * distance)) ** 2
        return max(needed, math.ceil(matrix.n_units * share)) or None
    if needed >= _MANY and method == "bounded":  # the bets are optimal if the logarithm of the wealth is normal
        return approximate(math.sqrt(-2 * math.log(level)))
    shares = scale_differences(matrix, observed.pair)
    width = matrix.score_range[1] - matrix.score_range[0] if method == "bounded" else 1.0
    margin, expected = margin / width, expected / width
    least = math.log(level) / math.log1p(-margin) if method == "exact" and 0 < margin < 1 else 1  # if no unit differs
    needed = max(needed, math.ceil(least))
    simulate = _simulate_betting_power if method == "bounded" else _simulate_exact_power
    while needed < _MANY and simulate(shares, needed, margin, expected, level) < _POWER:
        needed = math.ceil(needed * _STEP) + 1
    return needed


def _simulate_betting_power(shares: Floats, n: int, margin: float, expected: float, level: float) -> float:
    rng, shares = np.random.default_rng(0), shares - shares.mean() + expected
    return float(np.mean([betting_p_value(rng.choice(shares, n), margin) <= level for _ in range(_SAMPLES)]))


def _simulate_exact_power(shares: Floats, n: int, margin: float, expected: float, level: float) -> float:
    """Simulate samples with the observed rate of units in which the systems differ, but the expected difference."""
    discordant = max(float(np.mean(shares != 0)), abs(expected))
    probabilities = [(discordant + expected) / 2, (discordant - expected) / 2, 1 - discordant]
    only_a, only_b, _ = np.random.default_rng(0).multinomial(n, probabilities, _SAMPLES).T
    statistics = tango_statistic(only_a, only_b, n, -margin)
    order = np.argsort(-statistics, kind="stable")
    low, high = 0, _SAMPLES  # p-values grow as the statistics fall, so the first ones of this order are significant
    while low < high:
        middle = (low + high) // 2
        sample = order[middle]
        is_significant = exact_p_value(int(only_a[sample]), int(only_b[sample]), n, margin) <= level
        low, high = (middle + 1, high) if is_significant else (low, middle)
    return low / _SAMPLES
