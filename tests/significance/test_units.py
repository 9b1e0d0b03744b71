"""Tests of the scores of single units, where units have no score of their own."""

import itertools
import math

import numpy as np
import pytest

from registry.significance import OVERALL_TESTS, TESTS, PairMatrix, Settings
from tests.advice_page import examples, metrics, typical
from tests.significance.matrices import matrix

OF_UNITS = [name for name, test in TESTS.items() if test.of_unit_scores]
CODES = ("no-shared-scores",)


def test_the_tests_of_unit_scores_say_so():
    assert {"sign", "wilcoxon", "t", "two-sample-t", "rank-sum"} <= set(OF_UNITS)


@pytest.mark.slow
def test_metrics_without_item_scores_are_refused_and_no_others():
    """By its definition one item has a kappa of 0 or none, and a Matthews correlation of 0; other metrics tell a right
    answer from a wrong one.
    """
    refused = set()
    for metric in metrics():
        m = typical(metric, *examples(metric.takes))
        if isinstance(m, PairMatrix):
            continue
        reasons = [TESTS[name]().refusal(m) for name in OF_UNITS] + [OVERALL_TESTS["friedman"]().refusal(m)]
        assert len({reason is None for reason in reasons}) == 1, metric
        if reasons[0]:
            refused.add(metric.name)
            assert "although the systems' scores differ; use --test permutation" in reasons[0]
    assert refused == {"Kappa", "MCC"}


def precision(rows):
    """The precision of systems with (right, predicted) in each unit, undefined where nothing is predicted."""
    return matrix([[[right, of] for right, of in row] for row in rows])


def p_value(name, m):
    (found,) = TESTS[name]().run(m, [(0, 1)], Settings())
    return found.p_value, found.messages.codes


@pytest.mark.parametrize("name", ["sign", "wilcoxon", "t"])
def test_p_is_undefined_where_what_differs_has_no_score(name):
    """A's 20 wrong answers are in units where B gives none; a swap of these has p = 2^-19, ties of the others none."""
    m = precision([[(1, 1), (1, 1)]] * 20 + [[(0, 1), (0, 0)]] * 20)
    assert p_value("permutation", m)[0] == 2.0**-19
    p, codes = p_value(name, m)
    assert math.isnan(p)
    assert codes == CODES


@pytest.mark.parametrize("name", ["sign", "wilcoxon", "t"])
def test_p_is_undefined_where_no_unit_has_both_scores(name):
    """As many right answers of as many, in different units: the scores are equal."""
    p, codes = p_value(name, precision([[(1, 1), (0, 0)], [(0, 0), (1, 1)], [(0, 1), (0, 0)], [(0, 0), (0, 1)]]))
    assert math.isnan(p)
    assert codes == CODES


@pytest.mark.parametrize("name", ["sign", "wilcoxon", "t"])
def test_units_that_tie_have_a_p_of_1(name):
    """Half of the answers are right in every unit of either system, of which A gives more in the first."""
    assert p_value(name, precision([[(2, 4), (1, 2)], [(1, 2), (1, 2)], [(0, 1), (0, 1)]])) == (1.0, ())


@pytest.mark.parametrize("name", OF_UNITS)
def test_the_other_pairs_are_those_of_the_same_test_without_a_pair_that_is_undefined(name):
    rng = np.random.default_rng(1)
    of = rng.integers(1, 5, (30, 3))
    rows = np.stack([rng.integers(0, of + 1), of], axis=-1)
    rows = np.concatenate([rows, rows[:, :1]], axis=1)  # the fourth is the first but for a unit without an answer
    rows[0, 3] = 0
    rows[0, 0] = (0, 3)
    m = matrix(rows)
    pairs = list(itertools.combinations(range(4), 2))
    found = TESTS[name]().run(m, pairs, Settings())
    if name in ("sign", "wilcoxon", "t"):
        assert [pair for pair, result in zip(pairs, found, strict=True) if result.messages.codes == CODES] == [(0, 3)]
    for pair, result in zip(pairs, found, strict=True):
        if pair != (0, 3):
            (alone,) = TESTS[name]().run(m, [pair], Settings())
            assert repr(alone) == repr(result)  # by repr: nan is not equal to itself


def test_all_systems_are_not_compared_where_no_unit_has_all_scores():
    m = precision([[(1, 2), (0, 0), (1, 1)], [(0, 0), (2, 3), (1, 1)]])
    refused = OVERALL_TESTS["friedman"]().refusal(m)
    assert "needs units in which every system has a defined score, but there are none" in refused
    assert OVERALL_TESTS["friedman"]().refusal(m.select_systems([0, 2])) is None
