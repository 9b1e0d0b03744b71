"""What a study is: a question asked of a task, with its options, and what it finds.

Like a test or a metric, a study is a value: `repr(study)` is its canonical name. With the digest of what it looks at it
is the identity of its result, so a study that was made is found again and not made twice. Its fields are the options of
its command line.
"""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.comparing.settings import Request
from registry.identity import canonical_json, plain_value
from registry.messages import Message, Messages, message
from registry.parallel.execution import Progress, with_progress
from registry.provenance import StudySignature
from registry.store.catalog import TaskRow
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

    def remarks(self, finding: Finding, shown: str | None) -> list[Message]:  # noqa: ARG002
        """What a reader of one of its tables must be warned of."""
        return finding.warnings
