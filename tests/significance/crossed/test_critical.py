"""How large a difference must be: Student's test where there is one source, a duality, the level in simulations."""

import numpy as np
import pytest
from scipy import stats

from registry.significance.crossed import compute_log_p, find_critical_difference


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_one_source_alone_is_students_test(alternative):
    t, degrees = np.array([-2.5, 0.0, 0.3, 7.0]), np.array([[1.0], [4.0], [30.0], [2.0]])
    found = np.exp(compute_log_p(t * 3, np.full((4, 1), 9.0), degrees, alternative))
    tail = {"two-sided": 2 * stats.t.sf(abs(t), degrees[:, 0]), "greater": stats.t.sf(t, degrees[:, 0]),
            "less": stats.t.cdf(t, degrees[:, 0])}
    assert found == pytest.approx(tail[alternative], rel=1e-9)


def test_a_difference_is_significant_just_where_it_is_out_of_reach():
    rng = np.random.default_rng(2)
    variances, degrees = rng.exponential(size=(50, 3)), rng.integers(1, 30, (50, 3)).astype(float)
    level = 0.03
    far = find_critical_difference(variances, degrees, level)
    assert np.exp(compute_log_p(far * 1.0001, variances, degrees, "two-sided")) == pytest.approx(level, rel=1e-2)
    assert (np.exp(compute_log_p(far * 1.0001, variances, degrees, "two-sided")) < level).all()
    assert (np.exp(compute_log_p(far * 0.9999, variances, degrees, "two-sided")) > level).all()
    assert far**2 == pytest.approx((stats.t.isf(level / 2, degrees)**2 * variances).sum(axis=1))


def test_nothing_is_said_without_variance_and_no_p_is_0():
    found = compute_log_p(np.array([1.0, 1.0, 1e9]), np.array([[0.0, 0.0], [np.nan, 1.0], [0.0, 1e-9]]),
                          np.full((3, 2), 400.0), "two-sided")
    assert np.isnan(found).tolist() == [True, True, False]
    assert found[2] == pytest.approx(-690)


@pytest.mark.simulation
@pytest.mark.parametrize("degrees", [(1, 1, 19), (2, 2, 19), (1, 4, 499), (4, 4, 499)])
def test_the_level_is_kept_whatever_the_sources_shares(degrees):
    """20,000 differences each; 5 % may be exceeded by four standard errors of a rate. Satterthwaite's exceeds it."""
    rng = np.random.default_rng(6)
    degrees, above = np.array(degrees, dtype=float), []
    for shares in ((1, 0, 0), (0.9, 0, 0.1), (0.5, 0.5, 0), (0.3, 0.3, 0.4), (0, 0, 1), (0.1, 0, 0.9), (0, 0.94, 0.06)):
        estimated = np.array(shares) * rng.chisquare(degrees, (20_000, 3)) / degrees
        d, total = rng.standard_normal(20_000), estimated.sum(axis=1)
        size = np.mean(np.abs(d) >= find_critical_difference(estimated, degrees, 0.05))
        assert size <= 0.05 + 4 * (0.05 * 0.95 / 20_000)**0.5
        joint = total**2 / (estimated**2 / degrees).sum(axis=1)
        above.append(np.mean(2 * stats.t.sf(np.abs(d) / np.sqrt(total), joint) <= 0.05))
    assert (max(above) > 0.07) == (degrees.min() < 3)
