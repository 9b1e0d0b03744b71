"""The matrix of systems that are compared by correlations with gold values, its resamples and its swaps.

Statistics of a correlation do not add up. The bootstrap weights items by how often they are drawn, and the permutation
test swaps standardized predictions (Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation
Metrics Using Resampling Methods"). The draws are those of all other metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from registry.arrays import ROUNDING, Floats, Ints
from registry.significance.base import Pair, Settings
from registry.significance.correlations.coefficients import weighted_kendall, weighted_pearson, weighted_spearman
from registry.significance.correlations.swaps import (
    Bits,
    Swapped,
    swapped_kendall,
    swapped_pearson,
    swapped_spearman,
    z_scores,
)
from registry.significance.matrix import Matrix
from registry.significance.resampling.draws import BLOCK, blocks, resampled_counts, swaps
from registry.significance.units import midranks

Used = TypeVar("Used")
OfUnits = TypeVar("OfUnits", Floats, Bits)

_CELLS = 2**20  # draws times items that are scored together: 8 MiB of float64
_TOGETHER = 16 * BLOCK  # swaps that a pair is prepared for once


@dataclass(frozen=True)
class Coefficient:
    """A correlation coefficient.

    Attributes:
        name: Its name.
        weighted: From predictions, gold values and weights to scores (`coefficients`).
        standardized: From predictions [items] to values that can be swapped between systems, [items].
        swapped: From two systems' standardized predictions and the gold values, [items] each, to their scores by swap.
    """

    name: str
    weighted: Callable[[Floats, Floats, Floats], Floats]
    standardized: Callable[[Floats], Floats]
    swapped: Callable[[Floats, Floats, Floats], Swapped]


PEARSON = Coefficient("pearson", weighted_pearson, z_scores, swapped_pearson)
SPEARMAN = Coefficient("spearman", weighted_spearman, midranks, swapped_spearman)
KENDALL = Coefficient("kendall", weighted_kendall, midranks, swapped_kendall)
COEFFICIENTS = {coefficient.name: coefficient for coefficient in (PEARSON, SPEARMAN, KENDALL)}


@dataclass(frozen=True, eq=False)
class PairMatrix(Matrix):
    """Systems scored by a correlation; the columns are x, a prediction, and y, its gold value.

    They do not add up, so clusters are resampled and swapped by their items.

    Attributes:
        coefficient: The correlation coefficient.
    """

    family: str | None = "pair"
    coefficient: Coefficient = PEARSON

    @property
    def x(self) -> Floats:
        """The predictions, [items, systems]."""
        return self.statistics[:, :, 0]

    @property
    def y(self) -> Floats:
        """The gold values, [items]."""
        return self.statistics[:, 0, 1]

    @property
    def by_unit(self) -> PairMatrix:
        """The same matrix, whose items know their units."""
        return self

    def scores(self) -> Floats:
        return np.asarray(self.weighted(np.ones((1, self.n_units)))[0])

    def weighted(self, weights: Floats) -> Floats:
        """Score every system under weights [draws, units], which are whole numbers: [draws, systems]."""
        some = max(1, _CELLS // len(self.statistics))
        return np.concatenate([
            self.coefficient.weighted(self.x, self.y, self.by_item(weights[at:at + some]))
            for at in range(0, len(weights), some)])

    def jackknife(self) -> Floats:
        units = np.arange(self.n_units)
        return np.concatenate([
            self.weighted((units[at:at + BLOCK, None] != units).astype(np.float64))
            for at in range(0, len(units), BLOCK)])

    def standardized(self, pair: Pair) -> tuple[Floats, Floats]:
        """The standardized predictions of two systems, [items] each."""
        a, b = (self.coefficient.standardized(self.x[:, system]) for system in pair)
        return a, b

    def by_item(self, of_units: OfUnits) -> OfUnits:
        """Give each item the value of its unit: from [draws, units] to [draws, items]."""
        return of_units if self.units is None else of_units[:, self.units]


def resampled_correlations(matrix: PairMatrix, settings: Settings) -> Iterator[Floats]:
    """Score every system in resamples of the units, within strata: those of `draws.resampled_sums`.

    Yields:
        Scores [draws, systems], block by block in their order.
    """
    return settings.execution.map(partial(_resampled_block, matrix, settings.seed), blocks(settings.resamples))


def _resampled_block(matrix: PairMatrix, seed: int, numbered: tuple[int, int]) -> Floats:
    counts = resampled_counts(matrix.unit_strata, matrix.n_units, seed, numbered)
    return matrix.weighted(counts.astype(np.float64))


def swapped_differences(matrix: PairMatrix, pairs: Sequence[Pair], settings: Settings,
                        use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Swap the standardized predictions of each pair in the units that `draws.swapped_sums` takes.

    Args:
        matrix: The matrix of all systems.
        pairs: Pairs, each of which swaps its own two systems.
        settings: The number of draws, the seed of their streams, and who works on them.
        use: A function of the differences [draws, pairs] of some draws, positive where the first system is better.

    Yields:
        The results of `use` in the order of the draws.
    """
    alone = replace(matrix, resampled=None)  # shared resamples are not sent to a cluster
    swapped = partial(_swapped_blocks, alone, pairs, settings.seed, use)
    return settings.execution.map(swapped, list(_parts(settings.resamples, _TOGETHER)))


def all_swapped_differences(matrix: PairMatrix, pair: Pair) -> Floats:
    """The differences of a pair after all ways to swap it in the units of `differing_units`."""
    scores, differ = _prepared(matrix, pair), differing_units(matrix, pair)
    found = []
    for draws in _parts(2**len(differ), BLOCK):
        taken = np.zeros((len(draws), matrix.n_units), dtype=np.uint8)
        taken[:, differ] = np.array(draws)[:, None] >> np.arange(len(differ)) & 1
        found.append(_differences(matrix, scores, taken))
    return np.concatenate(found)


def unswapped_difference(matrix: PairMatrix, pair: Pair) -> float:
    """The observed difference of a pair, computed like the swapped ones."""
    return float(_differences(matrix, _prepared(matrix, pair), np.zeros((1, matrix.n_units), dtype=np.uint8))[0])


def differing_units(matrix: PairMatrix, pair: Pair) -> Ints:
    """The units in which two systems' standardized predictions differ by more than rounding."""
    a, b = matrix.standardized(pair)
    items = np.flatnonzero(np.abs(a - b) > ROUNDING * max(np.abs(a).max(), np.abs(b).max()))
    return items if matrix.units is None else np.unique(matrix.units[items])


def _swapped_blocks(matrix: PairMatrix, pairs: Sequence[Pair], seed: int, use: Callable[[Floats], Used],
                    draws: range) -> Used:
    differences = np.empty((len(draws), len(pairs)))
    for n, pair in enumerate(pairs):
        scores = _prepared(matrix, pair)
        for some in _parts(len(draws), BLOCK):
            block = draws[some.start] // BLOCK
            drawn = np.concatenate([bits for _, bits in swaps(matrix.n_units, block, seed)])
            differences[some.start:some.stop, n] = _differences(matrix, scores, drawn[:, :len(some)].T)
    return use(differences)


def _prepared(matrix: PairMatrix, pair: Pair) -> Swapped:
    """The scores of a pair, prepared for swaps."""
    return matrix.coefficient.swapped(*matrix.standardized(pair), matrix.y)


def _differences(matrix: PairMatrix, scores: Swapped, taken: Bits) -> Floats:
    """The differences [draws] of a pair after swaps of the units that are `taken` [draws, units]."""
    some = max(1, _CELLS // (2 * len(matrix.statistics)))
    return np.concatenate([
        matrix.difference(*scores(np.ascontiguousarray(matrix.by_item(taken[at:at + some]))))
        for at in range(0, len(taken), some)])


def _parts(draws: int, most: int) -> Iterator[range]:
    """The numbers of the draws, some at a time."""
    for at in range(0, draws, most):
        yield range(at, min(at + most, draws))
