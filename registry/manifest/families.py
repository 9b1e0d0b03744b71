"""The names in `[significance] family`: metrics, which stand for all of their boards, and single boards."""

from __future__ import annotations

from collections.abc import Sequence

from registry.errors import suggest


def is_in_family(family: str | Sequence[str], task: str, board: str, metric: str) -> bool:
    """Whether a family means a board: all of the task, by its metric, or by its name with or without the task's."""
    return family == "task" or any(name in (metric, board, board.removeprefix(f"{task}/")) for name in family)


def wrong_in_family(family: str | list[str], task: str, test_sets: Sequence[str], metrics: Sequence[str]) -> str:
    """Say what in a family can be neither a metric nor a board, `"test, f1"`; empty where all may be."""
    for name in family if isinstance(family, list) else ():
        test_set, _, metric = name.removeprefix(f"{task}/").partition(", ")
        if name not in metrics and (test_set not in test_sets or metric.rpartition(", ")[2] not in metrics):
            board = f"{test_sets[0]}, {metrics[0]}"
            return f"has {name!r}, which is neither a metric nor a board such as {board!r}; {suggest(name, metrics)}"
    return ""
