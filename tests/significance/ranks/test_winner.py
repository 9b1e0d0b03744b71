"""The best system's interval against scipy's truncated normal distribution, and how often it holds."""

import numpy as np
import pytest
from scipy.stats import norm, truncnorm

from registry.significance.rank_sets import Influences, correct_best_score, correct_winner
from tests.significance.ranks.winner_coverage import accuracies, coverage

NO_STEPS = np.zeros(3)


def test_ends_are_quantiles_of_the_truncated_distribution():
    """Independent scores of variance 1: given the others, the best one was between the second and the wide interval."""
    scores, wide = np.array([1.2, 0.9, -1.0]), norm.ppf((1 + 0.995 ** (1 / 3)) / 2)
    found = correct_best_score(scores, 0, np.array([1.0, 0.0, 0.0]), NO_STEPS)
    assert (found.error, found.low, found.high) == pytest.approx((1, 1.2 - 1.959964, 1.2 + 1.959964))
    tail = (0.05 - 0.005) / 0.995 / 2
    for true, share in ((found.corrected_low, 1 - tail), (found.corrected, 0.5), (found.corrected_high, tail)):
        law = truncnorm(max(0.9, true - wide) - true, wide, loc=true)
        assert law.cdf(1.2) == pytest.approx(share, abs=1e-9)


def test_who_leads_by_far_is_hardly_corrected():
    found = correct_best_score(np.array([9.0, 0, 0]), 0, np.array([1.0, 0.5, -0.5]), NO_STEPS)
    assert found.corrected == pytest.approx(9, abs=0.01)
    assert (found.corrected_low, found.corrected_high) == pytest.approx((found.low, found.high), abs=0.1)


def test_a_copy_of_the_best_takes_nothing_from_it():
    scores, covariances = np.array([1.0, 1.0, -5.0]), np.array([1.0, 1.0, 0.0])
    assert correct_best_score(scores, 0, covariances, NO_STEPS).corrected == pytest.approx(1, abs=0.05)


def test_scores_that_are_equal_by_chance_leave_an_interval():
    """Each has 2 items right that the other has not."""
    right = np.array([[1, 1, 1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1, 1, 1]], dtype=float).T
    of = Influences.compute(accuracies(right))
    assert of.find_smallest_contributions(0) == pytest.approx([0, 1 / 8])
    assert of.compute_covariances(0) == pytest.approx(np.cov(right.T, bias=True)[0] / 8)
    found = correct_winner(of)
    assert found.system == 0
    assert found.corrected_low < found.corrected < found.corrected_high


def test_scores_that_cannot_vary_have_none():
    assert correct_winner(Influences.compute(accuracies(np.ones((5, 2))))) is None


@pytest.mark.simulation
def test_coverage():
    plain, corrected, _, _ = coverage("10 tied", 300)
    assert plain < 0.85
    assert corrected > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)
