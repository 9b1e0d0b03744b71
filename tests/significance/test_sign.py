"""The sign test and McNemar's exact test, against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.significance import McNemar, Settings, Sign
from tests.significance.test_permutation import matrix, of_labels


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60),
       st.sampled_from(["two-sided", "greater", "less"]))
def test_mcnemar_is_the_binomial_test_of_discordant_items(right, alternative):
    (found,) = McNemar().run(of_labels(right), [(0, 1)], Settings(alternative))
    only_a, only_b = sum(a > b for a, b in right), sum(b > a for a, b in right)
    expected = stats.binomtest(only_a, only_a + only_b, alternative=alternative).pvalue if only_a + only_b else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.n_discordant == only_a + only_b


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_sign_counts_units_whatever_the_size_of_their_difference(units):
    (found,) = Sign().run(matrix([[[a, 3], [b, 3]] for a, b in units]), [(0, 1)], Settings())
    better, worse = sum(a > b for a, b in units), sum(a < b for a, b in units)
    expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_mcnemar_refuses_graded_units():
    with pytest.raises(ValueError, match="right or wrong"):
        McNemar().run(matrix([[[1, 3], [2, 3]]]), [(0, 1)], Settings())
    clusters = matrix(of_labels([[1, 0], [1, 1]]).statistics, units=np.array([0, 0]))
    with pytest.raises(ValueError, match="right or wrong"):
        McNemar().run(clusters, [(0, 1)], Settings())
