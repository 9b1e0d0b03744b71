"""The command of a study: its options are the fields of the study, and others that the class of the study lists."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.commands import TEST, make_command
from registry.cli.console import say, show
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution
from registry.cli.guide import names
from registry.cli.options import (
    Actor,
    ChosenMetric,
    Db,
    DryRun,
    Facet,
    MetricAlias,
    OutputFormat,
    Public,
    Task,
    TaskName,
    TestSet,
    Track,
    Wait,
    actor_name,
    private_database,
)
from registry.cli.pipeline import say_unchanged
from registry.errors import InputError
from registry.studies import STUDIES, load_study

if TYPE_CHECKING:
    from typer.core import TyperCommand

    from registry.store.database import Database
    from registry.studies.run import Archive, StudyResult
    from registry.studies.study import Study

NoTask = Annotated[str | None, typer.Argument(metavar="TASK", help=(
    "A task's id; without one, what can be said before there is any."), autocompletion=names.tasks)]

_Parameter = tuple[str, Any, Any]  # of a command: its name, its annotation and its default value

CHOICES: dict[str, Any] = {"metric": ChosenMetric, "test_set": TestSet, "track": Track, "facet": Facet}
SETTINGS: dict[str, Any] = {
    "test": Annotated[str | None, typer.Option("--test", "-t", metavar="TEST", help=(
        "The significance test (`registry list tests`); else as the task declares."),
        rich_help_panel=TEST, autocompletion=names.tests)],
    "unit": Annotated[str | None, typer.Option("--unit", rich_help_panel=TEST, help=(
        "item, or cluster; else as the task declares."))],
    "alpha": Annotated[float | None, typer.Option("--alpha", rich_help_panel=TEST, help=(
        "The level of significance; else as the task declares."))],
    "confidence": Annotated[float | None, typer.Option("--confidence", rich_help_panel=TEST, help=(
        "Of the intervals; else as the task declares."))],
    "margin": Annotated[float | None, typer.Option("--margin", rich_help_panel=TEST, help=(
        "The largest difference of scores that does not matter: also test whether systems are equivalent."))],
    "resamples": Annotated[int | None, typer.Option("--resamples", rich_help_panel=TEST, help=(
        "Random draws; else as the task declares."))],
    "seed": Annotated[int | None, typer.Option("--seed", rich_help_panel=TEST, help=(
        "Of the random draws; else as the task declares."))],
}
Shown = Annotated[str | None, typer.Option("--show", metavar="TABLE", help=(
    "Which of the study's tables to print; the first if none is given."))]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=(
    "Also draw it into this .svg, .png or .pdf; needs the extra plot."))]
_COMMON: tuple[_Parameter, ...] = (
    ("db", Db, None), ("public", Public, False), ("format_", OutputFormat, None), ("actor", Actor, None),
    ("dry_run", DryRun, False), ("wait", Wait, 60))
_WORK: tuple[_Parameter, ...] = (("workers", Workers, None), ("cluster", Cluster, None), ("memory", Memory, None),
                                 ("quiet", Quiet, False))


def make_study_command(name: str) -> TyperCommand:
    """Make the command of a study, with the options of its class."""
    study = load_study(name)

    def run(**values: Any) -> None:
        _ask(study, values)

    # Typer reads parameters by `inspect.signature`, which takes them from here: the only function whose parameters are
    # not written down.
    run.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for key, annotation, default in _parameters(study)])
    summary, _, more = (study.__doc__ or "").partition("\n\n")
    return make_command(run, name, f"{STUDIES[name].help if name in STUDIES else summary}\n\n{inspect.cleandoc(more)}")


def _named_options(named: Iterable[str], metric: Any = ChosenMetric) -> Iterator[_Parameter]:
    """The options that choose boards, of which the metric can be given in two ways, and settings of significance."""
    for name in named:
        yield name, (CHOICES | SETTINGS | {"metric": metric})[name], None


def _parameters(study: type[Study]) -> Iterator[_Parameter]:
    """The name, annotation and default value of everything that may be given."""
    yield "task", *{"one": (Task, inspect.Parameter.empty), "all": (TaskName, None), "none": (NoTask, None)}[study.task]
    hints = typing.get_type_hints(study)
    for field in _options(study):
        yield field.name, *_option(field, hints[field.name])
    yield from _named_options((*study.choice, *study.settings),
                              MetricAlias if study.every_metric else ChosenMetric)
    yield "shown", Shown, None
    if study.figures:
        yield "plot", Plot, None
    if len(study.figures) > 1:
        names: Any = typing.Literal[study.figures]
        yield "figure", Annotated[names | None, typer.Option("--figure", help=(
            "What to draw; else what suits what is found."))], None
    yield from _COMMON
    if study.is_slow:
        yield from _WORK


def _options(study: type[Study]) -> list[Field[Any]]:
    """The fields of a study that a command line gives."""
    return [field for field in fields(study) if "option" in field.metadata]


def _flag(field: Field[Any]) -> str:
    return "--" + (field.metadata["option"].name or field.name.replace("_", "-"))


def _option(field: Field[Any], of: Any) -> tuple[Any, Any]:
    """The annotation and the default value of a field's option; many values are an option that can be repeated."""
    about, default = field.metadata["option"], field.default
    if about.parse is not None:
        of, default = str | None, about.default_text
    elif typing.get_origin(of) is tuple:
        of, default = list[typing.get_args(of)[0]] | None, None  # type: ignore[misc]
    return Annotated[of, typer.Option(_flag(field), metavar=about.metavar or None, min=about.minimum, max=about.maximum,
                                        help=about.help)], default


def _built(study: type[Study], given: Mapping[str, Any]) -> Study:
    """The study with its options, taken from those of its command line."""
    values = {}
    for field in _options(study):
        value = given[field.name]
        if value is None:
            continue
        if (read := field.metadata["option"].parse) is not None:
            value = read(value, _flag(field))
        values[field.name] = tuple(value) if isinstance(value, list) else value
    return study(**values)


def _ask(study: type[Study], given: Mapping[str, Any]) -> None:
    """Make the study, or find it, and print it; draw it where a plot is asked for."""
    from registry.reports.figures.drawing import check_form
    from registry.studies.run import run_study
    from registry.studies.study import Choice

    plot, figure, task = given.get("plot"), given.get("figure"), given["task"]
    asked = _built(study, given).resolve(task, given["shown"])
    if figure is not None and plot is None:
        raise InputError("--figure says what to draw, and --plot where; give both")
    if plot is not None:
        check_form(plot)  # before the work
    chosen = {name: given[name] for name in study.choice if given[name] is not None}
    settings = {name: given[name] for name in study.settings if given[name] is not None}
    if task is None and study.task == "none":
        _answer_alone(asked, [*chosen, *(name for name in settings if name != "alpha")], given)
        return
    if left := [name for name in chosen if name not in asked.choice]:
        raise InputError(f"--{left[0].replace('_', '-')} does not go with the study {asked!r}; leave it out")
    how = None
    if asked.is_slow:
        how = execution(given["workers"], given["cluster"], given["memory"], quiet=given["quiet"])
    target = private_database(given["db"], public=given["public"], wait=given["wait"])
    archive = study_archive(target, repr(asked), task, settings, given["actor"],
                            dry_run=given["dry_run"] or given["public"])
    found = run_study(archive, asked, Choice(task, **chosen), settings, how)
    if plot is not None and len(found) > 1:
        raise InputError(f"a figure shows one board, and {len(found)} are meant; choose by --test-set and --track")
    _tell(found, archive, given)


def study_archive(db: Database, study: str, task: str | None, settings: Mapping[str, Any] | None = None,
                  actor: str | None = None, *, dry_run: bool = False) -> Archive:
    """Where a command finds and keeps a study, with the record of what was asked."""
    from registry.store.log import Journal
    from registry.studies.run import Archive

    journal = Journal("study", {"task": task, "study": study, **(settings or {})}, actor=actor_name(actor))
    return Archive(db, journal, dry_run, lambda warning: say(f"warning: {warning}"))


def say_refused(archive: Archive) -> None:
    """Tell why studies are shown that could not be kept."""
    if archive.store_error is not None:
        say(f"note: not kept, only shown: {archive.store_error}")


def _answer_alone(asked: Study, idle: list[str], given: Mapping[str, Any]) -> None:
    """Print what a study finds without any task."""
    from registry.studies.run import StudyResult

    subject, finding = asked.run_without_task(given.get("alpha"))
    if idle:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise InputError(f"{flags}: only of a task; name one, or leave them out")
    _print([StudyResult(asked, "", subject, finding, "", is_new=True)], given)


def _tell(found: list[StudyResult], archive: Archive, given: Mapping[str, Any]) -> None:
    """Say what became of the studies, and print them."""
    for one in found:
        for warning in one.study.select_warnings(one.finding, given["shown"]):
            if (said := f"{one.subject}: {warning}") not in archive.warnings:
                say(f"warning: {said}")
    if not any(one.is_new for one in found):
        say_unchanged("nothing changed: the study was made before")
    elif archive.dry_run:
        say("dry run: nothing was written")
    say_refused(archive)
    _print(found, given)


def _print(found: list[StudyResult], given: Mapping[str, Any]) -> None:
    from registry.reports.figures.studies import draw
    from registry.reports.studies import study_table

    if (plot := given.get("plot")) is not None:
        if not given["dry_run"]:
            draw(found[0], plot, given.get("figure"))
        say(f"{'would be drawn' if given['dry_run'] else 'drawn'}: {plot}")
    show([study_table(one, given["shown"]) for one in found], given["format_"])
