"""Studies that join several test sets: replicability."""

from __future__ import annotations

from typing import Annotated

import typer

from registry.cli.execution import Memory, Quiet, Workers
from registry.cli.options import Actor, ChosenMetric, Db, DryRun, OutputFormat, TestSet, Track
from registry.cli.study.options import Alpha, Plot, Resamples, Seed, Shown, StudyOptions, Task, TestName, Unit


def replicability(
    task: Task,
    across: Annotated[str | None, typer.Option("--across", metavar="ATTRIBUTE", help=(
        "Take the values of this item attribute, such as the fold of a cross-validation, for test sets."))] = None,
    system: Annotated[list[str] | None, typer.Option("--system", metavar="NAME", help=(
        "Only the pairs of these systems; all if none is given."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, test: TestName = None,
    unit: Unit = None, alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None, shown: Shown = None,
    plot: Plot = None, db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None,
    actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say on how many test sets each system beats another.

    Partial conjunctions of one-sided tests, and the list of test sets with Holm's control (Dror et al. 2017).
    """
    from registry.reports.figures.decisions import draw_replicability
    from registry.studies import Replicability

    settings = {"test": test, "unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, None, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(Replicability(across, tuple(system or ())), draw_replicability)
