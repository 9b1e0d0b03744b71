"""Over which boards the error rate of a board holds, and whether all of these have been compared."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from registry.errors import counted, listed
from registry.manifest.fields import is_in_family
from registry.messages import Message
from registry.significance import CORRECTIONS

_NAMED = 4  # boards in a sentence


@dataclass(frozen=True)
class StoredFamily:
    """The family of a board, among the boards of its task.

    Attributes:
        boards: The names of its boards without the task's; none where the board is a family of its own.
        absent: Names that the family declares, and that no board has.
        alone: How many boards of the task are families of their own.
        of_task: How many boards the task has.
    """

    boards: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    alone: int = 1
    of_task: int = 1

    def share(self, board: str, pairs: int, family_size: int) -> float:
        """What all boards of the same systems and items as this one have of the family's pairs.

        >>> StoredFamily(("dev, f1", "dev, acc", "test, f1")).share("dev, f1", 3, 15)
        0.4

        Args:
            board: Its name without the task's.
            pairs: How many it has.
            family_size: How many all boards of the family have.
        """
        alike = sum(_items(name) == _items(board) for name in self.boards)
        return alike * pairs / family_size if alike else 1.0


def _items(board: str) -> str:
    """What stands before the metric in a board's name."""
    return board.rpartition(", ")[0]


def families_of(requests: Mapping[int, str]) -> dict[int, StoredFamily]:
    """The families of all boards of a task, from what was asked of each, by the number of the comparison."""
    found = {number: json.loads(request).get("family", {}) for number, request in requests.items()}
    alone = sum(not family.get("boards") for family in found.values())
    return {number: StoredFamily(tuple(family.get("boards", ())), tuple(family.get("absent", ())), alone, len(found))
            for number, family in found.items()}


def family_sentences(family: StoredFamily, correction: str, alpha: float, pairs: int) -> tuple[str | Message, ...]:
    """Say over what the error rate of a board holds; nothing where the task has no other board.

    Args:
        family: The board's.
        correction: Its name.
        alpha: The error rate.
        pairs: How many the family has.

    >>> family_sentences(StoredFamily(("dev, f1", "dev, acc"), alone=1, of_task=3), "holm", 0.05, 6)[0]
    'The family-wise error of 0.05 holds over the 6 pairs of 2 boards (dev, f1; dev, acc); 1 board has one of its own.'
    """
    rate = CORRECTIONS[correction].controls
    if rate == "nothing" or (family.of_task == 1 and not family.absent):
        return ()
    over, n = f"The {rate} of {alpha:g} holds over the {counted(pairs, 'pair')}", len(family.boards)
    own = f"; {counted(family.alone, 'board has one of its', 'boards have one of their')} own"
    if not family.boards:
        each = f"; each of the {family.of_task} boards of the task has one of its own"
        return (f"{over} of this board{each if family.alone == family.of_task else own}.",)
    said = f"{over} of {counted(n, 'board')} ({listed(family.boards, _NAMED, '; ')}){own if family.alone else ''}."
    missing = (Message("incomplete-family", {"boards": list(family.absent)}),)
    return (said, *(missing if family.absent else ()))


def unfinished(connection: Connection, task: str | None,
               changed: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The test sets, with their tasks, of boards whose family has changed: other boards of it, or is to have more.

    Args:
        connection: To the store.
        task: A task's id; None: all tasks.
        changed: The test sets whose submissions or gold have changed, with their tasks.
    """
    rows = connection.execute(text("""
        SELECT l.task, l.test_set, l.metric, concat_ws(', ', l.test_set, l.track, l.facet, l.metric) AS board, c.request
        FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id)
        WHERE c.request LIKE '%"family"%' AND (:task IS NULL OR l.task = :task) ORDER BY ALL"""), {"task": task}).all()
    there = connection.execute(text("""
        SELECT DISTINCT r.task, r.test_set, alias AS metric, concat_ws(', ', r.test_set, r.track, alias) AS board
        FROM ranked_submission AS r JOIN task ON task.slug = r.task JOIN task_metric USING (task_id)
        WHERE task_metric.is_declared AND (:task IS NULL OR r.task = :task)"""), {"task": task}).all() if rows else ()
    for row in rows:
        asked = json.loads(row.request)
        declared = asked["significance"]["family"]
        if is_in_family(declared, row.task, row.board, row.metric):
            compared = asked.get("family", {}).get("boards", [row.board])
            others = [of for of in there
                      if of.task == row.task and is_in_family(declared, of.task, of.board, of.metric)]
            if any(of.board not in compared or (of.task, of.test_set) in changed for of in others):
                yield row.task, row.test_set
