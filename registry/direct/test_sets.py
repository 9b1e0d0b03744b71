"""Items of several test sets: values whose keys have two parts, the test set and the item."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.direct.columns import Column, merge_items, read_column, read_systems, select_columns
from registry.direct.task import GOLD, EvaluationRequest, TemporaryTask, make_task
from registry.errors import InputError, counted, listed
from registry.manifest.fields import check_name
from registry.manifest.folder import TaskFolder

_MOST_NAMES = 4  # of test sets in a message


def make_task_of_test_sets(request: EvaluationRequest) -> TemporaryTask:
    """Make a task with several test sets from values whose keys are (test set, item).

    Raises:
        InputError: A key has not two parts, or the values of a test set are invalid.
    """
    requests = _split_by_test_set(request)
    if len(requests) < 2:
        raise InputError(f"average=True needs several test sets, but all items are of {next(iter(requests))!r}; remove "
                         "average=True")
    tasks = {}
    for name, part in requests.items():
        try:
            tasks[name] = make_task(part)
        except InputError as error:
            raise InputError(f"test set {name!r}: {error}") from None
    tables: dict[str, Any] = {"test_set": [], "submit": []}
    files: dict[str, bytes] = {}
    copies: dict[str, str] = {}
    for number, (name, task) in enumerate(tasks.items(), 1):
        prefix = f"{number}-{re.sub(r'[^A-Za-z0-9._-]+', '_', name)[:100]}"
        for key in ("task", "submission", "metric", "significance"):
            if tables.setdefault(key, task.folder.tables[key]) != task.folder.tables[key]:
                raise InputError(f"test set {name!r} needs other options of the metric than {next(iter(tasks))!r}; "
                                 "pass metric= with its options, or evaluate each test set")
        (table,) = task.folder.tables["test_set"]
        paths: dict[str, Any] = {key: f"{prefix}/{table[key]}" for key in ("gold", "attributes") if key in table}
        if references := table.get("references"):
            paths["references"] = [{**entry, "path": f"{prefix}/{entry['path']}"} for entry in references]
        tables["test_set"].append(table | {"name": name} | paths)
        tables["submit"] += [entry | {"file": f"{prefix}/{entry['file']}", "test_set": name}
                             for entry in task.folder.tables["submit"]]
        files |= {f"{prefix}/{path}": content for path, content in task.folder.files.items()}
        copies |= {f"{prefix}/{path}": f"{owner}, test set {name!r}" for path, owner in task.folder.copies.items()}
    folder = TaskFolder(tables, files, {}, copies=copies, is_import=False)
    return TemporaryTask(folder, next(iter(tasks.values())).names)


def describe_pooled_items(request: EvaluationRequest) -> Iterator[str]:
    """Yield a message if keys have two parts, such as (test set, item), and all items are one test set."""
    frame, (gold, _) = select_columns(request.systems, (request.gold, request.clusters))
    columns = [read_column(values, "") for values in read_systems(frame).values()]
    keys = (merge_items(columns) if gold is None else read_column(gold, "")).keys or ()
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        return
    parts = list(dict.fromkeys(str(key[0]) for key in keys))  # type: ignore[index]
    if 2 <= len(parts) <= len(keys) / 2:
        yield (f"info: all {len(keys):,} items are one test set, although the first part of their names has "
               f"{len(parts):,} values ({listed(parts, _MOST_NAMES)}); if these are test sets, pass average=True, "
               "which averages the scores of the test sets")


def _split_by_test_set(request: EvaluationRequest) -> dict[str, EvaluationRequest]:
    """Return one request for each test set; its values are dicts by item."""
    frame, (gold, clusters) = select_columns(request.systems, (request.gold, request.clusters))
    systems = {name: _group_column(read_column(values, f"system {name[0]!r}"), f"system {name[0]!r}")
               for name, values in read_systems(frame).items()}
    golds = None if gold is None else _group_column(read_column(gold, GOLD), GOLD)
    groups = None if clusters is None else _group_column(read_column(clusters, "clusters"), "clusters")
    names = list(golds or dict.fromkeys(name for column in systems.values() for name in column))
    for owner, column in {**{f"system {name[0]!r}": column for name, column in systems.items()},
                          **({} if groups is None else {"clusters": groups})}.items():
        if absent := [name for name in names if name not in column]:
            shown = f"{counted(len(absent), 'test set')} ({listed(absent, _MOST_NAMES)})"
            raise InputError(f"{owner}: no value of {shown}; add the values, or remove the test set from all systems")
    for name in names:
        try:
            check_name(name)
        except ValueError as error:
            raise InputError(f"the test set {error}") from None
    return {name: replace(
        request, gold=None if golds is None else golds[name], clusters=None if groups is None else groups[name],
        systems={key[0] if key[1] is None else key: column[name] for key, column in systems.items()})
        for name in names}


def _group_column(column: Column, owner: str) -> Mapping[str, dict[Hashable, Any]]:
    """Return the values by test set and item."""
    keys: Sequence[Any] = column.keys or ()
    if not keys or not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        raise InputError(f"{owner}: average=True needs the test set of each item; name the items (test set, item), "
                         'such as by the index of a data frame: frame.set_index(["benchmark", "id"])')
    groups: dict[str, dict[Hashable, Any]] = {}
    for (test_set, item), value in zip(keys, column.values, strict=True):
        groups.setdefault(str(test_set), {})[item] = value
    return groups
