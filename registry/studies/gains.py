"""Gains of all pairs of systems, and how likely chance alone makes them (Berg-Kirkpatrick et al. 2012, section 2).

Every pair is ordered so that its gain is positive, and its p-value is the paired bootstrap's, one-sided in the
direction of the gain. All pairs share the resamples. Test sets of one size, which are drawn from a larger one, share
the resamples too: together they are one matrix, whose systems are those of the first test set, then those of the
second, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, UnknownNameError
from registry.evaluation.comparing.board_statistics import Board
from registry.identity import plain_value
from registry.messages import Message
from registry.significance import Bootstrap, Matrix, Settings
from registry.significance.diagnostics.assumptions import one_sided_misuses
from registry.studies.study import Case, Row, name_systems

Places = Ints

_UNTESTABLE = "a gain that is the same in every unit, or that no resample doubles"


class Gains(NamedTuple):
    """Pairs that have a gain.

    Attributes:
        better: Their systems with the better scores, [pairs].
        worse: Their other systems, [pairs].
        gain: By how much the better are better, above 0, [pairs].
        p: How likely so large a gain is if there is none, [pairs].
        critical: The gain with which each pair, varying as it does, would be just significant, [pairs]; not finite
            where that is undefined.
    """

    better: Places
    worse: Places
    gain: Floats
    p: Floats
    critical: Floats

    def where(self, chosen: Flags | Places) -> Gains:
        """Some of the pairs, by flags [pairs] or by their places."""
        return Gains(self.better[chosen], self.worse[chosen], self.gain[chosen], self.p[chosen], self.critical[chosen])


def join(sets: Sequence[Gains]) -> Gains:
    """The pairs of several test sets together."""
    return Gains(*map(np.concatenate, zip(*sets, strict=True)))


def pack(sets: Iterable[Gains]) -> list[Any]:
    """The pairs of test sets, as JSON can keep them: a critical gain that is undefined is None."""
    return [plain_value([column.tolist() for column in of]) for of in sets]


def unpack(kept: Iterable[Sequence[Any]]) -> list[Gains]:
    """The pairs of test sets again."""
    return [Gains(np.array(better, dtype=np.int64), np.array(worse, dtype=np.int64), np.array(gain), np.array(p),
                  np.array(critical, dtype=np.float64)) for better, worse, gain, p, critical in kept]


def measure_gains(matrix: Matrix, settings: Settings, alpha: float, within: int | None = None) -> Gains:
    """Test all pairs that have a gain; those whose p-value is undefined are left out.

    The gain that would be significant at alpha is half the width of the interval that is dual to the test.

    Args:
        matrix: Of the systems.
        settings: Of the bootstrap, their alternative aside.
        alpha: The level at which gains are critical.
        within: Only pairs of the first so many systems, of the next so many, and so on; None: all.

    Raises:
        InputError: The bootstrap does not take the matrix.
    """
    matrix = arrange_by_unit(matrix)
    scores = matrix.observed.reshape(-1, within or matrix.statistics.shape[1])
    block, better, worse = np.nonzero(matrix.difference(scores[:, :, None], scores[:, None, :]) > 0)
    better, worse = (block * scores.shape[1] + of for of in (better, worse))
    found = Bootstrap().run(matrix, list(zip(better.tolist(), worse.tolist(), strict=True)),
                            replace(settings, alternative="greater", confidence=1 - alpha))
    gains = Gains(better, worse, *np.array([(one.difference, one.p_value, one.difference - one.ci_low)
                                            for one in found]).reshape(-1, 3).T)
    return gains.where(~np.isnan(gains.p))


def arrange_by_unit(matrix: Matrix) -> Matrix:
    """The matrix by unit, which the bootstrap takes.

    Raises:
        InputError: It does not.
    """
    if matrix.answers_to is not None:
        raise InputError("the bootstrap resamples items, not their answers: take --unit item")
    matrix = matrix.by_unit
    if reason := Bootstrap().refusal(matrix):
        raise InputError(reason)
    return matrix


def explain_no_gains(boards: Iterable[Board]) -> InputError:
    """Why no pair of these boards has a gain whose p-value is defined."""
    if all(board.matrix.by_unit.n_units == 1 for board in boards):
        return InputError("one unit cannot be resampled, so no gain can be tested; take --unit item where clusters are "
                          "the units")
    return InputError(f"no two systems differ, or only by {_UNTESTABLE}, so there is no gain to look at")


def report_left_out(matrix: Matrix, gains: Gains) -> list[Message]:
    """Say how many pairs of a board have a gain, but no p-value."""
    scores = matrix.by_unit.observed
    n = int((scores[:, None] > scores[None, :]).sum()) - len(gains.p)
    return [Message("pairs-left-out", {"n": n})] if n else []


def warn_of_bootstrap(matrix: Matrix) -> list[Message]:
    """What a reader of the bootstrap's one-sided p-values must be warned of."""
    return one_sided_misuses(Bootstrap(), matrix.by_unit)


def find_values(case: Case, board: Board, attribute: str) -> NDArray[np.object_]:
    """The value of an attribute of every submission of a board, None where it has none, [systems].

    Raises:
        UnknownNameError: No submission has the attribute.
    """
    attributes = [case.subject.attributes[member.name] for member in board.members]
    known: set[str] = set().union(*attributes)
    if attribute not in known:
        raise UnknownNameError("attribute of submissions", attribute, sorted(known))
    return np.array([of_system.get(attribute) for of_system in attributes], dtype=object)


def compare_values(gains: Gains, values: NDArray[np.object_]) -> list[bool | None]:
    """Say of every pair whether its systems have the same value of an attribute; None where one of them has none."""
    return [None if values[a] is None or values[b] is None else bool(values[a] == values[b])
            for a, b in zip(gains.better, gains.worse, strict=True)]


def make_pair_rows(board: Board, gains: Gains, by: str, values: NDArray[np.object_]) -> list[Row]:
    """The pairs of a board as rows, the smallest gain first."""
    groups = {True: f"same {by}", False: f"different {by}", None: None}
    systems = name_systems(board.members)
    rows = [{"test_set": board.key.test_set.name, "system_a": systems[a], "system_b": systems[b], "gain": gain,
             "p_value": p, "confidence": 1 - p, "group": groups[same]}
            for a, b, gain, p, same in zip(gains.better, gains.worse, gains.gain.tolist(), gains.p.tolist(),
                                           compare_values(gains, values), strict=True)]
    return sorted(rows, key=lambda row: (row["gain"], row["system_a"], row["system_b"]))


_ROOM = 2**26  # bytes of statistics that lie side by side


def prepare_matrix(matrix: Matrix) -> Matrix:
    """The matrix by unit, out of which test sets can be taken; without strata, as units are taken from all of them.

    Raises:
        InputError: The bootstrap does not take it, there is one unit only, or it is of clusters of a correlation.
    """
    matrix = arrange_by_unit(matrix)
    if matrix.n_units == 1:
        raise InputError("one unit cannot be resampled; take --unit item where clusters are the units")
    if matrix.units is not None:
        raise InputError("correlations do not add up over clusters, so test sets cannot be made of them: take "
                         "--unit item")
    return replace(matrix, strata=None)


def place_side_by_side(matrix: Matrix, sets: Places) -> Matrix:
    """Test sets side by side: [units of a set, sets x systems, columns].

    Args:
        matrix: By unit. One of correlations takes one test set, as all its systems share the gold's values.
        sets: The units of each test set, [sets, units of a set]; a unit may be there several times.
    """
    beside = matrix.statistics[sets.T].reshape(sets.shape[1], -1, matrix.statistics.shape[2])
    return replace(matrix, statistics=beside, judged=None, runs=matrix.runs and tuple(
        runs[units] for units in sets for runs in matrix.runs))


def warn_of_sets(matrix: Matrix, units: Places) -> list[Message]:
    """What a reader of p-values on test sets like the one of these units of a board's matrix must be warned of."""
    strata = [] if matrix.strata is None else [Message("strata-left-out")]
    return [*warn_of_bootstrap(place_side_by_side(prepare_matrix(matrix), units[None])), *strata]


def measure_gains_of_sets(matrix: Matrix, sets: Places, settings: Settings, alpha: float) -> Iterator[Gains]:
    """Test all pairs that have a gain on each of many test sets, from shared resamples.

    Args:
        matrix: As `prepare_matrix` returns it.
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
        together = replace(place_side_by_side(matrix, sets[at:at + some]), quotient=None)
        found = measure_gains(together, settings, alpha, within=systems)
        of_set = found.better // systems
        found = found._replace(better=found.better % systems, worse=found.worse % systems)
        for n in range(together.statistics.shape[1] // systems):
            yield found.where((of_set == n) & np.isfinite(found.critical))
