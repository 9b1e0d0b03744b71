"""Intervals of a board's scores and differences: the test's own, else those in closed form.

Those of scores belong to a comparison. Those of differences that the test gives are part of a raw result, which never
changes; others are rows of a table of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from registry.arrays import Floats
from registry.evaluation.comparing.pair_results import BoardResults
from registry.messages import Message
from registry.significance import Crossed, Matrix, PredictionPowered
from registry.significance.intervals import ClosedForm, over_items, refusal
from registry.store import comparisons, models
from registry.store.rows import insert_bulk


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
            scores |= {"n_skewed": n} if (n := self._closed.n_skewed()) else {}
            scores |= {"n_even": n_even} if (n_even := self._closed.n_even()) else {}
            scores |= {"n_error_free": n} if (n := self._closed.n_error_free()) else {}
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
            new &= ~np.isin(ids, comparisons.with_intervals(self.of.connection, ids))
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
        return over_items(self.of.board.matrix)

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
