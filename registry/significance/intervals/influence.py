"""The influence of every unit on a score: its linearization as a sum over units."""

from __future__ import annotations

from functools import partial

import numpy as np

from registry.arrays import Floats, Ints
from registry.significance.matrix import Matrix
from registry.significance.units import linearized

_TOGETHER = 2**22  # influences that are looked at together
_NEAR = 1e-4  # of the sum of two variances: a difference that varies less has lost digits to what it is taken from


def influences(matrix: Matrix) -> Floats:
    """Give the influence of every unit on every system's score, [units, systems].

    Where the score F is a quotient N / D of sums of n and d it is (n - F d) / D; the score's deviation from its mean,
    over the number of units, where it is that of the units. For any other score it is the jackknife's, F less the score
    without the unit, centred, times (n - 1) / n. Either way influences add up to 0, and n / (n - 1) times the sum of
    the squares of those of n units estimates the variance of the score, and of their differences that of the difference
    of two scores on the same units (Efron and Stein 1981; Shao and Tu 1995, section 2.1).

    Args:
        matrix: By unit. A score that is undefined, also without one unit, gives nan.
    """
    if matrix.quotient is None:
        moved = -matrix.jackknife()
        moved -= moved.mean(axis=0)
        return moved * ((matrix.n_units - 1) / max(matrix.n_units, 1))
    return np.asarray(matrix.scale * linearized(*matrix.parts, partial(np.sum, axis=0)))


def standard_errors(influence: Floats) -> Floats:
    """Give the standard error of a score, or of a difference of scores, from influences [units, ...]."""
    n = len(influence)
    if n < 2:
        return np.full(influence.shape[1:], np.nan)
    return np.asarray(np.sqrt(n / (n - 1) * np.einsum("u...,u...->...", influence, influence)))


def errors_of_pairs(influence: Floats, a: Ints, b: Ints) -> Floats:
    """Give the standard errors of the differences of systems `a` and `b` from influences [systems, units], [pairs].

    Those of all come from one product of the systems, unless too many digits cancel.
    """
    systems, places = np.unique(np.stack([a, b]), return_inverse=True)
    n = influence.shape[1]
    products, some = np.zeros((len(systems),) * 2), max(1, _TOGETHER // len(systems))
    for at in range(0, n, some):
        moved = influence[systems, at:at + some]
        products += moved @ moved.T
    one, other = places.reshape(2, -1)
    both = products[one, one] + products[other, other]
    squares = both - 2 * products[one, other]
    found = np.asarray(np.sqrt(n / (n - 1) * np.maximum(squares, 0)))
    near, some = np.flatnonzero(squares <= _NEAR * both), max(1, _TOGETHER // n)
    for at in range(0, len(near), some):
        chosen = near[at:at + some]
        found[chosen] = standard_errors((influence[a[chosen]] - influence[b[chosen]]).T)
    return found
