"""Importer of logs of Inspect (`inspect_ai`).

Each log has the evaluation of one model on one task, as an `.eval` zip file or as one JSON file. The format is not
specified. If Inspect is installed, its function `inspect_ai.log.read_eval_log` reads the logs; otherwise this module
reads the layout that Inspect writes at present. Both readers return the header, the samples and the reductions
(scores that summarize epochs) as JSON.

The log has full samples, and short summaries of them. Summaries have all scores, but only full samples show which
samples are invalid. The importer therefore reads full samples only if the header mentions invalid samples. Epochs
become runs. If the user selects a reducer that the log has applied, the reduced scores become one run.

A zip file is untrusted. Its members are read in memory one at a time, with limits on each member and on all together.
"""

from __future__ import annotations

import importlib.util
import io
import json
import math
import re
import stat
import struct
import sys
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Any, BinaryIO

from registry.errors import InputError, suggest
from registry.importers.base import (
    Place,
    Repeated,
    Run,
    ScoreCollection,
    ScoredImporter,
    add_score,
    check_known,
    compute_mean,
    find_files,
    get_member,
    is_near,
    parse_json_text,
    read_json,
    require_list,
    select_repeated,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder
from registry.readers import Document
from registry.readers.tables import to_number

MAX_MEMBER = 2**28  # bytes of one unpacked member
MAX_ALL = 2**32  # bytes of all unpacked members

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # not LZMA: the archive sets its memory
_ZSTANDARD = 93  # method number in the zip format; zipfile supports it since Python 3.14
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Archive:
    """Zip file of JSON files; if several members have the same name, the last counts.

    Attributes:
        path: Path of the zip file, for messages.
        names: Names of the members.
    """

    def __init__(self, document: Document) -> None:
        """Read the names of the members (the files in the zip file).

        Raises:
            InputError: The file is not a zip file, or a member is a link or has a path outside of the archive.
        """
        self.path = document.path
        self._content = document.content
        self._left = MAX_ALL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(document.content))
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
            raise document.error(f"not a zip file: {error}") from None
        self._members = {info.filename: info for info in self._zip.infolist()}
        self.names = list(self._members)
        for name, info in self._members.items():
            if stat.S_ISLNK(info.external_attr >> 16):
                raise document.error(f"the archive has a link, {name!r}; archive files without links")
            if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts:
                raise document.error(f"the path {name!r} in the archive points outside the archive; archive the log "
                                     "again")

    def load_json(self, name: str) -> Any:
        """Parse a member (a file in the zip file) that contains one JSON value.

        Raises:
            InputError: The member is damaged, too large or encrypted, or is not JSON.
        """
        return parse_json_text(self.read(name), self.make_path(name))

    def check(self) -> None:
        """Check that every member of the zip file is JSON and not too large.

        This protects a library that reads the archive afterwards without such limits.

        Raises:
            InputError: A member is damaged, too large or encrypted, or is not JSON.
        """
        for name in self.names:
            self.load_json(name)
        self._left = MAX_ALL

    def make_path(self, name: str) -> str:
        """Return the path of a zip member for messages, such as "log.eval/header.json"."""
        return f"{self.path}/{name}"

    def read(self, name: str) -> bytes:
        """Return the unpacked content of a member (a file in the zip file).

        Raises:
            InputError: The member is damaged, too large, encrypted, or compressed by an unknown method.
        """
        info, limit = self._members[name], min(MAX_MEMBER, self._left)
        try:
            if info.compress_type == _ZSTANDARD:
                content = self._unpack_zstandard(info, limit)
            elif info.compress_type not in _PLAIN:
                raise ValueError(f"the compression method {info.compress_type} is not supported; use deflate")
            else:
                with self._zip.open(info) as file:
                    content = file.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
                struct.error) as error:
            raise InputError(f"cannot be unpacked: {error}", path=self.make_path(name)) from None
        if len(content) > limit:
            raise InputError(f"the file unpacks to more than {MAX_MEMBER >> 20} MiB, or all files of the archive to "
                             f"more than {MAX_ALL >> 20} MiB; make the log smaller", path=self.make_path(name))
        self._left -= len(content)
        return content

    def _unpack_zstandard(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        signature, name_length, extra_length = _LOCAL_HEADER.unpack_from(self._content, info.header_offset)
        if signature != b"PK\3\4" or info.flag_bits & 1:
            raise ValueError("the file is encrypted, or the archive is damaged")
        start = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        packed = io.BytesIO(self._content[start:start + info.compress_size])
        open_frames, fault = self._find_zstandard()
        try:
            with open_frames(packed) as reader:
                content: bytes = reader.read(limit + 1)
        except (fault, EOFError, MemoryError) as error:
            raise ValueError(str(error)) from None
        if len(content) <= limit and zlib.crc32(content) != info.CRC:
            raise ValueError("the checksum is wrong, so the archive is damaged")
        return content

    def _find_zstandard(self) -> tuple[Callable[[io.BytesIO], BinaryIO], type[Exception]]:
        if sys.version_info >= (3, 14):
            from compression import zstd

            return zstd.ZstdFile, zstd.ZstdError
        try:
            import zstandard
        except ImportError:
            raise InputError("this log is compressed with zstandard; run pip install 'evalregistry[inspect]'",
                             path=self.path) from None
        open_frames = partial(zstandard.ZstdDecompressor().stream_reader, read_across_frames=True)
        return open_frames, zstandard.ZstdError


_MEANS = {"accuracy", "mean"}
_SPREADS = {"stderr", "bootstrap_stderr", "std", "var"}


def describe_differences(header: Any, runs: Mapping[tuple[str, int], Run], reducer: str | None) -> Iterator[str]:
    """Yield messages about total scores in a log that differ from imported scores.

    Args:
        header: Header of the log, which has the total scores.
        runs: Imported scores of samples, by scorer (or "scorer.key") and epoch.
        reducer: Name of the selected reducer, which combines the scores of epochs; None to import each epoch as a run.
    """
    scorer_runs: dict[str, list[Run]] = defaultdict(list)
    for (scorer, _), run in runs.items():
        scorer_runs[scorer].append(run)
    task, model = header["eval"]["task"], header["eval"]["model"]
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    for score in scores if isinstance(scores, list) else []:
        name = isinstance(score, dict) and _find_scorer(score, scorer_runs)
        if not name:
            continue
        test_set, logged_reducer = f"'{task}.{name}'", score.get("reducer") or "mean"
        if logged_reducer != (reducer or "mean"):
            if reducer is None:
                yield (f"the epochs of {test_set} are imported as runs, but the log also combines them by "
                       f"{logged_reducer!r}; add --option {quote(f'reducer={logged_reducer}')} to import the combined "
                       "scores")
            continue
        metrics = score.get("metrics")
        for metric, value in _list_numbers(metrics if isinstance(metrics, dict) else {}):
            mean = _compute_mean(scorer_runs[name]) if metric in _MEANS and logged_reducer == "mean" else value
            if metric not in _MEANS | _SPREADS:
                yield f"{metric!r} of {test_set} is ignored, because it is not the mean over samples"
            elif mean is not None and not is_near(mean, value):
                yield f"{test_set} is {mean:.6g} over the samples of {model!r}, but {value:.6g} in its log"


def _find_scorer(score: Mapping[str, Any], runs: Mapping[str, Sequence[Run]]) -> str | None:
    """Find the imported runs whose total score a log states.

    Args:
        score: Total score in the log, with the keys "name" and "scorer".
        runs: Imported runs, by scorer (or "scorer.key" if a scorer returns several values).

    Returns:
        Key of the runs; None if no runs belong to the score.
    """
    name, scorer = score.get("name"), score.get("scorer")
    if not isinstance(scorer, str):
        return None
    return next((key for key in (f"{scorer}.{name}", scorer) if key in runs), None)


def _list_numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for metric, entry in metrics.items():
        value = to_score(entry.get("value")) if isinstance(entry, dict) else None
        if value is not None:
            yield metric.rpartition("/")[2], value


def _compute_mean(runs: Sequence[Run]) -> float | None:
    """Average the scores of each sample over its epochs, then average over samples.

    Args:
        runs: One run per epoch.

    Returns:
        The mean; None if no sample has a score.
    """
    item_scores: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for item, (score, _) in run.items():
            if isinstance(score, float):
                item_scores[item].append(score)
    return compute_mean([compute_mean(scores) for scores in item_scores.values()]) if item_scores else None


_HEADER, _SUMMARIES, _REDUCTIONS = "header.json", "summaries.json", "reductions.json"
_NAME = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT.*_.*\.json")  # only the date in its name shows that a JSON file is a log
Sample = tuple[dict[str, Any], Place]


def find_logs(path: Path) -> list[Path]:
    """Return the paths of logs of Inspect in a folder.

    Logs are called `*.eval` or `DATE_TASK_ID.json`.
    """
    return find_files(path, lambda name: _NAME.fullmatch(name) is not None, "log called *.eval or DATE_TASK_ID.json")


class LogFile(ABC):
    """Base class of logs of Inspect: the evaluation of one model on one task."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @classmethod
    def open(cls, file: Path, folder: Path) -> LogFile:
        """Open a log of Inspect, which is an `.eval` zip file or a JSON file.

        If the package `inspect_ai` is installed, it reads the log.

        Args:
            file: Path of the log.
            folder: The imported folder, to which names of files are relative in provenance records.

        Raises:
            InputError: The file is not a log of Inspect.
        """
        document = Document.load(file, folder)
        plain: LogFile = _Json(document) if document.content.lstrip()[:1] == b"{" else _Zipped(document)
        if importlib.util.find_spec("inspect_ai") is None:
            return plain
        plain.check()  # Inspect has no limits, and deeply nested JSON may end the whole process
        return _InspectReader(document, file)

    @property
    def place(self) -> Place:
        """File that contains the header of the log, for error messages."""
        return Place(self.document.path)

    @property
    @abstractmethod
    def header(self) -> Any:
        """Parsed header of the log, with task, model, status and results."""

    @abstractmethod
    def read_entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:
        """Yield every sample of the log as parsed JSON, with its file (`Place`).

        Args:
            in_full: True for full samples; False for their summaries, if the log has them.
        """

    @abstractmethod
    def read_reductions(self) -> Any:
        """Return logged scores that combine several epochs; None if there are none."""

    @abstractmethod
    def check(self) -> None:
        """Raise InputError if the log is not valid JSON or exceeds the size limits."""

    def read_samples(self, *, in_full: bool) -> list[Sample]:
        """Return the samples of the log.

        If the header lists the ids of the data set, samples have this order.

        Args:
            in_full: True for full samples; False for their summaries, if the log has them.

        Raises:
            InputError: A sample is not a JSON object.
        """
        samples: list[Sample] = []
        for sample, place in self.read_entries(in_full=in_full):
            if not isinstance(sample, dict):
                raise place.error("a sample is not a JSON object")
            samples.append((sample, place))
        evaluation = self.header.get("eval")
        dataset = evaluation.get("dataset") if isinstance(evaluation, dict) else None
        names = dataset.get("sample_ids") if isinstance(dataset, dict) else None
        order = {str(name): n for n, name in enumerate(names if isinstance(names, list) else [])}
        samples.sort(key=lambda sample: order.get(str(sample[0].get("id")), len(order)))
        return samples


class _Zipped(LogFile):
    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._archive = Archive(document)
        if _HEADER not in self._archive.names:
            raise document.error(f"no file {_HEADER!r} in the archive, so this is not an Inspect log, or the "
                                 "evaluation has not ended")

    @property
    def place(self) -> Place:
        return Place(self._archive.make_path(_HEADER))

    @cached_property
    def header(self) -> Any:
        return self._archive.load_json(_HEADER)

    def read_entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:
        names = self._archive.names
        if _SUMMARIES in names and not in_full:
            place = Place(self._archive.make_path(_SUMMARIES))
            summaries = require_list(self._archive.load_json(_SUMMARIES), place, "samples")
            yield from ((entry, place) for entry in summaries)
            return
        for name in names:
            if name.startswith("samples/") and name.endswith(".json"):
                yield self._archive.load_json(name), Place(self._archive.make_path(name))

    def read_reductions(self) -> Any:
        return self._archive.load_json(_REDUCTIONS) if _REDUCTIONS in self._archive.names else None

    def check(self) -> None:
        self._archive.check()


class _Json(LogFile):
    @cached_property
    def whole(self) -> Any:
        """Parsed JSON content of the log file."""
        return read_json(self.document)

    @property
    def header(self) -> Any:
        return self.whole

    def read_entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:  # noqa: ARG002
        samples = self.whole.get("samples") or []
        yield from ((entry, self.place) for entry in require_list(samples, self.place, "samples"))

    def read_reductions(self) -> Any:
        return self.whole.get("reductions")

    def check(self) -> None:
        get_member(self.header, "eval", kind=dict, place=self.place)


class _InspectReader(_Json):
    """Log that is read with the installed package `inspect_ai`."""

    def __init__(self, document: Document, file: Path) -> None:
        super().__init__(document)
        self._file = str(file)

    @cached_property
    def header(self) -> Any:
        return self._read(header_only=True)

    @cached_property
    def whole(self) -> Any:
        return self._read(header_only=False)

    def _read(self, *, header_only: bool) -> Any:
        from inspect_ai.log import read_eval_log

        try:
            log = read_eval_log(self._file, header_only=header_only)
            return json.loads(log.model_dump_json(exclude={"samples": {"__all__": _TRANSCRIPT}}))
        except Exception as error:
            raise self.document.error("Inspect cannot read this log: "
                                      f"{str(error).partition(chr(10))[0][:200]}") from None


_TRANSCRIPT = {"messages", "events", "attachments", "store", "output", "events_data"}  # large and not needed


# Texts that Inspect's value_to_float converts to numbers (inspect_ai/scorer/_metric.py).
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
Runs = dict[tuple[str, int], Run]  # by scorer and epoch


class Inspect(ScoredImporter):
    """Inspect: `.eval` logs, and logs written as JSON.

    This importer makes a test set for each pair of task and scorer; samples are the items.

    Attributes:
        tasks: Names of the tasks to import; empty for all.
        scorers: Names of the scorers to import; empty for all.
        reducer: Name of a reducer, such as `max` or `pass_at_2`, whose logged scores are imported instead of single
            epochs. By default each epoch becomes a run.
        repeated: Treatment of several logs of one model and task: `reject` them, import the `latest`, or import all as
            `runs`.
    """

    name = "inspect"

    tasks: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    reducer: str | None = None
    repeated: Repeated = "reject"

    def read(self, path: Path) -> TaskFolder:
        collection = ScoreCollection(path, self.missing, self.better)
        notes, tasks = dict[str, None](), dict[str, str]()
        targets: dict[tuple[str, str], tuple[Any, Place]] = {}
        known_scorers: set[str] = set()
        for (task, model), files in self._select_logs(path).items():
            for n, file in enumerate(files, 1):
                log = LogFile.open(file, path)
                collection.digests[log.document.name] = log.document.digest
                samples = log.read_samples(in_full=log.header.get("invalidated", False) is not False)
                _check_targets(task, samples, targets)
                runs = self._read_runs(samples, known_scorers)
                notes |= dict.fromkeys(describe_differences(log.header, runs, self.reducer))
                if self.reducer is not None:
                    runs = self._read_reduced(log, runs)
                for (scorer, epoch), run in sorted(runs.items()):
                    test_set = f"{task}.{scorer}" + (f".{self.reducer}" if self.reducer else "")
                    tasks[test_set] = task
                    collection.add_run(test_set, model, f"{n}.{epoch}" if len(files) > 1 else str(epoch), run)
        check_known(self.scorers, known_scorers, "scorer", path)
        if not collection.test_sets:
            raise InputError("no sample has a score", path=path)
        return collection.make_task(notes=tuple(notes), advice=suggest_across(tasks, "--option scorers=NAME"))

    def _select_logs(self, path: Path) -> dict[tuple[str, str], list[Path]]:
        """Select the logs to import by the import options.

        Returns:
            The paths of the logs of each pair of task and model, sorted by date.
        """
        dates: dict[tuple[str, str], dict[Path, str]] = defaultdict(dict)
        known_tasks = set()
        for file in find_logs(path):
            log = LogFile.open(file, path)
            status = get_member(log.header, "status", kind=str, place=log.place)
            if status != "success" and self.missing != "drop":
                raise log.document.error(f"the evaluation has the status {status!r}; --option missing=drop imports its "
                                         "finished samples")
            task, model, created = (
                get_member(log.header, "eval", key, kind=str, place=log.place) for key in ("task", "model", "created"))
            known_tasks.add(task)
            if not self.tasks or task in self.tasks:
                dates[task, model][file] = created
        check_known(self.tasks, known_tasks, "log of task", path)
        return {(task, model): select_repeated(files, self.repeated, f"{model!r} on {task!r}")
                for (task, model), files in dates.items()}

    def _read_runs(self, samples: list[Sample], known_scorers: set[str]) -> Runs:
        """Return a run of scores for each pair of scorer and epoch.

        A sample without a score has the score None.

        Args:
            samples: Samples of one log.
            known_scorers: Receives the names of all scorers, also of scorers that are not imported.
        """
        runs: Runs = defaultdict(dict)
        for sample, place in samples:
            item, epoch = _make_key(sample, place)
            for scorer, score in self._read_scores(sample, place, known_scorers):
                add_score(runs[scorer, epoch], item, score, place, f"{item} (epoch {epoch})")
        for sample, place in samples:
            item, sample_epoch = _make_key(sample, place)
            for (_, epoch), run in runs.items():
                if epoch == sample_epoch:
                    run.setdefault(item, (None, place))
        return runs

    def _read_scores(self, sample: dict[str, Any], place: Place,
                     known_scorers: set[str]) -> Iterator[tuple[str, float | None]]:
        """Yield the name and score of each requested scorer for one sample.

        An unfinished or invalid sample yields nothing. If a scorer returns several values by key, each has the name
        "scorer.key".
        """
        scores = sample.get("scores")
        if sample.get("error") is not None or sample.get("invalidation") is not None or not sample.get(
                "completed", True) or scores is None:
            return
        if not isinstance(scores, dict):
            raise place.error("'scores' is not an object")
        for scorer, score in scores.items():
            known_scorers.add(scorer)
            if not self.scorers or scorer in self.scorers:
                yield from _list_values(scorer, score, place)

    def _read_reduced(self, log: LogFile, runs: Runs) -> Runs:
        """Return the logged scores that the selected reducer computed from epochs.

        A reducer combines the scores of a sample in several epochs. Samples without such a score have the score None.

        Args:
            log: The log.
            runs: Scores of single epochs, which list all samples.
        """
        place, known_reducers = log.place, set[str]()
        reduced: Runs = {}
        for entry in require_list(log.read_reductions() or [], place, "reductions", dict):
            reducer = entry.get("reducer") or "mean"
            known_reducers.add(str(reducer))
            scorer = get_member(entry, "scorer", kind=str, place=place)
            if reducer != self.reducer or (self.scorers and scorer not in self.scorers):
                continue
            for sample in require_list(entry.get("samples"), place, "reduced samples", dict):
                item = str(get_member(sample, "sample_id", kind=(str, int), place=place))
                for name, score in _list_values(scorer, sample, place):
                    add_score(reduced.setdefault((name, 1), {}), item, score, place)
        if not reduced:
            raise log.document.error(f"the log does not combine epochs by {self.reducer!r}; "
                                      f"{suggest(self.reducer or '', known_reducers)}")
        for (scorer, _), run in runs.items():
            for item, (_, sample_place) in run.items():
                if (scorer, 1) in reduced:
                    reduced[scorer, 1].setdefault(item, (None, sample_place))
        return reduced


def _check_targets(task: str, samples: Iterable[Sample],
                   targets: dict[tuple[str, str], tuple[Any, Place]]) -> None:
    """Check that a sample has the same gold answer in all logs.

    Args:
        task: Name of the task.
        samples: Samples of one log.
        targets: Maps pairs of task and sample id to the gold answer in earlier logs; receives new samples.

    Raises:
        InputError: A gold answer differs from an earlier one.
    """
    for sample, place in samples:
        item, _ = _make_key(sample, place)
        target, first = targets.setdefault((task, item), (sample.get("target"), place))
        if target != sample.get("target"):
            raise place.error(f"the target differs from the target in {first.path}, so this is not the same sample; "
                              "import the two logs separately", item, category="text")


def _make_key(sample: dict[str, Any], place: Place) -> tuple[str, int]:
    item = get_member(sample, "id", kind=(str, int), place=place)
    return str(item), get_member(sample, "epoch", kind=int, place=place)


def _list_values(scorer: str, score: Any, place: Place) -> Iterator[tuple[str, float | None]]:
    """Yield the name and value of each number that a scorer returns for one sample.

    A single number has the name of the scorer. Numbers in a dict have names such as "scorer.key".
    """
    value = get_member(score, "value", kind=object, place=place) if isinstance(score, dict) else None
    if isinstance(value, dict):
        yield from ((f"{scorer}.{key}", _to_number(element, scorer, place)) for key, element in value.items())
    else:
        yield scorer, _to_number(value, scorer, place)


def _to_number(value: Any, scorer: str, place: Place) -> float | None:
    """Convert a scorer's value to a number in the same way as Inspect.

    For example, "C" (correct) and "yes" are 1, "I" (incorrect) is 0, and "0.5" is 0.5.

    Returns:
        The number; None if the value is NaN or None, because the sample then has no score.

    Raises:
        InputError: The value is not a number.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        grade = _GRADES.get(value, _WORDS.get(value.lower()))
        number = to_score(to_number(value, text=True)) if grade is None else grade
    else:
        number = to_score(value)
    if number is None:
        raise place.error(f"scorer {scorer!r} has the value {json.dumps(value)[:60]}, which is not a number; choose "
                          "other scorers with --option scorers=NAME")
    return number
