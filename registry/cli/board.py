"""Commands that show results: board, pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.commands import WHICH
from registry.cli.console import Format, say, say_all, show, show_boards
from registry.cli.guide import names
from registry.cli.options import At, Db, MetricAlias, OutputFormat, Public, TaskName, private_database
from registry.cli.study.command import say_refused, study_archive
from registry.errors import HiddenError, InputError, MismatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from registry.boards.leaderboard import Leaderboard
    from registry.boards.snapshot import Snapshot
    from registry.store.database import Database
    from registry.store.log import Moment
    from registry.studies.run import PlannedStudy
    from registry.studies.suites import MacroBoard

_PRINTED = 1_000_000  # pairs, which take some 2 GB as rows
Ranks = Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"]


def board(
    task: TaskName = None, metric: MetricAlias = None,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "Which ranks are left open: by all significant wins and losses, by clusters alone, up to the nearest systems "
        "that differ, by resamples of all systems at once, or by how often resamples give each. Else as the task "
        "declares."))] = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "A row for each system: its scores by all metrics, on all test sets and facets, and their averages."))] = False,
    at: At = None, db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """Print the leaderboards.

    Of a signature that --at names it is the one board of that comparison, with --wide all that stood then.
    """
    from registry.boards.load import BOARD_PAIRS

    opened = private_database(db, at, public=public)
    with opened.reading() as connection:
        try:
            found = read_boards(connection, task, metric, ranks, averages=wide, pairs=BOARD_PAIRS, past=opened.moment)
        except HiddenError as hidden:
            _show_ladders(connection, task, hidden, format_)
            return
    if wide:
        from registry.reports.boards import wide_boards, wide_table

        show([wide_table(board, of.past) for of in averaged(found, opened).tasks
              for board in wide_boards(of.boards, of.averages, of.primary)], format_)
    else:
        show_boards(_named(found, opened.moment), format_)


def _show_ladders(connection: Connection, task: str | None, hidden: HiddenError, format_: Format | None) -> None:
    """Print what is shown of boards whose scores are hidden; where that is nothing they are hidden as ever."""
    from registry.boards.submissions import load_ladders
    from registry.reports.boards import ladder_table

    if not (found := load_ladders(connection, task)):
        raise hidden
    say(f"note: {hidden}")
    show([ladder_table(of) for of in found], format_)


def pairs(
    task: TaskName = None, metric: MetricAlias = None,
    system: Annotated[str | None, typer.Option("--system", "-s", autocompletion=names.systems, rich_help_panel=WHICH,
                                              help="Only the pairs of this system.")] = None,
    top: Annotated[int | None, typer.Option("--top", metavar="N", min=2, help=(
        "Only pairs among the N best systems."))] = None,
    neighbours: Annotated[int | None, typer.Option("--neighbours", metavar="N", min=1, help=(
        "Only pairs at most N places apart."))] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help=(
        "Only the first N of these pairs of every leaderboard."))] = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "The pairs of macro-averages over test sets, as `registry board --wide` shows them."))] = False,
    at: At = None, db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """Print pairs of systems with their p-values.

    Those of the best systems come first. All pairs of large leaderboards are written faster by `registry query
    --format parquet --output FILE "SELECT * FROM pairwise"`.
    """
    from registry.boards.choose import select_pairs
    from registry.reports.boards import pair_table

    chosen = (system, top, neighbours, limit)
    if wide and chosen != (None,) * 4:
        raise InputError("--wide prints the pairs of averages; leave --system, --top, --neighbours and --limit out")
    opened = private_database(db, at, public=public)
    with opened.reading() as connection:
        if wide:
            asked = _macro_questions(connection, task, metric)
        else:
            found = read_boards(connection, task, metric, "range", past=opened.moment)
    if not wide:
        boards = select_pairs(_named(found, opened.moment), *chosen)
        if (n := sum(len(board.decisions) for board in boards)) > _PRINTED:
            raise InputError(f"{n:,} pairs are too many to print; choose by --system, --top, --neighbours or --limit, "
                             "or write all of them by `registry query`, as `registry pairs --help` says")
        show([pair_table(board) for board in boards if board.decisions], format_)
    elif averages := _averages(asked, opened):
        from registry.reports.boards import macro_pair_table

        past = "" if opened.moment is None else opened.moment.heading
        show([macro_pair_table(of, past) for of in averages], format_)
    else:
        raise MismatchError("no task here has several test sets to average over")


def read_boards(connection: Connection, task: str | Sequence[str] | None, metric: str | None = None,
                ranks: Ranks | None = None, *, items: int = 0, averages: bool = False,
                pairs: Sequence[str] | None = None, about: str = "", past: Moment | None = None) -> Snapshot:
    """Read what a command shows, with all or some columns of pairs, and tell what of it is out of date.

    `about` begins the error that there is none; `past` is the moment as of which the connection reads.
    """
    from registry.boards.load import ALL_PAIRS, NOT_COMPARED
    from registry.boards.snapshot import load_snapshot

    found = load_snapshot(connection, task, metric, ranks, items=items, pairs=pairs or ALL_PAIRS)
    if not found.boards:
        raise MismatchError(f"{about}{NOT_COMPARED}")
    if past is not None:
        say(f"note: {past.heading}")
        found = found.past(past)
    say_all(found.warnings, "warning")
    return replace(found, asked=tuple(_questions_of(connection, found, metric))) if averages else found


def _named(found: Snapshot, past: Moment | None) -> list[Leaderboard]:
    """The leaderboards, or where a signature names the moment the one that has it."""
    if past is None or past.signature is None:
        return found.boards
    named = [board for board in found.boards if board.signature == past.signature]
    if not named:
        raise MismatchError(f"{past.signature}: no board showed it when the command that compared had ended")
    return named


def averaged(found: Snapshot, db: Database) -> Snapshot:
    """What was read, with its averages over test sets; those that were not there are made, and kept where they can."""
    return found.with_averages(_averages(found.asked, db))


def _questions_of(connection: Connection, found: Snapshot, metric: str | None) -> Iterator[PlannedStudy]:
    """What averages are asked of; those of a task with new submissions, which are not scored yet, are left out."""
    for of in found.tasks:
        if len({board.test_set for board in of.boards}) < 2:
            continue
        try:
            yield from _macro_questions(connection, of.task, metric)
        except MismatchError as error:
            say(f"note: {of.task}: averages over test sets are left out: {error}")


def _macro_questions(connection: Connection, task: str | None, metric: str | None) -> Sequence[PlannedStudy]:
    """What averages over test sets are asked of."""
    from registry.studies.run import plan_studies
    from registry.studies.study import Choice
    from registry.studies.suites import Macro

    return plan_studies(connection, Macro(), Choice(task, metric))


def _averages(asked: Sequence[PlannedStudy], db: Database) -> list[MacroBoard]:
    from registry.store.database import Database, Patience
    from registry.store.embargoes import is_public
    from registry.studies.suites import load_macro_boards

    if not asked:
        return []
    with db.reading() as connection:
        is_kept = db.moment is None and not is_public(connection)
    found: list[MacroBoard] = []
    for task, of_task in groupby(asked, key=lambda question: question.task.slug):
        # Who reads does not wait for writers.
        keeper = Database(db.path, named=db.named, patience=Patience(0)) if is_kept else db
        archive = study_archive(keeper, "macro-average", task, dry_run=not is_kept)
        found += load_macro_boards(list(of_task), archive)
        say_refused(archive)
    return found
