"""Count and rank the differences of pairs in resamples by scores that are rounded to 16 bits.

Differences that rounding may have put on the wrong side of a bar are returned as doubtful, and so are those near the
value of a rank: few of 100,000, which are computed again in float64. Numbers of 16 bits stay in a processor's cache.
The work can be done by other processes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.heap import Arena
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.parallel.execution import Execution, ahead, with_progress
from registry.parallel.processes import processes
from registry.parallel.scratch_files import scratch

Shorts = NDArray[np.int16]
Places = NDArray[np.int32]
Whole = NDArray[np.int64]

ENOUGH = 2**29  # differences from which on further processes are worth their start
_AT_ONCE = 2**26  # differences of one task
LEAST, MOST = -2**15, 2**15 - 1  # that 16 bits hold
_SAMPLE = 2**10  # resamples, at least, by which a quantile is estimated


@dataclass(frozen=True, eq=False)
class Question:
    """What to find out about rounded differences, which are counted in steps.

    Attributes:
        pairs: The system whose scores are taken and the one whose scores are subtracted, [pairs, 2].
        absolute: Whether the size of a difference counts, whatever its sign.
        low, high: A difference below `low` is not extreme, one above `high` is, others are doubtful, [pairs].
        still: Differences up to this may be 0, [pairs].
        near: The largest rounding error of the value of a rank, [pairs].
        rank: Rank, from the largest, of the value that is wanted; 0: none.
    """

    pairs: Whole
    absolute: bool
    low: Whole
    high: Whole
    still: Whole
    near: Whole
    rank: int

    def parts(self, resamples: int) -> list[Question]:
        """Divide the pairs into consecutive parts."""
        many = max(1, _AT_ONCE // resamples)
        return [Question(self.pairs[at:at + many], self.absolute, self.low[at:at + many], self.high[at:at + many],
                         self.still[at:at + many], self.near[at:at + many], self.rank)
                for at in range(0, len(self.pairs), many)]


class Some(NamedTuple):
    """Some resamples of each pair: the `places` of all pairs, one after the other, and how many each pair has."""

    places: Places
    sizes: Whole

    @classmethod
    def of(cls, parts: Sequence[Places]) -> Some:
        """Join the places of each pair."""
        return cls(np.concatenate(parts), np.array([len(part) for part in parts]))


class Screened(NamedTuple):
    """What rounded differences show of some pairs.

    Attributes:
        resolved: Whether they suffice, [pairs]; where not, the rest is empty.
        extremes: How many differences are surely extreme, [pairs].
        doubtful: The resamples that may be extreme.
        ranked: Resamples, one of which has the value of the rank.
        place: Its place among them by value, counted from the end, [pairs].
    """

    resolved: NDArray[np.bool_]
    extremes: Whole
    doubtful: Some
    ranked: Some
    place: Whole


def screened(rounded: Shorts, question: Question, execution: Execution) -> Iterator[Screened]:
    """Screen the pairs of a question part by part, by other processes where there is enough to do.

    Args:
        rounded: Scores in steps, [systems, resamples]; differences of two must fit into 16 bits.
        question: What to find out.
        execution: Whether there may be other processes, and how many.
    """
    parts = question.parts(rounded.shape[1])
    workers = min(execution.threads, len(parts)) if execution.processes else 1
    many = len(question.pairs) * rounded.shape[1] >= ENOUGH and rounded.nbytes <= execution.memory // 4
    done = "parts of the pairs to look at"
    if workers < 2 or not many or sys.platform == "win32":  # whose processes cannot be given a file without a name
        yield from with_progress((_answer(rounded, part) for part in parts), len(parts), done, execution.progress)
        return
    with scratch(rounded.nbytes, "give --workers 1") as file:
        memory = Arena(rounded.nbytes, file.fileno())
        _shared(memory, rounded.shape)[:] = rounded
        with processes(workers, _begin, memory, rounded.shape) as pool:
            answers = ahead(lambda part: pool.submit(_work, part), parts, 2 * workers)
            yield from with_progress(answers, len(parts), done, execution.progress)


_given: list[Shorts] = []  # what a screening process is given at its start


def _begin(memory: Arena, shape: tuple[int, int]) -> None:
    _given[:] = [_shared(memory, shape)]


def _work(part: Question) -> Screened:
    return _answer(_given[0], part)


def _shared(memory: Arena, shape: tuple[int, int]) -> Shorts:
    return np.frombuffer(memory.buffer, np.int16).reshape(shape)


def _answer(rounded: Shorts, question: Question) -> Screened:
    workspace = _Workspace(rounded.shape[1], question.absolute, question.rank)
    asked = zip(*(numbers.tolist() for numbers in (question.pairs, question.low, question.high, question.still,
                                                   question.near)), strict=True)
    found = [workspace.screen(rounded[a], rounded[b], *of_pair) for (a, b), *of_pair in asked]
    nothing = _Pair(0, np.empty(0, np.int32), np.empty(0, np.int32), 0)
    extremes, doubtful, ranked, place = zip(*(pair or nothing for pair in found), strict=True)
    return Screened(np.array([pair is not None for pair in found]), np.array(extremes), Some.of(doubtful),
                    Some.of(ranked), np.array(place))


class _Pair(NamedTuple):
    """One pair of `Screened`."""

    extremes: int
    doubtful: Places
    ranked: Places
    place: int


class _Workspace:
    """Memory that all pairs reuse: allocating it costs more than filling it."""

    def __init__(self, resamples: int, absolute: bool, rank: int) -> None:
        self.absolute, self.rank = absolute, rank
        self.values, self.moved = np.empty((2, resamples), np.int16)
        self.within, self.more = np.empty((2, resamples), dtype=bool)

    def screen(self, a: Shorts, b: Shorts, low: int, high: int, still: int, near: int) -> _Pair | None:
        values = np.subtract(a, b, out=self.values)
        if self.absolute:
            np.abs(values, out=values)
        sample = values[:max(_SAMPLE, len(values) // 8)]
        if int(sample.max()) <= still:
            return None
        extremes = self._above(high)
        np.greater_equal(values, low, out=self.within)
        self.within ^= self.more
        window = self._window(sample, near) if self.rank else None
        places = self.within.nonzero()[0].astype(np.int32)
        values = values[places]
        doubtful = places[(values >= low) & (values <= high)]
        if window is None:
            return _Pair(extremes, doubtful, doubtful[:0], 0)
        ranked = window.look(places, values, self.rank, near)
        return ranked and _Pair(extremes, doubtful, *ranked)

    def _above(self, step: int) -> int:
        """Mark and count the values above a step."""
        return int(np.count_nonzero(np.greater(self.values, step, out=self.more)))

    def _window(self, sample: Shorts, near: int) -> _Window:
        """Bound the value of the rank, and mark the values within the bounds.

        The sample's value of the rank is a guess, which the number of all values above it corrects. The bounds allow
        for the sample's error: in few of a thousand pairs the value lies outside.
        """
        n, size = len(sample), len(self.values)
        share = self.rank / size
        error = 3.5 * math.sqrt(n * share * (1 - share)) + 2
        least, most = n - math.ceil(n * share + error), n - math.floor(n * share - error)
        first, last = max(least, 0), min(most, n - 1)
        tail = np.partition(sample.astype(np.int32), first)[first:]  # 32 bits are sorted fastest
        tail.sort()
        guess = int(tail[min(max(n - round(n * share), 0), n - 1) - first])
        per_rank = float(tail[last - first] - tail[0]) / (max(1, last - first) * size / n)  # of one resample: 0
        above = self._above(guess)
        off = (above - self.rank) * per_rank
        spare = abs(off) / 2 + 3 * math.sqrt(abs(above - self.rank)) * per_rank + 2 * near + 2
        low = int(max(guess + min(off, 0) - spare, LEAST)) if least > 0 else LEAST
        high = int(min(guess + max(off, 0) + spare, MOST)) if most < n else MOST
        np.subtract(self.values, low, out=self.moved)  # unsigned, what is below wraps round to the largest
        self.within |= np.less_equal(self.moved.view(np.uint16), high - low, out=self.more)
        return _Window(low, high, guess, above)


class _Window(NamedTuple):
    """Bounds of the value of a rank, in steps, and the number of values above a guess."""

    low: int
    high: int
    guess: int
    above: int

    def look(self, places: Places, values: Shorts, rank: int, near: int) -> tuple[Places, int] | None:
        """The resamples that may have the value of the rank, which is within `near` of its rounded one."""
        inside = (values >= self.low) & (values <= self.high)
        places, values = places[inside], values[inside]
        rank += int(np.count_nonzero(values > self.guess)) - self.above
        if not 0 < rank <= len(values):
            return None
        rounded = int(np.partition(values, len(values) - rank)[len(values) - rank])
        if rounded - near < self.low or rounded + near > self.high:
            return None
        above = values > rounded + near
        return places[(values >= rounded - near) & ~above], int(np.count_nonzero(above)) - rank
