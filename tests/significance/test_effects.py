"""Effect sizes and equivalence: brute force, scipy, statsmodels, R, theory, exact coverage, degenerate input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import xlogy
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttost_paired

from registry.errors import InputError
from registry.significance import Settings, StatisticMatrix
from registry.significance.base import Observed
from registry.significance.distributions.noncentral_t import noncentrality_interval
from registry.significance.distributions.tango import tango_interval, tango_statistic
from registry.significance.effects.effect_sizes import effects
from registry.significance.effects.equivalence import equivalence
from registry.significance.resampled_scores import resampled_scores
from tests.significance.matrices import matrix, of_labels

Z = stats.norm.ppf(0.975)

# onlyA, onlyB, n, level and limits as PropCIs 0.3.0 (scoreci.mp) in R 4.6.1 prints them; its bisection stops at 1e-7
PROP_CIS = [
    (7, 0, 14, 0.95, 0.17703378, 0.73200792), (0, 7, 14, 0.95, -0.73200798, -0.17703387),
    (0, 0, 14, 0.95, -0.21531081, 0.21531075), (3, 2, 14, 0.95, -0.26107773, 0.38899630),
    (1, 0, 14, 0.95, -0.15926158, 0.31468708), (5, 5, 16, 0.95, -0.36750698, 0.36750681),
    (13, 1, 14, 0.95, 0.37062618, 0.97455563), (14, 0, 14, 0.95, 0.56937838, 1), (0, 14, 14, 0.95, -1, -0.56937844),
    (25, 12, 200, 0.95, 0.00563550, 0.12694110), (2, 9, 20, 0.90, -0.56655054, -0.08405294),
    (10, 3, 50, 0.90, 0.02338053, 0.26074492), (1, 1, 2, 0.90, -0.75826740, 0.75826734),
]
TABLES = [(1, 7, 21), (0, 0, 9), (4, 0, 9), (0, 4, 9), (9, 0, 9), (0, 9, 9), (5, 4, 9), (1, 1, 2), (30, 20, 400)]


def observe(m, pair=(0, 1)):
    m = m.by_unit
    scores = m.scores()
    discordant = (m.statistics[:, pair[0]] != m.statistics[:, pair[1]]).any(axis=1).sum()
    return Observed(m, pair, float(m.gain(scores[pair[0]], scores[pair[1]])), int(discordant))


def of_scores(a, b, **options):
    """Units with the scores of a mean."""
    return matrix(np.stack([np.stack([side, np.ones(len(side))], axis=-1) for side in (a, b)], axis=1), **options)


def of_counts(only_a, only_b, n, **options):
    right = [(1, 0)] * only_a + [(0, 1)] * only_b + [(1, 1)] * (n - only_a - only_b)
    return of_labels(right) if not options else of_scores(*np.array(right, dtype=float).T, **options)


def by_name(m, confidence=0.95, pair=(0, 1)):
    return {e.name: e for e in effects(observe(m, pair), confidence)}


def z_by_likelihood(only_a, only_b, n, difference):
    """Tango's statistic, its nuisance parameter found by a search for the largest likelihood."""
    d = np.asarray(difference, dtype=float)
    low, high = np.maximum(0, -d), (1 - d) / 2

    def likelihood(q):
        inside = np.clip([q + d, q, 1 - 2 * q - d], 0, 1)
        with np.errstate(divide="ignore"):
            return xlogy(only_a, inside[0]) + xlogy(only_b, inside[1]) + xlogy(n - only_a - only_b, inside[2])

    for _ in range(120):  # concave in q
        left, right = low + (high - low) * 0.45, low + (high - low) * 0.55
        better = likelihood(left) < likelihood(right)
        low, high = np.where(better, left, low), np.where(better, high, right)
    return (only_a - only_b - n * d) / np.sqrt(n * (low + high + d * (1 - d)))


# Tango's score interval

def test_tango_published():
    """Bentur et al. 2009 as in Fagerland et al. 2014: before and after, 1 and 7 of 21 discordant."""
    assert tango_interval(1, 7, 21, 0.95) == pytest.approx((-0.5172, -0.0260), abs=5e-5)


@pytest.mark.parametrize(("only_a", "only_b", "n", "confidence", "low", "high"), PROP_CIS)
def test_tango_is_that_of_r(only_a, only_b, n, confidence, low, high):
    assert tango_interval(only_a, only_b, n, confidence) == pytest.approx((low, high), abs=3e-7)


@pytest.mark.parametrize("table", TABLES)
def test_tango_inverts_the_score_test(table):
    """Everywhere inside, and nowhere outside, is the statistic of the largest likelihood at most z."""
    low, high = tango_interval(*table, 0.95)
    grid = np.linspace(-1, 1, 2002)[1:-1]
    z = z_by_likelihood(*table, grid)
    assert [tango_statistic(*table, d) for d in grid] == pytest.approx(z, rel=1e-6, abs=1e-6)
    inside = (grid > low) & (grid < high)
    assert np.array_equal(np.abs(z) <= Z, inside)
    for end, side in ((low, 1), (high, -1)):
        if abs(end) < 1:
            assert z_by_likelihood(*table, end) == pytest.approx(side * Z, rel=1e-6)


def test_tango_in_closed_form():
    n = 50
    assert tango_interval(0, 0, n, 0.95) == pytest.approx((-Z**2 / (n + Z**2), Z**2 / (n + Z**2)), rel=1e-9)
    assert tango_interval(n, 0, n, 0.95) == pytest.approx(((n - Z**2) / (n + Z**2), 1), rel=1e-9)
    for only_a in range(n + 1):  # all units discordant: Wilson's interval of A's share of them
        wilson = proportion_confint(only_a, n, method="wilson")
        assert tango_interval(only_a, n - only_a, n, 0.95) == pytest.approx([2 * p - 1 for p in wilson], abs=1e-9)
    assert tango_interval(0, 0, 0, 0.95) == (-1, 1)
    low, high = tango_interval(5_100, 4_900, 1_000_000, 0.95)  # many units: Wald's
    assert (low, high) == pytest.approx((2e-4 - Z * 1e-4, 2e-4 + Z * 1e-4), abs=1e-7)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40), st.floats(0.5, 0.999))
def test_tango_is_mirrored_nested_and_around_the_estimate(only_a, only_b, ties, confidence):
    n = only_a + only_b + ties
    low, high = tango_interval(only_a, only_b, n, confidence)
    assert -1 <= low <= (only_a - only_b) / n <= high <= 1
    assert tango_interval(only_b, only_a, n, confidence) == (-high, -low)
    wider = tango_interval(only_a, only_b, n, (1 + confidence) / 2)
    assert wider[0] < low
    assert high < wider[1]
    if only_a + only_b:  # at 0 it is McNemar's test
        expected = mcnemar([[0, only_a], [only_b, ties]], exact=False, correction=False).statistic
        assert tango_statistic(only_a, only_b, n, 0.0) ** 2 == pytest.approx(expected, rel=1e-12)


# Standardized difference

def test_noncentrality_published():
    """MBESS in R, conf.limits.nct(1.5, 98, .95), as statsmodels' tests quote it."""
    assert noncentrality_interval(1.5, 98, 0.95) == pytest.approx((-0.474934, 3.467371), abs=3e-6)


@pytest.mark.parametrize("degrees", [1, 2, 7, 40, 999, 100_000])
@pytest.mark.parametrize("t", [0.0, 0.3, -1.7, 2.5, 9.0, -30.0])
def test_noncentrality_inverts_scipys_distribution(t, degrees):
    for confidence in (0.9, 0.99):
        low, high = noncentrality_interval(t, degrees, confidence)
        tails = stats.nct.sf(t, degrees, low), stats.nct.cdf(t, degrees, high)
        assert tails == pytest.approx([(1 - confidence) / 2] * 2, abs=1e-5 if degrees == 1 else 2e-7)
        assert noncentrality_interval(-t, degrees, confidence) == pytest.approx((-high, -low), rel=1e-12)


@pytest.mark.parametrize(("t", "degrees"), [(2.0, 3), (300.0, 4), (1e3, 100), (70.0, 2000)])
def test_noncentrality_inverts_the_integral(t, degrees):
    """P(T <= t) by adaptive quadrature over the scale, its density that of chi."""
    root = math.sqrt(degrees)
    for end, level in zip(noncentrality_interval(t, degrees, 0.9), (0.95, 0.05), strict=True):
        def density(s, end=end):
            return stats.norm.cdf(t * s - end) * stats.chi.pdf(s * root, degrees) * root

        steep = [max(0.01, (end + shift) / t) for shift in (-5, 0, 5)]
        below = integrate.quad(density, 0, 8, points=[*steep, 1.0], limit=500, epsabs=1e-11)[0]
        assert below == pytest.approx(level, abs=2e-7)


@pytest.mark.parametrize(("t", "degrees"), [(1e4, 10**6), (1e6, 1)])
def test_noncentrality_where_scipy_gives_up(t, degrees):
    """Simulated: as many draws beyond t at either limit as there should be."""
    rng, draws = np.random.default_rng(3), 200_000
    z, scale = rng.standard_normal(draws), np.sqrt(rng.chisquare(degrees, draws) / degrees)
    low, high = noncentrality_interval(t, degrees, 0.95)
    deviation = math.sqrt(0.025 * 0.975 / draws)
    assert np.mean((z + low) / scale >= t) == pytest.approx(0.025, abs=4.5 * deviation)
    assert np.mean((z + high) / scale <= t) == pytest.approx(0.025, abs=4.5 * deviation)


def test_standardized_difference_covers():
    """Of normal gains with d_z = 0.4, 95 % of the intervals hold it."""
    rng, covered, runs = np.random.default_rng(11), 0, 600
    for gains in rng.normal(0.4, 1, (runs, 12)):
        e = by_name(of_scores(gains, np.zeros(12)))["standardized_difference"]
        covered += e.low <= 0.4 <= e.high
        assert e.value == pytest.approx(gains.mean() / gains.std(ddof=1))
    assert covered / runs == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / runs))


def test_signs_follow_the_better_system():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 6, (2, 40))
    plain, swapped, lower = (by_name(of_scores(a, b)), by_name(of_scores(b, a)),
                             by_name(of_scores(a, b, lower_is_better=True)))
    assert swapped == lower
    for name, mirror in {"standardized_difference": lambda x: -x, "odds_ratio": lambda x: 1 / x,
                         "probability_of_superiority": lambda x: 1 - x}.items():
        found = plain[name].value, plain[name].low, plain[name].high
        other = swapped[name].value, swapped[name].high, swapped[name].low
        assert [mirror(x) for x in found] == pytest.approx(other, rel=1e-9)


# Odds, proportions, superiority

@given(st.integers(0, 30), st.integers(0, 30))
def test_odds_ratio_is_that_of_the_binomial_test(only_a, only_b):
    found = by_name(of_counts(only_a, only_b, only_a + only_b + 3))["odds_ratio"]
    if not only_a + only_b:
        assert math.isnan(found.value)
        assert (found.low, found.high) == (0, math.inf)
        assert found.note
        return
    exact = stats.binomtest(only_a, only_a + only_b).proportion_ci(0.95, "exact")
    odds = [p / (1 - p) if p < 1 else math.inf for p in (only_a / (only_a + only_b), exact.low, exact.high)]
    assert (found.value, found.low, found.high) == pytest.approx(odds, rel=1e-9)


def test_proportions_are_for_units_that_are_right_or_wrong():
    found = by_name(of_counts(1, 7, 21))["proportion_difference"]
    assert (found.value, found.low, found.high) == pytest.approx((-6 / 21, -0.5172, -0.0260), abs=5e-5)
    lower = by_name(of_counts(1, 7, 21, lower_is_better=True))["proportion_difference"]
    assert (lower.value, lower.low, lower.high) == pytest.approx((6 / 21, 0.0260, 0.5172), abs=5e-5)
    assert "proportion_difference" not in by_name(of_scores([1, 2, 0], [1, 1, 1]))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_superiority_counts_ties_half(units):
    found = by_name(of_scores(*np.array(units, dtype=float).T))["probability_of_superiority"]
    assert found.value == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a, b in units]), rel=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.simulation
@pytest.mark.parametrize(("better", "worse"), [(0.25, 0.25), (0.4, 0.1), (0.05, 0.15), (0.6, 0.35), (0.02, 0.02)])
def test_coverage_of_superiority_is_near_its_level(better, worse):
    """Exact, by enumeration of the multinomial of 40 units; 93 to 99.5 %, the more the rarer discordant units are."""
    n, covered = 40, 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            p = stats.multinomial.pmf([wins, losses, n - wins - losses], n, [better, worse, 1 - better - worse])
            if p > 1e-7:
                low, high = tango_interval(wins, losses, n, 0.95)
                covered += p * ((1 + low) / 2 <= (1 + better - worse) / 2 <= (1 + high) / 2)
    assert 0.93 <= covered <= 0.995
    assert covered < 0.97 or better + worse < 0.1


# Degenerate effects

def test_identical_systems_have_no_effect():
    found = by_name(of_labels([(1, 1), (0, 0), (1, 1)]))
    assert (found["standardized_difference"].value, found["proportion_difference"].value) == (0, 0)
    assert found["probability_of_superiority"].value == 0.5
    assert found["probability_of_superiority"].low < 0.5 < found["probability_of_superiority"].high
    assert math.isnan(found["odds_ratio"].value)
    assert all(found[name].note for name in ("standardized_difference", "odds_ratio"))


def test_constant_and_single_gains_have_no_standardized_difference():
    for m in (of_scores([0.5, 0.3, 0.9], [0.4, 0.2, 0.8]), of_scores([2], [1])):
        found = by_name(m)["standardized_difference"]
        assert math.isnan(found.value)
        assert math.isnan(found.low)
        assert "same in every unit" in found.note


def test_undefined_units_are_left_out():
    rows = [[[1, 1], [0, 1]], [[0, 0], [1, 1]], [[1, 1], [1, 1]]]
    found = by_name(matrix(rows))
    assert found["proportion_difference"].value == 1 / 2
    assert "undefined score: 1" in found["probability_of_superiority"].note
    assert "not the mean" in found["proportion_difference"].note
    assert "not the mean" in found["standardized_difference"].note
    nothing = by_name(matrix([[[0, 0], [1, 1]]]))
    assert all(math.isnan(e.value) and e.note for e in nothing.values())


# Equivalence

margins = st.floats(0.01, 0.9)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30), st.floats(0.1, 5))
def test_equivalence_of_means_is_that_of_statsmodels(units, margin):
    a, b = np.array(units, dtype=float).T
    found = equivalence(observe(of_scores(a, b)), margin, Settings())
    if np.isin([a, b], (0, 1)).all():
        assert found.test == "score"
        assert math.isnan(found.p_value) == (margin >= 1)
        return
    if np.ptp(a - b) == 0:
        assert math.isnan(found.p_value)
        assert found.note
        return
    assert (found.test, found.method) == ("t", "asymptotic")
    assert found.p_value == pytest.approx(ttost_paired(a, b, -margin, margin)[0], rel=1e-9)
    assert (found.low, found.high) == pytest.approx(stats.ttest_rel(a, b).confidence_interval(0.9), rel=1e-9)


@pytest.mark.slow
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 60), margins)
def test_equivalence_of_proportions_is_tangos(only_a, only_b, ties, margin):
    n = only_a + only_b + ties
    found = equivalence(observe(of_counts(only_a, only_b, n)), margin, Settings())
    z = z_by_likelihood(only_a, only_b, n, [-margin, margin])
    assert found.test == "score"
    assert found.p_value == pytest.approx(max(stats.norm.sf(z[0]), stats.norm.cdf(z[1])), rel=1e-4, abs=1e-9)
    assert (found.low, found.high) == pytest.approx(tango_interval(only_a, only_b, n, 0.9), abs=1e-12)


def test_identical_right_or_wrong_units_are_equivalent_when_many():
    """No unit discordant: the statistic is sqrt(n m / (1 - m)), so that 10 units show nothing at m = 0.1."""
    for n in (10, 100):
        found = equivalence(observe(of_counts(0, 0, n)), 0.1, Settings())
        assert found.p_value == pytest.approx(stats.norm.sf(math.sqrt(n * 0.1 / 0.9)), rel=1e-9)


def precision(a, b, **options):
    """A score that is no mean: units with their own denominators, [units] of (numerator, denominator)."""
    return matrix(np.stack([np.array(a, dtype=float), np.array(b, dtype=float)], axis=1), **options)


@pytest.mark.parametrize("margin", [0.05, 0.2, 0.4])
def test_equivalence_by_bootstrap_agrees_with_all_resamples(margin):
    m = precision([(1, 2), (3, 4), (0, 1), (2, 2), (1, 3)], [(1, 3), (2, 4), (1, 1), (1, 2), (1, 2)])
    o, resamples = observe(m), 20_000
    moved = []
    for units in itertools.product(range(5), repeat=5):
        scores = m.score(m.statistics[list(units)].sum(axis=0))
        moved.append(scores[0] - scores[1] - o.difference)
    expected = max(np.mean(np.array(moved) >= o.difference + margin - 1e-12),
                   np.mean(np.array(moved) <= o.difference - margin + 1e-12))
    found = equivalence(o, margin, Settings(resamples=resamples, seed=4))
    assert (found.test, found.method, found.resamples) == ("bootstrap", "monte-carlo", resamples)
    assert found.p_value == pytest.approx(expected, abs=5 * math.sqrt(max(expected, 1e-3) / resamples))
    assert found.p_low < found.p_value < found.p_high
    assert found == equivalence(o, margin, Settings(resamples=resamples, seed=4))


def test_equivalence_by_bootstrap_nears_the_t_test():
    """Many units with equal denominators, once known as a mean and once not."""
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 5, (2, 1500))
    m = of_scores(a, b)
    unknown = StatisticMatrix(m.statistics, m.score)
    margin = abs(observe(m).difference) + 0.1
    exact = equivalence(observe(m), margin, Settings())
    drawn = equivalence(observe(unknown), margin, Settings(resamples=20_000))
    assert (exact.test, drawn.test) == ("t", "bootstrap")
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.01)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.005)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(3, 5), st.integers(0, 3), st.integers(3, 5)), min_size=2,
                max_size=8), st.sampled_from(["t", "score", "bootstrap"]), st.sampled_from([0.8, 0.95]),
       st.just(1.0) | st.floats(0.8, 1.2))
def test_the_interval_lies_within_the_margin_just_when_p_is_small(rows, test, confidence, factor):
    if test == "bootstrap":
        m = precision([r[:2] for r in rows], [r[2:] for r in rows])
    elif test == "score":
        m = of_labels([(r[0] > 1, r[2] > 1) for r in rows])
    else:
        m = of_scores([r[0] for r in rows], [2 * r[2] for r in rows])
    asked = Settings(resamples=299, confidence=confidence)
    first = equivalence(observe(m), 0.3, asked)
    margin = max(-first.low, first.high) * factor  # near where it tips
    if math.isnan(margin) or not 0 < margin < 1:
        return
    found = equivalence(observe(m), margin, asked)
    if found.test == "bootstrap" or abs(factor - 1) > 1e-6:  # whose ties are exact
        assert (found.p_value <= 1 - confidence + 1e-12) == (-margin < found.low and found.high < margin)
    assert (found.low, found.high) == pytest.approx((first.low, first.high), abs=1e-12)


def test_the_bootstrap_tips_where_its_interval_ends():
    rng = np.random.default_rng(12)
    under = rng.integers(5, 30, (30, 2))
    m = precision(*(np.stack([rng.binomial(under[:, s], 0.7), under[:, s]], axis=1) for s in (0, 1)))
    asked = Settings(resamples=1999)
    first = equivalence(observe(m), 0.3, asked)
    margin = max(-first.low, first.high)
    assert equivalence(observe(m), margin * (1 + 1e-9), asked).p_value <= 0.05
    tie = equivalence(observe(m), margin, asked)
    assert tie.p_value > 0.05
    assert margin in (-tie.low, tie.high)


def test_ties_with_the_margin_are_told_alike_by_interval_and_p():
    """Differences in steps of a tenth, which no float holds."""
    rng, ties = np.random.default_rng(13), 0
    for _ in range(20):
        a, b = rng.integers(0, 2, (2, 10))
        m = of_scores(a, b)
        o = observe(StatisticMatrix(m.statistics, m.score))
        for margin in np.arange(1, 10) / 10:
            found = equivalence(o, margin, Settings(resamples=199))
            if not math.isnan(found.p_value):
                assert (found.p_value <= 0.05) == (-margin < found.low and found.high < margin)
                ties += margin in (-found.low, found.high)
    assert ties > 10


def test_undefined_resamples_are_beyond_either_end():
    """A's score rests on 7 of 40 units, which (33/40)^40 = 0.05 % of the resamples leave out."""
    rng = np.random.default_rng(14)
    a = np.zeros((40, 2))
    a[:7] = [(n, 9) for n in rng.integers(3, 9, 7)]
    o = observe(precision(a, np.stack([rng.integers(0, 4, 40), np.full(40, 4)], axis=1)))
    asked = Settings(resamples=20_000, seed=2)
    scores = resampled_scores(o.matrix, asked)
    moved = scores[:, 0] - scores[:, 1] - o.difference
    undefined = int(np.isnan(moved).sum())
    assert 2 <= undefined <= 20
    k = math.floor(0.05 * 20_001)
    found = equivalence(o, 0.4, asked)
    assert found.low == o.difference - np.sort(np.where(np.isnan(moved), np.inf, moved))[-k]
    assert found.high == o.difference - np.sort(np.where(np.isnan(moved), -np.inf, moved))[k - 1]
    extremes = max((~(moved < o.difference + 0.4)).sum(), (~(moved > o.difference - 0.4)).sum())
    assert found.p_value == pytest.approx((extremes + 1) / 20_001, rel=1e-12)


@pytest.mark.parametrize("discordant", [0.3, 0.6])
def test_the_score_test_keeps_its_level_at_the_margin(discordant):
    """Exact size by enumeration of 60 units whose difference is the margin; 5 % nominal, a point estimate away."""
    n, margin, rejected = 60, 0.2, 0.0
    better, worse = (discordant + margin) / 2, (discordant - margin) / 2
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            p = stats.multinomial.pmf([wins, losses, n - wins - losses], n, [better, worse, 1 - discordant])
            if p > 1e-6:
                z = tango_statistic(wins, losses, n, -margin), tango_statistic(wins, losses, n, margin)
                rejected += p * (max(stats.norm.sf(z[0]), stats.norm.cdf(z[1])) <= 0.05)
    assert 0.03 < rejected < 0.06


def test_lower_is_better_turns_the_interval():
    a, b = [(1, 2), (3, 4), (0, 1), (2, 2)], [(1, 3), (2, 4), (1, 1), (1, 2)]
    asked = Settings(resamples=500)
    higher = equivalence(observe(precision(a, b)), 0.3, asked)
    lower = equivalence(observe(precision(b, a, lower_is_better=True)), 0.3, asked)
    assert (lower.p_value, lower.low, lower.high) == (higher.p_value, higher.low, higher.high)
    swapped = equivalence(observe(precision(b, a)), 0.3, asked)
    assert (swapped.low, swapped.high) == pytest.approx((-higher.high, -higher.low), rel=1e-12)


def test_what_cannot_be_tested_is_said():
    alike = precision([(1, 2), (3, 4)], [(1, 2), (3, 4)])
    single = precision([(1, 2)], [(1, 3)])
    means = of_scores([1.0, 3.0], [1.0, 3.0])
    undefined = precision([(0, 0), (0, 0)], [(1, 2), (1, 2)])
    for m in (alike, single, means, undefined):
        found = equivalence(observe(m), 0.1, Settings(resamples=100))
        assert math.isnan(found.p_value)
        assert math.isnan(found.low)
        assert found.note


def test_undefined_resamples_count_against_equivalence():
    m = precision([(1, 1)] + [(0, 0)] * 4, [(1, 2)] + [(1, 4)] * 4)
    found = equivalence(observe(m), 0.9, Settings(resamples=2000))
    assert found.p_value == pytest.approx(0.8**5, abs=0.05)  # no draw of the unit that A's score rests on
    assert math.isnan(found.low)
    assert "no interval" in found.note


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan, math.inf])
def test_a_margin_is_declared_or_nothing_is_said(margin):
    with pytest.raises(InputError, match="margin"):
        equivalence(observe(of_counts(1, 2, 9)), margin, Settings())


def test_margins_of_proportions_are_no_percents():
    found = equivalence(observe(of_counts(1, 2, 9)), 2, Settings())
    assert math.isnan(found.p_value)
    assert "as wide as" in found.note


def test_alpha_is_below_a_half():
    with pytest.raises(InputError, match="confidence"):
        equivalence(observe(of_counts(1, 2, 9)), 0.2, Settings(confidence=0.4))
