"""The raw results of a board's pairs, found or computed, and what the family makes of them.

A raw result is keyed by the content it rests on, in one canonical direction of the pair, so one more submission
computes only its own pairs. Adjusted p-values belong to the family and are decided anew with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request
from registry.identity import digest_json
from registry.manifest import Significance
from registry.significance import CORRECTIONS, PairResult, PairTest, Settings
from registry.significance.base import FLIPPED, Alternative
from registry.significance.multiple.corrections import adjust
from registry.significance.multiple.stepdown import draws_of, max_t, min_p
from registry.significance.resampling.exceedances import monte_carlo_tail
from registry.store import comparisons, models
from registry.store.journal import Journal
from registry.store.row_types import PairResultRow
from registry.store.rows import insert_many

Decisions = tuple[NDArray[np.float64], NDArray[np.bool_]]


@dataclass(frozen=True)
class Pair:
    """Two members of a board (best first), and the canonical direction in which their result is kept."""

    a: int
    b: int
    first: int
    second: int
    alternative: Alternative
    resamples: int
    key: str

    @property
    def is_swapped(self) -> bool:
        """Whether the result is kept in the other direction than it is shown."""
        return self.first != self.a


@dataclass
class PairResults:
    """Finds or computes the results of pairs of one board; `computed` are the pairs whose result was not there."""

    connection: Connection
    journal: Journal
    board: Board
    request: Request
    test: PairTest
    computed: set[tuple[int, int]] = field(default_factory=set)

    @property
    def settings(self) -> Significance:
        """The comparison's settings, of which `_kernel_settings` are made."""
        return self.request.significance

    def of_all_pairs(self) -> tuple[list[Pair], list[PairResultRow]]:
        """Every pair, best systems first, with its result.

        Pairs that Monte-Carlo error leaves undecided are drawn again ten times as often, as far as `resolve` allows.
        Earlier blocks of draws stay the same; they are drawn once more, a tenth of the work where steps are of ten.
        """
        pairs = [self._pair(a, b, self.settings.draws) for a, b in combinations(range(len(self.board.members)), 2)]
        results, resamples = self._results(pairs), self.settings.draws
        by_pair = CORRECTIONS[self.settings.correction].function is not None
        while by_pair and resamples < (self.settings.resolve or 0):
            open_ = [int(n) for n in np.flatnonzero(~self.decide(pairs, results)[1])]
            if not open_:
                break
            resamples = min(10 * resamples, self.settings.resolve or 0)
            for n in open_:
                pairs[n] = self._pair(pairs[n].a, pairs[n].b, resamples)
            for n, row in zip(open_, self._results([pairs[n] for n in open_]), strict=True):
                results[n] = row
        return pairs, results

    def decide(self, pairs: Sequence[Pair], results: Sequence[PairResultRow]) -> Decisions:
        """Adjust the p-values of the family, and say of which of them Monte-Carlo error leaves the decision resolved.

        Adjusted p-values never fall when a p-value rises, so those of the ends of all intervals bound them.
        """
        if not results:
            return np.zeros(0), np.zeros(0, dtype=bool)
        if CORRECTIONS[self.settings.correction].function is None:
            return self._step_down(pairs, results)
        p = np.array([row.p_value for row in results], dtype=np.float64)  # undefined is nan
        low, high = (np.array([end if (end := getattr(row, side)) is not None else row.p_value for row in results],
                              dtype=np.float64) for side in ("p_low", "p_high"))
        adjusted, low, high = (adjust(values, self.settings.correction) for values in (p, low, high))
        return adjusted, (high <= self.settings.alpha) | ~(low <= self.settings.alpha)

    def _step_down(self, pairs: Sequence[Pair], results: Sequence[PairResultRow]) -> Decisions:
        """Adjust the joint draws of all pairs; never below a p-value that is exact, nor where it is undefined."""
        settings, matrix = self.settings, self.board.matrix.by_unit
        p = np.array([row.p_value for row in results], dtype=np.float64)
        drawn = self._kernel_settings(settings.alternative, settings.draws)
        draws = draws_of(matrix, [(pair.a, pair.b) for pair in pairs], drawn, self.test.name)
        draws = replace(draws, observed=np.where(np.isnan(p), np.nan, draws.observed))
        stepped = (min_p if settings.correction == "min-p" else max_t)(draws).adjusted
        adjusted = np.fmax(stepped, p)
        tails = [monte_carlo_tail(round(p * (settings.draws + 1)) - 1, settings.draws) if not math.isnan(p) else None
                 for p in stepped]
        return adjusted, np.array([tail is None or tail.p_high <= settings.alpha or tail.p_low > settings.alpha
                                   for tail in tails])

    def _pair(self, a: int, b: int, resamples: int) -> Pair:
        digests, settings = self.board.digests, self.settings
        swapped = digests[b] < digests[a]
        first, second = (b, a) if swapped else (a, b)
        alternative = FLIPPED[settings.alternative] if swapped else settings.alternative
        key = digest_json({
            "statistics": [digests[first], digests[second]], "metric": repr(self.board.metric),
            "test": repr(self.test), "alternative": alternative, "resamples": resamples, "seed": settings.seed,
            "interval": settings.interval, "confidence": settings.confidence,
            **({} if settings.runs == "fixed" else {"runs": settings.runs}),
        })
        return Pair(a, b, first, second, alternative, resamples, key)

    def _results(self, pairs: Sequence[Pair]) -> list[PairResultRow]:
        """Find the results that are there, and compute the others."""
        keys = [pair.key for pair in pairs]
        found = comparisons.pair_results(self.connection, keys)
        todo = {pair.key: pair for pair in pairs if pair.key not in found}
        for kind in sorted({(pair.alternative, pair.resamples) for pair in todo.values()}):
            self._compute([pair for pair in todo.values() if (pair.alternative, pair.resamples) == kind], *kind)
        self.computed |= {(pair.a, pair.b) for pair in todo.values()}
        if todo:
            found = comparisons.pair_results(self.connection, keys)
        return [found[key] for key in keys]

    def _compute(self, pairs: Sequence[Pair], alternative: Alternative, resamples: int) -> None:
        results = self.test.run(self.board.matrix.by_unit, [(pair.first, pair.second) for pair in pairs],
                                self._kernel_settings(alternative, resamples))
        run_id = self.journal.run_id(self.connection)
        insert_many(self.connection, models.pair_result, [
            _row(result, self.settings) | {
                "digest": pair.key, "statistics_a": self.board.digests[pair.first],
                "statistics_b": self.board.digests[pair.second], "metric": repr(self.board.metric),
                "test": repr(self.test), "alternative": alternative, "run_id": run_id}
            for pair, result in zip(pairs, results, strict=True)])

    def _kernel_settings(self, alternative: Alternative, resamples: int) -> Settings:
        return replace(self.request.settings, alternative=alternative, resamples=resamples,
                       interval=self.settings.interval)


def _row(result: PairResult, settings: Significance) -> dict[str, Any]:
    """A pair result as the database keeps it; what was not used is NULL."""
    has_interval = not np.isnan(result.ci_low)
    return asdict(result) | {
        "seed": None if result.resamples is None else settings.seed,
        "interval": settings.interval if has_interval else None,
        "confidence": settings.confidence if has_interval else None,
    }
