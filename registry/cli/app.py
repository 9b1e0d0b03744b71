"""The program, with its list of commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from registry.cli.commands import STUDY, LazyCommand, Program
from registry.cli.console import Color, color_mode, report_all, start_verbose_log
from registry.cli.hints import suggest_first_steps
from registry.cli.settings import choose_database_path
from registry.version import __version__

# In the order of use, because readers of `--help` look at the headings first. A summary is the first sentence of the
# command's docstring, so that `--help` imports no command.
COMMANDS = {
    "quick": LazyCommand("start:quick", "Print a leaderboard of your files, without a manifest.", "Start"),
    "new": LazyCommand("start:new", "Write a manifest for your files.", "Start"),
    "import": LazyCommand("start:import_", "Make a task from the results of another program.", "Start"),
    "init": LazyCommand("evaluate:init", "Create the registry file unless it exists.", "Start"),
    "run": LazyCommand("evaluate:run", "Evaluate a manifest: apply, score, compare, print boards.", "Evaluate"),
    "apply": LazyCommand("evaluate:apply", "Store the gold and the submissions of a manifest.", "Evaluate"),
    "score": LazyCommand("evaluate:score", "Compute missing statistics per item.", "Evaluate"),
    "compare": LazyCommand("evaluate:compare", "Test all pairs of systems, and rank the systems.", "Evaluate"),
    "check": LazyCommand("check:check", "Check submissions, or a manifest and all its files.", "Submissions"),
    "task-pack": LazyCommand(
        "check:task_pack", "Write a folder with which participants check their files.", "Submissions"),
    "submit": LazyCommand("evaluate:submit", "Add a submission to a task.", "Submissions"),
    "withdraw": LazyCommand("submissions:withdraw", "Remove a submission from the leaderboards.", "Submissions"),
    "restore": LazyCommand("submissions:restore", "Undo the withdrawal of a submission.", "Submissions"),
    "amend": LazyCommand("submissions:amend", "Change the declared facts of a submission.", "Submissions"),
    "purge": LazyCommand("submissions:purge", "Delete the data and the names of a team.", "Submissions"),
    "board": LazyCommand("results:board", "Print the leaderboards.", "Results"),
    "pairs": LazyCommand("results:pairs", "Print pairs of systems with their p-values.", "Results"),
    "compare-pair": LazyCommand("results:compare_pair", "Compare two systems: difference, CI, p-value.", "Results"),
    "gate": LazyCommand("gate:gate", "Test whether a candidate may replace a base system.", "Results"),
    "diff": LazyCommand("results:diff", "Explain the changes between two states of leaderboards.", "Results"),
    "plot": LazyCommand("plot:plot", "Draw a leaderboard for a paper.", "Results"),
    "list": LazyCommand("explore:list_", "List tasks, teams, metrics, readers, tests and others.", "Look closer"),
    "items": LazyCommand("explore:items", "List notable items, or show all answers to one item.", "Look closer"),
    "query": LazyCommand("explore:query", "Run one SQL query on the registry.", "Look closer"),
    "schema": LazyCommand("explore:schema", "Print the tables, views and macros of the registry.", "Look closer"),
    "effects": LazyCommand(STUDY, "Print effect sizes and equivalence of every pair.", "Analyse"),
    "best": LazyCommand(STUDY, "Print which systems may be best, and which ranks are open.", "Analyse"),
    "ranking": LazyCommand(STUDY, "Evaluate rankings: n-best lists, and where two differ.", "Analyse"),
    "agreement": LazyCommand("agreement:agreement", "Measure the agreement of annotators.", "Analyse"),
    "study": LazyCommand("study:group", "Analyse a task further, such as its statistical power.", "Analyse"),
    "export": LazyCommand("export:export", "Write results in the format of another platform.", "Publish"),
    "page": LazyCommand("publish:page", "Write the leaderboards of a task as an HTML file.", "Publish"),
    "site": LazyCommand("publish:site", "Write a website with a page for every task.", "Publish"),
    "serve": LazyCommand("serve:serve", "Serve the website and tables over HTTP.", "Publish"),
    "publish": LazyCommand("publish:publish", "Write a copy of the registry without private data.", "Publish"),
    "release": LazyCommand("publish:release", "Write the results of a task as plain files for archives.", "Publish"),
    "hide": LazyCommand("publish:hide", "Hide the names or scores of a task from the public.", "Publish"),
    "reveal": LazyCommand("publish:reveal", "Make hidden names or scores of a task public again.", "Publish"),
    "show": LazyCommand("trust:show", "Show how a result was computed.", "Keep and trust"),
    "verify": LazyCommand("trust:verify", "Verify stored data, and recompute all results.", "Keep and trust"),
    "backup": LazyCommand("trust:backup", "Copy the registry into a new file.", "Keep and trust"),
    "completion": LazyCommand(
        "completion:completion", "Print a script that completes commands and names in a shell.", "Help"),
}


class _Registry(Program):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": COMMANDS})


app = typer.Typer(
    cls=_Registry, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
    help="Evaluate shared tasks: from gold and submissions to leaderboards with significance tests.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(context: typer.Context, requested: bool) -> None:
    if requested and not context.resilient_parsing:  # resilient parsing: completion
        typer.echo(f"evalregistry {__version__}")
        raise typer.Exit


def _print_citation(context: typer.Context, requested: bool) -> None:
    if requested and not context.resilient_parsing:
        from registry.cli.citation import format_citation

        typer.echo(format_citation(), nl=False)
        raise typer.Exit


def _start_verbose_log(requested: bool | None) -> None:
    if requested:
        start_verbose_log()


def _set_color(mode: Color | None) -> None:
    if mode is not None:
        color_mode.set(mode)


@app.callback(invoke_without_command=True)
def _run_program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True,
                                          help="Print the version and exit.")] = False,
    citation: Annotated[bool, typer.Option("--citation", callback=_print_citation, is_eager=True, help=(
        "Print how to cite this program and its methods (BibTeX) and exit."))] = False,
    is_verbose: Annotated[bool, typer.Option("--verbose", "-v", envvar="REGISTRY_VERBOSE", callback=_start_verbose_log,
                                             help=(
        "Print decisions, times and the origin of errors, for bug reports; may follow the command."))] = False,
    color: Annotated[Color, typer.Option("--color", envvar="REGISTRY_COLOR", callback=_set_color, case_sensitive=False,
                                         help=(
        "Colours in tables; auto: on a terminal unless NO_COLOR is set; may follow the command."))] = "auto",
) -> None:
    del version, citation, is_verbose, color  # handled by their callbacks
    if context.invoked_subcommand is None:
        typer.echo(context.get_usage(), err=True)
        report_all(suggest_first_steps(choose_database_path(None)))
        raise typer.Exit(2)
