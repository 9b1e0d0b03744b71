"""Logarithms of p-values that no number holds, against closed forms and series."""

import math

import pytest
from scipy import special

from registry.significance.distributions import log_chi_squared_p, log_t_p


@pytest.mark.parametrize(("degrees", "t"), [(2999, 30), (2999, 60), (2999, 200), (400, 1e3), (60, 1e12)])
def test_t_far_out(degrees, t):
    """Half of the incomplete beta function I_x(a, 1/2) with a = degrees / 2, by its series (DLMF 8.17.8)."""
    a, x = degrees / 2, degrees / (degrees + t * t)
    term, total, k = 1.0, 0.0, 0
    while term > 1e-17 * total:
        total += term
        term *= x * (a + 0.5 + k) / (a + 1 + k)
        k += 1
    log_p = a * math.log(x) + math.log1p(-x) / 2 - math.log(2 * a) - float(special.betaln(a, 0.5)) + math.log(total)
    assert log_t_p(t, degrees, "greater") == pytest.approx(log_p, rel=1e-10)
    assert log_t_p(-t, degrees, "two-sided") == pytest.approx(log_p + math.log(2), rel=1e-10)


def test_t_of_many_degrees_is_normal():
    assert log_t_p(45, 1e12, "greater") == pytest.approx(float(special.log_ndtr(-45)), rel=1e-6)


@pytest.mark.parametrize("statistic", [0.5, 1400, 5000, 1e6])
def test_chi_squared_far_out(statistic):
    assert log_chi_squared_p(statistic, 2) == pytest.approx(-statistic / 2, rel=1e-12)
    expected = math.log(2) + float(special.log_ndtr(-math.sqrt(statistic)))
    assert log_chi_squared_p(statistic, 1) == pytest.approx(expected, rel=1e-10)
    halves = statistic / 2
    assert log_chi_squared_p(statistic, 6) == pytest.approx(-halves + math.log1p(halves + halves**2 / 2), rel=1e-10)
