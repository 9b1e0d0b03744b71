"""Repeated runs of one system: their average is what fixed runs are compared by, and what every score is of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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


def unchanged(runs: Floats) -> Floats:
    """The statistics of a system where they add up as they are kept."""
    return runs


def averaged(runs: Sequence[Floats], *, scalable: bool,
             expanded: Callable[[Floats], Floats] = unchanged) -> Averages:
    """Average the statistics of each system over its runs.

    Exact tests count in whole numbers, and sums are the same in every order only of multiples of 2^-30. So averages of
    whole numbers are given as multiples where no score changes by that, all systems' alike; others are rounded as
    statistics are at ingest.

    Args:
        runs: Of each system, [items, runs, columns], one or more.
        scalable: Whether the metric is a quotient of sums, which stays what it is when both are multiplied.
        expanded: Makes statistics that add up of those of a system, [items, runs, others]; of one after the other,
            since all of them are as large as the result.
    """
    n_runs = tuple(of_system.shape[1] for of_system in runs)
    first = expanded(runs[0])
    totals = np.empty((len(first), len(runs), first.shape[2]))
    for n, of_system in enumerate(runs):
        totals[:, n] = (expanded(of_system) if n else first).sum(axis=1)
    multiple = math.lcm(*n_runs)
    if multiple > 1 and scalable and all(
            np.array_equal(t, np.rint(t)) and np.abs(t).sum() * multiple < 2**53 for t in totals.transpose(1, 0, 2)):
        totals *= (multiple // np.array(n_runs))[:, None]
        return Averages(totals, multiple, n_runs)
    for n, of in enumerate(n_runs):
        if of > 1:
            totals[:, n] = to_lattice(totals[:, n] / of)
    return Averages(totals, 1, n_runs)


def in_order_of_content(runs: Floats) -> Floats:
    """The runs of a system, [items, runs, columns], in an order that does not depend on what they are called."""
    return runs[:, sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))]
