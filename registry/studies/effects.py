"""What stands beside the p-values of a board: effect sizes of every pair, and which systems may be the best.

Effect sizes come with equivalence within a declared margin, clustering and normality of every pair. Of the best systems
all statements hold together, at one level: they rest on the bootstrap's resamples of all systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, ClassVar

from registry.errors import InputError
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request
from registry.identity import plain_value
from registry.significance import Bootstrap, PairMatrix, PairResult
from registry.significance.base import Observed
from registry.significance.effects.design_effect import design_effect
from registry.significance.effects.effect_sizes import effects
from registry.significance.effects.equivalence import equivalence
from registry.significance.effects.normality import normality
from registry.significance.ranks.multiple_comparisons_with_the_best import compare_with_best, rank_intervals
from registry.significance.resampled_scores import resampled_scores, resampling_refusal, sharing_resamples
from registry.significance.resampling.random_runs import drawn_runs_refusal, runs_refusal
from registry.significance.units import unit_differences
from registry.studies.board_study import BoardStudy, Case
from registry.studies.study import Finding, Row


class _OfAllBoards(BoardStudy):
    """A study of every board, facets included, by items or clusters, with fixed runs."""

    task: ClassVar = "all"
    choice: ClassVar = ("metric",)
    every_metric: ClassVar = True
    every_facet: ClassVar = True
    by_response: ClassVar = False


class Effects(_OfAllBoards):
    """Effect sizes of every pair with their intervals, and whether the two systems are equivalent.

    Clustering and normality of its differences stand beside them.
    """

    name: ClassVar[str] = "effects"
    title: ClassVar[str] = "How large are differences?"
    citation: ClassVar[str] = "Cohen 1988; Clopper and Pearson 1934; Tango 1998; Grissom and Kim 2012"
    settings: ClassVar = ("margin", "confidence", "unit")
    figures: ClassVar = ("effects",)

    def run(self, case: Case) -> Finding:
        """Give `effect`, its value, interval and p-value for each pair, best first.

        Numbers that are infinite are in the table `infinite`, by row and key, as JSON has none.
        """
        board = _with_fixed_runs(case.board)
        matrix = sharing_resamples(board.matrix.by_unit, case.settings)
        pairs = list(combinations(range(len(board.members)), 2))
        tested = Bootstrap().run(matrix, pairs, case.settings)

        def of_first(system: int) -> list[Any]:
            """The rows of a system with those behind it, and which of their numbers are infinite."""
            some = [n for n, pair in enumerate(pairs) if pair[0] == system]
            rows = [row for n, observed in zip(some, Observed.of(matrix, [pairs[n] for n in some]), strict=True)
                    for row in _of_pair(board, observed, tested[n], case.request)]
            cells = [[n, key, math.copysign(1, value)] for n, row in enumerate(rows) for key, value in row.items()
                     if isinstance(value, float) and math.isinf(value)]
            return [plain_value(rows), cells]

        found: list[Row] = []
        infinite: list[Row] = []
        for rows, cells in case.parts.each(range(len(board.members) - 1), of_first):
            infinite += [{"row": len(found) + n, "key": key, "sign": sign} for n, key, sign in cells]
            found += rows
        return Finding({"effects": found, "infinite": infinite})


class Best(_OfAllBoards):
    """Each system compared with the best of the others, and the ranks that it may have.

    All statements hold together, at one level.
    """

    name: ClassVar[str] = "best"
    title: ClassVar[str] = "Which systems may be the best?"
    citation: ClassVar[str] = "Hsu 1984"
    settings: ClassVar = ("alpha", "resamples", "unit")
    figures: ClassVar = ("best",)

    def run(self, case: Case) -> Finding:
        """Compare all systems with the best of the others, in resamples of all of them.

        Raises:
            InputError: The board cannot be resampled.
        """
        board = _with_fixed_runs(case.board)
        if reason := resampling_refusal(board.matrix):
            raise InputError(reason)
        resampled = resampled_scores(board.matrix.by_unit, case.settings)
        alpha, lower = case.request.significance.alpha, board.matrix.lower_is_better
        best = compare_with_best(board.scores, resampled, alpha=alpha, lower_is_better=lower)
        ranks = rank_intervals(board.scores, resampled, alpha=alpha, lower_is_better=lower)
        return Finding({"systems": [_place(board) | _system(board, n) | {
            "score": float(board.scores[n]), "may_be_best": bool(best.possible[n]), "low": float(best.low[n]),
            "high": float(best.high[n]), "rank_low": int(ranks.low[n]), "rank_high": int(ranks.high[n])}
            for n in range(len(board.members))]})


def _with_fixed_runs(board: Board) -> Board:
    if reason := runs_refusal(board.matrix, studentized=False) or drawn_runs_refusal(board.matrix):
        raise InputError(reason)
    return board


def _of_pair(board: Board, observed: Observed, tested: PairResult, request: Request) -> Iterator[Row]:
    settings, (a, b) = request.settings, observed.pair
    pair = _place(board) | _system(board, a, "_a") | _system(board, b, "_b")

    def row(effect: str, value: float, low: float = math.nan, high: float = math.nan, p_value: float = math.nan,
            note: str = "") -> Row:
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


def _place(board: Board) -> Row:
    key = board.key
    return {"task": key.task.slug, "test_set": key.test_set.name, "track": key.track, "facet": key.facet_name,
            "metric": key.metric.alias, "metric_name": key.metric.name}


def _system(board: Board, n: int, side: str = "") -> Row:
    member = board.members[n]
    return {f"system{side}": member.system, f"submission{side}": member.name}
