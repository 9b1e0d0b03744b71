"""What is said of ranks before they are computed: where the method was not seen to hold, or can find nothing.

One function for all that shows such ranks, by each method: `registry best`, `registry board --ranks simultaneous`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from registry.errors import counted
from registry.judged import FEW_LABELLED
from registry.significance.assumptions import misuses
from registry.significance.cautions.evidence import SystemPairs, board_warnings
from registry.significance.cautions.judges import n_telling, rare_errors
from registry.significance.cautions.rare_classes import rare_classes
from registry.significance.cautions.seldom import hardly_wrong
from registry.significance.cautions.unlike_samples import outlying_runs
from registry.significance.cautions.weak_null import even_units, skewed
from registry.significance.matrix import Matrix
from registry.significance.multiple import (
    count_required_draws,
    count_required_units,
    explain_too_few_runs,
    explain_too_few_units,
)
from registry.significance.pairwise.permutation import ENUMERATED, Permutation
from registry.significance.rank_sets import LEAST_UNITS

# items of a class, or clusters that have it, from which on the ranks of six systems are wrong on < 6 % of boards
_OF_A_CLASS = 60
# units of equal weight from which on those of which they are less than half are known to do
_OF_UNEVEN = {"bootstrap": 100, "flips": 400}
_SKEWED = "differences are too skewed for so few units to change places: take --method bootstrap"
_RARE = (f"the score hangs on a class that fewer than {_OF_A_CLASS} items have, or clusters of equal weight: some rank "
         "of several systems is wrong too often; take more items of it")
_RARE_ERRORS = ("people saw the judge err in too few items to say how often it does: some rank can be wrong too often, "
                "until people look at more")


def rank_cautions(matrix: Matrix, method: str, *, alpha: float, resamples: int) -> list[str]:
    """Say what speaks against ranks by `bootstrap`, `flips` or `holm` of these systems.

    Args:
        matrix: By item or by unit, of two systems or more.
        method: One of `LEAST_UNITS`.
        alpha: 1 - the level of the ranks.
        resamples: How many draws will be made.
    """
    matrix = matrix.by_unit
    if method == "holm":
        return [*misuses(Permutation(), matrix), *_hopeless(matrix, alpha, resamples)]
    return [*_of_draws(matrix, method, alpha, resamples)]


def _of_draws(matrix: Matrix, method: str, alpha: float, resamples: int) -> Iterator[str]:
    """Of the largest studentized errors in draws."""
    units, least, looked = n_telling(matrix), LEAST_UNITS[method], ""
    if matrix.judged is not None:
        least, looked = max(least, FEW_LABELLED), " that people looked at"
    even = even_units(matrix)
    enough = max(least, _OF_UNEVEN[method]) if even < units / 2 else least
    known = f"ranks by {method} were seen to hold from {least if units < least else enough} on; take --method holm"
    if units < least:
        yield f"{counted(units, 'unit')}{looked}: {known}"
    elif even < enough:
        yield f"{units} units{looked} of unequal weight tell no more than {even:.1f} equal ones: {known}"
    pairs, n = SystemPairs.every(matrix), matrix.statistics.shape[1]
    if method == "flips":
        yield from board_warnings(skewed(pairs), n, _SKEWED)
    yield from board_warnings(hardly_wrong(pairs), n)
    yield from board_warnings([rare_errors(pairs)], n, _RARE_ERRORS)
    if n > 2:
        yield from board_warnings(rare_classes(pairs, _OF_A_CLASS), n, _RARE)
    else:
        yield from board_warnings(rare_classes(pairs), n)
    if (needed := count_required_draws(np.full(1, np.nan), "none", alpha)) > resamples:
        yield (f"with {counted(resamples, 'draw')} no error is large in few enough of them, and every system may have "
               f"every rank: set resamples to {needed:,} or more")
    if (said := outlying_runs(matrix)) is not None:
        yield said


def _hopeless(matrix: Matrix, alpha: float, resamples: int) -> Iterator[str]:
    """Of Holm's correction: units, runs or draws that are too few for any difference to be significant."""
    pairs = math.comb(matrix.statistics.shape[1], 2)
    if matrix.runs is not None:
        said = explain_too_few_runs([of.shape[1] for of in matrix.runs], pairs, "holm", alpha, two_sided=True)
        if said is not None:
            yield said
        return
    needed = count_required_units(pairs, "holm", alpha, two_sided=True)
    if matrix.n_units < needed:
        yield explain_too_few_units(matrix.n_units, needed, "unit", two_sided=True)
    elif matrix.quotient is None and matrix.n_units > ENUMERATED:  # others are counted, or say so afterwards
        draws = count_required_draws(np.full(pairs, np.nan), "holm", alpha)
        if draws > resamples:
            yield (f"With {resamples:,} draws none of the {counted(pairs, 'difference')} can be significant, as no "
                   f"p-value can be small enough: set resamples to {draws:,} or more.")
