"""Importer of MTEB results: `MODEL/REVISION/TASK.json`.

A file has one score per split and subset of a task. MTEB stores no scores of single items. Tasks are therefore the
items of the imported test set, and the conclusions of tests apply to other tasks of this kind, not to other items of
these tasks. The score of a task is the mean of the main scores of its subsets.
"""

from __future__ import annotations

import math
from collections.abc import Set
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError
from registry.importers.base import (
    Place,
    Run,
    ScoreCollection,
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

_PREDICTIONS = "_predictions.json"  # models' answers without scores


class Mteb(ScoredImporter):
    """MTEB: folders of results, `MODEL/REVISION/TASK.json`; tasks are the items.

    This importer makes one test set; a model's score of a task is its mean over splits and subsets.

    Attributes:
        tasks: Names of the tasks to import, such as the tasks of one benchmark; empty for all.
        splits: Names of the splits to import; empty for `test`, or for all splits of a task without `test`.
        languages: Languages of the subsets to import, such as `eng` or `eng-Latn`; empty for all.
        revisions: Treatment of several revisions of a model with the same task: `reject` them, or import each revision
            as a system (`apart`).
    """

    name = "mteb"

    tasks: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    revisions: Literal["reject", "apart"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        collection, runs = ScoreCollection(path, self.missing, self.better), dict[str, Run]()
        names: dict[Path, str] = {}
        parts: dict[str, tuple[str, Parts]] = {}  # an example model of each task, with its parts of the task
        for file in find_files(path, lambda name: name.removesuffix(".gz").endswith(".json") and name != _META,
                               "TASK.json, as MTEB writes it,"):
            if file.name.endswith(_PREDICTIONS) or (
                    self.tasks and file.name.partition(".json")[0] not in self.tasks):
                continue
            if file.parent not in names:
                names[file.parent] = self._read_model(file.parent, collection)
            model = names[file.parent]
            results, place = collection.load_json(file)
            task, score, model_parts = self._read_task(results, place)
            first, first_parts = parts.setdefault(task, (model, model_parts))
            if model_parts != first_parts:
                raise _make_parts_error(task, (model, model_parts), (first, first_parts), place)
            run = runs.setdefault(model, {})
            if task in run:
                raise InputError(f"this is a second result of {model!r} on {task!r}, after {run[task][1].path}; keep "
                                 "one, or import both with --option revisions=apart", path=file, category="duplicate")
            run[task] = (score, place)
        check_known(self.tasks, parts, "result of task", path)
        for model, run in runs.items():
            collection.add_run("mteb", model, "1", run)
        if not any(score is not None for run in runs.values() for score, _ in run.values()):
            raise InputError("no task has a score of these splits and languages; change --option splits or languages",
                             path=path)
        return collection.make_task(advice=(
            "The items are whole tasks, because MTEB stores no scores of single items: a significant difference holds "
            "for other tasks of this kind, not for other items of these tasks",))

    def _read_model(self, folder: Path, sources: Sources) -> str:
        """Return the name of the model whose results are in a folder.

        The name includes the revision if each revision is imported as a separate system.
        """
        revision, model = folder.absolute().name, folder.absolute().parent.name.replace("__", "/", 1)
        if (folder / _META).is_file():
            meta, place = sources.load_json(folder / _META)
            model = get_member(meta, "name", kind=str, place=place)
        return f"{model}.{revision[:7]}" if self.revisions == "apart" else model

    def _read_task(self, results: Any, place: Place) -> tuple[str, float | None, Parts]:
        """Compute the mean score of a model on one task over the parts of the task.

        A part is a pair of split and subset. Only requested splits and languages count.

        Args:
            results: Parsed results of one model on one task.
            place: Path of the results, for errors.

        Returns:
            The task's name; the mean, or None if a part has no score; and the parts.
        """
        task = get_member(results, "task_name", kind=str, place=place)
        scores = get_member(results, "scores", kind=dict, place=place)
        splits = self.splits or (("test",) if "test" in scores else tuple(scores))
        parts: dict[tuple[str, str], float] = {}
        for split in splits:
            entries = scores.get(split, [])
            if not isinstance(entries, list):
                raise place.error(f"'scores.{split}' is not a list of subsets")
            for n, entry in enumerate(entries):
                if (score := self._read_subset(entry, place)) is not None:
                    parts[split, str(entry.get("hf_subset", n))] = score
        if any(map(math.isnan, parts.values())) or not parts:
            return task, None, parts.keys()
        return task, compute_mean(list(parts.values())), parts.keys()

    def _read_subset(self, entry: Any, place: Place) -> float | None:
        """Return the main score of one subset of a task.

        Returns:
            The score; NaN if the subset has no score; None if its language is not requested.
        """
        languages = get_member(entry, "languages", kind=list, place=place)
        if self.languages and not any(str(language) in self.languages or str(language).partition("-")[0] in
                                      self.languages for language in languages):
            return None
        value = get_member(entry, "main_score", kind=object, place=place)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        if (score := to_score(value)) is None:
            raise place.error(f"'main_score' is {str(value)[:40]!r}; expected a number")
        return score


def _make_parts_error(task: str, first: tuple[str, Parts], second: tuple[str, Parts], place: Place) -> InputError:
    """Make the error that two models have scores on different parts of a task.

    Args:
        task: Name of the task.
        first: One model, and the pairs of split and subset on which it was scored.
        second: Another model, and its pairs of split and subset.
        place: Path of the results, for the error.
    """
    if not second[1] - first[1]:
        first, second = second, first
    (model, parts), (other, other_parts) = first, second
    split, subset = min(other_parts - parts)
    return place.error(f"{model!r} has no result of {task!r}, split {split!r}, subset {subset!r}, but {other!r} has "
                       "one, so the means of these models are not comparable; choose parts that all models have with "
                       "--option splits=... or languages=..., or remove the task or the model")
