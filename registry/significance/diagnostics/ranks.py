"""Warnings about simultaneous ranks, for `registry study best` and `registry board --ranks simultaneous`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from registry.judged import FEW_LABELLED
from registry.messages import Message
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import compute_effective_units, find_skewed
from registry.significance.diagnostics.judges import count_informative_units, find_rare_errors
from registry.significance.diagnostics.rare_outcomes import find_rare_classes, find_rare_outcomes
from registry.significance.diagnostics.samples import find_outlying_runs
from registry.significance.matrix import Matrix
from registry.significance.multiple import (
    count_required_draws,
    count_required_units,
    explain_too_few_runs,
    explain_too_few_units,
)
from registry.significance.pairwise.permutation import ENUMERATED, Permutation
from registry.significance.rank_sets import LEAST_UNITS

# With this number of items of a class, or clusters with it, ranks of six systems are incorrect on < 6 % of boards.
_OF_A_CLASS = 60
# With this number of effective units, rank sets are valid if there are more than twice as many units.
_OF_UNEVEN = {"bootstrap": 100, "flips": 400}


def rank_warnings(matrix: Matrix, method: str, *, alpha: float, resamples: int) -> list[Message]:
    """List the warnings about simultaneous confidence sets of ranks.

    Args:
        matrix: Statistics of at least two systems; its rows are items or clusters.
        method: Method by which the ranks are computed, a key of `LEAST_UNITS`.
        alpha: 1 - confidence of the ranks.
        resamples: Number of resamples.
    """
    has_clusters, matrix = matrix.units is not None, matrix.by_unit
    if method == "holm":
        return [*misuses(Permutation(), matrix), *_infeasible(matrix, alpha, resamples)]
    return [*_of_resamples(matrix, method, alpha, resamples, has_clusters=has_clusters)]


def _of_resamples(matrix: Matrix, method: str, alpha: float, resamples: int, *,
                  has_clusters: bool) -> Iterator[Message]:
    units, least, is_judged = count_informative_units(matrix), LEAST_UNITS[method], matrix.judged is not None
    if is_judged:
        least = max(least, FEW_LABELLED)
    even = compute_effective_units(matrix)
    enough = max(least, _OF_UNEVEN[method]) if even < units / 2 else least
    if units < least:
        yield Message("few-units-ranks", {"units": units, "least": least, "method": method, "is_judged": is_judged})
    elif even < enough:
        yield Message("uneven-units-ranks", {"units": units, "even": float(even), "least": enough, "method": method,
                                             "is_judged": is_judged})
    pairs, n = SystemPairs.every(matrix), matrix.statistics.shape[1]
    if method == "flips":
        yield from board_warnings(find_skewed(pairs), n, Message("skewed-ranks"))
    yield from board_warnings(find_rare_outcomes(pairs), n)
    yield from board_warnings([find_rare_errors(pairs)], n, Message("few-judge-errors-ranks"))
    if n > 2:
        rare = Message("rare-class-ranks", {"least": _OF_A_CLASS, "has_clusters": has_clusters})
        warnings = list(find_rare_classes(pairs, _OF_A_CLASS))
        yield from board_warnings([warning for warning in warnings if warning.message.code != "absent-class"], n, rare)
        yield from board_warnings([warning for warning in warnings if warning.message.code == "absent-class"], n)
    else:
        yield from board_warnings(find_rare_classes(pairs), n)
    if (needed := count_required_draws(np.full(1, np.nan), "none", alpha)) > resamples:
        yield Message("few-resamples-ranks", {"resamples": resamples, "needed": needed})
    if (warning := find_outlying_runs(matrix)) is not None:
        yield warning


def _infeasible(matrix: Matrix, alpha: float, resamples: int) -> Iterator[Message]:
    """Warn if no difference can be significant: too few items, runs or resamples.

    The differences are corrected by Holm's method.
    """
    pairs = math.comb(matrix.statistics.shape[1], 2)
    if matrix.runs is not None:
        n_runs = [system_runs.shape[1] for system_runs in matrix.runs]
        runs = explain_too_few_runs(n_runs, pairs, "holm", alpha, two_sided=True)
        if runs is not None:
            yield runs
        return
    needed = count_required_units(pairs, "holm", alpha, two_sided=True)
    if matrix.n_units < needed:
        yield explain_too_few_units(matrix.n_units, needed, "unit", two_sided=True)
    elif matrix.quotient is None and matrix.n_units > ENUMERATED:  # other p-values are exact
        needed_resamples = count_required_draws(np.full(pairs, np.nan), "holm", alpha)
        if needed_resamples > resamples:
            yield Message("too-few-resamples", {"simulated": pairs, "differences": pairs, "resamples": resamples,
                                                "needed": needed_resamples})
