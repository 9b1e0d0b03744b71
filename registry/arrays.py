"""What arrays hold: numbers, whole numbers, or flags; shares of numbers, and what is rounding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

ROUNDING = 1e-12  # of scores computed from whole numbers, relative to the largest


def share(over: Floats, under: Floats, undefined: float = math.nan) -> Floats:
    """Divide elementwise; where `under` is 0 the share is `undefined`."""
    return np.asarray(np.divide(over, under, out=np.full(np.broadcast(over, under).shape, undefined), where=under != 0))


def without_rounding(differences: Floats, sizes: Floats) -> Floats:
    """Differences of numbers of these sizes, in place: 0 where they are no more than rounding."""
    differences[np.abs(differences) <= ROUNDING * sizes] = 0
    return differences
