"""Units in which two systems differ, however they are counted."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.significance import Settings, Sign
from registry.significance.base import Observed, count_discordant
from tests.significance.matrices import ACCURACY, RECALL, matrix


def by_looking(statistics, pairs):
    return [int((statistics[:, a] != statistics[:, b]).any(axis=1).sum()) for a, b in pairs]


@pytest.mark.parametrize("values", [[0, 1], [0.25, 7], [0, 1, 2], [0.5, 1, 1.25], [-1e6, 3, 2**40], [0, 2**60]])
@pytest.mark.parametrize("columns", [1, 2, 3])
@given(seed=st.integers(0, 99), units=st.integers(1, 30))
def test_units_differ_where_any_column_does(values, columns, seed, units):
    statistics = np.random.default_rng(seed).choice(values, (units, 5, columns))
    pairs = list(itertools.permutations(range(5), 2))
    for some in (pairs, pairs[3:4]):
        found = count_discordant(matrix(statistics, None), *np.array(some).T)
        assert found.tolist() == by_looking(statistics, some)


@given(seed=st.integers(0, 99), step=st.sampled_from([1, 3]))
def test_units_are_counted_by_the_score_where_it_tells_as_much(seed, step):
    """Two numerators in every unit, a step apart; or those of a column that is not in the score."""
    rng = np.random.default_rng(seed)
    over = rng.integers(0, 9, (20, 1)) + step * rng.integers(0, 2, (20, 5))
    under = np.broadcast_to(rng.integers(1, 9, (20, 1)), over.shape)
    pairs = list(itertools.permutations(range(5), 2))
    for columns, quotient in (([over, under], ACCURACY), ([over, under, over], RECALL), ([under, over, under], RECALL)):
        statistics = np.stack(columns, axis=-1)
        found = count_discordant(matrix(statistics, quotient), *np.array(pairs).T)
        assert found.tolist() == by_looking(statistics, pairs)


def test_pairs_are_given_as_they_come_or_as_an_array():
    m = matrix(np.random.default_rng(2).integers(0, 4, (20, 4, 2)))
    pairs = list(itertools.combinations(range(4), 2))
    assert [o.pair for o in Observed.compare(m, pairs)] == pairs
    assert Sign().run(m, np.array(pairs), Settings()) == Sign().run(m, pairs, Settings())
