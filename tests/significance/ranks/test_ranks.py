"""Ranks, rank ranges and clusters from scores and decisions."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.significance import rank
from registry.significance.ranks import count_rank_shares, find_frequent_ranks, find_neighbour_ranges


def decisions(n, *won):
    wins = np.zeros((n, n), dtype=bool)
    for a, b in won:
        wins[a, b] = True
    return wins


def test_equal_scores_share_a_place_and_undefined_ones_the_last():
    found = rank(np.array([0.7, np.nan, 0.9, 0.7, np.nan, 0.1]), decisions(6))
    assert found.rank.tolist() == [2, 5, 1, 2, 5, 4]
    assert found.order.tolist() == [2, 0, 3, 5, 1, 4]


def test_lower_is_better():
    assert rank(np.array([0.3, 0.1, np.nan]), decisions(3), lower_is_better=True).rank.tolist() == [2, 1, 3]


def test_ranges_are_what_losses_and_wins_leave_open():
    found = rank(np.array([4.0, 3.0, 2.0, 1.0]), decisions(4, (0, 2), (0, 3), (1, 3)))
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_a_cluster_ends_where_all_above_beat_all_below():
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    first = [(0, n) for n in range(1, 5)]
    assert rank(scores, decisions(5, *first, (1, 4))).cluster.tolist() == [1, 2, 2, 2, 2]
    last = [(n, 4) for n in range(1, 4)]
    assert rank(scores, decisions(5, *first, *last)).cluster.tolist() == [1, 2, 2, 2, 3]
    assert rank(scores, decisions(5)).cluster.tolist() == [1] * 5


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_permuting_systems_permutes_the_ranking(scores, rng):
    scores = np.array(scores, dtype=float)
    wins = scores[:, None] > scores[None, :] + 1
    order = list(range(len(scores)))
    rng.shuffle(order)
    there, here = rank(scores[order], wins[np.ix_(order, order)]), rank(scores, wins)
    for name in ("rank", "low", "high", "cluster"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name)[order])
    assert (here.low <= here.rank).all()
    assert (here.rank <= here.high).all()


def test_one_system_and_none():
    assert rank(np.array([0.5]), decisions(1)).cluster.tolist() == [1]
    assert rank(np.array([]), decisions(0)).cluster.tolist() == []


def test_neighbour_ranges_end_at_the_nearest_system_that_differs():
    wins = decisions(4, (0, 2), (0, 3), (1, 3))
    low, high = find_neighbour_ranges(wins)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    crossed = decisions(4, (1, 2))  # the ends differ from nobody
    low, high = find_neighbour_ranges(crossed)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 4), (1, 2), (3, 4), (1, 4)]


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, math.nan]), min_size=3, max_size=3), min_size=1, max_size=8),
       st.booleans())
def test_rank_frequencies_share_out_tied_places(rows, lower):
    """All orders of equal scores count alike: the mean over all of them, one by one."""
    expected = np.zeros((3, 3))
    for row in rows:
        keys = [math.inf if math.isnan(x) else x if lower else -x for x in row]
        orders = [o for o in permutations(range(3)) if all(keys[a] <= keys[b] for a, b in pairwise(o))]
        for order in orders:
            for place, system in enumerate(order):
                expected[system, place] += 1 / len(orders) / len(rows)
    found = count_rank_shares(np.array(rows), lower_is_better=lower)
    assert found == pytest.approx(expected, abs=1e-12)


def test_rank_frequencies_of_many_resamples_are_the_mean_of_those_of_a_few():
    rows = np.random.default_rng(3).integers(0, 4, (1300, 5)).astype(float)
    parts = [count_rank_shares(rows[at:at + 13]) for at in range(0, 1300, 13)]
    assert count_rank_shares(rows) == pytest.approx(np.mean(parts, axis=0), abs=1e-12)


def test_frequent_ranks_leave_out_half_of_the_rest_on_either_side():
    low, high = find_frequent_ranks(np.array([[0.02, 0.03, 0.9, 0.05], [0.03, 0.9, 0.07, 0.0], [1.0, 0, 0, 0]]), 0.95)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(2, 4), (1, 3), (1, 1)]
