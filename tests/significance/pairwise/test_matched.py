"""Wilcoxon's signed ranks and the matched-pair t, against scipy and brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from registry.significance import MatchedT, Settings, Wilcoxon
from tests.significance.matrices import alternatives, matrix, of_scores


def run(test, pairs, **settings):
    return test.run(of_scores(pairs), [(0, 1)], Settings(**settings))[0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=10), alternatives)
def test_exact_signed_ranks_count_all_signs_of_the_ranks_with_ties(units, alternative):
    """Scores in tenths: their differences tie on paper and not in floats."""
    gains = np.array([a - b for a, b in units])
    gains = gains[gains != 0]
    found = run(Wilcoxon(), np.array(units) / 10, alternative=alternative)
    if not gains.size:
        assert found.p_value == 1
        return
    ranks = stats.rankdata(np.abs(gains))
    sums = np.array(list(itertools.product((1, -1), repeat=len(gains)))) @ ranks
    turn = {"two-sided": abs, "greater": float, "less": lambda x: -x}[alternative]
    expected = np.mean([turn(s) >= turn(np.sign(gains) @ ranks) for s in sums])
    assert found.method == "exact"
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.statistic == min(ranks[gains > 0].sum(), ranks[gains < 0].sum())


@given(st.lists(st.integers(-10**6, 10**6).filter(bool), min_size=2, max_size=40, unique_by=abs), alternatives)
def test_exact_signed_ranks_without_ties_are_scipys(gains, alternative):
    found = run(Wilcoxon(), [(g + 10**6, 10**6) for g in gains], alternative=alternative)
    expected = stats.wilcoxon(gains, alternative=alternative, method="exact")
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=60), alternatives)
def test_normal_signed_ranks_are_scipys_with_ties_and_continuity(units, alternative):
    gains = np.array([a - b for a, b in units])
    assume((gains != 0).sum() > 1)
    found = run(Wilcoxon("normal"), units, alternative=alternative)
    expected = stats.wilcoxon(gains, alternative=alternative, method="asymptotic", correction=True)
    ranks = stats.rankdata(np.abs(gains[gains != 0]))
    if alternative == "two-sided" and np.sign(gains[gains != 0]) @ ranks == 0:
        assert found.p_value == 1
        return
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_many_units_are_normal():
    rng = np.random.default_rng(1)
    found = run(Wilcoxon(), rng.normal(0.02, 1, (3000, 2)))
    assert found.method == "asymptotic"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40), alternatives)
def test_matched_t_is_scipys(units, alternative):
    a, b = np.array(units, dtype=float).T
    assume(np.ptp(a - b) > 0)
    found = run(MatchedT(), units, alternative=alternative, confidence=0.9)
    expected = stats.ttest_rel(a, b, alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(abs(expected.statistic), rel=1e-9, abs=1e-12)
    interval = expected.confidence_interval(0.9)
    assert (found.ci_low, found.ci_high) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)


def test_other_systems_have_no_say_in_the_interval():
    """The third system's denominators vary; the first two share theirs, so their score is the mean of units."""
    three = matrix([[[3, 4], [1, 4], [2, 5]], [[2, 4], [2, 4], [1, 3]], [[4, 4], [1, 4], [2, 9]]])
    alone = MatchedT().run(three.select_systems([0, 1]), [(0, 1)], Settings())
    assert MatchedT().run(three, [(0, 1)], Settings()) == alone
    assert math.isfinite(alone[0].ci_low)
    assert math.isnan(MatchedT().run(three, [(0, 2)], Settings())[0].ci_low)


def test_lower_is_better_turns_the_difference_round():
    units = [(1, 4), (2, 5), (3, 3), (0, 4)]
    for test in (Wilcoxon(), Wilcoxon("normal"), MatchedT()):
        (low,) = test.run(matrix([[[a, 9], [b, 9]] for a, b in units], lower_is_better=True), [(0, 1)],
                          Settings("greater"))
        (high,) = test.run(matrix([[[b, 9], [a, 9]] for a, b in units]), [(0, 1)], Settings("greater"))
        assert repr(low) == repr(high)  # by repr: nan is not equal to itself
        assert low.difference > 0


def test_degenerate_units():
    constant = run(MatchedT(), [(0.3, 0.2), (0.4, 0.3), (0.9, 0.8)])
    assert math.isnan(constant.p_value)
    assert "constant-difference" in constant.messages.codes
    assert math.isnan(run(MatchedT(), [(1, 0)]).p_value)
    assert run(Wilcoxon(), [(1, 0)]).p_value == 1
    for test in (Wilcoxon(), MatchedT()):
        assert run(test, [(1, 1), (0, 0)]).p_value == 1
        differing = matrix([[[1, 1], [2, 2]], [[3, 3], [1, 1]]])  # other statistics, equal scores
        assert test.run(differing, [(0, 1)], Settings())[0].p_value == 1
