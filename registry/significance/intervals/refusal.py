"""Reasons why a matrix has no intervals in closed form."""

from __future__ import annotations

import math

from registry.messages import Message
from registry.significance.crossed.tables import crossing_refusal
from registry.significance.matrix import Matrix


def refusal(matrix: Matrix, over: str = "runs") -> Message | None:
    """Say why a matrix, as `over_items` gives it, has no intervals in closed form, or None where it has."""
    if matrix.runs is not None and (reason := crossing_refusal(matrix)):
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
