"""What items, runs and other factors each add to the squared standard error of a difference.

The replicates of a system form a table [units, levels of a factor, ...]. Units and factors that are `shared` cross the
two systems, which are then compared within each level; the levels of others, such as seeds, are each system's own.

With v(T) for what the interaction of the factors T adds to the squared error, the mean square of the interaction of G
in the table that is averaged over all other factors, over its number of cells, has the expectation

    w(G) = sum of v(T) over all T that contain G

where every combination of levels is there once (Cornfield and Tukey 1956). So sums and differences of w give v, without
bias and without an assumption of normality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from registry.arrays import ROUNDING, Floats

Axes = tuple[int, ...]  # of a table, in order: 0 are the units


@dataclass(frozen=True)
class Source:
    """What adds to the error of a difference.

    Attributes:
        axes: The factors whose interaction it is; (0,) are the units.
        side: 0 or 1: the system whose own levels these are; None: those of both.
        squared: What it adds to the squared standard error.
        degrees: The degrees of freedom that this is estimated with.
    """

    axes: Axes
    side: int | None
    squared: float
    degrees: int


class CrossedPair:
    """The tables of two systems, [units, levels, ...]; `shared` says of every factor whether it crosses the systems."""

    def __init__(self, tables: tuple[Floats, Floats], shared: Sequence[bool]) -> None:
        self.tables = tables
        self.shared = (True, *shared)

    @property
    def axes(self) -> Axes:
        """The units and all factors."""
        return tuple(range(len(self.shared)))

    def expected(self, axes: Axes) -> list[tuple[int | None, float, int]]:
        """The terms of w, each with its side and its degrees of freedom; there is one where all axes are shared."""
        if all(self.shared[axis] for axis in axes):
            a, b = (_averaged(table, axes) for table in self.tables)
            return [(None, *_interaction(a - b))]
        return [(side, *_interaction(_averaged(table, axes))) for side, table in enumerate(self.tables)]

    def components(self) -> Iterator[Source]:
        """Give v of each set of factors, and of either side where some of them are its own; v can be negative."""
        terms = {axes: self.expected(axes) for axes in _subsets(self.axes)}
        for axes, own in terms.items():
            for side, _, degrees in own:
                added = [(-1) ** (len(more) - len(axes)) * term for more, found in terms.items()
                         if set(more) >= set(axes) for of, term, _ in found if side is None or of == side]
                squared = sum(added)
                is_rounding = abs(squared) <= ROUNDING * sum(map(abs, added))
                yield Source(axes, side, 0.0 if is_rounding else squared, degrees)

    def bounds(self, over: Iterable[int]) -> list[Source]:
        """Give sources that add up to no less than the squared error where the axes `over` are random.

        Every factor counts with all its interactions, as its few degrees of freedom hold for these together; what is
        left of the units without them counts by itself. Interactions of two factors count twice. All together are no
        less than what the units add where nothing else is random.
        """
        random = tuple(over)
        factors = [axis for axis in random if axis]
        found = [Source((axis,), side, squared, degrees) for axis in factors
                 for side, squared, degrees in self.expected((axis,))]
        if 0 in random:
            alone = sum((-1) ** len(more) * term for more in ((), *_subsets(factors))
                        for _, term, _ in self.expected((0, *more)))
            ((_, units, degrees),) = self.expected((0,))
            left = max(0.0, alone, units - sum(of.squared for of in found))
            found.append(Source((0,), None, left, degrees))
        return found


def _subsets(axes: Sequence[int]) -> Iterator[Axes]:
    """All but the empty one."""
    for n in range(1, len(axes) + 1):
        yield from combinations(axes, n)


def _averaged(table: Floats, kept: Axes) -> Floats:
    return np.asarray(table.mean(axis=tuple(axis for axis in range(table.ndim) if axis not in kept)))


def _interaction(table: Floats) -> tuple[float, int]:
    """The mean square of the interaction of all axes of a table over its size, and its degrees of freedom."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    degrees = int(np.prod([size - 1 for size in table.shape]))
    return (float(np.vdot(table, table)) / degrees / table.size if degrees else np.nan), degrees
