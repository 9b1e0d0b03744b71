"""The command that writes tasks, leaderboards and scores in the forms that others read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from registry.cli.console import say, say_all, write
from registry.cli.guide import names
from registry.cli.options import ChosenMetric, Db, Facet, Private, Task, TestSet, Track, database, public_database
from registry.errors import InputError, UnknownNameError, counted

if TYPE_CHECKING:
    from registry.store.database import Database

PYTHONS = ("3.11", "3.12", "3.13")  # that this package runs under
_BOARD = ("metric", "test_set", "track", "facet")
_NEEDED = {
    "submission": "is of one submission; name it by --submission TEAM/SYSTEM",
    "output": "writes files; name by --output what is to be new",
    "wheels": "carries the wheels that its scoring program imports; name their folder by --wheels DIR",
}


class Asked(NamedTuple):
    """What is to be written: a task, in a form, with the options that were given."""

    database: Database
    task: str
    form: str
    options: Mapping[str, Any]


class Form(NamedTuple):
    """How a form is written, and by which options; what `write` gives goes to stdout."""

    write: Callable[[Asked], str | None]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def export(
    task: Task,
    form: Annotated[str, typer.Argument(metavar="FORM", autocompletion=lambda: list(FORMS), help=(
        "codabench (scores.json), codalab (scores.txt) or evalai (its result) for one submission; wmt (LaTeX) for a "
        "leaderboard, badge (SVG) for where a submission stands on one; bibtex, citation (CITATION.cff), "
        "croissant-tasks (JSON-LD) or every-eval-ever (records with samples) for the task; huggingface (.eval_results "
        "of models' repositories) for a metric; codabench-bundle (a zip file) for a competition that runs the "
        "task."))],
    submission: Annotated[str | None, typer.Option("--submission", metavar="TEAM/SYSTEM", help=(
        "Whose scores, for codabench, codalab and evalai, and whose place, for a badge."),
        autocompletion=names.team_systems)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="PATH", readable=False, help=(
        "The new folder of every-eval-ever or huggingface, the new file of codabench-bundle."))] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="ORGANISATION/NAME", help=(
        "For huggingface: the benchmark's data set on the Hub; else the one that is the task's url."))] = None,
    wheels: Annotated[Path | None, typer.Option("--wheels", metavar="DIR", help=(
        "Wheels of what a bundle's scoring program imports; where one is missing, a `pip download` that fetches all "
        "is told."))] = None,
    python: Annotated[str | None, typer.Option("--python", metavar="X.Y", help=(
        "The version of Python that a bundle's image has and its wheels are for; else 3.12."))] = None,
    start: Annotated[datetime | None, typer.Option("--start", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help=(
        "When a bundle's first phase begins, in UTC; else on the day when the task came into the registry."))] = None,
    terms: Annotated[Path | None, typer.Option("--terms", metavar="FILE", help=(
        "A bundle's terms of participation in Markdown; else what follows from the manifest."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None, db: Db = None,
    private: Private = False,
) -> None:
    """Write a task, a leaderboard or scores as others read them."""
    if (how := FORMS.get(form)) is None:
        raise UnknownNameError("form", form, FORMS)
    given = {"submission": submission, "output": output, "dataset": dataset, "wheels": wheels, "python": python,
             "start": start, "terms": terms, "metric": metric, "test_set": test_set, "track": track, "facet": facet}
    options = {name: value for name, value in given.items() if value is not None}
    for name in how.needs:
        if name not in options:
            raise InputError(f"{form} {_NEEDED[name]}")
    if other := [_option(name) for name in options if name not in (*how.needs, *how.takes)]:
        takes = ", ".join(map(_option, (*how.needs, *how.takes))) or "no option"
        raise InputError(f"{form} takes {takes}; leave {', '.join(other)} out")
    # Gold goes into a bundle's reference_data alone, which participants do not get.
    target = database(db) if form == "codabench-bundle" else public_database(db, private=private)
    if (text := how.write(Asked(target, task, form, options))) is not None:
        write(text)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _scores(asked: Asked) -> str:
    from registry.boards.submissions import load_submission_scores
    from registry.reports.exports import codabench, codalab, evalai

    written = {"codabench": codabench, "codalab": codalab, "evalai": evalai}[asked.form]
    with asked.database.reading() as connection:
        return written(load_submission_scores(connection, asked.task, asked.options["submission"]))


def _of_board(asked: Asked) -> str:
    from registry.boards.choose import load_metric_leaderboards, select_leaderboard, select_standing
    from registry.reports.exports import badge, wmt
    from registry.store import catalog

    metric, *chosen = map(asked.options.get, _BOARD)
    with asked.database.reading() as connection:
        (row,) = catalog.tasks(connection, asked.task)
        board = select_leaderboard(load_metric_leaderboards(connection, row, metric), *chosen)
    if asked.form == "wmt":
        return wmt(board)
    return badge(board, select_standing(board, asked.options["submission"]), row.title or row.slug)


def _citation(asked: Asked) -> str:
    from registry.manifest import stored_manifest
    from registry.reports.papers import bibtex, citation_file
    from registry.store import catalog
    from registry.store.catalog import TaskRow

    with asked.database.reading() as connection:  # a task may be cited while its scores are hidden
        row = catalog.find(connection, TaskRow, slug=asked.task) or catalog.tasks(connection, asked.task)[0]
    task = stored_manifest(row.manifest).task
    return (bibtex if asked.form == "bibtex" else citation_file)(task, task.date)


def _croissant_tasks(asked: Asked) -> str:
    from registry.boards.load import PAGE_PAIRS, load_leaderboards
    from registry.manifest import stored_manifest
    from registry.reports.exports import croissant_tasks
    from registry.store import catalog

    with asked.database.reading() as connection:
        (row,) = catalog.tasks(connection, asked.task)
        return croissant_tasks(stored_manifest(row.manifest), load_leaderboards(connection, row, pairs=PAGE_PAIRS))


def _records(asked: Asked) -> None:
    from registry.releases.eval_records import write_records

    written = write_records(asked.database, asked.task, asked.options["output"])
    say(f"{asked.options['output']}: written, {counted(written.records, 'record')} with "
        f"{counted(written.samples, 'sample')}")


def _results(asked: Asked) -> None:
    from registry.releases.eval_records import write_results

    output = asked.options["output"]
    dataset, metric = map(asked.options.get, ("dataset", "metric"))
    files = write_results(asked.database, asked.task, output, dataset=dataset, metric=metric)
    say(f"{output}: written, {counted(files, 'file')}")


def _bundle(asked: Asked) -> None:
    """Write a competition, and tell what the organisers have to know."""
    from registry.competitions.bundle import Wanted, write_bundle
    from registry.readers import Document
    from registry.store import catalog

    output = asked.options["output"]
    start, terms = map(asked.options.get, ("start", "terms"))
    python = asked.options.get("python", "3.12")
    if python not in PYTHONS:
        raise InputError(f"--python {python!r} is none of {', '.join(PYTHONS)}, under which this program runs")
    text = None if terms is None else Document.load(terms).text()
    wanted = Wanted(asked.options["wheels"], python, start and start.replace(tzinfo=UTC), text)
    with asked.database.reading() as connection:
        (row,) = catalog.tasks(connection, asked.task)
        say_all(write_bundle(connection, row, wanted, output))
    say(f"{output}: written, with the gold in reference_data/; keep it to yourself")
    say("next: upload it at https://www.codabench.org/competitions/upload/")


FORMS = {
    "codabench": Form(_scores, ("submission",)),
    "codalab": Form(_scores, ("submission",)),
    "evalai": Form(_scores, ("submission",)),
    "wmt": Form(_of_board, takes=_BOARD),
    "badge": Form(_of_board, ("submission",), _BOARD),
    "bibtex": Form(_citation),
    "citation": Form(_citation),
    "croissant-tasks": Form(_croissant_tasks),
    "every-eval-ever": Form(_records, ("output",)),
    "huggingface": Form(_results, ("output",), ("dataset", "metric")),
    "codabench-bundle": Form(_bundle, ("output", "wheels"), ("python", "start", "terms")),
}
