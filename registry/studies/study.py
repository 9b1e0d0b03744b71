"""Base classes of studies: options, subjects and findings.

A study is a value, like a test or a metric: `repr(study)` is its canonical name. This name and the digest of the
subject identify a stored result. The fields of a study are the options of its command. `BoardStudy` is the base class
of all studies that load the statistics of boards.
"""

from __future__ import annotations

import json
import re
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, UnknownNameError
from registry.evaluation.comparing.board_keys import BoardKey, load_board_keys
from registry.evaluation.comparing.board_statistics import Board, load_board, split_into_responses
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import resolve_significance
from registry.identity import canonical_json, replace_undefined, short
from registry.messages import Message, Messages, message
from registry.parallel.execution import Progress, with_progress
from registry.provenance import StudySignature
from registry.significance import CORRECTIONS, JointMatrix, PairTest, Settings
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import Member, TaskRow
from registry.values import Value

Row = dict[str, Any]
_FLUSH_SECONDS = 5.0
Key = TypeVar("Key", bound="str | int | tuple[str | int, ...]")


@dataclass(frozen=True)
class Option:
    """Command-line option that sets a field of a study.

    Attributes:
        help: Help text.
        name: Name of the option; empty for the name of the field.
        metavar: Placeholder of the value; empty for the default of the type.
        minimum, maximum: Range of a number.
        parse: Function that parses the text of the value; it also receives the option's name for messages. None if the
            value has the field's type.
        default_text: Default value as a text for `parse`.
    """

    help: str
    name: str = ""
    metavar: str = ""
    minimum: float | None = None
    maximum: float | None = None
    parse: Callable[[str, str], Any] | None = None
    default_text: str | None = None


def option(default: Any, help_text: str, **details: Any) -> Any:
    """Declare a dataclass field of a study that is also a command-line option.

    The keyword arguments are attributes of `Option`, such as `minimum`.
    """
    return field(default=default, metadata={"option": Option(help_text, **details)})


@dataclass(frozen=True)
class Choice:
    """The leaderboards that a caller selects for a study.

    A field that is None selects all tasks, all test sets, all tracks, or the default metrics of the study. If `facet`
    is None, leaderboards of all items are selected.
    """

    task: str | None = None
    metric: str | None = None
    test_set: str | None = None
    track: str | None = None
    facet: str | None = None


@dataclass(frozen=True)
class Finding:
    """Result of a study: tables, sentences and warnings; undefined numbers are None.

    Attributes:
        tables: Rows by the name of their table. The first table is the default one. All rows of a table have the same
            keys in the same order.
        reading: Sentences that interpret the tables and name their limits.
        warnings: Warnings about the result.
    """

    tables: dict[str, list[Row]]
    reading: list[str] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)

    def dump(self) -> str:
        """Return the result of a study as JSON for the database.

        Tables and keys keep their order, and undefined numbers become null.
        """
        return json.dumps(replace_undefined(asdict(self)), ensure_ascii=False)

    @classmethod
    def load(cls, stored: str) -> Finding:
        """Convert the JSON that `dump` returned back to the result of a study."""
        content = json.loads(stored)
        for row in (row for rows in content["tables"].values() for row in rows if "messages" in row):
            row["messages"] = Messages(map(message, row["messages"]))
        return cls(content["tables"], content["reading"], list(map(message, content["warnings"])))


@dataclass(eq=False)
class Parts:
    """Intermediate results of a long study, which can continue after an interruption.

    Attributes:
        finished: Finished results as JSON, by the key of each result (as JSON, too).
        store: Stores new results; called every few seconds.
        progress: Receives the number of finished results.
    """

    finished: dict[str, str] = field(default_factory=dict)
    store: Callable[[Mapping[str, str]], None] = lambda new: None  # noqa: ARG005
    progress: Progress | None = None
    _new: dict[str, str] = field(default_factory=dict, init=False)
    _last_flush: float = field(default_factory=time.monotonic, init=False)

    def compute_all(self, keys: Sequence[Key], compute: Callable[[Key], Any]) -> list[Any]:
        """Return `compute(key)` for every key, without recomputing stored results.

        After an interruption, a study continues with the stored results. They are JSON values without nan. New results
        are converted to JSON and back, too, so that a resumed study returns the same values as an uninterrupted one.
        """
        def get_part(key: Key) -> Any:
            name = canonical_json(key)
            if name not in self.finished:
                self.finished[name] = self._new[name] = json.dumps(compute(key), ensure_ascii=False, allow_nan=False)
                if time.monotonic() - self._last_flush > _FLUSH_SECONDS:
                    self.flush()
            return json.loads(self.finished[name])

        return list(with_progress(map(get_part, keys), len(keys), "parts of the study", self.progress))

    def flush(self) -> None:
        """Store the results that are not stored yet."""
        if self._new:
            self.store(self._new)
        self._new, self._last_flush = {}, time.monotonic()


class Subject(Protocol):
    """Data for which a study computes one result, such as one leaderboard.

    The identity of the data is determined first. Statistics are loaded only if no result is stored yet.
    """

    @property
    def name(self) -> str:
        """Displayed name of the studied data."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """All data and settings on which the result depends, as JSON values."""

    def load(self, connection: Connection, parts: Parts) -> Any:
        """Load the argument of `Study.run`; return None if there is nothing to study.

        `parts` has the intermediate results of an interrupted computation.
        """

    def signature(self, case: Any, identity: str) -> StudySignature:
        """Return the line of text that identifies the result of a study.

        Args:
            case: The loaded data.
            identity: Digest of everything on which the result depends.
        """


class Study(Value):
    """Base class of studies; a study answers a statistical question about a task.

    The fields of a study are the options of its command.

    Attributes:
        title: The question.
        citation: Source of the method.
        task: `one` if a task is required, `all` if the default is all tasks, `none` if the study also runs without
            stored data (`run_without_task`).
        choice: Fields of `Choice`, in addition to the task, that are options of the command.
        settings: Significance settings that are options of the command, and override the task's.
        fixed_settings: Settings that no option can change.
        figures: Names of available figures.
        is_slow: True if the command shows progress and has options for workers and memory.
        min_systems: Minimum number of systems.
        every_metric: True if the default is all metrics, False if it is the primary metric.
    """

    terse: ClassVar[bool] = True
    title: ClassVar[str]
    citation: ClassVar[str]
    task: ClassVar[Literal["one", "all", "none"]] = "one"
    choice: ClassVar[tuple[str, ...]] = ("metric", "test_set", "track", "facet")
    settings: ClassVar[tuple[str, ...]] = ("unit", "alpha", "resamples", "seed")
    fixed_settings: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    figures: ClassVar[tuple[str, ...]] = ()
    is_slow: ClassVar[bool] = True
    min_systems: ClassVar[int] = 2
    every_metric: ClassVar[bool] = False

    @property
    def default_settings(self) -> Mapping[str, Any]:
        """Significance settings of this study that replace the settings of the task.

        The caller can override them.
        """
        return {}

    def resolve(self, task: str | None, shown: str | None) -> Study:  # noqa: ARG002
        """Return the study to run: this one, or another one that the options select.

        Args:
            task: Id of the task; None if no task is named.
            shown: Name of the table to print; None for the default.

        Raises:
            InputError: The options exclude each other.
        """
        return self

    def run_without_task(self, alpha: float | None) -> tuple[str, Finding]:  # noqa: ARG002
        """Compute the study from its options alone, without data of a task.

        Returns:
            A name for the studied data, and the result.

        Raises:
            InputError: The study needs a task or other options.
        """
        raise InputError(f"{self.name} needs a task; name one")

    @abstractmethod
    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterable[Subject]:
        """Find the data of a task to study, such as each of its leaderboards.

        Every subject that is returned leads to one result.

        Raises:
            UnknownNameError: A selected name does not exist.
            InputError: The study does not apply to the data.
        """

    def check_case(self, case: Any) -> list[Message]:  # noqa: ARG002
        """Return the warnings that are known before the study is computed.

        The result of the study contains these warnings too.

        Args:
            case: The loaded data.

        Raises:
            InputError: The study does not apply to the data.
        """
        return []

    @abstractmethod
    def run(self, case: Any) -> Finding:
        """Compute the result of the study from the loaded data.

        Raises:
            InputError: The study does not apply to the data.
        """

    def choose_figure(self, finding: Finding) -> str:  # noqa: ARG002
        """Return the name of the figure that is drawn by default."""
        return self.figures[0]

    def select_warnings(self, finding: Finding, shown: str | None) -> list[Message]:  # noqa: ARG002
        """Return the warnings about one table of the result; `shown` is its name."""
        return finding.warnings


@dataclass(frozen=True, eq=False)
class Case:
    """Input of a study: leaderboards with their statistics.

    Attributes:
        boards: One leaderboard, or the leaderboards of all test sets of one metric and track, in the order of the task.
        subject: The subject that loaded them.
        parts: Intermediate results of long computations.
    """

    boards: tuple[Board, ...]
    subject: BoardSubject
    parts: Parts

    @property
    def request(self) -> Request:
        """Settings of the comparison, such as test, correction, alpha, seed and unit.

        Seed and unit are those of the first leaderboard.
        """
        return self.boards[0].key.with_unit(self.subject.request)

    @property
    def board(self) -> Board:
        """The only leaderboard of the study."""
        (board,) = self.boards
        return board

    @property
    def test(self) -> PairTest:
        """Significance test of pairs: the requested one, by default the task's."""
        return resolve_significance(self.request.significance)[0]

    def adjust(self, p: Sequence[float]) -> list[float]:
        """Correct the p-values of a leaderboard's pairs for multiple comparisons.

        Holm's correction replaces a declared correction that needs joint resamples.
        """
        correction = CORRECTIONS[self.request.significance.correction]
        adjusted: list[float] = adjust(np.array(p), correction.name if correction.function else "holm").tolist()
        return adjusted

    @property
    def settings(self) -> Settings:
        """Settings of two-sided significance tests, such as the number of resamples."""
        return self.request.settings


class BoardStudy(Study):
    """Base class of studies that use the statistics of leaderboards.

    Attributes:
        scope: `board` to study every leaderboard separately; `test sets` to study all test sets of a metric and track
            together.
        min_boards: Minimum number of leaderboards.
        every_facet: True if the default includes leaderboards of facets.
        allows_unequal_items: True if systems may be scored on different items.
        supports_judgments: True if the study supports votes and ratings.
        supports_responses: True if the study supports tests whose units are single responses.
    """

    scope: ClassVar[Literal["board", "test sets"]] = "board"
    min_boards: ClassVar[int] = 1
    every_facet: ClassVar[bool] = False
    allows_unequal_items: ClassVar[bool] = False
    supports_judgments: ClassVar[bool] = False
    supports_responses: ClassVar[bool] = True

    @property
    def facet_attribute(self) -> str | None:
        """Item attribute, such as genre, whose values are compared instead of test sets.

        The value is None if test sets are compared.
        """
        return None

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        """Yield the selected leaderboards, one by one or grouped by metric and track."""
        keys = [key for key in choose_keys(connection, task, request, choice, facet_attribute=self.facet_attribute,
                                           every_facet=self.every_facet) if len(key.members) >= self.min_systems]
        if self.scope == "board":
            groups: Iterable[Sequence[BoardKey]] = ([key] for key in keys)
        else:
            metrics = request.metrics or ()

            def get_group(key: BoardKey) -> tuple[int, str]:
                return metrics.index(key.metric.alias), key.track or ""

            groups = (list(group) for _, group in groupby(sorted(keys, key=get_group), key=get_group))
        for group in groups:
            if len(group) >= self.min_boards:
                members = {member.submission_id: member.name for key in group for member in key.members}
                attributes = catalog.submission_attributes(connection, list(members))
                yield BoardSubject(self, tuple(group), {members[n]: values for n, values in attributes.items()},
                                   request)


@dataclass(frozen=True, eq=False)
class BoardSubject:
    """Leaderboards from which a study computes one result, before they are loaded.

    Attributes:
        study: The study with its options.
        keys: Properties that identify each leaderboard.
        attributes: Attributes of every submission by its full name: team, kind, and attributes from the manifest.
        request: Settings of the comparison.
    """

    study: BoardStudy
    keys: tuple[BoardKey, ...]
    attributes: dict[str, dict[str, str]]
    request: Request

    @property
    def name(self) -> str:
        """Names of the leaderboards, joined; shortened if there are more than three."""
        names = list(dict.fromkeys(key.name for key in self.keys))
        return "; ".join(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"])

    @property
    def identity(self) -> Mapping[str, Any]:
        """Digests of the leaderboards, and attributes of their submissions.

        The result of the study depends on these data.
        """
        return {"boards": [key.digest(self.request) for key in self.keys], "attributes": self.attributes}

    def load(self, connection: Connection, parts: Parts) -> Case | None:
        """Load the leaderboards with their statistics.

        Return None if too few leaderboards have items.

        Raises:
            InputError: Systems are scored on different items.
        """
        loaded = [board for key in self.keys if (board := load_board(connection, key, self.request)) is not None]
        if len(loaded) < self.study.min_boards:
            return None
        if self.study.supports_responses and self.keys[0].with_unit(self.request).significance.unit == "response":
            loaded = [split_into_responses(connection, board) for board in loaded]
        if not self.study.supports_judgments:
            loaded = [refuse_judgments(board) for board in loaded]
        if not (self.study.allows_unequal_items or self.study.supports_judgments):
            loaded = [check_same_items(board) for board in loaded]
        return Case(tuple(loaded), self, parts)

    def signature(self, case: Case, identity: str) -> StudySignature:
        """Return the line that identifies a result: its study, leaderboards and settings."""
        keys = [board.key for board in case.boards]
        sizes = {(board.key.test_set.name, board.key.facet_name): len(board.items) for board in case.boards}
        return StudySignature(
            study=repr(self.study), metric="+".join(dict.fromkeys(key.metric.alias for key in keys)),
            task=keys[0].task.slug, task_version=keys[0].task.version,
            test_sets=tuple(dict.fromkeys(key.test_set.name for key in keys)),
            track=keys[0].track, facet=None if self.study.facet_attribute else keys[0].facet_name,
            n_items=sum(sizes.values()),
            n_systems=len({f"{m.team}/{m.system}" for board in case.boards for m in board.members}),
            golds=tuple(dict.fromkeys(short(key.gold_digest) for key in keys)), seed=self.request.seed,
            identity=short(identity))


def choose_keys(connection: Connection, task: TaskRow, request: Request, choice: Choice, *,
                facet_attribute: str | None = None, every_facet: bool = False) -> list[BoardKey]:
    """Return the keys that identify the selected leaderboards of a task.

    The keys are sorted by the metrics of the request.

    Args:
        connection: Connection to the registry.
        task: Row of the task.
        request: Settings of the comparison, with the metrics.
        choice: The selected leaderboards.
        facet_attribute: Attribute, such as genre, of which the leaderboards of facets are selected.
        every_facet: True to include the leaderboards of all facets, in the order of the task.

    Raises:
        UnknownNameError: The selected test set, track or facet does not exist.
        InputError: No item has the attribute `facet_attribute`.
    """
    if facet_attribute is not None:
        request = replace(request, facets={test_set.name: [facet_attribute]
                                           for test_set in catalog.test_sets(connection, task.task_id)})
    keys = list(load_board_keys(connection, task, request))
    if facet_attribute is not None:
        keys = [key for key in keys if key.facet is not None]
        if not keys:
            raise InputError(f"items of {task.slug} have no attribute {facet_attribute!r}; the options of the gold's "
                             "reader name attributes")
    kinds: list[tuple[str, str | None, Callable[[BoardKey], str | None]]] = [
        ("test set", choice.test_set, lambda key: str(key.test_set.name)),
        ("track", choice.track, lambda key: key.track), ("facet", choice.facet, lambda key: key.facet_name)]
    for kind, selected, get_name in kinds:
        names = {get_name(key) for key in keys}
        if selected is not None and selected not in names:
            raise UnknownNameError(f"{kind} of {task.slug}", selected, sorted(filter(None, names)))
        if selected is not None or (kind == "facet" and facet_attribute is None and not every_facet):
            keys = [key for key in keys if get_name(key) == selected]
    metrics = request.metrics or ()
    return keys if every_facet else sorted(keys, key=lambda key: metrics.index(key.metric.alias))


def choose_board(connection: Connection, task: TaskRow, request: Request, choice: Choice) -> Board:
    """Load the leaderboard that `choice` selects; it must be the only one.

    Raises:
        UnknownNameError: The selected test set, track or facet does not exist.
        MismatchError: No system is scored.
        InputError: Several leaderboards are selected, or systems are scored on different items.
    """
    keys = choose_keys(connection, task, request, choice)
    if len(keys) > 1:
        raise InputError(f"{len(keys)} boards are selected; select one by --test-set and --track")
    board = load_board(connection, keys[0], request) if keys else None
    if board is None:
        raise MismatchError(f"no system of {task.slug} is scored; run `registry submit`, then `registry score`")
    return check_same_items(refuse_judgments(board))


def refuse_judgments(board: Board) -> Board:
    """Return a leaderboard unchanged if its scores do not come from votes or ratings.

    Raises:
        InputError: They come from votes or ratings.
    """
    if isinstance(board.matrix, JointMatrix):
        raise InputError(f"{board.key.name}: this study does not support {board.matrix.family}, because the scores of "
                         "all systems are estimated together; use `registry study best` for ranges of ranks, and "
                         "`registry pairs` for differences")
    return board


def check_same_items(board: Board) -> Board:
    """Return a leaderboard unchanged if all its systems are scored on the same items.

    Raises:
        InputError: They are scored on different items.
    """
    if board.matrix.unequal:
        raise InputError(f'{board.key.name}: studies need the same items for all systems, but the setting '
                         'missing = "own" leaves out different items for each system; set missing = "drop"')
    return board


def name_systems(members: Sequence[Member]) -> list[str]:
    """Return the names of systems, with the team if two have the same name."""
    counts = Counter(member.system for member in members)
    return [f"{member.team}/{member.system}" if counts[member.system] > 1 else member.system
            for member in members]


class NamedSubmission(Protocol):
    """Names of a submission."""

    @property
    def team(self) -> str:
        """Name of the team."""

    @property
    def system(self) -> str:
        """Name of the system."""

    @property
    def submission(self) -> str:
        """Name of the submission, `team/system@version`."""


def is_named(submission: NamedSubmission, name: str) -> bool:
    """Return True if a name is a submission's system, `team/system`, or `team/system@version`."""
    return name in (submission.system, f"{submission.team}/{submission.system}", submission.submission)


_MAX_SIZES = 10_000


def parse_sizes(text: str, option: str) -> tuple[int, ...]:
    """Parse sizes in the form FIRST:LAST:STEP, or as an increasing list.

    >>> parse_sizes("100:300:100", "--grid"), parse_sizes("5,10", "--grid")
    ((100, 200, 300), (5, 10))
    """
    error = InputError(f"{option} {text!r} is neither FIRST:LAST:STEP, such as 100:2000:50, nor an increasing list, "
                       "such as 100,500,1000")
    if match := re.fullmatch(r"(\d{1,9}):(\d{1,9}):(\d{1,9})", text, re.ASCII):
        first, last, step = map(int, match.groups())
        if not step:
            raise error
        if (last - first) // step >= _MAX_SIZES:
            raise InputError(f"{option} {text!r} has more than {_MAX_SIZES} sizes; increase the step")
        sizes = list(range(first, last + 1, step))
    elif re.fullmatch(r"\d{1,9}(,\d{1,9})*", text, re.ASCII):
        sizes = [int(size) for size in text.split(",")]
    else:
        raise error
    if not sizes or sizes[0] < 1 or sizes != sorted(set(sizes)):
        raise error
    return tuple(sizes)
