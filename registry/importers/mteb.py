"""The results of MTEB: `MODEL/REVISION/TASK.json`, a score of every split and subset of every task.

MTEB keeps scores of whole tasks, not of their items, so that the tasks are what can be paired: tests over them speak
of other tasks of the kind, and not of other items of these. A task's score is the mean of its subsets' main scores, as
MTEB computes it.
"""

from __future__ import annotations

import math
from collections.abc import Set
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError
from registry.importers.base import (
    Collected,
    Place,
    Run,
    ScoredImporter,
    Sources,
    check_known,
    compute_mean,
    find_files,
    get_member,
    to_score,
)
from registry.manifest.folder import TaskFolder

_META = "model_meta.json"
Parts = Set[tuple[str, str]]  # splits, each with a subset

_NOT_TASKS = ("_predictions.json",)  # what the models answered, without what is right


class Mteb(ScoredImporter):
    """MTEB: folders of results, `MODEL/REVISION/TASK.json`; tasks are the items.

    Attributes:
        tasks: The tasks, such as those of a benchmark; without any all.
        splits: The splits of each task; without any `test` where there is one, else all.
        languages: Only subsets in one of these, as their results name them: `eng` or `eng-Latn`.
        revisions: Several revisions of a model with the same task: `reject` them, or take them as systems `apart`.
    """

    name = "mteb"

    tasks: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    revisions: Literal["reject", "apart"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        collected, runs = Collected(path, self.missing, self.better), dict[str, Run]()
        names: dict[Path, str] = {}
        parts: dict[str, tuple[str, Parts]] = {}  # of each task, a model that has results of it, and of which parts
        for file in find_files(path, lambda name: name.removesuffix(".gz").endswith(".json") and name != _META,
                               "TASK.json, as MTEB writes it,"):
            if file.name.endswith(_NOT_TASKS):
                continue
            if self.tasks and file.name.partition(".json")[0] not in self.tasks:
                continue
            if file.parent not in names:
                names[file.parent] = self._read_model(file.parent, collected)
            results, place = collected.load_json(file)
            task, score, found = self._read_task(results, place)
            other, wanted = parts.setdefault(task, (names[file.parent], found))
            if found != wanted:
                raise _make_parts_error(task, (names[file.parent], found), (other, wanted), place)
            run = runs.setdefault(names[file.parent], {})
            if task in run:
                raise InputError(f"a second result of {names[file.parent]!r} on {task!r}, as {run[task][1].path} is; "
                                 "keep one, or --option revisions=apart", path=file, category="duplicate")
            run[task] = (score, place)
        check_known(self.tasks, parts, "result of task", path)
        for model, run in runs.items():
            collected.add("mteb", model, "1", run)
        if not any(score is not None for run in runs.values() for score, _ in run.values()):
            raise InputError("no task has a score of these splits and languages", path=path)
        return collected.make_task(then=(
            "the items are whole tasks, as MTEB keeps no scores of theirs: tests tell whether one model is better than "
            "another on other tasks of this kind, and nothing of other items of these tasks",))

    def _read_model(self, folder: Path, sources: Sources) -> str:
        """Return the model of a folder by its metadata, else by folder names."""
        revision, model = folder.absolute().name, folder.absolute().parent.name.replace("__", "/", 1)
        if (folder / _META).is_file():
            meta, place = sources.load_json(folder / _META)
            model = get_member(meta, "name", of=str, place=place)
        return f"{model}.{revision[:7]}" if self.revisions == "apart" else model

    def _read_task(self, results: Any, place: Place) -> tuple[str, float | None, Parts]:
        """Return a task's name, its score, and the parts of this mean."""
        task = get_member(results, "task_name", of=str, place=place)
        scores = get_member(results, "scores", of=dict, place=place)
        splits = self.splits or (("test",) if "test" in scores else tuple(scores))
        found: dict[tuple[str, str], float] = {}
        for split in splits:
            entries = scores.get(split, [])
            if not isinstance(entries, list):
                raise place.error(f"'scores.{split}' is no list of subsets")
            for n, entry in enumerate(entries):
                if (score := self._read_subset(entry, place)) is not None:
                    found[split, str(entry.get("hf_subset", n))] = score
        if any(map(math.isnan, found.values())) or not found:
            return task, None, found.keys()
        return task, compute_mean(list(found.values())), found.keys()

    def _read_subset(self, entry: Any, place: Place) -> float | None:
        """Return a subset's main score, nan if absent; None if its language is not requested."""
        languages = get_member(entry, "languages", of=list, place=place)
        if self.languages and not any(str(language) in self.languages or str(language).partition("-")[0] in
                                      self.languages for language in languages):
            return None
        value = get_member(entry, "main_score", of=object, place=place)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        if (score := to_score(value)) is None:
            raise place.error(f"'main_score' is {str(value)[:40]!r}; expected a number")
        return score


def _make_parts_error(task: str, one: tuple[str, Parts], other: tuple[str, Parts], place: Place) -> InputError:
    """Return the error for two models with different splits or subsets of a task."""
    (model, found), (second, wanted) = one, other
    lacking, (split, subset) = (model, min(wanted - found)) if wanted - found else (second, min(found - wanted))
    return place.error(f"{lacking!r} has no result of split {split!r}, subset {subset!r}, of {task!r}, and "
                       f"{second if lacking == model else model!r} has one, so that their means do not compare: choose "
                       "what all have with --option splits=... or languages=..., leave out the task with --option "
                       "tasks=..., or the model")
