"""Importer of samples of the LM Evaluation Harness.

The harness writes a folder per model, with a file `samples_TASK_DATE.jsonl` per task. A sample is identified by the
digests of its document and its target, because `doc_id` only counts documents. A metric is imported if the mean of its
sample scores equals the score in the results. Perplexities are imported if the formula over log-probabilities and
lengths does. Other scores, such as corpus BLEU and F1, cannot be computed from one number per sample.

The results of a run (`results_DATE.json`, or `NAME_DATE.json` if `--output_path` is a file) have these scores, the
model's name, and whether lower scores are better. Several models may share a folder, so that the date in the file names
connects results and samples.

The score of a group of tasks is either the mean over all samples, or the mean over tasks; only the scores show which.
If it is the mean over samples, all tasks become one test set. Otherwise each task becomes a test set, all with equal
weight.
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

from registry.errors import InputError, listed, suggest
from registry.importers.base import (
    MEAN,
    Better,
    Measure,
    Place,
    Repeated,
    Run,
    ScoreCollection,
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
    select_repeated,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder
from registry.readers import Document


def list_groups(logs: Iterable[Log]) -> list[str]:
    """Return the names of groups of tasks that have a score in at least one log."""
    return list(dict.fromkeys(name for log in logs for name in log.get_result("groups", kind=dict) or ()))


class Group:
    """Group of tasks, with its logged scores and the mean scores of its tasks.

    Attributes:
        name: Name of the group.
        tasks: Names of the tasks in the group and its subgroups.
    """

    def __init__(self, name: str, logs: list[Log], path: Path) -> None:
        """Find the tasks of the group in the logged results.

        Raises:
            InputError: No results mention the group, two results list different tasks, or a model has no samples of a
                task.
        """
        self.name = name
        listed = {log.path: tasks for log in logs if (tasks := _list_tasks(log, name))}
        if not listed:
            known = {group for log in logs for group in log.get_result("group_subtasks", kind=dict) or ()}
            raise InputError(f"no results of a group {name!r}; {suggest(name, known)}", path=path)
        first, self.tasks = next(iter(listed.items()))
        if other := next((file for file, tasks in listed.items() if set(tasks) != set(self.tasks)), None):
            raise InputError(f"the group {name!r} has different tasks here and in the results of {first}; import logs "
                             "of the same version of the group", path=other)
        model_tasks: dict[str, set[str]] = defaultdict(set)
        for log in logs:
            model_tasks[log.model].add(log.task)
        for model, logged in model_tasks.items():
            missing = [task for task in self.tasks if task not in logged]
            if missing and logged & set(self.tasks):
                raise InputError(f"the samples of {model!r} on {missing[0]!r} are missing, a task of the group "
                                 f"{name!r}; add them, or remove the model", path=path, category="missing")
        self._means: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
        self._scores: dict[tuple[str, str], tuple[float, Path]] = {}

    def may_have_score(self, metric: str, filter_: str, log: Log) -> bool:
        """Return True if a log may have a score of the group by a metric and a filter.

        The result is False if the log has scores of the group, but none by this metric and filter.
        """
        scores = log.get_result("groups", self.name, kind=dict)
        return not scores or f"{metric},{filter_}" in scores

    def add_task(self, log: Log, metric: str, filter_: str, run: Run) -> None:
        """Store the mean score of a task in the group, and the logged score of the group.

        Args:
            log: Log of the task.
            metric: Name of the metric.
            filter_: Name of the filter, which extracts the answer from the model's output.
            run: Scores of the task's samples.
        """
        key = (log.model, log.date)
        scores = [score for score, _ in run.values() if isinstance(score, float)]
        self._means[key].append((compute_mean(scores) if scores else 0.0, len(scores)))
        if (score := log.get_score(metric, filter_, self.name)) is not None:
            self._scores[key] = score, log.path

    def is_sample_mean(self) -> bool:
        """Return True if the group's logged score is the mean over all samples.

        Return False if the score is the mean over the scores of tasks, or is unknown.

        Raises:
            InputError: The score is neither of the two means.
        """
        is_weighted = True
        for key, (score, path) in self._scores.items():
            means = self._means[key]
            task_mean = compute_mean([mean for mean, _ in means])
            n_samples = sum(n for _, n in means)
            sample_mean = math.fsum(mean * (n / n_samples) for mean, n in means) if n_samples else math.nan
            if is_near(sample_mean, score):
                continue
            is_weighted = False
            if not is_near(task_mean, score):
                raise InputError(f"the score of the group {self.name!r} is {score:.6g}, but the mean over its samples "
                                 f"is {sample_mean:.6g}, and the mean over its tasks is {task_mean:.6g}; import "
                                 "without --option group", path=path)
        return is_weighted and bool(self._scores)


def _list_tasks(log: Log, name: str) -> tuple[str, ...]:
    """Return the names of all tasks in a group and its subgroups.

    Args:
        log: Log with the members of groups.
        name: Name of the group; an unknown group has no tasks.
    """
    members = log.get_result("group_subtasks", kind=dict) or {}
    tasks: dict[str, None] = {}
    visited, pending = {name}, [name] if name in members else []
    while pending:
        parts = members[pending.pop()]
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, str) and part not in visited:
                visited.add(part)
                if members.get(part):
                    pending.append(part)
                else:
                    tasks[part] = None
    return tuple(tasks)


_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>[^_]+)\.jsonl(\.gz)?")
_RESULTS = re.compile(r".+_(?P<date>[^_]+)\.json(\.gz)?")


@dataclass(frozen=True)
class Log:
    """Log of one model on one task: a file of samples, and the parsed results.

    Attributes:
        path: Path of the file of samples.
        task: Name of the task.
        date: Date in the file name.
        results: Parsed file of results, which has the total scores of all tasks; None if there is no such file.
    """

    path: Path
    task: str
    date: str
    results: Any

    @property
    def model(self) -> str:
        """Name of the model in the results; if there are no results, name of the folder."""
        return self.get_result("model_name", kind=str) or self.path.absolute().parent.name

    def get_result(self, *keys: str, kind: type | tuple[type, ...]) -> Any:
        """Return a nested value of the results: keys "a", "b" give `results["a"]["b"]`.

        Returns:
            The value; None if a key is absent or the value is not of type `kind`.
        """
        value = self.results
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, kind) else None

    def get_score(self, metric: str, filter_: str, group: str | None = None) -> float | None:
        """Return the total score in the results by one metric and filter.

        Args:
            metric: Name of the metric.
            filter_: Name of the filter, which extracts the answer from the model's output.
            group: Name of a group of tasks; None for the score of this log's task.

        Returns:
            The score; None if the results do not have it.
        """
        keys = ("results", self.task) if group is None else ("groups", group)
        return to_score(self.get_result(*keys, f"{metric},{filter_}", kind=(int, float)))

    @cached_property
    def filters(self) -> list[str]:
        """Names of the filters (extractors of the answer) by which the task has scores."""
        scores = self.get_result("results", self.task, kind=dict) or {}
        return list(dict.fromkeys(key.partition(",")[2] for key in scores if "," in key))

    def get_direction(self, metric: str) -> Better | None:
        """Return whether "higher" or "lower" scores of a metric are better.

        Returns:
            The direction; None if the results do not declare it.
        """
        is_higher = self.get_result("higher_is_better", self.task, metric, kind=bool)
        return None if is_higher is None else "higher" if is_higher else "lower"


def is_log(file: Path) -> bool:
    """Return True if a file is a log of samples of the LM Evaluation Harness.

    Its name must be `samples_TASK_DATE.jsonl`, and its first sample must have the keys `doc_id` and `doc_hash`.
    """
    if _FILE.fullmatch(file.name) is None:
        return False
    try:
        sample, _ = next(read_objects(Document.load(file), nan=True), ({}, None))
    except InputError:
        return False
    return "doc_id" in sample and "doc_hash" in sample


def find_logs(sources: Sources, files: Sequence[Path] | None = None) -> list[Log]:
    """Find the logs to import, and parse the file of results that belongs to each.

    Args:
        sources: Loader of the imported folder.
        files: Files of samples; None to search the folder for them.
    """
    logs: list[Log] = []
    folders: dict[Path, dict[str, Path]] = {}
    parsed: dict[Path, Any] = {}
    for file in files or find_files(sources.path, lambda name: _FILE.fullmatch(name) is not None,
                                    "samples_TASK_DATE.jsonl, which lm_eval --log_samples writes,"):
        match = _FILE.fullmatch(file.name)
        if match is None:
            raise InputError("the file name does not contain the task; name a file samples_TASK_DATE.jsonl, or the "
                             "folder of all logs", path=file)
        if file.parent not in folders:
            folders[file.parent] = _find_results(file.parent)
        results = folders[file.parent].get(match["date"])
        if results is not None and results not in parsed:
            parsed[results] = read_json(sources.load(results))
        logs.append(Log(file, match["task"], match["date"], None if results is None else parsed[results]))
    return logs


def _find_results(folder: Path) -> dict[str, Path]:
    dated = {match["date"]: file for file in sorted(folder.iterdir()) if (match := _RESULTS.fullmatch(file.name))}
    return {date: file for date, file in dated.items() if file.is_file() and not file.is_symlink()}


_DIGEST = re.compile(r"[0-9a-f]{16,128}")
_NO_METRIC = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
              "prompt_hash", "target_hash"}
_PERPLEXITY = Measure(("nats", "units"), "exp(nats / units)")
_BITS = Measure(("bits", "bytes"), "bits / bytes")
_LIKELIHOOD_MEASURES = {"perplexity": _PERPLEXITY, "word_perplexity": _PERPLEXITY, "byte_perplexity": _PERPLEXITY,
                        "bits_per_byte": _BITS}

Samples = dict[str, tuple[Any, Place]]  # values of one metric, by item


@dataclass
class _Import:
    """Data that are collected while logs are imported.

    Attributes:
        collection: Imported scores.
        tasks: Maps each test set to its task.
        measures: The different rules that compute scores (such as the mean), each with the name of a metric that uses
            it.
        ignored: Maps each test set that is not imported to the reason.
        filters: Names of the filters in all samples, by the metric.
    """

    collection: ScoreCollection
    tasks: dict[str, str] = field(default_factory=dict)
    measures: dict[Measure, str] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)
    filters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class LmEval(ScoredImporter):
    """LM Evaluation Harness: `samples_*.jsonl`, in one folder per model.

    This importer makes a test set for each task, filter (extractor of the answer) and metric; samples are the items.

    Attributes:
        tasks: Names of the tasks to import; empty for all.
        metrics: Names of the metrics to import; empty for all metrics that are means over samples.
        filters: Names of the filters of answers to import; empty for all.
        group: Name of a group of tasks to import, with the average that the harness computes.
        repeated: Treatment of several logs of one model and task: `reject` them, import the `latest`, or import all as
            `runs`.
        duplicates: Treatment of a document that occurs twice in a task: `reject` the log, or `number` the occurrences
            in the log's order. With `number`, documents are the clusters of the tests.
    """

    name = "lm-eval"

    tasks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    group: str | None = None
    repeated: Repeated = "reject"
    duplicates: Literal["reject", "number"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        return self._read_logs(path)

    def read_files(self, files: Sequence[Path]) -> TaskFolder | None:
        files = list(dict.fromkeys(file.absolute() for file in files))
        if not all(file.is_file() and is_log(file) for file in files):
            return None
        return self._read_logs(Path(commonpath([file.parent for file in files])), files)

    def _read_logs(self, path: Path, files: Sequence[Path] | None = None) -> TaskFolder:
        collection = ScoreCollection(path, self.missing, self.better)
        data, logs = _Import(collection), find_logs(collection, files)
        group = None if self.group is None else Group(self.group, logs, path)
        for selected in self._select_logs(logs, group, path):
            for run, log in enumerate(selected, 1):
                self._add_scores(log, str(run), group, data)
        for option, requested, known in (("metrics", self.metrics, {*data.filters}),
                                         ("filters", self.filters, set[str]().union(*data.filters.values()))):
            if unknown := [name for name in requested if name not in known]:
                raise InputError(f"no sample has {unknown[0]!r} of option {option!r}; {suggest(unknown[0], known)}",
                                 path=path, category="unknown")
        collection.remove_test_sets(data.ignored)
        if not collection.test_sets and not data.ignored and self.metrics and self.filters:
            pairs = "; ".join(f"{metric} has {', '.join(map(repr, sorted(filters)))}"
                              for metric, filters in sorted(data.filters.items()))
            raise InputError(f"no sample has both {listed(self.metrics, 3)} of option 'metrics' and "
                             f"{listed(self.filters, 3)} of option 'filters'; filters of each metric: {pairs}",
                             path=path, category="unknown")
        if not collection.test_sets:
            raise InputError("no score can be imported, because none is the mean over its samples" + "".join(
                f"; {test_set!r} {reason}" for test_set, reason in sorted(data.ignored.items())), path=path)
        if len(data.measures) > 1:
            first, second = list(data.measures.values())[:2]
            raise InputError(f"{first!r} and {second!r} are computed from their samples in different ways; import the "
                             "two separately with --option metrics=NAME", path=path)
        advice = self._join_group(data, group, path) or suggest_across(
            {test_set: data.tasks[test_set] for test_set in collection.test_sets},
            "--option metrics=NAME and --option filters=NAME")
        if group is None and (names := list_groups(logs)):
            advice += (f"the harness averages the tasks of {', '.join(names)[:200]}; add --option group={names[0]} to "
                       "import a group with this average",)
        return collection.make_task(next(iter(data.measures)), tuple(
            f"{test_set!r} is ignored: it {reason}" for test_set, reason in data.ignored.items()), advice)

    def _select_logs(self, logs: list[Log], group: Group | None, path: Path) -> list[list[Log]]:
        """Select the requested logs.

        Returns:
            One list for each pair of task and model, sorted by date.
        """
        check_known(self.tasks, {log.task for log in logs}, "samples of task", path)
        selected: dict[tuple[str, str], dict[Path, Log]] = defaultdict(dict)
        for log in logs:
            if (not self.tasks or log.task in self.tasks) and (group is None or log.task in group.tasks):
                selected[log.task, log.model][log.path] = log
        return [[files[file] for file in select_repeated(
            {file: log.date for file, log in files.items()}, self.repeated, f"{model!r} on {task!r}",
            "" if all(log.results for log in files.values()) else
            "; if the logs belong to different models, put results_DATE.json, which has the model's name, next to "
            "each log")]
            for (task, model), files in selected.items()]

    def _add_scores(self, log: Log, run: str, group: Group | None, data: _Import) -> None:
        """Read the requested scores of a log, and add them to the imported data.

        Each pair of filter and metric becomes a test set, unless its total score cannot be computed from the samples.

        Args:
            log: The log.
            run: Name of the run.
            group: Group of tasks to import; None for no group.
            data: Receives the scores, or the reason why a test set is ignored.
        """
        for (filter_, metric), samples in self._read_samples(log, data).items():
            if group and not group.may_have_score(metric, filter_, log):
                continue
            test_set = ".".join([log.task, *(filter_,) * (filter_ != "none"), metric])
            measure = _LIKELIHOOD_MEASURES.get(metric, MEAN)
            scores = _read_scores(metric, measure, samples)
            if reason := self._find_obstacle(scores, measure, metric, filter_, log):
                data.ignored[test_set] = reason
                continue
            scores = scores or {}
            data.measures.setdefault(measure, metric)
            data.tasks[test_set] = log.task
            better = log.get_direction(metric) or (None if measure is MEAN else "lower")
            data.collection.add_run(test_set, log.model, run, scores, better)
            if self.duplicates == "number":
                data.collection.set_cluster(test_set, "document")
                for item, (_, place) in scores.items():
                    data.collection.set_attributes(test_set, item, {"document": item.partition("#")[0]}, place)
            if group:
                group.add_task(log, metric, filter_, scores)

    def _find_obstacle(self, scores: Run | None, measure: Measure, metric: str, filter_: str, log: Log) -> str | None:
        """Return the reason why a metric of a log is not imported; None if it is.

        Raises:
            InputError: The user requests this metric, but its total score cannot be computed from the samples.
        """
        reason = _explain_mismatch(scores, measure, log.get_score(metric, filter_))
        if reason and metric in self.metrics:
            raise InputError(f"metric {metric!r} of {log.task!r} {reason}", path=log.path)
        if reason is None and measure is not MEAN and metric not in self.metrics:
            return f"is not a mean (add --option metrics={metric} to import it)"
        return reason

    def _join_group(self, data: _Import, group: Group | None, path: Path) -> tuple[str, ...]:
        """Join the test sets of a group of tasks into one test set.

        The test sets are joined only if the group's score is the mean over all samples.

        Returns:
            Advice for the user; empty if the test sets are not joined.
        """
        if group is None:
            return ()
        tasks = {test_set: data.tasks[test_set] for test_set in data.collection.test_sets}
        endings = {test_set.removeprefix(task) for test_set, task in tasks.items()}
        if len(endings) > 1:
            raise InputError(f"the group {group.name!r} has several scores ({', '.join(sorted(endings))[:200]}); "
                             "choose one with --option metrics=NAME and --option filters=NAME", path=path)
        if not group.is_sample_mean():
            return ()
        name = group.name + endings.pop()
        data.collection.join_test_sets(tasks, name)
        return (f"Is one system better than another on {group.name}? `registry compare {{task}}` tests the mean over "
                f"the samples of its {len(tasks)} tasks, {name!r}, which is the group's score in the harness",)

    def _read_samples(self, log: Log, data: _Import) -> dict[tuple[str, str], Samples]:
        """Return the requested values of a log's samples.

        The names of all filters and metrics in the log are added to `data`.

        Returns:
            Nested dicts: the keys are (filter, metric), then the name of the sample.
        """
        values: dict[tuple[str, str], Samples] = defaultdict(dict)
        for entry, place in read_objects(data.collection.load(log.path), nan=True):
            filter_ = _read_filter(entry, log, place)
            metrics = entry.get("metrics", [name for name in entry if name not in _NO_METRIC])
            if not isinstance(metrics, list) or not all(isinstance(name, str) and name in entry for name in metrics):
                raise place.error("'metrics' lists names that are not keys of the sample")
            for metric in metrics:
                data.filters[metric].add(filter_)
            if self.filters and filter_ not in self.filters:
                continue
            item = _make_key(entry, place)
            for metric in metrics:
                if not self.metrics or metric in self.metrics:
                    samples = values[filter_, metric]
                    samples[self._number_item(item, samples, entry, log, place)] = (entry[metric], place)
        return values

    def _number_item(self, item: str, samples: Samples, entry: dict[str, Any], log: Log, place: Place) -> str:
        """Return a unique name for an item: "NAME", or "NAME#2" if NAME already exists.

        Args:
            item: NAME.
            samples: Earlier samples, by name.
            entry: The new sample.
            log: Log that contains the sample.
            place: File and line of the sample, for errors.

        Raises:
            InputError: NAME exists, and the option `duplicates` is `reject`, or the log does not name the filters.
        """
        if item not in samples:
            return item
        if "filter" not in entry and not log.filters:
            raise make_duplicate_error(item, place, samples[item][1], "; if the samples are of two filters, evaluate "
                                       "the task with lm_eval 0.4.7 or newer, which writes the filter")
        if self.duplicates == "reject":
            raise make_duplicate_error(item, place, samples[item][1], "; add --option duplicates=number to import "
                                                                      "both, with documents as units of the tests")
        return next(name for n in count(2) if (name := f"{item}#{n}") not in samples)


def _read_filter(entry: dict[str, Any], log: Log, place: Place) -> str:
    """Return the name of the filter that extracted the answer in a sample.

    Raises:
        InputError: The results have several filters, and the sample does not name one.
    """
    if "filter" in entry:
        filter_: str = get_member(entry, "filter", kind=str, place=place)
        return filter_
    if len(log.filters) > 1:
        raise place.error(f"the results have the filters {', '.join(log.filters)[:200]}, but the samples have no key "
                          "'filter'; evaluate the task with lm_eval 0.4.7 or newer, which writes it")
    return log.filters[0] if log.filters else "none"


def _make_key(entry: dict[str, Any], place: Place) -> str:
    """Return a name that identifies the input and target of a sample in all logs.

    The name consists of the first 64 bits of the digests of document and target.

    Raises:
        InputError: The sample has no valid digests.
    """
    if "doc_hash" not in entry:
        raise place.error("the samples have no key 'doc_hash', so samples of different systems cannot be matched; "
                          "evaluate the task with lm_eval 0.4.3 or newer")
    digests = [get_member(entry, key, kind=str, place=place) for key in ("doc_hash", "target_hash")]
    for digest in digests:
        if not _DIGEST.fullmatch(digest):
            raise place.error(f"{digest[:80]!r} is not a digest; expected a hash in hexadecimal digits")
    return "-".join(digest[:16] for digest in digests)


def _read_scores(metric: str, measure: Measure, samples: Samples) -> Run | None:
    """Convert the logged values of one metric to scores of samples.

    Args:
        metric: Name of the metric.
        measure: Rule that computes the total score from the samples.
        samples: Logged values, by name of the sample; NaN means that a sample has no score.

    Returns:
        The scores. None if a value is not a number: for corpus BLEU, for example, the log has the texts of a sample.
    """
    scores: Run = {}
    for item, (value, place) in samples.items():
        numbers = value if isinstance(value, list) and measure is not MEAN else [value, 1]
        if not all(isinstance(number, int | float) for number in numbers) or len(numbers) != 2:
            return None
        if any(isinstance(number, float) and math.isnan(number) for number in numbers):
            scores[item] = (None, place)
            continue
        score, length = map(to_score, numbers)
        if score is None or length is None:
            raise place.error(f"{metric!r} is {value!r}; expected a finite number")
        if measure is not MEAN:
            scores[item] = ((-score / (math.log(2) if measure is _BITS else 1), length), place)
        else:
            scores[item] = (score, place)
    return scores


def _explain_mismatch(scores: Run | None, measure: Measure, score: float | None) -> str | None:
    """Compare a metric's logged total score with the score computed from samples.

    Args:
        scores: Scores of the samples; None if samples have no numbers.
        measure: Rule that computes the total score.
        score: Logged total score; None if it is unknown.

    Returns:
        None if both are equal, or if the logged score is unknown; else the difference as the end of a sentence, such as
        "is 0.5 over the samples, but 0.6 in the results".
    """
    if scores is None:
        return "has no number for each sample"
    pairs = [pair if isinstance(pair, tuple) else (pair, 1.0) for pair, _ in scores.values() if pair is not None]
    if score is None or not pairs:
        return None
    try:
        mean = math.fsum(numerator for numerator, _ in pairs) / math.fsum(length for _, length in pairs)
        mean = math.exp(mean) if measure is _PERPLEXITY else mean
    except (OverflowError, ZeroDivisionError):
        mean = math.nan
    if not is_near(mean, score):
        return f"is {mean:.6g} over the samples, but {score:.6g} in the results"
    return None
