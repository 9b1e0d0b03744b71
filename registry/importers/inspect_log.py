"""The `.eval` logs of Inspect: a zip file of JSON for every evaluation of one model on one task.

The summaries of samples hold what every scorer gave; whether somebody declared a sample invalid stands only in the
sample itself, which is looked at where the header says that there are such ones. Epochs are runs.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from registry.errors import InputError
from registry.importers.archive import Archive
from registry.importers.files import Place, check_known, find_files, member
from registry.importers.scored import Collected, Run, ScoredImporter, number, standing_twice
from registry.manifest.folder import TaskFolder
from registry.readers import Document
from registry.readers.tables import as_number

_HEADER, _SUMMARIES = "header.json", "summaries.json"
# What Inspect's own value_to_float makes of values that are text (inspect_ai/scorer/_metric.py).
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class _Log(NamedTuple):
    """One log, and what its header says."""

    path: Path
    task: str
    model: str
    created: str
    invalidated: bool


class Inspect(ScoredImporter):
    """Inspect: `.eval` logs.

    Attributes:
        tasks: The tasks; without any all.
        scorers: The scorers; without any all.
        repeated: Several logs of one model and task: `reject` them, take the `latest`, or take them as `runs`.
    """

    name = "inspect"

    tasks: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    repeated: Literal["reject", "latest", "runs"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        """Make a test set of every task and scorer, and of every key of a scorer that gives several values."""
        collected, digests = Collected(), {}
        targets: dict[tuple[str, str], tuple[Any, Place]] = {}
        seen: set[str] = set()
        for (task, model), logs in self._chosen(path).items():
            for n, log in enumerate(logs, 1):
                document = Document.load(log.path, path)
                digests[document.name] = document.digest
                runs: dict[tuple[str, int], Run] = defaultdict(dict)
                samples = list(_samples(Archive(document), log.invalidated))
                for sample, place in samples:
                    item, epoch = _key(sample, place)
                    target, first = targets.setdefault((task, item), (sample.get("target"), place))
                    if target != sample.get("target"):
                        raise place.error(f"another target than in {first.path}: this is not the same sample", item,
                                          category="text")
                    for scorer, score in self._scores(sample, place, seen):
                        if item in (run := runs[scorer, epoch]):
                            raise standing_twice(f"{item} (epoch {epoch})", place, run[item][1])
                        run[item] = (score, place)
                for sample, place in samples:
                    item, in_epoch = _key(sample, place)
                    for (_, epoch), run in runs.items():
                        if epoch == in_epoch:
                            run.setdefault(item, (None, place))
                for (scorer, epoch), run in sorted(runs.items()):
                    collected.add(f"{task}.{scorer}", model, f"{n}.{epoch}" if len(logs) > 1 else str(epoch), run)
        check_known(self.scorers, seen, "scorer", path)
        if not collected.without(()):
            raise InputError("no sample has a score", path=path)
        return collected.imported(path, self, digests)

    def _chosen(self, path: Path) -> dict[tuple[str, str], list[_Log]]:
        """The logs of every task and model, in the order of their dates, as far as they are wanted."""
        chosen: dict[tuple[str, str], list[_Log]] = defaultdict(list)
        known = set()
        for file in find_files(path, lambda name: name.endswith(".eval"), "log called *.eval"):
            log = _log(file, unfinished=self.missing == "drop")
            known.add(log.task)
            if self.tasks and log.task not in self.tasks:
                continue
            logs = chosen[log.task, log.model]
            if logs and self.repeated == "reject":
                raise InputError(f"a log of {log.model!r} on {log.task!r}, as {logs[0].path} is; take the latest or "
                                 "all as runs with --option repeated=latest or runs", path=file, category="duplicate")
            logs.append(log)
            logs.sort(key=lambda log: log.created)
            del logs[:-1 if self.repeated == "latest" else 0]
        check_known(self.tasks, known, "log of task", path)
        return chosen

    def _scores(self, sample: dict[str, Any], place: Place, seen: set[str]) -> Iterator[tuple[str, float | None]]:
        """What each scorer gave a finished and valid sample; a mapping of values counts as several scorers."""
        scores = sample.get("scores")
        if sample.get("error") is not None or sample.get("invalidation") is not None or not sample.get(
                "completed", True) or scores is None:
            return
        if not isinstance(scores, dict):
            raise place.error("'scores' is no object")
        for scorer, score in scores.items():
            seen.add(scorer)
            if self.scorers and scorer not in self.scorers:
                continue
            value = member(score, "value", of=object, place=place) if isinstance(score, dict) else None
            if isinstance(value, dict):
                yield from ((f"{scorer}.{key}", _number(one, scorer, place)) for key, one in value.items())
            else:
                yield scorer, _number(value, scorer, place)


def _log(file: Path, *, unfinished: bool) -> _Log:
    """Read what a log is of."""
    archive = Archive(Document.load(file))
    if _HEADER not in archive.names:
        raise InputError(f"no member {_HEADER!r}: no log of Inspect, or the evaluation has not ended",
                         path=archive.path)
    header, place = archive.json(_HEADER), Place(archive.member_path(_HEADER))
    status = member(header, "status", of=str, place=place)
    if status != "success" and not unfinished:
        raise InputError(f"the evaluation has the status {status!r}; --option missing=drop takes the samples that it "
                         "finished", path=archive.path)
    task, model, created = (member(header, "eval", key, of=str, place=place) for key in ("task", "model", "created"))
    return _Log(file, task, model, created, header.get("invalidated", False) is not False)


def _samples(archive: Archive, invalidated: bool) -> Iterator[tuple[dict[str, Any], Place]]:
    """Give every sample, or its summary where that says as much, and where it stands."""
    if _SUMMARIES in archive.names and not invalidated:
        place = Place(archive.member_path(_SUMMARIES))
        entries = archive.json(_SUMMARIES)
        if not isinstance(entries, list):
            raise place.error("not a list of samples")
        found = ((entry, place) for entry in entries)
    else:
        names = [name for name in archive.names if name.startswith("samples/") and name.endswith(".json")]
        found = ((archive.json(name), Place(archive.member_path(name))) for name in names)
    for sample, place in found:
        if not isinstance(sample, dict):
            raise place.error("a sample is no object")
        yield sample, place


def _key(sample: dict[str, Any], place: Place) -> tuple[str, int]:
    """The sample's id and its epoch."""
    item, epoch = member(sample, "id", of=(str, int), place=place), member(sample, "epoch", of=int, place=place)
    return str(item), epoch


def _number(value: Any, scorer: str, place: Place) -> float | None:
    """The number that Inspect takes a value for; None for nan, which stands for a sample that has no score."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        known = _GRADES.get(value, _WORDS.get(value.lower()))
        found = number(as_number(value, text=True)) if known is None else known
    else:
        found = number(value)
    if found is None:
        raise place.error(f"scorer {scorer!r} gives {json.dumps(value)[:60]}, which is no number; choose others with "
                          "the option 'scorers'")
    return found
