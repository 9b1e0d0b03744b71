"""Importer of records of Every Eval Ever.

A record (github.com/evaleval/every_eval_ever) is a JSON file with the total scores of one model. A file of samples next
to the record has one line per item and metric. Scores without samples cannot be compared, so that the importer ignores
them with a warning. Records and samples are untrusted: the importer reads samples only from the record's folder, and
checks that they match the record.

This program can write such records too. Data for which the format has no field are then stored as JSON text in
`additional_details` and `metadata`. A record with the detail `TASK` was written by this program. If its samples contain
statistics (`STATISTICS`), the importer restores the original task with the same leaderboards: the metric `Recorded`
scores the stored statistics; labels, numbers and single answers restore the other metrics.
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

from registry.errors import InputError, counted, listed
from registry.importers.base import (
    Better,
    Place,
    Repeated,
    Run,
    ScoreCollection,
    ScoredImporter,
    Sources,
    add_score,
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
from registry.manifest.folder import TaskFolder, json_lines
from registry.manifest.patterns import FACTORS
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.readers import Document
from registry.significance import TESTS
from registry.submission_fields import SUBMISSION_FIELDS
from registry.values import parse, to_toml

SCHEMA = "0.3.0"
LIBRARY = "evalregistry"  # name of the evaluation library in records that this program wrote
SAMPLES = "_samples.jsonl"  # appended to the name of an aggregate record

# Details of the library: the task as in a manifest, the test set, the submission, and the contents of samples.
TASK, TEST_SET, SUBMISSION, LAYOUT = "task", "test_set", "submission", "layout"
# Metadata of a sample: run, attributes of the item, statistics of the metric, and answers with key, type and score.
RUN, ATTRIBUTES, STATISTICS, GOLD, ANSWERS = "run", "attributes", "statistics", "gold_answers", "answers"
UNDEFINED = "undefined"  # metadata of a sample that has no score
EPOCH = "epoch"  # another name of a run

Layout = Literal["statistics", "labels", "scores", "answers"]


_HASHES = {"sha256": hashlib.sha256, "md5": hashlib.md5}


@dataclass(frozen=True)
class Result:
    """Total score of a model by one metric on one benchmark.

    Attributes:
        id: Identifier by which samples refer to this score; None if the record has none.
        evaluation: Name of the benchmark.
        dataset: Name of the data set.
        split: Split of the data set.
        metric: Id or name of the metric.
        parameters: Parameters of the metric.
        lower: True if lower scores are better.
        has_unknown: True if the score -1 of a sample means that it has no score.
        score: Score of the model on all samples.
        interval: Confidence limits of the score; None if the record has none.
    """

    id: str | None
    evaluation: str
    dataset: str
    split: str
    metric: str
    parameters: str
    lower: bool
    has_unknown: bool
    score: float
    interval: tuple[float, float] | None

    @property
    def formatted_score(self) -> str:
        """Score as text, with its confidence interval if known: "0.5 [0.4, 0.6]"."""
        return f"{self.score:.6g}" + ("" if self.interval is None else " [{:.6g}, {:.6g}]".format(*self.interval))


@dataclass(frozen=True)
class Sample:
    """One line of a file of samples: the score of one item by one metric.

    Attributes:
        place: File and line of the sample.
        item: Name of the item.
        result_id: Identifier of the total score (`Result`) to which the sample belongs; None if the line has none.
        evaluation: Name of the benchmark.
        run: Name of the run.
        score: Score of the item; None if it has no score.
        prompt: Input of the model.
        reference: Correct answers.
        metadata: Further texts, by key.
    """

    place: Place
    item: str
    result_id: str | None
    evaluation: str
    run: str
    score: float | None
    prompt: str
    reference: tuple[str, ...]
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class Record:
    """Record of one evaluation: the total scores of one model.

    The samples are not stored here, because the samples of all records may not fit into memory.

    Attributes:
        place: Path of the record's file.
        evaluation_id: Identifier of the evaluation.
        model: Developer and name of the model.
        timestamp: Time of the evaluation, as the record writes it.
        results: Scores of the model.
        details: Description of the original task if this program wrote the record; else empty.
        content: The record as normalized JSON.
        samples: Path of the file of samples; None if the record has none.
        digest: Digest of the file of samples; None if the record has none.
    """

    place: Place
    evaluation_id: str
    model: str
    timestamp: str
    results: tuple[Result, ...]
    details: Mapping[str, str]
    content: str = field(repr=False)
    samples: Path | None
    digest: str | None

    @property
    def seconds(self) -> float:
        """Time of the evaluation, in seconds since 1970.

        Raises:
            InputError: The record has no valid time.
        """
        try:
            return float(self.timestamp)
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(self.timestamp)
            return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        except (ValueError, OverflowError):
            raise self.place.error(f"the time is {self.timestamp[:40]!r}; expected seconds since 1970, or a time in "
                                   "ISO 8601") from None

    def read_samples(self) -> Iterator[Sample]:
        """Yield the samples (scores of single items) that belong to this record.

        Raises:
            InputError: A line is not a sample of this record, or the file has changed during the import.
        """
        if self.samples is None:
            return
        document = Document.load(self.samples)
        if document.digest != self.digest:
            raise document.error("the file changed during the import; import it again")
        for entry, place in read_objects(document):
            yield self._read_sample(entry, place)

    def _read_sample(self, entry: dict[str, Any], place: Place) -> Sample:
        item = get_member(entry, "sample_id", kind=str, place=place)
        if not is_encodable(item):
            raise place.error("'sample_id' has half of a character (a lone surrogate)")
        for key, expected in (("evaluation_id", self.evaluation_id), ("model_id", self.model)):
            if (value := get_member(entry, key, kind=str, place=place)) != expected:
                raise place.error(f"{key!r} is {value[:60]!r}, but {expected[:60]!r} in the record; the samples "
                                  "belong to another record", item)
        metadata = _read_texts(entry.get("metadata"), "metadata", place)
        reference = get_member(entry, "input", "reference", kind=list, place=place)
        if not all(isinstance(text, str) for text in reference):
            raise place.error("'input.reference' is not a list of text", item)
        score = to_score(get_member(entry, "evaluation", "score", kind=(int, float), place=place))
        if score is None:
            raise place.error("'evaluation.score' is not a finite number", item)
        result_id = entry.get("evaluation_result_id")
        if not isinstance(result_id, str | None):
            raise place.error("'evaluation_result_id' is not text", item)
        return Sample(
            place, item, result_id, get_member(entry, "evaluation_name", kind=str, place=place),
            metadata.get(RUN, metadata.get(EPOCH, "1")), None if entry.get("error") is not None else score,
            get_member(entry, "input", "raw", kind=str, place=place), tuple(reference), metadata)

    def find_results(self, sample: Sample) -> tuple[Result, ...]:
        """Return the total scores of this record to which a sample may belong.

        A sample names its total score by `result_id`, or names only the benchmark. If several total scores are
        returned, the sample is ambiguous.
        """
        if sample.result_id is not None and any(result.id is not None for result in self.results):
            return tuple(result for result in self.results if result.id == sample.result_id)
        return tuple(result for result in self.results if result.evaluation == sample.evaluation) or self.results


def read_record(path: Path, sources: Sources) -> Record:
    """Read a model's total scores from a JSON file, and load its file of samples.

    A record without a file of samples is valid.

    Raises:
        InputError: The file is not a record, or the samples do not match the record.
    """
    entry, place = sources.load_json(path)
    evaluation_id = get_member(entry, "evaluation_id", kind=str, place=place)
    model = _format_model(get_member(entry, "model_info", kind=dict, place=place), place)
    time = entry.get("evaluation_timestamp") or get_member(entry, "retrieved_timestamp", kind=str, place=place)
    results = get_member(entry, "evaluation_results", kind=list, place=place)
    if not isinstance(time, str):
        raise place.error("'evaluation_timestamp' is not text")
    samples = _load_samples(path, entry.get("detailed_evaluation_results"), place, sources)
    library, details = entry.get("eval_library"), dict[str, str]()
    if isinstance(library, dict) and library.get("name") == LIBRARY:
        details = _read_texts(library.get("additional_details"), "additional_details", place)
    content = {key: value for key, value in entry.items() if key != "retrieved_timestamp"}
    return Record(place, evaluation_id, model, time, tuple(_read_result(result, place) for result in results), details,
                  json.dumps(content, sort_keys=True), None if samples is None else Path(samples.path),
                  None if samples is None else samples.digest)


def _format_model(entry: dict[str, Any], place: Place) -> str:
    name = get_member(entry, "id", kind=str, place=place)
    developer = entry.get("developer")
    return name if "/" in name or not isinstance(developer, str) or not developer.strip() else f"{developer}/{name}"


def _read_result(entry: Any, place: Place) -> Result:
    config = get_member(entry, "metric_config", kind=dict, place=place)
    source = get_member(entry, "source_data", kind=dict, place=place)
    score = to_score(get_member(entry, "score_details", "score", kind=(int, float), place=place))
    if score is None:
        raise place.error("'score_details.score' is not a finite number")
    texts = {key: value for key, value in (
        ("id", entry.get("evaluation_result_id")), ("split", source.get("hf_split")),
        ("metric_id", config.get("metric_id")), ("metric_name", config.get("metric_name"))) if value is not None}
    if wrong := [key for key, value in texts.items() if not isinstance(value, str)]:
        raise place.error(f"{wrong[0]!r} of a result is not text")
    parameters = config.get("metric_parameters") or {}
    if not isinstance(parameters, dict):
        raise place.error("'metric_parameters' is not an object")
    return Result(
        texts.get("id"), get_member(entry, "evaluation_name", kind=str, place=place),
        get_member(source, "dataset_name", kind=str, place=place), texts.get("split", ""),
        texts.get("metric_id") or texts.get("metric_name") or "score",
        ".".join(f"{key}-{value}" for key, value in sorted(parameters.items())),
        get_member(config, "lower_is_better", kind=bool, place=place), config.get("has_unknown_level") is True, score,
        _read_interval(entry["score_details"]))


def _read_interval(details: dict[str, Any]) -> tuple[float, float] | None:
    uncertainty = details.get("uncertainty")
    interval = uncertainty.get("confidence_interval") if isinstance(uncertainty, dict) else None
    if not isinstance(interval, dict):
        return None
    lower, upper = to_score(interval.get("lower")), to_score(interval.get("upper"))
    return None if lower is None or upper is None else (lower, upper)


def _read_texts(value: Any, key: str, place: Place) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise place.error(f"{key!r} has a value that is not text")
    return value


def _load_samples(record: Path, description: Any, place: Place, sources: Sources) -> Document | None:
    """Load a record's file of samples, and check its digest and number of lines.

    Args:
        record: Path of the record.
        description: The record's description of the file of samples; None if the record has none.
        place: Path of the record, for errors.
        sources: Loader of files.

    Returns:
        The file of samples; None if it is not in the record's folder.
    """
    file = record.with_name(record.name.removesuffix(".json") + SAMPLES)
    if description is not None:
        name = PurePosixPath(get_member(description, "file_path", kind=str, place=place)).name
        file = file if file.is_file() or not name else record.with_name(name)
    if not file.is_file() or file == record:
        return None
    if file.is_symlink() and not file.resolve().is_relative_to(record.parent.resolve()):
        raise InputError("this link points to a file outside the folder; copy the file into the folder", path=file)
    document = sources.load(file)
    if not isinstance(description, dict):
        return document
    algorithm, checksum, rows = (description.get(key) for key in ("hash_algorithm", "checksum", "total_rows"))
    if isinstance(checksum, str) and algorithm in _HASHES and (
            digest := _HASHES[algorithm](document.content).hexdigest()) != checksum.lower():
        raise InputError(f"the {algorithm} of the file is {digest}, but {checksum[:70]!r} in the record {place.path}; "
                         "get the original file", path=file)
    if isinstance(rows, int) and (lines := sum(bool(text.strip()) for _, text in document.lines())) != rows:
        raise InputError(f"the file has {lines} lines, but {rows} in the record {place.path}; get the original file",
                         path=file)
    return document


Rows = dict[str, dict[str, Any]]  # by item

_LEVEL = re.compile(r"[A-Za-z0-9_-]{1,60}")  # valid in file names


class Declaration:
    """Description of an exported task, from a record that this program wrote.

    Attributes:
        layout: Kind of data in the samples from which the task is restored: `statistics`, `labels`, `scores` or
            `answers`.
        metrics: Metrics of the task, by id. For a metric `Recorded` (which stores the statistics of another metric), it
            is the other metric.
        columns: Maps the id of each metric to the names of its statistics.
        main_alias: Id of the metric whose samples contain all data that the layout needs.
    """

    def __init__(self, record: Record) -> None:
        self.place = record.place
        self.layout = record.details.get(LAYOUT, "")
        kinds: dict[str, Any] = {
            "statistics": Metric, "labels": ConfusionMetric, "scores": CorrelationMetric, "answers": Metric}
        if self.layout not in kinds:
            raise self.place.error(f"{LAYOUT!r} of the task is {self.layout[:60]!r}; expected {', '.join(kinds)}")
        self.task = parse_json_text(record.details[TASK], self.place.path)
        self.id = self.get_field("id", str)
        self.test_sets = {get_member(test_set, "name", kind=str, place=self.place): test_set
                          for test_set in self.get_field("test_sets", list)}
        self.metrics = self._read_metrics()
        self.columns = {alias: [f"{alias}:{column}" for column in metric.used_columns]
                        for alias, metric in self.metrics.items()}
        suitable = [alias for alias, metric in self.metrics.items() if isinstance(metric, kinds[self.layout])]
        if not suitable:
            raise self.place.error(f"no metric of the task can score {self.layout}")
        self.main_alias = suitable[0]

    def get_field(self, key: str, kind: type) -> Any:
        """Return a field of the task's description, such as "title".

        Raises:
            InputError: The field is absent, or not of type `kind`.
        """
        return get_member(self.task, key, kind=kind, place=self.place)

    def _read_metrics(self) -> dict[str, Metric]:
        metrics = {}
        for entry in self.get_field("metrics", list):
            alias, name = (get_member(entry, key, kind=str, place=self.place) for key in ("id", "name"))
            try:
                metrics[alias] = parse("metric", METRICS, name).original
            except InputError as error:
                raise self.place.error(str(error)) from None
        return metrics


@dataclass
class RestoredTestSet:
    """Data of a test set that is being restored from exported records.

    Attributes:
        items: Maps each item to its row in the file of items.
        submits: `[[submit]]` tables of the task manifest, one per submission.
        files: Maps the path of each submission's file to its content.
    """

    items: Rows = field(default_factory=dict)
    submits: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass
class SubmissionReader:
    """Reader that restores one submission from an exported record.

    Attributes:
        declaration: Description of the exported task.
        record: The record.
        test_set: Name of the test set.
        target: Restored test set, to which the reader adds items, files and the submission.
        runs: Rows of the submission's files, by run and item.
    """

    declaration: Declaration
    record: Record
    test_set: str
    target: RestoredTestSet
    runs: dict[str, Rows] = field(default_factory=dict)

    def read(self) -> None:
        """Read the record's samples into `runs`, and their items into `target`.

        Raises:
            InputError: A sample's score is not declared in its task, a sample occurs twice, or no sample has the main
                metric (`main_alias`).
        """
        main_result = f"{self.test_set}.{self.declaration.main_alias}"
        aliases = {f"{self.test_set}.{alias}": alias for alias in self.declaration.columns}
        keys: set[tuple[str, str, str]] = set()
        for sample in self.record.read_samples():
            alias = aliases.get(sample.result_id or "")
            if alias is None:
                raise sample.place.error(f"{str(sample.result_id)[:60]!r} is not a score of this task", sample.item)
            if (key := (alias, sample.run, sample.item)) in keys:
                raise make_duplicate_error(sample.item, sample.place, sample.place)
            keys.add(key)
            if self.declaration.layout != "statistics" and sample.result_id != main_result:
                continue
            row = self.runs.setdefault(sample.run, {}).setdefault(sample.item, {"item": sample.item})
            self._read_answer(sample, alias, row, self._read_item(sample))
        if not self.runs:
            raise self.record.place.error(f"no sample has the score {main_result!r}, so the items cannot be restored")

    def _read_item(self, sample: Sample) -> dict[str, Any]:
        attributes = _get_nested(sample, ATTRIBUTES, "{}")
        if not isinstance(attributes, dict) or not all(isinstance(value, str) for value in attributes.values()):
            raise sample.place.error(f"{ATTRIBUTES!r} is not an object whose values are text", sample.item)
        if self.declaration.layout == "answers":
            new = {"item": sample.item, "answers": _list_answers(sample, GOLD), "attributes": attributes}
        else:
            new = {**{key: value for key, value in attributes.items() if key not in ("item", "label", "gold")},
                   "item": sample.item}
        item = self.target.items.setdefault(sample.item, new)
        if any(item.get(key) != value for key, value in new.items()):
            raise sample.place.error("the attributes or the gold differ from those in an earlier record", sample.item)
        return item

    def _read_answer(self, sample: Sample, alias: str, row: dict[str, Any], item: dict[str, Any]) -> None:
        """Copy the answer from a sample to `row`, and the gold answer to `item`.

        Args:
            sample: The sample.
            alias: Id of the sample's metric.
            row: Row of the submission's file.
            item: Row of the file of items.
        """
        if self.declaration.layout == "statistics":
            columns = self.declaration.columns[alias]
            statistics = [to_score(value) for value in _get_list(sample, STATISTICS, len(columns))]
            if None in statistics:
                raise sample.place.error(f"{STATISTICS!r} has a value that is not a finite number", sample.item)
            row |= zip(columns, statistics, strict=True)
        elif self.declaration.layout == "labels":
            gold, predicted = _get_list(sample, STATISTICS, 2)
            if not isinstance(gold, str) or not isinstance(predicted, str | None):
                raise sample.place.error(f"{STATISTICS!r} must be a list of two labels: the gold label and the "
                                         "system's label", sample.item)
            self._set_gold(sample, item, "label", gold)
            row["label"] = predicted
        elif self.declaration.layout == "scores":
            score, gold_score = map(to_score, _get_list(sample, STATISTICS, 2))
            if score is None or gold_score is None:
                raise sample.place.error(f"{STATISTICS!r} must be a list of two finite numbers", sample.item)
            self._set_gold(sample, item, "gold", gold_score)
            row["score"] = score
        else:
            row["answers"] = _list_answers(sample, ANSWERS)

    def _set_gold(self, sample: Sample, item: dict[str, Any], key: str, value: Any) -> None:
        if item.setdefault(key, value) != value:
            raise sample.place.error(f"the gold is {value!r}, but {item[key]!r} in an earlier record", sample.item)

    @cached_property
    def submission(self) -> dict[str, Any]:
        """Properties of the submission in the record, such as team and system."""
        facts = parse_json_text(self.record.details.get(SUBMISSION, ""), self.record.place.path)
        if not isinstance(facts, dict):
            raise self.record.place.error(f"{SUBMISSION!r} is not an object")
        return facts

    @cached_property
    def name(self) -> tuple[str, str, str]:
        """Team, system and version of the submission."""
        place = self.record.place
        return (get_member(self.submission, "team", kind=str, place=place),
                get_member(self.submission, "system", kind=str, place=place),
                get_member({"version": "1", **self.submission}, "version", kind=str, place=place))

    def write(self, prefix: str) -> None:
        """Add the submission to the restored test set.

        This adds one file per run, and the table `[[submit]]` of the manifest.

        Args:
            prefix: Beginning of the file names, which makes them unique among all submissions.
        """
        facts, (team, system, _) = self.submission, self.name
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", system)[:60]
        stem, pattern, endings = f"{self.test_set}/systems/{prefix}-{name}", "", [""]
        if len(self.runs) > 1:
            pattern, endings = _name_runs(facts.get("factors"), len(self.runs), self.record.place)
        for ending, rows in zip(endings, self.runs.values(), strict=True):
            self.target.files[f"{stem}{ending}.jsonl"] = json_lines(
                row for row in rows.values() if row.get("label", "") is not None)
        policy = facts.get("missing")
        if policy not in ("drop", "own") and not (policy == "worst" and self.declaration.layout == "labels"):
            policy = "reject"
        self.target.submits.append({
            "file": f"{stem}{pattern}.jsonl", "team": team, "system": system, "test_set": self.test_set,
            "missing": policy,
            **{field.name: facts[field.name] for field in SUBMISSION_FIELDS
               if field.is_released and field.declared_by != "task" and facts.get(field.name)}})


def _name_runs(factors: Any, n_runs: int, place: Place) -> tuple[str, list[str]]:
    """Name the files of a system's runs; return a pattern and the names.

    For example, factors `[{"seed": "1"}, {"seed": "2"}]` give "/{seed}" and `["/1", "/2"]`.

    Args:
        factors: Properties that distinguish the runs; empty to number the runs.
        n_runs: Number of runs.
        place: Path of the record, for errors.
    """
    if not factors:
        return "/{run}", [f"/{n}" for n in range(1, n_runs + 1)]
    if not isinstance(factors, list) or len(factors) != n_runs or not all(
            isinstance(levels, dict) and levels and levels.keys() == factors[0].keys() <= set(FACTORS)
            and all(isinstance(level, str) and _LEVEL.fullmatch(level) for level in levels.values())
            for levels in factors):
        raise place.error("'factors' does not name the factors that distinguish the runs")
    names = list(factors[0])
    pattern = "/" + ".".join(f"{{{name}}}" for name in names)
    return pattern, ["/" + ".".join(levels[name] for name in names) for levels in factors]


def _get_nested(sample: Sample, key: str, default: str = "null") -> Any:
    """Parse JSON text in the metadata of a sample.

    Args:
        sample: The sample.
        key: Key in the metadata.
        default: JSON text that is parsed if the key is absent.

    Raises:
        InputError: The text is not JSON, or contains half of a character (a lone surrogate).
    """
    value = parse_json_text(sample.metadata.get(key, default), sample.place.path)
    if not is_encodable(value):
        raise sample.place.error(f"{key!r} has half of a character (a lone surrogate)", sample.item)
    return value


def _get_list(sample: Sample, key: str, length: int) -> list[Any]:
    values = _get_nested(sample, key)
    if not isinstance(values, list) or len(values) != length:
        raise sample.place.error(f"{key!r} is not a list of {length} values", sample.item)
    return values


def _list_answers(sample: Sample, key: str) -> list[dict[str, Any]]:
    answers = _get_nested(sample, key)
    if not isinstance(answers, list) or not all(
            isinstance(answer, list) and len(answer) == 3 and all(isinstance(text, str) for text in answer[:2])
            and (answer[2] is None or to_score(answer[2]) is not None) for answer in answers):
        raise sample.place.error(f"{key!r} is not a list of answers with key, type and score", sample.item)
    return [{"key": name, **({"type": type_} if type_ else {}), **({} if score is None else {"score": score})}
            for name, type_, score in answers]


_BOARD = ("rank_baselines", "rank_late", "ranks")  # not the embargoes, which organisers must declare again


def restore_task(records: Sequence[Record], digests: Mapping[str, str], notes: Sequence[str]) -> TaskFolder:
    """Restore a task from the records to which this program exported it.

    Args:
        records: The records, all of the same task.
        digests: Maps the name of each loaded file to its digest.
        notes: Earlier messages for the user.

    Raises:
        InputError: A record does not describe its task, or has no valid samples.
    """
    declaration = Declaration(records[0])
    restored: dict[str, RestoredTestSet] = {}
    submissions: dict[tuple[str, ...], Record] = {}
    for n, record in enumerate(records, 1):
        test_set = record.details.get(TEST_SET, "")
        if test_set not in declaration.test_sets:
            raise record.place.error(f"the test set {test_set[:60]!r} does not belong to the task of this record")
        if record.samples is None:
            raise record.place.error(f"the file of samples (*{SAMPLES}) is missing, so the leaderboard cannot be "
                                     "restored; put the file next to this record")
        reader = SubmissionReader(declaration, record, test_set, restored.setdefault(test_set, RestoredTestSet()))
        reader.read()
        team, system, version = reader.name
        if (first := submissions.setdefault((test_set, team, system, version), record)) is not record:
            raise record.place.error(f"this is a second record of {team}/{system}@{version}, after {first.place.path}; "
                                     "import the records of only one export", category="duplicate")
        reader.write(f"{n:0{len(str(len(records)))}}")
    tables, messages = _make_tables(declaration, restored)
    files = {f"{name}/items.jsonl": json_lines(test_set.items.values()) for name, test_set in restored.items()}
    for restored_set in restored.values():
        files |= restored_set.files
    return TaskFolder(tables, files, digests, (*notes, *messages))


def _make_tables(declaration: Declaration,
                 restored: Mapping[str, RestoredTestSet]) -> tuple[dict[str, Any], list[str]]:
    """Make the manifest of a restored task (TOML tables), and messages for users."""
    significance, messages = _make_significance(declaration)
    tables: dict[str, Any] = {
        "task": {key: declaration.get_field(key, str) for key in ("title", "version")},
        "test_set": [_make_test_set(declaration, name, restored[name])
                     for name in declaration.test_sets if name in restored],
        "metric": [_make_metric(declaration, metric) for metric in declaration.get_field("metrics", list)],
        "significance": significance,
        "board": {key: value for key, value in declaration.get_field("board", dict).items()
                  if key in _BOARD and value is not None},
        "submit": [submit for test_set in restored.values() for submit in test_set.submits],
    }
    try:
        Manifest.model_validate({"manifest": 1, **tables, "task": {"id": "task", **tables["task"]}})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise declaration.place.error(f"the task cannot be restored: {key}: {first['msg'][:300]}") from None
    return tables, messages


def _make_significance(declaration: Declaration) -> tuple[dict[str, Any], list[str]]:
    """Make the settings of significance tests of a restored task, with messages.

    The exported task's id is removed from names of leaderboards, because the restored task has another id.
    """
    settings = {key: value for key, value in declaration.get_field("significance", dict).items() if value is not None}
    if isinstance(family := settings.get("family"), list):
        settings["family"] = [str(name).removeprefix(f"{declaration.id}/") for name in family]
    try:
        test = parse("test", TESTS, get_member(settings, "test", kind=str, place=declaration.place))
    except InputError as error:
        raise declaration.place.error(str(error)) from None
    if test.units[0] != "response" or declaration.layout == "answers":
        return settings, []
    return {key: value for key, value in settings.items() if key not in ("test", "unit")}, [
        f"the records have no single answers, which the test {test!r} needs; the default test is used instead"]


def _make_test_set(declaration: Declaration, name: str, restored: RestoredTestSet) -> dict[str, Any]:
    shared = [key for key in next(iter(restored.items.values()), {}) if key not in ("item", "label", "gold", "answers")
              and all(key in row for row in restored.items.values())]
    formats: dict[str, tuple[str, dict[str, Any]]] = {
        "labels": ("labels", {"syntax": "jsonl"}),
        "scores": ("scores", {"syntax": "jsonl", "gold": "gold", "attributes": shared}),
        "answers": ("responses", {}),
        "statistics": ("statistics", {
            "syntax": "jsonl", "attributes": shared,
            "statistics": [column for columns in declaration.columns.values() for column in columns]}),
    }
    format_, options = formats[declaration.layout]
    declared = declaration.test_sets[name]
    return {"name": name, "gold": f"{name}/items.jsonl", "format": format_, "options": options,
            **{key: declared[key] for key in ("cluster", "facets") if declared.get(key)}}


def _make_metric(declaration: Declaration, entry: Any) -> dict[str, Any]:
    """Make the declaration of a metric of a restored task.

    If the samples have only statistics, the metric is `Recorded`, which computes scores from stored statistics.

    Args:
        declaration: Description of the exported task.
        entry: Description of the metric.
    """
    alias = entry["id"]
    metric = declaration.metrics[alias]
    if declaration.layout == "statistics":
        name, options = "Recorded", {"of": repr(metric), "columns": declaration.columns[alias]}
    else:
        name = metric.name
        options = {option.name: to_toml(value) for option in fields(metric)
                   if (value := getattr(metric, option.name)) is not None}
    primary = {"primary": True} if entry.get("primary") is True else {}
    texts = {key: entry[key] for key in ("title", "decimals") if entry.get(key) is not None}
    return {"id": alias, "name": name, "options": options, **primary, **texts}


_MOST_EXAMPLES = 10  # number of examples in one message
_MEAN_TOLERANCE = 1e-6  # relative difference of a score from the mean of its samples

Runs = dict[str, Run]


class _Evaluation(NamedTuple):
    record: Record
    result: Result
    runs: Runs

    def list_scores(self) -> dict[str, dict[str, object]]:
        """Return the scores of items as nested dicts: run -> item -> score."""
        return {run: {item: score for item, (score, _) in scores.items()} for run, scores in self.runs.items()}


class EveryEvalEver(ScoredImporter):
    """Every Eval Ever, a shared format of scores: JSON records and files of samples.

    A record has the total scores of a model; a file of samples has the score of each item. This importer makes a test
    set for each pair of benchmark and metric, from the samples.

    Attributes:
        benchmarks: Names of the evaluations to import; empty for all.
        metrics: Ids of the metrics to import (their names, if they have no id); empty for all.
        repeated: Treatment of several records of one model and benchmark: `reject` them, import the `latest`, or import
            all as `runs`.
    """

    name = "every-eval-ever"

    benchmarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    repeated: Repeated = "reject"

    def read(self, path: Path) -> TaskFolder:
        """Convert records into a task with one test set per benchmark and metric.

        If this program exported all records from one task, restore that task instead.
        """
        collection = ScoreCollection(path, self.missing, self.better)
        records, notes = _drop_copies([
            read_record(file, collection)
            for file in find_files(path, lambda name: name.endswith(".json"), "record (*.json)")])
        tasks = {record.details.get(TASK, "") for record in records}
        if len(tasks) == 1 and "" not in tasks and any(record.samples for record in records) and not (
                self.benchmarks or self.metrics or self.better):
            return restore_task(records, collection.digests, notes)
        if tasks - {""}:
            notes.append("the records do not make one complete task of a registry, so the statistics of their metrics "
                         "are ignored; to restore leaderboards, import all records of one task, and no others")
        return self._import_scores(records, collection, notes)

    def _import_scores(self, records: Sequence[Record], collection: ScoreCollection, notes: list[str]) -> TaskFolder:
        names = _name_test_sets(records)
        results = [result for record in records for result in record.results]
        check_known(self.benchmarks, {result.evaluation for result in results}, "benchmark", collection.path)
        check_known(self.metrics, {result.metric for result in results}, "metric", collection.path)
        evaluations: dict[tuple[str, str], list[_Evaluation]] = defaultdict(list)
        report = _ImportReport()
        for record, test_sets in zip(records, names, strict=True):
            selected = {result: test_set for result, test_set in test_sets.items()
                        if (not self.benchmarks or result.evaluation in self.benchmarks)
                        and (not self.metrics or result.metric in self.metrics)}
            for result, runs in self._read_runs(record, selected, report).items():
                test_set = selected[result]
                if runs:
                    evaluations[test_set, record.model].append(_Evaluation(record, result, runs))
                    report.compare_mean(record.model, test_set, result, runs)
                else:
                    report.untestable.append(f"{record.model} on {test_set}: {result.formatted_score}")
        if not evaluations:
            examples = f": {listed(report.untestable, _MOST_EXAMPLES, '; ')}" if report.untestable else ""
            raise InputError(f"no record has samples (*{SAMPLES} next to it) that name their score; scores without "
                             f"samples cannot be tested{examples}", path=collection.path)
        self._add_evaluations(evaluations, collection)
        return collection.make_task(notes=(*notes, *report.make_notes()))

    def _read_runs(self, record: Record, selected: Mapping[Result, str], report: _ImportReport) -> dict[Result, Runs]:
        """Return the scores of a record's samples as nested dicts: result, run, item.

        A sample that fits several total scores (results) is ignored, unless the user selects only one of these results.

        Args:
            record: The record.
            selected: Maps each imported result to the name of its test set.
            report: Collects ambiguous samples and items whose input differs between models.
        """
        results: dict[Result, Runs] = {result: defaultdict(dict) for result in selected}
        for sample in record.read_samples():
            candidates = record.find_results(sample)
            if self.metrics and len(candidates) > 1:
                candidates = tuple(result for result in candidates if result in selected)
            if len(candidates) > 1 and not selected.keys().isdisjoint(candidates):
                report.ambiguous[record.place.path] = None
            if len(candidates) != 1 or (result := candidates[0]) not in selected:
                continue
            score = None if result.has_unknown and sample.score == -1 else sample.score
            add_score(results[result][sample.run], sample.item, score, sample.place)
            report.check_item(selected[result], sample)
        return results

    def _add_evaluations(self, evaluations: Mapping[tuple[str, str], list[_Evaluation]],
                         collection: ScoreCollection) -> None:
        directions: dict[str, Better] = {}
        for (test_set, model), candidates in evaluations.items():
            selected = self._select_evaluations(candidates)
            for n, evaluation in enumerate(selected, 1):
                better: Better = "lower" if evaluation.result.lower else "higher"
                if directions.setdefault(test_set, better) != better and self.better is None:
                    raise evaluation.record.place.error(
                        f"{better} scores of {test_set!r} are better here, but {directions[test_set]} scores in other "
                        "records; add --option better=higher or better=lower")
                for run, scores in evaluation.runs.items():
                    collection.add_run(test_set, model, f"{n}.{run}" if len(selected) > 1 else run, scores, better)

    def _select_evaluations(self, candidates: Sequence[_Evaluation]) -> list[_Evaluation]:
        """Select the evaluations to import if a model has several on the same test set.

        Returns:
            One evaluation; all different evaluations if the option `repeated` is `runs`.

        Raises:
            InputError: The evaluations differ and `repeated` is `reject`, or the two latest have the same time.
        """
        distinct: list[_Evaluation] = []
        for candidate in candidates:
            if not any(candidate.record.timestamp == other.record.timestamp
                       and candidate.list_scores() == other.list_scores() for other in distinct):
                distinct.append(candidate)
        if len(distinct) == 1 or self.repeated == "runs":
            return distinct
        first, second = distinct[:2]
        if self.repeated == "reject":
            raise second.record.place.error(
                f"this is a second evaluation of {second.record.model!r} on {second.result.evaluation!r}, after "
                f"{first.record.place.path}; add --option repeated=latest to import only the latest, or repeated=runs "
                "to import all as runs", category="duplicate")
        distinct.sort(key=lambda evaluation: evaluation.record.seconds)
        if distinct[-1].record.seconds == distinct[-2].record.seconds:
            raise distinct[-1].record.place.error(
                f"this record has the same time as {distinct[-2].record.place.path}, but other scores; keep one of "
                "the two",
                category="duplicate")
        return distinct[-1:]


@dataclass
class _ImportReport:
    """Problems that are found while records are imported.

    Attributes:
        untestable: Descriptions of total scores without samples.
        different: Descriptions of total scores that differ from the mean of their samples.
        ambiguous: Paths of records with samples that fit several total scores, as keys.
        changed: Pairs of test set and item whose input differs between models, as keys.
    """

    untestable: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    ambiguous: dict[str, None] = field(default_factory=dict)
    changed: dict[tuple[str, str], None] = field(default_factory=dict)
    _items: dict[tuple[str, str], tuple[int, tuple[str, ...], Place]] = field(default_factory=dict)

    def check_item(self, test_set: str, sample: Sample) -> None:
        """Check that a sample has the same input and correct answers as earlier samples.

        An item with another input (prompt) is added to `changed`.

        Raises:
            InputError: The correct answers of the item differ.
        """
        prompt = hash(sample.prompt)  # prompts themselves may need much memory
        first_prompt, reference, first = self._items.setdefault(
            (test_set, sample.item), (prompt, sample.reference, sample.place))
        if reference != sample.reference:
            raise sample.place.error(f"the reference differs from the one in {first.path}, so this is not the same "
                                     "sample; import the two logs separately", sample.item, category="text")
        if prompt != first_prompt:
            self.changed[test_set, sample.item] = None

    def compare_mean(self, model: str, test_set: str, result: Result, runs: Runs) -> None:
        """Check that a total score is the mean of its samples, and report it otherwise.

        100 times the mean is accepted too, because some records have percentages.
        """
        scores = [score for run in runs.values() for score, _ in run.values() if isinstance(score, float)]
        mean = compute_mean(scores) if scores else math.nan
        if not any(math.isclose(result.score, mean * scale, rel_tol=_MEAN_TOLERANCE, abs_tol=_MEAN_TOLERANCE)
                   for scale in (1, 100)):
            self.different.append(f"{model} on {test_set}: {mean:.6g}, not {result.score:.6g}")

    def make_notes(self) -> list[str]:
        """Return the messages for the user: one for each kind of problem."""
        notes = []
        if self.untestable:
            notes.append(f"{counted(len(self.untestable), 'score has', 'scores have')} no samples, so tests are not "
                         f"possible: {listed(self.untestable, _MOST_EXAMPLES, '; ')}")
        if self.different:
            notes.append(f"{counted(len(self.different), 'score differs', 'scores differ')} from the mean of the "
                         f"samples; boards use the mean: {listed(self.different, _MOST_EXAMPLES, '; ')}")
        if self.ambiguous:
            paths = listed(list(self.ambiguous), _MOST_EXAMPLES, "; ")
            notes.append(f"the samples of {counted(len(self.ambiguous), 'record')} are ignored, because the record has "
                         f"several scores and the samples have no 'evaluation_result_id': {paths}")
        if self.changed:
            test_set, item = next(iter(self.changed))
            notes.append(f"{counted(len(self.changed), 'sample has', 'samples have')} different inputs or prompts for "
                         f"different models, such as {item!r} in {test_set!r}")
        return notes


def _drop_copies(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """Remove records that occur several times; return a message with their number.

    Raises:
        InputError: Two records of the same evaluation have different contents.
    """
    distinct: dict[str, Record] = {}
    n_copies = 0
    for record in records:
        first = distinct.setdefault(record.evaluation_id, record)
        if first is record:
            continue
        if (record.content, record.digest) != (first.content, first.digest):
            raise record.place.error(f"the record of the evaluation {record.evaluation_id[:100]!r} differs from the "
                                     f"one in {first.place.path}; remove one of the two records", category="duplicate")
        n_copies += 1
    notes = [f"{counted(n_copies, 'record is a copy of another record', 'records are copies of other records')}; the "
             "copies are ignored"]
    return list(distinct.values()), notes if n_copies else []


def _name_test_sets(records: Sequence[Record]) -> list[dict[Result, str]]:
    """Make names of test sets, such as "BENCHMARK.METRIC", for scores in records.

    A name also contains the data set if the benchmark has several, and the metric's parameters if the same metric
    occurs several times.

    Returns:
        For each record, a dict that maps its results (total scores) to names.
    """
    sources: dict[str, set[tuple[str, str]]] = defaultdict(set)
    ambiguous: set[tuple[str, str]] = set()
    for record in records:
        kinds = [(result.evaluation, result.dataset, result.split, result.metric) for result in record.results]
        ambiguous |= {(kind[0], kind[3]) for kind in kinds if kinds.count(kind) > 1}
        for result in record.results:
            sources[result.evaluation].add((result.dataset, result.split))
    names = []
    for record in records:
        results: dict[str, Result] = {}
        for result in record.results:
            source = (result.dataset, result.split) if len(sources[result.evaluation]) > 1 else ()
            parameters = result.parameters if (result.evaluation, result.metric) in ambiguous else ""
            name = ".".join(filter(None, (result.evaluation, *source, result.metric, parameters)))
            if name in results:
                raise record.place.error(f"the record has two scores of {name!r}, and nothing distinguishes them; "
                                         "remove one", category="duplicate")
            results[name] = result
        names.append({result: name for name, result in results.items()})
    return names
