"""Repeated runs of one system: their average is what fixed runs are compared by, and what every score is of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from registry.families import to_lattice
from registry.identity import digest_array

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Averages:
    """The statistics of systems, each averaged over its runs.

    Attributes:
        statistics: [items, systems, columns], `multiple` times the averages.
        multiple: What makes them whole numbers.
        n_runs: [systems].
    """

    statistics: Floats
    multiple: int
    n_runs: tuple[int, ...]

    @cached_property
    def digests(self) -> list[list[str | int]]:
        """What each system's averages are, whatever `multiple` the other systems' runs made necessary."""
        if self.multiple == 1:
            return [[digest_array(self.statistics[:, n])] for n in range(len(self.n_runs))]
        return [[digest_array(self.statistics[:, n] * runs / self.multiple), *([runs] if runs > 1 else [])]
                for n, runs in enumerate(self.n_runs)]


def averaged(runs: Sequence[Floats], *, scalable: bool) -> Averages:
    """Average the statistics of each system over its runs.

    Exact tests count in whole numbers, and sums are the same in every order only of multiples of 2^-30. So averages of
    whole numbers are given as multiples where no score changes by that, all systems' alike; others are rounded as
    statistics are at ingest.

    Args:
        runs: Of each system, [items, runs, columns].
        scalable: Whether the metric is a quotient of sums, which stays what it is when both are multiplied.
    """
    n_runs = tuple(of_system.shape[1] for of_system in runs)
    totals = [of_system.sum(axis=1) for of_system in runs]
    multiple = math.lcm(*n_runs)
    if multiple > 1 and scalable and all(
            np.array_equal(t, np.rint(t)) and np.abs(t).sum() * multiple < 2**53 for t in totals):
        scaled = [t * (multiple // n) for t, n in zip(totals, n_runs, strict=True)]
        return Averages(np.stack(scaled, axis=1), multiple, n_runs)
    averages = [t if n == 1 else to_lattice(t / n) for t, n in zip(totals, n_runs, strict=True)]
    return Averages(np.stack(averages, axis=1), 1, n_runs)


def in_order_of_content(runs: Floats) -> Floats:
    """The runs of a system, [items, runs, columns], in an order that does not depend on what they are called."""
    return runs[:, sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))]
