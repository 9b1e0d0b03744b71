"""Scores of single units, and their differences.

Some tests use these instead of the score of all units.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from registry.arrays import ROUNDING, Flags, Floats, without_rounding
from registry.significance.base import Observed, ObservedPairs
from registry.significance.matrix import Matrix, additive

_FEW = 128  # units of a pair in one block


def unit_refusal(name: str, matrix: Matrix) -> str | None:
    """Explain why a test that compares the scores of single units does not apply.

    With some metrics all units (items or clusters) have the same score or no score, although the scores of the systems
    differ. For example, the Matthews correlation of a single item is always 0. Cohen's kappa of a single item is 0 if
    the item is wrong, and undefined if it is right.

    Args:
        name: Name of the test.
        matrix: Statistics of all systems, with units (items or clusters) as rows.

    Returns:
        The reason, or None if the test applies.
    """
    if len(np.unique(matrix.observed)) < 2 or matrix.is_mean:
        return None
    distinct = np.empty(0)
    for block in matrix.by_block():
        scores = additive(matrix).score(block)
        distinct = np.unique(np.append(distinct, scores[~np.isnan(scores)]))
        if len(distinct) > 1:
            return None
    return (f"{name} compares scores of single units, but with this metric every unit has "
            f"{'the same score or no score' if len(distinct) else 'no score'}, although the systems' scores differ; "
            "use --test permutation")


def are_unscored(pairs: ObservedPairs, *, unequal: bool) -> Flags:
    """Flag pairs of systems that a test of single items cannot compare, [pairs].

    A pair is flagged if no unit (item or cluster) has a defined score for both systems. It is also flagged if the total
    scores differ, but the systems differ only in units in which a score is undefined.

    Args:
        pairs: Pairs with different statistics in some unit.
        unequal: True if the systems have different units. Then a pair is flagged only if one of its systems has no unit
            with a defined score.
    """
    is_unscored, statistics = np.zeros(len(pairs), dtype=bool), pairs.matrix.statistics
    if pairs.matrix.is_mean:
        return is_unscored
    defined = ~np.isnan(additive(pairs.matrix).unit_scores())
    if unequal:
        scored = np.count_nonzero(defined, axis=0)
        is_unscored[:] = np.minimum(scored[pairs.a], scored[pairs.b]) == 0
        return is_unscored
    if defined.all():
        return is_unscored
    for n, (a, b, d) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.difference.tolist(), strict=True)):
        # The first part nearly always suffices.
        parts = (slice(start, start + _FEW) for start in range(0, len(defined), _FEW))
        is_unscored[n] = not any((defined[part, a] & defined[part, b] & (
            not d or (statistics[part, a] != statistics[part, b]).any(axis=1))).any() for part in parts)
    return is_unscored


def unit_scores(observed: Observed) -> tuple[Floats, Floats]:
    """Compute the scores of two systems in every unit (item or cluster).

    Returns:
        Scores of the first and of the second system, [units] each; nan if undefined.
    """
    score = additive(observed.matrix).score
    return score(observed.a), score(observed.b)


def unit_differences(observed: Observed) -> tuple[Floats, float]:
    """Return the differences of two systems in single items (or clusters).

    A difference is positive if the first system is better. Items with an undefined score are omitted.

    Returns:
        The differences, which are 0 if they may be rounding errors; and a tolerance. Differences that are closer than
            it count as equal, because rounding must not separate 1/3 - 1/6 from 1/6 - 0.
    """
    a, b = unit_scores(observed)
    differences = observed.matrix.difference(a, b)
    differences = differences[~np.isnan(differences)]
    largest = float(np.nanmax(np.abs([a, b]), initial=0))
    slack = ROUNDING * largest + 4 * observed.matrix.rounding
    differences[np.abs(differences) <= slack] = 0
    return differences, slack


def linearize(numerators: Floats, denominators: Floats, whole: Callable[[Floats], Floats]) -> Floats:
    """Return how much every item influences a score that is a quotient of totals.

    The influence on F = N / D is (n - F d) / D, for an item with numerator n and denominator d. It is nan if D is 0.
    Instead of items, the arrays can have cells of a table, such as items and runs.

    Args:
        numerators: Numerators n of the items.
        denominators: Denominators d of the items.
        whole: Function that computes a total (N or D) from all items, for example their sum or their mean.
    """
    sizes = whole(denominators)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(sizes != 0, numerators / sizes, np.nan)
        expected = denominators * (whole(shares) / sizes)
    return without_rounding(shares - expected, np.abs(shares) + np.abs(expected))  # 0 if all cells have the same score


def midranks(values: Floats, slack: float = 0.0) -> Floats:
    """Rank values from 1; tied values share the mean of their ranks.

    Values that are neighbours in ascending order are tied if they differ by at most `slack`.
    """
    order = np.argsort(values, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(values[order]) > slack)])
    last = np.cumsum(np.bincount(group))
    first = last - np.bincount(group) + 1
    ranks = np.empty(len(values))
    ranks[order] = ((first + last) / 2)[group]
    return ranks


def has_binary_units(observed: Observed) -> bool:
    """Return True if both systems' scores in single units are all 0 or 1.

    Units (items or clusters) without a defined score of both systems are ignored. The result is False if no unit
    remains.
    """
    a, b = unit_scores(observed)
    both = ~np.isnan(a) & ~np.isnan(b)
    return bool(both.any()) and bool(np.isin([a[both], b[both]], (0, 1)).all())
