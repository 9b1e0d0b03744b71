"""Correlations with gold values: Pearson's r, Spearman's rho and Kendall's tau-b, resampled and swapped.

A correlation is not a function of sums over items. The bootstrap weights each item by the number of times that it is
drawn: an item of weight c counts as c tied items. The permutation test swaps standardized predictions (Deutsch, Dror
and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods"). All metrics share
the random numbers. Sums are of whole numbers below 2^53 and exact, so a score depends neither on the order of summation
nor on other systems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import ROUNDING, Floats, Ints
from registry.families import decimal_places
from registry.messages import Message
from registry.significance.base import Pair, Settings
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.matrix import Matrix
from registry.significance.resampling.draws import BLOCK, blocks, draw_counts, draw_permutations
from registry.significance.units import midranks

ROWS = 512  # items that are compared with all others in one block


def compute_weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r under weights.

    Every value is represented by its distance from the median, to 2^-36 of the largest distance or finer (up to 65,536
    items), in two pieces that are short enough for sums of their products to be exact.
    """
    weights_ = weights.astype(np.float64, copy=False)
    total = weights_.sum(axis=1)[:, None]
    bits = (53 - math.ceil(math.log2(max(2.0, float(total.max(initial=0)))))) // 2
    sides = [[(piece, weights_ @ piece) for piece in _pieces(side, bits)] for side in (_columns(x), y[:, None])]

    def common(first: int, second: int) -> Floats:  # each term is exactly 0 if p or q is the same in all draws
        return np.asarray(sum(total * (weights_ @ (p * q)) - sum_p * sum_q
                              for p, sum_p in sides[first] for q, sum_q in sides[second]))

    return quotient(common(0, 1), common(0, 0), common(1, 1)).reshape(len(weights), *x.shape[1:])


def compute_weighted_spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho under weights: Pearson's r of the midranks in a resample; exact up to 200,000 items."""
    weights_ = weights.astype(np.float64, copy=False)
    gold = Groups.of(y)
    through = gold.through(weights_)
    pulls, spread = gold.by_item(imbalances(through)) * weights_, rank_spread(sizes(through))
    scores = []
    for groups in map(Groups.of, _columns(x).T):
        through = groups.through(weights_)
        scores.append(quotient(dot(groups.by_item(imbalances(through)), pulls), rank_spread(sizes(through)), spread))
    return np.stack(scores, axis=1).reshape(len(weights), *x.shape[1:])


def compute_weighted_kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b under weights.

    The excess of concordant over discordant pairs is a quadratic form of the weights whose matrix is made of products
    of signs. Time grows with the square of the items, memory does not.
    """
    weights_ = weights.astype(np.float64, copy=False)
    short = weights_.astype(np.float32) if weights_.sum(axis=1).max(initial=0) < 2**24 else weights_  # exact in either
    excess = np.zeros((_columns(x).shape[1], len(weights_)))
    for start in range(0, len(y), ROWS):
        gold = np.triu(signs(y, y, start))
        for n, column in enumerate(_columns(x).T):
            excess[n] += form(gold * signs(column, column, start), short, start)
    spread, *spreads = (compute_norm(sizes(Groups.of(values).through(weights_))) for values in (y, *_columns(x).T))
    scores = [quotient(2 * e, s, spread) for e, s in zip(excess, spreads, strict=True)]
    return np.stack(scores, axis=1).reshape(len(weights), *x.shape[1:])


@dataclass(frozen=True, eq=False)
class Groups:
    """Items in groups of equal value, in ascending order.

    Attributes:
        order: The order of the items by value.
        ends: The place of the last item of each group in that order.
        group: The number of each item's group.
    """

    order: Ints
    ends: Ints
    group: Ints

    @classmethod
    def of(cls, values: Floats) -> Groups:
        """Group values [items]."""
        _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(np.argsort(group, kind="stable"), np.cumsum(counts) - 1, group)

    def through(self, weights: NDArray[Any]) -> Floats:
        """Sum the weights of items up to and including each group: from [draws, items] to [draws, groups]."""
        ascending = weights.take(self.order, axis=1).astype(np.float64, copy=False)  # adding up bits as bits is slower
        return np.cumsum(ascending, axis=1).take(self.ends, axis=1)

    def by_item(self, values: Floats) -> Floats:
        """Give each item the value of its group: from [draws, groups] to [draws, items]."""
        return values.take(self.group, axis=1)


def sizes(through: Floats) -> Floats:
    """Return the weight of each group, [draws, groups]."""
    group_sizes = through.copy()
    group_sizes[:, 1:] -= through[:, :-1]
    return group_sizes


def imbalances(through: Floats) -> Floats:
    """Count items below each group minus items above it: twice its midrank's distance from the mean rank."""
    differences = through - through[:, -1:]
    differences[:, 1:] += through[:, :-1]
    return np.asarray(differences)


def rank_spread(groups: Floats) -> Floats:
    """Sum the squares of all items' imbalances: (n^3 - the sum of t^3) / 3, for groups of t items."""
    return np.asarray((groups.sum(axis=1) ** 3 - dot(groups * groups, groups)) / 3)


def compute_norm(groups: Floats) -> Floats:
    """Count pairs of items in different groups, times two: n^2 - the sum of t^2, for groups of t items."""
    return np.asarray(groups.sum(axis=1) ** 2 - dot(groups, groups))


def signs(first: Floats, second: Floats, index: int) -> NDArray[np.int8]:
    """Return the signs of first[i] - second[j], for `ROWS` items i from `index` and all items j from there."""
    i, j = first[index:index + ROWS, None], second[None, index:]
    return (i > j).astype(np.int8) - (i < j).astype(np.int8)


def form(rows: NDArray[np.int8], weights: NDArray[Any], index: int) -> Floats:
    """Return the quadratic form of each draw's `weights` [draws, items] with rows from `index` of a triangular matrix.

    Only its last sum can be too large for single precision.
    """
    pulled = weights[:, index:index + len(rows)] @ rows.astype(weights.dtype)
    return np.asarray(np.einsum("di,di->d", pulled, weights[:, index:], dtype=np.float64))


def quotient(common: Floats, first: Floats, second: Floats) -> Floats:
    """Return a covariance over the geometric mean of two sums of squares, up to a factor; nan if one is 0."""
    denominator = first * second
    scores = np.divide(common, np.sqrt(denominator), out=np.full(common.shape, np.nan), where=denominator > 0)
    return np.asarray(np.clip(scores, -1, 1))


def dot(first: Floats, second: Floats) -> Floats:
    """Sum the products of each draw."""
    return np.asarray(np.einsum("di,di->d", first, second))


def _pieces(values: Floats, bits: int) -> tuple[Floats, Floats]:
    """Split each column's distances from its median, in units of its own, into two pieces a 2^bits and b.

    Both a and b are whole numbers of 2^bits at most.
    """
    distances = values - np.median(values, axis=0)
    _, exponents = np.frexp(np.abs(distances).max(axis=0))
    whole = np.rint(np.ldexp(distances, 2 * bits - exponents))
    high = np.ldexp(np.rint(np.ldexp(whole, -bits)), bits)
    return high, whole - high


def _columns(x: Floats) -> Floats:
    return x.reshape(len(x), -1)


Bits = NDArray[np.uint8]
# the scores [draws] of two systems, from swaps [draws, items] that are 1 for an item that is swapped, else 0
Swapped = Callable[[Bits], tuple[Floats, Floats]]

_NOTHING = 1e-12  # the share of a sum of squares that is rounding, where a spread should be 0


def z_scores(values: Floats) -> Floats:
    """Standardize values [items] to a mean of 0 and a standard deviation of 1; nan where all are equal.

    Decimals become whole numbers of their last digit, so that percentages and shares give the same result.
    """
    places = decimal_places(values)
    plain = values if places is None else np.rint(values * 10.0**places)
    deviation = float(plain.std())
    return np.asarray((plain - plain.mean()) / (deviation or np.nan))


def swap_pearson(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Pearson's r after swaps of z-scores, from the sums of z, z^2 and z y over what a system holds.

    `first` [3] are the sums of A, `moves` [items, 3] what a swap adds to them, `both` [3] the sums of A and B.
    """
    gold = z_scores(y)
    sums_a, sums_b = (np.stack([side, side * side, side * gold], axis=1) for side in (a, b))
    first, moves, both = sums_a.sum(axis=0), sums_b - sums_a, (sums_a + sums_b).sum(axis=0)

    def score(sums: Floats) -> Floats:
        squares = len(moves) * sums[:, 1]
        spread = squares - sums[:, 0] ** 2
        return quotient(sums[:, 2], np.where(spread > _NOTHING * squares, spread, 0), np.ones(1))

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        sums = first + swaps.astype(np.float64) @ moves
        return score(sums), score(both - sums)

    return scores


def swap_spearman(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Spearman's rho after swaps of ranks.

    `both` groups the ranks of A and, after them, of B. `deviations` [2 items] are twice the deviations of the items'
    gold ranks from their mean, once for A's and once for B's predictions; `sum_of_squares` is that of one system's, and
    `odd` [items] the odd part's coefficients.

    The odd part of item i is that of moving it from its place in A's ranks to that in B's, among the ranks of both: the
    sum over all their items j of sign(rank - rank_j) (deviation_i - deviation_j).
    """
    both, deviations = Groups.of(np.concatenate([a, b])), np.tile(2 * midranks(y) - (len(y) + 1), 2)
    everything = both.through(np.stack([np.ones(len(deviations)), deviations]))
    count, pulled = both.by_item(imbalances(everything))
    pulled_a, pulled_b = np.split(deviations * count - pulled, 2)
    sum_of_squares, odd = np.array([deviations @ deviations / 2]), (pulled_a - pulled_b) / 4

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        weights = np.concatenate([1 - swaps, swaps], axis=1)
        through = both.through(weights)
        of_a = dot(both.by_item(imbalances(through)), deviations * weights)
        of_b = of_a - 2 * ((1 - 2 * swaps.astype(np.float32)) @ odd)
        sizes_a = sizes(through)
        sizes_b = np.diff(both.ends, prepend=-1) - sizes_a
        return (quotient(of_a, rank_spread(sizes_a), sum_of_squares),
                quotient(of_b, rank_spread(sizes_b), sum_of_squares))

    return scores


def swap_kendall(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Kendall's tau-b after swaps of ranks.

    What a system has in common with the gold is its excess of concordant over discordant pairs. Four times the even
    part is `constant` + s `even` s, with the rows of a triangular matrix in pieces; four times the odd part is `odd` s.
    `spread` is twice the number of pairs that the gold does not tie.
    """
    constant, even, odd = 0, [], np.zeros(len(y))
    for start in range(0, len(y), ROWS):
        gold = np.triu(signs(y, y, start))
        aa, ab, ba, bb = (gold * signs(i, j, start) for i in (a, b) for j in (a, b))
        constant += int((aa + ab + ba + bb).sum())
        even.append(aa - ab - ba + bb)
        odd[start:start + ROWS] += (aa + ab - ba - bb).sum(axis=1)
        odd[start:] += (aa - ab + ba - bb).sum(axis=0)
    both, spread = Groups.of(np.concatenate([a, b])), compute_norm(sizes(Groups.of(y).through(np.ones((1, len(y))))))

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        stays = 1 - 2 * swaps.astype(np.float32)
        even_part = constant + sum(form(rows, stays, n * ROWS) for n, rows in enumerate(even))
        odd_part = stays @ odd
        sizes_a = sizes(both.through(np.concatenate([1 - swaps, swaps], axis=1)))
        sizes_b = np.diff(both.ends, prepend=-1) - sizes_a
        return (quotient((even_part + odd_part) / 2, compute_norm(sizes_a), spread),
                quotient((even_part - odd_part) / 2, compute_norm(sizes_b), spread))

    return scores


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


PEARSON = Coefficient("pearson", compute_weighted_pearson, z_scores, swap_pearson)
SPEARMAN = Coefficient("spearman", compute_weighted_spearman, midranks, swap_spearman)
KENDALL = Coefficient("kendall", compute_weighted_kendall, midranks, swap_kendall)
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
        """Predictions, [items, systems]."""
        return self.statistics[:, :, 0]

    @property
    def y(self) -> Floats:
        """Gold values, [items]."""
        return self.statistics[:, 0, 1]

    @property
    def by_unit(self) -> PairMatrix:
        """The same matrix: `units` assigns its items to units."""
        return self

    def scores(self) -> Floats:
        return np.asarray(self.weighted(np.ones((1, self.n_units)))[0])

    def weighted(self, weights: Floats) -> Floats:
        """Score every system under weights [draws, units], which are whole numbers: [draws, systems]."""
        step = max(1, _CELLS // len(self.statistics))
        return np.concatenate([
            self.coefficient.weighted(self.x, self.y, self.by_item(weights[start:start + step]))
            for start in range(0, len(weights), step)])

    def jackknife(self) -> Floats:
        units = np.arange(self.n_units)
        return np.concatenate([
            self.weighted((units[start:start + BLOCK, None] != units).astype(np.float64))
            for start in range(0, len(units), BLOCK)])

    def standardize(self, pair: Pair) -> tuple[Floats, Floats]:
        """Return the standardized predictions of two systems, [items] each."""
        a, b = (self.coefficient.standardized(self.x[:, system]) for system in pair)
        return a, b

    def prepare_swaps(self, pair: Pair) -> Swapped:
        """Return the function from swaps of a pair's standardized predictions to the scores of both."""
        return self.coefficient.swapped(*self.standardize(pair), self.y)

    def by_item(self, of_units: OfUnits) -> OfUnits:
        """Give each item the value of its unit: from [draws, units] to [draws, items]."""
        return of_units if self.units is None else of_units[:, self.units]


def resample_correlations(matrix: PairMatrix, settings: Settings) -> Iterator[Floats]:
    """Score every system in resamples of the units, within strata; the draws are those of `sum_resamples`.

    Yields:
        Scores [draws, systems], block by block in their order.
    """
    return settings.execution.map(partial(_score_block, matrix, settings.seed), blocks(settings.resamples))


def _score_block(matrix: PairMatrix, seed: int, numbered: tuple[int, int]) -> Floats:
    return matrix.weighted(draw_counts(matrix.unit_strata, matrix.n_units, seed, numbered).astype(np.float64))


def swap_differences(matrix: PairMatrix, pairs: Sequence[Pair], settings: Settings,
                        use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Swap the standardized predictions of each pair in the units that `sum_permutations` draws.

    Args:
        matrix: Matrix of all systems.
        pairs: Pairs, each of which swaps its own two systems.
        settings: Number of draws, seed of their streams, and workers.
        use: A function of the differences [draws, pairs] of some draws, positive if the first system is better.

    Yields:
        The results of `use` in the order of the draws.
    """
    alone = replace(matrix, resampled=None)  # shared resamples are not sent to a cluster
    swapped = partial(_score_swapped_blocks, alone, pairs, settings.seed, use)
    return settings.execution.map(swapped, list(_parts(settings.resamples, _TOGETHER)))


def compute_all_swaps(matrix: PairMatrix, pair: Pair) -> Floats:
    """Return the differences of a pair after all ways to swap it in the units of `find_differing_units`."""
    scores, differ = matrix.prepare_swaps(pair), find_differing_units(matrix, pair)
    results = []
    for draws in _parts(2**len(differ), BLOCK):
        is_swapped = np.zeros((len(draws), matrix.n_units), dtype=np.uint8)
        is_swapped[:, differ] = np.array(draws)[:, None] >> np.arange(len(differ)) & 1
        results.append(_differences(matrix, scores, is_swapped))
    return np.concatenate(results)


def compute_unswapped(matrix: PairMatrix, pair: Pair) -> float:
    """Return the observed difference of a pair, computed like the swapped ones."""
    return float(_differences(matrix, matrix.prepare_swaps(pair), np.zeros((1, matrix.n_units), dtype=np.uint8))[0])


def find_differing_units(matrix: PairMatrix, pair: Pair) -> Ints:
    """Return the units in which two systems' standardized predictions differ by more than rounding."""
    a, b = matrix.standardize(pair)
    items = np.flatnonzero(np.abs(a - b) > ROUNDING * max(np.abs(a).max(), np.abs(b).max()))
    return items if matrix.units is None else np.unique(matrix.units[items])


def _score_swapped_blocks(matrix: PairMatrix, pairs: Sequence[Pair], seed: int, use: Callable[[Floats], Used],
                    draws: range) -> Used:
    differences = np.empty((len(draws), len(pairs)))
    for n, pair in enumerate(pairs):
        scores = matrix.prepare_swaps(pair)
        for part in _parts(len(draws), BLOCK):
            block = draws[part.start] // BLOCK
            drawn = np.concatenate([bits for _, bits in draw_permutations(matrix.n_units, block, seed)])
            differences[part.start:part.stop, n] = _differences(matrix, scores, drawn[:, :len(part)].T)
    return use(differences)


def _differences(matrix: PairMatrix, scores: Swapped, swaps: Bits) -> Floats:
    """Return the differences [draws] of a pair after swaps of the `swaps` units [draws, units]."""
    step = max(1, _CELLS // (2 * len(matrix.statistics)))
    return np.concatenate([
        matrix.difference(*scores(np.ascontiguousarray(matrix.by_item(swaps[start:start + step]))))
        for start in range(0, len(swaps), step)])


def _parts(draws: int, most: int) -> Iterator[range]:
    return (range(start, min(start + most, draws)) for start in range(0, draws, most))


_ALIKE = 0.5  # correlations of predictions above which a test of few items rejects in more than 6 % at 5 %
_FEW = 20  # units below which Pearson's r does
_PLACES = 10.0  # items times sqrt(1 - r), about the number of ranks by which an item moves, below which ranks do
_MANY = 2000  # items above which only nearly equal ranks would be flagged



def find_alike_predictions(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Flag pairs whose predictions correlate with each other too highly for their number of items.

    Each system's predictions are standardized by the test set itself, and swapped only then. A swap brings values on
    the scale of the other system's sample. As much as the scales and ranks of the two samples differ by chance, systems
    are not exchangeable, which matters if they hardly differ otherwise. Pearson's r needs few items; ranks are whole
    numbers in addition, which swaps tie if two systems order items in nearly the same way (docs/limits.md).
    """
    matrix, a, b = pairs
    if not isinstance(matrix, PairMatrix) or not (
            matrix.n_units < _FEW if matrix.coefficient is PEARSON else len(matrix.x) <= _MANY):
        return
    standardized = np.stack([matrix.coefficient.standardized(column) for column in matrix.x.T])
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.asarray(np.corrcoef(standardized))[a, b]
        flags = (r > _ALIKE) & (r < 1 - math.sqrt(ROUNDING))
        if matrix.coefficient is not PEARSON:
            flags &= len(matrix.x) * np.sqrt(np.maximum(0, 1 - r)) < _PLACES
    yield PairWarning(np.asarray(flags), Message("similar-predictions"))
