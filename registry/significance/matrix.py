"""Matrices, the input of tests: statistics of several systems on the same units.

Most statistics are small counts, and a leaderboard can have 10^9 counts. So `CompactStatistics` stores each one in few
bytes. Tests select some items or some systems, and compute in float64.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.judged import subtract_statistics
from registry.parallel.scratch_files import make_array

_MOVED = 2**20  # values that are copied in one step


@dataclass(frozen=True, eq=False)
class CompactStatistics:
    """Statistics of systems in a small data type, used like a float64 array.

    The array has the shape [items, systems, columns].

    Attributes:
        held: The stored values, [systems, columns, items], in the smallest data type that represents all of them
            exactly.
    """

    held: NDArray[Any]

    @classmethod
    def convert(cls, systems: Iterable[Floats], n_systems: int, most: int) -> CompactStatistics:
        """Convert the statistics of one system after the other to the smallest data type.

        Args:
            systems: Statistics of each system, [items, columns]; at least one system.
            n_systems: Number of systems.
            most: Size in bytes above which the array is stored in a temporary file.
        """
        array: NDArray[Any] | None = None
        for n, statistics in enumerate(systems):
            # The smallest type that represents all values exactly: whole numbers of up to 32 bits, or float64.
            least, largest = statistics.min(initial=0), statistics.max(initial=0)
            dtype = np.dtype(np.float64)
            if -2**31 <= least <= largest < 2**31 and not (statistics != np.rint(statistics)).any():
                ends = (int(least), -1 - int(largest)) if least < 0 else (int(largest),)
                dtype = np.result_type(*map(np.min_scalar_type, ends))
            if array is None:
                array = make_array((n_systems, *statistics.shape[::-1]), most, dtype)
            elif (wider := np.promote_types(array.dtype, dtype)) != array.dtype:
                narrow = array
                array = make_array(narrow.shape, most, wider if wider.itemsize < 8 else np.dtype(np.float64))
                array[:n] = narrow[:n]
            array[n] = statistics.T
        assert array is not None
        return cls(array)

    def __len__(self) -> int:
        return int(self.held.shape[2])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of items, of systems and of columns."""
        systems, columns, items = self.held.shape
        return items, systems, columns

    @property
    def nbytes(self) -> int:
        """Size of the stored values in bytes."""
        return self.held.nbytes

    @property
    def are_whole(self) -> bool:
        """True if all values are whole numbers, because they have an integer type."""
        return self.held.dtype.kind in "iu"

    def __getitem__(self, key: Any) -> Floats:
        """Return part of the array [items, systems, columns] as a float64 copy."""
        return np.array(self.held.transpose(2, 0, 1)[key], dtype=np.float64, order="C")

    def select_systems(self, chosen: Sequence[int]) -> CompactStatistics:
        """Return the statistics of the systems with these indices, in that order."""
        return CompactStatistics(self.held[list(chosen)])

    def select_items(self, chosen: Ints) -> CompactStatistics:
        """Return the statistics of the items with these indices, in that order."""
        return CompactStatistics(self.held[:, :, chosen])

    def sum(self, axis: int) -> Floats:
        """Return the sums over all items, [systems, columns]; `axis` must be 0."""
        assert axis == 0
        sums = self.held.sum(axis=2, dtype=np.int64 if self.are_whole else np.float64)
        return np.asarray(sums, dtype=np.float64)

    def reorder(self, systems: Sequence[int]) -> None:
        """Put the systems into another order, in place."""
        step = max(1, _MOVED // self.held[:, :, :1].size)
        for start in range(0, len(self), step):
            self.held[:, :, start:start + step] = self.held[list(systems), :, start:start + step]


Statistics = Floats | CompactStatistics


def select_systems(statistics: Statistics, chosen: Sequence[int]) -> Statistics:
    """Return the statistics of the systems with these indices, in that order."""
    if isinstance(statistics, CompactStatistics):
        return statistics.select_systems(chosen)
    return statistics[:, list(chosen)]


def columns_of(statistics: Statistics) -> NDArray[Any]:
    """Return the statistics of all systems as a table with one row per column.

    The shape [items, systems, columns] becomes [systems x columns, items]. The values keep their stored data type.
    """
    if isinstance(statistics, CompactStatistics):
        return statistics.held.reshape(-1, len(statistics))
    return statistics.reshape(len(statistics), -1).T


def are_whole(statistics: Statistics) -> bool:
    """Return True if all statistics are whole numbers.

    The values are checked in blocks, to save memory.
    """
    if isinstance(statistics, CompactStatistics) and statistics.are_whole:
        return True
    step = max(1, _MOVED // max(1, statistics[:1].size))
    return all(np.array_equal(part, np.rint(part)) for part in (
        statistics[start:start + step] for start in range(0, len(statistics), step)))


_MARKS = 2**24  # marks that are multiplied in one step, as float32
_EXACT = 2**24  # counts below it are exact in float32


def count_shared(marks: Flags) -> Ints:
    """Count, for every two systems, the units with a mark for both of them.

    For example, if the marks are correct answers, these are the units (items or clusters) that both systems get right.

    Args:
        marks: One flag per unit and system, [units, systems].

    Returns:
        Counts, [systems, systems]; the diagonal has the number of marked units of each system.
    """
    units, systems = marks.shape
    both = np.zeros((systems, systems))
    for start in range(0, units, step := max(1, min(_MARKS // max(1, systems), _EXACT - 1))):
        part = marks[start:start + step].astype(np.float32)
        both += part.T @ part
    return both.astype(np.int64)


def count_unshared(both: Ints, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Count the items (or clusters) that are marked for only one of two systems.

    Args:
        both: Result of `count_shared`, [systems, systems].
        a: Indices of the first systems of the pairs, [pairs].
        b: Indices of the second systems, [pairs].

    Returns:
        The number marked only for the first system, and the number marked only for the second system, [pairs] each.
    """
    shared = both[a, b]
    return both[a, a] - shared, both[b, b] - shared


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that an automatic judge has scored; some of them also have human scores.

    The mean human score is estimated from both (`registry.judged`). For the difference of two systems, sums over a
    cluster are not sufficient, so the statistics of single items are stored. Statistics are stored as whole numbers of
    steps, such as 0.01.

    Attributes:
        to_values: Converts numbers of steps, [..., columns], to statistics.
        slope: Weight of the judge's mean. None: each score and each difference uses the weight with the least error.
        lower_is_better: True if a lower score is better.
        statistics: [items, systems, columns], stored as numbers of steps. None: the rows of the matrix are items, and
            its own statistics are used.
        units: Cluster of each item, numbered from 0, [items]; None: the items are not clustered.
    """

    to_values: Callable[[Floats], Floats]
    slope: float | None
    lower_is_better: bool
    statistics: Statistics | None = None
    units: Ints | None = None

    def select_systems(self, chosen: Sequence[int]) -> JudgedItems:
        """Return the items with the given systems only, in that order."""
        return self if self.statistics is None else replace(self, statistics=select_systems(self.statistics, chosen))

    def get_statistics(self, system: int) -> Floats:
        """Return the judge's and people's scores of one system in each item.

        Returns:
            [items, columns]; the columns are those of `registry.judged.COLUMNS`.
        """
        assert self.statistics is not None
        return self.to_values(self.statistics[:, system])

    def subtract(self, a: int, b: int) -> Floats:
        """Return the statistics of the difference of two systems in each item.

        Differences of scores are positive if system `a` is better than system `b`.
        """
        return subtract_statistics(self.get_statistics(a), self.get_statistics(b), lower=self.lower_is_better)


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores of all systems in resamples of the test set, which several tests share.

    The scores are computed when a test first needs them.

    Attributes:
        resamples: Number of resamples.
        seed: Seed of the resamples.
        draw: Function that computes the scores, [resamples, systems].
    """

    resamples: int
    seed: int
    draw: Callable[[], Floats]

    @cached_property
    def scores(self) -> Floats:
        """Scores of all systems in all resamples, [resamples, systems]."""
        return self.draw()


Score = Callable[[Floats], Floats]
Quotient = tuple[tuple[int, ...], tuple[int, ...]]
Range = tuple[float, float]
Classes = Literal["pooled", "averaged", "chance-corrected"]
Scores = TypeVar("Scores", Floats, Ints, Fraction)

_AT_ONCE = 2**20  # values in one block
_FEW = 16


def common_divisor(numbers: Ints) -> int:
    """Return the greatest common divisor of whole numbers, at least 1.

    To save time, the divisor of the first few numbers is computed first, because it usually divides all of them.
    """
    numbers = numbers.ravel()
    candidate = int(np.gcd.reduce(numbers[:_FEW]))
    if candidate == 1 or (candidate and not (numbers % candidate).any()):
        return candidate
    return max(1, int(np.gcd.reduce(numbers)))


def difference(scores_a: Scores, scores_b: Scores, *, lower_is_better: bool) -> Scores:
    """Return the differences of two systems' scores, positive if system A is better."""
    return scores_b - scores_a if lower_is_better else scores_a - scores_b


@dataclass(frozen=True, eq=False)
class Matrix(ABC):
    """Statistics of all systems on the same items: the input of significance tests.

    Tests need only this matrix, not the metric. A unit is what they permute or resample: an item, a cluster or an
    answer.

    Attributes:
        statistics: [items, systems, columns]. The order of items does not depend on the order of files. All statistics
            are whole numbers, so that sums are exact; a decimal is stored as a number of steps, such as thousandths.
        units: Cluster of each item, numbered from 0, [items]; None: each item is a unit.
        strata: Stratum of each item, numbered from 0, [items]; None: one stratum. Resamples keep the size of each
            stratum.
        lower_is_better: True if a lower score is better.
        quotient: If the score is a quotient of two linear functions of the statistics: the coefficients of the
            numerator and of the denominator. Otherwise None.
        family: Statistics family of the columns (`registry.families`), if a test needs their meaning.
        multiple: Factor by which the statistics are multiplied, so that averages over runs are whole numbers; `score`
            divides by it.
        rounding: Step to which statistics are rounded. Equal statistics can then differ by some steps. 0: not rounded.
        runs: If runs are random: the runs of each system, [items, runs, columns]; `statistics` contains their averages.
            None: the runs are fixed.
        factors: For each run of each system, the level of every factor, such as `{"prompt": "terse", "run": "1"}`.
            None: runs have no factors except their number, and no two systems share a run.
        unequal: True if some systems lack items that others have. The statistics of a lacking item are 0.
        answers_to: If rows are answers: the item of each answer, numbered from 0, [answers]. None: rows are items.
        resampled: Scores in resamples that all tests of the matrix share; None: each test draws its own resamples.
        judged: Items with scores by a judge and by people, for metrics that combine these scores.
        score_range: Lowest and highest possible score; infinite if there is no bound.
        classes: How a score combines counts of classes: `pooled`, `averaged` (macro-F1, balanced accuracy) or
            `chance-corrected` (MCC, kappa).
    """

    statistics: Statistics
    _: KW_ONLY
    units: Ints | None = None
    strata: Ints | None = None
    lower_is_better: bool = False
    quotient: Quotient | None = None
    family: str | None = None
    multiple: int = 1
    rounding: float = 0.0
    runs: tuple[Floats, ...] | None = None
    factors: tuple[tuple[dict[str, str], ...], ...] | None = None
    unequal: bool = False
    answers_to: Ints | None = None
    resampled: Resampled | None = None
    judged: JudgedItems | None = None
    score_range: Range = (-math.inf, math.inf)
    classes: Classes = "pooled"

    @property
    @abstractmethod
    def by_unit(self) -> Matrix:
        """The statistics arranged as tests require: one row per unit.

        A unit is an item or a cluster of items. The statistics of correlations do not add up, so their rows remain
        items, and `units` assigns them to clusters.
        """

    @abstractmethod
    def scores(self) -> Floats:
        """Compute the score of every system on all items, [systems]."""

    @abstractmethod
    def jackknife(self) -> Floats:
        """Compute the scores of all systems without each unit in turn.

        The units must be items or clusters.

        Returns:
            Scores, [units, systems].
        """

    @cached_property
    def observed(self) -> Floats:
        """Score of every system on all items, [systems]."""
        return self.scores()

    @property
    def n_units(self) -> int:
        """Number of units (items, clusters or answers) that are resampled or permuted."""
        return len(self.statistics) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def unit_strata(self) -> Ints | None:
        """Stratum of each unit (item or cluster), [units]; None: one stratum."""
        if self.strata is None or self.units is None:
            return self.strata
        return self.strata[np.unique(self.units, return_index=True)[1]]  # all items of a unit are in one stratum

    @property
    def lone_units(self) -> int:
        """Number of units (items or clusters) that are alone in their stratum.

        Resampling within strata cannot vary them: every resample contains them exactly once.
        """
        strata = self.unit_strata
        sizes = np.array([self.n_units]) if strata is None else np.bincount(strata)
        return int(np.count_nonzero(sizes == 1))

    @property
    def n_tested(self) -> int:
        """Number of units that a test uses: items, clusters or single answers.

        Of single answers, only those that at least one system gives are counted.
        """
        return self.n_units if self.answers_to is None else int(self.statistics[:, :, 1].any(axis=1).sum())

    def select_systems(self, chosen: Sequence[int]) -> Self:
        """Return a copy with only the systems with these indices, in that order.

        The copy does not have the shared resamples.
        """
        return replace(self, statistics=select_systems(self.statistics, chosen), resampled=None,
                       judged=self.judged and self.judged.select_systems(chosen),
                       runs=self.runs and tuple(self.runs[n] for n in chosen),
                       factors=self.factors and tuple(self.factors[n] for n in chosen))

    def select_items(self, chosen: Ints) -> Self:
        """Return a copy with only the items with these indices, in that order.

        Clusters and strata are numbered anew. The copy does not have the shared resamples.
        """
        def number(groups: Ints | None) -> Ints | None:
            return None if groups is None else np.unique(groups[chosen], return_inverse=True)[1]

        statistics = self.statistics
        return replace(self, resampled=None, units=number(self.units), strata=number(self.strata),
                       statistics=(statistics.select_items(chosen) if isinstance(statistics, CompactStatistics)
                                   else statistics[chosen]),
                       answers_to=number(self.answers_to), runs=self.runs and tuple(run[chosen] for run in self.runs))

    def difference(self, scores_a: Scores, scores_b: Scores) -> Scores:
        """Return the differences of two systems' scores, positive if system A is better."""
        return difference(scores_a, scores_b, lower_is_better=self.lower_is_better)

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """Numerators and denominators of the score in every unit, [units, systems] each.

        A unit is an item or a cluster. The score must be a quotient of sums. To have small whole numbers, the
        coefficients of the numerator are divided by their common divisor, and so are those of the denominator; `scale`
        undoes this.
        """
        return self._parts(self.statistics)

    def parts_of(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the numerators and denominators of some systems' scores.

        There is one row per item or cluster, and one column per system.
        """
        return self._parts(self.statistics[:, list(systems)])

    def parts_by_block(self, systems: Sequence[int] | None = None) -> Iterator[tuple[Floats, Floats]]:
        """Yield numerators and denominators of the scores in blocks, to save memory.

        Each block has the values of some items or clusters.

        Args:
            systems: Indices of the systems; None: all systems.

        Yields:
            Numerators and denominators, [items or clusters, systems] each.
        """
        everyone = systems is None or list(systems) == list(range(self.statistics.shape[1]))
        chosen = slice(None) if systems is None or everyone else list(systems)
        return (self._parts(block[:, chosen]) for block in self.by_block())

    def sums_of_parts(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the total numerators and total denominators of some systems' scores.

        Both are sums over all items, [1, systems] each.
        """
        return self._parts(self.statistics.sum(axis=0)[None, list(systems)])

    def by_block(self) -> Iterator[Floats]:
        """Yield the statistics in blocks of items or clusters, to save memory.

        An empty matrix yields one empty block.

        Yields:
            Statistics, [items or clusters, systems, columns].
        """
        step = max(_FEW, _AT_ONCE // max(1, math.prod(self.statistics.shape[1:])))
        return (self.statistics[start:start + step] for start in range(0, max(1, len(self.statistics)), step))

    def _parts(self, statistics: Statistics) -> tuple[Floats, Floats]:
        assert self.quotient is not None
        numerators, denominators = np.zeros((2, *statistics.shape[:2]))
        for total, side in zip((numerators, denominators), self.quotient, strict=True):
            for n, coefficient in enumerate(side):
                if coefficient:  # adding columns is faster than a matrix product, because there are few coefficients
                    total += coefficient // math.gcd(*side) * statistics[:, :, n]
        return numerators, denominators

    @property
    def scale(self) -> float:
        """Factor that converts the quotient of the sums of `parts` to the score."""
        assert self.quotient is not None
        numerator, denominator = (math.gcd(*side) for side in self.quotient)
        return numerator / denominator

    @cached_property
    def is_mean(self) -> bool:
        """True if the score is the mean of the scores of units (items or clusters).

        A quotient of sums is a mean if all units have the same denominator.
        """
        if self.quotient is None:
            return False
        first = self._parts(self.statistics[:1])[1].flat[0]
        return all((denominators == first).all() for _, denominators in self.parts_by_block())

    @cached_property
    def denominator_groups(self) -> Ints:
        """Group number of each system; systems of a group have the same denominators.

        Two systems are in the same group if the denominators of their scores are equal in every unit (item or cluster).
        Shape: [systems].
        """
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(sha256(self.parts_of([n])[1].tobytes()).digest(), len(seen))
                         for n in range(self.statistics.shape[1])])

    @cached_property
    def higher(self) -> Flags | None:
        """Whether each system gets each unit right, if units are only right or wrong.

        A unit is an item or a cluster. More generally, a unit is right if the numerator of the score has the higher of
        two possible values. Shape: [units, systems].

        The value is None if a unit has more than two numerators, if the two differ by more in one unit than in another,
        or if systems have different denominators.
        """
        if self.quotient is None:
            return None
        flags: list[Flags] = []
        steps: set[float] = set()
        for numerators, denominators in self.parts_by_block():
            least, most = numerators.min(axis=1, keepdims=True), numerators.max(axis=1, keepdims=True)
            steps.update(np.unique(most - least).tolist())
            if ((denominators != denominators[:, :1]).any() or len(steps - {0.0}) > 1 or not are_whole(least)
                    or not are_whole(most)):
                return None
            flags.append(numerators != least)
            if not ((numerators == most) | ~flags[-1]).all():
                return None
        return np.concatenate(flags)

    @cached_property
    def both_higher(self) -> Ints | None:
        """Number of items (or clusters) that both of two systems get right.

        Shape: [systems, systems]. The value is None if items are not only right or wrong.
        """
        return None if self.higher is None else count_shared(self.higher)

    def whole_parts(self, pair: Sequence[int]) -> tuple[Ints, Ints] | None:
        """Return the numerators and denominators of two systems as whole numbers.

        Each array has one row per item or cluster and two columns. It is divided by its greatest common divisor, so
        that other systems do not affect the result, even if their runs or decimals require finer steps. The result is
        None if a value is not whole, or if a sum is too large.
        """
        sides = []
        for of_pair in self.parts_of(pair):
            if np.abs(of_pair).sum() >= 2**53 or (of_pair != np.rint(of_pair)).any():
                return None
            whole = of_pair.astype(np.int64)
            sides.append(whole // common_divisor(whole))
        return sides[0], sides[1]


@dataclass(frozen=True, eq=False)
class StatisticMatrix(Matrix):
    """Statistics of systems for a score that is a function of their sums over items.

    Attributes:
        score: Maps sums [..., columns] to scores [...]; an undefined score is nan.
    """

    score: Score

    @property
    def by_unit(self) -> StatisticMatrix:
        """The statistics with one row per unit: the items of each cluster are summed.

        Without clusters, each row is an item.
        """
        return self if self.units is None else self._summed

    @cached_property
    def _summed(self) -> StatisticMatrix:
        units = self.units
        assert units is not None

        def summed(statistics: Floats) -> Floats:
            sums = np.zeros((self.n_units, *statistics.shape[1:]))
            np.add.at(sums, units, statistics)
            return sums

        compact = self.statistics
        statistics = summed(compact) if not isinstance(compact, CompactStatistics) else CompactStatistics.convert(
            (summed(compact[:, n]) for n in range(compact.shape[1])), compact.shape[1], compact.nbytes)
        return replace(self, statistics=statistics, units=None, answers_to=None, runs=self.runs and tuple(
            map(summed, self.runs)), strata=self.unit_strata,
            judged=self.judged and replace(self.judged, statistics=compact, units=units))

    def scores(self) -> Floats:
        """Compute the score of every system from its sums over all items, [systems]."""
        return self.score(self.statistics.sum(axis=0))

    def unit_scores(self) -> Floats:
        """Compute the score of every system in each single unit, [units, systems].

        The units must be items or clusters.
        """
        return np.concatenate([self.score(block) for block in self.by_block()])

    def jackknife(self) -> Floats:
        """Compute the scores of all systems without each unit in turn, [units, systems].

        The rows of the matrix must be units: items or clusters.
        """
        sums = self.statistics.sum(axis=0)
        return np.concatenate([self.score(sums - block) for block in self.by_block()])


def additive(matrix: Matrix) -> StatisticMatrix:
    """Return the matrix itself, with the static type `StatisticMatrix`.

    The caller must have excluded other matrices, such as those of correlations.
    """
    assert isinstance(matrix, StatisticMatrix)
    return matrix
