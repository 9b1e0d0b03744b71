"""Random draws that depend on the seed alone: blocks of fixed size, each with a stream of its own.

Block b of a kind comes from `SeedSequence(seed, spawn_key=(kind, b))`, so a result does not depend on the order of
systems, on how many blocks are held at once, or on who computes them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.significance.matrix import Floats

BLOCK = 256  # draws in a block
SIGNS = 0  # the kind of stream that permutations draw from

_CHUNK = 2**16  # units whose bits are expanded at once: 64 MiB of float32


def swapped_sums(statistics: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw a random half of the units again and again, and sum the statistics over it.

    Each draw takes every unit with probability 1/2, the same units for all systems: the units that a permutation
    swaps. All systems share one matrix product per block.

    Args:
        statistics: [units, systems, columns].
        resamples: How many draws.
        seed: Of the streams.

    Yields:
        Sums [draws, systems, columns], a block at a time. They are exact where the sums of the statistics are (whole
        numbers, or multiples of 2^-30), hence the same for any order of summation.
    """
    units, *shape = statistics.shape
    flat = statistics.reshape(units, -1)
    whole = np.array_equal(flat, np.rint(flat))
    fits = whole and np.abs(flat).sum(axis=0).max(initial=0) < 2**24
    flat = np.ascontiguousarray(flat.T, dtype=np.float32 if fits else np.float64)
    for block, start in enumerate(range(0, resamples, BLOCK)):
        stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(SIGNS, block)))
        sums = np.zeros((flat.shape[0], BLOCK))
        for at in range(0, units, _CHUNK):
            part = flat[:, at:at + _CHUNK]
            words = stream.random_raw((part.shape[1], BLOCK // 64)).astype("<u8", copy=False)
            taken = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(flat.dtype)
            sums += part @ taken
        draws = min(BLOCK, resamples - start)
        yield sums[:, :draws].T.reshape(draws, *shape)
