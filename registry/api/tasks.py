"""The tasks of a registry, each with what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from sqlalchemy import Connection, select, text

from registry.errors import UnknownNameError
from registry.manifest import stored_manifest
from registry.metric_names import metric_title
from registry.rendering.render import Shown
from registry.rendering.table import Column, Table
from registry.rendering.table import text as written
from registry.store import catalog, models
from registry.store.catalog import TaskRow

_SETS = text("""
    SELECT test_set.name, coalesce(any_value(gold.n_items), 0) AS items, count(ranked.submission_id) AS submissions
    FROM test_set
    LEFT JOIN gold_revision AS gold ON gold.gold_revision_id = test_set.gold_revision_id
    LEFT JOIN ranked_submission AS ranked ON ranked.test_set_id = test_set.test_set_id
    WHERE test_set.task_id = :task AND test_set.is_declared
    GROUP BY test_set.name, test_set.position ORDER BY test_set.position, test_set.name""")


@dataclass(frozen=True)
class TestSet:
    """A test set, with how many items it has and how many submissions take part."""

    name: str
    items: int
    submissions: int


@dataclass(frozen=True)
class TaskMetric:
    """A metric of a task.

    Attributes:
        id: What the task calls it.
        name: Its canonical name, with its options.
        title: What people call it.
        better: Whether higher or lower scores are better.
        is_primary: Whether boards are by this metric unless another one is named.
    """

    id: str
    name: str
    title: str
    better: str
    is_primary: bool


@dataclass(frozen=True)
class Task:
    """A task: its id, its title and version, its test sets and its metrics."""

    id: str
    title: str
    version: str
    test_sets: tuple[TestSet, ...]
    metrics: tuple[TaskMetric, ...]


class Tasks(Shown, Sequence[Task]):
    """All tasks, those first that came first; `tasks["id"]` is that of an id."""

    def __init__(self, found: Sequence[Task]) -> None:
        self._found = tuple(found)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, which: int | str) -> Task: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Task, ...]: ...
    def __getitem__(self, which: int | str | slice) -> Task | tuple[Task, ...]:
        if not isinstance(which, str):
            return self._found[which]
        known = {task.id: task for task in self}
        if which not in known:
            raise UnknownNameError("task", which, known)
        return known[which]

    @property
    def _table(self) -> Table:
        rows = [{"id": task.id, "title": task.title, "version": task.version,
                 "test_sets": ", ".join(of.name for of in task.test_sets),
                 "items": sum(of.items for of in task.test_sets),
                 "submissions": sum(of.submissions for of in task.test_sets),
                 "metrics": ", ".join(of.title for of in task.metrics)} for task in self]
        return Table(rows, [Column(key, key.replace("_", " "), written, right=key in ("items", "submissions"))
                            for key in ("id", "title", "version", "test_sets", "items", "submissions", "metrics")])


def tasks(connection: Connection) -> Tasks:
    """Read all of them."""
    rows = connection.execute(select(*TaskRow.columns()).order_by(models.task.c.task_id))
    return Tasks([_task(connection, TaskRow.of(row)) for row in rows.all()])


def _task(connection: Connection, row: TaskRow) -> Task:
    titles = {of.id: of.title for of in stored_manifest(row.manifest).metric}
    return Task(
        row.slug, row.title, row.version,
        tuple(TestSet(*of) for of in connection.execute(_SETS, {"task": row.task_id})),
        tuple(TaskMetric(of.alias, of.name, titles.get(of.alias) or metric_title(of.name), of.better, of.is_primary)
              for of in catalog.task_metrics(connection, row.task_id)))
