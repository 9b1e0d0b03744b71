"""Random resamples and permutations of units, in blocks of 512.

Each block has a separate random stream, `SeedSequence(seed, spawn_key=(kind, block))`. So results depend neither on the
order of systems nor on the distribution of blocks to workers. All systems share the random numbers. So the sums of a
block are one matrix product, with as few columns as possible (`Columns`). Sums of whole numbers are exact, so the order
of summation does not matter.
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

_EXACT_BITS = 53  # bits of exact whole numbers in float64
_MIN_PACKED = 3  # least number of columns per packed column for which packing reduces the work
_MIN_PACKED_COLUMNS = 64  # least number of columns for which packing saves more than the conversion of counts costs
_PACKED_UNITS = 2**9  # units whose counts are converted together; they fit into the cache


@dataclass(frozen=True, eq=False)
class Packing:
    """Rule that stores several columns of small counts in one column of float64.

    Sums over resamples of items are then faster. If n counts are at most m, the sum of n counts is at most n m. So
    three columns with sums of 17 bits each fit into the 53 bits of exact whole numbers in float64: the first column,
    plus 2^17 times the second, plus 2^34 times the third. A product in float64 costs as much as two in float32, so
    packing three or more columns saves time.

    Attributes:
        groups: Columns with the same shift, [groups][packed columns]; the last group may be shorter.
        bits: Number of bits of the sums of each group.
    """

    groups: tuple[Ints, ...]
    bits: tuple[int, ...]

    @classmethod
    def choose(cls, largest: NDArray[Any]) -> Self | None:
        """Choose the columns to pack together; return None if packing saves no time.

        Args:
            largest: Largest possible sum of each column, [columns].
        """
        order = np.argsort(-largest, kind="stable")
        for n_groups in range(_EXACT_BITS, _MIN_PACKED - 1, -1) if len(largest) >= _MIN_PACKED_COLUMNS else ():
            groups = tuple(np.array_split(order, range(size := -(-len(order) // n_groups), len(order), size)))
            bits = tuple(int(largest[group[0]]).bit_length() for group in groups)
            if sum(bits) <= _EXACT_BITS and len(groups) >= _MIN_PACKED:
                return cls(groups, bits)
        return None

    def pack(self, columns: NDArray[Any]) -> Floats:
        """Store many columns of counts in few columns.

        Args:
            columns: The columns, [rows, columns].

        Returns:
            The packed columns, [rows, packed columns].
        """
        packed = np.zeros((len(columns), len(self.groups[0])), order="F")
        for group, shift in zip(self.groups, accumulate(self.bits[:-1], initial=0), strict=True):
            for n, column in enumerate(group.tolist()):
                packed[:, n] += columns[:, column] * 2.0**shift
        return packed

    def compute_sums(self, packed: Floats, counts: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Compute the sums of all original columns over resamples, from packed columns.

        Args:
            packed: Result of `pack`.
            counts: How often each resample contains each unit (item or cluster), [units, resamples].
            dtype: Type of the sums.

        Returns:
            Sums of all columns, [columns, resamples].
        """
        shifts = accumulate(self.bits[:-1], initial=0)
        chunks = [slice(start, start + _PACKED_UNITS) for start in range(0, len(packed), _PACKED_UNITS)]
        sums = reduce(np.add, (packed[chunk].T @ counts[chunk].astype(np.float64)
                               for chunk in chunks)).astype(np.int64)
        unpacked = np.empty((sum(map(len, self.groups)), sums.shape[1]), dtype)
        for group, shift, bits in zip(self.groups, shifts, self.bits, strict=True):
            unpacked[group] = sums[:len(group)] >> shift & (1 << bits) - 1
        return unpacked


_MAX_EXCEPTIONS = 1 / 8  # share of the units in which a derived column may deviate
_MAX_ALL_EXCEPTIONS = 1 / 2  # share of the units with a deviation of some column, above which nothing is saved
_SAMPLE_UNITS = 64  # units of a sample that rules out most candidates
_CANDIDATES = 16  # preceding columns from which a column may be derived
_MIN_UNITS = 512  # least number of units for which columns are derived
_SPARSE, _MIN_SPARSE_UNITS = 1 / 10, 2**11  # largest share of nonzero values, and smallest number of units
_CONVERTED_UNITS, _READY_UNITS = 2**11, 2**12  # units of one product, with and without conversion of the columns


# Sparse columns that are stored as differences, and the columns that must be added.
Link = tuple[Ints, Ints]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of statistics [units, systems, columns], arranged for fast sums.

    The statistics are summed over resamples of the units (items or clusters).

    - Columns that systems share, such as the lengths of references, are stored once.
    - A column is derived if it equals another one plus a constant in most units: a text has one bigram less than words,
      unless it is short. A derived column needs a product only for the exceptional units.
    - Columns that are 0 in most units, such as counts of classes, are sparse. They are stored as differences from other
      columns: most correct answers of a class are also in the gold.
    - Large columns keep their small types, and are converted by blocks of units.
    - Many columns of small counts are packed together.

    Attributes:
        stored: Columns that are not derived, [units, stored], possibly packed; if there are derived columns, the last
            column is all 1.
        packing: Packing of `stored`, or None.
        dtype: Type of the sums: float32 if every sum is exact in it.
        exceptions: Units in which some derived column deviates.
        deviations: Deviations in these units, [exceptions, derived].
        bases: Index in `stored` of the base of each derived column, [derived].
        constants: Difference of each derived column from its base, [derived].
        links: Sparse columns that are stored as differences, and their bases, in the order of the additions.
        places: Index of each column among stored and derived columns, [systems * columns].
        shape: Numbers of systems and columns.
    """

    stored: Any  # an array or a sparse array
    packing: Packing | None
    dtype: np.dtype[Any]
    exceptions: Ints
    deviations: NDArray[Any]
    bases: Ints
    constants: NDArray[Any]
    links: list[Link]
    places: Ints
    shape: tuple[int, int]

    @classmethod
    def arrange(cls, statistics: Statistics, memory: int = 2**31) -> Columns:
        """Arrange the columns of statistics for fast sums.

        The result uses at most an eighth of the memory. If that is not enough, the columns keep their small data types.

        Args:
            statistics: Statistics, [units, systems, columns]; units are items or clusters.
            memory: Available memory in bytes.
        """
        columns = columns_of(statistics)
        largest = max(float(columns.max(initial=0)), -float(columns.min(initial=0)))
        largest_sum = len(statistics) * largest if are_whole(statistics) else np.inf
        dtype = np.dtype(np.float32 if largest_sum < 2**24 else np.float64)
        firsts: dict[bytes, int] = {}
        digests = [sha256(column.tobytes()).digest() for column in columns]
        for n, digest in enumerate(digests):
            firsts.setdefault(digest, n)
        numbers = {digest: n for n, digest in enumerate(firsts)}
        places = np.array([numbers[digest] for digest in digests], dtype=np.int64)
        distinct = _select_columns(columns, list(firsts.values()), dtype, memory // 8)
        links: list[Link] = []
        if not isinstance(distinct, np.ndarray):
            distinct, links = _subtract_common(distinct, np.bincount(places) > 1)
        derived = _find_derived(distinct) if 2 * largest_sum < 2**24 and isinstance(distinct, np.ndarray) else {}
        differs = np.zeros(len(statistics), dtype=bool)
        for n, (base, constant) in derived.items():
            differs |= _subtract(distinct, n, base) != constant
        exceptions = np.flatnonzero(differs)
        if len(exceptions) > _MAX_ALL_EXCEPTIONS * len(statistics):
            derived, exceptions = {}, exceptions[:0]
        stored = [n for n in range(distinct.shape[1]) if n not in derived]
        bases = np.searchsorted(stored, [base for base, _ in derived.values()])
        constants = np.array([constant for _, constant in derived.values()], dtype=dtype)
        deviations = np.empty((len(exceptions), len(derived)), dtype)
        for position, (n, (base, constant)) in enumerate(derived.items()):
            deviations[:, position] = _subtract(distinct, n, base, exceptions) - constant
        if derived:
            distinct = np.hstack([distinct[:, stored], np.ones((len(statistics), 1), dtype=distinct.dtype)])
        packing = None
        if (isinstance(distinct, np.ndarray) and distinct.dtype == np.float32 and dtype == np.float32
                and distinct.min() >= 0):
            packing = Packing.choose(len(distinct) * distinct.max(axis=0))
        distinct = packing.pack(distinct) if packing else distinct
        order = np.argsort(stored + list(derived))  # the column of ones is between them
        return cls(distinct, packing, dtype, exceptions, deviations, bases, constants, links,
                   (order + (order >= len(stored)))[places], (statistics.shape[1], statistics.shape[2]))

    def select_units(self, units: Ints) -> Columns:
        """Return the columns with only some rows (items or clusters).

        Args:
            units: Indices of the rows, in ascending order.
        """
        places = np.searchsorted(units, self.exceptions)
        is_selected = np.isin(self.exceptions, units)
        return replace(self, stored=self.stored[units], exceptions=places[is_selected],
                       deviations=self.deviations[is_selected])

    def list_blocks(self) -> list[slice]:
        """Return slices of rows that are small enough for one matrix product."""
        units = self.stored.shape[0]
        is_ready = self.packing or (self.stored.dtype == self.dtype and isinstance(self.stored, np.ndarray))
        step = _READY_UNITS if is_ready else _CONVERTED_UNITS
        return [slice(start, min(start + step, units)) for start in range(0, units, step)]

    def compute_sums(self, counts: NDArray[Any], units: slice = slice(None)) -> NDArray[Any]:
        """Compute the sums of all columns over bootstrap resamples of the items.

        Args:
            counts: How often each resample contains each unit (item or cluster), [units, resamples].
            units: The units to which the counts belong.

        Returns:
            Sums, [stored and derived columns, resamples].
        """
        sums: NDArray[Any]
        if self.packing:
            sums = self.packing.compute_sums(self.stored[units], counts, self.dtype)
        else:
            sums = self.stored[units].astype(self.dtype, copy=False).T @ counts.astype(self.dtype, copy=False)
        if not len(self.bases):
            return sums
        start, stop, _ = units.indices(self.stored.shape[0])
        block = slice(*np.searchsorted(self.exceptions, (start, stop)))
        derived = self.deviations[block].T @ counts[self.exceptions[block] - start].astype(self.dtype, copy=False)
        derived += self.constants[:, None] * sums[-1]
        derived += sums[self.bases]
        return np.concatenate([sums, derived])

    def lay_out(self, sums: NDArray[Any]) -> Floats:
        """Return sums of statistics in the original order of the columns.

        Args:
            sums: Result of `compute_sums`, [stored and derived columns, resamples].

        Returns:
            A view of the sums, [resamples, systems, columns].
        """
        sums = sums.copy() if self.links else sums
        for columns, bases in self.links:
            sums[columns] += sums[bases]
        laid_out: Floats = sums[self.places].astype(np.float64, copy=False)
        return laid_out.reshape(*self.shape, -1).transpose(2, 0, 1)


def _select_columns(columns: NDArray[Any], selection: list[int], dtype: np.dtype[Any], max_bytes: int) -> Any:
    """Return some columns as one array, which is sparse if most values are 0.

    Args:
        columns: All columns, [columns, rows].
        selection: Indices of the selected columns.
        dtype: Type of the result. If it needs too much memory, the type of the columns does not change.
        max_bytes: Largest size of the result as `dtype`.

    Returns:
        The selected columns, [rows, selected].
    """
    units = columns.shape[1]
    sample = columns[selection, ::-(-units // _MIN_SPARSE_UNITS)] if units >= _MIN_SPARSE_UNITS else np.ones(1)
    if np.count_nonzero(sample) <= _SPARSE * sample.size:
        from scipy import sparse  # slow to import

        nonzero = [np.flatnonzero(columns[n]) for n in selection]
        values = np.concatenate([columns[n, units] for n, units in zip(selection, nonzero, strict=True)]).astype(dtype)
        starts = np.cumsum([0, *map(len, nonzero)])
        return sparse.csc_array((values, np.concatenate(nonzero).astype(np.int32), starts),
                                shape=(units, len(selection))).tocsr()
    if units * len(selection) * dtype.itemsize > max_bytes and columns.dtype.itemsize < dtype.itemsize:
        dtype = columns.dtype
    selected = np.empty((units, len(selection)), dtype, order="F")
    for position, n in enumerate(selection):
        selected[:, position] = columns[n]
    return selected


def _subtract_common(columns: Any, shared: Flags) -> tuple[Any, list[Link]]:
    """Replace sparse columns by differences from similar columns, to have more zeros.

    A column is replaced if its difference from a column that systems share, or from the previous column, is sparser. A
    sample of the rows decides this. Sums do not become larger.

    Args:
        columns: Sparse columns, [rows, columns].
        shared: Whether systems share a column, [columns].

    Returns:
        The columns, and the links: which columns must be added to which ones to undo the replacement.
    """
    from scipy import sparse

    if (columns.data != 1).any():
        return columns, []
    sample = columns[::max(1, columns.shape[0] // _MIN_SPARSE_UNITS)]
    shared_columns, every, sizes = np.flatnonzero(shared), np.arange(columns.shape[1]), sample.sum(axis=0)
    with_shared = (sample.T @ sample[:, shared_columns]).tocoo()
    with_previous = sample[:, 1:].multiply(sample[:, :-1]).sum(axis=0)
    column = np.concatenate([with_shared.coords[0], every[1:]])
    base = np.concatenate([shared_columns[with_shared.coords[1]], every[:-1]])
    n_left = sizes[column] + sizes[base] - 2 * np.concatenate([with_shared.data, with_previous])
    order = np.lexsort((n_left, column))
    order = order[(n_left < sizes[column])[order] & ~shared[column[order]]]
    reduced, firsts = np.unique(column[order], return_index=True)
    bases = base[order[firsts]]
    depths = np.zeros(len(every), dtype=np.int64)
    for n, base_column in zip(reduced.tolist(), bases.tolist(), strict=True):  # the depth of the base is known
        depths[n] = depths[base_column] + 1
    levels = (np.flatnonzero(depths[reduced] == depth) for depth in range(1, int(depths.max(initial=0)) + 1))
    links = [(reduced[level], bases[level]) for level in levels]
    signs = np.repeat(np.array([1, -1], dtype=columns.dtype), [len(every), len(reduced)])
    transform = sparse.csr_array((signs, (np.append(every, bases), np.append(every, reduced))), shape=(len(every),) * 2)
    differences = (columns @ transform).tocsr()
    differences.eliminate_zeros()
    return differences, links


def _subtract(distinct: Any, n: int, base: int, units: Ints | slice = slice(None)) -> NDArray[Any]:
    return np.asarray(np.subtract(distinct[units, n], distinct[units, base], dtype=np.float32))


def _find_derived(distinct: NDArray[Any]) -> dict[int, tuple[int, float]]:
    """Find columns that equal another column plus a constant in most rows.

    Such a column need not be stored. The other column is one of the preceding columns. A sample of the rows excludes
    most candidates. With few rows nothing is derived, because sums are fast.

    Args:
        distinct: The columns, [rows, columns].

    Returns:
        For each derived column, the index of the other column, and the constant.
    """
    derived: dict[int, tuple[int, float]] = {}
    if len(distinct) < _MIN_UNITS:
        return derived
    stored: list[int] = []
    sample = distinct[:: -(-len(distinct) // _SAMPLE_UNITS)].astype(np.float32)
    for n in range(distinct.shape[1]):
        bases = stored[-_CANDIDATES:]
        differences = sample[:, [n]] - sample[:, bases]
        constants = np.partition(differences, len(differences) // 2, axis=0)[len(differences) // 2]
        is_frequent = np.count_nonzero(differences != constants, axis=0) <= 2 * _MAX_EXCEPTIONS * len(sample)
        for candidate in np.flatnonzero(is_frequent):
            base, constant = bases[candidate], float(constants[candidate])
            if np.count_nonzero(_subtract(distinct, n, base) != constant) <= _MAX_EXCEPTIONS * len(distinct):
                derived[n] = base, constant
                break
        else:
            stored.append(n)
    return derived


Used = TypeVar("Used")

BLOCK = 512  # resamples in a block
# Kinds of streams: permutations, bootstraps, both for runs, resampled systems, sampled test sets, simulated outputs,
# training sets, and the order of units.
SIGNS, COUNTS, LABELS, RUNS, SYSTEMS, SETS, OUTPUTS, TRAINING, ORDER, ESTIMATES = range(10)

_MAX_WORD = 2**64 - 1  # full words are generated without the global lock
_CHUNK = 2**11  # units whose bits are expanded together; they fit into the cache
_CELLS = 2**21  # resamples times units that are generated together; changing it changes the numbers of a seed
_TOGETHER = 2**26  # resamples times units of one product, because each product reads all statistics


def sum_permutations(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Simulate permutations: sum the statistics of the units that are swapped.

    In each permutation, every unit (item or cluster) is swapped with probability 1/2, and the statistics of swapped
    units are summed. All systems swap the same units.

    Args:
        statistics: Statistics, [units, systems, columns].
        settings: Number of permutations, seed, and workers.
        use: Function that is applied to the sums of each block, [permutations, systems, columns].

    Yields:
        The results of `use` in the order of the blocks.
    """
    columns = Columns.arrange(statistics, settings.execution.memory)
    return settings.execution.map(partial(_sum_permuted_block, columns, settings.seed, use), blocks(settings.resamples))


def sum_resamples(statistics: Statistics, settings: Settings, use: Callable[[Floats], Used],
                  strata: Ints | None = None) -> Iterator[Used]:
    """Sum statistics over bootstrap resamples of the items or clusters.

    Args:
        statistics: Statistics, [units, systems, columns]; units are items or clusters.
        settings: Number of resamples, seed, and workers.
        use: Function that is applied to the sums of each block, [resamples, systems, columns].
        strata: Stratum of each unit, numbered from 0, [units]; each stratum is resampled separately. None: one stratum.

    Yields:
        The results of `use` in the order of the blocks.
    """
    columns = Columns.arrange(statistics, settings.execution.memory)
    parts = [(key, columns if strata is None else columns.select_units(units))
             for key, units in group_by_stratum(strata, len(statistics))]
    sum_block = partial(_sum_resampled_block, parts, settings.resamples * len(statistics), settings.seed, use)
    return settings.execution.map(sum_block, blocks(settings.resamples))


def group_by_stratum(strata: Ints | None, units: int) -> list[tuple[tuple[int, ...], Ints]]:
    """Return the items (or clusters) of each stratum, with a key for random numbers.

    Each stratum is resampled with its own random numbers, which depend on its key. Without strata, all items are one
    group with an empty key.
    """
    if strata is None:
        return [((), np.arange(units))]
    return [((n,), np.flatnonzero(strata == n)) for n in range(int(strata.max()) + 1)]


def draw_permutations(units: int, block: int, seed: int) -> Iterator[tuple[slice, Bytes]]:
    """Simulate the permutations of a block: which units are swapped.

    To save memory, consecutive slices of the units (items or clusters) are returned.

    Args:
        units: Number of units.
        block: Number of the block.
        seed: Seed of the random numbers.

    Yields:
        A slice of the units, and an array [units of the slice, permutations] with 1 for swapped units and 0 for others.
    """
    bits = stream(seed, SIGNS, block)
    for start in range(0, units, _CHUNK):
        chunk = slice(start, min(start + _CHUNK, units))
        words = bits.random_raw((chunk.stop - start, BLOCK // 64)).astype("<u8", copy=False)
        yield chunk, np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def draw_resamples(units: int, draws: int, block: int, seed: int, stratum: tuple[int, ...] = (),
                   loops: Loops = PLAIN) -> Iterator[tuple[slice, Bytes]]:
    """Simulate the bootstrap resamples of a block, as counts of every unit.

    A unit is an item or a cluster. Counts are drawn from Poisson distributions and completed to the number of units.
    This is several times faster than drawing and counting indices.

    Args:
        units: Number of units.
        draws: Number of resamples of the block.
        block: Number of the block.
        seed: Seed of the random numbers.
        stratum: Key of the stratum for the random numbers.
        loops: Implementation of the inner loops.

    Yields:
        A slice of the resamples, and the counts [resamples of the slice, units].
    """
    # The counts of a resample of n units are multinomial. Independent Poisson counts with a given sum N are
    # multinomial, too, so n - N further random units complete them. A row with N > n is generated again, which does not
    # change the distribution. Two Poisson counts are looked up in a table by 16 random bits, and more bits are used if
    # the table is ambiguous.
    rng = np.random.Generator(stream(seed, COUNTS, block, *stratum))
    step = max(1, _CELLS // units)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        counts, missing = _draw_poisson_rows(rng, rows, units, loops)
        while len(too_large := np.flatnonzero(missing < 0)):
            counts[too_large], missing[too_large] = _draw_poisson_rows(rng, len(too_large), units, loops)
        loops.add_ones(counts, missing, rng.integers(0, units, int(missing.sum()), dtype=np.uint32))
        yield slice(start, start + rows), counts


def draw_counts(strata: Ints | None, units: int, seed: int, numbered_block: tuple[int, int]) -> Bytes:
    """Draw bootstrap resamples: return how often each resample contains each unit.

    Args:
        strata: Stratum of each unit (item or cluster), numbered from 0, [units]; None: one stratum.
        units: Number of units.
        seed: Seed of the random numbers.
        numbered_block: Number of the block of resamples, and its number of resamples, as in `blocks`.

    Returns:
        Counts, [resamples, units].
    """
    block, draws = numbered_block
    counts = np.empty((draws, units), dtype=np.uint8)
    for stratum, members in group_by_stratum(strata, units):
        for rows, stratum_counts in draw_resamples(len(members), draws, block, seed, stratum):
            counts[rows, members] = stratum_counts
    return counts


def _draw_poisson_rows(rng: np.random.Generator, rows: int, units: int, loops: Loops) -> tuple[Bytes, Ints]:
    """Return rows of random Poisson counts, and `units` minus the sum of each row.

    The mean of the counts is below 1, so that few sums exceed `units`.

    Args:
        rng: The random number generator.
        rows: Number of rows.
        units: Number of counts in a row.
        loops: Implementation of the inner loops.

    Returns:
        Counts, [rows, units]; and differences, [rows], which are negative if the sum exceeds `units`.
    """
    mean = max(0.0, 1 - 2.5 / math.sqrt(units))  # 1 row in 160 has too many units
    if not mean:
        return np.zeros((rows, units), dtype=np.uint8), np.full(rows, units)
    table, distribution, base = _tabulate_poisson(mean)
    n_pairs = -(-rows * units // 2)
    words = rng.integers(0, _MAX_WORD, -(-n_pairs // 4), dtype=np.uint64, endpoint=True).astype("<u8", copy=False)
    bits = words.view("<u2")[:n_pairs]
    pairs, unclear = loops.look_up(table, bits)
    uniform = (bits[unclear] + rng.random(len(unclear))) / 2**16
    outcomes = np.searchsorted(distribution, uniform, side="right")
    counts = pairs.view(np.uint8)
    counts[2 * unclear], counts[2 * unclear + 1] = outcomes // base, outcomes % base
    counts = counts[:rows * units].reshape(rows, units)
    return counts, units - loops.sums(counts)


@cache
def _tabulate_poisson(mean: float) -> tuple[NDArray[np.uint16], Floats, int]:
    """Return a table that maps 16 random bits to two Poisson counts.

    An entry of the table contains two counts of one byte each, or `UNCLEAR` if more bits are needed.

    Returns:
        The table; the distribution of a pair of counts (i, j) with the number i * base + j, as P(number <= k) for each
            k; and the base.
    """
    masses = [math.exp(-mean)]
    while masses[-1] > 1e-18:
        masses.append(masses[-1] * mean / len(masses))
    base = len(masses)
    distribution = np.cumsum(np.outer(masses, masses))
    outcomes = np.searchsorted(distribution, np.arange(2**16) / 2**16, side="right")
    table = np.stack([outcomes // base, outcomes % base], axis=1).astype(np.uint8).view(np.uint16)[:, 0]
    table[np.minimum((distribution * 2**16).astype(np.int64), 2**16 - 1)] = UNCLEAR
    return table, distribution, base


def _sum_permuted_block(columns: Columns, seed: int, use: Callable[[Floats], Used],
                        numbered_block: tuple[int, int]) -> Used:
    block, draws = numbered_block
    permutations = draw_permutations(columns.stored.shape[0], block, seed)
    sums = reduce(np.add, (columns.compute_sums(swapped, units) for units, swapped in permutations))
    return use(columns.lay_out(sums[:, :draws]))


def _sum_resampled_block(strata: list[tuple[tuple[int, ...], Columns]], n_elements: float, seed: int,
                        use: Callable[[Floats], Used], numbered_block: tuple[int, int]) -> Used:
    (block, draws), fast_loops = numbered_block, loops(n_elements)
    sums = reduce(np.add, (
        np.concatenate([
            reduce(np.add, (columns.compute_sums(counts[:, units].T, units) for units in columns.list_blocks()))
            for counts in _join_resamples(draw_resamples(columns.stored.shape[0], draws, block, seed, stratum,
                                                         fast_loops))], axis=1)
        for stratum, columns in strata))
    return use(strata[0][1].lay_out(sums))


def _join_resamples(resamples: Iterator[tuple[slice, Bytes]]) -> Iterator[Bytes]:
    """Join blocks of resamples, so that one matrix product handles several blocks.

    Args:
        resamples: Slices of resamples, and how often each of these resamples contains each unit.

    Yields:
        Counts, [resamples, units], of at most `_TOGETHER` values, unless a single slice is larger.
    """
    waiting: list[Bytes] = []
    for _, counts in resamples:
        if waiting and sum(part.size for part in waiting) + counts.size > _TOGETHER:
            yield np.concatenate(waiting)
            waiting = []
        waiting.append(counts)
    yield np.concatenate(waiting) if len(waiting) > 1 else waiting[0]


def stream(seed: int, *key: int) -> np.random.PCG64:
    """Return a random number generator that depends only on a seed and a key.

    Different keys yield independent random numbers, in any order of the calls.

    Args:
        seed: Seed of the random numbers.
        key: Kind of the random numbers (such as `SIGNS`), the number of the block, and further numbers.
    """
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key))


def blocks(resamples: int) -> list[tuple[int, int]]:
    """Divide resamples into blocks; return the number and size of each block.

    The blocks are numbered from 0, and all but the last one have `BLOCK` resamples.
    """
    return [(block, min(BLOCK, resamples - start)) for block, start in enumerate(range(0, resamples, BLOCK))]
