"""Gains of all pairs of systems and their p-values (Berg-Kirkpatrick et al. 2012, section 2).

Every pair is ordered so that its gain is positive. The p-value comes from the paired bootstrap, one-sided in
the direction of the gain. All pairs share the resamples. Test sets of one size that are sampled from a larger one share
the resamples too: they form one matrix with the systems of the first test set, then the systems of the second, etc.
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
from registry.identity import replace_undefined
from registry.messages import Message
from registry.significance import Bootstrap, Matrix, Settings
from registry.significance.diagnostics.assumptions import one_sided_misuses
from registry.studies.study import Case, Row, name_systems

Places = Ints


class Gains(NamedTuple):
    """Pairs of systems, the better one first, with one-sided p-values.

    A gain is the difference of the two scores. Pairs with equal scores are not included.

    Attributes:
        better: Index of the system with the better score, [pairs].
        worse: Index of the other system, [pairs].
        gain: Difference of the scores, above 0, [pairs].
        p: One-sided p-value, [pairs].
        critical: The gain that would be just significant for this pair, [pairs]; not finite if it is undefined.
    """

    better: Places
    worse: Places
    gain: Floats
    p: Floats
    critical: Floats

    def select(self, selection: Flags | Places) -> Gains:
        """Return the selected pairs.

        Args:
            selection: A Boolean mask [pairs], or an array of indices.
        """
        return Gains(self.better[selection], self.worse[selection], self.gain[selection], self.p[selection],
                     self.critical[selection])


def join(sets: Sequence[Gains]) -> Gains:
    """Combine the pairs of systems of several test sets into one object."""
    return Gains(*map(np.concatenate, zip(*sets, strict=True)))


def pack(sets: Iterable[Gains]) -> list[Any]:
    """Convert the pairs of systems of each test set to JSON values.

    Undefined numbers become None. `unpack` converts the values back.
    """
    return [replace_undefined([column.tolist() for column in gains]) for gains in sets]


def unpack(packed: Iterable[Sequence[Any]]) -> list[Gains]:
    """Convert JSON values back to the pairs of systems of each test set."""
    return [Gains(np.array(better, dtype=np.int64), np.array(worse, dtype=np.int64), np.array(gain), np.array(p),
                  np.array(critical, dtype=np.float64)) for better, worse, gain, p, critical in packed]


def measure_gains(matrix: Matrix, settings: Settings, alpha: float, systems_per_set: int | None = None) -> Gains:
    """Test all pairs of systems with different scores by the one-sided bootstrap.

    Pairs with an undefined p-value are left out. The gain of a pair is the difference of its scores. Its critical gain,
    which would be just significant, is the gain minus the lower end of the confidence interval that belongs to the
    test.

    Args:
        matrix: Statistics of the systems.
        settings: Settings of the bootstrap; the alternative is always "greater".
        alpha: Significance level of the critical gains.
        systems_per_set: Number of consecutive systems that form a test set; only systems of the same test set are
            compared. None to compare all systems.

    Raises:
        InputError: The bootstrap does not accept the matrix.
    """
    matrix = arrange_by_unit(matrix)
    scores = matrix.observed.reshape(-1, systems_per_set or matrix.statistics.shape[1])
    test_set, better, worse = np.nonzero(matrix.difference(scores[:, :, None], scores[:, None, :]) > 0)
    better, worse = (test_set * scores.shape[1] + systems for systems in (better, worse))
    results = Bootstrap().run(matrix, list(zip(better.tolist(), worse.tolist(), strict=True)),
                              replace(settings, alternative="greater", confidence=1 - alpha))
    gains = Gains(better, worse, *np.array([(result.difference, result.p_value, result.difference - result.ci_low)
                                            for result in results]).reshape(-1, 3).T)
    return gains.select(~np.isnan(gains.p))


def arrange_by_unit(matrix: Matrix) -> Matrix:
    """Return a statistics matrix with one row per unit (item or cluster).

    Raises:
        InputError: The bootstrap does not support the matrix, for example because its rows are single responses.
    """
    if matrix.answers_to is not None:
        raise InputError("the bootstrap resamples items, not single responses; use --unit item")
    matrix = matrix.by_unit
    if reason := Bootstrap().refusal(matrix):
        raise InputError(reason)
    return matrix


def explain_no_gains(boards: Iterable[Board]) -> InputError:
    """Return an error with the reason why no pair of systems could be tested."""
    if all(board.matrix.by_unit.n_units == 1 for board in boards):
        return InputError("one unit cannot be resampled, so no gain can be tested; use --unit item if clusters are "
                          "the units")
    return InputError("there is no gain to test: no two systems differ, or each gain is the same in every unit or "
                      "doubles in no resample")


def report_left_out(matrix: Matrix, gains: Gains) -> list[Message]:
    """Report the number of pairs that differ in score but have no p-value.

    The list is empty if all such pairs have a p-value.
    """
    scores = matrix.by_unit.observed
    n = int((scores[:, None] > scores[None, :]).sum()) - len(gains.p)
    return [Message("pairs-left-out", {"n": n})] if n else []


def warn_of_bootstrap(matrix: Matrix) -> list[Message]:
    """Warn if one-sided p-values of the bootstrap are unreliable for these data.

    For example, the differences of two systems are skewed, or scores depend on few items.
    """
    return one_sided_misuses(Bootstrap(), matrix.by_unit)


def find_values(case: Case, board: Board, attribute: str) -> NDArray[np.object_]:
    """Return each submission's value of an attribute, such as its team, [systems].

    The value is None if the submission does not have the attribute.

    Raises:
        UnknownNameError: No submission has the attribute.
    """
    attributes = [case.subject.attributes[member.name] for member in board.members]
    names: set[str] = set().union(*attributes)
    if attribute not in names:
        raise UnknownNameError("attribute of submissions", attribute, sorted(names))
    return np.array([values.get(attribute) for values in attributes], dtype=object)


def compare_values(gains: Gains, values: NDArray[np.object_]) -> list[bool | None]:
    """Return for each pair of systems whether both have the same attribute value.

    An attribute is, for example, the team. The result is None if one of the systems has no value.

    Args:
        gains: The pairs of systems.
        values: The attribute value of each system, [systems].
    """
    return [None if values[a] is None or values[b] is None else bool(values[a] == values[b])
            for a, b in zip(gains.better, gains.worse, strict=True)]


def make_pair_rows(board: Board, gains: Gains, attribute: str, values: NDArray[np.object_]) -> list[Row]:
    """Return one table row per pair of systems, in ascending order of the gain.

    Each row says whether the two systems share the value of the attribute, in the column `group`.
    """
    groups = {True: f"same {attribute}", False: f"different {attribute}", None: None}
    systems = name_systems(board.members)
    rows = [{"test_set": board.key.test_set.name, "system_a": systems[a], "system_b": systems[b], "gain": gain,
             "p_value": p, "confidence": 1 - p, "group": groups[same]}
            for a, b, gain, p, same in zip(gains.better, gains.worse, gains.gain.tolist(), gains.p.tolist(),
                                           compare_values(gains, values), strict=True)]
    return sorted(rows, key=lambda row: (row["gain"], row["system_a"], row["system_b"]))


_MAX_BYTES = 2**26  # statistics of the test sets that are tested together


def prepare_matrix(matrix: Matrix) -> Matrix:
    """Prepare a statistics matrix, so that new test sets can be sampled from its rows.

    The result has one row per unit and no strata.

    Raises:
        InputError: The bootstrap does not support the matrix, there is a single unit, or the score is a correlation and
            the units are clusters.
    """
    matrix = arrange_by_unit(matrix)
    if matrix.n_units == 1:
        raise InputError("one unit cannot be resampled; use --unit item if clusters are the units")
    if matrix.units is not None:
        raise InputError("correlations do not add up over clusters, so no test sets can be sampled; use --unit item")
    return replace(matrix, strata=None)


def place_side_by_side(matrix: Matrix, sets: Places) -> Matrix:
    """Combine sampled test sets into one matrix, so that one call tests all sets.

    The same system on another test set counts as another system.

    Args:
        matrix: Matrix with one row per unit. For a correlation only one test set is allowed, because all its systems
            share the gold's values.
        sets: Units (rows of `matrix`) of each test set, possibly repeated, [sets, units of a set].

    Returns:
        The matrix, [units of a set, sets x systems, columns].
    """
    statistics = matrix.statistics[sets.T].reshape(sets.shape[1], -1, matrix.statistics.shape[2])
    return replace(matrix, statistics=statistics, judged=None, runs=matrix.runs and tuple(
        runs[units] for units in sets for runs in matrix.runs))


def warn_of_sets(matrix: Matrix, units: Places) -> list[Message]:
    """Return warnings if bootstrap p-values are unreliable on test sets of this size.

    A study samples many such test sets from the whole test set, without strata. This function checks one.

    Args:
        matrix: Statistics of the whole test set.
        units: Indices of the rows that form the sampled test set.
    """
    strata = [] if matrix.strata is None else [Message("strata-left-out")]
    return [*warn_of_bootstrap(place_side_by_side(prepare_matrix(matrix), units[None])), *strata]


def measure_gains_of_sets(matrix: Matrix, sets: Places, settings: Settings, alpha: float) -> Iterator[Gains]:
    """Test all pairs of systems with different scores on each of many test sets.

    All test sets share the same bootstrap resamples.

    Args:
        matrix: Result of `prepare_matrix`.
        sets: Units (rows of `matrix`) of each test set, [sets, units of a set].
        settings: Settings of the bootstrap.
        alpha: Significance level of the critical gains, the differences that would be just significant.

    Yields:
        The pairs of each test set in turn, without pairs whose critical gain is undefined.
    """
    systems = matrix.statistics.shape[1]
    max_sets = min(_MAX_BYTES // (8 * sets.shape[1] * matrix.statistics[0].size),
                   settings.execution.memory // (32 * settings.resamples * systems))
    step = 1 if matrix.family == "pair" else max(1, max_sets)
    for start in range(0, len(sets), step):
        # Simulate even if the score is a ratio of sums: the ideal bootstrap of many thousands of pairs takes longer.
        combined = replace(place_side_by_side(matrix, sets[start:start + step]), quotient=None)
        gains = measure_gains(combined, settings, alpha, systems_per_set=systems)
        test_set = gains.better // systems
        gains = gains._replace(better=gains.better % systems, worse=gains.worse % systems)
        for n in range(combined.statistics.shape[1] // systems):
            yield gains.select((test_set == n) & np.isfinite(gains.critical))
