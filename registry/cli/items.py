"""The command that shows items: those to look at, and what everybody said of one."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from registry.cli.console import show
from registry.cli.guide import names
from registry.cli.options import Db, OutputFormat, Public, Task, private_database
from registry.errors import InputError


def items(
    task: Task,
    which: Annotated[Literal["disagree", "hard", "suspect", "show"], typer.Argument(
        metavar="disagree|hard|suspect|show", help=(
            "Those on which systems disagree most; those with the worst scores; those on which all contradict the "
            "gold; or one, with what everybody says of it."))],
    item: Annotated[str | None, typer.Argument(metavar="ID", help="The item to show.",
                                              autocompletion=names.items)] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many to list.")] = 20,
    db: Db = None, public: Public = False, format_: OutputFormat = None,
) -> None:
    """List items to look at, or show what everybody says of one.

    The gold stands first, below it every system's answer and whether it is right.
    """
    from registry.boards import items as of_task
    from registry.reports.items import item_list, item_table
    from registry.store import catalog

    if (which == "show") != (item is not None):
        raise InputError(f"`registry items {task} show` needs the ID of an item" if item is None else
                         f"`registry items {task} {which}` takes no ID; `show {item}` shows one item")
    lists = {"disagree": of_task.disagreed, "hard": of_task.hard, "suspect": of_task.suspect}
    with private_database(db, public=public).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        if item is not None:
            tables = [item_table(view) for view in of_task.item_views(connection, row, item)]
        else:
            tables = [item_list(lists[which](connection, row, limit))]
    show(tables, format_)
