"""What a study is: a question asked of boards, with its options, and what it finds.

Like a test or a metric, a study is a value: `repr(study)` is its canonical name. With the digests of the boards that it
looks at it is the identity of its result, so a study that was made is found again and not made twice.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from registry.evaluation import Request
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.resolve import resolve_significance
from registry.identity import canonical_json
from registry.parallel.execution import Progress, with_progress
from registry.significance import CORRECTIONS, PairTest, Settings
from registry.significance.multiple.corrections import adjust
from registry.store.row_types import Member
from registry.values import Value

Row = dict[str, Any]
Key = TypeVar("Key", bound="str | int | tuple[str | int, ...]")


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
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts that the work of a study falls into, some of which an earlier attempt has left done.

    Attributes:
        done: What is done, as JSON, by the canonical JSON of its key.
        keep: Called after each new part, to keep it.
        progress: Told how many are done.
    """

    done: dict[str, str] = field(default_factory=dict)
    keep: Callable[[str, str], None] = lambda key, result: None  # noqa: ARG005
    progress: Progress | None = None

    def each(self, keys: Sequence[Key], compute: Callable[[Key], Any]) -> list[Any]:
        """Give the part of every key: JSON values without nan, the same ones whether found or computed."""
        def part(key: Key) -> Any:
            name = canonical_json(key)
            if name not in self.done:
                self.done[name] = json.dumps(compute(key), ensure_ascii=False, allow_nan=False)
                self.keep(name, self.done[name])
            return json.loads(self.done[name])

        return list(with_progress(map(part, keys), len(keys), "parts of the study", self.progress))


@dataclass(frozen=True, eq=False)
class Case:
    """What a study looks at.

    Attributes:
        boards: One, or those of all test sets that a study joins: of one metric and track, in the order of the task.
        attributes: Of every submission, by its full name: team, kind, and what the manifest declares.
        request: How the task is compared: the settings of significance with their seed, and who computes.
        parts: For work that takes long.
    """

    boards: tuple[Board, ...]
    attributes: Mapping[str, Mapping[str, str]]
    request: Request
    parts: Parts = field(default_factory=Parts)

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


@dataclass(frozen=True, repr=False)
class Study(Value):
    """A study with its options.

    `title` says what it asks, `citation` where the method comes from. A study of scope `board` looks at every board by
    itself, one of scope `test sets` at the boards of a metric and track together. `least` is how many systems it needs.
    `every_metric` tells that it is made for each metric where none is chosen, not only for the primary one;
    `facets_by` is an item attribute whose values it takes for test sets of their own.
    """

    terse: ClassVar[bool] = True
    title: ClassVar[str]
    citation: ClassVar[str]
    scope: ClassVar[Literal["board", "test sets"]] = "board"
    least: ClassVar[int] = 2
    every_metric: ClassVar[bool] = False

    @property
    def facets_by(self) -> str | None:
        """None: test sets are looked at as they are."""
        return None

    @abstractmethod
    def run(self, case: Case) -> Finding:
        """Make the study.

        Raises:
            InputError: It cannot be made of what there is.
        """


def called(members: Sequence[Member]) -> list[str]:
    """The names of systems, with their teams' where two of them are called the same."""
    names = [member.system for member in members]
    return [f"{member.team}/{member.system}" if names.count(member.system) > 1 else member.system
            for member in members]
