"""Random runs of which a test's assumptions do not hold: some vary more than others, or one is far from all others.

Giving whole runs to the systems anew takes the runs of both for draws of one kind. Where one system has fewer runs and
these vary more, the difference has a larger error than swaps show: with m_a and m_b runs it is v_a / m_a + v_b / m_b,
squared, and of swaps it is the pooled variance times 1 / m_a + 1 / m_b. `python -m tests.validity.run_hits` measures
of what this tells, and what it misses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Floats
from registry.errors import counted
from registry.significance.cautions.weak_null import LEAST_RATIO, Caution, Systems
from registry.significance.matrix import Matrix, additive

_CHANCE = 0.1  # how seldom runs that vary alike seem so unlike
_FAR, _APART = 0.01, 6.0  # by chance among all runs, and in standard errors of the system's other runs
_LEAST_RUNS = 5  # of a system: fewer do not say how much they vary

UNEVEN_RUNS = ("the system with fewer runs has runs that vary more, so swaps of whole runs understate the error of the "
               "difference: take crossed, or as many runs of each")


def uneven_runs(matrix: Matrix, a: Systems, b: Systems) -> Iterator[Caution]:
    """The pairs whose difference swaps of whole runs take for surer than it is; none where runs are fixed.

    Args:
        matrix: By unit.
        a: The first systems of the pairs, [pairs].
        b: The second systems, [pairs].
    """
    if matrix.runs is None:
        return
    from scipy.special import fdtrc

    scores = _scores(matrix)
    numbers = np.array([len(of) for of in scores])
    variances = np.array([of.var(ddof=1) if len(of) > 1 else np.nan for of in scores])
    few, many = np.where(numbers[a] < numbers[b], [a, b], [b, a])
    n, m, v, w = numbers[few], numbers[many], variances[few], variances[many]
    with np.errstate(divide="ignore", invalid="ignore"):
        swapped = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m)
        by_chance = fdtrc(n - 1.0, m - 1.0, v / w)
        yield Caution((n < m) & (swapped < LEAST_RATIO**2 * (v / n + w / m)) & (by_chance < _CHANCE), UNEVEN_RUNS)


def outlying_runs(matrix: Matrix) -> str | None:
    """Say of how many systems some random run is far from the others, as where a training fails now and then.

    A run's distance is held against the spread of all runs about their systems' averages, and of the system's own,
    both without this run (externally studentized residuals; Cook and Weisberg 1982, section 2.2).
    """
    if matrix.runs is None or matrix.factors is not None:
        return None
    scores = _scores(matrix)
    far = sum(_is_far(of, scores) for of in scores)
    if not far:
        return None
    return (f"{counted(far, f'of {len(scores)} systems has', f'of {len(scores)} systems have')} a run whose score is "
            "far from those of the others: where a training fails now and then, a system none of whose runs has failed "
            "seems better than it is, and equal ones are told apart too often until several of each have failed")


def _is_far(of_system: Floats, scores: list[Floats]) -> bool:
    """Whether a system has such a run."""
    from scipy.special import stdtr

    runs = len(of_system)
    if runs < _LEAST_RUNS:
        return False
    squares = sum(float(((of - of.mean()) ** 2).sum()) for of in scores)
    of_own = (of_system - of_system.mean()) ** 2
    squared = of_own / (1 - 1 / runs)  # what the run adds to the sum of squares
    among = sum(map(len, scores))
    degrees = among - len(scores) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        by_all = np.sqrt(squared / np.maximum(0, squares - squared) * degrees)
        by_own = np.sqrt(squared / np.maximum(0, of_own.sum() - squared) * (runs - 2))
        by_chance = 2 * stdtr(degrees, -by_all) * among
    return bool(((by_chance < _FAR) & (by_own > _APART)).any())


def _scores(matrix: Matrix) -> list[Floats]:
    """The scores of every system's runs, [runs] each."""
    return [additive(matrix).score(of_system.sum(axis=0)) for of_system in matrix.runs or ()]
