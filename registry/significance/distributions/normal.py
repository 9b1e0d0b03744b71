"""Logarithms of p-values of normal, t and chi-squared statistics."""

from __future__ import annotations

import math

import numpy as np

from registry.arrays import Floats
from registry.significance.base import Alternative, extremity


def log_normal_p(z: float, alternative: Alternative) -> float:
    """Log p of a statistic that is standard normal under the null; positive favours A."""
    return float(log_normal_ps(np.asarray(z), alternative))


def log_normal_ps(z: Floats, alternative: Alternative) -> Floats:
    """The same of many statistics."""
    from scipy.special import log_ndtr

    sides = 2 if alternative == "two-sided" else 1
    return np.minimum(0.0, log_ndtr(-extremity(z, alternative)) + math.log(sides))


def log_t_p(t: float, degrees: float, alternative: Alternative) -> float:
    """Log p of a statistic that is Student's t under the null; positive favours A."""
    from scipy.special import stdtr

    x = extremity(t, alternative)
    below, above = float(stdtr(degrees, x)), float(stdtr(degrees, -x))
    log_tail = _log_tail(below, above, "t", degrees, x, (degrees + 1) * x / (degrees + x * x))
    return min(0.0, math.log(2) + log_tail) if alternative == "two-sided" else log_tail


def log_chi_squared_p(statistic: float, degrees: int) -> float:
    """Log p of a statistic that is chi-squared under the null."""
    from scipy.special import chdtr, chdtrc

    below, above = float(chdtr(degrees, statistic)), float(chdtrc(degrees, statistic))
    rate = 0.5 - (degrees / 2 - 1) / statistic if statistic else 0.5
    return _log_tail(below, above, "chi2", degrees, statistic, rate)


def _log_tail(below: float, above: float, law: str, degrees: float, x: float, rate: float) -> float:
    """The logarithm of P(X >= x), which is `above`, also where this underflows; `below` is P(X <= x).

    There the density of scipy's `law` is integrated relative to that at x, where it falls at this `rate`.
    """
    if above >= 0.5:
        return float(np.log1p(-below))
    if above > 0 and (found := float(np.log(above))) > -700:
        return found
    from scipy import stats  # late, as few need it: it takes half a second to import
    from scipy.integrate import quad

    log_density = getattr(stats, law).logpdf
    start = float(log_density(x, degrees))
    area, _ = quad(lambda y: math.exp(float(log_density(x + y / rate, degrees)) - start), 0, math.inf)
    return start + math.log(area / rate)
