"""Readers of people's judgments: votes between two systems, and ratings of single systems.

One file has the judgments of all systems, and a row is one judgment, such as a vote:

    question  voter  system_a  system_b  outcome
    q1        anna   aspen     birch     a
    q2        ben    birch     cedar     tie

An item of the task is one judgment. A system answers the judgments that are about it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from registry.arrays import Floats, Ints
from registry.columns import Rows, StatisticColumns
from registry.errors import suggest
from registry.families import FAMILIES
from registry.items import Item
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, list_numbers, to_number
from registry.values import TERSE

T = TypeVar("T")

# Words for outcomes in lower case, without blanks and underscores.
_A_WINS = frozenset({"a", "modela", "systema", "model1", "system1", "left", "first", "1", "1.0", "a>b", "a>>b"})
_B_WINS = frozenset({"b", "modelb", "systemb", "model2", "system2", "right", "second", "0", "0.0", "b>a", "b>>a"})
_TIES = frozenset({"tie", "ties", "draw", "equal", "same", "0.5", "a=b"})
_BOTH_BAD = frozenset({"tie(bothbad)", "bothbad", "bothbad.", "neither"})
OUTCOMES = _A_WINS | _B_WINS | _TIES | _BOTH_BAD


def fold_outcome(text: str) -> str:
    """Return an outcome in the spelling of `OUTCOMES`: without case, blanks and underscores."""
    return "".join(text.casefold().split()).replace("_", "")


@dataclass(frozen=True, eq=False)
class JudgmentTable:
    """All judgments of a file.

    Attributes:
        rows: Key and line of each judgment.
        attributes: Attributes of each judgment.
        weights: Weight of each judgment, [judgments].
        systems: Names of the systems, sorted.
    """

    rows: Rows
    attributes: Sequence[Mapping[str, str]]
    weights: Floats
    systems: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class VoteTable(JudgmentTable):
    """All votes of a file.

    Attributes:
        a, b: Index of the first and of the second system of each vote, [votes].
        points: Points of the first system: 1 for a win, 0.5 for a tie, 0 for a loss; nan for a vote that is dropped.
    """

    a: Ints
    b: Ints
    points: Floats


@dataclass(frozen=True, eq=False)
class RatingTable(JudgmentTable):
    """All ratings of a file.

    Attributes:
        numbers: Index of the system of each rating.
        scores: The ratings, [ratings].
    """

    numbers: Ints
    scores: Floats


class JudgmentReader(TableReader):
    """Base class of readers of judgments, of which the gold and every submission read the same file.

    Attributes:
        system: Name of the system whose judgments a submission reads.
        grouping: Names of options that name the column of an attribute, such as `voter`.
    """

    answers_all: ClassVar[bool] = False
    gives_columns: ClassVar[bool] = True
    grouping: ClassVar[tuple[str, ...]]

    item: tuple[str, ...] = ()
    system: str = ""

    def offers(self) -> tuple[str, ...]:
        return ()

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the judgments as items, without what they say."""
        table = self.read_judgments(documents["gold"])
        return [Item(key, None, attributes, line) for key, attributes, line in zip(
            table.rows.keys, table.attributes, table.rows.lines, strict=True)]

    def read_judgments(self, document: Document) -> Any:
        """Read all judgments of a file as a `JudgmentTable`.

        The result is kept in the document, because each system needs it.
        """
        key = replace(self, system="")
        if key not in document.cache:
            document.cache[key] = self.make_table(document)
        return document.cache[key]

    @abstractmethod
    def make_table(self, document: Document) -> JudgmentTable:
        """Read all judgments of a file; subclasses implement this method."""

    def parse_judgments(self, document: Document, requested: Sequence[str], weight: str | None,
                        parse: Callable[[Row], T]) -> tuple[Rows, list[Mapping[str, str]], Floats, list[T]]:
        """Read every row, and return keys and lines, attributes, weights, and the parsed values.

        Args:
            document: The file.
            requested: Columns whose cells the function needs.
            weight: Column of weights; None: all weights are 1.
            parse: The function.
        """
        named = {name: getattr(self, name) for name in self.grouping} | {name: name for name in self.attributes}
        columns = {name: column for name, column in named.items() if column is not None}

        def parse_weighted(row: Row) -> tuple[T, float]:
            number = 1.0 if weight is None else self.require_number(row.cells[-1], weight, row)
            if number <= 0:
                raise row.error(f"{weight!r} is {number:g}; expected a positive weight")
            return parse(row), number

        parsed = list(self.parse_rows(document, (*requested, *([] if weight is None else [weight])), parse_weighted,
                                      tuple(columns.values())))
        return (Rows(tuple(row.key for row, _ in parsed), [row.line for row, _ in parsed]),
                [{name: row.attributes[column] for name, column in columns.items()} for row, _ in parsed],
                np.array([number for _, (_, number) in parsed], dtype=np.float64), [value for _, (value, _) in parsed])

    def require_system(self, systems: Sequence[str], document: Document) -> int:
        """Return the number of the system whose judgments are read.

        Raises:
            InputError: There is no such system.
        """
        if not self.system:
            raise document.error(f"the reader {self.name} needs the name of a system; set options = {{ system = "
                                 "\"NAME\" }")
        if self.system not in systems:
            raise document.error(f"there is no {self.gives} about the system {self.system!r}; "
                                 f"{suggest(self.system, systems)}")
        return systems.index(self.system)

    def content(self, value: Any) -> Any:
        return list_numbers(value) if isinstance(value, Mapping) else value


class Votes(JudgmentReader):
    """Votes between two systems, in a table of all systems.

    This file format is for arenas and judges that compare two outputs. The gold and every submission read the same
    file; a submission names its system. An outcome is `a`, `b`, `tie` or `both bad`, in the usual spellings (such as
    `model_a` or `tie (bothbad)`), the points of the first system (from 0 to 1), or the name of the better system.

    Attributes:
        system_a: Column with the name of the first system.
        system_b: Column with the name of the second system.
        outcome: Column with the outcome.
        prompt: Column with the prompt (question, segment) of a vote; None if there is none.
        voter: Column with the person or model who votes; None if there is none.
        weight: Column with the weight of a vote, such as an inverse probability; None: all weights are 1.
        both_bad: Treatment of votes that find both outputs bad: count them as a `tie`, or `drop` them.
    """

    name: ClassVar[str] = "votes"
    gives: ClassVar[str] = "vote"
    absent: ClassVar[str] = "the system takes no part in it"
    grouping: ClassVar[tuple[str, ...]] = ("prompt", "voter")

    system_a: str = "system_a"
    system_b: str = "system_b"
    outcome: str = "outcome"
    prompt: str | None = None
    voter: str | None = None
    weight: str | None = None
    both_bad: Literal["tie", "drop"] = field(default="tie", kw_only=True, metadata=TERSE)

    def parse_answers(self, document: Document) -> StatisticColumns:
        """Read the votes in which the system takes part: weight, points, and position (1 for a, 2 for b)."""
        table: VoteTable = self.read_judgments(document)
        number = self.require_system(table.systems, document)
        position = np.where(table.a == number, 1.0, np.where(table.b == number, 2.0, np.nan))
        points = np.where(position == 1, table.points, 1 - table.points)
        values = np.stack([table.weights, table.weights * points, position], axis=1)
        values[np.isnan(values).any(axis=1)] = np.nan
        return StatisticColumns(table.rows, values, names=FAMILIES["votes"].columns)

    def make_table(self, document: Document) -> VoteTable:
        rows, attributes, weights, votes = self.parse_judgments(
            document, (self.system_a, self.system_b, self.outcome), self.weight, self._parse_vote)
        systems, numbers = np.unique(np.array([names for names, _ in votes], dtype=np.str_).reshape(-1, 2),
                                     return_inverse=True)
        a, b = numbers.reshape(-1, 2).T
        points = np.array([points for _, points in votes], dtype=np.float64)
        return VoteTable(rows, attributes, weights, tuple(systems.tolist()), a, b, points)

    def _parse_vote(self, row: Row) -> tuple[tuple[str, str], float]:
        a, b = (str(cell).strip() for cell in row.cells[:2])
        if not a or not b or a == b:
            raise row.error(f"a vote is between {a!r} and {b!r}; expected two different systems")
        return (a, b), self._parse_outcome(row.cells[2], a, b, row)

    def _parse_outcome(self, cell: Any, a: str, b: str, row: Row) -> float:
        text = str(cell).strip()
        if text in (a, b):
            return float(text == a)
        word = fold_outcome(text)
        for words, points in ((_A_WINS, 1.0), (_B_WINS, 0.0), (_TIES, 0.5)):
            if word in words:
                return points
        if word in _BOTH_BAD:
            return 0.5 if self.both_bad == "tie" else np.nan
        if 0 <= (points := to_number(text, text=True)) <= 1:
            return points
        raise row.error(f"the outcome is {text[:40]!r}; expected a, b, tie, both bad, the points of the first system "
                        "(from 0 to 1), or the name of the better system")


class Ratings(JudgmentReader):
    """Ratings of outputs of systems, in a table of all systems.

    This file format is for people (or judges) who rate outputs, so that some outputs have several ratings and others
    have none. The gold and every submission read the same file; a submission names its system.

    Attributes:
        systems: Column with the name of the system.
        score: Column with the rating.
        rated: Column with the item whose output was rated, such as a segment.
        document: Column with the document of the item; None if there is none.
        annotator: Column with the person who rates; None if there is none.
        weight: Column with the weight of a rating, such as the number of ratings of which it is the mean; None: all
            weights are 1.
    """

    name: ClassVar[str] = "ratings"
    gives: ClassVar[str] = "rating"
    absent: ClassVar[str] = "it is about another system"
    grouping: ClassVar[tuple[str, ...]] = ("rated", "document", "annotator")

    systems: str = "system"
    score: str = "score"
    rated: str = "item"
    document: str | None = None
    annotator: str | None = None
    weight: str | None = None

    def parse_answers(self, document: Document) -> StatisticColumns:
        """Read the ratings of the system: weight, and weight times score."""
        table: RatingTable = self.read_judgments(document)
        is_own = table.numbers == self.require_system(table.systems, document)
        values = np.stack([table.weights, table.weights * table.scores], axis=1)
        values[~is_own] = np.nan
        return StatisticColumns(table.rows, values, names=FAMILIES["ratings"].columns)

    def make_table(self, document: Document) -> RatingTable:
        rows, attributes, weights, ratings = self.parse_judgments(
            document, (self.systems, self.score), self.weight, self._parse_rating)
        systems, numbers = np.unique(np.array([system for system, _ in ratings], dtype=np.str_), return_inverse=True)
        scores = np.array([score for _, score in ratings], dtype=np.float64)
        return RatingTable(rows, attributes, weights, tuple(systems.tolist()), numbers.astype(np.int64), scores)

    def _parse_rating(self, row: Row) -> tuple[str, float]:
        system = str(row.cells[0]).strip()
        if not system:
            raise row.error(f"{self.systems!r} is blank; expected the name of a system")
        return system, self.require_number(row.cells[1], self.score, row)
