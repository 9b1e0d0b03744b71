"""Intervals of scores and of differences by what every unit moves a score by, without draws.

Where units are right or wrong, scores have Wilson's interval and differences Bonett and Price's. Another score between
0 and 1 is taken for a share of as many trials as have its standard error, p (1 - p) / e^2, so that the ends of its
interval are within 0 and 1, and it has a width where no unit errs (as surveys do with clusters; Dean and Pagano 2015).
All other scores, and differences, are as many standard errors wide as Student's distribution says of so many units; of
a correlation its Fisher's z is. Where runs are random an interval is what is not significantly off by `crossed`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.parallel.execution import Execution
from registry.parallel.scratch_files import room
from registry.significance.cautions.weak_null import TOO_SKEWED, even_units
from registry.significance.crossed.critical import reach
from registry.significance.crossed.tables import crossing, crossing_refusal
from registry.significance.distributions.proportions import bonett_price, wilson, wilson_of_counts
from registry.significance.intervals.influence import errors_of_pairs, influences
from registry.significance.marks import apart, in_both
from registry.significance.matrix import Matrix

Method = Literal["wilson", "share", "student", "fisher", "bonett-price", "crossed"]

_GROUPS = 500  # of units, without each of which a correlation is computed: its jackknife by unit would take n^2
_TOGETHER = 2**22  # statistics whose influences are computed at once
_DIGITS = 6  # of an interval's width: other systems can change the last bits of sums
_LEAST_EVEN, _UNEVEN = 40, 0.5  # units of equal weight, and their share of all: below both, errors are too small
_FEW_DEGREES, _FEW_OF_MANY = 8, 1 / 8  # of freedom, and as a share of units: below both, an error is hardly known
_END = 1e-12  # a share so near to 0 or 1 is there


class Ends(NamedTuple):
    """Lower and upper ends, [...] each, nan where there are none."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The intervals of a matrix; `refusal` has no objection.

    Attributes:
        matrix: By unit, as `over_items` gives it.
        confidence: Of the intervals.
        over: Where runs are random, what conclusions hold for, as `crossed` calls it.
        execution: How much memory may be taken.
    """

    matrix: Matrix
    confidence: float = 0.95
    over: str = "runs"
    execution: Execution = field(default=Execution())

    def scores(self) -> Ends:
        """Intervals of the scores, [systems]."""
        scores = self.matrix.observed
        (*_, method) = self.score_methods
        if method == "crossed":
            far = self._crossed([(n, None) for n in range(len(scores))])
            return _ends(scores - far, scores + far, far > 0)
        if method == "wilson":  # no look at single units is needed
            return _ends(*self._of_counts, ~np.isnan(scores))
        far = self._student * self._errors
        if method == "fisher":
            with np.errstate(divide="ignore", invalid="ignore"):
                z, of_z = np.arctanh(scores), far / (1 - scores**2)
                return _ends(np.tanh(z - of_z), np.tanh(z + of_z), (far > 0) & (np.abs(scores) < 1))
        return self._shares() if method == "share" else _ends(scores - far, scores + far, far > 0)

    def differences(self, a: Ints, b: Ints) -> Ends:
        """Intervals of the differences between systems `a` and `b`, [pairs], positive where A is better."""
        difference = self.matrix.difference(self.matrix.observed[a], self.matrix.observed[b])
        if self.matrix.runs is not None:
            far = self._crossed(list(zip(a.tolist(), b.tolist(), strict=True)))
            return _ends(difference - far, difference + far, far > 0)
        binary = self.are_counted(a, b)
        low, high = np.full((2, len(a)), np.nan)
        if binary.any():
            n_discordant = np.add(*apart(self._both_right, a[binary], b[binary]))
            ends = bonett_price(difference[binary], n_discordant, self.matrix.n_units, self.quantile)
            low[binary], high[binary] = ends
        if not binary.all():
            far = self._student * errors_of_pairs(self._influences, a[~binary], b[~binary])
            far[far == 0] = np.nan  # the systems are the same, or apart by the same in every unit
            low[~binary], high[~binary] = difference[~binary] - far, difference[~binary] + far
        return _ends(low, high, ~np.isnan(low))

    def are_counted(self, a: Ints, b: Ints) -> Flags:
        """Of which pairs the interval follows from the difference and the number of discordant units, [pairs]."""
        if self.matrix.runs is not None:
            return np.zeros(len(a), dtype=bool)
        return self._right_or_wrong[a] & self._right_or_wrong[b]

    @property
    def quantile(self) -> float:
        """The ends of the confidence level in the normal distribution."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    @cached_property
    def score_methods(self) -> tuple[Method, ...]:
        """By what the intervals of scores are made; where there are two, right or wrong units have the first."""
        if self.matrix.runs is not None:
            return ("crossed",)
        if self._right_or_wrong.all():
            return ("wilson",)
        if self.matrix.family == "pair":
            return ("fisher",)
        if not self._are_shares:
            return ("student",)
        return ("wilson", "share") if self._right_or_wrong.any() else ("share",)

    def n_skewed(self) -> int:
        """Of how many scores the interval covers too seldom: units move them by too skewed amounts, or few of many do.

        At 95 % Student's covers in less than 93 % where skewness adds 2 points to the errors (Hall 1992, section 2.6).
        An error that few units make up is hardly known: as its fourth moments have it (Satterthwaite 1946), with the
        degrees of freedom of a normal sample of so few.
        """
        (*_, method) = self.score_methods
        if method not in ("student", "share"):
            return 0
        moved = self._influences
        squares, n = np.einsum("su,su->s", moved, moved), moved.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = 2 / (np.einsum("su,su,su,su->s", moved, moved, moved, moved) / squares**2 - 1 / n)
            skewness = np.einsum("su,su,su->s", moved, moved, moved)**2 / squares**3
        doubtful = (degrees < min(_FEW_DEGREES, n * _FEW_OF_MANY)) & ~self._right_or_wrong
        return int(np.count_nonzero(doubtful | (skewness > 2 * TOO_SKEWED) if method == "student" else doubtful))

    def n_even(self) -> float | None:
        """How many units of equal weight tell as much, where they are too few to estimate errors from; else None."""
        if self.matrix.runs is not None or self._right_or_wrong.all():
            return None
        even = even_units(self.matrix)
        return even if even < _LEAST_EVEN and even < _UNEVEN * self.matrix.n_units else None

    @cached_property
    def difference_methods(self) -> tuple[Method, ...]:
        """By what the intervals of differences between any two systems are made."""
        if self.matrix.runs is not None:
            return ("crossed",)
        binary = int(self._right_or_wrong.sum())
        of_binary: tuple[Method, ...] = ("bonett-price",) if binary > 1 else ()
        return of_binary if binary == len(self._right_or_wrong) else (*of_binary, "student")

    @property
    def _student(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._n - 1, (1 + self.confidence) / 2))

    @property
    def _n(self) -> int:
        """How many units, or groups of these, errors are estimated from."""
        return self._grouped.n_units

    @cached_property
    def _grouped(self) -> Matrix:
        """The matrix, of a correlation by groups of units where these are many."""
        matrix = self.matrix
        if matrix.family != "pair" or matrix.n_units <= _GROUPS:
            return matrix
        units = np.arange(matrix.n_units) if matrix.units is None else matrix.units
        return replace(matrix, units=units % _GROUPS, resampled=None)

    @cached_property
    def _right_or_wrong(self) -> Flags:
        """Of which systems every unit is right or wrong, and counts as much, [systems]."""
        if self.matrix.quotient is None:
            return np.zeros(self.matrix.statistics.shape[1], dtype=bool)
        scale, first = self.matrix.scale, None
        found = np.ones(self.matrix.statistics.shape[1], dtype=bool)
        for over, under in self.matrix.parts_by_block():
            first = under[:1] if first is None else first
            found &= ((under == first) & ((over == 0) | (scale * over == under))).all(axis=0)
        return found & (first[0] > 0) if first is not None else found

    @cached_property
    def _are_shares(self) -> bool:
        """Whether no unit's score of any system can be below 0 or above 1."""
        scale = self.matrix.scale if self.matrix.quotient is not None else 1.0
        return self.matrix.quotient is not None and all(
            ((over >= 0) & (scale * over <= under * (1 + _END))).all() for over, under in self.matrix.parts_by_block())

    def _shares(self) -> Ends:
        """The intervals of scores between 0 and 1."""
        scores, binary = self.matrix.observed, self._right_or_wrong
        at_an_end = (scores < _END) | (scores > 1 - _END)  # no unit errs, or all do: each of them is a trial
        counted = sum((under > 0).sum(axis=0) for _, under in self.matrix.parts_by_block())  # units that have something
        with np.errstate(divide="ignore", invalid="ignore"):
            trials = np.where(at_an_end, counted, scores * (1 - scores) / self._errors**2)
            ends = wilson(scores, trials, self._student)
        low, high = (np.where(binary, *of) for of in zip(self._of_counts, ends, strict=True))
        return _ends(low, high, binary | at_an_end | (self._errors > 0))

    @property
    def _of_counts(self) -> tuple[Floats, Floats]:
        """The intervals of the scores of systems whose units are right or wrong."""
        n = self.matrix.n_units
        return wilson_of_counts(np.rint(self.matrix.observed * n), n, self.confidence)

    @cached_property
    def _influences(self) -> Floats:
        """What every unit moves each score by, [systems, units]; in a temporary file where that is much."""
        matrix = self._grouped
        found = room((matrix.statistics.shape[1], self._n), self.execution.memory // 4, np.float64)
        some = max(1, _TOGETHER // max(1, math.prod(matrix.statistics[:, :1].shape)))
        for at in range(0, len(found), some):
            chosen = range(at, min(at + some, len(found)))
            found[at:at + some] = influences(matrix.of_systems(chosen)).T
        return found

    @cached_property
    def _errors(self) -> Floats:
        """The standard errors of the scores, [systems], from the sums of one row after another."""
        moved = self._influences
        n = moved.shape[1]
        return np.asarray(np.sqrt(n / (n - 1) * np.einsum("su,su->s", moved, moved)))

    @cached_property
    def _both_right(self) -> Ints:
        """In how many units two systems are both right, or more than those that are wrong, [systems, systems]."""
        if self._right_or_wrong.all() and self.matrix.both_higher is not None:
            return self.matrix.both_higher
        return in_both(np.concatenate([over != 0 for over, _ in self.matrix.parts_by_block()]))

    def _crossed(self, pairs: Sequence[tuple[int, int | None]]) -> Floats:
        """How far scores, or differences of two, may be off by what items and runs add to their errors."""
        return reach(*crossing(self.matrix).bounds(pairs, self.over), 1 - self.confidence)


def over_items(matrix: Matrix) -> Matrix:
    """The matrix by unit; where rows are answers that systems give or not, by the items that these belong to."""
    if matrix.answers_to is not None:
        matrix = replace(matrix, units=matrix.answers_to, answers_to=None, resampled=None)
    return matrix.by_unit


def refusal(matrix: Matrix, over: str = "runs") -> str | None:
    """Say why a matrix, as `over_items` gives it, has no intervals in closed form, or None where it has."""
    if matrix.runs is not None and (reason := crossing_refusal(matrix)):
        return reason
    if matrix.n_units < 2 and (matrix.runs is None or over in ("all", "items")):
        return "one unit says nothing of others"
    if matrix.strata is not None:
        return "errors within strata need draws: take bootstrap"
    if matrix.judged is not None:
        return "differences of judged items need a slope of their own: take prediction-powered"
    return None


def _ends(low: Floats, high: Floats, defined: Flags) -> Ends:
    """Ends where they are defined, to six digits of the width."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.clip(np.nan_to_num(_DIGITS - np.ceil(np.log10(high - low)), posinf=0, neginf=0), -15, 15)
    tens = 10.0 ** np.abs(places)
    there = defined & np.isfinite(low) & np.isfinite(high)
    return Ends(*(np.where(there, np.where(places >= 0, np.rint(of * tens) / tens, np.rint(of / tens) * tens), np.nan)
                  for of in (low, high)))
