"""The exact interval of a binomial proportion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from registry.arrays import Floats


def clopper_pearson(hits: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The exact interval of a binomial proportion (Clopper and Pearson 1934).

    Args:
        hits: Counts of any shape.
        trials: The numbers of trials; for 0 the interval is [0, 1].
        confidence: The confidence level.

    Returns:
        The lower and the upper limits, in that shape.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    outside = (1 - confidence) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, outside), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - outside), 1.0)
    return low, high
