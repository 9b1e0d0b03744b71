"""Scores that count classes alike, however few items some of them have: macro-F1, balanced accuracy.

Such a score hangs on a class of few items, and knows nothing of one that the test set happens to lack. Systems of
equal scores of which one is the better one where items are rare then differ on most test sets, and neither swaps nor
resamples know of others (rows `rare-class-*` of docs/validity.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Flags, Floats
from registry.significance.cautions.evidence import Caution, SystemPairs
from registry.significance.cautions.weak_null import kish
from registry.significance.matrix import additive

# items of a class, or clusters of equal weight that have it, from which on equal scores are told apart in < 6.5 %
_FEW = 20
_HARDLY, _SELDOM = 40, 5  # the same where some system gets so few items of a class wrong, or right
_SAME = 1e-12

RARE_CLASSES = ("the score hangs on a class with fewer than 20 items, however many there are in all: equal systems can "
                "be told apart too often, and intervals are too short; take more items of it")
RARE_IN_CLUSTERS = ("the score hangs on a class that few clusters have, fewer than 20 of equal weight: equal systems "
                    "can be told apart too often, and intervals are too short; take more clusters with it")


RARELY_WRONG = ("the score hangs on a class with fewer than 40 items of which a system gets fewer than five wrong, or "
                "right: equal systems can be told apart too often, and intervals are too short; take more items of it")


def rare_classes(pairs: SystemPairs, few: int = _FEW) -> Iterator[Caution]:
    """All pairs, where a score counts a class of few items as much as others; else those that hardly err in one.

    Args:
        pairs: The pairs.
        few: Items of a class, or clusters of equal weight, from which on nothing is said.
    """
    return (caution for caution, _ in _of_rare_classes(pairs, few))


def opposed_by_class(pairs: SystemPairs) -> Iterator[Caution]:
    """Warn of rare classes by tests that hold for exchangeable systems.

    The evidence is that the systems differ in the other classes: if their scores are equal, the rare classes make up
    for that. Rare classes themselves have too few items to show how the systems differ there.
    """
    return (caution._replace(scores=_differences_elsewhere(pairs, rare)) for caution, rare in _of_rare_classes(pairs))


def _of_rare_classes(pairs: SystemPairs, few: int = _FEW) -> Iterator[tuple[Caution, Flags]]:
    """Yield the warnings, each with the rare classes that it is about, [pairs, classes]."""
    matrix, a, b = pairs
    if matrix.family == "confusion":
        sums = matrix.statistics.sum(axis=0).astype(np.float64)
        few_items = sums[:, 2::3].max(axis=0, initial=0) < few * matrix.multiple
        few_units = ~(kish(some[:, 0, 2::3] for some in matrix.by_block()) >= few)  # of items one by one the same
        hang_on_items = _hang_on(pairs, sums, few_items)
        shape = len(a), len(few_items)
        yield Caution(hang_on_items, RARE_CLASSES), np.broadcast_to(few_items, shape)
        hang_on_clusters = ~hang_on_items & _hang_on(pairs, sums, few_units)
        yield Caution(hang_on_clusters, RARE_IN_CLUSTERS), np.broadcast_to(few_units, shape)
        some_items = ~few_items & (sums[:, 2::3].max(axis=0, initial=0) < _HARDLY * matrix.multiple)
        of_one_kind = np.minimum(sums[:, 0::3], sums[:, 2::3] - sums[:, 0::3])
        seldom = some_items & (of_one_kind < _SELDOM * matrix.multiple)
        of_pairs, hang = seldom[a] | seldom[b], np.zeros(len(a), dtype=bool)
        for rare, same in _by_classes(of_pairs):
            if rare.any():
                hang[same] = _hang_on(SystemPairs(matrix, a[same], b[same]), sums, rare)
        yield Caution(hang & ~hang_on_items, RARELY_WRONG), of_pairs


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
    systems, found = matrix.statistics.shape[1], np.zeros(len(a))
    for classes, same in _by_classes(rare):
        sums, products = np.zeros(systems), np.zeros((systems, systems))
        for some in matrix.by_block():
            correct = some[:, :, 0::3][:, :, ~classes].sum(axis=2, dtype=np.float64)
            sums += correct.sum(axis=0)
            products += correct.T @ correct
        of_a, of_b = a[same], b[same]
        squares = products[of_a, of_a] + products[of_b, of_b] - 2 * products[of_a, of_b]
        found[same] = np.maximum(np.abs(sums[of_a] - sums[of_b]) - 1, 0) / np.sqrt(np.maximum(squares, 1))
    return found


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
