"""Studies that plan a task: power, synthesize."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from registry.cli.console import say, show
from registry.cli.execution import Memory, Quiet, Workers
from registry.cli.options import (
    Actor,
    ChosenMetric,
    Db,
    DryRun,
    Facet,
    OutputFormat,
    TestSet,
    Track,
    database,
    named_values,
)
from registry.cli.study.options import Alpha, Plot, Resamples, Seed, Shown, StudyOptions, Task, Unit, draw_found

OptionalTask = Annotated[str | None, typer.Argument(metavar="[TASK]", help=(
    "A task's id; without one, rates are declared."))]


def power(
    task: OptionalTask = None,
    power_: Annotated[float, typer.Option("--power", help="What detecting a difference means.")] = 0.8,
    difference: Annotated[float | None, typer.Option("--difference", metavar="SCORE", help=(
        "A true difference of scores: also its power, type S and type M errors, and the units needed."))] = None,
    items: Annotated[list[int] | None, typer.Option("--items", metavar="N", help=(
        "Units of a test set to come; can be repeated."))] = None,
    family: Annotated[int, typer.Option("--family", metavar="N", help=(
        "How many comparisons share alpha (Bonferroni; Holm's first step)."))] = 1,
    rate: Annotated[list[float] | None, typer.Option("--rate", help=(
        "Without a task: at which rate systems are right; twice for two of them."))] = None,
    deviation: Annotated[float | None, typer.Option("--deviation", help=(
        "Without a task: the standard deviation of the scores of items."))] = None,
    correlation: Annotated[float | None, typer.Option("--correlation", metavar="R12", help=(
        "Without a task: of the two systems' results; several if none is given."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    unit: Unit = None, alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None, shown: Shown = None,
    plot: Plot = None, db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None,
    actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say which differences a test set finds.

    Also how many units a difference needs, and how far significant ones mislead (Gelman and Carlin 2014): as pairs of
    the task deviate, or before any submission from declared rates.
    """
    from registry.errors import InputError
    from registry.reports.figures.power import draw_power
    from registry.reports.study import study_table
    from registry.studies import Power
    from registry.studies.planning.power import Declared
    from registry.studies.run import StudyResult

    asked = Power(power_, difference, tuple(items or ()), family)
    if task is not None:
        if rate or deviation is not None or correlation is not None:
            raise InputError("the task's own pairs tell their rates and deviations; leave --rate, --deviation and "
                             "--correlation out, or name no task")
        settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
        StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
              dry_run, actor, quiet).run(asked, draw_power)
        return
    if idle := [name for name, value in (("--metric", metric), ("--test-set", test_set), ("--track", track),
                                         ("--facet", facet), ("--unit", unit), ("--resamples", resamples),
                                         ("--seed", seed)) if value is not None]:
        raise InputError(f"{', '.join(idle)}: only of a task; name one, or leave them out")
    declared = Declared(asked.items, tuple(rate or ()), deviation, correlation, 0.05 if alpha is None else alpha)
    found = StudyResult(asked, "", "(declared)", declared.study(asked), "", made=True)
    if plot is not None:
        draw_found(draw_power, found, plot, dry_run=dry_run)
    show([study_table(found, shown)], format_)


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
    seed: Seed = None, db: Db = None, format_: OutputFormat = None, dry_run: DryRun = False,
) -> None:
    """Write a task of drawn system outputs.

    Systems are right at declared rates, correlated as declared, on items that are as hard as the task's: to try
    everything before anyone submits.
    """
    import tempfile
    from contextlib import ExitStack

    from registry.errors import InputError
    from registry.evaluation import declared_request
    from registry.manifest import load_manifest
    from registry.manifest.fields import check_slug
    from registry.rendering.table import Column, Table, number, text
    from registry.store import catalog
    from registry.studies.planning.synthesize import Source
    from registry.studies.planning.synthesize import synthesize as drawn
    from registry.studies.run import Choice, chosen_boards, chosen_metrics

    try:
        rates = {called: float(rate) for called, rate in named_values(system or [], "--system").items()}
    except (TypeError, ValueError):
        raise InputError("--system is not of the form NAME=RATE, with a rate above 0 and below 1") from None
    try:
        pairs = {_pair(both, rates): float(of) for both, of in named_values(pair or [], "--pair").items()}
    except (TypeError, ValueError):
        raise InputError("--pair is not of the form A,B=R12, with two systems and their correlation") from None
    if name is not None:
        try:
            check_slug(name)
        except ValueError as error:
            raise InputError(f"--task {error}") from None
    with database(db).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        (alias,) = chosen_metrics(connection, row, metric)
        request = declared_request(row, {"unit": "item", "test": "permutation", "runs": "fixed"}, (alias,))
        boards = chosen_boards(connection, row, request, Choice(alias, test_set, track, facet), least=1)
        if len(boards) > 1:
            raise InputError(f"{len(boards)} boards are meant; choose one by --test-set and --track")
        source = Source.of(connection, boards[0])
    made = drawn(source, rates, correlation, pairs=pairs, items=items, seed=row.seed if seed is None else seed)
    slug = name or f"{row.slug}-synthesized"
    folder = to or Path(slug)
    with ExitStack() as stack:
        target = Path(stack.enter_context(tempfile.TemporaryDirectory())) if dry_run else folder
        load_manifest(stack.enter_context(made.task.written(target, slug)))
    say(f"{'would be written' if dry_run else 'task'}: {folder / 'task.toml'}; `registry run` brings it in")
    columns = (Column("system", "system", text), Column("rate", "rate", number(4), right=True),
               Column("accuracy", "accuracy", number(4), right=True))
    show([Table(made.rows, columns)], format_)


def _pair(both: str, systems: Container[str]) -> tuple[str, str]:
    """The two systems of `A,B`; a name may have a comma itself.

    Raises:
        ValueError: There is no comma.
    """
    parts = both.split(",")
    cuts = [(",".join(parts[:n]).strip(), ",".join(parts[n:]).strip()) for n in range(1, len(parts))]
    if not cuts:
        raise ValueError(both)
    return next((cut for cut in cuts if all(system in systems for system in cut)), cuts[0])
