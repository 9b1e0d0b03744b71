"""Pairs of systems of which a judge favours one: its scores are further above people's than the other's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from registry.judged import LABELLED, WEIGHT, error_of
from registry.significance.cautions.weak_null import Caution, Systems
from registry.significance.judged_items import JudgedItems
from registry.significance.matrix import Matrix

LEVEL = 0.001  # of each pair, whatever other pairs there are
_LEAST = 11  # units that people looked at: fewer are all apart by the same more often by chance, which has no error

FAVOURED = ("the judge favours one of the two systems, by more than chance at 0.1 %: corrected scores and differences "
            "allow for that, the judge's own means do not")


def judged_items(matrix: Matrix) -> JudgedItems:
    """The judged items of a matrix; there must be some."""
    items = matrix.judged
    assert items is not None
    return items if items.statistics is not None else replace(items, statistics=matrix.statistics, units=matrix.units)


def judged_pairs(matrix: Matrix, a: Systems, b: Systems,
                 holds: Callable[[JudgedItems, int, int], bool]) -> NDArray[np.bool_]:
    """Whether something holds of the judged items of both systems of a pair, [pairs]; of none without a judge."""
    if matrix.judged is None:
        return np.zeros(len(a), dtype=bool)
    items = judged_items(matrix)
    return np.array([holds(items, *pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], dtype=bool)


def n_telling(matrix: Matrix) -> int:
    """How many units tell of every system's score: of judged ones those that people looked at."""
    if matrix.judged is None:
        return matrix.n_units
    return int((matrix.by_unit.statistics[:, :, LABELLED] > 0).sum(axis=0).min(initial=matrix.n_units))


def favoured(matrix: Matrix, a: Systems, b: Systems) -> Caution:
    """The pairs that a judge does not treat alike; none where items are not judged.

    Args:
        matrix: By unit.
        a: The first systems of the pairs, [pairs].
        b: The second systems, [pairs].
    """
    return Caution(judged_pairs(matrix, a, b, lambda items, one, other: _favours(
        items.of(one), items.of(other), items.units)), FAVOURED)


def _favours(a: NDArray[np.float64], b: NDArray[np.float64], units: NDArray[np.int64] | None) -> bool:
    from scipy.special import stdtrit

    both = (a[:, LABELLED] > 0) & (b[:, LABELLED] > 0)
    w = np.where(both, a[:, WEIGHT], 0.0)
    of_units = w if units is None else np.bincount(units, w)
    if np.count_nonzero(of_units) < _LEAST:
        return False
    even = of_units.sum() ** 2 / (of_units**2).sum()  # as many of equal weight tell as much
    above = np.where(both, a[:, 8] - a[:, 7] - b[:, 8] + b[:, 7], 0.0)
    bias = above.sum() / w.sum()
    error = error_of((above - bias * w) / w.sum(), units)
    return bool(abs(bias) > -stdtrit(even - 1, LEVEL / 2) * error)
