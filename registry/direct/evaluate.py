"""Evaluation of a gold and systems by means of a task in a temporary registry."""

from __future__ import annotations

from collections.abc import Mapping

from registry.direct.advice import name_arguments
from registry.direct.board import Board
from registry.direct.files import are_files, describe_question, make_task_of_files
from registry.direct.task import TASK, EvaluationRequest, make_task
from registry.direct.test_sets import describe_pooled_items, make_task_of_test_sets
from registry.errors import InputError, RegistryError, combine_errors
from registry.parallel.execution import Execution
from registry.pipeline import evaluate_task
from registry.quick.plan import QuestionError
from registry.store.log import Journal


def evaluate_values(request: EvaluationRequest) -> Board:
    """Evaluate the arguments of `registry.evaluate`, and return the leaderboard.

    The values are evaluated as a task in a temporary registry.

    Args:
        request: The arguments of `registry.evaluate`.

    Raises:
        InputError: The data or a setting is invalid.
    """
    if request.metric is not None and not isinstance(request.metric, str):
        raise InputError(f"metric={request.metric!r} is not one name, but the result is a board of one metric; call "
                         "evaluate for each metric, or use `registry quick` with one --metric for each")
    sentences = list[str]()
    try:
        if are_files(request):
            task, sentences = make_task_of_files(request)
        elif request.average:
            task = make_task_of_test_sets(request)
        else:
            task = make_task(request)
            sentences += describe_pooled_items(request)
    except QuestionError as error:
        raise describe_question(error) from None
    except InputError as error:
        raise combine_errors([_name_arguments(fault, None) for fault in (error, *error.others)]) from None
    try:
        result = evaluate_task(task.folder, TASK, Journal("evaluate", {}), Execution(), sentences.append,
                               averages=request.average)
    except InputError as error:
        owners = None if are_files(request) else set(task.folder.copies.values())
        raise combine_errors([_name_arguments(fault, owners) for fault in (error, *error.others)]) from None
    *_, board = result.boards  # the average follows the test sets
    if not board.standings:
        raise InputError("no system has answers for all test sets, so there is no average; add the missing answers")
    messages = [name_arguments(_replace_file_name(sentence, task.folder.copies))
               for sentence in sentences if sentence.startswith(("warning: ", "info: "))]
    return Board(board, task, messages, is_average=request.average)


def _name_arguments(error: RegistryError, owners: set[str] | None) -> RegistryError:
    """Return an error with settings as arguments, and without the path and line of a temporary file.

    Values given in Python are written to temporary files, which users do not know.

    Args:
        error: The error.
        owners: Names of values, such as `the gold`, which errors name instead of a path; None if the paths are the
            user's.
    """
    if not isinstance(error, InputError):
        return error
    message = name_arguments(error.message)
    if owners is None and message == error.message:
        return error
    is_shown = owners is None or error.path in owners
    return InputError(message, path=error.path if is_shown else None, item=error.item,
                      line=error.line if owners is None else None, category=error.category)


def _replace_file_name(sentence: str, copies: Mapping[str, str]) -> str:
    kind, _, rest = sentence.partition(" ")
    file, separator, about = rest.partition(": ")
    return f"{kind} {copies.get(file, file)}{separator}{about}"
