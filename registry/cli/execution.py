"""The options of commands that compute: who does, with how much memory, what is told, and which had no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.commands import WORK
from registry.cli.console import explain, say
from registry.cli.options import size_in_bytes
from registry.cli.progress import reporter
from registry.errors import counted

if TYPE_CHECKING:
    from registry.evaluation.comparing.compare import ComparisonSummary
    from registry.evaluation.scoring.score import ScoringSummary
    from registry.significance import Execution

Workers = Annotated[int | None, typer.Option("--workers", "-j", envvar="REGISTRY_WORKERS", min=1, help=(
    "Processes that score and compare, and threads that draw; as many as there are processors if none is given. "
    "Results are the same bits."), rich_help_panel=WORK)]
Cluster = Annotated[str | None, typer.Option("--dask", envvar="REGISTRY_DASK", metavar="ADDRESS", help=(
    "A dask scheduler whose workers score, draw and compute exact tails instead, such as tcp://host:8786; needs the "
    "extra dask."), rich_help_panel=WORK)]
Memory = Annotated[str | None, typer.Option("--memory", envvar="REGISTRY_MEMORY", metavar="SIZE", help=(
    "What the command may take, such as 512M or 4G; 2G if none is given. More is said before the work."),
    rich_help_panel=WORK)]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", envvar="REGISTRY_QUIET", help=(
    "Tell neither the plan of the work nor how far it is; warnings and errors stay."), rich_help_panel=WORK)]


def execution(workers: int | None, cluster: str | None, memory: str | None, *, quiet: bool) -> Execution:
    """Who computes: threads or a cluster, with how much memory; and who is told how far it is."""
    from registry.parallel.execution import Cluster as DaskCluster
    from registry.significance import Execution

    how = Execution(workers, None if cluster is None else DaskCluster(cluster),
                    size_in_bytes(memory or "2G", "--memory"), reporter(quiet=quiet), processes=True)
    explain(f"work: {'by default ' if workers is None else ''}{counted(how.threads, 'thread')}, "
            f"{'' if cluster is None else f'a cluster at {cluster}, '}memory {memory or '2G, by default'}")
    return how


def say_unused(context: typer.Context, how: Execution, compared: ComparisonSummary,
               scored: ScoringSummary | None = None) -> None:
    """Tell which options of the command line had no effect, where comparisons were made without any draw."""
    if not compared.n_comparisons or compared.is_random:
        return
    worked = compared.is_parallel or (scored is not None and scored.n_computed)
    unused = ["resamples", "seed", "resolve", *([] if how.cluster and how.cluster.is_connected else ["cluster"]),
              *([] if worked else ["workers"])]
    sources = {option.opts[0]: context.get_parameter_source(option.name) for option in context.command.params
               if option.name in unused}
    given = [option for option, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        say(f"note: nothing had to be drawn, so {', '.join(given)} had no effect")
