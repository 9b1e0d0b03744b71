"""Recentred differences of pairs in resamples: how many are as extreme as the observed ones, and their quantiles.

Scores are rounded to 16 bits, which suffices for nearly all of a million resamples of hundreds of pairs
(`resampling.screening`); the few doubtful differences are computed in float64. Pairs that this does not resolve, such
as those with undefined scores or differences that hardly move, are sorted in float64.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.parallel.execution import Execution
from registry.significance.base import Alternative, Observed, ObservedPairs, extremity
from registry.significance.resampling.exceedances import tolerance, tolerances
from registry.significance.resampling.plain_loops import Shorts
from registry.significance.resampling.screening import LEAST, MOST, STEPS, Question, Screened, Some, screened

_FAR = 64  # times the middle distance of all systems: what is farther would make steps too coarse for the others
_ERROR = 2.0**-50  # of a difference in float64, relative to what it is made of: a few roundings of 2^-53
_AT_ONCE = 64  # pairs that are sorted


@dataclass(frozen=True, slots=True)
class Recentred:
    """The recentred differences of one pair.

    Attributes:
        extremes: How many are at least as extreme as the observed difference; undefined ones count.
        reach: The `rank`-th largest extremity, where undefined ones count as infinite; infinite for rank 0.
        undefined: How many are undefined.
        moves: Whether they differ between resamples.
    """

    extremes: int
    reach: float
    undefined: int = 0
    moves: bool = True


def recentred(pairs: ObservedPairs, scores: Floats, rounded: Shorts, alternative: Alternative, rank: int,
              execution: Execution) -> list[Recentred]:
    """Count and rank the recentred differences of pairs of one matrix.

    Args:
        pairs: The pairs.
        scores: Of every system in the resamples, [systems, resamples].
        rounded: Memory for rounded scores, of the same shape.
        alternative: What counts as extreme.
        rank: Rank of the extremity that is wanted, from the largest.
        execution: Threads and processes.
    """
    steps = Steps.of(scores, pairs.matrix.observed, rounded)
    fit = np.flatnonzero(steps.fit[pairs.a] & steps.fit[pairs.b]).tolist()
    resolved: dict[int, Recentred] = {}
    if fit:
        differences = _Differences(pairs[np.array(fit)], scores, alternative)
        at = 0
        for found in screened(rounded, differences.question(steps, rank), execution):
            part = slice(at, at + len(found.resolved))
            ours = itertools.compress(fit[part], found.resolved)
            resolved |= zip(ours, differences.settled(found, part, rank), strict=True)
            at = part.stop
    rest = [n for n in range(len(pairs)) if n not in resolved]
    groups = [rest[at:at + _AT_ONCE] for at in range(0, len(rest), _AT_ONCE)]
    sorted_ = execution.here.map(lambda group: [_sorted(pairs[n], scores, alternative, rank) for n in group], groups,
                                 "groups of pairs to sort")
    for group, of_group in zip(groups, sorted_, strict=True):
        resolved |= zip(group, of_group, strict=True)
    return [resolved[n] for n in range(len(pairs))]


def by_sorting(extremities: Floats, bar: float, tolerance: float, rank: int) -> Recentred:
    """Count and rank the recentred extremities of one pair in all resamples, [resamples], by sorting them."""
    undefined = np.isnan(extremities)
    moves = bool((np.abs(extremities) > tolerance).any())  # nan compares as false
    in_order = np.sort(np.where(undefined, np.inf, extremities))
    extremes = len(in_order) - int(np.searchsorted(in_order, bar - tolerance))
    return Recentred(extremes, float(in_order[-rank]) if rank else math.inf, int(undefined.sum()), moves)


def _sorted(o: Observed, scores: Floats, alternative: Alternative, rank: int) -> Recentred:
    moved = o.matrix.difference(*(scores[system] for system in o.pair)) - o.difference
    return by_sorting(extremity(moved, alternative), extremity(o.difference, alternative), tolerance(o), rank)


@dataclass(frozen=True, eq=False)
class Steps:
    """The rounding of scores in resamples: their distances from the observed ones in whole steps.

    Attributes:
        size: The size of a step, the same for all systems.
        fit: Which systems can be rounded, [systems]: not those with undefined or very distant scores.
        error: The largest error of a distance in float64, [systems].
    """

    size: float
    fit: Flags
    error: Floats

    @classmethod
    def of(cls, scores: Floats, observed: Floats, rounded: Shorts) -> Steps:
        """Round scores into `rounded`, a system at a time."""
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.fmax(scores.max(axis=1) - observed, observed - scores.min(axis=1))
        finite = np.isfinite(largest)
        fit = finite & (largest <= _FAR * np.median(largest[finite]) if finite.any() else finite)
        size = float(largest[fit].max(initial=0)) / STEPS or 1.0
        apart = np.empty(scores.shape[1])  # memory that is not asked for anew
        for n in np.flatnonzero(fit):
            np.subtract(scores[n], observed[n], out=apart)
            np.divide(apart, size, out=apart)
            np.rint(apart, out=rounded[n], casting="unsafe")
        return cls(size, fit, _ERROR * (largest + np.abs(observed)))


class _Differences:
    """The differences of some pairs: rounded, and in float64 where that does not suffice."""

    def __init__(self, pairs: ObservedPairs, scores: Floats, alternative: Alternative) -> None:
        self.matrix, self.scores, self.alternative = pairs.matrix, scores, alternative
        self.a, self.b, self.observed = pairs.a, pairs.b, pairs.difference
        self.tolerances = tolerances(pairs.matrix, pairs.a, pairs.b)
        self.bars = extremity(self.observed, alternative) - self.tolerances

    def question(self, steps: Steps, rank: int) -> Question:
        """What to find out in steps; each score is rounded by up to half a step."""
        slack = (steps.size * (1 + 2.0**-20) + steps.error[self.a] + steps.error[self.b]
                 + _ERROR * np.abs(self.observed))
        turned = (self.alternative == "less") != self.matrix.lower_is_better
        return Question(
            np.stack([self.b, self.a] if turned else [self.a, self.b], axis=1), self.alternative == "two-sided",
            _whole((self.bars - slack) // steps.size), _whole(-((-self.bars - slack) // steps.size)),
            _whole((self.tolerances + slack) // steps.size), _whole(np.ceil(2 * slack / steps.size)), rank)

    def settled(self, found: Screened, part: slice, rank: int) -> list[Recentred]:
        """Count and rank the resolved pairs of a part, with exact values of the doubtful resamples."""
        pair, values = self._exact(found.doubtful, part)
        extremes = found.extremes + np.bincount(pair[values >= self.bars[part][pair]], minlength=len(found.resolved))
        reach = np.full(len(found.resolved), np.inf)
        if rank:
            pair, values = self._exact(found.ranked, part)
            by_value = np.argsort(values)
            pairs = pair[by_value].astype(np.min_scalar_type(len(reach)))  # 16 bits are sorted by counting
            in_order = values[by_value[np.argsort(pairs, kind="stable")]]
            ends = np.cumsum(found.ranked.sizes)
            reach[found.resolved] = in_order[(ends + found.place)[found.resolved]]
        return list(map(Recentred, extremes[found.resolved].tolist(), reach[found.resolved].tolist()))

    def _exact(self, some: Some, part: slice) -> tuple[Ints, Floats]:
        """The pair, counted within the part, and the exact extremity of some resamples."""
        pair = np.repeat(np.arange(len(some.sizes)), some.sizes)
        a, b = (self.scores[systems[part][pair], some.places] for systems in (self.a, self.b))
        return pair, extremity(self.matrix.difference(a, b) - self.observed[part][pair], self.alternative)


def _whole(steps: Floats) -> Ints:
    """Whole steps, limited to 16 bits."""
    return np.clip(steps, LEAST, MOST).astype(np.int64)
