"""Evaluation of a gold and systems by means of a task in a temporary registry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.direct.board import Board
from registry.direct.task import TASK, Asked, make_task
from registry.errors import InputError, RegistryError, combine_errors
from registry.parallel.execution import Execution
from registry.pipeline import evaluate_task
from registry.store.log import Journal

_INSTEAD = tuple((re.compile(advice), instead) for advice, instead in (  # advice about Python's values
    (r"mend the file, or set check_order = false", "give dicts or Series with an index"),
    (r"set the submission's option fold_case = true", "give them in the gold's letter case"),
    (r"set the submission's option rename = \{ (.*?) \}", r"rename them before: \1"),
    (r', else unknown = "accept"', "")))


def evaluate_values(asked: Asked) -> Board:
    """Evaluate the arguments of `registry.evaluate`, and return the leaderboard.

    Raises:
        InputError: The data or a setting is invalid.
    """
    task, sentences = make_task(asked), list[str]()
    try:
        result = evaluate_task(task.folder, TASK, Journal("evaluate", {}), Execution(), sentences.append)
    except InputError as error:
        owners = set(task.folder.copies.values())
        raise combine_errors([_without_line(fault, owners) for fault in (error, *error.others)]) from None
    (board,) = result.boards
    messages = [_without_options(_name_values(sentence, task.folder.copies))
               for sentence in sentences if sentence.startswith(("warning: ", "note: "))]
    of_values = [type(given).__module__.partition(".")[0] for given in _list_inputs(asked)]
    package = next((package for package in ("polars", "pandas") if package in of_values), None)
    return Board(board, task, messages, package)


def _without_line(error: RegistryError, owners: set[str]) -> RegistryError:
    """Return an error without the path and line of a temporary file."""
    if not isinstance(error, InputError):
        return error
    message = _without_options(error.message)
    return InputError(message, path=error.path if error.path in owners else None, item=error.item,
                      category=error.category)


def _name_values(sentence: str, copies: Mapping[str, str]) -> str:
    """Replace the name of a temporary file in a sentence by a description of the user's values."""
    kind, _, rest = sentence.partition(" ")
    file, separator, about = rest.partition(": ")
    return f"{kind} {copies.get(file, file)}{separator}{about}"


def _without_options(message: str) -> str:
    """Replace advice about options of readers by advice about Python values."""
    for advice, instead in _INSTEAD:
        message = advice.sub(instead, message)
    return message


def _list_inputs(asked: Asked) -> Iterator[Any]:
    """Yield the arguments that may be a frame or a Series."""
    yield asked.gold
    yield asked.systems
    if isinstance(asked.systems, Mapping):
        yield from asked.systems.values()
