"""Commands that write files for studies: a task to plan with (synthesize), and training files (resample-train)."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say, show
from registry.cli.guide import names
from registry.cli.options import (
    ChosenMetric,
    Db,
    DryRun,
    Facet,
    OutputFormat,
    ReaderOptions,
    Task,
    TestSet,
    Track,
    database,
    named_values,
    taken,
)
from registry.errors import InputError, counted


def synthesize(
    task: Task,
    system: Annotated[list[str] | None, typer.Option("--system", metavar="NAME=RATE", help=(
        "A system and the rate at which it is right; can be repeated."))] = None,
    correlation: Annotated[float, typer.Option("--correlation", metavar="R12", help=(
        "Of the results of every two systems."))] = 0.5,
    pair: Annotated[list[str] | None, typer.Option("--pair", metavar="A,B=R12", help=(
        "Of two systems that are otherwise correlated than the rest; can be repeated."))] = None,
    items: Annotated[int | None, typer.Option("--items", metavar="N", help=(
        "Draw so many items, with replacement; all as they are if none is given."))] = None,
    name: Annotated[str | None, typer.Option("--task", metavar="ID", help=(
        "What the task is called; else as the real one, with -synthesized."))] = None,
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help=(
        "The folder in which it is written; else one called after it."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the random draws; else as the task declares.")] = None,
    db: Db = None, format_: OutputFormat = None, dry_run: DryRun = False,
) -> None:
    """Write a task of drawn system outputs.

    Systems are right at declared rates, correlated as declared, on items that are as hard as the task's: to try
    everything before anyone submits.
    """
    from registry.manifest import load_manifest
    from registry.manifest.fields import check_slug
    from registry.rendering.table import Column, Table, format_text, make_number_format
    from registry.studies.study import Choice
    from registry.studies.synthesize import Source
    from registry.studies.synthesize import synthesize as drawn

    rates, pairs = _declared(system or [], pair or [])
    slug = f"{task}-synthesized" if name is None else taken(check_slug, name, "--task")
    with database(db).reading() as connection:
        source = Source.load(connection, task, Choice(task, metric, test_set, track, facet))
    made = drawn(source, rates, correlation, pairs=pairs, items=items, seed=source.seed if seed is None else seed)
    folder = to or Path(slug)
    with made.task.written(folder, slug, dry_run=dry_run) as manifest:
        load_manifest(manifest)
    say(f"{'would be written' if dry_run else 'task'}: {folder / 'task.toml'}; `registry run` brings it in")
    columns = (Column("system", "system", format_text), Column("rate", "rate", make_number_format(4), right=True),
               Column("accuracy", "accuracy", make_number_format(4), right=True))
    show([Table(made.rows, columns)], format_)


def resample_train(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "A training file, or parallel ones that are resampled alike."))],
    format_: Annotated[str, typer.Option("--format", metavar="READER", autocompletion=names.readers,
                                         help="`registry list readers`.")],
    model: Annotated[list[str], typer.Option("--model", metavar="NAME", help=(
        "What is to be trained on every sample; can be repeated."))],
    option: ReaderOptions = None,
    size: Annotated[list[int] | None, typer.Option("--size", metavar="N", help=(
        "Items to draw; as many as there are if none is given; can be repeated."))] = None,
    copies: Annotated[int, typer.Option("--copies", metavar="N", help="Samples of each size.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random draws.")] = 0,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to write.")] = Path("resampled"),
    dry_run: DryRun = False,
) -> None:
    """Write resampled training files.

    With the [[submit]] tables that bring the systems trained on them back, marked by model, size and sample
    (Berg-Kirkpatrick et al. 2012, section 3.2.1).
    """
    from registry.manifest.folder import write_files
    from registry.readers import READERS, Document
    from registry.studies.synthesize import Training, resample_training
    from registry.values import build

    reader = build("reader", READERS, format_, named_values(option or [], "--option"))
    made = resample_training([Training.split(Document.load(path), reader) for path in files], tuple(size or ()), copies,
                             model, seed)
    written = there = 0
    for name, content in made:  # one by one: together they may be larger than memory
        new = write_files(to, {name: content}, dry_run=dry_run)
        written += len(new)
        there += not new
    say(f"{to}: {counted(written, 'file')} {'would be ' if dry_run else ''}written, {there} there already; "
        f"{to / 'submissions.toml'} declares the systems")


def _declared(systems: list[str], pairs: list[str]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """The rates of systems, and the correlations of pairs of them."""
    try:
        rates = {called: float(rate) for called, rate in named_values(systems, "--system").items()}
    except (TypeError, ValueError):
        raise InputError("--system is not of the form NAME=RATE, with a rate above 0 and below 1") from None
    try:
        return rates, {_pair(both, rates): float(of) for both, of in named_values(pairs, "--pair").items()}
    except (TypeError, ValueError):
        raise InputError("--pair is not of the form A,B=R12, with two systems and their correlation") from None


def _pair(both: str, systems: Container[str]) -> tuple[str, str]:
    """The two systems of `A,B`; a name may have a comma itself."""
    parts = both.split(",")
    cuts = [(",".join(parts[:n]).strip(), ",".join(parts[n:]).strip()) for n in range(1, len(parts))]
    if not cuts:
        raise ValueError(both)
    return next((cut for cut in cuts if all(system in systems for system in cut)), cuts[0])
