"""On how many test sets a claim holds: worked examples, other programs, and truth that is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.significance.multiple import combine_p_values, estimate_k, list_test_sets


@pytest.mark.parametrize(("p", "combination", "expected"), [
    ((.001, .004, .02, .024, .03), "bonferroni", 2),  # 5 without the running maximum
    ((.168, .297, .357, .019, .218, .001), "bonferroni", 1),
    ((.168, .297, .357, .019, .218, .001), "fisher", 2),
])
def test_worked_examples(p, combination, expected):
    """Of Dror et al. 2017: 2 of five, and 1 or 2 of six test sets."""
    assert estimate_k(np.array(p), combination, 0.05) == expected


def test_each_number_by_hand():
    p = np.array([.03, .001, .024, .004, .02])
    assert combine_p_values(p, "bonferroni") == pytest.approx([.005, .016, .06, .06, .06], rel=1e-12)
    expected = [stats.combine_pvalues(np.sort(p)[u:], "fisher").pvalue for u in range(5)]
    assert combine_p_values(p, "fisher") == pytest.approx(expected, rel=1e-10)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lists_as_many_as_bonferroni_counts(p):
    assert np.count_nonzero(list_test_sets(np.array(p), 0.05)) == estimate_k(np.array(p), "bonferroni", 0.05)


def test_many_claims_at_once_are_each_alone():
    p = np.random.default_rng(1).random((3, 4, 5)) ** 4
    for combination in ("bonferroni", "fisher"):
        together = combine_p_values(p, combination)
        assert together[1, 2].tolist() == combine_p_values(p[1, 2], combination).tolist()


def test_what_is_undefined_rejects_nothing():
    p = np.array([np.nan, 1e-9, 1e-9])
    assert estimate_k(p, "bonferroni", 0.05) == estimate_k(p, "fisher", 0.05) == 2
    assert not list_test_sets(p, 0.05)[0]
    assert estimate_k(np.zeros(3), "fisher", 0.05) == 3


@pytest.mark.parametrize(("combination", "shared"), [("bonferroni", 0.0), ("bonferroni", 0.9), ("fisher", 0.0)])
def test_the_number_is_too_large_no_oftener_than_alpha(combination, shared):
    """Two of six claims hold, with power near 1; Bonferroni also where test sets share most of their noise."""
    rng, draws = np.random.default_rng(2), 20_000
    noise = np.sqrt(shared) * rng.normal(size=(draws, 1)) + np.sqrt(1 - shared) * rng.normal(size=(draws, 6))
    p = stats.norm.sf(noise + np.array([6, 6, 0, 0, 0, 0]))
    found = estimate_k(p, combination, 0.05)
    assert (found >= 2).mean() > 0.99
    error = 4 * np.sqrt(0.05 * 0.95 / draws)
    assert (found > 2).mean() < 0.05 + error
    if combination == "fisher":  # exact for the four that do not hold, once the two others are the smallest
        assert (found > 2).mean() > 0.05 - error - 0.005
