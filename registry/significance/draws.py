"""Random draws that depend on the seed alone: blocks of fixed size, each with a stream of its own.

Block b of a kind comes from `SeedSequence(seed, spawn_key=(kind, b))`, so a result does not depend on the order of
systems, on how many blocks are held at once, or on who computes them. All systems share the draws: one matrix product
per block. Sums are exact where those of the statistics are (whole numbers, or multiples of 2^-30), hence the same for
any order of summation.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from registry.significance.matrix import Floats

Task = TypeVar("Task")
Result = TypeVar("Result")

BLOCK = 256  # draws in a block
SIGNS, COUNTS = 0, 1  # the kinds of streams: of permutations and of bootstraps

_CHUNK = 2**16  # units whose bits are expanded at once: 64 MiB of float32


def swapped_sums(statistics: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw a random half of the units again and again, and sum the statistics over it.

    Each draw takes every unit with probability 1/2, the same units for all systems: the units that a permutation
    swaps.

    Args:
        statistics: [units, systems, columns].
        resamples: How many draws.
        seed: Of the streams.

    Yields:
        Sums [draws, systems, columns], a block at a time.
    """
    flat, shape = _flat(statistics), statistics.shape[1:]
    for block, draws in _blocks(resamples):
        stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(SIGNS, block)))
        sums = np.zeros((flat.shape[1], BLOCK))
        for at in range(0, len(flat), _CHUNK):
            part = flat[at:at + _CHUNK]
            words = stream.random_raw((len(part), BLOCK // 64)).astype("<u8", copy=False)
            taken = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(flat.dtype)
            sums += part.T @ taken
        yield sums[:, :draws].T.reshape(draws, *shape)


def resampled_sums(statistics: Floats, resamples: int, seed: int, use: Callable[[Floats], Floats]) -> Iterator[Floats]:
    """Draw as many units as there are, with replacement, again and again, and sum the statistics over them.

    Args:
        statistics: [units, systems, columns].
        resamples: How many draws.
        seed: Of the streams.
        use: What becomes of the sums [draws, systems, columns] of a block; blocks are worked on by several threads.

    Yields:
        What `use` gives, block by block in their order.
    """
    flat, shape = _flat(statistics), statistics.shape[1:]
    units = len(flat)
    some = max(1, _CHUNK * 64 // units)  # draws whose counts are held at once: at most 32 MiB of indices

    def work(numbered: tuple[int, int]) -> Floats:
        block, draws = numbered
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(COUNTS, block))))
        sums = np.empty((draws, flat.shape[1]))
        for at in range(0, draws, some):
            rows = min(some, draws - at)
            drawn = rng.integers(0, units, (rows, units), dtype=np.uint32)
            cells = np.add(drawn, np.arange(0, rows * units, units)[:, None], dtype=np.int64)
            counts = np.bincount(cells.ravel(), minlength=rows * units).astype(flat.dtype)
            sums[at:at + rows] = counts.reshape(rows, units) @ flat
        return use(sums.reshape(draws, *shape))

    with threadpool_limits(1, "blas"):  # the threads are here
        yield from in_threads(work, _blocks(resamples))


def in_threads(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Work on tasks in as many threads as there are processors, and give the results in the order of the tasks.

    Only a few tasks are ahead of the results that were taken, which bounds the memory.
    """
    workers = os.cpu_count() or 1
    ahead: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for task in tasks:
            ahead.append(pool.submit(work, task))
            if len(ahead) > 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _flat(statistics: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.float32 | np.float64]]:
    """The statistics as [units, systems * columns], in float32 where every sum of a draw is exact there."""
    flat = statistics.reshape(len(statistics), -1)
    whole = np.array_equal(flat, np.rint(flat))
    fits = whole and len(flat) * np.abs(flat).max(initial=0) < 2**24
    return np.ascontiguousarray(flat, dtype=np.float32 if fits else np.float64)


def _blocks(resamples: int) -> Iterator[tuple[int, int]]:
    """The number of each block, and how many of its draws are wanted."""
    for block, start in enumerate(range(0, resamples, BLOCK)):
        yield block, min(BLOCK, resamples - start)
