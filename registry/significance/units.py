"""The scores of single units, for tests that rest on them rather than on the score of all units."""

from __future__ import annotations

import numpy as np

from registry.families import FINEST
from registry.significance.base import Observed
from registry.significance.matrix import Floats, additive

ROUNDING = 1e-12  # of scores computed from whole numbers, relative to the largest


def unit_scores(observed: Observed) -> tuple[Floats, Floats]:
    """Score every unit of both systems, [units] each; undefined is nan."""
    score = additive(observed.matrix).score
    return score(observed.a), score(observed.b)


def unit_differences(observed: Observed) -> tuple[Floats, float]:
    """Give by how much A is better in every unit where both scores are defined, and the slack of these numbers.

    Two gains that differ by no more than the slack are one and the same: 1/3 - 1/6 must tie with 1/6 - 0, although all
    are rounded. Gains within the slack of 0 are 0.
    """
    a, b = unit_scores(observed)
    gains = observed.matrix.difference(a, b)
    gains = gains[~np.isnan(gains)]
    largest = float(np.nanmax(np.abs([a, b]), initial=0))
    slack = ROUNDING * largest + (4 * FINEST if observed.matrix.rounded else 0)
    gains[np.abs(gains) <= slack] = 0
    return gains, slack


def midranks(values: Floats, slack: float) -> Floats:
    """Rank the values from 1, those that lie within the slack of their neighbour with the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(values[order]) > slack)])
    last = np.cumsum(np.bincount(group))
    first = last - np.bincount(group) + 1
    ranks = np.empty(len(values))
    ranks[order] = ((first + last) / 2)[group]
    return ranks


def has_binary_units(observed: Observed) -> bool:
    """Whether every unit where both scores are defined is right or wrong."""
    a, b = unit_scores(observed)
    both = ~np.isnan(a) & ~np.isnan(b)
    return bool(both.any()) and bool(np.isin([a[both], b[both]], (0, 1)).all())
