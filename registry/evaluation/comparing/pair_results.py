"""The raw results of a board's pairs, found or computed, as columns.

A raw result is keyed by the content it rests on, in one canonical direction of the pair, so one more submission
computes only its own pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from registry.significance import PairTest
from registry.significance.base import METHODS, Alternative, PairResults
from registry.significance.diagnostics.evidence import SystemPairs, chance_codes
from registry.store import comparisons, models
from registry.store.catalog import PairRequestRow
from registry.store.log import Journal, scored_by
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
                scored_by(self.connection, repr(self.board.metric)), repr(self.test), alternative, resamples,
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
