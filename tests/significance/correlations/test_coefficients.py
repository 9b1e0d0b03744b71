"""Correlations under weights and under swaps: scipy on what the weights and swaps stand for, exact arithmetic, ties."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.significance import correlations as correlation
from registry.significance.correlations import KENDALL, PEARSON, SPEARMAN
from tests.significance.pair_matrices import coefficients, pairs, reference


def expanded(coefficient, x, y, weights):
    """Score the resamples themselves, item by item as often as the weights say."""
    return [[reference(coefficient, np.repeat(column, counts), np.repeat(y, counts)) for column in x.T]
            for counts in weights]


@st.composite
def resampled(draw):
    """Predictions of two systems and gold values with many ties, and how often three draws hold each item."""
    n = draw(st.integers(2, 9))
    values = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    x, y = np.array([draw(values), draw(values)], dtype=float).T, np.array(draw(values), dtype=float) / 4
    counts = st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)
    return x, y, np.array([draw(counts) for _ in range(3)])


@pytest.mark.slow
@coefficients
@given(resampled())
def test_weights_give_what_the_resample_gives(coefficient, case):
    x, y, weights = case
    found = coefficient.weighted(x, y, weights.astype(float))
    np.testing.assert_allclose(found, expanded(coefficient, x, y, weights), atol=1e-12)


@coefficients
def test_weights_of_values_with_all_their_digits(coefficient):
    rng = np.random.default_rng(4)
    y = rng.normal(size=300)
    x = y[:, None] + rng.normal(size=(300, 3))
    x[:, 0] = np.round(x[:, 0], 1)
    weights = rng.multinomial(300, np.full(300, 1 / 300), size=5)
    found = coefficient.weighted(x, y, weights.astype(float))
    np.testing.assert_allclose(found, expanded(coefficient, x, y, weights), rtol=1e-12)


@coefficients
def test_a_score_does_not_depend_on_what_else_is_scored_or_on_the_order_of_items(coefficient, monkeypatch):
    """To the last bit."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(90, 4)), rng.normal(size=90)
    weights = rng.multinomial(90, np.full(90, 1 / 90), size=17).astype(float)
    found, order = coefficient.weighted(x, y, weights), rng.permutation(90)
    assert np.array_equal(coefficient.weighted(x[order], y[order], weights[:, order]), found)
    assert np.array_equal(coefficient.weighted(x[:, 2], y, weights[3:4]), found[3:4, 2])
    assert np.array_equal(coefficient.weighted(x, y, weights.astype(np.float32)), found)
    monkeypatch.setattr(correlation, "ROWS", 7)
    assert np.array_equal(coefficient.weighted(x, y, weights), found)


def test_pearson_keeps_its_digits_far_from_0():
    """Values of 7 digits that differ in the last two, against r^2 in fractions."""
    rng = np.random.default_rng(6)
    x, y = (10**7 + rng.integers(0, 100, 40) for _ in range(2))
    weights = rng.multinomial(40, np.full(40, 1 / 40))

    def common(a, b):
        a, b = ([Fraction(int(v)) for v in np.repeat(side, weights)] for side in (a, b))
        return sum(p * q for p, q in zip(a, b, strict=True)) - sum(a) * sum(b) / len(a)

    square = common(x, y) ** 2 / (common(x, x) * common(y, y))
    found = correlation.compute_weighted_pearson(x.astype(float), y.astype(float), weights[None].astype(float))
    assert found[0] == pytest.approx(math.copysign(math.sqrt(square), common(x, y)), rel=1e-13)


@coefficients
def test_perfect_and_undefined_correlations(coefficient):
    y = np.array([0.1, 0.7, 0.7, 3.2, 5.0])
    x = np.stack([2 * y + 1, -y, np.full(5, 0.3)], axis=1)
    ones, one_value = np.ones((1, 5)), np.array([[0.0, 2, 3, 0, 0]])
    np.testing.assert_array_equal(coefficient.weighted(x, y, ones), [[1, -1, math.nan]])
    assert np.isnan(coefficient.weighted(x, y, one_value)).all()


def check_swaps(coefficient, a, b, y, swaps):
    a, b = coefficient.standardized(a), coefficient.standardized(b)
    found = coefficient.swapped(a, b, y)(swaps)
    held = [[np.where(row, *sides) for row in swaps] for sides in ((b, a), (a, b))]
    np.testing.assert_allclose(found, [[reference(coefficient, v, y) for v in side] for side in held], atol=1e-12)


@pytest.mark.slow
@coefficients
@given(pairs())
def test_swaps_give_what_each_system_then_holds(coefficient, case):
    check_swaps(coefficient, *case)


@coefficients
@pytest.mark.parametrize("rows", [512, 7])
def test_swaps_of_many_items(coefficient, rows, monkeypatch):
    """Without ties, and with many; comparisons of all items at once, and in pieces."""
    monkeypatch.setattr(correlation, "ROWS", rows)
    rng = np.random.default_rng(7)
    a, b, y = rng.normal(size=(3, 60))
    swaps = rng.integers(0, 2, (6, 60)).astype(np.uint8)
    check_swaps(coefficient, a, b, y, swaps)
    check_swaps(coefficient, np.round(a), np.round(b), np.round(y), swaps)


def test_standardized_predictions():
    rng = np.random.default_rng(8)
    share = rng.integers(0, 1000, 50) / 1000
    per_cent = np.round(100 * share, 1)
    np.testing.assert_allclose(PEARSON.standardized(share), stats.zscore(share), atol=1e-12)
    np.testing.assert_array_equal(PEARSON.standardized(share), PEARSON.standardized(per_cent))
    assert np.isnan(PEARSON.standardized(np.full(3, 0.1))).all()
    for coefficient in (SPEARMAN, KENDALL):
        np.testing.assert_array_equal(coefficient.standardized(share), stats.rankdata(share))


@settings(max_examples=20)
@given(st.integers(2, 400), st.integers(0, 2**32 - 1))
def test_midranks_under_weights_are_the_mean_ranks_of_the_copies(n, seed):
    """Below less above, an item's imbalance, is 2 rank - (n + 1) in the resample."""
    rng = np.random.default_rng(seed)
    values, weights = rng.integers(0, n, n).astype(float), rng.multinomial(n, np.full(n, 1 / n))
    groups = correlation.Groups.find(values)
    found = groups.by_item(correlation.imbalances(groups.cumulate(weights[None].astype(float))))[0]
    expected = 2 * stats.rankdata(np.repeat(values, weights)) - (n + 1)
    np.testing.assert_array_equal(np.repeat(found, weights), expected)
