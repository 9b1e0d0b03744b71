"""Tables set aside, so that their rows are made anew beside the stored ones; for a copy of the database alone."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

# A table of the scores that other code than this program's gave another value; in a release nobody looks for any.
STALE_SCORES = "CREATE TEMP TABLE IF NOT EXISTS stale_score (scoring_id INTEGER, metric_id INTEGER)"


def set_aside(connection: Connection, tables: Iterable[str]) -> None:
    """Empty tables; what they held is in temporary ones, `stored_` and the name."""
    for table in tables:
        connection.exec_driver_sql(f'CREATE TEMP TABLE "stored_{table}" AS FROM "{table}"')
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608
