"""Betting on bounded differences: its level holds for every distribution and every number of units."""

import math
from itertools import product

import numpy as np
import pytest

from registry.significance import Bounded, Settings, StatisticMatrix
from registry.significance.pairwise.matched import log_betting_p
from registry.significance.resampling.draws import ORDER, stream

ONE_BET = math.log(1.9)  # nine tenths of the wealth, doubled by the largest difference


def of_scores(scores, score_range=(0, 1), *, lower_is_better=False):
    """A matrix of means of scores, [units, systems]."""
    values = np.asarray(scores, dtype=float)
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    return StatisticMatrix(statistics, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)),
                           family="ratio", score_range=score_range, lower_is_better=lower_is_better)


def bet(shares, sides=(1, -1)):
    """The p-value as the paper defines it, one unit after the other in plain numbers."""
    n, total, squares, variance, wealth = len(shares), 0.0, 1.0, 1.0, dict.fromkeys(sides, 1.0)
    largest = 1.0
    for t, share in enumerate(shares, 1):
        size = min(0.9, math.sqrt(2 * math.log(len(sides) / 0.05) / (n * variance)))
        for side in sides:
            wealth[side] *= 1 + side * size * share
            largest = max(largest, wealth[side])
        total += share
        squares += (share - total / (t + 1)) ** 2
        variance = squares / (t + 1)
    return min(1.0, len(sides) / largest)


def test_wealth_nearly_doubles_with_every_largest_difference():
    """Of five units, on each of which the gambler bets the most that is allowed."""
    assert log_betting_p(np.ones(5), "two-sided") == pytest.approx(math.log(2) - 5 * ONE_BET)
    assert log_betting_p(np.ones(5), "greater") == pytest.approx(-5 * ONE_BET)
    assert log_betting_p(np.ones(5), "less") == 0


@pytest.mark.parametrize("sides", [(1, -1), (1,), (-1,)])
def test_the_p_value_is_that_of_the_definition(sides):
    alternative = {(1, -1): "two-sided", (1,): "greater", (-1,): "less"}[sides]
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 40, 400):
        shares = np.clip(rng.normal(0.1, 0.3, n), -1, 1)
        assert math.exp(log_betting_p(shares, alternative)) == pytest.approx(bet(shares, sides))


@pytest.mark.parametrize(("loss", "share"), [(-0.95, 0.05), (-1, 0.5), (-0.5, 0.5), (-0.8, 0.2)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_p_value_is_too_small_more_often_than_it_may_be(loss, share, alternative):
    """All 2^12 outcomes of twelve units with two values of mean 0, such as a large loss in one of twenty."""
    gain = -loss * share / (1 - share)
    p, chances = [], []
    for lost in product((0, 1), repeat=12):
        chances.append(share ** sum(lost) * (1 - share) ** (12 - sum(lost)))
        p.append(math.exp(log_betting_p(np.where(lost, loss, gain), alternative)))
    assert sum(chances) == pytest.approx(1)
    order = np.argsort(p)
    assert (np.cumsum(np.array(chances)[order]) <= np.array(p)[order] + 1e-12).all()


def test_differences_are_shares_of_the_declared_range():
    """Percentages and shares give the same, and a lower score that is better changes the direction alone."""
    rng = np.random.default_rng(1)
    scores = rng.uniform(size=(60, 2)) * [1, 0.7]
    (plain,) = Bounded().run(of_scores(scores), [(0, 1)], Settings())
    (percent,) = Bounded().run(of_scores(100 * scores, (0, 100)), [(0, 1)], Settings())
    (lower,) = Bounded().run(of_scores(scores, lower_is_better=True), [(1, 0)], Settings(alternative="greater"))
    (greater,) = Bounded().run(of_scores(scores), [(0, 1)], Settings(alternative="greater"))
    order = np.random.Generator(stream(0, ORDER)).permutation(60)
    assert plain.p_value == pytest.approx(bet((scores[:, 0] - scores[:, 1])[order]))
    assert plain.method == "bound"
    assert percent.p_value == pytest.approx(plain.p_value)
    assert lower.p_value == pytest.approx(greater.p_value)
    assert plain.p_value < 0.05


def test_scores_without_two_bounds_and_other_scores_than_means_are_refused():
    scores = np.random.default_rng(1).uniform(size=(30, 2))
    assert "a lower and an upper bound" in Bounded().refusal(of_scores(scores, (0, math.inf)))
    uneven = np.random.default_rng(1).integers(1, 5, (30, 2, 2)).astype(float)
    ratio = StatisticMatrix(uneven, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)),
                            family="ratio", score_range=(0, 1))
    assert "means with the same denominator for all systems" in Bounded().refusal(ratio)
