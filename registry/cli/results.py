"""Commands that print results: board, pairs, compare-pair, diff."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from registry.cli import completion
from registry.cli.commands import WHICH
from registry.cli.console import (
    choose_format,
    inspect_terminal,
    print_boards,
    print_methods,
    print_pairs,
    print_tables,
    print_wide_boards,
    report,
    report_all,
    write,
)
from registry.cli.options import (
    AllNotes,
    At,
    BoardFacet,
    BoardOutputFormat,
    Db,
    MetricAlias,
    NoFacets,
    OutputFormat,
    Public,
    TaskName,
    TestSet,
    find_private_database,
)
from registry.cli.settings import choose_database_path
from registry.cli.study import make_archive, report_unstored
from registry.errors import HiddenError, InputError, MismatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from registry.boards.leaderboard import Leaderboard
    from registry.boards.snapshot import Snapshot
    from registry.boards.states import BoardDifference
    from registry.cli.console import Format
    from registry.store.database import Database
    from registry.store.log import Moment
    from registry.studies.run import PlannedStudy
    from registry.studies.suites import MacroBoard

_MAX_PAIRS = 1_000_000  # printed pairs; they need about 2 GB as rows
Ranks = Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"]
DiffFormat = Literal["table", "md", "json", "erratum"]


class BoardChoice(NamedTuple):
    """Options `--test-set`, `--facet` and `--no-facets`, which select leaderboards.

    Attributes:
        test_set: The test set; None: all.
        facet: The facet, such as `genre=news`; None: all.
        has_no_facet: True to select leaderboards of whole test sets.
    """

    test_set: str | None = None
    facet: str | None = None
    has_no_facet: bool = False


EVERY_BOARD = BoardChoice()


def check_board_choice(test_set: str | None, facet: str | None, *, no_facets: bool) -> BoardChoice:
    """Return the values of `--test-set`, `--facet` and `--no-facets`.

    Raises:
        InputError: Both `--facet` and `--no-facets` are given.
    """
    if facet is not None and no_facets:
        raise InputError("--facet and --no-facets cannot be combined; remove one")
    return BoardChoice(test_set, facet, no_facets)


def board(
    task: TaskName = None, metric: MetricAlias = None,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "How ranks are computed: range (from significant wins and losses), cluster, neighbour (up to the nearest "
        "significantly different systems), simultaneous (joint resamples of all systems) or bootstrap (frequencies of "
        "ranks). Default: the manifest's ranks."))] = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "One row per system with its scores by all metrics, test sets and facets, and their averages."))] = False,
    test_set: TestSet = None, facet: BoardFacet = None, no_facets: NoFacets = False, all_notes: AllNotes = False,
    methods: Annotated[bool, typer.Option("--methods", help=(
        "Print paragraphs for a paper: how the leaderboards of each test set were computed, their results, and the "
        "references (formats: table, md, latex, bibtex, json)."))] = False,
    at: At = None, db: Db = None, public: Public = False, format_: BoardOutputFormat = None,
) -> None:
    """Print the leaderboards.

    With a signature in --at, the command prints only the leaderboard of that comparison (with --wide, all leaderboards
    of that moment).
    """
    from registry.boards.load import BOARD_PAIRS
    from registry.boards.submissions import load_ladders
    from registry.reports.boards import make_ladder_table, make_wide_boards

    if methods and wide:
        raise InputError("--methods describes single leaderboards; leave out --wide")
    if format_ == "bibtex" and not methods:
        raise InputError("--format bibtex has the references of the methods; add --methods")
    table_format: Format | None = None if format_ == "bibtex" else format_
    database = find_private_database(db, at, public=public)
    with database.reading() as connection:
        try:
            snapshot = load_boards(connection, task, metric, ranks, averages=wide, pairs=BOARD_PAIRS,
                                   moment=database.moment,
                                   choice=check_board_choice(test_set, facet, no_facets=no_facets))
        except HiddenError as hidden:
            if not (visible := load_ladders(connection, task)):  # the manifest may show some facts of hidden boards
                raise
            report(f"info: {hidden}")
            print_tables([make_ladder_table(ladder) for ladder in visible], table_format)
            return
    if wide:
        print_wide_boards([
            (wide_board, contents.past) for contents in add_averages(snapshot, database).tasks
            for wide_board in make_wide_boards(contents.boards, contents.averages, contents.primary)], table_format,
            all_notes=all_notes)
    elif methods:
        print_methods(_select_signature(snapshot, database.moment), format_)
    else:
        print_boards(_select_signature(snapshot, database.moment), table_format, all_notes=all_notes)


def pairs(
    task: TaskName = None, metric: MetricAlias = None,
    system: Annotated[str | None, typer.Option("--system", "-s", autocompletion=completion.systems,
                                              rich_help_panel=WHICH, help="Only pairs with this system.")] = None,
    top: Annotated[int | None, typer.Option("--top", metavar="N", min=2, help=(
        "Only pairs of the N best systems."))] = None,
    neighbours: Annotated[int | None, typer.Option("--neighbours", metavar="N", min=1, help=(
        "Only pairs at most N positions apart."))] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help=(
        "Only the first N selected pairs of every leaderboard."))] = None,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "The pairs of the averages over test sets that `registry board --wide` prints."))] = False,
    test_set: TestSet = None, facet: BoardFacet = None, no_facets: NoFacets = False, all_notes: AllNotes = False,
    at: At = None, db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """Print pairs of systems with their p-values.

    The pairs of the best systems come first. In a pipe, the output is TSV, without the sentences below the table;
    --format table prints them. For all pairs of a large leaderboard, this is faster: `registry query
    --format parquet --output FILE "SELECT * FROM pairwise"`.
    """
    from registry.boards.choose import select_pairs
    from registry.reports.boards import make_macro_pair_table

    selection = (system, top, neighbours, limit)
    if wide and (any(value is not None for value in (*selection, test_set, facet)) or no_facets):
        raise InputError("--wide prints the pairs of averages; leave out --system, --top, --neighbours, --limit, "
                         "--test-set, --facet and --no-facets")
    database = find_private_database(db, at, public=public)
    if wide:
        with database.reading() as connection:
            studies = plan_macro_studies(connection, task, metric)
        if not (averages := load_averages(studies, database)):
            raise MismatchError("no task has averages, because each has only one test set")
        past = "" if database.moment is None else database.moment.heading
        print_tables([make_macro_pair_table(average, past) for average in averages], format_)
        return
    with database.reading() as connection:
        snapshot = load_boards(connection, task, metric, "range", moment=database.moment,
                               choice=check_board_choice(test_set, facet, no_facets=no_facets))
    boards = select_pairs(_select_signature(snapshot, database.moment), *selection)
    if (n := sum(len(board.decisions) for board in boards)) > _MAX_PAIRS:
        raise InputError(f"{n:,} pairs are too many to print; select some by --system, --top, --neighbours or --limit, "
                         "or write all of them by `registry query` (see `registry pairs --help`)")
    print_pairs([board for board in boards if board.decisions], format_, all_notes=all_notes)


def compare_pair(
    system_a: Annotated[str, typer.Argument(metavar="A", autocompletion=completion.systems, help=(
        "A system: its name, team/system, or team/system@version."))],
    system_b: Annotated[str, typer.Argument(metavar="B", autocompletion=completion.systems, help="Another system.")],
    task: Annotated[str | None, typer.Option("--task", autocompletion=completion.tasks, help=(
        "Only this task. Default: all tasks."))] = None,
    metric: MetricAlias = None, test_set: TestSet = None, facet: BoardFacet = None, all_notes: AllNotes = False,
    at: At = None, db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """Compare two systems: difference, CI, p-value.

    The command also prints on how many items the systems differ, which true difference the test set detects with 80 %
    power, and a sentence for a paper. In a pipe, it prints TSV without these sentences; --format table prints them.
    P-values are corrected for all pairs of the leaderboard.
    """
    from registry.boards.choose import find_pair_boards
    from registry.boards.pairs import add_details
    from registry.reports.boards import make_pair_table
    from registry.store import catalog

    database = find_private_database(db, at, public=public)
    with database.reading() as connection:
        snapshot = load_boards(connection, task, metric, "range", moment=database.moment,
                               choice=BoardChoice(test_set, facet))
        rows = {row.slug: row for row in catalog.tasks(connection)}
        boards = _select_signature(snapshot, database.moment)
        boards = [add_details(connection, rows[board.task], board) for board in
                  find_pair_boards(boards, system_a, system_b)]
    if choose_format(format_) in ("table", "md", "latex"):
        print_boards(boards, format_, all_notes=all_notes)
    else:
        print_tables([make_pair_table(board) for board in boards], format_)


def load_boards(connection: Connection, task: str | Sequence[str] | None, metric: str | None = None,
                ranks: Ranks | None = None, *, items: int = 0, averages: bool = False,
                pairs: Sequence[str] | None = None, about: str = "", moment: Moment | None = None,
                choice: BoardChoice = EVERY_BOARD) -> Snapshot:
    """Load the leaderboards for a command, and print warnings about outdated results.

    Args:
        connection: A connection to the registry, or to its past state.
        task: The id of a task, several ids, or None for all tasks.
        metric: The metric's id; None: all metrics.
        ranks: The kind of rank ranges; None: as the task declares.
        items: The number of items per test set to load.
        averages: True to prepare averages over test sets, which `add_averages` then adds.
        pairs: The columns of pairs to load; None: all.
        about: The beginning of the error if there are no leaderboards.
        moment: The past date of the connection; None: the present.
        choice: The leaderboards to select.

    Raises:
        MismatchError: There are no leaderboards.
        UnknownNameError: No leaderboard has the requested test set or facet.
    """
    from registry.boards.load import ALL_PAIRS, explain_no_boards
    from registry.boards.snapshot import load_snapshot

    snapshot = load_snapshot(connection, task, metric, ranks, items=items, pairs=pairs or ALL_PAIRS)
    if not snapshot.boards:
        reason = explain_no_boards(connection, task if isinstance(task, str) else None)
        raise MismatchError(f"{about}{reason}")
    snapshot = snapshot.select(choice.test_set, choice.facet, whole=choice.has_no_facet)
    if moment is not None:
        report(f"info: {moment.heading}")
        snapshot = snapshot.past(moment)
    report_all(snapshot.warnings, "warning")
    if not averages or choice.test_set is not None or choice.facet is not None:  # averages have all items
        return snapshot
    return replace(snapshot, asked=tuple(_plan_averages(connection, snapshot, metric)))


def _select_signature(snapshot: Snapshot, moment: Moment | None) -> list[Leaderboard]:
    """Return the leaderboard that the user selects by its signature with `--at`.

    All leaderboards are returned if the user gives no signature.

    Raises:
        MismatchError: No leaderboard has the signature.
    """
    if moment is None or moment.signature is None:
        return snapshot.boards
    boards = [board for board in snapshot.boards if board.signature == moment.signature]
    if not boards:
        raise MismatchError(f"{moment.signature}: no leaderboard had this signature at the end of its comparison")
    return boards


def add_averages(snapshot: Snapshot, database: Database) -> Snapshot:
    """Add averages over test sets to loaded leaderboards.

    Averages that are not stored are computed, and stored if possible.
    """
    return snapshot.with_averages(load_averages(snapshot.asked, database))


def _plan_averages(connection: Connection, snapshot: Snapshot, metric: str | None) -> Iterator[PlannedStudy]:
    """Yield the studies that compute average scores over test sets.

    Tasks with submissions that are not scored yet are left out, and a note is printed.
    """
    for contents in snapshot.tasks:
        if len({board.test_set for board in contents.boards}) < 2:
            continue
        try:
            yield from plan_macro_studies(connection, contents.task, metric)
        except MismatchError as error:
            report(f"info: task {contents.task!r} has no averages over test sets, because {error}")


def plan_macro_studies(connection: Connection, task: str | None, metric: str | None) -> Sequence[PlannedStudy]:
    """Plan the averages over test sets, one study per metric and track."""
    from registry.studies.run import plan_studies
    from registry.studies.study import Choice
    from registry.studies.suites import Macro

    return plan_studies(connection, Macro(), Choice(task, metric))


def load_averages(studies: Sequence[PlannedStudy], database: Database) -> list[MacroBoard]:
    """Load averages over test sets; compute missing ones, and store them if possible."""
    from registry.store.database import Database, Patience
    from registry.store.embargoes import is_public
    from registry.studies.suites import load_macro_boards

    if not studies:
        return []
    with database.reading() as connection:
        can_store = database.moment is None and not is_public(connection)
    target = Database(database.path, named=database.named, patience=Patience(0)) if can_store else database
    boards: list[MacroBoard] = []
    for task, task_studies in groupby(studies, key=lambda study: study.task.slug):
        archive = make_archive(target, "macro-average", task, dry_run=not can_store)
        boards += load_macro_boards(list(task_studies), archive)
        report_unstored(archive)
    return boards


class _StateName(NamedTuple):
    """One of the two sets of leaderboards that the command `registry diff` compares.

    The user names a database file, a past date of this file, or one comparison in it.
    """

    file: Path
    at: str | None = None
    comparison: str | None = None


def diff(
    before: Annotated[str | None, typer.Argument(metavar="BEFORE", help=(
        "The earlier state: a database file, a date, a time with its zone, or the id at the end of a signature."))
    ] = None,
    after: Annotated[str | None, typer.Argument(metavar="AFTER", help=(
        "The later state. Default: the current state."))] = None,
    task: Annotated[str | None, typer.Option("--task", autocompletion=completion.tasks, help=(
        "Only this task. Default: all tasks."))] = None,
    metric: MetricAlias = None, db: Db = None, public: Public = False,
    format_: Annotated[DiffFormat, typer.Option("--format", "-f", case_sensitive=False, help=(
        "The output format; erratum drafts a notice about corrected gold."))] = "table",
) -> None:
    """Explain the changes between two states of leaderboards.

    A state is a database file; a date or a time with its zone, for a past state of the database; or the id at the end
    of a signature, for one comparison. Without arguments, the command compares
    every leaderboard with its state before the last comparison.
    """
    from registry.rendering.render import render
    from registry.reports.differences import draft_erratum, make_difference_data, make_difference_tables

    differences = _compare_states(before, after, task, metric, db, public=public)
    if format_ == "erratum":
        if not (corrected := [difference for difference in differences if difference.correction is not None]):
            raise MismatchError("nothing to correct: the gold of no leaderboard differs between the two states")
        write(draft_erratum(corrected))
    elif format_ == "json":
        write(json.dumps([make_difference_data(difference) for difference in differences], indent=2) + "\n")
    else:
        width, color = inspect_terminal()
        tables = [table for difference in differences for table in make_difference_tables(difference)]
        write(render(tables, format_, width=width, color=color))


def _compare_states(before: str | None, after: str | None, task: str | None, metric: str | None, db: Path | None, *,
                    public: bool) -> list[BoardDifference]:
    from registry.boards.states import compare_states, find_correction, load_latest_states, load_states

    with ExitStack() as stack:
        if before is None:
            connection = stack.enter_context(find_private_database(db, public=public).reading())
            pairs = [((connection, history[1]), (connection, history[0]))
                     for history in load_latest_states(connection, task, metric).values() if len(history) > 1]
            if not pairs:
                raise MismatchError("no leaderboard has two states; name two databases, or run `registry compare` "
                                    "again after a change")
        else:
            names = [_parse_state(name, db) for name in (before, after)]
            # One connection per file and moment: both states may be in the same database.
            connections = {place: stack.enter_context(find_private_database(*place, public=public).reading())
                           for place in dict.fromkeys((name.file, name.at) for name in names)}
            old_connection, new_connection = (connections[name.file, name.at] for name in names)
            old_states = load_states(old_connection, names[0].comparison, task, metric)
            new_states = load_states(new_connection, names[1].comparison, task, metric)
            pairs = [((old_connection, old_states[key]), (new_connection, new_states[key]))
                     for key in new_states if key in old_states]
            if not pairs:
                raise MismatchError(f"{before} and {after or 'the database'} have no leaderboard in common")
            if not any(name.comparison for name in names):
                for key in old_states.keys() ^ new_states.keys():
                    report(f"info: only {before if key in old_states else after or 'the database'} has {key.name}")
        return [compare_states(old[1], new[1], find_correction(old, new)) for old, new in pairs]


def _parse_state(name: str | None, db: Path | None) -> _StateName:
    from registry.store.log import is_time

    if name is None:
        return _StateName(choose_database_path(db))
    if Path(name).is_file():
        return _StateName(Path(name))
    if is_time(name):
        return _StateName(choose_database_path(db), at=name)
    return _StateName(choose_database_path(db), comparison=name)
