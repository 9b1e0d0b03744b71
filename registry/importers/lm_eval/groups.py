"""The groups of the LM Evaluation Harness: suites of tasks with a score of their own.

A group's score is the mean of its tasks' scores, weighted by their numbers of samples or not. The results do not tell
which, so that the scores themselves have to: weighted, it is the mean over the samples of all tasks, which are then one
test set; else each task stays a test set, and counts the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from registry.errors import InputError, suggest
from registry.importers.lm_eval.logs import Log
from registry.importers.scored import Run, mean, near


def group_names(logs: Iterable[Log]) -> list[str]:
    """The groups of which the results have scores."""
    return list(dict.fromkeys(name for log in logs for name in log.result("groups", of=dict) or ()))


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
        found = {log.path: tasks for log in logs if (tasks := _tasks_of(log, name))}
        if not found:
            known = {group for log in logs for group in log.result("group_subtasks", of=dict) or ()}
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
        self._scores: dict[tuple[str, str], tuple[float, Path]] = {}

    def has(self, metric: str, filter_: str, log: Log) -> bool:
        """Whether the group has a score by the metric and filter, or none at all."""
        scores = log.result("groups", self.name, of=dict)
        return not scores or f"{metric},{filter_}" in scores

    def note(self, log: Log, metric: str, filter_: str, scores: Run) -> None:
        """Note what the samples of one of its tasks say, and what the results say of the group."""
        key = (log.model, log.date)
        found = [score for score, _ in scores.values() if isinstance(score, float)]
        self._means[key].append((mean(found) if found else 0.0, len(found)))
        if (score := log.score(metric, filter_, self.name)) is not None:
            self._scores[key] = score, log.path

    def by_sample(self) -> bool:
        """Whether the group's score is the mean over the samples of all tasks; else it is that over tasks.

        Raises:
            InputError: It is neither.
        """
        weighted = True
        for key, (score, path) in self._scores.items():
            means = self._means[key]
            of_tasks = mean([of_task for of_task, _ in means])
            n_samples = sum(n for _, n in means)
            of_samples = math.fsum(of_task * (n / n_samples) for of_task, n in means) if n_samples else math.nan
            if not near(of_samples, score):
                weighted = False
                if not near(of_tasks, score):
                    raise InputError(f"the score of the group {self.name!r} is {score:.6g}, which is neither the mean "
                                     f"over its samples, {of_samples:.6g}, nor over its tasks, {of_tasks:.6g}",
                                     path=path)
        return weighted and bool(self._scores)


def _tasks_of(log: Log, name: str) -> tuple[str, ...]:
    """The tasks below a group, those of groups in it too; none where the results do not know it."""
    below = log.result("group_subtasks", of=dict) or {}
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
