"""The logs of Inspect: an evaluation of one model on one task each (`logs` reads them).

The summaries of samples hold what every scorer gave; whether somebody declared a sample invalid stands only in the
sample itself, which is looked at where the header says that there are such ones. Epochs are runs, or one score where a
reducer is chosen, which the log has applied.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError, suggest
from registry.importers.files import Place, check_known, member
from registry.importers.inspect.logs import LogFile, log_files
from registry.importers.inspect.results import unlike_the_results
from registry.importers.scored import Collected, Run, ScoredImporter, number, over_benchmarks, standing_twice
from registry.manifest.folder import TaskFolder
from registry.readers.tables import as_number

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
        """Make a test set of every task and scorer, and of every key of a scorer that gives several values."""
        collected = Collected(path, self.missing, self.better)
        notes, tasks = dict[str, None](), dict[str, str]()
        targets: dict[tuple[str, str], tuple[Any, Place]] = {}
        seen: set[str] = set()
        for (task, model), files in self._chosen(path).items():
            for n, file in enumerate(files, 1):
                log = LogFile.of(file, path)
                collected.digests[log.document.name] = log.document.digest
                samples = log.samples(in_full=log.header.get("invalidated", False) is not False)
                _check_targets(task, samples, targets)
                runs = self._runs(samples, seen)
                notes |= dict.fromkeys(unlike_the_results(log.header, runs, self.reducer))
                if self.reducer is not None:
                    runs = self._reduced(log, runs)
                for (scorer, epoch), run in sorted(runs.items()):
                    test_set = f"{task}.{scorer}" + (f".{self.reducer}" if self.reducer else "")
                    tasks[test_set] = task
                    collected.add(test_set, model, f"{n}.{epoch}" if len(files) > 1 else str(epoch), run)
        check_known(self.scorers, seen, "scorer", path)
        if not collected.test_sets:
            raise InputError("no sample has a score", path=path)
        return collected.imported(notes=tuple(notes), then=over_benchmarks(tasks, "--option scorers=NAME"))

    def _chosen(self, path: Path) -> dict[tuple[str, str], list[Path]]:
        """The logs of every task and model, in the order of their dates, as far as they are wanted."""
        dated: dict[tuple[str, str], list[tuple[str, Path]]] = defaultdict(list)
        known = set()
        for file in log_files(path):
            log = LogFile.of(file, path)
            status = member(log.header, "status", of=str, place=log.place)
            if status != "success" and self.missing != "drop":
                raise log.document.error(f"the evaluation has the status {status!r}; --option missing=drop takes the "
                                         "samples that it finished")
            task, model, created = (
                member(log.header, "eval", key, of=str, place=log.place) for key in ("task", "model", "created"))
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

    def _runs(self, samples: list[tuple[dict[str, Any], Place]], seen: set[str]) -> Runs:
        """The scores of each scorer and epoch, None for the samples of the epoch that it has none of."""
        runs: Runs = defaultdict(dict)
        for sample, place in samples:
            item, epoch = _key(sample, place)
            for scorer, score in self._scores(sample, place, seen):
                if item in (run := runs[scorer, epoch]):
                    raise standing_twice(f"{item} (epoch {epoch})", place, run[item][1])
                run[item] = (score, place)
        for sample, place in samples:
            item, in_epoch = _key(sample, place)
            for (_, epoch), run in runs.items():
                if epoch == in_epoch:
                    run.setdefault(item, (None, place))
        return runs

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
            if not self.scorers or scorer in self.scorers:
                yield from _values(scorer, score, place)

    def _reduced(self, log: LogFile, runs: Runs) -> Runs:
        """What the log reduced each scorer's epochs to; None for the samples that were not reduced."""
        place, known = log.place, set[str]()
        reduced: Runs = {}
        for entry in _objects(log.reductions() or [], place, "reductions"):
            reducer = entry.get("reducer") or "mean"
            known.add(str(reducer))
            scorer = member(entry, "scorer", of=str, place=place)
            if reducer != self.reducer or (self.scorers and scorer not in self.scorers):
                continue
            for one in _objects(entry.get("samples"), place, "reduced samples"):
                item = str(member(one, "sample_id", of=(str, int), place=place))
                for name, score in _values(scorer, one, place):
                    if item in (run := reduced.setdefault((name, 1), {})):
                        raise standing_twice(item, place, run[item][1])
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
    """See that an id stands for the same sample in all logs; notes the targets of those that are new."""
    for sample, place in samples:
        item, _ = _key(sample, place)
        target, first = targets.setdefault((task, item), (sample.get("target"), place))
        if target != sample.get("target"):
            raise place.error(f"another target than in {first.path}: this is not the same sample", item,
                              category="text")


def _key(sample: dict[str, Any], place: Place) -> tuple[str, int]:
    """The sample's id and its epoch."""
    item, epoch = member(sample, "id", of=(str, int), place=place), member(sample, "epoch", of=int, place=place)
    return str(item), epoch


def _objects(value: Any, place: Place, of: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise place.error(f"not a list of {of}")
    return value


def _values(scorer: str, score: Any, place: Place) -> Iterator[tuple[str, float | None]]:
    """What a scorer gave, by the scorer's name, or with the key where it gave several values."""
    value = member(score, "value", of=object, place=place) if isinstance(score, dict) else None
    if isinstance(value, dict):
        yield from ((f"{scorer}.{key}", _number(one, scorer, place)) for key, one in value.items())
    else:
        yield scorer, _number(value, scorer, place)


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
