"""Bands of p-values: those of table 1 of Berg-Kirkpatrick et al. (2012), and the one about a level of significance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from registry.significance.matrix import Floats

BANDS = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)  # as in table 1, and beyond
WIDTH = 0.2  # of alpha: how far the borderline band goes to either side


def bands(alpha: float) -> list[tuple[float, float]]:
    """The band about alpha, then those that p-values fall into, the smallest first."""
    return [(alpha * (1 - WIDTH), alpha * (1 + WIDTH)), *pairwise(BANDS)]


def inside(p: Floats, low: float, high: float) -> NDArray[np.bool_]:
    """Which p-values lie in a band, its lower end left out but for 0, which p-values of exact tests come to."""
    found: NDArray[np.bool_] = (p <= high) & ((p > low) | (low == 0))
    return found
