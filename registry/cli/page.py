"""Commands that publish: page, site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.board import Ranks, averaged, read_boards
from registry.cli.console import say
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution
from registry.cli.options import (
    Actor,
    At,
    Db,
    Private,
    Root,
    Task,
    Wait,
    actor_name,
    database,
    public_database,
    taken,
)
from registry.cli.pipeline import bring_up, say_end
from registry.errors import MismatchError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from registry.boards.site import Changes
    from registry.boards.snapshot import Snapshot
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.log import Moment

Items = Annotated[int, typer.Option("--items", min=0, max=1000, help=(
    "Show this many of each test set's items with the largest disagreements, as far as there is room: their texts, "
    "their gold and all responses, which may be secret."))]


def page(
    task: Task,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file; is replaced.")],
    items: Items = 0,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "Which ranks are left open, see `registry board`; else as the task declares."))] = None,
    at: At = None, db: Db = None, private: Private = False,
) -> None:
    """Write a task's leaderboards as one HTML file.

    It holds leaderboards and pairs, and with --items also items, and needs no network.
    """
    from registry.files import replace_file
    from registry.reports.page import page as html

    opened = public_database(db, at, private=private)
    with opened.reading() as connection:
        found = _contents(connection, task, items, ranks, opened.moment)
    (contents,) = averaged(found, opened).tasks
    replace_file(output, html(contents))
    say(f"{output}: written")


def site(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder; pages are replaced.")],
    what: Annotated[list[str] | None, typer.Argument(metavar="MANIFEST|TASK", help=(
        "Manifests (.toml), which are run first, and ids of tasks; all tasks of the database if none is given."
        ))] = None,
    items: Items = 0,
    url: Annotated[str | None, typer.Option("--url", metavar="BASE", help=(
        "Where the folder will be on the web, for the links of the feed; else they are relative to it."))] = None,
    root: Root = None, db: Db = None, private: Private = False, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, actor: Actor = None, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Write an index, a feed, and a page for every task.

    Pairs that a page has no room for are in files beside it. What a manifest declares is applied, scored and compared
    first, as `registry run` does.
    """
    from registry.files import replace_files, update_file
    from registry.reports.page import card, feed, pair_files, site_index
    from registry.reports.page import page as html

    address = "" if url is None else folder_address(url)
    how = execution(workers, cluster, memory, quiet=quiet)
    target = database(db, wait)
    tasks = [_run(Path(one), root, target, actor_name(actor), how) if one.endswith(".toml") else one
             for one in what or ()]
    opened = public_database(db, private=private)
    with opened.reading() as connection:
        read, changed, left_out = _site_contents(connection, list(dict.fromkeys(tasks)), items)
    pages = {f"tasks/{of.task}.html": of for of in averaged(read, opened).tasks}
    written = 0
    for name, contents in pages.items():
        folder = f"{contents.task}.pairs"
        replace_files(output / "tasks" / folder, "[0-9]*/[0-9]*.js", pair_files(contents.primary_first))
        written += update_file(output / name, html(contents, home="../index.html", folder=folder))
    update_file(output / "index.html", site_index([card(*one) for one in pages.items()], list(left_out.values())))
    update_file(output / "feed.xml", feed(changed, address))
    kept = counted(len(pages) - written, "is as it was", "are as they were")
    say(f"{output}: index, feed and {counted(len(pages), 'page')} written" + (
        f", of which {kept}" if written < len(pages) else ""))
    for task in left_out:
        if (former := output / "tasks" / f"{task}.html").exists():
            say(f"warning: {former}: is of before, and the index does not lead there; remove it if nobody is to see it")


def folder_address(url: str) -> str:
    """The address of a folder, with the slash that it ends with.

    Raises:
        InputError: It is none.
    """
    from registry.manifest.fields import check_address

    return taken(check_address, url, "--url").rstrip("/") + "/"


def _site_contents(connection: Connection, named: Sequence[str],
                   items: int) -> tuple[Snapshot, Changes, dict[str, str]]:
    """What a site shows, what changed, and why tasks are left out, where none was named, by their ids.

    Raises:
        UnknownNameError: There is no task that was named.
        HiddenError: The scores of one that was named are hidden, or those of all tasks.
        MismatchError: There is nothing to show of one that was named, or of any.
    """
    from registry.boards.site import changes, unshown
    from registry.store import catalog

    left_out = unshown(connection)
    which: Sequence[str | None] = named or [None]
    tasks = [row.slug for task in which for row in catalog.tasks(connection, task)]
    shown = [task for task in tasks if task not in left_out]
    if refused := [left_out[task] for task in tasks if task in left_out and (named or not shown)]:
        raise MismatchError(f"{' '.join(refused)} `registry score` and `registry compare` make what is shown")
    return _contents(connection, shown, items), changes(connection, shown), {} if named else left_out


def _contents(connection: Connection, task: str | Sequence[str], items: int, ranks: Ranks | None = None,
              past: Moment | None = None) -> Snapshot:
    """What pages show of tasks."""
    from registry.boards.load import PAGE_PAIRS
    from registry.boards.snapshot import add_details

    found = read_boards(connection, task, ranks=ranks, items=items, averages=True, pairs=PAGE_PAIRS,
                        about=f"{task}: ", past=past)
    return add_details(connection, found, items, past)


def _run(manifest: Path, root: Path | None, db: Database, actor: str | None, how: Execution) -> str:
    """Bring up what a manifest declares, and give its task's id."""
    done = bring_up(db, manifest, root, how, actor)
    say_end(changed=done.changed, dry_run=False)
    return done.task
