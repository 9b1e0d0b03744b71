"""Intervals in closed form: against statsmodels and scipy, by hand, and where there are none."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from registry.significance.correlations import PEARSON, PairMatrix
from registry.significance.intervals import ClosedForm, group_by_item, refusal
from tests.significance.matrices import F1, matrix, of_labels, of_scores, uneven

RNG = np.random.default_rng(5)
A, B = np.array([0, 0, 1]), np.array([1, 2, 2])


def intervals(m, **options):
    return ClosedForm(group_by_item(m), **options)


def test_right_or_wrong_is_wilson_s_and_bonett_and_price_s():
    right = RNG.random((40, 3)) < (0.95, 0.7, 0.5)
    right[:, 0] = True
    of = intervals(of_labels(right))
    low, high = of.scores()
    assert np.stack([low, high], axis=1) == pytest.approx(
        np.array([proportion_confint(hits, 40, method="wilson") for hits in right.sum(axis=0)]), abs=1e-6)
    only_a, only_b = (np.array([(x[:, a] & ~x[:, b]).sum() for a, b in zip(A, B, strict=True)])
                      for x in (right, ~right))
    p, q = (only_a + 1) / 42, (only_b + 1) / 42  # Bonett and Price 2012, equation 6
    reach = stats.norm.ppf(0.975) * np.sqrt((p + q - (p - q)**2) / 42)
    assert np.stack(of.differences(A, B)) == pytest.approx(np.stack([p - q - reach, p - q + reach]), abs=1e-6)
    lower = intervals(replace(of_labels(right), lower_is_better=True))
    assert np.array_equal(np.stack(lower.differences(A, B)), np.stack(of.differences(B, A)))
    assert (of.score_methods, of.difference_methods) == (("wilson",), ("bonett-price",))


def test_means_are_student_s():
    """The interval of a mean difference is that of the paired t-test; of a mean that leaves [0, 1], the t interval."""
    scores = RNG.normal(3, 1, (12, 3)).round(2)
    of = intervals(of_scores(scores))
    expected = [stats.ttest_rel(scores[:, a], scores[:, b]).confidence_interval() for a, b in zip(A, B, strict=True)]
    assert np.stack(of.differences(A, B), axis=1) == pytest.approx(np.array(expected), abs=1e-5)
    expected = [stats.ttest_1samp(column, 0).confidence_interval() for column in scores.T]
    assert np.stack(of.scores(), axis=1) == pytest.approx(np.array(expected), abs=1e-5)
    assert (of.score_methods, of.difference_methods) == (("student",), ("student",))


def test_systems_that_hardly_differ_keep_all_digits():
    """Their error is not what is left of two that cancel."""
    scores = RNG.normal(3, 1, (12, 3)).round(9)
    scores[:4, 1] = scores[:4, 0] + [1e-7, 3e-7, 0, 2e-7]
    scores[4:, 1] = scores[4:, 0]
    expected = tuple(stats.ttest_rel(scores[:, 0], scores[:, 1]).confidence_interval())
    low, high = intervals(of_scores(scores)).differences(A[:1], B[:1])
    assert (low[0], high[0]) == pytest.approx(expected, rel=1e-5)


def test_shares_keep_within_0_and_1():
    """Wilson's, of as many trials as have the linearized error: both ends by the quadratic equation that they solve."""
    statistics = np.concatenate([uneven(3, 30, 3), np.ones((30, 3, 1))], axis=2)[:, :, [0, 1, 1]]
    statistics[:, 2, 0] = statistics[:, 2, 1]  # a system that never errs
    m = matrix(statistics, F1)
    m = replace(m, score=lambda sums: 2 * sums[..., 0] / (sums[..., 1] + sums[..., 2]), score_range=(0, 1))
    of = intervals(m)
    assert of.score_methods == ("share",)
    low, high = of.scores()
    t = stats.t.ppf(0.975, 29)
    for system in (0, 1):
        hits, total = 2 * statistics[:, system, 0], statistics[:, system, 1:].sum(axis=1)
        p = hits.sum() / total.sum()
        error = np.sqrt(30 / 29 * (((hits - p * total) / total.sum())**2).sum())
        trials = p * (1 - p) / error**2
        for end in (low[system], high[system]):
            assert (p - end)**2 == pytest.approx(t**2 * end * (1 - end) / trials, rel=1e-4)
    assert (low[2], high[2]) == pytest.approx((30 / (30 + t**2), 1), abs=1e-5)


def test_clusters_are_the_units_and_answers_those_of_items():
    statistics, units = uneven(7, 60, 3), np.repeat(np.arange(15), 4)
    summed = np.add.reduceat(statistics, np.arange(0, 60, 4))
    expected = intervals(matrix(summed))
    for m in (matrix(statistics, units=units), matrix(statistics, answers_to=units)):
        of = intervals(m)
        assert np.array_equal(of.scores(), expected.scores())
        assert np.array_equal(of.differences(A, B), expected.differences(A, B))


def test_correlations_are_fisher_s(monkeypatch):
    """Near the textbook's 1 / sqrt(n - 3) for normal values; in groups of many units nearly the same."""
    gold = RNG.standard_normal(400)
    predicted = np.stack([gold * r + RNG.standard_normal(400) for r in (1.0, 0.5, 3.0)], axis=1)
    m = PairMatrix(np.stack([predicted, np.broadcast_to(gold[:, None], predicted.shape)], axis=2), coefficient=PEARSON)
    of = intervals(m)
    low, high = np.arctanh(of.scores())
    assert (high - low) / 2 == pytest.approx(1.96 / np.sqrt(397), rel=0.15)
    assert (high + low) / 2 == pytest.approx(np.arctanh(m.scores()), rel=1e-4)
    monkeypatch.setattr("registry.significance.intervals._GROUPS", 100)
    grouped = intervals(m).differences(A, B)
    assert np.array(grouped) == pytest.approx(np.array(of.differences(A, B)), abs=0.02)


def test_units_that_are_few_and_uneven_are_told_of():
    """As many as (sum of sizes)^2 / (sum of squared sizes): (72 + 72)^2 / (72^2 + 9 * 64) = 3.6 of 10."""
    of_one = np.repeat(np.arange(10), [72] + [8] * 9)
    right = (RNG.random((144, 2)) < 0.7).astype(float)
    m = replace(of_labels(right), units=of_one)
    assert intervals(m).count_even_units() == pytest.approx(3.6)
    assert intervals(replace(m, units=np.arange(144) % 10)).count_even_units() is None  # few, and about equal
    assert intervals(of_labels(right)).count_even_units() is None


def test_where_there_is_none():
    statistics = uneven(1, 20, 2)
    statistics[:, 1] = statistics[:, 0]
    assert np.isnan(intervals(matrix(statistics)).differences(A[:1], B[:1])).all(), "the systems are one"
    same = intervals(of_scores(np.full((20, 2), 0.5)))
    assert np.isnan(same.scores()).all(), "nothing varies"
    assert refusal(group_by_item(matrix(uneven(1, 4, 2), units=np.zeros(4, dtype=int)))).code == "one-unit"
    assert refusal(matrix(uneven(1, 4, 2), strata=np.array([0, 0, 1, 1]))).code == "strata-need-resamples"


def test_other_systems_change_nothing_of_a_pair():
    right = (RNG.random((50, 3)) < 0.8).astype(float)
    graded = np.column_stack([right, RNG.random(50).round(9)])
    few, more = (intervals(replace(of_scores(of), score_range=(0, 1))) for of in (right, graded))
    assert more.score_methods == ("wilson", "share")
    assert more.difference_methods == ("bonett-price", "mover")
    assert np.array_equal(few.scores(), np.stack(more.scores())[:, :3])
    assert np.array_equal(few.differences(A, B), more.differences(A, B))


def test_scores_that_few_of_many_units_move_are_told():
    """Of k equal errors in n units the fourth moments have (k - 1) 2 n / (n - k) degrees of freedom, nearly."""
    def told(of, places, score_range=(0, 1)):
        return intervals(replace(of_scores(of[:, None].round(places)), score_range=score_range)).count_skewed()

    halves = np.zeros(200)
    halves[:2] = 0.4
    assert told(halves, 1) == 1
    halves[:6] = 0.4
    assert told(halves, 1) == 0
    assert told(np.where(halves > 0, 1.0, 0.0), 0) == 0  # right or wrong: Wilson's
    assert told(halves[:30], 1) == 0  # few units, but not few of many
    anything, above_zero = (-np.inf, np.inf), (0, np.inf)
    assert told(np.exp(2 * RNG.standard_normal(50)) - 1, 3, anything) == 1
    assert told(RNG.standard_normal(50), 3, anything) == 0
    counts = np.repeat([0.0, 1.0, 2.0], [40, 8, 2])
    assert told(counts, 0, anything) == 1
    assert told(counts, 0, above_zero) == 0  # as skewed as counts are
    assert told(np.append(counts, 20.0), 0, above_zero) == 1
