"""Test sets taken out of a larger one, and the tests of all pairs on many of them at once.

Test sets of one size share the resamples, as the pairs of one test set do: side by side they are one matrix, whose
systems are those of the first test set, then those of the second, and so on. One matrix product sums all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from registry.errors import InputError
from registry.messages import Message
from registry.significance import Matrix, Settings
from registry.studies.gains.pair_gains import Gains, Places, all_gains, bootstrap_warnings, by_unit

_ROOM = 2**26  # bytes of statistics that lie side by side


def drawable(matrix: Matrix) -> Matrix:
    """The matrix by unit, out of which test sets can be taken; without strata, as units are taken from all of them.

    Raises:
        InputError: The bootstrap does not take it, there is one unit only, or it is of clusters of a correlation.
    """
    matrix = by_unit(matrix)
    if matrix.n_units == 1:
        raise InputError("one unit cannot be resampled; take --unit item where clusters are the units")
    if matrix.units is not None:
        raise InputError("correlations do not add up over clusters, so test sets cannot be made of them: take "
                         "--unit item")
    return replace(matrix, strata=None)


def of_sets(matrix: Matrix, sets: Places) -> Matrix:
    """Test sets side by side: [units of a set, sets x systems, columns].

    Args:
        matrix: By unit. One of correlations takes one test set, as all its systems share the gold's values.
        sets: The units of each test set, [sets, units of a set]; a unit may be there several times.
    """
    beside = matrix.statistics[sets.T].reshape(sets.shape[1], -1, matrix.statistics.shape[2])
    return replace(matrix, statistics=beside, judged=None, runs=matrix.runs and tuple(
        runs[units] for units in sets for runs in matrix.runs))


def warnings_of_sets(matrix: Matrix, units: Places) -> list[Message]:
    """What a reader of p-values on test sets like the one of these units of a board's matrix must be warned of."""
    strata = [] if matrix.strata is None else [Message("strata-left-out")]
    return [*bootstrap_warnings(of_sets(drawable(matrix), units[None])), *strata]


def gains_of_sets(matrix: Matrix, sets: Places, settings: Settings, alpha: float) -> Iterator[Gains]:
    """Test all pairs that have a gain on each of many test sets, from shared resamples.

    Args:
        matrix: As `drawable` gives it.
        sets: The units of each test set, [sets, units of a set].
        settings: Of the bootstrap.
        alpha: The level at which gains are critical.

    Yields:
        The gains of each test set in turn. A pair is left out that has no gain there, or one that never moves, or that
        is undefined in many resamples.
    """
    systems = matrix.statistics.shape[1]
    room = min(_ROOM // (8 * sets.shape[1] * matrix.statistics[0].size),
               settings.execution.memory // (32 * settings.resamples * systems))
    some = 1 if matrix.family == "pair" else max(1, room)
    for at in range(0, len(sets), some):
        # Drawn even where the score is a quotient: the ideal bootstrap of many thousands of pairs takes longer.
        together = replace(of_sets(matrix, sets[at:at + some]), quotient=None)
        found = all_gains(together, settings, alpha, within=systems)
        of_set = found.better // systems
        found = found._replace(better=found.better % systems, worse=found.worse % systems)
        for n in range(together.statistics.shape[1] // systems):
            yield found.where((of_set == n) & np.isfinite(found.critical))
