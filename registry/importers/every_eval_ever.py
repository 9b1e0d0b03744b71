"""Records of Every Eval Ever (github.com/evaleval/every_eval_ever): aggregate scores, and their samples.

A record holds the scores of one model, and a file next to it a line per item and metric. Scores without samples cannot
be compared, so they are reported and left out. Records and samples are untrusted: samples are read from the record's
folder only, and must match the record.

Data without a place in the format is JSON text in details and metadata. Details named in `PLACES` identify records that
a registry wrote. With the `STATISTICS` in the samples such a record becomes its task again with the same boards:
`Recorded` scores stored statistics; labels, numbers and single answers restore the other metrics.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from registry.errors import InputError, counted
from registry.importers.base import (
    Better,
    Collected,
    Place,
    Run,
    ScoredImporter,
    Sources,
    check_known,
    compute_mean,
    find_files,
    get_member,
    is_encodable,
    make_duplicate_error,
    parse_json_text,
    read_objects,
    to_score,
)
from registry.manifest import Manifest
from registry.manifest.fields import FACTORS
from registry.manifest.folder import TaskFolder, json_lines
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.readers import Document
from registry.significance import TESTS
from registry.submission_fields import SUBMISSION_FIELDS
from registry.values import as_toml, parse

SCHEMA = "0.3.0"
LIBRARY = "evalregistry"  # the evaluation library of records that a registry wrote
SAMPLES = "_samples.jsonl"  # behind the name of an aggregate record

# details of the library: the task as in a manifest, the test set, the submission, and what samples hold
TASK, TEST_SET, SUBMISSION, LAYOUT = "task", "test_set", "submission", "layout"
# metadata of a sample: its run, its item's attributes, what its metric counts, and answers with key, type and score
RUN, ATTRIBUTES, STATISTICS, GOLD, ANSWERS = "run", "attributes", "statistics", "gold_answers", "answers"
UNDEFINED = "undefined"  # metadata of a sample whose score is not defined for it alone
EPOCH = "epoch"  # what others call a run

Layout = Literal["statistics", "labels", "scores", "answers"]


_HASHES = {"sha256": hashlib.sha256, "md5": hashlib.md5}


@dataclass(frozen=True)
class Result:
    """One score of a record.

    Attributes:
        id: What samples call it; none has to be given.
        evaluation, dataset, split: What was evaluated.
        metric, parameters: By what.
        lower: Whether lower scores are better.
        unknown: Whether a sample's score of -1 means that there is none.
        score: Of all samples; `interval` its ends, if they are known.
    """

    id: str | None
    evaluation: str
    dataset: str
    split: str
    metric: str
    parameters: str
    lower: bool
    unknown: bool
    score: float
    interval: tuple[float, float] | None

    @property
    def shown(self) -> str:
        """Formatted score."""
        return f"{self.score:.6g}" + ("" if self.interval is None else " [{:.6g}, {:.6g}]".format(*self.interval))


@dataclass(frozen=True)
class Sample:
    """A line of samples: the score of an item by one metric (None: there is none), and what else it says."""

    place: Place
    item: str
    result_id: str | None
    evaluation: str
    run: str
    score: float | None
    said: str
    reference: tuple[str, ...]
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class Record:
    """An aggregate record; `samples` is the file beside it with its digest, `details` what a registry says of its task.

    Samples are read whenever they are asked for: those of all records may be more than fits into memory.
    """

    place: Place
    evaluation_id: str
    model: str
    timestamp: str
    results: tuple[Result, ...]
    details: Mapping[str, str] | None
    content: str = field(repr=False)
    samples: tuple[Path, str] | None

    @property
    def digest(self) -> str | None:
        """Digest of the samples."""
        return None if self.samples is None else self.samples[1]

    @property
    def moment(self) -> float:
        """Time of evaluation, in seconds since 1970.

        Raises:
            InputError: It does not say so.
        """
        try:
            return float(self.timestamp)
        except ValueError:
            pass
        try:
            at = datetime.fromisoformat(self.timestamp)
            return at.replace(tzinfo=at.tzinfo or UTC).timestamp()
        except (ValueError, OverflowError):
            raise self.place.error(f"the time {self.timestamp[:40]!r} is neither seconds since 1970 nor ISO 8601"
                                   ) from None

    def read_samples(self) -> Iterator[Sample]:
        """Read the samples.

        Raises:
            InputError: A line is none, or one of another record; or the file has changed meanwhile.
        """
        if self.samples is None:
            return
        path, digest = self.samples
        document = Document.load(path)
        if document.digest != digest:
            raise document.error("changed while it was read")
        for entry, place in read_objects(document):
            yield self._read_sample(entry, place)

    def _read_sample(self, entry: dict[str, Any], place: Place) -> Sample:
        item = get_member(entry, "sample_id", of=str, place=place)
        if not is_encodable(item):
            raise place.error("'sample_id' has half of a character (a lone surrogate)")
        for key, own in (("evaluation_id", self.evaluation_id), ("model_id", self.model)):
            if (found := get_member(entry, key, of=str, place=place)) != own:
                raise place.error(f"{key!r} is {found[:60]!r}, and {own[:60]!r} in the record", item)
        metadata = _read_texts(entry.get("metadata"), "metadata", place)
        reference = get_member(entry, "input", "reference", of=list, place=place)
        if not all(isinstance(text, str) for text in reference):
            raise place.error("'input.reference' is no list of texts", item)
        score = to_score(get_member(entry, "evaluation", "score", of=(int, float), place=place))
        if score is None:
            raise place.error("'evaluation.score' is no finite number", item)
        result_id = entry.get("evaluation_result_id")
        if not isinstance(result_id, str | None):
            raise place.error("'evaluation_result_id' is no text", item)
        return Sample(
            place, item, result_id, get_member(entry, "evaluation_name", of=str, place=place),
            metadata.get(RUN, metadata.get(EPOCH, "1")), None if entry.get("error") is not None else score,
            get_member(entry, "input", "raw", of=str, place=place), tuple(reference), metadata)

    def find_results(self, sample: Sample) -> tuple[Result, ...]:
        """Return the results of a sample, by id or name: several if it does not say which."""
        if sample.result_id is not None and any(of.id is not None for of in self.results):
            return tuple(of for of in self.results if of.id == sample.result_id)
        return tuple(of for of in self.results if of.evaluation == sample.evaluation) or self.results


def read_record(path: Path, sources: Sources) -> Record:
    """Read an aggregate record, and the file of its samples if that lies beside it.

    Raises:
        InputError: It is none, or its samples are not those that it describes.
    """
    entry, place = sources.load_json(path)
    evaluation_id = get_member(entry, "evaluation_id", of=str, place=place)
    model = _format_model(get_member(entry, "model_info", of=dict, place=place), place)
    time = entry.get("evaluation_timestamp") or get_member(entry, "retrieved_timestamp", of=str, place=place)
    results = get_member(entry, "evaluation_results", of=list, place=place)
    if not isinstance(time, str):
        raise place.error("'evaluation_timestamp' is no text")
    samples = _find_samples(path, entry.get("detailed_evaluation_results"), place, sources)
    same = {key: value for key, value in entry.items() if key != "retrieved_timestamp"}
    return Record(place, evaluation_id, model, time, tuple(_read_result(one, place) for one in results),
                  _read_details(entry.get("eval_library"), place), json.dumps(same, sort_keys=True),
                  None if samples is None else (Path(samples.path), samples.digest))


def _format_model(entry: dict[str, Any], place: Place) -> str:
    """Return developer and name."""
    name = get_member(entry, "id", of=str, place=place)
    developer = entry.get("developer")
    return name if "/" in name or not isinstance(developer, str) or not developer.strip() else f"{developer}/{name}"


def _read_result(entry: Any, place: Place) -> Result:
    config = get_member(entry, "metric_config", of=dict, place=place)
    source = get_member(entry, "source_data", of=dict, place=place)
    score = to_score(get_member(entry, "score_details", "score", of=(int, float), place=place))
    if score is None:
        raise place.error("'score_details.score' is no finite number")
    texts = {key: value for key, value in (
        ("id", entry.get("evaluation_result_id")), ("split", source.get("hf_split")),
        ("metric_id", config.get("metric_id")), ("metric_name", config.get("metric_name"))) if value is not None}
    if wrong := [key for key, value in texts.items() if not isinstance(value, str)]:
        raise place.error(f"{wrong[0]!r} of a result is no text")
    parameters = config.get("metric_parameters") or {}
    if not isinstance(parameters, dict):
        raise place.error("'metric_parameters' is no object")
    return Result(
        texts.get("id"), get_member(entry, "evaluation_name", of=str, place=place),
        get_member(source, "dataset_name", of=str, place=place), texts.get("split", ""),
        texts.get("metric_id") or texts.get("metric_name") or "score",
        ".".join(f"{key}-{value}" for key, value in sorted(parameters.items())),
        get_member(config, "lower_is_better", of=bool, place=place), config.get("has_unknown_level") is True, score,
        _read_interval(entry["score_details"]))


def _read_interval(details: dict[str, Any]) -> tuple[float, float] | None:
    """Return the ends of a score's interval, if it has one."""
    uncertainty = details.get("uncertainty")
    found = uncertainty.get("confidence_interval") if isinstance(uncertainty, dict) else None
    ends = [to_score(found.get(end)) for end in ("lower", "upper")] if isinstance(found, dict) else []
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None


def _read_details(library: Any, place: Place) -> dict[str, str] | None:
    if not isinstance(library, dict) or library.get("name") != LIBRARY:
        return None
    return _read_texts(library.get("additional_details"), "additional_details", place)


def _read_texts(value: Any, what: str, place: Place) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise place.error(f"{what!r} holds something that is no text")
    return value


def _find_samples(path: Path, detail: Any, place: Place, sources: Sources) -> Document | None:
    """Return the file of a record's samples, if it is next to the record."""
    beside = path.with_name(path.name.removesuffix(".json") + SAMPLES)
    if detail is not None:
        named = PurePosixPath(get_member(detail, "file_path", of=str, place=place)).name
        beside = beside if beside.is_file() or not named else path.with_name(named)
    if not beside.is_file() or beside == path:
        return None
    if beside.is_symlink() and not beside.resolve().is_relative_to(path.parent.resolve()):
        raise InputError("a link that leads out of the folder; put the file itself here", path=beside)
    document = sources.load(beside)
    if not isinstance(detail, dict):
        return document
    algorithm, checksum, rows = (detail.get(key) for key in ("hash_algorithm", "checksum", "total_rows"))
    if isinstance(checksum, str) and algorithm in _HASHES and (
            found := _HASHES[algorithm](document.content).hexdigest()) != checksum.lower():
        raise InputError(f"its {algorithm} is {found}, and {checksum[:70]!r} in the record {place.path}", path=beside)
    if isinstance(rows, int) and (lines := sum(bool(text.strip()) for _, text in document.lines())) != rows:
        raise InputError(f"{lines} lines, and {rows} in the record {place.path}", path=beside)
    return document


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
        self.task = parse_json_text(details[TASK], self.place.path)
        self.id = get_member(self.task, "id", of=str, place=self.place)
        self.test_sets = {get_member(of, "name", of=str, place=self.place): of for of in
                          get_member(self.task, "test_sets", of=list, place=self.place)}
        self.metrics = self._read_metrics()
        self.columns = {alias: [f"{alias}:{column}" for column in metric.filled]
                        for alias, metric in self.metrics.items()}
        self.of_all = self._require_same()

    def _read_metrics(self) -> dict[str, Metric]:
        found = {}
        for of in get_member(self.task, "metrics", of=list, place=self.place):
            alias, name = (get_member(of, key, of=str, place=self.place) for key in ("id", "name"))
            try:
                found[alias] = parse("metric", METRICS, name).original
            except InputError as error:
                raise self.place.error(str(error)) from None
        return found

    def _require_same(self) -> str:
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
        """Read the samples into `into` and `runs`.

        Raises:
            InputError: A sample has no score of its task, or occurs twice; or no sample has the task's first score.
        """
        first = f"{self.test_set}.{self.declared.of_all}"
        known = {f"{self.test_set}.{alias}": alias for alias in self.declared.columns}
        seen: set[tuple[str, str, str]] = set()
        for sample in self.record.read_samples():
            alias = known.get(sample.result_id or "")
            if alias is None:
                raise sample.place.error(f"{str(sample.result_id)[:60]!r} is no score of its task", sample.item)
            if (at := (alias, sample.run, sample.item)) in seen:
                raise make_duplicate_error(sample.item, sample.place, sample.place)
            seen.add(at)
            if self.declared.layout != "statistics" and sample.result_id != first:
                continue
            row = self.runs.setdefault(sample.run, {}).setdefault(sample.item, {"item": sample.item})
            self._store_sample(sample, alias, row, self._read_item(sample))
        if not self.runs:
            raise self.record.place.error(f"no sample of it has {first!r}, by which items are read")

    def _read_item(self, sample: Sample) -> dict[str, Any]:
        """Store an item, whose attributes must be the same in all samples."""
        place = sample.place
        attributes = _get_nested(sample, ATTRIBUTES, "{}")
        if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
            raise place.error(f"{ATTRIBUTES!r} is no object of texts", sample.item)
        if self.declared.layout == "answers":
            fresh = {"item": sample.item, "answers": _list_answers(sample, GOLD), "attributes": attributes}
        else:
            fresh = {**{key: value for key, value in attributes.items() if key not in ("item", "label", "gold")},
                     "item": sample.item}
        item = self.into.items.setdefault(sample.item, fresh)
        if any(item.get(key) != value for key, value in fresh.items()):
            raise place.error("has other attributes or another gold than in a record before", sample.item)
        return item

    def _store_sample(self, sample: Sample, alias: str, row: dict[str, Any], item: dict[str, Any]) -> None:
        """Store a sample's answer in its row, and the correct answer in its item."""
        if self.declared.layout == "statistics":
            columns = self.declared.columns[alias]
            found = [to_score(value) for value in _require_list(sample, STATISTICS, len(columns))]
            if None in found:
                raise sample.place.error(f"{STATISTICS!r} has something that is no finite number", sample.item)
            row |= zip(columns, found, strict=True)
        elif self.declared.layout == "labels":
            gold, predicted = _require_list(sample, STATISTICS, 2)
            if not isinstance(gold, str) or not isinstance(predicted, str | None):
                raise sample.place.error(f"{STATISTICS!r} are no two labels", sample.item)
            self._require_equal(sample, item, "label", gold)
            row["label"] = predicted
        elif self.declared.layout == "scores":
            given, right = map(to_score, _require_list(sample, STATISTICS, 2))
            if given is None or right is None:
                raise sample.place.error(f"{STATISTICS!r} are no two finite numbers", sample.item)
            self._require_equal(sample, item, "gold", right)
            row["score"] = given
        else:
            row["answers"] = _list_answers(sample, ANSWERS)

    def _require_equal(self, sample: Sample, item: dict[str, Any], key: str, value: Any) -> None:
        if item.setdefault(key, value) != value:
            raise sample.place.error(f"has another gold than in a record before: {value!r}, not {item[key]!r}",
                                     sample.item)

    @cached_property
    def said(self) -> dict[str, Any]:
        """Declared facts about the submission."""
        found = parse_json_text((self.record.details or {}).get(SUBMISSION, ""), self.record.place.path)
        if not isinstance(found, dict):
            raise self.record.place.error(f"{SUBMISSION!r} is no object")
        return found

    @cached_property
    def name(self) -> tuple[str, str, str]:
        """The team, system and version."""
        place = self.record.place
        return (get_member(self.said, "team", of=str, place=place),
                get_member(self.said, "system", of=str, place=place),
                get_member({"version": "1", **self.said}, "version", of=str, place=place))

    def write(self, number_: str) -> None:
        """Write the rows of every run into a file, and declare the submission."""
        said, (team, system, _) = self.said, self.name
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", system)[:60]
        where, pattern, runs = f"{self.test_set}/systems/{number_}-{name}", "", [""]
        if len(self.runs) > 1:
            pattern, runs = _name_runs(said.get("factors"), list(self.runs), self.record.place)
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


def _name_runs(factors: Any, runs: Sequence[str], place: Place) -> tuple[str, list[str]]:
    """Return the pattern of a submission's file names, and the part of it for every run."""
    if not factors:
        return "/{run}", [f"/{n}" for n in range(1, len(runs) + 1)]
    if not isinstance(factors, list) or len(factors) != len(runs) or not all(
            isinstance(of, dict) and of and of.keys() == factors[0].keys() <= set(FACTORS)
            and all(isinstance(level, str) and _LEVEL.fullmatch(level) for level in of.values()) for of in factors):
        raise place.error("'factors' does not say what tells its runs apart")
    names = list(factors[0])
    pattern = "/" + ".".join(f"{{{name}}}" for name in names)
    return pattern, ["/" + ".".join(of[name] for name in names) for of in factors]


def _get_nested(sample: Sample, key: str, otherwise: str = "null") -> Any:
    """Return the JSON in a sample's metadata under a key."""
    found = parse_json_text(sample.metadata.get(key, otherwise), sample.place.path)
    if not is_encodable(found):
        raise sample.place.error(f"{key!r} has half of a character (a lone surrogate)", sample.item)
    return found


def _require_list(sample: Sample, key: str, length: int) -> list[Any]:
    found = _get_nested(sample, key)
    if not isinstance(found, list) or len(found) != length:
        raise sample.place.error(f"{key!r} is no list of {length} values", sample.item)
    return found


def _list_answers(sample: Sample, key: str) -> list[dict[str, Any]]:
    found = _get_nested(sample, key)
    if not isinstance(found, list) or not all(
            isinstance(one, list) and len(one) == 3 and all(isinstance(text, str) for text in one[:2])
            and (one[2] is None or to_score(one[2]) is not None) for one in found):
        raise sample.place.error(f"{key!r} is no list of answers with key, type and score", sample.item)
    return [{"key": name, **({"type": type_} if type_ else {}), **({} if score is None else {"score": score})}
            for name, type_, score in found]


_BOARD = ("rank_baselines", "rank_late", "ranks")  # what is hidden is for the organisers to say


def restore_task(records: Sequence[Record], digests: Mapping[str, str], notes: Sequence[str]) -> TaskFolder:
    """Make the task of records that a registry wrote, all of one task.

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
        of_record.write(f"{n:0{len(str(len(records)))}}")
    tables, told = _make_tables(declared, found)
    files = {f"{name}/items.jsonl": json_lines(of.items.values()) for name, of in found.items()}
    for of in found.values():
        files |= of.files
    return TaskFolder(tables, files, digests, (*notes, *told))


def _make_tables(declared: Declared, found: Mapping[str, FoundTestSet]) -> tuple[dict[str, Any], list[str]]:
    """Make the manifest's tables and the messages about them."""
    significance, told = _make_significance(declared)
    tables: dict[str, Any] = {
        "task": {key: get_member(declared.task, key, of=str, place=declared.place) for key in ("title", "version")},
        "test_set": [_make_test_set(declared, name, found[name]) for name in declared.test_sets if name in found],
        "metric": [_make_metric(declared, metric)
                   for metric in get_member(declared.task, "metrics", of=list, place=declared.place)],
        "significance": significance,
        "board": {key: value for key, value in get_member(declared.task, "board", of=dict, place=declared.place).items()
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


def _make_significance(declared: Declared) -> tuple[dict[str, Any], list[str]]:
    """Return the settings, with board names without their task's name, which may change."""
    settings = get_member(declared.task, "significance", of=dict, place=declared.place)
    found = {key: value for key, value in settings.items() if value is not None}
    if isinstance(family := found.get("family"), list):
        found["family"] = [str(name).removeprefix(f"{declared.id}/") for name in family]
    try:
        test = parse("test", TESTS, get_member(found, "test", of=str, place=declared.place))
    except InputError as error:
        raise declared.place.error(str(error)) from None
    if test.units[0] != "response" or declared.layout == "answers":
        return found, []
    for key in ("test", "unit"):
        found.pop(key, None)
    return found, [f"the test {test!r} looks at single answers, which are not in records: the usual one is taken"]


def _make_test_set(declared: Declared, name: str, found: FoundTestSet) -> dict[str, Any]:
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


def _make_metric(declared: Declared, of: Any) -> dict[str, Any]:
    """Return a metric by name if answers restore it, else by its statistics."""
    alias, metric = of["id"], declared.metrics[of["id"]]
    more = {"primary": True} if of.get("primary") is True else {}
    more |= {key: of[key] for key in ("title", "decimals") if of.get(key) is not None}
    if declared.layout == "statistics":
        return {"id": alias, "name": "Recorded",
                "options": {"of": repr(metric), "columns": declared.columns[alias]}, **more}
    options = {of.name: as_toml(value) for of in fields(metric) if (value := getattr(metric, of.name)) is not None}
    return {"id": alias, "name": metric.name, "options": options, **more}


_SHOWN = 10  # of what is told of many
_ALMOST = 1e-6  # relative: how far a score may be from its samples' mean

Runs = dict[str, Run]


class _Evaluated(NamedTuple):
    """What one record says of one test set."""

    record: Record
    result: Result
    runs: Runs


class EveryEvalEver(ScoredImporter):
    """Every Eval Ever: aggregate records with their samples.

    Attributes:
        benchmarks: The names of evaluations to take; without any all.
        metrics: The metrics to take, by id, else by name; without any all.
        repeated: Several records of one model and benchmark: `reject` them, take the `latest`, or all as `runs`.
    """

    name = "every-eval-ever"

    benchmarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    repeated: Literal["reject", "latest", "runs"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        """Make a test set of every benchmark and metric; of a registry's own records its task."""
        collected = Collected(path, self.missing, self.better)
        records, notes = _drop_copies([
            read_record(file, collected)
            for file in find_files(path, lambda name: name.endswith(".json"), "record (*.json)")])
        tasks = {record.details.get(TASK, "") if record.details else "" for record in records}
        if len(tasks) == 1 and "" not in tasks and any(record.samples for record in records) and not (
                self.benchmarks or self.metrics or self.better):
            return restore_task(records, collected.digests, notes)
        if tasks - {""}:
            notes.append("records of a registry stand beside others, or some of them are chosen: what their metrics "
                         "count in items is passed over; import them apart to have their boards again")
        return self._collect(records, collected, notes)

    def _collect(self, records: Sequence[Record], collected: Collected, notes: list[str]) -> TaskFolder:
        """Collect the scores of items by test set, model and run."""
        names = _name_test_sets(records)
        every = [of for results in names for of in results]
        check_known(self.benchmarks, {of.evaluation for of in every}, "benchmark", collected.path)
        check_known(self.metrics, {of.metric for of in every}, "metric", collected.path)
        found: dict[tuple[str, str], list[_Evaluated]] = defaultdict(list)
        bare, unlike = list[str](), list[str]()
        items = _Items()
        for record, results in zip(records, names, strict=True):
            chosen = {of: name for of, name in results.items() if of.evaluation in (self.benchmarks or (of.evaluation,))
                      and of.metric in (self.metrics or (of.metric,))}
            for of, runs in _collect_runs(record, chosen, items, told=bool(self.metrics)).items():
                if runs:
                    found[chosen[of], record.model].append(_Evaluated(record, of, runs))
                    unlike += _find_difference(record.model, chosen[of], of, runs)
                else:
                    bare.append(f"{record.model} on {chosen[of]}: {of.shown}")
        if not found:
            raise InputError(f"no record has samples (*{SAMPLES} beside it) that say which score they belong to, and "
                             "scores alone cannot be tested" + (f": {_format_some(bare)}" if bare else ""),
                             path=collected.path)
        self._add_scores(found, collected)
        return collected.make_task(notes=(*notes, *_list_messages(bare, unlike, items)))

    def _add_scores(self, found: Mapping[tuple[str, str], list[_Evaluated]], collected: Collected) -> None:
        better: dict[str, Better] = {}
        for (name, model), evaluated in found.items():
            several = self._choose_runs(evaluated)
            for n, of in enumerate(several, 1):
                direction: Better = "lower" if of.result.lower else "higher"
                if better.setdefault(name, direction) != direction and self.better is None:
                    raise of.record.place.error(f"{direction} scores of {name!r} are better here, and "
                                                f"{better[name]} ones in other records; set the option 'better'")
                for run, scores in of.runs.items():
                    collected.add(name, model, f"{n}.{run}" if len(several) > 1 else run, scores, direction)

    def _choose_runs(self, evaluated: Sequence[_Evaluated]) -> list[_Evaluated]:
        """Return the imported evaluations of a model on a test set: one, or with `runs` all."""
        distinct: list[_Evaluated] = []
        for of in evaluated:
            if not any(of.record.timestamp == other.record.timestamp and _list_scores(of) == _list_scores(other)
                       for other in distinct):
                distinct.append(of)
        if len(distinct) == 1 or self.repeated == "runs":
            return distinct
        first, second = distinct[:2]
        if self.repeated == "reject":
            raise second.record.place.error(
                f"another evaluation of {second.record.model!r} on {second.result.evaluation!r} than in "
                f"{first.record.place.path}; take the latest or all as runs with --option repeated=latest or runs",
                category="duplicate")
        distinct.sort(key=lambda of: of.record.moment)
        if distinct[-1].record.moment == distinct[-2].record.moment:
            raise distinct[-1].record.place.error(
                f"as late as {distinct[-2].record.place.path}, with other scores; keep one", category="duplicate")
        return distinct[-1:]


class _Items:
    """What samples say of items: those of one name have to be the same.

    Attributes:
        unlike: The items whose inputs are not, by test set and name.
        unclear: The records whose samples do not say which of several scores they belong to.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, tuple[str, ...], Place]] = {}
        self.unlike: dict[tuple[str, str], None] = {}
        self.unclear: dict[str, None] = {}

    def check(self, test_set: str, sample: Sample) -> None:
        """Refuse an item with another reference than before, and note one with another input."""
        now = hash(sample.said), sample.reference, sample.place
        said, reference, first = self._known.setdefault((test_set, sample.item), now)
        if reference != sample.reference:
            raise sample.place.error(f"another reference than in {first.path}: this is not the same sample",
                                     sample.item, category="text")
        if said != now[0]:
            self.unlike[test_set, sample.item] = None


def _drop_copies(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """Return records without duplicates, and messages about these."""
    known: dict[str, Record] = {}
    copies = 0
    for record in records:
        first = known.setdefault(record.evaluation_id, record)
        if first is record:
            continue
        if (record.content, record.digest) != (first.content, first.digest):
            raise record.place.error(f"the evaluation {record.evaluation_id[:100]!r} with other content than in "
                                     f"{first.place.path}; keep one", category="duplicate")
        copies += 1
    said = counted(copies, "record is there twice, and taken once", "records are there twice, and taken once")
    return list(known.values()), [said] * (copies > 0)


def _name_test_sets(records: Sequence[Record]) -> list[dict[Result, str]]:
    """Name the test set of every result: evaluation and metric, and whatever else distinguishes two."""
    sources: dict[str, set[tuple[str, str]]] = defaultdict(set)
    several: set[tuple[str, str]] = set()
    for record in records:
        kinds = [(of.evaluation, of.dataset, of.split, of.metric) for of in record.results]
        several |= {(of[0], of[3]) for of in kinds if kinds.count(of) > 1}
        for of in record.results:
            sources[of.evaluation].add((of.dataset, of.split))
    names = []
    for record in records:
        named: dict[str, Result] = {}
        for of in record.results:
            source = (of.dataset, of.split) if len(sources[of.evaluation]) > 1 else ()
            parameters = of.parameters if (of.evaluation, of.metric) in several else ""
            name = ".".join(filter(None, (of.evaluation, *source, of.metric, parameters)))
            if name in named:
                raise record.place.error(f"two scores of {name!r}, which nothing tells apart", category="duplicate")
            named[name] = of
        names.append({of: name for name, of in named.items()})
    return names


def _collect_runs(record: Record, chosen: Mapping[Result, str], items: _Items, *, told: bool) -> dict[Result, Runs]:
    """Return the scores of samples by result and run.

    A sample that does not say which of several it belongs to belongs to the one that is chosen, if the user has `told`.
    """
    found: dict[Result, Runs] = {of: defaultdict(dict) for of in chosen}
    for sample in record.read_samples():
        meant = record.find_results(sample)
        if told and len(meant) > 1:
            meant = tuple(of for of in meant if of in found)
        if len(meant) > 1 and not found.keys().isdisjoint(meant):
            items.unclear[record.place.path] = None
        if len(meant) != 1 or (of := meant[0]) not in found:
            continue
        run = found[of][sample.run]
        if sample.item in run:
            raise make_duplicate_error(sample.item, sample.place, run[sample.item][1])
        items.check(chosen[of], sample)
        run[sample.item] = (None if of.unknown and sample.score == -1 else sample.score, sample.place)
    return found


def _list_scores(of: _Evaluated) -> dict[str, dict[str, object]]:
    return {run: {item: score for item, (score, _) in scores.items()} for run, scores in of.runs.items()}


def _find_difference(model: str, name: str, of: Result, runs: Runs) -> list[str]:
    """Return how the mean of samples differs from the record's score, as a share or in percent."""
    scores = [score for run in runs.values() for score, _ in run.values() if isinstance(score, float)]
    own = compute_mean(scores) if scores else math.nan
    if any(math.isclose(of.score, own * scale, rel_tol=_ALMOST, abs_tol=_ALMOST) for scale in (1, 100)):
        return []
    return [f"{model} on {name}: {own:.6g}, not {of.score:.6g}"]


def _list_messages(bare: Sequence[str], unlike: Sequence[str], items: _Items) -> list[str]:
    told = []
    if bare:
        told.append(f"{counted(len(bare), 'score has', 'scores have')} no samples, and cannot be tested: "
                    f"{_format_some(bare)}")
    if unlike:
        told.append(f"{counted(len(unlike), 'score is', 'scores are')} not the mean of the samples' ones, which is "
                    f"what is compared: {_format_some(unlike)}")
    if items.unclear:
        told.append(f"samples of {counted(len(items.unclear), 'record')} do not say by 'evaluation_result_id' which of "
                    f"several scores they belong to, and are passed over: {_format_some(list(items.unclear))}")
    if items.unlike:
        test_set, item = next(iter(items.unlike))
        told.append(f"{counted(len(items.unlike), 'sample has', 'samples have')} another input for some models (or "
                    f"another prompt around it), such as {item!r} in {test_set!r}")
    return told


def _format_some(told: Sequence[str]) -> str:
    more = len(told) - _SHOWN
    return "; ".join(told[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
