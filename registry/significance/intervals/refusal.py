"""Reasons why a matrix has no intervals in closed form."""

from __future__ import annotations

import math

from registry.significance.crossed import crossing_refusal
from registry.significance.matrix import Matrix


def refusal(matrix: Matrix, over: str = "runs") -> str | None:
    """Say why a matrix, as `over_items` gives it, has no intervals in closed form, or None where it has."""
    if matrix.runs is not None and (reason := crossing_refusal(matrix)):
        return reason
    if matrix.n_units < 2 and (matrix.runs is None or over in ("all", "items")):
        return "one unit says nothing of others"
    if matrix.strata is not None:
        return "errors within strata need draws: take bootstrap"
    if matrix.judged is not None:
        return "differences of judged items need a slope of their own: take prediction-powered"
    return _outside(matrix)


def _outside(matrix: Matrix) -> str | None:
    """Name a score outside of the metric's range; None if all are within."""
    low, high = matrix.score_range
    slack = 1e-9 * max((1.0, *(abs(bound) for bound in (low, high) if math.isfinite(bound))))
    outside = matrix.observed[(matrix.observed < low - slack) | (matrix.observed > high + slack)]
    if not len(outside):
        return None
    return f"a score of {outside[0]:g} is outside of the metric's range, {low:g} to {high:g}; correct its score_range"
