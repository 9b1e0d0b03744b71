"""Commands that publish results: page, site, publish, release, hide, reveal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli import completion
from registry.cli.console import print_tables, report, report_all, report_end
from registry.cli.evaluate import evaluate_manifest
from registry.cli.options import (
    Actor,
    At,
    BoardFacet,
    Cluster,
    Db,
    DryRun,
    Memory,
    NoFacets,
    OnlyWarnings,
    OutputFormat,
    Private,
    Quiet,
    Root,
    Task,
    TestSet,
    Wait,
    Workers,
    check_option,
    choose_actor,
    find_database,
    find_public_database,
    make_execution,
)
from registry.cli.results import EVERY_BOARD, BoardChoice, Ranks, add_averages, check_board_choice, load_boards
from registry.errors import InputError, MismatchError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from registry.boards.site import Changes
    from registry.boards.snapshot import Snapshot
    from registry.store.database import Database
    from registry.store.history import Listing
    from registry.store.log import Moment

Items = Annotated[int, typer.Option("--items", min=0, max=1000, help=(
    "Show up to N items per test set, those with the largest disagreements, with texts, gold and all answers, which "
    "may be secret."))]
Scores = Annotated[bool, typer.Option("--scores", help="Scores and ranks. Default: names.")]


def page(
    task: Task,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=(
        "The HTML file; the command replaces an existing file."))],
    items: Items = 0,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "How ranks are computed (see `registry board --help`). Default: the manifest's ranks."))] = None,
    test_set: TestSet = None, facet: BoardFacet = None, no_facets: NoFacets = False,
    at: At = None, db: Db = None, private: Private = False, quiet: OnlyWarnings = False,
) -> None:
    """Write the leaderboards of a task as an HTML file.

    The file contains leaderboards and pairs (with --items also items), and works offline.
    """
    from registry.files import replace_file
    from registry.reports.page import page as format_page

    database = find_public_database(db, at, private=private)
    with database.reading() as connection:
        snapshot = _load_contents(connection, task, items, ranks, database.moment,
                                  check_board_choice(test_set, facet, no_facets=no_facets))
    (contents,) = add_averages(snapshot, database).tasks
    replace_file(output, format_page(contents))
    if not quiet:
        report(f"{output}: written")


def site(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help=(
        "The folder; the command replaces existing pages."))],
    names: Annotated[list[str] | None, typer.Argument(metavar="MANIFEST|TASK", help=(
        "Manifests (.toml), which are run first, and ids of tasks. Default: all tasks of the database."))] = None,
    items: Items = 0,
    url: Annotated[str | None, typer.Option("--url", metavar="BASE", help=(
        "The web address of the folder, for the links of the feed. Default: relative links."))] = None,
    root: Root = None, db: Db = None, private: Private = False, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, actor: Actor = None, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Write a website with a page for every task.

    The website has an index, a feed, and files with the pairs that do not fit on a page. The command first evaluates
    manifests as `registry run` does.
    """
    from registry.files import replace_files, update_file
    from registry.reports.page import card, feed, pair_files, site_index
    from registry.reports.page import page as format_page

    address = "" if url is None else check_folder_address(url)
    execution = make_execution(workers, cluster, memory, quiet=quiet)
    database = find_database(db, wait)
    tasks = []
    for name in names or ():
        if not name.endswith(".toml"):
            tasks.append(name)
            continue
        result = evaluate_manifest(database, Path(name), root, execution, choose_actor(actor))
        report_end(changed=result.is_changed, dry_run=False)
        tasks.append(result.task)
    database = find_public_database(db, private=private)
    with database.reading() as connection:
        snapshot, changes, reasons = _load_site(connection, list(dict.fromkeys(tasks)), items)
    pages = {f"tasks/{contents.task}.html": contents for contents in add_averages(snapshot, database).tasks}
    n_written = 0
    for file, contents in pages.items():
        pair_folder = f"{contents.task}.pairs"
        replace_files(output / "tasks" / pair_folder, "[0-9]*/[0-9]*.js", pair_files(contents.primary_first))
        n_written += update_file(output / file, format_page(contents, home="../index.html", folder=pair_folder))
    update_file(output / "index.html", site_index([card(*item) for item in pages.items()], list(reasons.values())))
    update_file(output / "feed.xml", feed(changes, address))
    n_unchanged = len(pages) - n_written
    if not quiet:
        report(f"{output}: index, feed and {counted(len(pages), 'page')} written"
               + (f" ({n_unchanged} unchanged)" if n_unchanged else ""))
    for task in reasons:
        if (old_page := output / "tasks" / f"{task}.html").exists():
            report(f"warning: {old_page}: this page is outdated, and the index no longer links to it; delete it if "
                   "the results are secret")


def check_folder_address(url: str) -> str:
    """Check the web address of a folder, and return it with a slash at its end.

    Raises:
        InputError: The text is not a web address.
    """
    from registry.manifest.fields import check_address

    return check_option(check_address, url, "--url").rstrip("/") + "/"


def _load_site(connection: Connection, names: Sequence[str], items: int) -> tuple[Snapshot, Changes, dict[str, str]]:
    """Load the leaderboards and the changes that a site shows.

    Args:
        connection: A connection to the registry.
        names: The ids of the tasks; empty: all tasks with public results.
        items: The number of items per test set.

    Returns:
        The leaderboards, the changes, and the reasons why tasks are left out (empty if tasks are named).

    Raises:
        UnknownNameError: A named task does not exist.
        HiddenError: The scores of a named task, or of all tasks, are hidden.
        MismatchError: A named task, or every task, has no results.
    """
    from registry.boards.site import explain_missing_tasks, load_changes
    from registry.store import catalog

    reasons = explain_missing_tasks(connection)
    requested: Sequence[str | None] = names or [None]
    tasks = [row.slug for name in requested for row in catalog.tasks(connection, name)]
    visible = [task for task in tasks if task not in reasons]
    if refused := [reasons[task] for task in tasks if task in reasons and (names or not visible)]:
        raise MismatchError(f"{' '.join(refused)} `registry score` and `registry compare` compute the results")
    return _load_contents(connection, visible, items), load_changes(connection, visible), {} if names else reasons


def _load_contents(connection: Connection, task: str | Sequence[str], items: int, ranks: Ranks | None = None,
                   moment: Moment | None = None, choice: BoardChoice = EVERY_BOARD) -> Snapshot:
    from registry.boards.load import PAGE_PAIRS
    from registry.boards.snapshot import add_details

    snapshot = load_boards(connection, task, ranks=ranks, items=items, averages=True, pairs=PAGE_PAIRS,
                           about=f"{task}: ", moment=moment, choice=choice)
    return add_details(connection, snapshot, items, moment)


def publish(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="TASK", autocompletion=completion.tasks, help=(
        "The ids of the tasks to publish. Default: all tasks."))] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", readable=False, help=(
        "The file to write; without --force it must not exist."))] = ...,  # type: ignore[assignment]
    sources: Annotated[bool, typer.Option("--sources", help=(
        "Include the files of gold and submissions that are public, with all columns; otherwise the copy has no texts "
        "of items and outputs."))] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing public file.")] = False,
    db: Db = None, quiet: OnlyWarnings = False,
) -> None:
    """Write a copy of the registry without private data.

    The copy has pseudonyms instead of hidden names. It has no hidden scores, no withheld gold, no names of users and no
    parameters of commands. All commands that read a registry can read it.
    """
    from registry.publication.publish import list_contents
    from registry.publication.publish import publish as write_public
    from registry.publication.unapplied import refuse_unapplied
    from registry.store.database import Database
    from registry.store.embargoes import describe_hidden

    database = find_database(db)
    refuse_unapplied(database, tasks or ())
    write_public(database, output, tasks or (), sources=sources, replaces=force)
    with database.reading() as connection:
        hidden = describe_hidden(connection)
    report_all((f"task {slug!r}: {output} hides {parts}" for slug, parts in hidden.items()
                if not tasks or slug in tasks), "info")
    with Database(output).reading() as connection:
        all_contents = list_contents(connection)
    for contents in all_contents:
        slug = contents.task
        if not quiet:
            report(f"task {slug!r}: {output} contains {contents}")
        if not contents.boards and "scores" not in hidden.get(slug, ""):
            report(f"warning: task {slug!r}: {output} has no leaderboard; run `registry score {slug}` and `registry "
                   f"compare {slug}`, and publish again")
    if not quiet:
        report(f"{output}: written; `registry verify --db {output}` recomputes its numbers")


def release(
    task: Task,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", readable=False, help=(
        "The folder to write; it must not exist."))],
    sources: Annotated[bool, typer.Option("--sources", help=(
        "Include the submitted files; refused if the manifest withholds the gold."))] = False,
    db: Db = None, quiet: OnlyWarnings = False,
) -> None:
    """Write the results of a task as plain files for archives.

    The folder has statistics, answers, scores, pairs and ranks as Parquet files, the leaderboards, a page and
    descriptions. `registry verify DIR` recomputes every number. The folder has no log, no names of users and, without
    --sources, no submitted files. With `gold = false` under [release] in the manifest, it has no gold, no answers and
    no other data about single items.
    """
    from registry.releases.writing import write_release

    write_release(find_public_database(db), task, output, sources=sources)
    if not quiet:
        report(f"{output}: written; `registry verify {output}` recomputes its numbers")


def hide(
    task: Task, scores: Scores = False,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help=(
        "The end, with a time zone, such as 2026-12-01T12:00:00Z. Default: until `registry reveal`."))] = None,
    db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Hide the names or scores of a task from the public.

    Teams and systems, except baselines, get random pseudonyms. Files, pages and sites that you publish from now on
    contain the pseudonyms; with --scores, they contain neither scores nor ranks.
    """
    from registry.manifest.fields import check_until
    from registry.store.embargoes import UNTIL_REVEALED, describe_until
    from registry.store.log import now

    moment: datetime = UNTIL_REVEALED
    if until is not None:
        moment = check_option(check_until, until, "--until").replace(tzinfo=None)  # UTC
    if moment <= now():
        raise InputError(f"--until {until} is in the past; `registry reveal` makes hidden data public")
    _set_embargo(task, "blind_until" if scores else "anonymous_until", moment, find_database(db, wait), actor,
                 dry_run=dry_run)
    report(f"{task}: {'scores and ranks' if scores else 'names'} are hidden {describe_until(moment)}")


def reveal(task: Task, scores: Scores = False, db: Db = None, format_: OutputFormat = None, actor: Actor = None,
           dry_run: DryRun = False, wait: Wait = 60) -> None:
    """Make hidden names or scores of a task public again.

    For names, the command prints the names and their pseudonyms. It overrides the manifest until the manifest's
    declaration changes.
    """
    from registry.rendering.table import Table

    keys, rows = _set_embargo(task, "blind_until" if scores else "anonymous_until", None, find_database(db, wait),
                              actor, dry_run=dry_run)
    if not scores:
        print_tables([Table([row for row in rows if row["task"] == task and row["pseudonym"]], keys=keys)], format_)


def _set_embargo(task: str, column: str, until: datetime | None, database: Database, actor: str | None, *,
                 dry_run: bool) -> Listing:
    """Hide or reveal the names or scores of a task.

    Args:
        task: The id of the task.
        column: The column of the database with the end of the embargo, such as `anonymous_until`.
        until: The end of the embargo; None to end it now.
        database: The registry.
        actor: The name of the user, for the log.
        dry_run: True to store nothing.

    Returns:
        The teams with their pseudonyms.
    """
    from registry.evaluation.ingest.hiding import set_hiding
    from registry.store import catalog
    from registry.store.embargoes import find_hidden
    from registry.store.history import list_teams
    from registry.store.log import Journal, now
    from registry.store.rows import has_row
    from registry.store.session import writing

    journal = Journal("reveal" if until is None else "hide", {"task": task, "until": until and str(until)},
                      actor=choose_actor(actor))
    with writing(database, journal, dry_run=dry_run) as session:
        (row,) = catalog.tasks(session.connection, task)
        set_hiding(session.connection, journal, row, column, until)
        teams = list_teams(session.connection)
        boards = f"comparison JOIN test_set USING (test_set_id) WHERE task_id = {row.task_id}"
        with_candidate = f"{boards} AND json_extract_string(request, '$.significance.candidate') IS NOT NULL"
        has_old_boards = until is not None and row.salt is None and has_row(session.connection, boards)
        hidden = find_hidden(session.connection, now())
        has_candidate = column == "anonymous_until" and until is not None and has_row(
            session.connection, with_candidate)
    report_end(changed=journal.changed, dry_run=dry_run)
    if until is None and task in hidden.blind:
        report(f"info: scores and ranks are still hidden; `registry reveal {task} --scores` makes them public")
    elif until is None and task in hidden.anonymous:
        report(f"info: names are still hidden; `registry reveal {task}` makes them public")
    if has_old_boards:
        report("info: existing leaderboards cannot be published, because their ids can confirm guesses of hidden data; "
               f"`registry compare {task}` makes new leaderboards")
    elif has_candidate:
        report("info: leaderboards whose settings name a candidate are not public; "
               f"`registry compare {task}` makes new ones")
    return teams
