"""Pairs of systems whose predictions are so alike that swaps of standardized ones are not quite exact.

Each system's predictions are standardized by the test set itself, and swapped only then. What a swap brings into a
system is on the scale of the other one's sample: as much as the two samples' scales and ranks differ by chance, systems
are not exchangeable. That counts the more the less else the two differ by. Of Pearson's r it takes few items; ranks are
whole numbers besides, which swaps tie where two systems order items nearly in the same way (docs/limits.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from registry.arrays import ROUNDING, Flags, Ints
from registry.messages import Message
from registry.significance.correlations.matrix import PEARSON, PairMatrix
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs

_ALIKE = 0.5  # correlations of predictions above which few items are told apart in more than 6 % at 5 %
_FEW = 20  # units below which that is so of Pearson's r
_PLACES = 10.0  # items times sqrt(1 - r), about how many places an item moves by, below which ranks are
_MANY = 2000  # items of which only nearly the same ranks would be told of


def alike_predictions(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The pairs whose predictions correlate with each other too highly for their number of items."""
    matrix, a, b = pairs
    if isinstance(matrix, PairMatrix) and (
            matrix.n_units < _FEW if matrix.coefficient is PEARSON else len(matrix.x) <= _MANY):
        yield PairWarning(_are_alike(matrix, a, b), Message("similar-predictions"))


def _are_alike(matrix: PairMatrix, a: Ints, b: Ints) -> Flags:
    """Where two systems' standardized predictions are alike, and yet not the same, [pairs]."""
    standard = np.stack([matrix.coefficient.standardized(of) for of in matrix.x.T])
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.asarray(np.corrcoef(standard))[a, b]
        alike = (r > _ALIKE) & (r < 1 - math.sqrt(ROUNDING))
        if matrix.coefficient is not PEARSON:
            alike &= len(matrix.x) * np.sqrt(np.maximum(0, 1 - r)) < _PLACES
    return np.asarray(alike)
