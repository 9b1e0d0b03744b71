"""Commands for participants: check, and task-pack, which makes the files for `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.console import Format, print_tables, report, report_all
from registry.cli.evaluate import load_task
from registry.cli.options import (
    Cluster,
    ManifestPath,
    Memory,
    OutputFormat,
    Quiet,
    ReaderOptions,
    Root,
    Workers,
    find_database,
    make_execution,
    parse_named_values,
)
from registry.errors import InputError, ManifestError, counted

if TYPE_CHECKING:
    from registry.evaluation.checking.check import CheckResult
    from registry.evaluation.ingest.declared import DeclaredSubmission
    from registry.evaluation.resolve import ResolvedTask
    from registry.significance import Execution

KEYS = ("test_set", "file", "line", "item", "severity", "category", "message", "cause")


def check(
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "The manifest; with --task, the submissions."))],
    task: Annotated[Path | None, typer.Option("--task", metavar="MANIFEST", readable=False, help=(
        "Check submissions against the gold or the item list of this manifest."))] = None,
    test_set: Annotated[str | None, typer.Option("--test-set", help="The test set of FILE.")] = None,
    option: ReaderOptions = None,
    max_errors: Annotated[int, typer.Option("--max-errors", min=0, help=(
        "How many problems of each file to list; 0: all."))] = 50,
    db: Annotated[Path | None, typer.Option("--db", "-d", metavar="PATH", readable=False, help=(
        "Also check the manifest against the data in this registry, without changing it."))] = None,
    root: Root = None, format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, quiet: Quiet = False,
) -> None:
    """Check submissions, or a manifest and all its files.

    The command lists every problem with file, line, item and likely cause: on stderr, or with --format on stdout. For
    a manifest, it finds everything that `registry run` would refuse, but runs no significance tests. It changes no
    database. Exit status: 3 if anything would be refused, 4 if it conflicts with the registry of --db.
    """
    if task is None and (len(file) > 1 or test_set is not None or option):
        raise InputError("to check submissions, name the task's manifest: --task MANIFEST")
    if task is not None and db is not None:
        raise InputError("--db is for checks of a manifest with all its submissions; leave out --db or --task")
    execution = make_execution(workers, cluster, memory, quiet=quiet)
    if task is None:
        checked = _check_manifest(file[0], root, db, max_errors or None, execution)
    else:
        from registry.evaluation.checking.check import check as check_submissions

        resolved, _ = load_task(task, root)
        submissions = list(_declare_files(resolved, file, test_set, option))
        checked = check_submissions(resolved, submissions, limit=max_errors or None)
    _print_problems(checked, format_)
    if checked.exit_code:
        raise typer.Exit(checked.exit_code)
    if checked.plan is not None:
        from registry.boards.planned import describe_plan

        report_all(describe_plan(checked.plan, in_full=execution.progress is not None))
    test_sets = ", ".join(f"{name}: {counted(len(items), 'item')}" for name, items in checked.items.items())
    report(f"ok: {test_sets}; {counted(len(checked.files), 'submission')} checked")


def _declare_files(task: ResolvedTask, files: list[Path], test_set: str | None,
                   options: list[str] | None) -> Iterator[DeclaredSubmission]:
    """Yield each file as a submission, with its team, system and options.

    These facts come from the `[[submit]]` table of the manifest that matches the file, or else from the command line.

    Args:
        task: The task with its manifest.
        files: The files.
        test_set: The test set that the user names; None otherwise.
        options: The options of the reader that the user gives, as `NAME=VALUE`.
    """
    from registry.evaluation.ingest.declared import build_submission, match_files
    from registry.manifest import make_submit
    from registry.readers import Document

    declared = {} if test_set or options else {path.resolve(): (entry, captured, key)
                                               for key, entry, path, captured in match_files(task)}
    for file in files:
        document = Document.load(file)
        default = make_submit(file=str(file), system="submission", test_set=test_set,
                               options=parse_named_values(options, "--option"))
        entry, captured, key = declared.get(file.resolve(), (default, dict[str, str](), ""))
        yield build_submission(task, entry, [document], captured, key)


def _check_manifest(manifest: Path, root: Path | None, db: Path | None, limit: int | None,
                    execution: Execution) -> CheckResult:
    from registry.evaluation.checking.check import CheckResult, check_task
    from registry.evaluation.ingest.similar_names import warnings_about

    try:
        task, content = load_task(manifest, root)
    except ManifestError as error:
        if manifest.suffix != ".toml":
            raise InputError("is not a manifest; to check a submission, name the task's manifest: --task MANIFEST",
                             path=manifest) from None
        checked = CheckResult()
        checked.refuse(error)
        return checked
    checked = check_task(task, content, execution, None if db is None else find_database(db), limit=limit)
    checked.warnings += warnings_about(checked.similar)
    return checked


def _print_problems(checked: CheckResult, format_: Format | None) -> None:
    report_all(checked.warnings, "warning")
    if format_ is None:
        _report_problems(checked)
    else:
        from registry.rendering.table import Table

        print_tables([Table([_make_row(problem) for problem in checked.problems], keys=KEYS)], format_)
    if checked.unlisted:
        report(f"not listed: {counted(checked.unlisted.total(), 'more problem')}; --max-errors 0 lists all")


def _report_problems(checked: CheckResult) -> None:
    """Print the problems of a check as lines.

    Likely causes come first, then the number of problems per file and category, then each problem.
    """
    causes = Counter((problem.error.path, problem.cause) for problem in checked.problems if problem.cause)
    for (path, cause), n in causes.items():
        more = " and more" if any(file == path for file, _ in checked.unlisted) else ""
        report(f"likely cause of {counted(n, 'problem')}{more}: {path}: {cause}")
    for path in dict.fromkeys(problem.error.path for problem in checked.problems if problem.fatal):
        if not path:
            continue
        categories = Counter[str](problem.error.category for problem in checked.problems
                                  if problem.fatal and problem.error.path == path)
        categories.update({category: n for (file, category), n in checked.unlisted.items() if file == path})
        if categories.total() > 1:
            parts = ", ".join(f"{n} {category}" for category, n in categories.most_common())
            report(f"{path}: {counted(categories.total(), 'error')}: {parts}")
    for problem in checked.problems:
        report(f"{'error' if problem.fatal else 'warning'}: {problem.error}")


def _make_row(problem: Any) -> dict[str, Any]:
    error = problem.error
    return {"test_set": problem.test_set or None, "file": error.path, "line": error.line, "item": error.item,
            "severity": "error" if problem.fatal else "warning", "category": error.category, "message": error.message,
            "cause": problem.cause or None}


def task_pack(
    manifest: ManifestPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write.")],
    attribute: Annotated[list[str] | None, typer.Option("--attribute", metavar="COLUMN", help=(
        "Add this attribute of the items, such as a column of texts, to the list of items; repeatable."))] = None,
    root: Root = None,
) -> None:
    """Write a folder with which participants check their files.

    The folder contains a manifest and the list of items to answer. It reveals nothing about the gold except labels and
    types that the manifest names, and attributes that you name; the command warns about labels and types.
    """
    from registry.evaluation.checking.task_pack import describe_revealed, describe_unchecked, write_pack
    from registry.evaluation.checking.task_pack import make_task_pack as make_pack

    task, _ = load_task(manifest, root)
    new_files = write_pack(make_pack(task, attribute or ()), output)
    report_all(describe_revealed(task), "warning")
    report_all(describe_unchecked(task), "info")
    for path in new_files:
        report(f"{path}: written")
    report(f"next: `registry check FILE --task {quote(str(output / 'task.toml'))}`" if new_files else "nothing changed")
