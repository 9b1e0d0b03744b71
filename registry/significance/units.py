"""Scores of single units and their differences, for tests that use these rather than the score of all units."""

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
    """The differences of unit scores, positive where A is better, and the slack within which they are tied.

    Units where a score is undefined are left out. Differences are rounded, yet 1/3 - 1/6 must tie with 1/6 - 0; those
    within the slack of 0 are 0.
    """
    a, b = unit_scores(observed)
    differences = observed.matrix.difference(a, b)
    differences = differences[~np.isnan(differences)]
    largest = float(np.nanmax(np.abs([a, b]), initial=0))
    slack = ROUNDING * largest + (4 * FINEST if observed.matrix.rounded else 0)
    differences[np.abs(differences) <= slack] = 0
    return differences, slack


def midranks(values: Floats, slack: float) -> Floats:
    """Rank values from 1; values within the slack of their neighbour are tied and get the mean of their ranks."""
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
