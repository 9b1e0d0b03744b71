"""Gold and systems to a board: a task is made of them, brought up in a temporary registry, and its board kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.direct.board import Board
from registry.direct.task import TASK, Asked, made_of
from registry.errors import InputError, RegistryError, together
from registry.parallel.execution import Execution
from registry.pipeline import evaluate_task
from registry.store.log import Journal

_INSTEAD = tuple((re.compile(advice), instead) for advice, instead in (  # what can be done about Python's values
    (r"mend the file, or set check_order = false", "give dicts or Series with an index"),
    (r"set the submission's option fold_case = true", "give them in the gold's letter case"),
    (r"set the submission's option rename = \{ (.*?) \}", r"rename them before: \1"),
    (r', else unknown = "accept"', "")))


def evaluated(asked: Asked) -> Board:
    """Evaluate what is asked for.

    Raises:
        InputError: The data or a setting is wrong.
    """
    made, told = made_of(asked), list[str]()
    try:
        done = evaluate_task(made.folder, TASK, Journal("evaluate", {}), Execution(), told.append)
    except InputError as error:
        raise together([_plain(one, set(made.folder.copies.values())) for one in (error, *error.others)]) from None
    (board,) = done.boards
    messages = [_without_options(_name_values(sentence, made.folder.copies))
               for sentence in told if sentence.startswith(("warning: ", "note: "))]
    of_values = [type(given).__module__.partition(".")[0] for given in _given(asked)]
    package = next((package for package in ("polars", "pandas") if package in of_values), None)
    return Board(board, made, messages, package)


def _plain(error: RegistryError, whose: set[str]) -> RegistryError:
    """An error without the line of a file that the user has never seen."""
    if not isinstance(error, InputError):
        return error
    message = _without_options(error.message)
    return InputError(message, path=error.path if error.path in whose else None, item=error.item,
                      category=error.category)


def _name_values(sentence: str, copies: Mapping[str, str]) -> str:
    """Name the user's values in place of the file that a sentence is about."""
    kind, _, rest = sentence.partition(" ")
    file, separator, about = rest.partition(": ")
    return f"{kind} {copies.get(file, file)}{separator}{about}"


def _without_options(message: str) -> str:
    """Advice to set an option of a file's reader, as what can be done about values."""
    for advice, instead in _INSTEAD:
        message = advice.sub(instead, message)
    return message


def _given(asked: Asked) -> Iterator[Any]:
    """What may be a frame or a Series."""
    yield asked.gold
    yield asked.systems
    if isinstance(asked.systems, Mapping):
        yield from asked.systems.values()
