"""The inner loops of resampling, in numpy and compiled by numba.

Both versions give the same whole numbers. Compiled loops read and write memory once, and numpy does so several times.
If there is much work, this saves more time than the import of numba (the extra `fast`) takes. Compiled code is cached
next to this file or in the user's cache, so only the first run on a machine compiles it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Ints

Bytes = NDArray[np.uint8]
Pairs = NDArray[np.uint16]
Shorts = NDArray[np.int16]
Places = NDArray[np.int32]
Window = tuple[int, int]

UNCLEAR = 2**16 - 1  # not a valid pair of counts
_CHUNK = 2**17  # values in one block, in reused memory
_SHORT = 2**15  # with fewer units, the sum of counts is certainly below 2^16


class Loops(NamedTuple):
    """The inner loops of simulations, either compiled with numba or in numpy.

    Attributes:
        look_up: Looks up two counts in a table by 16 random bits each. Returns the counts, and the indices of `UNCLEAR`
            entries.
        sums: Sums counts [resamples, units] over the units.
        add_ones: Adds 1 to the counts [resamples, units] of given units in each resample.
        distances: Writes the differences of the scores of two systems, or their absolute values, into the third array,
            and returns the largest.
        above: Counts values that are at least as large as the lower end of each bin. A bin has 2^bits values, and the
            last bin comes first. The first bin begins at `least` and includes smaller values; the last bin has the
            largest value.
        reaching: Counts the values that are at least as large as a bar.
        between: Writes the indices of the values in either of two windows into the last array. A window is given by its
            bounds, which belong to it; both windows can be equal. Returns the number of values above the first window,
            the number above the second window, and the number of indices.
    """

    look_up: Callable[[Pairs, Pairs], tuple[Pairs, Ints]]
    sums: Callable[[Bytes], Ints]
    add_ones: Callable[[Bytes, Ints, NDArray[np.uint32]], None]
    distances: Callable[[Shorts, Shorts, bool, Shorts], int]
    above: Callable[[Shorts, int, int, int], Ints]
    reaching: Callable[[Shorts, int], int]
    between: Callable[[Shorts, Window, Window, Places], tuple[int, int, int]]


def _look_up(table: Pairs, bits: Pairs) -> tuple[Pairs, Ints]:
    values = np.empty(len(bits), np.uint16)
    for start in range(0, len(bits), _CHUNK):
        table.take(bits[start:start + _CHUNK], out=values[start:start + _CHUNK], mode="clip")  # no index is too large
    return values, np.flatnonzero(values == UNCLEAR)


def _sums(counts: Bytes) -> Ints:
    exact = np.uint16 if counts.shape[1] < _SHORT else np.uint32
    return np.asarray(counts.sum(axis=1, dtype=exact), dtype=np.int64)


def _add_ones(counts: Bytes, many: Ints, units: NDArray[np.uint32]) -> None:
    places = np.repeat(np.arange(len(counts)) * counts.shape[1], many)
    places += units
    np.add.at(counts.reshape(-1), places, np.uint8(1))


def _distances(a: Shorts, b: Shorts, absolute: bool, values: Shorts) -> int:
    np.subtract(a, b, out=values)
    if absolute:
        np.abs(values, out=values)
    return int(values.max())


def _above(values: Shorts, least: int, largest: int, bits: int) -> Ints:
    places = np.maximum(values.astype(np.int32) - least, 0) >> bits
    return np.cumsum(np.bincount(places, minlength=(largest - least >> bits) + 1)[::-1])


def _reaching(values: Shorts, bar: int) -> int:
    return int(np.count_nonzero(values >= bar))


def _between(values: Shorts, first: Window, second: Window, places: Places) -> tuple[int, int, int]:
    n_first = n_second = n = 0
    for start in range(0, len(values), _CHUNK):
        above, is_inside = _mark(values[start:start + _CHUNK], first)
        n_first += above
        if second != first:
            above, also = _mark(values[start:start + _CHUNK], second)
            is_inside |= also
        n_second += above
        inside = is_inside.nonzero()[0]
        places[n:n + len(inside)] = inside + start if start else inside
        n += len(inside)
    return n_first, n_second, n


def _mark(values: Shorts, window: Window) -> tuple[int, Flags]:
    low, high = window
    above, is_inside = values > high, values >= low
    is_inside ^= above
    return int(np.count_nonzero(above)), is_inside


PLAIN = Loops(_look_up, _sums, _add_ones, _distances, _above, _reaching, _between)


ENOUGH = 2**30  # least number of elements for which compiled loops save more time than their import takes (0.6 s)
_AT_ONCE = 32  # values that the processor compares in few steps


def loops(elements: float) -> Loops:
    """Return the fastest implementation of the inner loops for so many elements.

    For many elements the loops are compiled if numba is installed; otherwise they use numpy.
    """
    return _best() if elements >= ENOUGH else PLAIN


@cache
def _best() -> Loops:
    """Return compiled loops if numba is installed, otherwise numpy loops.

    Each loop is compiled, or loaded from the cache, at its first call.
    """
    try:
        from numba import njit

        return Loops(*map(njit(nogil=True, cache=True), (
            _look_up_compiled, _sums_compiled, _add_ones_compiled, _distances_compiled, _above_compiled,
            _reaching_compiled, _between_compiled)))
    except (ImportError, RuntimeError):  # numba is not installed, or has no place for its cache
        return PLAIN


def _look_up_compiled(table: Pairs, bits: Pairs) -> tuple[Pairs, Ints]:
    values, unclear, n = np.empty(len(bits), np.uint16), np.empty(len(bits), np.int64), 0
    for i in range(len(bits)):
        values[i] = table[bits[i]]
        if values[i] == UNCLEAR:
            unclear[n] = i
            n += 1
    return values, unclear[:n].copy()


def _sums_compiled(counts: Bytes) -> Ints:
    sums = np.empty(len(counts), np.int64)
    for draw in range(len(counts)):
        total = np.uint32(0)
        for unit in range(counts.shape[1]):
            total += np.uint32(counts[draw, unit])
        sums[draw] = total
    return sums


def _add_ones_compiled(counts: Bytes, many: Ints, units: Ints) -> None:
    place = 0
    for draw in range(len(counts)):
        for _ in range(many[draw]):
            counts[draw, units[place]] += np.uint8(1)
            place += 1


def _distances_compiled(a: Shorts, b: Shorts, absolute: bool, values: Shorts) -> int:
    largest = np.int16(-(2**15))
    for i in range(len(values)):
        value = np.int16(a[i] - b[i])
        if absolute and value < 0:
            value = np.int16(-value)
        values[i] = value
        largest = max(largest, value)
    return int(largest)


def _above_compiled(values: Shorts, least: int, largest: int, bits: int) -> Ints:
    last = largest - least >> bits
    counts = np.zeros(last + 1, np.int64)
    for i in range(len(values)):
        counts[last - (max(int(values[i]) - least, 0) >> bits)] += 1
    for n in range(last):
        counts[n + 1] += counts[n]
    return counts


def _reaching_compiled(values: Shorts, bar: int) -> int:
    least, n = np.int16(bar), np.int32(0)
    for i in range(len(values)):
        n += np.int32(values[i] >= least)
    return int(n)


def _between_compiled(values: Shorts, first: Window, second: Window, places: Places) -> tuple[int, int, int]:
    low, high, low_2, high_2 = np.int16(first[0]), np.int16(first[1]), np.int16(second[0]), np.int16(second[1])
    n_first, n_second, n = np.int64(0), np.int64(0), 0
    full = len(values) // _AT_ONCE * _AT_ONCE
    for start in range(0, full, _AT_ONCE):
        above, above_2, not_below = np.int16(0), np.int16(0), np.int16(0)
        for i in range(start, start + _AT_ONCE):
            above += np.int16(values[i] > high)
            above_2 += np.int16(values[i] > high_2)
            not_below += np.int16(values[i] >= low) + np.int16(values[i] >= low_2)
        n_first += above
        n_second += above_2
        if not_below > above + above_2:
            for i in range(start, start + _AT_ONCE):
                if (values[i] >= low) & (values[i] <= high) | (values[i] >= low_2) & (values[i] <= high_2):
                    places[n] = i
                    n += 1
    for i in range(full, len(values)):
        n_first += values[i] > high
        n_second += values[i] > high_2
        if (values[i] >= low) & (values[i] <= high) | (values[i] >= low_2) & (values[i] <= high_2):
            places[n] = i
            n += 1
    return int(n_first), int(n_second), n
