"""How large a difference must be beside several sources of error, each estimated with few or many degrees of freedom.

The squared difference is held against the sum of t^2 V over the sources: V is what a source adds to the squared
standard error, and t the quantile of Student's distribution with the degrees of freedom that V is estimated with
(Banerjee 1961). The level is kept however large each source is, where each V is estimated by itself. A chi-squared
variable of one degree of freedom exceeds x with a probability that is convex in x; so the difference exceeds the sum at
most as often as the sources, weighted by their shares of the variance, exceed their own quantiles, which each of them
does as often as the level says. The estimates need not be independent of each other. Satterthwaite's degrees of freedom
of all sources together reject too often: in 12.5 % at 5 % where one system's two runs make up most of the variance
(docs/significance.md).
"""

from __future__ import annotations

import math

import numpy as np

from registry.arrays import Floats
from registry.significance.base import Alternative

_LEAST = -690.0  # the logarithm of the smallest p-value that is told: smaller ones are below it
_HALVINGS = 55


def reach(variances: Floats, degrees: Floats, level: float) -> Floats:
    """How large a difference must be to be significant two-sided at a level, [pairs].

    Args:
        variances: What every source adds to the squared error, [pairs, sources].
        degrees: With how many degrees of freedom each is estimated, [pairs, sources].
        level: Between 0 and 1.
    """
    return _reach(variances, degrees, np.full(len(variances), math.log(level)))


def log_p(difference: Floats, variances: Floats, degrees: Floats, alternative: Alternative) -> Floats:
    """The logarithms of p-values: of the smallest level at which each difference is significant, [pairs].

    A p-value that is two-sided is not below e^-690. A difference without any variance, or with
    an undefined one, has none: nan.

    Args:
        difference: [pairs], positive where A is better.
        variances: What every source adds to the squared error, [pairs, sources].
        degrees: With how many degrees of freedom each is estimated, [pairs, sources].
        alternative: The alternative.
    """
    low, high = np.full(len(difference), _LEAST), np.zeros(len(difference))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = np.abs(difference) >= _reach(variances, degrees, middle)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    found = np.where(difference == 0, 0.0, np.where(variances.sum(axis=1) > 0, high, np.nan))
    if alternative == "two-sided":
        return found
    favoured = difference > 0 if alternative == "greater" else difference < 0
    return np.where(favoured, found - math.log(2), np.log1p(-np.exp(found) / 2))


def _reach(variances: Floats, degrees: Floats, log_level: Floats) -> Floats:
    from scipy.special import stdtrit

    with np.errstate(over="ignore"):
        squares = stdtrit(degrees, np.exp(log_level - math.log(2))[:, None])**2
        there = variances > 0
        return np.asarray(np.sqrt(np.multiply(squares, variances, where=there, out=np.zeros_like(squares)).sum(axis=1)))
