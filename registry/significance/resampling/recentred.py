"""How often the recentred differences of pairs of systems reach those that were observed, and how far they reach.

A million resamples of hundreds of pairs are screened in whole steps, whose error is bounded: of each pair only the few
resamples that steps cannot tell are looked at again in float64. What screening does not settle (undefined scores,
differences that hardly move) is sorted whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.parallel.execution import Execution
from registry.significance.base import Alternative, Observed, extremity
from registry.significance.matrix import Floats
from registry.significance.resampling.exceedances import tolerance
from registry.significance.resampling.screening import LEAST, MOST, Question, Screened, Shorts, Some, Whole, screened

_STEPS = 2**14 - 1  # of the largest distance: differences of two fit into 16 bits
_FAR = 64  # times the middle distance of all systems: what is farther would make steps too coarse for the others
_ERROR = 2.0**-50  # of a difference in float64, relative to what it is made of: a few roundings of 2^-53
_AT_ONCE = 64  # pairs that are sorted


@dataclass(frozen=True, slots=True)
class Recentred:
    """What the resamples say of one pair.

    Attributes:
        extremes: In how many the recentred difference is at least as extreme as the observed one, undefined included.
        reach: The `rank`-th largest extremity, undefined ones counting as infinite; infinite for rank 0.
        undefined: In how many the difference is undefined.
        moves: Whether it is not the same in every resample.
    """

    extremes: int
    reach: float
    undefined: int = 0
    moves: bool = True


def recentred(pairs: Sequence[Observed], scores: Floats, rounded: Shorts, alternative: Alternative, rank: int,
              execution: Execution) -> list[Recentred]:
    """Look at the differences of pairs, of one matrix, in all resamples.

    Args:
        pairs: Some pairs.
        scores: Of every system in the resamples, [systems, resamples].
        rounded: Room for as many steps.
        alternative: What is extreme.
        rank: That of the extremity asked for, from above.
        execution: Who looks.
    """
    steps = Steps.of(scores, pairs[0].matrix.observed, rounded)
    fit = [n for n, o in enumerate(pairs) if all(steps.fit[system] for system in o.pair)]
    told: dict[int, Recentred] = {}
    if fit:
        differences = _Differences([pairs[n] for n in fit], scores, alternative)
        at = 0
        for found in screened(rounded, differences.question(steps, rank), execution):
            part = slice(at, at + len(found.told))
            told |= zip(itertools.compress(fit[part], found.told), differences.settled(found, part, rank), strict=True)
            at = part.stop
    rest = [n for n in range(len(pairs)) if n not in told]
    groups = [rest[at:at + _AT_ONCE] for at in range(0, len(rest), _AT_ONCE)]
    sorted_ = execution.here.map(lambda group: [_sorted(pairs[n], scores, alternative, rank) for n in group], groups,
                                 "groups of pairs to sort")
    for group, of_group in zip(groups, sorted_, strict=True):
        told |= zip(group, of_group, strict=True)
    return [told[n] for n in range(len(pairs))]


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
    """How scores in resamples are rounded: how far they are from those observed, in whole steps.

    Attributes:
        size: Of a step, the same for all systems.
        fit: Which systems are rounded, [systems]: not those with a score that is undefined or very far away.
        error: How far at most a distance in float64 is from what it is on paper, [systems].
    """

    size: float
    fit: NDArray[np.bool_]
    error: Floats

    @classmethod
    def of(cls, scores: Floats, observed: Floats, rounded: Shorts) -> Steps:
        """Round them into `rounded`, of their shape, a system at a time."""
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.fmax(scores.max(axis=1) - observed, observed - scores.min(axis=1))
        finite = np.isfinite(largest)
        fit = finite & (largest <= _FAR * np.median(largest[finite]) if finite.any() else finite)
        size = float(largest[fit].max(initial=0)) / _STEPS or 1.0
        for n in np.flatnonzero(fit):
            np.rint((scores[n] - observed[n]) / size, out=rounded[n], casting="unsafe")
        return cls(size, fit, _ERROR * (largest + np.abs(observed)))


class _Differences:
    """The differences of some pairs: as steps tell them, and in float64 where those do not."""

    def __init__(self, pairs: Sequence[Observed], scores: Floats, alternative: Alternative) -> None:
        self.matrix, self.scores, self.alternative = pairs[0].matrix, scores, alternative
        self.a, self.b = np.array([o.pair for o in pairs]).T
        self.observed = np.array([o.difference for o in pairs])
        self.tolerances = np.array([tolerance(o) for o in pairs])
        self.bars = extremity(self.observed, alternative) - self.tolerances

    def question(self, steps: Steps, rank: int) -> Question:
        """What steps are to tell: half a step is lost of either score."""
        slack = (steps.size * (1 + 2.0**-20) + steps.error[self.a] + steps.error[self.b]
                 + _ERROR * np.abs(self.observed))
        turned = (self.alternative == "less") != self.matrix.lower_is_better
        return Question(
            np.stack([self.b, self.a] if turned else [self.a, self.b], axis=1), self.alternative == "two-sided",
            _whole((self.bars - slack) // steps.size), _whole(-((-self.bars - slack) // steps.size)),
            _whole((self.tolerances + slack) // steps.size), _whole(np.ceil(2 * slack / steps.size)), rank)

    def settled(self, found: Screened, part: slice, rank: int) -> list[Recentred]:
        """What the resamples say of those pairs of a part that are told, by exact values where steps leave doubt."""
        pair, values = self._exact(found.doubtful, part)
        extremes = found.extremes + np.bincount(pair[values >= self.bars[part][pair]], minlength=len(found.told))
        reach = np.full(len(found.told), np.inf)
        if rank:
            pair, values = self._exact(found.ranked, part)
            in_order = values[np.lexsort((values, pair))]
            ends = np.cumsum(found.ranked.sizes)
            reach[found.told] = in_order[(ends + found.place)[found.told]]
        return list(map(Recentred, extremes[found.told].tolist(), reach[found.told].tolist()))

    def _exact(self, some: Some, part: slice) -> tuple[Whole, Floats]:
        """Of some resamples the pair, counted in the part, and how extreme its difference is."""
        pair = np.repeat(np.arange(len(some.sizes)), some.sizes)
        a, b = (self.scores[systems[part][pair], some.places] for systems in (self.a, self.b))
        return pair, extremity(self.matrix.difference(a, b) - self.observed[part][pair], self.alternative)


def _whole(steps: Floats) -> Whole:
    """Whole steps; what 16 bits do not reach is as far as they do."""
    return np.clip(steps, LEAST, MOST).astype(np.int64)
