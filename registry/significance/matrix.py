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
from registry.parallel.scratch_files import room

_MOVED = 2**20  # values that change places at once


@dataclass(frozen=True, eq=False)
class CompactStatistics:
    """Statistics of systems, [items, systems, columns]; parts of them are given as float64.

    Attributes:
        held: [systems, columns, items], of the smallest type that has room for all of them.
    """

    held: NDArray[Any]

    @classmethod
    def of_each(cls, systems: Iterable[Floats], n_systems: int, most: int) -> CompactStatistics:
        """Hold the statistics of one system after the other, [items, columns] each.

        Args:
            systems: One or more.
            n_systems: How many they are.
            most: The bytes that they may take in memory; more are in a temporary file.
        """
        held: NDArray[Any] | None = None
        for n, statistics in enumerate(systems):
            dtype = _narrowest(statistics)
            if held is None:
                held = room((n_systems, *statistics.shape[::-1]), most, dtype)
            elif (wider := np.promote_types(held.dtype, dtype)) != held.dtype:
                before = held
                held = room(before.shape, most, _exact(wider))
                held[:n] = before[:n]
            held[n] = statistics.T
        assert held is not None
        return cls(held)

    def __len__(self) -> int:
        """The number of items."""
        return int(self.held.shape[2])

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of items, systems and columns."""
        systems, columns, items = self.held.shape
        return items, systems, columns

    @property
    def nbytes(self) -> int:
        """The bytes that they take."""
        return self.held.nbytes

    @property
    def are_whole(self) -> bool:
        """Whether all of them surely are whole numbers."""
        return self.held.dtype.kind in "iu"

    def __getitem__(self, key: Any) -> Floats:
        """Take some, with the key that an array [items, systems, columns] takes; they are a copy, in C order."""
        return np.array(self.held.transpose(2, 0, 1)[key], dtype=np.float64, order="C")

    def of_systems(self, chosen: Sequence[int]) -> CompactStatistics:
        """Those of the chosen systems, in their order."""
        return CompactStatistics(self.held[list(chosen)])

    def sum(self, axis: int) -> Floats:
        """Sum over the items, the first axis: [systems, columns]."""
        assert axis == 0
        sums = self.held.sum(axis=2, dtype=np.int64 if self.are_whole else np.float64)
        return np.asarray(sums, dtype=np.float64)

    def reorder(self, systems: Sequence[int]) -> None:
        """Put the systems in this order, without room for a second array."""
        some = max(1, _MOVED // self.held[:, :, :1].size)
        for at in range(0, len(self), some):
            self.held[:, :, at:at + some] = self.held[list(systems), :, at:at + some]


Statistics = Floats | CompactStatistics


def of_systems(statistics: Statistics, chosen: Sequence[int]) -> Statistics:
    """Statistics of the chosen systems, in their order."""
    if isinstance(statistics, CompactStatistics):
        return statistics.of_systems(chosen)
    return statistics[:, list(chosen)]


def columns_of(statistics: Statistics) -> NDArray[Any]:
    """The columns of the systems, [systems x columns, items], as they are held."""
    if isinstance(statistics, CompactStatistics):
        return statistics.held.reshape(-1, len(statistics))
    return statistics.reshape(len(statistics), -1).T


def are_whole(statistics: Statistics) -> bool:
    """Whether all are whole numbers; some are checked at a time, so that no second array is as large."""
    if isinstance(statistics, CompactStatistics) and statistics.are_whole:
        return True
    some = max(1, _MOVED // max(1, statistics[:1].size))
    return all(np.array_equal(part, np.rint(part)) for part in (
        statistics[at:at + some] for at in range(0, len(statistics), some)))


def _narrowest(values: Floats) -> np.dtype[Any]:
    """The smallest type that holds all values exactly, of whole numbers of up to 32 bits and float64."""
    least, largest = values.min(initial=0), values.max(initial=0)
    if not -2**31 <= least <= largest < 2**31 or (values != np.rint(values)).any():
        return np.dtype(np.float64)
    ends = (int(least), -1 - int(largest)) if least < 0 else (int(largest),)
    return _exact(np.result_type(*map(np.min_scalar_type, ends)))


def _exact(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type itself, or float64 for whole numbers of more than 32 bits."""
    return dtype if dtype.itemsize < 8 else np.dtype(np.float64)


_MARKS = 2**24  # marks that are multiplied at a time, as float32
_EXACT = 2**24  # counts below it are exact in float32


def count_shared(marks: Flags) -> Ints:
    """How many units are marked for both systems of every pair, [systems, systems], from marks [units, systems].

    On the diagonal is how many are marked for each system.
    """
    units, systems = marks.shape
    both = np.zeros((systems, systems))
    for at in range(0, units, some := max(1, min(_MARKS // max(1, systems), _EXACT - 1))):
        part = marks[at:at + some].astype(np.float32)
        both += part.T @ part
    return both.astype(np.int64)


def count_unshared(both: Ints, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """In how many units only the first system of a pair is marked, and only the second, [pairs] each.

    Args:
        both: From `count_shared`.
        a: The first systems.
        b: The second systems.
    """
    of_pair = both[a, b]
    return both[a, a] - of_pair, both[b, b] - of_pair


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Items that a judge has scored, and people some of them (`registry.judged`).

    Attributes:
        in_ones: From statistics [..., columns] as a matrix counts them to what they are.
        slope: How much of the judge's mean is taken; None: of each score and difference what has the least error.
        lower_is_better: Whether a lower score is the better one.
        statistics: [items, systems, columns], as the matrix counts them; None: they are the matrix's own, whose rows
            are items.
        units: [items], the number from 0 of the cluster that each belongs to; None: they are the units.
    """

    in_ones: Callable[[Floats], Floats]
    slope: float | None
    lower_is_better: bool
    statistics: Statistics | None = None
    units: Ints | None = None

    def of_systems(self, chosen: Sequence[int]) -> JudgedItems:
        """Of the chosen systems, in their order."""
        return self if self.statistics is None else replace(self, statistics=of_systems(self.statistics, chosen))

    def of(self, system: int) -> Floats:
        """What a system's items add to the sums that `registry.judged.COLUMNS` names, [items, columns]."""
        assert self.statistics is not None
        return self.in_ones(self.statistics[:, system])

    def apart(self, a: int, b: int) -> Floats:
        """The same of what item after item system `a` is better by than system `b`."""
        return apart(self.of(a), self.of(b), lower=self.lower_is_better)


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores of all systems in resamples of the units, which are drawn at their first use.

    Attributes:
        resamples, seed: The number of resamples, and the seed that they are drawn by.
        draw: Returns the scores, [resamples, systems].
    """

    resamples: int
    seed: int
    draw: Callable[[], Floats]

    @cached_property
    def scores(self) -> Floats:
        """The scores, [resamples, systems]."""
        return self.draw()


Score = Callable[[Floats], Floats]
Quotient = tuple[tuple[int, ...], tuple[int, ...]]
Range = tuple[float, float]
Classes = Literal["pooled", "averaged", "chance-corrected"]
Scores = TypeVar("Scores", Floats, Ints, Fraction)

_AT_ONCE = 2**20  # values that are looked at together
_FEW = 16


def common_divisor(numbers: Ints) -> int:
    """The greatest common divisor of whole numbers, 1 at least; a few of them nearly always have it already."""
    numbers = numbers.ravel()
    of_few = int(np.gcd.reduce(numbers[:_FEW]))
    if of_few == 1 or (of_few and not (numbers % of_few).any()):
        return of_few
    return max(1, int(np.gcd.reduce(numbers)))


def _summed_columns(statistics: Statistics, coefficients: Sequence[int]) -> Floats:
    """The columns times their coefficients, one after the other: a product with so few of them takes longer."""
    found = np.zeros(statistics.shape[:2])
    for n in np.flatnonzero(coefficients).tolist():
        found += coefficients[n] * statistics[:, :, n]
    return found


def difference(scores_a: Scores, scores_b: Scores, *, lower_is_better: bool) -> Scores:
    """The difference of scores, elementwise: positive where A is better."""
    return scores_b - scores_a if lower_is_better else scores_a - scores_b


@dataclass(frozen=True, eq=False)
class Matrix(ABC):
    """Systems scored on the same units; a test never knows which metric it tests.

    Attributes:
        statistics: [items, systems, columns], in an order of items that does not depend on the order of files. They
            are whole numbers, so that sums are exact: decimals are counted in steps, which `score` and `quotient` know.
        units: [items], the number from 0 of the cluster that each item belongs to; None where items are the units.
        strata: [items], the number from 0 of the stratum within which each item is resampled; None: there is one.
        lower_is_better: Whether a lower score is the better one.
        quotient: Where the score is one linear function of the sums over another, the coefficients of both.
        family: The statistics family of the columns (`registry.families`), where a test needs their meaning.
        multiple: The factor by which the statistics are multiplied so that averages over runs are whole; `score`
            divides by it.
        rounding: The step that statistics are rounded to, so that equal ones may be some steps apart; 0 if none are.
        runs: Where a system's runs are random, those of each system, [items, runs, columns]; `statistics` are then
            their averages. None: the runs are fixed.
        factors: Of each run of each system the level of every factor, such as `{"prompt": "terse", "run": "1"}`; None:
            nothing but their number tells runs apart, and each system has its own.
        unequal: Whether some systems lack items that others have; their statistics are 0 there.
        answers_to: Where rows are answers that systems give or not, [answers], the number from 0 of the item that each
            belongs to; None where rows are items.
        resampled: The scores in resamples that all tests of the matrix share; None: each test draws its own.
        judged: Where items have a judge's score and some of them people's, what tests need of these.
        score_range: Lowest and highest value that the score can have, infinite if it has no bound.
        classes: How a score of counts of classes combines these: `pooled`, `averaged` (macro-F1, balanced accuracy) or
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
        """The matrix that tests take: units are its rows, or it knows which rows each unit has."""

    @abstractmethod
    def scores(self) -> Floats:
        """Score every system on all items, [systems]."""

    @abstractmethod
    def jackknife(self) -> Floats:
        """Score every system without each unit in turn, [units, systems]; the matrix must be by unit."""

    @cached_property
    def observed(self) -> Floats:
        """The scores, [systems], computed once."""
        return self.scores()

    @property
    def n_units(self) -> int:
        """How many units are resampled or permuted."""
        return len(self.statistics) if self.units is None else int(self.units.max(initial=-1)) + 1

    @property
    def unit_strata(self) -> Ints | None:
        """The stratum of each unit, [units]; None: there is one."""
        if self.strata is None or self.units is None:
            return self.strata
        return self.strata[np.unique(self.units, return_index=True)[1]]  # all items of a unit are of one stratum

    @property
    def lone_units(self) -> int:
        """How many units are alone in their stratum, so that every resample takes them just once."""
        strata = self.unit_strata
        sizes = np.array([self.n_units]) if strata is None else np.bincount(strata)
        return int(np.count_nonzero(sizes == 1))

    @property
    def n_tested(self) -> int:
        """How many units a test looks at: of answers those that some system gives."""
        return self.n_units if self.answers_to is None else int(self.statistics[:, :, 1].any(axis=1).sum())

    def of_systems(self, chosen: Sequence[int]) -> Self:
        """The same matrix with only the chosen systems, in their order; resamples are not shared any more."""
        return replace(self, statistics=of_systems(self.statistics, chosen), resampled=None,
                       judged=self.judged and self.judged.of_systems(chosen),
                       runs=self.runs and tuple(self.runs[n] for n in chosen),
                       factors=self.factors and tuple(self.factors[n] for n in chosen))

    def difference(self, scores_a: Scores, scores_b: Scores) -> Scores:
        """The difference of scores, elementwise: positive where A is better."""
        return difference(scores_a, scores_b, lower_is_better=self.lower_is_better)

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """The numerator and the denominator of every unit and system, [units, systems] each; `quotient` must be there.

        A common factor of the coefficients of one side is left out: it scales all scores alike.
        """
        return self._parts(self.statistics)

    def parts_of(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """The `parts` of some systems, [units, systems] each."""
        return self._parts(self.statistics[:, list(systems)])

    def parts_by_block(self, systems: Sequence[int] | None = None) -> Iterator[tuple[Floats, Floats]]:
        """The `parts` of some units after the others, of all or of some systems, [some units, systems] each."""
        everyone = systems is None or list(systems) == list(range(self.statistics.shape[1]))
        chosen = slice(None) if systems is None or everyone else list(systems)
        return (self._parts(some[:, chosen]) for some in self.by_block())

    def sums_of_parts(self, systems: Sequence[int]) -> tuple[Floats, Floats]:
        """The sums of the `parts` of some systems over all units, [1, systems] each."""
        return self._parts(self.statistics.sum(axis=0)[None, list(systems)])

    def by_block(self) -> Iterator[Floats]:
        """The statistics of some units after the others, [some units, systems, columns] each; none are one block."""
        some = max(_FEW, _AT_ONCE // max(1, math.prod(self.statistics.shape[1:])))
        return (self.statistics[at:at + some] for at in range(0, max(1, len(self.statistics)), some))

    def _parts(self, statistics: Statistics) -> tuple[Floats, Floats]:
        assert self.quotient is not None
        over, under = (_summed_columns(statistics, [c // math.gcd(*side) for c in side]) for side in self.quotient)
        return over, under

    @property
    def scale(self) -> float:
        """What a quotient of sums of `parts` is multiplied by to be the score."""
        assert self.quotient is not None
        over, under = (math.gcd(*side) for side in self.quotient)
        return over / under

    @cached_property
    def is_mean(self) -> bool:
        """Whether the score is the plain mean of the units' scores: a quotient with the same denominator in each."""
        if self.quotient is None:
            return False
        first = self._parts(self.statistics[:1])[1].flat[0]
        return all((under == first).all() for _, under in self.parts_by_block())

    @cached_property
    def denominators(self) -> Ints:
        """Numbers that are equal just where systems share the denominators of all units, [systems]."""
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(sha256(self.parts_of([n])[1].tobytes()).digest(), len(seen))
                         for n in range(self.statistics.shape[1])])

    @cached_property
    def higher(self) -> Flags | None:
        """Which systems have the higher one of two numerators in each unit, [units, systems].

        None where a unit has more than two, where two units differ by more or less than two others, or where systems do
        not share their denominators: swaps are then no fair coins of one size.
        """
        if self.quotient is None:
            return None
        found: list[Flags] = []
        steps: set[float] = set()
        for over, under in self.parts_by_block():
            least, most = over.min(axis=1, keepdims=True), over.max(axis=1, keepdims=True)
            steps.update(np.unique(most - least).tolist())
            if (under != under[:, :1]).any() or len(steps - {0.0}) > 1 or not are_whole(least) or not are_whole(most):
                return None
            found.append(over != least)
            if not ((over == most) | ~found[-1]).all():
                return None
        return np.concatenate(found)

    @cached_property
    def both_higher(self) -> Ints | None:
        """In how many units two systems both have the higher numerator (`higher`), [systems, systems]."""
        return None if self.higher is None else count_shared(self.higher)

    def whole_parts(self, pair: Sequence[int]) -> tuple[Ints, Ints] | None:
        """Give the `parts` of a pair, [units, 2] each, as whole numbers without a common divisor.

        So other systems, whose runs or decimals made finer steps necessary, have no say. None where parts are not
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
        """The statistics summed over each unit, [units, systems, columns]: clusters are tested by the same kernels."""
        return self if self.units is None else self._summed

    @cached_property
    def _summed(self) -> StatisticMatrix:
        units = self.units
        assert units is not None

        def summed(statistics: Floats) -> Floats:
            sums = np.zeros((self.n_units, *statistics.shape[1:]))
            np.add.at(sums, units, statistics)
            return sums

        held = self.statistics
        statistics = summed(held) if not isinstance(held, CompactStatistics) else CompactStatistics.of_each(
            (summed(held[:, n]) for n in range(held.shape[1])), held.shape[1], held.nbytes)
        return replace(self, statistics=statistics, units=None, answers_to=None, runs=self.runs and tuple(
            map(summed, self.runs)), strata=self.unit_strata,
            judged=self.judged and replace(self.judged, statistics=held, units=units))

    def scores(self) -> Floats:
        """Score the sums over all items, [systems]."""
        return self.score(self.statistics.sum(axis=0))

    def unit_scores(self) -> Floats:
        """Score every system on each unit, [units, systems]; the matrix must be by unit."""
        return np.concatenate([self.score(some) for some in self.by_block()])

    def jackknife(self) -> Floats:
        """Score the sums without each unit in turn, [units, systems]."""
        sums = self.statistics.sum(axis=0)
        return np.concatenate([self.score(sums - some) for some in self.by_block()])


def additive(matrix: Matrix) -> StatisticMatrix:
    """The matrix, where its statistics are known to add up: a test that needs that refuses all others."""
    assert isinstance(matrix, StatisticMatrix)
    return matrix
