"""Groups of systems that are not told apart, against all subsets."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.significance.ranks import assign_letters, find_groups


@st.composite
def relations(draw):
    """Which of up to seven systems differ."""
    n = draw(st.integers(1, 7))
    differ = np.zeros((n, n), dtype=bool)
    for a, b in combinations(range(n), 2):
        differ[a, b] = differ[b, a] = draw(st.booleans())
    return differ


def alike(differ, group):
    return not differ[np.ix_(group, group)].any()


@given(relations())
def test_groups_are_the_largest_sets_of_which_no_two_differ(differ):
    n = len(differ)
    subsets = [group for size in range(1, n + 1) for group in combinations(range(n), size) if alike(differ, group)]
    largest = [group for group in subsets if not any(set(group) < set(other) for other in subsets)]
    assert find_groups(differ) == sorted(largest)


@given(relations())
def test_two_systems_share_a_letter_just_if_they_do_not_differ(differ):
    shown = assign_letters(find_groups(differ), len(differ))
    for a, b in combinations(range(len(differ)), 2):
        assert bool(set(shown[a]) & set(shown[b])) == (not differ[a, b])


def test_the_example_of_a_textbook():
    """Four treatments of which the extremes differ: a, ab, ab, b."""
    differ = np.zeros((4, 4), dtype=bool)
    differ[0, 3] = differ[3, 0] = True
    assert assign_letters(find_groups(differ), 4) == ["a", "ab", "ab", "b"]


def test_too_many_groups_are_no_display():
    differ = np.kron(np.eye(8, dtype=bool), ~np.eye(3, dtype=bool))  # 3^8 groups: one of each triple
    assert find_groups(differ) == []


def test_a_thousand_systems_that_are_alike_are_one_group():
    """More than Python's calls may be nested."""
    assert find_groups(np.zeros((1500, 1500), dtype=bool)) == [tuple(range(1500))]
