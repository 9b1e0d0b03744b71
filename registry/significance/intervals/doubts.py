"""Signs in the units at hand that intervals in closed form cover too seldom."""

from __future__ import annotations

import numpy as np

from registry.arrays import Flags, Floats
from registry.significance.diagnostics.exchangeability import TOO_SKEWED, even_units
from registry.significance.matrix import Matrix

_LEAST_EVEN, _UNEVEN = 40, 0.5  # units of equal weight, and their share of all: below both, errors are too small
_FEW_DEGREES, _FEW_OF_MANY = 8, 1 / 8  # of freedom, and as a share of units: below both, an error is hardly known
_FEW_TRIALS = 15  # as many as a rare class leaves: MCC with 3 of 300 positives (7.9) covers in 88 %, with 6 (20) in 95


def has_few_sources(influence: Floats) -> Flags:
    """Flag the scores whose error a few of many units make up, [systems].

    Args:
        influence: Of the units on the scores, [systems, units].

    Fourth moments give the degrees of freedom of the error (Satterthwaite 1946), as of a normal sample of that size.
    """
    n = influence.shape[1]
    squares = np.einsum("su,su->s", influence, influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        fourth = np.einsum("su,su,su,su->s", influence, influence, influence, influence)
        degrees = 2 / (fourth / squares**2 - 1 / n)
    return np.asarray(degrees < min(_FEW_DEGREES, n * _FEW_OF_MANY))


def is_too_skewed(influence: Floats) -> Flags:
    """Flag the scores whose Student's intervals cover in less than 93 % by their skewness, [systems].

    At 95 % skewness adds 2 points to the errors there (Hall 1992, section 2.6).
    """
    squares, cubes = _moments(influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(cubes**2 / squares**3 > 2 * TOO_SKEWED)


def is_too_skewed_above_bound(influence: Floats, distances: Floats) -> Flags:
    """Flag the scores that are more skewed than their interval supposes, [systems].

    The interval supposes a variance proportional to the distance from the bound, and so the skewness of a Poisson
    count: squares^2 / distance is its third cumulant.

    Args:
        influence: Of the units on the distances, [systems, units].
        distances: Of the scores from the bound, [systems].
    """
    squares, cubes = _moments(influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((cubes - squares**2 / distances)**2 / squares**3 > TOO_SKEWED)


def has_rare_class(matrix: Matrix, sizes: Floats) -> Flags:
    """Flag the scores corrected for chance that a class of a few units leaves unknown, [systems].

    Args:
        matrix: By unit, of counts of classes.
        sizes: `class_sizes` of the matrix.
    """
    return np.asarray((sizes < _FEW_TRIALS) & (matrix.classes == "chance-corrected"))


def few_even_units(matrix: Matrix) -> float | None:
    """Return how many units of equal weight give as much information, if these are too few; else None."""
    even = even_units(matrix)
    return even if even < _LEAST_EVEN and even < _UNEVEN * matrix.n_units else None


def _moments(influence: Floats) -> tuple[Floats, Floats]:
    return (np.einsum("su,su->s", influence, influence), np.einsum("su,su,su->s", influence, influence, influence))
