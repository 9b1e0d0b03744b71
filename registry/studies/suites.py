"""Studies of several test sets: ranks and averages over them, and on how many a system is better.

The units of all test sets are one matrix, in which each set has its own columns. So an average of scores is a score
like others: a function of sums. Items are resampled, or swapped, within each set; such conclusions are about these test
sets. `Suite` also bounds ranks on other test sets, of which these are a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError, UnknownNameError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.directions import OBSERVED, SIDES, choose_sides, explain_missing_direction
from registry.evaluation.comparing.settings import Request
from registry.identity import plain_value
from registry.messages import Message
from registry.significance import CORRECTIONS, MatchedT, PairMatrix, PairTest, StatisticMatrix, rank
from registry.significance.base import PairResult
from registry.significance.diagnostics.assumptions import misuses, one_sided_misuses
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.exchangeability import even_units
from registry.significance.diagnostics.rare_outcomes import rare_classes
from registry.significance.matrix import Matrix, Resampled, Score, additive
from registry.significance.multiple import STEP_DOWN, adjust, combine_p_values, estimate_k, list_test_sets
from registry.significance.rank_sets import LEAST_UNITS, RANK_DRAWS, RankSets, bound_ranks, bound_ranks_by_tests
from registry.significance.resampling.scores import drawn_runs_refusal, percentiles, resampling_refusal
from registry.store.catalog import Member
from registry.studies.run import Archive, PlannedStudy
from registry.studies.score_distributions import resample_averages
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems, option


@dataclass(frozen=True)
class AveragedScore:
    """Scores from sums [..., columns of all test sets], whose own columns end at `ends`; no weights are equal ones."""

    scores: tuple[Score, ...]
    ends: tuple[int, ...]
    weights: tuple[float, ...] | None = None

    def __call__(self, sums: Floats) -> Floats:
        """Average the scores of the sets."""
        parts = np.split(sums, self.ends[:-1], axis=-1)
        scores = [score(part) for score, part in zip(self.scores, parts, strict=True)]
        averages: Floats = (np.mean(scores, axis=0) if self.weights is None else
                            np.average(scores, axis=0, weights=self.weights))
        return averages


def find_common_systems(boards: Sequence[Board]) -> list[list[int]]:
    """The places on every board of the systems that are on all, in the order of `team/system`: versions may differ."""
    at = [{f"{member.team}/{member.system}": n for n, member in enumerate(board.members)} for board in boards]
    names = sorted(name for name in at[0] if all(name in others for others in at))
    return [[of_board[name] for name in names] for of_board in at]


def stack_sets(boards: Sequence[Board], places: Sequence[Sequence[int]],
               weights: tuple[float, ...] | None = None) -> StatisticMatrix:
    """The units of all test sets as one matrix, of the systems at these places of every board."""
    matrices = [board.matrix.by_unit.of_systems(of_board) for board, of_board in zip(boards, places, strict=True)]
    ends = np.cumsum([matrix.statistics.shape[2] for matrix in matrices]).tolist()
    rows = np.cumsum([len(matrix.statistics) for matrix in matrices]).tolist()
    together = np.zeros((rows[-1], len(places[0]), ends[-1]))
    for matrix, row, end in zip(matrices, rows, ends, strict=True):
        n, _, width = matrix.statistics.shape
        together[row - n:row, :, end - width:end] = matrix.statistics[:]
    score = AveragedScore(tuple(additive(matrix).score for matrix in matrices), tuple(ends), weights)
    return StatisticMatrix(together, score, lower_is_better=matrices[0].lower_is_better)


def warn_by_set(boards: Sequence[Board], names: Sequence[str],
                doubts: Callable[[Matrix], Iterable[Message]]) -> list[Message]:
    """List the warnings of boards, with the test sets that each is about unless it is about all.

    Args:
        boards: Of several test sets.
        names: The names of the test sets.
        doubts: Returns the warnings about a board's matrix, by unit.
    """
    found: dict[Message, list[str]] = {}
    for name, board in zip(names, boards, strict=True):
        for warning in doubts(board.matrix.by_unit):
            found.setdefault(warning, []).append(name)
    return [warning if len(of) == len(names) else warning.with_parameters(test_sets=of)
            for warning, of in found.items()]


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
    fixed_settings: ClassVar = {"runs": "fixed"}
    scope: ClassVar = "test sets"
    min_systems: ClassVar = 1
    min_boards: ClassVar = 2
    every_metric: ClassVar = True
    supports_responses: ClassVar = False
    default_settings = MappingProxyType({"resamples": RANK_DRAWS})  # as many draws as `best` takes
    weight: tuple[str, ...] = option((), "What a test set counts in the average, such as test=2; others count 1.",
                                     metavar="SET=NUMBER")

    def run(self, case: Case) -> Finding:
        weights, alpha = self._weights(case.boards), case.request.significance.alpha
        places = find_common_systems(case.boards)
        matrix = _stack_sets(case.boards, places, weights)
        of_items = bound_ranks(matrix, case.settings, alpha=alpha)
        of_sets = None if weights else _bound_ranks_over_sets(case, places, alpha)
        members = [case.boards[0].members[at] for at in places[0]]
        order = sorted(range(len(members)), key=lambda n: (np.isnan(matrix.observed[n]),
                                                           matrix.observed[n] * (1 if matrix.lower_is_better else -1)))
        rows = [{"system": f"{members[n].team}/{members[n].system}", "score": float(matrix.observed[n]),
                 **_ranks(of_items, n, "items"), **_ranks(of_sets, n, "sets")} for n in order]
        sets: list[Row] = [
            {"test_set": board.key.test_set.name, "weight": weight, "units": board.matrix.n_units}
            for board, weight in zip(case.boards, weights or (1.0,) * len(case.boards), strict=True)]
        return Finding({"systems": rows, "test_sets": sets}, self._reading(case, of_items, of_sets),
                       [*_warn_of_sets(case.boards)])

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


def _stack_sets(boards: Sequence[Board], places: list[list[int]], weights: tuple[float, ...] | None) -> StatisticMatrix:
    """The units of all test sets, each a stratum."""
    if len(places[0]) < 2:
        raise InputError("fewer than two systems took part in all test sets")
    if any(isinstance(board.matrix, PairMatrix) for board in boards):
        raise InputError("correlations do not add up; averages over test sets need scores that do")
    if any(board.matrix.strata is not None for board in boards):
        raise InputError("strata within test sets are not taken: each test set is a stratum")
    strata = np.repeat(np.arange(len(boards)), [board.matrix.n_units for board in boards])
    matrix = replace(stack_sets(boards, places, weights), strata=strata)
    if reason := resampling_refusal(matrix):
        raise InputError(str(reason))
    return matrix


def _bound_ranks_over_sets(case: Case, places: list[list[int]], alpha: float) -> RankSets:
    """Bound ranks by t-tests over test sets, whose scores are taken for those of items."""
    scores = np.array([board.scores[of_board] for board, of_board in zip(case.boards, places, strict=True)])

    def mean(sums: Floats) -> Floats:
        averages: Floats = sums[..., 0] / sums[..., 1]
        return averages

    matrix = StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=2), mean,
                             lower_is_better=case.boards[0].matrix.lower_is_better)
    systems = scores.shape[1]
    results = MatchedT().run(matrix, list(combinations(range(systems), 2)), case.settings)
    return bound_ranks_by_tests(results, systems, alpha=alpha)


def _ranks(sets: RankSets | None, n: int, of: str) -> Row:
    low, high, best = (None,) * 3 if sets is None else (int(sets.low[n]), int(sets.high[n]), bool(sets.possible[n]))
    return {f"{of}_low": low, f"{of}_high": high, f"{of}_may_be_best": best}


def _warn_of_sets(boards: Sequence[Board]) -> list[Message]:
    rare = warn_by_set(boards, [board.key.test_set.name for board in boards], _of_rare_classes)
    least = LEAST_UNITS["bootstrap"]
    few = [f"{board.key.test_set.name} ({board.matrix.n_units}"
           f"{'' if board.matrix.n_units < least else f', effective sample size {even:.1f}'})"
           for board in boards if (even := even_units(board.matrix)) < least]
    return [*([Message("few-units-in-sets", {"sets": ", ".join(few)})] if few else []), *rare]


def _of_rare_classes(matrix: Matrix) -> list[Message]:
    return [warning.message for warning in rare_classes(SystemPairs.every(matrix)) if warning.where.any()]


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
    min_systems: ClassVar = 1
    min_boards: ClassVar = 2
    every_metric: ClassVar = True
    allows_unequal_items: ClassVar = True
    supports_responses: ClassVar = False

    def run(self, case: Case) -> Finding:
        places = np.array(find_common_systems(case.boards), dtype=np.int64)
        scores = np.mean([board.scores[at] for board, at in zip(case.boards, places, strict=True)], axis=0)
        best_first = np.argsort(scores if case.boards[0].matrix.lower_is_better else -scores, kind="stable")
        return _Averaging(case.boards, places[:, best_first].tolist(), scores[best_first],
                          case.request.resolve_resamples(len(scores)), case.test).found()


def load_macro_boards(asked: Sequence[PlannedStudy], archive: Archive) -> list[MacroBoard]:
    """The macro-averages that were looked up; what was not there is made and kept."""
    return [MacroBoard.of(answer.finding) for question in asked if (answer := question.get_result(archive)) is not None]


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
        drawn = resample_averages(self.boards, self.chosen, self.request) if n else None
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
        return warn_by_set(self.boards, self._test_sets, lambda matrix: misuses(self.test, matrix))

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
        if reason := explain_missing_direction([self.boards[0].members[n] for n in self.chosen[0]], settings):
            return reason
        if few := next(filter(None, (drawn_runs_refusal(board.matrix) for board in self.boards)), None):
            return str(few)
        return test.refusal(self._matrix(list(range(len(self.scores))))) or ""

    def _matrix(self, systems: Sequence[int]) -> StatisticMatrix:
        """The units of all test sets as one matrix, of some of these systems."""
        return stack_sets(self.boards, [[of_board[n] for n in systems] for of_board in self.chosen])

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
                self.request.pair_settings, alternative=alternative)) if chosen else ()
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
        ranked = [m for m, member in enumerate(members) if self.request.is_ranked(member.kind, late=member.late)]
        ranking = rank(self.scores[ranked], wins[np.ix_(ranked, ranked)],
                       lower_is_better=self.boards[0].matrix.lower_is_better)
        places = np.stack([ranking.rank, ranking.low, ranking.high, ranking.cluster], axis=1).tolist()
        found = dict(zip(ranked, places, strict=True))
        return [tuple(found.get(m, (None,) * 4)) for m in range(n)]


class Replicability(BoardStudy):
    """On how many test sets, or values of an item attribute such as a fold, one system is better than another.

    Partial conjunctions of one-sided tests, and the list of test sets with Holm's control (Dror et al. 2017). A claim
    has a direction: each ordered pair of systems is one, tested one-sided by the task's test.
    """

    name: ClassVar[str] = "replicability"
    title: ClassVar[str] = "On how many test sets does one system beat another?"
    citation: ClassVar[str] = "Dror et al. 2018, section 5; Dror et al. 2017; Benjamini and Heller 2008"
    scope: ClassVar = "test sets"
    choice: ClassVar = ("metric", "test_set", "track")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    figures: ClassVar = ("replicability",)
    across: str | None = option(None, "Take the values of this item attribute, such as the fold of a cross-validation, "
                                "for test sets.", metavar="ATTRIBUTE")
    systems: tuple[str, ...] = option((), "Only the pairs of these systems; all if none is given.", name="system",
                                      metavar="NAME")

    @property
    def facet_attribute(self) -> str | None:
        return self.across

    def run(self, case: Case) -> Finding:
        if len(case.boards) < 2:
            raise InputError("there is one test set; --across ATTRIBUTE takes the values of an item's attribute, "
                             "such as the fold of a cross-validation, for test sets")
        test, alpha = case.test, case.request.significance.alpha
        if test.is_one_sided:
            raise InputError(f"{test!r} tests the direction of the gain, whichever it is; take --test permutation")
        settings = replace(case.settings, alternative="greater")

        def tested(n: int) -> Any:
            matrix = case.boards[n].matrix.by_unit
            if reason := test.refusal(matrix):
                raise InputError(reason)
            pairs = list(permutations(range(len(case.boards[n].members)), 2))
            return plain_value([[of.difference, of.p_value] for of in test.run(matrix, pairs, settings)])

        parts = case.parts.compute_all(range(len(case.boards)), tested)
        claims = list(_make_claims(case.boards, parts, self.systems))
        shown = [claim for claim in claims if (claim.differences > 0).any()]
        names = _name_test_sets(case.boards)
        return Finding({"pairs": [claim.row(names, alpha) for claim in shown],
                        "numbers": [row for claim in shown for row in claim.numbers(alpha)],
                        "test_sets": [row for claim in shown for row in claim.test_sets(names, alpha)]},
                       _describe_claims(claims, alpha),
                       warn_by_set(case.boards, names, lambda matrix: one_sided_misuses(test, matrix)))


@dataclass(frozen=True, eq=False)
class _Claim:
    """That one system is better than another, on those test sets that have both: their numbers, differences and p."""

    better: str
    worse: str
    boards: list[int]
    differences: Floats
    p: Floats

    def row(self, names: Sequence[str], alpha: float) -> Row:
        on = [names[n] for n, is_listed in zip(self.boards, list_test_sets(self.p, alpha), strict=True) if is_listed]
        return {"better": self.better, "than": self.worse, "test_sets": len(self.boards),
                "scores_higher_on": int(np.count_nonzero(self.differences > 0)),
                "k_bonferroni": int(estimate_k(self.p, "bonferroni", alpha)),
                "k_fisher": int(estimate_k(self.p, "fisher", alpha)),
                "listed": ", ".join(on)}

    def numbers(self, alpha: float) -> Iterator[Row]:
        both = zip(*(combine_p_values(self.p, how) for how in ("bonferroni", "fisher")), strict=True)
        for u, (bonferroni, fisher) in enumerate(both, 1):
            yield {"better": self.better, "than": self.worse, "on_at_least": u, "p_bonferroni": float(bonferroni),
                   "p_fisher": float(fisher), "bonferroni": bool(bonferroni <= alpha), "fisher": bool(fisher <= alpha)}

    def test_sets(self, names: Sequence[str], alpha: float) -> Iterator[Row]:
        found = zip(self.boards, self.differences, self.p, adjust(self.p, "holm"), list_test_sets(self.p, alpha),
                    strict=True)
        for n, difference, p, p_holm, is_listed in found:
            yield {"better": self.better, "than": self.worse, "test_set": names[n], "difference": float(difference),
                   "p_value": float(p), "p_holm": float(p_holm), "listed": bool(is_listed)}


def _make_claims(boards: Sequence[Board], parts: Sequence[Any], wanted: Sequence[str]) -> Iterator[_Claim]:
    """Every ordered pair of systems that have two test sets in common, the better ones on the first test sets first."""
    found: dict[tuple[str, str], list[tuple[int, float | None, float | None]]] = {}
    known = {f"{m.team}/{m.system}": m for board in boards for m in board.members}
    labels = dict(zip(known, name_systems(list(known.values())), strict=True))
    for system in wanted:
        if system not in {*labels, *labels.values()}:
            raise UnknownNameError("system", system, sorted(labels.values()))
    for n, (board, part) in enumerate(zip(boards, parts, strict=True)):
        names = [f"{m.team}/{m.system}" for m in board.members]
        for pair, numbers in zip(permutations(names, 2), part, strict=True):
            found.setdefault(pair, []).append((n, *numbers))
    several = {pair: of for pair, of in found.items() if len(of) > 1 and (
        not wanted or all({system, labels[system]} & set(wanted) for system in pair))}
    if not several:
        raise InputError("no two of the systems have two test sets in common")
    for (better, worse), of in several.items():
        on, differences, p = zip(*of, strict=True)
        yield _Claim(labels[better], labels[worse], list(on), *np.array([differences, p], dtype=np.float64))


def _name_test_sets(boards: Sequence[Board]) -> list[str]:
    """What test sets, or values of an attribute, are called; with the test set where there are several of both."""
    several = len({board.key.test_set.name for board in boards}) > 1
    return [board.key.test_set.name if board.key.facet is None else
            f"{board.key.test_set.name}/{board.key.facet[1]}" if several else board.key.facet[1]
            for board in boards]


def _describe_claims(claims: Sequence[_Claim], alpha: float) -> list[str]:
    sizes = {len(claim.boards) for claim in claims}
    some, every = set(), set()
    for claim in claims:
        pair, k = frozenset((claim.better, claim.worse)), int(estimate_k(claim.p, "bonferroni", alpha))
        some |= {pair} if k else set()
        every |= {pair} if k == len(claim.boards) else set()
    of = str(min(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    said = [
        f"Of {counted(len(claims) // 2, 'pair')} on {of} test sets, one system is shown to be better on at least one "
        f"test set in {len(some)}, on all of them in {len(every)} (by Bonferroni's combination).",
        f"k is on how many test sets the claim holds at least. It is too large with a probability of at most "
        f"{100 * alpha:g} % for each claim: by Bonferroni's combination whatever the test sets have in common, by "
        "Fisher's only where they are independent, which folds of one data set are not.",
        "A test set that is not listed is not shown to be one where the claim fails, and claims are not corrected for "
        "the number of pairs."]
    if any(np.isnan(claim.p).any() for claim in claims):
        said.append("A test set where the test is undefined counts as one that shows nothing.")
    return said
