"""Evaluation of a gold and systems by means of a task in a temporary registry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.direct.board import Board
from registry.direct.task import TASK, EvaluationRequest, make_task
from registry.errors import InputError, RegistryError, combine_errors
from registry.parallel.execution import Execution
from registry.pipeline import evaluate_task
from registry.store.log import Journal

_INSTEAD = tuple((re.compile(advice), instead) for advice, instead in (  # advice about Python's values
    (r"correct the file, or set check_order = false", "pass dicts or Series with an index"),
    (r"set the submission's option fold_case = true", "write the labels in the letter case of the gold"),
    (r"set the submission's option rename = \{ (.*?) \}", r"rename the labels first: \1"),
    (r', otherwise set unknown = "accept"', "")))


def evaluate_values(request: EvaluationRequest) -> Board:
    """Evaluate the arguments of `registry.evaluate`, and return the leaderboard.

    The values are evaluated as a task in a temporary registry.

    Args:
        request: The arguments of `registry.evaluate`.

    Raises:
        InputError: The data or a setting is invalid.
    """
    task, sentences = make_task(request), list[str]()
    try:
        result = evaluate_task(task.folder, TASK, Journal("evaluate", {}), Execution(), sentences.append)
    except InputError as error:
        owners = set(task.folder.copies.values())
        raise combine_errors([_remove_temporary_path(fault, owners) for fault in (error, *error.others)]) from None
    (board,) = result.boards
    messages = [_replace_advice(_replace_file_name(sentence, task.folder.copies))
               for sentence in sentences if sentence.startswith(("warning: ", "info: "))]
    packages = [type(given).__module__.partition(".")[0] for given in _list_inputs(request)]
    package = next((package for package in ("polars", "pandas") if package in packages), None)
    return Board(board, task, messages, package)


def _remove_temporary_path(error: RegistryError, owners: set[str]) -> RegistryError:
    """Remove the path and line number of a temporary file from an error message.

    Values given in Python are written to temporary files, which users do not know.

    Args:
        error: The error about a file.
        owners: Names of values, such as `the gold`, which are not removed.
    """
    if not isinstance(error, InputError):
        return error
    message = _replace_advice(error.message)
    return InputError(message, path=error.path if error.path in owners else None, item=error.item,
                      category=error.category)


def _replace_file_name(sentence: str, copies: Mapping[str, str]) -> str:
    kind, _, rest = sentence.partition(" ")
    file, separator, about = rest.partition(": ")
    return f"{kind} {copies.get(file, file)}{separator}{about}"


def _replace_advice(message: str) -> str:
    """Replace advice about files in a message by advice about Python values.

    Example: "correct the file, or set check_order = false" -> "give dicts or Series with an index".
    """
    for advice, instead in _INSTEAD:
        message = advice.sub(instead, message)
    return message


def _list_inputs(request: EvaluationRequest) -> Iterator[Any]:
    """Yield all values that the user gave: the gold, and the values of each system.

    The values show whether the user works with pandas or polars, so that the result can use the same package.
    """
    yield request.gold
    yield request.systems
    if isinstance(request.systems, Mapping):
        yield from request.systems.values()
