"""The Ladder: of a board that stays open, a score is shown only where it is clearly better than what was shown before.

Who sees the score of every submission can fit the test set: a majority vote over random submissions, weighted by their
scores, is better than chance there and nowhere else. The Ladder shows a score when it exceeds the one that it showed
last by a step, and rounds it to a multiple of the step; else it shows the last one again (Blum and Hardt 2015, "The
Ladder: a reliable leaderboard for machine learning competitions", ICML; figure 1). Without parameters the step is the
standard error of the difference to the submission that was shown last, and scores are rounded to 1 / n (figure 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats

_ROUNDING = 1e-9  # of a step, by which a score that is a multiple of it may be off


@dataclass(frozen=True, eq=False)
class Shown:
    """What the Ladder shows of submissions, in the order of time.

    Attributes:
        scores: [submissions], the score that is shown once each has come; nan before any is defined.
        raised: [submissions], whether it is shown for this submission.
    """

    scores: Floats
    raised: Flags


def ladder(scores: Floats, step: float) -> Shown:
    """Show the scores [submissions], higher is better, that are better by more than a step."""
    return ladder_by_errors(scores, lambda _, __: step, step)


def ladder_by_errors(scores: Floats, errors: Callable[[int, int], float], grain: float) -> Shown:
    """Show the scores that are better by more than the standard error of the difference, rounded to a grain.

    Args:
        scores: [submissions]; higher is better.
        errors: Of the difference of a submission to an earlier one.
        grain: What scores are rounded to a multiple of: 1 / n of those from 0 to 1 on n units.
    """
    shown, raised = np.full(len(scores), np.nan), np.zeros(len(scores), dtype=bool)
    value, at = np.nan, -1
    for n, score in enumerate(scores.tolist()):
        if _exceeds(score, value, 0.0 if at < 0 else errors(n, at), grain):
            value, at, raised[n] = _rounded(score, grain), n, True
        shown[n] = value
    return Shown(shown, raised)


def released(score: float, before: float, step: float) -> float:
    """What the Ladder shows after one more submission; higher is better.

    >>> released(0.8, 0.5, 0.25), released(0.75, 0.5, 0.25), released(0.3, math.nan, 0.25)
    (0.75, 0.5, 0.25)
    """
    return _rounded(score, step) if _exceeds(score, before, step, step) else before


def _exceeds(score: float, shown: float, least: float, grain: float) -> bool:
    """Whether a score is better by more than the least; any that is defined is where none is shown."""
    return not math.isnan(score) and (math.isnan(shown) or score > shown + least + _ROUNDING * grain)


def _rounded(score: float, grain: float) -> float:
    return float(np.rint(score / grain) * grain)
