"""How often the recentred differences of pairs of systems reach those that were observed, and how far they reach.

A million resamples of hundreds of pairs are looked at in parts, several pairs at once. An exact quantile of all of
them needs few to be kept: those near where the first ones say that it lies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.significance.base import Alternative, Observed, extremity
from registry.significance.matrix import Floats
from registry.significance.permutation import TOLERANCE

TILE = 4  # pairs of this many systems with as many others are looked at together: each part of a score is read once
_PART = 2**15  # resamples at a time: threads get long work, as each step of it has to wait for the others' Python
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


def recentred(pairs: Sequence[Observed], scores: Mapping[int, Floats], alternative: Alternative,
              rank: int) -> list[Recentred]:
    """Look at the differences of pairs, of one matrix, in all resamples.

    Args:
        pairs: Some pairs, best of few systems.
        scores: Of every system, [resamples].
        alternative: What is extreme.
        rank: That of the extremity asked for, from above.
    """
    matrix, resamples = pairs[0].matrix, len(scores[pairs[0].pair[0]])
    differences, tolerances = (np.array([[of(o)] for o in pairs]) for of in (lambda o: o.difference, tolerance))
    bars = extremity(differences, alternative) - tolerances
    extremes, undefined = np.zeros((2, len(pairs)), dtype=np.int64)
    moves = np.zeros(len(pairs), dtype=bool)
    ranked = _Ranked(rank, resamples, len(pairs))
    room, flags = np.empty((len(pairs), _PART)), np.empty((len(pairs), _PART), dtype=bool)
    for at in range(0, resamples, _PART):
        part = slice(at, min(at + _PART, resamples))
        values, reached = room[:, :part.stop - at], flags[:, :part.stop - at]
        for row, o in zip(values, pairs, strict=True):
            a, b = (scores[system][part] for system in o.pair)
            np.subtract(*((b, a) if matrix.lower_is_better else (a, b)), out=row)
        values -= differences
        if not moves.all():
            moves |= (np.abs(values) > tolerances).any(axis=1)  # nan compares as false
        _turn(values, alternative)
        if math.isnan(values.max()):
            lacking = np.isnan(values)
            undefined += lacking.sum(axis=1)
            values[lacking] = np.inf
        extremes += _counts(np.greater_equal(values, bars, out=reached))
        ranked.see(values, reached)
    return [Recentred(int(extremes[n]), int(undefined[n]), bool(moves[n]), _reach(o, scores, alternative, ranked, n))
            for n, o in enumerate(pairs)]


def tolerance(o: Observed) -> float:
    """How much two differences of a pair that are equal on paper may differ."""
    return TOLERANCE * float(np.abs(o.matrix.observed[list(o.pair)]).max())


def _turn(differences: Floats, alternative: Alternative) -> None:
    """Make differences extremities (`extremity`), where they are."""
    if alternative == "two-sided":
        np.abs(differences, out=differences)
    elif alternative == "less":
        np.negative(differences, out=differences)


def _counts(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[int]:
    return [int(np.count_nonzero(row)) for row in flags]  # several times faster than along an axis


def _reach(o: Observed, scores: Mapping[int, Floats], alternative: Alternative, ranked: _Ranked, n: int) -> float:
    reach = ranked.value(n)
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

    def see(self, values: Floats, flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> None:
        """Count what is above the bounds and keep what is within; the first values tell the bounds.

        Args:
            values: [rows, some columns].
            flags: Room of that shape.
        """
        if self.rank < 1:
            return
        if not any(self.kept):
            self._bound(values[:, :self.telling])
        self.above += _counts(np.greater(values, self.high, out=flags))
        within = np.flatnonzero((values >= self.low) ^ flags)
        rows = np.searchsorted(within, values.shape[1] * np.arange(1, len(values)))
        for kept, found in zip(self.kept, np.split(values.take(within), rows), strict=True):
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
