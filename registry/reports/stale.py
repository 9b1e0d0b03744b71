"""Scores that were not what the program computes of today's gold, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from registry.evaluation.scoring.stale import StaleScore
from registry.rendering.table import Column, Table, number


def stale_table(found: Sequence[tuple[StaleScore, float | None]]) -> Table:
    """What was stale, why, the score that it was, and the one that it is."""
    rows = [{"task": of.task, "test_set": of.test_set, "submission": of.submission, "metric": of.metric,
             "before": of.value, "after": value, "why": of.why} for of, value in found]
    columns = [Column(name, name.replace("_", " ")) for name in ("task", "test_set", "submission", "metric")]
    columns += [Column(name, name, number(4), right=True) for name in ("before", "after")]
    return Table(rows, [*columns, Column("why", "why")], "What was stale" if rows else "Nothing was stale")
