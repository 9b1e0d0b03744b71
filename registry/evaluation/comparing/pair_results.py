"""The raw results of a board's pairs, found or computed, as columns.

A raw result is keyed by the content it rests on, in one canonical direction of the pair, so one more submission
computes only its own pairs.
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
from registry.significance import CORRECTIONS, Crossed, Matrix, PairTest, PredictionPowered
from registry.significance.base import METHODS, Alternative, PairResults
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

# What the family needs to know of a raw result, in the canonical direction.
_COLUMNS = {"pair_result_id": np.int32, "method": np.uint8, "difference": np.float64, "p_value": np.float64,
            "p_low": np.float64, "p_high": np.float64, "favours": np.int8}
RESULT = np.dtype(list(_COLUMNS.items()))


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a board's members, best systems first, with their results.

    Attributes:
        a, b: The members, [pairs]; A is the better one.
        is_swapped: Whether the result is kept in the other direction than it is shown, [pairs].
        results: The raw results, [pairs], of type `RESULT`.
        computed: Which of them were not there, [pairs]; of pairs with the same contents one is computed for all.
        draws: How many each was asked for with last, [pairs].
    """

    a: Ints
    b: Ints
    is_swapped: Flags
    results: NDArray[Any]
    computed: Flags
    draws: Ints

    @property
    def canonical(self) -> Ints:
        """The members of each pair in the direction in which its result is kept, [pairs, 2]."""
        return np.where(self.is_swapped, [self.b, self.a], [self.a, self.b]).T


@dataclass(frozen=True)
class BoardResults:
    """Finds or computes the results of the pairs of one board."""

    connection: Connection
    journal: Journal
    board: Board
    request: Request
    test: PairTest

    @property
    def settings(self) -> Significance:
        """The comparison's settings."""
        return self.request.significance

    @cached_property
    def pairs(self) -> Pairs:
        """Every pair; its results are there once they were tested."""
        a, b = np.triu_indices(len(self.board.members), 1)
        _, content = self._contents
        return Pairs(a, b, content[b] < content[a], np.zeros(len(a), dtype=RESULT), np.zeros(len(a), dtype=bool),
                     np.zeros(len(a), dtype=np.int64))

    @cached_property
    def _contents(self) -> tuple[list[str], Ints]:
        """The digests of the statistics that members have, sorted, and the place of each member's among them."""
        digests, content = np.unique(self.board.digests, return_inverse=True)
        return digests.tolist(), content

    @cached_property
    def _statistics(self) -> Ints:
        """The numbers of these statistics in the database."""
        return comparisons.statistics_ids(self.connection, self._contents[0])

    def test_pairs(self, chosen: Ints, resamples: int) -> None:
        """Find the results of the chosen pairs that are there, and compute the others."""
        if not len(chosen):
            return
        pairs, (digests, content) = self.pairs, self._contents
        pairs.draws[chosen] = resamples
        for alternative, of_kind in self._by_alternative(chosen):
            asked = comparisons.pair_request_id(self.connection, PairRequestRow(
                metric_version(self.connection, repr(self.board.metric)), repr(self.test), alternative, resamples,
                self.request.seed, self.settings.interval, self.settings.confidence, self.settings.runs))
            members = pairs.canonical[of_kind]
            a, b = content[members].T
            keys = a * len(digests) + b
            there, found = self._found(asked)
            place = np.full(len(digests)**2, -1, dtype=np.int32)  # of a key's result, without a sort
            place[there] = np.arange(len(there))
            missing = np.flatnonzero(place[keys] < 0)
            if len(missing):
                place[keys[missing][::-1]] = missing[::-1]
                first = missing[place[keys[missing]] == missing]  # of pairs with the same contents
                pairs.computed[of_kind[first]] = True
                place[keys[first]] = np.arange(len(there), len(there) + len(first))
                found = np.append(found, self._compute(asked, members[first], alternative, resamples))
            pairs.results[of_kind] = found[place[keys]]

    def _by_alternative(self, chosen: Ints) -> Iterator[tuple[Alternative, Ints]]:
        """The chosen pairs by the alternative that is tested of them in their canonical direction."""
        sides = np.where(self.pairs.is_swapped, -self.sides, self.sides)[chosen]
        for alternative, side in SIDES.items():
            if len(of_kind := chosen[sides == side]):
                yield alternative, of_kind

    @property
    def chance_codes(self) -> list[str]:
        """Codes of pairs' messages that are no warning about the board, as so many systems explain them by chance."""
        pairs = SystemPairs.every(self.board.matrix.by_unit)
        return chance_codes(self.test.pair_warnings(pairs), len(self.board.members)) if len(pairs.a) else []

    @cached_property
    def sides(self) -> Ints:
        """The side that each pair is tested on as it is shown, [pairs]; see `directions.choose_sides`."""
        return choose_sides(self.board.members, self.settings, self.pairs.a, self.pairs.b)

    def _found(self, asked: int) -> tuple[Ints, NDArray[Any]]:
        """Keys, a number for the contents of A and B, and the results of the pairs of which that was asked before."""
        ids = self._statistics
        stored = comparisons.pair_results(self.connection, asked, ids, ("statistics_a", "statistics_b", *_COLUMNS),
                                          METHODS)
        order = np.argsort(ids)
        a, b = (order[np.searchsorted(ids, stored[side], sorter=order)] for side in ("statistics_a", "statistics_b"))
        found = np.empty(len(a), dtype=RESULT)
        for name in _COLUMNS:
            found[name] = stored[name]
        return a * len(ids) + b, found

    def _compute(self, asked: int, members: Ints, alternative: Alternative, resamples: int) -> NDArray[Any]:
        """Test pairs, and keep their results."""
        settings = replace(self.request.of_pairs, alternative=alternative, resamples=resamples)
        tested = self.test.run(self.board.matrix.by_unit, members, settings)
        first = next_id(self.connection, models.pair_result)
        found = np.empty(len(members), dtype=RESULT)
        found["pair_result_id"] = np.arange(first, first + len(members))
        for name in list(_COLUMNS)[1:]:
            found[name] = getattr(tested, name)
        _, content = self._contents
        rows = in_runs(tested.difference, tested.n_discordant)
        a, b = self._statistics[content[members[rows]]].T
        insert_bulk(self.connection, models.pair_result, _columns(tested[rows]) | {
            "pair_result_id": found["pair_result_id"][rows], "pair_request_id": asked, "statistics_a": a,
            "statistics_b": b, "run_id": self.journal.run_id(self.connection)})
        return found


def in_runs(difference: Floats, n_discordant: Ints) -> Ints:
    """The order in which results are inserted, [pairs]: by difference where few values are many pairs', as with counts.

    DuckDB keeps a run of equal numbers as one, and numbers that do not repeat as they are.
    """
    order = np.lexsort((n_discordant, difference))
    repeats = np.diff(difference[order]) == 0
    return order if 2 * np.count_nonzero(repeats) > len(order) else np.arange(len(order))


def _columns(tested: PairResults) -> dict[str, Any]:
    """Results as the database keeps them."""
    numbers = ("difference", "p_value", "log10_p", "p_low", "p_high", "ci_low", "ci_high", "n_units", "n_discordant",
               "statistic", "favours")
    messages = Coded(tested.messages, [some.dump() for some in tested.different])
    return {name: getattr(tested, name) for name in numbers} | {
        "method": Coded(tested.method, METHODS), "messages": messages,
        "resamples": np.ma.masked_less(tested.resamples, 0)}


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a family makes of the pairs of a board.

    Attributes:
        adjusted: Corrected p-values, [pairs]; nan where undefined.
        resolved: Whether Monte-Carlo error leaves no doubt on which side of alpha they are, [pairs].
    """

    adjusted: Floats
    resolved: Flags


@dataclass(frozen=True)
class FamilyResults:
    """Finds or computes the results of the pairs of the boards of a family, in their order, and decides them."""

    boards: Sequence[BoardResults]

    @property
    def settings(self) -> Significance:
        """The comparisons' settings, the same for all boards."""
        return self.boards[0].settings

    @cached_property
    def n_pairs(self) -> int:
        """How many pairs the family has in all."""
        return sum(len(of.pairs.a) for of in self.boards)

    @cached_property
    def are_drawn(self) -> bool:
        """Whether any decision, once pairs were tested, rests on random draws."""
        methods = {METHODS[code] for of in self.boards for code in np.unique(of.pairs.results["method"])}
        return "monte-carlo" in methods or CORRECTIONS[self.settings.correction].function is None

    def of_all_pairs(self) -> list[Decisions]:
        """Test every pair, and decide it: the decisions of each board.

        Pairs that Monte-Carlo error leaves undecided are drawn again, ten times as often at the most, as far as
        `resolve` and `precision` allow. Earlier blocks of draws stay the same; they are drawn once more, a tenth of the
        work where steps are of ten.
        """
        resamples = self.settings.draws
        for of in self.boards:
            of.test_pairs(np.arange(len(of.pairs.a)), resamples)
        decisions = self._decide()
        by_pair = CORRECTIONS[self.settings.correction].function is not None
        stopping = Stopping((self.settings.resolve or 0) if by_pair else 0, self.settings.precision)
        while resamples < stopping.most and any(map(len, undecided := self._undecided(decisions, stopping))):
            resamples = stopping.more_draws(resamples, min(
                float(of.pairs.results["p_value"][chosen].min(initial=1))
                for of, chosen in zip(self.boards, undecided, strict=True)))
            for of, chosen in zip(self.boards, undecided, strict=True):
                of.test_pairs(chosen, resamples)
            decisions = self._decide()
        return decisions

    def _undecided(self, decisions: Sequence[Decisions], stopping: Stopping) -> list[Ints]:
        """The pairs of each board that are to be drawn again."""
        return [np.flatnonzero(~decided.resolved & stopping.unknown(of.pairs.results["p_value"], of.pairs.draws))
                for of, decided in zip(self.boards, decisions, strict=True)]

    @cached_property
    def _chains(self) -> list[Ints]:
        """The chain of each pair, of each board: the same pair of systems on the same items has one number."""
        return number_chains([(of.board.key.items, np.array([m.submission_id for m in of.board.members])[
            np.stack([of.pairs.a, of.pairs.b])]) for of in self.boards])

    def _decide(self) -> list[Decisions]:
        """Adjust the p-values of the family, and say of which of them Monte-Carlo error leaves the decision resolved.

        Adjusted p-values never fall when a p-value rises, so those of the ends of all intervals bound them.
        """
        if CORRECTIONS[self.settings.correction].function is None:
            return self._step_down()
        results = [of.pairs.results for of in self.boards]
        p = [of["p_value"] for of in results]
        if all(np.isnan(of["p_low"]).all() for of in results):
            adjusted = adjust_boards(p, self._chains, self.settings.correction)
            return [Decisions(of_board, np.ones(len(of_board), dtype=bool)) for of_board in adjusted]
        ends = ([np.where(np.isnan(of[side]), of["p_value"], of[side]) for of in results]
                for side in ("p_low", "p_high"))
        adjusted, low, high = (adjust_boards(values, self._chains, self.settings.correction) for values in (p, *ends))
        return [Decisions(*of) for of in zip(adjusted, [
            (most <= self.settings.alpha) | ~(least <= self.settings.alpha)
            for least, most in zip(low, high, strict=True)], strict=True)]

    def _step_down(self) -> list[Decisions]:
        """Adjust the joint draws of all pairs on the same items; never below an exact p-value, nor where undefined.

        Boards of other items have no draws in common: each group of boards takes its pairs' share of alpha.
        """
        alike: dict[Any, list[int]] = {}
        for n, of in enumerate(self.boards):
            key, matrix, items = of.board.key, of.board.matrix, of.board.items
            alike.setdefault((key.items, matrix.by_unit.n_units, items.tobytes()), []).append(n)
        decisions: dict[int, Decisions] = {}
        for places in alike.values():
            group = [self.boards[n] for n in places]
            share = sum(len(of.pairs.a) for of in group) / max(1, self.n_pairs)
            decisions |= dict(zip(places, self._stepped(group, share), strict=True))
        return [decisions[n] for n in range(len(self.boards))]

    def _stepped(self, group: Sequence[BoardResults], share: float) -> list[Decisions]:
        settings = self.settings
        found = (adjust_min_p if settings.correction == "min-p" else adjust_max_t)(*map(_draws, group)).adjusted
        p = np.concatenate([of.pairs.results["p_value"] for of in group])
        defined = ~np.isnan(found)
        extremes = np.rint(found[defined] * (settings.draws + 1)).astype(np.int64) - 1
        low, high = clopper_pearson(extremes, settings.draws)
        resolved, level = ~defined, settings.alpha * share
        resolved[defined] = (high <= level) | (low > level)
        adjusted = np.fmax(found if share == 1 else np.minimum(found / share, 1), p)
        ends = np.cumsum([len(of.pairs.a) for of in group])[:-1]
        return [Decisions(*of) for of in zip(np.split(adjusted, ends), np.split(resolved, ends), strict=True)]


def _draws(of: BoardResults) -> Draws:
    """The joint draws of all pairs of a board."""
    pairs = of.pairs
    draws = draw_differences(of.board.matrix.by_unit, list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)),
                     of.request.of_pairs, of.test.name, of.sides)
    return replace(draws, observed=np.where(np.isnan(pairs.results["p_value"]), np.nan, draws.observed))


@dataclass(frozen=True, eq=False)
class BoardIntervals:
    """The intervals of a board whose pairs were tested.

    Attributes:
        of: The board, what is asked of it, and its pairs.
    """

    of: BoardResults

    @cached_property
    def own(self) -> Floats:
        """The test's own intervals of scores, [systems, 2]; nan where it gives none."""
        return self.of.test.score_intervals(self.of.board.matrix, self.of.request.settings)

    @property
    def has_own(self) -> bool:
        """Whether the test gives the scores intervals of its own."""
        return bool(np.isfinite(self.own).any())

    @cached_property
    def scores(self) -> Floats:
        """The intervals of scores, [systems, 2]; nan where there are none."""
        if not self._lacks_own:
            return self.own
        if self._is_judged:
            return PredictionPowered().score_intervals(self._matrix, self.of.request.settings)
        return self.own if self._refusal else np.stack(self._closed.scores(), axis=1)

    @property
    def said(self) -> dict[str, Any]:
        """The methods of intervals in closed form, why there are none, and what limits them, as JSON."""
        scores: dict[str, Any] = {}
        if self._lacks_own and self._is_judged:
            scores = {"scores": ["judged"]}
        elif self._lacks_own and self._refusal:
            scores = {"no_scores": self._refusal.stored()}
        elif self._lacks_own:
            scores = {"scores": list(self._closed.score_methods)}
            scores |= {"n_skewed": n} if (n := self._closed.count_skewed()) else {}
            scores |= {"n_even": n_even} if (n_even := self._closed.count_even_units()) else {}
            scores |= {"n_error_free": n} if (n := self._closed.count_error_free()) else {}
        if self.of.test.gives_intervals(self._matrix):
            return scores
        if self._refusal:
            return scores | {"no_differences": self._refusal.stored()}
        methods = self._closed.difference_methods
        counted = {"quantile": self._closed.quantile} if "bonett-price" in methods else {}
        contrary = {"n_contrary": n} if (n := self._n_contrary()) else {}
        return scores | {"differences": list(methods)} | counted | contrary

    def keep_differences(self) -> None:
        """Keep the intervals of differences that are not there yet, nor the test's own, nor told by stored counts."""
        if self._refusal or self.of.test.gives_intervals(self._matrix):
            return
        ids, first = np.unique(self.of.pairs.results["pair_result_id"], return_index=True)
        new = ~self._closed.are_counted(*self.of.pairs.canonical[first].T)
        if new.any():
            new &= ~np.isin(ids, comparisons.find_intervals(self.of.connection, ids))
        if new.any():
            low, high = self._closed.differences(*self.of.pairs.canonical[first[new]].T)
            insert_bulk(self.of.connection, models.pair_interval, {
                "pair_result_id": ids[new], "low": low, "high": high})

    def _n_contrary(self) -> int:
        """Count the pairs whose interval excludes 0 although the raw p-value is larger than 1 - confidence, or not."""
        if self.of.settings.alternative != "two-sided":
            return 0
        p_values = self.of.pairs.results["p_value"]
        low, high = self._closed.differences(*self.of.pairs.canonical.T)
        is_defined = ~(np.isnan(low) | np.isnan(p_values))
        excludes = (low > 0) | (high < 0)
        return int(np.count_nonzero(is_defined & (excludes != (p_values <= 1 - self._closed.confidence))))

    @cached_property
    def _matrix(self) -> Matrix:
        return group_by_item(self.of.board.matrix)

    @property
    def _over(self) -> str:
        """What conclusions hold for, where runs are random."""
        return self.of.test.over if isinstance(self.of.test, Crossed) else "runs"

    @cached_property
    def _refusal(self) -> Message | None:
        return refusal(self._matrix, self._over)

    @cached_property
    def _closed(self) -> ClosedForm:
        settings = self.of.request.settings
        return ClosedForm(self._matrix, settings.confidence, self._over, settings.execution)

    @property
    def _lacks_own(self) -> bool:
        """Whether the test gives scores no intervals; what resamples leave undefined stays that."""
        return not (self.has_own or self.of.test.draws_intervals)

    @property
    def _is_judged(self) -> bool:
        return self._matrix.judged is not None and PredictionPowered().refusal(self._matrix) is None
