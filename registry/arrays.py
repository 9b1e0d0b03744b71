"""Array types, division that allows denominators of 0, and removal of rounding errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

ROUNDING = 1e-12  # of scores computed from whole numbers, relative to the largest


def share(numerator: Floats, denominator: Floats, undefined: float = math.nan) -> Floats:
    """Divide elementwise; where the denominator is 0, the result is `undefined`."""
    out = np.full(np.broadcast(numerator, denominator).shape, undefined)
    return np.asarray(np.divide(numerator, denominator, out=out, where=denominator != 0))


def without_rounding(differences: Floats, sizes: Floats) -> Floats:
    """Replace differences by 0 if they are only rounding errors.

    Args:
        differences: Differences of two numbers each; changed in place.
        sizes: The size of the subtracted numbers. Differences up to 1e-12 times this size become 0.
    """
    differences[np.abs(differences) <= ROUNDING * sizes] = 0
    return differences
