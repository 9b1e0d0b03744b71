"""Tango's score interval: published figures, R, the likelihood, and its symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from registry.significance.distributions import tango_interval, tango_statistic
from tests.significance.effects.observed_effects import z_by_likelihood

# onlyA, onlyB, n, level and limits as PropCIs 0.3.0 (scoreci.mp) in R 4.6.1 prints them; its bisection stops at 1e-7
PROP_CIS = [
    (7, 0, 14, 0.95, 0.17703378, 0.73200792), (0, 7, 14, 0.95, -0.73200798, -0.17703387),
    (0, 0, 14, 0.95, -0.21531081, 0.21531075), (3, 2, 14, 0.95, -0.26107773, 0.38899630),
    (1, 0, 14, 0.95, -0.15926158, 0.31468708), (5, 5, 16, 0.95, -0.36750698, 0.36750681),
    (13, 1, 14, 0.95, 0.37062618, 0.97455563), (14, 0, 14, 0.95, 0.56937838, 1), (0, 14, 14, 0.95, -1, -0.56937844),
    (25, 12, 200, 0.95, 0.00563550, 0.12694110), (2, 9, 20, 0.90, -0.56655054, -0.08405294),
    (10, 3, 50, 0.90, 0.02338053, 0.26074492), (1, 1, 2, 0.90, -0.75826740, 0.75826734),
]
Z = stats.norm.ppf(0.975)
TABLES = [(1, 7, 21), (0, 0, 9), (4, 0, 9), (0, 4, 9), (9, 0, 9), (0, 9, 9), (5, 4, 9), (1, 1, 2), (30, 20, 400)]


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
