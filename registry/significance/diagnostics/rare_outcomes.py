"""Warnings about scores that depend on few units: rare predictions, and classes with few items.

Precision ignores units without a prediction, so the precision of a system with few predictions depends on few units.
Permutations give it the predictions of the other system, so that their standard error is that of many units.
Studentizing does not help, because the permutations themselves have many units (rows `seldom-*` of docs/validity.md).
If a system is incorrect, or correct, in very few units, resamples underestimate the standard error as well.

Macro-F1 and balanced accuracy give all classes the same weight, even classes with few items. Two systems with equal
scores, one of them better in rare classes, differ on most test sets. Neither permutations nor resamples account for
that (rows `rare-class-*`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Flags, Floats
from registry.messages import Message
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import compute_effective_units_by_system, kish
from registry.significance.matrix import additive

_FEW_UNITS = 60  # effective units with a prediction from which permutation rejects less than 7 % at 5 %
_OFTEN, _CLEARLY = 2.0, 3.0  # smallest ratio of the numbers of units, and distance in standard deviations
# Incorrect, or correct, units from which t and permutation reject about 7 % at 5 %, and bootstrap-t 6 %.
RARELY, _FEW_OUTCOMES = 10, 5
# Items of a class, or effective clusters with it, from which tests of equal scores reject less than 6.5 % at 5 %.
_FEW_IN_CLASS = 20
_SOME_IN_CLASS, _FEW_ERRORS = 40, 5  # the same with few incorrect, or correct, items of a class
_SAME = 1e-12


def find_rare_predictions(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Find pairs in which one system has predictions in few units and the other in many more."""
    for far_fewer, units, of_one_kind in () if pairs.matrix.runs is not None else _of_the_fewer(pairs):
        yield PairWarning(far_fewer & (of_one_kind < _FEW_OUTCOMES), Message("few-varied-predictions"))
        is_rare = (units < _FEW_UNITS) | (of_one_kind < RARELY)
        yield PairWarning(far_fewer & (of_one_kind >= _FEW_OUTCOMES) & is_rare, Message("few-predictions"))


def find_rare_outcomes(pairs: SystemPairs, few: int = _FEW_OUTCOMES) -> Iterator[PairWarning]:
    """Find such pairs in which the system with few predictions is incorrect, or correct, in very few units.

    Args:
        pairs: Pairs of systems.
        few: Number of such units from which there is no warning.
    """
    for far_fewer, _, of_one_kind in _of_the_fewer(pairs):
        yield PairWarning(far_fewer & (of_one_kind < few), Message("few-varied-predictions"))


def _of_the_fewer(pairs: SystemPairs) -> Iterator[tuple[Flags, Floats, Floats]]:
    """Yield which pairs have a system with far fewer predictions, its units, and the units of its rarer outcome.

    All arrays are [pairs]. The result is empty if there is no such pair.
    """
    matrix, a, b = pairs
    if matrix.quotient is None:
        return
    units = compute_effective_units_by_system(matrix)  # nan for a system without predictions
    few, many = np.minimum(units[a], units[b]), np.maximum(units[a], units[b])
    far_fewer = (many > _OFTEN * few) & (many - few > _CLEARLY * np.sqrt(many + few))
    if far_fewer.any():
        right, wrong = np.zeros((2, len(units)))
        for numerators, denominators in matrix.parts_by_block():
            right += (numerators != 0).sum(axis=0)
            wrong += (matrix.scale * numerators != denominators).sum(axis=0)
        of_one_kind = np.minimum(right, wrong)
        yield far_fewer, few, np.where(units[a] < units[b], of_one_kind[a], of_one_kind[b])


def find_rare_classes(pairs: SystemPairs, few: int = _FEW_IN_CLASS) -> Iterator[PairWarning]:
    """Find pairs whose scores depend on a class with few items, or on few errors in a class.

    Args:
        pairs: Pairs of systems.
        few: Items of a class, or effective clusters, from which there is no warning.
    """
    return (warning for warning, _ in _of_rare_classes(pairs, few))


def find_opposed_classes(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of rare classes by tests that hold for exchangeable systems.

    The evidence is that the systems differ in the other classes: if their scores are equal, the rare classes make up
    for that. Rare classes themselves have too few items to show how the systems differ there.
    """
    return (warning._replace(scores=_differences_elsewhere(pairs, rare)) for warning, rare in _of_rare_classes(pairs))


def _of_rare_classes(pairs: SystemPairs, few: int = _FEW_IN_CLASS) -> Iterator[tuple[PairWarning, Flags]]:
    """Yield the warnings, each with the rare classes that it is about, [pairs, classes]."""
    matrix, a, b = pairs
    if matrix.family == "confusion":
        sums = matrix.statistics.sum(axis=0).astype(np.float64)
        few_items = sums[:, 2::3].max(axis=0, initial=0) < few * matrix.multiple
        few_units = ~(kish(block[:, 0, 2::3] for block in matrix.by_block()) >= few)  # of items one by one the same
        hang_on_items = _hang_on(pairs, sums, few_items)
        shape = len(a), len(few_items)
        yield PairWarning(hang_on_items, Message("rare-class")), np.broadcast_to(few_items, shape)
        hang_on_clusters = ~hang_on_items & _hang_on(pairs, sums, few_units)
        yield PairWarning(hang_on_clusters, Message("rare-class-clusters")), np.broadcast_to(few_units, shape)
        some_items = ~few_items & (sums[:, 2::3].max(axis=0, initial=0) < _SOME_IN_CLASS * matrix.multiple)
        of_one_kind = np.minimum(sums[:, 0::3], sums[:, 2::3] - sums[:, 0::3])
        seldom = some_items & (of_one_kind < _FEW_ERRORS * matrix.multiple)
        of_pairs, hang = seldom[a] | seldom[b], np.zeros(len(a), dtype=bool)
        for rare, same in _by_classes(of_pairs):
            if rare.any():
                hang[same] = _hang_on(SystemPairs(matrix, a[same], b[same]), sums, rare)
        yield PairWarning(hang & ~hang_on_items, Message("rare-class-errors")), of_pairs


def _by_classes(of_pairs: Flags) -> Iterator[tuple[Flags, Flags]]:
    """Yield each set of rare classes, [classes], and the pairs that have it, [pairs]."""
    if (of_pairs == of_pairs[:1]).all():  # as often, which takes less time
        yield from ((rare, np.ones(len(of_pairs), dtype=bool)) for rare in of_pairs[:1])
        return
    sets, places = np.unique(of_pairs, axis=0, return_inverse=True)
    for n, rare in enumerate(sets):
        yield rare, places.reshape(-1) == n


def _differences_elsewhere(pairs: SystemPairs, rare: Flags) -> Floats:
    """Return standard scores of the differences in correct items of the other classes, [pairs].

    Signs of the units' differences are random if the systems are exchangeable (McNemar 1947), so the sum of squares is
    the variance. The correction for continuity is that of counts.

    Args:
        pairs: The pairs.
        rare: The classes that are left out for each pair, [pairs, classes].
    """
    matrix, a, b = pairs
    systems, differences = matrix.statistics.shape[1], np.zeros(len(a))
    for classes, same in _by_classes(rare):
        sums, products = np.zeros(systems), np.zeros((systems, systems))
        for block in matrix.by_block():
            correct = block[:, :, 0::3][:, :, ~classes].sum(axis=2, dtype=np.float64)
            sums += correct.sum(axis=0)
            products += correct.T @ correct
        of_a, of_b = a[same], b[same]
        squares = products[of_a, of_a] + products[of_b, of_b] - 2 * products[of_a, of_b]
        differences[same] = np.maximum(np.abs(sums[of_a] - sums[of_b]) - 1, 0) / np.sqrt(np.maximum(squares, 1))
    return differences


def _hang_on(pairs: SystemPairs, sums: Floats, rare: Flags) -> Flags:
    """Return the pairs with a score that rare classes move, but that they would not move if they were larger, [pairs].

    The rarest class alone would not do: it may not count, as one that the gold lacks, or that the metric leaves out.

    Args:
        pairs: The pairs.
        sums: The sums of all statistics, [systems, columns].
        rare: The rare classes, [classes].
    """
    score, columns = additive(pairs.matrix).score, np.repeat(rare, 3)
    with np.errstate(invalid="ignore"):  # no test set has such counts: MCC would divide by the root of a negative one
        scores, without, twice = (score(np.where(columns, times * sums, sums)) for times in (1, 0, 2))
        are_moved = ~np.isnan(scores) & ~(np.abs(without - scores) <= _SAME)  # undefined without them, too
        are_steady = np.isnan(scores) | (np.abs(twice - scores) <= _SAME)
    return np.asarray((are_moved[pairs.a] | are_moved[pairs.b]) & are_steady[pairs.a] & are_steady[pairs.b])
