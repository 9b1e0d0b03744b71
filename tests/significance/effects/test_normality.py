"""Tests of normality: scipy, statsmodels, level and power by simulation, degenerate input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.diagnostic import lilliefors, normal_ad

from registry.significance.effects import check_normality

NAMES = ["shapiro-wilk", "anderson-darling", "lilliefors"]


def run(gains):
    return {found.name: found for found in check_normality(np.asarray(gains, dtype=float))}


def samples():
    """Samples that are normal, nearly so, skewed, heavy-tailed, and of a few values, of 8 to 1000 units."""
    rng = np.random.default_rng(2)
    for n in (8, 13, 40, 100, 150, 600, 1000):
        for draw in (rng.standard_normal, rng.standard_exponential, lambda n: rng.standard_t(4, n), rng.random,
                     lambda n: rng.integers(-1, 2, n).astype(float)):
            yield draw(n) * 0.1 + 0.02


def test_shapiro_wilk_is_scipys():
    for gains in samples():
        expected = stats.shapiro(gains)
        found = run(gains)["shapiro-wilk"]
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-6)


def test_anderson_darling_is_statsmodels():
    for gains in samples():
        statistic, p = normal_ad(gains)
        found = run(gains)["anderson-darling"]
        assert found.statistic == pytest.approx(statistic, rel=1e-9)
        assert found.p_value == pytest.approx(p, rel=1e-7, abs=1e-30)  # past its range statsmodels prints 0


def test_anderson_darling_published():
    """Stephens' 5 and 1 % points of the modified statistic, 0.752 and 1.035 (D'Agostino and Stephens 1986, table 4.7).

    Samples whose statistic lies just beside them: a normal one with its largest value moved.
    """
    base = stats.norm.ppf((np.arange(1, 31) - 0.5) / 30)
    for critical, p in ((0.752, 0.05), (1.035, 0.01)):
        low, high = 0.0, 20.0
        for _ in range(60):
            moved = base.copy()
            moved[-1] += (low + high) / 2
            found = run(moved)["anderson-darling"]
            if found.statistic * (1 + 0.75 / 30 + 2.25 / 900) < critical:
                low = (low + high) / 2
            else:
                high = (low + high) / 2
        assert found.p_value == pytest.approx(p, rel=0.02)


def test_lilliefors_is_statsmodels():
    """Its formula up to 0.1; beyond, its simulated table, within 0.03.

    The table is compared up to 100 units: for D = 0.0578 of 150 units it has 0.325, where 60 000 draws have 0.255.
    """
    compared = 0
    for gains in samples():
        n, found = len(gains), run(gains)["lilliefors"]
        statistic, p = lilliefors(gains, pvalmethod="approx")
        assert found.statistic == pytest.approx(statistic, rel=1e-9)
        if found.p_value < 0.1:
            assert found.p_value == pytest.approx(p, rel=1e-7)
        elif n <= 100:
            compared += 1
            assert found.p_value == pytest.approx(lilliefors(gains, pvalmethod="table")[1], abs=0.03)
    assert compared > 5


@pytest.mark.parametrize(("n", "runs"), [(8, 1500), (30, 1500), (200, 1000), (3000, 500)])
def test_normal_gains_are_rejected_as_often_as_said(n, runs):
    """Of normal samples 5 and 50 % have a p-value below that: within 4.5 standard errors, and 0.03 for the formula."""
    rng, p = np.random.default_rng(n), []
    for _ in range(runs):
        found = run(rng.standard_normal(n) * 3 + 1)
        p.append([found[name].p_value for name in NAMES])
    for level, slack in ((0.05, 0.005), (0.5, 0.03)):
        rejected = (np.array(p) <= level).mean(axis=0)
        assert rejected == pytest.approx(level, abs=4.5 * math.sqrt(level * (1 - level) / runs) + slack)


@pytest.mark.parametrize("n", [6, 50, 400])
def test_a_larger_distance_has_a_smaller_p(n):
    """Also where one approximation of Lilliefors's p-value takes over from the other."""
    rng = np.random.default_rng(n)
    found = sorted((run(rng.standard_t(5, n))["lilliefors"] for _ in range(300)), key=lambda f: f.statistic)
    p = [f.p_value for f in found]
    assert p == sorted(p, reverse=True)
    assert p[0] > 0.5
    assert p[-1] < 0.1


def test_gains_that_are_mostly_ties_are_far_from_normal():
    gains = np.zeros(3000)
    gains[:60] = 1
    assert all(0 <= found.p_value < 1e-12 for found in check_normality(gains))


@given(st.lists(st.integers(-5, 5), min_size=8, max_size=40), st.sampled_from([1e-9, -3.0, 1e6]), st.floats(-10, 10))
def test_scale_and_order_do_not_count(gains, factor, shift):
    gains = np.array(gains, dtype=float)
    if np.ptp(gains) == 0:
        return
    for one, other in zip(check_normality(gains), check_normality(gains[::-1] * factor + shift * factor), strict=True):
        assert (one.statistic, one.p_value) == pytest.approx((other.statistic, other.p_value), rel=1e-5)


@pytest.mark.parametrize("gains", [[], [1.0], [0.0] * 20, [0.1] * 20, [0.3 - 0.2, 0.2 - 0.1] * 10])
def test_constant_gains_have_none(gains):
    found = run(gains)
    assert list(found) == NAMES
    assert all(math.isnan(f.statistic) and math.isnan(f.p_value) and f.messages for f in found.values())


@pytest.mark.parametrize(("n", "defined"), [(2, []), (3, NAMES[:1]), (5, [NAMES[0], NAMES[2]]), (8, NAMES),
                                            (5000, NAMES), (5001, NAMES[1:])])
def test_each_has_its_range_of_units(n, defined):
    found = run(np.random.default_rng(0).standard_normal(n))
    assert [name for name in NAMES if not math.isnan(found[name].p_value)] == defined
    assert all(found[name].messages for name in NAMES if name not in defined)
