"""Intervals of scores by the range of their metric, and of differences by the intervals of both scores.

A score interval holds all values of the score whose own standard error reaches the observed score. Between two bounds
the variance is that of a proportion (Wilson 1927); above one bound it grows with the distance from the bound, as that
of a Poisson count does. Neither leaves the range.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from registry.arrays import Flags, Floats, Ints
from registry.significance.distributions.proportions import wilson
from registry.significance.matrix import Range

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
        apart = (error**2 - (a.errors - b.errors)**2) / (a.errors * b.errors)
    apart = np.clip(np.where((a.errors > 0) & (b.errors > 0), apart, 2.0), 0, 4)

    def reach(one: Floats, other: Floats) -> Floats:
        return np.asarray(np.sqrt((one - other)**2 + apart * one * other))

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
