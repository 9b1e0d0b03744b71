"""Studies of several test sets: ranks, averages, and the number of test sets on which a system is better.

The units of all test sets form one matrix, in which each test set has its own columns. So an average of scores is a
function of sums, like other scores. Items are resampled or permuted within each test set, so conclusions apply to these
test sets. `Suite` also computes rank sets for other test sets, if these are a random sample.
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
from registry.identity import replace_undefined
from registry.manifest import Manifest, decode_manifest
from registry.messages import Message
from registry.rendering.table import format_p_value
from registry.significance import CORRECTIONS, MatchedT, PairMatrix, PairTest, StatisticMatrix, rank
from registry.significance.base import PairResult
from registry.significance.diagnostics.assumptions import misuses, one_sided_misuses
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.exchangeability import compute_effective_units
from registry.significance.diagnostics.rare_outcomes import find_rare_classes
from registry.significance.matrix import Matrix, Resampled, Score, additive
from registry.significance.multiple import STEP_DOWN, adjust, combine_p_values, estimate_k, list_test_sets
from registry.significance.rank_sets import (
    LEAST_UNITS,
    RANK_DRAWS,
    RankSets,
    compute_rank_sets,
    compute_rank_sets_by_tests,
)
from registry.significance.resampling.scores import explain_run_refusal, percentiles, resampling_refusal
from registry.store.catalog import Member
from registry.studies.run import Archive, PlannedStudy, StudyResult
from registry.studies.score_distributions import resample_averages
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems, option


@dataclass(frozen=True)
class AveragedScore:
    """Function that computes the weighted mean of the scores of several test sets.

    The argument of the function has sums of statistics, with the columns of all test sets side by side. Without weights
    all test sets have the same weight.

    Attributes:
        scores: The function that computes the score of each test set.
        ends: The last column (exclusive) of each test set.
        weights: The weight of each test set, or None.
    """

    scores: tuple[Score, ...]
    ends: tuple[int, ...]
    weights: tuple[float, ...] | None = None

    def __call__(self, sums: Floats) -> Floats:
        parts = np.split(sums, self.ends[:-1], axis=-1)
        scores = [score(part) for score, part in zip(self.scores, parts, strict=True)]
        averages: Floats = (np.mean(scores, axis=0) if self.weights is None else
                            np.average(scores, axis=0, weights=self.weights))
        return averages


def find_common_systems(boards: Sequence[Board]) -> list[list[int]]:
    """Find the systems that are on all leaderboards, in the order of `team/system`.

    The versions of a system may differ between leaderboards.

    Returns:
        For each leaderboard, the indices of these systems on it.
    """
    indices = [{f"{member.team}/{member.system}": n for n, member in enumerate(board.members)} for board in boards]
    names = sorted(name for name in indices[0] if all(name in index for index in indices))
    return [[index[name] for name in names] for index in indices]


def stack_sets(boards: Sequence[Board], systems: Sequence[Sequence[int]],
               weights: tuple[float, ...] | None = None) -> StatisticMatrix:
    """Combine the units of all test sets into one matrix, to test average scores.

    Args:
        boards: The leaderboard of each test set.
        systems: Indices of the same systems on each leaderboard.
        weights: Weight of each test set in the average; None for equal weights.
    """
    matrices = [board.matrix.by_unit.select_systems(indices) for board, indices in zip(boards, systems, strict=True)]
    ends = np.cumsum([matrix.statistics.shape[2] for matrix in matrices]).tolist()
    rows = np.cumsum([len(matrix.statistics) for matrix in matrices]).tolist()
    statistics = np.zeros((rows[-1], len(systems[0]), ends[-1]))
    for matrix, row, end in zip(matrices, rows, ends, strict=True):
        n, _, width = matrix.statistics.shape
        statistics[row - n:row, :, end - width:end] = matrix.statistics[:]
    score = AveragedScore(tuple(additive(matrix).score for matrix in matrices), tuple(ends), weights)
    return StatisticMatrix(statistics, score, lower_is_better=matrices[0].lower_is_better)


def warn_by_set(matrices: Iterable[Matrix], names: Sequence[str],
                find_warnings: Callable[[Matrix], Iterable[Message]]) -> list[Message]:
    """Return the warnings about several test sets, without repetitions.

    A warning that applies only to some test sets names them.

    Args:
        matrices: Statistics of each test set, as `Matrix.by_unit` returns them.
        names: Names of the test sets.
        find_warnings: Function that returns the warnings about a matrix.
    """
    sets_by_warning: dict[Message, list[str]] = {}
    for name, matrix in zip(names, matrices, strict=True):
        for warning in find_warnings(matrix):
            sets_by_warning.setdefault(warning, []).append(name)
    return [warning if len(test_sets) == len(names) else warning.with_parameters(test_sets=test_sets)
            for warning, test_sets in sets_by_warning.items()]


class Suite(BoardStudy):
    """Possible ranks of systems by their average score over several test sets.

    A rank set is a range of ranks that contains a system's true rank; all rank sets hold simultaneously. There are rank
    sets for other items and for other test sets. For other items, units are resampled within each test set. For other
    test sets, systems are compared by t-tests over the test sets with Holm's correction; this is not available with
    --weight. Systems are included if they are on all test sets.
    """

    name: ClassVar[str] = "suite"
    title: ClassVar[str] = "Which ranks can systems have over several test sets?"
    citation: ClassVar[str] = "Mogstad, Romano, Shaikh and Wilhelm 2024; Dror et al. 2017"
    choice: ClassVar = ("metric",)
    settings: ClassVar = ("alpha", "resamples", "unit", "seed")
    fixed_settings: ClassVar = {"runs": "fixed"}
    scope: ClassVar = "test sets"
    min_systems: ClassVar = 1
    min_boards: ClassVar = 2
    every_metric: ClassVar = True
    supports_responses: ClassVar = False
    default_settings = MappingProxyType({"resamples": RANK_DRAWS})  # as in `best`
    weight: tuple[str, ...] = option((), "Weight of a test set in the average, such as test=2; other weights are 1.",
                                     metavar="SET=NUMBER")

    def run(self, case: Case) -> Finding:
        weights, alpha = self._parse_weights(case.boards), case.request.significance.alpha
        systems = find_common_systems(case.boards)
        matrix = stack_strata(case.boards, systems, weights)
        item_ranks = compute_rank_sets(matrix, case.settings, alpha=alpha)
        set_ranks = None if weights else _compute_ranks_over_sets(case, systems, alpha)
        members = [case.boards[0].members[n] for n in systems[0]]
        order = sorted(range(len(members)), key=lambda n: (np.isnan(matrix.observed[n]),
                                                           matrix.observed[n] * (1 if matrix.lower_is_better else -1)))
        rows = [{"system": f"{members[n].team}/{members[n].system}", "score": float(matrix.observed[n]),
                 **_make_rank_keys(item_ranks, n, "items"), **_make_rank_keys(set_ranks, n, "sets")} for n in order]
        sets: list[Row] = [
            {"test_set": board.key.test_set.name, "weight": weight, "units": board.matrix.n_units}
            for board, weight in zip(case.boards, weights or (1.0,) * len(case.boards), strict=True)]
        return Finding({"systems": rows, "test_sets": sets}, self._describe(case, item_ranks, set_ranks),
                       [*_warn_of_sets(case.boards)])

    def _parse_weights(self, boards: Sequence[Board]) -> tuple[float, ...] | None:
        """Parse the options `--weight SET=NUMBER`; return the weight of every test set.

        Return None if all weights are equal.

        Raises:
            UnknownNameError: A test set does not exist.
            InputError: A weight is not a number above 0.
        """
        weights = {board.key.test_set.name: 1.0 for board in boards}
        for text in self.weight:
            name, _, number = text.rpartition("=")
            if name not in weights:
                raise UnknownNameError("test set", name, weights)
            try:
                weights[name] = float(number)
            except ValueError:
                weights[name] = math.nan
            if not 0 < weights[name] < math.inf:
                raise InputError(f"--weight {text}: expected SET=NUMBER, with a number above 0")
        return None if len(set(weights.values())) == 1 else tuple(weights.values())

    def _describe(self, case: Case, item_ranks: RankSets, set_ranks: RankSets | None) -> list[str]:
        level, sets = f"{100 * (1 - case.request.significance.alpha):g} %", counted(len(case.boards), "test set")
        pairs = math.comb(len(item_ranks.low), 2)
        summary = (f"On these {sets}, with other items, {int(item_ranks.wins.sum())} of "
                   f"{counted(pairs, 'pair differs', 'pairs differ')} significantly; the ranks of all systems hold "
                   f"simultaneously, at {level}.")
        if set_ranks is None:
            return [summary, "There is no result for other test sets, because the weights differ."]
        return [summary, f"On other test sets, {int(set_ranks.wins.sum())} of {pairs} differ significantly, with ranks "
                         f"at {level} too, by t-tests with {len(case.boards) - 1} degrees of freedom. These assume "
                         "that the test sets are a random sample, and that their effects are normal. A convenience "
                         "sample of test sets is not random."]


def stack_strata(boards: Sequence[Board], systems: list[list[int]],
                 weights: tuple[float, ...] | None = None) -> StatisticMatrix:
    """Combine the units of all test sets into one matrix; each test set is a stratum.

    Units are resampled within strata.

    Raises:
        InputError: There are fewer than two systems, or average scores cannot be resampled.
    """
    if len(systems[0]) < 2:
        raise InputError("fewer than two systems participate in all test sets")
    if any(isinstance(board.matrix, PairMatrix) for board in boards):
        raise InputError("correlations do not add up over units, so they have no average over test sets; select "
                         "another metric")
    if any(board.matrix.strata is not None for board in boards):
        raise InputError("strata within test sets are not supported, because each test set is a stratum")
    strata = np.repeat(np.arange(len(boards)), [board.matrix.n_units for board in boards])
    matrix = replace(stack_sets(boards, systems, weights), strata=strata)
    if reason := resampling_refusal(matrix):
        raise InputError(str(reason))
    return matrix


def _compute_ranks_over_sets(case: Case, systems: list[list[int]], alpha: float) -> RankSets:
    """Compute confidence sets of ranks that hold for other test sets.

    The t-tests use each test set, with its score, as one unit.
    """
    scores = np.array([board.scores[indices] for board, indices in zip(case.boards, systems, strict=True)])

    def average(sums: Floats) -> Floats:
        averages: Floats = sums[..., 0] / sums[..., 1]
        return averages

    matrix = StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=2), average,
                             lower_is_better=case.boards[0].matrix.lower_is_better)
    n_systems = scores.shape[1]
    results = MatchedT().run(matrix, list(combinations(range(n_systems), 2)), case.settings)
    return compute_rank_sets_by_tests(results, n_systems, alpha=alpha)


def _make_rank_keys(sets: RankSets | None, n: int, prefix: str) -> Row:
    low, high, best = (None,) * 3 if sets is None else (int(sets.low[n]), int(sets.high[n]), bool(sets.possible[n]))
    return {f"{prefix}_low": low, f"{prefix}_high": high, f"{prefix}_may_be_best": best}


def _warn_of_sets(boards: Sequence[Board]) -> list[Message]:
    rare = warn_by_set([board.matrix.by_unit for board in boards], [board.key.test_set.name for board in boards],
                       _warn_of_rare_classes)
    min_units = LEAST_UNITS["bootstrap"]
    few = [f"{board.key.test_set.name} ({board.matrix.n_units}"
           f"{'' if board.matrix.n_units < min_units else f', effective sample size {effective:.1f}'})"
           for board in boards if (effective := compute_effective_units(board.matrix)) < min_units]
    return [*([Message("few-units-in-sets", {"sets": ", ".join(few)})] if few else []), *rare]


def _warn_of_rare_classes(matrix: Matrix) -> list[Message]:
    return [warning.message for warning in find_rare_classes(SystemPairs.every(matrix)) if warning.where.any()]


_RESULT_KEYS = ("p_value", "method", "n_units", "n_discordant", "resamples",
                "log10_p", "p_low", "p_high", "messages")

_ALTERNATIVES = {side: alternative for alternative, side in SIDES.items()}


@dataclass(frozen=True)
class MacroAverage:
    """Average score of one system over several test sets, with equal weights.

    `system` is `team/system`; versions may differ between test sets. Undefined values are None, and so are ranks if
    pairs are not tested, or the system is not ranked.
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
    """Leaderboard by the average score over test sets, best system first.

    The leaderboard has one metric and one track, and the systems that participate in all test sets.

    Attributes:
        task, track: Task and track.
        metric: Alias of the metric.
        metric_name: Name of the metric with its options.
        better: `higher` or `lower`.
        test_sets: Names of the test sets.
        test, correction, alpha: Test and correction of pairs, and significance level.
        confidence: Confidence level of the intervals.
        intervals: The method of the intervals; empty if there are none.
        untested: The reason if pairs are not tested; otherwise empty.
        averages: One average per system.
        pairs: One row per pair, the better system first; empty if pairs are not tested.
        signature: Signature of the study, which identifies data, test and result.
        decimals: Decimals that the task declares for the metric; None for the usual number.
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
    confidence: float
    intervals: str
    untested: str
    averages: tuple[MacroAverage, ...]
    pairs: tuple[Row, ...]
    signature: str
    decimals: int | None

    @classmethod
    def load(cls, result: StudyResult, manifest: Manifest) -> MacroBoard:
        """Convert the result of a `Macro` study to a leaderboard.

        Args:
            result: The result.
            manifest: The manifest of the task.
        """
        tables = result.finding.tables
        (board,) = tables["board"]
        return cls(**board | {
            "test_sets": tuple(board["test_sets"]), "pairs": tuple(tables["pairs"]),
            "averages": tuple(MacroAverage(**row) for row in tables["averages"]), "signature": result.signature,
            "decimals": next((spec.decimals for spec in manifest.metric if spec.id == board["metric"]), None)})


class Macro(BoardStudy):
    """Average scores of systems over test sets, with tests of their differences.

    The permutation test swaps the outputs of two systems in units of all test sets, and the bootstrap resamples the
    units of each test set. The p-values of all pairs of one metric are corrected together. Confidence intervals of
    averages and of their differences are percentiles of bootstrap resamples within each test set.
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
        systems = np.array(find_common_systems(case.boards), dtype=np.int64)
        scores = np.mean([board.scores[indices] for board, indices in zip(case.boards, systems, strict=True)], axis=0)
        best_first = np.argsort(scores if case.boards[0].matrix.lower_is_better else -scores, kind="stable")
        return _Averaging(case.boards, systems[:, best_first].tolist(), scores[best_first],
                          case.request.resolve_resamples(len(scores)), case.test).compare()


def load_macro_boards(plans: Sequence[PlannedStudy], archive: Archive) -> list[MacroBoard]:
    """Load leaderboards of average scores over test sets; compute missing ones.

    New results are stored in `archive`.
    """
    return [MacroBoard.load(result, decode_manifest(plan.task.manifest))
            for plan in plans if (result := plan.get_result(archive)) is not None]


@dataclass(frozen=True, eq=False)
class _Averaging:
    """The data for average scores over several test sets, and their comparison.

    Attributes:
        boards: The leaderboard of each test set.
        systems: Indices of the common systems on each leaderboard, best average first.
        scores: Average score of each common system.
        request: Settings of the comparison.
        test: Significance test of pairs.
    """

    boards: Sequence[Board]
    systems: list[list[int]]
    scores: Floats
    request: Request
    test: PairTest

    def compare(self) -> Finding:
        first, settings, n = self.boards[0], self.request.significance, len(self.scores)
        resampled = resample_averages(self.boards, self.systems, self.request) if n else None
        ends = np.full((n, 2), np.nan) if resampled is None else percentiles(resampled, settings.confidence)
        ends[np.isnan(self.scores)] = np.nan
        untested = self._explain_untested(resampled)
        members = [first.members[index] for index in self.systems[0]]
        pairs = [] if untested else self._test_pairs(resampled, members)
        ranks = [(None,) * 4] * n if untested else self._rank(pairs, members)
        averages = [
            MacroAverage(f"{member.team}/{member.system}", member.team, float(score), float(low), float(high), *rank_)
            for member, score, (low, high), rank_ in zip(members, self.scores, ends, ranks, strict=True)]
        key = first.key
        board = {
            "task": key.task.slug, "track": key.track, "metric": key.metric.alias, "metric_name": key.metric.name,
            "better": "lower" if first.matrix.lower_is_better else "higher",
            "test_sets": self._test_sets, "test": settings.test,
            "correction": settings.correction, "alpha": settings.alpha, "confidence": settings.confidence,
            "intervals": "" if resampled is None else self._describe_intervals(is_tested=not untested),
            "untested": untested}
        warnings = [] if untested else warn_by_set([board.matrix.by_unit for board in self.boards], self._test_sets,
                                                   lambda matrix: misuses(self.test, matrix))
        return Finding({"averages": [asdict(average) for average in averages], "pairs": pairs, "board": [board]},
                       self._describe(pairs, untested), warnings)

    def _describe(self, pairs: Sequence[Row], untested: str) -> list[str]:
        settings, sets = self.request.significance, counted(len(self.boards), "test set")
        if not pairs:
            return [f"Averages over {sets} are not tested: {untested or 'no average is defined'}."]
        place = f"By the average over these {sets} with equal weights"
        scope = "This applies to other items of these test sets; for other test sets run `registry study suite`."
        if len(pairs) == 1:
            return [f"{place}, {self._describe_pair(pairs[0])}.", scope]
        best_pairs = [row for row in pairs if row["system_a"] == pairs[0]["system_a"]]
        n_best, n_all = (sum(row["significant"] for row in rows) for rows in (best_pairs, pairs))
        return [f"{place}, the best system is significantly better than {n_best} of "
                f"{counted(len(best_pairs), 'other')}, and {n_all} of {len(pairs)} pairs differ significantly "
                f"({settings.test}, {settings.correction}, at {100 * settings.alpha:g} %).", scope]

    def _describe_pair(self, row: Row) -> str:
        numbers = [f"difference {row['difference']:.4g}", f"p = {format_p_value(row['p_value'])}"]
        if not math.isnan(row["ci_low"]):
            level = f"{100 * self.request.significance.confidence:g} % CI"
            numbers.insert(1, f"{level} {row['ci_low']:.4g} to {row['ci_high']:.4g}")
        verb = "is" if row["significant"] else "is not"
        a, b = name_systems([self.boards[0].members[indices] for indices in self.systems[0][:2]])
        return f"{a} {verb} significantly better than {b}: {', '.join(numbers)}"

    def _describe_intervals(self, *, is_tested: bool) -> str:
        """Return the method of the intervals; if the test makes those of differences, its name follows."""
        scores = f"percentiles of {self.request.settings.resamples:,} resamples within each test set"
        has_own = is_tested and self.test.gives_intervals(self.boards[0].matrix)
        return f"{scores} for scores, interval of the test {self.test.name} for differences" if has_own else scores

    @property
    def _test_sets(self) -> list[str]:
        return [board.key.test_set.name for board in self.boards]

    def _explain_untested(self, resampled: Floats | None) -> str:
        """Return the reason why average scores cannot be tested; empty if they can.

        `resampled` has the resampled averages, or None if a test set cannot be resampled.
        """
        settings, test = self.request.significance, self.test
        if len(self.scores) < 2:
            return "fewer than two systems participate in all test sets"
        if test.name not in STEP_DOWN or settings.unit == "response":
            return (f"{test!r} over {settings.unit}s does not support averages; use permutation or bootstrap over "
                    "items or clusters")
        if CORRECTIONS[settings.correction].function is None:
            return f"the correction {settings.correction} does not support averages"
        if any(isinstance(board.matrix, PairMatrix) or board.matrix.unequal for board in self.boards):
            return "correlations, and scores on different items, have no average"
        if test.name == "bootstrap" and resampled is None:
            return "a test set cannot be resampled"
        if test.name == "permutation" and settings.runs == "random":
            return "runs cannot be permuted across test sets"
        if reason := explain_missing_direction([self.boards[0].members[n] for n in self.systems[0]], settings):
            return reason
        if few := next(filter(None, (explain_run_refusal(board.matrix) for board in self.boards)), None):
            return str(few)
        return test.refusal(self._stack(list(range(len(self.scores))))) or ""

    def _stack(self, selection: Sequence[int]) -> StatisticMatrix:
        return stack_sets(self.boards, [[indices[n] for n in selection] for indices in self.systems])

    def _test_pairs(self, resampled: Floats | None, members: Sequence[Member]) -> list[Row]:
        """Test all pairs of systems with defined averages; return one table row per pair.

        Args:
            resampled: Resampled averages, [resamples, systems], or None.
            members: The systems, best average first.
        """
        key, settings = self.boards[0].key, self.request.significance
        defined = np.flatnonzero(~np.isnan(self.scores)).tolist()
        matrix = self._stack(defined)
        if resampled is not None:
            matrix = replace(matrix, resampled=Resampled(settings.draws, self.request.seed,
                                                         lambda: resampled[:, defined]))
        pairs = list(combinations(range(len(defined)), 2))
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        sides = choose_sides([members[n] for n in defined], settings, a, b)
        results: list[PairResult] = [None] * len(pairs)  # type: ignore[list-item]
        for alternative, side in SIDES.items():
            chosen = np.flatnonzero(sides == side).tolist()
            side_results = self.test.run(matrix, [pairs[n] for n in chosen], replace(
                self.request.pair_settings, alternative=alternative)) if chosen else ()
            for n, result in zip(chosen, side_results, strict=True):
                results[n] = result
        p_values = np.array([result.p_value for result in results])
        adjusted = adjust(p_values, settings.correction).tolist() if pairs else []
        intervals = self._compute_intervals(pairs, results, matrix, resampled)
        names = [f"{member.team}/{member.system}" for member in members]
        units = " and ".join(dict.fromkeys("item" if board.matrix.units is None else "cluster"
                                           for board in self.boards))
        return [{
            "task": key.task.slug, "track": key.track, "metric": key.metric.alias, "metric_name": key.metric.name,
            "test_sets": " ".join(self._test_sets), "system_a": names[a], "system_b": names[b],
            "score_a": float(self.scores[a]), "score_b": float(self.scores[b]),
            "difference": result.difference, "ci_low": low, "ci_high": high,
            **{key: getattr(result, key) for key in _RESULT_KEYS}, "p_adjusted": p,
            "significant": (p <= settings.alpha and bool(result.favours * result.difference > 0)
                            and side * result.difference >= 0),
            "test": settings.test, "correction": settings.correction,
            "alternative": OBSERVED if self.test.is_one_sided else _ALTERNATIVES[side],
            "family_size": len(pairs), "unit": units, "seed": None if result.resamples is None else settings.seed,
            "same_team": members[a].team == members[b].team,
        } for (a, b), result, p, side, (low, high) in zip(pairs, results, adjusted, sides.tolist(), intervals,
                                                          strict=True)]

    def _compute_intervals(self, pairs: Sequence[tuple[int, int]], results: Sequence[PairResult],
                           matrix: StatisticMatrix, resampled: Floats | None) -> list[tuple[float, float]]:
        """Return the confidence interval of the difference of each pair.

        The interval is that of the test or, if the test has none, the percentile interval of the resamples that also
        make the intervals of the scores. The ends are nan if the averages cannot be resampled.
        """
        if self.test.gives_intervals(matrix):
            return [(result.ci_low, result.ci_high) for result in results]
        if resampled is None:
            return [(math.nan, math.nan)] * len(pairs)
        confidence = self.request.significance.confidence
        ends = [percentiles(matrix.difference(resampled[:, [a]], resampled[:, [b]]), confidence)[0] for a, b in pairs]
        return [(float(low), float(high)) for low, high in ends]

    def _rank(self, rows: Sequence[Row], members: Sequence[Member]) -> list[tuple[int | None, ...]]:
        """Return the rank, first and last possible rank, and cluster of every system.

        The values are None for systems that are not ranked.

        Args:
            rows: The tested pairs.
            members: The systems, best average first.
        """
        n, defined = len(members), int((~np.isnan(self.scores)).sum())
        wins = np.zeros((n, n), dtype=bool)
        wins[np.triu_indices(defined, 1)] = [row["significant"] for row in rows]
        ranked = [m for m, member in enumerate(members) if self.request.is_ranked(member.kind, late=member.late)]
        ranking = rank(self.scores[ranked], wins[np.ix_(ranked, ranked)],
                       lower_is_better=self.boards[0].matrix.lower_is_better)
        ranks = np.stack([ranking.rank, ranking.low, ranking.high, ranking.cluster], axis=1).tolist()
        rank_by_system = dict(zip(ranked, ranks, strict=True))
        return [tuple(rank_by_system.get(m, (None,) * 4)) for m in range(n)]


class Replicability(BoardStudy):
    """Number of test sets on which one system is significantly better than another.

    With --across, values of an item attribute such as a fold replace the test sets. Partial conjunction tests estimate
    the number, and Holm's correction lists the test sets (Dror et al. 2017). Each ordered pair of systems is one claim,
    which the test of the task tests one-sided.
    """

    name: ClassVar[str] = "replicability"
    title: ClassVar[str] = "On how many test sets is one system better than another?"
    citation: ClassVar[str] = "Dror et al. 2018, section 5; Dror et al. 2017; Benjamini and Heller 2008"
    scope: ClassVar = "test sets"
    choice: ClassVar = ("metric", "test_set", "track")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    figures: ClassVar = ("replicability",)
    across: str | None = option(None, "Compare the values of this item attribute, such as the fold of a "
                                "cross-validation, instead of test sets.", metavar="ATTRIBUTE")
    systems: tuple[str, ...] = option((), "Only the pairs of these systems; by default all.", name="system",
                                      metavar="NAME")

    @property
    def facet_attribute(self) -> str | None:
        return self.across

    def run(self, case: Case) -> Finding:
        if len(case.boards) < 2:
            raise InputError("there is only one test set; use --across ATTRIBUTE to compare the values of an item "
                             "attribute, such as the fold of a cross-validation")
        test, alpha = case.test, case.request.significance.alpha
        if test.is_one_sided:
            raise InputError(f"{test!r} always tests the direction of the observed gain; use --test permutation")
        settings = replace(case.settings, alternative="greater")

        def test_board(n: int) -> Any:
            matrix = case.boards[n].matrix.by_unit
            if reason := test.refusal(matrix):
                raise InputError(reason)
            pairs = list(permutations(range(len(case.boards[n].members)), 2))
            results = test.run(matrix, pairs, settings)
            return replace_undefined([[result.difference, result.p_value] for result in results])

        parts = case.parts.compute_all(range(len(case.boards)), test_board)
        claims = list(_make_claims(case.boards, parts, self.systems))
        shown = [claim for claim in claims if (claim.differences > 0).any()]
        names = _name_test_sets(case.boards)
        return Finding({"pairs": [claim.make_row(names, alpha) for claim in shown],
                        "numbers": [row for claim in shown for row in claim.make_number_rows(alpha)],
                        "test_sets": [row for claim in shown for row in claim.make_test_set_rows(names, alpha)]},
                       _describe_claims(claims, alpha),
                       warn_by_set([board.matrix.by_unit for board in case.boards], names,
                                   lambda matrix: one_sided_misuses(test, matrix)))


@dataclass(frozen=True, eq=False)
class _Claim:
    """The claim that one system is better than another, with a p-value per test set.

    Attributes:
        better, worse: Names of the systems.
        boards: Indices of the leaderboards that have both systems.
        differences, p: Difference and one-sided p-value on each of these leaderboards.
    """

    better: str
    worse: str
    boards: list[int]
    differences: Floats
    p: Floats

    def make_row(self, names: Sequence[str], alpha: float) -> Row:
        listed = [names[n] for n, is_listed in zip(self.boards, list_test_sets(self.p, alpha), strict=True)
                  if is_listed]
        return {"better": self.better, "than": self.worse, "test_sets": len(self.boards),
                "scores_higher_on": int(np.count_nonzero(self.differences > 0)),
                "k_bonferroni": int(estimate_k(self.p, "bonferroni", alpha)),
                "k_fisher": int(estimate_k(self.p, "fisher", alpha)),
                "listed": ", ".join(listed)}

    def make_number_rows(self, alpha: float) -> Iterator[Row]:
        combined = zip(*(combine_p_values(self.p, method) for method in ("bonferroni", "fisher")), strict=True)
        for n, (bonferroni, fisher) in enumerate(combined, 1):
            yield {"better": self.better, "than": self.worse, "on_at_least": n, "p_bonferroni": float(bonferroni),
                   "p_fisher": float(fisher), "bonferroni": bool(bonferroni <= alpha), "fisher": bool(fisher <= alpha)}

    def make_test_set_rows(self, names: Sequence[str], alpha: float) -> Iterator[Row]:
        for n, difference, p, p_holm, is_listed in zip(self.boards, self.differences, self.p, adjust(self.p, "holm"),
                                                       list_test_sets(self.p, alpha), strict=True):
            yield {"better": self.better, "than": self.worse, "test_set": names[n], "difference": float(difference),
                   "p_value": float(p), "p_holm": float(p_holm), "listed": bool(is_listed)}


def _make_claims(boards: Sequence[Board], parts: Sequence[Any], selected_systems: Sequence[str]) -> Iterator[_Claim]:
    """Yield the claim that A is better than B for every ordered pair of systems.

    The two systems must have two or more test sets in common.

    Args:
        boards: The leaderboard of each test set.
        parts: For each leaderboard, the difference and p-value of every ordered pair.
        selected_systems: Names of selected systems; empty for all.

    Raises:
        UnknownNameError: A selected system does not exist.
        InputError: No two systems have two test sets in common.
    """
    results: dict[tuple[str, str], list[tuple[int, float | None, float | None]]] = {}
    members = {f"{m.team}/{m.system}": m for board in boards for m in board.members}
    labels = dict(zip(members, name_systems(list(members.values())), strict=True))
    for system in selected_systems:
        if system not in {*labels, *labels.values()}:
            raise UnknownNameError("system", system, sorted(labels.values()))
    for n, (board, part) in enumerate(zip(boards, parts, strict=True)):
        names = [f"{m.team}/{m.system}" for m in board.members]
        for pair, numbers in zip(permutations(names, 2), part, strict=True):
            results.setdefault(pair, []).append((n, *numbers))
    selected = {pair: rows for pair, rows in results.items() if len(rows) > 1 and (
        not selected_systems or all({system, labels[system]} & set(selected_systems) for system in pair))}
    if not selected:
        raise InputError("no two of the systems have two test sets in common")
    for (better, worse), rows in selected.items():
        indices, differences, p = zip(*rows, strict=True)
        yield _Claim(labels[better], labels[worse], list(indices), *np.array([differences, p], dtype=np.float64))


def _name_test_sets(boards: Sequence[Board]) -> list[str]:
    """Return the names of test sets, or the attribute values that replace them.

    With several test sets, the name of an attribute value has the form `test_set/value`.
    """
    is_several = len({board.key.test_set.name for board in boards}) > 1
    return [board.key.test_set.name if board.key.facet is None else
            f"{board.key.test_set.name}/{board.key.facet[1]}" if is_several else board.key.facet[1]
            for board in boards]


def _describe_claims(claims: Sequence[_Claim], alpha: float) -> list[str]:
    sizes = {len(claim.boards) for claim in claims}
    on_one, on_all = set(), set()
    for claim in claims:
        pair, k = frozenset((claim.better, claim.worse)), int(estimate_k(claim.p, "bonferroni", alpha))
        on_one |= {pair} if k else set()
        on_all |= {pair} if k == len(claim.boards) else set()
    n_sets = str(min(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    sentences = [
        f"Of {counted(len(claims) // 2, 'pair')} on {n_sets} test sets, one system is significantly better on at least "
        f"one test set in {counted(len(on_one), 'pair')}, and on all test sets in {len(on_all)} (Bonferroni "
        "combination).",
        "k is a lower bound of the number of test sets on which the claim holds. It is too large with a probability "
        f"of at most {100 * alpha:g} % for each claim. The Bonferroni combination allows for any dependence of the "
        "test sets; the Fisher combination requires independent test sets, not folds of one data set.",
        "A claim may also hold on a test set that is not listed. Claims are not corrected for the number of pairs."]
    if any(np.isnan(claim.p).any() for claim in claims):
        sentences.append("A test set with an undefined p-value counts as not significant.")
    return sentences
