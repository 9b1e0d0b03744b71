"""What records that a registry wrote say of their task, and their samples: what metrics counted, items, and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from registry.errors import InputError
from registry.importers.every_eval_ever.record_format import (
    ANSWERS,
    ATTRIBUTES,
    GOLD,
    LAYOUT,
    STATISTICS,
    SUBMISSION,
    TASK,
)
from registry.importers.every_eval_ever.records import Record, Sample
from registry.importers.files import Place, is_whole, member, parsed_json
from registry.importers.scored import number, standing_twice
from registry.manifest.fields import FACTORS
from registry.manifest.write import json_lines
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.submission_fields import SUBMISSION_FIELDS
from registry.values import parse

Rows = dict[str, dict[str, Any]]  # by item

_LEVEL = re.compile(r"[A-Za-z0-9_-]{1,60}")  # that can stand in a file's name


class Declared:
    """What records say of their task, read from one of them.

    Attributes:
        layout: What the task is made again of.
        metrics: By alias; those that statistics were recorded for before are what these were of.
        columns: What the columns of every metric's statistics are called, by its alias.
        of_all: The metric whose statistics tell all: labels by class, or pairs of numbers.
    """

    def __init__(self, record: Record) -> None:
        details = record.details or {}
        self.place = record.place
        self.layout = details.get(LAYOUT, "")
        if self.layout not in ("statistics", "labels", "scores", "answers"):
            raise self.place.error(f"{LAYOUT!r} of its task is {self.layout[:60]!r}, which does not belong there")
        self.task = parsed_json(details[TASK], self.place.path)
        self.id = member(self.task, "id", of=str, place=self.place)
        self.test_sets = {member(of, "name", of=str, place=self.place): of for of in
                          member(self.task, "test_sets", of=list, place=self.place)}
        self.metrics = self._metrics()
        self.columns = {alias: [f"{alias}:{column}" for column in metric.filled]
                        for alias, metric in self.metrics.items()}
        self.of_all = self._of_all()

    def _metrics(self) -> dict[str, Metric]:
        found = {}
        for of in member(self.task, "metrics", of=list, place=self.place):
            alias, name = (member(of, key, of=str, place=self.place) for key in ("id", "name"))
            try:
                found[alias] = parse("metric", METRICS, name).original
            except InputError as error:
                raise self.place.error(str(error)) from None
        return found

    def _of_all(self) -> str:
        kind = {"labels": ConfusionMetric, "scores": CorrelationMetric}.get(self.layout, Metric)
        for alias, metric in self.metrics.items():
            if isinstance(metric, kind):
                return alias
        raise self.place.error(f"no metric of its task is one of {self.layout}")


@dataclass
class FoundTestSet:
    """What is found of one test set: its items, and the submissions with their rows by run."""

    items: Rows = field(default_factory=dict)
    submits: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class OfRecord:
    """Reads the samples of one record."""

    declared: Declared
    record: Record
    test_set: str
    into: FoundTestSet
    runs: dict[str, Rows] = field(default_factory=dict)

    def read(self) -> None:
        """Read what metrics counted, and what is known of the items."""
        first = f"{self.test_set}.{self.declared.of_all}"
        known = {f"{self.test_set}.{alias}": alias for alias in self.declared.columns}
        seen: set[tuple[str, str, str]] = set()
        for sample in self.record.lines():
            alias = known.get(sample.result_id or "")
            if alias is None:
                raise sample.place.error(f"{str(sample.result_id)[:60]!r} is no score of its task", sample.item)
            if (at := (alias, sample.run, sample.item)) in seen:
                raise standing_twice(sample.item, sample.place, sample.place)
            seen.add(at)
            if self.declared.layout != "statistics" and sample.result_id != first:
                continue
            row = self.runs.setdefault(sample.run, {}).setdefault(sample.item, {"item": sample.item})
            self._note(sample, alias, row, self._item(sample))
        if not self.runs:
            raise self.record.place.error(f"no sample of it has {first!r}, by which items are read")

    def _item(self, sample: Sample) -> dict[str, Any]:
        """What is known of an item; it has the same attributes for all."""
        place = sample.place
        attributes = _nested(sample, ATTRIBUTES, "{}")
        if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
            raise place.error(f"{ATTRIBUTES!r} is no object of texts", sample.item)
        if self.declared.layout == "answers":
            fresh = {"item": sample.item, "answers": _answers(sample, GOLD), "attributes": attributes}
        else:
            fresh = {**{key: value for key, value in attributes.items() if key not in ("item", "label", "gold")},
                     "item": sample.item}
        item = self.into.items.setdefault(sample.item, fresh)
        if any(item.get(key) != value for key, value in fresh.items()):
            raise place.error("has other attributes or another gold than in a record before", sample.item)
        return item

    def _note(self, sample: Sample, alias: str, row: dict[str, Any], item: dict[str, Any]) -> None:
        """Note in the row of an answer what its sample holds, and of the item what is right."""
        if self.declared.layout == "statistics":
            columns = self.declared.columns[alias]
            found = [number(value) for value in _list(sample, STATISTICS, len(columns))]
            if None in found:
                raise sample.place.error(f"{STATISTICS!r} has something that is no finite number", sample.item)
            row |= zip(columns, found, strict=True)
        elif self.declared.layout == "labels":
            gold, predicted = _list(sample, STATISTICS, 2)
            if not isinstance(gold, str) or not isinstance(predicted, str | None):
                raise sample.place.error(f"{STATISTICS!r} are no two labels", sample.item)
            self._agree(sample, item, "label", gold)
            row["label"] = predicted
        elif self.declared.layout == "scores":
            given, right = map(number, _list(sample, STATISTICS, 2))
            if given is None or right is None:
                raise sample.place.error(f"{STATISTICS!r} are no two finite numbers", sample.item)
            self._agree(sample, item, "gold", right)
            row["score"] = given
        else:
            row["answers"] = _answers(sample, ANSWERS)

    def _agree(self, sample: Sample, item: dict[str, Any], key: str, value: Any) -> None:
        if item.setdefault(key, value) != value:
            raise sample.place.error(f"has another gold than in a record before: {value!r}, not {item[key]!r}",
                                     sample.item)

    @cached_property
    def said(self) -> dict[str, Any]:
        """What the record says of the submission."""
        found = parsed_json((self.record.details or {}).get(SUBMISSION, ""), self.record.place.path)
        if not isinstance(found, dict):
            raise self.record.place.error(f"{SUBMISSION!r} is no object")
        return found

    @cached_property
    def name(self) -> tuple[str, str, str]:
        """Team, system and version."""
        place = self.record.place
        return (member(self.said, "team", of=str, place=place), member(self.said, "system", of=str, place=place),
                member({"version": "1", **self.said}, "version", of=str, place=place))

    def keep(self, number_: str) -> None:
        """Write the rows of every run into a file, and declare the submission."""
        said, (team, system, _) = self.said, self.name
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", system)[:60]
        where, pattern, runs = f"{self.test_set}/systems/{number_}-{name}", "", [""]
        if len(self.runs) > 1:
            pattern, runs = _run_names(said.get("factors"), list(self.runs), self.record.place)
        for run, rows in zip(runs, self.runs.values(), strict=True):
            self.into.files[f"{where}{run}.jsonl"] = json_lines(
                row for row in rows.values() if row.get("label", "") is not None)
        policy = said.get("missing")
        missing = policy if policy in ("drop", "own") or (self.declared.layout == "labels" and policy == "worst"
                                                          ) else "reject"
        more = {field.name: said[field.name] for field in SUBMISSION_FIELDS
                if field.is_released and field.declared_by != "task" and said.get(field.name)}
        self.into.submits.append({
            "file": f"{where}{pattern}.jsonl", "team": team, "system": system, "test_set": self.test_set,
            "missing": missing, **more})


def _run_names(factors: Any, runs: Sequence[str], place: Place) -> tuple[str, list[str]]:
    """The pattern behind the name of a submission's files and what stands in its place for every run."""
    if not factors:
        return "/{run}", [f"/{n}" for n in range(1, len(runs) + 1)]
    if not isinstance(factors, list) or len(factors) != len(runs) or not all(
            isinstance(of, dict) and of and of.keys() == factors[0].keys() <= set(FACTORS)
            and all(isinstance(level, str) and _LEVEL.fullmatch(level) for level in of.values()) for of in factors):
        raise place.error("'factors' does not say what tells its runs apart")
    names = list(factors[0])
    pattern = "/" + ".".join(f"{{{name}}}" for name in names)
    return pattern, ["/" + ".".join(of[name] for name in names) for of in factors]


def _nested(sample: Sample, key: str, otherwise: str = "null") -> Any:
    """What a sample's metadata has under a key, in JSON."""
    found = parsed_json(sample.metadata.get(key, otherwise), sample.place.path)
    if not is_whole(found):
        raise sample.place.error(f"{key!r} has half of a character (a lone surrogate)", sample.item)
    return found


def _list(sample: Sample, key: str, length: int) -> list[Any]:
    found = _nested(sample, key)
    if not isinstance(found, list) or len(found) != length:
        raise sample.place.error(f"{key!r} is no list of {length} values", sample.item)
    return found


def _answers(sample: Sample, key: str) -> list[dict[str, Any]]:
    found = _nested(sample, key)
    if not isinstance(found, list) or not all(
            isinstance(one, list) and len(one) == 3 and all(isinstance(text, str) for text in one[:2])
            and (one[2] is None or number(one[2]) is not None) for one in found):
        raise sample.place.error(f"{key!r} is no list of answers with key, type and score", sample.item)
    return [{"key": name, **({"type": type_} if type_ else {}), **({} if score is None else {"score": score})}
            for name, type_, score in found]
