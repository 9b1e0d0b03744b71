"""The command that writes tasks, leaderboards and scores in the formats of other platforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from registry.cli import completion
from registry.cli.console import report, report_all, write
from registry.cli.options import (
    ChosenMetric,
    Db,
    Facet,
    Private,
    Task,
    TestSet,
    Track,
    find_database,
    find_public_database,
)
from registry.errors import InputError, UnknownNameError, counted

if TYPE_CHECKING:
    from registry.store.database import Database

PYTHON_VERSIONS = ("3.11", "3.12", "3.13")  # supported by this package
_BOARD = ("metric", "test_set", "track", "facet")
_REQUIREMENTS = {
    "submission": "needs the name of a submission; add --submission TEAM/SYSTEM",
    "output": "needs a place for its files; name a new file or folder with --output",
    "wheels": "needs the wheels of its scoring program; name their folder with --wheels DIR",
}


class Request(NamedTuple):
    """Request to export results of one task in one format.

    `options` has the options of the command line that are given.
    """

    database: Database
    task: str
    form: str
    options: Mapping[str, Any]


class ExportFormat(NamedTuple):
    """Format of the command `registry export`.

    Attributes:
        write: A function that returns the text for stdout, or writes files and returns None.
        required: The names of required options.
        optional: The names of other options.
    """

    write: Callable[[Request], str | None]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def export(
    task: Task,
    form: Annotated[str, typer.Argument(metavar="FORM", autocompletion=lambda: list(FORMATS), help=(
        "For a submission: codabench (scores.json), codalab (scores.txt), evalai (its result). For a leaderboard: wmt "
        "(LaTeX), badge (SVG with the rank of a submission). For a task: bibtex, citation (CITATION.cff), "
        "croissant-tasks (JSON-LD), every-eval-ever (records and samples), codabench-bundle (a competition as a zip "
        "file). For a metric: huggingface (.eval_results of models' repositories)."))],
    submission: Annotated[str | None, typer.Option("--submission", metavar="TEAM/SYSTEM", help=(
        "The submission, for codabench, codalab, evalai and badge."), autocompletion=completion.team_systems)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="PATH", readable=False, help=(
        "The new folder of every-eval-ever or huggingface, or the new file of codabench-bundle."))] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="ORGANISATION/NAME", help=(
        "For huggingface: the benchmark's data set on the Hub. Default: the data set in the task's url."))] = None,
    wheels: Annotated[Path | None, typer.Option("--wheels", metavar="DIR", help=(
        "For codabench-bundle: the folder with wheels for the scoring program; if some are missing, the command prints "
        "the `pip download` that fetches them."))] = None,
    python: Annotated[str | None, typer.Option("--python", metavar="X.Y", help=(
        "For codabench-bundle: the Python version of its image and wheels. Default: 3.12."))] = None,
    start: Annotated[datetime | None, typer.Option("--start", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help=(
        "For codabench-bundle: the start of the first phase, in UTC. Default: the day on which the task was "
        "stored."))] = None,
    terms: Annotated[Path | None, typer.Option("--terms", metavar="FILE", help=(
        "For codabench-bundle: the terms of participation in Markdown. Default: terms from the manifest."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None, db: Db = None,
    private: Private = False,
) -> None:
    """Write results in the format of another platform."""
    if (format_ := FORMATS.get(form)) is None:
        raise UnknownNameError("form", form, FORMATS)
    values = {"submission": submission, "output": output, "dataset": dataset, "wheels": wheels, "python": python,
              "start": start, "terms": terms, "metric": metric, "test_set": test_set, "track": track, "facet": facet}
    options = {name: value for name, value in values.items() if value is not None}
    for name in format_.required:
        if name not in options:
            raise InputError(f"the form {form!r} {_REQUIREMENTS[name]}")
    accepted = (*format_.required, *format_.optional)
    if others := [_format_flag(name) for name in options if name not in accepted]:
        flags = ", ".join(map(_format_flag, accepted)) or "no option"
        raise InputError(f"the form {form!r} accepts {flags}; leave out {', '.join(others)}")
    # A bundle contains private gold, but only in reference_data, which participants cannot download.
    database = find_database(db) if form == "codabench-bundle" else find_public_database(db, private=private)
    if (text := format_.write(Request(database, task, form, options))) is not None:
        write(text)


def _format_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _format_scores(request: Request) -> str:
    from registry.boards.submissions import load_submission_scores
    from registry.reports.exports import format_codabench, format_codalab, format_evalai

    formatter = {"codabench": format_codabench, "codalab": format_codalab, "evalai": format_evalai}[request.form]
    with request.database.reading() as connection:
        return formatter(load_submission_scores(connection, request.task, request.options["submission"]))


def _format_board(request: Request) -> str:
    from registry.boards.choose import load_metric_leaderboards, select_leaderboard, select_standing
    from registry.reports.exports import draw_badge
    from registry.reports.paper_tables import render_wmt
    from registry.store import catalog

    metric, *selection = map(request.options.get, _BOARD)
    with request.database.reading() as connection:
        (row,) = catalog.tasks(connection, request.task)
        board = select_leaderboard(load_metric_leaderboards(connection, row, metric), *selection)
    if request.form == "wmt":
        return render_wmt(board)
    return draw_badge(board, select_standing(board, request.options["submission"]), row.title or row.slug)


def _format_citation(request: Request) -> str:
    from registry.manifest import decode_manifest
    from registry.reports.papers import bibtex, citation_file
    from registry.store import catalog
    from registry.store.catalog import TaskRow

    with request.database.reading() as connection:  # `find`: a citation is public even if the scores are hidden
        row = catalog.find(connection, TaskRow, slug=request.task) or catalog.tasks(connection, request.task)[0]
    task = decode_manifest(row.manifest).task
    return (bibtex if request.form == "bibtex" else citation_file)(task, task.date)


def _format_croissant(request: Request) -> str:
    from registry.boards.load import PAGE_PAIRS, load_leaderboards
    from registry.manifest import decode_manifest
    from registry.reports.exports import make_croissant_tasks
    from registry.store import catalog

    with request.database.reading() as connection:
        (row,) = catalog.tasks(connection, request.task)
        return make_croissant_tasks(decode_manifest(row.manifest), load_leaderboards(connection, row, pairs=PAGE_PAIRS))


def _write_records(request: Request) -> None:
    from registry.releases.eval_records import write_records

    output = request.options["output"]
    written = write_records(request.database, request.task, output)
    report(f"{output}: written, {counted(written.records, 'record')} with {counted(written.samples, 'sample')}")


def _write_results(request: Request) -> None:
    from registry.releases.eval_records import write_results

    output = request.options["output"]
    dataset, metric = map(request.options.get, ("dataset", "metric"))
    n_files = write_results(request.database, request.task, output, dataset=dataset, metric=metric)
    report(f"{output}: written, {counted(n_files, 'file')}")


def _write_bundle(request: Request) -> None:
    from registry.competitions.bundle import BundleSettings, write_bundle
    from registry.readers import Document
    from registry.store import catalog

    output = request.options["output"]
    start, terms = map(request.options.get, ("start", "terms"))
    python = request.options.get("python", "3.12")
    if python not in PYTHON_VERSIONS:
        raise InputError(f"--python {python!r} is not supported; give one of {', '.join(PYTHON_VERSIONS)}")
    terms_text = None if terms is None else Document.load(terms).text()
    settings = BundleSettings(request.options["wheels"], python, start and start.replace(tzinfo=UTC), terms_text)
    with request.database.reading() as connection:
        (row,) = catalog.tasks(connection, request.task)
        report_all(write_bundle(connection, row, settings, output))
    report(f"{output}: written; keep it private, because reference_data/ contains the gold")
    report("next: upload it at https://www.codabench.org/competitions/upload/")


FORMATS = {
    "codabench": ExportFormat(_format_scores, ("submission",)),
    "codalab": ExportFormat(_format_scores, ("submission",)),
    "evalai": ExportFormat(_format_scores, ("submission",)),
    "wmt": ExportFormat(_format_board, optional=_BOARD),
    "badge": ExportFormat(_format_board, ("submission",), _BOARD),
    "bibtex": ExportFormat(_format_citation),
    "citation": ExportFormat(_format_citation),
    "croissant-tasks": ExportFormat(_format_croissant),
    "every-eval-ever": ExportFormat(_write_records, ("output",)),
    "huggingface": ExportFormat(_write_results, ("output",), ("dataset", "metric")),
    "codabench-bundle": ExportFormat(_write_bundle, ("output", "wheels"), ("python", "start", "terms")),
}
