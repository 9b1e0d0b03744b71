"""The score of the best system, corrected for its having been chosen as the best.

Of many systems that are as good as each other the luckiest has the highest score, and its plain interval lies too high.
The hybrid interval of Andrews, Kitagawa and McCloskey (2024, "Inference on winners", Quarterly Journal of Economics
139, section 5) conditions the score on the system's having won, given everything that is independent of its score,
and on its true score lying in an interval that holds for all systems at once. It is hardly wider than the plain one
where the best system leads clearly, and never much wider than the simultaneous one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from registry.arrays import Floats
from registry.significance.ranks.influences import Influences

_BETA = 0.1  # the share of alpha that the interval for all systems may err with (section 5)
_HALVINGS = 60
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Winner:
    """The best of some systems; scores are such that higher is better.

    Attributes:
        system: Which it is; of several with the same score the first.
        score, error: Its score, and the standard error of that.
        low, high: The plain interval, of a system that was not chosen by its score.
        corrected: The score that it would as likely be above as below.
        corrected_low, corrected_high: The hybrid interval.
    """

    system: int
    score: float
    error: float
    low: float
    high: float
    corrected: float
    corrected_low: float
    corrected_high: float


def winner_of(influences: Influences, alpha: float = 0.05) -> Winner | None:
    """The best of the systems whose scores are defined; None where there is none, or its score does not vary."""
    there = np.flatnonzero(influences.are_defined)
    if not len(there):
        return None
    some = influences.defined
    best = int(some.scores.argmax())
    covariances = some.covariances_of(best)
    if not covariances[best] > 0:
        return None
    return replace(winner(some.scores, best, covariances, some.steps_to(best), alpha), system=int(there[best]))


def winner(scores: Floats, best: int, covariances: Floats, steps: Floats, alpha: float = 0.05) -> Winner:
    """What can be said of the best of some systems.

    Args:
        scores: [systems].
        best: Which of them is the best.
        covariances: [systems], of each score with the best one's; its own variance is among them.
        steps: [systems], the least amount that the difference of each to the best one can change by. Coarse scores
            are equal by chance; as if all were drawn at random within their steps, the best one leads by a third of one
            then, the mean of two such draws' difference where it is positive.
        alpha: 1 - the level.
    """
    from scipy.special import ndtri

    score, error = float(scores[best]), math.sqrt(float(covariances[best]))
    plain = float(ndtri(1 - alpha / 2)) * error
    beta = _BETA * alpha
    # the largest error of all is at most this with probability 1 - beta, however they are correlated (Sidak 1967)
    wide = float(ndtri((1 + (1 - beta) ** (1 / len(scores))) / 2))
    least, most = _bounds(scores, best, covariances, steps)
    bounds = (least - score) / error, (most - score) / error
    tail = (alpha - beta) / (1 - beta) / 2
    low, middle, high = (score + error * _quantile(share, *bounds, wide) for share in (1 - tail, 0.5, tail))
    return Winner(best, score, error, score - plain, score + plain, middle, low, high)


def _bounds(scores: Floats, best: int, covariances: Floats, steps: Floats) -> tuple[float, float]:
    """Between which scores the system would have been the best, given what is independent of its score (section 3)."""
    slope = 1 - covariances / covariances[best]  # by how much its lead grows with its score
    moves = np.abs(slope) > _ROUNDING
    lead = scores[best] - scores
    lead = np.where(np.abs(lead) <= _ROUNDING * abs(scores[best]), steps / 3, lead)
    at = scores[best] - lead[moves] / slope[moves]
    rises = slope[moves] > 0
    return float(at[rises].max(initial=-math.inf)), float(at[~rises].min(initial=math.inf))


def _quantile(share: float, least: float, most: float, wide: float) -> float:
    """The true score under which the score's distribution function is `share` where it was observed.

    Everything is in units of the standard error, from the observed score. The function falls from 1 to 0 as the true
    score rises from -`wide` to `wide`.
    """
    below, above = -wide, wide
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if _distribution(middle, max(least, middle - wide), min(most, middle + wide)) > share:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _distribution(true: float, least: float, most: float) -> float:
    """P(X <= 0) of a normal X about `true` that lies between two bounds."""
    from scipy.special import ndtr

    ends = np.array([least, 0.0, most]) - true
    if ends[0] > 0:  # by the other tail, whose digits are there
        high = ndtr(-ends)
        return float((high[0] - high[1]) / (high[0] - high[2])) if high[0] > high[2] else 0.0
    low = ndtr(ends)
    return float((low[1] - low[0]) / (low[2] - low[0])) if low[2] > low[0] else 0.0
