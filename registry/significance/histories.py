"""Leaderboards that stay open: which submissions are new bests, and which scores may be shown.

Every submission is tested against all earlier ones. It is a new best if it beats each of them: the largest of its
p-values counts (an intersection-union test; Berger 1982), so earlier submissions need no correction among themselves.
Alpha is spent over time, a part of it on every submission. The bound holds if submissions are fixed beforehand, or
depend on the values of a Ladder only; a Ladder shows a score only if it clearly exceeds the one shown before. If all
scores are shown, nothing is guaranteed: a majority vote over random submissions, weighted by their scores, fits the
test set.
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
    """Decisions about submissions, in the order of time.

    Attributes:
        log_levels: [submissions], the natural logarithm of the level of each test; -inf if no alpha was left.
        declared: [submissions], whether each is a new best. The first submission never is.
    """

    log_levels: Floats
    declared: Flags


def find_new_bests(log_p: Floats, alpha: float, most: int) -> NewBests:
    """Decide which submissions are new bests if all are fixed beforehand.

    Each submission has the same part of alpha, and a new best hands its part on to the next one (the fallback
    procedure; Wiens and Dmitrienko 2005). The chance of any false new best is at most alpha, whatever the dependence.

    Args:
        log_p: [submissions], the natural logarithm of the largest p-value against earlier ones; nan if undefined. The
            first value is ignored.
        alpha: The chance of any false new best.
        most: The number of submissions that alpha is spent over, with the first; later ones are never new bests.
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
    """Decide which submissions are new bests if they may depend on the values of a Ladder, and on nothing else.

    Such values reveal little: which submissions raised the shown score, and to which values. Along each of these
    histories the submissions are fixed, and every test in each of them has its own part of alpha (after Blum and Hardt
    2015, section 3). A test after r values were shown is one of C(most - 1, r) C(values, r): r - 1 of the submissions
    after the first raised the shown score before the tested one, and the r values rise. These tests share 1 / (r (r +
    1)) of alpha, and their level does not exceed the level after fewer values. So an unknown submission may count as
    raising it.

    Args:
        log_p: As of `find_new_bests`.
        raised: [submissions], whether the Ladder's score rose with it (`Shown`); with the first it does.
        alpha: As of `find_new_bests`.
        most: As of `find_new_bests`.
        values: The number of possible values of the Ladder's score.
    """
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
class Shown:
    """Scores that the Ladder shows, in the order of time.

    Attributes:
        scores: [submissions], the score that is shown after each submission; nan before any is defined.
        raised: [submissions], whether this submission raised the shown score.
    """

    scores: Floats
    raised: Flags


def run_ladder(scores: Floats, step: float) -> Shown:
    """Show scores [submissions], higher is better, that exceed the shown one by a step, rounded to the step.

    The Ladder of Blum and Hardt (2015, "The Ladder: a reliable leaderboard for machine learning competitions", ICML),
    figure 1.
    """
    return run_ladder_by_errors(scores, lambda _, __: step, step)


def run_ladder_by_errors(scores: Floats, errors: Callable[[int, int], float], grain: float) -> Shown:
    """Show scores that exceed the shown one by the standard error of the difference (Blum and Hardt 2015, figure 2).

    Args:
        scores: [submissions]; higher is better.
        errors: Returns the standard error of the difference of a submission and an earlier one.
        grain: Scores are rounded to a multiple of it: 1 / n if they are between 0 and 1 on n units.
    """
    shown, raised = np.full(len(scores), np.nan), np.zeros(len(scores), dtype=bool)
    value, last = np.nan, -1
    for n, score in enumerate(scores.tolist()):
        if _exceeds(score, value, 0.0 if last < 0 else errors(n, last), grain):
            value, last, raised[n] = _round(score, grain), n, True
        shown[n] = value
    return Shown(shown, raised)


def update_shown_score(score: float, shown: float, step: float) -> float:
    """Return the score that the Ladder shows after another submission; higher is better.

    >>> update_shown_score(0.8, 0.5, 0.25), update_shown_score(0.75, 0.5, 0.25), update_shown_score(0.3, math.nan, 0.25)
    (0.75, 0.5, 0.25)
    """
    return _round(score, step) if _exceeds(score, shown, step, step) else shown


def _exceeds(score: float, shown: float, least: float, grain: float) -> bool:
    return not math.isnan(score) and (math.isnan(shown) or score > shown + least + _ROUNDING * grain)


def _round(score: float, grain: float) -> float:
    return float(np.rint(score / grain) * grain)
