"""Which items to look at: those on which systems disagree, the hard ones, and those whose gold is in doubt."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from registry.errors import MismatchError
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.rows import selected

Rows = list[dict[str, Any]]


def disagreed(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """The items (of one test set) on which submissions disagree most.

    Where items have answers, that is how many of them two runs do not share; else the deviation of the items' scores by
    the primary metric.

    Raises:
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    if has_answers(connection, task):
        return selected(connection, """
            SELECT task, test_set, item, differing, answers, runs FROM item_disagreement
            WHERE task = :task AND (:test_set IS NULL OR test_set = :test_set)
            ORDER BY differing DESC, item_id LIMIT :limit""", task=task.slug, limit=limit, test_set=test_set)
    return selected(connection, """
        SELECT task, test_set, item, metric, deviation, worst, best, mean, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric AND (:test_set IS NULL OR test_set = :test_set)
        ORDER BY deviation DESC NULLS LAST, item_id LIMIT :limit""",
        task=task.slug, metric=catalog.primary_metric(connection, task.task_id).alias, limit=limit, test_set=test_set)


def hard(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items with the worst mean score of their own, by the primary metric.

    Raises:
        MismatchError: The gold is withheld.
    """
    require_items(connection, task)
    metric = catalog.primary_metric(connection, task.task_id)
    direction = "ASC" if metric.better == "higher" else "DESC"
    return selected(connection, f"""
        SELECT task, test_set, item, metric, mean, deviation, worst, best, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric ORDER BY mean {direction}, item_id LIMIT :limit""",  # noqa: S608
        task=task.slug, metric=metric.alias, limit=limit)


def suspect(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items on which all contradict the gold, those on which most agree against it first.

    Raises:
        MismatchError: The items have no answers that could contradict a gold, or the gold is withheld.
    """
    require_items(connection, task)
    if not has_answers(connection, task):
        raise MismatchError(f"the items of {task.slug} are texts, whose gold no answer can contradict; "
                            f"`registry items {task.slug} hard` lists those that nobody comes near")
    return selected(connection, """
        SELECT task, test_set, item, missed, spurious, instead, support, runs FROM suspect_item
        WHERE task = :task ORDER BY support DESC, item_id LIMIT :limit""", task=task.slug, limit=limit)


def require_items(connection: Connection, task: TaskRow) -> None:
    """Raise an error if a public file has no items of a task.

    Raises:
        MismatchError: The gold is withheld.
    """
    for test_set in catalog.test_sets(connection, task.task_id):
        catalog.item_ids(connection, test_set.gold_revision_id)


def has_answers(connection: Connection, task: TaskRow) -> bool:
    """Whether the task's items have answers that can be told apart; free text has none."""
    return bool(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.is_declared"""), {"task": task.task_id}).scalar_one())
