"""Which ranks may systems have over several test sets, if items were others, and if test sets were?

Two conclusions that are easily taken for one another. About these test sets: their items are resampled, each set's
within the set, so sets are as they are. About other test sets of the kind: the differences on these are a sample of the
differences on those, however many items each has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.messages import Message
from registry.significance import MatchedT, PairMatrix, StatisticMatrix
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.exchangeability import even_units
from registry.significance.diagnostics.rare_outcomes import rare_classes
from registry.significance.matrix import Matrix
from registry.significance.rank_sets import LEAST_UNITS, RANK_DRAWS, RankSets, rank_sets, rank_sets_of_tests
from registry.significance.resampling.scores import resampling_refusal
from registry.studies.board_study import BoardStudy, Case
from registry.studies.study import Finding, Row, option
from registry.studies.suites.sets import doubts_of_sets, in_all, stacked


class Suite(BoardStudy):
    """Sets of ranks by the average over test sets, at one level for all systems: for other items, and for other sets.

    Items (or clusters) are resampled within each test set. Test sets are compared by t-tests over the sets, with Holm's
    correction, and count the same there: with --weight nothing is said of other sets. Systems take part that are on all
    test sets.
    """

    name: ClassVar[str] = "suite"
    title: ClassVar[str] = "Which ranks may systems have over several test sets?"
    citation: ClassVar[str] = "Mogstad, Romano, Shaikh and Wilhelm 2024; Dror et al. 2017"
    choice: ClassVar = ("metric",)
    settings: ClassVar = ("alpha", "resamples", "unit", "seed")
    fixed: ClassVar = {"runs": "fixed"}
    scope: ClassVar = "test sets"
    least: ClassVar = 1
    least_boards: ClassVar = 2
    every_metric: ClassVar = True
    by_response: ClassVar = False
    usual = MappingProxyType({"resamples": RANK_DRAWS})  # as many draws as `best` takes
    weight: tuple[str, ...] = option((), "What a test set counts in the average, such as test=2; others count 1.",
                                     metavar="SET=NUMBER")

    def run(self, case: Case) -> Finding:
        """Bound the ranks of the systems that are on all test sets.

        Raises:
            InputError: Fewer than two systems are, scores do not add up, or a test set cannot be resampled.
            UnknownNameError: There is no test set of a name that has a weight.
        """
        weights, alpha = self._weights(case.boards), case.request.significance.alpha
        places = in_all(case.boards)
        matrix = _matrix(case.boards, places, weights)
        of_items = rank_sets(matrix, case.settings, alpha=alpha)
        of_sets = None if weights else _of_sets(case, places, alpha)
        members = [case.boards[0].members[at] for at in places[0]]
        order = sorted(range(len(members)), key=lambda n: (np.isnan(matrix.observed[n]),
                                                           matrix.observed[n] * (1 if matrix.lower_is_better else -1)))
        rows = [{"system": f"{members[n].team}/{members[n].system}", "score": float(matrix.observed[n]),
                 **_ranks(of_items, n, "items"), **_ranks(of_sets, n, "sets")} for n in order]
        sets: list[Row] = [
            {"test_set": board.key.test_set.name, "weight": weight, "units": board.matrix.n_units}
            for board, weight in zip(case.boards, weights or (1.0,) * len(case.boards), strict=True)]
        return Finding({"systems": rows, "test_sets": sets}, self._reading(case, of_items, of_sets),
                       [*_doubts(case.boards)])

    def _weights(self, boards: Sequence[Board]) -> tuple[float, ...] | None:
        """The weight of every board; None where all are the same."""
        found = {board.key.test_set.name: 1.0 for board in boards}
        for given in self.weight:
            name, _, number = given.rpartition("=")
            if name not in found:
                raise UnknownNameError("test set", name, found)
            try:
                found[name] = float(number)
            except ValueError:
                found[name] = math.nan
            if not 0 < found[name] < math.inf:
                raise InputError(f"--weight {given}: expected SET=NUMBER, with a number above 0")
        return None if len(set(found.values())) == 1 else tuple(found.values())

    def _reading(self, case: Case, of_items: RankSets, of_sets: RankSets | None) -> list[str]:
        level, sets = f"{100 * (1 - case.request.significance.alpha):g} %", counted(len(case.boards), "test set")
        pairs = math.comb(len(of_items.low), 2)
        said = [f"On these {sets}, with other items, {int(of_items.wins.sum())} of "
                f"{counted(pairs, 'pair is', 'pairs are')} told apart; ranks of all systems hold at once, at {level}."]
        if of_sets is None:
            return [*said, "Of other test sets nothing is said, as these do not count the same."]
        return [*said, f"On other test sets, of which these are taken for a random sample, {int(of_sets.wins.sum())} "
                       f"of {pairs} are, with ranks at {level} too: t-tests with {len(case.boards) - 1} degrees of "
                       "freedom, which take what sets add for normal. Test sets that were taken because they were at "
                       "hand are no random sample."]


def _matrix(boards: Sequence[Board], places: list[list[int]], weights: tuple[float, ...] | None) -> StatisticMatrix:
    """The units of all test sets, each a stratum."""
    if len(places[0]) < 2:
        raise InputError("fewer than two systems took part in all test sets")
    if any(isinstance(board.matrix, PairMatrix) for board in boards):
        raise InputError("correlations do not add up; averages over test sets need scores that do")
    if any(board.matrix.strata is not None for board in boards):
        raise InputError("strata within test sets are not taken: each test set is a stratum")
    strata = np.repeat(np.arange(len(boards)), [board.matrix.n_units for board in boards])
    matrix = replace(stacked(boards, places, weights), strata=strata)
    if reason := resampling_refusal(matrix):
        raise InputError(str(reason))
    return matrix


def _of_sets(case: Case, places: list[list[int]], alpha: float) -> RankSets:
    """Bound ranks by t-tests over test sets, whose scores are taken for those of items."""
    scores = np.array([board.scores[of_board] for board, of_board in zip(case.boards, places, strict=True)])

    def mean(sums: Floats) -> Floats:
        averages: Floats = sums[..., 0] / sums[..., 1]
        return averages

    matrix = StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=2), mean,
                             lower_is_better=case.boards[0].matrix.lower_is_better)
    systems = scores.shape[1]
    results = MatchedT().run(matrix, list(combinations(range(systems), 2)), case.settings)
    return rank_sets_of_tests(results, systems, alpha=alpha)


def _ranks(sets: RankSets | None, n: int, of: str) -> Row:
    low, high, best = (None,) * 3 if sets is None else (int(sets.low[n]), int(sets.high[n]), bool(sets.possible[n]))
    return {f"{of}_low": low, f"{of}_high": high, f"{of}_may_be_best": best}


def _doubts(boards: Sequence[Board]) -> list[Message]:
    rare = doubts_of_sets(boards, [board.key.test_set.name for board in boards], _of_rare_classes)
    least = LEAST_UNITS["bootstrap"]
    few = [f"{board.key.test_set.name} ({board.matrix.n_units}"
           f"{'' if board.matrix.n_units < least else f', effective sample size {even:.1f}'})"
           for board in boards if (even := even_units(board.matrix)) < least]
    return [*([Message("few-units-in-sets", {"sets": ", ".join(few)})] if few else []), *rare]


def _of_rare_classes(matrix: Matrix) -> list[Message]:
    return [warning.message for warning in rare_classes(SystemPairs.every(matrix)) if warning.where.any()]
