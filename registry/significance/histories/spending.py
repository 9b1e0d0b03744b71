"""Is a submission a new best? Tests one after the other, whose errors together stay below alpha.

Every submission is tested against all earlier ones, and is a new best where it beats each of them: the largest of its
p-values counts (an intersection-union test; Berger 1982), so earlier ones need no correction among themselves, nor need
it be known which of them is truly the best. Over time alpha is spent, a part of it on every submission.

Two ways to spend it. Where submissions are fixed beforehand, each has the same part, and a new best hands its own on
to the next submission (the fallback procedure; Wiens and Dmitrienko 2005): the chance that any submission is falsely
called a new best is at most alpha, whatever depends on what. Where submissions are chosen by what was shown of earlier
ones, all that anybody could have been shown must be counted. Of a Ladder (`ladder`) this is little: which submissions
raised the score that it shows, and to which of so many values. Along each of these histories the submissions are
fixed, and every test in each of them has its own part of alpha (after Blum and Hardt 2015, section 3). Where all scores
are shown nothing is guaranteed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats


@dataclass(frozen=True, eq=False)
class NewBests:
    """Which submissions are new bests, in the order of time.

    Attributes:
        log_levels: [submissions], the natural logarithm of the level that each was tested at; -inf: none was left.
        declared: [submissions]; whether it is a new best. The first is none, as there is nothing before it.
    """

    log_levels: Floats
    declared: Flags


def new_bests(log_p: Floats, alpha: float, most: int) -> NewBests:
    """Decide where submissions are fixed beforehand.

    Args:
        log_p: [submissions], the natural logarithm of the largest p-value against earlier ones; nan where undefined.
            What stands for the first is ignored.
        alpha: The chance of any false new best.
        most: Over how many submissions, the first included; later ones are never new bests.
    """
    log_levels, declared = np.full(len(log_p), -math.inf), np.zeros(len(log_p), dtype=bool)
    part, handed_on = alpha / max(1, most - 1), 0.0
    for n in range(1, min(len(log_p), most)):
        level = part + handed_on
        log_levels[n] = math.log(level)
        declared[n] = log_p[n] <= log_levels[n]
        handed_on = level if declared[n] else 0.0
    return NewBests(log_levels, declared)


def new_bests_by_ladder(log_p: Floats, raised: Flags, alpha: float, most: int, values: int) -> NewBests:
    """Decide where submissions may have been chosen by what a Ladder showed, and by nothing else.

    A test after r values were shown is one of C(most - 1, r) C(values, r): r - 1 of the submissions after the first
    raised the shown score before the tested one came, and the r values rise. These tests have 1 / (r (r + 1)) of alpha,
    and none more than those after fewer values: so submissions of which it is not known may be counted as raising it.

    Args:
        log_p: As of `new_bests`.
        raised: [submissions], whether the Ladder's score rose with it (`ladder.Shown`); with the first it does.
        alpha: As of `new_bests`.
        most: As of `new_bests`.
        values: How many values the Ladder's score can have.
    """
    log_levels = np.full(len(log_p), -math.inf)
    tests = min(len(log_p), most)
    by_shown = np.minimum.accumulate([_log_level(shown, alpha, most, values) for shown in range(1, max(tests, 2))])
    shown = np.cumsum(raised)
    for n in range(1, tests):
        log_levels[n] = by_shown[shown[n - 1] - 1] if shown[n - 1] else -math.inf
    return NewBests(log_levels, np.asarray(log_p <= log_levels) & (np.arange(len(log_p)) > 0))


def _log_level(shown: int, alpha: float, most: int, values: int) -> float:
    if shown > min(most - 1, values):
        return -math.inf
    return math.log(alpha) - math.log(shown * (shown + 1)) - math.log(math.comb(most - 1, shown)) - math.log(
        math.comb(values, shown))
