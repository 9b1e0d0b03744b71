"""How often the recentred differences of pairs of systems reach those that were observed, and how far they reach.

A million resamples of hundreds of pairs are looked at in parts, several pairs at once. An exact quantile of all of
them needs few to be kept: those near where the first ones say that it lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Alternative, Observed, Pair, extremity
from registry.significance.matrix import Floats
from registry.significance.permutation import TOLERANCE

Flags = NDArray[np.bool_]

_TILE = 4  # systems with as many others: each part of a score is read once for several pairs
_PART = 2**15  # resamples at a time: threads get long work, as each of its steps waits for the others' Python
_TELLING = 2**10  # resamples, at least, that tell where a quantile lies: more of them where there are many to keep


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


def recentred(pairs: Sequence[Observed], scores: Floats, alternative: Alternative, rank: int) -> list[Recentred]:
    """Look at the differences of pairs, of one matrix, in all resamples.

    Args:
        pairs: Some pairs.
        scores: Of every system, [systems, resamples].
        alternative: What is extreme.
        rank: That of the extremity asked for, from above.
    """
    room = _Room()
    found: dict[Pair, Recentred] = {}
    for _, tile in groupby(sorted(pairs, key=tile_of), key=tile_of):
        found |= _tile(list(tile), scores, alternative, rank, room)
    return [found[o.pair] for o in pairs]


def tile_of(o: Observed) -> tuple[int, int]:
    """The tile that a pair is in: those of a few systems with a few others."""
    return o.pair[0] // _TILE, o.pair[1] // _TILE


class _Room:
    """Room for a tile and a part of the resamples, taken once: fresh memory costs more than what is done in it."""

    def __init__(self) -> None:
        self.values = np.empty(_TILE**2 * _PART)
        self.flags = np.empty((2, _TILE**2 * _PART), dtype=bool)


def _tile(pairs: Sequence[Observed], scores: Floats, alternative: Alternative, rank: int,
          room: _Room) -> dict[Pair, Recentred]:
    """Look at every first system with every second one: what no pair asks for is soon computed, and left."""
    matrix, resamples = pairs[0].matrix, scores.shape[1]
    firsts, seconds = (sorted({o.pair[side] for o in pairs}) for side in (0, 1))
    rows = [firsts.index(o.pair[0]) * len(seconds) + seconds.index(o.pair[1]) for o in pairs]
    n = len(firsts) * len(seconds)
    differences, tolerances = np.zeros((2, n, 1))
    differences[rows, 0], tolerances[rows, 0] = [o.difference for o in pairs], [tolerance(o) for o in pairs]
    bars = extremity(differences, alternative) - tolerances
    extremes, undefined, moves = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    ranked = _Ranked(rank, resamples, n)
    for at in range(0, resamples, _PART):
        part = slice(at, min(at + _PART, resamples))
        size = n * (part.stop - at)
        values, (flags, more) = room.values[:size].reshape(n, -1), room.flags[:, :size].reshape(2, n, -1)
        sides = scores[firsts, part][:, None], scores[seconds, part][None]
        np.subtract(*(sides[::-1] if matrix.lower_is_better else sides),
                    out=values.reshape(len(firsts), len(seconds), -1))
        values -= differences
        for some in (values[:, :_TELLING], values):  # most differences move at once
            if not moves.all():
                moves |= (np.abs(some) > tolerances).any(axis=1)  # nan compares as false
        _turn(values, alternative)
        if math.isnan(values.max()):
            lacking = np.isnan(values)
            undefined += lacking.sum(axis=1)
            values[lacking] = np.inf
        extremes += _counts(np.greater_equal(values, bars, out=flags))
        ranked.see(values, flags, more)
    return {o.pair: Recentred(int(extremes[row]), int(undefined[row]), bool(moves[row]),
                              _reach(o, scores, alternative, ranked, row)) for o, row in zip(pairs, rows, strict=True)}


def tolerance(o: Observed) -> float:
    """How much two differences of a pair that are equal on paper may differ."""
    return TOLERANCE * float(np.abs(o.matrix.observed[list(o.pair)]).max())


def _turn(differences: Floats, alternative: Alternative) -> None:
    """Make differences extremities (`extremity`), where they are."""
    if alternative == "two-sided":
        np.abs(differences, out=differences)
    elif alternative == "less":
        np.negative(differences, out=differences)


def _counts(flags: Flags) -> list[int]:
    return [int(np.count_nonzero(row)) for row in flags]  # several times faster than along an axis


def _reach(o: Observed, scores: Floats, alternative: Alternative, ranked: _Ranked, row: int) -> float:
    reach = ranked.value(row)
    if reach is None:  # the first ones misled: look at all of them
        a, b = (scores[system] for system in o.pair)
        everything = np.sort(extremity(o.matrix.gain(a, b) - o.difference, alternative))  # nan last
        reach = float(everything[-ranked.rank])
    return math.inf if math.isnan(reach) else reach


class _Ranked:
    """Finds the values of a rank from above, row by row, among values that are seen in parts, keeping few of them."""

    def __init__(self, rank: int, columns: int, rows: int) -> None:
        self.rank, self.share, self.telling = rank, rank / columns, max(_TELLING, columns // 128)
        self.low, self.high = np.full((rows, 1), -math.inf), np.full((rows, 1), math.inf)
        self.above, self.kept = np.zeros(rows, dtype=np.int64), [list[Floats]() for _ in range(rows)]

    def see(self, values: Floats, above: Flags, within: Flags) -> None:
        """Count what is above the bounds and keep what is within; the first values tell the bounds.

        Args:
            values: [rows, some columns].
            above: Room of that shape.
            within: The same.
        """
        if self.rank < 1:
            return
        if not any(self.kept):
            self._bound(values[:, :self.telling])
        self.above += _counts(np.greater(values, self.high, out=above))
        np.greater_equal(values, self.low, out=within)
        within ^= above
        places = np.flatnonzero(within)
        ends = np.searchsorted(places, values.shape[1] * np.arange(1, len(values)))
        for kept, found in zip(self.kept, np.split(values.take(places), ends), strict=True):
            kept.append(found)

    def value(self, row: int) -> float | None:
        """The value of that rank, infinite for rank 0; None where it is not among those kept."""
        if self.rank < 1:
            return math.inf
        kept, rank = np.concatenate(self.kept[row]), self.rank - int(self.above[row])
        if not 0 < rank <= len(kept):
            return None
        return float(np.partition(kept, len(kept) - rank)[len(kept) - rank])

    def _bound(self, values: Floats) -> None:
        """Bound the value by those four and a half standard errors of its rank away from it in a sample."""
        n = values.shape[1]
        error = 4.5 * math.sqrt(n * self.share * (1 - self.share)) + 5
        low, high = n - math.ceil(n * self.share + error), n - math.floor(n * self.share - error)
        places = [place for place in (low, high) if 0 <= place < n]
        parted = np.partition(values, places, axis=1) if places else values
        if low >= 0:
            self.low = parted[:, low, None].copy()
        if high < n:
            self.high = parted[:, high, None].copy()
