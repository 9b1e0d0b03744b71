"""Means, errors and perplexities, by their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import (
    MAE,
    METRICS,
    RMSE,
    Accuracy,
    BitsPerCharacter,
    Formula,
    Kendall,
    Mean,
    Pearson,
    Perplexity,
    Spearman,
)
from registry.values import parse

values = st.floats(-1e3, 1e3)


def scored(metric, rows):
    """The metric of (gold, answer) pairs."""
    sums = np.sum([metric.statistics(Item(str(n), gold), Answer(str(n), said))
                   for n, (gold, said) in enumerate(rows)], axis=0, dtype=float)
    return metric.score(sums)


@given(st.lists(st.tuples(values, values), min_size=1))
def test_mean_and_errors(rows):
    gold, said = np.array(rows).T
    assert scored(Mean(), rows) == pytest.approx(said.mean(), abs=1e-9)
    assert scored(MAE(), rows) == pytest.approx(np.abs(said - gold).mean(), abs=1e-9)
    assert scored(RMSE(), rows) == pytest.approx(math.sqrt(((said - gold) ** 2).mean()), abs=1e-9)


def test_perplexity_of_a_fair_coin_and_of_a_die():
    """Two tokens of probability 1/2 and two of 1/8 have the geometric mean 1/4."""
    rows = [(2, (2 * math.log(1 / 2), 2)), (6, (2 * math.log(1 / 8), 2))]
    assert scored(Perplexity(), rows) == pytest.approx(4, rel=1e-14)
    assert scored(BitsPerCharacter(), rows) == pytest.approx((2 + 6) / 8, rel=1e-14)


def test_scores_are_vectorized_and_undefined_ones_are_nan():
    sums = np.array([[[4.0, 1.0], [0.0, 0.0]], [[1e6, 1.0], [9.0, 1.0]]])
    np.testing.assert_array_equal(RMSE().score(sums), [[2, np.nan], [1000, 3]])
    np.testing.assert_array_equal(Perplexity().score(sums), [[math.exp(4), np.nan], [np.nan, np.exp(9)]])


@pytest.mark.parametrize("metric", [Mean(), MAE(), RMSE(), Perplexity(), BitsPerCharacter()])
def test_an_item_without_an_answer_has_no_worst_value_but_a_declared_one(metric):
    with pytest.raises(InputError, match=f"item 'i': it has no answer, and {metric.name} has no worst value"):
        metric.statistics(Item("i", 1.0), None)
    assert Mean(worst=0.0).statistics(Item("i", None), None) == (0, 1)


@pytest.mark.parametrize(("metric", "allowed", "refused"), [
    (Mean(worst=0.0, low=-1, high=1), 0.0, -0.5), (Mean("lower", worst=5.0, low=0, high=9), 5.0, 6.0)])
def test_no_score_is_worse_than_the_worst_score(metric, allowed, refused):
    assert metric.statistics(Item("i", None), Answer("i", allowed, 1)) == (allowed, 1)
    with pytest.raises(InputError, match=f"worst = {metric.worst:g} is better than the observed score {refused:g}"):
        metric.statistics(Item("i", None), Answer("i", refused, 1))
    with pytest.raises(InputError, match="outside the declared range"):
        metric.statistics(Item("i", None), Answer("i", 10.0, 1))


def test_directions_and_names():
    assert {type(m).name: m.better for m in (Mean(), MAE(), RMSE(), Perplexity(), BitsPerCharacter())} == {
        "Mean": "higher", "MAE": "lower", "RMSE": "lower", "Perplexity": "lower", "BitsPerCharacter": "lower"}
    assert Mean("lower").better == "lower"
    for name in ("Mean", "Mean(better=lower, worst=0)"):
        assert repr(parse("metric", METRICS, name)) == name


@pytest.mark.parametrize("metric", [
    Mean(), Mean(worst=0.0), MAE(), RMSE(), Perplexity(), BitsPerCharacter(), Pearson(), Spearman(), Kendall(),
    Formula(formula="a"), Formula(formula="a", worst=(0.0,)), Accuracy()], ids=repr)
def test_only_a_metric_with_a_worst_value_counts_an_item_without_an_answer(metric):
    item = Item("x", 1.0)
    if metric.has_worst:
        metric.statistics(item, None)
    else:
        with pytest.raises(InputError, match="no worst value"):
            metric.statistics(item, None)
