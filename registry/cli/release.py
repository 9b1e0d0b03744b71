"""The command release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say
from registry.cli.options import Db, Task, database
from registry.errors import InputError


def release(
    task: Task,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="DIR", readable=False, help=(
        "The new folder; there must be none of that name."))] = None,
    copy: Annotated[Path | None, typer.Option("--database", metavar="FILE", readable=False, help=(
        "Write a new registry with the same contents, for `board`, `pairs`, `page` and `query`, instead of a folder."
        ))] = None,
    sources: Annotated[bool, typer.Option("--sources", help=(
        "Release the submitted files too; not if the manifest withholds the gold."))] = False,
    db: Db = None,
) -> None:
    """Write a task's boards and what they rest on, to be archived.

    Statistics, answers, scores, pairs and standings as Parquet, boards, a page, and descriptions; `registry verify DIR`
    computes every number in it again. The log and names of users are not in it, nor, without --sources, what was
    submitted. With `gold = false` under [release] in the manifest, the gold, answers, responses and everything else
    about single items are withheld.
    """
    from registry.releases.writing import write_public_copy, write_release

    if (output is None) == (copy is None):
        raise InputError("name the new folder with --output, or a new registry with --database")
    if copy is not None and sources:
        raise InputError("a public copy has no files; --sources goes with --output")
    if output is not None:
        write_release(database(db), task, output, sources=sources)
        say(f"{output}: written; `registry verify {output}` computes every number again")
    elif copy is not None:
        write_public_copy(database(db), task, copy)
        say(f"{copy}: written; `registry verify --db {copy}` computes every number again")
