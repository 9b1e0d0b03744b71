"""Commands that need no manifest: quick, new."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.comparison import Test
from registry.cli.console import say, say_all, show_boards
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution
from registry.cli.guide import names
from registry.cli.options import Actor, Db, OutputFormat, To, Wait, actor_name, database, named_values

if TYPE_CHECKING:
    from registry.quick.make import Made

Systems = Annotated[list[Path], typer.Argument(metavar="SYSTEM...", help=(
    "The systems' files, a folder of them, or a pattern such as '{team}/{run}.tsv'; without --gold also one table of "
    "all systems, or a program's logs."))]
Gold = Annotated[str | None, typer.Option("--gold", metavar="GOLD", help=(
    "The file of the correct answers; in one table of all systems their column."))]
Item = Annotated[list[str] | None, typer.Option("--item", metavar="COLUMN", help=(
    "The column that names the items, or its number; can be repeated if several do together."))]
InOrder = Annotated[bool, typer.Option("--in-order", help=(
    "Items have no names: all files have them in the same order."))]
Label = Annotated[list[str] | None, typer.Option("--label", metavar="COLUMN", help=(
    "The column of labels; given twice, the gold's and the systems'."))]
Score = Annotated[list[str] | None, typer.Option("--score", metavar="COLUMN", help=(
    "The column of numbers; given twice, the gold's and the systems'."))]
Text = Annotated[list[str] | None, typer.Option("--text", metavar="COLUMN", help=(
    "The column of texts; given twice, the gold's and the systems'."))]
As = Annotated[str | None, typer.Option("--as", metavar="KIND", autocompletion=names.kinds, help=(
    "The files' format: a reader or an importer by name."))]
Metric = Annotated[str | None, typer.Option("--metric", "-m", metavar="NAME", autocompletion=names.metrics, help=(
    "The metric, as people call it (F1, accuracy) or by its own name (SpanF(beta=2)); else the usual one."))]
Option = Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
    "An option of the reader or importer, as the manifest would write it; can be repeated."))]
Missing = Annotated[Literal["reject", "worst", "drop"], typer.Option("--missing", help=(
    "What to do about items without answer."))]
Runs = Annotated[Literal["fixed", "random"] | None, typer.Option("--runs", help=(
    "Files that differ only by a number after seed or run are runs of one system, scored by their average; results "
    "hold for these runs (fixed) or for others too (random)."))]


def quick(
    system: Systems, gold: Gold = None, item: Item = None, in_order: InOrder = False, label: Label = None,
    score: Score = None, text: Text = None, kind: As = None, metric: Metric = None, option: Option = None,
    missing: Missing = "reject", test: Test = None, runs: Runs = None,
    keep: Annotated[str | None, typer.Option("--keep", metavar="TASK", help=(
        "Keep it as a task of this name: its folder, written here, and in the registry."))] = None,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, actor: Actor = None, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Print the leaderboard of files as they are, without a manifest.

    Roles of files and columns are options, or columns have usual names; else the command asks for them. A preview shows
    what was read. Nothing is stored without --keep.
    """
    from registry.at_once import Kept, at_once
    from registry.provenance import recorded_name
    from registry.store.log import Journal

    found = _made(system, gold, item, label, score, text, kind, metric, option, missing, runs, test, in_order=in_order)
    files = [recorded_name(path) for path in system]
    journal = Journal("quick", {"files": files, "gold": None if gold is None else recorded_name(Path(gold)),
                                "task": keep}, inputs=dict(found.folder.sources), actor=actor_name(actor))
    kept = None if keep is None else Kept(Path(keep), database(db, wait))
    done = at_once(found.folder, keep or "quick", journal, execution(workers, cluster, memory, quiet=quiet), say, kept)
    show_boards(done.boards, format_)
    say(f"next: `registry run {Path(keep) / 'task.toml'}` after changes of the manifest" if keep else
        "next: `registry new TASK` with the same arguments writes the manifest")
    for sentence in found.folder.advice:
        kept_first = "" if keep or "{task}" not in sentence else "with --keep TASK: "
        say(kept_first + sentence.replace("{task}", keep or "TASK"))


def new(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")],
    system: Systems, gold: Gold = None, item: Item = None, in_order: InOrder = False, label: Label = None,
    score: Score = None, text: Text = None, kind: As = None, metric: Metric = None, option: Option = None,
    missing: Missing = "reject", test: Test = None, runs: Runs = None,
    to: To = None,
) -> None:
    """Write the manifest of what `registry quick` reads."""
    found = _made(system, gold, item, label, score, text, kind, metric, option, missing, runs, test, in_order=in_order)
    with found.folder.write(to or Path(task), task) as manifest:
        say(f"task: {manifest}")
    say(f"next: check it, then `registry run {manifest}`")


def _made(system: list[Path], gold: str | None, item: list[str] | None, label: list[str] | None,
          score: list[str] | None, text: list[str] | None, kind: str | None, metric: str | None,
          option: list[str] | None, missing: str, runs: Literal["fixed", "random"] | None, test: str | None, *,
          in_order: bool) -> Made:
    """Read the files, and print the preview, the options that say the same, and notes."""
    from registry.quick.make import make
    from registry.quick.plan import Asked

    asked = Asked(kind, named_values(option or [], "--option"), metric, missing, runs, gold, tuple(item or ()),
                  in_order, tuple(label or ()), tuple(score or ()), tuple(text or ()))
    found = make(system, asked, test)
    say_all(found.preview)
    say(f"read as: {found.read_as}")
    say_all(found.notes, "note")
    say_all(found.folder.notes, "warning")
    return found
