"""Warnings about pairs with equal scores that violate a null hypothesis.

Permutation tests assume exchangeable systems. Tests of ranks and signs assume symmetric differences of units. Equal
scores are a weaker hypothesis: one system may find more and the other make fewer errors, or a system may win often by
little and lose rarely by much. If scores are equal and the stronger hypothesis is false, the error rate of a test
differs from its level. This module predicts the error rate to first order. `python -m tests.validity.hits` measures the
accuracy of the predictions.

Variances: let F = N / D be the score of a system. A unit (n, d) changes it by about r / D with r = n - F d. The
variance of a difference is the sum of (r_a / D_a - r_b / D_b)^2. Permutations mix the denominators, and yield the sum
of (r_a - r_b)^2 / D^2 with D = (D_a + D_b) / 2. Both are equal for exchangeable systems.

Skewness: let gamma be the skewness of n units. It adds 2 x phi(x) gamma^2 (x^4 + 2 x^2 - 3) / (18 n) to the two-sided
size of a studentized mean (Hall 1992, The Bootstrap and Edgeworth Expansion, section 2.6). It changes the one-sided
size by gamma phi(x) (2 x^2 + 1) / (6 sqrt(n)), which is much more. Permutations do not account for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.arrays import ROUNDING, Flags, Floats, Ints, without_rounding
from registry.judged import WEIGHT
from registry.messages import Message
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.matrix import Matrix, StatisticMatrix

LEVEL, TOLERATED = 0.05, 0.06  # a warning is due if the size at the level exceeds the tolerated one
_BAR = NormalDist().inv_cdf(1 - LEVEL / 2)
LEAST_RATIO = NormalDist().inv_cdf(1 - TOLERATED / 2) / _BAR  # standard error of permutations / true standard error
TOO_SKEWED = (TOLERATED - LEVEL) * 18 / (2 * _BAR * NormalDist().pdf(_BAR) * (_BAR**4 + 2 * _BAR**2 - 3))
_ONE_SIDED = NormalDist().inv_cdf(1 - LEVEL)
_TOO_SKEWED_ONE_SIDED = ((TOLERATED - LEVEL) * 6 / ((2 * _ONE_SIDED**2 + 1) * NormalDist().pdf(_ONE_SIDED))) ** 2
FEW_SKEWED = 200  # units below which studentized tests of skewed differences also reject too often
_FEW_EVEN = 10  # effective units from which studentized permutation rejects less than 6 % at 5 %
_DEVIATION = 1 / NormalDist().inv_cdf(0.75)  # normal standard deviation / median absolute deviation
_LEAST_ERROR = 0.5  # least standard error of mean - median, in standard errors of the mean
_AT_ONCE = 2**22  # differences in memory


def find_non_exchangeable(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs of systems whose permutation test can reject too often.

    If systems give different numbers of answers, their scores have different denominators. Permutations mix the
    denominators, and the estimated standard error is too small. The evidence is a difference of denominators that
    exchangeable systems would rarely have. No evidence is required if few items have most of the weight, because so few
    items cannot provide it.
    """
    if not _is_predictable(pairs.matrix):
        return
    differences = _Differences.prepare(pairs)
    sums, a, b = differences.denominators, differences.a, differences.b
    if (sums == sums[0]).all():
        return
    products = sum((block.T @ block for block, _ in differences.residuals()), start=np.zeros((len(sums),) * 2))
    squares = sum((denominators.T @ denominators
                   for _, denominators in pairs.matrix.parts_by_block(differences.systems)), start=0 * products)
    alone_a, alone_b, both = products[a, a], products[b, b], products[a, b]
    d_a, d_b = sums[a], sums[b]
    with np.errstate(divide="ignore", invalid="ignore"):
        true = alone_a / d_a**2 + alone_b / d_b**2 - 2 * both / (d_a * d_b)
        swapped = 4 * (alone_a + alone_b - 2 * both) / (d_a + d_b) ** 2
        scores = np.abs(d_a - d_b) / np.sqrt(squares[a, a] + squares[b, b] - 2 * squares[a, b])
        yield PairWarning((d_a != d_b) & (swapped < LEAST_RATIO**2 * true), Message("not-exchangeable"),
                      np.where(_are_uneven(pairs), np.inf, scores))


def find_uneven_non_exchangeable(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs whose studentized permutation test can reject too often.

    In these pairs the systems give different numbers of answers, and few items have most of the weight.
    """
    for warning in find_non_exchangeable(pairs):
        yield warning._replace(where=warning.where & _are_uneven(pairs), message=Message("uneven-units-studentized"))


def _are_uneven(pairs: SystemPairs) -> Flags:
    even = compute_effective_units_by_system(pairs.matrix)
    are_few = even < min(_FEW_EVEN, pairs.matrix.n_units / 2)
    return np.asarray(are_few[pairs.a] | are_few[pairs.b])


def find_skewed(pairs: SystemPairs, *, one_sided: bool = False) -> Iterator[PairWarning]:
    """Warn of pairs with score differences that are too skewed for so few items.

    The evidence is the distance between mean and median, because the skewness of a sample is not reliable if the
    distribution has long tails.

    Args:
        pairs: Pairs of systems.
        one_sided: True for the stricter limit of one-sided tests.
    """
    if _is_predictable(pairs.matrix):
        least, message = (_TOO_SKEWED_ONE_SIDED, Message("skewed-one-sided")) if one_sided else (
            TOO_SKEWED, Message("skewed-differences", {"use": _choose_less_skewed_test(pairs.matrix)}))
        yield _Differences.prepare(pairs).warn_of_skewed(least, message)


def _choose_less_skewed_test(matrix: Matrix) -> str | None:
    if matrix.n_units >= FEW_SKEWED:
        return "bootstrap(variant=studentized)"
    return "bounded" if matrix.is_mean and all(map(math.isfinite, matrix.score_range)) else None


def find_skewed_items(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs whose differences are too skewed for so few items.

    The warning is for scores that are averages over runs.
    """
    if pairs.matrix.quotient is not None:
        fixed = pairs._replace(matrix=replace(pairs.matrix, runs=None, factors=None))
        yield _Differences.prepare(fixed).warn_of_skewed(TOO_SKEWED, Message("skewed-items"))


def find_asymmetric(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs of systems whose differences in single items are not symmetric.

    Mean and median of such differences are not the same, and tests of signs and ranks do not test the mean.
    """
    matrix = pairs.matrix
    if _is_predictable(matrix):
        limit = 4 * (6 / matrix.n_units) / matrix.n_units  # 4 variances of the skewness of normal samples
        warning = _Differences.prepare(pairs).warn_of_skewed(limit, Message("asymmetric-differences"))
        yield warning._replace(where=warning.where & are_means(pairs))


def are_means(pairs: SystemPairs) -> Flags:
    """Flag pairs of systems whose scores are means over the same units.

    Scores are means over the same units if both systems have the same denominator in all units (items or clusters).

    Returns:
        Flags, [pairs].
    """
    _, a, b = pairs
    denominators = [(values.min(axis=0), values.max(axis=0)) for _, values in pairs.matrix.parts_by_block()]
    least, most = (np.array(ends) for ends in zip(*denominators, strict=True))
    least, most = least.min(axis=0), most.max(axis=0)
    return np.asarray(np.minimum(least[a], least[b]) == np.maximum(most[a], most[b]))


def compute_effective_units(matrix: Matrix) -> float:
    """Return the effective sample size of items or clusters with unequal weights.

    The result is Kish's effective sample size: the squared sum of the weights divided by the sum of their squares, for
    the system with the most uneven weights. The weights depend on the score:

    - ratio of sums, or its root: the denominators;
    - correlation: the number of items in each cluster;
    - judged items: the weights of the human judgements, 0 if there is no judgement;
    - other functions of sums: the absolute statistics of the first system, in the most even column (such as lengths of
      references) or in the sum of all columns (such as items of a confusion matrix).

    Args:
        matrix: Statistics of all systems; its rows are items or clusters.
    """
    if not isinstance(matrix, StatisticMatrix):
        if matrix.units is None:
            return matrix.n_units
        return float(compute_kish_sizes([np.bincount(matrix.units)[:, None]])[0])
    by_unit = matrix.by_unit
    if matrix.judged is not None:
        sizes = compute_kish_sizes(block[:, :, WEIGHT] for block in by_unit.by_block())
        return float(np.nanmin(sizes, initial=matrix.n_units))
    if matrix.quotient is not None:
        return float(np.nanmin(compute_effective_units_by_system(by_unit), initial=matrix.n_units))
    if matrix.family == "ratio":  # a function of a ratio, such as the root of a mean
        sizes = compute_kish_sizes(block[:, :, 1] for block in by_unit.by_block())
        return float(np.nanmin(sizes, initial=matrix.n_units))
    counts = (np.abs(block[:, 0]) for block in by_unit.select_systems([0]).by_block())
    sizes = compute_kish_sizes(np.column_stack([block, block.sum(axis=1)]) for block in counts)
    return matrix.n_units if np.isnan(sizes).all() else float(np.nanmax(sizes))


def compute_effective_units_by_system(matrix: Matrix) -> Floats:
    """Return Kish's effective sample size for the denominators of every system.

    The score must be a ratio of sums. The denominators of its items (or clusters) are their weights.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.

    Returns:
        Sizes, [systems]; nan if all denominators are 0.
    """
    return compute_kish_sizes(denominators for _, denominators in matrix.parts_by_block())


def compute_kish_sizes(weights: Iterable[NDArray[Any]]) -> Floats:
    """Return Kish's effective sample size of each column of weights.

    The size is the squared sum of the weights divided by the sum of their squares, and nan if all weights are 0.

    Args:
        weights: Blocks of rows; each row has the weights of one item or cluster, [units, columns].
    """
    sums, squares = np.sum([[block.sum(axis=0), (block.astype(np.float64) ** 2).sum(axis=0)] for block in weights],
                           axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums**2 / squares)


def _is_predictable(matrix: Matrix) -> bool:
    # `higher` is not None if all items are right or wrong: the permutation test is exact for them
    return matrix.quotient is not None and matrix.runs is None and matrix.higher is None


class _Differences(NamedTuple):
    """Differences of pairs of systems in single units, computed in blocks of units.

    A unit is an item or a cluster. Its influence on a score is, to first order, the change of the score if the unit has
    more weight. A difference is the influence on the first system's score minus the influence on the second one's.

    Attributes:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        systems: Indices of the systems that are in a pair, [systems].
        numerators, denominators: Sums over units, [systems] each.
        a, b: Positions of the systems of each pair in `systems`, [pairs] each.
    """

    matrix: Matrix
    systems: list[int]
    numerators: Floats
    denominators: Floats
    a: Ints
    b: Ints

    @classmethod
    def prepare(cls, pairs: SystemPairs) -> _Differences:
        """Find the systems that are in a pair, and sum their numerators and denominators."""
        systems, places = np.unique(np.stack([pairs.a, pairs.b]), return_inverse=True)
        numerators, denominators = (part[0] for part in pairs.matrix.sums_of_parts(systems.tolist()))
        a, b = places.reshape(2, -1)
        return cls(pairs.matrix, systems.tolist(), numerators, denominators, a, b)

    def residuals(self) -> Iterator[tuple[Floats, Floats]]:
        """Compute the deviation of every item (or cluster) from the score of each system.

        The deviation, or residual, is n - F d, if F is the score and n and d are the numerator and denominator of the
        item. Blocks of items are returned, to save memory.

        Yields:
            Residuals, [items of a block, systems]; and the sizes |n| + |F d| of their terms, which determine the
                rounding errors, in the same shape.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self.numerators / self.denominators
            for numerators, denominators in self.matrix.parts_by_block(self.systems):
                shares = scores * denominators
                sizes = np.abs(numerators) + np.abs(shares)
                yield without_rounding(numerators - shares, sizes), sizes

    def influences(self) -> Iterator[Floats]:
        """Compute the influence of each item (or cluster) on each system's score.

        Influences are relative to those on the first system's score, which does not change the differences of pairs.
        Blocks of items are returned, to save memory.

        Yields:
            Influences, [items of a block, systems].
        """
        for residuals, sizes in self.residuals():
            with np.errstate(divide="ignore", invalid="ignore"):
                influences, sizes = residuals / self.denominators, sizes / np.abs(self.denominators)
                moved = without_rounding(influences - np.nan_to_num(influences[:, :1]),
                                         sizes + np.nan_to_num(sizes[:, :1]))
            yield moved

    def warn_of_skewed(self, least: float, message: Message) -> PairWarning:
        """Warn of pairs whose differences in single items (or clusters) are too skewed.

        The evidence is the distance between mean and median.

        Args:
            least: Limit of skewness^2 / number of items.
            message: Message of the warning.
        """
        squares, cubes = self._moments()
        with np.errstate(divide="ignore", invalid="ignore"):
            is_skewed = cubes**2 > least * squares**3
        scores = np.zeros(len(is_skewed))
        scores[is_skewed] = self._distances(np.flatnonzero(is_skewed)) * np.sign(cubes[is_skewed])
        return PairWarning(is_skewed, message, scores)

    def _moments(self) -> tuple[Floats, Floats]:
        a, b = self.a, self.b
        products, cubes = np.zeros((2, len(self.systems), len(self.systems)))
        for block in self.influences():
            products += block.T @ block
            cubes += (block**2).T @ block
        return (products[a, a] + products[b, b] - 2 * products[a, b],
                cubes[a, a] - 3 * cubes[a, b] + 3 * cubes[b, a] - cubes[b, b])

    def _distances(self, pairs: Ints) -> Floats:
        """Return the distance between mean and median of the differences of some pairs.

        The differences are those in single items, and the distance is measured in standard errors. It is nan for
        constant differences. If at least half of the differences are ties, the median is constant. The mean is then a
        sum of random signs, and has the continuity correction of McNemar's test.

        Args:
            pairs: Indices of the pairs.

        Returns:
            Distances, [selected pairs].
        """
        distances, block_size = np.empty(len(pairs)), max(1, _AT_ONCE // self.matrix.n_units)
        for start in range(0, len(pairs), block_size):
            part = pairs[start:start + block_size]
            chosen, places = np.unique(np.stack([self.a, self.b])[:, part], return_inverse=True)
            selected = self._replace(systems=[self.systems[n] for n in chosen.tolist()],
                                     numerators=self.numerators[chosen], denominators=self.denominators[chosen])
            influences, (a, b) = np.concatenate(list(selected.influences())), places.reshape(2, -1)
            differences = influences[:, a] - influences[:, b]
            deviations = differences.std(axis=0)
            are_coins = selected._have_equal_sizes(a, b)
            differences -= np.median(differences, axis=0)
            sizes = np.abs(differences)
            differ = sizes > ROUNDING * sizes.max(axis=0)
            is_tied = 2 * np.count_nonzero(differ, axis=0) <= len(differ)
            step = np.where(is_tied, np.where(differ, sizes, np.inf).min(axis=0), 0)
            above = differences.sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                error = np.where(is_tied, 1.0, _error_of_distance(sizes / deviations))
                distances[start:start + block_size] = (above - np.sign(above) * np.minimum(step, np.abs(above))) / (
                    math.sqrt(len(differ)) * deviations * error)
            distances[start:start + block_size][are_coins] = 0
        return distances

    def _have_equal_sizes(self, a: Ints, b: Ints) -> Flags:
        numerators, denominators = map(np.concatenate, zip(*self.matrix.parts_by_block(self.systems), strict=True))
        sizes = np.abs(numerators[:, a] - numerators[:, b])
        largest = sizes.max(axis=0)
        are_of_one_size = ((sizes <= ROUNDING * largest) | (sizes >= (1 - ROUNDING) * largest)).all(axis=0)
        return np.asarray(are_of_one_size & (denominators[:, a] == denominators[:, b]).all(axis=0))


def _error_of_distance(sizes: Floats) -> Floats:
    # The standard error of mean - median, in standard errors of the mean, for a symmetric distribution. Let f be its
    # density at the median. The asymptotic variance of the median is 1 / (4 f^2 n), and its covariance with the mean
    # is E|x| / (2 f n) (Ferguson 1999, Asymptotic joint distribution of sample mean and a sample quantile). f is
    # estimated by the normal distribution with the same median absolute deviation. `sizes` are distances from the
    # median in standard deviations.
    width = math.sqrt(math.pi / 2) * _DEVIATION * np.median(sizes, axis=0)  # 1 / (2 f)
    return np.asarray(np.maximum(np.sqrt(1 - 2 * width * sizes.mean(axis=0) + width**2), _LEAST_ERROR))
