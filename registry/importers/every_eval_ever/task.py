"""The task of a registry, made again from the records of Every Eval Ever that it wrote.

Its boards are what they were: samples have what metrics counted in items, which `Recorded` scores. Measures by class
are made again of labels, correlations of numbers, and tests of single answers of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from pydantic import ValidationError

from registry.errors import InputError
from registry.importers.every_eval_ever.record_format import TEST_SET
from registry.importers.every_eval_ever.records import Record
from registry.importers.every_eval_ever.task_samples import Declared, FoundTestSet, OfRecord
from registry.importers.files import member
from registry.manifest import Manifest
from registry.manifest.folder import TaskFolder
from registry.manifest.write import json_lines
from registry.significance import TESTS
from registry.values import as_toml, parse

_BOARD = ("rank_baselines", "rank_late", "ranks")  # what is hidden is for the organisers to say


def recorded_task(records: Sequence[Record], digests: Mapping[str, str], notes: Sequence[str]) -> TaskFolder:
    """Make the task of records that all are of the same one.

    Raises:
        InputError: They do not say what it is, or samples are not there or of another kind.
    """
    declared = Declared(records[0])
    found: dict[str, FoundTestSet] = {}
    named: dict[tuple[str, ...], Record] = {}
    for n, record in enumerate(records, 1):
        details = record.details or {}
        test_set = details.get(TEST_SET, "")
        if test_set not in declared.test_sets:
            raise record.place.error(f"its test set {test_set[:60]!r} is none of its task")
        if record.samples is None:
            raise record.place.error("its samples are not beside it, without which its board cannot be made again")
        of_record = OfRecord(declared, record, test_set, found.setdefault(test_set, FoundTestSet()))
        of_record.read()
        name = of_record.name
        if (first := named.setdefault((test_set, *name), record)) is not record:
            raise record.place.error(f"another record of {name[0]}/{name[1]}@{name[2]} than in {first.place.path}; "
                                     "take those of one export", category="duplicate")
        of_record.keep(f"{n:0{len(str(len(records)))}}")
    tables, told = _tables(declared, found)
    files = {f"{name}/items.jsonl": json_lines(of.items.values()) for name, of in found.items()}
    for of in found.values():
        files |= of.files
    return TaskFolder(tables, files, digests, (*notes, *told))


def _tables(declared: Declared, found: Mapping[str, FoundTestSet]) -> tuple[dict[str, Any], list[str]]:
    """The manifest's tables, and what is to be said of them."""
    significance, told = _significance(declared)
    tables: dict[str, Any] = {
        "task": {key: member(declared.task, key, of=str, place=declared.place) for key in ("title", "version")},
        "test_set": [_test_set(declared, name, found[name]) for name in declared.test_sets if name in found],
        "metric": [_metric(declared, of) for of in member(declared.task, "metrics", of=list, place=declared.place)],
        "significance": significance,
        "board": {key: value for key, value in member(declared.task, "board", of=dict, place=declared.place).items()
                  if key in _BOARD and value is not None},
        "submit": [submit for of in found.values() for submit in of.submits],
    }
    try:
        Manifest.model_validate({"manifest": 1, **tables, "task": {"id": "task", **tables["task"]}})
    except ValidationError as error:
        wrong = error.errors()[0]
        at = ".".join(map(str, wrong["loc"]))
        raise declared.place.error(f"its task cannot be made again: {at}: {wrong['msg'][:300]}") from None
    return tables, told


def _significance(declared: Declared) -> tuple[dict[str, Any], list[str]]:
    """The settings, with the names of boards without their task's, which may get another one."""
    found = {key: value for key, value in member(declared.task, "significance", of=dict, place=declared.place).items()
             if value is not None}
    if isinstance(family := found.get("family"), list):
        found["family"] = [str(name).removeprefix(f"{declared.id}/") for name in family]
    try:
        test = parse("test", TESTS, member(found, "test", of=str, place=declared.place))
    except InputError as error:
        raise declared.place.error(str(error)) from None
    if test.units[0] != "response" or declared.layout == "answers":
        return found, []
    for key in ("test", "unit"):
        found.pop(key, None)
    return found, [f"the test {test!r} looks at single answers, which are not in records: the usual one is taken"]


def _test_set(declared: Declared, name: str, found: FoundTestSet) -> dict[str, Any]:
    shared = [key for key in next(iter(found.items.values()), {}) if key not in ("item", "label", "gold", "answers")
              and all(key in row for row in found.items.values())]
    formats: dict[str, tuple[str, dict[str, Any]]] = {
        "labels": ("labels", {"syntax": "jsonl"}),
        "scores": ("scores", {"syntax": "jsonl", "gold": "gold", "attributes": shared}),
        "answers": ("responses", {}),
        "statistics": ("statistics", {
            "syntax": "jsonl", "attributes": shared,
            "statistics": [column for columns in declared.columns.values() for column in columns]}),
    }
    format_, options = formats[declared.layout]
    said = declared.test_sets[name]
    more = {key: said[key] for key in ("cluster", "facets") if said.get(key)}
    return {"name": name, "gold": f"{name}/items.jsonl", "format": format_, "options": options, **more}


def _metric(declared: Declared, of: Any) -> dict[str, Any]:
    """A metric by its own name where it is made again of answers, else by its statistics."""
    alias, metric = of["id"], declared.metrics[of["id"]]
    more = {"primary": True} if of.get("primary") is True else {}
    more |= {key: of[key] for key in ("title", "decimals") if of.get(key) is not None}
    if declared.layout == "statistics":
        return {"id": alias, "name": "Recorded",
                "options": {"of": repr(metric), "columns": declared.columns[alias]}, **more}
    options = {of.name: as_toml(value) for of in fields(metric) if (value := getattr(metric, of.name)) is not None}
    return {"id": alias, "name": metric.name, "options": options, **more}


