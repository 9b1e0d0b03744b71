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
    from registry.guessing.guess import Asked
    from registry.guessing.made import Made

As = Annotated[str | None, typer.Option("--as", metavar="KIND", autocompletion=names.kinds, help=(
    "What the files are, a reader or an importer by name, instead of a guess."))]
Metric = Annotated[str | None, typer.Option("--metric", "-m", metavar="NAME", autocompletion=names.metrics, help=(
    "The metric, as people call it (F1, accuracy) or by its own name (SpanF(beta=2)); else the usual one."))]
Option = Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
    "An option of the reader or importer, as the manifest would write it; can be repeated."))]
Missing = Annotated[Literal["reject", "worst", "drop"], typer.Option("--missing", help=(
    "What to do about items without answer."))]
Runs = Annotated[Literal["fixed", "random"] | None, typer.Option("--runs", help=(
    "Files that differ by a number after seed or run alone are runs of one system, scored by their average; results "
    "are to hold for these runs (fixed) or for others too (random)."))]
Gold = Annotated[Path | None, typer.Option("--gold", metavar="FILE", help=(
    "The gold's file, if its name does not say so (gold, reference, truth, key, test, ...); the others are systems."))]
System = Annotated[list[Path] | None, typer.Argument(metavar="SYSTEM...", help="The systems' files, or a folder.")]


def quick(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help=(
        "The gold's file; or all there is: a folder, a table of all systems, or a program's logs."))],
    system: System = None, kind: As = None, metric: Metric = None, option: Option = None, missing: Missing = "reject",
    test: Test = None,
    runs: Runs = None, named_gold: Gold = None,
    keep: Annotated[str | None, typer.Option("--keep", metavar="TASK", help=(
        "Keep it as a task of this name: its folder, written here, and in the registry."))] = None,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, actor: Actor = None, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Print the leaderboard of files as they are, without a manifest.

    Format, columns and metric are guessed, and it is said what the guess rests on; what the files leave open is asked.
    Nothing is left behind but what --keep names.
    """
    from registry.at_once import Kept, at_once
    from registry.provenance import recorded_name
    from registry.store.log import Journal

    paths = [gold, *(system or [])]
    found = _made(paths, _asked(kind, metric, option, missing, runs, named_gold), test)
    journal = Journal("quick", {"files": [recorded_name(path) for path in paths], "task": keep},
                      inputs=dict(found.folder.sources), actor=actor_name(actor))
    kept = None if keep is None else Kept(Path(keep), database(db, wait))
    done = at_once(found.folder, keep or "quick", journal, execution(workers, cluster, memory, quiet=quiet), say, kept)
    show_boards(done.boards, format_)
    more = " SYSTEM..." if system else ""
    say(f"next: `registry run {Path(keep) / 'task.toml'}` after changes of the manifest" if keep else
        f"next: `registry new TASK --from {gold}{more}`, with the same options, writes the manifest of this guess")
    for sentence in found.folder.then:
        kept_first = "" if keep or "{task}" not in sentence else "with --keep TASK: "
        say(kept_first + sentence.replace("{task}", keep or "TASK"))


def new(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")],
    gold: Annotated[Path, typer.Option("--from", metavar="GOLD", help="As `registry quick` takes it.")],
    system: System = None, kind: As = None, metric: Metric = None, option: Option = None, missing: Missing = "reject",
    test: Test = None, runs: Runs = None, named_gold: Gold = None,
    to: To = None,
) -> None:
    """Write the manifest that `registry quick` guesses."""
    found = _made([gold, *(system or [])], _asked(kind, metric, option, missing, runs, named_gold), test)
    with found.folder.written(to or Path(task), task) as manifest:
        say(f"task: {manifest}")
    say(f"next: look it over, then `registry run {manifest}`")


def _asked(kind: str | None, metric: str | None, option: list[str] | None, missing: str,
           runs: Literal["fixed", "random"] | None, named_gold: Path | None) -> Asked:
    """What is said instead of being guessed."""
    from registry.guessing.guess import Asked

    return Asked(kind, named_values(option or [], "--option"), metric, missing, runs,
                 None if named_gold is None else str(named_gold))


def _made(paths: list[Path], asked: Asked, test: str | None) -> Made:
    """Guess, and tell what was guessed."""
    from registry.guessing.made import made

    found = made(paths, asked, test)
    say_all(found.told, "guess")
    say_all(found.folder.notes, "warning")
    return found
