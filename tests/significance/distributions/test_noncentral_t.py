"""Limits of the noncentrality: published figures, scipy, quadrature, simulation where scipy gives up."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from registry.significance.distributions import noncentrality_interval


def test_noncentrality_published():
    """MBESS in R, conf.limits.nct(1.5, 98, .95), as statsmodels' tests quote it."""
    assert noncentrality_interval(1.5, 98, 0.95) == pytest.approx((-0.474934, 3.467371), abs=3e-6)


@pytest.mark.parametrize("degrees", [1, 2, 7, 40, 999, 100_000])
@pytest.mark.parametrize("t", [0.0, 0.3, -1.7, 2.5, 9.0, -30.0])
def test_noncentrality_inverts_scipys_distribution(t, degrees):
    for confidence in (0.9, 0.99):
        low, high = noncentrality_interval(t, degrees, confidence)
        tails = stats.nct.sf(t, degrees, low), stats.nct.cdf(t, degrees, high)
        assert tails == pytest.approx([(1 - confidence) / 2] * 2, abs=1e-5 if degrees == 1 else 2e-7)
        assert noncentrality_interval(-t, degrees, confidence) == pytest.approx((-high, -low), rel=1e-12)


@pytest.mark.parametrize(("t", "degrees"), [(2.0, 3), (300.0, 4), (1e3, 100), (70.0, 2000)])
def test_noncentrality_inverts_the_integral(t, degrees):
    """P(T <= t) by adaptive quadrature over the scale, its density that of chi."""
    root = math.sqrt(degrees)
    for end, level in zip(noncentrality_interval(t, degrees, 0.9), (0.95, 0.05), strict=True):
        def density(s, end=end):
            return stats.norm.cdf(t * s - end) * stats.chi.pdf(s * root, degrees) * root

        steep = [max(0.01, (end + shift) / t) for shift in (-5, 0, 5)]
        below = integrate.quad(density, 0, 8, points=[*steep, 1.0], limit=500, epsabs=1e-11)[0]
        assert below == pytest.approx(level, abs=2e-7)


@pytest.mark.parametrize(("t", "degrees"), [(1e4, 10**6), (1e6, 1)])
def test_noncentrality_where_scipy_gives_up(t, degrees):
    """Simulated: as many draws beyond t at either limit as there should be."""
    rng, draws = np.random.default_rng(3), 200_000
    z, scale = rng.standard_normal(draws), np.sqrt(rng.chisquare(degrees, draws) / degrees)
    low, high = noncentrality_interval(t, degrees, 0.95)
    deviation = math.sqrt(0.025 * 0.975 / draws)
    assert np.mean((z + low) / scale >= t) == pytest.approx(0.025, abs=4.5 * deviation)
    assert np.mean((z + high) / scale <= t) == pytest.approx(0.025, abs=4.5 * deviation)
