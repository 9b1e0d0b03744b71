"""Whether what is asked for can be tested on every board: said of all boards before anything is tested on one."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.comparing.board_keys import BoardKey, board_keys
from registry.evaluation.comparing.board_statistics import Board, load
from registry.evaluation.comparing.by_response import by_response
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import resolve_significance, unfit
from registry.significance import CORRECTIONS
from registry.significance.assumptions import misuses
from registry.significance.multiple.stepdown import bytes_of_draws
from registry.store import comparisons
from registry.store.row_types import TaskRow


@dataclass
class Vetted:
    """Why boards cannot be tested as is asked for, and what a reader of the results must be warned of."""

    refusals: list[InputError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def vet(connection: Connection, task_row: TaskRow, request: Request) -> Vetted:
    """Look at every board whose comparison is not there yet.

    Raises:
        UnknownNameError: The test or the correction is not known.
        MismatchError: A submission is not scored yet.
    """
    vetted = Vetted()
    for key in board_keys(connection, task_row, request):
        if comparisons.find_comparison(connection, key.digest(request)) is not None:
            continue
        try:
            board = tested_board(connection, key, request)
            if board is None:
                vetted.warnings.append(f"{key.name}: there is no item that all systems have answered, so no board")
            else:
                vetted.warnings += [f"{key.name}: {warning}" for warning in _warnings(board, request)]
        except InputError as error:
            vetted.refusals.append(InputError(error.message, path=error.path, category="board"))
    return vetted


def tested_board(connection: Connection, key: BoardKey, request: Request) -> Board | None:
    """Load a board by the units that are tested; None where no item is left of it.

    Raises:
        InputError: It does not have the clusters, strata or single responses that are asked for.
    """
    board = load(connection, key, request.significance)
    return by_response(connection, board) if board and request.significance.unit == "response" else board


def _warnings(board: Board, request: Request) -> list[str]:
    """What the assumptions of the test do not cover.

    Raises:
        InputError: The board cannot be tested so.
    """
    n = len(board.members)
    asked, matrix = request.of_family(n).significance, board.matrix.by_unit
    test, overall = resolve_significance(asked)
    if reason := unfit(test, overall, matrix):
        raise InputError(f"{board.key.name}: {reason}")
    size = bytes_of_draws(n * (n - 1) // 2, asked.draws)
    if CORRECTIONS[asked.correction].function is None and size > request.execution.memory:
        raise InputError(f"{board.key.name}: correction {asked.correction!r} keeps the draws of all pairs, which "
                         f"take {size / 2**30:.1f} GiB; allow more with --memory, draw fewer with --resamples, or take "
                         "holm")
    return misuses(test, matrix)
