"""Random resamples and swaps of units, in blocks of 512 draws.

Block b of a kind has the stream `SeedSequence(seed, spawn_key=(kind, b))`, so results depend neither on the order of
systems nor on the distribution of blocks to workers. All systems share the draws, which makes a block one matrix
product with as few columns as possible (`Columns`). Sums of whole numbers are exact, hence independent of the order of
summation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from hashlib import sha256
from itertools import accumulate
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Settings
from registry.significance.matrix import Statistics, are_whole, columns_of
from registry.significance.resampling.loops import PLAIN, UNCLEAR, Bytes, Loops, loops

_EXACT_BITS = 53  # of whole numbers that float64 holds exactly
_LEAST_PACKED = 3  # columns in one of float64, from which on there is less to multiply
_MANY_COLUMNS = 64  # columns from which on that saves more than counts of float64 cost
_PACKED = 2**9  # units whose counts become float64 at once: a core keeps them


@dataclass(frozen=True, eq=False)
class Packing:
    """Columns of small counts that are packed together into columns of float64.

    A column of n counts up to m has sums of at most n m in any draw of n units, so three columns with sums of 17 bits
    each fit into the 53 bits that float64 counts exactly: the first, 2^17 times the second, and 2^34 times the third. A
    product of float64 costs two of float32, so from three columns on fewer operations give the same sums.

    Attributes:
        groups: The columns at the same bits, [groups][packed]; the last packed ones have no column in the last group.
        bits: Number of bits of the sums of each group.
    """

    groups: tuple[Ints, ...]
    bits: tuple[int, ...]

    @classmethod
    def of(cls, largest: NDArray[Any]) -> Self | None:
        """Pack columns as closely as their largest sums [columns] allow; None if that saves nothing."""
        order = np.argsort(-largest, kind="stable")
        for many in range(_EXACT_BITS, _LEAST_PACKED - 1, -1) if len(largest) >= _MANY_COLUMNS else ():
            groups = tuple(np.array_split(order, range(size := -(-len(order) // many), len(order), size)))
            bits = tuple(int(largest[group[0]]).bit_length() for group in groups)
            if sum(bits) <= _EXACT_BITS and len(groups) >= _LEAST_PACKED:
                return cls(groups, bits)
        return None

    def pack(self, columns: NDArray[Any]) -> Floats:
        """Pack columns [units, columns] into [units, packed]."""
        found = np.zeros((len(columns), len(self.groups[0])), order="F")
        for group, shift in zip(self.groups, accumulate(self.bits[:-1], initial=0), strict=True):
            for at, column in enumerate(group.tolist()):
                found[:, at] += columns[:, column] * 2.0**shift
        return found

    def sums(self, packed: Floats, counts: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Sum the packed columns over draws.

        Args:
            packed: From `pack`.
            counts: How often each draw takes every unit, [units, draws].
            dtype: Type of the sums.

        Returns:
            The sums of all columns, [columns, draws].
        """
        shifts = accumulate(self.bits[:-1], initial=0)
        sums = reduce(np.add, (packed[at:at + _PACKED].T @ counts[at:at + _PACKED].astype(np.float64)
                               for at in range(0, len(packed), _PACKED))).astype(np.int64)
        found = np.empty((sum(map(len, self.groups)), sums.shape[1]), dtype)
        for group, shift, bits in zip(self.groups, shifts, self.bits, strict=True):
            found[group] = sums[:len(group)] >> shift & (1 << bits) - 1
        return found


_APART = 1 / 8  # of the units at most: a column that is another in all the rest
_WORTHLESS = 1 / 2  # of the units: where some derived column is apart in more of them, nothing is saved
_LOOKED_AT = 64  # units that show most columns to be no other
_NEAR = 16  # own columns before it that a column may be
_WORTH = 512  # units from which on it is looked for
_SPARSE, _MANY = 1 / 10, 2**11  # the share of values that are not 0 up to which columns of so many units are sparse
_FEW, _SOME = 2**11, 2**12  # units of a product with columns that are made for it, and with others


Link = tuple[Ints, Ints]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of statistics [units, systems, columns], for sums over draws of the units.

    Systems share columns (the lengths of references), and some columns equal others plus a constant in most units: a
    text has one bigram less than words, unless it is short. A derived column of this kind needs the product only for
    the other units. Columns that are 0 in most units, such as those of classes, are multiplied as sparse ones, each as
    its difference from another column: most of the correct answers of a class are also in the gold. Large columns stay
    in few bytes, and blocks of units become floating-point numbers; many columns of small counts are packed together.

    Attributes:
        own: Columns that are not derived from others, [units, own], packed or not; with derived ones the last is all 1.
        packing: Packing of `own`; None if it is not packed.
        dtype: Type of the sums, and of large columns' products: float32 if every sum of a draw is exact in it.
        bases: Place in `own` of the column that a derived column is based on, [derived].
        constants: Difference of a derived column from its base in most units, [derived].
        apart: The other units, in which some derived column has another difference.
        rest: Differences in these units less the constants, [apart, derived].
        upon: Places in `own` of sparse columns that are stored as differences from others, and of the others, in an
            order in which they can be added.
        places: Place of each column among own and derived columns, [systems * columns].
        shape: Numbers of systems and columns.
    """

    own: Any  # an array or a sparse one
    packing: Packing | None
    dtype: np.dtype[Any]
    apart: Ints
    rest: NDArray[Any]
    bases: Ints
    constants: NDArray[Any]
    upon: list[Link]
    places: Ints
    shape: tuple[int, int]

    @classmethod
    def of(cls, statistics: Statistics, memory: int = 2**31) -> Columns:
        """Find the own and the derived columns; they need at most an eighth of the memory, or stay in few bytes."""
        columns = columns_of(statistics)
        largest = max(float(columns.max(initial=0)), -float(columns.min(initial=0)))
        most = len(statistics) * largest if are_whole(statistics) else np.inf
        dtype = np.dtype(np.float32 if most < 2**24 else np.float64)
        firsts: dict[bytes, int] = {}
        digests = [sha256(column.tobytes()).digest() for column in columns]
        for n, digest in enumerate(digests):
            firsts.setdefault(digest, n)
        numbers = {digest: n for n, digest in enumerate(firsts)}
        places = np.array([numbers[digest] for digest in digests], dtype=np.int64)
        distinct = _select_columns(columns, list(firsts.values()), dtype, memory // 8)
        upon: list[Link] = []
        if not isinstance(distinct, np.ndarray):
            distinct, upon = _subtract_common(distinct, np.bincount(places) > 1)
        derived = _find_derived(distinct) if 2 * most < 2**24 and isinstance(distinct, np.ndarray) else {}
        differs = np.zeros(len(statistics), dtype=bool)
        for n, (base, constant) in derived.items():
            differs |= _subtract(distinct, n, base) != constant
        apart = np.flatnonzero(differs)
        if len(apart) > _WORTHLESS * len(statistics):
            derived, apart = {}, apart[:0]
        own = [n for n in range(distinct.shape[1]) if n not in derived]
        bases = np.searchsorted(own, [base for base, _ in derived.values()])
        constants = np.array([constant for _, constant in derived.values()], dtype=dtype)
        rest = np.empty((len(apart), len(derived)), dtype)
        for at, (n, (base, constant)) in enumerate(derived.items()):
            rest[:, at] = _subtract(distinct, n, base, apart) - constant
        if derived:
            distinct = np.hstack([distinct[:, own], np.ones((len(statistics), 1), dtype=distinct.dtype)])
        packing = None
        if (isinstance(distinct, np.ndarray) and distinct.dtype == np.float32 and dtype == np.float32
                and distinct.min() >= 0):  # counts of which every sum is exact in float32
            packing = Packing.of(len(distinct) * distinct.max(axis=0))
        distinct = packing.pack(distinct) if packing else distinct
        order = np.argsort(own + list(derived))  # the ones lie between them
        return cls(distinct, packing, dtype, apart, rest, bases, constants, upon,
                   (order + (order >= len(own)))[places], (statistics.shape[1], statistics.shape[2]))

    def of_units(self, units: Ints) -> Columns:
        """Return the columns of some units, in increasing order."""
        places = np.searchsorted(units, self.apart)
        there = np.isin(self.apart, units)
        return replace(self, own=self.own[units], apart=places[there], rest=self.rest[there])

    def parts(self) -> list[slice]:
        """Return blocks of units that are multiplied together."""
        units = self.own.shape[0]
        ready = self.packing or (self.own.dtype == self.dtype and isinstance(self.own, np.ndarray))
        some = _SOME if ready else _FEW
        return [slice(at, min(at + some, units)) for at in range(0, units, some)]

    def sums(self, counts: NDArray[Any], units: slice = slice(None)) -> NDArray[Any]:
        """Sum the columns over draws, [own and derived, draws].

        Args:
            counts: How often each draw takes every unit, [units, draws].
            units: The units of the counts.
        """
        sums: NDArray[Any]
        if self.packing:
            sums = self.packing.sums(self.own[units], counts, self.dtype)
        else:
            sums = self.own[units].astype(self.dtype, copy=False).T @ counts.astype(self.dtype, copy=False)
        if not len(self.bases):
            return sums
        start, stop, _ = units.indices(self.own.shape[0])
        there = slice(*np.searchsorted(self.apart, (start, stop)))
        rest = self.rest[there].T @ counts[self.apart[there] - start].astype(self.dtype, copy=False)
        rest += self.constants[:, None] * sums[-1]
        rest += sums[self.bases]
        return np.concatenate([sums, rest])

    def lay_out(self, sums: NDArray[Any]) -> Floats:
        """Rearrange sums [own and derived, draws] as [draws, systems, columns]; the draws are contiguous in memory."""
        sums = sums.copy() if self.upon else sums
        for columns, bases in self.upon:
            sums[columns] += sums[bases]
        laid_out: Floats = sums[self.places].astype(np.float64, copy=False)
        return laid_out.reshape(*self.shape, -1).transpose(2, 0, 1)


def _select_columns(columns: NDArray[Any], chosen: list[int], dtype: np.dtype[Any], most: int) -> Any:
    """Return chosen columns [columns, units] as [units, chosen]: sparse, as `dtype`, or in their own type."""
    units = columns.shape[1]
    sample = columns[chosen, ::-(-units // _MANY)] if units >= _MANY else np.ones(1)
    if np.count_nonzero(sample) <= _SPARSE * sample.size:
        from scipy import sparse  # which boards, that import this too, do not need

        there = [np.flatnonzero(columns[n]) for n in chosen]
        values = np.concatenate([columns[n, units] for n, units in zip(chosen, there, strict=True)]).astype(dtype)
        starts = np.cumsum([0, *map(len, there)])
        return sparse.csc_array((values, np.concatenate(there).astype(np.int32), starts),
                                shape=(units, len(chosen))).tocsr()
    if units * len(chosen) * dtype.itemsize > most and columns.dtype.itemsize < dtype.itemsize:
        dtype = columns.dtype
    held = np.empty((units, len(chosen)), dtype, order="F")
    for at, n in enumerate(chosen):
        held[:, at] = columns[n]
    return held


def _subtract_common(columns: Any, shared: Flags) -> tuple[Any, list[Link]]:
    """Subtract from sparse columns [units, columns] similar ones if that leaves fewer values; also return `upon`.

    The similar column is one that systems share, or the previous one, chosen by a sample of the units. No sum becomes
    larger.
    """
    from scipy import sparse

    if (columns.data != 1).any():
        return columns, []
    sample = columns[::max(1, columns.shape[0] // _MANY)]
    given, every, sizes = np.flatnonzero(shared), np.arange(columns.shape[1]), sample.sum(axis=0)
    with_given = (sample.T @ sample[:, given]).tocoo()
    with_former = sample[:, 1:].multiply(sample[:, :-1]).sum(axis=0)
    column = np.concatenate([with_given.coords[0], every[1:]])
    base = np.concatenate([given[with_given.coords[1]], every[:-1]])
    left = sizes[column] + sizes[base] - 2 * np.concatenate([with_given.data, with_former])
    order = np.lexsort((left, column))
    order = order[(left < sizes[column])[order] & ~shared[column[order]]]
    less, firsts = np.unique(column[order], return_index=True)
    bases = base[order[firsts]]
    depths = np.zeros(len(every), dtype=np.int64)
    for n, of in zip(less.tolist(), bases.tolist(), strict=True):  # shared and previous ones have their depth already
        depths[n] = depths[of] + 1
    upon = [(less[at], bases[at]) for at in (np.flatnonzero(depths[less] == depth) for depth in range(
        1, int(depths.max(initial=0)) + 1))]
    signs = np.repeat(np.array([1, -1], dtype=columns.dtype), [len(every), len(less)])
    apart = sparse.csr_array((signs, (np.append(every, bases), np.append(every, less))), shape=(len(every),) * 2)
    held = (columns @ apart).tocsr()
    held.eliminate_zeros()
    return held, upon


def _subtract(distinct: Any, n: int, base: int, units: Ints | slice = slice(None)) -> NDArray[Any]:
    return np.asarray(np.subtract(distinct[units, n], distinct[units, base], dtype=np.float32))


def _find_derived(distinct: NDArray[Any]) -> dict[int, tuple[int, float]]:
    """Find the derived columns, each with its base among the preceding own columns and its constant.

    A sample of the units rules out most candidates. With few units nothing is derived: products are fast.
    """
    found: dict[int, tuple[int, float]] = {}
    if len(distinct) < _WORTH:
        return found
    own: list[int] = []
    some = distinct[:: -(-len(distinct) // _LOOKED_AT)].astype(np.float32)
    for n in range(distinct.shape[1]):
        bases = own[-_NEAR:]
        apart = some[:, [n]] - some[:, bases]
        constants = np.partition(apart, len(apart) // 2, axis=0)[len(apart) // 2]
        often = np.count_nonzero(apart != constants, axis=0) <= 2 * _APART * len(some)
        for base, constant in ((bases[at], float(constants[at])) for at in np.flatnonzero(often)):
            if np.count_nonzero(_subtract(distinct, n, base) != constant) <= _APART * len(distinct):
                found[n] = base, constant
                break
        else:
            own.append(n)
    return found


Used = TypeVar("Used")

BLOCK = 512  # draws in a block
# the kinds of streams: permutations, bootstraps, the same of whole runs; resampled systems, drawn test sets; outputs of
# systems and training sets that are written; the order of units
SIGNS, COUNTS, LABELS, RUNS, SYSTEMS, SETS, OUTPUTS, TRAINING, ORDER = range(9)

_ALL = 2**64 - 1  # whole random words, drawn without holding other threads up
_CHUNK = 2**11  # units whose bits are expanded at once: a core keeps them
_CELLS = 2**21  # draws times units whose counts are drawn at once: part of what a seed means
_TOGETHER = 2**26  # draws times units, up to which they are multiplied together: statistics are read for each product


def sum_swaps(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Sum statistics over random subsets of the units, which a permutation swaps.

    Each draw takes every unit with probability 1/2, the same units for all systems.

    Args:
        statistics: [units, systems, columns].
        settings: Number of draws, seed of their streams, and workers.
        use: A function of the sums [draws, systems, columns] of a block.

    Yields:
        The results of `use` in the order of the blocks.
    """
    columns = Columns.of(statistics, settings.execution.memory)
    return settings.execution.map(partial(_swapped_block, columns, settings.seed, use), blocks(settings.resamples))


def sum_resamples(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used],
                   strata: Ints | None = None) -> Iterator[Used]:
    """Sum statistics over bootstrap resamples: all units are drawn with replacement.

    Arguments and results are those of `sum_swaps`. Each of the `strata` [units], numbered from 0, is resampled on
    its own.
    """
    columns = Columns.of(statistics, settings.execution.memory)
    parts = [(key, columns if strata is None else columns.of_units(units))
             for key, units in group_by_stratum(strata, len(statistics))]
    drawn = partial(_resampled_block, parts, settings.resamples * len(statistics), settings.seed, use)
    return settings.execution.map(drawn, blocks(settings.resamples))


def group_by_stratum(strata: Ints | None, units: int) -> list[tuple[tuple[int, ...], Ints]]:
    """Return the units of each stratum, with the key of its streams; without strata all units."""
    if strata is None:
        return [((), np.arange(units))]
    return [((n,), np.flatnonzero(strata == n)) for n in range(int(strata.max()) + 1)]


def swaps(units: int, block: int, seed: int) -> Iterator[tuple[slice, Bytes]]:
    """Draw the swaps of a block: yields slices of units with 0 or 1 for each draw, [units, draws]."""
    bits = stream(seed, SIGNS, block)
    for at in range(0, units, _CHUNK):
        part = slice(at, min(at + _CHUNK, units))
        words = bits.random_raw((part.stop - at, BLOCK // 64)).astype("<u8", copy=False)
        yield part, np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def draw_resamples(units: int, draws: int, block: int, seed: int, stratum: tuple[int, ...] = (),
                 loops: Loops = PLAIN) -> Iterator[tuple[slice, Bytes]]:
    """Draw the resamples of a block: yields slices of draws, and how often each takes every unit, [draws, units].

    The counts of n draws with replacement are multinomial. Independent Poisson counts with the sum N are multinomial
    given N, so n - N further draws complete them; a row with N > n is drawn again, which does not change the
    distribution. Two Poisson counts are looked up by 16 random bits, with more bits where the table is ambiguous. This
    is several times faster than drawing and counting n indices.
    """
    rng = np.random.Generator(stream(seed, COUNTS, block, *stratum))
    some = max(1, _CELLS // units)
    for at in range(0, draws, some):
        rows = min(some, draws - at)
        counts, missing = _draw_poisson_rows(rng, rows, units, loops)
        while len(over := np.flatnonzero(missing < 0)):
            counts[over], missing[over] = _draw_poisson_rows(rng, len(over), units, loops)
        loops.add_ones(counts, missing, rng.integers(0, units, int(missing.sum()), dtype=np.uint32))
        yield slice(at, at + rows), counts


def draw_counts(strata: Ints | None, units: int, seed: int, numbered: tuple[int, int]) -> Bytes:
    """Count how often the resamples of one of the `blocks` take every unit, within strata, [draws, units]."""
    block, draws = numbered
    counts = np.empty((draws, units), dtype=np.uint8)
    for stratum, there in group_by_stratum(strata, units):
        for rows, found in draw_resamples(len(there), draws, block, seed, stratum):
            counts[rows, there] = found
    return counts


def _draw_poisson_rows(rng: np.random.Generator, rows: int, units: int, loops: Loops) -> tuple[Bytes, Ints]:
    """Draw Poisson counts [rows, units] with a mean somewhat below 1; also return the missing draws of each row."""
    mean = max(0.0, 1 - 2.5 / math.sqrt(units))  # 1 row in 160 has more draws than it may
    if not mean:
        return np.zeros((rows, units), dtype=np.uint8), np.full(rows, units)
    table, distribution, most = _tabulate_poisson(mean)
    twos = -(-rows * units // 2)
    words = rng.integers(0, _ALL, -(-twos // 4), dtype=np.uint64, endpoint=True).astype("<u8", copy=False)
    bits = words.view("<u2")[:twos]
    found, unclear = loops.look_up(table, bits)
    finer = (bits[unclear] + rng.random(len(unclear))) / 2**16
    outcomes = np.searchsorted(distribution, finer, side="right")
    counts = found.view(np.uint8)
    counts[2 * unclear], counts[2 * unclear + 1] = outcomes // most, outcomes % most
    counts = counts[:rows * units].reshape(rows, units)
    return counts, units - loops.sums(counts)


@cache
def _tabulate_poisson(mean: float) -> tuple[NDArray[np.uint16], Floats, int]:
    """Return a table of two Poisson counts by 16 random bits, the distribution of pairs of counts, and `most`.

    A table entry is two bytes, or `UNCLEAR` if more bits must decide. The counts (i, j) have the number
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
        for counts in _join_resamples(draw_resamples(columns.own.shape[0], draws, block, seed, stratum, best))], axis=1)
        for stratum, columns in strata))
    return use(strata[0][1].lay_out(sums))


def _join_resamples(resamples: Iterator[tuple[slice, Bytes]]) -> Iterator[Bytes]:
    """Join resamples of a block up to `_TOGETHER` counts, [draws, units] each."""
    waiting: list[Bytes] = []
    for _, counts in resamples:
        if waiting and sum(of.size for of in waiting) + counts.size > _TOGETHER:
            yield np.concatenate(waiting)
            waiting = []
        waiting.append(counts)
    yield np.concatenate(waiting) if len(waiting) > 1 else waiting[0]


def stream(seed: int, *key: int) -> np.random.PCG64:
    """Return the random stream of a block of a kind."""
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def blocks(resamples: int) -> list[tuple[int, int]]:
    """Return the number of each block, and the number of its draws."""
    return [(block, min(BLOCK, resamples - start)) for block, start in enumerate(range(0, resamples, BLOCK))]
