"""The metrics of tasks and test sets, and the metric that a user means."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from registry.manifest import decode_manifest
from registry.metric_names import match_alias
from registry.store import catalog
from registry.store.catalog import DeclaredMetric, TaskRow


def choose_alias(connection: Connection, tasks: Sequence[TaskRow], name: str | None) -> str | None:
    """Return the id of the metric that a user means by an id or a common name; None if no metric is named.

    Args:
        connection: Connection to the registry.
        tasks: The tasks that may declare the metric.
        name: The id in the tasks' manifests, or a common name such as `macro F1`.

    Raises:
        AmbiguousMetricError: Several metrics have the name.
        UnknownNameError: No task declares the metric.
    """
    declared = {m.alias: m.name for task in tasks for m in catalog.task_metrics(connection, task.task_id)}
    return None if name is None else match_alias(name, declared)


def load_metrics(connection: Connection, task_row: TaskRow, test_set: str) -> list[DeclaredMetric]:
    """Return the database rows of the metrics that score the systems of a test set."""
    aliases = {spec.id for spec in decode_manifest(task_row.manifest).get_metrics(test_set)}
    return [row for row in catalog.task_metrics(connection, task_row.task_id) if row.alias in aliases]
