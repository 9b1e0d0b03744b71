"""Warnings about scores that depend on few units: rare predictions and classes.

A class is rare if it has few items. Precision ignores units without a prediction, so the precision of a system with few
predictions depends on few units. A permutation test swaps in the predictions of the other system, so its standard error
is that of many units. Studentizing does not help, because the permutations themselves have many units (rows `seldom-*`
of docs/validity.md). If a system is incorrect, or correct, in very few units, resamples underestimate the standard
error as well.

Macro-F1 and balanced accuracy give all classes the same weight, even classes with few items. If two systems have equal
scores but one of them is better in rare classes, they differ on most test sets. Neither permutations nor resamples
account for that (rows `rare-class-*`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Flags, Floats
from registry.messages import Message
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import compute_effective_units_by_system, compute_kish_sizes
from registry.significance.matrix import additive

_FEW_UNITS = 60  # with this number of effective units with a prediction, permutation rejects less than 7 % at 5 %
_OFTEN, _CLEARLY = 2.0, 3.0  # smallest ratio of the numbers of units, and distance in standard deviations
# With these numbers of incorrect, or correct, units, t and permutation reject 7 % at 5 %, and bootstrap-t 6 %.
RARELY, _FEW_OUTCOMES = 10, 5
# With this number of items of a class, or effective clusters with it, tests reject less than 6.5 % at 5 %.
FEW_IN_CLASS = 20
SOME_IN_CLASS, _FEW_ERRORS = 40, 5  # this number if fewer than 5 items of a class are incorrect, or correct
_SAME = 1e-12


def find_rare_predictions(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs in which one system makes predictions for far fewer items."""
    for far_fewer, units, of_one_kind in () if pairs.matrix.runs is not None else _compare_predictions(pairs):
        yield PairWarning(far_fewer & (of_one_kind < _FEW_OUTCOMES), Message("few-varied-predictions"))
        is_rare = (units < _FEW_UNITS) | (of_one_kind < RARELY)
        yield PairWarning(far_fewer & (of_one_kind >= _FEW_OUTCOMES) & is_rare, Message("few-predictions"))


def find_rare_outcomes(pairs: SystemPairs, few: int = _FEW_OUTCOMES) -> Iterator[PairWarning]:
    """Warn of pairs in which one system has few predictions, nearly all of one kind.

    The other system has many more. Nearly all predictions of the first one are correct, or nearly all are incorrect.

    Args:
        pairs: Pairs of systems.
        few: Least number of correct, and of incorrect, items or clusters without a warning.
    """
    for far_fewer, _, of_one_kind in _compare_predictions(pairs):
        yield PairWarning(far_fewer & (of_one_kind < few), Message("few-varied-predictions"))


def _compare_predictions(pairs: SystemPairs) -> Iterator[tuple[Flags, Floats, Floats]]:
    """Find pairs in which one system makes predictions for far fewer items.

    Yields:
        One tuple, or nothing if there is no such pair: flags of these pairs; the number of items (or clusters) with a
            prediction of the system with fewer predictions; and its number of correct or of incorrect ones, whichever
            is smaller. Each array has the shape [pairs].
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


def find_rare_classes(pairs: SystemPairs, few: int = FEW_IN_CLASS) -> Iterator[PairWarning]:
    """Warn of pairs with scores that depend on a class with few items or few errors.

    Args:
        pairs: Pairs of systems.
        few: Least number of items of a class, or of effective clusters, without a warning.
    """
    return (warning for warning, _ in _find_rare_classes(pairs, few))


def find_opposed_classes(pairs: SystemPairs) -> Iterator[PairWarning]:
    """Warn of pairs with rare classes in which the systems may not be exchangeable.

    The rare classes themselves have too few items to show this. So the evidence is a difference of the systems in all
    other classes: if the total scores are equal, the systems must differ in the rare classes in the opposite direction.
    """
    return (warning._replace(scores=_differences_elsewhere(pairs, rare)) for warning, rare in _find_rare_classes(pairs))


def _find_rare_classes(pairs: SystemPairs, few: int = FEW_IN_CLASS) -> Iterator[tuple[PairWarning, Flags]]:
    """Yield warnings about scores that depend on rare classes.

    Yields:
        Each warning, and flags of the rare classes that cause it for each pair, [pairs, classes].
    """
    matrix, a, b = pairs
    if matrix.family == "confusion":
        sums = matrix.statistics.sum(axis=0).astype(np.float64)
        sizes = sums[:, 2::3].max(axis=0, initial=0)
        is_absent, few_items = sizes == 0, (sizes > 0) & (sizes < few * matrix.multiple)
        few_units = ~is_absent & ~(  # by cluster
            compute_kish_sizes(block[:, 0, 2::3] for block in matrix.by_block()) >= few)
        depend_on_items = _depend_on(pairs, sums, few_items)
        shape = len(a), len(few_items)
        yield PairWarning(depend_on_items, Message("rare-class")), np.broadcast_to(few_items, shape)
        depend_on_absent = _depend_on(pairs, sums, is_absent)
        yield PairWarning(depend_on_absent, Message("absent-class")), np.broadcast_to(is_absent, shape)
        depend_already = depend_on_items | depend_on_absent
        depend_on_clusters = ~depend_already & _depend_on(pairs, sums, few_units)
        yield PairWarning(depend_on_clusters, Message("rare-class-clusters")), np.broadcast_to(few_units, shape)
        some_items = ~few_items & ~is_absent & (sizes < SOME_IN_CLASS * matrix.multiple)
        of_one_kind = np.minimum(sums[:, 0::3], sums[:, 2::3] - sums[:, 0::3])
        have_few_errors = some_items & (of_one_kind < _FEW_ERRORS * matrix.multiple)
        classes_of_pairs, depend = have_few_errors[a] | have_few_errors[b], np.zeros(len(a), dtype=bool)
        for rare, same in _group_by_classes(classes_of_pairs):
            if rare.any():
                depend[same] = _depend_on(SystemPairs(matrix, a[same], b[same]), sums, rare)
        yield PairWarning(depend & ~depend_already, Message("rare-class-errors")), classes_of_pairs


def _group_by_classes(classes_of_pairs: Flags) -> Iterator[tuple[Flags, Flags]]:
    if (classes_of_pairs == classes_of_pairs[:1]).all():  # the usual case, which takes less time
        yield from ((rare, np.ones(len(classes_of_pairs), dtype=bool)) for rare in classes_of_pairs[:1])
        return
    sets, places = np.unique(classes_of_pairs, axis=0, return_inverse=True)
    for n, rare in enumerate(sets):
        yield rare, places.reshape(-1) == n


def _differences_elsewhere(pairs: SystemPairs, rare: Flags) -> Floats:
    """Compare two systems in all items except those of rare classes.

    The result is the difference of the numbers of correct items, divided by its standard error. If the systems are
    exchangeable, the signs of the differences in single items (or clusters) are random (McNemar 1947), so the sum of
    squares is the variance.

    Args:
        pairs: Pairs of systems.
        rare: Classes that are omitted for each pair, [pairs, classes].

    Returns:
        Standard scores, [pairs].
    """
    matrix, a, b = pairs
    systems, differences = matrix.statistics.shape[1], np.zeros(len(a))
    for classes, same in _group_by_classes(rare):
        sums, products = np.zeros(systems), np.zeros((systems, systems))
        for block in matrix.by_block():
            correct = block[:, :, 0::3][:, :, ~classes].sum(axis=2, dtype=np.float64)
            sums += correct.sum(axis=0)
            products += correct.T @ correct
        of_a, of_b = a[same], b[same]
        squares = products[of_a, of_a] + products[of_b, of_b] - 2 * products[of_a, of_b]
        differences[same] = np.maximum(np.abs(sums[of_a] - sums[of_b]) - 1, 0) / np.sqrt(np.maximum(squares, 1))
    return differences


def _depend_on(pairs: SystemPairs, sums: Floats, rare: Flags) -> Flags:
    """Flag pairs of systems with a score that depends on few items of rare classes.

    This happens if the score is an average over classes. To find out, the scores are computed again without the rare
    classes, which must change a score, and with twice their counts, which must change neither score.

    Args:
        pairs: Pairs of systems.
        sums: Sums of all statistics, [systems, columns].
        rare: Flags of the rare classes, [classes].

    Returns:
        Flags, [pairs].
    """
    # The rarest class alone is not sufficient, because it may be absent from the gold, or ignored by the metric.
    score, columns = additive(pairs.matrix).score, np.repeat(rare, 3)
    with np.errstate(invalid="ignore"):  # impossible counts: MCC may take the root of a negative number
        scores, without, twice = (score(np.where(columns, times * sums, sums)) for times in (1, 0, 2))
        are_moved = ~np.isnan(scores) & ~(np.abs(without - scores) <= _SAME)  # or undefined without these
        are_steady = np.isnan(scores) | (np.abs(twice - scores) <= _SAME)
    return np.asarray((are_moved[pairs.a] | are_moved[pairs.b]) & are_steady[pairs.a] & are_steady[pairs.b])
