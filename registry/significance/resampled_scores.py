"""The scores of all systems in resamples of the units, and percentile intervals of scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from registry.arrays import Floats
from registry.messages import Message
from registry.parallel.scratch_files import room
from registry.significance.base import Settings
from registry.significance.correlations.matrix import PairMatrix, resampled_correlations
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.matrix import Matrix, additive
from registry.significance.resampling.draws import BLOCK, resampled_sums
from registry.significance.resampling.random_runs import crossed_scores
from registry.significance.shared_draws import Resampled

M = TypeVar("M", bound=Matrix)


def resampling_refusal(matrix: Matrix) -> Message | None:
    """Say why every resample of the units is the sample itself, or None where it is not."""
    if matrix.lone_units < matrix.n_units:
        return None
    return Message("one-unit" if matrix.strata is None else "one-unit-strata")


def sharing_resamples(matrix: M, settings: Settings) -> M:
    """Return the matrix with scores in resamples that all tests of it share: they are drawn once, at their first use.

    Args:
        matrix: By item or by unit.
        settings: The number of resamples, their seed, and who draws them with how much memory.
    """
    shared = Resampled(settings.resamples, settings.seed, partial(_drawn, matrix, settings))
    return replace(matrix, resampled=shared)


def resampled_scores(matrix: Matrix, settings: Settings) -> Floats:
    """Score every system in every resample of the units (and of its runs, if random): [resamples, systems].

    They are those that tests of the matrix share, where these are as many and of the same seed. They are in a temporary
    file where they would take more than half of the memory.
    """
    if matrix.resampled is not None and shares_resamples(matrix, settings):
        return matrix.resampled.scores
    return _drawn(matrix, settings)


def shares_resamples(matrix: Matrix, settings: Settings) -> bool:
    """Whether all tests of the matrix share scores in so many resamples by this seed."""
    shared = matrix.resampled
    return shared is not None and (shared.resamples, shared.seed) == (settings.resamples, settings.seed)


def _drawn(matrix: Matrix, settings: Settings) -> Floats:
    matrix = matrix.by_unit
    if matrix.runs is not None:
        blocks = crossed_scores(matrix, settings)
    elif isinstance(matrix, PairMatrix):
        blocks = resampled_correlations(matrix, settings)
    else:
        blocks = resampled_sums(matrix.statistics, settings, additive(matrix).score, matrix.strata)
    scores = room((matrix.statistics.shape[1], settings.resamples), settings.execution.memory // 2, np.float64)
    for at, block in zip(range(0, settings.resamples, BLOCK), blocks, strict=True):
        scores[:, at:at + BLOCK] = block.T  # a system's scores lie together
    return scores.T


def percentiles(resampled: Floats, confidence: float) -> Floats:
    """Intervals of scores, [systems, 2], from resampled ones, [resamples, systems]; nan where many are undefined."""
    outside = (1 - confidence) / 2
    intervals = np.full((resampled.shape[1], 2), np.nan)
    for n, column in enumerate(resampled.T):
        defined = column[~np.isnan(column)]
        if len(defined) >= (1 - MOST_UNDEFINED) * len(column):
            intervals[n] = np.quantile(defined, (outside, 1 - outside))
    return intervals
