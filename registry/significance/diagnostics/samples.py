"""Warnings about samples and runs with different variances, and outlying runs.

Student's two-sample test assumes a common variance, and the rank-sum test assumes one distribution. If the smaller
sample has the larger variance, both tests underestimate the standard error, for any number of items. The true variance
of a difference is v / n + w / m. The pooled estimate is the weighted mean of v and w times 1 / n + 1 / m (rows
`own-items-*` of docs/validity.md). With equal sample sizes the two are equal, but ranks still vary more than under one
distribution.

Permutation of runs assumes that the runs of both systems have one distribution. If one system has fewer runs with a
larger variance, permutations underestimate the standard error in the same way. `python -m tests.validity.run_hits`
measures the accuracy of this warning.
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

_CHANCE = 0.1  # level of the test of different variances
_FAR, _APART = 0.01, 6.0  # p-value among all runs, and distance in standard errors of the system's other runs
_MIN_RUNS = 5  # or levels of a system, to estimate their variance
_PERCENT, _PERCENT_APART = 100.0, 20.0  # ratio of scores that are rarely on the same scale


def find_uneven_samples(pairs: SystemPairs,
                        squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> Iterator[PairWarning]:
    """Warn of pairs with unequal variances if a test assumes equal ones.

    The systems are scored on different items. The warning applies if the test underestimates the standard error.

    Args:
        pairs: Pairs of systems.
        squared_errors: Function of the scores of both systems' items. It returns the squared standard error of the
            difference that the test assumes, and the squared standard error without a common variance.
    """
    matrix, a, b = pairs
    if not matrix.unequal:
        return
    scores = [values[~np.isnan(values)] for values in additive(matrix).unit_scores().T]
    samples = [(scores[first], scores[second]) for first, second in zip(a.tolist(), b.tolist(), strict=True)]
    understated = np.array([_is_understated(*of_pair, squared_errors) for of_pair in samples], dtype=bool)
    fewer = np.array([len(x) != len(y) and (len(x) < len(y)) == (x.std() > y.std()) for x, y in samples], dtype=bool)
    yield PairWarning(understated & fewer, Message("uneven-samples"))
    yield PairWarning(understated & ~fewer, Message("unlike-samples"))


def _is_understated(x: Floats, y: Floats, squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> bool:
    from scipy.special import fdtrc

    if min(len(x), len(y)) < 2 or len(np.unique(np.concatenate([x, y]))) <= 2:  # equal rates vary alike
        return False
    assumed, true = squared_errors(x, y)
    (more, wide), (less, narrow) = sorted(((float(sample.var(ddof=1)), len(sample)) for sample in (x, y)), reverse=True)
    by_chance = fdtrc(wide - 1, narrow - 1, more / less) if less else 0.0
    return bool(assumed < LEAST_RATIO**2 * true and by_chance < _CHANCE)


def find_uneven_runs(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs for which permutation of whole runs underestimates the error.

    The reason is that one system has fewer runs with a larger variance. If runs are fixed, there are no warnings.
    """
    matrix, a, b = pairs
    if matrix.runs is None:
        return
    from scipy.special import fdtrc

    scores = _scores(matrix)
    numbers = np.array([len(system_scores) for system_scores in scores])
    variances = np.array([system_scores.var(ddof=1) if len(system_scores) > 1 else np.nan for system_scores in scores])
    few, many = np.where(numbers[a] < numbers[b], [a, b], [b, a])
    n, m, v, w = numbers[few], numbers[many], variances[few], variances[many]
    with np.errstate(divide="ignore", invalid="ignore"):
        swapped = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m)
        by_chance = fdtrc(n - 1.0, m - 1.0, v / w)
        is_uneven = (n < m) & (swapped < LEAST_RATIO**2 * (v / n + w / m)) & (by_chance < _CHANCE)
        yield PairWarning(is_uneven, Message("uneven-runs"))


def find_outlying_runs(matrix: Matrix) -> Message | None:
    """Warn of systems with a run that is far from their other runs.

    An example is a failed training run. The distance of a run from the system's average is compared with the spread of
    all runs, and with the spread of the system's own runs. Both spreads exclude this run (externally studentized
    residuals; Cook and Weisberg 1982, section 2.2).
    """
    if matrix.runs is None or matrix.factors is not None:
        return None
    scores = _scores(matrix)
    far = sum(_is_far(system_scores, scores) for system_scores in scores)
    if not far:
        return None
    return Message("outlying-runs", {"systems": far, "of_systems": len(scores)})


def _is_far(of_system: Floats, scores: list[Floats]) -> bool:
    """Return True if a system has a run with a score far from its other runs.

    Args:
        of_system: Scores of the runs of this system.
        scores: Scores of the runs of every system, which determine the usual spread.
    """
    from scipy.special import stdtr

    runs = len(of_system)
    if runs < _MIN_RUNS:
        return False
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in scores)
    of_own = (of_system - of_system.mean()) ** 2
    squared = of_own / (1 - 1 / runs)  # contribution of the run to the sum of squares
    among = sum(map(len, scores))
    degrees = among - len(scores) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        by_all = np.sqrt(squared / np.maximum(0, squares - squared) * degrees)
        by_own = np.sqrt(squared / np.maximum(0, of_own.sum() - squared) * (runs - 2))
        by_chance = 2 * stdtr(degrees, -by_all) * among
    return bool(((by_chance < _FAR) & (by_own > _APART)).any())


def _scores(matrix: Matrix) -> list[Floats]:
    return [additive(matrix).score(of_system.sum(axis=0)) for of_system in matrix.runs or ()]


def find_outlying_levels(matrix: Matrix, over: str = "all") -> Message | None:
    """Warn of prompts, annotators or shared seeds with an unusual score of a system.

    An example is a prompt that one system does not understand. `python -m tests.validity.prompt_hits` measures the
    accuracy of this warning.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        over: Factor whose levels are a random sample, such as `prompts`; or `all`.
    """
    if matrix.factors is None or explain_crossing_refusal(matrix):
        return None
    crossing = cross_runs(matrix)
    for axis, (name, shared) in enumerate(zip(crossing.names[1:], crossing.shared, strict=True), start=1):
        if shared and over in ("all", name):
            other_axes = tuple(other for other in range(len(crossing.names)) if other != axis)
            if _is_any_far(np.array([table.mean(axis=other_axes) for table in crossing.tables])):
                return Message("outlying-levels", {"levels": name})
    return None


def _is_any_far(scores: Floats) -> bool:
    """Return True if a system has an unusual score for one prompt or another level.

    A score is unusual if it is far from the sum of its system's effect and its level's effect. The test uses externally
    studentized residuals of the two-way table: from all residuals, and from the residuals of the system (Cook and
    Weisberg 1982, section 2.2).

    Args:
        scores: Scores, [systems, levels].
    """
    from scipy.special import stdtr

    systems, levels = scores.shape
    if systems < 2 or levels < _MIN_RUNS:
        return False
    left = scores - scores.mean(axis=1, keepdims=True)
    left -= left.mean(axis=0)
    of_row = left**2 / (1 - 1 / levels)  # contribution of a level to the system's sum of squares
    of_all = of_row / (1 - 1 / systems)
    degrees = (systems - 1) * (levels - 1) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        by_all = np.sqrt(of_all / np.maximum(0, (left**2).sum() - of_all) * degrees)
        by_own = np.sqrt(of_row / np.maximum(0, (left**2).sum(axis=1, keepdims=True) - of_row) * (levels - 2))
        by_chance = 2 * stdtr(degrees, -by_all) * left.size
    return bool(((by_chance < _FAR) & (by_own > _APART)).any())


def warn_of_mixed_scales(names: Sequence[str], scores: Sequence[float]) -> Message | None:
    """Warn if some systems seem to have scores in percent and others fractions.

    The warning is given if all scores are either in (0, 1] or in (1, 100], and all scores in the second range are at
    least 20 times as large as those in the first.

    >>> warn_of_mixed_scales(["aspen", "birch"], [0.8469, 80.13]).parameters
    {'percent': 'birch', 'fraction': 'aspen'}
    >>> warn_of_mixed_scales(["aspen", "birch"], [0.5, 2.0])
    """
    by_score = sorted((score, name) for score, name in zip(scores, names, strict=True) if score == score)
    low = [(score, name) for score, name in by_score if score <= 1]
    high = by_score[len(low):]
    if not low or not high or low[0][0] <= 0 or high[-1][0] > _PERCENT or high[0][0] < _PERCENT_APART * low[-1][0]:
        return None
    return Message("mixed-scales", {"percent": high[0][1], "fraction": low[-1][1]})
