"""What tests of two systems take and give: settings, pairs as observed, and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats, Ints
from registry.messages import NO_MESSAGES, Messages
from registry.parallel.execution import Execution
from registry.significance.discordance import discordant
from registry.significance.marks import apart, in_both
from registry.significance.matrix import Matrix, Range

Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["dual", "percentile", "basic", "bca"]
Unit = Literal["response", "item", "cluster"]
Method = Literal["exact", "ideal", "monte-carlo", "asymptotic", "bound"]
Pair = tuple[int, int]
Pairs = Sequence[Pair] | Ints  # as an array [pairs, 2]

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Settings:
    """The settings of a test.

    Attributes:
        alternative: `greater` means that A is better.
        resamples: The number of random draws.
        seed: The seed of the draws.
        interval: The bootstrap's interval; `dual` excludes 0 just when the test is significant at 1 - confidence.
        confidence: The confidence level of intervals.
        execution: Threads, processes and memory, which change no number.
        family: How many pairs share what exact p-values may cost; those for which its share is too little are drawn.
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    interval: Interval = "dual"
    confidence: float = 0.95
    execution: Execution = field(default=Execution(), compare=False)
    family: int = 1


Difference = TypeVar("Difference", Floats, int, float, Fraction)

# the alternative after the two systems have changed places
FLIPPED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def extremity(difference: Difference, alternative: Alternative) -> Difference:
    """How extreme a difference is under the alternative: the larger, the stronger the evidence against the null."""
    if alternative == "two-sided":
        return abs(difference)
    return difference if alternative == "greater" else -difference


def difference_range(score_range: Range) -> Range:
    """Return the lowest and the highest difference of two scores within a range."""
    width = score_range[1] - score_range[0]
    return -width, width


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of a test of one pair (A, B).

    Attributes:
        difference: The difference of the scores, positive where A is better.
        p_value: The p-value of the alternative; nan where the test is undefined.
        log10_p: Its decimal logarithm, also where the p-value itself underflows.
        method: How the p-value is computed.
        n_units: The number of items or clusters.
        n_discordant: The number of units whose statistics differ.
        p_low, p_high: The 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        ci_low, ci_high: The interval of the difference.
        resamples: The number of draws of a Monte-Carlo p-value; None for others.
        statistic: The test statistic, without its sign, where it is customary to report it: |t|, |z|, chi-squared, the
            smaller sum of ranks, the smaller U.
        favours: 1 where the evidence of the test favours A, -1 for B, 0 for neither. Tests of single units can favour
            the system with the worse score.
        messages: Why a value is nan, and other messages.
    """

    difference: float
    p_value: float
    log10_p: float
    method: Method
    n_units: int
    n_discordant: int
    p_low: float = math.nan
    p_high: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    resamples: int | None = None
    statistic: float = math.nan
    favours: int = 0
    messages: Messages = NO_MESSAGES


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail probability that a test computes for a pair; other attributes are those of `PairResult`.

    Attributes:
        log_p: The natural logarithm of the p-value.
        coins: Where the p-value counts outcomes of fair coins, their number: it is a multiple of 2^-`coins`. 0: it
            does not.
        p: The p-value itself, where it is known to the last digit; nan: it is exp(`log_p`).
        favours: A number with the sign of the evidence; nan: that of the difference.
    """

    log_p: float
    method: Method
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None
    coins: int = 0
    p: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    statistic: float = math.nan
    favours: float = math.nan
    messages: Messages = NO_MESSAGES


@dataclass(frozen=True, slots=True)
class Observed:
    """A pair as observed in all units of a matrix, which is by unit."""

    matrix: Matrix
    pair: Pair
    difference: float
    n_discordant: int

    @classmethod
    def of(cls, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """Observe pairs of a matrix that is by unit."""
        a, b = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        scores = matrix.observed
        return ObservedPairs(matrix, a, b, matrix.difference(scores[a], scores[b]), discordant(matrix, a, b))

    @property
    def is_mean(self) -> bool:
        """Whether the scores of the pair are means of unit scores, whatever other systems' are."""
        return self.matrix.of_systems(self.pair).is_mean

    @property
    def a(self) -> Floats:
        """The statistics of the first system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[0]]

    @property
    def b(self) -> Floats:
        """The statistics of the second system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[1]]


@dataclass(frozen=True, eq=False)
class ObservedPairs(Sequence[Observed]):
    """Pairs as observed in all units of a matrix, as columns: one becomes an `Observed` only where it is asked for.

    Attributes:
        matrix: The matrix, which is by unit.
        a, b: The first and the second systems, [pairs].
        difference: The differences of their scores, [pairs].
        n_discordant: The numbers of units whose statistics differ, [pairs].
    """

    matrix: Matrix
    a: Ints
    b: Ints
    difference: Floats
    n_discordant: Ints

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.a)

    @overload
    def __getitem__(self, at: int) -> Observed: ...
    @overload
    def __getitem__(self, at: slice | NDArray[Any]) -> ObservedPairs: ...
    def __getitem__(self, at: int | slice | NDArray[Any]) -> Observed | ObservedPairs:
        """One pair, or those at a slice, at places, or where a mask is true."""
        if isinstance(at, slice | np.ndarray):
            return ObservedPairs(self.matrix, self.a[at], self.b[at], self.difference[at], self.n_discordant[at])
        pair = int(self.a[at]), int(self.b[at])
        return Observed(self.matrix, pair, float(self.difference[at]), int(self.n_discordant[at]))

    @property
    def alone(self) -> ObservedPairs:
        """The same pairs in a matrix of no other systems."""
        systems, places = np.unique(np.stack([self.a, self.b]), return_inverse=True)
        if len(systems) == self.matrix.statistics.shape[1]:
            return self
        a, b = places.reshape(2, -1)
        return replace(self, matrix=self.matrix.of_systems(systems.tolist()), a=a, b=b)

    @property
    def n_units(self) -> Ints:
        """The number of units of each pair; of answers only those that one of its two systems gives."""
        if self.matrix.answers_to is None:
            return np.full(len(self), self.matrix.n_units)
        both = in_both(self.matrix.statistics[:, :, 1] != 0)
        return both[self.b, self.b] + apart(both, self.a, self.b)[0]
