"""Estimate the cost of a comparison before it begins.

For every leaderboard that is not stored yet, `plan` loads a few systems and tests a few pairs. From these pairs it
predicts the methods, the number of additions and the memory of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from registry.evaluation.comparing.board_keys import BoardKey, group_by_family
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import VettedBoard, VettedTask, load_tested_board
from registry.evaluation.resolve import resolve_significance
from registry.manifest import Significance
from registry.significance import CORRECTIONS, Matrix, PairTest
from registry.significance.base import Method
from registry.significance.multiple import GATEKEEPING, count_required_draws, count_required_units
from registry.significance.pairwise.base import TriedPairs, choose_few_systems, try_pairs
from registry.store import comparisons

_PROGRAM_BYTES = 2**28  # memory of the program with its libraries
_SHORT = 10**9  # number of additions that take about a second
_COPIES = 2  # copies of a leaderboard's statistics in memory
_LOADING_BYTES = 2**21 * 40  # memory of statistics that one query loads


@dataclass(frozen=True)
class BoardPlan:
    """Estimated cost of testing one leaderboard whose results are not stored yet.

    To estimate the cost, a few pairs of systems are tested in advance.

    Attributes:
        key: Properties that identify the leaderboard.
        settings: Comparison settings, with `auto` replaced by numbers.
        n_new_pairs: Number of pairs without a stored result.
        n_values: Number of statistics per system: items times columns.
        bytes_per_value: Memory of one statistic.
        forecast: Result of testing the few pairs; None if there are no pairs or the test does not apply.
        n_units: Number of units (items, clusters or responses) that are permuted or resampled.
        simulation_reason: The reason why p-values are simulated although this test has an exact form; empty if they are
            not simulated.
    """

    key: BoardKey
    settings: Significance
    n_new_pairs: int
    n_values: int
    bytes_per_value: int
    forecast: TriedPairs | None
    n_units: int = 0
    simulation_reason: str = ""

    @property
    def n_systems(self) -> int:
        """Number of systems on the leaderboard."""
        return len(self.key.members)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems, with or without a stored result."""
        return math.comb(self.n_systems, 2)

    @property
    def corrects_p_values(self) -> bool:
        """True if the correction needs only p-values, False if it needs joint resamples.

        The correction for multiple tests is, for example, Holm's or max-T.
        """
        return CORRECTIONS[self.settings.correction].function is not None

    @property
    def is_two_sided(self) -> bool:
        """True if all pairs are tested two-sided."""
        return self.settings.alternative == "two-sided"

    @property
    def max_resamples(self) -> int:
        """The largest number of resamples that the test of a pair may use."""
        return max(self.settings.draws, (self.settings.resolve or 0) if self.corrects_p_values else 0)

    @property
    def n_simulated(self) -> int:
        """Predicted number of pairs that will get a simulated p-value."""
        return self.count_by_method("monte-carlo")

    def count_by_method(self, method: Method) -> int:
        """Predict how many pairs get p-values by a method, such as "exact"."""
        return 0 if self.forecast is None else self.forecast.predict_count(method, self.n_new_pairs)

    def count_additions(self, test: PairTest) -> float:
        """Predict the number of additions in tests and intervals, to estimate the time."""
        if self.forecast is None:
            return 0
        has_resamples = self.n_simulated > 0 or test.draws_intervals
        draws = self.settings.draws * (self.n_values * self.n_systems + self.n_simulated) if has_resamples else 0
        return draws + (self.n_new_pairs - self.n_simulated) * self.forecast.work


@dataclass(frozen=True)
class InfeasibleFamily:
    """A group of pairs with too few resamples: no pair can become significant.

    The p-values of these pairs are corrected together.

    Attributes:
        board: The first leaderboard of the group.
        n_pairs: Number of pairs in the group.
        n_simulated: Number of pairs whose p-value is simulated.
        required_resamples: Smallest number of resamples with which a pair could become significant.
    """

    board: BoardPlan
    n_pairs: int
    n_simulated: int
    required_resamples: int


@dataclass(frozen=True)
class Plan:
    """Estimated cost of comparing all systems of a task.

    Attributes:
        boards: The leaderboards without a stored comparison.
        test: The test of pairs.
        n_workers: Number of threads, or of workers of a cluster.
        memory: Memory that the comparison may use, in bytes.
    """

    boards: tuple[BoardPlan, ...]
    test: PairTest
    n_workers: int
    memory: int

    @property
    def n_new_pairs(self) -> int:
        """Number of pairs of systems without a stored result."""
        return sum(board.n_new_pairs for board in self.boards)

    def count_by_method(self, method: Method) -> int:
        """Predict how many pairs get p-values by a method, such as "exact"."""
        return sum(board.count_by_method(method) for board in self.boards)

    @property
    def simulation_reasons(self) -> list[str]:
        """Reasons why p-values will be simulated although the test has an exact form."""
        return sorted({board.simulation_reason for board in self.boards
                       if board.n_simulated and board.simulation_reason})

    @property
    def is_short(self) -> bool:
        """True if the comparison will take at most about a second."""
        return sum(board.count_additions(self.test) for board in self.boards) < _SHORT

    @property
    def n_bytes(self) -> int:
        """Estimated peak memory, in bytes."""
        families = group_by_family(self.boards)
        return _PROGRAM_BYTES + max((sum(map(self._count_bytes, boards)) for boards in families), default=0)

    def _count_bytes(self, board: BoardPlan) -> int:
        n_values = board.n_values * board.n_systems
        products = min(4 * n_values, self.memory // 8) if board.n_simulated else 0
        scores = min(8 * board.n_systems * board.settings.draws, self.memory) if board.n_simulated else 0
        return _COPIES * board.bytes_per_value * n_values + min(40 * n_values, _LOADING_BYTES) + products + scores

    def find_boards_with_few_units(self) -> Iterator[tuple[BoardPlan, int]]:
        """Yield leaderboards with so few units that no pair can become significant.

        A unit is an item, a cluster or a response that is permuted or resampled as a whole.

        Yields:
            The leaderboard, and the smallest number of units with which a pair could be significant.
        """
        for board in self.boards if self.test.is_permutation_test else ():
            settings = board.settings
            if board.forecast and settings.runs == "fixed":
                # In Holm's procedure pairs of other leaderboards can be rejected first, so only these pairs count.
                family = board.key.family if settings.correction == "bonferroni" else None
                n_pairs = board.n_pairs if family is None else family.pairs
                required = count_required_units(
                    n_pairs, settings.correction, settings.alpha, two_sided=board.is_two_sided)
                if board.n_units < required:
                    yield board, required

    def find_infeasible_families(self) -> Iterator[InfeasibleFamily]:
        """Yield groups of pairs with too few resamples for any significant pair.

        Pairs in a group are corrected together. Groups with too few units are left out. The calculation assumes that
        p-values that are not simulated are 0.
        """
        with_few_units = {board.key.name for board, _ in self.find_boards_with_few_units()}
        for boards, share in self._group_by_alpha():
            first, n_pairs = boards[0], sum(board.n_pairs for board in boards)
            if first.key.name in with_few_units:
                continue
            n_simulated = sum(
                board.forecast.predict_count("monte-carlo", board.n_pairs) if board.corrects_p_values else board.n_pairs
                for board in boards if board.forecast)
            p = np.zeros(n_pairs)
            p[:n_simulated] = np.nan
            required = count_required_draws(
                p, first.settings.correction, first.settings.alpha * share) if n_simulated else 0
            if required > first.max_resamples:
                yield InfeasibleFamily(first, n_pairs, n_simulated, required)

    def _group_by_alpha(self) -> Iterator[tuple[Sequence[BoardPlan], float]]:
        """Yield groups of leaderboards, and the part of alpha that each group gets.

        Under gatekeeping each leaderboard is a group, because at the start only its own pairs share alpha.
        """
        is_gatekeeping = bool(self.boards) and self.boards[0].settings.correction == GATEKEEPING
        for boards in ([[board] for board in self.boards] if is_gatekeeping else group_by_family(self.boards)):
            if boards[0].corrects_p_values:
                yield boards, 1.0
                continue
            total = sum(board.n_pairs for board in boards)
            for items in dict.fromkeys(board.key.item_set for board in boards):
                group = [board for board in boards if board.key.item_set == items]
                yield group, sum(board.n_pairs for board in group) / max(1, total)


def plan(connection: Connection, vetted: VettedTask, request: Request) -> Plan:
    """Estimate the cost of comparing all systems of a task, without storing anything.

    If the comparison will use a cluster of computers, `plan` connects to it, so that an unreachable cluster is an error
    before the comparison.

    Raises:
        UnknownNameError: A metric, test or correction is unknown.
        MismatchError: A submission is not scored yet.
        InputError: The test does not apply to some leaderboards, or the cluster cannot be used.
    """
    test, _ = resolve_significance(request.significance)
    boards = tuple(_plan_board(connection, board, request, test) for board in vetted.boards if board.stored is None)
    local = Plan(boards, test, request.execution.threads, request.execution.memory)
    if request.execution.cluster is None or local.is_short:
        return local
    return replace(local, n_workers=request.execution.n_parallel)


def _plan_board(connection: Connection, board: VettedBoard, request: Request, test: PairTest) -> BoardPlan:
    request = board.key.resolve_request(request)
    settings, n_new_pairs = request.significance, _count_new_pairs(connection, board.key, request)
    matrix = None if len(board.key.members) < 2 else _load_few_systems(connection, board, request)
    if matrix is None:
        return BoardPlan(board.key, settings, n_new_pairs, 0, 0, None)
    n_items, n_systems, n_columns = matrix.statistics.shape
    n_values = n_items * n_columns
    bytes_per_value = matrix.statistics.nbytes // (n_values * n_systems)
    forecast = None if test.refusal(matrix.by_unit) else try_pairs(test, matrix, request.pair_settings)
    matrix = matrix.by_unit
    return BoardPlan(board.key, settings, n_new_pairs, n_values, bytes_per_value, forecast, matrix.n_units,
                     test.explain_simulation(matrix))


def _load_few_systems(connection: Connection, board: VettedBoard, request: Request) -> Matrix | None:
    members = board.key.members
    sample = [members[n] for n in choose_few_systems(len(members))]
    if board.loaded is not None:
        return board.loaded.matrix.select_systems(sorted(map(board.loaded.members.index, sample)))
    loaded = load_tested_board(connection, replace(board.key, members=sample), request)
    return None if loaded is None else loaded.matrix


def _count_new_pairs(connection: Connection, key: BoardKey, request: Request) -> int:
    """Count the pairs that no stored comparison with the same settings has tested."""
    settings = request.significance
    tested = comparisons.find_compared(
        connection, test_set_id=key.test_set.test_set_id, gold_revision_id=key.gold.gold_revision_id,
        facet=key.facet_name, metric_id=key.metric.metric_id, test=repr(resolve_significance(settings)[0]),
        alternative=request.alternative, candidate=settings.candidate, unit=settings.unit,
        resamples=settings.draws, seed=settings.seed, interval=settings.interval, confidence=settings.confidence,
        runs=settings.runs)
    members = {member.submission_id for member in key.members}
    return math.comb(len(members), 2) - math.comb(len(members & tested), 2)
