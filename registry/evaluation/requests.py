"""What a comparison is asked for: what the task declares about significance, with what somebody gives instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.evaluation.resolve import resolve_significance, resolve_stored
from registry.manifest import Significance, significance_with
from registry.significance import Execution, Settings
from registry.store.catalog import AnyRow


@dataclass(frozen=True)
class Request:
    """What a comparison is asked for: the settings with their seed, and the metrics by alias (None: all).

    `facets` are the item attributes, by test set, for whose every value there is a board; `execution`
    says who computes.
    """

    significance: Significance
    facets: dict[str, list[str]]
    rank_baselines: bool = True
    metrics: tuple[str, ...] | None = None
    execution: Execution = field(default=Execution(), compare=False)

    @property
    def seed(self) -> int:
        """Of all random draws."""
        assert self.significance.seed is not None  # every task has one
        return self.significance.seed

    @property
    def settings(self) -> Settings:
        """Of what is drawn beside the tests of pairs, two-sided, with the dual interval."""
        asked = self.significance
        return Settings("two-sided", asked.resamples, self.seed, confidence=asked.confidence, execution=self.execution)


def declared_request(task_row: AnyRow, given: Mapping[str, Any] | None = None,
                     metrics: tuple[str, ...] | None = None, execution: Execution | None = None) -> Request:
    """The comparison that the task declares; `given` settings take the place of the declared ones.

    Raises:
        InputError: A given setting is wrong.
    """
    manifest = resolve_stored(task_row.manifest, task_row.slug).manifest
    significance = significance_with(manifest.significance, {"seed": task_row.seed, **(given or {})})
    if significance.unit is None:
        test, _ = resolve_significance(significance)
        significance = significance_with(significance, {"unit": test.units[0]})
    return Request(significance, {t.name: t.facets for t in manifest.test_set}, manifest.board.rank_baselines,
                   metrics, execution or Execution())
