"""Prompts, annotators or shared seeds, of which one suits a system far less, or far better, than the others.

Where a prompt breaks a system now and then, the system's scores by prompt are far from normal, and a system none of
whose prompts broke seems better than it is. That is to prompts what a training that fails is to runs
(`cautions.unlike_samples.outlying_runs`). `python -m tests.validity.prompt_hits` measures of what this tells, and what
it misses.
"""

from __future__ import annotations

import numpy as np

from registry.arrays import Floats
from registry.significance.crossed.tables import crossing, crossing_refusal
from registry.significance.matrix import Matrix

_FAR, _APART = 0.01, 6.0  # by chance among all systems and levels, and in standard errors of the system's other levels
_LEAST = 5  # levels: fewer do not say how much they vary


def broken_levels(matrix: Matrix, over: str = "all") -> str | None:
    """Say that with some prompt, annotator or seed a system's score is far from what it is with the others.

    Args:
        matrix: By unit.
        over: What conclusions are to hold for, as `crossed` calls it.
    """
    if matrix.factors is None or crossing_refusal(matrix):
        return None
    found = crossing(matrix)
    for axis, (name, shared) in enumerate(zip(found.names[1:], found.shared, strict=True), start=1):
        if shared and over in ("all", name):
            others = tuple(other for other in range(len(found.names)) if other != axis)
            if _is_any_far(np.array([table.mean(axis=others) for table in found.tables])):
                return (f"with some of the {name} a system's score is far from what it is with the others: where "
                        f"{name} break a system now and then, one that none of them broke seems better than it is, and "
                        "equal ones are told apart too often until several of them have")
    return None


def _is_any_far(scores: Floats) -> bool:
    """Whether one of the scores [systems, levels] is far from what its system and its level foresee.

    The distance is held against the spread of all such residuals and of the system's own, both without this one
    (externally studentized residuals of two-way tables; Cook and Weisberg 1982, section 2.2).
    """
    from scipy.special import stdtr

    systems, levels = scores.shape
    if systems < 2 or levels < _LEAST:
        return False
    left = scores - scores.mean(axis=1, keepdims=True)
    left -= left.mean(axis=0)
    of_row = left**2 / (1 - 1 / levels)  # what a level adds to the system's sum of squares
    of_all = of_row / (1 - 1 / systems)
    degrees = (systems - 1) * (levels - 1) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        by_all = np.sqrt(of_all / np.maximum(0, (left**2).sum() - of_all) * degrees)
        by_own = np.sqrt(of_row / np.maximum(0, (left**2).sum(axis=1, keepdims=True) - of_row) * (levels - 2))
        by_chance = 2 * stdtr(degrees, -by_all) * left.size
    return bool(((by_chance < _FAR) & (by_own > _APART)).any())
