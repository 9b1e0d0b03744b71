"""Random resamples and swaps of units, in blocks of 512 draws.

Block b of a kind has the stream `SeedSequence(seed, spawn_key=(kind, b))`, so results depend neither on the order of
systems nor on how blocks are distributed. All systems share the draws, which makes a block one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats, Ints
from registry.significance.base import Settings
from registry.significance.compact import Statistics
from registry.significance.resampling.columns import Columns
from registry.significance.resampling.compiled_loops import loops
from registry.significance.resampling.plain_loops import PLAIN, UNCLEAR, Bytes, Loops

Used = TypeVar("Used")

BLOCK = 512  # draws in a block
# the kinds of streams: permutations, bootstraps, the same of whole runs; resampled systems, drawn test sets; outputs of
# systems and training sets that are written; the order of units
SIGNS, COUNTS, LABELS, RUNS, SYSTEMS, SETS, OUTPUTS, TRAINING, ORDER = range(9)

_ALL = 2**64 - 1  # whole random words, drawn without holding other threads up
_CHUNK = 2**11  # units whose bits are expanded at once: a core keeps them
_CELLS = 2**21  # draws times units whose counts are drawn at once: part of what a seed means
_TOGETHER = 2**26  # draws times units, up to which they are multiplied together: statistics are read for each product


def swapped_sums(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Sum statistics over random subsets of the units, which a permutation swaps.

    Each draw takes every unit with probability 1/2, the same units for all systems.

    Args:
        statistics: [units, systems, columns].
        settings: The number of draws, the seed of their streams, and who works on the blocks.
        use: A function of the sums [draws, systems, columns] of a block.

    Yields:
        The results of `use` in the order of the blocks.
    """
    columns = Columns.of(statistics, settings.execution.memory)
    return settings.execution.map(partial(_swapped_block, columns, settings.seed, use), blocks(settings.resamples))


def resampled_sums(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used],
                   strata: Ints | None = None) -> Iterator[Used]:
    """Sum statistics over bootstrap resamples: as many units as there are, drawn with replacement.

    Arguments and results are those of `swapped_sums`. Within each of the `strata` [units], numbered from 0, as many
    units are drawn as it has.
    """
    columns = Columns.of(statistics, settings.execution.memory)
    parts = [(key, columns if strata is None else columns.of_units(units))
             for key, units in units_by_stratum(strata, len(statistics))]
    drawn = partial(_resampled_block, parts, settings.resamples * len(statistics), settings.seed, use)
    return settings.execution.map(drawn, blocks(settings.resamples))


def units_by_stratum(strata: Ints | None, units: int) -> list[tuple[tuple[int, ...], Ints]]:
    """The units of each stratum, with the key of its streams; without strata all units."""
    if strata is None:
        return [((), np.arange(units))]
    return [((n,), np.flatnonzero(strata == n)) for n in range(int(strata.max()) + 1)]


def swaps(units: int, block: int, seed: int) -> Iterator[tuple[slice, Bytes]]:
    """Draw the swaps of a block: some units at a time, and whether each draw swaps them, [units, draws] of 0 and 1."""
    bits = stream(seed, SIGNS, block)
    for at in range(0, units, _CHUNK):
        part = slice(at, min(at + _CHUNK, units))
        words = bits.random_raw((part.stop - at, BLOCK // 64)).astype("<u8", copy=False)
        yield part, np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def resamples_of(units: int, draws: int, block: int, seed: int, stratum: tuple[int, ...] = (),
                 loops: Loops = PLAIN) -> Iterator[tuple[slice, Bytes]]:
    """Draw the resamples of a block: some draws at a time, and how often each takes every unit, [draws, units].

    The counts of n draws with replacement are multinomial. Independent Poisson counts with the sum N are multinomial
    given N, so n - N further draws complete them; a row with N > n is drawn again, which does not change the
    distribution. Two Poisson counts are looked up by 16 random bits, with more bits where the table is ambiguous. This
    is several times faster than drawing and counting n indices.
    """
    rng = np.random.Generator(stream(seed, COUNTS, block, *stratum))
    some = max(1, _CELLS // units)
    for at in range(0, draws, some):
        rows = min(some, draws - at)
        counts, missing = _poisson_rows(rng, rows, units, loops)
        while len(over := np.flatnonzero(missing < 0)):
            counts[over], missing[over] = _poisson_rows(rng, len(over), units, loops)
        loops.add_ones(counts, missing, rng.integers(0, units, int(missing.sum()), dtype=np.uint32))
        yield slice(at, at + rows), counts


def resampled_counts(strata: Ints | None, units: int, seed: int, numbered: tuple[int, int]) -> Bytes:
    """How often the resamples of a block, which is one of `blocks`, take every unit, within strata, [draws, units]."""
    block, draws = numbered
    counts = np.empty((draws, units), dtype=np.uint8)
    for stratum, there in units_by_stratum(strata, units):
        for rows, found in resamples_of(len(there), draws, block, seed, stratum):
            counts[rows, there] = found
    return counts


def _poisson_rows(rng: np.random.Generator, rows: int, units: int, loops: Loops) -> tuple[Bytes, Ints]:
    """Poisson counts [rows, units] with a mean somewhat below 1, and how many draws each row lacks."""
    mean = max(0.0, 1 - 2.5 / math.sqrt(units))  # 1 row in 160 has more draws than it may
    if not mean:
        return np.zeros((rows, units), dtype=np.uint8), np.full(rows, units)
    table, distribution, most = _poisson(mean)
    twos = -(-rows * units // 2)
    words = rng.integers(0, _ALL, -(-twos // 4), dtype=np.uint64, endpoint=True).astype("<u8", copy=False)
    bits = words.view("<u2")[:twos]
    found, unclear = loops.looked_up(table, bits)
    finer = (bits[unclear] + rng.random(len(unclear))) / 2**16
    outcomes = np.searchsorted(distribution, finer, side="right")
    counts = found.view(np.uint8)
    counts[2 * unclear], counts[2 * unclear + 1] = outcomes // most, outcomes % most
    counts = counts[:rows * units].reshape(rows, units)
    return counts, units - loops.sums(counts)


@cache
def _poisson(mean: float) -> tuple[NDArray[np.uint16], Floats, int]:
    """A table of two Poisson counts by 16 random bits, the distribution of pairs of counts, and `most`.

    A table entry is two bytes, or `UNCLEAR` where more bits must decide. The counts (i, j) have the number
    i * `most` + j, and the distribution is P(number <= k).
    """
    masses = [math.exp(-mean)]
    while masses[-1] > 1e-18:
        masses.append(masses[-1] * mean / len(masses))
    most = len(masses)
    distribution = np.cumsum(np.outer(masses, masses))
    outcomes = np.searchsorted(distribution, np.arange(2**16) / 2**16, side="right")
    table = np.stack([outcomes // most, outcomes % most], axis=1).astype(np.uint8).view(np.uint16)[:, 0]
    table[np.minimum((distribution * 2**16).astype(np.int64), 2**16 - 1)] = UNCLEAR
    return table, distribution, most


def _swapped_block(columns: Columns, seed: int, use: Callable[[Floats], Used], numbered: tuple[int, int]) -> Used:
    block, draws = numbered
    sums = reduce(np.add, (columns.sums(taken, part) for part, taken in swaps(columns.own.shape[0], block, seed)))
    return use(columns.lay_out(sums[:, :draws]))


def _resampled_block(strata: list[tuple[tuple[int, ...], Columns]], elements: float, seed: int,
                     use: Callable[[Floats], Used], numbered: tuple[int, int]) -> Used:
    (block, draws), best = numbered, loops(elements)
    sums = reduce(np.add, (np.concatenate([
        reduce(np.add, (columns.sums(counts[:, part].T, part) for part in columns.parts()))
        for counts in _together(resamples_of(columns.own.shape[0], draws, block, seed, stratum, best))], axis=1)
        for stratum, columns in strata))
    return use(strata[0][1].lay_out(sums))


def _together(resamples: Iterator[tuple[slice, Bytes]]) -> Iterator[Bytes]:
    """The resamples of a block, as many together as there is room for, [draws, units] each."""
    waiting: list[Bytes] = []
    for _, counts in resamples:
        if waiting and sum(of.size for of in waiting) + counts.size > _TOGETHER:
            yield np.concatenate(waiting)
            waiting = []
        waiting.append(counts)
    yield np.concatenate(waiting) if len(waiting) > 1 else waiting[0]


def stream(seed: int, *key: int) -> np.random.PCG64:
    """The stream of a kind's block."""
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def blocks(resamples: int) -> list[tuple[int, int]]:
    """The number of each block, and how many of its draws are wanted."""
    return [(block, min(BLOCK, resamples - start)) for block, start in enumerate(range(0, resamples, BLOCK))]
