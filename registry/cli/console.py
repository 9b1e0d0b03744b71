"""Output of commands: results on stdout, everything else on stderr, and the log of `--verbose`."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import typer

from registry.cli.hints import suggest_remedy
from registry.errors import InputError, RegistryError, counted, one_line
from registry.version import __version__

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard
    from registry.rendering.table import Table
    from registry.reports.boards import WideBoard

Format = Literal["table", "tsv", "csv", "md", "latex", "json", "jsonl"]
BoardFormat = Literal["table", "tsv", "csv", "md", "latex", "json", "jsonl", "bibtex"]
Color = Literal["auto", "always", "never"]

_PACKAGES = ("duckdb", "duckdb-sqlalchemy", "sqlalchemy", "numpy", "scipy", "numba")


@dataclass
class VerboseLog:
    """Log of a command that runs with `--verbose`.

    Attributes:
        start: Clock time at the start of the command.
        decisions: Decisions that are already printed.
        stages: Number of runs and total seconds of each stage of the work.
    """

    start: float = field(default_factory=time.perf_counter)
    decisions: set[str] = field(default_factory=set)
    stages: dict[str, tuple[int, float]] = field(default_factory=dict)

    @property
    def stamp(self) -> str:
        """The elapsed time, with which each line begins: `[   1.25 s] `."""
        return f"[{time.perf_counter() - self.start:7.2f} s] "

    def add_stage(self, stage: str, seconds: float) -> None:
        """Record the duration of one run of a stage."""
        n_runs, total = self.stages.get(stage, (0, 0.0))
        self.stages[stage] = n_runs + 1, total + seconds


color_mode: ContextVar[Color] = ContextVar("color_mode", default="auto")
# The log of the current command; None without `--verbose`.
verbose_log: ContextVar[VerboseLog | None] = ContextVar("verbose_log", default=None)


def start_verbose_log() -> None:
    """Start the log of `--verbose`, and print the versions of all packages."""
    import platform

    from registry.plugins import installed_version

    if verbose_log.get() is not None:
        return
    verbose_log.set(VerboseLog())
    packages = [(name, installed_version(name)) for name in _PACKAGES]
    explain(", ".join([f"evalregistry {__version__}", f"Python {platform.python_version()}", platform.platform(),
                       *(f"{name} {version}" if version else f"no {name}" for name, version in packages)]))


def end_verbose_log() -> None:
    """Print the time of each stage and the memory of the process, and end the log.

    Without `--verbose`, the function does nothing.
    """
    from registry.platforms import peak_memory

    if (log := verbose_log.get()) is None:
        return
    for stage, (n_runs, seconds) in log.stages.items():
        report(f"verbose: stage: {stage}: {seconds:.2f} s" + (f" in {counted(n_runs, 'part')}" if n_runs > 1 else ""))
    peak = peak_memory()
    report(f"verbose: took {time.perf_counter() - log.start:.2f} s, {time.process_time():.2f} s of processor time in "
           "this process" + (f", {peak / 2**20:.0f} MB at most" if peak is not None else ""))
    verbose_log.set(None)


def explain(decision: str) -> None:
    """With `--verbose`, print why the program made an automatic decision.

    Each text is printed only once per command.
    """
    if (log := verbose_log.get()) is not None and decision not in log.decisions:
        log.decisions.add(decision)
        report(f"verbose: {decision}")


def report(message: str) -> None:
    """Print a message as one line on stderr."""
    log = verbose_log.get()
    typer.echo(("" if log is None else log.stamp) + one_line(message), err=True)


def report_all(messages: Iterable[str], kind: str = "") -> None:
    """Print messages on stderr, one per line.

    `kind`, such as `warning`, is the beginning of each line.
    """
    for message in messages:
        report(f"{kind}: {message}" if kind else message)


def report_error(error: RegistryError) -> None:
    """Print an error on stderr, and all other errors that it carries, with remedies."""
    for problem in (error, *error.others):
        remedy = suggest_remedy(problem)
        report(f"{'error' if problem.exit_code else 'info'}: {problem}{remedy and f'; {remedy}'}")
        report_all(problem.excerpt.splitlines())
    if verbose_log.get() is not None:
        # Only the lines of code: the messages of causes may contain private data.
        report_all("".join(traceback.format_tb(error.__traceback__)).splitlines())


def report_end(*, changed: bool, dry_run: bool, next_step: str = "") -> None:
    """Print at the end of a command whether it stored anything, and the next step.

    Args:
        changed: True if the command changed the registry.
        dry_run: True if the changes were not stored.
        next_step: The suggestion.
    """
    if not changed:
        report_unchanged("nothing changed")
    elif dry_run:
        report("dry run: nothing was written")
    elif next_step:
        report(f"next: {next_step}")


def report_unchanged(message: str) -> None:
    """Print the message of a command that found all results already stored.

    Developers get a note if their code has uncommitted changes, because stored results are not recomputed then.
    """
    from registry.provenance import code

    report(message)
    if code().dirty:
        report("info: the code differs from its git revision; `registry score --stale` recomputes scores of changed "
               "metrics; all other results stay as stored: use another --db to recompute them")


def print_tables(tables: Sequence[Table], format_: Format | None, *, all_notes: bool = False) -> None:
    """Print tables on stdout.

    Args:
        tables: The tables.
        format_: The output format; None: the default.
        all_notes: True to print all notes below a table. Otherwise a terminal shows only the first ones.
    """
    from registry.rendering.render import render

    width, color = inspect_terminal()
    write(render(tables, choose_format(format_), width=width, color=color, all_notes=all_notes))


def print_boards(boards: Sequence[Leaderboard], format_: Format | None, *, all_notes: bool = False) -> None:
    """Print leaderboards on stdout.

    The first board of each task has the description of the task as a note.
    """
    from registry.reports.boards import make_board_table
    from registry.reports.paper_tables import render_latex_board

    if choose_format(format_) == "latex":
        write("\n".join(render_latex_board(board) for board in boards))
        return
    tables = []
    described_tasks = set()
    for board in boards:
        table = make_board_table(board)
        if board.task not in described_tasks:
            described_tasks.add(board.task)
            table = replace(table, notes=[*table.notes, board.about])
        tables.append(table)
    print_tables(tables, format_, all_notes=all_notes)


def print_methods(boards: Sequence[Leaderboard], format_: BoardFormat | None) -> None:
    """Print a paragraph about the methods of leaderboards, with references.

    Leaderboards of the same items by different metrics share a paragraph. In JSON, each leaderboard has its own.

    Raises:
        InputError: The paragraph has no such format.
    """
    from registry.references import find_references
    from registry.reports.methods import Methods, describe_methods, group_boards

    writers = {None: Methods.to_text, "table": Methods.to_text, "md": Methods.to_markdown, "latex": Methods.to_latex}
    if format_ == "json":
        rows = [board.key._asdict() | describe_methods(board).described() for board in boards]
        write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return
    if format_ not in (*writers, "bibtex"):
        raise InputError(f"--methods has the formats table, md, latex, bibtex and json, not {format_}")
    paragraphs = [describe_methods(*group) for group in group_boards(boards)]
    if format_ == "bibtex":
        write("\n".join(work.bibtex for work in find_references(*(methods.text for methods in paragraphs))))
    else:
        write("\n".join(map(writers[format_], paragraphs)))


def print_pairs(boards: Sequence[Leaderboard], format_: Format | None, *, all_notes: bool = False) -> None:
    """Print the pairs of leaderboards on stdout."""
    from registry.reports.boards import make_pair_table
    from registry.reports.paper_tables import render_latex_pairs

    if choose_format(format_) == "latex":
        write("\n".join(map(render_latex_pairs, boards)))
    else:
        print_tables(list(map(make_pair_table, boards)), format_, all_notes=all_notes)


def print_wide_boards(boards: Sequence[tuple[WideBoard, str]], format_: Format | None, *,
                      all_notes: bool = False) -> None:
    """Print leaderboards of several metrics or test sets side by side.

    If a board shows a date in the past, a sentence says so.
    """
    from registry.reports.boards import make_wide_table
    from registry.reports.paper_tables import render_latex_wide

    if choose_format(format_) == "latex":
        write("\n".join(render_latex_wide(board, past) for board, past in boards))
    else:
        print_tables([make_wide_table(board, past) for board, past in boards], format_, all_notes=all_notes)


def choose_format(format_: str | None) -> str:
    """Return the requested output format or, if it is None, the default.

    The default is `table` on a terminal and `tsv` otherwise.
    """
    if format_ is not None:
        explain(f"format {format_}: from --format or REGISTRY_FORMAT")
        return format_
    if inspect_terminal()[0] is None:
        explain("format tsv: stdout is no terminal")
        return "tsv"
    explain("format table: stdout is a terminal")
    return "table"


def write(text: str) -> None:
    """Write a text to stdout, and flush it."""
    typer.echo(text, nl=False, color=True if color_mode.get() == "always" else None)
    if sys.stdout is not None:
        sys.stdout.flush()


def inspect_terminal() -> tuple[int | None, bool]:
    """Return the width of the terminal, and whether tables should have colours.

    The width is None if stdout is not a terminal.
    """
    mode = color_mode.get()
    if sys.stdout is None or not sys.stdout.isatty():
        return None, mode == "always"
    no_color = os.environ.get("NO_COLOR") or os.environ.get("CLICOLOR") == "0" or os.environ.get("TERM") == "dumb"
    return shutil.get_terminal_size().columns, mode == "always" or (mode == "auto" and not no_color)
