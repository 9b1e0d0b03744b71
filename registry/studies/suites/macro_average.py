"""Macro-averages of scores over test sets: their intervals, and which of them differ significantly.

An average over test sets is a score like any other one: a function of sums, where each test set has columns of its own.
So the permutation test swaps the outputs of two systems in units of all sets, and the bootstrap resamples the units of
each set. Conclusions are about these test sets, not about others that there might be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import counted
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.directions import OBSERVED, SIDES, choose_sides, explain_refusal
from registry.evaluation.comparing.settings import Request
from registry.messages import Message
from registry.significance import CORRECTIONS, PairTest, StatisticMatrix, rank
from registry.significance.base import PairResult
from registry.significance.correlations import PairMatrix
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.matrix import Resampled
from registry.significance.multiple import STEP_DOWN, adjust
from registry.significance.resampling.scores import drawn_runs_refusal, percentiles
from registry.store.catalog import Member
from registry.studies.board_study import BoardStudy, Case
from registry.studies.run import Archive, Question
from registry.studies.score_distributions import averaged_scores
from registry.studies.study import Finding, Row
from registry.studies.suites.sets import doubts_of_sets, in_all, stacked

_OF_RESULT = ("difference", "ci_low", "ci_high", "p_value", "method", "n_units", "n_discordant", "resamples", "log10_p",
              "p_low", "p_high", "messages")

_ALTERNATIVES = {side: alternative for alternative, side in SIDES.items()}


@dataclass(frozen=True)
class MacroAverage:
    """The mean of one system's scores on several test sets, each counting the same.

    `system` is `team/system`: versions may differ between test sets. What is undefined is None; so are ranks where
    pairs are not tested, and of baselines that are not ranked.
    """

    system: str
    team: str
    score: float | None
    ci_low: float | None
    ci_high: float | None
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    cluster: int | None = None


@dataclass(frozen=True)
class MacroBoard:
    """The macro-averages of a metric on one track, best first, for the systems that took part in all test sets.

    Attributes:
        task, track: Where it is.
        metric: The metric's alias; `metric_name`: with its options; `better`: the direction of its scores.
        test_sets: Over which it averages.
        test, correction, alpha: How pairs are tested and decided.
        untested: Why they are not; empty where they are.
        averages: One for each system.
        pairs: A row for each two of them, the better system first; none where they are not tested.
    """

    task: str
    track: str | None
    metric: str
    metric_name: str
    better: str
    test_sets: tuple[str, ...]
    test: str
    correction: str
    alpha: float
    untested: str
    averages: tuple[MacroAverage, ...]
    pairs: tuple[Row, ...]

    @classmethod
    def of(cls, finding: Finding) -> MacroBoard:
        """The board that a study has found."""
        (board,) = finding.tables["board"]
        return cls(**board | {
            "test_sets": tuple(board["test_sets"]), "pairs": tuple(finding.tables["pairs"]),
            "averages": tuple(MacroAverage(**row) for row in finding.tables["averages"])})


class Macro(BoardStudy):
    """The averages of every metric over test sets, and which of them differ significantly.

    The permutation test swaps the outputs of two systems in units of all test sets, and the bootstrap resamples the
    units of each; all pairs of one metric's averages are a family.
    """

    name: ClassVar[str] = "macro-average"
    title: ClassVar[str] = "Which averages over test sets differ?"
    citation: ClassVar[str] = "Yeh 2000, section 4"
    choice: ClassVar = ("metric",)
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    scope: ClassVar = "test sets"
    least: ClassVar = 1
    least_boards: ClassVar = 2
    every_metric: ClassVar = True
    unequal: ClassVar = True
    by_response: ClassVar = False

    def run(self, case: Case) -> Finding:
        """Average the scores of the systems that took part in all test sets, and test all pairs as one family."""
        places = np.array(in_all(case.boards), dtype=np.int64)
        scores = np.mean([board.scores[at] for board, at in zip(case.boards, places, strict=True)], axis=0)
        best_first = np.argsort(scores if case.boards[0].matrix.lower_is_better else -scores, kind="stable")
        return _Averaging(case.boards, places[:, best_first].tolist(), scores[best_first],
                          case.request.of_family(len(scores)), case.test).found()


def macro_boards(asked: Sequence[Question], archive: Archive) -> list[MacroBoard]:
    """The macro-averages that were looked up; what was not there is made and kept."""
    return [MacroBoard.of(answer.finding) for question in asked if (answer := question.answer(archive)) is not None]


@dataclass(frozen=True, eq=False)
class _Averaging:
    """Boards of several test sets, and the places on each of those systems that are on all, best first."""

    boards: Sequence[Board]
    chosen: list[list[int]]
    scores: Floats
    request: Request
    test: PairTest

    def found(self) -> Finding:
        first, settings, n = self.boards[0], self.request.significance, len(self.scores)
        drawn = averaged_scores(self.boards, self.chosen, self.request) if n else None
        ends = np.full((n, 2), np.nan) if drawn is None else percentiles(drawn, settings.confidence)
        ends[np.isnan(self.scores)] = np.nan
        untested = self._untested(drawn)
        members = [first.members[at] for at in self.chosen[0]]
        pairs = [] if untested else self._pairs(drawn, members)
        ranks = [(None,) * 4] * n if untested else self._ranks(pairs, members)
        averages = [
            MacroAverage(f"{member.team}/{member.system}", member.team, float(score), float(low), float(high), *of)
            for member, score, (low, high), of in zip(members, self.scores, ends, ranks, strict=True)]
        key = first.key
        board = {
            "task": key.task.slug, "track": key.track, "metric": key.metric.alias, "metric_name": key.metric.name,
            "better": "lower" if first.matrix.lower_is_better else "higher",
            "test_sets": self._test_sets, "test": settings.test,
            "correction": settings.correction, "alpha": settings.alpha, "untested": untested}
        return Finding({"averages": [asdict(of) for of in averages], "pairs": pairs, "board": [board]},
                       self._reading(pairs, untested), [] if untested else self._doubts())

    def _reading(self, pairs: Sequence[Row], untested: str) -> list[str]:
        """Say whether a system is better than another on the average, and what that is about."""
        settings, sets = self.request.significance, counted(len(self.boards), "test set")
        if not pairs:
            return [f"Averages over {sets} are not tested: {untested or 'none is defined'}."]
        of_best = [row for row in pairs if row["system_a"] == pairs[0]["system_a"]]
        better, apart = (sum(row["significant"] for row in rows) for rows in (of_best, pairs))
        return [f"On the average of these {sets}, to which each adds the same, the best system is better than "
                f"{better} of {counted(len(of_best), 'other')}, and {apart} of "
                f"{counted(len(pairs), 'pair is', 'pairs are')} told apart ({settings.test}, {settings.correction}, at "
                f"{100 * settings.alpha:g} %): with other items of these test sets. Of other test sets nothing is "
                "said; `registry study suite` does."]

    def _doubts(self) -> list[Message]:
        """What speaks against the test on any of the test sets, as it does against that of their average."""
        return doubts_of_sets(self.boards, self._test_sets, lambda matrix: misuses(self.test, matrix))

    @property
    def _test_sets(self) -> list[str]:
        return [board.key.test_set.name for board in self.boards]

    def _untested(self, drawn: Floats | None) -> str:
        """Say why the averages are not tested."""
        settings, test = self.request.significance, self.test
        if len(self.scores) < 2:
            return "fewer than two systems took part in all test sets"
        if test.name not in STEP_DOWN or settings.unit == "response":
            return (f"{test!r} over {settings.unit}s knows no averages; permutation and bootstrap over items or "
                    "clusters do")
        if CORRECTIONS[settings.correction].function is None:
            return f"{settings.correction} is not made for averages"
        if any(isinstance(board.matrix, PairMatrix) or board.matrix.unequal for board in self.boards):
            return "correlations, and scores on items of a system's own, do not add up"
        if test.name == "bootstrap" and drawn is None:
            return "a test set cannot be resampled"
        if test.name == "permutation" and settings.runs == "random":
            return "whole runs are not swapped across test sets"
        if reason := explain_refusal([self.boards[0].members[n] for n in self.chosen[0]], settings):
            return reason
        if few := next(filter(None, (drawn_runs_refusal(board.matrix) for board in self.boards)), None):
            return str(few)
        return test.refusal(self._matrix(list(range(len(self.scores))))) or ""

    def _matrix(self, systems: Sequence[int]) -> StatisticMatrix:
        """The units of all test sets as one matrix, of some of these systems."""
        return stacked(self.boards, [[of_board[n] for n in systems] for of_board in self.chosen])

    def _pairs(self, drawn: Floats | None, members: Sequence[Member]) -> list[Row]:
        """A row for every two systems whose averages are defined: these come first."""
        key, asked = self.boards[0].key, self.request.significance
        defined = np.flatnonzero(~np.isnan(self.scores)).tolist()
        matrix = self._matrix(defined)
        if drawn is not None:
            given = Resampled(asked.draws, self.request.seed, lambda: drawn[:, defined])
            matrix = replace(matrix, resampled=given)
        pairs = list(combinations(range(len(defined)), 2))
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        sides = choose_sides([members[n] for n in defined], asked, a, b)
        results: list[PairResult] = [None] * len(pairs)  # type: ignore[list-item]
        for alternative, side in SIDES.items():
            chosen = np.flatnonzero(sides == side).tolist()
            tested = self.test.run(matrix, [pairs[n] for n in chosen], replace(
                self.request.of_pairs, alternative=alternative)) if chosen else ()
            for n, result in zip(chosen, tested, strict=True):
                results[n] = result
        adjusted = adjust(np.array([of.p_value for of in results]), asked.correction).tolist() if pairs else []
        names = [f"{member.team}/{member.system}" for member in members]
        units = " and ".join(dict.fromkeys("item" if of.matrix.units is None else "cluster" for of in self.boards))
        return [{
            "task": key.task.slug, "track": key.track, "metric": key.metric.alias, "metric_name": key.metric.name,
            "test_sets": " ".join(self._test_sets), "system_a": names[a], "system_b": names[b],
            "score_a": float(self.scores[a]), "score_b": float(self.scores[b]),
            **{key: getattr(result, key) for key in _OF_RESULT}, "p_adjusted": p,
            "significant": (p <= asked.alpha and bool(result.favours * result.difference > 0)
                            and side * result.difference >= 0),
            "test": asked.test, "correction": asked.correction,
            "alternative": OBSERVED if self.test.is_one_sided else _ALTERNATIVES[side],
            "family_size": len(pairs), "unit": units, "seed": None if result.resamples is None else asked.seed,
            "same_team": members[a].team == members[b].team,
        } for (a, b), result, p, side in zip(pairs, results, adjusted, sides.tolist(), strict=True)]

    def _ranks(self, rows: Sequence[Row], members: Sequence[Member]) -> list[tuple[int | None, ...]]:
        """The rank, its range and the cluster of every system; None of baselines that are not ranked."""
        n, defined = len(members), int((~np.isnan(self.scores)).sum())
        wins = np.zeros((n, n), dtype=bool)
        wins[np.triu_indices(defined, 1)] = [row["significant"] for row in rows]
        ranked = [m for m, member in enumerate(members) if self.request.ranks(member.kind, late=member.late)]
        ranking = rank(self.scores[ranked], wins[np.ix_(ranked, ranked)],
                       lower_is_better=self.boards[0].matrix.lower_is_better)
        places = np.stack([ranking.rank, ranking.low, ranking.high, ranking.cluster], axis=1).tolist()
        found = dict(zip(ranked, places, strict=True))
        return [tuple(found.get(m, (None,) * 4)) for m in range(n)]
