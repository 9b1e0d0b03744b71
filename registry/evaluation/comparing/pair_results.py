"""Test results of all pairs of systems of a leaderboard, and their correction.

The database stores the result of a pair in one direction only, (A, B) or (B, A), under the digests of the statistics of
A and B. So a new submission requires only the tests of its own pairs. Arrays have one entry for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.arrays import Flags, Floats, Ints
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.directions import SIDES, choose_sides
from registry.evaluation.comparing.settings import Request
from registry.manifest import Significance
from registry.messages import Message
from registry.significance import CORRECTIONS, Crossed, Matrix, PairTest, PredictionPowered, Wald
from registry.significance.base import METHODS, Alternative
from registry.significance.diagnostics.evidence import SystemPairs, chance_codes
from registry.significance.distributions import clopper_pearson
from registry.significance.intervals import ClosedForm, group_by_item, refusal
from registry.significance.multiple import (
    Draws,
    adjust_boards,
    adjust_max_t,
    adjust_min_p,
    draw_differences,
    number_chains,
)
from registry.significance.resampling.exceedances import Stopping
from registry.store import comparisons, models
from registry.store.catalog import PairRequestRow
from registry.store.log import Journal, metric_version
from registry.store.rows import Coded, insert_bulk, next_id

# The columns of a stored result that corrections and decisions use, in the direction of the stored result.
_COLUMNS = {"pair_result_id": np.int32, "method": np.uint8, "difference": np.float64, "p_value": np.float64,
            "p_low": np.float64, "p_high": np.float64, "favours": np.int8}
RESULT = np.dtype(list(_COLUMNS.items()))


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of systems (A, B) on a leaderboard, with their test results.

    Attributes:
        a, b: Position of the better and of the worse system on the leaderboard, from 0, [pairs].
        is_swapped: True if the database has the result of (B, A) instead of (A, B), [pairs].
        results: Results with p-values before correction, as a structured array of type `RESULT`, [pairs].
        is_tested: True if this comparison has tested the pair, [pairs]. False if the result was stored before, or if
            another pair with the same statistics was tested instead.
        resamples: Number of resamples of the last test, [pairs].
    """

    a: Ints
    b: Ints
    is_swapped: Flags
    results: NDArray[Any]
    is_tested: Flags
    resamples: Ints

    @property
    def canonical(self) -> Ints:
        """Positions of the two systems of each pair, in the order of the stored result.

        The database stores the result of only one of the pairs (A, B) and (B, A). Shape: [pairs, 2].
        """
        return np.where(self.is_swapped, [self.b, self.a], [self.a, self.b]).T


@dataclass(frozen=True)
class BoardResults:
    """Test results of all pairs of systems on one leaderboard.

    The method `test_pairs` loads stored results, or computes them.
    """

    connection: Connection
    journal: Journal
    board: Board
    request: Request
    test: PairTest

    @property
    def settings(self) -> Significance:
        """Settings of the comparison."""
        return self.request.significance

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs of systems; their results are 0 until `test_pairs` is called."""
        a, b = np.triu_indices(len(self.board.members), 1)
        _, contents = self._contents
        return Pairs(a, b, contents[b] < contents[a], np.zeros(len(a), dtype=RESULT), np.zeros(len(a), dtype=bool),
                     np.zeros(len(a), dtype=np.int64))

    @cached_property
    def _contents(self) -> tuple[list[str], Ints]:
        # systems with the same statistics have the same digest, which occurs once
        digests, contents = np.unique(self.board.digests, return_inverse=True)
        return digests.tolist(), contents

    @cached_property
    def _statistics_ids(self) -> Ints:
        return comparisons.statistics_ids(self.connection, self._contents[0])

    def test_pairs(self, chosen: Ints, resamples: int) -> None:
        """Load the stored results of some pairs, and test the pairs without a result.

        Args:
            chosen: Indices of the pairs.
            resamples: Number of resamples or permutations.
        """
        if not len(chosen):
            return
        pairs, (digests, contents) = self.pairs, self._contents
        pairs.resamples[chosen] = resamples
        for alternative, group in self._group_by_alternative(chosen):
            pair_request = comparisons.pair_request_id(self.connection, PairRequestRow(
                metric_version(self.connection, repr(self.board.metric)), repr(self.test), alternative, resamples,
                self.request.seed, self.settings.interval, self.settings.confidence, self.settings.runs))
            members = pairs.canonical[group]
            a, b = contents[members].T
            keys = a * len(digests) + b
            stored_keys, results = self._load_results(pair_request)
            positions = np.full(len(digests)**2, -1, dtype=np.int32)  # index of the result by key; avoids a sort
            positions[stored_keys] = np.arange(len(stored_keys))
            missing = np.flatnonzero(positions[keys] < 0)
            if len(missing):
                positions[keys[missing][::-1]] = missing[::-1]
                first = missing[positions[keys[missing]] == missing]  # first of equal pairs
                pairs.is_tested[group[first]] = True
                positions[keys[first]] = np.arange(len(stored_keys), len(stored_keys) + len(first))
                results = np.append(results, self._compute(pair_request, members[first], alternative, resamples))
            pairs.results[group] = results[positions[keys]]

    def _group_by_alternative(self, chosen: Ints) -> Iterator[tuple[Alternative, Ints]]:
        sides = np.where(self.pairs.is_swapped, -self.sides, self.sides)[chosen]
        for alternative, side in SIDES.items():
            if len(group := chosen[sides == side]):
                yield alternative, group

    @property
    def chance_codes(self) -> list[str]:
        """Codes of warnings that a few pairs get by chance, because there are many pairs.

        Such warnings about pairs do not become warnings about the leaderboard.
        """
        pairs = SystemPairs.every(self.board.matrix.by_unit)
        return chance_codes(self.test.pair_warnings(pairs), len(self.board.members)) if len(pairs.a) else []

    @cached_property
    def sides(self) -> Ints:
        """The alternative hypothesis of each pair (A, B): 1, -1, or 0, [pairs].

        1 means "A is better", -1 means "B is better", and 0 means two-sided.
        """
        return choose_sides(self.board.members, self.settings, self.pairs.a, self.pairs.b)

    def _load_results(self, pair_request: int) -> tuple[Ints, NDArray[Any]]:
        """Load the stored results of the pairs on this leaderboard.

        Args:
            pair_request: Id of the test and the settings of the results.

        Returns:
            For each stored result a number that encodes its pair of systems, and the result. The number is a * n + b if
                the statistics of the two systems have the indices a and b among n distinct statistics.
        """
        ids = self._statistics_ids
        stored = comparisons.pair_results(
            self.connection, pair_request, ids, ("statistics_a", "statistics_b", *_COLUMNS), METHODS)
        order = np.argsort(ids)
        a, b = (order[np.searchsorted(ids, stored[side], sorter=order)] for side in ("statistics_a", "statistics_b"))
        results = np.empty(len(a), dtype=RESULT)
        for name in _COLUMNS:
            results[name] = stored[name]
        return a * len(ids) + b, results

    def _compute(self, pair_request: int, members: Ints, alternative: Alternative, resamples: int) -> NDArray[Any]:
        settings = replace(self.request.pair_settings, alternative=alternative, resamples=resamples)
        tested = self.test.run(self.board.matrix.by_unit, members, settings)
        first_id = next_id(self.connection, models.pair_result)
        results = np.empty(len(members), dtype=RESULT)
        results["pair_result_id"] = np.arange(first_id, first_id + len(members))
        for name in list(_COLUMNS)[1:]:
            results[name] = getattr(tested, name)
        _, contents = self._contents
        order = order_for_storage(tested.difference, tested.n_discordant)
        a, b = self._statistics_ids[contents[members[order]]].T
        stored = tested[order]
        numbers = ("difference", "p_value", "log10_p", "p_low", "p_high", "ci_low", "ci_high", "n_units",
                   "n_discordant", "statistic", "favours")
        insert_bulk(self.connection, models.pair_result, {name: getattr(stored, name) for name in numbers} | {
            "method": Coded(stored.method, METHODS),
            "messages": Coded(stored.messages, [messages.dump() for messages in stored.different]),
            "resamples": np.ma.masked_less(stored.resamples, 0),
            "pair_result_id": results["pair_result_id"][order], "pair_request_id": pair_request, "statistics_a": a,
            "statistics_b": b, "run_id": self.journal.run_id(self.connection)})
        return results


def order_for_storage(difference: Floats, n_discordant: Ints) -> Ints:
    """Return the order in which to insert test results into the database, [pairs].

    If most differences occur several times, results are sorted by difference, because DuckDB compresses neighbouring
    rows with equal numbers. Otherwise, the order does not change.
    """
    order = np.lexsort((n_discordant, difference))
    repeats = np.diff(difference[order]) == 0
    return order if 2 * np.count_nonzero(repeats) > len(order) else np.arange(len(order))


@dataclass(frozen=True, eq=False)
class Decisions:
    """Adjusted p-values of the pairs of one leaderboard.

    Attributes:
        adjusted: Adjusted p-values, [pairs]; nan if undefined.
        resolved: False if alpha lies in the Monte Carlo interval of the adjusted p-value, [pairs].
    """

    adjusted: Floats
    resolved: Flags


@dataclass(frozen=True)
class FamilyResults:
    """Test results of all leaderboards whose p-values are corrected together."""

    boards: Sequence[BoardResults]

    @property
    def settings(self) -> Significance:
        """Settings of the tests, which are the same for all leaderboards."""
        return self.boards[0].settings

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs of systems on all leaderboards."""
        return sum(len(board.pairs.a) for board in self.boards)

    @property
    def _corrects_p_values(self) -> bool:
        return CORRECTIONS[self.settings.correction].function is not None

    @cached_property
    def is_random(self) -> bool:
        """True if results depend on random numbers; valid after `test_all_pairs`."""
        methods = {METHODS[code] for board in self.boards for code in np.unique(board.pairs.results["method"])}
        return "monte-carlo" in methods or not self._corrects_p_values

    def test_all_pairs(self) -> list[Decisions]:
        """Test all pairs, and return the adjusted p-values of each leaderboard.

        Pairs whose significance is still uncertain are tested again with up to ten times as many resamples, up to the
        limits that the settings `resolve` and `precision` set.
        """
        resamples = self.settings.draws
        for board in self.boards:
            board.test_pairs(np.arange(len(board.pairs.a)), resamples)
        decisions = self._adjust_p_values()
        stopping = Stopping((self.settings.resolve or 0) if self._corrects_p_values else 0, self.settings.precision)
        while resamples < stopping.most and any(map(len, undecided := self._find_undecided(decisions, stopping))):
            resamples = stopping.more_draws(resamples, min(
                float(board.pairs.results["p_value"][chosen].min(initial=1))
                for board, chosen in zip(self.boards, undecided, strict=True)))
            for board, chosen in zip(self.boards, undecided, strict=True):
                board.test_pairs(chosen, resamples)
            decisions = self._adjust_p_values()
        return decisions

    def _find_undecided(self, decisions: Sequence[Decisions], stopping: Stopping) -> list[Ints]:
        return [np.flatnonzero(
                    ~decided.resolved & stopping.are_imprecise(board.pairs.results["p_value"], board.pairs.resamples))
                for board, decided in zip(self.boards, decisions, strict=True)]

    @cached_property
    def _pair_numbers(self) -> list[Ints]:
        # pairs of the same systems on the same items have the same number, also for another metric
        return number_chains([
            (board.board.key.item_set, np.array([member.submission_id for member in board.board.members])[
                np.stack([board.pairs.a, board.pairs.b])]) for board in self.boards])

    def _adjust_p_values(self) -> list[Decisions]:
        """Adjust all p-values together, and mark pairs whose significance is uncertain.

        A simulated p-value has a Monte Carlo interval. Both ends of the interval are adjusted, too, which gives bounds
        of the adjusted p-value. The significance is uncertain if alpha is between the bounds.
        """
        if not self._corrects_p_values:
            return self._step_down()
        results = [board.pairs.results for board in self.boards]
        p = [result["p_value"] for result in results]
        if all(np.isnan(result["p_low"]).all() for result in results):
            return [Decisions(adjusted, np.ones(len(adjusted), dtype=bool))
                    for adjusted in adjust_boards(p, self._pair_numbers, self.settings.correction)]
        ends = ([np.where(np.isnan(result[side]), result["p_value"], result[side]) for result in results]
                for side in ("p_low", "p_high"))
        values = (adjust_boards(values, self._pair_numbers, self.settings.correction) for values in (p, *ends))
        alpha = self.settings.alpha
        return [Decisions(adjusted, (high <= alpha) | ~(low <= alpha))
                for adjusted, low, high in zip(*values, strict=True)]

    def _step_down(self) -> list[Decisions]:
        """Adjust p-values by joint resamples (max-T or min-P).

        Leaderboards on different items cannot share resamples. So each group of leaderboards on the same items gets a
        part of alpha, in proportion to its number of pairs.
        """
        groups: dict[Any, list[int]] = {}
        for n, board in enumerate(self.boards):
            key, matrix, items = board.board.key, board.board.matrix, board.board.items
            groups.setdefault((key.item_set, matrix.by_unit.n_units, items.tobytes()), []).append(n)
        decisions: dict[int, Decisions] = {}
        for positions in groups.values():
            group = [self.boards[n] for n in positions]
            share = sum(len(board.pairs.a) for board in group) / max(1, self.n_pairs)
            decisions |= dict(zip(positions, self._step_down_group(group, share), strict=True))
        return [decisions[n] for n in range(len(self.boards))]

    def _step_down_group(self, group: Sequence[BoardResults], share: float) -> list[Decisions]:
        settings = self.settings
        adjust = adjust_min_p if settings.correction == "min-p" else adjust_max_t
        simulated = adjust(*map(_draw_differences, group)).adjusted
        p = np.concatenate([board.pairs.results["p_value"] for board in group])
        is_defined = ~np.isnan(simulated)
        n_extreme = np.rint(simulated[is_defined] * (settings.draws + 1)).astype(np.int64) - 1
        low, high = clopper_pearson(n_extreme, settings.draws)
        resolved, level = ~is_defined, settings.alpha * share
        resolved[is_defined] = (high <= level) | (low > level)
        # An exact p-value can be larger than the simulated adjusted one.
        adjusted = np.fmax(simulated if share == 1 else np.minimum(simulated / share, 1), p)
        ends = np.cumsum([len(board.pairs.a) for board in group])[:-1]
        return [Decisions(*parts) for parts in zip(np.split(adjusted, ends), np.split(resolved, ends), strict=True)]


def _draw_differences(board: BoardResults) -> Draws:
    pairs = board.pairs
    draws = draw_differences(board.board.matrix.by_unit, list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)),
                             board.request.pair_settings, board.test.name, board.sides)
    return replace(draws, observed=np.where(np.isnan(pairs.results["p_value"]), np.nan, draws.observed))


@dataclass(frozen=True, eq=False)
class BoardIntervals:
    """Confidence intervals of the scores and differences of a leaderboard.

    Attributes:
        results: The leaderboard with the test results of its pairs.
    """

    results: BoardResults

    @cached_property
    def test_intervals(self) -> Floats:
        """Confidence intervals of scores that the test itself computes, [systems, 2].

        The values are nan if the test computes no intervals.
        """
        return self.results.test.score_intervals(self.results.board.matrix, self.results.request.settings)

    @property
    def has_test_intervals(self) -> bool:
        """True if the test itself computes confidence intervals of scores."""
        return bool(np.isfinite(self.test_intervals).any())

    @cached_property
    def scores(self) -> Floats:
        """Confidence intervals of scores, [systems, 2]; nan if undefined.

        The intervals come from the test, or else from another method, such as a closed form.
        """
        if not self._lacks_method:
            return self.test_intervals
        if self._is_judged:
            return PredictionPowered().score_intervals(self._matrix, self.results.request.settings)
        return self.test_intervals if self._refusal else np.stack(self._closed_form.scores(), axis=1)

    @property
    def description(self) -> dict[str, Any]:
        """A JSON object about confidence intervals that the test itself does not compute.

        The object contains the methods and their limitations, or the reason why no method applies.
        """
        scores: dict[str, Any] = {}
        if self._lacks_method and self._is_judged:
            scores = {"scores": ["judged"]}
        elif self._lacks_method and self._refusal:
            scores = {"no_scores": self._refusal.stored()}
        elif self._lacks_method:
            counts = {"n_skewed": self._closed_form.count_skewed(), "n_even": self._closed_form.count_even_units(),
                      "n_error_free": self._closed_form.count_error_free()}
            scores = {"scores": list(self._closed_form.score_methods)} | {name: n for name, n in counts.items() if n}
        if self.results.test.gives_intervals(self._matrix):
            return scores
        if self._refusal:
            return scores | {"no_differences": self._refusal.stored()}
        methods = self._closed_form.difference_methods
        quantile = {"quantile": self._closed_form.quantile} if "bonett-price" in methods else {}
        contrary = {"n_contrary": n} if (n := self._count_contrary()) else {}
        return scores | {"differences": list(methods)} | quantile | contrary

    def store_differences(self) -> None:
        """Store the confidence intervals of differences of systems.

        Intervals that can be computed again from stored counts are not stored.
        """
        if self._refusal or self.results.test.gives_intervals(self._matrix):
            return
        pairs = self.results.pairs
        ids, first = np.unique(pairs.results["pair_result_id"], return_index=True)
        is_new = ~self._closed_form.are_counted(*pairs.canonical[first].T)
        if is_new.any():
            is_new &= ~np.isin(ids, comparisons.find_intervals(self.results.connection, ids))
        if is_new.any():
            low, high = self._closed_form.differences(*pairs.canonical[first[is_new]].T)
            insert_bulk(self.results.connection, models.pair_interval, {
                "pair_result_id": ids[is_new], "low": low, "high": high})

    def _count_contrary(self) -> int:
        """Count pairs whose p-value and confidence interval contradict each other.

        The p-value shows a significant difference and the interval does not, or vice versa. P-values are two-sided and
        not adjusted.
        """
        if self.results.settings.alternative != "two-sided":
            return 0
        p_values = self.results.pairs.results["p_value"]
        low, high = self._closed_form.differences(*self.results.pairs.canonical.T)
        is_defined = ~(np.isnan(low) | np.isnan(p_values))
        excludes_zero = (low > 0) | (high < 0)
        return int(np.count_nonzero(
            is_defined & (excludes_zero != (p_values <= 1 - self._closed_form.confidence))))

    @cached_property
    def _matrix(self) -> Matrix:
        return group_by_item(self.results.board.matrix)

    @property
    def _population(self) -> str:
        return self.results.test.over if isinstance(self.results.test, Crossed) else "runs"

    @cached_property
    def _refusal(self) -> Message | None:
        return refusal(self._matrix, self._population)

    @cached_property
    def _closed_form(self) -> ClosedForm:
        settings = self.results.request.settings
        return ClosedForm(self._matrix, settings.confidence, self._population, settings.execution)

    @property
    def _lacks_method(self) -> bool:
        # a test that computes intervals from resamples has a method, even if all intervals are undefined
        test = self.results.test
        return not (self.has_test_intervals or test.draws_intervals or isinstance(test, Wald))

    @property
    def _is_judged(self) -> bool:
        return self._matrix.judged is not None and PredictionPowered().refusal(self._matrix) is None
