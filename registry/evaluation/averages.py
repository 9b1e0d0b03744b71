"""Scores in resamples, whatever test the boards are compared by: their intervals, and their averages over boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from registry.evaluation.boards import Board, load, places
from registry.evaluation.requests import Request
from registry.identity import digest_json
from registry.significance.bootstrap import percentiles, resampled_scores, why_fixed
from registry.significance.matrix import Floats
from registry.significance.runs import unfit_runs
from registry.store.catalog import AnyRow

Ends = tuple[float, float]


def score_intervals(connection: Connection, task_row: AnyRow, request: Request) -> dict[str, dict[str, Ends]]:
    """Percentile intervals of all scores, by the board's and each submission's name.

    An end is nan where resamples are undefined; boards that cannot be resampled are left out.
    """
    found = {}
    for place in list(places(connection, task_row, request)):
        board = load(connection, place, request.significance)
        if board is not None and not _why_not(board):
            scores = resampled_scores(board.matrix.by_unit, request.settings)
            ends = percentiles(scores, request.significance.confidence).tolist()
            found[place.name] = {member.name: (low, high)
                                 for member, (low, high) in zip(board.members, ends, strict=True)}
    return found


def averaged_scores(boards: Sequence[Board], chosen: Sequence[Sequence[int]], request: Request) -> Floats | None:
    """The mean over boards of their systems' scores in resamples, [resamples, systems].

    Units are resampled within each board, independently of the other ones. None where one cannot be resampled.

    Args:
        boards: Of several test sets.
        chosen: Which systems of each board, in the same order in all of them.
        request: What is asked for.
    """
    if any(map(_why_not, boards)):
        return None
    total: Floats = np.zeros((request.settings.resamples, len(chosen[0])))
    for board, of_board in zip(boards, chosen, strict=True):
        of_set = digest_json([request.seed, board.place.test_set.name])  # lest two test sets share their draws
        drawn = resampled_scores(board.matrix.by_unit, replace(
            request.settings, seed=int(of_set.rpartition(":")[2][:15], 16)))
        total += drawn[:, list(of_board)]
    return total / len(boards)


def _why_not(board: Board) -> str | None:
    """Say why a board cannot be resampled."""
    if board.matrix.unequal:
        return "systems are scored on items of their own"
    return unfit_runs(board.matrix, studentized=False) or why_fixed(board.matrix.by_unit)
