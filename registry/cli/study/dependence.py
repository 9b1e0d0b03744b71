"""Studies of what depends on what: correlation of systems, dependence of items."""

from __future__ import annotations

from registry.cli.execution import Memory, Quiet, Workers
from registry.cli.options import Actor, ChosenMetric, Db, DryRun, Facet, OutputFormat, TestSet, Track
from registry.cli.study.options import Alpha, Plot, Resamples, Seed, Shown, StudyOptions, Task, TestName, Unit


def correlation(
    task: Task, metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    test: TestName = None, unit: Unit = None, alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None,
    shown: Shown = None, plot: Plot = None, db: Db = None, format_: OutputFormat = None, workers: Workers = None,
    memory: Memory = None, actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say what tests that assume independence would miss.

    For every pair the correlation r12 of the systems' results and the factor that it makes (Yeh 2000, section 2.1).
    """
    from registry.reports.figures.decisions import draw_correlation
    from registry.studies import Correlation

    settings = {"test": test, "unit": unit, "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(Correlation(), draw_correlation)


def dependence(
    task: Task, metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    test: TestName = None, alpha: Alpha = None, resamples: Resamples = None, seed: Seed = None, shown: Shown = None,
    plot: Plot = None, db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None,
    actor: Actor = None, dry_run: DryRun = False, quiet: Quiet = False,
) -> None:
    """Say what documents do to tests of single items.

    Intra-cluster correlation and design effect of every pair, and which decisions change once whole clusters are units
    (Yeh 2000, section 4; Dror et al. 2018, section 5).
    """
    from registry.reports.figures.decisions import draw_dependence
    from registry.studies import Dependence

    settings = {"test": test, "unit": "cluster", "alpha": alpha, "resamples": resamples, "seed": seed}
    StudyOptions(task, metric, test_set, track, facet, settings, db, format_, workers, memory, shown, plot,
          dry_run, actor, quiet).run(Dependence(), draw_dependence)
