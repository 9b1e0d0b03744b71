"""Fisher's exact test, against scipy, its two rules, and its refusals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.significance import Fisher, Settings
from registry.significance.pairwise.independent import fisher_exact, fisher_tail
from tests.significance.matrices import PRECISION, RECALL, alternatives, of_labels, yehs_relations

cells = st.integers(0, 25)


@given(cells, cells, cells, cells, alternatives)
def test_every_table_has_scipys_p_value(a, b, c, d, alternative):
    expected = stats.fisher_exact([[a, b], [c, d]], alternative=alternative).pvalue
    assert float(fisher_exact([[a, b], [c, d]], alternative)) == pytest.approx(expected, rel=1e-9)


def test_a_table_where_the_two_sided_rules_differ():
    """Margins 5, 4 and 6, 3: the tables have 10, 40, 30 and 4 ways of 84, by their first cell.

    Observed is the one of 4 ways: no other is as unlikely (point), and twice its side is 8 (doubling).
    """
    table = [[5, 0], [1, 3]]
    assert fisher_exact(table) == Fraction(4, 84)
    assert fisher_exact(table, rule="doubling") == Fraction(8, 84)
    assert stats.fisher_exact(table).pvalue == pytest.approx(4 / 84)


@given(st.tuples(*4 * [st.integers(0, 400)]), st.booleans(), alternatives, st.sampled_from(["point", "doubling"]))
def test_large_tables_have_the_p_value_of_whole_numbers(cells, equal_margins, alternative, rule):
    a, b, c, d = cells
    if equal_margins:  # so that every table has a mirror image of the same probability
        d = max(a + b - c, 0)
    exact = fisher_exact([[a, b], [c, d]], alternative, rule)
    found = fisher_tail([[a, b], [c, d]], alternative, rule)
    assert found.log_p == pytest.approx(math.log(exact.numerator) - math.log(exact.denominator), rel=1e-11, abs=1e-11)
    assert found.p == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("table", [[[12345, 27655], [12500, 27500]], [[9000, 31000], [12000, 28000]],
                                   [[300, 9700], [450, 8000]], [[40, 99960], [10, 50000]]])
def test_very_large_tables_have_scipys_p_value(table):
    assert fisher_tail(table).p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-7)


def test_small_tables_tell_p_equal_to_alpha_from_more():
    """Margins 3, 3 and 3, 3: 20 tables, of which one has all three in the first cell."""
    assert fisher_tail([[3, 0], [0, 3]], "greater").p == 0.05


def test_regions_of_yehs_precision():
    """Of the responses that only one method gives, I has 28 of 71 right, II 6 of 15."""
    (found,) = Fisher().run(yehs_relations(PRECISION), [(0, 1)], Settings())
    expected = stats.fisher_exact([[28, 43], [6, 9]])
    assert found.method == "exact"
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.n_discordant == 28 + 43 + 6 + 9


def of_answers(rows, items):
    """A matrix of answers from rows (A gives it, B gives it, the gold has it), and the item of each."""
    m = yehs_relations(PRECISION)
    statistics = np.array([[[gold * a, a, gold], [gold * b, b, gold]] for a, b, gold in rows], dtype=float)
    return replace(m, statistics=statistics, answers_to=np.array(items))


def test_refusals():
    def refused(m, why):
        with pytest.raises(ValueError, match=why):
            Fisher().run(m, [(0, 1)], Settings())

    refused(of_labels([[1, 0], [0, 1]]), "mcnemar for one answer per item")
    refused(yehs_relations(RECALL), "precision")
    one_each = [(1, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0)]  # two answers to either item, of which A and B give one
    refused(of_answers(one_each, [0, 0, 1, 1]), "every system gives one answer to every item.*use --test mcnemar")
    assert Fisher().refusal(of_answers(one_each, [0, 0, 1, 2])) is None  # A does not answer the third


def test_candidates_that_everybody_accepts_are_no_difference():
    assert Fisher().run(of_answers([(1, 1, 1), (1, 1, 0)], [0, 1]), [(0, 1)], Settings())[0].p_value == 1
