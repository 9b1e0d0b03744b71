"""What the resamples of pairs of systems tell in whole steps of 16 bits, and which of them must be looked at again.

The differences of two systems are counted and ranked as whole numbers. Those that rounding may have put on the wrong
side of a bar are in doubt, and so are those near the value of a rank: few of 100,000. What 16 bits hold stays in a
processor's cache, which the float64 scores do not. Only numbers go in and come out, so other processes can do it.
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

from registry.parallel.execution import Execution, ahead, told
from registry.parallel.processes import processes
from registry.parallel.scratch_files import scratch

Shorts = NDArray[np.int16]
Places = NDArray[np.int32]
Whole = NDArray[np.int64]

ENOUGH = 2**29  # differences from which on further processes are worth their start
_AT_ONCE = 2**26  # differences of one task
LEAST, MOST = -2**15, 2**15 - 1  # that 16 bits hold
_TELLING = 2**10  # resamples, at least, that tell where a quantile lies: more of them where there are many


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the differences of systems in steps.

    Attributes:
        pairs: In each the system whose scores count, and the one whose scores are taken away, [pairs, 2].
        absolute: Whether differences count by their size.
        low, high: Below `low` a difference is not extreme, above `high` it is, and between them in doubt, [pairs].
        still: Differences that are not above may be none, [pairs].
        near: How far at most the rounded value of a rank is from the value itself, [pairs].
        rank: From above, of the value that is asked for; 0: none is.
    """

    pairs: Whole
    absolute: bool
    low: Whole
    high: Whole
    still: Whole
    near: Whole
    rank: int

    def parts(self, resamples: int) -> list[Question]:
        """Divide it into tasks, whose pairs come one after the other."""
        many = max(1, _AT_ONCE // resamples)
        return [Question(self.pairs[at:at + many], self.absolute, self.low[at:at + many], self.high[at:at + many],
                         self.still[at:at + many], self.near[at:at + many], self.rank)
                for at in range(0, len(self.pairs), many)]


class Some(NamedTuple):
    """Some resamples of each pair: `places` of all of them, `sizes` of each."""

    places: Places
    sizes: Whole

    @classmethod
    def of(cls, parts: Sequence[Places]) -> Some:
        """Those of each pair, one after the other."""
        return cls(np.concatenate(parts), np.array([len(part) for part in parts]))


class Screened(NamedTuple):
    """What steps tell of some pairs.

    Attributes:
        told: Whether they tell enough, [pairs]; where not, nothing else is said.
        extremes: How many differences are extreme for sure, [pairs].
        doubtful: The resamples in doubt.
        ranked: Resamples, one of which has the value of the rank.
        place: Where it is among them, in the order of their values, from the end, [pairs].
    """

    told: NDArray[np.bool_]
    extremes: Whole
    doubtful: Some
    ranked: Some
    place: Whole


def screened(rounded: Shorts, question: Question, execution: Execution) -> Iterator[Screened]:
    """Answer a question, by other processes where there is enough to do; part by part.

    Args:
        rounded: The scores of systems in steps, [systems, resamples]; differences of two must fit into 16 bits.
        question: What is asked.
        execution: How many processes, and whether there may be any.
    """
    parts = question.parts(rounded.shape[1])
    workers = min(execution.threads, len(parts)) if execution.processes else 1
    many = len(question.pairs) * rounded.shape[1] >= ENOUGH and rounded.nbytes <= execution.memory // 4
    done = "parts of the pairs to look at"
    if workers < 2 or not many or sys.platform == "win32":  # whose processes cannot be given a file without a name
        yield from told((_answer(rounded, part) for part in parts), len(parts), done, execution.progress)
        return
    with scratch(rounded.nbytes, "give --workers 1") as file:
        memory = Arena(rounded.nbytes, file.fileno())
        _shared(memory, rounded.shape)[:] = rounded
        with processes(workers, _begin, memory, rounded.shape) as pool:
            answers = ahead(lambda part: pool.submit(_work, part), parts, 2 * workers)
            yield from told(answers, len(parts), done, execution.progress)


_given: list[Shorts] = []  # of a process that screens: what it was given at its start


def _begin(memory: Arena, shape: tuple[int, int]) -> None:
    _given[:] = [_shared(memory, shape)]


def _work(part: Question) -> Screened:
    return _answer(_given[0], part)


def _shared(memory: Arena, shape: tuple[int, int]) -> Shorts:
    return np.frombuffer(memory.buffer, np.int16).reshape(shape)


def _answer(rounded: Shorts, question: Question) -> Screened:
    room = _Room(rounded.shape[1], question.absolute, question.rank)
    asked = zip(*(numbers.tolist() for numbers in (question.pairs, question.low, question.high, question.still,
                                                   question.near)), strict=True)
    found = [room.screen(rounded[a], rounded[b], *of_pair) for (a, b), *of_pair in asked]
    nothing = _Pair(0, np.empty(0, np.int32), np.empty(0, np.int32), 0)
    extremes, doubtful, ranked, place = zip(*(pair or nothing for pair in found), strict=True)
    return Screened(np.array([pair is not None for pair in found]), np.array(extremes), Some.of(doubtful),
                    Some.of(ranked), np.array(place))


class _Pair(NamedTuple):
    """What steps tell of one pair, as `Screened` says."""

    extremes: int
    doubtful: Places
    ranked: Places
    place: int


class _Room:
    """Memory for the differences of one pair and for what is told of them: fresh memory costs more than its use."""

    def __init__(self, resamples: int, absolute: bool, rank: int) -> None:
        self.absolute, self.rank = absolute, rank
        self.values, self.moved = np.empty((2, resamples), np.int16)
        self.within, self.more = np.empty((2, resamples), dtype=bool)

    def screen(self, a: Shorts, b: Shorts, low: int, high: int, still: int, near: int) -> _Pair | None:
        values = np.subtract(a, b, out=self.values)
        if self.absolute:
            np.abs(values, out=values)
        sample = values[:max(_TELLING, len(values) // 8)]
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
        """Tell and count the values above so many steps."""
        return int(np.count_nonzero(np.greater(self.values, step, out=self.more)))

    def _window(self, sample: Shorts, near: int) -> _Window:
        """Bound the value of the rank, and tell which values are there.

        The sample's own one is a guess, and the number of all values above it says how far off that is. The bounds
        allow for the sample's error: few of a thousand pairs' lie outside.
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
    """Where the value of a rank lies, in steps, with the number of values above a guess."""

    low: int
    high: int
    guess: int
    above: int

    def look(self, places: Places, values: Shorts, rank: int, near: int) -> tuple[Places, int] | None:
        """The resamples that may have the value: it is as near its rounded one as any is to what it stands for."""
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
