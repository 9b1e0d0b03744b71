"""Repeated runs of one system: their average is what fixed runs are compared by, and what every score is of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from registry.evaluation.matrices import Counts, Steps
from registry.families import PLACES
from registry.identity import digest_array

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Averages(Counts):
    """The statistics of systems, each averaged over its runs.

    Attributes:
        totals: The sums over each system's runs in steps, [items, systems, columns].
        n_runs: [systems].
    """

    totals: Floats
    n_runs: tuple[int, ...]

    @cached_property
    def digests(self) -> list[list[str | int]]:
        """What each system's averages are, whatever steps and `multiple` the other systems made necessary."""
        return [[digest_array(self.totals[:, n] / np.array(self.steps.per_one)), *([runs] if runs > 1 else [])]
                for n, runs in enumerate(self.n_runs)]


def unchanged(runs: Floats) -> Floats:
    """The statistics of a system where they add up as they are kept."""
    return runs


def averaged(runs: Sequence[Floats], steps: Steps, expanded: Callable[[Floats], Floats] = unchanged) -> Averages:
    """Average the statistics of each system over its runs.

    Exact tests count in whole numbers, and only their sums are the same in every order. So averages are given as whole
    multiples, all systems' alike; where those would be too large, as decimals in as many places as there is room for.

    Args:
        runs: Of each system, [items, runs, columns], one or more.
        steps: What they are counted in, once they add up.
        expanded: Makes statistics that add up of those of a system, [items, runs, others]; of one after the other,
            since all of them are as large as the result.
    """
    n_runs = tuple(of_system.shape[1] for of_system in runs)
    first = steps.counted(expanded(runs[0]))
    totals = np.empty((len(first), len(runs), first.shape[2]))
    for n, of_system in enumerate(runs):
        totals[:, n] = (steps.counted(expanded(of_system)) if n else first).sum(axis=1)
    multiple = math.lcm(*n_runs)
    if multiple == 1:
        return Averages(totals, steps, multiple, totals, n_runs)
    if (largest := max(float(np.abs(t).sum()) for t in totals.transpose(1, 0, 2))) * multiple >= 2**53:
        multiple = next((10**places for places in range(PLACES, 0, -1) if largest * 10**places < 2**53), 1)
    averages = [np.rint(totals[:, n] * multiple / of) if multiple % of else totals[:, n] * (multiple // of)
                for n, of in enumerate(n_runs)]
    return Averages(np.stack(averages, axis=1), steps, multiple, totals, n_runs)


def in_order_of_content(runs: Floats) -> Floats:
    """The runs of a system, [items, runs, columns], in an order that does not depend on what they are called."""
    return runs[:, sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))]
