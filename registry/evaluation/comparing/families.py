"""Which boards of a task are corrected as one family, and which are families of their own.

A comparison of a board in a larger family needs the p-values of all of its boards. So all of them are compared,
whatever metrics were asked for, and whenever one of them has changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from registry.evaluation.comparing.board_keys import BoardFamily, BoardKey, board_keys
from registry.evaluation.comparing.settings import Request
from registry.manifest.fields import is_in_family
from registry.significance.multiple import GATEKEEPING
from registry.store.catalog import TaskRow


def compared_keys(connection: Connection, task_row: TaskRow, request: Request) -> list[BoardKey]:
    """The boards that are to be compared: those that are asked for, and all in their families; a family together.

    Raises:
        MismatchError: A submission is not scored yet.
    """
    meant = request.significance.family
    if meant == "board":
        return list(board_keys(connection, task_row, request))
    every = list(board_keys(connection, task_row, replace(request, metrics=None)))
    alone = [key for key in every if not _is_meant(key, meant)]
    together = [key for key in every if _is_meant(key, meant)]
    together.sort(key=lambda key: not key.metric.is_primary)  # in the order of gatekeeping
    absent = () if meant == "task" else tuple(
        name for name in meant if not any(_is_meant(key, [name]) for key in together))
    if len(together) + len(absent) > 1:
        family = _family_of(together, request, absent)
        together = [replace(key, family=family) for key in together]

    def asked_for(keys: Sequence[BoardKey]) -> bool:
        return request.metrics is None or any(key.metric.alias in request.metrics for key in keys)

    return [*(together if asked_for(together) else ()), *(key for key in alone if asked_for([key]))]


def _family_of(keys: Sequence[BoardKey], request: Request, absent: tuple[str, ...]) -> BoardFamily:
    """The family of several boards, which are in the order of gatekeeping and of no family yet."""
    of_items = {key.items: math.comb(len(key.members), 2) for key in keys}
    pairs = of_items.values() if request.significance.correction == GATEKEEPING else (
        math.comb(len(key.members), 2) for key in keys)
    return BoardFamily(tuple(key.name.removeprefix(f"{key.task.slug}/") for key in keys),
                  tuple(key.digest(request, drawn=False) for key in keys), sum(pairs), absent)


class _OfBoard(Protocol):
    @property
    def key(self) -> BoardKey: ...


Board = TypeVar("Board", bound=_OfBoard)


def families(boards: Iterable[Board]) -> Iterator[list[Board]]:
    """The boards of each family, from boards of which those of one family follow each other."""
    for family, group in groupby(boards, key=lambda board: board.key.family):
        of_family = list(group)
        yield from [of_family] if family is not None else ([board] for board in of_family)


def _is_meant(key: BoardKey, family: str | list[str]) -> bool:
    return is_in_family(family, key.task.slug, key.name, key.metric.alias)
