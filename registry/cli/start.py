"""Commands that make a task without a manifest: quick, new, import."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli import completion
from registry.cli.commands import TEST, add_parameters
from registry.cli.console import choose_format, print_boards, report, report_all, report_end
from registry.cli.evaluate import load_task, suggest_update
from registry.cli.options import (
    QUICK_SETTINGS,
    SIGNIFICANCE,
    Actor,
    AllNotes,
    Cluster,
    Db,
    DryRun,
    Memory,
    OutputFormat,
    Quiet,
    To,
    Wait,
    Workers,
    choose_actor,
    find_database,
    make_execution,
    parse_named_values,
    parse_settings,
)
from registry.cli.progress import make_reporter
from registry.errors import InputError, RegistryError, UnknownNameError, combine_errors

if TYPE_CHECKING:
    from registry.quick.make import QuickTask
    from registry.quick.plan import Request
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.log import Journal

CODABENCH = "codabench"  # the kind of import that adds submissions to a stored task, instead of making a task

Systems = Annotated[list[Path], typer.Argument(metavar="SYSTEM...", help=(
    "The systems' files, their folder, or a pattern such as '{team}/{system}.tsv'; without --gold also one table with "
    "all systems, or logs of a program."))]
Gold = Annotated[str | None, typer.Option("--gold", metavar="GOLD", help=(
    "The file of correct answers; in a table with all systems, its column."))]
Item = Annotated[list[str] | None, typer.Option("--item", metavar="COLUMN", help=(
    "The column of item ids, by name or number; repeatable if several columns identify an item."))]
InOrder = Annotated[bool, typer.Option("--in-order", help=(
    "Items have no ids; all files list them in the same order."))]
Label = Annotated[list[str] | None, typer.Option("--label", metavar="COLUMN", help=(
    "The column of labels; repeated: the gold's column, then the systems'."))]
Score = Annotated[list[str] | None, typer.Option("--score", metavar="COLUMN", help=(
    "The column of numbers; with --gold repeated: the gold's column, then the systems'. Without --gold repeated: a "
    "board for each column, with the better direction, such as --score cost:lower."))]
Text = Annotated[list[str] | None, typer.Option("--text", metavar="COLUMN", help=(
    "The column of texts; repeated: the gold's column, then the systems'."))]
Column = Annotated[list[str] | None, typer.Option("--system", metavar="COLUMN", help=(
    "In a table with all systems, the column of one, or a pattern such as 'run_*'; repeatable."))]
By = Annotated[str | None, typer.Option("--by", metavar="COLUMN", help=(
    "Make a board for each value of this column, such as a task, a split or a metric."))]
Pool = Annotated[list[str] | None, typer.Option("--pool", metavar="COLUMN", help=(
    "Make one board of all values of this column, such as a task or a split; repeatable."))]
Sets = Annotated[str | None, typer.Option("--sets", metavar="MARK", help=(
    "Labels are sets, such as anger|joy, with this mark between them."))]
Attribute = Annotated[list[str] | None, typer.Option("--attribute", metavar="COLUMN", help=(
    "Keep this column of the gold, or of scores, as an attribute of items, such as a category; repeatable."))]
As = Annotated[str | None, typer.Option("--as", metavar="KIND", autocompletion=completion.formats, help=(
    "The file format: the name of a reader or an importer. Default: detected."))]
Metric = Annotated[list[str] | None, typer.Option(
    "--metric", "-m", metavar="NAME", autocompletion=completion.metrics, help=(
        "The metric: a usual name (macro-F1) or an expression (SpanF(beta=2)); repeatable: a board for each metric. "
        "Default: the usual metric of these files."))]
Option = Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
    "An option of the reader or importer, with a TOML value; repeatable."))]
Missing = Annotated[Literal["reject", "worst", "drop"], typer.Option("--missing", help=(
    "How items without an answer count."))]
Runs = Annotated[Literal["fixed", "random"] | None, typer.Option("--runs", help=(
    "Files that differ only in a number after `seed` or `run` are runs of one system. The score is computed from "
    "statistics, such as counts of correct spans, that are averaged over runs. fixed: results hold for these runs; "
    "random: also for new runs of the systems, which need two or more runs each."))]
Test = Annotated[str | None, typer.Option("--test", "-t", rich_help_panel=TEST, autocompletion=completion.tests, help=(
    "The significance test; `registry list tests` lists all."))]


def quick(
    system: Systems, gold: Gold = None, item: Item = None, in_order: InOrder = False, label: Label = None,
    score: Score = None, text: Text = None, column: Column = None, by: By = None, pool: Pool = None,
    sets: Sets = None, attribute: Attribute = None, kind: As = None, metric: Metric = None, option: Option = None,
    missing: Missing = "reject", test: Test = None, runs: Runs = None,
    keep: Annotated[str | None, typer.Option("--keep", metavar="TASK", help=(
        "Write the task into a folder of this name, and store it in the registry. Default: store nothing."))] = None,
    average: Annotated[bool, typer.Option("--average", help=(
        "Also print average scores over the test sets, such as benchmarks, with a test of every pair."))] = False,
    all_notes: AllNotes = False,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, actor: Actor = None, wait: Wait = 60, quiet: Quiet = False,
    **settings: Any,
) -> None:
    """Print a leaderboard of your files, without a manifest.

    The command detects files and columns by their usual names; options override this. It prints a preview of the data,
    and stops with a question if something is ambiguous.
    """
    from registry.pipeline import TaskPlace, evaluate_task
    from registry.provenance import recorded_name
    from registry.quick.plan import Request
    from registry.store.log import Journal

    request = Request(kind, parse_named_values(option, "--option"), tuple(dict.fromkeys(metric or ())),
                      missing, runs, gold, tuple(item or ()), in_order, tuple(label or ()), tuple(score or ()),
                      tuple(text or ()), tuple(column or ()), by, tuple(pool or ()), sets,
                      tuple(attribute or ()))
    if keep is not None:
        _check_task_id(keep, "--keep")
    elif attribute:
        raise InputError(f"--attribute {attribute[0]} keeps a column for later commands; add --keep TASK, or use "
                         f"--by {attribute[0]} for a board of each value")
    made = _make_task(system, request, {"test": test, **settings}, quiet=quiet)
    journal = Journal("quick", {"files": [recorded_name(path) for path in system],
                                "gold": None if gold is None else recorded_name(Path(gold)), "task": keep},
                      inputs=dict(made.folder.sources), actor=choose_actor(actor))
    kept = None if keep is None else TaskPlace(Path(keep), find_database(db, wait))
    execution = make_execution(workers, cluster, memory, quiet=quiet)
    if average and len(made.folder.tables["test_set"]) < 2:
        raise InputError("--average needs several test sets, but the files have one; name them by a pattern such as "
                         "'results/{model}/{benchmark}.jsonl' or by --by COLUMN, or remove --average")
    try:
        result = evaluate_task(made.folder, keep or "quick", journal, execution, partial(_report_message, quiet=quiet),
                               kept, averages=average)
    except InputError as error:
        raise combine_errors([_name_options(fault) for fault in (error, *error.others)]) from None
    print_boards(result.boards, format_, all_notes=all_notes)
    if choose_format(format_) not in ("table", "md", "latex"):  # these have rows of numbers only
        for board in result.boards:
            report_all(filter(None, (board.result, *board.details)), board.title if len(result.boards) > 1 else "")
    if quiet:
        return
    report(f"next: edit {keep}/task.toml, then rerun `registry run {keep}/task.toml`" if keep else
           "next: `registry new TASK` with the same arguments writes the manifest")
    advice = [*made.folder.advice, *(f"`registry study facets {{task}} --attribute {quote(name)}` shows where "
                                     "differences hold" for name in attribute or ())]
    if len({board.test_set for board in result.boards}) > 1 and not average:
        advice.append("--average prints average scores over the test sets, too")
    for sentence in advice:
        needs_task = "{task}" in sentence and not keep
        report(("with --keep TASK: " if needs_task else "") + sentence.replace("{task}", keep or "TASK"))


def _report_message(message: str, *, quiet: bool) -> None:
    """Print a message with options of the command line instead of the keys of a manifest.

    If `quiet`, print only warnings.
    """
    from registry.quick.plan import name_test_options, suggest_options

    if message.startswith("warning:") or not quiet:
        report(suggest_options(message) if "the submission's option" in message else name_test_options(message))


def _name_options(error: RegistryError) -> RegistryError:
    """Return an error with options of the command line instead of the keys of a manifest."""
    from registry.quick.plan import reword, suggest_options

    if not isinstance(error, InputError) or (message := suggest_options(error.message)) == error.message:
        return error
    return reword(error, message)


def new(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The id of the new task.")],
    system: Systems, gold: Gold = None, item: Item = None, in_order: InOrder = False, label: Label = None,
    score: Score = None, text: Text = None, column: Column = None, by: By = None, pool: Pool = None,
    sets: Sets = None, attribute: Attribute = None, kind: As = None, metric: Metric = None, option: Option = None,
    missing: Missing = "reject", test: Test = None, runs: Runs = None,
    to: To = None, **settings: Any,
) -> None:
    """Write a manifest for your files.

    The command detects files and columns like `registry quick`. It leaves out invalid files of systems, and prints why.
    """
    from registry.quick.plan import Request

    request = Request(kind, parse_named_values(option, "--option"), tuple(dict.fromkeys(metric or ())),
                      missing, runs, gold, tuple(item or ()), in_order, tuple(label or ()), tuple(score or ()),
                      tuple(text or ()), tuple(column or ()), by, tuple(pool or ()), sets,
                      tuple(attribute or ()))
    _check_task_id(task, "TASK")
    made = _make_task(system, request, {"test": test, **settings}, new_task=task)
    with made.folder.write(to or Path(task), task) as manifest:
        load_task(manifest, None)  # no manifest is left that `run` refuses
        report(f"task: {manifest}")
    report(f"next: check it, then `registry run {quote(str(manifest))}`")


for command in (quick, new):
    add_parameters(command, [(name, SIGNIFICANCE[name], None) for name in QUICK_SETTINGS])


def _check_task_id(task: str, place: str) -> None:
    """Raise an error if an id of a task is invalid, before any work.

    Args:
        task: The id.
        place: The argument or option with the id, for the error.
    """
    from registry.manifest.fields import check_slug
    from registry.manifest.naming import make_slug

    try:
        check_slug(task)
    except ValueError as error:
        example = make_slug(Path(task).name)
        remedy = f"; use {example}" if example else ""
        folder = " and --to for the folder" if example and place == "TASK" and "/" in task else ""
        raise InputError(f"{place}: {error}{remedy}{folder}") from None


def _make_task(system: list[Path], request: Request, settings: dict[str, Any], *,
               new_task: str = "", quiet: bool = False) -> QuickTask:
    """Make a task from files, and print a preview, the options and warnings; if `quiet`, only the warnings."""
    from registry.manifest import Significance, update_significance
    from registry.quick.make import make

    given = parse_settings(settings)
    update_significance(Significance(), given)  # raises an error if a value is invalid
    made = make(system, request, given, new_task=new_task)
    if not quiet:
        report_all(made.preview)
        report(f"read as: {made.read_as}")
        report_all(made.notes, "info")
    report_all(made.folder.notes, "warning")
    return made


def import_(
    kind: Annotated[str, typer.Argument(
        metavar="KIND", autocompletion=lambda: [*completion.importers(), CODABENCH], help=(
            "The kind of results; `registry list importers` lists all."))],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file or folder of the results.")],
    task: Annotated[str | None, typer.Option("--task", help=(
        "The id of the new task. Default: the name of PATH. With codabench: the id of the stored task."))] = None,
    to: To = None,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
        "An option of the importer, with a TOML value; repeatable."))] = None,
    workers: Workers = None, cluster: Cluster = None, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
    wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Make a task from the results of another program.

    The command stores items, submissions and scores, and writes a manifest with its files, so that all other commands
    work on the task. With KIND codabench, it adds the submissions of a competition to a stored task.
    """
    from registry.provenance import recorded_name
    from registry.store.log import Journal

    options = parse_named_values(option, "--option")
    if kind == CODABENCH:
        if to is not None:
            raise InputError("codabench adds submissions to a stored task and writes no folder; leave out --to")
        if task is None:
            raise InputError("codabench adds submissions to a stored task; name it with --task TASK")
    slug = task or path.name.partition(".")[0]
    journal = Journal("import", {"kind": kind, "path": recorded_name(path), "task": slug, **options},
                      actor=choose_actor(actor))
    if kind == CODABENCH:
        _import_submissions(path, slug, options, journal, find_database(db, wait), dry_run=dry_run, quiet=quiet)
    else:
        _import_task(kind, path, slug, to or Path(slug), options, journal, find_database(db, wait),
                     make_execution(workers, cluster, None, quiet=quiet), dry_run=dry_run)


def _import_submissions(path: Path, task: str, options: dict[str, Any], journal: Journal, database: Database, *,
                        dry_run: bool, quiet: bool) -> None:
    from registry.competitions.download import Codabench
    from registry.evaluation.ingest.apply import import_submissions
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.resolve import resolve_stored
    from registry.pipeline import describe_applied
    from registry.store import catalog
    from registry.store.session import writing

    with writing(database, journal, dry_run=dry_run) as session:
        (row,) = catalog.tasks(session.connection, task)
        resolved = resolve_stored(row.manifest, task)
        download = Codabench.build(options).read(path, resolved)
        for name, digest in download.sources.items():
            journal.read(name, digest)
        ingest = Ingest(session.connection, journal, resolved, progress=make_reporter(quiet=quiet))
        applied = import_submissions(ingest, download.submissions)
        next_step = suggest_update(session.connection, task)
    report_all(download.notes, "info")
    report_all(describe_applied(applied))
    report_end(changed=journal.changed, dry_run=dry_run, next_step=next_step)


def _import_task(kind: str, path: Path, slug: str, folder: Path, options: dict[str, Any], journal: Journal,
                 database: Database, execution: Execution, *, dry_run: bool) -> None:
    """Make a task from the results of another program, store it and score it.

    Args:
        kind: The name of the importer.
        path: The file or folder of the results.
        slug: The id of the task.
        folder: The folder to write the manifest and its files.
        options: The options of the importer.
        journal: The log entry of the command.
        database: The registry.
        execution: The settings of parallel work.
        dry_run: True to store nothing.
    """
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.scoring.score import score
    from registry.importers import IMPORTERS
    from registry.pipeline import describe_applied, describe_results
    from registry.store.session import writing
    from registry.values import build

    if kind not in IMPORTERS:
        raise UnknownNameError("importer", kind, [*IMPORTERS, CODABENCH])
    imported = build("importer", IMPORTERS, kind, options).read(path)
    for name, digest in imported.sources.items():
        journal.read(name, digest)
    with imported.write(folder, slug, dry_run=dry_run) as manifest:
        resolved, content = load_task(manifest, None)
        with writing(database, journal, create=True, dry_run=dry_run) as session:
            ingest = Ingest(session.connection, journal, resolved, progress=execution.progress)
            applied, scored = apply(ingest, content), score(ingest, execution)
    report(f"{'would be written' if dry_run else 'task'}: {folder / manifest.name}")
    report_all(imported.notes, "warning")
    report_all(describe_applied(applied))
    report_all(describe_results(scored))
    report_end(changed=journal.changed, dry_run=dry_run,
               next_step=f"`registry compare {slug}` updates the leaderboards")
    report_all(sentence.replace("{task}", slug) for sentence in imported.advice)
