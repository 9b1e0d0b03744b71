"""Answers of a system as numpy arrays.

One table can contain the answers of thousands of systems, and computing with arrays is a hundred times faster than with
`Answer` objects. The classes of this module are also sequences of `Answer`: they make the object of an entry when it is
accessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.items import Answer, AnswerSet, Item, Response

Places = Ints

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """The item key and the line number of each row of a file.

    A file with the answers of several systems has one such object for all of them.

    Attributes:
        keys: The key of the item of each row.
        lines: The number of the line of each row in the file.
    """

    keys: tuple[str, ...]
    lines: Sequence[int]

    @cached_property
    def places(self) -> dict[str, int]:
        """Index of the row with each key, from 0. For repeated keys, the last row counts."""
        return {key: n for n, key in enumerate(self.keys)}


class Items(list[Item]):
    """The items of a test set as a list; `keys` is computed once."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the items."""
        return tuple(map(attrgetter("key"), self))


class _Lazy(Sequence[Any]):
    """A sequence that creates an element each time it is accessed."""

    def __getitem__(self, index: Any) -> Any:
        every = range(len(self))[index]
        return self.entry(every) if isinstance(every, int) else list(map(self.entry, every))

    def __iter__(self) -> Iterator[Any]:
        return map(self.entry, range(len(self)))

    def entry(self, n: int) -> Any:
        """Create element `n`, counted from 0."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class AnswerColumns(_Lazy):
    """The answers of one system, stored as an array, in the order of the file.

    As a sequence, it contains an `Answer` for each row that has an answer.

    Attributes:
        rows: Item key and line number of each row.
        values: The answers, [rows]: numbers, objects, or indices of labels; nan if a row has no answer.
        labels: The distinct labels, to which `values` refers; None if answers are not labels.
    """

    rows: Rows
    values: NDArray[Any]
    labels: tuple[str, ...] | None = None

    @classmethod
    def from_labels(cls, keys: Sequence[str], labels: Sequence[str], lines: Sequence[int]) -> AnswerColumns:
        """Make the answers of one system from labels.

        Args:
            keys: The key of the item of each row.
            labels: The label of each row; empty if the row has no answer.
            lines: The number of the line of each row in the file.
        """
        distinct_labels = dict.fromkeys(label for label in dict.fromkeys(labels) if label)
        places: dict[str, float] = {label: n for n, label in enumerate(distinct_labels)} | {"": np.nan}
        values = np.fromiter(map(places.__getitem__, labels), dtype=np.float64, count=len(labels))
        return cls(Rows(tuple(keys), lines), values, tuple(distinct_labels))

    def rename_labels(self, new: Mapping[str, str]) -> AnswerColumns:
        """Return a copy with other names of some labels.

        Args:
            new: The new name of each renamed label. Two labels may get the same name.
        """
        names = [new.get(label, label) for label in self.labels or ()]
        places = {label: n for n, label in enumerate(dict.fromkeys(names))}
        codes = np.array([*map(places.__getitem__, names), np.nan])  # rows without an answer get the last value
        values = codes[np.where(self.has_answer, self.values, NOWHERE).astype(np.int64)]
        return replace(self, values=values, labels=tuple(places))

    @property
    def is_numeric(self) -> bool:
        """True if `values` contains numbers (or indices of labels), False if objects."""
        return self.values.dtype != np.object_

    @property
    def counts(self) -> Counter[str]:
        """Number of answers with each label."""
        return _counts(self.values[self.given], self.labels)

    @cached_property
    def has_answer(self) -> Flags:
        """For each row, whether it has an answer, [rows]."""
        if not self.is_numeric:
            return np.ones(len(self.values), dtype=np.bool_)
        has_value: Flags = ~np.isnan(self.values if self.values.ndim == 1 else self.values[:, 0])
        return has_value

    @cached_property
    def given(self) -> Places:
        """Indices of the rows that have an answer, in ascending order."""
        return np.flatnonzero(self.has_answer)

    def __len__(self) -> int:
        return len(self.given)

    def entry(self, n: int) -> Answer:
        """Create answer number `n`, counted from 0 without rows that have no answer."""
        return self.make_answer(int(self.given[n]))

    def make_answer(self, row: int) -> Answer:
        """Create the answer in a row of the file, which must have an answer."""
        value = self.values[row]
        return Answer(self.rows.keys[row], self.decode(value.tolist() if self.is_numeric else value),
                      self.rows.lines[row])

    def decode(self, value: Any) -> Any:
        """Convert a stored value to an answer: to its label, or to the number itself."""
        return value if self.labels is None else self.labels[int(value)]


@dataclass(frozen=True, eq=False)
class StatisticColumns(AnswerColumns):
    """Answers that consist of several named numbers, such as precomputed statistics.

    Attributes:
        names: The names of the numbers.
        values: The numbers, [rows, names]; nan in all columns if a row has no answer.
    """

    names: tuple[str, ...] = ()

    def decode(self, value: Any) -> dict[str, float]:
        """Convert a row of the array to a dictionary of numbers by name."""
        return dict(zip(self.names, value, strict=True))


@dataclass(frozen=True, eq=False)
class ScoreColumns(StatisticColumns):
    """Answers that consist of several scores, such as accuracy and cost, each of which may be missing.

    Attributes:
        values: The scores, [rows, names]; nan if a row lacks a score. A row without any score has no answer.
    """

    @cached_property
    def has_answer(self) -> Flags:
        """For each row, whether it has at least one score, [rows]."""
        has_score: Flags = (~np.isnan(self.values)).any(axis=1)
        return has_score

    def decode(self, value: Any) -> dict[str, float | None]:  # type: ignore[override]  # scores may be missing here
        """Convert a row of the array to a dictionary of scores by name; None if a score is missing."""
        return {name: None if np.isnan(number) else number for name, number in zip(self.names, value, strict=True)}


@dataclass(frozen=True, eq=False)
class CandidateColumns(AnswerColumns):
    """Answers that accept or reject one candidate, such as a proposed translation.

    An accepting answer is a set with one response, which has a score; a rejecting answer is the empty set. `values`
    contains the scores, or infinity for the empty set.

    Attributes:
        key: The key of all responses.
    """

    key: str = ""

    def decode(self, value: Any) -> AnswerSet:
        """Convert a score to a set with one response, or infinity to the empty set."""
        return AnswerSet() if value == np.inf else AnswerSet((Response(self.key, score=value),))


def as_columns(answers: Sequence[Answer]) -> AnswerColumns:
    """Convert a sequence of answers to columns; columns are returned unchanged."""
    if isinstance(answers, AnswerColumns):
        return answers
    values = np.fromiter((answer.value for answer in answers), dtype=np.object_, count=len(answers))
    return AnswerColumns(Rows(tuple(answer.key for answer in answers), [answer.line for answer in answers]), values)


@dataclass(frozen=True, eq=False)
class JoinedColumns(_Lazy):
    """The answers of one system to the items of a test set, in the items' order.

    As a sequence, it has one element for each item: an `Answer`, or None if the item has no answer.

    Attributes:
        answers: The answers in the order of the file.
        at: For each item, the index of its row in the file, [items]; `NOWHERE` (-1) if the file has no such row. None
            if the file has the items in the same order.
    """

    answers: AnswerColumns
    at: Places | None = None

    @classmethod
    def match_items(cls, answers: AnswerColumns, items: Sequence[Item]) -> JoinedColumns:
        """Match the answers of a file to items by key.

        If an item has several answers, the first one counts.
        """
        keys, rows = items.keys if isinstance(items, Items) else Items(items).keys, answers.rows
        if keys == rows.keys:
            return cls(replace(answers, rows=Rows(keys, rows.lines)))  # so that no second copy of the keys is kept
        places = rows.places
        if len(places) < len(rows.keys):
            places = {rows.keys[n]: n for n in reversed(answers.given.tolist())}
        return cls(answers, np.array([places.get(key, NOWHERE) for key in keys], dtype=np.int64))

    @property
    def is_one_to_one(self) -> bool:
        """True if every row of the file belongs to a different item of the test set."""
        return self.at is None or int((self.at != NOWHERE).sum()) == len(self.answers.rows.keys)

    @property
    def is_numeric(self) -> bool:
        """True if `values` contains numbers (or indices of labels), False if objects."""
        return self.answers.is_numeric

    @cached_property
    def values(self) -> NDArray[Any]:
        """The answer to each item as an array, [items].

        Answers are numbers, objects, or indices of labels. An item without an answer has nan, or None in an array of
        objects.
        """
        values = self.answers.values
        if self.at is None:
            return values
        absent = np.nan if self.is_numeric else None
        nowhere = np.full((1, *values.shape[1:]), absent, dtype=values.dtype)
        return np.concatenate([values, nowhere])[self.at]  # NOWHERE is -1, the last row

    @cached_property
    def has_answer(self) -> Flags:
        """For each item, whether the system answers it, [items]."""
        given = self.answers.has_answer
        return given if self.at is None else np.concatenate([given, np.zeros(1, dtype=np.bool_)])[self.at]

    @property
    def n_missing(self) -> int:
        """Number of items without an answer."""
        return len(self) - int(self.has_answer.sum())

    @property
    def given(self) -> JoinedColumns:
        """The same answers, without the items that have no answer."""
        return self.select(self.has_answer) if self.n_missing else self

    @property
    def counts(self) -> Counter[str]:
        """Number of answers with each label."""
        if self.answers.labels is None:
            return Counter(self.values[self.has_answer].tolist())
        return _counts(self.values[self.has_answer], self.answers.labels)

    def encode_labels(self, labels: Iterable[str]) -> Floats:
        """Convert labels to the indices that represent labels in `values`.

        A label that the system never gives becomes `NOWHERE` (-1).

        Args:
            labels: One label for each item, such as the gold.
        """
        places = {label: n for n, label in enumerate(self.answers.labels or ())}
        return np.array([places.get(label, NOWHERE) for label in labels], dtype=np.float64)

    @property
    def columns(self) -> dict[str | None, JoinedColumns]:
        """The answers as one sequence for each column of scores, by name of the column.

        Answers that are not several scores are returned unchanged, under the name None.
        """
        if not isinstance(self.answers, ScoreColumns):
            return {None: self}
        return {name: self.select_column(name) for name in self.answers.names}

    def select_column(self, name: str | None) -> JoinedColumns:
        """Return the scores in one column, such as the cost of each item.

        Answers that are not several scores are returned unchanged.

        Args:
            name: Name of the column; None for the first column.
        """
        if not isinstance(self.answers, ScoreColumns):
            return self
        column = 0 if name is None else self.answers.names.index(name)
        return JoinedColumns(AnswerColumns(self.answers.rows, self.answers.values[:, column]), self.at)

    def select(self, items: Flags) -> JoinedColumns:
        """Return the answers to some items only.

        Args:
            items: For each item, whether to select it, [items].
        """
        rows = np.arange(len(items)) if self.at is None else self.at
        return JoinedColumns(self.answers, rows[items])

    def __len__(self) -> int:
        return len(self.answers.values) if self.at is None else len(self.at)

    def entry(self, n: int) -> Answer | None:
        """Create the answer to item number `n`, counted from 0; None if it has no answer."""
        if not self.has_answer[n]:
            return None
        return self.answers.make_answer(n if self.at is None else int(self.at[n]))


def _counts(values: NDArray[Any], labels: Sequence[str] | None) -> Counter[str]:
    names = labels or ()
    counts = np.bincount(values.astype(np.int64), minlength=len(names))
    return Counter({label: n for label, n in zip(names, counts.tolist(), strict=True) if n})
