"""Sums of statistics over many draws as one matrix product with as few columns as possible.

Systems share columns (the lengths of references), and some columns equal others plus a constant in most units: a text
has one bigram less than words, unless it is short. A column of the second kind needs the product only for the other
units. Sums of whole numbers are exact, hence independent of the order of summation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.significance.matrix import Floats, are_whole

_APART = 1 / 8  # of the units at most: a column that is another in all the rest
_WORTHLESS = 1 / 2  # of the units: where some derived column is apart in more of them, nothing is saved
_LOOKED_AT = 64  # units that show most columns to be no other
_NEAR = 16  # own columns before it that a column may be
_WORTH = 512  # units from which on it is looked for


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of statistics [units, systems, columns], for sums over draws of the units.

    They are float32 where every sum of a draw is exact there.

    Attributes:
        own: [units, own], the columns that are not derived from others; if any is, the last of them is all 1.
        bases: [derived], the place in `own` of the column that a derived column is based on.
        constants: [derived], the difference of a derived column from its base in most units.
        apart: The other units, in which some derived column differs by another value.
        rest: [apart, derived], the differences there less the constants.
        places: [systems * columns], the place among own and derived columns.
        shape: The numbers of systems and columns.
    """

    own: NDArray[Any]
    apart: NDArray[np.int64]
    rest: NDArray[Any]
    bases: NDArray[np.int64]
    constants: NDArray[Any]
    places: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, statistics: Floats) -> Columns:
        """Find the own and the derived columns."""
        flat = statistics.reshape(len(statistics), -1)
        most = len(flat) * max(flat.max(initial=0), -flat.min(initial=0)) if are_whole(flat) else np.inf
        seen: dict[bytes, int] = {}
        places = np.array([seen.setdefault(sha256(column.tobytes()).digest(), len(seen))
                           for column in flat.T], dtype=np.int64)
        distinct = np.empty((len(flat), len(seen)), np.float32 if most < 2**24 else np.float64, order="F")
        for n, column in zip(places, flat.T, strict=True):
            distinct[:, n] = column
        derived = _derived(distinct) if 2 * most < 2**24 else {}
        apart = _apart(distinct, derived)
        if len(apart) > _WORTHLESS * len(distinct):
            derived, apart = {}, apart[:0]
        own = [n for n in range(distinct.shape[1]) if n not in derived]
        bases = np.searchsorted(own, [base for base, _ in derived.values()])
        constants = np.array([constant for _, constant in derived.values()], dtype=distinct.dtype)
        there = distinct[apart]
        rest = there[:, list(derived)] - there[:, np.array(own)[bases]] - constants
        if derived:
            distinct = np.hstack([distinct[:, own], np.ones((len(flat), 1), dtype=distinct.dtype)])
        order = np.argsort(own + list(derived))  # the ones lie between them
        return cls(distinct, apart, rest, bases, constants,
                   (order + (order >= len(own)))[places], (statistics.shape[1], statistics.shape[2]))

    def of_units(self, units: NDArray[np.int64]) -> Columns:
        """The columns of some units, in increasing order."""
        places = np.searchsorted(units, self.apart)
        there = np.isin(self.apart, units)
        return replace(self, own=self.own[units], apart=places[there], rest=self.rest[there])

    def sums(self, counts: NDArray[Any], units: slice = slice(None)) -> NDArray[Any]:
        """Sum the columns over draws, [own and derived, draws].

        Args:
            counts: How often each draw takes every unit, [units, draws].
            units: The units of the counts.
        """
        sums: NDArray[Any] = self.own[units].T @ counts.astype(self.own.dtype, copy=False)
        if not len(self.bases):
            return sums
        start, stop, _ = units.indices(len(self.own))
        there = slice(*np.searchsorted(self.apart, (start, stop)))
        rest = self.rest[there].T @ counts[self.apart[there] - start].astype(self.own.dtype, copy=False)
        rest += self.constants[:, None] * sums[-1]
        rest += sums[self.bases]
        return np.concatenate([sums, rest])

    def lay_out(self, sums: NDArray[Any]) -> Floats:
        """Rearrange sums [own and derived, draws] as [draws, systems, columns]; the draws are contiguous in memory."""
        laid_out: Floats = sums[self.places].astype(np.float64, copy=False)
        return laid_out.reshape(*self.shape, -1).transpose(2, 0, 1)


def _apart(distinct: NDArray[Any], derived: dict[int, tuple[int, float]]) -> NDArray[np.int64]:
    """The units in which some derived column differs from its base by more than its constant."""
    differs = np.zeros(len(distinct), dtype=bool)
    for n, (base, constant) in derived.items():
        differs |= distinct[:, n] - distinct[:, base] != constant
    return np.flatnonzero(differs)


def _derived(distinct: NDArray[Any]) -> dict[int, tuple[int, float]]:
    """The derived columns, each with its base among the own columns just before it and its constant.

    A sample of the units rules out most candidates. With few units in all, nothing is derived: products are fast.
    """
    found: dict[int, tuple[int, float]] = {}
    if len(distinct) < _WORTH:
        return found
    own: list[int] = []
    some = distinct[:: -(-len(distinct) // _LOOKED_AT)]
    for n in range(distinct.shape[1]):
        bases = own[-_NEAR:]
        apart = some[:, [n]] - some[:, bases]
        constants = np.partition(apart, len(apart) // 2, axis=0)[len(apart) // 2]
        often = np.count_nonzero(apart != constants, axis=0) <= 2 * _APART * len(some)
        for base, constant in ((bases[at], float(constants[at])) for at in np.flatnonzero(often)):
            if np.count_nonzero(distinct[:, n] - distinct[:, base] != constant) <= _APART * len(distinct):
                found[n] = base, constant
                break
        else:
            own.append(n)
    return found
