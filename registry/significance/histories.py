"""Leaderboards that stay open: new best submissions, and scores to show.

Every submission is tested against all earlier submissions. It is a new best if it is significantly better than each of
them. So the largest of its p-values decides (an intersection-union test; Berger 1982), and no correction for the number
of earlier submissions is needed. Each submission uses a part of alpha. The error rate is valid in two cases: if all
submissions are fixed beforehand, or if they depend only on the scores that a Ladder shows. A Ladder shows a score only
if it clearly exceeds the score that was shown before. If all scores are shown, no error rate is valid, because random
submissions that are combined by their scores fit the test set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats

_ROUNDING = 1e-9  # rounding error of scores, relative to the step

@dataclass(frozen=True, eq=False)
class NewBests:
    """Decisions whether submissions are new bests, in the order of submission.

    A new best is significantly better than all earlier submissions. All tests share one significance level, alpha.

    Attributes:
        log_levels: Natural logarithm of the level of each test, [submissions]; -inf if no alpha is left.
        declared: Whether each submission is a new best, [submissions]. The first submission never is.
    """

    log_levels: Floats
    declared: Flags


def find_new_bests(log_p: Floats, alpha: float, most: int) -> NewBests:
    """Decide which submissions are significantly better than all earlier ones.

    All submissions must be fixed beforehand. Each submission has an equal part of alpha, and a new best passes its part
    to the next submission (the fallback procedure; Wiens and Dmitrienko 2005). The probability of any false new best is
    at most alpha, for any dependence.

    Args:
        log_p: Natural logarithm of the largest p-value against earlier submissions, [submissions]; nan if undefined.
            The first value is ignored.
        alpha: Probability of any false new best.
        most: Number of submissions that share alpha, including the first; later submissions are never new bests.
    """
    log_levels, declared = np.full(len(log_p), -math.inf), np.zeros(len(log_p), dtype=bool)
    part, handed_on = alpha / max(1, most - 1), 0.0
    for n in range(1, min(len(log_p), most)):
        level = part + handed_on
        log_levels[n] = math.log(level)
        declared[n] = log_p[n] <= log_levels[n]
        handed_on = level if declared[n] else 0.0
    return NewBests(log_levels, declared)


def find_new_bests_by_ladder(log_p: Floats, raised: Flags, alpha: float, most: int, values: int) -> NewBests:
    """Decide which submissions are significantly better than all earlier ones.

    Submissions may depend on earlier results, but only on those that a leaderboard with a Ladder shows: which
    submissions raised the shown score, and to which values. Every test in every possible history of shown scores has a
    separate part of alpha (after Blum and Hardt 2015, section 3). So the probability of any false new best is at most
    alpha.

    Args:
        log_p: Natural logarithm of the largest p-value against earlier submissions, [submissions]; nan if undefined.
            The first value is ignored.
        raised: Whether each submission raised the shown score, [submissions]; the first one does.
        alpha: Probability of any false new best.
        most: Number of submissions that share alpha, including the first; later submissions are never new bests.
        values: Number of possible values of the shown score.
    """
    # A test after r values were shown is one of C(most - 1, r) C(values, r): r - 1 of the submissions after the first
    # raised the shown score before the tested one, and the r values rise. These tests share 1 / (r (r + 1)) of alpha,
    # and their level does not exceed the level after fewer values. So an unknown submission may be counted as one that
    # raised the score.
    log_levels = np.full(len(log_p), -math.inf)
    tests = min(len(log_p), most)

    def log_level(shown: int) -> float:
        if shown > min(most - 1, values):
            return -math.inf
        return math.log(alpha) - math.log(shown * (shown + 1)) - math.log(math.comb(most - 1, shown)) - math.log(
            math.comb(values, shown))

    by_shown = np.minimum.accumulate([log_level(shown) for shown in range(1, max(tests, 2))])
    shown = np.cumsum(raised)
    for n in range(1, tests):
        log_levels[n] = by_shown[shown[n - 1] - 1] if shown[n - 1] else -math.inf
    return NewBests(log_levels, np.asarray(log_p <= log_levels) & (np.arange(len(log_p)) > 0))


@dataclass(frozen=True, eq=False)
class ShownScores:
    """Best scores that a leaderboard with a Ladder shows, in the order of submission.

    A Ladder shows a new score only if it clearly exceeds the shown one (Blum and Hardt 2015).

    Attributes:
        scores: Score that is shown after each submission, [submissions]; nan until a score is defined.
        raised: Whether each submission raised the shown score, [submissions].
    """

    scores: Floats
    raised: Flags


def run_ladder(scores: Floats, step: float) -> ShownScores:
    """Return the best score that a leaderboard shows after each submission.

    The leaderboard is a Ladder: it shows a new score only if it exceeds the shown one by more than a step, rounded to a
    multiple of the step (Blum and Hardt 2015, "The Ladder: a reliable leaderboard for machine learning competitions",
    ICML, figure 1).

    Args:
        scores: Scores of the submissions, [submissions]; higher is better.
        step: The step.
    """
    return run_ladder_by_errors(scores, lambda _, __: step, step)


def run_ladder_by_errors(scores: Floats, errors: Callable[[int, int], float], grain: float) -> ShownScores:
    """Return the best score that a leaderboard shows after each submission.

    The leaderboard shows a new score only if it exceeds the shown one by more than a standard error of their difference
    (the Ladder of Blum and Hardt 2015, figure 2).

    Args:
        scores: Scores of the submissions, [submissions]; higher is better.
        errors: Function that returns the standard error of the difference of two submissions. It takes the index of the
            new one and the index of the one whose score is shown.
        grain: Shown scores are rounded to multiples of it, such as 1 / n for scores between 0 and 1 on n items.
    """
    shown, raised = np.full(len(scores), np.nan), np.zeros(len(scores), dtype=bool)
    value, last = np.nan, -1
    for n, score in enumerate(scores.tolist()):
        if _exceeds(score, value, 0.0 if last < 0 else errors(n, last), grain):
            value, last, raised[n] = _round(score, grain), n, True
        shown[n] = value
    return ShownScores(shown, raised)


def update_shown_score(score: float, shown: float, step: float) -> float:
    """Return the best score that a leaderboard shows after one more submission.

    The new score must exceed the shown one by more than a step (the Ladder of `run_ladder`). Higher scores are better.

    >>> update_shown_score(0.8, 0.5, 0.25), update_shown_score(0.75, 0.5, 0.25), update_shown_score(0.3, math.nan, 0.25)
    (0.75, 0.5, 0.25)
    """
    return _round(score, step) if _exceeds(score, shown, step, step) else shown


def _exceeds(score: float, shown: float, least: float, grain: float) -> bool:
    return not math.isnan(score) and (math.isnan(shown) or score > shown + least + _ROUNDING * grain)


def _round(score: float, grain: float) -> float:
    return float(np.rint(score / grain) * grain)
