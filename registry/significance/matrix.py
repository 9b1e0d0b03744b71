"""The matrices that tests take: systems scored on the same units, as arrays.

Most statistics are small counts, and a leaderboard can have 10^9 of them, so `CompactStatistics` stores them in few
bytes. Tests compute in float64 on some items, or on some systems.
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
from registry.judged import apart
from registry.parallel.scratch_files import make_array

_MOVED = 2**20  # values that are moved together


@dataclass(frozen=True, eq=False)
class CompactStatistics:
    """Statistics of systems, [items, systems, columns]; indexing returns float64.

    Attributes:
        held: [systems, columns, items], of the smallest type that represents all of them exactly.
    """

    held: NDArray[Any]

    @classmethod
    def of_each(cls, systems: Iterable[Floats], n_systems: int, most: int) -> CompactStatistics:
        """Store the statistics of one system after the other, [items, columns] each.

        Args:
            systems: Statistics of at least one system.
            n_systems: Number of systems.
            most: Bytes above which they are stored in a temporary file.
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
        """Numbers of items, systems and columns."""
        systems, columns, items = self.held.shape
        return items, systems, columns

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.held.nbytes

    @property
    def are_whole(self) -> bool:
        """True if all values are known to be whole numbers."""
        return self.held.dtype.kind in "iu"

    def __getitem__(self, key: Any) -> Floats:
        """Return a copy in C order; the key is that of an array [items, systems, columns]."""
        return np.array(self.held.transpose(2, 0, 1)[key], dtype=np.float64, order="C")

    def of_systems(self, chosen: Sequence[int]) -> CompactStatistics:
        """Return the statistics of the chosen systems, in their order."""
        return CompactStatistics(self.held[list(chosen)])

    def sum(self, axis: int) -> Floats:
        """Sum over the items, the first axis: [systems, columns]."""
        assert axis == 0
        sums = self.held.sum(axis=2, dtype=np.int64 if self.are_whole else np.float64)
        return np.asarray(sums, dtype=np.float64)

    def reorder(self, systems: Sequence[int]) -> None:
        """Put the systems in this order in place."""
        step = max(1, _MOVED // self.held[:, :, :1].size)
        for start in range(0, len(self), step):
            self.held[:, :, start:start + step] = self.held[list(systems), :, start:start + step]


Statistics = Floats | CompactStatistics


def of_systems(statistics: Statistics, chosen: Sequence[int]) -> Statistics:
    """Return the statistics of the chosen systems, in their order."""
    if isinstance(statistics, CompactStatistics):
        return statistics.of_systems(chosen)
    return statistics[:, list(chosen)]


def columns_of(statistics: Statistics) -> NDArray[Any]:
    """Return the columns of the systems, [systems x columns, items], in their type."""
    if isinstance(statistics, CompactStatistics):
        return statistics.held.reshape(-1, len(statistics))
    return statistics.reshape(len(statistics), -1).T


def are_whole(statistics: Statistics) -> bool:
    """Return whether all statistics are whole numbers, checked block by block to save memory."""
    if isinstance(statistics, CompactStatistics) and statistics.are_whole:
        return True
    step = max(1, _MOVED // max(1, statistics[:1].size))
    return all(np.array_equal(part, np.rint(part)) for part in (
        statistics[start:start + step] for start in range(0, len(statistics), step)))


_MARKS = 2**24  # marks that are multiplied at a time, as float32
_EXACT = 2**24  # counts below it are exact in float32


def count_shared(marks: Flags) -> Ints:
    """Count the units that are marked for both systems, [systems, systems], from marks [units, systems].

    The diagonal counts the marked units of each system.
    """
    units, systems = marks.shape
    both = np.zeros((systems, systems))
    for start in range(0, units, step := max(1, min(_MARKS // max(1, systems), _EXACT - 1))):
        part = marks[start:start + step].astype(np.float32)
        both += part.T @ part
    return both.astype(np.int64)


def count_unshared(both: Ints, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Count the units that are marked only for the first system of a pair, and only for the second, [pairs] each.

    Args:
        both: From `count_shared`.
        a: First systems.
        b: Second systems.
    """
    shared = both[a, b]
    return both[a, a] - shared, both[b, b] - shared


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that a judge has scored, and people some of them (`registry.judged`).

    The difference of two systems needs more than the sums over a unit.

    Attributes:
        in_ones: Converts statistics [..., columns] from the steps of a matrix to their values.
        slope: Weight of the judge's mean; None: the weight with the least error for each score and difference.
        lower_is_better: True if a lower score is better.
        statistics: [items, systems, columns], in the steps of the matrix; None: those of the matrix, whose rows are
            items.
        units: [items], the number from 0 of the cluster of each item; None: the items are the units.
    """

    in_ones: Callable[[Floats], Floats]
    slope: float | None
    lower_is_better: bool
    statistics: Statistics | None = None
    units: Ints | None = None

    def of_systems(self, chosen: Sequence[int]) -> JudgedItems:
        """Return the items with the chosen systems only, in their order."""
        return self if self.statistics is None else replace(self, statistics=of_systems(self.statistics, chosen))

    def of(self, system: int) -> Floats:
        """Return the contributions of a system's items to the sums of `registry.judged.COLUMNS`, [items, columns]."""
        assert self.statistics is not None
        return self.in_ones(self.statistics[:, system])

    def apart(self, a: int, b: int) -> Floats:
        """Return the contributions of the items' differences, positive if system `a` is better than system `b`."""
        return apart(self.of(a), self.of(b), lower=self.lower_is_better)


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores of all systems in resamples of the units, shared by several tests and drawn at their first use.

    Attributes:
        resamples, seed: Number and seed of the resamples.
        draw: Returns the scores, [resamples, systems].
    """

    resamples: int
    seed: int
    draw: Callable[[], Floats]

    @cached_property
    def scores(self) -> Floats:
        """Scores, [resamples, systems]."""
        return self.draw()


Score = Callable[[Floats], Floats]
Quotient = tuple[tuple[int, ...], tuple[int, ...]]
Range = tuple[float, float]
Classes = Literal["pooled", "averaged", "chance-corrected"]
Scores = TypeVar("Scores", Floats, Ints, Fraction)

_AT_ONCE = 2**20  # values that are looked at together
_FEW = 16


def common_divisor(numbers: Ints) -> int:
    """Return the greatest common divisor of whole numbers, at least 1; that of a few is nearly always that of all."""
    numbers = numbers.ravel()
    candidate = int(np.gcd.reduce(numbers[:_FEW]))
    if candidate == 1 or (candidate and not (numbers % candidate).any()):
        return candidate
    return max(1, int(np.gcd.reduce(numbers)))


def difference(scores_a: Scores, scores_b: Scores, *, lower_is_better: bool) -> Scores:
    """Return the differences of scores, elementwise, positive if A is better."""
    return scores_b - scores_a if lower_is_better else scores_a - scores_b


@dataclass(frozen=True, eq=False)
class Matrix(ABC):
    """Systems scored on the same units; a test does not depend on the metric.

    Attributes:
        statistics: [items, systems, columns], in an order of items that does not depend on the order of files. They
            are whole numbers, so that sums are exact: `score` and `quotient` count decimals in steps.
        units: [items], the number from 0 of the cluster of each item; None: items are the units.
        strata: [items], the number from 0 of the stratum within which each item is resampled; None: one stratum.
        lower_is_better: True if a lower score is better.
        quotient: The coefficients of both linear functions if the score is one of them over the other; else None.
        family: Statistics family of the columns (`registry.families`), if a test needs their meaning.
        multiple: Factor of the statistics that makes averages over runs whole; `score` divides by it.
        rounding: The step that statistics are rounded to, so that equal ones may be some steps apart; 0 if none are.
        runs: Random runs of each system, [items, runs, columns]; `statistics` are then their averages. None: the runs
            are fixed.
        factors: For each run of each system the level of every factor, such as `{"prompt": "terse", "run": "1"}`;
            None: runs differ by their number only, and each system has its own.
        unequal: True if some systems lack items that others have; their statistics are 0 there.
        answers_to: If rows are answers that systems give or not, [answers], the number from 0 of the item of each;
            None if rows are items.
        resampled: Scores in resamples that all tests of the matrix share; None: each test draws its own.
        judged: The items with the scores of a judge and of people, for metrics of such items.
        score_range: Lowest and highest possible score, infinite without a bound.
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
        """The matrix that tests take: its rows are units, or `units` assigns rows to units."""

    @abstractmethod
    def scores(self) -> Floats:
        """Score every system on all items, [systems]."""

    @abstractmethod
    def jackknife(self) -> Floats:
        """Score every system without each unit in turn, [units, systems]; the matrix must be by unit."""

    @cached_property
    def observed(self) -> Floats:
        """Scores, [systems], computed once."""
        return self.scores()

    @property
    def n_units(self) -> int:
        """Number of units that are resampled or permuted."""
        return len(self.statistics) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def unit_strata(self) -> Ints | None:
        """Stratum of each unit, [units]; None: one stratum."""
        if self.strata is None or self.units is None:
            return self.strata
        return self.strata[np.unique(self.units, return_index=True)[1]]  # all items of a unit are of one stratum

    @property
    def lone_units(self) -> int:
        """Number of units that are alone in their stratum, so that every resample takes them just once."""
        strata = self.unit_strata
        sizes = np.array([self.n_units]) if strata is None else np.bincount(strata)
        return int(np.count_nonzero(sizes == 1))

    @property
    def n_tested(self) -> int:
        """Number of tested units: of answers those that some system gives."""
        return self.n_units if self.answers_to is None else int(self.statistics[:, :, 1].any(axis=1).sum())

    def of_systems(self, chosen: Sequence[int]) -> Self:
        """Return the matrix of the chosen systems only, in their order, without shared resamples."""
        return replace(self, statistics=of_systems(self.statistics, chosen), resampled=None,
                       judged=self.judged and self.judged.of_systems(chosen),
                       runs=self.runs and tuple(self.runs[n] for n in chosen),
                       factors=self.factors and tuple(self.factors[n] for n in chosen))

    def difference(self, scores_a: Scores, scores_b: Scores) -> Scores:
        """Return the differences of scores, elementwise, positive if A is better."""
        return difference(scores_a, scores_b, lower_is_better=self.lower_is_better)

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """Numerators and denominators of units and systems, [units, systems] each; `quotient` must not be None.

        They lack a common factor of the coefficients of one side, which scales all scores equally.
        """
        return self._parts(self.statistics)

    def parts_of(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the `parts` of some systems, [units, systems] each."""
        return self._parts(self.statistics[:, list(systems)])

    def parts_by_block(self, systems: Sequence[int] | None = None) -> Iterator[tuple[Floats, Floats]]:
        """Yield the `parts` of blocks of units, of all or of some systems, [some units, systems] each."""
        everyone = systems is None or list(systems) == list(range(self.statistics.shape[1]))
        chosen = slice(None) if systems is None or everyone else list(systems)
        return (self._parts(block[:, chosen]) for block in self.by_block())

    def sums_of_parts(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the sums of the `parts` of some systems over all units, [1, systems] each."""
        return self._parts(self.statistics.sum(axis=0)[None, list(systems)])

    def by_block(self) -> Iterator[Floats]:
        """Yield blocks of statistics, [some units, systems, columns] each; an empty matrix yields one block."""
        step = max(_FEW, _AT_ONCE // max(1, math.prod(self.statistics.shape[1:])))
        return (self.statistics[start:start + step] for start in range(0, max(1, len(self.statistics)), step))

    def _parts(self, statistics: Statistics) -> tuple[Floats, Floats]:
        assert self.quotient is not None
        numerators, denominators = np.zeros((2, *statistics.shape[:2]))
        for total, side in zip((numerators, denominators), self.quotient, strict=True):
            for n, coefficient in enumerate(side):
                if coefficient:  # column after column: a matrix product with so few coefficients takes longer
                    total += coefficient // math.gcd(*side) * statistics[:, :, n]
        return numerators, denominators

    @property
    def scale(self) -> float:
        """Factor from a quotient of sums of `parts` to the score."""
        assert self.quotient is not None
        numerator, denominator = (math.gcd(*side) for side in self.quotient)
        return numerator / denominator

    @cached_property
    def is_mean(self) -> bool:
        """True if the score is the mean of the units' scores: a quotient with equal denominators in all units."""
        if self.quotient is None:
            return False
        first = self._parts(self.statistics[:1])[1].flat[0]
        return all((denominators == first).all() for _, denominators in self.parts_by_block())

    @cached_property
    def denominators(self) -> Ints:
        """Numbers that are equal if and only if systems share the denominators of all units, [systems]."""
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(sha256(self.parts_of([n])[1].tobytes()).digest(), len(seen))
                         for n in range(self.statistics.shape[1])])

    @cached_property
    def higher(self) -> Flags | None:
        """Flags the systems with the higher one of two numerators in each unit, [units, systems].

        None if a unit has more than two numerators, if their differences vary between units, or if systems do not share
        their denominators: swaps are then not fair coins of one size.
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
        """Number of units in which two systems both have the higher numerator (`higher`), [systems, systems]."""
        return None if self.higher is None else count_shared(self.higher)

    def whole_parts(self, pair: Sequence[int]) -> tuple[Ints, Ints] | None:
        """Return the `parts` of a pair, [units, 2] each, as whole numbers without a common divisor.

        So they do not depend on other systems, whose runs or decimals made finer steps necessary. None if parts are not
        whole, or too large.
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
    """Systems whose score is a function of sums of statistics.

    Attributes:
        score: From sums [..., columns] to scores [...]; undefined is nan.
    """

    score: Score

    @property
    def by_unit(self) -> StatisticMatrix:
        """The matrix of statistics summed over each unit: clusters are tested by the same kernels."""
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
        statistics = summed(compact) if not isinstance(compact, CompactStatistics) else CompactStatistics.of_each(
            (summed(compact[:, n]) for n in range(compact.shape[1])), compact.shape[1], compact.nbytes)
        return replace(self, statistics=statistics, units=None, answers_to=None, runs=self.runs and tuple(
            map(summed, self.runs)), strata=self.unit_strata,
            judged=self.judged and replace(self.judged, statistics=compact, units=units))

    def scores(self) -> Floats:
        """Score the sums over all items, [systems]."""
        return self.score(self.statistics.sum(axis=0))

    def unit_scores(self) -> Floats:
        """Score every system on each unit, [units, systems]; the matrix must be by unit."""
        return np.concatenate([self.score(block) for block in self.by_block()])

    def jackknife(self) -> Floats:
        """Score the sums without each unit in turn, [units, systems]."""
        sums = self.statistics.sum(axis=0)
        return np.concatenate([self.score(sums - block) for block in self.by_block()])


def additive(matrix: Matrix) -> StatisticMatrix:
    """Return the matrix, whose statistics must add up: `PairTest.refusal` refuses others."""
    assert isinstance(matrix, StatisticMatrix)
    return matrix
