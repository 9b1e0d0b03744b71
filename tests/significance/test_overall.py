"""Cochran's Q and Friedman's test, against statsmodels, scipy and McNemar."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

from registry.significance import McNemar, Settings
from registry.significance.overall import CochranQ, Friedman
from tests.significance.matrices import of_labels, of_scores

shapes = st.tuples(st.integers(1, 30), st.integers(2, 5))


@given(arrays.arrays(np.int64, shapes, elements=st.integers(0, 1)))
def test_cochrans_q_is_statsmodels(right):
    found = CochranQ().run(of_labels(right))
    mixed = ((right.sum(axis=1) % right.shape[1]) != 0).any()
    if not mixed:
        assert (found.statistic, found.p_value) == (0, 1)
        return
    expected = cochrans_q(right)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9, abs=1e-12)
    assert found.degrees == right.shape[1] - 1


@given(arrays.arrays(np.int64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.integers(0, 1)))
def test_cochrans_q_of_two_systems_is_mcnemars_chi_squared(right):
    assume((right[:, 0] != right[:, 1]).any())
    overall = CochranQ().run(of_labels(right))
    (pair,) = McNemar("chi-squared").run(of_labels(right), [(0, 1)], Settings())
    assert (overall.statistic, overall.p_value) == pytest.approx((pair.statistic, pair.p_value), rel=1e-12, abs=1e-14)


@given(arrays.arrays(np.int64, st.tuples(st.integers(2, 30), st.integers(3, 5)), elements=st.integers(0, 4)))
def test_friedman_is_scipys_ties_included(scores):
    found = Friedman().run(of_scores(scores))
    if all(len(set(row)) == 1 for row in scores):
        assert (found.statistic, found.p_value) == (0, 1)
        return
    exact = by_definition(scores)
    assert found.statistic == pytest.approx(float(exact), rel=1e-12)
    if exact:  # where it is 0, scipy's is its rounding, which a correction for many ties makes large
        expected = stats.friedmanchisquare(*scores.T)
        assert (found.statistic, found.p_value) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-9, abs=1e-12)


def by_definition(scores):
    """Friedman's statistic in fractions: (k - 1) sum (rank total - mean)^2 over the spread of all ranks."""
    n, k = scores.shape
    ranks = [[Fraction(rank) for rank in stats.rankdata(row)] for row in scores]
    centre = Fraction(k + 1, 2)
    totals = [sum(column) - n * centre for column in zip(*ranks, strict=True)]
    return (k - 1) * sum(t * t for t in totals) / sum((rank - centre) ** 2 for row in ranks for rank in row)


def test_few_systems_and_graded_units():
    assert CochranQ().run(of_labels([[1], [0]])).p_value == 1
    with pytest.raises(ValueError, match="friedman"):
        CochranQ().run(of_scores([(0.5, 1)]))
