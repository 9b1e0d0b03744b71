"""Commands for participants: check, and task-pack, which makes what they check with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.console import say, show
from registry.cli.options import ManifestPath, OutputFormat, Root, named_values
from registry.cli.task import resolved
from registry.errors import InputError, ManifestError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.evaluation import Checked
    from registry.evaluation.declared import Declared
    from registry.evaluation.resolve import ResolvedTask

KEYS = ("test_set", "file", "line", "item", "severity", "category", "message", "cause")


def check(
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", readable=False, help=(
        "The manifest that is to be checked with all its files; with --task, submissions."))],
    task: Annotated[Path | None, typer.Option("--task", metavar="MANIFEST", readable=False, help=(
        "Check submissions against this task: its gold, or the item list of a task pack."))] = None,
    test_set: Annotated[str | None, typer.Option("--test-set", help="The test set that FILE is for.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
        "An option of the reader, as the manifest would write it; can be repeated."))] = None,
    max_errors: Annotated[int, typer.Option("--max-errors", min=0, help=(
        "List this many problems of every file; 0: all."))] = 50,
    root: Root = None,
    format_: OutputFormat = None,
) -> None:
    """Check submissions, or a manifest with all its files.

    Everything that is wrong is listed with file, line, item and likely cause, on stderr, or with --format on stdout.
    Ends with 3 if a file would be refused. It touches no database.
    """
    from registry.evaluation import check as check_task

    if task is None and (len(file) > 1 or test_set is not None or option):
        raise InputError("to check submissions, name the task's manifest: --task MANIFEST")
    try:
        against, _ = resolved(file[0] if task is None else task, root)
    except ManifestError:
        if task is None and file[0].suffix != ".toml":
            raise InputError("is no manifest; to check a submission, name that of its task: --task MANIFEST",
                             path=file[0]) from None
        raise
    submissions = None if task is None else list(_submissions(against, file, test_set, option or []))
    checked = check_task(against, submissions, limit=max_errors or None)
    for warning in checked.warnings:
        say(f"warning: {warning}")
    if format_ is None:
        _say_problems(checked)
    else:
        from registry.reports.table import Table

        show([Table([_row(problem) for problem in checked.problems], keys=KEYS)], format_)
    if checked.unlisted:
        of_each = ", ".join(f"{n} {category}" for category, n in sorted(checked.unlisted.items()))
        say(f"not listed: {counted(checked.unlisted.total(), 'more problem')} ({of_each}); --max-errors 0 lists all")
    if checked.refused:
        raise typer.Exit(InputError.exit_code)
    if task is None:
        _say_plan(against)
    items = ", ".join(f"{name}: {counted(n, 'item')}" for name, n in checked.items.items())
    say(f"ok: {items}; {counted(len(checked.files), 'submission')} checked")


def task_pack(
    manifest: ManifestPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write it.")],
    root: Root = None,
) -> None:
    """Write what participants need to check their submissions.

    It is a manifest with a list of the items to answer; nothing in it depends on the answers.
    """
    from registry.evaluation.item_lists import task_pack as pack
    from registry.evaluation.item_lists import write_pack

    task, _ = resolved(manifest, root)
    new = write_pack(pack(task), output)
    for path in new:
        say(f"{path}: written")
    say(f"next: `registry check FILE --task {output / 'task.toml'}`" if new else "nothing changed")


def _submissions(task: ResolvedTask, files: list[Path], test_set: str | None, options: list[str]) -> Iterator[Declared]:
    """What the files are: as a `[[submit]]` of the manifest declares them, else as the command line does."""
    from registry.evaluation.declared import declare, expanded
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


def _say_plan(task: ResolvedTask) -> None:
    """Tell what will be compared, and whether the draws can suffice."""
    from registry.evaluation.declared import declared
    from registry.evaluation.plan import declared_plan
    from registry.reports.plan import declared_sentence, too_few_draws

    plan = declared_plan(task, list(declared(task)))
    if plan.boards:
        say(declared_sentence(plan))
    if plan.needed:
        say(f"warning: {too_few_draws(plan.largest, plan.largest, plan.draws, plan.needed)}")


def _say_problems(checked: Checked) -> None:
    """Tell each problem in a line, and after those of a file each likely cause once."""
    for problem in checked.problems:
        say(f"{'error' if problem.fatal else 'warning'}: {problem.error}")
    causes: dict[tuple[str | None, str], int] = {}
    for problem in checked.problems:
        if problem.cause:
            key = (problem.error.path, problem.cause)
            causes[key] = causes.get(key, 0) + 1
    for (path, cause), n in causes.items():
        say(f"likely cause of {counted(n, 'problem')}: {path}: {cause}")


def _row(problem: Any) -> dict[str, Any]:
    error = problem.error
    return {"test_set": problem.test_set, "file": error.path, "line": error.line, "item": error.item,
            "severity": "error" if problem.fatal else "warning", "category": error.category, "message": error.message,
            "cause": problem.cause or None}
