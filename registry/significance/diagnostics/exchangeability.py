"""Pairs of systems that could have equal scores and a test's null hypothesis would still be false of them.

Swapping takes two systems for exchangeable, and ranks and signs take the differences of units for symmetric. That two
scores are equal is a weaker hypothesis: one system may find more and the other err less, or win often by little and
lose seldom by much. Where the weaker one is true and the stronger one is not, a test rejects at another rate than its
level. How often is foreseen here to first order, for all pairs at once.

With F = N / D for either system, a unit (n, d) moves its score by about r / D, r = n - F d. The difference of two
scores then has the variance sum of (r_a / D_a - r_b / D_b)^2, and swaps, which mix the denominators, give it the
variance sum of (r_a - r_b)^2 / D^2 with D = (D_a + D_b) / 2. These are equal where systems are exchangeable. Skewness
gamma adds 2 x phi(x) gamma^2 (x^4 + 2 x^2 - 3) / (18 n) to the two-sided size of a mean of n units in units of its
standard error (Hall 1992, The Bootstrap and Edgeworth Expansion, section 2.6), and swaps do not know of it. To that of
one side it adds, or takes from it, gamma phi(x) (2 x^2 + 1) / (6 sqrt(n)), which is far more.
`python -m tests.validity.hits` measures what this foresees and what it misses.
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

LEVEL, TOLERATED = 0.05, 0.06  # a size above the latter at the former is told
_BAR = NormalDist().inv_cdf(1 - LEVEL / 2)
LEAST_RATIO = NormalDist().inv_cdf(1 - TOLERATED / 2) / _BAR  # of the standard error that swaps give to the true one
TOO_SKEWED = (TOLERATED - LEVEL) * 18 / (2 * _BAR * NormalDist().pdf(_BAR) * (_BAR**4 + 2 * _BAR**2 - 3))
_ONE_SIDED = NormalDist().inv_cdf(1 - LEVEL)
_TOO_SKEWED_ONE_SIDED = ((TOLERATED - LEVEL) * 6 / ((2 * _ONE_SIDED**2 + 1) * NormalDist().pdf(_ONE_SIDED))) ** 2
FEW_SKEWED = 200  # units below which studentized tests of skewed differences reject too often as well
_FEW_EVEN = 10  # units of equal weight from which on studentized swaps of uneven ones reject less than 6 % at 5 %
_DEVIATION = 1 / NormalDist().inv_cdf(0.75)  # of a normal distribution, in its median absolute deviations
_LEAST_ERROR = 0.5  # of mean less median, in standard errors of the mean; small samples may seem to have less
_AT_ONCE = 2**22  # differences that are looked at together


def mixed(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The pairs whose difference swaps take for surer than it is; none where both have the same denominators.

    The evidence is that the denominators differ by more than exchangeable systems' would; a few large units cannot show
    that.
    """
    if not _is_foreseen(pairs.matrix):
        return
    found = _Differences.of(pairs)
    sums, a, b = found.under, found.a, found.b
    if (sums == sums[0]).all():
        return
    products = sum((some.T @ some for some, _ in found.residuals()), start=np.zeros((len(sums),) * 2))
    squares = sum((under.T @ under for _, under in pairs.matrix.parts_by_block(found.systems)), start=0 * products)
    alone_a, alone_b, both = products[a, a], products[b, b], products[a, b]
    d_a, d_b = sums[a], sums[b]
    with np.errstate(divide="ignore", invalid="ignore"):
        true = alone_a / d_a**2 + alone_b / d_b**2 - 2 * both / (d_a * d_b)
        swapped = 4 * (alone_a + alone_b - 2 * both) / (d_a + d_b) ** 2
        scores = np.abs(d_a - d_b) / np.sqrt(squares[a, a] + squares[b, b] - 2 * squares[a, b])
        yield PairWarning((d_a != d_b) & (swapped < LEAST_RATIO**2 * true), Message("not-exchangeable"),
                      np.where(_are_uneven(pairs), np.inf, scores))


def mixed_of_uneven_units(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The same pairs, where units are so uneven that studentized swaps do not mend that."""
    for warning in mixed(pairs):
        yield warning._replace(where=warning.where & _are_uneven(pairs), message=Message("uneven-units-studentized"))


def _are_uneven(pairs: SystemPairs) -> Flags:
    """Return which pairs have a system whose units tell no more than few equal ones would, [pairs]."""
    even = even_units_of_each(pairs.matrix)
    are_few = even < min(_FEW_EVEN, pairs.matrix.n_units / 2)
    return np.asarray(are_few[pairs.a] | are_few[pairs.b])


def skewed(pairs: SystemPairs, *, one_sided: bool = False) -> Iterator[PairWarning]:
    """The pairs whose differences are too skewed for their number of units.

    The sample's skewness alone is no evidence where tails are long. The evidence is the distance of mean and median.

    Args:
        pairs: The pairs.
        one_sided: Whether they are too skewed for one-sided tests; where these are exact, none.
    """
    if _is_foreseen(pairs.matrix):
        least, message = (_TOO_SKEWED_ONE_SIDED, Message("skewed-one-sided")) if one_sided else (
            TOO_SKEWED, Message("skewed-differences", {"use": _less_skewed_test(pairs.matrix)}))
        yield _Differences.of(pairs).skewed(least, message)


def _less_skewed_test(matrix: Matrix) -> str | None:
    """Return a test that takes such differences; None if no test does."""
    if matrix.n_units >= FEW_SKEWED:
        return "bootstrap(variant=studentized)"
    return "bounded" if matrix.is_mean and all(map(math.isfinite, matrix.score_range)) else None


def skewed_items(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The pairs whose averages over runs differ by too skewed amounts for their number of units."""
    if pairs.matrix.quotient is not None:
        fixed = pairs._replace(matrix=replace(pairs.matrix, runs=None, factors=None))
        yield _Differences.of(fixed).skewed(TOO_SKEWED, Message("skewed-items"))


def asymmetric(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The pairs whose mean and median difference lie apart: signs and ranks test something else than the mean then."""
    matrix = pairs.matrix
    if _is_foreseen(matrix):
        of_normal = 6 / matrix.n_units  # the variance of the skewness of a normal sample
        warning = _Differences.of(pairs).skewed(4 * of_normal / matrix.n_units, Message("asymmetric-differences"))
        yield warning._replace(where=warning.where & are_means(pairs))


def are_means(pairs: SystemPairs) -> Flags:
    """Return which pairs have plain means of the units' scores: one denominator in all units of both, [pairs]."""
    _, a, b = pairs
    denominators = [(under.min(axis=0), under.max(axis=0)) for _, under in pairs.matrix.parts_by_block()]
    least, most = (np.array(some) for some in zip(*denominators, strict=True))
    least, most = least.min(axis=0), most.max(axis=0)
    return np.asarray(np.minimum(least[a], least[b]) == np.maximum(most[a], most[b]))


def even_units(matrix: Matrix) -> float:
    """How many units of equal weight tell as much as these do, by the system with the least even ones.

    The number is Kish's: the square of the sum of the weights over the sum of their squares. Weights are the
    denominators of a quotient or of its root, and the items of a cluster for a correlation. Of other functions of sums
    they are what is counted in a unit for the first system, in the column that is the most even, such as the lengths
    of references, or in all columns together, such as the items of a confusion matrix. Of judged items they are what
    people's scores count, 0 where they did not look.

    Args:
        matrix: By item or by unit.
    """
    if not isinstance(matrix, StatisticMatrix):
        return matrix.n_units if matrix.units is None else float(kish([np.bincount(matrix.units)[:, None]])[0])
    by_unit = matrix.by_unit
    if matrix.judged is not None:
        return float(np.nanmin(kish(some[:, :, WEIGHT] for some in by_unit.by_block()), initial=matrix.n_units))
    if matrix.quotient is not None:
        return float(np.nanmin(even_units_of_each(by_unit), initial=matrix.n_units))
    if matrix.family == "ratio":  # a function of one, such as the root of a mean
        return float(np.nanmin(kish(some[:, :, 1] for some in by_unit.by_block()), initial=matrix.n_units))
    counted = (np.abs(some[:, 0]) for some in by_unit.of_systems([0]).by_block())
    found = kish(np.column_stack([some, some.sum(axis=1)]) for some in counted)
    return matrix.n_units if np.isnan(found).all() else float(np.nanmax(found))


def even_units_of_each(matrix: Matrix) -> Floats:
    """The same of the denominators of every system's quotient, [systems]; nan where all are 0.

    Args:
        matrix: By unit, with a quotient.
    """
    return kish(under for _, under in matrix.parts_by_block())


def kish(weights: Iterable[NDArray[Any]]) -> Floats:
    """Kish's number of each column of weights, [some units, columns] each; nan where all are 0."""
    sums, squares = np.sum([[some.sum(axis=0), (some.astype(np.float64) ** 2).sum(axis=0)] for some in weights], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums**2 / squares)


def _is_foreseen(matrix: Matrix) -> bool:
    """Whether the score is a quotient of sums over units, and swaps are not just fair coins.

    Random runs are tested in another way. Of units that are right or wrong, equal means leave nothing to foresee.
    """
    return matrix.quotient is not None and matrix.runs is None and matrix.higher is None


class _Differences(NamedTuple):
    """What units move the differences of pairs by; some units are looked at after the others.

    Attributes:
        matrix: By unit.
        systems: Those of its systems that are in a pair, [systems].
        over, under: The sums of their numerators and denominators, [systems] each.
        a, b: The pairs' places among these systems, [pairs] each.
    """

    matrix: Matrix
    systems: list[int]
    over: Floats
    under: Floats
    a: Ints
    b: Ints

    @classmethod
    def of(cls, pairs: SystemPairs) -> _Differences:
        """Look at some pairs of a matrix."""
        systems, places = np.unique(np.stack([pairs.a, pairs.b]), return_inverse=True)
        over, under = (part[0] for part in pairs.matrix.sums_of_parts(systems.tolist()))
        a, b = places.reshape(2, -1)
        return cls(pairs.matrix, systems.tolist(), over, under, a, b)

    def residuals(self) -> Iterator[tuple[Floats, Floats]]:
        """What each unit has above its share of each score, and the size of both, [some units, systems] each."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self.over / self.under
            for over, under in self.matrix.parts_by_block(self.systems):
                shares = scores * under
                sizes = np.abs(over) + np.abs(shares)
                yield without_rounding(over - shares, sizes), sizes

    def influences(self) -> Iterator[Floats]:
        """What each unit moves each score by, but for what it does to all alike, [some units, systems]."""
        for residuals, sizes in self.residuals():
            with np.errstate(divide="ignore", invalid="ignore"):
                influences, sizes = residuals / self.under, sizes / np.abs(self.under)
                moved = without_rounding(influences - np.nan_to_num(influences[:, :1]),
                                         sizes + np.nan_to_num(sizes[:, :1]))
            yield moved

    def skewed(self, least: float, message: Message) -> PairWarning:
        """Warn of the pairs with a skewness^2 / units above `least`, by how far the mean lies on the long tail's side.

        Args:
            least: The limit of skewness^2 / units.
            message: The message.
        """
        squares, cubes = self._moments()
        with np.errstate(divide="ignore", invalid="ignore"):
            where = cubes**2 > least * squares**3
        scores = np.zeros(len(where))
        scores[where] = self._distances(np.flatnonzero(where)) * np.sign(cubes[where])
        return PairWarning(where, message, scores)

    def _moments(self) -> tuple[Floats, Floats]:
        """The sums of the second and of the third powers of each pair's differences, [pairs] each."""
        a, b = self.a, self.b
        products, cubes = np.zeros((2, len(self.systems), len(self.systems)))
        for some in self.influences():
            products += some.T @ some
            cubes += (some**2).T @ some
        return (products[a, a] + products[b, b] - 2 * products[a, b],
                cubes[a, a] - 3 * cubes[a, b] + 3 * cubes[b, a] - cubes[b, b])

    def _distances(self, pairs: Ints) -> Floats:
        """Return how far the mean lies above the median, in standard errors; undefined without any spread.

        If half of the differences or more are ties, the median does not vary, and the mean varies as a sum of random
        signs, with the correction for continuity of McNemar's test.
        """
        found, some = np.empty(len(pairs)), max(1, _AT_ONCE // self.matrix.n_units)
        for at in range(0, len(pairs), some):
            chosen, places = np.unique(np.stack([self.a, self.b])[:, pairs[at:at + some]], return_inverse=True)
            of_chosen = self._replace(systems=[self.systems[n] for n in chosen.tolist()], over=self.over[chosen],
                                      under=self.under[chosen])
            influences, (a, b) = np.concatenate(list(of_chosen.influences())), places.reshape(2, -1)
            differences = influences[:, a] - influences[:, b]
            deviations = differences.std(axis=0)
            are_coins = of_chosen._are_coins(a, b)
            differences -= np.median(differences, axis=0)
            sizes = np.abs(differences)
            differ = sizes > ROUNDING * sizes.max(axis=0)
            is_tied = 2 * np.count_nonzero(differ, axis=0) <= len(differ)
            step = np.where(is_tied, np.where(differ, sizes, np.inf).min(axis=0), 0)
            above = differences.sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                error = np.where(is_tied, 1.0, _error_of_distance(sizes / deviations))
                found[at:at + some] = (above - np.sign(above) * np.minimum(step, np.abs(above))) / (
                    math.sqrt(len(differ)) * deviations * error)
            found[at:at + some][are_coins] = 0
        return found

    def _are_coins(self, a: Ints, b: Ints) -> Flags:
        """Return which pairs differ by one size in every unit or not at all, so that swaps are fair coins, [pairs].

        Args:
            a: The places of the first systems of the pairs.
            b: Those of the second ones.
        """
        over, under = map(np.concatenate, zip(*self.matrix.parts_by_block(self.systems), strict=True))
        sizes = np.abs(over[:, a] - over[:, b])
        largest = sizes.max(axis=0)
        are_of_one_size = ((sizes <= ROUNDING * largest) | (sizes >= (1 - ROUNDING) * largest)).all(axis=0)
        return np.asarray(are_of_one_size & (under[:, a] == under[:, b]).all(axis=0))


def _error_of_distance(sizes: Floats) -> Floats:
    """Return the standard error of mean less median of symmetric distributions, in standard errors of the mean.

    The asymptotic variance of the median is 1 / (4 f^2 n) and its covariance with the mean E|x| / (2 f n), where f is
    the density at the median (Ferguson 1999, Asymptotic joint distribution of sample mean and a sample quantile). f is
    taken to be that of the normal distribution with the same median absolute deviation.

    Args:
        sizes: Distances from the median in standard deviations, [units, pairs].
    """
    width = math.sqrt(math.pi / 2) * _DEVIATION * np.median(sizes, axis=0)  # 1 / (2 f)
    return np.asarray(np.maximum(np.sqrt(1 - 2 * width * sizes.mean(axis=0) + width**2), _LEAST_ERROR))
