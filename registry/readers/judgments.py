"""Readers of people's judgments: votes between two systems, and ratings of single systems.

One file has the judgments of all systems, and a row is one judgment, such as a vote:

    question  voter  system_a  system_b  outcome
    q1        anna   aspen     birch     a
    q2        ben    birch     cedar     tie

An item of the task is one judgment. A system answers the judgments that are about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from registry.arrays import Floats, Ints
from registry.columns import Rows, StatisticColumns
from registry.errors import InputError, suggest
from registry.families import FAMILIES
from registry.items import Item
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, list_numbers, to_number
from registry.values import TERSE

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
class VoteTable:
    """All votes of a file.

    Attributes:
        rows: Key and line of each vote.
        systems: Names of the systems that take part, sorted.
        a, b: Index of the first and of the second system of each vote, [votes].
        points: Points of the first system: 1 for a win, 0.5 for a tie, 0 for a loss; nan for a vote that is dropped.
        weights: Weight of each vote, [votes].
        attributes: Attributes of each vote.
    """

    rows: Rows
    systems: tuple[str, ...]
    a: Ints
    b: Ints
    points: Floats
    weights: Floats
    attributes: Sequence[Mapping[str, str]]


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

    @property
    def named_columns(self) -> dict[str, str]:
        """Columns of attributes by the name of the attribute."""
        named = {name: getattr(self, name) for name in self.grouping} | {name: name for name in self.attributes}
        return {name: column for name, column in named.items() if column is not None}

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

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the votes as items, without their outcomes."""
        table = self.read_votes(documents["gold"])
        return list(map(Item, table.rows.keys, [None] * len(table.points), table.attributes, table.rows.lines))

    def parse_answers(self, document: Document) -> StatisticColumns:
        """Read the votes in which the system takes part: weight, points, and position (1 for a, 2 for b)."""
        table = self.read_votes(document)
        number = self.require_system(table.systems, document)
        position = np.where(table.a == number, 1.0, np.where(table.b == number, 2.0, np.nan))
        points = np.where(position == 1, table.points, 1 - table.points)
        values = np.stack([table.weights, table.weights * points, position], axis=1)
        values[np.isnan(values).any(axis=1)] = np.nan
        return StatisticColumns(table.rows, values, names=FAMILIES["votes"].columns)

    def read_votes(self, document: Document) -> VoteTable:
        """Read all votes of a file; the result is kept in the document, because each system needs it."""
        key = replace(self, system="")
        if key not in document.cache:
            document.cache[key] = self._read_votes(document)
        table: VoteTable = document.cache[key]
        return table

    def _read_votes(self, document: Document) -> VoteTable:
        columns = self.named_columns
        requested = (self.system_a, self.system_b, self.outcome, *([self.weight] if self.weight else []))
        keys, lines, attributes = list[str](), list[int](), list[dict[str, str]]()
        sides, points, weights = list[tuple[str, str]](), list[float](), list[float]()
        for row in self.read_rows(document, requested, tuple(columns.values())):
            try:
                a, b = (self._read_name(cell) for cell in row.cells[:2])
                if not a or not b or a == b:
                    raise row.error(f"a vote is between {a!r} and {b!r}; expected two different systems")
                points.append(self._parse_outcome(row.cells[2], a, b, row))
                weights.append(1.0 if self.weight is None else self.require_number(row.cells[3], self.weight, row))
                if weights[-1] <= 0:
                    raise row.error(f"{self.weight!r} is {weights[-1]:g}; expected a positive weight")
            except InputError as error:
                document.report(error)
                del points[len(keys):], weights[len(keys):]
                continue
            keys.append(row.key)
            lines.append(row.line)
            sides.append((a, b))
            attributes.append({name: row.attributes[column] for name, column in columns.items()})
        systems, numbers = np.unique(np.array(sides, dtype=np.str_).reshape(-1, 2), return_inverse=True)
        a_numbers, b_numbers = numbers.reshape(-1, 2).T
        return VoteTable(Rows(tuple(keys), lines), tuple(systems.tolist()), a_numbers, b_numbers,
                         np.array(points, dtype=np.float64), np.array(weights, dtype=np.float64), attributes)

    def _read_name(self, cell: Any) -> str:
        return cell.strip() if isinstance(cell, str) else str(cell)

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


@dataclass(frozen=True, eq=False)
class RatingTable:
    """All ratings of a file.

    Attributes:
        rows: Key and line of each rating.
        systems: Names of the systems, sorted.
        numbers: Index of the system of each rating.
        scores: The ratings, [ratings].
        weights: Weight of each rating, [ratings].
        attributes: Attributes of each rating.
    """

    rows: Rows
    systems: tuple[str, ...]
    numbers: Ints
    scores: Floats
    weights: Floats
    attributes: Sequence[Mapping[str, str]]


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

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the ratings as items, without their scores."""
        table = self.read_ratings(documents["gold"])
        return list(map(Item, table.rows.keys, [None] * len(table.scores), table.attributes, table.rows.lines))

    def parse_answers(self, document: Document) -> StatisticColumns:
        """Read the ratings of the system: weight, and weight times score."""
        table = self.read_ratings(document)
        is_own = table.numbers == self.require_system(table.systems, document)
        values = np.stack([table.weights, table.weights * table.scores], axis=1)
        values[~is_own] = np.nan
        return StatisticColumns(table.rows, values, names=FAMILIES["ratings"].columns)

    def read_ratings(self, document: Document) -> RatingTable:
        """Read all ratings of a file; the result is kept in the document, because each system needs it."""
        key = replace(self, system="")
        if key not in document.cache:
            document.cache[key] = self._read_ratings(document)
        table: RatingTable = document.cache[key]
        return table

    def _read_ratings(self, document: Document) -> RatingTable:
        columns = self.named_columns
        requested = (self.systems, self.score, *([self.weight] if self.weight else []))

        def parse(row: Row) -> tuple[str, float, float]:
            system = str(row.cells[0]).strip()
            if not system:
                raise row.error(f"{self.systems!r} is blank; expected the name of a system")
            weight = 1.0 if self.weight is None else self.require_number(row.cells[2], self.weight, row)
            if weight <= 0:
                raise row.error(f"{self.weight!r} is {weight:g}; expected a positive weight")
            return system, self.require_number(row.cells[1], self.score, row), weight

        rows = list(self.parse_rows(document, requested, parse, tuple(columns.values())))
        systems, numbers = np.unique([system for _, (system, *_) in rows], return_inverse=True)
        scores, weights = np.array([values for _, (_, *values) in rows], dtype=np.float64).reshape(-1, 2).T
        return RatingTable(
            Rows(tuple(row.key for row, _ in rows), [row.line for row, _ in rows]), tuple(systems.tolist()),
            numbers.astype(np.int64), scores, weights,
            [{name: row.attributes[column] for name, column in columns.items()} for row, _ in rows])
