"""Units in which two systems differ, however they are counted."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.significance import Settings, Sign, discordance
from registry.significance.base import Observed
from registry.significance.discordance import discordant, in_both
from tests.significance.matrices import matrix


def by_looking(statistics, pairs):
    return [int((statistics[:, a] != statistics[:, b]).any(axis=1).sum()) for a, b in pairs]


@pytest.mark.parametrize("values", [[0, 1], [0.25, 7], [0, 1, 2], [0.5, 1, 1.25], [-1e6, 3, 2**40], [0, 2**60]])
@pytest.mark.parametrize("columns", [1, 2, 3])
@given(seed=st.integers(0, 99), units=st.integers(1, 30))
def test_units_differ_where_any_column_does(values, columns, seed, units):
    statistics = np.random.default_rng(seed).choice(values, (units, 5, columns))
    pairs = list(itertools.permutations(range(5), 2))
    for some in (pairs, pairs[3:4]):
        found = discordant(matrix(statistics), *np.array(some).T)
        assert found.tolist() == by_looking(statistics, some)


def test_marks_in_both_do_not_depend_on_how_many_are_multiplied_at_once(monkeypatch):
    marks = np.random.default_rng(1).random((50, 6)) < 0.4
    expected = [[int((a & b).sum()) for b in marks.T] for a in marks.T]
    assert in_both(marks).tolist() == expected
    monkeypatch.setattr(discordance, "_AT_ONCE", 13)
    assert in_both(marks).tolist() == expected


def test_pairs_are_given_as_they_come_or_as_an_array():
    m = matrix(np.random.default_rng(2).integers(0, 4, (20, 4, 2)))
    pairs = list(itertools.combinations(range(4), 2))
    assert [o.pair for o in Observed.of(m, pairs)] == pairs
    assert Sign().run(m, np.array(pairs), Settings()) == Sign().run(m, pairs, Settings())
