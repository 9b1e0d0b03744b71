"""The errors of all differences in the same draws, each in units of its own standard error.

The standard error is estimated again in every draw, as it is in the test set itself: a largest error whose standard
error is small by chance is then as frequent in draws as it is in truth. With standard errors that stay the same ranks
fail too often (Hall 1992, section 3.6; docs/limits.md).

Two ways to draw: `Bootstrapped` takes units with replacement; `Flipped` lets the two systems of every difference change
places in each unit, or not, all pairs in the same units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats
from registry.parallel.scratch_files import room
from registry.significance.base import Settings
from registry.significance.ranks.influences import Influences
from registry.significance.resampling.draws import BLOCK, RUNS, blocks, resampled_counts, stream, swapped_sums

_STILL = 1e-5  # the share of its observed square up to which an error does not vary in a draw, for single precision
_UNITS = 2**11  # units whose squares are multiplied at once


@dataclass(frozen=True, eq=False)
class JointErrors(ABC):
    """Draws of the errors of all differences.

    Attributes:
        influences: Of the units on the scores, all of them defined.
        settings: The number of draws, their seed, and who draws them with how much memory.
    """

    influences: Influences
    settings: Settings

    @cached_property
    @abstractmethod
    def squared_errors(self) -> Floats:
        """The squared standard error of every observed difference, [systems, systems]; 0 where it cannot vary."""

    @abstractmethod
    def prepare(self) -> None:
        """Draw what all rows share."""

    @abstractmethod
    def rows(self, systems: slice) -> Floats:
        """The errors of the differences of some systems to all others, [draws, some systems, systems].

        They are in units of the draw's standard error, and 0 where nothing varies in the draw: two systems that differ
        in no unit are never told apart, so such a draw is no error.
        """

    @cached_property
    def observed(self) -> Floats:
        """The observed differences in units of their standard errors, [systems, systems]; 0 where none varies."""
        squared = self.squared_errors
        return np.divide(self.influences.differences, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)

    def _studentized(self, systems: slice, moved: Floats, squared: Floats) -> Floats:
        """Divide `moved` by the root of `squared`, [draws, some systems, systems] each, where that varies."""
        in_truth = self.squared_errors[systems]
        varies = (squared > _STILL * in_truth) & (in_truth > 0)
        np.sqrt(squared, out=squared, where=varies)
        return np.divide(moved, squared, out=np.zeros_like(moved), where=varies)


@dataclass(frozen=True, eq=False)
class Bootstrapped(JointErrors):
    """Errors in resamples of the units, within their strata, and of random runs.

    What a system's runs add is drawn from a normal distribution, and its variance from that of the estimate
    (chi-squared with one degree of freedom less than there are runs): few runs cannot be resampled and vary still.
    """

    @cached_property
    def squared_errors(self) -> Floats:
        runs = self.influences.runs
        found = self.influences.centred_squares + runs[:, None] + runs
        np.fill_diagonal(found, 0)
        return found

    def prepare(self) -> None:
        _ = self._counts, self._sums, self._of_runs

    def rows(self, systems: slice) -> Floats:
        of_units = self.influences.of_units
        n, some = of_units.shape[1], len(range(*systems.indices(of_units.shape[1])))
        unit = float(np.abs(of_units).max()) or 1.0  # single precision is enough for squares that do not underflow
        single = np.zeros((self.settings.resamples, some * n), dtype=np.float32)
        for at in range(0, len(of_units), _UNITS):
            part = (of_units[at:at + _UNITS] / unit).astype(np.float32)
            apart = part[:, systems, None] - part[:, None, :]
            single += self._counts[:, at:at + _UNITS].astype(np.float32) @ np.square(apart).reshape(len(part), -1)
        squared = single.reshape(-1, some, n) * np.float64(unit**2)
        moved = np.zeros_like(squared)
        for sums, units in zip(self._sums, self.influences.of_strata, strict=True):
            of_stratum = sums[:, systems, None] - sums[:, None, :]
            centre = of_units[units].sum(axis=0)
            moved += of_stratum - (centre[systems, None] - centre)
            squared -= np.square(of_stratum, out=of_stratum) / len(units)
        if self._of_runs is not None:
            by_runs, of_estimate = self._of_runs
            moved += by_runs[:, systems, None] - by_runs[:, None, :]
            squared += of_estimate[:, systems, None] + of_estimate[:, None, :]
        return self._studentized(systems, moved, squared)

    @cached_property
    def _counts(self) -> NDArray[np.uint8]:
        """How often each draw takes every unit, [draws, units]."""
        of, draws = self.influences, self.settings.resamples
        counts = room((draws, of.n_units), self.settings.execution.memory // 4, np.uint8)
        found = self.settings.execution.here.map(
            partial(resampled_counts, of.strata, of.n_units, self.settings.seed), blocks(draws))
        for at, of_block in zip(range(0, draws, BLOCK), found, strict=True):
            counts[at:at + BLOCK] = of_block
        return counts

    @cached_property
    def _sums(self) -> list[Floats]:
        """The sums of the influences of each stratum's units, [draws, systems] each."""
        return [np.concatenate([
            self._counts[at:at + BLOCK][:, units].astype(np.float64) @ self.influences.of_units[units]
            for at in range(0, self.settings.resamples, BLOCK)]) for units in self.influences.of_strata]

    @cached_property
    def _of_runs(self) -> tuple[Floats, Floats] | None:
        """By how much the runs of a draw move each system, and what the draw would add to its squared error."""
        of = self.influences
        if not of.n_runs.any():
            return None
        order = np.lexsort((of.runs, of.scores))  # draws do not depend on the order of systems
        normal, variance = np.zeros((2, self.settings.resamples, len(order)))
        for place, system in enumerate(order.tolist()):
            rng = np.random.Generator(stream(self.settings.seed, RUNS, place))
            degrees = int(of.n_runs[system]) - 1
            normal[:, system] = rng.standard_normal(self.settings.resamples)
            variance[:, system] = rng.chisquare(degrees, self.settings.resamples) / degrees
        return normal * np.sqrt(of.runs), variance * of.runs


@dataclass(frozen=True, eq=False)
class Flipped(JointErrors):
    """Errors where the two systems of every difference change places in random units.

    For two systems and a mean of units this is the studentized permutation test. It is exact for each pair whose unit
    differences are symmetric; of several pairs together it is right in the limit of many units. Strata have no say.
    """

    @cached_property
    def squared_errors(self) -> Floats:
        return self.influences.squares

    @cached_property
    def _all_squares(self) -> Floats:
        """The sums of the squared unit differences about 0."""
        return self.influences.squares + np.square(self.influences.differences) / self.influences.n_units

    def prepare(self) -> None:
        _ = self._sums, self._all_squares

    def rows(self, systems: slice) -> Floats:
        moved = self._sums[:, systems, None] - self._sums[:, None, :]
        return self._studentized(systems, moved, self._all_squares[systems] - moved**2 / self.influences.n_units)

    @cached_property
    def _sums(self) -> Floats:
        """The sums of all units after some have changed sign, [draws, systems]."""
        of, settings = self.influences, self.settings
        statistics = (of.of_units + of.scores / of.n_units)[:, :, None]
        swapped = np.concatenate(list(swapped_sums(
            statistics, replace(settings, execution=settings.execution.here), np.asarray)))[:, :, 0]
        return np.asarray(of.scores - 2 * swapped)
