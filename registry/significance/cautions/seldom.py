"""Pairs of which one system hardly ever says anything, and the other one often.

Of a precision, what is not said is not counted: a system that predicts in few units has a score of few units, whatever
their number. Swaps give it what the other one says, and so an error of many units, which its own is not: it is as
coarse as few trials are, and seems to be none where all of them went the same way. Standard errors do not mend that,
as in the draws they are those of many units too (rows `seldom-*` of docs/validity.md). A system that is wrong, or
right, in a handful of units has an error that resamples do not know either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from registry.arrays import Flags, Floats
from registry.significance.cautions.evidence import Caution, SystemPairs
from registry.significance.cautions.weak_null import even_units_of_each

_FEW = 60  # units of equal weight in which a system says something, from which on swaps err in less than 7 % at 5 %
_OFTEN, _CLEARLY = 2.0, 3.0  # times as many the other one has, and deviations of their difference: not just by chance
# units in which the former is wrong, or right, from which on t and swaps err in about 7 %, and bootstrap-t in 6 %
RARELY, _HARDLY = 10, 5

SELDOM = ("one of two systems says something in too few units: swaps give it what the other one says, and its error is "
          "hardly known; take bootstrap(variant=studentized), or more units")
HARDLY_WRONG = ("one of two systems says something in far fewer units than the other one, and is wrong, or right, in "
                "too few of these for its error to be known: equal systems can be told apart too often; take more "
                "units")


def seldom(pairs: SystemPairs) -> Iterator[Caution]:
    """The pairs of which one system has the denominators of few units and the other one of far more."""
    for far_fewer, units, of_one_kind in () if pairs.matrix.runs is not None else _of_the_fewer(pairs):
        yield Caution(far_fewer & (of_one_kind < _HARDLY), HARDLY_WRONG)
        yield Caution(far_fewer & (of_one_kind >= _HARDLY) & ((units < _FEW) | (of_one_kind < RARELY)), SELDOM)


def hardly_wrong(pairs: SystemPairs, few: int = _HARDLY) -> Iterator[Caution]:
    """Those of them whose system of few denominators is wrong, or right, in hardly any unit, in any of its runs.

    Args:
        pairs: The pairs.
        few: Units in which it is, from which on nothing is said.
    """
    for far_fewer, _, of_one_kind in _of_the_fewer(pairs):
        yield Caution(far_fewer & (of_one_kind < few), HARDLY_WRONG)


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
