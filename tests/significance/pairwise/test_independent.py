"""Tests that assume independence, against scipy, statsmodels and Yeh 2000."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from registry.significance import BinomialZ, ChiSquared, RankSum, Settings, TwoSampleT
from registry.significance.pairwise.independent import compute_error_ratio, correlation, rank_sum
from tests.significance.matrices import PRECISION, RECALL, alternatives, matrix, of_labels, of_scores, yehs_relations


def test_yehs_chi_squared_of_precision():
    """Section 2.2: 2.38 without Yates's correction, p between 0.1 and 0.2."""
    m = yehs_relations(PRECISION)
    assert m.scores() == pytest.approx([47 / 95, 25 / 39])
    (found,) = ChiSquared().run(m, [(0, 1)], Settings())
    expected = stats.chi2_contingency([[47, 48], [25, 14]], correction=False)
    assert round(found.statistic, 2) == 2.38
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)
    (corrected,) = ChiSquared(correction=True).run(m, [(0, 1)], Settings())
    expected = stats.chi2_contingency([[47, 48], [25, 14]], correction=True)
    assert (corrected.statistic, corrected.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)


def test_yehs_correlation_of_recalls_stands_beside_the_p_value():
    """Section 2.2: 0.35; facts.md: 0.34518."""
    m = yehs_relations(RECALL)
    recalled = m.statistics[:103, :, 0]
    assert correlation(*recalled.T) == pytest.approx(0.34518, abs=5e-6)
    assert correlation(*recalled.T) == pytest.approx(stats.pearsonr(*recalled.T).statistic)
    (found,) = TwoSampleT().run(m, [(0, 1)], Settings())
    assert found.messages.codes == ("independence-assumed",)
    assert found.messages[0].parameters["correlation"] == pytest.approx(0.35, abs=0.005)


@pytest.mark.parametrize(("r", "shrinks", "factor"), [(0.38, 0.787, 1.27), (0.50, 0.707, 1.41), (0.80, 0.447, 2.24)])
def test_the_factor_of_yehs_table(r, shrinks, factor):
    """Section 2.1: equal deviations and a correlation of exactly r."""
    x, y = np.array([[1, 1, -1, -1], [1, -1, 1, -1]], dtype=float)
    found = compute_error_ratio(x, r * x + math.sqrt(1 - r * r) * y)
    assert round(found, 2) == factor
    assert round(1 / found, 3) == shrinks


def test_the_factor_with_unequal_deviations():
    """Equation 2: s_d^2 = s1^2 + s2^2 - 2 r12 s1 s2."""
    x, y = np.random.default_rng(3).normal(size=(2, 50))
    y = 3 * y + 2 * x
    s1, s2, r = x.std(), y.std(), stats.pearsonr(x, y).statistic
    assert compute_error_ratio(x, y) == pytest.approx(math.sqrt((s1**2 + s2**2) / (s1**2 + s2**2 - 2 * r * s1 * s2)))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=40), alternatives, st.booleans())
def test_two_sample_t_is_scipys(units, alternative, pooled):
    a, b = np.array(units, dtype=float).T
    assume((a != b).any() and min(np.ptp(a), np.ptp(b)) > 0)
    (found,) = TwoSampleT(pooled).run(of_scores(units), [(0, 1)], Settings(alternative))
    expected = stats.ttest_ind(a, b, alternative=alternative, equal_var=pooled)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(abs(expected.statistic), rel=1e-9, abs=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60),
       st.sampled_from([("two-sided", "two-sided"), ("greater", "larger"), ("less", "smaller")]), st.booleans())
def test_binomial_z_is_statsmodels(right, alternative, pooled):
    counts, n = np.sum(right, axis=0), len(right)
    assume(any(a != b for a, b in right))
    assume(0 < counts.sum() < 2 * n if pooled else ((counts > 0) & (counts < n)).all())
    (found,) = BinomialZ(pooled).run(of_labels(right), [(0, 1)], Settings(alternative[0]))
    if pooled:
        statistic, p = proportions_ztest(counts, [n, n], alternative=alternative[1])
    else:
        shares = counts / n
        statistic = (shares[0] - shares[1]) / math.sqrt((shares * (1 - shares) / n).sum())
        p = {"two-sided": 2 * stats.norm.sf(abs(statistic)), "greater": stats.norm.sf(statistic),
             "less": stats.norm.cdf(statistic)}[alternative[0]]
    assert (found.statistic, found.p_value) == pytest.approx((abs(statistic), p), rel=1e-9, abs=1e-12)


values = st.lists(st.integers(0, 6), min_size=2, max_size=30)


@given(values, values, alternatives)
def test_rank_sum_of_unequal_sets_is_scipys(x, y, alternative):
    assume(len(set(x + y)) > 1)
    found = rank_sum(np.array(x, dtype=float), np.array(y, dtype=float), alternative)
    expected = stats.mannwhitneyu(x, y, alternative=alternative, method="asymptotic")
    assert found.statistic == min(expected.statistic, len(x) * len(y) - expected.statistic)
    assert math.exp(found.log_p) == pytest.approx(expected.pvalue, rel=1e-9)


def test_rank_sum_of_a_matrix_favours_the_better_system():
    m = of_scores([(0.9, 0.1), (0.8, 0.3), (0.7, 0.2), (0.6, 0.65)])
    (found,) = RankSum().run(m, [(0, 1)], Settings("greater"))
    expected = stats.mannwhitneyu([0.9, 0.8, 0.7, 0.6], [0.1, 0.3, 0.2, 0.65], alternative="greater",
                                  method="asymptotic")
    assert found.p_value == pytest.approx(expected.pvalue)


def test_proportions_are_asked_for():
    for test in (BinomialZ(), ChiSquared()):
        with pytest.raises(ValueError, match="proportion of counted things"):
            test.run(of_scores([(0.3, 0.2)]), [(0, 1)], Settings())
        with pytest.raises(ValueError, match="proportion of counted things"):
            test.run(yehs_relations(((2, 0, 0), (0, 1, 1))), [(0, 1)], Settings())
    nothing = matrix([[[0, 1], [0, 2]], [[0, 2], [0, 1]]])
    (found,) = ChiSquared().run(nothing, [(0, 1)], Settings())
    assert found.p_value == 1


@pytest.mark.parametrize("n", [3, 7, 10, 30])
def test_scores_that_never_change_have_neither_variance_nor_correlation(n):
    """The mean of n times 2/3 is not 2/3 in floats, and what it is off by is no variance."""
    (found,) = TwoSampleT().run(matrix([[[2, 3], [1, 10]]] * n), [(0, 1)], Settings())
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("independence-assumed", "constant-scores")
    always, rising = np.full(n, 2 / 3), np.arange(n) / n
    assert math.isnan(correlation(always, rising))
    assert math.isnan(correlation(rising, np.full(n, 0.1)))
    assert compute_error_ratio(rising, rising + 0.1) == math.inf
