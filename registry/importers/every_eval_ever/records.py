"""The files of Every Eval Ever: aggregate records, and the samples that lie beside them.

Records and samples are untrusted. Samples are looked for in the record's own folder, wherever the record says that they
are, and have to be those that it describes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from registry.errors import InputError
from registry.importers.every_eval_ever.record_format import EPOCH, LIBRARY, RUN, SAMPLES
from registry.importers.files import Place, Sources, is_whole, member, objects
from registry.importers.scored import number
from registry.readers import Document

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
        """Its score, for people."""
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
        """Of the samples."""
        return None if self.samples is None else self.samples[1]

    @property
    def moment(self) -> float:
        """When it was evaluated, in seconds since 1970.

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

    def lines(self) -> Iterator[Sample]:
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
        for entry, place in objects(document):
            yield self._sample(entry, place)

    def _sample(self, entry: dict[str, Any], place: Place) -> Sample:
        item = member(entry, "sample_id", of=str, place=place)
        if not is_whole(item):
            raise place.error("'sample_id' has half of a character (a lone surrogate)")
        for key, own in (("evaluation_id", self.evaluation_id), ("model_id", self.model)):
            if (found := member(entry, key, of=str, place=place)) != own:
                raise place.error(f"{key!r} is {found[:60]!r}, and {own[:60]!r} in the record", item)
        metadata = _texts(entry.get("metadata"), "metadata", place)
        reference = member(entry, "input", "reference", of=list, place=place)
        if not all(isinstance(text, str) for text in reference):
            raise place.error("'input.reference' is no list of texts", item)
        score = number(member(entry, "evaluation", "score", of=(int, float), place=place))
        if score is None:
            raise place.error("'evaluation.score' is no finite number", item)
        result_id = entry.get("evaluation_result_id")
        if not isinstance(result_id, str | None):
            raise place.error("'evaluation_result_id' is no text", item)
        return Sample(
            place, item, result_id, member(entry, "evaluation_name", of=str, place=place),
            metadata.get(RUN, metadata.get(EPOCH, "1")), None if entry.get("error") is not None else score,
            member(entry, "input", "raw", of=str, place=place), tuple(reference), metadata)

    def results_of(self, sample: Sample) -> tuple[Result, ...]:
        """Find the result that a sample belongs to, by its id or name: several, where it does not say to which."""
        if sample.result_id is not None and any(of.id is not None for of in self.results):
            return tuple(of for of in self.results if of.id == sample.result_id)
        return tuple(of for of in self.results if of.evaluation == sample.evaluation) or self.results


def read_record(path: Path, sources: Sources) -> Record:
    """Read an aggregate record, and the file of its samples if that lies beside it.

    Raises:
        InputError: It is none, or its samples are not those that it describes.
    """
    entry, place = sources.json(path)
    evaluation_id = member(entry, "evaluation_id", of=str, place=place)
    model = _model(member(entry, "model_info", of=dict, place=place), place)
    time = entry.get("evaluation_timestamp") or member(entry, "retrieved_timestamp", of=str, place=place)
    results = member(entry, "evaluation_results", of=list, place=place)
    if not isinstance(time, str):
        raise place.error("'evaluation_timestamp' is no text")
    samples = _samples(path, entry.get("detailed_evaluation_results"), place, sources)
    same = {key: value for key, value in entry.items() if key != "retrieved_timestamp"}
    return Record(place, evaluation_id, model, time, tuple(_result(one, place) for one in results),
                  _details(entry.get("eval_library"), place), json.dumps(same, sort_keys=True),
                  None if samples is None else (Path(samples.path), samples.digest))


def _model(entry: dict[str, Any], place: Place) -> str:
    """A model by developer and name."""
    name = member(entry, "id", of=str, place=place)
    developer = entry.get("developer")
    return name if "/" in name or not isinstance(developer, str) or not developer.strip() else f"{developer}/{name}"


def _result(entry: Any, place: Place) -> Result:
    config = member(entry, "metric_config", of=dict, place=place)
    source = member(entry, "source_data", of=dict, place=place)
    score = number(member(entry, "score_details", "score", of=(int, float), place=place))
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
        texts.get("id"), member(entry, "evaluation_name", of=str, place=place),
        member(source, "dataset_name", of=str, place=place), texts.get("split", ""),
        texts.get("metric_id") or texts.get("metric_name") or "score",
        ".".join(f"{key}-{value}" for key, value in sorted(parameters.items())),
        member(config, "lower_is_better", of=bool, place=place), config.get("has_unknown_level") is True, score,
        _interval(entry["score_details"]))


def _interval(details: dict[str, Any]) -> tuple[float, float] | None:
    """The ends of the interval of a score, where it has one."""
    uncertainty = details.get("uncertainty")
    found = uncertainty.get("confidence_interval") if isinstance(uncertainty, dict) else None
    ends = [number(found.get(end)) for end in ("lower", "upper")] if isinstance(found, dict) else []
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None


def _details(library: Any, place: Place) -> dict[str, str] | None:
    """What a registry says of the task."""
    if not isinstance(library, dict) or library.get("name") != LIBRARY:
        return None
    return _texts(library.get("additional_details"), "additional_details", place)


def _texts(value: Any, what: str, place: Place) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise place.error(f"{what!r} holds something that is no text")
    return value


def _samples(path: Path, detail: Any, place: Place, sources: Sources) -> Document | None:
    """The file of a record's samples, where it lies beside the record."""
    beside = path.with_name(path.name.removesuffix(".json") + SAMPLES)
    if detail is not None:
        named = PurePosixPath(member(detail, "file_path", of=str, place=place)).name
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
