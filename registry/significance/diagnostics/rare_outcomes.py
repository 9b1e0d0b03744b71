"""Scores that depend on few units: systems that seldom give an answer, and classes with few items.

Precision does not count units without an answer: a system that predicts in few units has a score of few units. Swaps
give it the answers of the other system, and so the error of many units, which its own score does not have; standard
errors do not mend that, as in the permutations they are those of many units too (rows `seldom-*` of docs/validity.md).
A system that is wrong, or right, in a handful of units has an error that resamples do not show either.

Macro-F1 and balanced accuracy count classes alike, however few items some of them have. Systems with equal scores, one
of which is better in rare classes, differ on most test sets, and neither swaps nor resamples show that (rows
`rare-class-*`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Flags, Floats
from registry.messages import Message
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import even_units_of_each, kish
from registry.significance.matrix import additive

_FEW_UNITS = 60  # units of equal weight with an answer, from which on swaps err in less than 7 % at 5 %
_OFTEN, _CLEARLY = 2.0, 3.0  # times as many the other one has, and deviations of their difference: not just by chance
# units in which the former is wrong, or right, from which on t and swaps err in about 7 %, and bootstrap-t in 6 %
RARELY, _FEW_OUTCOMES = 10, 5
# items of a class, or clusters of equal weight that have it, from which on equal scores are told apart in < 6.5 %
_FEW_IN_CLASS = 20
_SOME_IN_CLASS, _FEW_ERRORS = 40, 5  # the same where some system gets so few items of a class wrong, or right
_SAME = 1e-12


def seldom(pairs: SystemPairs) -> Iterator[PairWarning]:
    """The pairs of which one system has the denominators of few units and the other one of far more."""
    for far_fewer, units, of_one_kind in () if pairs.matrix.runs is not None else _of_the_fewer(pairs):
        yield PairWarning(far_fewer & (of_one_kind < _FEW_OUTCOMES), Message("few-varied-predictions"))
        is_rare = (units < _FEW_UNITS) | (of_one_kind < RARELY)
        yield PairWarning(far_fewer & (of_one_kind >= _FEW_OUTCOMES) & is_rare, Message("few-predictions"))


def hardly_wrong(pairs: SystemPairs, few: int = _FEW_OUTCOMES) -> Iterator[PairWarning]:
    """Those of them whose system of few denominators is wrong, or right, in hardly any unit, in any of its runs.

    Args:
        pairs: The pairs.
        few: Units in which it is, from which on nothing is said.
    """
    for far_fewer, _, of_one_kind in _of_the_fewer(pairs):
        yield PairWarning(far_fewer & (of_one_kind < few), Message("few-varied-predictions"))


def _of_the_fewer(pairs: SystemPairs) -> Iterator[tuple[Flags, Floats, Floats]]:
    """Whether one system of a pair has denominators in far fewer units; how many, and those of its rarer outcome.

    All are [pairs]; there is nothing where no pair is like that.
    """
    matrix, a, b = pairs
    if matrix.quotient is None:
        return
    units = even_units_of_each(matrix)  # nan of a system that never says anything, and has no score
    few, many = np.minimum(units[a], units[b]), np.maximum(units[a], units[b])
    far_fewer = (many > _OFTEN * few) & (many - few > _CLEARLY * np.sqrt(many + few))
    if far_fewer.any():
        right, wrong = np.zeros((2, len(units)))
        for over, under in matrix.parts_by_block():
            right += (over != 0).sum(axis=0)
            wrong += (matrix.scale * over != under).sum(axis=0)
        of_one_kind = np.minimum(right, wrong)
        yield far_fewer, few, np.where(units[a] < units[b], of_one_kind[a], of_one_kind[b])


def rare_classes(pairs: SystemPairs, few: int = _FEW_IN_CLASS) -> Iterator[PairWarning]:
    """All pairs, where a score counts a class of few items as much as others; else those that hardly err in one.

    Args:
        pairs: The pairs.
        few: Items of a class, or clusters of equal weight, from which on nothing is said.
    """
    return (warning for warning, _ in _of_rare_classes(pairs, few))


def opposed_by_class(pairs: SystemPairs) -> Iterator[PairWarning]:
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
        few_units = ~(kish(some[:, 0, 2::3] for some in matrix.by_block()) >= few)  # of items one by one the same
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
