"""What a comparison is asked for: what the task declares about significance, with what somebody gives instead."""

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
    """What a comparison is asked for: the settings with their seed, and the metrics by alias (None: all).

    `facets` are the item attributes, by test set, for whose every value there is a board; `execution`
    says who computes, and `family` how many pairs share what exact p-values may cost.
    """

    significance: Significance
    facets: dict[str, list[str]]
    rank_baselines: bool = True
    rank_late: bool = True
    metrics: tuple[str, ...] | None = None
    execution: Execution = field(default=Execution(), compare=False)
    family: int = 1

    @classmethod
    def recorded(cls, request: str, execution: Execution | None = None) -> Request:
        """The request that is kept with a comparison, as JSON that `BoardKey.asked` gave."""
        asked = json.loads(request)
        return cls(Significance.model_validate(asked["significance"]), {}, asked["rank_baselines"],
                   asked.get("rank_late", True), execution=execution or Execution())

    def ranks(self, kind: str, *, late: bool) -> bool:
        """Whether a submission has a rank, or is shown without."""
        return (self.rank_baselines or kind != "baseline") and (self.rank_late or not late)

    @property
    def alternative(self) -> str:
        """The alternative of one board's request; observed if the test takes its direction from the data."""
        return OBSERVED if build_tests(self.significance)[0].is_one_sided else self.significance.alternative

    @property
    def seed(self) -> int:
        """Of all random draws."""
        assert self.significance.seed is not None  # every task has one
        return self.significance.seed

    @property
    def settings(self) -> Settings:
        """The kernels' settings for what is drawn beside the tests of pairs: two-sided, with the dual interval."""
        settings = self.significance
        return Settings("two-sided", settings.draws, self.seed, confidence=settings.confidence,
                        execution=self.execution, family=self.family)

    @property
    def of_pairs(self) -> Settings:
        """The kernels' settings for the tests of pairs."""
        return replace(self.settings, alternative=self.significance.alternative, interval=self.significance.interval)

    def of_family(self, systems: int, others: int = 0) -> Request:
        """The same for all pairs of so many systems, with numbers in the place of `resamples = "auto"`.

        `others` are the pairs of other boards that are corrected together with these. Pairs get the least power of ten,
        `DRAWS` at least, that lets any of them be significant where all are drawn. No margin is needed: where decisions
        hang on Monte-Carlo error, `resolve` has more drawn, unless the joint draws of pairs are corrected. Who does not
        say how many has pairs drawn until their p-values are known with `PRECISION`.
        """
        settings, family = self.significance, math.comb(systems, 2)
        if settings.resamples != "auto":
            return replace(self, family=family)
        first = _first_draws(family + others, settings.correction, settings.alpha)
        if CORRECTIONS[settings.correction].function is None:
            numbers: dict[str, float | None] = {"resamples": min(first, MOST_DRAWS), "precision": None}
        else:
            most = settings.resolve or MOST_DRAWS
            default = PRECISION if settings.resolve is None else None
            numbers = {"resamples": min(first, most), "resolve": most, "precision": settings.precision or default}
        return replace(self, significance=update_significance(settings, numbers), family=family)


@cache
def _first_draws(pairs: int, correction: str, alpha: float) -> int:
    draws = DRAWS
    needed = count_required_draws(np.full(pairs, np.nan), correction, alpha) if pairs else 1
    while draws < needed:
        draws *= 10
    return draws


def declared_request(task_row: TaskRow, given: Mapping[str, Any] | None = None,
                     metrics: tuple[str, ...] | None = None, execution: Execution | None = None) -> Request:
    """The comparison that the task declares; `given` settings take the place of the declared ones.

    Raises:
        InputError: A given setting is wrong.
    """
    manifest = decode_manifest(task_row.manifest)
    significance = update_significance(manifest.significance, {"seed": task_row.seed, **(given or {})})
    is_anonymous = task_row.anonymous_until is not None and task_row.anonymous_until > now()
    if significance.candidate is not None and is_anonymous:
        raise InputError(f"candidate {NAMES_PARTICIPANT}")
    if wrong := manifest.find_family_fault(significance.family):
        raise InputError(f"family {wrong}")
    if significance.unit is None:
        resolve_significance(significance)
    return Request(significance, {t.name: t.facets for t in manifest.test_set}, manifest.board.rank_baselines,
                   manifest.board.rank_late, metrics, execution or Execution())
