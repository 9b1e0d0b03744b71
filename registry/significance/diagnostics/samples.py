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

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from registry.arrays import Floats
from registry.messages import Message
from registry.significance.crossed import cross_runs, explain_crossing_refusal
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import LEAST_RATIO
from registry.significance.matrix import Matrix, additive

_CHANCE = 0.1  # how seldom scores, or runs, that vary alike seem so unlike
_FAR, _APART = 0.01, 6.0  # by chance among all runs, and in standard errors of the system's other runs
_LEAST_RUNS = 5  # or levels of a system: fewer do not show how much they vary
_PERCENT, _PERCENT_APART = 100.0, 20.0  # times; scores on one scale seldom differ by so much


def uneven_samples(pairs: SystemPairs,
                   squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> Iterator[PairWarning]:
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
    yield PairWarning(understated & fewer, Message("uneven-samples"))
    yield PairWarning(understated & ~fewer, Message("unlike-samples"))


def _is_understated(x: Floats, y: Floats, squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> bool:
    from scipy.special import fdtrc

    if min(len(x), len(y)) < 2 or len(np.unique(np.concatenate([x, y]))) <= 2:  # equal rates vary alike
        return False
    taken, true = squared_errors(x, y)
    (more, wide), (less, narrow) = sorted(((float(of.var(ddof=1)), len(of)) for of in (x, y)), reverse=True)
    by_chance = fdtrc(wide - 1, narrow - 1, more / less) if less else 0.0
    return bool(taken < LEAST_RATIO**2 * true and by_chance < _CHANCE)


def uneven_runs(pairs: SystemPairs) -> Iterator[PairWarning]:
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
        is_uneven = (n < m) & (swapped < LEAST_RATIO**2 * (v / n + w / m)) & (by_chance < _CHANCE)
        yield PairWarning(is_uneven, Message("uneven-runs"))


def outlying_runs(matrix: Matrix) -> Message | None:
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
    return Message("outlying-runs", {"systems": far, "of_systems": len(scores)})


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


def outlying_levels(matrix: Matrix, over: str = "all") -> Message | None:
    """Warn of prompts, annotators or shared seeds with which a system's score is far from its other scores.

    That is to prompts what a training that fails is to runs (`outlying_runs`). `python -m tests.validity.prompt_hits`
    measures how often the warning is right, and what it misses.

    Args:
        matrix: By unit.
        over: What conclusions are to hold for, as `crossed` calls it.
    """
    if matrix.factors is None or explain_crossing_refusal(matrix):
        return None
    found = cross_runs(matrix)
    for axis, (name, shared) in enumerate(zip(found.names[1:], found.shared, strict=True), start=1):
        if shared and over in ("all", name):
            others = tuple(other for other in range(len(found.names)) if other != axis)
            if _is_any_far(np.array([table.mean(axis=others) for table in found.tables])):
                return Message("outlying-levels", {"levels": name})
    return None


def _is_any_far(scores: Floats) -> bool:
    """Whether one of the scores [systems, levels] is far from what its system and its level foresee.

    The distance is held against the spread of all such residuals and of the system's own, both without this one
    (externally studentized residuals of two-way tables; Cook and Weisberg 1982, section 2.2).
    """
    from scipy.special import stdtr

    systems, levels = scores.shape
    if systems < 2 or levels < _LEAST_RUNS:
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


def mixed_scales(names: Sequence[str], scores: Sequence[float]) -> Message | None:
    """Warn if some systems seem to have scores in percent and others fractions.

    All fractions are in (0, 1], all percentages in (1, 100] and at least 20 times as large.

    >>> mixed_scales(["aspen", "birch"], [0.8469, 80.13]).parameters
    {'percent': 'birch', 'fraction': 'aspen'}
    >>> mixed_scales(["aspen", "birch"], [0.5, 2.0])
    """
    by_score = sorted((score, name) for score, name in zip(scores, names, strict=True) if score == score)
    low = [(score, name) for score, name in by_score if score <= 1]
    high = by_score[len(low):]
    if not low or not high or low[0][0] <= 0 or high[-1][0] > _PERCENT or high[0][0] < _PERCENT_APART * low[-1][0]:
        return None
    return Message("mixed-scales", {"percent": high[0][1], "fraction": low[-1][1]})
