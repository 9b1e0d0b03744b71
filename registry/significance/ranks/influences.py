"""What every unit moves the score of every system by: the errors of all differences are made of these.

The score in a resample is the observed one plus the influences of the units that are drawn, up to terms of second
order. So all metrics are means where errors are concerned, and one resample gives the difference of every pair together
with its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.matrix import Matrix
from registry.significance.resampling.draws import units_by_stratum
from registry.significance.resampling.exceedances import TOLERANCE
from registry.significance.resampling.scores import scores_without_runs

_ROUNDING = 1e-13  # of a score without one unit, relative to the largest score
_NEAR = 1e-4  # the share of their own squares up to which those of a difference are summed by themselves
_PAIRS = 2**10  # of them at a time


@dataclass(frozen=True, eq=False)
class Influences:
    """The scores of systems, and by how much each unit moves them.

    Attributes:
        scores: [systems]; higher is better, so those of which lower is better are negative here.
        of_units: [units, systems]; the influences of a system add up to 0.
        strata: [units], the number from 0 of the stratum within which each unit is resampled; None: there is one.
        runs: [systems], the squared standard error that random runs add; 0 where runs are fixed.
        n_runs: [systems], of how many random runs.
    """

    scores: Floats
    of_units: Floats
    strata: Ints | None
    runs: Floats
    n_runs: Ints

    @classmethod
    def of(cls, matrix: Matrix) -> Influences:
        """Leave out each unit in turn (the jackknife; Efron and Tibshirani 1993, chapter 11), and each random run.

        A score that is undefined without some unit leaves the system with influences that are nan.
        """
        matrix = matrix.by_unit
        sign, n = -1.0 if matrix.lower_is_better else 1.0, matrix.n_units
        without = matrix.jackknife()
        influences = sign * (n - 1) / n * (without.mean(axis=0) - without)
        runs, n_runs = np.zeros(len(matrix.observed)), np.zeros(len(matrix.observed), dtype=np.int64)
        for system, of_runs in enumerate(scores_without_runs(matrix)):
            runs[system], n_runs[system] = (len(of_runs) - 1) * of_runs.var(), len(of_runs)
        return cls(sign * matrix.observed, influences, matrix.unit_strata, runs, n_runs)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.of_units)

    @cached_property
    def are_defined(self) -> Flags:
        """Which systems have a score, and influences of all units, [systems]."""
        return np.isfinite(self.scores) & np.isfinite(self.of_units).all(axis=0) & np.isfinite(self.runs)

    @property
    def defined(self) -> Influences:
        """Those of these systems alone."""
        there = self.are_defined
        return replace(self, scores=self.scores[there], of_units=np.ascontiguousarray(self.of_units[:, there]),
                       runs=self.runs[there], n_runs=self.n_runs[there])

    @cached_property
    def differences(self) -> Floats:
        """The observed differences, [systems, systems]: positive where the first is better."""
        return self.scores[:, None] - self.scores

    @cached_property
    def tolerance(self) -> float:
        """What differences that are equal may differ by, rounded in two ways."""
        return TOLERANCE * float(np.abs(self.scores).max(initial=0))

    @cached_property
    def are_equal(self) -> Flags:
        """Which systems differ neither in their scores nor in any unit, [systems, systems]."""
        return np.asarray((self.squares == 0) & (np.abs(self.differences) <= self.tolerance))

    @cached_property
    def of_strata(self) -> list[Ints]:
        """The units of each stratum."""
        return [units for _, units in units_by_stratum(self.strata, self.n_units)]

    @cached_property
    def squares(self) -> Floats:
        """The sum of the squared differences of two systems' influences, [systems, systems]; 0 where none varies."""
        products = self.of_units.T @ self.of_units
        own = np.diag(products)
        found = own[:, None] + own - 2 * products
        near_a, near_b = np.nonzero(found < _NEAR * (own[:, None] + own))  # digits cancel
        for at in range(0, len(near_a), _PAIRS):
            a, b = near_a[at:at + _PAIRS], near_b[at:at + _PAIRS]
            found[a, b] = np.square(self.of_units[:, a] - self.of_units[:, b]).sum(axis=0)
        largest = float(np.abs(self.scores).max(initial=0))
        return np.where(found > self.n_units * (_ROUNDING * largest) ** 2, found, 0.0)

    @cached_property
    def centred_squares(self) -> Floats:
        """The same about the mean of each stratum."""
        found = self.squares.copy()
        for units in self.of_strata:
            sums = self.of_units[units].sum(axis=0)
            found -= (sums[:, None] - sums) ** 2 / len(units)
        return np.where(found > _ROUNDING * self.squares, found, 0.0)

    def covariances_of(self, system: int) -> Floats:
        """The covariances of all scores with one system's, [systems]; its own is its variance, runs included."""
        found = np.zeros(len(self.scores))
        for units in self.of_strata:
            centred = self.of_units[units, system] - self.of_units[units, system].mean()
            found += centred @ self.of_units[units]
        found[system] += self.runs[system]
        return found

    def steps_to(self, system: int) -> Floats:
        """The least amount that one unit adds to each difference to a system, [systems]; 0 where none does."""
        apart = np.abs(self.of_units - self.of_units[:, [system]] + (self.scores - self.scores[system]) / self.n_units)
        apart[apart <= _ROUNDING * max(1.0, float(np.abs(self.scores).max(initial=0)))] = np.inf
        least: Floats = apart.min(axis=0)
        return np.where(np.isfinite(least), least, 0.0)
