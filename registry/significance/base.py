"""What every paired test is, and what it gives for a pair of systems."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.parallel.execution import Execution
from registry.significance.matrix import Floats, Matrix
from registry.values import Value

Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["dual", "percentile", "basic", "bca"]
Unit = Literal["response", "item", "cluster"]
Method = Literal["exact", "ideal", "monte-carlo", "asymptotic"]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Settings:
    """What a test is asked for: the alternative (`greater`: A is better), random draws, and the bootstrap's intervals.

    `dual` is the interval that leaves out 0 just when the test is significant at 1 - confidence. `execution` says who
    computes, and changes no number.
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    interval: Interval = "dual"
    confidence: float = 0.95
    execution: Execution = field(default=Execution(), compare=False)


Difference = TypeVar("Difference", NDArray[np.float64], int, float, Fraction)

# what an alternative is after the two systems have changed places
FLIPPED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def extremity(difference: Difference, alternative: Alternative) -> Difference:
    """How extreme a difference is under the alternative: the larger, the more it speaks against the null."""
    if alternative == "two-sided":
        return abs(difference)
    return difference if alternative == "greater" else -difference


@dataclass(frozen=True, slots=True)
class PairResult:
    """One test of one pair (A, B).

    Attributes:
        difference: Positive where A is better; in units of the score.
        p_value: Of the alternative that was asked for; nan where the test is undefined.
        log10_p: Its decimal logarithm, also where the p-value itself underflows.
        method: How the p-value came about.
        n_units: Items or clusters.
        n_discordant: Units whose statistics differ.
        p_low, p_high: 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        ci_low, ci_high: Interval of the difference.
        resamples: Draws behind a Monte-Carlo p-value; None for others.
        statistic: The test's own statistic, where people print it, without its direction: |t|, |z|, chi-squared, the
            smaller sum of ranks, the smaller U.
        favours: 1 where the test's own evidence is for A, -1 for B, 0 for neither: tests of single units can favour
            the system with the lower score.
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
    """A p-value as a test's own computation gives it, by its natural logarithm; the rest as in `PairResult`.

    Where it counts equally likely outcomes of fair coins, it is a whole multiple of 2^-`coins`; `p` is the p-value
    itself where it is known to the last digit. `favours` is a number with the sign of the test's own evidence; None: it
    is that of the difference.
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
    """One pair before it is tested: the matrix by unit, the pair, and what is seen in all its units."""

    matrix: Matrix
    pair: Pair
    difference: float
    n_discordant: int

    @classmethod
    def of(cls, matrix: Matrix, pairs: Sequence[Pair]) -> list[Observed]:
        """Look at pairs of a matrix that is by unit."""
        a, b = matrix.observed[np.array(pairs, dtype=np.int64).reshape(-1, 2).T]
        return [cls(matrix, *of_pair) for of_pair in zip(
            pairs, matrix.difference(a, b).tolist(), _discordant(matrix, pairs), strict=True)]

    @property
    def is_mean(self) -> bool:
        """Whether the pair's scores are the means of those of its units; other systems have no say in it."""
        return self.matrix.of_systems(self.pair).is_mean

    @property
    def n_units(self) -> int:
        """How many units there are, of answers those that one of the two gives: what others give has no say in it."""
        return self.matrix.n_units if self.matrix.answers_to is None else self.matrix.of_systems(self.pair).n_tested

    @property
    def a(self) -> Floats:
        """The statistics of the first system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[0]]

    @property
    def b(self) -> Floats:
        """The statistics of the second system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[1]]


@dataclass(frozen=True, repr=False)
class PairTest(Value):
    """A paired significance test with its options.

    `null` is the hypothesis it tests, `assumes` what must hold for it, `citation` where it comes from, `units` what it
    takes as units, the usual one first, `takes_strata` tells whether it draws within strata, `takes_runs` whether a
    system's runs can be random, `families` the statistics families that it takes (None: every one whose statistics add
    up, unlike those of correlations), and `independent` whether it assumes that the two systems' results are
    independent of each other, which on one test set they hardly ever are (Yeh 2000, section 2).
    `takes_unequal` tells whether the systems may have been judged on different items, `draws_intervals` whether the
    intervals of scores are drawn whatever the pairs need.
    """

    terse: ClassVar[bool] = True
    null: ClassVar[str]
    assumes: ClassVar[str]
    citation: ClassVar[str]
    units: ClassVar[tuple[Unit, ...]] = ("item", "cluster")
    takes_strata: ClassVar[bool] = False
    takes_runs: ClassVar[bool] = False
    families: ClassVar[tuple[str, ...] | None] = None
    independent: ClassVar[bool] = False
    takes_unequal: ClassVar[bool] = False
    draws_intervals: ClassVar[bool] = False

    @property
    def is_one_sided(self) -> bool:
        """Whether the p-value is one-sided, in the direction of the difference, whatever alternative is asked for."""
        return False

    def why_drawn(self, matrix: Matrix) -> str:  # noqa: ARG002
        """Say why pairs of the matrix (by unit) are drawn that this test computes elsewhere; nothing where it draws."""
        return ""

    def work(self, observed: Observed) -> float:  # noqa: ARG002
        """How many steps it takes to compute the p-value of a pair or to find that it must be drawn; 0: hardly any."""
        return 0.0

    def own_refusal(self, matrix: Matrix) -> str | None:  # noqa: ARG002
        """Say why this test does not apply to the matrix (already by unit), or None where it does."""
        return None

    def refusal(self, matrix: Matrix) -> str | None:
        """Say why the matrix (by unit) cannot be tested: by its family, or else by `refusal`."""
        if matrix.family == "pair" and "pair" not in (self.families or ()):
            return (f"{self.name} needs statistics that add up, which those of correlations do not; take permutation, "
                    "bootstrap or williams")
        if matrix.family == "pair" and matrix.runs is not None:
            return 'correlations do not take random runs, which they are not averages over: set runs = "fixed"'
        if matrix.unequal and not self.takes_unequal:
            return (f"{self.name} compares systems on the same items, and some lack items (missing = \"own\"); take "
                    "rank-sum or two-sample-t, or another policy for missing items")
        if reason := self.own_refusal(matrix):
            return reason
        if self.families is not None and matrix.family not in (None, *self.families):
            return (f"{self.name} takes statistics of {' or '.join(self.families)}, not of {matrix.family}; take "
                    "permutation or bootstrap")
        return None

    def run(self, matrix: Matrix, pairs: Sequence[Pair], settings: Settings) -> list[PairResult]:
        """Test every pair of systems.

        Identical systems have p = 1 in every test, and an undefined score makes p undefined.

        Raises:
            ValueError: The test does not apply, see `refusal`.
        """
        matrix = matrix.by_unit
        if reason := self.refusal(matrix):
            raise ValueError(reason)
        observed = Observed.of(matrix, pairs)
        open_ = [o for o in observed if o.n_discordant and not math.isnan(o.difference)]
        tails = dict(zip((o.pair for o in open_), self.tails(open_, settings) if open_ else [], strict=True))
        return [_result(o, tails.get(o.pair)) for o in observed]

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:  # noqa: ARG002
        """Intervals of the systems' scores, [systems, 2]; nan where the test has none."""
        return np.full((matrix.statistics.shape[1], 2), np.nan)

    @abstractmethod
    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Give the p-value of each pair (at least one); all of them have a discordant unit and a defined difference."""


def _discordant(matrix: Matrix, pairs: Sequence[Pair]) -> list[int]:
    """How many units have statistics in which the two systems differ, for each pair."""
    columns, units = _codes(matrix.statistics), matrix.units

    def count(a: int, b: int) -> int:
        differ = columns[0][a] != columns[0][b]
        for column in columns[1:]:
            differ |= column[a] != column[b]
        return int(np.count_nonzero(differ)) if units is None else len(np.unique(units[differ]))

    return [count(a, b) if columns else 0 for a, b in pairs]


def _codes(statistics: Floats) -> list[NDArray[Any]]:
    """Numbers [systems, units] that differ just where statistics do: columns, the whole ones as digits of one."""
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


def _result(observed: Observed, tail: Tail | None) -> PairResult:
    n_units, n_discordant = observed.n_units, observed.n_discordant
    if tail is None and n_discordant:
        return PairResult(math.nan, math.nan, math.nan, "exact", n_units, n_discordant, note="a score is undefined")
    tail = tail or Tail(0.0, "exact")
    p, log10_p = math.exp(tail.log_p) if tail.p is None else tail.p, tail.log_p / math.log(10)
    if tail.coins is not None and tail.coins <= 1000 and 0 < (counted := math.ldexp(p, tail.coins)) < 2**36:
        p = math.ldexp(round(counted), -tail.coins)  # a whole number, so the last digits can be put right
        log10_p = math.log10(p) if p else log10_p
    evidence = observed.difference if tail.favours is None else tail.favours
    favours = int(evidence > 0) - int(evidence < 0)  # nan is neither
    against = "the test favours the system with the worse score" if favours * observed.difference < 0 else ""
    return PairResult(
        observed.difference, p, log10_p, tail.method, n_units, n_discordant, p_low=tail.p_low, p_high=tail.p_high,
        ci_low=tail.ci_low, ci_high=tail.ci_high, resamples=tail.resamples, statistic=tail.statistic, favours=favours,
        note="; ".join(filter(None, (against, tail.note))))
