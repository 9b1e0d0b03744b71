"""The command release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say
from registry.cli.options import Db, Task, public_database


def release(
    task: Task,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", readable=False, help=(
        "The new folder; there must be none of that name."))],
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
    from registry.releases.writing import write_release

    write_release(public_database(db), task, output, sources=sources)
    say(f"{output}: written; `registry verify {output}` computes every number again")
