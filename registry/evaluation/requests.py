"""What a task declares about significance, with what somebody asks for instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.evaluation.boards import Request
from registry.evaluation.resolve import resolve_stored
from registry.manifest import significance_with
from registry.store.catalog import AnyRow


def declared_request(task_row: AnyRow, given: Mapping[str, Any] | None = None,
                     metrics: tuple[str, ...] | None = None) -> Request:
    """The comparison that the task declares; `given` settings take the place of the declared ones.

    Raises:
        InputError: A given setting is wrong.
    """
    manifest = resolve_stored(task_row.manifest, task_row.slug).manifest
    significance = significance_with(manifest.significance, {"seed": task_row.seed, **(given or {})})
    return Request(significance, {t.name: t.facets for t in manifest.test_set}, manifest.board.rank_baselines, metrics)
