"""Systems with items of their own: told where the one with fewer items varies more, by errors that scipy has too."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.messages import Message
from registry.significance import RankSum, Settings, TwoSampleT
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.pairwise.independent import _squared_errors_of_u
from tests.significance.matrices import matrix

FEW, MANY = np.linspace(-1, 1, 9), np.linspace(-1, 1, 40)


def own_items(x, y):
    """Two systems, each scored on items of its own."""
    found = np.zeros((len(x) + len(y), 2, 2))
    found[:len(x), 0] = np.stack([x, np.ones_like(x)], axis=-1)
    found[len(x):, 1] = np.stack([y, np.ones_like(y)], axis=-1)
    return matrix(found, unequal=True)


@pytest.mark.parametrize(("x", "y", "is_told"), [
    (3 * FEW + 0.1, MANY, True), (MANY, 3 * FEW + 0.1, True), (FEW + 0.1, 3 * MANY, False), (FEW + 0.1, MANY, False),
    (3 * MANY + 0.1, MANY, False),  # as many of each
    # variances of 9 and 40 values on a grid: F of 8 and 39 degrees exceeds their ratio by chance in 2.4 and 16.3 %
    (1.4 * FEW + 0.1, MANY, True), (1.1 * FEW + 0.1, MANY, False)])
def test_it_is_told_of_few_items_that_vary_more(x, y, is_told):
    few, many = sorted((x, y), key=len)
    by_chance = stats.f.sf(few.var(ddof=1) / many.var(ddof=1), len(few) - 1, len(many) - 1)
    assert is_told == (len(few) < len(many) and by_chance < 0.1)
    m = own_items(x, y)
    for test in (TwoSampleT(), RankSum()):
        (found,) = test.run(m, [(0, 1)], Settings())
        assert misuses(test, m)[0] == Message(  # names no test that needs the same items
            "independent-test", {"test": test.name, "is_shared": True})
        codes = {said.code for said in misuses(test, m)}
        assert ("uneven-samples" in found.messages.codes) == ("uneven-samples" in codes) == is_told
    assert "uneven-samples" not in TwoSampleT(pooled=False).run(m, [(0, 1)], Settings())[0].messages.codes
    assert "uneven-samples" not in TwoSampleT().run(replace(m, unequal=False), [(0, 1)], Settings())[0].messages.codes


@pytest.mark.parametrize(("n", "m", "times", "is_told"), [(40, 40, 1, False), (40, 40, 5, True), (40, 34, 5, True),
                                                          (40, 9, 5, False)])
def test_of_about_as_many_items_it_is_told_of_ranks_alone(n, m, times, is_told):
    """Their variance is understated by so much that a normal test rejects more than 6 %, but not of many more items."""
    x, y = times * stats.norm.ppf((np.arange(n) + 0.5) / n), stats.norm.ppf((np.arange(m) + 0.5) / m)
    taken, true = _squared_errors_of_u(x, y)
    assert is_told == (2 * stats.norm.sf(1.959964 * np.sqrt(taken / true)) > 0.06)
    m = own_items(x, y)
    for test in (TwoSampleT(), RankSum()):
        (found,) = test.run(m, [(0, 1)], Settings())
        assert ("unlike-samples" in found.messages.codes) == (is_told and isinstance(test, RankSum))
        assert "uneven-samples" not in found.messages.codes


def test_of_right_and_wrong_equal_rates_vary_alike_and_welch_is_warned_of():
    """With 20 and 200 items of a rate of 0.95 Welch's test rejects 36 %, and Student's 5."""
    m = own_items((np.arange(20) > 3).astype(float), (np.arange(200) > 3).astype(float))
    assert all(len(misuses(test, m)) == 1 for test in (TwoSampleT(), RankSum()))
    assert misuses(TwoSampleT(pooled=False), m)[1].code == "welch-on-categories"


def test_it_is_told_where_the_score_is_no_mean_of_units():
    scores = own_items(FEW, MANY)
    uneven = replace(scores, statistics=scores.statistics * np.arange(1, 50)[:, None, None])
    for test in (TwoSampleT(), RankSum()):
        assert not any(said.code == "units-not-score" for said in misuses(test, scores))
        assert any(said.code == "units-not-score" for said in misuses(test, uneven))


def test_the_errors_of_u_are_those_of_two_tests():
    """Of ties too: Mann and Whitney's z without continuity, and Brunner and Munzel's statistic."""
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 6, 12).astype(float), rng.integers(1, 5, 30).astype(float)
    excess = stats.mannwhitneyu(x, y).statistic / (12 * 30) - 0.5
    taken, true = _squared_errors_of_u(x, y)
    p = stats.mannwhitneyu(x, y, use_continuity=False, method="asymptotic").pvalue
    assert 2 * stats.norm.sf(abs(excess) / np.sqrt(taken)) == pytest.approx(p)
    assert abs(excess) / np.sqrt(true) == pytest.approx(abs(stats.brunnermunzel(x, y).statistic))
