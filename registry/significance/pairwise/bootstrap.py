"""The paired bootstrap: the units of both systems are resampled together.

The null distribution is that of d* - d, the resampled difference minus the observed one (Berg-Kirkpatrick et al. 2012,
section 2: their d* > 2 d). All systems share the resamples, so only the resampled scores [resamples, systems] are
stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar, Literal, TypeVar

import numpy as np

from registry.arrays import Floats
from registry.families import ADDITIVE
from registry.messages import Message, Messages
from registry.parallel.scratch_files import make_array
from registry.significance.base import Observed, ObservedPairs, Settings, Tail, Tails, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import FEW_SKEWED, find_skewed
from registry.significance.diagnostics.rare_outcomes import find_rare_classes, find_rare_outcomes
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED, have_too_many_sums, ideal_tail, may_be_ideal
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest, compute_or_draw
from registry.significance.resampling import studentized
from registry.significance.resampling.exceedances import (
    dual_interval,
    dual_rank,
    is_reachable,
    monte_carlo_tail,
    monte_carlo_tails,
    quantile_interval,
    tolerance,
    tolerances,
)
from registry.significance.resampling.scores import (
    explain_run_refusal,
    percentiles,
    resampling_refusal,
    score_resamples,
    shares_resamples,
)
from registry.significance.resampling.screening import Recentred, count_by_sorting, screen_recentred
from registry.significance.resampling.studentized import bootstrap_t

Done = TypeVar("Done")

_CONSTANT = Message("constant-difference", {"over": "resample"})

_LONG = 2**18  # least number of resamples for which threads save time


class Bootstrap(PairTest):
    """Paired bootstrap of items or clusters, and of random runs.

    If both systems have the same denominators and sums take few values, the p-value is computed without simulation (the
    ideal bootstrap). If no resample at all is as extreme as the observed difference, the p-value and the interval are
    nan.

    Attributes:
        variant: `recentred`: the null distribution is the resampled difference minus the observed one. `studentized`:
            the bootstrap-t for scores that are quotients. It divides differences by their standard errors; the interval
            `dual` is symmetric, the other intervals are equal-tailed. `berg-kirkpatrick-2012`: Figure 1 of that paper,
            p = s / b, where s counts resamples with d* > 2 d. It is always one-sided in the direction of the observed
            gain, so its error rate is up to twice the level (8.7 % measured at 5 %). If s is 0, p = (s + 1) / (b + 1).
    """

    name: ClassVar[str] = "bootstrap"
    null: ClassVar[str] = "the two systems' scores are equal in the population that the units are drawn from"
    assumes: ClassVar[str] = "units are independent draws from a population, and many: small test sets need permutation"
    families: ClassVar[tuple[str, ...] | None] = (*ADDITIVE, "pair")
    takes_strata: ClassVar[bool] = True
    citation: ClassVar[str] = "Efron and Tibshirani 1993, chapter 16; Berg-Kirkpatrick et al. 2012, section 2"
    called: ClassVar[str] = "a paired bootstrap test"
    takes_runs: ClassVar[bool] = True
    draws_intervals: ClassVar[bool] = True
    variant: Literal["recentred", "studentized", "berg-kirkpatrick-2012"] = "recentred"

    @property
    def description(self) -> str:
        """The test and its options in words."""
        if self.variant == "studentized":
            return f"{self.called} of the studentized difference (bootstrap-t)"
        return self.called

    @property
    def is_one_sided(self) -> bool:
        """True for the variant `berg-kirkpatrick-2012`, which is always one-sided."""
        return self.variant == "berg-kirkpatrick-2012"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the scores cannot be studentized or the runs resampled.

        The result is None if they can.
        """
        reason = explain_run_refusal(matrix, studentized=self.variant == "studentized")
        return None if reason is None else str(reason)

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs with skewed differences, or with scores that depend on few items."""
        if self.variant == "recentred" or (self.variant == "studentized" and pairs.matrix.n_units < FEW_SKEWED):
            yield from find_skewed(pairs)
        yield from find_rare_outcomes(pairs)
        yield from find_rare_classes(pairs)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values and confidence intervals of pairs of systems.

        P-values that need a simulation share the same resamples.
        """
        matrix = pairs.matrix
        if reason := resampling_refusal(matrix):
            undefined = np.full(len(pairs), math.nan)
            return Tails.make(undefined, "monte-carlo", resamples=settings.resamples, messages=Messages((reason,)))
        if self.variant == "studentized":
            return Tails.collect([_test_studentized(*drawn, settings) for drawn in bootstrap_t(pairs, settings)])
        if self.variant == "berg-kirkpatrick-2012":
            return _test_resamples(pairs, _test_gains, settings)
        if not may_be_ideal(matrix, settings):
            return _test_resamples(pairs, _test_recentred, settings)
        shared = np.flatnonzero(matrix.denominator_groups[pairs.a] == matrix.denominator_groups[pairs.b])
        coarse = shared[~have_too_many_sums(pairs[shared])]
        alone = settings
        if matrix.is_mean and settings.execution.cluster is None:  # lattices are small: threads would save no time
            alone = replace(settings, execution=replace(settings.execution.local, workers=1))
        return compute_or_draw(ideal_tail, lambda rest: _test_resamples(rest, _test_recentred, settings), pairs,
                               coarse, alone, "pairs to compute")

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Return True if the test computes confidence intervals of differences.

        All variants except `berg-kirkpatrick-2012` do.
        """
        return self.variant != "berg-kirkpatrick-2012"

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:
        """Return percentile intervals of the scores, [systems, 2].

        The intervals use the same resamples as the tests of pairs.
        """
        matrix = matrix.by_unit
        if resampling_refusal(matrix):
            return super().score_intervals(matrix, settings)
        return percentiles(score_resamples(matrix, settings), settings.confidence)


def _test_resamples(pairs: ObservedPairs, test: Callable[[ObservedPairs, Floats, Settings], Tails],
           settings: Settings) -> Tails:
    pairs = pairs if shares_resamples(pairs.matrix, settings) else pairs.alone
    return test(pairs, score_resamples(pairs.matrix, settings).T, settings)


def _test_recentred(pairs: ObservedPairs, scores: Floats, settings: Settings) -> Tails:
    """Test pairs of systems by the recentred bootstrap.

    The observed difference is subtracted from the resampled differences. Undefined differences count as extreme.

    Args:
        pairs: Pairs of systems.
        scores: Scores in resamples, [systems, resamples].
        settings: Settings of the test.
    """
    rank = dual_rank(settings) if settings.interval == "dual" else 0
    rounded = make_array(scores.shape, settings.execution.memory // 4, np.int16)
    results = screen_recentred(pairs, scores, rounded, settings.alternative, rank, settings.execution)
    tails = monte_carlo_tails([result.extremes for result in results], settings.resamples)
    codes = np.array([_get_undefined_code(pairs, n, result, settings) for n, result in enumerate(results)])
    defined = np.flatnonzero(codes == "")
    if settings.interval == "dual":
        defined_pairs, reach = pairs[defined], np.array([result.reach for result in results])[defined]
        bars = extremity(defined_pairs.difference, settings.alternative)
        slack = tolerances(defined_pairs.matrix, defined_pairs.a, defined_pairs.b)
        low, high = dual_interval(defined_pairs.difference, reach, bars, slack, settings.alternative)
    else:
        def find_interval(o: Observed) -> tuple[float, float]:
            moved = o.matrix.difference(*(scores[system] for system in o.pair))
            return quantile_interval(o, moved[~np.isnan(moved)], settings)

        intervals = _map_pairs(find_interval, pairs[defined], settings)
        low, high = np.array(intervals, dtype=np.float64).reshape(-1, 2).T
    parts = [(defined, replace(tails.select(defined), ci_low=low, ci_high=high))]
    for code in np.unique(codes[codes != ""]).tolist():
        affected = np.flatnonzero(codes == code)
        untested = Tails.make(np.full(len(affected), math.nan), "monte-carlo", resamples=settings.resamples)
        without = tails.select(affected) if code == "no-interval" else untested
        message = _CONSTANT if code == _CONSTANT.code else Message(code)
        parts.append((affected, without.with_message(np.ones(len(affected), dtype=bool), message)))
    return Tails.join(len(pairs), parts)


def _get_undefined_code(pairs: ObservedPairs, n: int, result: Recentred, settings: Settings) -> str:
    if not result.moves and pairs.difference[n]:
        return _CONSTANT.code
    if not result.extremes and not is_reachable(pairs[n], settings.alternative):
        return "unreachable-difference"
    return "no-interval" if result.undefined > MOST_UNDEFINED * settings.resamples else ""


def _test_gains(pairs: ObservedPairs, scores: Floats, settings: Settings) -> Tails:
    """Test pairs by the share of resamples with more than twice the observed gain.

    The gain is the difference in favour of the better system (Berg-Kirkpatrick et al. 2012).

    Args:
        pairs: Pairs of systems.
        scores: Scores in resamples, [systems, resamples].
        settings: Settings of the test.
    """
    def count(o: Observed) -> Tail:
        if not o.difference:
            return Tail(0.0, "monte-carlo", resamples=settings.resamples, messages=Messages.make("no-gain"))
        gains = math.copysign(1, o.difference) * o.matrix.difference(*(scores[system] for system in o.pair))
        if not (np.abs(gains - abs(o.difference)) > tolerance(o)).any():
            return Tail(math.nan, "monte-carlo", resamples=settings.resamples, messages=Messages((_CONSTANT,)))
        s = int(np.count_nonzero(~(gains <= 2 * abs(o.difference) + tolerance(o))))  # undefined ones are extreme
        if not s and not is_reachable(o, "greater" if o.difference > 0 else "less", strictly=True):
            return Tail(math.nan, "monte-carlo", resamples=settings.resamples,
                        messages=Messages.make("unreachable-difference"))
        messages = Messages.make("share-of-resamples", plus_one=not s)
        tail = replace(monte_carlo_tail(s, settings.resamples), messages=messages)
        if not s:
            return tail
        p = s / settings.resamples
        return replace(tail, p=p, log_p=math.log(p))

    return Tails.collect(_map_pairs(count, pairs, settings))


def _map_pairs(work: Callable[[Observed], Done], pairs: ObservedPairs, settings: Settings) -> list[Done]:
    # threads with short tasks would wait for the interpreter lock
    local = settings.execution.local
    local = local if settings.resamples >= _LONG else replace(local, workers=1)
    return list(local.map(work, pairs, "pairs"))


def _test_studentized(drawn: Floats, difference: float, error: float, settings: Settings) -> Tail:
    """Test one pair by resampled differences divided by their standard errors.

    Undefined values count as extreme.

    Args:
        drawn: Resampled minus observed difference, divided by its standard error, [resamples].
        difference: Observed difference.
        error: Standard error of the observed difference.
        settings: Settings of the test.
    """
    if not error and not difference:
        return Tail(0.0, "monte-carlo", resamples=len(drawn))
    if not error:
        return Tail(math.nan, "monte-carlo", resamples=len(drawn),
                    messages=Messages.make("constant-difference", over="unit"))
    statistic, alternative = difference / error, settings.alternative
    bar, slack = extremity(statistic, alternative), studentized.TOLERANCE * abs(statistic)
    results = count_by_sorting(extremity(drawn, alternative), bar, slack, dual_rank(settings))
    tail = replace(monte_carlo_tail(results.extremes, len(drawn)), statistic=abs(statistic))
    if results.undefined > MOST_UNDEFINED * len(drawn):
        return replace(tail, messages=Messages.make("no-interval"))
    if settings.interval == "dual":
        reach = np.array([results.reach])
        low, high = (float(end[0]) * error for end in dual_interval(statistic, reach, bar, slack, alternative))
    else:
        outside = (1 - settings.confidence) / 2
        defined = drawn[~np.isnan(drawn)]  # some can be infinite
        levels = np.quantile(defined, (1 - outside, outside), method="inverted_cdf")
        low, high = (difference - error * float(q) for q in levels)
    return replace(tail, ci_low=low, ci_high=high)
