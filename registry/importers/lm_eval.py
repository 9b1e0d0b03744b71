"""Samples of the LM Evaluation Harness: a folder per model, with `samples_TASK_DATE.jsonl` per task.

A sample is identified by the digests of its document and target, because `doc_id` only counts documents. Sample scores
are imported if their mean is the score; for perplexities, their log-probabilities and lengths. Other aggregates (corpus
BLEU, F1) cannot be computed from single numbers.

The results of a run (`results_DATE.json`, or `NAME_DATE.json` if `--output_path` is a file) say which these are, the
model's name, and whether lower is better. Several models may share a folder, so the date finds them.

A group's score is the mean of its tasks' scores, weighted by numbers of samples or not; only the scores tell which. If
weighted, all tasks become one test set. Otherwise each task stays a test set, and all count equally.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from os.path import commonpath
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError, suggest
from registry.importers.base import (
    MEAN,
    Better,
    Collected,
    Measure,
    Place,
    Run,
    ScoredImporter,
    Sources,
    check_known,
    compute_mean,
    find_files,
    get_member,
    is_near,
    make_duplicate_error,
    read_json,
    read_objects,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder
from registry.readers import Document


def list_groups(logs: Iterable[Log]) -> list[str]:
    """Return the groups that have scores."""
    return list(dict.fromkeys(name for log in logs for name in log.get_result("groups", of=dict) or ()))


class Group:
    """One group, and what its tasks' samples say of its score.

    Attributes:
        name: Of the group.
        tasks: Those below it, of groups in it too.
    """

    def __init__(self, name: str, logs: list[Log], path: Path) -> None:
        """Find the group's tasks in the results.

        Raises:
            InputError: There is no such group, its results differ in its tasks, or a model lacks one.
        """
        self.name = name
        found = {log.path: tasks for log in logs if (tasks := _list_tasks(log, name))}
        if not found:
            known = {group for log in logs for group in log.get_result("group_subtasks", of=dict) or ()}
            raise InputError(f"no results of a group {name!r}; {suggest(name, known)}", path=path)
        first, self.tasks = next(iter(found.items()))
        if other := next((file for file, tasks in found.items() if set(tasks) != set(self.tasks)), None):
            raise InputError(f"the group {name!r} has other tasks here than beside {first}", path=other)
        logged: dict[str, set[str]] = defaultdict(set)
        for log in logs:
            logged[log.model].add(log.task)
        for model, of_model in logged.items():
            if of_model & set(self.tasks) and (lacking := [task for task in self.tasks if task not in of_model]):
                raise InputError(f"no samples of {model!r} on {lacking[0]!r}, which is of the group {name!r}",
                                 path=path, category="missing")
        self._means: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
        self._read_scores: dict[tuple[str, str], tuple[float, Path]] = {}

    def has(self, metric: str, filter_: str, log: Log) -> bool:
        """Return True if the group has a score by the metric and filter, or none at all."""
        scores = log.get_result("groups", self.name, of=dict)
        return not scores or f"{metric},{filter_}" in scores

    def add(self, log: Log, metric: str, filter_: str, scores: Run) -> None:
        """Add a task's samples, and the group's results."""
        key = (log.model, log.date)
        found = [score for score, _ in scores.values() if isinstance(score, float)]
        self._means[key].append((compute_mean(found) if found else 0.0, len(found)))
        if (score := log.get_score(metric, filter_, self.name)) is not None:
            self._read_scores[key] = score, log.path

    def is_by_sample(self) -> bool:
        """True if the group's score is the mean over samples of all tasks; else over tasks.

        Raises:
            InputError: It is neither.
        """
        weighted = True
        for key, (score, path) in self._read_scores.items():
            means = self._means[key]
            of_tasks = compute_mean([of_task for of_task, _ in means])
            n_samples = sum(n for _, n in means)
            of_samples = math.fsum(of_task * (n / n_samples) for of_task, n in means) if n_samples else math.nan
            if not is_near(of_samples, score):
                weighted = False
                if not is_near(of_tasks, score):
                    raise InputError(f"the score of the group {self.name!r} is {score:.6g}, which is neither the mean "
                                     f"over its samples, {of_samples:.6g}, nor over its tasks, {of_tasks:.6g}",
                                     path=path)
        return weighted and bool(self._read_scores)


def _list_tasks(log: Log, name: str) -> tuple[str, ...]:
    """List the tasks below a group and its subgroups; empty if the results lack it."""
    below = log.get_result("group_subtasks", of=dict) or {}
    tasks: dict[str, None] = {}
    seen, left = {name}, [name] if name in below else []
    while left:
        parts = below[left.pop()]
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, str) and part not in seen:
                seen.add(part)
                if below.get(part):
                    left.append(part)
                else:
                    tasks[part] = None
    return tuple(tasks)


_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>[^_]+)\.jsonl(\.gz)?")
_RESULTS = re.compile(r".+_(?P<date>[^_]+)\.json(\.gz)?")


@dataclass(frozen=True)
class Log:
    """The samples of one task, and the results of the whole run that stand beside them."""

    path: Path
    task: str
    date: str
    results: Any

    @property
    def model(self) -> str:
        """Name of the model, else of the folder."""
        return self.get_result("model_name", of=str) or self.path.absolute().parent.name

    def get_result(self, *keys: str, of: type | tuple[type, ...]) -> Any:
        """Return the results under nested keys; None if absent."""
        value = self.results
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, of) else None

    def get_score(self, metric: str, filter_: str, group: str | None = None) -> float | None:
        """Return the score of the task or of a group."""
        of = ("results", self.task) if group is None else ("groups", group)
        return to_score(self.get_result(*of, f"{metric},{filter_}", of=(int, float)))

    @cached_property
    def filters(self) -> list[str]:
        """Return the filters that have scores, in their order."""
        scores = self.get_result("results", self.task, of=dict) or {}
        return list(dict.fromkeys(key.partition(",")[2] for key in scores if "," in key))

    def find_better(self, metric: str) -> Better | None:
        """Return the direction of a score by the results."""
        higher = self.get_result("higher_is_better", self.task, metric, of=bool)
        return None if higher is None else "higher" if higher else "lower"


def is_log(file: Path) -> bool:
    """Return True if a file has the name and content of samples with digests."""
    if _FILE.fullmatch(file.name) is None:
        return False
    try:
        sample, _ = next(read_objects(Document.load(file), nan=True), ({}, None))
    except InputError:
        return False
    return "doc_id" in sample and "doc_hash" in sample


def find_logs(sources: Sources, files: Sequence[Path] | None = None) -> list[Log]:
    """Return the logs of an import, or those in some files, with their parsed results."""
    logs: list[Log] = []
    beside: dict[Path, dict[str, Path]] = {}
    read: dict[Path, Any] = {}
    for file in files or find_files(sources.path, lambda name: _FILE.fullmatch(name) is not None,
                                    "samples_TASK_DATE.jsonl, which lm_eval --log_samples writes,"):
        match = _FILE.fullmatch(file.name)
        if match is None:
            raise InputError("not called samples_TASK_DATE.jsonl, so that its task is unknown; name such a file, or "
                             "the folder of all", path=file)
        if file.parent not in beside:
            beside[file.parent] = _find_results(file.parent)
        results = beside[file.parent].get(match["date"])
        if results is not None and results not in read:
            read[results] = read_json(sources.load(results))
        logs.append(Log(file, match["task"], match["date"], None if results is None else read[results]))
    return logs


def _find_results(folder: Path) -> dict[str, Path]:
    """Return the results in a folder by date."""
    found = {match["date"]: file for file in sorted(folder.iterdir()) if (match := _RESULTS.fullmatch(file.name))}
    return {date: file for date, file in found.items() if file.is_file() and not file.is_symlink()}


_DIGEST = re.compile(r"[0-9a-f]{16,128}")
_NO_METRIC = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
              "prompt_hash", "target_hash"}
_PERPLEXITY = Measure(("nats", "units"), "exp(nats / units)")
_BITS = Measure(("bits", "bytes"), "bits / bytes")
_OF_LIKELIHOODS = {"perplexity": _PERPLEXITY, "word_perplexity": _PERPLEXITY, "byte_perplexity": _PERPLEXITY,
                   "bits_per_byte": _BITS}  # the harness's metrics of log-probabilities, by its names

Samples = dict[str, tuple[Any, Place]]  # what a metric says of each item


@dataclass
class _Taken:
    """What was taken of the logs: scores, the tasks of test sets, metrics by what they are made of, and the rest."""

    collected: Collected
    tasks: dict[str, str] = field(default_factory=dict)
    measures: dict[Measure, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


class LmEval(ScoredImporter):
    """LM Evaluation Harness: `samples_*.jsonl` of one or several models, in one folder each.

    Attributes:
        tasks: The tasks; without any all.
        metrics: The metrics; without any all that are means over samples.
        filters: The filters of answers; without any all.
        group: A group of tasks, which are imported as a suite: as the harness averages them.
        repeated: Several logs of one model and task: `reject` them, take the `latest`, or take them as `runs`.
        duplicates: A document that stands twice in a task: `reject` the log, or `number` it in the log's order;
            documents are then the units of the tests.
    """

    name = "lm-eval"

    tasks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    group: str | None = None
    repeated: Literal["reject", "latest", "runs"] = "reject"
    duplicates: Literal["reject", "number"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        return self._read_logs(path)

    def read_files(self, files: Sequence[Path]) -> TaskFolder | None:
        files = list(dict.fromkeys(file.absolute() for file in files))
        if not all(file.is_file() and is_log(file) for file in files):
            return None
        return self._read_logs(Path(commonpath([file.parent for file in files])), files)

    def _read_logs(self, path: Path, files: Sequence[Path] | None = None) -> TaskFolder:
        collected = Collected(path, self.missing, self.better)
        taken, logs = _Taken(collected), find_logs(collected, files)
        group = None if self.group is None else Group(self.group, logs, path)
        for logs_of_model in self._choose_logs(logs, group, path).values():
            for run, log in enumerate(logs_of_model, 1):
                self._add_scores(log, str(run), group, taken)
        measures = taken.measures
        self._check_requested(taken.seen, path)
        collected.drop(taken.passed_over)
        if not collected.test_sets:
            raise InputError("no score is a mean of its samples' numbers" + "".join(
                f"; {test_set!r} {why}" for test_set, why in sorted(taken.passed_over.items())), path=path)
        if len(measures) > 1:
            one, other = list(measures.values())[:2]
            raise InputError(f"{one!r} and {other!r} are made of their samples in different ways; import them apart, "
                             "choosing with the option 'metrics'", path=path)
        then = self._join_suite(taken, group, path) or suggest_across(
            {test_set: taken.tasks[test_set] for test_set in collected.test_sets},
            "--option metrics=NAME and filters=NAME")
        if group is None and (names := list_groups(logs)):
            then += (f"the harness averages the tasks of {', '.join(names)[:200]}: --option group={names[0]} imports "
                     "such a group as it does",)
        return collected.make_task(next(iter(measures)), tuple(
            f"{test_set!r} is passed over: it {why}" for test_set, why in taken.passed_over.items()), then)

    def _add_scores(self, log: Log, run: str, group: Group | None, taken: _Taken) -> None:
        """Add the requested scores of a log's samples by filter and metric."""
        for (filter_, metric), samples in self._read_samples(log, taken).items():
            if group and not group.has(metric, filter_, log):
                continue
            test_set = ".".join([log.task, *(filter_,) * (filter_ != "none"), metric])
            measure = _OF_LIKELIHOODS.get(metric, MEAN)
            scores = _read_scores(metric, measure, samples)
            if why := self._find_fault(scores, measure, metric, filter_, log):
                taken.passed_over[test_set] = why
                continue
            taken.measures.setdefault(measure, metric)
            taken.tasks[test_set] = log.task
            better = log.find_better(metric) or (None if measure is MEAN else "lower")
            taken.collected.add(test_set, log.model, run, scores or {}, better)
            if self.duplicates == "number":
                taken.collected.cluster(test_set, "document")
                for item, (_, place) in (scores or {}).items():
                    taken.collected.describe(test_set, item, {"document": item.partition("#")[0]}, place)
            if group:
                group.add(log, metric, filter_, scores or {})

    def _join_suite(self, taken: _Taken, group: Group | None, path: Path) -> tuple[str, ...]:
        """Join the tasks of a group whose score is the mean over samples; returns a message."""
        if group is None:
            return ()
        of = {test_set: taken.tasks[test_set] for test_set in taken.collected.test_sets}
        kinds = {test_set.removeprefix(task) for test_set, task in of.items()}
        if len(kinds) > 1:
            raise InputError(f"the group {group.name!r} has scores of {', '.join(sorted(kinds))[:200]}; choose one "
                             "with the options 'metrics' and 'filters'", path=path)
        if not group.is_by_sample():
            return ()
        taken.collected.join(of, name := group.name + kinds.pop())
        return (f"is one system better than another on {group.name}? `registry compare {{task}}` tests the mean over "
                f"the samples of its {len(of)} tasks, {name!r}, which is the group's score in the harness",)

    def _find_fault(self, scores: Run | None, measure: Measure, metric: str, filter_: str, log: Log) -> str | None:
        """Return why a metric of a log is ignored; None if it is imported."""
        why = _explain_mismatch(scores, measure, log.get_score(metric, filter_))
        if why and metric in self.metrics:
            raise InputError(f"metric {metric!r} of {log.task!r} {why}", path=log.path)
        if why is None and measure is not MEAN and metric not in self.metrics:
            return f"is no mean; --option metrics={metric} takes it"
        return why

    def _check_requested(self, seen: set[str], path: Path) -> None:
        """Require that the requested metrics and filters exist."""
        for option, names in (("metrics", self.metrics), ("filters", self.filters)):
            if unknown := [name for name in names if f"{option}:{name}" not in seen]:
                known = [name.partition(":")[2] for name in seen if name.startswith(option)]
                raise InputError(f"no sample has {unknown[0]!r} of option {option!r}; {suggest(unknown[0], known)}",
                                 path=path)

    def _choose_logs(self, logs: list[Log], group: Group | None, path: Path) -> dict[tuple[str, str], list[Log]]:
        """Return the requested logs of every task and model, by date."""
        known = {log.task for log in logs}
        check_known(self.tasks, known, "samples of task", path)
        chosen: dict[tuple[str, str], list[Log]] = defaultdict(list)
        for log in logs:
            if (not self.tasks or log.task in self.tasks) and (group is None or log.task in group.tasks):
                chosen[log.task, log.model].append(log)
        for (task, model), files in chosen.items():
            if len(files) > 1 and self.repeated == "reject":
                of_others = "" if all(log.results for log in files) else (
                    "; if they are of different models, put the results_DATE.json, which name them, beside them")
                raise InputError(f"a log of {model!r} on {task!r}, as {files[0].path} is; take the latest or all as "
                                 f"runs with --option repeated=latest or runs{of_others}", path=files[1].path,
                                 category="duplicate")
            files.sort(key=lambda log: log.date)
            del files[:-1 if self.repeated == "latest" else 0]
        return chosen

    def _read_samples(self, log: Log, taken: _Taken) -> dict[tuple[str, str], Samples]:
        """Return the values of every filter and metric by item; adds existing ones to `seen`."""
        found: dict[tuple[str, str], Samples] = defaultdict(dict)
        for entry, place in read_objects(taken.collected.load(log.path), nan=True):
            filter_ = _read_filter(entry, log, place)
            metrics = entry.get("metrics", [name for name in entry if name not in _NO_METRIC])
            if not isinstance(metrics, list) or not all(isinstance(name, str) and name in entry for name in metrics):
                raise place.error("'metrics' does not list keys of the sample")
            taken.seen |= {f"filters:{filter_}", *(f"metrics:{name}" for name in metrics)}
            if self.filters and filter_ not in self.filters:
                continue
            item = _make_key(entry, place)
            for metric in metrics:
                if not self.metrics or metric in self.metrics:
                    samples = found[filter_, metric]
                    samples[self._number_item(item, samples, entry, log, place)] = (entry[metric], place)
        return found

    def _number_item(self, item: str, samples: Samples, entry: dict[str, Any], log: Log, place: Place) -> str:
        """Return the item, with a number if it exists and duplicates are allowed."""
        if item not in samples:
            return item
        if "filter" not in entry and not log.filters:
            raise make_duplicate_error(item, place, samples[item][1], "; if it is of two filters, which only lm_eval "
                                       "0.4.7 and newer tell apart, evaluate it with such a one")
        if self.duplicates == "reject":
            raise make_duplicate_error(item, place, samples[item][1], "; --option duplicates=number takes both, and "
                                       "tests by document")
        return next(name for n in count(2) if (name := f"{item}#{n}") not in samples)


def _read_filter(entry: dict[str, Any], log: Log, place: Place) -> str:
    """Return the filter whose answer a sample scores."""
    if "filter" in entry:
        filter_: str = get_member(entry, "filter", of=str, place=place)
        return filter_
    if len(log.filters) > 1:
        raise place.error(f"the results have the filters {', '.join(log.filters)[:200]}, and samples no key 'filter': "
                          "only lm_eval 0.4.7 and newer tell their samples apart; evaluate the task with such a one")
    return log.filters[0] if log.filters else "none"


def _make_key(entry: dict[str, Any], place: Place) -> str:
    """Return the name of a sample: 64 bits of both digests each."""
    if "doc_hash" not in entry:
        raise place.error("samples have no key 'doc_hash', and can only be paired where the harness wrote digests, as "
                          "it does from 0.4.3 on")
    digests = [get_member(entry, key, of=str, place=place) for key in ("doc_hash", "target_hash")]
    for digest in digests:
        if not _DIGEST.fullmatch(digest):
            raise place.error(f"{digest[:80]!r} is no digest")
    return "-".join(digest[:16] for digest in digests)


def _read_scores(metric: str, measure: Measure, samples: Samples) -> Run | None:
    """Return the scores of samples without nan; None if one is no number (texts that are compared at once)."""
    scores: Run = {}
    for item, (value, place) in samples.items():
        numbers = value if isinstance(value, list) and measure is not MEAN else [value, 1]
        if not all(isinstance(one, int | float) for one in numbers) or len(numbers) != 2:
            return None
        if any(isinstance(one, float) and math.isnan(one) for one in numbers):
            scores[item] = (None, place)
            continue
        score, length = (to_score(one) for one in numbers)
        if score is None or length is None:
            raise place.error(f"{metric!r} is {value!r}; expected a finite number")
        if measure is not MEAN:
            scores[item] = ((-score / (math.log(2) if measure is _BITS else 1), length), place)
        else:
            scores[item] = (score, place)
    return scores


def _explain_mismatch(scores: Run | None, measure: Measure, score: float | None) -> str | None:
    """Return why the harness's score is not made of these; None if it is, or is unknown."""
    if scores is None:
        return "is no number of a single sample"
    pairs = [one if isinstance(one, tuple) else (one, 1.0) for one, _ in scores.values() if one is not None]
    if score is None or not pairs:
        return None
    try:
        own = math.fsum(one for one, _ in pairs) / math.fsum(length for _, length in pairs)
        own = math.exp(own) if measure is _PERPLEXITY else own
    except (OverflowError, ZeroDivisionError):
        own = math.nan
    if not is_near(own, score):
        return f"is {own:.6g} over the samples, while the results say {score:.6g}"
    return None
