"""The replicates of a system as a table: how much each unit in each replicate moves the system's score.

A score is linearized, so that it is the mean of its table up to a constant; what is estimated of means then holds for
F-scores and BLEU as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from registry.arrays import Floats
from registry.errors import counted
from registry.significance.crossed.sources import Axes, CrossedPair
from registry.significance.matrix import Matrix, additive
from registry.significance.resampling.scores import runs_refusal
from registry.significance.units import linearize

OWN = "run"  # the factor whose levels are each system's own; others cross the systems


@dataclass(frozen=True, eq=False)
class Crossing:
    """Systems by unit and factor.

    Attributes:
        names: Of the axes: `items`, then the factors as one says them of several, such as `runs` and `prompts`.
        shared: Of every factor, whether the levels are the same for all systems.
        tables: How the score of each system deviates in each cell, [units, levels of a factor, ...], with mean 0.
    """

    names: tuple[str, ...]
    shared: tuple[bool, ...]
    tables: list[Floats]

    def pair(self, a: int, b: int | None) -> CrossedPair:
        """The tables of two systems, or of one beside a score that never moves."""
        table = self.tables[a]
        return CrossedPair((table, np.zeros_like(table) if b is None else self.tables[b]), self.shared)

    def bounds(self, pairs: Iterable[tuple[int, int | None]], over: str) -> tuple[Floats, Floats]:
        """What sources add to squared errors (`CrossedPair.bounds`), and their degrees, [pairs, sources] each."""
        found = [self.pair(a, b).bounds(self.axes(over)) for a, b in pairs]
        return (np.array([[source.squared for source in of_pair] for of_pair in found]),
                np.array([[source.degrees for source in of_pair] for of_pair in found], dtype=np.float64))

    def axes(self, over: str) -> Axes:
        """The axes that are random where a conclusion is to hold `over` what is called so, or over `all`."""
        return tuple(range(len(self.names))) if over == "all" else (self.names.index(over),)


def crossing_refusal(matrix: Matrix) -> str | None:
    """Say why runs cannot be looked at by what tells them apart, or None where they can.

    Every factor needs two levels or more, all combinations are there once, and systems share the levels of all but
    their own runs.
    """
    if matrix.factors is None:
        return runs_refusal(matrix)
    factors = {frozenset(of_run) for of_system in matrix.factors for of_run in of_system or ({},)}
    if len(factors) > 1:
        return ("runs are told apart by different things; let all patterns name the same of run, prompt, annotator and "
                "seed")
    for factor in _factors(matrix):
        levels = [{of_run[factor] for of_run in of_system} for of_system in matrix.factors]
        if few := sum(len(of) < 2 for of in levels):
            return f"{counted(few, 'system has', 'systems have')} one {factor} only; two or more are needed"
        if factor != OWN and len({frozenset(of) for of in levels}) > 1:
            own = ": seeds that are each system's own are runs, {run} in the pattern" if factor == "seed" else ""
            return f"systems have different {factor}s; only what all were given can be compared{own}"
    if odd := sum(not _is_complete(of_system) for of_system in matrix.factors):
        return (f"{counted(odd, 'system lacks', 'systems lack')} some combination of {' and '.join(_factors(matrix))}; "
                "each is needed once")
    return None


def crossing(matrix: Matrix) -> Crossing:
    """Lay the runs of systems out by unit and factor.

    Where the score F is a quotient of sums of n and d a cell deviates by (n - F d) over the mean of d; elsewhere by the
    jackknife's pseudo-value, from the score without the cell. What is undefined is nan.

    Args:
        matrix: By unit, with the runs of its systems; `crossing_refusal` has no objection.
    """
    assert matrix.runs is not None
    factors, tables = _factors(matrix), [_table(matrix, of_system) for of_system in matrix.runs]
    for at, of_system in enumerate(matrix.factors or ()):
        order = sorted(range(len(of_system)), key=lambda n: [of_system[n][factor] for factor in factors])
        levels = (len({of_run[name] for of_run in of_system}) for name in factors)
        tables[at] = tables[at][:, order].reshape(-1, *levels)
    return Crossing(crossing_names(matrix), tuple(name != OWN for name in factors), tables)


def crossing_names(matrix: Matrix) -> tuple[str, ...]:
    """What the axes of the tables are called; see `Crossing`."""
    return "items", *(f"{name}s" for name in _factors(matrix))


def numbers_of_levels(matrix: Matrix) -> Iterator[int]:
    """How many levels every system has of every factor."""
    if matrix.factors is None:
        yield from (of_system.shape[1] for of_system in matrix.runs or ())
        return
    for factor in _factors(matrix):
        yield from (len({of_run[factor] for of_run in of_system}) for of_system in matrix.factors)


def _factors(matrix: Matrix) -> list[str]:
    """What tells runs apart, which is that they are runs where nothing else is said."""
    if matrix.factors is None:
        return [OWN]
    return sorted(matrix.factors[0][0], key=lambda name: (name != OWN, name))


def _is_complete(of_system: tuple[dict[str, str], ...]) -> bool:
    combinations = {tuple(sorted(of_run.items())) for of_run in of_system}
    numbers = [len({of_run[name] for of_run in of_system}) for name in of_system[0]]
    return len(combinations) == len(of_system) == np.prod(numbers)


def _table(matrix: Matrix, runs: Floats) -> Floats:
    if matrix.quotient is None:
        return _pseudo_values(matrix, runs)
    parts = replace(matrix, statistics=runs, runs=None, resampled=None).parts
    return np.asarray(matrix.scale * linearize(*parts, np.mean))


def _pseudo_values(matrix: Matrix, runs: Floats) -> Floats:
    n_units, n_runs, _ = runs.shape
    sums = runs.sum(axis=0).mean(axis=0)
    without = np.stack([additive(matrix).score(sums - of_run / n_runs) for of_run in np.moveaxis(runs, 1, 0)], axis=1)
    moved = -without * (n_units * n_runs)
    return np.asarray(moved - moved.mean())
