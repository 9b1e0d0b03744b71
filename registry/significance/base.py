"""What tests of two systems take and give: settings, pairs as observed, and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.parallel.execution import Execution
from registry.significance.matrix import Floats, Matrix

Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["dual", "percentile", "basic", "bca"]
Unit = Literal["response", "item", "cluster"]
Method = Literal["exact", "ideal", "monte-carlo", "asymptotic"]
Pair = tuple[int, int]


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
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    interval: Interval = "dual"
    confidence: float = 0.95
    execution: Execution = field(default=Execution(), compare=False)


Difference = TypeVar("Difference", NDArray[np.float64], int, float, Fraction)

# the alternative after the two systems have changed places
FLIPPED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def extremity(difference: Difference, alternative: Alternative) -> Difference:
    """How extreme a difference is under the alternative: the larger, the stronger the evidence against the null."""
    if alternative == "two-sided":
        return abs(difference)
    return difference if alternative == "greater" else -difference


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
        note: Why a value is nan, or what else a reader must know.
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
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail probability that a test computes for a pair; other attributes are those of `PairResult`.

    Attributes:
        log_p: The natural logarithm of the p-value.
        coins: Where the p-value counts outcomes of fair coins, their number: it is a multiple of 2^-`coins`.
        p: The p-value itself, where it is known to the last digit.
        favours: A number with the sign of the evidence; None: that of the difference.
    """

    log_p: float
    method: Method
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None
    coins: int | None = None
    p: float | None = None
    ci_low: float = math.nan
    ci_high: float = math.nan
    statistic: float = math.nan
    favours: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """A pair as observed in all units of a matrix, which is by unit."""

    matrix: Matrix
    pair: Pair
    difference: float
    n_discordant: int

    @classmethod
    def of(cls, matrix: Matrix, pairs: Sequence[Pair]) -> list[Observed]:
        """Observe pairs of a matrix that is by unit."""
        a, b = matrix.observed[np.array(pairs, dtype=np.int64).reshape(-1, 2).T]
        return [cls(matrix, *of_pair) for of_pair in zip(
            pairs, matrix.difference(a, b).tolist(), _discordant(matrix, pairs), strict=True)]

    @property
    def is_mean(self) -> bool:
        """Whether the scores of the pair are means of unit scores, whatever other systems' are."""
        return self.matrix.of_systems(self.pair).is_mean

    @property
    def n_units(self) -> int:
        """The number of units; of answers only those that one of the two systems gives."""
        return self.matrix.n_units if self.matrix.answers_to is None else self.matrix.of_systems(self.pair).n_tested

    @property
    def a(self) -> Floats:
        """The statistics of the first system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[0]]

    @property
    def b(self) -> Floats:
        """The statistics of the second system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[1]]


def _discordant(matrix: Matrix, pairs: Sequence[Pair]) -> list[int]:
    """The number of units in which the statistics of the two systems differ, for each pair."""
    columns, units = _codes(matrix.statistics), matrix.units

    def count(a: int, b: int) -> int:
        differ = columns[0][a] != columns[0][b]
        for column in columns[1:]:
            differ |= column[a] != column[b]
        return int(np.count_nonzero(differ)) if units is None else len(np.unique(units[differ]))

    return [count(a, b) if columns else 0 for a, b in pairs]


def _codes(statistics: Floats) -> list[NDArray[Any]]:
    """Arrays [systems, units] that differ just where statistics do; whole columns are packed into one as its digits."""
    columns = (np.ascontiguousarray(statistics[:, :, n].T) for n in range(statistics.shape[2])
               if (statistics[:, :, n] != statistics[:, :1, n]).any())  # one at a time: all are as large as these
    codes: list[NDArray[Any]] = []
    most = 2**63
    for column in columns:
        least, digits = column.min(), column.max() - column.min() + 1
        if not digits < 2**53 or (column != np.rint(column)).any():
            codes.insert(0, column)
            continue
        whole = (column - least).astype(np.int64)
        most *= int(digits)
        if most < 2**63:
            codes[-1] = codes[-1] * int(digits) + whole
        else:
            codes.append(whole)
            most = int(digits)
    return codes
