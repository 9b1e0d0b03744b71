"""Repeated runs of one system: their average is what fixed runs are compared by, and what every score is of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from registry.arrays import Floats
from registry.evaluation.matrices import Counts, Steps
from registry.families import PLACES
from registry.identity import digest_array
from registry.significance.matrix import CompactStatistics


@dataclass(frozen=True, eq=False)
class Averages(Counts):
    """The statistics of systems, each averaged over its runs.

    Attributes:
        totals: The sums over each system's runs in steps, [items, systems, columns].
        n_runs: [systems].
    """

    totals: CompactStatistics
    n_runs: tuple[int, ...]

    @cached_property
    def digests(self) -> list[list[str | int]]:
        """What each system's averages are, whatever steps and `multiple` the other systems made necessary."""
        return [[digest_array(self._given(n)), *([runs] if runs > 1 else [])] for n, runs in enumerate(self.n_runs)]

    def _given(self, n: int) -> Floats:
        """The sums over a system's runs of what was given, [items, columns]."""
        totals = self.totals[:, n]
        return totals if self.steps.are_one else totals / np.array(self.steps.per_one)


def averaged(runs: Iterable[Floats], n_systems: int, steps: Steps, most: int = 2**30) -> Averages:
    """Average the statistics of each system over its runs.

    Exact tests count in whole numbers, and only their sums are the same in every order. So averages are given as whole
    multiples, all systems' alike; where those would be too large, as decimals in as many places as there is room for.

    Args:
        runs: Of each system, [items, runs, columns], one or more; each is taken once.
        n_systems: How many they are.
        steps: What they are counted in.
        most: The bytes that the averages may take in memory; more are in a temporary file.
    """
    sizes = []

    def summed() -> Iterator[Floats]:
        for of_system in runs:
            sizes.append(of_system.shape[1])
            yield steps.counted(of_system).sum(axis=1)

    totals = CompactStatistics.of_each(summed(), n_systems, most)
    multiple, n_runs = math.lcm(*sizes), tuple(sizes)
    if multiple == 1:
        return Averages(totals, steps, multiple, totals, n_runs)
    if (largest := max(float(np.abs(totals[:, n]).sum()) for n in range(n_systems))) * multiple >= 2**53:
        multiple = next((10**places for places in range(PLACES, 0, -1) if largest * 10**places < 2**53), 1)
    averages = CompactStatistics.of_each((
        np.rint(totals[:, n] * multiple / of) if multiple % of else totals[:, n] * (multiple // of)
        for n, of in enumerate(n_runs)), n_systems, most)
    return Averages(averages, steps, multiple, totals, n_runs)


def order_of_content(runs: Floats) -> list[int]:
    """The places of a system's runs, [items, runs, columns], in an order that is the same whatever they are called."""
    return sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))
