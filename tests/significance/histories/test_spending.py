"""Parts of alpha for one submission after the other, against what they may add up to."""

from itertools import product

import numpy as np
import pytest

from registry.significance.histories import find_new_bests, find_new_bests_by_ladder, run_ladder
from tests.significance.histories.open_boards import of_adaptive, of_fixed, revised, stairs, vote


def test_a_new_best_hands_its_part_on():
    """Five submissions and 4 tests at 1 % each: the third has 2 % and the fourth 3 %."""
    found = find_new_bests(np.log([1, 0.01, 0.02, 0.04, 0.011, 1e-9]), 0.04, 5)
    assert np.exp(found.log_levels) == pytest.approx([0, 0.01, 0.02, 0.03, 0.01, 0])
    assert found.declared.tolist() == [False, True, True, False, False, False]


def test_undefined_p_values_declare_nothing():
    assert not find_new_bests(np.array([np.nan, np.nan]), 0.05, 2).declared.any()
    assert not find_new_bests_by_ladder(np.array([0.0, np.nan]), np.array([True, False]), 0.05, 2, 2).declared.any()


@pytest.mark.parametrize(("most", "values"), [(4, 2), (5, 4)])
def test_all_tests_that_a_ladder_could_lead_to_share_alpha(most, values):
    """Every history of what was shown, and every test in it, has a part of its own: together they are alpha at most."""
    levels = {}
    for shown in product(range(values), repeat=most):  # the best score so far, if submissions had these
        steps = run_ladder(np.array(shown, dtype=float), 0.5)
        found = find_new_bests_by_ladder(np.zeros(most), steps.raised, 0.05, most, values)
        for n in range(1, most):
            levels[tuple(steps.scores[:n].tolist())] = np.exp(found.log_levels[n])
    assert 0.01 < sum(levels.values()) <= 0.05


@pytest.mark.simulation
def test_errors_over_histories():
    """The chance of any false new best; and a vote over all scores, which nothing guards against."""
    assert of_fixed(stairs, 80)[0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 80)
    assert of_fixed(revised, 20)[0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 20)
    assert of_adaptive(vote, None, 20)[0] > 0.7
    assert of_adaptive(vote, 0.02, 20)[1] == 0
