"""What stands beside the p-values of a board: effect sizes of every pair, and which systems may be the best.

Effect sizes come with equivalence within a declared margin, clustering and normality of every pair. The ranks of all
systems hold together, at one level: they rest on joint draws of all differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from registry.arrays import Ints
from registry.errors import InputError
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.directions import SIDES, choose_sides
from registry.evaluation.comparing.settings import Request
from registry.identity import plain_value
from registry.messages import NO_MESSAGES, Message, Messages, on_board
from registry.significance import Bootstrap, PairMatrix, PairResult, Permutation
from registry.significance.base import Observed
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import skewed
from registry.significance.diagnostics.ranks import rank_warnings
from registry.significance.effects import (
    assess_equivalence,
    check_normality,
    measure_design_effect,
    measure_effects,
)
from registry.significance.matrix import Matrix
from registry.significance.rank_sets import RANK_DRAWS, bound_ranks, bound_ranks_by_tests
from registry.significance.resampling.scores import drawn_runs_refusal, resampling_refusal, share_resamples
from registry.significance.units import unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, option


class _OfAllBoards(BoardStudy):
    """A study of every board, facets included, by items or clusters, with fixed runs."""

    task: ClassVar = "all"
    choice: ClassVar = ("metric",)
    every_metric: ClassVar = True
    every_facet: ClassVar = True
    supports_responses: ClassVar = False


class Effects(_OfAllBoards):
    """Effect sizes of every pair with their intervals, and whether the two systems are equivalent.

    Clustering and normality of its differences stand beside them. The p-value of a difference is that of the test that
    the task declares, as in `registry pairs`; its interval is the bootstrap's, and a message names both.
    """

    name: ClassVar[str] = "effects"
    title: ClassVar[str] = "How large are differences?"
    citation: ClassVar[str] = "Cohen 1988; Clopper and Pearson 1934; Tango 1998; Grissom and Kim 2012"
    settings: ClassVar = ("margin", "confidence", "unit")
    figures: ClassVar = ("effects",)

    def run(self, case: Case) -> Finding:
        board = case.board
        if reason := drawn_runs_refusal(board.matrix):
            raise InputError(str(reason))
        matrix = share_resamples(board.matrix.by_unit, case.settings)
        pairs = list(combinations(range(len(board.members)), 2))
        intervals = Bootstrap().run(matrix, pairs, case.settings)
        tested = _test_pairs(case, matrix, np.array(pairs).reshape(-1, 2)) or intervals

        def of_first(system: int) -> list[Any]:
            """The rows of a system with those behind it, and which of their numbers are infinite."""
            some = [n for n, pair in enumerate(pairs) if pair[0] == system]
            rows = [row for n, observed in zip(some, Observed.of(matrix, [pairs[n] for n in some]), strict=True)
                    for row in _of_pair(board, observed, (tested[n], intervals[n]), case)]
            cells = [[n, key, math.copysign(1, value)] for n, row in enumerate(rows) for key, value in row.items()
                     if isinstance(value, float) and math.isinf(value)]
            return [plain_value(rows), cells]

        found: list[Row] = []
        infinite: list[Row] = []
        for rows, cells in case.parts.compute_all(range(len(board.members) - 1), of_first):
            infinite += [{"row": len(found) + n, "key": key, "sign": sign} for n, key, sign in cells]
            found += rows
        single = f"P-values and intervals are those of one pair each, not corrected for {len(pairs):,} pairs."
        warnings = [*_doubts(matrix, np.array(pairs), case.request)]
        narrow = Message("narrow-effect-interval")
        if n := sum(narrow.stored() in row["messages"] for row in found):
            warnings.append(on_board(narrow, n, len(pairs)))
        return Finding({"effects": found, "infinite": infinite}, [single] if len(pairs) > 1 else [], warnings)


def _test_pairs(case: Case, matrix: Matrix, pairs: Ints) -> list[PairResult]:
    """Test pairs as the board does, each on the side that is declared; empty if the test does not take the matrix."""
    if case.test.refusal(matrix):
        return []
    results: dict[int, PairResult] = {}
    sides = choose_sides(case.board.members, case.request.significance, *pairs.T)
    for alternative, side in SIDES.items():
        chosen = np.flatnonzero(sides == side).tolist()
        asked = replace(case.settings, alternative=alternative)
        results |= zip(chosen, case.test.run(matrix, [tuple(pairs[n].tolist()) for n in chosen], asked), strict=True)
    return [results[n] for n in range(len(pairs))]


def _doubts(matrix: Matrix, pairs: Ints, request: Request) -> Iterator[Message]:
    """Where bootstrap intervals and tests of equivalence were not seen to hold."""
    yield from misuses(Bootstrap(), matrix)
    if matrix.runs is not None or isinstance(matrix, PairMatrix) or request.significance.margin is None:
        return
    warnings = skewed(SystemPairs(matrix, *pairs.T), one_sided=True)
    yield from board_warnings(warnings, matrix.statistics.shape[1], Message("skewed-equivalence"))


class Best(_OfAllBoards):
    """The ranks that every system may have, which may be the best, and by how much it leads or lacks.

    Ranks hold for all systems at once, ties included, and beside that for each system by itself (marginal). A system
    may be the best unless others are better; among the best TAU are all that truly are, at once. Errors are estimated
    again in every resample. Where there are less than 20 items, documents or other units, take --method holm.
    """

    name: ClassVar[str] = "best"
    title: ClassVar[str] = "Which systems may be the best, and which ranks may each have?"
    citation: ClassVar[str] = "Mogstad, Romano, Shaikh and Wilhelm 2024; Hsu 1984"
    settings: ClassVar = ("alpha", "resamples", "unit")
    figures: ClassVar = ("best",)
    method: Literal["bootstrap", "flips", "holm"] = option(
        "bootstrap", "Bound ranks by resamples of the units, by flips of their differences' signs, or by Holm's "
        "correction of permutation tests.")
    tau: int = option(1, "How many are the best: those that may be among them are marked.", minimum=1)

    @property
    def default_settings(self) -> Mapping[str, Any]:
        return {} if self.method == "holm" else {"resamples": RANK_DRAWS}

    def check_case(self, case: Case) -> list[Message]:
        """Where ranks by this method were not seen to hold, or cannot tell anything apart."""
        return rank_warnings(self._board(case).matrix, self.method, alpha=case.request.significance.alpha,
                             resamples=case.settings.resamples)

    def run(self, case: Case) -> Finding:
        board = self._board(case)
        matrix, alpha = board.matrix.by_unit, case.request.significance.alpha
        if self.method != "holm":
            found = bound_ranks(matrix, case.settings, alpha=alpha, method=self.method)
        else:
            pairs = list(combinations(range(len(board.members)), 2))
            results = Permutation().run(matrix, pairs, case.settings)
            is_symmetric = len({runs.shape[1] for runs in matrix.runs or ()}) <= 1  # the distribution of labellings
            found = bound_ranks_by_tests(results, len(board.members), alpha=alpha,
                                         one_sided=0.5 if is_symmetric else 1.0)
        rows = [_identify(board, **{"": n}) | {
            "score": float(board.scores[n]), "may_be_best": bool(found.possible[n]),
            "among_best": bool(found.low[n] <= self.tau), "low": float(found.lead_low[n]),
            "high": float(found.lead_high[n]), "rank_low": int(found.low[n]), "rank_high": int(found.high[n]),
            "marginal_low": int(found.marginal_low[n]), "marginal_high": int(found.marginal_high[n])}
            for n in range(len(board.members))]
        best = "the best" if self.tau == 1 else f"among the best {self.tau}"
        reading = (f"At {100 * (1 - alpha):g} %, all ranks hold at once: those of a system include every rank that it "
                   "shares with systems that are truly equal. All systems that are truly "
                   f"{best}, ties included, are among the best here. A given system that is truly the best is among "
                   "those that may be best, but of several that are, one or another may be missing there. Marginal "
                   "ranks hold for each system by itself.")
        return Finding({"systems": rows}, [reading], self.check_case(case))

    def _board(self, case: Case) -> Board:
        """The board, where this method takes it."""
        board, matrix = case.board, case.board.matrix
        if reason := drawn_runs_refusal(matrix):
            raise InputError(str(reason))
        refusal = Permutation().refusal(matrix.by_unit) if self.method == "holm" else resampling_refusal(matrix)
        if refusal:
            raise InputError(str(refusal))
        if self.method == "flips" and matrix.runs is not None:
            raise InputError('flips do not take random runs: take --method bootstrap, or set runs = "fixed"')
        return board


def _of_pair(board: Board, observed: Observed, results: tuple[PairResult, PairResult], case: Case) -> Iterator[Row]:
    """Give the rows of a pair; `results` are that of the declared test, and that with the interval."""
    request, settings, (a, b), (tested, interval) = case.request, case.settings, observed.pair, results
    test = "bootstrap" if tested is interval else repr(case.test)
    pair = _identify(board, _a=a, _b=b)

    def row(effect: str, value: float, low: float = math.nan, high: float = math.nan, p_value: float = math.nan,
            messages: Messages = NO_MESSAGES) -> Row:
        return pair | {"effect": effect, "value": value, "low": low, "high": high, "p_value": p_value,
                       "messages": [one.stored() for one in messages]}

    methods = Message("effect-methods", {"test": test, "method": tested.method, "interval_method": interval.method})
    messages = Messages(dict.fromkeys((methods, *tested.messages, *interval.messages)))
    yield row("difference", observed.difference, interval.ci_low, interval.ci_high, tested.p_value, messages)
    of_items = not isinstance(board.matrix, PairMatrix)  # with scores of their own
    for effect in measure_effects(observed, settings.confidence) if of_items else ():
        yield row(effect.name, effect.value, effect.low, effect.high, messages=effect.messages)
    if request.significance.margin is not None:
        asked = replace(settings, confidence=1 - request.significance.alpha)
        found = assess_equivalence(observed, request.significance.margin, asked)
        percent = 100 * (2 * asked.confidence - 1)
        yield row("equivalence", found.margin, found.low, found.high, found.p_value,
                  found.messages or Messages.of("equivalence-test", test=found.test, percent=percent))
    if board.matrix.units is not None and of_items:
        clustering = measure_design_effect(board.matrix, (a, b))
        for name in ("intra_cluster_correlation", "design_effect"):
            yield row(name, getattr(clustering, name), messages=clustering.messages)
    for check in check_normality(unit_differences(observed)[0]) if of_items else ():
        yield row(check.name, check.statistic, p_value=check.p_value, messages=check.messages)


def _identify(board: Board, **systems: int) -> Row:
    """Return the keys of a row: the board, and systems by the suffix of their keys."""
    key = board.key
    row = {"task": key.task.slug, "test_set": key.test_set.name, "track": key.track, "facet": key.facet_name,
           "metric": key.metric.alias, "metric_name": key.metric.name}
    for suffix, n in systems.items():
        row |= {f"system{suffix}": board.members[n].system, f"submission{suffix}": board.members[n].name}
    return row
