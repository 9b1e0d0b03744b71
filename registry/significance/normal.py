"""P-values of statistics whose distribution is known, by their logarithms: normal, t and chi-squared."""

from __future__ import annotations

import math

from registry.significance.base import Alternative, extremity


def log_normal_p(z: float, alternative: Alternative) -> float:
    """Log p of a statistic that is standard normal under the null; positive favours A."""
    from scipy.special import log_ndtr

    if alternative == "two-sided":
        return min(0.0, math.log(2) + float(log_ndtr(-abs(z))))
    return float(log_ndtr(-extremity(z, alternative)))


def log_t_p(t: float, degrees: float, alternative: Alternative) -> float:
    """Log p of a statistic that is Student's t under the null; positive favours A."""
    from scipy.stats import t as student

    if alternative == "two-sided":
        return min(0.0, math.log(2) + float(student.logsf(abs(t), degrees)))
    return float(student.logsf(extremity(t, alternative), degrees))


def log_chi_squared_p(statistic: float, degrees: int) -> float:
    """Log p of a statistic that is chi-squared under the null."""
    from scipy.stats import chi2

    return float(chi2.logsf(statistic, degrees))
