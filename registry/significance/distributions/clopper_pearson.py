"""The exact interval of a binomial proportion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from registry.significance.matrix import Floats


def clopper_pearson(hits: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of a proportion that binomial tests of either side do not reject (Clopper and Pearson 1934).

    Args:
        hits: Counts of any shape.
        trials: Out of how many; of 0 nothing is known.
        confidence: Of the interval.

    Returns:
        The lower and the upper limits, in that shape.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    outside = (1 - confidence) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, outside), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - outside), 1.0)
    return low, high
