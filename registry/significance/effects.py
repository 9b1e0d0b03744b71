"""Effect sizes, equivalence, clustering and normality of paired differences.

A p-value depends on the size of the difference and on the size of the test set; an effect size depends only on the
difference. A difference that is not significant does not show equivalence. `assess_equivalence` tests whether the
difference is within a margin, which is declared before anyone looks at the results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from registry.arrays import ROUNDING, Floats, Ints
from registry.errors import InputError
from registry.messages import NO_MESSAGES, Messages
from registry.significance.base import Method, Observed, Pair, Settings
from registry.significance.diagnostics.exchangeability import LEAST_RATIO
from registry.significance.distributions import (
    clopper_pearson,
    log_normal_p,
    log_t_p,
    noncentrality_interval,
    tango_interval,
    tango_statistic,
)
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.intervals import influences
from registry.significance.matrix import Matrix
from registry.significance.resampling.exceedances import dual_rank, monte_carlo_tail, tolerance
from registry.significance.resampling.scores import score_resamples
from registry.significance.units import has_binary_units, unit_differences

Counts = Ints

LARGEST_SHAPIRO = 5000  # largest number of units for which Royston fitted the p-value of Shapiro and Wilk's test
_CANCELLED = 1e-9  # relative to the sum of two squares: a smaller difference is a rounding error


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect size of the difference of two systems (A, B), with its interval.

    If A is better, a difference is positive, an odds ratio is above 1, and a probability is above 1/2.

    Attributes:
        name: `standardized_difference`, `odds_ratio`, `proportion_difference` or `probability_of_superiority`.
        value: The effect size; nan if undefined.
        low, high: Confidence interval; nan if there is none.
        messages: Reasons why a value is nan, and other messages.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    messages: Messages = NO_MESSAGES


def measure_effects(observed: Observed, confidence: float = 0.95) -> list[Effect]:
    """Return the effect sizes of the difference of two systems.

    Effect sizes are computed from the units (items or clusters) in which both systems have a defined score.

    Args:
        observed: The pair of systems.
        confidence: Confidence level of the intervals.

    Returns:
        `standardized_difference`: d_z, the mean difference of units divided by its standard deviation (Cohen 1988,
            section 2.3.5). The interval inverts the noncentral t distribution (Steiger and Fouladi 1997), for nearly
            normal differences.
        `odds_ratio`: the number of units in which A is better divided by the number in which B is better, with the
            exact interval for a given sum of both (Clopper and Pearson 1934).
        `proportion_difference`, only for units that are right or wrong: the difference with Tango's score interval
            (Tango 1998).
        `probability_of_superiority`: the probability that A scores higher in a unit; half of the ties are counted
            (Grissom and Kim 2012). It is (1 + the difference of two paired proportions) / 2, so its interval follows
            from Tango's interval, and without ties from Wilson's interval.
    """
    differences, slack = unit_differences(observed)
    n, only_a, only_b = len(differences), int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    missing = observed.matrix.n_units - n
    left_out = Messages.make("units-left-out", units=missing) if missing else NO_MESSAGES
    unit_message = NO_MESSAGES if observed.is_mean else Messages.make("effect-of-units")
    runs = NO_MESSAGES if observed.matrix.runs is None else Messages.make("effect-of-averages")
    about = Messages((*left_out, *unit_message, *runs))
    messages = {"odds_ratio": left_out if only_a or only_b else Messages.make("no-unit-favours"),
                "proportion_difference": about, "probability_of_superiority": left_out}
    counted = measure_counts(np.array(only_a), np.array(only_b), np.array(n), confidence)
    if not has_binary_units(observed):
        del counted["proportion_difference"]
    return [_measure_standardized(differences, slack, confidence, about),
            *(Effect(name, float(value), float(low), float(high), messages[name])
              for name, (value, low, high) in counted.items())]


def measure_counts(only_a: Counts, only_b: Counts, n: Counts,
                   confidence: float = 0.95) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return effect sizes that depend only on the numbers of wins and losses.

    Args:
        only_a: Numbers of units (items or clusters) in which system A is better, of any shape.
        only_b: Numbers of units in which system B is better.
        n: Numbers of all units with two defined scores.
        confidence: Confidence level of the intervals.

    Returns:
        By the name of the effect size: values, lower ends and upper ends.
    """
    def odds(share: Floats) -> Floats:
        return np.where(share < 1, share / np.where(share < 1, 1 - share, 1), np.inf)

    odds_low, odds_high = map(odds, clopper_pearson(only_a, only_a + only_b, confidence))
    low, high = tango_interval(only_a, only_b, n, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift, ratio = (only_a - only_b) / n, np.divide(only_a, only_b)
    return {"odds_ratio": (ratio, odds_low, odds_high),
            "proportion_difference": (shift, low, high),
            "probability_of_superiority": ((1 + shift) / 2, (1 + low) / 2, (1 + high) / 2)}


def _measure_standardized(differences: Floats, slack: float, confidence: float, messages: Messages) -> Effect:
    name, n = "standardized_difference", len(differences)
    if not n:
        return Effect(name, math.nan, messages=Messages.make("no-shared-scores"))
    if not differences.any():
        return Effect(name, 0.0, messages=Messages.make("equal-scores"))
    if n < 2 or np.ptp(differences) <= slack:
        return Effect(name, math.nan, messages=Messages.make("constant-difference", over="unit"))
    value = float(differences.mean() / differences.std(ddof=1))
    low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(value * math.sqrt(n), n - 1, confidence))
    long_tails = Messages.make("narrow-effect-interval") if _varies_more(differences) else NO_MESSAGES
    return Effect(name, value, low, high, Messages((*messages, *long_tails)))


def _varies_more(differences: Floats) -> bool:
    # The interval of a standardized difference assumes normal differences. Let d be the standardized difference, and
    # s the skewness and k the kurtosis of n differences in single items. The asymptotic variance of sqrt(n) d is 1 -
    # d s + d^2 (k - 1) / 4, and 1 + d^2 / 2 for normal differences (delta method). In normal samples s and k deviate
    # by sqrt(6 / n) and sqrt(24 / n).
    n, z = len(differences), differences / differences.std()
    d, z = z.mean(), z - z.mean()
    normal, more = 1 + d**2 / 2, -d * (z**3).mean() + d**2 / 4 * ((z**4).mean() - 3)
    by_chance = math.sqrt((6 * d**2 + 1.5 * d**4) / n)
    return bool(more > 2 * by_chance and normal < LEAST_RATIO**2 * (normal + more))


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Result of a test of equivalence: is a difference within a declared margin?

    Two one-sided tests are applied.

    Attributes:
        margin: Largest difference that does not matter, in either direction.
        p_value: The larger one of the two one-sided p-values; nan if the test is undefined.
        low, high: The 1 - 2 alpha interval of the difference, which is inside the margin if and only if p <= alpha.
        messages: Reasons why a value is nan.
        test: `t` (paired), `score` (Tango's) or `bootstrap` (recentred); empty if no score is defined.
        method: Method that computed the p-value.
        p_low, p_high: 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        resamples: Number of resamples of a Monte-Carlo p-value; None for other methods.
    """

    margin: float
    p_value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    messages: Messages = NO_MESSAGES
    test: Literal["", "t", "score", "bootstrap"] = ""
    method: Method = "asymptotic"
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None


def assess_equivalence(observed: Observed, margin: float, settings: Settings) -> Equivalence:
    """Test whether the difference of two systems is within a margin (equivalence).

    Two one-sided tests are applied (Schuirmann 1987). If the score is the mean of right-or-wrong items, these are
    Tango's score tests of +margin and -margin (Tango 1998). For other means they are paired t-tests. Any other score is
    tested by the paired bootstrap: the differences d* - d of resamples are shifted to either margin.

    Args:
        observed: The pair of systems.
        margin: Largest difference of scores that does not matter; declared before looking at the results.
        settings: Alpha is 1 - `confidence`; the bootstrap also uses `resamples` and `seed`.

    Raises:
        InputError: The margin is not a positive number, or alpha is not below 1/2.
    """
    if not 0 < margin < math.inf:
        raise InputError(f"the margin of equivalence is {margin!r}; expected a difference of scores above 0")
    if not settings.confidence > 0.5:
        raise InputError(f"the confidence of a test of equivalence is {settings.confidence!r}; expected more than 0.5")
    if math.isnan(observed.difference):
        return Equivalence(margin, messages=Messages.make("score-undefined"))
    if observed.matrix.runs is not None or not observed.is_mean:
        return _by_bootstrap(observed, margin, settings)
    return (_by_score if has_binary_units(observed) else _by_t)(observed, margin, settings)


def _by_t(o: Observed, margin: float, settings: Settings) -> Equivalence:
    from scipy.special import stdtrit

    differences, slack = unit_differences(o)
    n = len(differences)
    if n < 2 or np.ptp(differences) <= slack:
        return Equivalence(margin, messages=Messages.make("constant-difference", over="unit"), test="t")
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    log_p = max(log_t_p((mean + margin) / error, n - 1, "greater"), log_t_p((mean - margin) / error, n - 1, "less"))
    reach = float(stdtrit(n - 1, settings.confidence)) * error
    return Equivalence(margin, math.exp(log_p), mean - reach, mean + reach, test="t")


def _by_score(o: Observed, margin: float, settings: Settings) -> Equivalence:
    if margin >= 1:
        return Equivalence(margin, messages=Messages.make("widest-margin"), test="score")
    differences, _ = unit_differences(o)
    n, only_a, only_b = len(differences), int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    log_p = max(log_normal_p(float(tango_statistic(only_a, only_b, n, -margin)), "greater"),
                log_normal_p(float(tango_statistic(only_a, only_b, n, margin)), "less"))
    low, high = map(float, tango_interval(only_a, only_b, n, 2 * settings.confidence - 1))
    return Equivalence(margin, math.exp(log_p), low, high, test="score")


def _by_bootstrap(o: Observed, margin: float, settings: Settings) -> Equivalence:
    resamples, d = settings.resamples, o.difference
    a, b = (score_resamples(o.matrix, settings)[:, system] for system in o.pair)
    moved = o.matrix.difference(a, b) - d
    moved.sort()  # undefined ones come last
    n_undefined = int(np.count_nonzero(np.isnan(moved)))
    moved = moved[:resamples - n_undefined]
    slack = tolerance(o)
    if len(moved) and not (np.abs(moved) > slack).any():
        return Equivalence(margin, messages=Messages.make("constant-difference", over="resample"), test="bootstrap",
                           method="monte-carlo", resamples=resamples)
    # resamples as large (small) as the observed difference if the true one is -margin (+margin), or undefined
    extremes = n_undefined + max(int(np.count_nonzero(moved >= d + margin - slack)),
                                 int(np.count_nonzero(moved <= d - margin + slack)))
    tail = monte_carlo_tail(extremes, resamples)
    low = high = math.nan
    if n_undefined <= MOST_UNDEFINED * resamples:
        # dual to the test: (c + 1) / (R + 1) <= alpha if the k-th largest resample is below the observed difference
        k = dual_rank(settings) - n_undefined
        low, high = (d - moved[-k], d - moved[k - 1]) if k > 0 else (-math.inf, math.inf)
        low, high = (end if abs(abs(end) - margin) > slack else math.copysign(margin, end) for end in (low, high))
    messages = Messages.make("no-interval") if math.isnan(low) else NO_MESSAGES
    return Equivalence(margin, tail.p, float(low), float(high), messages, "bootstrap", "monte-carlo", tail.p_low,
                       tail.p_high, resamples)


@dataclass(frozen=True, slots=True)
class Clustering:
    """How much clusters of items increase the error of a difference of two systems.

    Attributes:
        n_items: Number of items.
        n_clusters: Number of clusters; equal to the number of items if the test set declares no clusters.
        intra_cluster_correlation: Correlation of the influences of items in one cluster on the difference. It can be
            negative, and is nan if no cluster has two items.
        design_effect: Variance of the difference with clusters as units, divided by the variance with items as units.
        messages: Reasons why a value is nan.
    """

    n_items: int
    n_clusters: int
    intra_cluster_correlation: float
    design_effect: float
    messages: Messages = NO_MESSAGES


def measure_design_effect(matrix: Matrix, pair: Pair) -> Clustering:
    """Measure how much clusters of items increase the error of a difference.

    Sentences of one document share author and topic, so they carry less information than the same number of independent
    sentences. The correlation of the *difference* of the two systems matters, not the correlation of the scores: a hard
    document is hard for both systems.

    The intra-cluster correlation is that of a one-way analysis of variance with clusters of unequal size (Donner and
    Koval 1980). The design effect (Kish 1965) is the estimated variance with clusters as units, divided by the one with
    items as units. A test of items understates the standard error by the root of the design effect.

    Args:
        matrix: Statistics with single items as rows, and their clusters in `units`; the items of a cluster must not be
            summed.
        pair: Indices of the two systems.
    """
    # Let u be the influence of an item on the difference. The numerator of the design effect is C / (C - 1) times the
    # sum of squares of the C cluster sums of u; the denominator is n / (n - 1) times the sum of squares of the u of n
    # items. It is nearly 1 + (m' - 1) ICC, where m' = sum m^2 / n is the mean size of a random item's cluster, unless
    # the influence depends on the size of the cluster. With m copies of each item it is m (n - 1) / (n - m), or m for
    # many items.
    n, n_clusters = len(matrix.statistics), matrix.n_units
    u, slack = _influence(matrix, pair)
    if np.isnan(u).any():
        return Clustering(n, n_clusters, math.nan, math.nan, Messages.make("score-undefined"))
    u = u - u.sum() / max(n, 1)
    if n_clusters < 2 or np.abs(u).max() <= slack:
        reason = Messages.make("one-cluster") if n_clusters < 2 else Messages.make("constant-difference", over="item")
        return Clustering(n, n_clusters, math.nan, math.nan, reason)
    clusters = np.arange(n) if matrix.units is None else matrix.units
    sizes, sums = np.bincount(clusters), np.bincount(clusters, weights=u)
    effect = (n_clusters / (n_clusters - 1) * float(sums @ sums)) / (n / (n - 1) * float(u @ u))
    if n == n_clusters:
        return Clustering(n, n_clusters, math.nan, effect, Messages.make("single-item-clusters"))
    deviations = u - (sums / sizes)[clusters]
    between = float(sums @ (sums / sizes)) / (n_clusters - 1)
    variance_within = float(deviations @ deviations) / (n - n_clusters)
    typical = (n - float(sizes @ sizes) / n) / (n_clusters - 1)
    return Clustering(n, n_clusters, (between - variance_within) / (between + (typical - 1) * variance_within), effect)


def measure_design_effects(influence: Floats, clusters: Ints) -> Floats:
    """Return the design effect for the difference of every two systems.

    The design effect is the factor by which clusters of items increase the variance of the difference.

    Args:
        influence: Influence of every item on the score of every system, [items, systems].
        clusters: Cluster of each item, numbered from 0, [items].

    Returns:
        [systems, systems]; nan if a difference is the same in every item, or if there are fewer than two clusters.
    """
    n, n_clusters = len(clusters), int(clusters.max(initial=-1)) + 1
    sums = np.zeros((n_clusters, influence.shape[1]))
    np.add.at(sums, clusters, influence)

    def squares(influences: Floats) -> Floats:
        products = influences.T @ influences
        norms = np.diag(products)
        squares_: Floats = norms[:, np.newaxis] + norms - 2 * products
        squares_[squares_ <= _CANCELLED * (norms[:, np.newaxis] + norms)] = np.nan
        return squares_

    if n_clusters < 2:
        return np.full((influence.shape[1],) * 2, np.nan)
    return np.asarray((n_clusters / (n_clusters - 1) * squares(sums)) / (n / (n - 1) * squares(influence)))


def _influence(matrix: Matrix, pair: Pair) -> tuple[Floats, float]:
    """Return how much every item influences the difference of two systems.

    Args:
        matrix: Statistics with single items as rows.
        pair: Indices of the two systems.

    Returns:
        Influences, [items]; and their largest rounding error.
    """
    items = replace(matrix.select_systems(pair), units=None)
    influence: Floats = influences(items) @ np.array([1.0, -1.0])
    if matrix.quotient is None:
        return influence, ROUNDING * float(np.abs(items.scores()).max(initial=0))
    numerators, denominators = items.parts
    total = denominators.sum(axis=0)
    if not total.all():
        return influence, 0.0
    threshold = 4 / float(total.min()) if items.rounding else 0  # steps
    return influence, matrix.scale * (ROUNDING * float(np.abs(numerators / total).max(initial=0)) + threshold)


@dataclass(frozen=True, slots=True)
class Normality:
    """Result of one test of normality, with estimated mean and variance.

    Attributes:
        name: Name of the test.
        statistic: Test statistic; nan if the test cannot be computed.
        p_value: p-value; nan if the test cannot be computed.
        messages: Reasons why a value is nan.
    """

    name: str
    statistic: float
    p_value: float
    messages: Messages = NO_MESSAGES


def check_normality(differences: Floats) -> list[Normality]:
    """Test whether two systems' differences in single items are normally distributed.

    These tests are for information only. They must not choose the test of a pair, because this would distort the error
    rates of both tests. With many items they reject for small departures that do not affect the t-test, and with few
    items they have little power.

    Args:
        differences: Differences in items or clusters, [units].

    Returns:
        `shapiro-wilk`: W (Shapiro and Wilk 1965) with the p-value of Royston (1995), for 3 to 5000 units.
        `anderson-darling`: A^2 (Anderson and Darling 1954), for at least 8 units. The p-value comes from A^2 (1 +
            0.75/n + 2.25/n^2) by the formulas of D'Agostino and Stephens (1986, table 4.9); these end at 13, where p is
            below 1e-30.
        `lilliefors`: D (Lilliefors 1967), for at least 5 units. The p-value is that of Dallal and Wilkinson (1986) up
            to their limit 0.1, and that of Abdi and Molin (2007) above.
    """
    n = len(differences)
    if n and np.ptp(differences) <= ROUNDING * np.abs(differences).max():
        constant = Messages.make("constant-difference", over="unit")
        return [Normality(name, math.nan, math.nan, constant) for name in _TESTS]
    checks = []
    for name, (fewest, most, test) in _TESTS.items():
        if n < fewest or n > most:
            few, many = Messages.make("needs-units", least=fewest), Messages.make("too-many-units", most=most)
            checks.append(Normality(name, math.nan, math.nan, few if n < fewest else many))
            continue
        checks.append(Normality(name, *test(np.sort((differences - differences.mean()) / differences.std(ddof=1)))))
    return checks


def _shapiro_wilk(z: Floats) -> tuple[float, float]:
    from scipy.stats import shapiro

    result = shapiro(z)
    return float(result.statistic), float(result.pvalue)


def _anderson_darling(z: Floats) -> tuple[float, float]:
    from scipy.special import log_ndtr

    n = len(z)
    odd = 2 * np.arange(n) + 1
    statistic = -n - float(odd @ (log_ndtr(z) + log_ndtr(-z[::-1]))) / n
    x = min(statistic * (1 + 0.75 / n + 2.25 / n**2), 13.0)
    if x < 0.2:
        p = -math.expm1(-13.436 + 101.14 * x - 223.73 * x * x)
    elif x < 0.34:
        p = -math.expm1(-8.318 + 42.796 * x - 59.938 * x * x)
    elif x < 0.6:
        p = math.exp(0.9177 - 4.279 * x - 1.38 * x * x)
    else:
        p = math.exp(1.2937 - 5.709 * x + 0.0186 * x * x)
    return statistic, p


def _lilliefors(z: Floats) -> tuple[float, float]:
    from scipy.special import ndtr

    n = len(z)
    below, steps = ndtr(z), np.arange(n + 1) / n
    statistic = float(max((steps[1:] - below).max(), (below - steps[:-1]).max()))
    p = _dallal_wilkinson(statistic, n)
    return statistic, p if p <= 0.1 else min(max(_abdi_molin(statistic, n), 0.1), 1.0)


def _dallal_wilkinson(d: float, n: int) -> float:
    # The formula was fitted for n from 5 to 100 and p up to 0.1. Above n = 100 the authors multiply d by (n /
    # 100)^0.49. Above n = 1000 we use the square root instead, as the limit distribution requires. With the authors'
    # exponent, a p-value of 0.05 becomes 0.062 at n = 10 000 (simulated), and the error grows with n.
    if n > 100:
        d, n = d * (min(n, 1000) / 100) ** 0.49 * math.sqrt(max(n, 1000) / 1000), 100
    m = n + 2.78019
    return math.exp(-7.01256 * d * d * m + 2.99587 * d * math.sqrt(m) - 0.122119 + 0.974598 / math.sqrt(n)
                    + 1.67997 / n)


def _abdi_molin(d: float, n: int) -> float:
    # A polynomial of degree 10. Its error is a few hundredths, so it is useless below 0.01.
    b = 1.30748185078790 + n
    x = (math.sqrt(b * b - 4 * 0.08861783849346 * (0.37872256037043 - 1 / d**2)) - b) / (2 * 0.08861783849346)
    # lowest power first; the polynomial exceeds 1 above x = 5.6
    return float(np.polynomial.polynomial.polyval(x, (
        -0.37782822932809, 1.67819837908004, -3.02959249450445, 2.80015798142101, -1.39874347510845, 0.40466213484419,
        -0.06353440854207, 0.00287462087623, 0.00069650013110, -0.00011872227037, 0.00000575586834)))


_TESTS = {
    "shapiro-wilk": (3, LARGEST_SHAPIRO, _shapiro_wilk),
    "anderson-darling": (8, math.inf, _anderson_darling),
    "lilliefors": (5, math.inf, _lilliefors),
}


@dataclass(frozen=True, eq=False)
class Contingencies:
    """2 x 2 tables of right and wrong answers for all pairs of systems (a, b).

    Every array of counts has the shape [systems, systems]: a is the row and b the column.

    Attributes:
        both_correct: Number of answers that both systems get right; on the diagonal, that each system gets right.
        n: Number of answers.
    """

    both_correct: Ints
    n: int

    @property
    def only_a_correct(self) -> Ints:
        """Number of answers that only system a gets right, [systems, systems].

        System a is that of the row. The transposed array is `only_b_correct`.
        """
        correct: Ints = np.diag(self.both_correct)
        return correct[:, None] - self.both_correct

    @property
    def only_b_correct(self) -> Ints:
        """Number of answers that only system b gets right, [systems, systems].

        System b is that of the column.
        """
        return self.only_a_correct.T

    @property
    def both_incorrect(self) -> Ints:
        """Number of answers that neither system gets right."""
        return self.n - self.both_correct - self.only_a_correct - self.only_b_correct

    @property
    def correlation(self) -> Floats:
        """Phi coefficient of each 2 x 2 table (r12 of Yeh 2000, section 2.1).

        The coefficient is nan if a system is never or always right.
        """
        correct = np.diag(self.both_correct).astype(np.float64)
        covariance = self.n * self.both_correct.astype(np.float64) - np.outer(correct, correct)
        deviation = np.sqrt(correct * (self.n - correct))
        denominator = np.outer(deviation, deviation)
        return np.asarray(np.divide(covariance, denominator, out=np.full_like(denominator, np.nan),
                                    where=denominator > 0))


def count_contingencies(correct: NDArray[np.uint64], n: int) -> Contingencies:
    """Count the 2 x 2 tables of right and wrong answers for all pairs of systems.

    Args:
        correct: One bit per answer and system, 1 if the answer is right, [systems, words of 64 bits]; unused bits are
            0.
        n: Number of answers.
    """
    both = np.zeros((len(correct), len(correct)), dtype=np.int64)
    for system, row in enumerate(correct):
        counts = np.bitwise_count(row & correct[system:]).sum(axis=1, dtype=np.int64)
        both[system, system:] = both[system:, system] = counts
    return Contingencies(both, n)
