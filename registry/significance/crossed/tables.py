"""The replicates of a system as a table: how much each unit in each replicate moves the system's score.

A score is linearized, so that it is the mean of its table up to a constant; what is estimated of means then holds for
F-scores and BLEU as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from registry.significance.matrix import Floats, Matrix, additive
from registry.significance.units import ROUNDING


def tables(matrix: Matrix) -> list[Floats]:
    """Give of each system how its score deviates in each cell, [units, runs], with mean 0.

    Where the score F is a quotient of sums of n and d it is (n - F d) over the mean of d; elsewhere the jackknife's
    pseudo-value, from the score without the cell. Runs that are undefined give nan.

    Args:
        matrix: By unit, with the runs of its systems.
    """
    assert matrix.runs is not None
    return [_table(matrix, of_system) for of_system in matrix.runs]


def _table(matrix: Matrix, runs: Floats) -> Floats:
    if matrix.quotient is None:
        return _pseudo_values(matrix, runs)
    over, under = replace(matrix, statistics=runs, runs=None, resampled=None).parts
    things = under.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(things != 0, over / things, np.nan)
        expected = under * (shares.mean() / things)
    moved = shares - expected
    moved[np.abs(moved) <= ROUNDING * (np.abs(shares) + np.abs(expected))] = 0  # every cell has the system's score
    return np.asarray(matrix.scale * moved)


def _pseudo_values(matrix: Matrix, runs: Floats) -> Floats:
    n_units, n_runs, _ = runs.shape
    sums = runs.sum(axis=0).mean(axis=0)
    without = np.stack([additive(matrix).score(sums - of_run / n_runs) for of_run in np.moveaxis(runs, 1, 0)], axis=1)
    moved = -without * (n_units * n_runs)
    return np.asarray(moved - moved.mean())
