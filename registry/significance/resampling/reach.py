"""Whether any resample is as extreme as the observed difference, without which the bootstrap cannot test it.

Two units with differences of 1 and 2 have the mean 1.5; no resample of them reaches 3 or falls to 0. The bootstrap
would give p = 0, where the permutation test, with its four swaps, gives 0.5.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from registry.arrays import Floats, Ints
from registry.significance.base import Alternative, Observed, extremity
from registry.significance.matrix import additive
from registry.significance.resampling.exceedances import TOLERANCE, reaches, tolerance

FEW = 8  # units, of which there are 6,435 different resamples


def is_reachable(observed: Observed, alternative: Alternative, *, strictly: bool = False) -> bool:
    """Whether some resample's recentred difference is as extreme as the observed one (`strictly`: more), or undefined.

    The answer is exact where both systems share the denominators of a quotient, and where units are few. Otherwise, and
    with random runs, it is True.
    """
    matrix, (a, b) = observed.matrix, observed.pair
    if matrix.runs is not None or matrix.family == "pair" or extremity(observed.difference, alternative) <= 0:
        return True
    if matrix.quotient is not None and matrix.denominators[a] == matrix.denominators[b]:
        return _shared(observed, alternative, strictly=strictly)
    return matrix.n_units > FEW or matrix.strata is not None or _few(observed, alternative, strictly=strictly)


def _shared(observed: Observed, alternative: Alternative, *, strictly: bool) -> bool:
    """The answer where denominators are shared.

    The difference of a resample is u / w, with sums u of unit differences and w of denominators. It reaches 2 d just
    where u - 2 d w is not negative, and that is largest where each stratum's best unit is drawn every time.
    """
    matrix = observed.matrix
    over, under = matrix.parts_of(observed.pair)
    weights = under[:, 0]
    strata = np.zeros(len(weights), dtype=np.int64) if matrix.strata is None else matrix.strata
    if not _largest_sum(-weights, strata):  # a resample without a denominator is undefined
        return True
    differences = np.copysign(1, observed.difference) * matrix.difference(over[:, 0], over[:, 1])
    rises = [differences - 2 * differences.sum() / weights.sum() * weights]
    rises += [-differences] if alternative == "two-sided" else []
    slack = TOLERANCE * float(np.abs(over).sum())
    return any(_largest_sum(rise, strata) > (slack if strictly else -slack) for rise in rises)


def _largest_sum(values: Floats, strata: Ints) -> float:
    """The largest sum of a resample, which takes as many units of each stratum as there are."""
    present, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    most = np.full(len(present), -np.inf)
    np.maximum.at(most, places, values)
    return float(sizes @ most)


def _few(observed: Observed, alternative: Alternative, *, strictly: bool) -> bool:
    """The answer by trying all resamples of few units."""
    matrix, d = observed.matrix.of_systems(observed.pair), observed.difference
    drawn = np.array(list(combinations_with_replacement(range(matrix.n_units), matrix.n_units)))
    a, b = additive(matrix).score(matrix.statistics[drawn].sum(axis=1)).T
    slack = tolerance(observed) if strictly else -tolerance(observed)
    return bool(reaches(extremity(matrix.difference(a, b) - d, alternative), extremity(d, alternative) + slack).any())
