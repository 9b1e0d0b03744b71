"""Warnings about pairs of systems that an automatic judge has scored.

One warning says that the judge favours a system: its scores exceed people's scores by more for this system than for the
other. The other warning says that people saw too few errors of the judge.

The corrected mean is the judge's mean minus the mean error of the judge on the items that people judged. If a good
judge errs on few items, most samples contain hardly any errors, and the estimated standard error is too small. For
example, let people judge 60 of 2,000 items, and the judge accept 6 % of one system's incorrect answers: then 95 %
confidence intervals of scores have a coverage of 87 %.

A sum of n rare errors has the skewness 1 / sqrt(n), which the variation of other items reduces. The warning assumes
three more errors than were observed: no error in n items means an error rate below 3 / n with 95 % confidence (Hanley
and Lippman-Hand 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.judged import JUDGE, LABELLED, WEIGHT, WEIGHTED_HUMAN, WEIGHTED_JUDGE, compute_error, estimate
from registry.messages import Message
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.matrix import JudgedItems, Matrix

LEVEL = 0.001  # significance level of a judge's bias, for each pair without correction
_MIN_UNITS = 11  # least number of units with human judgements; fewer are often equal by chance
_ROUNDING = 1e-9
_UNSEEN = 3  # possible errors in addition to the observed ones
_ENOUGH = 13  # observed and possible errors with a nearly normal sum (`python -m tests.validity.judge_error_hits`)


def get_judged_items(matrix: Matrix) -> JudgedItems:
    """Return the scores of an automatic judge, which the matrix must have."""
    items = matrix.judged
    assert items is not None
    return items if items.statistics is not None else replace(items, statistics=matrix.statistics, units=matrix.units)


def _judged_pairs(pairs: SystemPairs, holds: Callable[[JudgedItems, int, int], bool]) -> Flags:
    matrix, a, b = pairs
    if matrix.judged is None:
        return np.zeros(len(a), dtype=bool)
    items = get_judged_items(matrix)
    return np.array([holds(items, *pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], dtype=bool)


def count_informative_units(matrix: Matrix) -> int:
    """Count the items (or clusters) that carry information about the scores.

    If an automatic judge scores all items, only items with human scores count; if systems differ, the smallest number
    is returned. Otherwise all items count.
    """
    if matrix.judged is None:
        return matrix.n_units
    return int((matrix.by_unit.statistics[:, :, LABELLED] > 0).sum(axis=0).min(initial=matrix.n_units))


def find_favoured(pairs: SystemPairs) -> PairWarning:
    """Warn of pairs in which the automatic judge favours one system.

    Compared with human scores, the judge scores this system higher than the other one.
    """
    return PairWarning(_judged_pairs(pairs, lambda items, a, b: _favours(
        items.get_statistics(a), items.get_statistics(b), items.units)), Message("judge-favours"))


def _favours(a: Floats, b: Floats, units: Ints | None) -> bool:
    from scipy.special import stdtrit

    both = (a[:, LABELLED] > 0) & (b[:, LABELLED] > 0)
    w = np.where(both, a[:, WEIGHT], 0.0)
    of_units = w if units is None else np.bincount(units, w)
    if np.count_nonzero(of_units) < _MIN_UNITS:
        return False
    even = of_units.sum() ** 2 / (of_units**2).sum()  # effective sample size
    above = np.where(both, a[:, WEIGHTED_JUDGE] - a[:, WEIGHTED_HUMAN] - b[:, WEIGHTED_JUDGE] + b[:, WEIGHTED_HUMAN],
                     0.0)
    bias = above.sum() / w.sum()
    error = compute_error((above - bias * w) / w.sum(), units)
    return bool(abs(bias) > -stdtrit(even - 1, LEVEL / 2) * error)


def find_rare_errors(pairs: SystemPairs) -> PairWarning:
    """Warn of pairs whose difference depends on few observed errors of a judge.

    An error is a difference between the score of the automatic judge and the human score of an item.
    """
    return PairWarning(_judged_pairs(pairs, lambda items, a, b: depends_on_few_errors(
        items.subtract(a, b), items)), Message("few-judge-errors"))


def depends_on_few_errors(statistics: Floats, items: JudgedItems) -> bool:
    """Return True if a corrected mean depends on too few errors of the judge.

    The mean score by an automatic judge is corrected by its errors on the items that people also scored.

    Args:
        statistics: Statistics of a score or of a difference in each item, [items, columns].
        items: The judged items.
    """
    mean = estimate(statistics, items.slope, items.units)
    if mean.labelled < 2 or mean.labelled == len(statistics):
        return False
    per_item = abs(mean.slope) / float(statistics[:, WEIGHT].sum())
    errors = statistics[:, WEIGHTED_JUDGE] - statistics[:, WEIGHTED_HUMAN]  # 0 without human judgement
    sizes = np.abs(errors if items.units is None else np.bincount(items.units, errors))
    seen = sizes[sizes > _ROUNDING * np.abs(statistics[:, [WEIGHTED_HUMAN, WEIGHTED_JUDGE]]).max()]
    size = per_item * (float(seen.mean()) if seen.size else _estimate_error_size(statistics[:, JUDGE]))
    squared = mean.error**2 + _UNSEEN * size**2
    return bool((len(seen) + _UNSEEN) * size**3 > (squared / _ENOUGH ** (1 / 3)) ** 1.5)


def _estimate_error_size(judge: Floats) -> float:
    values = np.unique(judge)
    return max(float(judge.std()), float(np.diff(values).min(initial=np.inf))) if len(values) > 1 else 0.0
