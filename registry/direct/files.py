"""Evaluation of files, which the readers of `registry quick` read."""

from __future__ import annotations

import os
from collections.abc import Mapping, ValuesView
from pathlib import Path
from typing import Any

from registry.direct.advice import FILE_OPTIONS, format_arguments, name_arguments
from registry.direct.task import EvaluationRequest, TemporaryTask, check_policy, check_settings, name_systems
from registry.errors import InputError
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request


def are_files(request: EvaluationRequest) -> bool:
    """Return True if the arguments are paths of files, False if they are values.

    Raises:
        InputError: Only the gold or only the systems are paths.
    """
    systems = request.systems.values() if isinstance(request.systems, Mapping) else request.systems
    paths = [systems] if _is_path(systems) else list(systems) if isinstance(systems, list | tuple | ValuesView) else []
    have_paths = bool(paths) and all(map(_is_path, paths))
    if have_paths and (request.gold is None or _is_path(request.gold)):
        return True
    if have_paths and any(isinstance(path, Path) for path in paths):
        raise InputError("the systems are files, but the gold has values; pass the path of the gold's file")
    if isinstance(request.gold, Path):
        raise InputError(f"the gold is a file ({request.gold}), but the systems have values; pass the paths of the "
                         "systems' files")
    if unknown := next((name for name in request.settings if name in FILE_OPTIONS and name != "options"), None):
        raise InputError(f"{unknown}= describes files, but gold and systems are values; remove it")
    return False


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def make_task_of_files(request: EvaluationRequest) -> tuple[TemporaryTask, list[str]]:
    """Make a task from the files that are arguments of `registry.evaluate`.

    Returns:
        The task, and messages about how the files were read.

    Raises:
        InputError: A file cannot be read, the purpose of a file or column is unclear, or a setting is invalid.
    """
    check_policy(request.missing)
    if request.clusters is not None:
        raise InputError("clusters= needs values of the items; files have clusters in a column such as document")
    options = {name: value for name, value in request.settings.items() if name in FILE_OPTIONS and value is not None}
    settings = {name: value for name, value in request.settings.items() if name not in FILE_OPTIONS}
    names = {Path(path): name for name, path in request.systems.items()} if isinstance(request.systems, Mapping) else {}
    systems = request.systems
    paths = list(names) or [Path(path) for path in ([systems] if _is_path(systems) else systems)]
    item, label, score, text, system, pool = (_list_columns(options.get(name, ())) for name in (
        "item", "label", "score", "text", "system", "pool"))
    asked = Request(
        kind=options.get("format"), options=options.get("options", {}),
        metrics=() if request.metric is None else (request.metric,), missing=request.missing, runs=settings.get("runs"),
        gold=None if request.gold is None else str(request.gold), item=item,
        in_order=options.get("in_order", False), label=label, score=score, text=text, system=system, pool=pool,
        sets=options.get("sets"))
    made = make(paths, asked, check_settings(settings, None, clustered=True), names=names)
    test_sets, metrics = ([table[key] for table in made.folder.tables[name]] for name, key in (
        ("test_set", "name"), ("metric", "id")))
    if len(test_sets) > 1 and not request.average:
        raise InputError(f"the files have the test sets {', '.join(test_sets)}, but the result is a board of one; pass "
                         "average=True to average the scores of the test sets, or pass the files of one test set")
    if len(test_sets) == 1 and request.average:
        raise InputError("average=True needs several test sets, but the files have one; remove average=True")
    if len(metrics) > 1:
        raise InputError(f"score= names {len(metrics)} columns ({', '.join(metrics)}), but the result is a board of "
                         "one; call evaluate for each column, or use `registry quick`")
    notes = [f"info: read as {format_arguments(made.read_as)}", *(f"info: {note}" for note in made.notes),
             *(f"warning: {note}" for note in made.folder.notes)]
    return TemporaryTask(made.folder, name_systems((name, None) for name in names.values())), notes


def _list_columns(columns: Any) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def describe_question(error: QuestionError) -> InputError:
    """Return a question about a file or column with its answers as arguments of `registry.evaluate`."""
    return InputError(f"{name_arguments(error.message)} {'; '.join(map(name_arguments, error.options))}",
                      path=error.path)
