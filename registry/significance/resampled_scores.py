"""The scores of all systems in resamples of the units, and the percentile intervals that they give."""

from __future__ import annotations

import numpy as np

from registry.parallel.scratch_files import room
from registry.significance.base import Settings
from registry.significance.correlations.matrix import PairMatrix, resampled_correlations
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.matrix import Floats, StatisticMatrix
from registry.significance.resampling.draws import resampled_sums
from registry.significance.resampling.random_runs import crossed_scores


def percentiles(resampled: Floats, confidence: float) -> Floats:
    """Intervals of scores, [systems, 2], from resampled ones, [resamples, systems]; nan where many are undefined."""
    outside = (1 - confidence) / 2
    intervals = np.full((resampled.shape[1], 2), np.nan)
    for n, column in enumerate(resampled.T):
        defined = column[~np.isnan(column)]
        if len(defined) >= (1 - MOST_UNDEFINED) * len(column):
            intervals[n] = np.quantile(defined, (outside, 1 - outside))
    return intervals


def why_fixed(matrix: StatisticMatrix) -> str | None:
    """Say why every resample of the units is the sample itself, or None where it is not."""
    if matrix.lone_units < matrix.n_units:
        return None
    return "one unit cannot be resampled" if matrix.strata is None else "strata of one unit each cannot be resampled"


def resampled_scores(matrix: StatisticMatrix, settings: Settings) -> Floats:
    """Score every system in every resample of the units (and of its runs, if random): [resamples, systems].

    The matrix keeps them, for all that rests on the same draws; they lie in a temporary file where they would take
    more than half of the memory that is allowed.
    """
    key = (settings.resamples, settings.seed)
    if key not in matrix.drawn:
        shape = (matrix.statistics.shape[1], settings.resamples)  # a system's scores lie together
        scores = room(shape, settings.execution.memory // 2, np.float64)
        at = 0
        for block in (crossed_scores(matrix, settings) if matrix.runs is not None else
                      resampled_correlations(matrix, *key, settings.execution) if isinstance(matrix, PairMatrix) else
                      resampled_sums(matrix.statistics, *key, matrix.score, settings.execution, matrix.strata)):
            scores[:, at:at + len(block)] = block.T
            at += len(block)
        matrix.drawn.clear()
        matrix.drawn[key] = scores.T
    return matrix.drawn[key]
