"""Commands of studies: `registry study NAME`; their options are the fields of the study classes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli import completion
from registry.cli.commands import STUDY, TEST, LazyCommand, Parameter, RegistryGroup, add_parameters, make_command
from registry.cli.console import Format, choose_format, print_tables, report, report_all, report_unchanged
from registry.cli.options import (
    SIGNIFICANCE,
    Actor,
    ChosenMetric,
    Cluster,
    Db,
    DryRun,
    Facet,
    Memory,
    MetricAlias,
    OutputFormat,
    Public,
    Quiet,
    Task,
    TaskName,
    TestSet,
    Track,
    Wait,
    Workers,
    choose_actor,
    find_private_database,
    make_execution,
)
from registry.errors import InputError
from registry.plugins import find_plugins
from registry.studies import STUDIES, load_study

if TYPE_CHECKING:
    from typer.core import TyperCommand

    from registry.rendering.table import Table
    from registry.store.database import Database
    from registry.studies.run import Archive, StudyResult
    from registry.studies.study import Study

group = RegistryGroup(name="study", no_args_is_help=True, rich_markup_mode=None, help=(
    "Analyse a task further, such as its statistical power."))
group.commands.update({name: LazyCommand(STUDY, study.help) for name, study in STUDIES.items()})
group.commands.update({
    offered.full_name: LazyCommand(STUDY, f"A study of {offered.package} {offered.version}.")
    for offered in find_plugins("study")})
group.commands.update({
    "synthesize": LazyCommand("study_files:synthesize", "Write a task with simulated system outputs."),
    "resample-train": LazyCommand("study_files:resample_train", "Write resampled training files.")})

OptionalTask = Annotated[str | None, typer.Argument(metavar="TASK", help=(
    "A task's id. Without it, the command analyses the planned task that its options describe."),
    autocompletion=completion.tasks)]
Shown = Annotated[str | None, typer.Option("--show", metavar="TABLE", help=(
    "The table of the study to print. Default: the first."))]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help=(
    "Also draw a figure into this .svg, .pdf, .png or .pgf file; requires the extra plot."))]

OPTIONS: dict[str, Any] = SIGNIFICANCE | {
    "metric": ChosenMetric, "test_set": TestSet, "track": Track, "facet": Facet,
    "resamples": Annotated[int | None, typer.Option("--resamples", rich_help_panel=TEST, help=(
        "Number of resamples or permutations. Default: the manifest's resamples."))],
}
_SHARED: tuple[Parameter, ...] = (
    ("db", Db, None), ("public", Public, False), ("format_", OutputFormat, None), ("actor", Actor, None),
    ("dry_run", DryRun, False), ("wait", Wait, 60))
_WORK: tuple[Parameter, ...] = (("workers", Workers, None), ("cluster", Cluster, None), ("memory", Memory, None),
                                ("quiet", Quiet, False))


def make_study_command(name: str) -> TyperCommand:
    """Make the command that runs a study.

    The options of the command are the fields of the study's class.
    """
    study = load_study(name)

    def run(**values: Any) -> None:
        _run_study(study, values)

    add_parameters(run, _list_parameters(study))
    summary, _, more = (study.__doc__ or "").partition("\n\n")
    return make_command(run, name, f"{STUDIES[name].help if name in STUDIES else summary}\n\n{inspect.cleandoc(more)}")


def _list_parameters(study: type[Study]) -> Iterator[Parameter]:
    """Yield name, annotation and default value of each option of a study's command."""
    yield "task", *{"one": (Task, inspect.Parameter.empty), "all": (TaskName, None),
                    "none": (OptionalTask, None)}[study.task]
    hints = typing.get_type_hints(study)
    for field in _list_options(study):
        yield field.name, *_make_option(field, hints[field.name])
    for name in (*study.choice, *study.settings):
        yield name, MetricAlias if name == "metric" and study.every_metric else OPTIONS[name], None
    yield "shown", Shown, None
    if study.figures:
        yield "plot", Plot, None
    if len(study.figures) > 1:
        figure: Any = typing.Literal[study.figures]
        yield "figure", Annotated[figure | None, typer.Option("--figure", help=(
            "The figure to draw. Default: depends on the results."))], None
    yield from _SHARED
    if study.is_slow:
        yield from _WORK


def _list_options(study: type[Study]) -> list[Field[Any]]:
    return [field for field in fields(study) if "option" in field.metadata]


def _make_flag(field: Field[Any]) -> str:
    return _format_flag(field.metadata["option"].name or field.name)


def _format_flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _make_option(field: Field[Any], type_: Any) -> tuple[Any, Any]:
    """Convert a field of a study's class to an option of the command line.

    A field that is a tuple becomes a repeatable option.

    Returns:
        The typer annotation and the default value.
    """
    option, default = field.metadata["option"], field.default
    if option.parse is not None:
        type_, default = str | None, option.default_text
    elif typing.get_origin(type_) is tuple:
        type_, default = list[typing.get_args(type_)[0]] | None, None  # type: ignore[misc]
    flags = [_make_flag(field), *(["-m"] if _make_flag(field) == "--metric" else [])]
    return Annotated[type_, typer.Option(*flags, metavar=option.metavar or None, min=option.minimum,
                                         max=option.maximum, help=option.help)], default


def _make_study(study: type[Study], values: Mapping[str, Any]) -> Study:
    settings = {}
    for field in _list_options(study):
        value = values[field.name]
        if value is None:
            continue
        if (parse := field.metadata["option"].parse) is not None:
            value = parse(value, _make_flag(field))
        settings[field.name] = tuple(value) if isinstance(value, list) else value
    return study(**settings)


def _run_study(study_class: type[Study], values: Mapping[str, Any]) -> None:
    from registry.reports.figures.drawing import check_form
    from registry.studies.run import StudyResult, run_study
    from registry.studies.study import Choice

    plot, task = values.get("plot"), values["task"]
    study = _make_study(study_class, values).resolve(task, values["shown"])
    if plot is not None:
        check_form(plot)  # before the work
    elif values.get("figure") is not None:
        raise InputError("--figure requires --plot FILE, the file of the figure")
    choice = {name: values[name] for name in study_class.choice if values[name] is not None}
    settings = {name: values[name] for name in study_class.settings if values[name] is not None}
    if task is None and study_class.task == "none":
        if unused := [_format_flag(name) for name in (*choice, *settings) if name != "alpha"]:
            raise InputError(f"{', '.join(unused)}: requires a task; name one, or leave the option out")
        subject, finding = study.run_without_task(values.get("alpha"))
        _print_results([StudyResult(study, "", subject, finding, "", is_new=True)], values)
        return
    if invalid := [_format_flag(name) for name in choice if name not in study.choice]:
        raise InputError(f"{invalid[0]} has no effect on the study {study!r}; leave it out")
    execution = None
    if study.is_slow:
        execution = make_execution(values["workers"], values["cluster"], values["memory"], quiet=values["quiet"])
    database = find_private_database(values["db"], public=values["public"], wait=values["wait"])
    archive = make_archive(database, repr(study), task, settings, values["actor"],
                           dry_run=values["dry_run"] or values["public"])
    results = run_study(archive, study, Choice(task, **choice), settings, execution)
    if plot is not None and len(results) > 1:
        raise InputError(f"a figure shows one leaderboard, but {len(results)} are selected; give --test-set or --track")
    for result in results:
        for warning in result.study.select_warnings(result.finding, values["shown"]):
            if (sentence := f"{result.subject}: {warning}") not in archive.warnings:
                report(f"warning: {sentence}")
    if not any(result.is_new for result in results):
        report_unchanged("nothing changed: the study is already stored")
    elif archive.dry_run:
        report("dry run: nothing was written")
    report_unstored(archive)
    _print_results(results, values)


def _print_results(results: list[StudyResult], values: Mapping[str, Any]) -> None:
    from registry.reports.figures.studies import draw
    from registry.reports.studies import study_table

    if (plot := values.get("plot")) is not None:
        if not values["dry_run"]:
            draw(results[0], plot, values.get("figure"))
        report(f"{'would be drawn' if values['dry_run'] else 'drawn'}: {plot}")
    print_study_tables([study_table(result, values["shown"]) for result in results], values["format_"])


def print_study_tables(tables: Sequence[Table], format_: Format | None) -> None:
    """Print tables on stdout; their sentences are on stderr if the format has only rows."""
    print_tables(tables, format_)
    if choose_format(format_) not in ("table", "md", "latex"):
        report_all(caption for table in tables for caption in table.captions)


def make_archive(database: Database, study: str, task: str | None, settings: Mapping[str, Any] | None = None,
                 actor: str | None = None, *, dry_run: bool = False) -> Archive:
    """Return the object with which a command loads and stores results of a study.

    Args:
        database: The registry.
        study: The study with its options, as text for the log.
        task: The id of the task; None: all tasks.
        settings: Settings of the tests, for the log.
        actor: The name of the user, for the log.
        dry_run: True to store nothing.
    """
    from registry.store.log import Journal
    from registry.studies.run import Archive

    journal = Journal("study", {"task": task, "study": study, **(settings or {})}, actor=choose_actor(actor))
    return Archive(database, journal, dry_run, lambda warning: report(f"warning: {warning}"))


def report_unstored(archive: Archive) -> None:
    """Print the reason if the results of a study could not be stored."""
    if archive.store_error is not None:
        report(f"info: the results are shown, but not stored: {archive.store_error}")
