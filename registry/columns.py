"""Answers as columns: the one form of a submission's answers outside readers.

Columns are sequences of answers: `entry` makes an `Answer` when it is needed. Code that computes with the arrays takes
a hundredth of the time, and one table may hold thousands of systems.
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
    """The rows of a table, which its columns share: the key of the item and the line of each."""

    keys: tuple[str, ...]
    lines: Sequence[int]

    @cached_property
    def places(self) -> dict[str, int]:
        """The last row of each key."""
        return {key: n for n, key in enumerate(self.keys)}


class Items(list[Item]):
    """Items with a cached tuple of their keys."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of each."""
        return tuple(map(attrgetter("key"), self))


class _Lazy(Sequence[Any]):
    """A sequence whose entries are made when they are accessed."""

    def __getitem__(self, index: Any) -> Any:
        every = range(len(self))[index]
        return self.entry(every) if isinstance(every, int) else list(map(self.entry, every))

    def __iter__(self) -> Iterator[Any]:
        return map(self.entry, range(len(self)))

    def entry(self, n: int) -> Any:
        """Make entry `n`, counted from 0."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class AnswerColumns(_Lazy):
    """The answers of one system, as the file has them: numbers or labels, unless a subclass says otherwise.

    Attributes:
        rows: The rows of the table.
        values: The system's column, [rows]; nan if there is no answer.
        labels: If the answers are labels, the values are their places here.
    """

    rows: Rows
    values: NDArray[Any]
    labels: tuple[str, ...] | None = None

    @classmethod
    def of_labels(cls, keys: Sequence[str], labels: Sequence[str], lines: Sequence[int]) -> AnswerColumns:
        """Make columns of one label per row; an empty label is no answer."""
        known = dict.fromkeys(label for label in dict.fromkeys(labels) if label)
        places: dict[str, float] = {label: n for n, label in enumerate(known)} | {"": np.nan}
        values = np.fromiter(map(places.__getitem__, labels), dtype=np.float64, count=len(labels))
        return cls(Rows(tuple(keys), lines), values, tuple(known))

    def renamed(self, new: Mapping[str, str]) -> AnswerColumns:
        """Return the same answers with some labels renamed; two labels may become one."""
        names = [new.get(label, label) for label in self.labels or ()]
        places = {label: n for n, label in enumerate(dict.fromkeys(names))}
        codes = np.array([*map(places.__getitem__, names), np.nan])  # the last one is for rows without an answer
        values = codes[np.where(self.are_given, self.values, NOWHERE).astype(np.int64)]
        return replace(self, values=values, labels=tuple(places))

    @property
    def is_numeric(self) -> bool:
        """True if the values are numbers, or the places of labels."""
        return self.values.dtype != np.object_

    @property
    def counts(self) -> Counter[str]:
        """The number of times each label is given."""
        return _counts(self.values[self.given], self.labels)

    @cached_property
    def are_given(self) -> Flags:
        """True for each row that has an answer, [rows]."""
        if not self.is_numeric:
            return np.ones(len(self.values), dtype=np.bool_)
        there: Flags = ~np.isnan(self.values if self.values.ndim == 1 else self.values[:, 0])
        return there

    @cached_property
    def given(self) -> Places:
        """The rows that have an answer."""
        return np.flatnonzero(self.are_given)

    def __len__(self) -> int:
        return len(self.given)

    def entry(self, n: int) -> Answer:
        """Make the `n`-th answer of those that are given."""
        return self.of_row(int(self.given[n]))

    def of_row(self, row: int) -> Answer:
        """Make the answer in a row that has one."""
        value = self.values[row]
        return Answer(self.rows.keys[row], self.meant(value.tolist() if self.is_numeric else value),
                      self.rows.lines[row])

    def meant(self, value: Any) -> Any:
        """Return the answer that a value stands for."""
        return value if self.labels is None else self.labels[int(value)]


@dataclass(frozen=True, eq=False)
class StatisticColumns(AnswerColumns):
    """Answers of several numbers each: `values` are [rows, names]; all numbers of a row are nan, or none is."""

    names: tuple[str, ...] = ()

    def meant(self, value: Any) -> dict[str, float]:
        """Return the numbers by name."""
        return dict(zip(self.names, value, strict=True))


@dataclass(frozen=True, eq=False)
class CandidateColumns(AnswerColumns):
    """Answers that are sets of the one answer `key`, with the values as scores; infinity is the empty set."""

    key: str = ""

    def meant(self, value: Any) -> AnswerSet:
        """Return the set."""
        return AnswerSet() if value == np.inf else AnswerSet((Response(self.key, score=value),))


def as_columns(answers: Sequence[Answer]) -> AnswerColumns:
    """Return answers as columns: values that are no numbers or labels become one column of objects."""
    if isinstance(answers, AnswerColumns):
        return answers
    values = np.fromiter((answer.value for answer in answers), dtype=np.object_, count=len(answers))
    return AnswerColumns(Rows(tuple(answer.key for answer in answers), [answer.line for answer in answers]), values)


@dataclass(frozen=True, eq=False)
class JoinedColumns(_Lazy):
    """The answers of one system to the items of a test set, in the order of the items; None if there is none.

    Attributes:
        answers: The answers as the file has them.
        at: The row of each item, or `NOWHERE`, [items]; None if the rows are the items.
    """

    answers: AnswerColumns
    at: Places | None = None

    @classmethod
    def of_items(cls, answers: AnswerColumns, items: Sequence[Item]) -> JoinedColumns:
        """Join answers with items; of several answers to an item the first counts."""
        keys, rows = items.keys if isinstance(items, Items) else Items(items).keys, answers.rows
        if keys == rows.keys:
            return cls(replace(answers, rows=Rows(keys, rows.lines)))  # so that no second copy of the keys is kept
        places = rows.places
        if len(places) < len(rows.keys):
            places = {rows.keys[n]: n for n in reversed(answers.given.tolist())}
        return cls(answers, np.array([places.get(key, NOWHERE) for key in keys], dtype=np.int64))

    @property
    def is_one_to_one(self) -> bool:
        """True if every row of the file belongs to an item, and no two to the same one."""
        return self.at is None or int((self.at != NOWHERE).sum()) == len(self.answers.rows.keys)

    @property
    def is_numeric(self) -> bool:
        """True if the values are numbers, or the places of labels."""
        return self.answers.is_numeric

    @cached_property
    def values(self) -> NDArray[Any]:
        """The value of each answer, [items]; nan, or None of objects, if there is none."""
        values = self.answers.values
        if self.at is None:
            return values
        absent = np.nan if self.is_numeric else None
        nowhere = np.full((1, *values.shape[1:]), absent, dtype=values.dtype)
        return np.concatenate([values, nowhere])[self.at]  # NOWHERE takes the last row

    @cached_property
    def there(self) -> Flags:
        """True for each item that has an answer, [items]."""
        given = self.answers.are_given
        return given if self.at is None else np.concatenate([given, np.zeros(1, dtype=np.bool_)])[self.at]

    @property
    def n_missing(self) -> int:
        """The number of items without an answer."""
        return len(self) - int(self.there.sum())

    @property
    def given(self) -> JoinedColumns:
        """The answers that are given, in the same order."""
        return self.of(self.there) if self.n_missing else self

    @property
    def counts(self) -> Counter[str]:
        """The number of times each label is given."""
        if self.answers.labels is None:
            return Counter(self.values[self.there].tolist())
        return _counts(self.values[self.there], self.answers.labels)

    def coded(self, labels: Iterable[str]) -> Floats:
        """Return labels of items as values, [items]; labels that the system never gives are `NOWHERE`."""
        places = {label: n for n, label in enumerate(self.answers.labels or ())}
        return np.array([places.get(label, NOWHERE) for label in labels], dtype=np.float64)

    def of(self, items: Flags) -> JoinedColumns:
        """Return the answers to some of the items."""
        at = np.arange(len(items)) if self.at is None else self.at
        return JoinedColumns(self.answers, at[items])

    def __len__(self) -> int:
        return len(self.answers.values) if self.at is None else len(self.at)

    def entry(self, n: int) -> Answer | None:
        """Make the answer to item `n`."""
        if not self.there[n]:
            return None
        return self.answers.of_row(n if self.at is None else int(self.at[n]))


def _counts(values: NDArray[Any], labels: Sequence[str] | None) -> Counter[str]:
    names = labels or ()
    counts = np.bincount(values.astype(np.int64), minlength=len(names))
    return Counter({label: n for label, n in zip(names, counts.tolist(), strict=True) if n})
