"""In how many units the statistics of two systems differ, for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.significance.marks import apart
from registry.significance.matrix import Floats, Matrix

Whole = NDArray[np.int64]

_SPARSE = 16  # times as many pairs of systems as are asked for: counting each by itself is less work


def discordant(matrix: Matrix, a: Whole, b: Whole) -> Whole:
    """The number of units in which the statistics of systems `a` and `b` differ, [pairs]; the matrix is by unit."""
    statistics, units = matrix.statistics, matrix.units
    varying = [n for n in range(statistics.shape[2]) if (statistics[:, :, n] != statistics[:, :1, n]).any()]
    tells = len(varying) == 1 and matrix.quotient is not None and matrix.quotient[0][varying[0]]
    if tells and statistics.shape[1] ** 2 < _SPARSE * len(a) and matrix.both_higher is not None:
        only_a, only_b = apart(matrix.both_higher, a, b)  # systems differ just where their numerators do
        return only_a + only_b
    codes = _codes(statistics, varying)
    counts = np.zeros(len(a), dtype=np.int64)
    for n, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True) if codes else ()):
        differ = codes[0][first] != codes[0][second]
        for column in codes[1:]:
            differ |= column[first] != column[second]
        counts[n] = np.count_nonzero(differ) if units is None else len(np.unique(units[differ]))
    return counts


def _codes(statistics: Floats, varying: Sequence[int]) -> list[NDArray[Any]]:
    """Arrays [systems, units] that differ just where statistics do; whole columns are packed into one as its digits."""
    columns = (np.ascontiguousarray(statistics[:, :, n].T) for n in varying)  # one at a time: all are as large as these
    codes: list[NDArray[Any]] = []
    most = 2**63
    for column in columns:
        code, digits = _digits(column)
        if not digits:
            codes.insert(0, code)
            continue
        most *= digits
        if most < 2**63:
            codes[-1] = codes[-1] * np.int64(digits) + code
        else:
            codes.append(code)
            most = digits
    return [_narrow(code) for code in codes]


def _digits(column: Floats) -> tuple[NDArray[Any], int]:
    """A column as whole numbers from 0, or as truth values where there are two, and their number; else itself and 0."""
    least, largest = column.min(), column.max()
    high = column == largest
    if (high | (column == least)).all():
        return high, 2
    digits = largest - least + 1
    if not digits < 2**53 or (column != np.rint(column)).any():
        return column, 0
    return (column - least).astype(np.int64), int(digits)


def _narrow(code: NDArray[Any]) -> NDArray[Any]:
    """A code in as few bytes as it needs: all of them are read for every pair."""
    return code if code.dtype != np.int64 else code.astype(np.min_scalar_type(int(code.max(initial=0))))
