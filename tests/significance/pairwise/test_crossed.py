"""The test over items and runs: by hand, against t, its intervals, what it refuses, invariances.

Its level is in the rows `crossed-*` of tests/validity.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.messages import Message, Messages
from registry.significance import Crossed, MatchedT, Settings, StatisticMatrix
from registry.significance.diagnostics.assumptions import misuses
from tests.significance.resampling.test_random_runs import graded, matrix, run

ALTERNATIVES = ("two-sided", "greater", "less")


def of_scores(*systems):
    """A matrix of systems whose runs have these scores, [items, runs] each."""
    return matrix(*(np.stack([np.asarray(s, dtype=float), np.ones(np.shape(s))], axis=-1) for s in systems))


def test_the_error_is_that_of_items_and_runs():
    """Without an interaction, to the last digits by hand: items add s^2 / n of their differences, runs s^2 / m."""
    items, other = np.array([0.2, 0.9, 0.4, 0.7, 0.5]), np.array([0.1, 0.6, 0.5, 0.4, 0.2])
    runs, others = np.array([0.1, -0.2, 0.1]), np.array([0.05, -0.05])
    m = of_scores(items[:, None] + runs, other[:, None] + others)
    found = run(Crossed(), m, confidence=0.9)
    squared = np.array([(items - other).var(ddof=1) / 5, runs.var(ddof=1) / 3, others.var(ddof=1) / 2])
    t = stats.t.isf(0.05, [4, 2, 1])
    assert found.difference == pytest.approx(0.18)
    assert found.statistic == pytest.approx(0.18 / math.sqrt(squared.sum()))
    assert found.ci_low == pytest.approx(0.18 - math.sqrt((t**2 * squared).sum()))
    p = found.p_value
    assert math.sqrt((stats.t.isf(p / 2, [4, 2, 1])**2 * squared).sum()) == pytest.approx(0.18)
    over_runs = run(Crossed(over="runs"), m)
    assert over_runs.statistic == pytest.approx(0.18 / math.sqrt(squared[1:].sum()))
    assert found.method == "asymptotic"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_over_items_it_is_the_t_test_of_averages(alternative):
    m = graded(np.random.default_rng(5), 15, [(0.3, 0.1, 0.4), (0.0, 0.2, -0.1)])
    ours = run(Crossed(over="items"), m, alternative=alternative)
    theirs = run(MatchedT(), replace(m, runs=None), alternative=alternative)
    for name in ("p_value", "statistic", "ci_low", "ci_high"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9), name


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_leaves_out_0_just_when_the_test_is_significant(alternative):
    m = graded(np.random.default_rng(8), 20, [(0.9, 0.7, 1.4), (0.0, 0.2, -0.1)])
    for alpha in (0.01, 0.05, 0.2, 0.7):
        found = run(Crossed(), m, alternative=alternative, confidence=1 - alpha)
        assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)


def test_scores_that_are_no_quotients_are_linearized():
    """The logarithm of an accuracy near 1/2 is steeper by 2: the same statistic, to the curvature over many cells."""
    rng = np.random.default_rng(3)
    right = [(rng.random((400, 3)) < share).astype(float) for share in (0.52, 0.48)]
    plain = of_scores(*right)
    logarithm = replace(plain, quotient=None, score=lambda s: np.log(s[..., 0] / s[..., 1]))
    ours, theirs = (run(Crossed(), m) for m in (logarithm, plain))
    assert ours.difference > 1.8 * theirs.difference
    assert ours.statistic == pytest.approx(theirs.statistic, rel=0.02)


def test_what_is_not_tested_says_why():
    m = graded(np.random.default_rng(1), 4, [(0, 1), (0, 2, 1)])
    assert Crossed().refusal(replace(m, runs=None)).startswith("crossed requires random runs")
    assert "only one run" in Crossed().refusal(graded(np.random.default_rng(1), 4, [(0, 1), (1,)]))
    constant = run(Crossed(), of_scores(np.ones((3, 2)), np.zeros((3, 2))))
    assert (math.isnan(constant.p_value), constant.messages) == (True, Messages.make(
        "constant-difference", over="item and run"))
    level = run(Crossed(), of_scores(np.ones((3, 2)), np.array([[1, 1], [1, 1], [1, 1]])))
    assert level.p_value == 1
    assert run(Crossed(), of_scores([[1, 0]], [[0, 0]])).messages.codes == ("one-unit",)
    assert run(Crossed(over="runs"), of_scores([[1, 0]], [[0, 0]])).p_value == pytest.approx(0.5)
    few_runs, few_items = misuses(Crossed(), m)
    assert few_runs.code == "two-runs"
    assert few_items == Message("few-units-crossed", {"units": 4, "least": 20, "even": None})
    assert misuses(Crossed(over="items"), graded(np.random.default_rng(1), 20, [(0, 1), (0, 2)])) == []


def test_nothing_depends_on_other_systems_or_on_their_order():
    m = graded(np.random.default_rng(3), 12, [(0.1, 0.4, 0.2), (0.3, 0.9, 0.2, 0.4), (1.0, 0.8)])
    full = Crossed().run(m, [(0, 1), (2, 1)], Settings())
    assert repr(Crossed().run(m.select_systems([2, 1]), [(0, 1)], Settings())[0]) == repr(full[1])
    turned = Crossed().run(m, [(1, 0)], Settings("greater"))[0]
    assert turned.p_value == run(Crossed(), m, alternative="less").p_value


def test_units_are_clusters():
    m = graded(np.random.default_rng(4), 12, [(0.1, 0.2), (0.5, 0.4, 0.6)])
    units = np.arange(12) // 3
    clustered = StatisticMatrix(m.statistics, m.score, units=units, quotient=m.quotient, runs=m.runs)
    means = [of[..., 0].reshape(4, 3, -1).mean(axis=1) for of in m.runs]
    assert run(Crossed(), clustered).p_value == pytest.approx(run(Crossed(), of_scores(*means)).p_value, rel=1e-9)
