"""Rows that are made anew beside the stored ones, whose tables are set aside; and which need not be the same."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import Connection, select

from registry.provenance import Code, code, environment
from registry.store import models

# A table of the scores that other code than this program's gave another value; in a release nobody looks for any.
STALE_SCORES = "CREATE TEMP TABLE IF NOT EXISTS stale_score (scoring_id INTEGER, metric_id INTEGER)"

_ALIKE = ("python", "platform", "vectors", "blas", "numpy", "scipy", "sacrebleu")


def set_aside(connection: Connection, tables: Iterable[str]) -> None:
    """Empty tables, in a copy of the database; what they held is in temporary ones, `stored_` and the name."""
    for table in tables:
        connection.exec_driver_sql(f'CREATE TEMP TABLE "stored_{table}" AS FROM "{table}"')
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608


def runs_elsewhere(connection: Connection) -> set[int]:
    """The runs that computed by other code, other versions, on another platform, or on what is not known."""
    here, this, found = environment(), code(), set()
    for run in connection.execute(select(models.run)):
        there = json.loads(run.environment)
        if any(there.get(name) != here.get(name) for name in _ALIKE) or this != Code(
                run.code_version, run.code_revision, run.code_dirty):
            found.add(int(run.run_id))
    return found
