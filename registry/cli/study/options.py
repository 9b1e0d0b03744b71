"""What all studies are asked with, and how they are made and shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.console import say, show
from registry.cli.execution import execution
from registry.cli.options import Format, actor_name, database

if TYPE_CHECKING:
    from registry.studies import Study
    from registry.studies.run import StudyResult

Task = Annotated[str, typer.Argument(metavar="TASK", help="A task's id.")]
Resamples = Annotated[int | None, typer.Option("--resamples", help="Random draws; else as the task declares.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Of the random draws; else as the task declares.")]
Alpha = Annotated[float | None, typer.Option("--alpha", help="The level of significance; else as the task declares.")]
Unit = Annotated[str | None, typer.Option("--unit", help="item, or cluster; else as the task declares.")]
TestName = Annotated[str | None, typer.Option("--test", metavar="TEST", help=(
    "The significance test (`registry list tests`); else as the task declares."))]
Shown = Annotated[str | None, typer.Option("--show", metavar="TABLE", help=(
    "Which of the study's tables to print; the first if none is given."))]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=(
    "Also draw it into this .svg, .png or .pdf; needs the extra plot."))]


@dataclass(frozen=True)
class StudyOptions:
    """The options that studies share: which boards, how tests are set, who computes, and what is printed."""

    task: str
    metric: str | None
    test_set: str | None
    track: str | None
    facet: str | None
    settings: dict[str, Any]
    db: Path | None
    format_: Format | None
    workers: int | None
    memory: str | None
    shown: str | None = None
    plot: Path | None = None
    dry_run: bool = False
    actor: str | None = None
    quiet: bool = False

    def run(self, study: Study, draw: Callable[[StudyResult, Path], None] | None = None) -> None:
        """Make the study, or find it, and print it; draw it where a plot is asked for."""
        from registry.errors import InputError
        from registry.evaluation import declared_request
        from registry.reports.figures.style import check_form
        from registry.reports.study import study_table
        from registry.store.journal import Journal
        from registry.studies.run import Choice, run_study

        if self.plot is not None:
            check_form(self.plot)  # before the work
        given = {name: value for name, value in self.settings.items() if value is not None}
        choice = Choice(self.metric, self.test_set, self.track, self.facet)
        how = execution(self.workers, None, self.memory, quiet=self.quiet)
        journal = Journal("study", {"task": self.task, "study": repr(study), **given}, actor=actor_name(self.actor))
        found = run_study(
            database(self.db), journal, self.task, study, choice,
            lambda row, alias: declared_request(row, given, (alias,), how), dry_run=self.dry_run)
        if self.plot is not None and draw is not None:
            if len(found) > 1:
                raise InputError(f"a figure shows one board, and {len(found)} are meant; choose by --test-set and "
                                 "--track")
            draw_found(draw, found[0], self.plot, dry_run=self.dry_run)
        for one in found:
            for warning in one.finding.warnings:
                say(f"warning: {one.subject}: {warning}")
        if not any(one.made for one in found):
            say("nothing changed: the study was made before")
        elif self.dry_run:
            say("dry run: nothing was written")
        show([study_table(one, self.shown) for one in found], self.format_)


def draw_found(draw: Callable[[StudyResult, Path], None], found: StudyResult, plot: Path, *, dry_run: bool) -> None:
    """Draw a study into a file, unless nothing is to be written, and say so."""
    if not dry_run:
        draw(found, plot)
    say(f"{'would be drawn' if dry_run else 'drawn'}: {plot}")
