"""The command that writes a public file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say, say_all
from registry.cli.guide import names
from registry.cli.options import Db, database


def publish(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="TASK", autocompletion=names.tasks, help=(
        "The ids of the tasks to publish; all tasks if none is given."))] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", readable=False, help=(
        "The new file; there must be none of that name."))] = ...,  # type: ignore[assignment]
    sources: Annotated[bool, typer.Option("--sources", help=(
        "Include the files of gold and submissions that are public; without them there are no texts of items and "
        "outputs."))] = False,
    db: Db = None,
) -> None:
    """Write a public file: a new registry without private data.

    It has pseudonyms instead of hidden names. It has no scores of a blind phase, no gold that a task withholds, no
    names of users and no parameters of commands. All commands that read a registry read it.
    """
    from registry.publication.publish import publish as write_public
    from registry.store.embargoes import describe_hidden

    target = database(db)
    write_public(target, output, tasks or (), sources=sources)
    with target.reading() as connection:
        hidden = describe_hidden(connection)
    say_all((f"{slug}: left out or replaced: {what}" for slug, what in hidden.items() if not tasks or slug in tasks),
            "note")
    say(f"{output}: written; `registry verify --db {output}` computes its numbers again")
