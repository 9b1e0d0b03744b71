"""The end of further draws: p-values that are known well enough, and how many draws others get."""

import numpy as np
import pytest

from registry.manifest import MOST_DRAWS, PRECISION
from registry.significance.resampling.exceedances import Stopping
from tests.significance.resampling.auto_levels import found


def test_a_p_value_is_known_by_its_extreme_draws():
    p, draws = np.array([0.5, 0.5, 0.01, 0.01, np.nan]), np.array([199, 200, 9_999, 10_000, 100])
    assert Stopping(10**7, 0.1).are_imprecise(p, draws).tolist() == [True, False, True, False, False]
    assert Stopping(10**7).are_imprecise(p, draws).tolist() == [True, True, True, True, False]


@pytest.mark.parametrize(("precision", "resamples", "least", "more"), [
    (0.1, 100_000, 1e-5, 10**6), (0.1, 10**6, 7e-5, 2 * 10**6), (0.1, 10**6, 3e-5, 5 * 10**6),
    (0.1, 10**6, 1.1e-5, 10**7), (None, 100_000, 0.05, 10**6), (None, 3_000, 0.05, 30_000),
    (None, 10**7, 1e-6, 4 * 10**7)])
def test_more_draws_are_as_many_as_the_least_p_value_needs(precision, resamples, least, more):
    """Of p = 7e-5 1.2 times 100 / 7e-5 = 1,714,286."""
    assert Stopping(4 * 10**7, precision).more_draws(resamples, least) == more


@pytest.mark.simulation
def test_a_pair_without_a_difference_is_significant_as_often_as_the_level_says():
    for level in (0.05 / 28, 0.05 / 1128):
        share, error, _ = found(level, Stopping(MOST_DRAWS, PRECISION), 50_000, seed=1)
        assert share < 1 + 4 * error + 0.002
        assert share > 1 - 4 * error - 0.02  # (c + 1) / (R + 1) finds less than p does
