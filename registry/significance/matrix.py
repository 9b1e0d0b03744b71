"""The one shape that every test takes: statistics of units x systems, and the function that scores their sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]
Quotient = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class StatisticMatrix:
    """What a test knows of a comparison; it never knows which metric it tests.

    Attributes:
        statistics: [items, systems, columns], in an order of items that does not depend on the order of files.
        score: From sums [..., columns] to scores [...]; undefined is nan.
        units: [items], the number from 0 of the cluster that each item belongs to; None where items are the units.
        lower_is_better: Whether a lower score is the better one.
        quotient: Where the score is one linear function of the sums over another, the coefficients of both.
    """

    statistics: Floats
    score: Score
    units: NDArray[np.int64] | None = None
    lower_is_better: bool = False
    quotient: Quotient | None = None

    @property
    def n_units(self) -> int:
        """How many units are resampled or permuted."""
        return len(self.statistics) if self.units is None else int(self.units.max(initial=-1)) + 1

    def by_unit(self) -> StatisticMatrix:
        """Sum the statistics over each unit, [units, systems, columns]: clusters are tested by the same kernels."""
        if self.units is None:
            return self
        sums = np.zeros((self.n_units, *self.statistics.shape[1:]))
        np.add.at(sums, self.units, self.statistics)
        return replace(self, statistics=sums, units=None)

    def of_systems(self, chosen: Sequence[int]) -> StatisticMatrix:
        """The same matrix with only the chosen systems, in their order."""
        return replace(self, statistics=self.statistics[:, list(chosen)])

    def scores(self) -> Floats:
        """Score every system on all items, [systems]."""
        return self.score(self.statistics.sum(axis=0))

    def gain(self, scores_a: Floats, scores_b: Floats) -> Floats:
        """The difference that is positive where A is better."""
        return scores_b - scores_a if self.lower_is_better else scores_a - scores_b
