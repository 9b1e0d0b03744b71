"""How often the recentred differences of pairs of systems reach those that were observed, and how far they reach.

A million resamples of hundreds of pairs are screened in whole steps of 16 bits, whose error is bounded: of each pair
only the few resamples that they cannot tell are looked at again in float64. An exact quantile needs few of them as
well: those near where some of them and one count of all say that it lies. What screening cannot settle (undefined
scores, differences that hardly move) is sorted whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Alternative, Observed, extremity
from registry.significance.extremes import TOLERANCE
from registry.significance.matrix import Floats

Shorts = NDArray[np.int16]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

_TELLING = 2**10  # resamples, at least, that tell where a quantile lies: more of them where there are many
_STEPS = 2**14 - 1  # of the largest distance: differences of two fit into 16 bits
_FAR = 64  # times the middle distance of all systems: what is farther would make steps too coarse for the others
_ERROR = 2.0**-50  # of a difference in float64, relative to what it is made of: a few roundings of 2^-53


@dataclass(frozen=True, slots=True)
class Recentred:
    """What the resamples say of one pair.

    Attributes:
        extremes: In how many the recentred difference is at least as extreme as the observed one, undefined included.
        undefined: In how many it is undefined.
        moves: Whether the difference is not the same in every resample.
        reach: The `rank`-th largest extremity, undefined ones counting as infinite; infinite for rank 0.
    """

    extremes: int
    undefined: int
    moves: bool
    reach: float


@dataclass(frozen=True, eq=False)
class Resampled:
    """The scores of systems in resamples.

    Attributes:
        scores: [systems, resamples].
        rounded: How far they are from those observed, in whole steps, of the systems that are `screened`.
        step: Of all systems.
        screened: Which systems are rounded, [systems]: not those with a score that is undefined or very far away.
        error: How far at most a distance in float64 is from what it is on paper, [systems].
    """

    scores: Floats
    rounded: Shorts
    step: float
    screened: Flags
    error: Floats

    @classmethod
    def of(cls, scores: Floats, observed: Floats, room: Shorts) -> Resampled:
        """Round them into `room`, of their shape, a system at a time."""
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.fmax(scores.max(axis=1) - observed, observed - scores.min(axis=1))
        finite = np.isfinite(largest)
        screened = finite & (largest <= _FAR * np.median(largest[finite]) if finite.any() else finite)
        step = float(largest[screened].max(initial=0)) / _STEPS or 1.0
        for n in np.flatnonzero(screened):
            np.rint((scores[n] - observed[n]) / step, out=room[n], casting="unsafe")
        return cls(scores, room, step, screened, _ERROR * (largest + np.abs(observed)))

    def slack(self, o: Observed) -> float:
        """How far at most a difference of a pair in steps is from what it is in float64: half a step each."""
        a, b = o.pair
        return self.step * (1 + 2.0**-20) + float(self.error[a] + self.error[b]) + _ERROR * abs(o.difference)

    def extremities(self, o: Observed, alternative: Alternative, places: Places | slice = slice(None)) -> Floats:
        """How extreme the recentred differences of a pair are in some resamples or all, in float64."""
        a, b = o.pair
        return extremity(o.matrix.gain(self.scores[a][places], self.scores[b][places]) - o.difference, alternative)


def recentred(pairs: Sequence[Observed], resampled: Resampled, alternative: Alternative,
              rank: int) -> list[Recentred]:
    """Look at the differences of pairs, of one matrix, in all resamples.

    Args:
        pairs: Some pairs.
        resampled: Every system in the resamples.
        alternative: What is extreme.
        rank: That of the extremity asked for, from above.
    """
    size, screened = resampled.rounded.shape[1], resampled.screened.tolist()
    room = np.empty(size, np.int16), np.empty((3, size), dtype=bool)  # fresh memory costs more than its use
    found = []
    for o in pairs:
        a, b = o.pair
        told = _Screened(o, resampled, alternative, *room).settled(rank) if screened[a] and screened[b] else None
        found.append(told or _plainly(o, resampled, alternative, rank))
    return found


def tolerance(o: Observed) -> float:
    """How much two differences of a pair that are equal on paper may differ."""
    a, b = o.pair
    return TOLERANCE * max(abs(float(o.matrix.observed[a])), abs(float(o.matrix.observed[b])))


def _plainly(o: Observed, resampled: Resampled, alternative: Alternative, rank: int) -> Recentred:
    """Sort all resamples of a pair."""
    reached = resampled.extremities(o, alternative)
    undefined = np.isnan(reached)
    moves = bool((np.abs(reached) > tolerance(o)).any())  # nan compares as false
    reached[undefined] = np.inf
    reached.sort()
    extremes = len(reached) - int(np.searchsorted(reached, extremity(o.difference, alternative) - tolerance(o)))
    return Recentred(extremes, int(undefined.sum()), moves, float(reached[-rank]) if rank else math.inf)


class _Screened:
    """A pair of systems: what steps tell for sure, and where to look again.

    A window is the least and the greatest extremity, in steps, of values that are in doubt.
    """

    def __init__(self, o: Observed, resampled: Resampled, alternative: Alternative, values: Shorts,
                 flags: Flags) -> None:
        self.o, self.resampled, self.alternative = o, resampled, alternative
        self.slack, self.tolerance = resampled.slack(o), tolerance(o)
        self.values, (self.within, self.less, self.more) = values, flags
        a, b = (resampled.rounded[system] for system in o.pair)
        turned = (alternative == "less") != o.matrix.lower_is_better
        np.subtract(b if turned else a, a if turned else b, out=values)
        if alternative == "two-sided":
            np.abs(values, out=values)

    def settled(self, rank: int) -> Recentred | None:
        """What the resamples say of the pair, or None where screening does not tell."""
        o, step = self.o, self.resampled.step
        sample = self.values[:max(_TELLING, len(self.values) // 8)]
        if int(sample.max()) * step <= self.tolerance + self.slack:  # it may not move at all
            return None
        bar = extremity(o.difference, self.alternative) - self.tolerance
        low, high = _short((bar - self.slack) // step), _short(-((-bar - self.slack) // step))
        extremes = self._above(high)
        np.greater_equal(self.values, low, out=self.within)
        self.within ^= self.more
        ranked = self._around(sample, rank) if rank else None
        places = self.within.nonzero()[0]
        values = self.values[places]
        if ranked is None:
            reach = math.inf
        elif (found := self._reach(ranked, rank, places, values)) is None:
            return None
        else:
            reach = found
        doubtful = places[(values >= low) & (values <= high)]
        return Recentred(extremes + int(np.count_nonzero(self._exact(doubtful) >= bar)), 0, True, reach)

    def _above(self, step: int) -> int:
        """Tell and count the values above so many steps."""
        return int(np.count_nonzero(np.greater(self.values, step, out=self.more)))

    def _around(self, sample: Shorts, rank: int) -> _Ranked:
        """Bound the extremity of the rank, and tell which values are there.

        The sample's own one is a guess, and the number of all values above it says how far off that is. The bounds
        allow for the sample's error: few of a thousand pairs' lie outside.
        """
        n, size = len(sample), len(self.values)
        share = rank / size
        error = 3.5 * math.sqrt(n * share * (1 - share)) + 2
        least, most = n - math.ceil(n * share + error), n - math.floor(n * share - error)
        first, last = max(least, 0), min(most, n - 1)
        tail = np.partition(sample.astype(np.int32), first)[first:]  # 32 bits are sorted fastest
        tail.sort()
        guess = int(tail[min(max(n - round(n * share), 0), n - 1) - first])
        per_rank = float(tail[last - first] - tail[0]) / ((last - first) * size / n)
        above = self._above(guess)
        off = (above - rank) * per_rank
        spare = abs(off) / 2 + 3 * math.sqrt(abs(above - rank)) * per_rank + 4 * self.slack / self.resampled.step + 2
        low = _short(guess + min(off, 0) - spare if least > 0 else -math.inf)
        high = _short(guess + max(off, 0) + spare if most < n else math.inf)
        np.greater_equal(self.values, low, out=self.less)
        self.less ^= np.greater(self.values, high, out=self.more)
        self.within |= self.less
        return _Ranked(guess, above, low, high)

    def _reach(self, ranked: _Ranked, rank: int, places: Places, values: Shorts) -> float | None:
        """The extremity of the rank: it is as near its rounded one as any rounded value is near what it stands for."""
        inside = (values >= ranked.low) & (values <= ranked.high)
        places, values = places[inside], values[inside]
        rank += int(np.count_nonzero(values > ranked.guess)) - ranked.above
        if not 0 < rank <= len(values):
            return None
        rounded = int(np.partition(values, len(values) - rank)[len(values) - rank])
        near = math.ceil(2 * self.slack / self.resampled.step)
        if rounded - near < ranked.low or rounded + near > ranked.high:
            return None
        above = values > rounded + near
        exact = self._exact(places[(values >= rounded - near) & ~above])
        exact.sort()
        return float(exact[np.count_nonzero(above) - rank])

    def _exact(self, places: Places) -> Floats:
        return self.resampled.extremities(self.o, self.alternative, places)


class _Ranked(NamedTuple):
    """Where the extremity of a rank lies, in steps, with the number of values above a guess."""

    guess: int
    above: int
    low: int
    high: int


def _short(steps: float) -> int:
    """Steps; what 16 bits do not reach is as far as they do."""
    return int(min(max(steps, -2**15), 2**15 - 1))
