"""Commands of studies that write files: synthesize and resample-train."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from registry.cli import completion
from registry.cli.console import print_tables, report
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
    check_option,
    find_database,
    parse_named_values,
)
from registry.errors import InputError, counted


def synthesize(
    task: Task,
    system: Annotated[list[str] | None, typer.Option("--system", metavar="NAME=RATE", help=(
        "A system and its rate of correct answers; repeatable."))] = None,
    correlation: Annotated[float, typer.Option("--correlation", metavar="R12", help=(
        "The correlation of the results of any two systems."))] = 0.5,
    pair: Annotated[list[str] | None, typer.Option("--pair", metavar="A,B=R12", help=(
        "Another correlation for these two systems; repeatable."))] = None,
    items: Annotated[int | None, typer.Option("--items", metavar="N", help=(
        "Sample N items with replacement. Default: each item once."))] = None,
    name: Annotated[str | None, typer.Option("--task", metavar="ID", help=(
        "The id of the new task. Default: TASK-synthesized."))] = None,
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help=(
        "The folder of the new task. Default: a folder named after the new task."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    seed: Annotated[int | None, typer.Option("--seed", help=(
        "Seed of the random numbers. Default: the task's seed."))] = None,
    db: Db = None, format_: OutputFormat = None, dry_run: DryRun = False,
) -> None:
    """Write a task with simulated system outputs.

    The simulated systems have the given rates and correlations, on items as hard as those of the task. Use it to try
    the evaluation before the first submission.
    """
    from registry.manifest import load_manifest
    from registry.manifest.fields import check_slug
    from registry.rendering.table import Column, Table, format_text, make_number_format
    from registry.studies.study import Choice
    from registry.studies.synthesize import Source
    from registry.studies.synthesize import synthesize as simulate

    rates, correlations = _parse_systems(system or [], pair or [])
    slug = f"{task}-synthesized" if name is None else check_option(check_slug, name, "--task")
    with find_database(db).reading() as connection:
        source = Source.load(connection, task, Choice(task, metric, test_set, track, facet))
    simulated = simulate(source, rates, correlation, pairs=correlations, items=items,
                         seed=source.seed if seed is None else seed)
    folder = to or Path(slug)
    with simulated.task.write(folder, slug, dry_run=dry_run) as manifest:
        load_manifest(manifest)
    report(f"{'would be written' if dry_run else 'task'}: {folder / 'task.toml'}; `registry run` evaluates it")
    columns = (Column("system", "system", format_text), Column("rate", "rate", make_number_format(4), right=True),
               Column("accuracy", "accuracy", make_number_format(4), right=True))
    print_tables([Table(simulated.rows, columns)], format_)


def resample_train(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "The training file, or parallel files that share the sampled items."))],
    format_: Annotated[str, typer.Option("--format", metavar="READER", autocompletion=completion.readers, help=(
        "The reader of the files; `registry list readers` lists all."))],
    model: Annotated[list[str], typer.Option("--model", metavar="NAME", help=(
        "A model to train on every sample; repeatable."))],
    option: ReaderOptions = None,
    size: Annotated[list[int] | None, typer.Option("--size", metavar="N", help=(
        "Number of items per sample; repeatable. Default: all items of the files."))] = None,
    copies: Annotated[int, typer.Option("--copies", metavar="N", help="Number of samples of each size.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")] = 0,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to write.")] = Path("resampled"),
    dry_run: DryRun = False,
) -> None:
    """Write resampled training files.

    The folder also has submissions.toml, with the [[submit]] tables for the systems trained on the samples, marked by
    model, size and sample (Berg-Kirkpatrick et al. 2012, section 3.2.1).
    """
    from registry.manifest.folder import write_files
    from registry.readers import READERS, Document
    from registry.studies.synthesize import Training, resample_training
    from registry.values import build

    reader = build("reader", READERS, format_, parse_named_values(option, "--option"))
    documents = [Training.split(Document.load(path), reader) for path in files]
    n_new = n_unchanged = 0
    # One file at a time: together they may be larger than memory.
    for name, content in resample_training(documents, tuple(size or ()), copies, model, seed):
        new = write_files(to, {name: content}, dry_run=dry_run)
        n_new += len(new)
        n_unchanged += not new
    report(f"{to}: {counted(n_new, 'file')} {'would be ' if dry_run else ''}written, {n_unchanged} already there; "
           f"{to / 'submissions.toml'} declares the systems")


def _parse_systems(systems: list[str], pairs: list[str]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Parse the options `--system NAME=RATE` and `--pair A,B=CORRELATION`.

    Returns:
        The rate of each system, and the correlation of each pair of systems.

    Raises:
        InputError: An option has another form.
    """
    try:
        rates = {name: float(rate) for name, rate in parse_named_values(systems, "--system").items()}
    except (TypeError, ValueError):
        raise InputError("--system is not of the form NAME=RATE, with a rate above 0 and below 1") from None
    try:
        return rates, {_split_pair(pair, rates): float(correlation)
                       for pair, correlation in parse_named_values(pairs, "--pair").items()}
    except (TypeError, ValueError):
        raise InputError("--pair needs two systems and their correlation, such as --pair A,B=0.8") from None


def _split_pair(pair: str, systems: Container[str]) -> tuple[str, str]:
    """Split the text `A,B` into the names of two systems.

    Names may contain commas. If several splits are possible, a split into two existing systems is chosen.
    """
    parts = pair.split(",")
    splits = [(",".join(parts[:n]).strip(), ",".join(parts[n:]).strip()) for n in range(1, len(parts))]
    if not splits:
        raise ValueError(pair)
    return next((split for split in splits if all(system in systems for system in split)), splits[0])
