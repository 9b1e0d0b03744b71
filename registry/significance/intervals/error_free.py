"""Effective sample sizes of bounded scores if all errors are equally likely, as for systems that never err."""

from __future__ import annotations

import numpy as np

from registry.arrays import Floats
from registry.significance.matrix import Matrix


def class_sizes(matrix: Matrix) -> Floats:
    """Return K^2 / sum(1 / n_k) for K classes with n_k items each, [systems].

    The mean of K recalls has the variance of so many right-or-wrong trials if items err independently, equally often.

    Args:
        matrix: By unit, of counts of classes; clusters count all of their items.
    """
    counts = matrix.statistics.sum(axis=0)[:, 2::3] / matrix.multiple
    with np.errstate(divide="ignore"):
        inverse = np.where(counts > 0, 1 / counts, 0.0).sum(axis=1)
    return np.asarray((counts > 0).sum(axis=1) ** 2 / np.where(inverse > 0, inverse, np.nan))


def error_free_sizes(matrix: Matrix) -> Floats:
    """Return the number of right-or-wrong trials that a score at a bound of its range stands for, [systems].

    It is the number of units with a denominator; for a score that is averaged over classes, or corrected for chance,
    at most `class_sizes`.

    Args:
        matrix: By unit.
    """
    if matrix.classes != "pooled":
        return np.minimum(class_sizes(matrix), matrix.n_units)
    if matrix.quotient is not None:
        return np.asarray(sum((under > 0).sum(axis=0) for _, under in matrix.parts_by_block()), dtype=np.float64)
    return np.full(matrix.statistics.shape[1], float(matrix.n_units))
