"""Which test to take: advise."""

from __future__ import annotations

from typing import Annotated

import typer

from registry.cli.console import show
from registry.cli.options import Actor, ChosenMetric, Db, DryRun, Facet, OutputFormat, TestSet, Track
from registry.cli.study.options import Alpha, Shown, StudyOptions, TestName, Unit

OptionalTask = Annotated[str | None, typer.Argument(metavar="[TASK]", help=(
    "A task's id; without one, --explain says what there is to say of a test."))]


def advise(
    task: OptionalTask = None,
    explain: Annotated[str | None, typer.Option("--explain", metavar="TEST", help=(
        "Say what this test tests and assumes, and whether it may be used here."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    test: TestName = None, unit: Unit = None, alpha: Alpha = None, shown: Shown = None,
    db: Db = None, format_: OutputFormat = None, actor: Actor = None, dry_run: DryRun = False,
) -> None:
    """Say which tests may be used, and which to take.

    The decision tree of Dror et al. (2018), walked with what the task's statistics say.
    """
    from registry.errors import InputError
    from registry.reports.study import study_table
    from registry.significance import TESTS
    from registry.studies import Advise
    from registry.studies.advise import explanation
    from registry.studies.run import StudyResult
    from registry.studies.study import Finding
    from registry.values import parse

    asked = Advise(explain)
    if task is not None:
        settings = {"test": test, "unit": unit, "alpha": alpha}
        StudyOptions(task, metric, test_set, track, facet, settings, db, format_, None, None, shown,
              dry_run=dry_run, actor=actor).run(asked)
        return
    if explain is None:
        raise InputError("name a task to advise on, or a test to --explain: `registry list tests`")
    finding = Finding({"explanation": explanation(parse("test", TESTS, explain))})
    show([study_table(StudyResult(asked, "", "", finding, "", made=True))], format_)
