"""Results of tasks in their order, whoever works on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Task = TypeVar("Task")


def ahead(submit: Callable[[Task], Any], tasks: Iterable[Task], most: int,
          result_of: Callable[[Any], Any] = lambda future: future.result()) -> Iterator[Any]:
    """Submit tasks and return the results in their order, with at most `most` tasks ahead of the result taken.

    Args:
        submit: Gives the future of a task.
        tasks: Taken one after the other.
        most: How many may wait, which bounds the memory.
        result_of: Waits for the result of a future.
    """
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) > most:
            yield result_of(waiting.popleft())
    while waiting:
        yield result_of(waiting.popleft())
