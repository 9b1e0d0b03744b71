"""The steps that statistics are counted in, and how they are kept."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import registry
from registry.families import FAMILIES, check_exact, decimal_places, find_step, remove_rounding

decimals = st.integers(0, 9).flatmap(lambda places: st.lists(
    st.integers(-10**9, 10**9).map(lambda n: Decimal(n).scaleb(-places)), min_size=1, max_size=30))


@given(decimals)
def test_decimals_are_counted_in_their_last_place(written):
    """By decimal arithmetic: the fewest places that write all of them."""
    places = max(max(0, -number.normalize().as_tuple().exponent) for number in written)
    assert decimal_places(np.array([float(number) for number in written])) == places


@given(decimals, st.integers(1, 40))
def test_the_rounding_of_arithmetic_is_no_digit(written, times):
    """A sum of equal numbers, one added after another, over their number."""
    values = np.array([float(number) for number in written])
    noisy = sum([values] * times) / times
    np.testing.assert_array_equal(remove_rounding(noisy[:, None])[:, 0], values)


@pytest.mark.parametrize(("values", "step"), [
    ([1 / 3, 0.5], 1e-13), ([1 / 3e8, 0.5e-8], 1e-18), ([1e5 / 3], 1e-8), ([2.0**30 / 3], 1e-4), ([1e-200], 1e-18)])
def test_what_has_too_many_digits_is_kept_as_given_and_counted_in_twelve_of_them(values, step):
    assert decimal_places(np.array(values)) is None
    assert find_step(np.array(values)) == step
    assert remove_rounding(np.array([values])).tolist() == [values]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(-12, 5))
def test_sums_in_steps_are_exact(values, exponent):
    """Below 2^53, whatever the size of the values, and 18 places are the most."""
    column = np.array(values) * 10.0**exponent
    steps = np.rint(column / find_step(column))
    assert np.abs(steps).sum() < 2.0**53
    assert find_step(column) >= 1e-18


def test_a_column_of_ones_does_not_take_the_digits_of_small_values():
    """As denominators of means are."""
    columns = np.stack([np.array([4.7729e-8, 5.171e-8, 1e-8 / 3]), np.ones(3)], axis=1)
    assert find_step(columns[:2]) == 1e-12
    assert find_step(columns) == 1e-18


@pytest.mark.parametrize(("values", "step"), [
    ([], 1), ([3, -2.0**40], 1), ([0.5, 2], 0.1), ([0.25], 0.01), ([0.20705, 1], 1e-5), ([3e-9], 1e-9),
    ([2.0**-10], 1e-10), ([1e-10, 3e-10], 1e-10), ([4.7729e-8], 1e-12)])
def test_steps(values, step):
    assert find_step(np.array(values)) == step
    assert Fraction(round(1 / step)) == 1 / Fraction(str(step))


def test_zero_has_no_sign():
    kept = remove_rounding(np.array([[-0.0, -0.0], [-1e-17, 1 / 3], [0.1, 1 / 3]]))
    assert kept[:, 0].tolist() == [0, 0, 0.1]
    assert not np.signbit(kept).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 2.0**42 + 0.5, 2.0**52, -1e308])
def test_what_would_not_be_exact_is_refused(bad):
    with pytest.raises(ValueError, match="statistic"):
        check_exact(np.array([1.0, bad]))


def test_families_have_the_columns_of_their_sources():
    assert len(FAMILIES["bleu"].columns) == 10  # hyp_len, ref_len, 4 correct, 4 total
    assert len(FAMILIES["chrf"].columns) == 3 * (6 + 2)
    assert len(FAMILIES["meteor"].columns) == 23


def test_small_values_beside_large_ones_stay_if_their_order_counts():
    """Ranks of 1e-20 and 2e-19 beside 0.25 were tied at 0; sums need not tell them apart."""
    small = np.array([[1.2e-20, 2.1e-19, 3.3e-18, 4.4e-17, 0.25, 0.95, 0.1 + 0.2]]).T
    ranked = remove_rounding(small, are_ranked=True)
    assert ranked[:, 0].tolist() == [1.2e-20, 2.1e-19, 3.3e-18, 4.4e-17, 0.25, 0.95, 0.3]
    assert remove_rounding(small)[:, 0].tolist() == [0, 0, 0, 0, 0.25, 0.95, 0.3]


@pytest.mark.parametrize("metric", ["Spearman", "Kendall"])
def test_likelihoods_of_any_size_have_scipy_s_correlation(metric):
    likelihoods = [1e-40, 1e-38, 1e-36, 1e-33, 1e-31, 1e-29, 1e-27, 1e-25, 1e-24, 1e-6]
    order = list(range(1, 11))
    for gold, scores in ((order, likelihoods), (likelihoods, order), (order, [0.5, *likelihoods[1:]])):
        expected = {"Spearman": stats.spearmanr, "Kendall": stats.kendalltau}[metric](gold, scores)[0]
        assert registry.evaluate(gold, {"a": scores}, metric=metric).scores == {"a": pytest.approx(expected)}
