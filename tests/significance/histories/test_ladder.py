"""What the Ladder shows, worked by hand after figures 1 and 2 of Blum and Hardt (2015)."""

import numpy as np
import pytest

from registry.significance.histories import run_ladder, run_ladder_by_errors


def test_a_score_is_shown_where_it_is_better_by_more_than_a_step():
    found = run_ladder(np.array([0.52, 0.55, 0.58, 0.61, np.nan, 0.2, 0.8]), 0.05)
    assert found.scores == pytest.approx([0.5, 0.5, 0.6, 0.6, 0.6, 0.6, 0.8])
    assert found.raised.tolist() == [True, False, True, False, False, False, True]


def test_without_a_step_it_is_the_error_of_the_difference_to_what_was_shown_last():
    errors = {(1, 0): 0.1, (2, 0): 0.1, (3, 2): 0.3, (4, 2): 0.01}
    found = run_ladder_by_errors(np.array([0.5, 0.6, 0.65, 0.9, 0.71]), lambda n, at: errors[n, at], 0.05)
    assert found.scores == pytest.approx([0.5, 0.5, 0.65, 0.65, 0.7])
    assert found.raised.tolist() == [True, False, True, False, True]


def test_nothing_is_shown_before_a_score_is_defined():
    assert np.isnan(run_ladder(np.array([np.nan]), 0.1).scores[0])
