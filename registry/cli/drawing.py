"""The options of commands that compute: who does, with how much memory, how far it is, and which had no effect."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say
from registry.cli.options import size_in_bytes

if TYPE_CHECKING:
    from registry.evaluation import Compared, Scored
    from registry.significance import Execution

Workers = Annotated[int | None, typer.Option("--workers", envvar="REGISTRY_WORKERS", min=1, help=(
    "Processes that score and compare, and threads that draw; as many as there are processors if none is given. "
    "Results are the same bits."))]
Cluster = Annotated[str | None, typer.Option("--dask", envvar="REGISTRY_DASK", metavar="ADDRESS", help=(
    "A dask scheduler whose workers draw instead, such as tcp://host:8786; needs the extra dask."))]
Memory = Annotated[str | None, typer.Option("--memory", envvar="REGISTRY_MEMORY", metavar="SIZE", help=(
    "What random draws may take, such as 512M or 4G; 2G if none is given."))]


def execution(workers: int | None, cluster: str | None, memory: str | None) -> Execution:
    """Who computes: threads or a cluster, with how much memory, and a bar that tells how far it is."""
    from registry.significance import Execution

    return Execution(workers, cluster, size_in_bytes(memory or "2G", "--memory"), progress, processes=True)


def progress(done: int, of: int) -> None:
    """Show on a terminal how many blocks of draws are done, where there are many."""
    if of >= 500 and (done % 50 == 0 or done == of):
        _bar(f"drawing: {100 * done // of} %", done, of)


def scoring_progress(done: int, of: int) -> None:
    """Show on a terminal how many submissions are scored."""
    _bar(f"scoring: {done} of {of} submissions", done, of)


def studying_progress(done: int, of: int) -> None:
    """Show on a terminal how many parts of a study are done."""
    _bar(f"studying: {done} of {of}", done, of)


def _bar(line: str, done: int, of: int) -> None:
    """Write a line over the one before it, on a terminal and where there are several steps; the last one clears it."""
    if of > 1 and sys.stderr is not None and sys.stderr.isatty():
        typer.echo("\r" + (" " * len(line) + "\r" if done == of else line), err=True, nl=False)


def say_unused(context: typer.Context, compared: Compared, scored: Scored | None = None) -> None:
    """Tell which options of the command line had no effect, where comparisons were made without any draw."""
    if not compared.made or compared.drawn:
        return
    worked = compared.shared or (scored is not None and scored.computed)
    unused = ["resamples", "seed", "resolve", "cluster", "memory", *([] if worked else ["workers"])]
    sources = {option.opts[0]: context.get_parameter_source(option.name) for option in context.command.params
               if option.name in unused}
    given = [option for option, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        say(f"note: nothing had to be drawn, so {', '.join(given)} had no effect")
