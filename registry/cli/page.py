"""Commands that publish: page, site."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.board import Ranks, macro_averages
from registry.cli.console import say
from registry.cli.execution import Memory, Quiet, Workers, execution
from registry.cli.options import Actor, Db, Root, actor_name, database
from registry.cli.task import bring_up, resolved, say_end, say_results
from registry.errors import counted

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.reports.page import Contents
    from registry.significance import Execution
    from registry.store.catalog import AnyRow

Items = Annotated[int, typer.Option("--items", min=0, max=1000, help=(
    "Show this many of each test set's items with the largest disagreements, as far as there is room: their texts, "
    "their gold and all responses, which may be secret."))]


def page(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file; is replaced.")],
    items: Items = 0,
    ranks: Annotated[Ranks | None, typer.Option("--ranks", case_sensitive=False, help=(
        "Which ranks are left open, see `registry board`; else as the task declares."))] = None,
    db: Db = None,
) -> None:
    """Write a task's leaderboards as one HTML file.

    It holds leaderboards and pairs, and with --items also items, and needs no network.
    """
    from registry.files import replace_file
    from registry.reports.page import page as html
    from registry.store import catalog

    with database(db).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        contents = _contents(connection, row, items, ranks)
    replace_file(output, html(_with_averages(contents, db)))
    say(f"{output}: written")


def site(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder; pages are replaced.")],
    what: Annotated[list[str] | None, typer.Argument(metavar="[MANIFEST|TASK]...", help=(
        "Manifests (.toml), which are run first, and ids of tasks; all tasks of the database if none is given."
        ))] = None,
    items: Items = 0,
    root: Root = None,
    db: Db = None,
    workers: Workers = None,
    memory: Memory = None,
    actor: Actor = None,
    quiet: Quiet = False,
) -> None:
    """Write an index and a page for every task.

    What a manifest declares is applied, scored and compared first, as `registry run` does.
    """
    from registry.files import replace_file
    from registry.reports.page import page as html
    from registry.reports.page import site_index
    from registry.store import catalog

    found: dict[str, Contents] = {}
    how = execution(workers, None, memory, quiet=quiet)
    for one in what or (None,):
        if one is not None and one.endswith(".toml"):
            contents = [_run(Path(one), root, db, actor_name(actor), how, items)]
        else:
            with database(db).reading() as connection:
                contents = [_contents(connection, row, items) for row in catalog.tasks(connection, one)]
        found |= {f"tasks/{of.task}.html": of for of in contents}
    for name, of in found.items():
        replace_file(output / name, html(_with_averages(of, db), home="../index.html"))
    replace_file(output / "index.html", site_index(found))
    say(f"{output}: index and {counted(len(found), 'page')} written")


def _run(manifest: Path, root: Path | None, db: Path | None, actor: str | None, how: Execution,
         items: int) -> Contents:
    """Bring up what a manifest declares, and give what its page holds."""
    from registry.store.journal import Journal
    from registry.store.session import writing

    task, content = resolved(manifest, root)
    journal = Journal("run", {"manifest": task.root.manifest_name}, actor=actor)
    with writing(database(db), journal, create=True) as session:
        row, scored, compared = bring_up(session, journal, task, content, how)
        contents = _contents(session.connection, row, items)
    say_results(scored, compared)
    say_end(changed=journal.changed, dry_run=False)
    return contents


def _with_averages(contents: Contents, db: Path | None) -> Contents:
    """The same with macro-averages, which are found or made once nothing else is read."""
    return replace(contents, averages=macro_averages(contents.task, None, db))


def _contents(connection: Connection, row: AnyRow, items: int, ranks: Ranks | None = None) -> Contents:
    """What a task's page holds: leaderboards, those by the primary metric first, and the items to look at."""
    from registry.errors import MismatchError
    from registry.evaluation.resolve import resolve_stored
    from registry.leaderboards.items import most_disagreed
    from registry.leaderboards.load import declared_leaderboards, stale
    from registry.reports.page import Contents
    from registry.store import catalog

    boards = declared_leaderboards(connection, row, ranks=None if ranks is None else ranks.value)
    if not boards:
        raise MismatchError(f"{row.slug}: there is no comparison to show yet; `registry score` and `registry compare` "
                            "make one")
    for warning in stale(connection, row.slug):
        say(f"warning: {warning}")
    first = catalog.primary_metric(connection, row.task_id).alias
    boards.sort(key=lambda board: board.metric != first)
    task = resolve_stored(row.manifest, row.slug).manifest.task
    shown = most_disagreed(connection, row, items) if items else None
    return Contents(task.id, task.title, task.version, boards, shown)
