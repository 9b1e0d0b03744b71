"""Pairs of judged systems: of which the judge favours one, and of which people saw too few of its errors.

A judge favours a system where its scores are further above people's than the other's are.

People's mean is the judge's, less what the judge errs by where people looked. Where a good judge errs in few items,
most samples show hardly any of its errors, and their spread as seen is that of no error at all: with 60 items looked at
of 2,000, and a judge that says yes to 6 % of one system's wrong answers, scores' intervals of 95 % hold in 87 %.

A sum of n rare errors has the skewness 1 / sqrt(n), and what other items add to the error makes it less. It is foreseen
here as if three more errors had been seen than there were: none of n says no more than that they are fewer than 3 / n
(at 95 %; Hanley and Lippman-Hand 1983).
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

LEVEL = 0.001  # of each pair, whatever other pairs there are
_LEAST = 11  # units that people looked at: fewer are all apart by the same more often by chance, which has no error
_ROUNDING = 1e-9
_UNSEEN = 3  # errors that there may be beyond those that were seen
_ENOUGH = 13  # errors, seen and unseen, whose sum is normal enough (`python -m tests.validity.judge_error_hits`)


def judged_items(matrix: Matrix) -> JudgedItems:
    """The judged items of a matrix; there must be some."""
    items = matrix.judged
    assert items is not None
    return items if items.statistics is not None else replace(items, statistics=matrix.statistics, units=matrix.units)


def _judged_pairs(pairs: SystemPairs, holds: Callable[[JudgedItems, int, int], bool]) -> Flags:
    """Whether something holds of the judged items of both systems of a pair, [pairs]; of none without a judge."""
    matrix, a, b = pairs
    if matrix.judged is None:
        return np.zeros(len(a), dtype=bool)
    items = judged_items(matrix)
    return np.array([holds(items, *pair) for pair in zip(a.tolist(), b.tolist(), strict=True)], dtype=bool)


def n_telling(matrix: Matrix) -> int:
    """How many units tell of every system's score: of judged ones those that people looked at."""
    if matrix.judged is None:
        return matrix.n_units
    return int((matrix.by_unit.statistics[:, :, LABELLED] > 0).sum(axis=0).min(initial=matrix.n_units))


def favoured(pairs: SystemPairs) -> PairWarning:
    """The pairs that a judge does not treat alike; none where items are not judged."""
    return PairWarning(_judged_pairs(pairs, lambda items, one, other: _favours(
        items.of(one), items.of(other), items.units)), Message("judge-favours"))


def _favours(a: Floats, b: Floats, units: Ints | None) -> bool:
    from scipy.special import stdtrit

    both = (a[:, LABELLED] > 0) & (b[:, LABELLED] > 0)
    w = np.where(both, a[:, WEIGHT], 0.0)
    of_units = w if units is None else np.bincount(units, w)
    if np.count_nonzero(of_units) < _LEAST:
        return False
    even = of_units.sum() ** 2 / (of_units**2).sum()  # as many of equal weight tell as much
    above = np.where(both, a[:, WEIGHTED_JUDGE] - a[:, WEIGHTED_HUMAN] - b[:, WEIGHTED_JUDGE] + b[:, WEIGHTED_HUMAN],
                     0.0)
    bias = above.sum() / w.sum()
    error = compute_error((above - bias * w) / w.sum(), units)
    return bool(abs(bias) > -stdtrit(even - 1, LEVEL / 2) * error)


def rare_errors(pairs: SystemPairs) -> PairWarning:
    """The pairs whose difference hangs on errors of the judge of which too few were seen; none without a judge."""
    return PairWarning(_judged_pairs(pairs, lambda items, one, other: hangs_on_few_errors(
        items.apart(one, other), items)), Message("few-judge-errors"))


def hangs_on_few_errors(statistics: Floats, items: JudgedItems) -> bool:
    """Whether a mean of judged items, [items, columns], or of differences hangs on errors of which few were seen."""
    found = estimate(statistics, items.slope, items.units)
    if found.labelled < 2 or found.labelled == len(statistics):
        return False
    per_item = abs(found.slope) / float(statistics[:, WEIGHT].sum())
    errors = statistics[:, WEIGHTED_JUDGE] - statistics[:, WEIGHTED_HUMAN]  # 0 where nobody looked
    sizes = np.abs(errors if items.units is None else np.bincount(items.units, errors))
    seen = sizes[sizes > _ROUNDING * np.abs(statistics[:, [WEIGHTED_HUMAN, WEIGHTED_JUDGE]]).max()]
    size = per_item * (float(seen.mean()) if seen.size else _usual(statistics[:, JUDGE]))
    squared = found.error**2 + _UNSEEN * size**2
    return bool((len(seen) + _UNSEEN) * size**3 > (squared / _ENOUGH ** (1 / 3)) ** 1.5)


def _usual(judge: Floats) -> float:
    """How large an error of the judge may be, where none was seen: one step of its scores, or what they deviate by."""
    values = np.unique(judge)
    return max(float(judge.std()), float(np.diff(values).min(initial=np.inf))) if len(values) > 1 else 0.0
