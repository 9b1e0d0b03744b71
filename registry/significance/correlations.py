"""Correlations with gold values: Pearson's r, Spearman's rho and Kendall's tau-b.

A correlation is not a function of sums over items. The bootstrap gives each item a weight, the number of times that it
is drawn: an item with weight c counts as c tied items. The permutation test swaps standardized predictions (Deutsch,
Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods"). All metrics
share the random numbers. All sums have whole numbers below 2^53 and are exact, so a score depends neither on the order
of summation nor on other systems.
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
    """Compute Pearson's r of predictions and gold values in bootstrap resamples.

    A resample is given by the weights of the items: how often it contains each item. With up to 65,536 items, values
    are precise to 2^-36 of their largest distance from the median, or better.

    Args:
        x: Predictions, [items, ...].
        y: Gold values, [items].
        weights: Weights, [resamples, items].

    Returns:
        Correlations, [resamples, ...].
    """
    # Distances from the median are split into two parts with few bits, so that sums of products are exact.
    weights_ = weights.astype(np.float64, copy=False)
    total = weights_.sum(axis=1)[:, None]
    bits = (53 - math.ceil(math.log2(max(2.0, float(total.max(initial=0)))))) // 2
    sides = [[(piece, weights_ @ piece) for piece in _pieces(side, bits)] for side in (_columns(x), y[:, None])]

    def common(first: int, second: int) -> Floats:  # each term is exactly 0 if p or q is the same in all drawn items
        return np.asarray(sum(total * (weights_ @ (p * q)) - sum_p * sum_q
                              for p, sum_p in sides[first] for q, sum_q in sides[second]))

    return quotient(common(0, 1), common(0, 0), common(1, 1)).reshape(len(weights), *x.shape[1:])


def compute_weighted_spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Compute Spearman's rho of predictions and gold values in bootstrap resamples.

    Spearman's rho is Pearson's r of the midranks that the items have in the resample. The result is exact for up to
    200,000 items.

    Args:
        x: Predictions, [items, ...].
        y: Gold values, [items].
        weights: How often each resample contains each item, [resamples, items].

    Returns:
        Correlations, [resamples, ...].
    """
    weights_ = weights.astype(np.float64, copy=False)
    gold = Groups.find(y)
    cumulative = gold.cumulate(weights_)
    pulls, spread = gold.by_item(imbalances(cumulative)) * weights_, rank_spread(sizes(cumulative))
    scores = []
    for groups in map(Groups.find, _columns(x).T):
        cumulative = groups.cumulate(weights_)
        common = dot(groups.by_item(imbalances(cumulative)), pulls)
        scores.append(quotient(common, rank_spread(sizes(cumulative)), spread))
    return np.stack(scores, axis=1).reshape(len(weights), *x.shape[1:])


def compute_weighted_kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Compute Kendall's tau-b of predictions and gold values in bootstrap resamples.

    All pairs of items are compared, in blocks, so the time grows with the square of the number of items, but the memory
    does not.

    Args:
        x: Predictions, [items, ...].
        y: Gold values, [items].
        weights: How often each resample contains each item, [resamples, items].

    Returns:
        Correlations, [resamples, ...].
    """
    weights_ = weights.astype(np.float64, copy=False)
    short = weights_.astype(np.float32) if weights_.sum(axis=1).max(initial=0) < 2**24 else weights_  # exact in either
    excess = np.zeros((_columns(x).shape[1], len(weights_)))
    for start in range(0, len(y), ROWS):
        gold = np.triu(signs(y, y, start))
        for n, column in enumerate(_columns(x).T):
            excess[n] += sum_quadratic_form(gold * signs(column, column, start), short, start)
    spread, *spreads = (compute_norm(sizes(Groups.find(values).cumulate(weights_))) for values in (y, *_columns(x).T))
    scores = [quotient(2 * e, s, spread) for e, s in zip(excess, spreads, strict=True)]
    return np.stack(scores, axis=1).reshape(len(weights), *x.shape[1:])


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of items with equal values, in ascending order of the values.

    Rank correlations need such groups, because tied items share their rank.

    Attributes:
        order: Indices of the items in the order of their values.
        ends: Position of the last item of each group in that order.
        group: Group number of each item.
    """

    order: Ints
    ends: Ints
    group: Ints

    @classmethod
    def find(cls, values: Floats) -> Groups:
        """Put items with equal values into the same group.

        Args:
            values: One value per item, [items].
        """
        _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(np.argsort(group, kind="stable"), np.cumsum(counts) - 1, group)

    def cumulate(self, weights: NDArray[Any]) -> Floats:
        """Count the items with at most the value of each group, in several resamples.

        Args:
            weights: How often each resample contains each item, [resamples, items].

        Returns:
            Cumulative counts in the order of the values, [resamples, groups].
        """
        ascending = weights.take(self.order, axis=1).astype(np.float64, copy=False)  # adding up bits as bits is slower
        return np.cumsum(ascending, axis=1).take(self.ends, axis=1)

    def by_item(self, values: Floats) -> Floats:
        """Assign the value of each group to the items in it.

        Args:
            values: One value per group, [resamples, groups].

        Returns:
            One value per item, [resamples, items].
        """
        return values.take(self.group, axis=1)


def sizes(cumulative: Floats) -> Floats:
    """Return the number of items in each group, from cumulative counts.

    Args:
        cumulative: Result of `Groups.cumulate`, [resamples, groups].
    """
    group_sizes = cumulative.copy()
    group_sizes[:, 1:] -= cumulative[:, :-1]
    return group_sizes


def imbalances(cumulative: Floats) -> Floats:
    """Return the number of smaller minus the number of larger items, per value.

    The result is twice the distance of the midrank of the value from the mean rank.

    Args:
        cumulative: Number of items with at most each value, [resamples, values].

    Returns:
        Differences of the two counts, [resamples, values].
    """
    differences = cumulative - cumulative[:, -1:]
    differences[:, 1:] += cumulative[:, :-1]
    return np.asarray(differences)


def rank_spread(groups: Floats) -> Floats:
    """Return four times the sum of squared deviations of midranks from their mean.

    For n items in groups of t tied items it is (n^3 - sum of t^3) / 3.

    Args:
        groups: Number of items in each group of tied items, [resamples, groups].

    Returns:
        Sums, [resamples].
    """
    return np.asarray((groups.sum(axis=1) ** 3 - dot(groups * groups, groups)) / 3)


def compute_norm(groups: Floats) -> Floats:
    """Return twice the number of pairs of items that are not tied.

    For n items in groups of t tied items it is n^2 - sum of t^2.

    Args:
        groups: Number of items in each group of tied items, [resamples, groups].

    Returns:
        Numbers, [resamples].
    """
    return np.asarray(groups.sum(axis=1) ** 2 - dot(groups, groups))


def signs(first: Floats, second: Floats, index: int) -> NDArray[np.int8]:
    """Return the signs of the differences first[i] - second[j] as a matrix.

    To save memory, only some rows are computed: the `ROWS` items i from `index` on. The columns are all items j from
    `index` on.
    """
    i, j = first[index:index + ROWS, None], second[None, index:]
    return (i > j).astype(np.int8) - (i < j).astype(np.int8)


def sum_quadratic_form(rows: NDArray[np.int8], weights: NDArray[Any], index: int) -> Floats:
    """Compute the contribution of some rows of a matrix M to a quadratic form w' M w.

    M is an upper triangular matrix. The last sum uses double precision.

    Args:
        rows: The rows of M from `index` on, without the columns before `index`.
        weights: Several vectors w, [vectors, items].
        index: Index of the first row.

    Returns:
        Values, [vectors].
    """
    pulled = weights[:, index:index + len(rows)] @ rows.astype(weights.dtype)
    return np.asarray(np.einsum("di,di->d", pulled, weights[:, index:], dtype=np.float64))


def quotient(common: Floats, first: Floats, second: Floats) -> Floats:
    """Return a correlation: the covariance divided by both standard deviations.

    The result is nan if a sum of squares is 0.

    Args:
        common: Sums of products (the covariance, up to a factor).
        first: Sums of squares of the first variable.
        second: Sums of squares of the second variable.
    """
    denominator = first * second
    scores = np.divide(common, np.sqrt(denominator), out=np.full(common.shape, np.nan), where=denominator > 0)
    return np.asarray(np.clip(scores, -1, 1))


def dot(first: Floats, second: Floats) -> Floats:
    """Return the dot product of corresponding rows of two matrices."""
    return np.asarray(np.einsum("di,di->d", first, second))


def _pieces(values: Floats, bits: int) -> tuple[Floats, Floats]:
    # Both parts are numbers of steps, with at most bits + 1 significant bits, so that sums of products are exact.
    distances = values - np.median(values, axis=0)
    _, exponents = np.frexp(np.abs(distances).max(axis=0))
    whole = np.rint(np.ldexp(distances, 2 * bits - exponents))
    high = np.ldexp(np.rint(np.ldexp(whole, -bits)), bits)
    return high, whole - high


def _columns(x: Floats) -> Floats:
    return x.reshape(len(x), -1)


Bits = NDArray[np.uint8]
# maps swaps [draws, items], with 1 for a swapped item and 0 for others, to the scores [draws] of two systems
Swapped = Callable[[Bits], tuple[Floats, Floats]]

_NOTHING = 1e-12  # relative to a sum of squares: a smaller spread is a rounding error


def z_scores(values: Floats) -> Floats:
    """Standardize values [items] to mean 0 and standard deviation 1.

    The result is nan if all values are equal. Decimals are converted to whole numbers of their last digit, so that
    percentages and shares give the same result.
    """
    places = decimal_places(values)
    plain = values if places is None else np.rint(values * 10.0**places)
    deviation = float(plain.std())
    return np.asarray((plain - plain.mean()) / (deviation or np.nan))


def swap_pearson(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Return a function that computes Pearson's r after predictions are swapped.

    A permutation test swaps the predictions of two systems A and B in random items. The returned function takes the
    swaps (1 for a swapped item, otherwise 0) and returns the correlation of each system with the gold.

    Args:
        a: z-scores of the predictions of A, [items].
        b: z-scores of the predictions of B, [items].
        y: Gold values, [items].
    """
    gold = z_scores(y)
    # sums of z, z^2 and z y over the items: of A, the changes by each swap, and of A and B together
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
    """Return a function that computes Spearman's rho after predictions are swapped.

    A permutation test swaps the ranks of two systems A and B in random items. The returned function takes the swaps (1
    for a swapped item, otherwise 0) and returns the correlation of each system with the gold.

    Args:
        a: Ranks of the predictions of A, [items].
        b: Ranks of the predictions of B, [items].
        y: Gold values, [items].
    """
    # `both` has the ranks of A and, after them, of B; `deviations` are twice the distances of the items' gold ranks
    # from their mean, for both halves; `odd` are the coefficients of half the difference between A and B. That of item
    # i is the effect of moving it from its rank in A to its rank in B, among the ranks of both systems: the sum over
    # all their items j of sign(rank - rank_j) (deviation_i - deviation_j).
    both, deviations = Groups.find(np.concatenate([a, b])), np.tile(2 * midranks(y) - (len(y) + 1), 2)
    everything = both.cumulate(np.stack([np.ones(len(deviations)), deviations]))
    count, pulled = both.by_item(imbalances(everything))
    pulled_a, pulled_b = np.split(deviations * count - pulled, 2)
    sum_of_squares, odd = np.array([deviations @ deviations / 2]), (pulled_a - pulled_b) / 4

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        weights = np.concatenate([1 - swaps, swaps], axis=1)
        cumulative = both.cumulate(weights)
        of_a = dot(both.by_item(imbalances(cumulative)), deviations * weights)
        of_b = of_a - 2 * ((1 - 2 * swaps.astype(np.float32)) @ odd)
        sizes_a = sizes(cumulative)
        sizes_b = np.diff(both.ends, prepend=-1) - sizes_a
        return (quotient(of_a, rank_spread(sizes_a), sum_of_squares),
                quotient(of_b, rank_spread(sizes_b), sum_of_squares))

    return scores


def swap_kendall(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Return a function that computes Kendall's tau-b after predictions are swapped.

    A permutation test swaps the ranks of two systems A and B in random items. The returned function takes the swaps (1
    for a swapped item, otherwise 0) and returns the correlation of each system with the gold.

    Args:
        a: Ranks of the predictions of A, [items].
        b: Ranks of the predictions of B, [items].
        y: Gold values, [items].
    """
    # Numerators are numbers of concordant minus discordant pairs. Let s be 1 for an item that is not swapped and -1 for
    # a swapped item. Then four times half the sum of both numerators is constant + s even s, with the rows of a
    # triangular matrix in blocks, and four times half their difference is odd s.
    constant, even, odd = 0, [], np.zeros(len(y))
    for start in range(0, len(y), ROWS):
        gold = np.triu(signs(y, y, start))
        aa, ab, ba, bb = (gold * signs(i, j, start) for i in (a, b) for j in (a, b))
        constant += int((aa + ab + ba + bb).sum())
        even.append(aa - ab - ba + bb)
        odd[start:start + ROWS] += (aa + ab - ba - bb).sum(axis=1)
        odd[start:] += (aa - ab + ba - bb).sum(axis=0)
    both = Groups.find(np.concatenate([a, b]))
    # twice the number of pairs that are not tied in the gold
    spread = compute_norm(sizes(Groups.find(y).cumulate(np.ones((1, len(y))))))

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        stays = 1 - 2 * swaps.astype(np.float32)
        even_part = constant + sum(sum_quadratic_form(rows, stays, n * ROWS) for n, rows in enumerate(even))
        odd_part = stays @ odd
        sizes_a = sizes(both.cumulate(np.concatenate([1 - swaps, swaps], axis=1)))
        sizes_b = np.diff(both.ends, prepend=-1) - sizes_a
        return (quotient((even_part + odd_part) / 2, compute_norm(sizes_a), spread),
                quotient((even_part - odd_part) / 2, compute_norm(sizes_b), spread))

    return scores


Used = TypeVar("Used")
OfUnits = TypeVar("OfUnits", Floats, Bits)

_CELLS = 2**20  # draws times items in one block: 8 MiB of float64
_TOGETHER = 16 * BLOCK  # swaps of one task, for which each pair is prepared once


@dataclass(frozen=True)
class Coefficient:
    """A correlation coefficient, and functions that resample and permute it.

    Attributes:
        name: Name of the coefficient.
        weighted: Function of predictions, gold values and the number of times that each resample contains each item. It
            returns the correlation in every bootstrap resample.
        standardized: Function that converts the predictions of a system to z-scores or ranks, so that a permutation
            test can swap them between systems.
        swapped: Function of the converted predictions of two systems and of the gold values. It returns another
            function, which maps swaps (1 for a swapped item, otherwise 0) to the correlations of both systems.
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
    """Systems whose score is the correlation of their predictions with gold values.

    The statistics of an item are the prediction and the gold value. Correlations cannot be computed from sums over
    items. So the items of a cluster are resampled and swapped together, but not summed.

    Attributes:
        coefficient: The correlation coefficient.
    """

    family: str | None = "pair"
    coefficient: Coefficient = PEARSON

    @property
    def x(self) -> Floats:
        """Predictions of all systems, [items, systems]."""
        return self.statistics[:, :, 0]

    @property
    def y(self) -> Floats:
        """Gold values of the items, [items]."""
        return self.statistics[:, 0, 1]

    @property
    def by_unit(self) -> PairMatrix:
        """This object itself: its rows remain items.

        Correlations cannot be computed from sums over the items of a cluster; `units` assigns the items to clusters.
        """
        return self

    def scores(self) -> Floats:
        return np.asarray(self.weighted(np.ones((1, self.n_units)))[0])

    def weighted(self, weights: Floats) -> Floats:
        """Compute the scores of all systems with weighted items, as in a resample.

        Args:
            weights: How often each resample contains each unit (item or cluster), [resamples, units].

        Returns:
            Correlations, [resamples, systems].
        """
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
        """Return the predictions of two systems on a common scale, as z-scores or ranks.

        On a common scale they can be swapped between the systems.

        Args:
            pair: Indices of the two systems.

        Returns:
            z-scores or ranks of each system, [items] each.
        """
        a, b = (self.coefficient.standardized(self.x[:, system]) for system in pair)
        return a, b

    def prepare_swaps(self, pair: Pair) -> Swapped:
        """Return a function that computes the scores of two systems after swaps.

        A permutation test swaps the predictions of the systems in some items.
        """
        return self.coefficient.swapped(*self.standardize(pair), self.y)

    def by_item(self, of_units: OfUnits) -> OfUnits:
        """Assign the value of each cluster to its items.

        Args:
            of_units: One value per unit (item or cluster), [draws, units].

        Returns:
            One value per item, [draws, items]; the argument itself if there are no clusters.
        """
        return of_units if self.units is None else of_units[:, self.units]


def resample_correlations(matrix: PairMatrix, settings: Settings) -> Iterator[Floats]:
    """Compute the correlations of all systems in bootstrap resamples.

    Items or whole clusters are resampled within strata. The random numbers are those of `sum_resamples`.

    Yields:
        Scores of a block of resamples, [resamples, systems].
    """
    return settings.execution.map(partial(_score_block, matrix, settings.seed), blocks(settings.resamples))


def _score_block(matrix: PairMatrix, seed: int, numbered: tuple[int, int]) -> Floats:
    return matrix.weighted(draw_counts(matrix.unit_strata, matrix.n_units, seed, numbered).astype(np.float64))


def swap_differences(matrix: PairMatrix, pairs: Sequence[Pair], settings: Settings,
                        use: Callable[[Floats], Used]) -> Iterator[Used]:
    """Simulate permutations: swap the predictions of two systems in random units.

    A unit is an item or a cluster. The predictions are converted to z-scores or ranks before a swap. All pairs of
    systems swap the same random units, which are those of `sum_permutations`.

    Args:
        matrix: Predictions and gold values of all systems.
        pairs: Pairs of systems; each pair swaps only its own two systems.
        settings: Number of permutations, seed, and workers.
        use: Function that is applied to blocks of differences, [permutations, pairs]; they are positive if the first
            system is better.

    Yields:
        The results of `use` in the order of the permutations.
    """
    alone = replace(matrix, resampled=None)  # shared resamples are not sent to a cluster
    swapped = partial(_score_swapped_blocks, alone, pairs, settings.seed, use)
    return settings.execution.map(swapped, list(_parts(settings.resamples, _TOGETHER)))


def compute_all_swaps(matrix: PairMatrix, pair: Pair) -> Floats:
    """Compute the differences of two systems' correlations for all possible swaps.

    A swap exchanges the predictions of the systems in a set of items or clusters, after they were converted to z-scores
    or ranks. Items or clusters with equal predictions are not swapped, because this would have no effect.
    """
    scores, differ = matrix.prepare_swaps(pair), find_differing_units(matrix, pair)
    results = []
    for draws in _parts(2**len(differ), BLOCK):
        is_swapped = np.zeros((len(draws), matrix.n_units), dtype=np.uint8)
        is_swapped[:, differ] = np.array(draws)[:, None] >> np.arange(len(differ)) & 1
        results.append(_differences(matrix, scores, is_swapped))
    return np.concatenate(results)


def compute_unswapped(matrix: PairMatrix, pair: Pair) -> float:
    """Return the observed difference of two systems' correlations.

    The difference is computed in the same way as those after swaps, so that it has the same rounding errors.
    """
    return float(_differences(matrix, matrix.prepare_swaps(pair), np.zeros((1, matrix.n_units), dtype=np.uint8))[0])


def find_differing_units(matrix: PairMatrix, pair: Pair) -> Ints:
    """Return the items or clusters in which the predictions of two systems differ.

    The predictions are compared as z-scores or ranks. Differences of the size of rounding errors are ignored.
    """
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
    """Compute the differences of two systems' correlations after random swaps.

    A swap exchanges the predictions of the two systems in some units (items or clusters).

    Args:
        matrix: Predictions and gold values of all systems.
        scores: Result of `PairMatrix.prepare_swaps` for the two systems.
        swaps: 1 for a swapped unit, otherwise 0, [permutations, units].

    Returns:
        Differences, [permutations].
    """
    step = max(1, _CELLS // (2 * len(matrix.statistics)))
    return np.concatenate([
        matrix.difference(*scores(np.ascontiguousarray(matrix.by_item(swaps[start:start + step]))))
        for start in range(0, len(swaps), step)])


def _parts(draws: int, most: int) -> Iterator[range]:
    return (range(start, min(start + most, draws)) for start in range(0, draws, most))


_ALIKE = 0.5  # correlation of predictions above which a test with few items rejects in more than 6 % at 5 %
_FEW = 20  # units below which this happens with Pearson's r
_PLACES = 10.0  # limit for rank correlations: items times sqrt(1 - r), about the rank difference of an item
_MANY = 2000  # items above which only nearly equal ranks would be flagged



def find_alike_predictions(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs whose predictions are too similar for a permutation test.

    This concerns tests of correlations with gold values. The test standardizes the predictions of each system before it
    swaps them. Mean and scale are estimated from the test set and differ by chance, so the systems are not quite
    exchangeable. This matters if the systems hardly differ otherwise. With Pearson's r it happens only with few items.
    With rank correlations, swaps also create ties if two systems order the items in nearly the same way
    (docs/limits.md).
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
