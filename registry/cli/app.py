"""The application: its commands, in the order of the main job."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from registry.cli import verbose
from registry.cli.commands import STUDY, LazyCommand, Program
from registry.cli.console import Color, coloring, explain, say_all
from registry.cli.settings import database_path
from registry.version import __version__

# In the order of the main job: readers of `--help` look at the headings first. A summary is the first sentence of the
# command's docstring, so that `--help` imports no command.
COMMANDS = {
    "quick": LazyCommand("quick:quick", "Print the leaderboard of files as they are, without a manifest.", "Start"),
    "new": LazyCommand("quick:new", "Write the manifest of what `registry quick` reads.", "Start"),
    "import": LazyCommand("importing:import_", "Make a task of another program's results.", "Start"),
    "init": LazyCommand("task:init", "Create the registry, unless it exists.", "Start"),
    "run": LazyCommand("task:run", "Do the whole job: apply, score, compare, print boards.", "Evaluate"),
    "apply": LazyCommand("task:apply", "Bring what a manifest declares into the registry.", "Evaluate"),
    "score": LazyCommand("comparison:score", "Compute the per-item statistics that are missing.", "Evaluate"),
    "compare": LazyCommand("comparison:compare", "Test all pairs of every leaderboard, and rank.", "Evaluate"),
    "check": LazyCommand("check:check", "Check submissions, or a manifest with all its files.", "Submissions"),
    "task-pack": LazyCommand(
        "check:task_pack", "Write what participants need to check their submissions.", "Submissions"),
    "submit": LazyCommand("task:submit", "Bring one more submission to a task into the registry.", "Submissions"),
    "withdraw": LazyCommand("submissions:withdraw", "Take a submission off the boards, and keep it.", "Submissions"),
    "restore": LazyCommand("submissions:restore", "Let a withdrawn submission take part again.", "Submissions"),
    "amend": LazyCommand("submissions:amend", "Change what is declared of a submission that came.", "Submissions"),
    "purge": LazyCommand("submissions:purge", "Forget a team: all that it gave, and its names.", "Submissions"),
    "board": LazyCommand("board:board", "Print the leaderboards.", "Results"),
    "pairs": LazyCommand("board:pairs", "Print pairs of systems with their p-values.", "Results"),
    "diff": LazyCommand("diff:diff", "Tell what changed between two states of leaderboards, and why.", "Results"),
    "plot": LazyCommand("plot:plot", "Draw a leaderboard for a paper; needs the extra plot.", "Results"),
    "list": LazyCommand("listing:list_", "List what the registry holds, or what the program knows.", "Look closer"),
    "items": LazyCommand("items:items", "List items to look at, or show what everybody says of one.", "Look closer"),
    "query": LazyCommand("query:query", "Answer one SELECT over the registry's tables and views.", "Look closer"),
    "schema": LazyCommand("query:schema", "Print the data model: tables, views and macros.", "Look closer"),
    "effects": LazyCommand(STUDY, "Print effect sizes and equivalence of every pair.", "Analyse"),
    "best": LazyCommand(STUDY, "Print which systems may be best, and which ranks are open.", "Analyse"),
    "ranking": LazyCommand(STUDY, "Evaluate rankings: n-best lists, and where two differ.", "Analyse"),
    "study": LazyCommand("study:group", "Make a study of a task: what its numbers show and do not.", "Analyse"),
    "export": LazyCommand("export:export", "Write a task, a leaderboard or scores as others read them.", "Publish"),
    "page": LazyCommand("page:page", "Write a task's leaderboards as one HTML file.", "Publish"),
    "site": LazyCommand("page:site", "Write an index, a feed, and a page for every task.", "Publish"),
    "serve": LazyCommand("serve:serve", "Serve the site live over HTTP.", "Publish"),
    "publish": LazyCommand("publish:publish", "Write a public file: a new registry without private data.", "Publish"),
    "release": LazyCommand(
        "release:release", "Write a task's boards and what they rest on, to be archived.", "Publish"),
    "hide": LazyCommand("hiding:hide", "Keep the names or scores of a task from the public.", "Publish"),
    "reveal": LazyCommand("hiding:reveal", "Publish names again and print who was who, or scores.", "Publish"),
    "show": LazyCommand("trust:show_", "Tell how a number came about.", "Keep and trust"),
    "verify": LazyCommand(
        "trust:verify", "Check that nothing was altered, and every number follows.", "Keep and trust"),
    "backup": LazyCommand("trust:backup", "Copy the registry as it stands into a new file.", "Keep and trust"),
    "completion": LazyCommand(
        "guide.completion:completion", "Print a script that completes commands and names in a shell.", "Help"),
}


class _Registry(Program):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": COMMANDS})


app = typer.Typer(
    cls=_Registry, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Evaluate shared tasks: gold and submissions in, per-item statistics in DuckDB, honest leaderboards out.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:  # which is completion
        typer.echo(f"evalregistry {__version__}")
        raise typer.Exit


def _citation(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
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
) -> None:
    del version, citation, is_verbose, color  # their callbacks have done what they say
    if context.invoked_subcommand is None:
        _greet(context)


def _greet(context: typer.Context) -> None:
    """Say what to do next where no command is given."""
    from registry.cli.guide.start import first_steps

    typer.echo(context.get_usage(), err=True)
    say_all(first_steps(database_path(None)))
    raise typer.Exit(2)
