"""What a matrix of judged items keeps of them: the difference of two systems needs more than the sums over a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from registry.arrays import Floats, Ints
from registry.judged import apart
from registry.significance.compact import Statistics, of_systems


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that a judge has scored, and people some of them (`registry.judged`).

    Attributes:
        in_ones: From statistics [..., columns] as a matrix counts them to what they are.
        slope: How much of the judge's mean is taken; None: of each score and difference what has the least error.
        lower_is_better: Whether a lower score is the better one.
        statistics: [items, systems, columns], as the matrix counts them; None: they are the matrix's own, whose rows
            are items.
        units: [items], the number from 0 of the cluster that each belongs to; None: they are the units.
    """

    in_ones: Callable[[Floats], Floats]
    slope: float | None
    lower_is_better: bool
    statistics: Statistics | None = None
    units: Ints | None = None

    def of_systems(self, chosen: Sequence[int]) -> JudgedItems:
        """Of the chosen systems, in their order."""
        return self if self.statistics is None else replace(self, statistics=of_systems(self.statistics, chosen))

    def of(self, system: int) -> Floats:
        """What a system's items add to the sums that `registry.judged.COLUMNS` names, [items, columns]."""
        assert self.statistics is not None
        return self.in_ones(self.statistics[:, system])

    def apart(self, a: int, b: int) -> Floats:
        """The same of what item after item system `a` is better by than system `b`."""
        return apart(self.of(a), self.of(b), lower=self.lower_is_better)
