"""What every system says where the gold says something else: confusion matrices of labels, or of types of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, text

from registry.store.catalog import TaskRow

LABELS = 200  # of more than so many, labels are no classes that could be confused
CLASS = 10  # items from which on a label is a class: of fewer, its name would tell the gold of single items
OTHER = "other labels"


class Cell(NamedTuple):
    """How often the gold has one label and a system gives another, by the labels' places; None: there is none."""

    gold: int | None
    predicted: int | None
    items: int


@dataclass(frozen=True)
class Confusions:
    """The confusions of all systems on one test set.

    Attributes:
        test_set: Its name.
        typed: Whether these are types of answers at the same places rather than labels of items.
        labels: The most frequent in the gold first.
        gold: How often the gold has each.
        systems: The cells of every system that are not empty, over all of its runs, by (team, name).

    `OTHER`, where it is the last of the labels, is all that have no name here; these are not told apart.
    """

    test_set: str
    typed: bool
    labels: tuple[str, ...]
    gold: tuple[int, ...]
    systems: Mapping[tuple[str, str], tuple[Cell, ...]]


def confusions(connection: Connection, task: TaskRow, *, every_name: bool) -> Iterator[Confusions]:
    """The confusions on every test set whose gold has labels or types.

    Args:
        connection: One transaction.
        task: Whose.
        every_name: Whether labels that few items have are named too, which tells the gold of these; else they count as
            `OTHER`.
    """
    for test_set, (typed, counts) in _gold(connection, task).items():
        named = [name for name, n in counts.items() if every_name or n >= CLASS]
        if named and 1 < len(counts) <= LABELS:
            cells = _cells(connection, task.slug, test_set, {name: n for n, name in enumerate(named)})
            gold = [counts[name] for name in named]
            if any(len(named) in cell[:2] for of_system in cells.values() for cell in of_system):
                named, gold = [*named, OTHER], [*gold, sum(counts.values()) - sum(gold)]
            yield Confusions(test_set, typed, tuple(named), tuple(gold), cells)


def _gold(connection: Connection, task: TaskRow) -> dict[str, tuple[bool, dict[str, int]]]:
    """How often the gold of every test set has each label or type, and whether it is types."""
    rows = connection.execute(text("""
        WITH gold AS (
            SELECT test_set.name AS test_set, test_set.position, item_id, key, type,
                bool_or(type <> '') OVER (PARTITION BY gold_revision_id) AS typed
            FROM answer JOIN test_set USING (gold_revision_id)
            WHERE test_set.task_id = :task AND test_set.is_declared AND in_gold),
        several AS (SELECT test_set FROM gold GROUP BY test_set HAVING NOT any_value(typed)
            AND count(*) > count(DISTINCT item_id))
        SELECT test_set, typed, if(typed, type, key) AS name, count(*) AS n FROM gold
        WHERE test_set NOT IN (FROM several)
        GROUP BY test_set, typed, if(typed, type, key)
        ORDER BY any_value(position), test_set, n DESC, name"""), {"task": task.task_id})
    found: dict[str, tuple[bool, dict[str, int]]] = {}
    for row in rows:
        found.setdefault(row.test_set, (row.typed, {}))[1][row.name] = row.n
    return found


def _cells(connection: Connection, task: str, test_set: str,
           at: Mapping[str, int]) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """The cells of every system, labels by their places; those without a place have the next one together."""
    chosen = {"task": task, "test_set": test_set}
    low, high = connection.execute(text("""
        SELECT min(scoring_id), max(scoring_id)
        FROM scoring JOIN test_set USING (gold_revision_id) JOIN task USING (task_id)
        WHERE slug = :task AND test_set.name = :test_set"""), chosen).one()
    rows = connection.execute(text("""
        SELECT team, system, gold, predicted, sum(items)::INTEGER AS items FROM confusion
        WHERE task = :task AND test_set = :test_set
            AND scoring_id BETWEEN :low AND :high  -- so that responses of other tasks are not looked at
        GROUP BY team, system, gold, predicted
        ORDER BY items DESC, gold, predicted, team, system"""), {**chosen, "low": low, "high": high})
    counted: dict[tuple[str, str], dict[tuple[int | None, int | None], int]] = {}
    for row in rows:
        gold, predicted = (None if name is None else at.get(name, len(at)) for name in (row.gold, row.predicted))
        of_system = counted.setdefault((row.team, row.system), {})
        of_system[gold, predicted] = of_system.get((gold, predicted), 0) + row.items
    return {system: tuple(Cell(*place, n) for place, n in cells.items()) for system, cells in counted.items()}
