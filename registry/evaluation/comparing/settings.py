"""Settings of a comparison, which the task declares and the user can override."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from registry.errors import InputError
from registry.evaluation.comparing.directions import OBSERVED
from registry.evaluation.resolve import build_tests, resolve_significance
from registry.manifest import (
    DRAWS,
    MOST_DRAWS,
    NAMES_PARTICIPANT,
    PRECISION,
    Significance,
    decode_manifest,
    update_significance,
)
from registry.significance import CORRECTIONS, Execution, Settings
from registry.significance.multiple import count_required_draws
from registry.store.catalog import TaskRow
from registry.store.log import now


@dataclass(frozen=True)
class Request:
    """A request to compare all systems of a task.

    Attributes:
        significance: Settings of the tests, with a seed.
        facets: For each test set, item attributes such as genre; each value of an attribute has its own leaderboard.
        rank_baselines: True if baselines have ranks.
        rank_late: True if late submissions have ranks.
        metrics: Aliases of the requested metrics; None: all metrics.
        execution: Number of workers, memory, and a function that receives the progress.
        n_pairs: Number of pairs that are tested together. Exact tests choose their method by the cost of all pairs.
    """

    significance: Significance
    facets: dict[str, list[str]]
    rank_baselines: bool = True
    rank_late: bool = True
    metrics: tuple[str, ...] | None = None
    execution: Execution = field(default=Execution(), compare=False)
    n_pairs: int = 1

    @classmethod
    def from_json(cls, stored: str, execution: Execution | None = None) -> Request:
        """Restore the settings of a stored comparison, to repeat it.

        Args:
            stored: The settings as JSON.
            execution: Number of workers, and memory; None: the defaults.
        """
        request = json.loads(stored)
        return cls(Significance.model_validate(request["significance"]), {}, request["rank_baselines"],
                   request.get("rank_late", True), execution=execution or Execution())

    def is_ranked(self, kind: str, *, late: bool) -> bool:
        """Return whether a submission gets a rank on leaderboards.

        Args:
            kind: Kind of the submission: primary, contrastive or baseline.
            late: True if the submission is late.
        """
        return (self.rank_baselines or kind != "baseline") and (self.rank_late or not late)

    @property
    def alternative(self) -> str:
        """The alternative hypothesis: `two-sided`, `greater` or `observed`.

        `observed` means that a one-sided test takes its direction from the observed difference.
        """
        return OBSERVED if build_tests(self.significance)[0].is_one_sided else self.significance.alternative

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        assert self.significance.seed is not None  # every task has one
        return self.significance.seed

    @property
    def settings(self) -> Settings:
        """Settings of confidence intervals and of tests of all systems at once.

        Intervals and tests are two-sided.
        """
        settings = self.significance
        return Settings("two-sided", settings.draws, self.seed, confidence=settings.confidence,
                        execution=self.execution, family=self.n_pairs)

    @property
    def pair_settings(self) -> Settings:
        """Settings of the tests of pairs of systems."""
        return replace(self.settings, alternative=self.significance.alternative, interval=self.significance.interval)

    def resolve_resamples(self, n_systems: int, n_other_pairs: int = 0) -> Request:
        """Replace `resamples = "auto"` by a number that suits the number of pairs.

        The number is the smallest power of ten, at least 100,000, with which a pair can become significant if all
        p-values are simulated. If the correction needs only p-values, pairs whose significance is uncertain can get
        more resamples: up to the setting `resolve`, or by default until their p-values have a relative error of 10 %.

        Args:
            n_systems: Number of systems of the leaderboard.
            n_other_pairs: Number of pairs of other leaderboards that are corrected together with this one.
        """
        settings, n_pairs = self.significance, math.comb(n_systems, 2)
        if settings.resamples != "auto":
            return replace(self, n_pairs=n_pairs)
        first = _choose_first_draws(n_pairs + n_other_pairs, settings.correction, settings.alpha)
        if CORRECTIONS[settings.correction].function is None:
            numbers: dict[str, float | None] = {"resamples": min(first, MOST_DRAWS), "precision": None}
        else:
            most = settings.resolve or MOST_DRAWS
            default = PRECISION if settings.resolve is None else None
            numbers = {"resamples": min(first, most), "resolve": most, "precision": settings.precision or default}
        return replace(self, significance=update_significance(settings, numbers), n_pairs=n_pairs)


@cache
def _choose_first_draws(n_pairs: int, correction: str, alpha: float) -> int:
    draws = DRAWS
    required = count_required_draws(np.full(n_pairs, np.nan), correction, alpha) if n_pairs else 1
    while draws < required:
        draws *= 10
    return draws


def build_request(task_row: TaskRow, overrides: Mapping[str, Any] | None = None,
                  metrics: tuple[str, ...] | None = None, execution: Execution | None = None) -> Request:
    """Build a request to compare systems, from the settings that the task declares.

    Args:
        task_row: The task, which declares the settings.
        overrides: Settings that replace declared settings, by name.
        metrics: Aliases of the requested metrics; None: all metrics.
        execution: Workers and memory; None: the defaults.

    Raises:
        InputError: A setting in `overrides` is invalid.
    """
    manifest = decode_manifest(task_row.manifest)
    significance = update_significance(manifest.significance, {"seed": task_row.seed, **(overrides or {})})
    is_anonymous = task_row.anonymous_until is not None and task_row.anonymous_until > now()
    if significance.candidate is not None and is_anonymous:
        raise InputError(f"candidate {NAMES_PARTICIPANT}")
    if wrong := manifest.find_family_fault(significance.family):
        raise InputError(f"family {wrong}")
    if significance.unit is None:
        resolve_significance(significance)
    return Request(significance, {t.name: t.facets for t in manifest.test_set}, manifest.board.rank_baselines,
                   manifest.board.rank_late, metrics, execution or Execution())
