"""Intervals of scores and of differences from the influence of every unit on a score, without resampling.

The range of the metric and the units of one system determine the method of its interval, never other systems:
units that are right or wrong have Wilson's interval, other bounded scores the same with the effective sample size,
scores with one bound a score interval whose variance is proportional to the score, correlations Student's interval of
Fisher's z, and all others Student's interval. If runs are random, an interval has what `crossed` does not reject.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.parallel.execution import Execution
from registry.parallel.scratch_files import room
from registry.significance.base import difference_range
from registry.significance.crossed import crossing, reach
from registry.significance.distributions.proportions import bonett_price, wilson_of_counts
from registry.significance.intervals.by_range import (
    Ends,
    Estimates,
    difference_interval,
    effective_sizes,
    one_bound,
    proportional_interval,
    round_ends,
    wilson_interval,
)
from registry.significance.intervals.doubts import (
    few_even_units,
    has_few_sources,
    has_rare_class,
    is_too_skewed,
    is_too_skewed_above_bound,
)
from registry.significance.intervals.error_free import class_sizes, error_free_sizes
from registry.significance.intervals.influence import errors_of_pairs, influences
from registry.significance.marks import apart, in_both
from registry.significance.matrix import Matrix

Method = Literal["wilson", "share", "proportional", "student", "fisher", "bonett-price", "mover", "crossed"]

_GROUPS = 500  # of units, without each of which a correlation is computed: its jackknife by unit would take n^2
_TOGETHER = 2**22  # statistics whose influences are computed at once
_ROUNDING = 1e-12  # relative error of a score: it equals the bound, or another score, if it is that near


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
        return round_ends(self._scores, ~np.isnan(self._scores.low), self.matrix.score_range)

    def differences(self, a: Ints, b: Ints) -> Ends:
        """Intervals of the differences between systems `a` and `b`, [pairs], positive where A is better."""
        difference = self.matrix.difference(self.matrix.observed[a], self.matrix.observed[b])
        bounds = difference_range(self.matrix.score_range)
        if self.matrix.runs is not None:
            far = self._crossed(list(zip(a.tolist(), b.tolist(), strict=True)))
            return round_ends((difference - far, difference + far), far > 0, bounds)
        binary = self.are_counted(a, b)
        low, high = np.full((2, len(a)), np.nan)
        if binary.any():
            n_discordant = np.add(*apart(self._both_right, a[binary], b[binary]))
            ends = bonett_price(difference[binary], n_discordant, self.matrix.n_units, self.quantile)
            low[binary], high[binary] = ends
        if not binary.all():
            low[~binary], high[~binary] = self._by_errors(a[~binary], b[~binary], difference[~binary])
        return round_ends((low, high), ~np.isnan(low), bounds)

    def are_counted(self, a: Ints, b: Ints) -> Flags:
        """Of which pairs the interval follows from the difference and the number of discordant units, [pairs]."""
        if self.matrix.runs is not None:
            return np.zeros(len(a), dtype=bool)
        return self._right_or_wrong[a] & self._right_or_wrong[b]

    @property
    def quantile(self) -> float:
        """The ends of the confidence level in the normal distribution."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    @property
    def score_methods(self) -> tuple[Method, ...]:
        """The methods of the scores' intervals, each of which some system has."""
        if self._method == "crossed":
            return ("crossed",)
        binary = self._right_or_wrong
        methods: tuple[Method, ...] = ("wilson",) if binary.any() else ()
        return methods if binary.all() else (*methods, self._method)

    @property
    def difference_methods(self) -> tuple[Method, ...]:
        """The methods of the differences' intervals, each of which some pair of systems has."""
        if self._method == "crossed":
            return ("crossed",)
        binary = int(self._right_or_wrong.sum())
        methods: tuple[Method, ...] = ("bonett-price",) if binary > 1 else ()
        return methods if binary == len(self._right_or_wrong) else (
            *methods, "mover" if self._is_bounded else "student")

    def n_skewed(self) -> int:
        """Count the scores whose interval covers too seldom: skewed units, few of many that err, or a rare class."""
        if self._method in ("crossed", "fisher") or self._right_or_wrong.all():
            return 0
        if self.matrix.family == "confusion":
            doubtful = has_rare_class(self.matrix, class_sizes(self.matrix))
        else:
            moved = self._influences
            doubtful = has_few_sources(moved)
            if self._method == "student":
                doubtful |= is_too_skewed(moved)
            elif self._method == "proportional":
                bound, sign = one_bound(self.matrix.score_range)
                doubtful |= is_too_skewed_above_bound(sign * moved, sign * (self.matrix.observed - bound))
        return int(np.count_nonzero(doubtful & ~self._right_or_wrong))

    def n_even(self) -> float | None:
        """How many units of equal weight tell as much, where they are too few to estimate errors from; else None."""
        return None if self.matrix.runs is not None or self._right_or_wrong.all() else few_even_units(self.matrix)

    def n_error_free(self) -> int:
        """Count the scores that have no interval because they equal the one bound of their range."""
        return 0 if self._method != "proportional" else int(np.count_nonzero(self._at_a_bound & ~self._right_or_wrong))

    @cached_property
    def _method(self) -> Method:
        """The method of systems of which not every unit is right or wrong."""
        if self.matrix.runs is not None:
            return "crossed"
        if self.matrix.family == "pair":
            return "fisher"
        bounded = [math.isfinite(bound) for bound in self.matrix.score_range]
        return "share" if all(bounded) else "proportional" if any(bounded) else "student"

    @property
    def _is_bounded(self) -> bool:
        return self._method in ("share", "fisher")

    @cached_property
    def _scores(self) -> Ends:
        """Intervals of the scores, [systems], not rounded."""
        scores, binary = self.matrix.observed, self._right_or_wrong
        if self._method == "crossed":
            far = self._crossed([(n, None) for n in range(len(scores))])
            return Ends(*(np.where(far > 0, end, np.nan) for end in (scores - far, scores + far)))
        if binary.all():  # no influence is needed
            return self._of_counts()
        errors, is_free = self._errors, self._at_a_bound
        if self._method == "share":
            sizes = effective_sizes(scores, errors, self.matrix.score_range)
            if self.matrix.classes == "averaged":
                # a class of a few items in which a system happens not to err adds nothing to its standard error
                sizes = np.minimum(sizes, class_sizes(self.matrix))
            if is_free.any():
                sizes = np.where(is_free, error_free_sizes(self.matrix), sizes)
            ends = wilson_interval(scores, sizes, self.matrix.score_range, self._student)
            defined = is_free | ~self._lack
        elif self._method == "proportional":
            ends = proportional_interval(scores, errors, self.matrix.score_range, self._student)
            defined = ~is_free & ~self._lack
        elif self._method == "fisher":
            with np.errstate(divide="ignore", invalid="ignore"):
                z, far = np.arctanh(scores), self._student * errors / (1 - scores**2)
                ends, defined = Ends(np.tanh(z - far), np.tanh(z + far)), ~self._lack & (np.abs(scores) < 1)
        else:
            far = self._student * errors
            ends, defined = Ends(scores - far, scores + far), ~self._lack
        low, high = (np.where(defined, end, np.nan) for end in ends)
        return Ends(*(np.where(binary, *both) for both in zip(self._of_counts(), (low, high), strict=True)))

    def _by_errors(self, a: Ints, b: Ints, difference: Floats) -> Ends:
        """Intervals of differences, [pairs], from the standard errors; nan for a constant difference."""
        error, scores = errors_of_pairs(self._influences, a, b), self.matrix.observed
        constant = error <= _ROUNDING * (np.abs(scores[a]) + np.abs(scores[b]))
        if not self._is_bounded:
            ends = Ends(difference - self._student * error, difference + self._student * error)
        else:
            estimates = Estimates(scores, self._scores, self._errors)
            plus, minus = (b, a) if self.matrix.lower_is_better else (a, b)
            ends = difference_interval(estimates.select(plus), estimates.select(minus), error)
        return Ends(*(np.where(constant, np.nan, end) for end in ends))

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
        found = np.ones(self.matrix.statistics.shape[1], dtype=bool)
        if self.matrix.quotient is None or self.matrix.score_range not in ((0, 1), (-math.inf, math.inf)):
            return ~found
        scale, first = self.matrix.scale, None
        for over, under in self.matrix.parts_by_block():
            first = under[:1] if first is None else first
            found &= ((under == first) & ((over == 0) | (scale * over == under))).all(axis=0)
        return found & (first[0] > 0) if first is not None else found

    @cached_property
    def _at_a_bound(self) -> Flags:
        """Flag the scores that equal a bound of their range, so that no unit errs, or all units do, [systems]."""
        scores, finite = self.matrix.observed, [bound for bound in self.matrix.score_range if math.isfinite(bound)]
        slack = _ROUNDING * max((1.0, *map(abs, finite)))
        return np.asarray(np.any([np.zeros(len(scores), dtype=bool), *(
            np.abs(scores - bound) <= slack for bound in finite)], axis=0))

    @property
    def _lack(self) -> Flags:
        """Flag the scores that are undefined, or the same in every unit, [systems]."""
        return ~(self._errors > _ROUNDING * np.abs(self.matrix.observed))

    def _of_counts(self) -> Ends:
        """Return Wilson's intervals, [systems]; nan for systems of which not every unit is right or wrong."""
        n, binary = self.matrix.n_units, self._right_or_wrong
        low, high = np.full((2, len(binary)), np.nan)
        hits = np.rint(self.matrix.observed[binary] * n)
        low[binary], high[binary] = wilson_of_counts(hits, n, self.confidence)
        return Ends(low, high)

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
