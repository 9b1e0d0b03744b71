"""The width of the window that the ideal bootstrap transforms, and which pairs need too wide a window."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import ObservedPairs
from registry.significance.matrix import Matrix

MAX_CELLS = 2**18  # of a window, some 40 bytes and 100 ns each; beyond it Monte Carlo is the better answer
LOG_OUTSIDE = -52.0  # the logarithm of the probability that lies beyond an edge of the window
_AROUND = 2 ** np.linspace(-5, 3, 33)  # times what is best for a normal distribution


def too_fine(pairs: ObservedPairs) -> Flags:
    """Whether the lattice of pairs that share their denominators is surely too fine for `ideal_tail`, [pairs].

    It is for scores with many digits, which few units show at little cost; `ideal_tail` finds the other cases. Each
    pair is counted in its own common steps, whatever other systems need.
    """
    fine = np.zeros(len(pairs), dtype=bool)
    if not len(pairs):
        return fine
    alone = pairs.alone
    matrix, a, b = alone.matrix, alone.a, alone.b
    sums = own = np.zeros(matrix.statistics.shape[1], dtype=np.int64)
    for over, _ in matrix.parts_by_block():
        if (np.abs(sums) + np.abs(over).sum(axis=0)).max() >= 2**53 or (over != np.rint(over)).any():
            return fine
        sums = sums + over.sum(axis=0)
        own = np.gcd(own, np.gcd.reduce(over.astype(np.int64), axis=0))
    return _surely_wide(matrix, a, b, np.maximum(1, np.gcd(own[a], own[b])), sums / len(matrix.statistics))


def _surely_wide(matrix: Matrix, a: Ints, b: Ints, steps: Ints, means: Floats) -> Flags:
    """Whether differences of systems are too wide in `steps` [pairs], beyond any rounding; `means` are [systems]."""
    n = len(matrix.statistics)
    few = next(matrix.parts_by_block())[0][:8].astype(np.int64)
    few = few[:, a] - few[:, b]
    products = reduce(np.add, ((over - means).T @ (over - means) for over, _ in matrix.parts_by_block()))
    variances = (products[a, a] + products[b, b] - 2 * products[a, b]) / n
    return np.asarray((np.gcd.reduce(few - few[0]) == steps) & (_width(variances, n) > 1.001 * MAX_CELLS * steps))


def is_wide(differences: Ints) -> bool:
    """Whether the window of sums of draws of the unit differences needs more than `MAX_CELLS`."""
    width = float(_width(differences.var(), len(differences)))
    return width > MAX_CELLS and width > MAX_CELLS * int(np.gcd.reduce(differences - differences[0]))


def _width(variances: Floats, draws: int) -> Floats:
    """The width between the edges (`edge`) of sums of so many draws, approximated by the normal distribution."""
    return 2 * np.sqrt(-2 * LOG_OUTSIDE * draws * np.maximum(variances, 0))


def edge(places: Ints, log_shares: Floats, draws: int) -> int:
    """A place that the sum of draws exceeds with a probability below exp(LOG_OUTSIDE), by Chernoff's inequality.

    P(sum >= e) <= exp(draws K(s) - s e) for any s > 0, with K the logarithm of the moment generating function of a
    draw. The best of some s around that of a normal distribution is good enough.
    """
    if not places.any():
        return 0
    shares = np.exp(log_shares)
    deviation = math.sqrt(shares @ (places - shares @ places) ** 2) + 1e-9 * float(np.ptp(places)) + 1e-300
    s = math.sqrt(-2 * LOG_OUTSIDE / draws) / deviation * _AROUND
    grown = np.logaddexp.reduce(log_shares[:, None] + places[:, None] * s, axis=0)
    return min(draws * int(places.max()), math.floor(float(((draws * grown - LOG_OUTSIDE) / s).min())))
