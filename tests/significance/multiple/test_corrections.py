"""Corrections, against their definitions, other programs and worked examples."""

import gc
import itertools
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.significance.multiple import CORRECTIONS, adjust, compute_shaffer_factors, count_required_draws

OF_P_VALUES = [name for name, correction in CORRECTIONS.items() if correction.function]

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)
of_all_pairs = st.integers(1, 5).flatmap(
    lambda k: st.lists(st.floats(0, 1), min_size=math.comb(k, 2), max_size=math.comb(k, 2)))


def partitions(systems):
    """Every way to divide systems into groups of equals."""
    if not systems:
        yield []
        return
    first, *others = systems
    for groups in partitions(others):
        yield [[first], *groups]
        for n in range(len(groups)):
            yield [*groups[:n], [first, *groups[n]], *groups[n + 1:]]


def true_pairs(k):
    """The sets of pairs that can be equal at once, as sets of places in the order of `combinations`."""
    place = {pair: n for n, pair in enumerate(itertools.combinations(range(k), 2))}
    for groups in partitions(list(range(k))):
        yield {place[tuple(sorted(pair))] for group in groups for pair in itertools.combinations(group, 2)}


def test_holm_by_hand():
    """Ordered .01, .02, .03, .04: times 4, 3, 2, 1, and never below the one before."""
    np.testing.assert_allclose(adjust(np.array([0.04, 0.01, 0.03, 0.02]), "holm"), [0.06, 0.04, 0.06, 0.06])


def test_steps_up_by_hand():
    """Ordered .01, .02, .03, .04: Hochberg takes .04 x 1 for all; BH .01 x 4/1, .02 x 4/2, .03 x 4/3, .04 x 4/4."""
    p = np.array([0.04, 0.01, 0.03, 0.02])
    np.testing.assert_allclose(adjust(p, "hochberg"), [0.04] * 4)
    np.testing.assert_allclose(adjust(p, "bh"), [0.04] * 4)
    np.testing.assert_allclose(adjust(p, "by"), [0.04 * (1 + 1 / 2 + 1 / 3 + 1 / 4)] * 4)
    np.testing.assert_allclose(adjust(np.array([0.001, 0.03, 0.02]), "bh"), [0.003, 0.03, 0.03])


@given(p_values)
def test_holm_is_the_closure_of_bonferroni(p):
    """Holm rejects what every intersection that contains it rejects by Bonferroni (Marcus, Peritz, Gabriel 1976)."""
    adjusted = adjust(np.array(p), "holm")
    for i in range(len(p)):
        others = [k for k in range(len(p)) if k != i]
        closed = max(min(1, (len(s) + 1) * min(p[k] for k in (i, *s)))
                     for r in range(len(p)) for s in itertools.combinations(others, r))
        assert adjusted[i] == pytest.approx(closed)


@pytest.fixture(scope="module")
def multitest():
    """It searches for garbage in each call: in nothing that was imported with it."""
    found = pytest.importorskip("statsmodels.stats.multitest")
    gc.freeze()
    return found


@pytest.mark.slow
@given(p=p_values)
@settings(max_examples=30, deadline=None)
def test_agrees_with_statsmodels(multitest, p):
    for name, method in (("bonferroni", "bonferroni"), ("holm", "holm"), ("hochberg", "simes-hochberg"),
                         ("bh", "fdr_bh"), ("by", "fdr_by")):
        theirs = multitest.multipletests(p, method=method)[1]
        np.testing.assert_allclose(adjust(np.array(p), name), theirs, 1e-12, 1e-300)


@given(p_values)
def test_false_discovery_rates_agree_with_scipy(p):
    for name in ("bh", "by"):
        theirs = stats.false_discovery_control(p, method=name)
        np.testing.assert_allclose(adjust(np.array(p), name), theirs, 1e-12, 1e-300)


def test_shaffer_by_hand():
    """Four systems: all 6 pairs may be equal; if one is not, at most 3 (a group of three), and 2 as two groups."""
    assert compute_shaffer_factors(4).tolist() == [6, 3, 3, 3, 2, 1]
    p = np.array([0.03, 0.001, 0.012, 0.02, 0.6, 0.011])
    np.testing.assert_allclose(adjust(p, "shaffer"), [0.06, 0.006, 0.036, 0.06, 0.6, 0.033])


@pytest.mark.parametrize("systems", range(1, 8))
def test_shaffer_knows_how_many_pairs_can_be_equal(systems):
    """Brute force over every partition of the systems into groups of equals."""
    numbers = {len(equal) for equal in true_pairs(systems)}
    pairs = math.comb(systems, 2)
    assert compute_shaffer_factors(systems).tolist() == [
        max(n for n in numbers if n <= pairs - rejected) for rejected in range(pairs)]


@given(of_all_pairs)
def test_shaffer_lies_between_holm_and_the_closure_over_what_can_be_true(p):
    """The closure takes only the intersections that can be true (Bergmann and Hommel 1988), which Shaffer bounds."""
    adjusted, k = adjust(np.array(p), "shaffer"), (1 + math.isqrt(1 + 8 * len(p))) // 2
    assert (adjusted <= adjust(np.array(p), "holm")).all()
    exhaustive = list(true_pairs(k))
    for i, value in enumerate(adjusted):
        closed = max(min(1, len(equal) * min(p[n] for n in equal)) for equal in exhaustive if i in equal)
        assert value >= closed * (1 - 1e-12)


@pytest.mark.parametrize(("correction", "independent", "same"), [("shaffer", 0.078, 0.040), ("holm", 0.038, 0.019)])
def test_shaffer_does_not_hold_for_sign_tests_of_independent_true_nulls(correction, independent, same):
    """Of 200 units A and B each beat C in half, and A beats B in three quarters: sums over binomial distributions.

    Whether A beats C is independent of whether B does, or both always do the same; p of A and B is nearly 0.
    """
    fewer = np.arange(70, 101)  # wins or losses; the first stands for all below, whose p-values are even smaller
    p = np.array([stats.binomtest(n, 200).pvalue for n in fewer])
    weights = np.diff(np.append(0, [*(2 * stats.binom.cdf(fewer[:-1], 200, 0.5)), 1]))
    rejects = np.array([[(adjust(np.array([1e-12, x, y]), correction)[1:] <= 0.05).any() for y in p] for x in p])
    assert weights @ rejects @ weights == pytest.approx(independent, abs=5e-4)
    assert weights @ rejects.diagonal() == pytest.approx(same, abs=5e-4)


def test_shaffer_refuses_what_is_not_all_pairs():
    for size in (2, 4, 5, 7):
        with pytest.raises(ValueError, match=f"not {size} p-values; use holm"):
            adjust(np.full(size, 0.01), "shaffer")


@given(of_all_pairs, st.randoms(use_true_random=False))
def test_order_does_not_matter(p, rng):
    order = list(range(len(p)))
    rng.shuffle(order)
    for correction in OF_P_VALUES:
        np.testing.assert_array_equal(adjust(np.array(p), correction)[order], adjust(np.array(p)[order], correction))


@given(of_all_pairs)
def test_adjusted_p_values_keep_their_order_and_lie_between_p_and_1(p):
    p = np.array(p)
    for correction in OF_P_VALUES:
        adjusted = adjust(p, correction)
        assert (adjusted >= p).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_an_undefined_p_value_stays_so_and_counts():
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan]), "bonferroni"), [0.02, np.nan])
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan]), "holm"), [0.02, np.nan])
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan]), "bh"), [0.02, np.nan])
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan, 0.5]), "shaffer"), [0.03, np.nan, 0.5])


def test_an_empty_family():
    for correction in OF_P_VALUES:
        assert adjust(np.array([]), correction).size == 0


def test_corrections_are_values_that_say_what_they_control():
    assert {name: c.controls for name, c in CORRECTIONS.items()} == {
        "bonferroni": "family-wise error", "holm": "family-wise error", "shaffer": "family-wise error",
        "hochberg": "family-wise error", "bh": "false discovery rate", "by": "false discovery rate", "none": "nothing",
        "min-p": "family-wise error", "max-t": "family-wise error", "gatekeeping": "family-wise error"}
    for name, correction in CORRECTIONS.items():
        assert correction.name == name
        assert correction.assumes
        assert correction.citation or name == "none"
    with pytest.raises(FrozenInstanceError):
        CORRECTIONS["none"].controls = "family-wise error"


def noreen(draws):
    """The least Monte-Carlo p-value: no draw reached what was observed."""
    return 1 / (draws + 1)


def fewest(correction, exact, drawn, alpha):
    """By search: the first number of draws at which drawn pairs at their least p-values are significant."""
    for draws in itertools.count(1):
        p = np.array([noreen(draws)] * drawn + exact)
        adjusted = p if CORRECTIONS[correction].function is None else adjust(p, correction)
        if adjusted[:drawn].min() <= alpha:
            return draws
    return None


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
@pytest.mark.parametrize(("exact", "drawn"), [([], 1), ([], 3), ([], 28), ([0.0] * 5, 10), ([1e-4, 0.004, 0.3], 3)])
def test_draws_that_a_family_needs_are_the_fewest(correction, alpha, exact, drawn):
    p = np.array([np.nan] * drawn + exact)
    assert count_required_draws(p, correction, alpha) == fewest(correction, exact, drawn, alpha)


@pytest.mark.parametrize(("correction", "needed"), [
    ("holm", 22_559), ("bonferroni", 22_559), ("shaffer", 22_559), ("hochberg", 19), ("bh", 19), ("none", 19),
    ("min-p", 19), ("max-t", 19)])
def test_48_systems_need_22559_draws(correction, needed):
    """1,128 pairs at 0.05: R >= 1128 / 0.05 - 1, or 1 / 0.05 - 1 where all pairs can be rejected together."""
    assert count_required_draws(np.full(1128, np.nan), correction, 0.05) == needed


@given(st.sampled_from(OF_P_VALUES), st.lists(st.integers(0, 30), min_size=6, max_size=6))
def test_with_fewer_draws_no_outcome_is_significant(correction, extremes):
    draws = count_required_draws(np.full(6, np.nan), correction, 0.05) - 1
    p = (np.minimum(extremes, draws) + 1) / (draws + 1)
    assert (adjust(p, correction) > 0.05).all()
