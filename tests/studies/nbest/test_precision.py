"""Ranking studies: curves and difference regions against sets that are counted one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.metrics.sets import find_accepted
from registry.studies.ranking import Contest, Ranked, evaluate


@st.composite
def rankings(draw):
    n, k = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    score = st.sampled_from([np.nan, 0.0, 1.0, 2.0, 2.5])
    scores = np.array(draw(st.lists(st.lists(score, min_size=k, max_size=k), min_size=n, max_size=n)))
    right = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return Ranked(tuple("abc"[:k]), right, scores, np.array(draw(st.permutations(range(n)))))


@given(rankings(), st.sampled_from(["random", "include", "exclude"]))
def test_lists_and_regions_are_those_of_sets(ranked, ties):
    grid = np.arange(1, len(ranked.right) + 1)
    found = evaluate(ranked, grid, ties=ties)
    assert found.baseline == ranked.right.sum() / len(ranked.right)
    for k, n in enumerate(grid):
        sets = []
        for system, curve in enumerate(found.curves):
            at = np.flatnonzero(~np.isnan(ranked.scores[:, system]))
            taken = find_accepted(ranked.scores[at, system], best=n, ties=ties, order=ranked.order[at])
            sets.append(set(at[taken]))
            right = sum(ranked.right[c] for c in sets[-1])
            assert (curve.accepted[k], curve.right[k]) == (len(sets[-1]), right)
            assert curve.precision[k] == pytest.approx(right / len(sets[-1]) if sets[-1] else np.nan, nan_ok=True)
            if ranked.right.any():
                assert curve.recall[k] == right / ranked.right.sum()
        for contest, (a, b) in zip(found.contests, combinations(sets, 2), strict=True):
            table = [[sum(bool(ranked.right[c]) is side for c in region) for side in (True, False)]
                     for region in (a - b, b - a)]
            assert [contest.right_a[k], contest.only_a[k] - contest.right_a[k]] == table[0]
            assert [contest.right_b[k], contest.only_b[k] - contest.right_b[k]] == table[1]
            assert contest.p_value[k] == pytest.approx(stats.fisher_exact(table).pvalue)
            assert contest.significant[k] == (contest.p_value[k] <= 0.05)


def contest(significant, right_a):
    n = len(significant)
    only = np.full(n, 10)
    return Contest("a", "b", np.arange(1, n + 1) * 100, only, only, np.array(right_a), np.full(n, 5),
                   np.zeros(n), np.zeros(n), np.array(significant))


@pytest.mark.parametrize(("significant", "right_a", "expected"), [
    ([True, True, False, True], [9, 9, 9, 9], 200),
    ([True, True], [9, 9], 200),
    ([False, True], [9, 9], None),
    ([True, True], [9, 1], 100),
])
def test_a_pair_differs_up_to_the_last_n_of_an_unbroken_run_in_favour_of_one_system(significant, right_a, expected):
    assert contest(significant, right_a).differs_up_to == expected


def test_only_the_shared_random_order_of_ties_matters_not_the_order_of_candidates():
    rng = np.random.default_rng(3)
    right, scores, order = rng.random(60) < 0.3, rng.integers(0, 4, (60, 2)).astype(float), rng.permutation(60)
    shuffled = rng.permutation(60)
    one = evaluate(Ranked(("a", "b"), right, scores, order), np.arange(5, 60, 5))
    other = evaluate(Ranked(("a", "b"), right[shuffled], scores[shuffled], order[shuffled]), np.arange(5, 60, 5))
    assert one.contests[0].p_value.tolist() == other.contests[0].p_value.tolist()
    assert one.curves[0].right.tolist() == other.curves[0].right.tolist()
