"""Resampled scores of whole boards: their intervals, averages and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.errors import InputError
from registry.evaluation.comparing.board_keys import load_board_keys
from registry.evaluation.comparing.board_statistics import Board, load_board
from registry.evaluation.comparing.settings import Request
from registry.identity import digest_json
from registry.messages import Message
from registry.significance import JointMatrix
from registry.significance.diagnostics.ranks import rank_warnings
from registry.significance.rank_sets import RANK_DRAWS, compute_rank_sets
from registry.significance.ranks import count_rank_shares
from registry.significance.resampling.scores import (
    explain_run_refusal,
    percentiles,
    resampling_refusal,
    score_resamples,
)
from registry.store.catalog import TaskRow


def resample_score_intervals(connection: Connection, task_row: TaskRow, request: Request, board_name: str,
                             submissions: Set[str]) -> dict[str, tuple[float, float]]:
    """Return bootstrap percentile intervals of scores, by the name of the submission.

    The ends are nan if resamples are undefined. The result is empty if the leaderboard cannot be resampled. All systems
    share the resamples, so the selection of `submissions` does not change the intervals.
    """
    intervals: dict[str, tuple[float, float]] = {}
    for board in _load_boards(connection, task_row, request, board_name):
        if not explain_refusal(board):
            chosen = [n for n, member in enumerate(board.members) if member.name in submissions]
            scores = score_resamples(board.matrix.select_systems(chosen).by_unit, request.settings)
            ends = percentiles(scores, request.significance.confidence).tolist()
            intervals |= {board.members[n].name: (low, high) for n, (low, high) in zip(chosen, ends, strict=True)}
    return intervals


def resample_averages(boards: Sequence[Board], chosen: Sequence[Sequence[int]], request: Request) -> Floats | None:
    """Return bootstrap resamples of each system's average score over test sets.

    The result is [resamples, systems], or None if a test set cannot be resampled. Units are resampled within each test
    set, independently of the other test sets.

    Args:
        boards: The leaderboards of several test sets.
        chosen: Indices of the systems on each leaderboard, in the same order for all leaderboards.
        request: Settings of the comparison.
    """
    if any(map(explain_refusal, boards)):
        return None
    total: Floats = np.zeros((request.settings.resamples, len(chosen[0])))
    for board, systems in zip(boards, chosen, strict=True):
        # A seed for each test set, so that test sets do not share random numbers.
        digest = digest_json([request.seed, board.key.test_set.name])
        scores = score_resamples(board.matrix.by_unit, replace(
            request.settings, seed=int(digest.rpartition(":")[2][:15], 16)))
        total += scores[:, list(systems)]
    return total / len(boards)


def explain_refusal(board: Board) -> str | Message | None:
    """Return the reason why a leaderboard cannot be resampled.

    The result is None or an empty text if it can be resampled.
    """
    if isinstance(board.matrix, JointMatrix):
        return f"{board.matrix.family} are not resampled; use simultaneous ranks"
    if board.matrix.unequal:
        return "systems are scored on different items"
    return explain_run_refusal(board.matrix) or resampling_refusal(board.matrix.by_unit)


def resample_ranks(connection: Connection, task_row: TaskRow, request: Request,
                   board_name: str | None = None) -> dict[str, Floats]:
    """Return the share of resamples in which each submission has each rank, [ranks].

    The keys consist of two names, `leaderboard: submission`. `board_name` selects one leaderboard.
    """
    shares_by_name: dict[str, Floats] = {}
    for board, ranked in _load_ranked_boards(connection, task_row, request, board_name):
        resampled = score_resamples(board.matrix.by_unit, request.settings)
        scores = resampled if len(ranked) == len(board.members) else resampled[:, ranked]  # a copy is large
        shares = count_rank_shares(scores, lower_is_better=board.matrix.lower_is_better)
        shares_by_name |= {f"{board.key.name}: {board.members[n].name}": values
                           for n, values in zip(ranked, shares, strict=True)}
    return shares_by_name


def compute_all_rank_bounds(connection: Connection, task_row: TaskRow,
                    request: Request) -> tuple[dict[str, Floats], dict[str, list[Message]]]:
    """Return simultaneous confidence bounds of the ranks of all submissions.

    Returns:
        The lowest and the highest rank, [2], by two names, `leaderboard: submission`; and warnings by the name of the
            leaderboard.
    """
    bounds: dict[str, Floats] = {}
    warnings: dict[str, list[Message]] = {}
    settings, alpha = replace(request.settings, resamples=RANK_DRAWS), request.significance.alpha
    for board, ranked in _load_ranked_boards(connection, task_row, request, has_resamples=False):
        matrix = board.matrix.by_unit.select_systems(ranked)
        if isinstance(matrix, JointMatrix):
            warnings[board.key.name], sets = list(matrix.warnings), matrix.compute_rank_sets(settings, alpha)
        else:
            warnings[board.key.name] = rank_warnings(matrix, "bootstrap", alpha=alpha, resamples=RANK_DRAWS)
            sets = compute_rank_sets(matrix, settings, alpha=alpha)
        bounds |= {f"{board.key.name}: {board.members[n].name}": np.array([low, high], dtype=np.float64)
                   for n, low, high in zip(ranked, sets.low, sets.high, strict=True)}
    return bounds, warnings


def _load_ranked_boards(connection: Connection, task_row: TaskRow, request: Request, name: str | None = None, *,
                        has_resamples: bool = True) -> Iterator[tuple[Board, list[int]]]:
    """Yield the leaderboards with two or more systems, and indices of ranked systems.

    Args:
        connection: Connection to the registry.
        task_row: The task.
        request: The requested comparison.
        name: Name of the leaderboard; None: all.
        has_resamples: True if scores are resampled, which votes and ratings do not allow.

    Raises:
        InputError: A leaderboard cannot be resampled.
    """
    for board in _load_boards(connection, task_row, request, name):
        if len(board.members) < 2:
            continue
        is_joint = isinstance(board.matrix, JointMatrix) and not has_resamples
        if not is_joint and (reason := explain_refusal(board)):
            raise InputError(f"{board.key.name}: {reason}")
        yield board, [n for n, m in enumerate(board.members) if request.is_ranked(m.kind, late=m.late)]


def _load_boards(connection: Connection, task_row: TaskRow, request: Request, name: str | None) -> Iterator[Board]:
    for key in list(load_board_keys(connection, task_row, request)):
        if name in (None, key.name) and (board := load_board(connection, key, request)) is not None:
            yield board
