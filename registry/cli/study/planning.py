"""Studies that plan a task: power."""

from __future__ import annotations

from typing import Annotated

import typer

from registry.cli.console import show
from registry.cli.drawing import Memory, Workers
from registry.cli.options import ChosenMetric, Db, DryRun, Facet, OutputFormat, TestSet, Track
from registry.cli.study.asked import Alpha, Asked, Resamples, Seed, Shown, Unit

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
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None,
    dry_run: DryRun = False,
) -> None:
    """Say which differences a test set finds.

    Also how many units a difference needs, and how far significant ones mislead (Gelman and Carlin 2014): as pairs of
    the task deviate, or before any submission from declared rates.
    """
    from registry.errors import InputError
    from registry.reports.study import study_table
    from registry.studies import Power
    from registry.studies.conduct import Conducted
    from registry.studies.power import Declared

    asked = Power(power_, difference, tuple(items or ()), family)
    if task is not None:
        if rate or deviation is not None or correlation is not None:
            raise InputError("the task's own pairs tell their rates and deviations; leave --rate, --deviation and "
                             "--correlation out, or name no task")
        settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
        Asked(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown,
              dry_run=dry_run).conduct(asked)
        return
    declared = Declared(asked.items, tuple(rate or ()), deviation, correlation, 0.05 if alpha is None else alpha)
    show([study_table(Conducted(asked, "", "(declared)", declared.study(asked), "", made=True), shown)], format_)
