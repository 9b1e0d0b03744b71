"""The application: its commands, in the order of the main job."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from registry.cli import (
    board,
    check,
    diff,
    export,
    hiding,
    importing,
    items,
    listing,
    page,
    plot,
    query,
    quick,
    release,
    serve,
    shell,
    study,
    submissions,
    task,
    trust,
    verbose,
)
from registry.cli import comparison as results
from registry.cli.console import Color, RegistryGroup, coloring, explain, say, say_all
from registry.cli.late import add_command
from registry.cli.options import organiser
from registry.cli.settings import database_path
from registry.cli.study.command import add_study
from registry.version import __version__

app = typer.Typer(
    cls=RegistryGroup, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Evaluate shared tasks: gold and submissions in, per-item statistics in DuckDB, honest leaderboards out.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evalregistry {__version__}")
        raise typer.Exit


def _citation(wanted: bool) -> None:
    if wanted:
        from registry.cli.guide.citation import citation

        typer.echo(citation(), nl=False)
        raise typer.Exit


def _verbose(wanted: bool | None) -> None:
    if wanted and verbose.account.get() is None:
        verbose.account.set(verbose.Account())
        explain(verbose.versions())


def _color(chosen: Color | None) -> None:
    if chosen is not None:
        coloring.set(chosen)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", callback=_version, is_eager=True,
                                          help="Print the version and exit.")] = False,
    citation: Annotated[bool, typer.Option("--citation", callback=_citation, is_eager=True, help=(
        "Print how to cite this program and its methods (BibTeX) and exit."))] = False,
    is_verbose: Annotated[bool, typer.Option("--verbose", "-v", envvar="REGISTRY_VERBOSE", callback=_verbose, help=(
        "Tell what is decided and why, how long all takes, and where errors come from, for bug reports; also after "
        "the command."))] = False,
    color: Annotated[Color, typer.Option("--color", envvar="REGISTRY_COLOR", callback=_color, case_sensitive=False,
                                         help=(
        "Whether tables show decisions in colours too; auto: on a terminal, unless NO_COLOR is set. Also after the "
        "command."))] = "auto",
    as_organiser: Annotated[bool, typer.Option("--organiser", envvar="REGISTRY_ORGANISER", help=(
        "Show also what is hidden: names of participants in anonymous tasks, and scores in blind phases."))] = False,
) -> None:
    del version, citation, is_verbose, color  # their callbacks have done what they say
    organiser.set(as_organiser)
    if context.invoked_subcommand is None:
        _greet(context)
    if as_organiser:
        say("warning: shown as to an organiser, with names and scores that are hidden from others; do not pass it on")


def _greet(context: typer.Context) -> None:
    """Say what to do next where no command is given."""
    from registry.cli.guide.start import first_steps

    typer.echo(context.get_usage(), err=True)
    say_all(first_steps(database_path(None)))
    raise typer.Exit(2)


# Who looks for a command reads the headings first, which follow the job.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "Start": (quick.quick, quick.new, importing.import_, task.init),
    "Evaluate": (task.run, task.apply, results.score, results.compare),
    "Submissions": (check.check, check.task_pack, task.submit, submissions.withdraw, submissions.restore,
                    submissions.amend, submissions.purge),
    "Results": (board.board, board.pairs, diff.diff, plot.plot),
    "Look closer": (listing.list_, items.items, query.query, query.schema),
    "Analyse": ("effects", "best", "ranking", study.app),
    "Publish": (export.export, page.page, page.site, serve.serve, release.release, hiding.hide, hiding.reveal),
    "Keep and trust": (trust.show_, trust.verify, trust.backup),
    "Help": (shell.completion,),
}
for heading, commands in COMMANDS.items():
    for command in commands:
        if isinstance(command, str):
            add_study(app, command, heading)
        elif isinstance(command, typer.Typer):
            app.add_typer(command, name="study", rich_help_panel=heading)
        else:
            name = command.__name__.rstrip("_").replace("_", "-")
            add_command(app, command, name, heading)
