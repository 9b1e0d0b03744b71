"""Logs of Inspect: each evaluates one model on one task, as an `.eval` zip file or as one JSON file.

The format is not specified, so `inspect_ai.log.read_eval_log` reads logs if Inspect is installed. Otherwise they are
read as Inspect now writes them. Both ways give header, samples and reductions as JSON. Summaries of samples hold all
scores; invalid samples are looked up in the samples themselves, if the header says that there are any. Epochs are runs,
or one score if a reducer is chosen, which the log has applied.

An archive is untrusted. Its members are read in memory one at a time, within bounds on each and on all together.
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
from operator import itemgetter
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Any, BinaryIO, Literal

from registry.errors import InputError, suggest
from registry.importers.base import (
    Collected,
    Place,
    Run,
    ScoredImporter,
    check_known,
    compute_mean,
    find_files,
    get_member,
    is_near,
    make_duplicate_error,
    parse_json_text,
    read_json,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder
from registry.readers import Document
from registry.readers.tables import to_number

MAX_MEMBER = 2**28  # bytes of one member, unfolded
MAX_ALL = 2**32  # bytes of all members that are read, unfolded

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # LZMA takes what memory the archive says
_ZSTANDARD = 93  # the method's number in the zip format; Python's own reader knows it from 3.14 on
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Archive:
    """A zip file; `names` are its members, the last one of each name."""

    def __init__(self, document: Document) -> None:
        """Read the list of members.

        Raises:
            InputError: It is no zip file, or a member is a link, or its name leads out of it.
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
                raise document.error(f"the member {name!r} is a link")
            if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts:
                raise document.error(f"the member {name!r} leads out of the archive")

    def load_json(self, name: str) -> Any:
        """Read a member that is one JSON value.

        Raises:
            InputError: It is damaged, too large, encrypted, compressed in an unknown way, or not JSON.
        """
        return parse_json_text(self.read(name), self.make_path(name))

    def check(self) -> None:
        """Read every member as JSON within the bounds, for programs without bounds of their own.

        Raises:
            InputError: One is damaged, too large, encrypted, compressed in an unknown way, or not JSON.
        """
        for name in self.names:
            self.load_json(name)
        self._left = MAX_ALL

    def make_path(self, name: str) -> str:
        """Return the path of a member for messages."""
        return f"{self.path}/{name}"

    def read(self, name: str) -> bytes:
        """Read a member.

        Raises:
            InputError: It is damaged, too large, encrypted, or compressed in an unknown way.
        """
        info, limit = self._members[name], min(MAX_MEMBER, self._left)
        try:
            if info.compress_type == _ZSTANDARD:
                content = self._unfold_zstandard(info, limit)
            elif info.compress_type not in _PLAIN:
                raise ValueError(f"it is compressed by method {info.compress_type}; zip it as usual, by deflate")
            else:
                with self._zip.open(info) as file:
                    content = file.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
                struct.error) as error:
            raise InputError(f"cannot be unpacked: {error}", path=self.make_path(name)) from None
        if len(content) > limit:
            raise InputError(f"unfolds to more than {MAX_MEMBER >> 20} MiB, or all members to more than "
                             f"{MAX_ALL >> 20} MiB", path=self.make_path(name))
        self._left -= len(content)
        return content

    def _unfold_zstandard(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        signature, of_name, of_extra = _LOCAL_HEADER.unpack_from(self._content, info.header_offset)
        if signature != b"PK\3\4" or info.flag_bits & 1:
            raise ValueError("it is encrypted, or no member begins where the archive says")
        start = info.header_offset + _LOCAL_HEADER.size + of_name + of_extra
        folded = io.BytesIO(self._content[start:start + info.compress_size])
        open_frames, fault = self._find_zstandard()
        try:
            with open_frames(folded) as reader:
                content: bytes = reader.read(limit + 1)
        except (fault, EOFError, MemoryError) as error:
            raise ValueError(str(error)) from None
        if len(content) <= limit and zlib.crc32(content) != info.CRC:
            raise ValueError("its checksum is another one")
        return content

    def _find_zstandard(self) -> tuple[Callable[[io.BytesIO], BinaryIO], type[Exception]]:
        """Return a function that opens compressed frames, and the error that it raises."""
        if sys.version_info >= (3, 14):
            from compression import zstd

            return zstd.ZstdFile, zstd.ZstdError
        try:
            import zstandard
        except ImportError:
            raise InputError("this log is compressed with zstandard: pip install 'evalregistry[inspect]'",
                             path=self.path) from None
        open_frames = partial(zstandard.ZstdDecompressor().stream_reader, read_across_frames=True)
        return open_frames, zstandard.ZstdError


_MEANS = {"accuracy", "mean"}
_OF_SPREAD = {"stderr", "bootstrap_stderr", "std", "var"}


def describe_differences(header: Any, runs: Mapping[tuple[str, int], Run], reducer: str | None) -> Iterator[str]:
    """Describe which scores in the results are not the means of the imported runs.

    Args:
        header: Of the log.
        runs: By scorer, or scorer and key, and by epoch.
        reducer: By which epochs are reduced to one score; None where each is a run.
    """
    of_scorer: dict[str, list[Run]] = defaultdict(list)
    for (scorer, _), run in runs.items():
        of_scorer[scorer].append(run)
    task, model = header["eval"]["task"], header["eval"]["model"]
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    for score in scores if isinstance(scores, list) else []:
        name = isinstance(score, dict) and _name_run(score, of_scorer)
        if not name:
            continue
        called, by = f"'{task}.{name}'", score.get("reducer") or "mean"
        if by != (reducer or "mean"):
            if reducer is None:
                yield (f"epochs of {called} are runs here, while the log reduces them by {by!r} too; "
                       f"--option {quote(f'reducer={by}')} takes that")
            continue
        metrics = score.get("metrics")
        for metric, value in _list_numbers(metrics if isinstance(metrics, dict) else {}):
            own = _compute_mean(of_scorer[name]) if metric in _MEANS and by == "mean" else value
            if metric not in _MEANS | _OF_SPREAD:
                yield f"{metric!r} of {called} is no mean of its samples, and not taken"
            elif own is not None and not is_near(own, value):
                yield f"{called} is {own:.6g} over the samples of {model!r}, while its log says {value:.6g}"


def _name_run(score: Mapping[str, Any], runs: Mapping[str, Sequence[Run]]) -> str | None:
    """Return the name of a score in the results: the scorer, or the scorer with its key."""
    name, scorer = score.get("name"), score.get("scorer")
    if not isinstance(scorer, str):
        return None
    return next((known for known in (f"{scorer}.{name}", scorer) if known in runs), None)


def _list_numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for metric, of in metrics.items():
        value = to_score(of.get("value")) if isinstance(of, dict) else None
        if value is not None:
            yield metric.rpartition("/")[2], value


def _compute_mean(runs: Sequence[Run]) -> float | None:
    """Return the mean over samples of the means over their epochs."""
    of_item: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for item, (score, _) in run.items():
            if isinstance(score, float):
                of_item[item].append(score)
    return compute_mean([compute_mean(scores) for scores in of_item.values()]) if of_item else None


_HEADER, _SUMMARIES, _REDUCTIONS = "header.json", "summaries.json", "reductions.json"
_NAME = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT.*_.*\.json")  # of JSON files the date tells
Sample = tuple[dict[str, Any], Place]


def find_logs(path: Path) -> list[Path]:
    """Return the logs at a path: `*.eval`, and `DATE_TASK_ID.json`."""
    return find_files(path, lambda name: _NAME.fullmatch(name) is not None, "log called *.eval or DATE_TASK_ID.json")


class LogFile(ABC):
    """One log. `header` says what was evaluated and what came of it, and `place` where that stands."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @classmethod
    def open(cls, file: Path, folder: Path) -> LogFile:
        """Open a log of either kind, by Inspect if it is installed.

        Raises:
            InputError: It is no log of Inspect.
        """
        document = Document.load(file, folder)
        plain: LogFile = _Json(document) if document.content.lstrip()[:1] == b"{" else _Zipped(document)
        if importlib.util.find_spec("inspect_ai") is None:
            return plain
        plain.check()  # Inspect itself may end the whole process on what is nested deeply, and knows no bounds
        return _ReadByInspect(document, file)

    @property
    def place(self) -> Place:
        """Place of the header."""
        return Place(self.document.path)

    @property
    @abstractmethod
    def header(self) -> Any:
        """Evaluated task and model, status, and results."""

    @abstractmethod
    def read_entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:
        """Yield samples, or their summaries unless `in_full`, with their places."""

    @abstractmethod
    def read_reductions(self) -> Any:
        """Return the reduced epochs of each scorer by each reducer; None if there are none."""

    @abstractmethod
    def check(self) -> None:
        """Check that the whole log is JSON within the bounds.

        Raises:
            InputError: It is not.
        """

    def read_samples(self, *, in_full: bool) -> list[Sample]:
        """Yield the samples as objects, in the order of the data set if the header has it.

        Raises:
            InputError: One is none.
        """
        found: list[Sample] = []
        for sample, place in self.read_entries(in_full=in_full):
            if not isinstance(sample, dict):
                raise place.error("a sample is no object")
            found.append((sample, place))
        evaluated = self.header.get("eval")
        of = evaluated.get("dataset") if isinstance(evaluated, dict) else None
        names = of.get("sample_ids") if isinstance(of, dict) else None
        order = {str(name): n for n, name in enumerate(names if isinstance(names, list) else [])}
        found.sort(key=lambda entry: order.get(str(entry[0].get("id")), len(order)))
        return found


class _Zipped(LogFile):
    """A `.eval` file."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._archive = Archive(document)
        if _HEADER not in self._archive.names:
            raise document.error(f"no member {_HEADER!r}: no log of Inspect, or the evaluation has not ended")

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
            summaries = _require_list(self._archive.load_json(_SUMMARIES), place, "samples")
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
    """A log that is one JSON file."""

    @cached_property
    def whole(self) -> Any:
        """All of it."""
        return read_json(self.document)

    @property
    def header(self) -> Any:
        return self.whole

    def read_entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:  # noqa: ARG002
        samples = self.whole.get("samples") or []
        yield from ((entry, self.place) for entry in _require_list(samples, self.place, "samples"))

    def read_reductions(self) -> Any:
        return self.whole.get("reductions")

    def check(self) -> None:
        get_member(self.header, "eval", of=dict, place=self.place)


class _ReadByInspect(_Json):
    """A log of either kind, as the Inspect that is installed reads it."""

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


_TRANSCRIPT = {"messages", "events", "attachments", "store", "output", "events_data"}  # large, and not looked at


def _require_list(value: Any, place: Place, of: str) -> list[Any]:
    if not isinstance(value, list):
        raise place.error(f"not a list of {of}")
    return value


# What Inspect's own value_to_float makes of values that are text (inspect_ai/scorer/_metric.py).
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
Runs = dict[tuple[str, int], Run]  # by scorer and epoch


class Inspect(ScoredImporter):
    """Inspect: `.eval` logs, and those written as JSON.

    Attributes:
        tasks: The tasks; without any all.
        scorers: The scorers; without any all.
        reducer: What the log reduced epochs to, such as `max` or `pass_at_2`; without it epochs are runs.
        repeated: Several logs of one model and task: `reject` them, take the `latest`, or take them as `runs`.
    """

    name = "inspect"

    tasks: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    reducer: str | None = None
    repeated: Literal["reject", "latest", "runs"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        collected = Collected(path, self.missing, self.better)
        notes, tasks = dict[str, None](), dict[str, str]()
        targets: dict[tuple[str, str], tuple[Any, Place]] = {}
        seen: set[str] = set()
        for (task, model), files in self._choose_logs(path).items():
            for n, file in enumerate(files, 1):
                log = LogFile.open(file, path)
                collected.digests[log.document.name] = log.document.digest
                samples = log.read_samples(in_full=log.header.get("invalidated", False) is not False)
                _check_targets(task, samples, targets)
                runs = self._read_runs(samples, seen)
                notes |= dict.fromkeys(describe_differences(log.header, runs, self.reducer))
                if self.reducer is not None:
                    runs = self._read_reduced(log, runs)
                for (scorer, epoch), run in sorted(runs.items()):
                    test_set = f"{task}.{scorer}" + (f".{self.reducer}" if self.reducer else "")
                    tasks[test_set] = task
                    collected.add(test_set, model, f"{n}.{epoch}" if len(files) > 1 else str(epoch), run)
        check_known(self.scorers, seen, "scorer", path)
        if not collected.test_sets:
            raise InputError("no sample has a score", path=path)
        return collected.make_task(notes=tuple(notes), then=suggest_across(tasks, "--option scorers=NAME"))

    def _choose_logs(self, path: Path) -> dict[tuple[str, str], list[Path]]:
        """Return the requested logs of every task and model, by date."""
        dated: dict[tuple[str, str], list[tuple[str, Path]]] = defaultdict(list)
        known = set()
        for file in find_logs(path):
            log = LogFile.open(file, path)
            status = get_member(log.header, "status", of=str, place=log.place)
            if status != "success" and self.missing != "drop":
                raise log.document.error(f"the evaluation has the status {status!r}; --option missing=drop takes the "
                                         "samples that it finished")
            task, model, created = (
                get_member(log.header, "eval", key, of=str, place=log.place) for key in ("task", "model", "created"))
            known.add(task)
            if self.tasks and task not in self.tasks:
                continue
            logs = dated[task, model]
            if logs and self.repeated == "reject":
                raise InputError(f"a log of {model!r} on {task!r}, as {logs[0][1]} is; take the latest or all as runs "
                                 "with --option repeated=latest or runs", path=file, category="duplicate")
            logs.append((created, file))
            logs.sort(key=itemgetter(0))
            del logs[:-1 if self.repeated == "latest" else 0]
        check_known(self.tasks, known, "log of task", path)
        return {of: [file for _, file in logs] for of, logs in dated.items()}

    def _read_runs(self, samples: list[tuple[dict[str, Any], Place]], seen: set[str]) -> Runs:
        """Return the scores by scorer and epoch, None for samples of the epoch without a score."""
        runs: Runs = defaultdict(dict)
        for sample, place in samples:
            item, epoch = _make_key(sample, place)
            for scorer, score in self._read_scores(sample, place, seen):
                if item in (run := runs[scorer, epoch]):
                    raise make_duplicate_error(f"{item} (epoch {epoch})", place, run[item][1])
                run[item] = (score, place)
        for sample, place in samples:
            item, in_epoch = _make_key(sample, place)
            for (_, epoch), run in runs.items():
                if epoch == in_epoch:
                    run.setdefault(item, (None, place))
        return runs

    def _read_scores(self, sample: dict[str, Any], place: Place, seen: set[str]) -> Iterator[tuple[str, float | None]]:
        """Return each scorer's score of a finished, valid sample; a mapping counts as several scorers."""
        scores = sample.get("scores")
        if sample.get("error") is not None or sample.get("invalidation") is not None or not sample.get(
                "completed", True) or scores is None:
            return
        if not isinstance(scores, dict):
            raise place.error("'scores' is no object")
        for scorer, score in scores.items():
            seen.add(scorer)
            if not self.scorers or scorer in self.scorers:
                yield from _list_values(scorer, score, place)

    def _read_reduced(self, log: LogFile, runs: Runs) -> Runs:
        """Return the reduced epochs of each scorer; None for samples that were not reduced."""
        place, known = log.place, set[str]()
        reduced: Runs = {}
        for entry in _require_objects(log.read_reductions() or [], place, "reductions"):
            reducer = entry.get("reducer") or "mean"
            known.add(str(reducer))
            scorer = get_member(entry, "scorer", of=str, place=place)
            if reducer != self.reducer or (self.scorers and scorer not in self.scorers):
                continue
            for one in _require_objects(entry.get("samples"), place, "reduced samples"):
                item = str(get_member(one, "sample_id", of=(str, int), place=place))
                for name, score in _list_values(scorer, one, place):
                    if item in (run := reduced.setdefault((name, 1), {})):
                        raise make_duplicate_error(item, place, run[item][1])
                    run[item] = (score, place)
        if not reduced:
            raise log.document.error(f"the log does not reduce epochs by {self.reducer!r}; "
                                      f"{suggest(self.reducer or '', known)}")
        for (scorer, _), run in runs.items():
            for item, (_, where) in run.items():
                if (scorer, 1) in reduced:
                    reduced[scorer, 1].setdefault(item, (None, where))
        return reduced


def _check_targets(task: str, samples: Iterable[tuple[dict[str, Any], Place]],
                   targets: dict[tuple[str, str], tuple[Any, Place]]) -> None:
    """Require that an id is the same sample in all logs; stores targets of new samples."""
    for sample, place in samples:
        item, _ = _make_key(sample, place)
        target, first = targets.setdefault((task, item), (sample.get("target"), place))
        if target != sample.get("target"):
            raise place.error(f"another target than in {first.path}: this is not the same sample", item,
                              category="text")


def _make_key(sample: dict[str, Any], place: Place) -> tuple[str, int]:
    """Return the sample's id and epoch."""
    item, epoch = get_member(sample, "id", of=(str, int), place=place), get_member(sample, "epoch", of=int, place=place)
    return str(item), epoch


def _require_objects(value: Any, place: Place, of: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise place.error(f"not a list of {of}")
    return value


def _list_values(scorer: str, score: Any, place: Place) -> Iterator[tuple[str, float | None]]:
    """List a scorer's values by its name, or with keys if it has several."""
    value = get_member(score, "value", of=object, place=place) if isinstance(score, dict) else None
    if isinstance(value, dict):
        yield from ((f"{scorer}.{key}", _to_number(one, scorer, place)) for key, one in value.items())
    else:
        yield scorer, _to_number(value, scorer, place)


def _to_number(value: Any, scorer: str, place: Place) -> float | None:
    """Convert a value as Inspect does; None for nan, which is a sample without a score."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        known = _GRADES.get(value, _WORDS.get(value.lower()))
        found = to_score(to_number(value, text=True)) if known is None else known
    else:
        found = to_score(value)
    if found is None:
        raise place.error(f"scorer {scorer!r} gives {json.dumps(value)[:60]}, which is no number; choose others with "
                          "the option 'scorers'")
    return found
