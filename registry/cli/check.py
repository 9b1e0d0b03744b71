"""Commands for participants: check, and task-pack, which makes what they check with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.console import Format, say, say_all, show
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution
from registry.cli.options import (
    ManifestPath,
    OutputFormat,
    ReaderOptions,
    Root,
    database,
    named_values,
)
from registry.cli.pipeline import resolved
from registry.errors import InputError, ManifestError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.evaluation.checking.check import Checked
    from registry.evaluation.ingest.declared import Declared
    from registry.evaluation.resolve import ResolvedTask
    from registry.significance import Execution

KEYS = ("test_set", "file", "line", "item", "severity", "category", "message", "cause")


def check(
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "The manifest that is to be checked with all its files; with --task, submissions."))],
    task: Annotated[Path | None, typer.Option("--task", metavar="MANIFEST", readable=False, help=(
        "Check submissions against this task: its gold, or the item list of a task pack."))] = None,
    test_set: Annotated[str | None, typer.Option("--test-set", help="The test set that FILE is for.")] = None,
    option: ReaderOptions = None,
    max_errors: Annotated[int, typer.Option("--max-errors", min=0, help=(
        "List this many problems of every file; 0: all."))] = 50,
    db: Annotated[Path | None, typer.Option("--db", "-d", metavar="PATH", readable=False, help=(
        "Also say what would not go with what this registry holds, which stays as it is."))] = None,
    root: Root = None, format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None,
    memory: Memory = None, quiet: Quiet = False,
) -> None:
    """Check submissions, or a manifest with all its files.

    Everything that is wrong is listed with file, line, item and likely cause, on stderr, or with --format on stdout.
    Of a manifest it is all that `registry run` would refuse; the tests alone are left out. Ends with 3 if anything
    would be refused (4 if it is for what the registry of --db holds). It changes no database.
    """
    if task is None and (len(file) > 1 or test_set is not None or option):
        raise InputError("to check submissions, name the task's manifest: --task MANIFEST")
    if task is not None and db is not None:
        raise InputError("--db goes with a manifest and all its submissions, not with --task")
    limit, how = max_errors or None, execution(workers, cluster, memory, quiet=quiet)
    if task is None:
        checked = _checked_task(file[0], root, db, limit, how)
    else:
        checked = _checked_submissions(task, root, (file, test_set, option or []), limit)
    _show_problems(checked, format_)
    if checked.exit_code:
        raise typer.Exit(checked.exit_code)
    if checked.plan is not None:
        from registry.boards.planned import describe_plan

        say_all(describe_plan(checked.plan, in_full=how.progress is not None))
    items = ", ".join(f"{name}: {counted(len(of_set), 'item')}" for name, of_set in checked.items.items())
    say(f"ok: {items}; {counted(len(checked.files), 'submission')} checked")


def task_pack(
    manifest: ManifestPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write it.")],
    root: Root = None,
) -> None:
    """Write what participants need to check their submissions.

    It is a manifest with a list of the items to answer. Nothing in it depends on the answers but labels and types that
    the manifest itself names, of which it warns.
    """
    from registry.evaluation.checking.task_pack import revealed, unchecked, write_pack
    from registry.evaluation.checking.task_pack import task_pack as pack

    task, _ = resolved(manifest, root)
    new = write_pack(pack(task), output)
    say_all(revealed(task), "warning")
    say_all(unchecked(task), "note")
    for path in new:
        say(f"{path}: written")
    say(f"next: `registry check FILE --task {output / 'task.toml'}`" if new else "nothing changed")


def _submissions(task: ResolvedTask, files: list[Path], test_set: str | None, options: list[str]) -> Iterator[Declared]:
    """What the files are: as a `[[submit]]` of the manifest declares them, else as the command line does."""
    from registry.evaluation.ingest.declared import declare, expanded
    from registry.manifest import submit_entry
    from registry.readers import Document

    known = {} if test_set or options else {path.resolve(): (entry, captured, key)
                                            for key, entry, path, captured in expanded(task)}
    for file in files:
        document = Document.load(file)
        given = submit_entry(file=str(file), system="submission", test_set=test_set,
                             options=named_values(options, "--option"))
        entry, captured, key = known.get(file.resolve(), (given, dict[str, str](), ""))
        yield declare(task, entry, [document], captured, key)


def _checked_submissions(manifest: Path, root: Path | None, given: tuple[list[Path], str | None, list[str]],
                         limit: int | None) -> Checked:
    """Check files against a task."""
    from registry.evaluation.checking.check import check

    task, _ = resolved(manifest, root)
    return check(task, list(_submissions(task, *given)), limit=limit)


def _checked_task(manifest: Path, root: Path | None, db: Path | None, limit: int | None, how: Execution) -> Checked:
    """Check a manifest with all its files; what is wrong with its tables and names is a problem like others."""
    from registry.evaluation.checking.check import Checked, check_task

    try:
        task, content = resolved(manifest, root)
    except ManifestError as error:
        if manifest.suffix != ".toml":
            raise InputError("is no manifest; to check a submission, name that of its task: --task MANIFEST",
                             path=manifest) from None
        checked = Checked()
        checked.refuse(error)
        return checked
    from registry.evaluation.ingest.similar_names import warnings_about

    against = None if db is None else database(db)
    checked = check_task(task, content, how, against, limit=limit)
    checked.warnings += warnings_about(checked.similar)
    return checked


def _show_problems(checked: Checked, format_: Format | None) -> None:
    """Tell what may be wrong and what is: in words, or in a format that is asked for."""
    say_all(checked.warnings, "warning")
    if format_ is None:
        _say_problems(checked)
    else:
        from registry.rendering.table import Table

        show([Table([_row(problem) for problem in checked.problems], keys=KEYS)], format_)
    if checked.unlisted:
        unlisted = checked.unlisted.total()
        say(f"not listed: {counted(unlisted, 'more problem')}; --max-errors 0 lists all")


def _say_problems(checked: Checked) -> None:
    """Tell likely causes first, each once, then how many problems a file has of each category, then examples."""
    causes = Counter((problem.error.path, problem.cause) for problem in checked.problems if problem.cause)
    for (path, cause), n in causes.items():
        more = " and more" if any(of == path for of, _ in checked.unlisted) else ""
        say(f"likely cause of {counted(n, 'problem')}{more}: {path}: {cause}")
    counts = dict.fromkeys(problem.error.path for problem in checked.problems if problem.fatal)
    for path in filter(None, counts):
        of_each = Counter[str](problem.error.category for problem in checked.problems
                          if problem.fatal and problem.error.path == path)
        of_each.update({category: n for (of, category), n in checked.unlisted.items() if of == path})
        if of_each.total() > 1:
            parts = ", ".join(f"{n} {category}" for category, n in of_each.most_common())
            say(f"{path}: {counted(of_each.total(), 'error')}: {parts}")
    for problem in checked.problems:
        say(f"{'error' if problem.fatal else 'warning'}: {problem.error}")


def _row(problem: Any) -> dict[str, Any]:
    error = problem.error
    return {"test_set": problem.test_set or None, "file": error.path, "line": error.line, "item": error.item,
            "severity": "error" if problem.fatal else "warning", "category": error.category, "message": error.message,
            "cause": problem.cause or None}
