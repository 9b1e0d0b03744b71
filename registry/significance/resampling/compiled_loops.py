"""The inner loops of resampling, compiled by numba: they read and write memory once where numpy does several times.

Both give the same whole numbers. Compiled ones are worth the import of numba (the extra `fast`), and of what it
compiled before, where there is much to do. What is compiled is kept beside this file or in the user's cache, so only
the first program on a machine compiles.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from registry.arrays import Ints
from registry.significance.resampling.plain_loops import PLAIN, UNCLEAR, Bytes, Loops, Pairs, Places, Shorts, Window

ENOUGH = 2**30  # elements from which on compiled loops gain more than their import takes, some 0.6 s
_AT_ONCE = 32  # values that are looked at together, which the processor does in few steps


def loops(elements: float) -> Loops:
    """The loops for work on so many elements: those in numpy, or compiled ones where numba is."""
    return _best() if elements >= ENOUGH else PLAIN


@cache
def _best() -> Loops:
    """The loops, each of which is compiled, or read from where it is kept, at its first call."""
    try:
        from numba import njit

        return Loops(*map(njit(nogil=True, cache=True), (
            _looked_up, _sums, _add_ones, _distances, _above, _reaching, _between)))
    except (ImportError, RuntimeError):  # there is no numba, or it has nowhere to keep what it compiles
        return PLAIN


def _looked_up(table: Pairs, bits: Pairs) -> tuple[Pairs, Ints]:
    found, unclear, n = np.empty(len(bits), np.uint16), np.empty(len(bits), np.int64), 0
    for i in range(len(bits)):
        found[i] = table[bits[i]]
        if found[i] == UNCLEAR:
            unclear[n] = i
            n += 1
    return found, unclear[:n].copy()


def _sums(counts: Bytes) -> Ints:
    found = np.empty(len(counts), np.int64)
    for draw in range(len(counts)):
        total = np.uint32(0)
        for unit in range(counts.shape[1]):
            total += np.uint32(counts[draw, unit])
        found[draw] = total
    return found


def _add_ones(counts: Bytes, many: Ints, units: Ints) -> None:
    at = 0
    for draw in range(len(counts)):
        for _ in range(many[draw]):
            counts[draw, units[at]] += np.uint8(1)
            at += 1


def _distances(a: Shorts, b: Shorts, absolute: bool, values: Shorts) -> int:
    largest = np.int16(-(2**15))
    for i in range(len(values)):
        value = np.int16(a[i] - b[i])
        if absolute and value < 0:
            value = np.int16(-value)
        values[i] = value
        largest = max(largest, value)
    return int(largest)


def _above(values: Shorts, least: int, largest: int, bits: int) -> Ints:
    last = largest - least >> bits
    counts = np.zeros(last + 1, np.int64)
    for i in range(len(values)):
        counts[last - (max(int(values[i]) - least, 0) >> bits)] += 1
    for n in range(last):
        counts[n + 1] += counts[n]
    return counts


def _reaching(values: Shorts, bar: int) -> int:
    least, n = np.int16(bar), np.int32(0)
    for i in range(len(values)):
        n += np.int32(values[i] >= least)
    return int(n)


def _between(values: Shorts, first: Window, second: Window, places: Places) -> tuple[int, int, int]:
    low, high, low_2, high_2 = np.int16(first[0]), np.int16(first[1]), np.int16(second[0]), np.int16(second[1])
    n_first, n_second, n = np.int64(0), np.int64(0), 0
    full = len(values) // _AT_ONCE * _AT_ONCE
    for at in range(0, full, _AT_ONCE):
        above, above_2, not_below = np.int16(0), np.int16(0), np.int16(0)
        for i in range(at, at + _AT_ONCE):
            above += np.int16(values[i] > high)
            above_2 += np.int16(values[i] > high_2)
            not_below += np.int16(values[i] >= low) + np.int16(values[i] >= low_2)
        n_first += above
        n_second += above_2
        if not_below > above + above_2:
            for i in range(at, at + _AT_ONCE):
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
