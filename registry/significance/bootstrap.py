"""The paired bootstrap: units are resampled for both systems together, and the difference is recentred.

The null distribution of the difference is that of d* - d, the resampled difference less the observed one
(Berg-Kirkpatrick et al. 2012, section 2: their d* > 2 d). All systems share the resamples, so the scores of every
system in every resample, [resamples, systems], are all that is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from registry.significance.base import Observed, PairTest, Settings, Tail, extremity
from registry.significance.draws import in_threads, resampled_sums
from registry.significance.matrix import Floats, StatisticMatrix
from registry.significance.permutation import TOLERANCE, monte_carlo_tail

MOST_UNDEFINED = 0.001  # the share of undefined resamples above which no interval is given


@dataclass(frozen=True, repr=False)
class Bootstrap(PairTest):
    """Paired bootstrap of whole items or clusters, recentred by the observed difference."""

    name: ClassVar[str] = "bootstrap"
    null: ClassVar[str] = "the two systems' scores are equal in the population that the units are drawn from"
    assumes: ClassVar[str] = "units are independent draws from a population, and many: small test sets need permutation"
    citation: ClassVar[str] = "Efron and Tibshirani 1993, chapter 16; Berg-Kirkpatrick et al. 2012, section 2"

    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Give the p-value and the interval of each pair, all from the same resamples."""
        matrix = pairs[0].matrix
        if matrix.n_units < 2:
            return [Tail(math.nan, "monte-carlo", resamples=settings.resamples,
                         note="one unit cannot be resampled")] * len(pairs)
        chosen = sorted({system for o in pairs for system in o.pair})
        some = matrix.of_systems(chosen)
        observed, scores = some.scores(), resampled_scores(some, settings)
        place = {system: n for n, system in enumerate(chosen)}
        return list(in_threads(
            lambda o: _tail(some, o, observed, scores, place[o.pair[0]], place[o.pair[1]], settings), pairs))

    def score_intervals(self, matrix: StatisticMatrix, settings: Settings) -> Floats:
        """Percentile intervals of the scores, from the resamples that the pairs rest on."""
        matrix = matrix.by_unit()
        if matrix.n_units < 2:
            return super().score_intervals(matrix, settings)
        scores = resampled_scores(matrix, settings)
        outside = (1 - settings.confidence) / 2
        intervals = np.full((scores.shape[1], 2), np.nan)
        for n, column in enumerate(scores.T):
            defined = column[~np.isnan(column)]
            if len(defined) >= (1 - MOST_UNDEFINED) * len(column):
                intervals[n] = np.quantile(defined, (outside, 1 - outside))
        return intervals


def resampled_scores(matrix: StatisticMatrix, settings: Settings) -> Floats:
    """Score every system in every resample of the units: [resamples, systems]."""
    scores = np.empty((matrix.statistics.shape[1], settings.resamples))  # a system's scores lie together
    at = 0
    for block in resampled_sums(matrix.statistics, settings.resamples, settings.seed, matrix.score):
        scores[:, at:at + len(block)] = block.T
        at += len(block)
    return scores.T


def _tail(matrix: StatisticMatrix, o: Observed, observed: Floats, scores: Floats, a: int, b: int,
          settings: Settings) -> Tail:
    resampled = matrix.gain(scores[:, a], scores[:, b])
    moved = resampled - o.difference
    tolerance = TOLERANCE * float(np.abs(observed[[a, b]]).max())
    defined = ~np.isnan(moved)
    n_defined = int(np.count_nonzero(defined))
    # the first resamples nearly always tell; nan compares as false
    if o.difference and not any((np.abs(part) > tolerance).any() for part in (moved[:100], moved)):
        return Tail(math.nan, "monte-carlo", resamples=settings.resamples,
                    note="the difference is the same in every resample")
    reached, bar = extremity(moved, settings.alternative), extremity(o.difference, settings.alternative)
    extremes = int(np.count_nonzero(~(reached < bar - tolerance)))  # an undefined one is extreme
    tail = monte_carlo_tail(extremes, settings.resamples)
    if n_defined < (1 - MOST_UNDEFINED) * len(moved):
        return Tail(tail.log_p, "monte-carlo", tail.p_low, tail.p_high, settings.resamples,
                    note="undefined in more than 0.1 % of the resamples: no interval")
    if settings.interval == "dual":
        if n_defined < len(moved):
            reached = np.where(defined, reached, np.inf)
        low, high = _dual(o.difference, reached, bar, tolerance, settings)
    else:
        low, high = _interval(matrix, o, resampled[defined], settings)
    return Tail(tail.log_p, "monte-carlo", tail.p_low, tail.p_high, settings.resamples,
                ci_low=low, ci_high=high)


def _dual(d: float, reached: Floats, bar: float, tolerance: float, settings: Settings) -> tuple[float, float]:
    """The interval that leaves out 0 just when (c + 1) / (R + 1) <= alpha, alpha = 1 - confidence.

    It reaches as far as the k-th largest extremity, k = floor(alpha (R + 1)): below what was observed just then.
    """
    k = math.floor((1 - settings.confidence) * (settings.resamples + 1) * (1 + 1e-12))
    reach = math.inf if k < 1 else float(np.partition(reached, len(reached) - k)[len(reached) - k])
    if abs(reach - bar) <= tolerance:
        reach = bar  # a tie, as the p-value counts it: the interval ends at 0
    return (-math.inf if settings.alternative == "less" else d - reach,
            math.inf if settings.alternative == "greater" else d + reach)


def _interval(matrix: StatisticMatrix, o: Observed, resampled: Floats, settings: Settings) -> tuple[float, float]:
    d, outside = o.difference, 1 - settings.confidence
    if settings.interval == "bca":
        levels = _bca_levels(matrix, o, resampled, outside / 2)
    else:
        levels = (outside / 2, 1 - outside / 2)
    low, high = (float(q) for q in np.quantile(resampled, levels))
    return (2 * d - high, 2 * d - low) if settings.interval == "basic" else (low, high)


def _bca_levels(matrix: StatisticMatrix, o: Observed, resampled: Floats, outside: float) -> tuple[float, float]:
    """The levels of the bias-corrected and accelerated interval (Efron 1987), ties half counted.

    The acceleration is that of the paired difference under the jackknife by unit.
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(resampled < o.difference) + np.count_nonzero(resampled <= o.difference)) / 2
    bias = float(ndtri(min(max(below, 0.5), len(resampled) - 0.5) / len(resampled)))
    without = matrix.gain(matrix.score(o.a.sum(axis=0) - o.a), matrix.score(o.b.sum(axis=0) - o.b))
    pull = np.nanmean(without) - without
    spread = float(np.nansum(pull**2))
    acceleration = float(np.nansum(pull**3)) / (6 * spread**1.5) if spread else 0.0

    def level(z: float) -> float:
        return float(ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))))

    z = float(ndtri(outside))
    return level(z), level(-z)
