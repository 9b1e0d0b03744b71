"""Equivalence: statsmodels, the intervals that are dual to the tests, the level at the margin, degenerate input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from registry.errors import InputError
from registry.significance import Settings, StatisticMatrix
from registry.significance.distributions import tango_interval, tango_statistic
from registry.significance.effects import assess_equivalence
from registry.significance.resampling.scores import score_resamples
from tests.significance.effects.observed_effects import observe, of_counts, of_scores, z_by_likelihood
from tests.significance.matrices import matrix, of_labels

margins = st.floats(0.01, 0.9)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30), st.floats(0.1, 5))
def test_equivalence_of_means_is_that_of_statsmodels(units, margin):
    a, b = np.array(units, dtype=float).T
    found = assess_equivalence(observe(of_scores(a, b)), margin, Settings())
    if np.isin([a, b], (0, 1)).all():
        assert found.test == "score"
        assert math.isnan(found.p_value) == (margin >= 1)
        return
    if np.ptp(a - b) == 0:
        assert math.isnan(found.p_value)
        assert found.messages
        return
    assert (found.test, found.method) == ("t", "asymptotic")
    assert found.p_value == pytest.approx(ttost_paired(a, b, -margin, margin)[0], rel=1e-9)
    assert (found.low, found.high) == pytest.approx(stats.ttest_rel(a, b).confidence_interval(0.9), rel=1e-9)


@pytest.mark.slow
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 60), margins)
def test_equivalence_of_proportions_is_tangos(only_a, only_b, ties, margin):
    n = only_a + only_b + ties
    found = assess_equivalence(observe(of_counts(only_a, only_b, n)), margin, Settings())
    z = z_by_likelihood(only_a, only_b, n, [-margin, margin])
    assert found.test == "score"
    assert found.p_value == pytest.approx(max(stats.norm.sf(z[0]), stats.norm.cdf(z[1])), rel=1e-4, abs=1e-9)
    assert (found.low, found.high) == pytest.approx(tango_interval(only_a, only_b, n, 0.9), abs=1e-12)


def test_identical_right_or_wrong_units_are_equivalent_when_many():
    """No unit discordant: the statistic is sqrt(n m / (1 - m)), so that 10 units show nothing at m = 0.1."""
    for n in (10, 100):
        found = assess_equivalence(observe(of_counts(0, 0, n)), 0.1, Settings())
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
    found = assess_equivalence(o, margin, Settings(resamples=resamples, seed=4))
    assert (found.test, found.method, found.resamples) == ("bootstrap", "monte-carlo", resamples)
    assert found.p_value == pytest.approx(expected, abs=5 * math.sqrt(max(expected, 1e-3) / resamples))
    assert found.p_low < found.p_value < found.p_high
    assert found == assess_equivalence(o, margin, Settings(resamples=resamples, seed=4))


def test_equivalence_by_bootstrap_nears_the_t_test():
    """Many units with equal denominators, once known as a mean and once not."""
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 5, (2, 1500))
    m = of_scores(a, b)
    unknown = StatisticMatrix(m.statistics, m.score)
    margin = abs(observe(m).difference) + 0.1
    exact = assess_equivalence(observe(m), margin, Settings())
    drawn = assess_equivalence(observe(unknown), margin, Settings(resamples=20_000))
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
    first = assess_equivalence(observe(m), 0.3, asked)
    margin = max(-first.low, first.high) * factor  # near where it tips
    if math.isnan(margin) or not 0 < margin < 1:
        return
    found = assess_equivalence(observe(m), margin, asked)
    if found.test == "bootstrap" or abs(factor - 1) > 1e-6:  # whose ties are exact
        assert (found.p_value <= 1 - confidence + 1e-12) == (-margin < found.low and found.high < margin)
    assert (found.low, found.high) == pytest.approx((first.low, first.high), abs=1e-12)


def test_the_bootstrap_tips_where_its_interval_ends():
    rng = np.random.default_rng(12)
    under = rng.integers(5, 30, (30, 2))
    m = precision(*(np.stack([rng.binomial(under[:, s], 0.7), under[:, s]], axis=1) for s in (0, 1)))
    asked = Settings(resamples=1999)
    first = assess_equivalence(observe(m), 0.3, asked)
    margin = max(-first.low, first.high)
    assert assess_equivalence(observe(m), margin * (1 + 1e-9), asked).p_value <= 0.05
    tie = assess_equivalence(observe(m), margin, asked)
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
            found = assess_equivalence(o, margin, Settings(resamples=199))
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
    scores = score_resamples(o.matrix, asked)
    moved = scores[:, 0] - scores[:, 1] - o.difference
    undefined = int(np.isnan(moved).sum())
    assert 2 <= undefined <= 20
    k = math.floor(0.05 * 20_001)
    found = assess_equivalence(o, 0.4, asked)
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
    higher = assess_equivalence(observe(precision(a, b)), 0.3, asked)
    lower = assess_equivalence(observe(precision(b, a, lower_is_better=True)), 0.3, asked)
    assert (lower.p_value, lower.low, lower.high) == (higher.p_value, higher.low, higher.high)
    swapped = assess_equivalence(observe(precision(b, a)), 0.3, asked)
    assert (swapped.low, swapped.high) == pytest.approx((-higher.high, -higher.low), rel=1e-12)


def test_what_cannot_be_tested_is_said():
    alike = precision([(1, 2), (3, 4)], [(1, 2), (3, 4)])
    single = precision([(1, 2)], [(1, 3)])
    means = of_scores([1.0, 3.0], [1.0, 3.0])
    undefined = precision([(0, 0), (0, 0)], [(1, 2), (1, 2)])
    for m in (alike, single, means, undefined):
        found = assess_equivalence(observe(m), 0.1, Settings(resamples=100))
        assert math.isnan(found.p_value)
        assert math.isnan(found.low)
        assert found.messages


def test_undefined_resamples_count_against_equivalence():
    m = precision([(1, 1)] + [(0, 0)] * 4, [(1, 2)] + [(1, 4)] * 4)
    found = assess_equivalence(observe(m), 0.9, Settings(resamples=2000))
    assert found.p_value == pytest.approx(0.8**5, abs=0.05)  # no draw of the unit that A's score rests on
    assert math.isnan(found.low)
    assert "no-interval" in found.messages.codes


@pytest.mark.parametrize("margin", [0.0, -0.1, math.nan, math.inf])
def test_a_margin_is_declared_or_nothing_is_said(margin):
    with pytest.raises(InputError, match="margin"):
        assess_equivalence(observe(of_counts(1, 2, 9)), margin, Settings())


def test_margins_of_proportions_are_no_percents():
    found = assess_equivalence(observe(of_counts(1, 2, 9)), 2, Settings())
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("widest-margin",)


def test_alpha_is_below_a_half():
    with pytest.raises(InputError, match="confidence"):
        assess_equivalence(observe(of_counts(1, 2, 9)), 0.2, Settings(confidence=0.4))
