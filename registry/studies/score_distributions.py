"""How scores deviate: those of whole boards in resamples of their units, their intervals, averages and ranks."""

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
from registry.significance.diagnostics.ranks import rank_warnings
from registry.significance.rank_sets import RANK_DRAWS, bound_ranks
from registry.significance.ranks import count_rank_shares
from registry.significance.resampling.scores import (
    drawn_runs_refusal,
    percentiles,
    resampling_refusal,
    score_resamples,
)
from registry.store.catalog import TaskRow


def resample_score_intervals(connection: Connection, task_row: TaskRow, request: Request, board_name: str,
                             submissions: Set[str]) -> dict[str, tuple[float, float]]:
    """Percentile intervals of the scores of a board's `submissions`, by their names.

    An end is nan where resamples are undefined; there are none where the board cannot be resampled. All systems share
    their draws, so those that are left out have no say.
    """
    found: dict[str, tuple[float, float]] = {}
    for board in _boards(connection, task_row, request, board_name):
        if not explain_refusal(board):
            chosen = [n for n, member in enumerate(board.members) if member.name in submissions]
            scores = score_resamples(board.matrix.of_systems(chosen).by_unit, request.settings)
            ends = percentiles(scores, request.significance.confidence).tolist()
            found |= {board.members[n].name: (low, high) for n, (low, high) in zip(chosen, ends, strict=True)}
    return found


def resample_averages(boards: Sequence[Board], chosen: Sequence[Sequence[int]], request: Request) -> Floats | None:
    """The mean over boards of their systems' scores in resamples, [resamples, systems].

    Units are resampled within each board, independently of the other ones. None where one cannot be resampled.

    Args:
        boards: Of several test sets.
        chosen: Which systems of each board, in the same order in all of them.
        request: What is asked for.
    """
    if any(map(explain_refusal, boards)):
        return None
    total: Floats = np.zeros((request.settings.resamples, len(chosen[0])))
    for board, of_board in zip(boards, chosen, strict=True):
        of_set = digest_json([request.seed, board.key.test_set.name])  # lest two test sets share their draws
        drawn = score_resamples(board.matrix.by_unit, replace(
            request.settings, seed=int(of_set.rpartition(":")[2][:15], 16)))
        total += drawn[:, list(of_board)]
    return total / len(boards)


def explain_refusal(board: Board) -> str | Message | None:
    """Say why a board cannot be resampled."""
    if board.matrix.unequal:
        return "systems are scored on items of their own"
    return drawn_runs_refusal(board.matrix) or resampling_refusal(board.matrix.by_unit)


def resample_ranks(connection: Connection, task_row: TaskRow, request: Request,
                   board_name: str | None = None) -> dict[str, Floats]:
    """How often every ranked submission has each place in resamples, [places], by the board's and its own name.

    They are those of one board, or of all (None).
    """
    found: dict[str, Floats] = {}
    for board, ranked in _ranked(connection, task_row, request, board_name):
        resampled = score_resamples(board.matrix.by_unit, request.settings)
        some = resampled if len(ranked) == len(board.members) else resampled[:, ranked]  # a copy is large
        shares = count_rank_shares(some, lower_is_better=board.matrix.lower_is_better)
        found |= {f"{board.key.name}: {board.members[n].name}": of for n, of in zip(ranked, shares, strict=True)}
    return found


def bound_all_ranks(connection: Connection, task_row: TaskRow,
                       request: Request) -> tuple[dict[str, Floats], dict[str, list[Message]]]:
    """The least and the last place that every ranked submission may have, [2], all at once, by both names.

    Beside them, by the board's name, what speaks against these ranks.
    """
    found: dict[str, Floats] = {}
    warnings: dict[str, list[Message]] = {}
    settings, alpha = replace(request.settings, resamples=RANK_DRAWS), request.significance.alpha
    for board, ranked in _ranked(connection, task_row, request):
        matrix = board.matrix.by_unit.of_systems(ranked)
        warnings[board.key.name] = rank_warnings(matrix, "bootstrap", alpha=alpha, resamples=RANK_DRAWS)
        sets = bound_ranks(matrix, settings, alpha=alpha)
        found |= {f"{board.key.name}: {board.members[n].name}": np.array([low, high], dtype=np.float64)
                  for n, low, high in zip(ranked, sets.low, sets.high, strict=True)}
    return found, warnings


def _ranked(connection: Connection, task_row: TaskRow, request: Request,
            name: str | None = None) -> Iterator[tuple[Board, list[int]]]:
    """The boards whose ranks are resampled, and which of their systems have one."""
    for board in _boards(connection, task_row, request, name):
        if len(board.members) < 2:
            continue
        if reason := explain_refusal(board):
            raise InputError(f"{board.key.name}: {reason}")
        yield board, [n for n, m in enumerate(board.members) if request.is_ranked(m.kind, late=m.late)]


def _boards(connection: Connection, task_row: TaskRow, request: Request, name: str | None) -> Iterator[Board]:
    for key in list(load_board_keys(connection, task_row, request)):
        if name in (None, key.name) and (board := load_board(connection, key, request)) is not None:
            yield board
