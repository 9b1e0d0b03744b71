"""Whether any resample at all is as extreme as what was observed, so that a bootstrap has something to count.

Two units with gains of 1 and 2 have a difference of 1.5; no resample of them reaches twice that, nor falls to 0. A
bootstrap of them would give p = 0, where the permutation test, with its four swaps, gives 0.5: units that are few, or
much alike, have nothing to say about the null hypothesis by being resampled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Alternative, Observed, extremity
from registry.significance.extremes import TOLERANCE
from registry.significance.matrix import Floats

UNREACHED = "no resample is as extreme as the observed difference, so the bootstrap cannot test it; take permutation"


def is_reachable(observed: Observed, alternative: Alternative) -> bool:
    """Whether some resample's recentred difference is as extreme as the observed one, or undefined.

    It is told where both systems share the denominators of a quotient: the difference of a resample, the quotient of
    its sums u of gains and w of denominators, reaches 2 d just where the sum of u - 2 d w is not negative, and a sum is
    largest where the best unit of each stratum is drawn all the time. Other scores, and random runs, are taken to be
    reachable.
    """
    matrix, (a, b), d = observed.matrix, observed.pair, observed.difference
    if matrix.quotient is None or matrix.runs is not None or extremity(d, alternative) <= 0:
        return True
    over, under = matrix.parts
    weights, strata = under[:, a], matrix.unit_strata
    strata = np.zeros(len(weights), dtype=np.int64) if strata is None else strata
    if (under[:, b] != weights).any() or not _largest_sum(-weights, strata):  # of 0 it would be undefined
        return True
    gains = np.copysign(1, d) * matrix.gain(over[:, a], over[:, b])
    rises = [gains - 2 * gains.sum() / weights.sum() * weights, *([-gains] if alternative == "two-sided" else [])]
    slack = TOLERANCE * float(np.abs(over[:, [a, b]]).sum())
    return any(_largest_sum(rise, strata) >= -slack for rise in rises)


def _largest_sum(values: Floats, strata: NDArray[np.int64]) -> float:
    """The largest sum of a resample, which takes as many units of each stratum as there are."""
    present, places, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    most = np.full(len(present), -np.inf)
    np.maximum.at(most, places, values)
    return float(sizes @ most)
