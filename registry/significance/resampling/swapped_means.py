"""Random swaps of units in which all systems share the denominators: only the numerators' sums move.

With z the sum of a system's numerators in the swapped units less that in the others, the difference after a swap is
that of the two systems' z over the denominators' sum. So draws of all pairs are differences of one number for each
system, as in the bootstrap, and are counted as there: by 16 bits, and exactly where these leave a doubt
(`resampling.screening`).
"""

from __future__ import annotations

import numpy as np

from registry.arrays import Floats, Ints
from registry.parallel.scratch_files import room
from registry.significance.base import ObservedPairs, Settings, extremity
from registry.significance.compact import are_whole
from registry.significance.matrix import Matrix
from registry.significance.resampling.draws import BLOCK, swapped_sums
from registry.significance.resampling.screening import LEAST, MOST, STEPS, Question, screened


def only_numerators_move(matrix: Matrix) -> bool:
    """Whether the score is a quotient with the same denominators for all systems, of sums that are exact."""
    if matrix.quotient is None:
        return False
    over, under = matrix.parts
    return bool((under == under[:, :1]).all() and under[:, 0].sum() > 0 and are_whole(over)
                and np.abs(over).sum(axis=0).max() < 2**51)


def count_swapped_means(pairs: ObservedPairs, settings: Settings) -> Ints:
    """Count, for each pair, the random swaps with a difference at least as extreme as the observed one."""
    moved = _moved(pairs.matrix, settings)
    size = max(float(moved.max()), -float(moved.min()), 1.0) / STEPS
    rounded = room(moved.shape, settings.execution.memory // 4, np.int16)
    for n, of_system in enumerate(moved):
        np.rint(of_system / size, out=rounded[n], casting="unsafe")
    turned = (settings.alternative == "less") != pairs.matrix.lower_is_better
    systems = np.stack([pairs.a, pairs.b] if turned else [pairs.b, pairs.a], axis=1)
    totals, two_sided = pairs.matrix.parts[0].sum(axis=0), settings.alternative == "two-sided"
    bars = totals[systems[:, 1]] - totals[systems[:, 0]]
    bars = extremity(bars, "two-sided") if two_sided else bars
    slack = 1 + 2.0**-20  # in steps, as either of the two is rounded by up to half a step
    low, high = (np.clip(bound, LEAST, MOST).astype(np.int64) for bound in (
        np.floor(bars / size - slack), np.ceil(bars / size + slack)))
    always = np.full(len(pairs), LEAST - 1)
    counts, at = [], 0
    for found in screened(rounded, Question(systems, two_sided, low, high, always, always, 0), settings.execution):
        n = len(found.extremes)
        pair = at + np.repeat(np.arange(n), found.doubtful.sizes)
        first, second = (moved[systems[pair, side], found.doubtful.places] for side in (0, 1))
        reached = extremity(first - second, "two-sided" if two_sided else "greater") >= bars[pair]
        counts.append(found.extremes + np.bincount(pair[reached] - at, minlength=n))
        at += n
    return np.concatenate(counts)


def _moved(matrix: Matrix, settings: Settings) -> Floats:
    """The z of all systems in all draws, [systems, draws]."""
    over = matrix.parts[0]
    moved = room((over.shape[1], settings.resamples), settings.execution.memory // 2, np.float64)
    totals = over.sum(axis=0)[:, None]
    found = swapped_sums(over[:, :, None], settings, np.asarray)
    for at, block in zip(range(0, settings.resamples, BLOCK), found, strict=True):
        moved[:, at:at + BLOCK] = 2 * block[:, :, 0].T - totals
    return moved
