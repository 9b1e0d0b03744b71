"""Commands that show results: board, pairs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say, show, show_boards
from registry.cli.options import Db, MetricAlias, OutputFormat, TaskName, database
from registry.cli.study.command import say_refused, study_archive
from registry.errors import InputError, MismatchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from registry.leaderboards.leaderboard import Leaderboard
    from registry.leaderboards.leaderboard import Ranks as Convention
    from registry.rendering.table import Table
    from registry.store.catalog import AnyRow
    from registry.studies.macro_average import MacroBoard


class Ranks(StrEnum):
    """Conventions of the ranks that are left open."""

    range = "range"
    cluster = "cluster"
    neighbour = "neighbour"
    bootstrap = "bootstrap"


def board(
    task: TaskName = None,
    metric: MetricAlias = None,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "Which ranks are left open: by all significant wins and losses, by clusters alone, up to the nearest systems "
        "that differ, or by resampling. Else as the task declares."))] = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "A row for each system: its scores by all metrics, on all test sets and facets, and their averages."))] = False,
    db: Db = None,
    format_: OutputFormat = None,
) -> None:
    """Print the leaderboards."""
    if wide:
        if ranks is not None:
            raise InputError("--wide shows the ranks that significant differences leave open; leave --ranks out")
        show(_wide(task, metric, db), format_)
        return
    show_boards(_boards(task, metric, db, None if ranks is None else ranks.value), format_)


def pairs(
    task: TaskName = None,
    metric: MetricAlias = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "The pairs of macro-averages over test sets, as `registry board --wide` shows them."))] = False,
    db: Db = None,
    format_: OutputFormat = None,
) -> None:
    """Print every pair of systems with its p-values."""
    from registry.reports.boards import pair_tables

    if wide:
        from registry.reports.wide import macro_pair_table

        found = [of for row in _tasks(task, metric, db) for of in macro_averages(row.slug, metric, db)]
        if not found:
            raise MismatchError("no task here has several test sets to average over")
        show([macro_pair_table(of) for of in found], format_)
        return
    show(pair_tables(_boards(task, metric, db, "range")), format_)


def _wide(task: str | None, metric: str | None, db: Path | None) -> list[Table]:
    from registry.reports.wide import wide_boards, wide_table
    from registry.store import catalog

    found: list[Table] = []
    boards = _boards(task, metric, db, "range")
    for row in _tasks(task, metric, db):
        of_task = [board for board in boards if board.task == row.slug]
        with database(db).reading() as connection:
            primary = catalog.primary_metric(connection, row.task_id).alias
        found += map(wide_table, wide_boards(of_task, macro_averages(row.slug, metric, db), primary))
    return found


def _tasks(task: str | None, metric: str | None, db: Path | None) -> Sequence[AnyRow]:
    """The tasks that are meant."""
    from registry.store import catalog

    with database(db).reading() as connection:
        rows = catalog.tasks(connection, task)
        catalog.check_metric(connection, rows, metric)
        return rows


def macro_averages(task: str, metric: str | None, db: Path | None) -> list[MacroBoard]:
    """The macro-averages of a task, found or made and kept where they can be."""
    from registry.studies.macro_average import macro_boards
    from registry.studies.study import Choice

    archive = study_archive(db, "macro-average", task)
    found = macro_boards(archive, Choice(task, metric))
    say_refused(archive)
    return found


def _boards(task: str | None, metric: str | None, db: Path | None, ranks: Convention | None) -> list[Leaderboard]:
    from registry.leaderboards.load import declared_leaderboards, stale
    from registry.store import catalog

    with database(db).reading() as connection:
        rows = catalog.tasks(connection, task)
        catalog.check_metric(connection, rows, metric)
        found = [board for row in rows for board in declared_leaderboards(connection, row, metric, ranks)]
        if not found:
            raise MismatchError("there is no comparison to show yet; `registry score` and `registry compare` make one")
        for warning in stale(connection, task):
            say(f"warning: {warning}")
    return found
