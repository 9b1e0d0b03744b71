"""The score test of the difference of two paired proportions, and its interval (Tango 1998)."""

from __future__ import annotations

import math


def tango_statistic(only_a: int, only_b: int, n: int, difference: float) -> float:
    """Standardize the observed difference of two paired proportions against a supposed one (Tango 1998).

    The variance is that under the supposed difference, with the nuisance parameter at its maximum likelihood estimate.
    For a supposed difference of 0 it is the signed root of McNemar's statistic.

    Args:
        only_a: Units that only A gets right.
        only_b: Units that only B gets right.
        n: All units.
        difference: From -1 to 1; positive favours A.
    """
    excess, variance = _tango(only_a, only_b, n, difference)
    if variance:
        return excess / math.sqrt(variance)
    return math.copysign(math.inf, excess) if excess else 0.0


def tango_interval(only_a: int, only_b: int, n: int, confidence: float) -> tuple[float, float]:
    """Give the score interval of the difference of two paired proportions: what `tango_statistic` does not reject.

    Arguments as there; without units it is (-1, 1).
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return _tango_low(only_a, only_b, n, z), -_tango_low(only_b, only_a, n, z)


def _tango_low(only_a: int, only_b: int, n: int, z: float) -> float:
    from scipy.optimize import brentq

    if only_b == n:
        return -1.0

    def beyond(difference: float) -> float:
        # z / sqrt(1 + z^2) in place of z: it stays finite where the variance vanishes
        excess, variance = _tango(only_a, only_b, n, difference)
        return (excess / math.sqrt(excess**2 + variance) if excess else 0.0) - z / math.hypot(1, z)

    return float(brentq(beyond, -1, (only_a - only_b) / n, xtol=1e-15))


def _tango(only_a: int, only_b: int, n: int, difference: float) -> tuple[float, float]:
    """The excess of A's successes over what is supposed, and its variance.

    With p the probability of what only B gets right, 2 n p^2 + b p - c = 0 at the maximum of likelihood.
    """
    if difference < 0:  # by symmetry, so that no term below is negative
        excess, variance = _tango(only_b, only_a, n, -difference)
        return -excess, variance
    b = (2 * n - only_a + only_b) * difference - only_a - only_b
    c = only_b * difference * (1 - difference)
    root = math.sqrt(b * b + 8 * n * c)
    p = 2 * c / (root + b) if b > 0 else (root - b) / (4 * n)
    return only_a - only_b - n * difference, n * (2 * p + difference * (1 - difference))
