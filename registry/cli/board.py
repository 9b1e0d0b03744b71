"""Commands that show results: board, pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.cli.console import say, show
from registry.cli.options import Db, MetricAlias, OutputFormat, TaskName, database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.cli.options import Format
    from registry.reports.table import Table


def board(task: TaskName = None, metric: MetricAlias = None, db: Db = None, format_: OutputFormat = None) -> None:
    """Print the leaderboards."""
    from registry.reports.boards import boards

    _show(boards, task, metric, db, format_)


def pairs(task: TaskName = None, metric: MetricAlias = None, db: Db = None, format_: OutputFormat = None) -> None:
    """Print every pair of systems with its p-values."""
    from registry.reports.boards import pair_tables

    _show(pair_tables, task, metric, db, format_)


def _show(load: Callable[..., list[Table]], task: str | None, metric: str | None, db: Path | None,
          format_: Format | None) -> None:
    from registry.errors import MismatchError
    from registry.reports.boards import boards, stale
    from registry.store import catalog

    with database(db).reading() as connection:
        rows = catalog.tasks(connection, task)
        catalog.check_metric(connection, rows, metric)
        tables = load(connection, task, metric)
        if not tables and not boards(connection, task, metric):
            raise MismatchError("there is no comparison to show yet; `registry score` and `registry compare` make one")
        for warning in stale(connection, task):
            say(f"warning: {warning}")
    show(tables, format_)
