"""Closed-form confidence intervals of scores and differences, not resampled.

The range of the metric and the units of a system determine the method of the interval; other systems have no influence.

- If every unit is right or wrong: Wilson's score interval.
- Other scores with two bounds: Wilson's score interval with the effective sample size.
- Scores with one bound: a score interval with a variance that is proportional to the score.
- Correlations: Student's interval of Fisher's z.
- All other scores: Student's interval.
- If runs are random: all values that the test `crossed` does not reject.
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
from registry.parallel.scratch_files import make_array
from registry.significance.base import difference_range
from registry.significance.crossed import cross_runs, explain_crossing_refusal, find_critical_difference
from registry.significance.diagnostics.exchangeability import TOO_SKEWED, compute_effective_units
from registry.significance.distributions import bonett_price, wilson, wilson_of_counts
from registry.significance.matrix import Matrix, Range, count_shared, count_unshared
from registry.significance.units import linearize

_NEAR = 1e-4  # relative to the sum of two variances: a smaller variance of their difference has lost digits
_DIGITS = 6  # digits of an interval's width that are kept, because other systems can change the last bits of sums
_LEAST_EVEN, _UNEVEN = 40, 0.5  # effective number of units, and its share: below both, errors are too small
_FEW_DEGREES, _FEW_OF_MANY = 8, 1 / 8  # degrees of freedom, and their share of units: below both, errors are imprecise
_FEW_TRIALS = 15  # limit of `class_sizes`: MCC with 3 of 300 positives (7.9) has 88 % coverage, with 6 (20) 95 %
_GROUPS = 500  # groups of units for the jackknife of a correlation, because the jackknife by unit takes n^2 steps
_TOGETHER = 2**22  # statistics or influences in one block
_ROUNDING = 1e-12  # relative error of a score: a score this near to a bound, or to another score, equals it

Method = Literal["wilson", "share", "proportional", "student", "fisher", "bonett-price", "mover", "crossed"]


class Ends(NamedTuple):
    """Lower and upper ends of confidence intervals, arrays of the same shape.

    If an interval does not exist, both ends are nan.
    """

    low: Floats
    high: Floats


class Estimates(NamedTuple):
    """Scores with confidence intervals and standard errors, in arrays of one shape."""

    scores: Floats
    ends: Ends
    errors: Floats

    def select(self, chosen: Ints) -> Estimates:
        """Return the estimates with the given indices, in that order."""
        return Estimates(self.scores[chosen], Ends(*(end[chosen] for end in self.ends)), self.errors[chosen])


def wilson_interval(scores: ArrayLike, sizes: ArrayLike, score_range: Range, quantile: float) -> Ends:
    """Return Wilson score intervals of scores that have a lower and an upper bound.

    The scores are mapped to [0, 1], and the ends are mapped back.

    Args:
        scores: Observed scores, of any shape.
        sizes: Effective sample sizes, of the same shape.
        score_range: Lowest and highest possible score.
        quantile: Quantile of the normal or of Student's distribution.
    """
    low, high = score_range
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = wilson(np.clip((np.asarray(scores) - low) / (high - low), 0, 1), sizes, quantile)
    return Ends(*(low + (high - low) * end for end in ends))


def effective_sizes(scores: Floats, errors: Floats, score_range: Range) -> Floats:
    """Return the effective sample sizes of scores with a lower and an upper bound.

    An effective sample size is the number of independent right-or-wrong items with the same standard error. Surveys use
    it for proportions of clustered samples (Korn and Graubard 1998; Dean and Pagano 2015).
    """
    low, high = score_range
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((scores - low) * (high - scores) / errors**2)


def proportional_interval(scores: Floats, errors: Floats, score_range: Range, quantile: float) -> Ends:
    """Return score intervals of scores with only one bound, such as error rates.

    Word error rates, for example, are at least 0 but can exceed 1.

    The variance is assumed to be proportional to the distance of the score from the bound. The ends are nan for a score
    at the bound or beyond it.
    """
    # With the distance x and c = error^2 / x, the distances y of the ends solve (x - y)^2 = quantile^2 c y.
    bound, sign = find_bound(score_range)
    distances = sign * (scores - bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        pulled = quantile**2 * errors**2 / distances / 2
        reach = np.sqrt(quantile**2 * errors**2 + pulled**2)
        far = distances + pulled + reach
        near = distances**2 / far  # the product of both ends is the squared distance
    near, far = (np.where(distances > 0, end, np.nan) for end in (near, far))
    return Ends(bound + near, bound + far) if sign > 0 else Ends(bound - far, bound - near)


def find_bound(score_range: Range) -> tuple[float, int]:
    """Return the only finite bound of a range of scores, and on which side it is.

    The side is 1 for a lower and -1 for an upper bound.

    >>> find_bound((0, math.inf))
    (0, 1)
    """
    return (score_range[0], 1) if math.isfinite(score_range[0]) else (score_range[1], -1)


def difference_interval(a: Estimates, b: Estimates, error: Floats) -> Ends:
    """Return the intervals of differences A - B from the intervals of both scores.

    The method is MOVER (Newcombe 1998; Zou and Donner 2008). If the intervals of the scores are within the range of the
    metric, the intervals of the differences are within the range of differences.

    Args:
        a: Scores A with their intervals and errors, [pairs].
        b: Scores B with their intervals and errors, [pairs].
        error: Standard errors of the differences, [pairs]. The correlation of A and B follows from the three standard
            errors; it counts as 0 if A or B has no standard error.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # 2 (1 - r), accurate even if the systems hardly differ
        twice_distance = (error**2 - (a.errors - b.errors)**2) / (a.errors * b.errors)
    twice_distance = np.clip(np.where((a.errors > 0) & (b.errors > 0), twice_distance, 2.0), 0, 4)

    def reach(system: Floats, other: Floats) -> Floats:
        return np.asarray(np.sqrt((system - other)**2 + twice_distance * system * other))

    difference = a.scores - b.scores
    return Ends(difference - reach(a.scores - a.ends.low, b.ends.high - b.scores),
                difference + reach(a.ends.high - a.scores, b.scores - b.ends.low))


def round_ends(ends: tuple[Floats, Floats], defined: Flags, bounds: Range = (-math.inf, math.inf)) -> Ends:
    """Round the ends of intervals to six digits of the interval's width.

    Args:
        ends: Lower and upper ends.
        defined: Flags; ends without a flag become nan.
        bounds: Lowest and highest value; ends beyond them are clipped.
    """
    low, high = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.clip(np.nan_to_num(_DIGITS - np.ceil(np.log10(high - low)), posinf=0, neginf=0), -15, 15)
    tens = 10.0 ** np.abs(places)
    is_defined = defined & np.isfinite(low) & np.isfinite(high)
    rounded = (np.where(places >= 0, np.rint(end * tens) / tens, np.rint(end / tens) * tens) for end in (low, high))
    return Ends(*(np.where(is_defined, np.clip(end, *bounds), np.nan) for end in rounded))


def influences(matrix: Matrix) -> Floats:
    """Return how much every item or cluster influences the score of every system.

    To first order, the score of a resample is the observed score plus the influences of the resampled units (items or
    clusters). For n units, n / (n - 1) times the sum of the squared influences estimates the variance of the score
    (Efron and Stein 1981; Shao and Tu 1995, section 2.1).

    If the score F is a quotient N / D of sums of n and d, the influence is (n - F d) / D. If all denominators are
    equal, this is the deviation of a unit's score from the mean, divided by the number of units. For any other score,
    the influence comes from the jackknife: F minus the score without the unit, centred, times (n - 1) / n. In both
    cases the influences add up to 0.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.

    Returns:
        Influences, [units, systems]; nan if the score is undefined, or if it is undefined without one unit.
    """
    if matrix.quotient is None:
        moved = -matrix.jackknife()
        moved -= moved.mean(axis=0)
        return moved * ((matrix.n_units - 1) / max(matrix.n_units, 1))
    return np.asarray(matrix.scale * linearize(*matrix.parts, partial(np.sum, axis=0)))


def standard_errors(influence: Floats) -> Floats:
    """Return the standard errors of scores, or of differences, from influences.

    Args:
        influence: Influence of each unit (item or cluster) on each score or difference, [units, ...].
    """
    n = len(influence)
    if n < 2:
        return np.full(influence.shape[1:], np.nan)
    return np.asarray(np.sqrt(n / (n - 1) * np.einsum("u...,u...->...", influence, influence)))


def errors_of_pairs(influence: Floats, a: Ints, b: Ints) -> Floats:
    """Return the standard errors of the differences of pairs of systems, [pairs].

    One matrix product gives the errors of all pairs. Errors that lose too many digits in it are computed separately.

    Args:
        influence: Influence of each unit (item or cluster) on each score, [systems, units].
        a: Indices of the first systems, [pairs].
        b: Indices of the second systems, [pairs].
    """
    systems, places = np.unique(np.stack([a, b]), return_inverse=True)
    n = influence.shape[1]
    products, step = np.zeros((len(systems),) * 2), max(1, _TOGETHER // len(systems))
    for start in range(0, n, step):
        moved = influence[systems, start:start + step]
        products += moved @ moved.T
    first, second = places.reshape(2, -1)
    both = products[first, first] + products[second, second]
    squares = both - 2 * products[first, second]
    errors = np.asarray(np.sqrt(n / (n - 1) * np.maximum(squares, 0)))
    near, step = np.flatnonzero(squares <= _NEAR * both), max(1, _TOGETHER // n)
    for start in range(0, len(near), step):
        chosen = near[start:start + step]
        errors[chosen] = standard_errors((influence[a[chosen]] - influence[b[chosen]]).T)
    return errors


def has_few_sources(influence: Floats) -> Flags:
    """Flag scores whose standard error depends on few of many items, [systems].

    The degrees of freedom of the error are estimated from fourth moments (Satterthwaite 1946).

    Args:
        influence: Influence of each unit (item or cluster) on each score, [systems, units].
    """
    n = influence.shape[1]
    squares = np.einsum("su,su->s", influence, influence)
    with np.errstate(divide="ignore", invalid="ignore"):
        fourth = np.einsum("su,su,su,su->s", influence, influence, influence, influence)
        degrees = 2 / (fourth / squares**2 - 1 / n)
    return np.asarray(degrees < min(_FEW_DEGREES, n * _FEW_OF_MANY))


def class_sizes(matrix: Matrix) -> Floats:
    """Return the effective number of trials of averages over classes, [systems].

    If errors are independent and equally frequent in all items, the mean of K recalls has the variance of this number
    of right-or-wrong trials: K^2 / sum(1 / n_k) for K classes with n_k items each.

    Args:
        matrix: Counts of classes, with units (items or clusters) as rows. All items of a cluster are counted.
    """
    counts = matrix.statistics.sum(axis=0)[:, 2::3] / matrix.multiple
    with np.errstate(divide="ignore"):
        inverse = np.where(counts > 0, 1 / counts, 0.0).sum(axis=1)
    return np.asarray((counts > 0).sum(axis=1) ** 2 / np.where(inverse > 0, inverse, np.nan))


def error_free_sizes(matrix: Matrix) -> Floats:
    """Return sample sizes for the intervals of perfect or worst possible scores.

    Such scores have a standard error of 0, which yields no sample size. Instead, the size is the number of units (items
    or clusters) with a denominator above 0. If the score is averaged over classes or corrected for chance, the size is
    at most `class_sizes`.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.

    Returns:
        Sizes, [systems].
    """
    if matrix.classes != "pooled":
        return np.minimum(class_sizes(matrix), matrix.n_units)
    if matrix.quotient is not None:
        return np.asarray(sum((denominators > 0).sum(axis=0) for _, denominators in matrix.parts_by_block()),
                          dtype=np.float64)
    return np.full(matrix.statistics.shape[1], float(matrix.n_units))


def refusal(matrix: Matrix, over: str = "runs") -> Message | None:
    """Explain why closed-form confidence intervals do not exist for some scores.

    Args:
        matrix: Statistics of all systems, with items or clusters as rows.
        over: If runs are random: the factor whose levels are a random sample, such as `items` or `runs`; or `all`.

    Returns:
        The reason, or None if the intervals exist.
    """
    if matrix.runs is not None and (reason := explain_crossing_refusal(matrix)):
        return reason
    if matrix.n_units < 2 and (matrix.runs is None or over in ("all", "items")):
        return Message("one-unit")
    if matrix.strata is not None:
        return Message("strata-need-resamples")
    if matrix.judged is not None:
        return Message("judged-differences")
    low, high = matrix.score_range
    slack = 1e-9 * max((1.0, *(abs(bound) for bound in (low, high) if math.isfinite(bound))))
    outside = matrix.observed[(matrix.observed < low - slack) | (matrix.observed > high + slack)]
    if not len(outside):
        return None
    return Message("outside-range", {"score": float(outside[0]), "low": low if math.isfinite(low) else None,
                                     "high": high if math.isfinite(high) else None})


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """Closed-form confidence intervals of scores and of their differences.

    Some data do not have such intervals; the function `refusal` returns the reason.

    Attributes:
        matrix: Statistics of all systems, with items or clusters as rows.
        confidence: Confidence level of the intervals.
        over: If runs are random: the factor whose levels are a random sample, such as `items` or `runs`; or `all`.
        execution: Limits the memory.
    """

    matrix: Matrix
    confidence: float = 0.95
    over: str = "runs"
    execution: Execution = field(default=Execution())

    def scores(self) -> Ends:
        """Return the confidence intervals of the scores of all systems, [systems]."""
        return round_ends(self._scores, ~np.isnan(self._scores.low), self.matrix.score_range)

    def differences(self, a: Ints, b: Ints) -> Ends:
        """Return the confidence intervals of differences of two systems, [pairs].

        A difference is positive if the first system is better.

        Args:
            a: Indices of the first systems, [pairs].
            b: Indices of the second systems, [pairs].
        """
        difference = self.matrix.difference(self.matrix.observed[a], self.matrix.observed[b])
        bounds = difference_range(self.matrix.score_range)
        if self.matrix.runs is not None:
            far = self._compute_crossed_margins(list(zip(a.tolist(), b.tolist(), strict=True)))
            return round_ends((difference - far, difference + far), far > 0, bounds)
        binary = self.are_counted(a, b)
        low, high = np.full((2, len(a)), np.nan)
        if binary.any():
            if self._right_or_wrong.all() and self.matrix.both_higher is not None:
                both_correct = self.matrix.both_higher
            else:
                both_correct = count_shared(np.concatenate([over != 0 for over, _ in self.matrix.parts_by_block()]))
            n_discordant = np.add(*count_unshared(both_correct, a[binary], b[binary]))
            low[binary], high[binary] = bonett_price(
                difference[binary], n_discordant, self.matrix.n_units, self.quantile)
        if not binary.all():
            low[~binary], high[~binary] = self._by_errors(a[~binary], b[~binary], difference[~binary])
        return round_ends((low, high), ~np.isnan(low), bounds)

    def are_counted(self, a: Ints, b: Ints) -> Flags:
        """Flag pairs whose confidence interval follows from stored counts, [pairs].

        These intervals depend only on the difference and on the number of items (or clusters) in which the systems
        differ.
        """
        if self.matrix.runs is not None:
            return np.zeros(len(a), dtype=bool)
        return self._right_or_wrong[a] & self._right_or_wrong[b]

    @property
    def quantile(self) -> float:
        """Quantile of the normal distribution for two-sided intervals, such as 1.96."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    @property
    def score_methods(self) -> tuple[Method, ...]:
        """Names of the methods that compute the intervals of scores.

        The method can differ between systems, so there can be two.
        """
        if self._method == "crossed":
            return ("crossed",)
        binary = self._right_or_wrong
        methods: tuple[Method, ...] = ("wilson",) if binary.any() else ()
        return methods if binary.all() else (*methods, self._method)

    @property
    def difference_methods(self) -> tuple[Method, ...]:
        """Names of the methods that compute the intervals of differences.

        The method can differ between pairs of systems, so there can be two.
        """
        if self._method == "crossed":
            return ("crossed",)
        binary = int(self._right_or_wrong.sum())
        methods: tuple[Method, ...] = ("bonett-price",) if binary > 1 else ()
        return methods if binary == len(self._right_or_wrong) else (
            *methods, "mover" if self._method in ("share", "fisher") else "student")

    def count_skewed(self) -> int:
        """Count the scores whose confidence intervals have too low coverage.

        The reason is that the scores of items are skewed, that few of many items have errors, or that a class is rare.
        """
        if self._method in ("crossed", "fisher") or self._right_or_wrong.all():
            return 0
        if self.matrix.family == "confusion":
            doubtful = (class_sizes(self.matrix) < _FEW_TRIALS) & (self.matrix.classes == "chance-corrected")
        else:
            moved = self._influences
            doubtful = has_few_sources(moved)
            squares, cubes = np.einsum("su,su->s", moved, moved), np.einsum("su,su,su->s", moved, moved, moved)
            with np.errstate(divide="ignore", invalid="ignore"):
                if self._method == "student":
                    # Below 93 % coverage at 95 %: skewness adds 2 points to the errors (Hall 1992, section 2.6).
                    doubtful |= cubes**2 / squares**3 > 2 * TOO_SKEWED
                elif self._method == "proportional":
                    # The interval supposes the third cumulant of a Poisson count, squares^2 / distance.
                    bound, sign = find_bound(self.matrix.score_range)
                    expected = squares**2 / (sign * (self.matrix.observed - bound))
                    doubtful |= (sign * cubes - expected)**2 / squares**3 > TOO_SKEWED
        return int(np.count_nonzero(doubtful & ~self._right_or_wrong))

    def count_even_units(self) -> float | None:
        """Return the effective number of items or clusters; None if it is large enough.

        The effective number is the number of units of equal weight with the same information.
        """
        if self.matrix.runs is not None or self._right_or_wrong.all():
            return None
        even = compute_effective_units(self.matrix)
        return even if even < _LEAST_EVEN and even < _UNEVEN * self.matrix.n_units else None

    def count_error_free(self) -> int:
        """Count the scores that have no interval because they equal their bound.

        For example, a word error rate of 0 has a standard error of 0.
        """
        return 0 if self._method != "proportional" else int(np.count_nonzero(self._at_a_bound & ~self._right_or_wrong))

    @cached_property
    def _method(self) -> Method:
        if self.matrix.runs is not None:
            return "crossed"
        if self.matrix.family == "pair":
            return "fisher"
        bounded = [math.isfinite(bound) for bound in self.matrix.score_range]
        return "share" if all(bounded) else "proportional" if any(bounded) else "student"

    @cached_property
    def _scores(self) -> Ends:
        scores, binary = self.matrix.observed, self._right_or_wrong
        if self._method == "crossed":
            far = self._compute_crossed_margins([(n, None) for n in range(len(scores))])
            return Ends(*(np.where(far > 0, end, np.nan) for end in (scores - far, scores + far)))
        wilson_low, wilson_high = np.full((2, len(binary)), np.nan)
        hits = np.rint(scores[binary] * self.matrix.n_units)
        wilson_low[binary], wilson_high[binary] = wilson_of_counts(hits, self.matrix.n_units, self.confidence)
        if binary.all():  # these intervals need no influences
            return Ends(wilson_low, wilson_high)
        errors, is_free = self._errors, self._at_a_bound
        defined = errors > _ROUNDING * np.abs(scores)  # false if undefined, or if all units have the same score
        if self._method == "share":
            sizes = effective_sizes(scores, errors, self.matrix.score_range)
            if self.matrix.classes == "averaged":
                # a small class in which a system has no errors by chance adds nothing to the standard error
                sizes = np.minimum(sizes, class_sizes(self.matrix))
            if is_free.any():
                sizes = np.where(is_free, error_free_sizes(self.matrix), sizes)
            ends = wilson_interval(scores, sizes, self.matrix.score_range, self._student)
            defined |= is_free
        elif self._method == "proportional":
            ends = proportional_interval(scores, errors, self.matrix.score_range, self._student)
            defined &= ~is_free
        elif self._method == "fisher":
            with np.errstate(divide="ignore", invalid="ignore"):
                z, far = np.arctanh(scores), self._student * errors / (1 - scores**2)
                ends = Ends(np.tanh(z - far), np.tanh(z + far))
            defined &= np.abs(scores) < 1
        else:
            far = self._student * errors
            ends = Ends(scores - far, scores + far)
        return Ends(np.where(binary, wilson_low, np.where(defined, ends.low, np.nan)),
                    np.where(binary, wilson_high, np.where(defined, ends.high, np.nan)))

    def _by_errors(self, a: Ints, b: Ints, difference: Floats) -> Ends:
        """Return confidence intervals of differences, computed from standard errors.

        Differences of proportions have other intervals. The result is nan if the difference is the same in every item
        or cluster.

        Args:
            a: Indices of the first systems, [pairs].
            b: Indices of the second systems, [pairs].
            difference: Observed differences, [pairs].
        """
        error, scores = errors_of_pairs(self._influences, a, b), self.matrix.observed
        constant = error <= _ROUNDING * (np.abs(scores[a]) + np.abs(scores[b]))
        if self._method in ("share", "fisher"):
            estimates = Estimates(scores, self._scores, self._errors)
            plus, minus = (b, a) if self.matrix.lower_is_better else (a, b)
            ends = difference_interval(estimates.select(plus), estimates.select(minus), error)
        else:
            ends = Ends(difference - self._student * error, difference + self._student * error)
        return Ends(*(np.where(constant, np.nan, end) for end in ends))

    @property
    def _student(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self._grouped.n_units - 1, (1 + self.confidence) / 2))

    @cached_property
    def _grouped(self) -> Matrix:
        # correlations need the jackknife, which would take too long over many single items
        matrix = self.matrix
        if matrix.family != "pair" or matrix.n_units <= _GROUPS:
            return matrix
        units = np.arange(matrix.n_units) if matrix.units is None else matrix.units
        return replace(matrix, units=units % _GROUPS, resampled=None)

    @cached_property
    def _right_or_wrong(self) -> Flags:
        """Flags of systems whose items (or clusters) are all right or wrong, [systems].

        All items must also have equal weights.
        """
        flags = np.ones(self.matrix.statistics.shape[1], dtype=bool)
        if self.matrix.quotient is None or self.matrix.score_range not in ((0, 1), (-math.inf, math.inf)):
            return ~flags
        scale, first = self.matrix.scale, None
        for numerators, denominators in self.matrix.parts_by_block():
            first = denominators[:1] if first is None else first
            flags &= ((denominators == first) & ((numerators == 0) | (scale * numerators == denominators))).all(axis=0)
        return flags & (first[0] > 0) if first is not None else flags

    @cached_property
    def _at_a_bound(self) -> Flags:
        scores, finite = self.matrix.observed, [bound for bound in self.matrix.score_range if math.isfinite(bound)]
        slack = _ROUNDING * max((1.0, *map(abs, finite)))
        return np.asarray(np.any([np.zeros(len(scores), dtype=bool), *(
            np.abs(scores - bound) <= slack for bound in finite)], axis=0))

    @cached_property
    def _influences(self) -> Floats:
        matrix = self._grouped
        moved = make_array((matrix.statistics.shape[1], matrix.n_units), self.execution.memory // 4, np.float64)
        step = max(1, _TOGETHER // max(1, math.prod(matrix.statistics[:, :1].shape)))
        for start in range(0, len(moved), step):
            chosen = range(start, min(start + step, len(moved)))
            moved[start:start + step] = influences(matrix.select_systems(chosen)).T
        return moved

    @cached_property
    def _errors(self) -> Floats:
        # each row is summed separately, so that other systems do not affect the result
        moved = self._influences
        n = moved.shape[1]
        return np.asarray(np.sqrt(n / (n - 1) * np.einsum("su,su->s", moved, moved)))

    def _compute_crossed_margins(self, pairs: Sequence[tuple[int, int | None]]) -> Floats:
        return find_critical_difference(*cross_runs(self.matrix).bounds(pairs, self.over), 1 - self.confidence)


def group_by_item(matrix: Matrix) -> Matrix:
    """Return the statistics with one row per item or cluster.

    If the rows are single answers, they are first grouped by item.
    """
    if matrix.answers_to is not None:
        matrix = replace(matrix, units=matrix.answers_to, answers_to=None, resampled=None)
    return matrix.by_unit
