"""Studies of gains and their confidence: threshold, curve, test-size, calibration."""

from __future__ import annotations

from typing import Annotated

import typer

from registry.cli.execution import Memory, Quiet, Workers
from registry.cli.options import Actor, ChosenMetric, Db, DryRun, Facet, OutputFormat, TestSet, Track, rising_sizes
from registry.cli.study.options import Alpha, Plot, Resamples, Seed, Shown, StudyOptions, Task, Unit

By = Annotated[str, typer.Option("--by", metavar="ATTRIBUTE", help=(
    "Of submissions: pairs that share its value are told from others. team, kind, or what the manifest declares."))]
Width = Annotated[float, typer.Option("--width", help=(
    "How far from alpha the p-values of borderline pairs may be, as a share of alpha."))]
Enough = Annotated[int, typer.Option("--enough", help="How many pairs a threshold needs.")]


def threshold(
    task: Task, by: By = "team", width: Width = 0.2, enough: Enough = 10, metric: ChosenMetric = None,
    test_set: TestSet = None, track: Track = None, facet: Facet = None, unit: Unit = None, alpha: Alpha = None,
    resamples: Resamples = None, seed: Seed = None, shown: Shown = None, plot: Plot = None, db: Db = None,
    format_: OutputFormat = None, workers: Workers = None, memory: Memory = None, actor: Actor = None,
    dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say which gains are probably significant.

    The 95th percentile of the gains of borderline pairs, p about alpha, one-sided (Berg-Kirkpatrick et al. 2012,
    section 3.1.1), and an estimate from a fit to all pairs that are not far off.
    """
    from registry.reports.figures.gains import draw_thresholds
    from registry.studies import Threshold

    settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(Threshold(by=by, width=width, enough=enough), draw_thresholds)


def curve(
    task: Task, by: By = "team", metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None,
    facet: Facet = None, unit: Unit = None, alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None,
    shown: Shown = None, plot: Plot = None, db: Db = None, format_: OutputFormat = None, workers: Workers = None,
    memory: Memory = None, actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Show how confidence grows with gain.

    1 - p of the bootstrap, one-sided, against the gain, marked by an attribute of submissions (Berg-Kirkpatrick et al.
    2012, figures 2 to 8).
    """
    from registry.reports.figures.gains import draw_curve
    from registry.studies import Curve

    settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(Curve(by=by), draw_curve)


def sizes(
    task: Task,
    sizes: Annotated[str | None, typer.Option("--sizes", metavar="FIRST:LAST:STEP", help=(
        "Of the test sets, in units; or a list as 100,500,1000; doubled from 100 on if none are given."))] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", help="Random test sets of each size.")] = 20,
    width: Width = 0.2, enough: Enough = 10, metric: ChosenMetric = None, test_set: TestSet = None,
    track: Track = None, facet: Facet = None, unit: Unit = None, alpha: Alpha = None, resamples: Resamples = None,
    seed: Seed = None, shown: Shown = None, plot: Plot = None, db: Db = None, format_: OutputFormat = None,
    workers: Workers = None, memory: Memory = None, actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say how large the test set must be.

    Thresholds and power of smaller test sets, taken from its beginning and at random, and the thresholds of larger ones
    by extension (Berg-Kirkpatrick et al. 2012, section 4.1).
    """
    from registry.reports.figures.test_sizes import draw_sizes
    from registry.studies import Sizes

    settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    chosen = () if sizes is None else tuple(rising_sizes(sizes, "--sizes"))
    study = Sizes(sizes=chosen, repetitions=repetitions, width=width, enough=enough)
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(study, draw_sizes)


def calibration(
    task: Task,
    size: Annotated[int | None, typer.Option("--size", help=(
        "Of the test sets that are drawn, in units; a fourth of the one at hand if none is given."))] = None,
    sets: Annotated[int, typer.Option("--sets", help="How many test sets are drawn.")] = 100,
    domains: Annotated[bool, typer.Option("--domains", help=(
        "Do not draw: see how often the better system of one test set is the better one of the others."))] = False,
    across: Annotated[str | None, typer.Option("--across", metavar="ATTRIBUTE", help=(
        "The same between the values of an attribute of items, such as their genre."))] = None,
    tested_on: Annotated[str | None, typer.Option("--tested-on", metavar="NAME", help=(
        "The test set, or value, that p-values are of; each in turn if none is given."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None, unit: Unit = None,
    alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None, shown: Shown = None, plot: Plot = None,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None,
    actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say how often tests name the truly better system.

    The test set is the population that smaller ones are drawn from, or with --domains other test sets say which system
    is better (Berg-Kirkpatrick et al. 2012, section 4.2).
    """
    from registry.errors import InputError
    from registry.reports.figures.calibration import draw_calibration, draw_domains
    from registry.studies import Calibration, Domains

    elsewhere = domains or across is not None or tested_on is not None
    if elsewhere and (size is not None or facet is not None):
        raise InputError("--size is of test sets that are drawn, and --facet of one domain; leave them out, or "
                         "--domains, --across and --tested-on")
    study = Domains(tested_on=tested_on, across=across) if elsewhere else Calibration(size=size, sets=sets)
    settings = {"unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(study, draw_domains if elsewhere else draw_calibration)
