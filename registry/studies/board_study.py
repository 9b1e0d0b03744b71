"""Studies of boards: which boards of a task one is made of, with their statistics and submissions' attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, Literal

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, UnknownNameError
from registry.evaluation.comparing.board_keys import BoardKey, board_keys
from registry.evaluation.comparing.board_statistics import Board, by_response, load
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import resolve_significance
from registry.identity import short
from registry.provenance import StudySignature
from registry.significance import CORRECTIONS, PairTest, Settings
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import Member, TaskRow
from registry.studies.study import Choice, Parts, Study


@dataclass(frozen=True, eq=False)
class Case:
    """The boards that a study looks at.

    Attributes:
        boards: One, or those of all test sets that a study joins: of one metric and track, in the order of the task.
        subject: What they were loaded for.
        parts: For work that takes long.
    """

    boards: tuple[Board, ...]
    subject: BoardSubject
    parts: Parts

    @property
    def request(self) -> Request:
        """How the task is compared: the settings, with the seed and the unit of the first board, and who computes."""
        return self.boards[0].key.with_unit(self.subject.request)

    @property
    def board(self) -> Board:
        """The only board of a study that looks at one."""
        (board,) = self.boards
        return board

    @property
    def test(self) -> PairTest:
        """The test of pairs that the task declares, or that is asked for in its place."""
        return resolve_significance(self.request.significance)[0]

    def adjusted(self, p: Sequence[float]) -> list[float]:
        """Adjust the p-values of a board's pairs by its correction; by Holm's where that adjusts draws instead."""
        correction = CORRECTIONS[self.request.significance.correction]
        found: list[float] = adjust(np.array(p), correction.name if correction.function else "holm").tolist()
        return found

    @property
    def settings(self) -> Settings:
        """The settings of tests, two-sided."""
        return self.request.settings


class BoardStudy(Study):
    """A study of the statistics of boards.

    Attributes:
        scope: Whether it looks at every `board` by itself, or at those of all `test sets` of a metric and track
            together.
        least_boards: How many boards it needs.
        every_facet: Whether boards of facets are meant too where none is chosen.
        unequal: Whether it takes systems that are scored on items of their own.
        by_response: Whether it looks at answers where these are the units.
    """

    scope: ClassVar[Literal["board", "test sets"]] = "board"
    least_boards: ClassVar[int] = 1
    every_facet: ClassVar[bool] = False
    unequal: ClassVar[bool] = False
    by_response: ClassVar[bool] = True

    @property
    def facets_by(self) -> str | None:
        """An item attribute whose values are taken for test sets; None: test sets are looked at as they are."""
        return None

    def subjects(self, connection: Connection, task: TaskRow, request: Request,
                 choice: Choice) -> Iterator[BoardSubject]:
        """The boards that are meant, each by itself or those of several test sets together."""
        keys = [key for key in chosen_keys(connection, task, request, choice, facets_by=self.facets_by,
                                           every_facet=self.every_facet) if len(key.members) >= self.least]
        if self.scope == "board":
            groups: Iterable[Sequence[BoardKey]] = ([key] for key in keys)
        else:
            metrics = request.metrics or ()

            def together(key: BoardKey) -> tuple[int, str]:
                return metrics.index(key.metric.alias), key.track or ""

            groups = (list(of) for _, of in groupby(sorted(keys, key=together), key=together))
        for some in groups:
            if len(some) >= self.least_boards:
                members = {member.submission_id: member.name for key in some for member in key.members}
                attributes = catalog.submission_attributes(connection, list(members))
                yield BoardSubject(self, tuple(some), {members[n]: of for n, of in attributes.items()}, request)


@dataclass(frozen=True, eq=False)
class BoardSubject:
    """The boards that one study looks at, by what tells them apart.

    `attributes` are those of every submission, by its full name: team, kind, and what the manifest declares.
    """

    study: BoardStudy
    keys: tuple[BoardKey, ...]
    attributes: dict[str, dict[str, str]]
    request: Request

    @property
    def name(self) -> str:
        """The boards' names, those of many cut short."""
        names = [key.name for key in self.keys]
        return "; ".join(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"])

    @property
    def identity(self) -> Mapping[str, Any]:
        """The digests of the boards, and what is said of their submissions."""
        return {"boards": [key.digest(self.request) for key in self.keys], "attributes": self.attributes}

    def load(self, connection: Connection, parts: Parts) -> Case | None:
        """The boards with their statistics; None where too few have any item.

        Raises:
            InputError: Systems are scored on different items.
        """
        loaded = [board for key in self.keys if (board := load(connection, key, self.request)) is not None]
        if len(loaded) < self.study.least_boards:
            return None
        if self.study.by_response and self.keys[0].with_unit(self.request).significance.unit == "response":
            loaded = [by_response(connection, board) for board in loaded]
        if not self.study.unequal:
            loaded = [even(board) for board in loaded]
        return Case(tuple(loaded), self, parts)

    def signature(self, case: Case, identity: str) -> StudySignature:
        """The signature of the study of these boards."""
        keys = [board.key for board in case.boards]
        return StudySignature(
            study=repr(self.study), metric=keys[0].metric.alias, task=keys[0].task.slug,
            task_version=keys[0].task.version, test_sets=_distinct(key.test_set.name for key in keys),
            track=keys[0].track, facet=None if self.study.facets_by else keys[0].facet_name,
            n_items=sum(len(board.items) for board in case.boards),
            n_systems=len({f"{m.team}/{m.system}" for board in case.boards for m in board.members}),
            golds=_distinct(short(key.gold_digest) for key in keys), seed=self.request.seed, identity=short(identity))


def chosen_keys(connection: Connection, task: TaskRow, request: Request, choice: Choice, *,
                facets_by: str | None = None, every_facet: bool = False) -> list[BoardKey]:
    """The boards of a task that are meant, by the metrics of the request; with every facet in the order of the task.

    Raises:
        UnknownNameError: There is no such test set, track or facet.
        InputError: No item has the attribute `facets_by`.
    """
    if facets_by is not None:
        request = replace(request, facets={t.name: [facets_by] for t in catalog.test_sets(connection, task.task_id)})
    known = list(board_keys(connection, task, request))
    if facets_by is not None:
        known = [key for key in known if key.facet is not None]
        if not known:
            raise InputError(f"items of {task.slug} have no attribute {facets_by!r}; the options of the gold's reader "
                             "name attributes")
    for kind, wanted in (("test set", choice.test_set), ("track", choice.track), ("facet", choice.facet)):
        names = {_called(key, kind) for key in known}
        if wanted is not None and wanted not in names:
            raise UnknownNameError(f"{kind} of {task.slug}", wanted, sorted(filter(None, names)))
        if wanted is not None or (kind == "facet" and facets_by is None and not every_facet):
            known = [key for key in known if _called(key, kind) == wanted]
    metrics = request.metrics or ()
    return known if every_facet else sorted(known, key=lambda key: metrics.index(key.metric.alias))


def chosen_board(connection: Connection, task: TaskRow, request: Request, choice: Choice) -> Board:
    """The one board of a task that is meant, with its statistics.

    Raises:
        UnknownNameError: There is no such test set, track or facet.
        MismatchError: No system is scored.
        InputError: Several boards are meant, or systems are scored on different items.
    """
    keys = chosen_keys(connection, task, request, choice)
    if len(keys) > 1:
        raise InputError(f"{len(keys)} boards are meant; choose one by --test-set and --track")
    board = load(connection, keys[0], request) if keys else None
    if board is None:
        raise MismatchError(f"no system of {task.slug} is scored; `registry submit` brings one in, and `registry "
                            "score` scores it")
    return even(board)


def even(board: Board) -> Board:
    """The board, unless its systems are scored on different items.

    Raises:
        InputError: They are.
    """
    if board.matrix.unequal:
        raise InputError(f'{board.key.name}: systems are scored on items of their own (missing = "own"), which '
                         "studies cannot compare; take another policy for missing items")
    return board


def _called(key: BoardKey, kind: str) -> str | None:
    return {"test set": str(key.test_set.name), "track": key.track, "facet": key.facet_name}[kind]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def called(members: Sequence[Member]) -> list[str]:
    """The names of systems, with their teams' where two of them are called the same."""
    names = [member.system for member in members]
    return [f"{member.team}/{member.system}" if names.count(member.system) > 1 else member.system
            for member in members]
