"""A study: a question about a task, with options, subjects and a finding.

Like a test or a metric, a study is a value: `repr(study)` is its canonical name. This name and the digest of the
subject identify a result, so each study is made once. The fields of a study are the options of its command.
`BoardStudy` is the base of all studies of the statistics of boards.
"""

from __future__ import annotations

import json
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, UnknownNameError
from registry.evaluation.comparing.board_keys import BoardKey, board_keys
from registry.evaluation.comparing.board_statistics import Board, by_response, load
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import resolve_significance
from registry.identity import canonical_json, plain_value, short
from registry.messages import Message, Messages, message
from registry.parallel.execution import Progress, with_progress
from registry.provenance import StudySignature
from registry.significance import CORRECTIONS, PairTest, Settings
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import Member, TaskRow
from registry.values import Value

Row = dict[str, Any]
_OFTEN = 5.0  # seconds after which new parts are kept
Key = TypeVar("Key", bound="str | int | tuple[str | int, ...]")


@dataclass(frozen=True)
class Option:
    """How a field of a study is given on a command line.

    Attributes:
        said: What it means.
        name: What the option is called; the field's name if it is empty.
        metavar: What stands for its value; "" leaves it to the type.
        least, most: The range of a number.
        read: Reads its text, given with the option's name; None: the text is a value of the field's type.
        written: Its default value as a text that `read` takes.
    """

    said: str
    name: str = ""
    metavar: str = ""
    least: float | None = None
    most: float | None = None
    read: Callable[[str, str], Any] | None = None
    written: str | None = None


def option(default: Any, said: str, **more: Any) -> Any:
    """A field of a study that a command line can give, as `Option` describes it."""
    return field(default=default, metadata={"option": Option(said, **more)})


@dataclass(frozen=True)
class Choice:
    """Which boards are meant: None is every task, test set and track; the metric of the study's choosing; all items."""

    task: str | None = None
    metric: str | None = None
    test_set: str | None = None
    track: str | None = None
    facet: str | None = None


@dataclass(frozen=True)
class Finding:
    """What a study finds; numbers that are undefined are None.

    Attributes:
        tables: Rows by the table's name, the one that is printed first; the rows of one have the same keys, in order.
        reading: What they say in plain language, and what they do not say.
        warnings: What may be wrong.
    """

    tables: dict[str, list[Row]]
    reading: list[str] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)

    def dump(self) -> str:
        """Return what the database stores; tables and keys stay in their order."""
        return json.dumps(plain_value(asdict(self)), ensure_ascii=False)

    @classmethod
    def load(cls, stored: str) -> Finding:
        """Return what was stored, with the messages of rows as messages."""
        found = json.loads(stored)
        for row in (row for rows in found["tables"].values() for row in rows if "messages" in row):
            row["messages"] = Messages(map(message, row["messages"]))
        return cls(found["tables"], found["reading"], list(map(message, found["warnings"])))


@dataclass(eq=False)
class Parts:
    """The parts that the work of a study falls into, some of which an earlier attempt has left done.

    Attributes:
        done: What is done, as JSON, by the canonical JSON of its key.
        keep: Called with new parts from time to time, to keep them.
        progress: Told how many are done.
    """

    done: dict[str, str] = field(default_factory=dict)
    keep: Callable[[Mapping[str, str]], None] = lambda new: None  # noqa: ARG005
    progress: Progress | None = None
    _new: dict[str, str] = field(default_factory=dict, init=False)
    _kept_at: float = field(default_factory=time.monotonic, init=False)

    def each(self, keys: Sequence[Key], compute: Callable[[Key], Any]) -> list[Any]:
        """Give the part of every key: JSON values without nan, the same ones whether found or computed."""
        def part(key: Key) -> Any:
            name = canonical_json(key)
            if name not in self.done:
                self.done[name] = self._new[name] = json.dumps(compute(key), ensure_ascii=False, allow_nan=False)
                if time.monotonic() - self._kept_at > _OFTEN:
                    self.flush()
            return json.loads(self.done[name])

        return list(with_progress(map(part, keys), len(keys), "parts of the study", self.progress))

    def flush(self) -> None:
        """Keep the new parts that are not kept yet."""
        if self._new:
            self.keep(self._new)
        self._new, self._kept_at = {}, time.monotonic()


class Subject(Protocol):
    """What one result of a study is about, known by its content before any statistics are loaded."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """All of it that the result depends on, as JSON."""

    def load(self, connection: Connection, parts: Parts) -> Any:
        """What `Study.run` takes; None where there is nothing to study."""

    def signature(self, case: Any, identity: str) -> StudySignature:
        """The signature of the study of what `load` gave."""


class Study(Value):
    """A study with its options, which are its fields.

    Attributes:
        title: What it asks.
        citation: Where the method comes from.
        task: Whether one task must be named, or all are meant where none is, or it finds something without any
            (`alone`).
        choice: By what of `Choice`, beside the task, a command line chooses what it looks at.
        settings: Which settings of significance may take the place of those that the task declares.
        fixed: The settings that it brings along.
        figures: What can be drawn of it, by name.
        computes: Whether it takes so long that it may be told who computes, and tells how far it is.
        least: How many systems it needs.
        every_metric: Whether it is made for each metric where none is chosen, not only for the primary one.
    """

    terse: ClassVar[bool] = True
    title: ClassVar[str]
    citation: ClassVar[str]
    task: ClassVar[Literal["one", "all", "none"]] = "one"
    choice: ClassVar[tuple[str, ...]] = ("metric", "test_set", "track", "facet")
    settings: ClassVar[tuple[str, ...]] = ("unit", "alpha", "resamples", "seed")
    fixed: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    figures: ClassVar[tuple[str, ...]] = ()
    computes: ClassVar[bool] = True
    least: ClassVar[int] = 2
    every_metric: ClassVar[bool] = False

    @property
    def usual(self) -> Mapping[str, Any]:
        """The settings that it takes in the place of those that the task declares, unless others are given."""
        return {}

    def meant(self, task: str | None, shown: str | None) -> Study:  # noqa: ARG002
        """The study that is meant where it is asked of this task, or of none, for one of its tables.

        Raises:
            InputError: Its options do not go with each other, or with these.
        """
        return self

    def alone(self, alpha: float | None) -> tuple[str, Finding]:  # noqa: ARG002
        """What it finds without any task, and what people call that.

        Raises:
            InputError: It needs a task, or other options.
        """
        raise InputError(f"{self.name} needs a task; name one")

    @abstractmethod
    def subjects(self, connection: Connection, task: TaskRow, request: Request, choice: Choice) -> Iterable[Subject]:
        """What of a task it is made of, each for itself.

        Raises:
            UnknownNameError: There is nothing of a name that is chosen.
            InputError: It cannot be made of what there is.
        """

    def doubts(self, case: Any) -> list[Message]:  # noqa: ARG002
        """What may be wrong that is known before the work; it is among the warnings of what is found too.

        Raises:
            InputError: It cannot be made of what there is.
        """
        return []

    @abstractmethod
    def run(self, case: Any) -> Finding:
        """Make the study of what one of its subjects has loaded.

        Raises:
            InputError: It cannot be made of what there is.
        """

    def figure(self, finding: Finding) -> str:  # noqa: ARG002
        """The figure that is drawn if none is named."""
        return self.figures[0]

    def messages(self, finding: Finding, shown: str | None) -> list[Message]:  # noqa: ARG002
        """What a reader of one of its tables must be warned of."""
        return finding.warnings


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
        keys = [key for key in choose_keys(connection, task, request, choice, facets_by=self.facets_by,
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
            loaded = [check_same_items(board) for board in loaded]
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


def choose_keys(connection: Connection, task: TaskRow, request: Request, choice: Choice, *,
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
    kinds: list[tuple[str, str | None, Callable[[BoardKey], str | None]]] = [
        ("test set", choice.test_set, lambda key: str(key.test_set.name)),
        ("track", choice.track, lambda key: key.track), ("facet", choice.facet, lambda key: key.facet_name)]
    for kind, wanted, choose in kinds:
        names = {choose(key) for key in known}
        if wanted is not None and wanted not in names:
            raise UnknownNameError(f"{kind} of {task.slug}", wanted, sorted(filter(None, names)))
        if wanted is not None or (kind == "facet" and facets_by is None and not every_facet):
            known = [key for key in known if choose(key) == wanted]
    metrics = request.metrics or ()
    return known if every_facet else sorted(known, key=lambda key: metrics.index(key.metric.alias))


def choose_board(connection: Connection, task: TaskRow, request: Request, choice: Choice) -> Board:
    """The one board of a task that is meant, with its statistics.

    Raises:
        UnknownNameError: There is no such test set, track or facet.
        MismatchError: No system is scored.
        InputError: Several boards are meant, or systems are scored on different items.
    """
    keys = choose_keys(connection, task, request, choice)
    if len(keys) > 1:
        raise InputError(f"{len(keys)} boards are meant; choose one by --test-set and --track")
    board = load(connection, keys[0], request) if keys else None
    if board is None:
        raise MismatchError(f"no system of {task.slug} is scored; `registry submit` brings one in, and `registry "
                            "score` scores it")
    return check_same_items(board)


def check_same_items(board: Board) -> Board:
    """The board, unless its systems are scored on different items.

    Raises:
        InputError: They are.
    """
    if board.matrix.unequal:
        raise InputError(f'{board.key.name}: systems are scored on items of their own (missing = "own"), which '
                         "studies cannot compare; take another policy for missing items")
    return board


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def name_systems(members: Sequence[Member]) -> list[str]:
    """The names of systems, with their teams' where two of them are called the same."""
    names = [member.system for member in members]
    return [f"{member.team}/{member.system}" if names.count(member.system) > 1 else member.system
            for member in members]


_MOST_SIZES = 10_000


def parse_sizes(given: str, option: str) -> tuple[int, ...]:
    """Read sizes, as a grid or as a rising list.

    >>> parse_sizes("100:300:100", "--grid"), parse_sizes("5,10", "--grid")
    ((100, 200, 300), (5, 10))
    """
    wrong = InputError(f"{option} {given!r} is neither FIRST:LAST:STEP, such as 100:2000:50, nor a rising list, such "
                       "as 100,500,1000")
    if match := re.fullmatch(r"(\d{1,9}):(\d{1,9}):(\d{1,9})", given, re.ASCII):
        first, last, step = map(int, match.groups())
        if not step:
            raise wrong
        if (last - first) // step >= _MOST_SIZES:
            raise InputError(f"{option} {given!r} has more than {_MOST_SIZES} sizes")
        sizes = list(range(first, last + 1, step))
    elif re.fullmatch(r"\d{1,9}(,\d{1,9})*", given, re.ASCII):
        sizes = [int(size) for size in given.split(",")]
    else:
        raise wrong
    if not sizes or sizes[0] < 1 or sizes != sorted(set(sizes)):
        raise wrong
    return tuple(sizes)
