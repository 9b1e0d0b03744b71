"""Effect sizes of every pair, and confidence sets of ranks.

Effect sizes come with tests of equivalence, clustering and normality of every pair. The ranks of all systems hold
simultaneously at one confidence level, because they use joint resamples of all differences.
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
from registry.identity import replace_undefined
from registry.messages import NO_MESSAGES, Message, Messages, on_board
from registry.significance import Bootstrap, JointMatrix, PairMatrix, PairResult, Permutation
from registry.significance.base import Observed
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import find_skewed
from registry.significance.diagnostics.ranks import rank_warnings
from registry.significance.effects import (
    assess_equivalence,
    check_normality,
    measure_design_effect,
    measure_effects,
)
from registry.significance.matrix import Matrix
from registry.significance.rank_sets import RANK_DRAWS, compute_rank_sets, compute_rank_sets_by_tests
from registry.significance.resampling.scores import explain_run_refusal, resampling_refusal, share_resamples
from registry.significance.units import unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems, option


class _AllBoardsStudy(BoardStudy):
    """Base class of studies that include all leaderboards, also those of facets.

    The units are items or clusters, never single responses.
    """

    task: ClassVar = "all"
    choice: ClassVar = ("metric", "test_set")
    every_metric: ClassVar = True
    every_facet: ClassVar = True
    supports_responses: ClassVar = False


class Effects(_AllBoardsStudy):
    """Effect sizes of every pair with their intervals, and tests of equivalence.

    The table also has design effects of clusters, and tests of normality of the differences. The p-value of a
    difference comes from the declared test, as in `registry pairs`, and its interval from the bootstrap; a message
    names both.
    """

    name: ClassVar[str] = "effects"
    title: ClassVar[str] = "How large are differences?"
    citation: ClassVar[str] = "Cohen 1988; Clopper and Pearson 1934; Tango 1998; Grissom and Kim 2012"
    settings: ClassVar = ("margin", "confidence", "unit")
    figures: ClassVar = ("effects",)

    def run(self, case: Case) -> Finding:
        board = case.board
        if reason := explain_run_refusal(board.matrix):
            raise InputError(str(reason))
        matrix = share_resamples(board.matrix.by_unit, case.settings)
        pairs = list(combinations(range(len(board.members)), 2))
        intervals = Bootstrap().run(matrix, pairs, case.settings)
        tested = _test_pairs(case, matrix, np.array(pairs).reshape(-1, 2)) or intervals

        def compute_rows(system: int) -> list[Any]:
            """Return the table rows of all pairs of one system with a later system.

            JSON has no infinite numbers, so they are replaced, and returned in a second list.

            Returns:
                The rows; and the row, key and sign of each infinite number.
            """
            chosen = [n for n, pair in enumerate(pairs) if pair[0] == system]
            compared = Observed.compare(matrix, [pairs[n] for n in chosen])
            rows = [row for n, observed in zip(chosen, compared, strict=True)
                    for row in _make_rows(board, observed, (tested[n], intervals[n]), case)]
            cells = [[n, key, math.copysign(1, value)] for n, row in enumerate(rows) for key, value in row.items()
                     if isinstance(value, float) and math.isinf(value)]
            return [replace_undefined(rows), cells]

        effects: list[Row] = []
        infinite: list[Row] = []
        for rows, cells in case.parts.compute_all(range(len(board.members) - 1), compute_rows):
            infinite += [{"row": len(effects) + n, "key": key, "sign": sign} for n, key, sign in cells]
            effects += rows
        limit = f"P-values and intervals apply to single pairs; they are not corrected for {len(pairs):,} pairs."
        warnings = [*_warn(matrix, np.array(pairs), case.request)]
        narrow = Message("narrow-effect-interval")
        if n := sum(narrow.stored() in row["messages"] for row in effects):
            warnings.append(on_board(narrow, n, len(pairs)))
        return Finding({"effects": effects, "infinite": infinite}, [limit] if len(pairs) > 1 else [], warnings)


def _test_pairs(case: Case, matrix: Matrix, pairs: Ints) -> list[PairResult]:
    """Test pairs of systems with the declared test, one- or two-sided as declared.

    The result is empty if the test does not support the matrix.
    """
    if case.test.refusal(matrix):
        return []
    results: dict[int, PairResult] = {}
    sides = choose_sides(case.board.members, case.request.significance, *pairs.T)
    for alternative, side in SIDES.items():
        chosen = np.flatnonzero(sides == side).tolist()
        settings = replace(case.settings, alternative=alternative)
        results |= zip(chosen, case.test.run(matrix, [tuple(pairs[n].tolist()) for n in chosen], settings), strict=True)
    return [results[n] for n in range(len(pairs))]


def _warn(matrix: Matrix, pairs: Ints, request: Request) -> Iterator[Message]:
    yield from misuses(Bootstrap(), matrix)
    if matrix.runs is not None or isinstance(matrix, PairMatrix) or request.significance.margin is None:
        return
    warnings = find_skewed(SystemPairs(matrix, *pairs.T), one_sided=True)
    yield from board_warnings(warnings, matrix.statistics.shape[1], Message("skewed-equivalence"))


class Best(_AllBoardsStudy):
    """Confidence sets of ranks, the systems that may be the best, and their leads.

    A rank set is a range of ranks that contains a system's true rank with the given confidence. Rank sets hold for all
    systems simultaneously, ties included; marginal sets hold for each system separately. A system may be the best
    unless another one is significantly better. The systems that are marked as among the best TAU include all systems
    that truly belong to these. Standard errors are estimated in every resample. With less than 20 items, documents or
    other units, use --method holm.
    """

    name: ClassVar[str] = "best"
    title: ClassVar[str] = "Which systems may be the best, and which ranks can each system have?"
    citation: ClassVar[str] = "Mogstad, Romano, Shaikh and Wilhelm 2024; Hsu 1984"
    settings: ClassVar = ("alpha", "resamples", "unit")
    figures: ClassVar = ("best",)
    supports_judgments: ClassVar[bool] = True
    method: Literal["bootstrap", "flips", "holm"] = option(
        "bootstrap", "Bound ranks by resampling units, by flipping signs of unit differences, or by permutation tests "
        "with Holm's correction.")
    tau: int = option(1, "Number of best systems; marks the systems that may be among them.", minimum=1)

    @property
    def default_settings(self) -> Mapping[str, Any]:
        return {} if self.method == "holm" else {"resamples": RANK_DRAWS}

    def check_case(self, case: Case) -> list[Message]:
        """Warn if confidence sets of ranks are unreliable or too wide for these data.

        Raises:
            InputError: The selected method does not support the data.
        """
        if isinstance(matrix := self._check_board(case).matrix, JointMatrix):
            return list(matrix.warnings)
        return rank_warnings(matrix, self.method, alpha=case.request.significance.alpha,
                             resamples=case.settings.resamples)

    def run(self, case: Case) -> Finding:
        board = self._check_board(case)
        matrix, alpha = board.matrix.by_unit, case.request.significance.alpha
        if isinstance(matrix, JointMatrix):
            sets = matrix.compute_rank_sets(case.settings, alpha)
        elif self.method != "holm":
            sets = compute_rank_sets(matrix, case.settings, alpha=alpha, method=self.method)
        else:
            pairs = list(combinations(range(len(board.members)), 2))
            results = Permutation().run(matrix, pairs, case.settings)
            # With the same number of runs for all systems, the permutation distribution is symmetric.
            is_symmetric = len({runs.shape[1] for runs in matrix.runs or ()}) <= 1
            sets = compute_rank_sets_by_tests(results, len(board.members), alpha=alpha,
                                        one_sided=0.5 if is_symmetric else 1.0)
        rows = [_identify(board, **{"": n}) | {
            "score": float(board.scores[n]), "may_be_best": bool(sets.possible[n]),
            "among_best": bool(sets.low[n] <= self.tau), "low": float(sets.lead_low[n]),
            "high": float(sets.lead_high[n]), "rank_low": int(sets.low[n]), "rank_high": int(sets.high[n]),
            "marginal_low": int(sets.marginal_low[n]), "marginal_high": int(sets.marginal_high[n])}
            for n in range(len(board.members))]
        best = "the best" if self.tau == 1 else f"among the best {self.tau}"
        level = f"{100 * (1 - alpha):g} %"
        reading = (f"At {level}, the rank sets of all systems hold simultaneously; they include the ranks of ties. The "
                   f"column `among best` then marks all systems that are truly {best}, ties included. The column `may "
                   f"be best` is narrower: a single best system is marked in at least {level} of test sets, but of "
                   "several equally good best systems some can be missed. Marginal rank sets hold for each system "
                   "separately. The result of the leaderboard can name more systems that may be first: it "
                   "corrects p-values for all pairs of systems, and this mark only needs comparisons with the best.")
        return Finding({"systems": rows}, [reading], self.check_case(case))

    def _check_board(self, case: Case) -> Board:
        """Check that rank sets can be computed, and return the leaderboard.

        Raises:
            InputError: The selected method of rank sets does not support the data of the leaderboard.
        """
        board, matrix = case.board, case.board.matrix
        if isinstance(matrix, JointMatrix):
            return board
        if reason := explain_run_refusal(matrix):
            raise InputError(str(reason))
        refusal = Permutation().refusal(matrix.by_unit) if self.method == "holm" else resampling_refusal(matrix)
        if refusal:
            raise InputError(str(refusal))
        if self.method == "flips" and matrix.runs is not None:
            raise InputError('--method flips needs fixed runs; use --method bootstrap, or set runs = "fixed"')
        return board


def _make_rows(board: Board, observed: Observed, results: tuple[PairResult, PairResult], case: Case) -> Iterator[Row]:
    """Yield table rows with the difference and effect sizes of one pair of systems.

    Args:
        board: The leaderboard.
        observed: The two systems with their statistics.
        results: The result of the declared test, and the result of the bootstrap, which has the interval.
        case: The leaderboards and settings of the study.
    """
    request, settings, (a, b), (tested, interval) = case.request, case.settings, observed.pair, results
    test = "bootstrap" if tested is interval else repr(case.test)
    pair = _identify(board, _a=a, _b=b)

    def row(effect: str, value: float, low: float = math.nan, high: float = math.nan, p_value: float = math.nan,
            messages: Messages = NO_MESSAGES) -> Row:
        return pair | {"effect": effect, "value": value, "low": low, "high": high, "p_value": p_value,
                       "messages": [message.stored() for message in messages]}

    methods = Message("effect-methods", {"test": test, "method": tested.method, "interval_method": interval.method})
    messages = Messages(dict.fromkeys((methods, *tested.messages, *interval.messages)))
    yield row("difference", observed.difference, interval.ci_low, interval.ci_high, tested.p_value, messages)
    has_item_scores = not isinstance(board.matrix, PairMatrix)
    for effect in measure_effects(observed, settings.confidence) if has_item_scores else ():
        yield row(effect.name, effect.value, effect.low, effect.high, messages=effect.messages)
    if request.significance.margin is not None:
        settings = replace(settings, confidence=1 - request.significance.alpha)
        equivalence = assess_equivalence(observed, request.significance.margin, settings)
        percent = 100 * (2 * settings.confidence - 1)
        yield row("equivalence", equivalence.margin, equivalence.low, equivalence.high, equivalence.p_value,
                  equivalence.messages or Messages.make("equivalence-test", test=equivalence.test, percent=percent))
    if board.matrix.units is not None and has_item_scores:
        clustering = measure_design_effect(board.matrix, (a, b))
        for name in ("intra_cluster_correlation", "design_effect"):
            yield row(name, getattr(clustering, name), messages=clustering.messages)
    for check in check_normality(unit_differences(observed)[0]) if has_item_scores else ():
        yield row(check.name, check.statistic, p_value=check.p_value, messages=check.messages)


def _identify(board: Board, **systems: int) -> Row:
    """Return the columns that identify a table row: task, test set, metric, systems.

    Keyword arguments name the systems: `_a=0` adds the columns `system_a` and `submission_a` for the system with index
    0.
    """
    key = board.key
    row = {"task": key.task.slug, "test_set": key.test_set.name, "track": key.track, "facet": key.facet_name,
           "metric": key.metric.alias, "metric_name": key.metric.name}
    names = name_systems(board.members)
    for suffix, n in systems.items():
        row |= {f"system{suffix}": names[n], f"submission{suffix}": board.members[n].name}
    return row
