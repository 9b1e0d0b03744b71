"""Samples, of items that systems do not share or of runs, of which the smaller one varies more; and outlying runs.

Student's test of two samples gives both a common variance, and the rank-sum test takes all items for draws from one
distribution. Where the smaller sample varies more, both take the difference for surer than it is, however many items
there are: with n and m items its variance is v / n + w / m, and of a common variance the mean of v and w, weighted by
n and m, times 1 / n + 1 / m (rows `own-items-*` of docs/validity.md). Where there are about as many of each that is the
same, and ranks still vary more than those of one distribution.

Giving whole runs to the systems anew takes the runs of both for draws of one kind. Where one system has fewer runs and
these vary more, the difference has a larger error than swaps show: with m_a and m_b runs it is v_a / m_a + v_b / m_b,
squared, and of swaps it is the pooled variance times 1 / m_a + 1 / m_b. `python -m tests.validity.run_hits` measures
of what this tells, and what it misses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from registry.arrays import Floats
from registry.errors import counted
from registry.significance.cautions.evidence import Caution, SystemPairs
from registry.significance.cautions.weak_null import LEAST_RATIO
from registry.significance.matrix import Matrix, additive

_CHANCE = 0.1  # how seldom scores, or runs, that vary alike seem so unlike
_FAR, _APART = 0.01, 6.0  # by chance among all runs, and in standard errors of the system's other runs
_LEAST_RUNS = 5  # of a system: fewer do not say how much they vary

UNEVEN_SAMPLES = ("the system with fewer items has scores that vary more, so the error of the difference is "
                  "understated: take two-sample-t(pooled=false), or as many items of each")
UNLIKE_SAMPLES = ("the scores of one system vary more than those of the other, so ranks understate the error of the "
                  "difference: take two-sample-t(pooled=false)")
UNEVEN_RUNS = ("the system with fewer runs has runs that vary more, so swaps of whole runs understate the error of the "
               "difference: take crossed, or as many runs of each")


def uneven_samples(pairs: SystemPairs,
                   squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> Iterator[Caution]:
    """The pairs whose test takes their difference for surer than it is; none where all systems have the same items.

    Args:
        pairs: The pairs.
        squared_errors: Of a difference, that which the test takes for granted and the one without a common variance,
            from the scores of either system's units.
    """
    matrix, a, b = pairs
    if not matrix.unequal:
        return
    scores = [of[~np.isnan(of)] for of in additive(matrix).unit_scores().T]
    samples = [(scores[one], scores[other]) for one, other in zip(a.tolist(), b.tolist(), strict=True)]
    understated = np.array([_is_understated(*of_pair, squared_errors) for of_pair in samples], dtype=bool)
    fewer = np.array([len(x) != len(y) and (len(x) < len(y)) == (x.std() > y.std()) for x, y in samples], dtype=bool)
    yield Caution(understated & fewer, UNEVEN_SAMPLES)
    yield Caution(understated & ~fewer, UNLIKE_SAMPLES)


def _is_understated(x: Floats, y: Floats, squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> bool:
    from scipy.special import fdtrc

    if min(len(x), len(y)) < 2 or len(np.unique(np.concatenate([x, y]))) <= 2:  # equal rates vary alike
        return False
    taken, true = squared_errors(x, y)
    (more, wide), (less, narrow) = sorted(((float(of.var(ddof=1)), len(of)) for of in (x, y)), reverse=True)
    by_chance = fdtrc(wide - 1, narrow - 1, more / less) if less else 0.0
    return bool(taken < LEAST_RATIO**2 * true and by_chance < _CHANCE)


def uneven_runs(pairs: SystemPairs) -> Iterator[Caution]:
    """The pairs whose difference swaps of whole runs take for surer than it is; none where runs are fixed."""
    matrix, a, b = pairs
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
