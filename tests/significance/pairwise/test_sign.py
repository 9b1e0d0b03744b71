"""The sign test and McNemar's exact test, against scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from registry.errors import InputError
from registry.significance import McNemar, Settings, Sign
from tests.significance.matrices import in_steps, matrix, of_labels


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60),
       st.sampled_from(["two-sided", "greater", "less"]))
def test_mcnemar_is_the_binomial_test_of_discordant_items(right, alternative):
    (found,) = McNemar().run(of_labels(right), [(0, 1)], Settings(alternative))
    only_a, only_b = sum(a > b for a, b in right), sum(b > a for a, b in right)
    expected = stats.binomtest(only_a, only_a + only_b, alternative=alternative).pvalue if only_a + only_b else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.n_discordant == only_a + only_b


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_sign_counts_units_whatever_the_size_of_their_difference(units):
    (found,) = Sign().run(matrix([[[a, 3], [b, 3]] for a, b in units]), [(0, 1)], Settings())
    better, worse = sum(a > b for a, b in units), sum(a < b for a, b in units)
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_mcnemar_refuses_graded_units():
    with pytest.raises(ValueError, match=r"either correct or wrong; use --test permutation$"):
        McNemar().run(matrix([[[1, 3], [2, 3]]]), [(0, 1)], Settings())
    clusters = matrix(of_labels([[1, 0], [1, 1]]).statistics, units=np.array([0, 0]))
    with pytest.raises(ValueError, match="either correct or wrong"):
        McNemar().run(clusters, [(0, 1)], Settings())


tables = st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(any)


def of_table(only_a, only_b, variant, alternative="two-sided"):
    labels = of_labels([(1, 0)] * only_a + [(0, 1)] * only_b + [(1, 1), (0, 0)])
    (found,) = McNemar(variant).run(labels, [(0, 1)], Settings(alternative))
    return found


@given(tables)
def test_chi_squared_variants_are_statsmodels(table):
    only_a, only_b = table
    for variant, correction in (("chi-squared", False), ("corrected", True)):
        if correction and only_a == only_b:  # statsmodels corrects a difference of 0 to -1
            continue
        peer = mcnemar([[1, only_a], [only_b, 1]], exact=False, correction=correction)
        found = of_table(only_a, only_b, variant)
        assert found.p_value == pytest.approx(peer.pvalue, rel=1e-10)
        assert found.statistic == pytest.approx(peer.statistic, rel=1e-12)
        assert found.method == "asymptotic"


@given(tables)
def test_mid_p_counts_half_of_what_is_as_extreme(table):
    """By its definition, over all outcomes of the coins (Fagerland, Lydersen and Laake 2013)."""
    only_a, only_b = table
    n = only_a + only_b
    masses = stats.binom.pmf(np.arange(n + 1), n, 0.5)
    excess = np.abs(2 * np.arange(n + 1) - n)
    observed = abs(only_a - only_b)
    expected = masses[excess > observed].sum() + masses[excess == observed].sum() / 2
    assert of_table(only_a, only_b, "mid-p").p_value == pytest.approx(expected, rel=1e-9)
    greater = masses[only_a + 1:].sum() + masses[only_a] / 2
    assert of_table(only_a, only_b, "mid-p", "greater").p_value == pytest.approx(greater, rel=1e-9)


def test_published_p_values_of_1_against_7():
    """Tango's table: exact 0.0703, mid-p 0.0391."""
    assert round(of_table(1, 7, "exact").p_value, 4) == 0.0703
    assert round(of_table(1, 7, "mid-p").p_value, 4) == 0.0391


def test_no_coin_is_no_evidence():
    """Both right everywhere, by other statistics."""
    m = matrix([[[1, 1], [2, 2]]] * 5)
    for variant in ("exact", "mid-p", "chi-squared", "corrected"):
        for alternative in ("two-sided", "greater", "less"):
            assert McNemar(variant).run(m, [(0, 1)], Settings(alternative))[0].p_value == 1


def test_a_correction_for_continuity_raises_p_on_both_sides():
    """6 against 9: one-sided p-values near the exact 0.849 and 0.304."""
    root = math.sqrt(15)
    for alternative, expected in (("greater", stats.norm.cdf(4 / root)), ("less", stats.norm.sf(2 / root))):
        assert of_table(6, 9, "corrected", alternative).p_value == pytest.approx(expected)


def test_names_leave_out_what_is_as_usual():
    assert [repr(test) for test in (McNemar(), McNemar("mid-p"), Sign(), Sign(0.01))] == [
        "mcnemar", "mcnemar(variant=mid-p)", "sign", "sign(tie=0.01)"]


def test_a_declared_tie_width_leaves_small_differences_out():
    """In steps of 0.1 a difference of 0.3 - 0.2 ties at a width of 0.1, although floats make it larger."""
    units = [(3, 2), (2, 3), (5, 1), (4, 0), (9, 3), (0, 1)]
    m = matrix(in_steps(np.array(units) / 10, 1))
    for tie, better, worse in ((0.1, 3, 0), (0.0, 4, 2), (0.0999, 4, 2), (0.4, 1, 0)):
        (found,) = Sign(tie).run(m, [(0, 1)], Settings())
        assert found.p_value == pytest.approx(stats.binomtest(better, better + worse).pvalue, rel=1e-12)
    with pytest.raises(InputError, match="tie"):
        Sign(-0.1)
