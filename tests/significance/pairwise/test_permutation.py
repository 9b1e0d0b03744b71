"""The paired permutation test: brute force, scipy, and the invariances that the contract asks for."""

import itertools
import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.significance import Permutation, Settings, StatisticMatrix
from registry.significance.base import Observed
from registry.significance.exact.swaps import have_surely_many_sums
from registry.significance.pairwise import permutation
from tests.significance.matrices import alternatives, in_steps, matrix, of_labels, own_denominators, permuted


def drawn(m, **options):
    """Test without trying every swap of few units, so that what is no lattice is drawn."""
    with mock.patch.object(permutation, "ENUMERATED", 0):
        return permuted(m, **options)


def enumerated(statistics, alternative):
    """The p-value by swapping the two systems' statistics in every subset of units, in fractions."""
    units = [[[int(v) for v in system] for system in unit] for unit in statistics]

    def difference(swapped):
        sums = [[0, 0], [0, 0]]
        for unit, swap in zip(units, swapped, strict=True):
            for system in (0, 1):
                for k in (0, 1):
                    sums[system][k] += unit[system ^ swap][k]
        return Fraction(*sums[0]) - Fraction(*sums[1])

    extremity = {"two-sided": abs, "greater": lambda d: d, "less": lambda d: -d}[alternative]
    observed = extremity(difference([0] * len(units)))
    shuffles = list(itertools.product((0, 1), repeat=len(units)))
    return Fraction(sum(extremity(difference(s)) >= observed for s in shuffles), len(shuffles))


shared_denominators = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 5)), min_size=1, max_size=9,
).map(lambda rows: [[[a, d], [b, d]] for a, b, d in rows])


@pytest.mark.slow
@given(shared_denominators | own_denominators, alternatives)
def test_exact_equals_full_enumeration(statistics, alternative):
    found = permuted(matrix(statistics), alternative=alternative)
    discordant = any(unit[0] != unit[1] for unit in statistics)
    expected = enumerated(statistics, alternative) if discordant else 1
    assert found.method == "exact"
    assert found.p_value == pytest.approx(float(expected), rel=1e-12)
    assert found.log10_p == pytest.approx(math.log10(expected), abs=1e-12)


@pytest.mark.slow
@given(own_denominators, alternatives)
def test_monte_carlo_agrees_with_full_enumeration(statistics, alternative):
    """Without the form of a quotient the same score is drawn; ties must count although floats split them."""
    found = drawn(matrix(statistics, None), alternative=alternative, resamples=2000)
    if not found.n_discordant:
        return
    assert found.method == "monte-carlo"
    expected = float(enumerated(statistics, alternative))
    deviation = math.sqrt(max(expected * (1 - expected), 1e-4) / 2000)
    assert abs(found.p_value - (2000 * expected + 1) / 2001) < 6 * deviation
    assert found.resamples == 2000
    assert found.p_low <= found.p_value <= found.p_high + 1 / 2000


@pytest.mark.slow
@given(own_denominators, alternatives)
def test_few_units_are_swapped_in_every_way_whatever_the_score(statistics, alternative):
    """Yeh 2000, section 3.3: all 2^n shuffles where n is small. The score is not told to be a quotient."""
    found = permuted(matrix(statistics, None), alternative=alternative)
    assert found.method == "exact"
    assert found.p_value == (float(enumerated(statistics, alternative)) if found.n_discordant else 1)


def swapped_means(gains, alternative):
    """The share of all swaps that are as extreme, of gains in whole numbers."""
    sums = np.zeros(1, dtype=np.int64)
    for gain in gains:
        sums = np.concatenate([sums + gain, sums - gain])
    bar = {"two-sided": abs, "greater": int, "less": int.__neg__}[alternative](int(gains.sum()))
    return float(({"two-sided": abs, "greater": np.positive, "less": np.negative}[alternative](sums) >= bar).mean())


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=17, max_size=18), alternatives)
@settings(max_examples=20, deadline=None)
def test_scores_with_decimals_are_exact_and_their_ties_kept(scores, alternative):
    """In floats 0.0001 is no whole multiple of anything; on paper the sums tie all the time."""
    found = permuted(matrix(in_steps(np.array(scores) / 10_000, 4)), alternative=alternative)
    gains = np.array([a - b for a, b in scores])
    assert found.method == "exact"
    assert found.p_value == pytest.approx(swapped_means(gains, alternative) if gains.any() else 1, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("units", [17, 18])
def test_scores_with_all_their_digits_are_exact_up_to_32_units(units, alternative):
    statistics = in_steps(np.random.default_rng(units).normal(0.1, 1, (units, 2)))
    found = permuted(matrix(statistics), alternative=alternative)
    gains = (statistics[:, 0, 0] - statistics[:, 1, 0]).astype(np.int64)
    assert found.method == "exact"
    assert found.p_value == pytest.approx(swapped_means(gains, alternative), rel=1e-12)


@pytest.mark.parametrize("places", [4, 5, 9])
def test_what_will_be_drawn_is_known_by_its_work(places):
    """40 units are counted, and few of nine digits; not where a large family leaves them too little work."""
    for units in (20, 40, 60):
        m = matrix(in_steps(np.random.default_rng(units).random((units, 4)), places))
        for asked in (Settings(resamples=300), Settings(resamples=300, family=10**6)):
            pairs = Observed.compare(m, [(0, 1), (2, 3), (1, 3)])
            found = Permutation().run(m, [(0, 1), (2, 3), (1, 3)], asked)
            drawn = [Permutation().work(o, asked) == math.inf for o in pairs]
            assert [result.method == "monte-carlo" for result in found] == drawn
            assert have_surely_many_sums(pairs).tolist() == [places == 9 and units == 60] * 3
            assert asked.family > 1 or any(drawn) == (places == 9 and units == 60)


BETA = st.sampled_from([1, 2, 5])


@st.composite
def spans(draw):
    """Units with (true positives, predicted, gold) of two systems, F-beta's coefficients, and what both give."""
    beta = draw(BETA)
    units = draw(st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, 3)] * 4), min_size=1, max_size=8))
    statistics = [[[min(tp, gold), min(tp, gold) + more, gold] for tp, more in ((a, c), (b, d))]
                  for gold, a, b, c, d in units]
    return statistics, ((1 + beta**2, 0, 0), (0, 1, beta**2))


@pytest.mark.slow
@given(spans(), alternatives)
def test_exact_f_equals_full_enumeration(case, alternative):
    """F-beta on the two-dimensional lattice: ties between different swaps must be told from near ties."""
    statistics, (over, under) = case
    projected = [[[sum(c * s for c, s in zip(side, system, strict=True)) for side in (over, under)] for system in unit]
                 for unit in statistics]
    totals = [sum(unit[s][1] for unit in projected) for s in (0, 1)]
    least = [sum(min(unit[0][1], unit[1][1]) for unit in projected)]
    if not all(totals + least):
        return

    def score(sums):
        return (sums @ np.array(over, dtype=float)) / (sums @ np.array(under, dtype=float))

    found = permuted(StatisticMatrix(np.array(statistics, dtype=float), score, quotient=(over, under)),
                alternative=alternative)
    assert found.method == "exact"
    expected = enumerated(projected, alternative) if found.n_discordant else 1
    assert found.p_value == pytest.approx(float(expected), rel=1e-12)


def test_what_does_not_enter_the_score_gives_p_1():
    """Recall of two systems that differ only in what they predict beside the gold: every alternative, no draw."""
    statistics = np.array([[[1, 1, 2], [1, 2, 2]], [[0, 0, 1], [0, 3, 1]]], dtype=float)
    for alternative in ("two-sided", "greater", "less"):
        found = permuted(StatisticMatrix(statistics, lambda s: s[..., 0] / s[..., 2], quotient=((1, 0, 0), (0, 0, 1))),
                    alternative=alternative)
        assert (found.p_value, found.method, found.n_discordant) == (1.0, "exact", 2)


def test_swaps_that_leave_a_score_undefined_count_as_extreme():
    """Precision of a unit each way: the 8 swaps give 1, -1, twice 0.5, twice -0.5, and twice one system nothing."""
    m = matrix([[[1, 1], [0, 0]], [[1, 1], [0, 0]], [[0, 0], [0, 1]]])
    for alternative, expected in (("greater", 3 / 8), ("less", 1.0), ("two-sided", 4 / 8)):
        assert permuted(m, alternative=alternative).p_value == expected
        found = drawn(m, alternative=alternative, resamples=8000)
        assert found.method == "monte-carlo"
        assert found.p_value == pytest.approx(expected, abs=0.03)


def test_coefficients_too_large_for_whole_numbers_are_drawn_not_overflowed():
    """F-beta of a long decimal: its squared fraction has 10 digits; full enumeration gives 0.5."""
    over, under = (33333**2 + 10**10, 0, 0), (0, 10**10, 33333**2)
    statistics = np.array([[[0, 2, 1], [1, 4, 1]], [[0, 0, 5], [2, 4, 5]]], dtype=float)

    def score(sums):
        return (sums @ np.array(over, dtype=float)) / (sums @ np.array(under, dtype=float))

    found = drawn(StatisticMatrix(statistics, score, quotient=(over, under)), resamples=20_000)
    assert found.method == "monte-carlo"
    assert found.p_value == pytest.approx(0.5, abs=0.02)


def test_an_exact_p_value_of_few_swaps_is_the_very_fraction():
    """So equal p-values are equal to the last bit, and one that is just alpha is significant."""
    for n in range(1, 12):
        found = permuted(of_labels([[1, 0]] * n + [[1, 1]] * 3))
        assert found.p_value == 2 / 2**n


def test_a_far_tail_of_f_keeps_its_digits():
    """40 sentences in which only A finds the span: both sums move together, all swaps but two are less extreme."""
    statistics = np.array([[[1, 1, 1], [0, 0, 1]]] * 40 + [[[0, 2, 2], [0, 2, 2]]] * 10, dtype=float)
    found = permuted(StatisticMatrix(statistics, lambda s: 2 * s[..., 0] / (s[..., 1] + s[..., 2]),
                                quotient=((2, 0, 0), (0, 1, 1))))
    assert found.p_value == pytest.approx(2.0**-39, rel=1e-12)


def test_right_and_wrong_items_give_the_binomial_test():
    rng = np.random.default_rng(3)
    for n in (1, 7, 300, 5000):
        right = rng.random((n, 2)) < (0.7, 0.62)
        only_a, only_b = int((right[:, 0] & ~right[:, 1]).sum()), int((~right[:, 0] & right[:, 1]).sum())
        if only_a + only_b:
            expected = stats.binomtest(only_a, only_a + only_b).pvalue
            assert permuted(of_labels(right)).p_value == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.booleans(), st.integers(1, 4)), min_size=1, max_size=9),
       alternatives, st.booleans())
def test_units_that_are_worth_as_much_are_coins_whatever_other_systems_score(units, alternative, lower):
    """A pair's units differ by 3 or not at all: it is the same p-value beside a system that has a third score."""
    statistics = [[[low + 3 * a, d], [low + 3 * b, d], [low + 7, d]] for low, a, b, d in units]
    alone, beside = (permuted(matrix(np.array(statistics)[:, :systems], lower_is_better=lower), alternative=alternative)
                     for systems in (2, 3))
    for_a, for_b = (sum(wins) for wins in zip(*((a > b, b > a) for _, a, b, _ in units), strict=True))
    if lower:
        for_a, for_b = for_b, for_a
    expected = stats.binomtest(for_a, for_a + for_b, alternative=alternative).pvalue if for_a + for_b else 1
    assert alone.p_value == pytest.approx(expected, rel=1e-12)
    assert beside.p_value == pytest.approx(expected, rel=1e-12)


def test_lower_is_better_turns_the_difference():
    right = [[1, 0], [1, 0], [1, 0], [0, 1]]
    higher, lower = of_labels(right), matrix(of_labels(right).statistics, lower_is_better=True)
    assert permuted(higher).difference == -permuted(lower).difference == 0.5
    assert permuted(higher, alternative="greater").p_value == permuted(lower, alternative="less").p_value
    assert permuted(higher, alternative="greater").p_value == pytest.approx(5 / 16, rel=1e-12)


def test_identical_systems_have_p_1():
    for alternative in ("two-sided", "greater", "less"):
        found = permuted(of_labels([[1, 1], [0, 0]]), alternative=alternative)
        assert (found.p_value, found.difference, found.n_discordant) == (1.0, 0.0, 0)


def test_undefined_scores_give_nan_with_a_reason():
    found = permuted(matrix([[[1, 1], [0, 0]]]))
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("score-undefined",)


def test_clusters_are_swapped_whole():
    """Two clusters of three items: 4 shuffles, of which the observed and its mirror are as extreme."""
    right = [[1, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 1]]
    items, clusters = of_labels(right), matrix(of_labels(right).statistics, units=np.array([0, 0, 0, 1, 1, 1]))
    assert permuted(items).p_value == pytest.approx(2 / 2**5, rel=1e-12)
    found = permuted(clusters)
    assert found.p_value == pytest.approx(2 / 2**2, rel=1e-12)
    assert (found.n_units, found.n_discordant) == (2, 2)
