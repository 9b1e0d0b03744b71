"""Closed-form confidence intervals of scores and of differences, without resampling.

The range of the metric and the units of one system determine the method of its interval, never other systems. Units
that are right or wrong have Wilson's interval, and other bounded scores the same interval with the effective sample
size. Scores with one bound have a score interval whose variance is proportional to the score. Correlations have
Student's interval of Fisher's z, and all other scores Student's interval. If runs are random, an interval contains all
values that the test `crossed` does not reject.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from registry.arrays import Flags, Floats, Ints
from registry.messages import Message
from registry.parallel.execution import Execution
from registry.parallel.scratch_files import room
from registry.significance.base import difference_range
from registry.significance.crossed import cross_runs, explain_crossing_refusal, find_critical_difference
from registry.significance.diagnostics.exchangeability import TOO_SKEWED, even_units
from registry.significance.distributions import bonett_price, wilson, wilson_of_counts
from registry.significance.matrix import Matrix, Range, count_shared, count_unshared
from registry.significance.units import linearized

_MULTIPLIED = 2**22  # influences that are looked at together
_NEAR = 1e-4  # of the sum of two variances: a difference that varies less has lost digits to what it is taken from


def influences(matrix: Matrix) -> Floats:
    """Give the influence of every unit on every system's score, [units, systems].

    Where the score F is a quotient N / D of sums of n and d it is (n - F d) / D; the score's deviation from its mean,
    over the number of units, where it is that of the units. For any other score it is the jackknife's, F less the score
    without the unit, centred, times (n - 1) / n. Either way influences add up to 0, and n / (n - 1) times the sum of
    the squares of those of n units estimates the variance of the score, and of their differences that of the difference
    of two scores on the same units (Efron and Stein 1981; Shao and Tu 1995, section 2.1).

    Args:
        matrix: By unit. A score that is undefined, also without one unit, gives nan.
    """
    if matrix.quotient is None:
        moved = -matrix.jackknife()
        moved -= moved.mean(axis=0)
        return moved * ((matrix.n_units - 1) / max(matrix.n_units, 1))
    return np.asarray(matrix.scale * linearized(*matrix.parts, partial(np.sum, axis=0)))


def standard_errors(influence: Floats) -> Floats:
    """Give the standard error of a score, or of a difference of scores, from influences [units, ...]."""
    n = len(influence)
    if n < 2:
        return np.full(influence.shape[1:], np.nan)
    return np.asarray(np.sqrt(n / (n - 1) * np.einsum("u...,u...->...", influence, influence)))


def errors_of_pairs(influence: Floats, a: Ints, b: Ints) -> Floats:
    """Give the standard errors of the differences of systems `a` and `b` from influences [systems, units], [pairs].

    Those of all come from one product of the systems, unless too many digits cancel.
    """
    systems, places = np.unique(np.stack([a, b]), return_inverse=True)
    n = influence.shape[1]
    products, some = np.zeros((len(systems),) * 2), max(1, _MULTIPLIED // len(systems))
    for at in range(0, n, some):
        moved = influence[systems, at:at + some]
        products += moved @ moved.T
    one, other = places.reshape(2, -1)
    both = products[one, one] + products[other, other]
    squares = both - 2 * products[one, other]
    found = np.asarray(np.sqrt(n / (n - 1) * np.maximum(squares, 0)))
    near, some = np.flatnonzero(squares <= _NEAR * both), max(1, _MULTIPLIED // n)
    for at in range(0, len(near), some):
        chosen = near[at:at + some]
        found[chosen] = standard_errors((influence[a[chosen]] - influence[b[chosen]]).T)
    return found


_DIGITS = 6  # of an interval's width: other systems can change the last bits of sums


class Ends(NamedTuple):
    """Lower and upper ends of intervals, arrays of one shape; nan if there is no interval."""

    low: Floats
    high: Floats


class Estimates(NamedTuple):
    """Scores with their intervals and standard errors, arrays of one shape."""

    scores: Floats
    ends: Ends
    errors: Floats

    def select(self, chosen: Ints) -> Estimates:
        """Return the chosen estimates, in this order."""
        return Estimates(self.scores[chosen], Ends(*(end[chosen] for end in self.ends)), self.errors[chosen])


def wilson_interval(scores: ArrayLike, sizes: ArrayLike, score_range: Range, quantile: float) -> Ends:
    """Return Wilson score intervals of bounded scores, mapped to the range.

    Args:
        scores: Observed scores, of any shape.
        sizes: Effective sample sizes, of that shape; see `effective_sizes`.
        score_range: Lower and upper bound.
        quantile: Number of standard errors, of the normal or of Student's distribution.
    """
    low, high = score_range
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = wilson(np.clip((np.asarray(scores) - low) / (high - low), 0, 1), sizes, quantile)
    return Ends(*(low + (high - low) * end for end in ends))


def effective_sizes(scores: Floats, errors: Floats, score_range: Range) -> Floats:
    """Return the number of right-or-wrong trials that would have the same standard errors.

    Surveys use this size for proportions of clustered samples (Korn and Graubard 1998; Dean and Pagano 2015).
    """
    low, high = score_range
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((scores - low) * (high - scores) / errors**2)


def proportional_interval(scores: Floats, errors: Floats, score_range: Range, quantile: float) -> Ends:
    """Return score intervals of scores with one bound, whose variance is proportional to the distance from it.

    With x the distance of the score from the bound and c = error^2 / x, the ends solve (x - y)^2 = quantile^2 c y. They
    are nan for a score at the bound or beyond it.
    """
    bound, sign = one_bound(score_range)
    distances = sign * (scores - bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        pulled = quantile**2 * errors**2 / distances / 2
        reach = np.sqrt(quantile**2 * errors**2 + pulled**2)
        far = distances + pulled + reach
        near = distances**2 / far  # the product of both ends is the squared distance
    near, far = (np.where(distances > 0, end, np.nan) for end in (near, far))
    return Ends(bound + near, bound + far) if sign > 0 else Ends(bound - far, bound - near)


def one_bound(score_range: Range) -> tuple[float, int]:
    """Return the finite bound of a range with one bound, and 1 if it is the lower one, else -1."""
    return (score_range[0], 1) if math.isfinite(score_range[0]) else (score_range[1], -1)


def difference_interval(a: Estimates, b: Estimates, error: Floats) -> Ends:
    """Return intervals of differences A - B from the intervals of A and B (Newcombe 1998; Zou and Donner 2008).

    They never leave the range of the differences if the intervals of the scores do not leave theirs.

    Args:
        a: Of A, [pairs].
        b: Of B.
        error: Standard errors of the differences. The correlation of A and B follows from the three standard errors;
            it counts as 0 if A or B has none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # 2 (1 - r), with all digits if the systems hardly differ
        count_unshared = (error**2 - (a.errors - b.errors)**2) / (a.errors * b.errors)
    count_unshared = np.clip(np.where((a.errors > 0) & (b.errors > 0), count_unshared, 2.0), 0, 4)

    def reach(one: Floats, other: Floats) -> Floats:
        return np.asarray(np.sqrt((one - other)**2 + count_unshared * one * other))

    difference = a.scores - b.scores
    return Ends(difference - reach(a.scores - a.ends.low, b.ends.high - b.scores),
                difference + reach(a.ends.high - a.scores, b.scores - b.ends.low))


def round_ends(ends: tuple[Floats, Floats], defined: Flags, bounds: Range = (-math.inf, math.inf)) -> Ends:
    """Round ends to six digits of their width, within the bounds; set them to nan unless they are defined."""
    low, high = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.clip(np.nan_to_num(_DIGITS - np.ceil(np.log10(high - low)), posinf=0, neginf=0), -15, 15)
    tens = 10.0 ** np.abs(places)
    is_defined = defined & np.isfinite(low) & np.isfinite(high)
    rounded = (np.where(places >= 0, np.rint(end * tens) / tens, np.rint(end / tens) * tens) for end in (low, high))
    return Ends(*(np.where(is_defined, np.clip(end, *bounds), np.nan) for end in rounded))


_LEAST_EVEN, _UNEVEN = 40, 0.5  # units of equal weight, and their share of all: below both, errors are too small
_FEW_DEGREES, _FEW_OF_MANY = 8, 1 / 8  # of freedom, and as a share of units: below both, an error is hardly known
_FEW_TRIALS = 15  # as many as a rare class leaves: MCC with 3 of 300 positives (7.9) covers in 88 %, with 6 (20) in 95


def has_few_sources(influence: Floats) -> Flags:
    """Flag the scores whose error a few of many units make up, [systems].

    Args:
        influence: Of the units on the scores, [systems, units].

    Fourth moments give the degrees of freedom of the error (Satterthwaite 1946), as of a normal sample of that size.
    """
    n = influence.shape[1]
    squares = np.einsum("su,su->s", influence, influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        fourth = np.einsum("su,su,su,su->s", influence, influence, influence, influence)
        degrees = 2 / (fourth / squares**2 - 1 / n)
    return np.asarray(degrees < min(_FEW_DEGREES, n * _FEW_OF_MANY))


def is_too_skewed(influence: Floats) -> Flags:
    """Flag the scores whose Student's intervals cover in less than 93 % by their skewness, [systems].

    At 95 % skewness adds 2 points to the errors there (Hall 1992, section 2.6).
    """
    squares, cubes = _moments(influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(cubes**2 / squares**3 > 2 * TOO_SKEWED)


def is_too_skewed_above_bound(influence: Floats, distances: Floats) -> Flags:
    """Flag the scores that are more skewed than their interval supposes, [systems].

    The interval supposes a variance proportional to the distance from the bound, and so the skewness of a Poisson
    count: squares^2 / distance is its third cumulant.

    Args:
        influence: Of the units on the distances, [systems, units].
        distances: Of the scores from the bound, [systems].
    """
    squares, cubes = _moments(influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((cubes - squares**2 / distances)**2 / squares**3 > TOO_SKEWED)


def has_rare_class(matrix: Matrix, sizes: Floats) -> Flags:
    """Flag the scores corrected for chance that a class of a few units leaves unknown, [systems].

    Args:
        matrix: By unit, of counts of classes.
        sizes: `class_sizes` of the matrix.
    """
    return np.asarray((sizes < _FEW_TRIALS) & (matrix.classes == "chance-corrected"))


def few_even_units(matrix: Matrix) -> float | None:
    """Return how many units of equal weight give as much information, if these are too few; else None."""
    even = even_units(matrix)
    return even if even < _LEAST_EVEN and even < _UNEVEN * matrix.n_units else None


def _moments(influence: Floats) -> tuple[Floats, Floats]:
    return (np.einsum("su,su->s", influence, influence), np.einsum("su,su,su->s", influence, influence, influence))


def class_sizes(matrix: Matrix) -> Floats:
    """Return K^2 / sum(1 / n_k) for K classes with n_k items each, [systems].

    The mean of K recalls has the variance of so many right-or-wrong trials if items err independently, equally often.

    Args:
        matrix: By unit, of counts of classes; clusters count all of their items.
    """
    counts = matrix.statistics.sum(axis=0)[:, 2::3] / matrix.multiple
    with np.errstate(divide="ignore"):
        inverse = np.where(counts > 0, 1 / counts, 0.0).sum(axis=1)
    return np.asarray((counts > 0).sum(axis=1) ** 2 / np.where(inverse > 0, inverse, np.nan))


def error_free_sizes(matrix: Matrix) -> Floats:
    """Return the number of right-or-wrong trials that a score at a bound of its range stands for, [systems].

    It is the number of units with a denominator; for a score that is averaged over classes, or corrected for chance,
    at most `class_sizes`.

    Args:
        matrix: By unit.
    """
    if matrix.classes != "pooled":
        return np.minimum(class_sizes(matrix), matrix.n_units)
    if matrix.quotient is not None:
        return np.asarray(sum((under > 0).sum(axis=0) for _, under in matrix.parts_by_block()), dtype=np.float64)
    return np.full(matrix.statistics.shape[1], float(matrix.n_units))


def refusal(matrix: Matrix, over: str = "runs") -> Message | None:
    """Say why a matrix, as `over_items` gives it, has no intervals in closed form, or None where it has."""
    if matrix.runs is not None and (reason := explain_crossing_refusal(matrix)):
        return reason
    if matrix.n_units < 2 and (matrix.runs is None or over in ("all", "items")):
        return Message("one-unit")
    if matrix.strata is not None:
        return Message("strata-need-resamples")
    if matrix.judged is not None:
        return Message("judged-differences")
    return _outside(matrix)


def _outside(matrix: Matrix) -> Message | None:
    """Name a score outside of the metric's range; None if all are within."""
    low, high = matrix.score_range
    slack = 1e-9 * max((1.0, *(abs(bound) for bound in (low, high) if math.isfinite(bound))))
    outside = matrix.observed[(matrix.observed < low - slack) | (matrix.observed > high + slack)]
    if not len(outside):
        return None
    return Message("outside-range", {"score": float(outside[0]), "low": low if math.isfinite(low) else None,
                                     "high": high if math.isfinite(high) else None})


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
            n_discordant = np.add(*count_unshared(self._both_right, a[binary], b[binary]))
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
        return count_shared(np.concatenate([over != 0 for over, _ in self.matrix.parts_by_block()]))

    def _crossed(self, pairs: Sequence[tuple[int, int | None]]) -> Floats:
        """How far scores, or differences of two, may be off by what items and runs add to their errors."""
        return find_critical_difference(*cross_runs(self.matrix).bounds(pairs, self.over), 1 - self.confidence)


def over_items(matrix: Matrix) -> Matrix:
    """The matrix by unit; where rows are answers that systems give or not, by the items that these belong to."""
    if matrix.answers_to is not None:
        matrix = replace(matrix, units=matrix.answers_to, answers_to=None, resampled=None)
    return matrix.by_unit
