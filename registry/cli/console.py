"""What commands print: results on stdout, everything else on stderr; errors are one line and an exit status."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import typer

from registry.cli import verbose
from registry.cli.guide.mistakes import where_to_look
from registry.errors import RegistryError, one_line

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard
    from registry.rendering.table import Table

Format = Literal["table", "tsv", "csv", "md", "latex", "json", "jsonl"]
Color = Literal["auto", "always", "never"]

# Whether tables have colours; the option stands before the command.
coloring: ContextVar[Color] = ContextVar("coloring", default="auto")


def report_error(error: RegistryError) -> None:
    """Write an error, and those that came with it, each as one line with its remedy."""
    for one in (error, *error.others):
        look = where_to_look(one)
        say(f"{'error' if one.exit_code else 'note'}: {one}{look and f'; {look}'}")
        say_all(one.excerpt.splitlines())
    if verbose.account.get() is not None:
        say_all(verbose.origin(error))


def report_duration() -> None:
    """Write how long each stage of the command took, if `--verbose` is given."""
    if (account := verbose.account.get()) is not None:
        say_all(account.summary(), "verbose")
        verbose.account.set(None)


def say(message: str) -> None:
    """Tell how things go, on stderr."""
    account = verbose.account.get()
    typer.echo(("" if account is None else account.stamp) + one_line(message), err=True)


def say_all(messages: Iterable[str], kind: str = "") -> None:
    """Tell several things, each after the word for its kind, such as `warning`."""
    for message in messages:
        say(f"{kind}: {message}" if kind else message)


def explain(decision: str) -> None:
    """Tell what was decided and why, once, where that is to be told."""
    if (account := verbose.account.get()) is not None and decision not in account.decided:
        account.decided.add(decision)
        say(f"verbose: {decision}")


def show(tables: Sequence[Table], format_: Format | None) -> None:
    """Write results to stdout."""
    from registry.rendering.render import render

    width, color = terminal()
    write(render(tables, chosen_format(format_), width=width, color=color))


def show_boards(boards: Sequence[Leaderboard], format_: Format | None) -> None:
    """Write leaderboards to stdout."""
    from registry.reports.boards import board_table
    from registry.reports.papers import latex_board

    if chosen_format(format_) == "latex":
        write("\n".join(latex_board(board) for board in boards))
    else:
        first = {board.task: n for n, board in reversed(list(enumerate(boards)))}  # what is said of a task once
        show([replace(table, captions=[*table.captions, *([board.about] if first[board.task] == n else [])])
              for n, board in enumerate(boards) for table in [board_table(board)]], format_)


def chosen_format(format_: str | None) -> str:
    """How results are written: as it was said, else as suits what stdout is."""
    if format_ is not None:
        explain(f"format {format_}: as --format or REGISTRY_FORMAT says")
        return format_
    chosen, why = ("tsv", "stdout is no terminal") if terminal()[0] is None else ("table", "stdout is a terminal")
    explain(f"format {chosen}: {why}")
    return chosen


def write(text: str) -> None:
    """Write a result to stdout."""
    typer.echo(text, nl=False, color=True if coloring.get() == "always" else None)
    if sys.stdout is not None:
        sys.stdout.flush()


def terminal() -> tuple[int | None, bool]:
    """The width of the terminal that stdout is, None if it is none, and whether tables have colours."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None, coloring.get() == "always"
    return shutil.get_terminal_size().columns, _is_colored()


def _is_colored() -> bool:
    """Whether a terminal gets colours: as --color says, else as the environment does, else yes."""
    if (said := coloring.get()) != "auto":
        return said == "always"
    environment = os.environ
    return not environment.get("NO_COLOR") and environment.get("CLICOLOR") != "0" and environment.get("TERM") != "dumb"
