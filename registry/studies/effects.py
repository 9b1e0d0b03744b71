"""What stands beside the p-values of a board, computed from its statistics when somebody asks.

Effect sizes, equivalence within a declared margin, clustering and normality of every pair; and for every system whether
it may be the best one, and which ranks it may have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.comparing.board_keys import board_keys
from registry.evaluation.comparing.board_statistics import Board, load
from registry.evaluation.comparing.settings import Request
from registry.significance import Bootstrap, PairMatrix, PairResult
from registry.significance.base import Observed
from registry.significance.effects.design_effect import design_effect
from registry.significance.effects.effect_sizes import effects
from registry.significance.effects.equivalence import equivalence
from registry.significance.effects.normality import normality
from registry.significance.ranks.multiple_comparisons_with_the_best import compare_with_best, rank_intervals
from registry.significance.ranks.ranks import rank_frequencies
from registry.significance.resampled_scores import resampled_scores, resampling_refusal, sharing_resamples
from registry.significance.resampling.random_runs import runs_refusal
from registry.significance.units import unit_differences
from registry.store.row_types import TaskRow


def pair_effects(connection: Connection, task_row: TaskRow, request: Request) -> Iterator[list[dict[str, Any]]]:
    """Give a list of rows for every board: `effect`, its value, interval and p-value, for each pair, best first."""
    for board in _boards(connection, task_row, request):
        matrix = sharing_resamples(board.matrix.by_unit, request.settings)
        pairs = list(combinations(range(len(board.members)), 2))
        tested = Bootstrap().run(matrix, pairs, request.settings)
        yield [row for observed, result in zip(Observed.of(matrix, pairs), tested, strict=True)
               for row in _of_pair(board, observed, result, request)]


def best_systems(connection: Connection, task_row: TaskRow, request: Request) -> Iterator[list[dict[str, Any]]]:
    """Give a list of rows for every board: each system compared with the best of the others, and its possible ranks.

    Both are simultaneous at 1 - alpha, from the bootstrap's resamples of all systems.
    """
    for board in _boards(connection, task_row, request):
        if reason := resampling_refusal(board.matrix):
            raise InputError(f"{board.key.name}: {reason}")
        resampled = resampled_scores(board.matrix.by_unit, request.settings)
        alpha, lower = request.significance.alpha, board.matrix.lower_is_better
        best = compare_with_best(board.scores, resampled, alpha=alpha, lower_is_better=lower)
        ranks = rank_intervals(board.scores, resampled, alpha=alpha, lower_is_better=lower)
        yield [_place(board) | _system(board, n) | {
            "score": float(board.scores[n]), "may_be_best": bool(best.possible[n]), "low": float(best.low[n]),
            "high": float(best.high[n]), "rank_low": int(ranks.low[n]), "rank_high": int(ranks.high[n])}
            for n in range(len(board.members))]


def rank_distributions(connection: Connection, task_row: TaskRow, request: Request) -> dict[str, NDArray[np.float64]]:
    """How often every ranked submission has each key in resamples, [board_keys], by the board's and its own name."""
    found: dict[str, NDArray[np.float64]] = {}
    for board in _boards(connection, task_row, request):
        if reason := resampling_refusal(board.matrix):
            raise InputError(f"{board.key.name}: {reason}")
        ranked = [n for n, m in enumerate(board.members) if request.rank_baselines or m.kind != "baseline"]
        resampled = resampled_scores(board.matrix.by_unit, request.settings)
        some = resampled if len(ranked) == len(board.members) else resampled[:, ranked]  # a copy is large
        shares = rank_frequencies(some, lower_is_better=board.matrix.lower_is_better)
        found |= {f"{board.key.name}: {board.members[n].name}": of for n, of in zip(ranked, shares, strict=True)}
    return found


def _boards(connection: Connection, task_row: TaskRow, request: Request) -> Iterator[Board]:
    for key in list(board_keys(connection, task_row, request)):
        board = load(connection, key, request.significance)
        if board is not None and len(board.members) > 1:
            if board.matrix.unequal:
                raise InputError(f"{key.name}: systems are scored on items of their own (missing = \"own\"), which "
                                 "only `registry compare` with rank-sum or two-sample-t compares")
            if reason := runs_refusal(board.matrix, studentized=False):
                raise InputError(f"{key.name}: {reason}")
            yield board


def _of_pair(board: Board, observed: Observed, tested: PairResult, request: Request) -> Iterator[dict[str, Any]]:
    settings, (a, b) = request.settings, observed.pair
    pair = _place(board) | _system(board, a, "_a") | _system(board, b, "_b")

    def row(effect: str, value: float, low: float = math.nan, high: float = math.nan, p_value: float = math.nan,
            note: str = "") -> dict[str, Any]:
        return pair | {"effect": effect, "value": value, "low": low, "high": high, "p_value": p_value, "note": note}

    yield row("difference", observed.difference, tested.ci_low, tested.ci_high, tested.p_value,
              tested.note or f"bootstrap, {tested.method}")
    of_items = not isinstance(board.matrix, PairMatrix)  # with scores of their own
    for effect in effects(observed, settings.confidence) if of_items else ():
        yield row(effect.name, effect.value, effect.low, effect.high, note=effect.note)
    if request.significance.margin is not None:
        asked = replace(settings, confidence=1 - request.significance.alpha)
        found = equivalence(observed, request.significance.margin, asked)
        yield row("equivalence", found.margin, found.low, found.high, found.p_value,
                  found.note or f"test: {found.test}")
    if board.matrix.units is not None and of_items:
        clustering = asdict(design_effect(board.matrix, (a, b)))
        for name in ("intra_cluster_correlation", "design_effect"):
            yield row(name, clustering[name], note=clustering["note"])
    for check in normality(unit_differences(observed)[0]) if of_items else ():
        yield row(check.name, check.statistic, p_value=check.p_value, note=check.note)


def _place(board: Board) -> dict[str, Any]:
    key = board.key
    return {"task": key.task.slug, "test_set": key.test_set.name, "track": key.track, "facet": key.facet_name,
            "metric": key.metric.alias, "metric_name": key.metric.name}


def _system(board: Board, n: int, side: str = "") -> dict[str, Any]:
    member = board.members[n]
    return {f"system{side}": member.system, f"submission{side}": member.name}
