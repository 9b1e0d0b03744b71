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

from registry.arrays import Flags, Ints
from registry.parallel.execution import Execution, with_progress
from registry.parallel.ordered import ahead
from registry.parallel.processes import processes
from registry.parallel.scratch_files import scratch
from registry.significance.resampling.compiled_loops import loops
from registry.significance.resampling.plain_loops import Loops, Places, Shorts, Window

ENOUGH = 2**29  # differences from which on further processes are worth their start
_AT_ONCE = 2**26  # differences of one task
LEAST, MOST = -2**15, 2**15 - 1  # that 16 bits hold
STEPS = 2**14 - 1  # of the largest score: differences of two fit into 16 bits
_SAMPLE = 2**10  # resamples, at least, by which a quantile is estimated
_BIN_BITS = 11  # of the number of bins that these are counted in, at most


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

    pairs: Ints
    absolute: bool
    low: Ints
    high: Ints
    still: Ints
    near: Ints
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
    sizes: Ints

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

    resolved: Flags
    extremes: Ints
    doubtful: Some
    ranked: Some
    place: Ints


def screened(rounded: Shorts, question: Question, execution: Execution) -> Iterator[Screened]:
    """Screen the pairs of a question part by part, by other processes where there is enough to do.

    Args:
        rounded: Scores in steps, [systems, resamples]; differences of two must fit into 16 bits.
        question: What to find out.
        execution: Whether there may be other processes, and how many.
    """
    parts = question.parts(rounded.shape[1])
    workers = min(execution.threads, len(parts)) if execution.processes else 1
    differences = len(question.pairs) * rounded.shape[1]
    many = differences >= ENOUGH and rounded.nbytes <= execution.memory // 4
    done = "parts of the pairs to look at"
    if workers < 2 or not many or sys.platform == "win32":  # whose processes cannot be given a file without a name
        alone = (_answer(rounded, part, differences) for part in parts)
        yield from with_progress(alone, len(parts), done, execution.progress)
        return
    with scratch(rounded.nbytes, "give --workers 1") as file:
        memory = Arena(rounded.nbytes, file.fileno())
        _shared(memory, rounded.shape)[:] = rounded
        with processes(workers, _begin, memory, rounded.shape, differences / workers) as pool:
            answers = ahead(lambda part: pool.submit(_work, part), parts, 2 * workers)
            yield from with_progress(answers, len(parts), done, execution.progress)


_given: list[tuple[Shorts, float]] = []  # what a screening process is given at its start: scores, and how much to do


def _begin(memory: Arena, shape: tuple[int, int], many: float) -> None:
    _given[:] = [(_shared(memory, shape), many)]


def _work(part: Question) -> Screened:
    (rounded, many), = _given
    return _answer(rounded, part, many)


def _shared(memory: Arena, shape: tuple[int, int]) -> Shorts:
    return np.frombuffer(memory.buffer, np.int16).reshape(shape)


def _answer(rounded: Shorts, question: Question, many: float) -> Screened:
    workspace = _Workspace(rounded.shape[1], question.absolute, question.rank, loops(many))
    asked = zip(*(numbers.tolist() for numbers in (question.pairs, question.low, question.high, question.still,
                                                   question.near)), strict=True)
    found = [workspace.screen(rounded[a], rounded[b], *of_pair) for (a, b), *of_pair in asked]
    nothing = 0, np.empty(0, np.int32), np.empty(0, np.int32), 0
    extremes, doubtful, ranked, place = zip(*(pair or nothing for pair in found), strict=True)
    return Screened(np.array([pair is not None for pair in found]), np.array(extremes), Some.of(doubtful),
                    Some.of(ranked), np.array(place))


class _Workspace:
    """Memory that all pairs reuse: allocating it costs more than filling it."""

    def __init__(self, resamples: int, absolute: bool, rank: int, loops: Loops) -> None:
        self.absolute, self.rank, self.loops = absolute, rank, loops
        self.values, self.places = np.empty(resamples, np.int16), np.empty(resamples, np.int32)

    def screen(self, a: Shorts, b: Shorts, low: int, high: int, still: int,
               near: int) -> tuple[int, Places, Places, int] | None:
        """One pair of `Screened`: its extremes, doubtful and ranked ones, and place; None where it is not resolved."""
        largest = self.loops.distances(a, b, self.absolute, self.values)
        if largest <= still:
            return None
        doubt = low, high
        window = self._window(largest, near) if self.rank else doubt
        extremes, above, n = self.loops.between(self.values, doubt, window, self.places)
        places = self.places[:n].copy()
        if not self.rank:
            return extremes, places, places[:0], 0
        values = self.values.take(places)
        ranked = self._of_rank(near, window, above, places, values)
        return ranked and (extremes, places[(values >= low) ^ (values > high)], *ranked)

    def _window(self, largest: int, near: int) -> Window:
        """Bound the value of the rank by the values of a sample, the first resamples; in one of 10,000 it lies outside.

        How many of all resamples are above a value near to it tells how far from that the rank is.
        """
        sample = self.values[:max(_SAMPLE, len(self.values) // 8)]
        least = 0 if self.absolute else -largest  # what is less is counted as this
        bits = max(0, (largest - least).bit_length() - _BIN_BITS)
        above = self.loops.above(sample, least, largest, bits)
        share = len(sample) / len(self.values)

        def from_(rank: float) -> int:
            """Where the last bin begins from which on there are at least so many values of the sample."""
            return least + (max(0, len(above) - 1 - int(above.searchsorted(math.ceil(rank)))) << bits)

        middle = from_(share * self.rank)
        beyond = int(above[len(above) - 1 - ((middle - least) >> bits)])
        apart = share * (self.loops.reaching(self.values, middle) - self.rank)
        error = 4 * math.sqrt(abs(apart) * (1 - share)) + 2
        low, fewest = from_(beyond - apart + error), beyond - apart - error
        high = from_(fewest) + (1 << bits) - 1 if fewest > 0 else MOST
        return max(low - near, LEAST) if low > least else LEAST, min(high + near, MOST)

    def _of_rank(self, near: int, window: Window, above: int, places: Places,
                 values: Shorts) -> tuple[Places, int] | None:
        """The resamples that may have the value of the rank, and its place among them by value, from the end.

        Its exact value is within `near` of its rounded one. None where that may lie outside of the window, of which all
        values are given, among others; so many of all are `above` it.
        """
        low, high = window
        rank = self.rank - above + int(np.count_nonzero(values > high))
        if not 0 < rank <= len(values):
            return None
        in_order = values.copy()
        in_order.partition(len(values) - rank)
        rounded = int(in_order[len(values) - rank])
        if rounded - near < low or rounded + near > high:
            return None
        larger = values > rounded + near
        return places[(values >= rounded - near) ^ larger], int(np.count_nonzero(larger)) - rank
