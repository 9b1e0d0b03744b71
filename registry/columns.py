"""Answers as columns: what readers make of a table in which nothing is wrong.

They are sequences of answers as any other, each of which becomes an object when it is looked at. Whoever knows columns
computes with these, at a hundredth of the cost: one table may hold thousands of systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.items import Answer

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table, which its columns share: the item of each, and the line where it stands."""

    keys: list[str]
    lines: range

    @cached_property
    def places(self) -> dict[str, int]:
        """A row of each key, the only one where there are as many as keys."""
        return {key: n for n, key in enumerate(self.keys)}


class _Lazy(Sequence[Any]):
    """A sequence whose entries are made when they are looked at."""

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
    """The answers of one system that are numbers.

    Attributes:
        rows: Of the table.
        values: Its column, [rows]; nan where there is no answer.
    """

    rows: Rows
    values: Floats

    @cached_property
    def given(self) -> Places:
        """The rows that have an answer."""
        return np.flatnonzero(~np.isnan(self.values))

    def __len__(self) -> int:
        return len(self.given)

    def entry(self, n: int) -> Answer:
        """The answer that comes `n`-th among those that there are."""
        return self.of_row(int(self.given[n]))

    def of_row(self, row: int) -> Answer:
        """The answer in a row that has one."""
        return Answer(self.rows.keys[row], float(self.values[row]), self.rows.lines[row])


@dataclass(frozen=True, eq=False)
class JoinedColumns(_Lazy):
    """The answers of one system to the items of a test set, in their order, None where there is none.

    Attributes:
        answers: As the file has them.
        at: The row that has each item, or `NOWHERE`, [items]; None where the rows are the items.
    """

    answers: AnswerColumns
    at: Places | None = None

    @cached_property
    def values(self) -> Floats:
        """The value of each answer, [items]; nan where there is none."""
        if self.at is None:
            return self.answers.values
        return np.where(self.at == NOWHERE, np.nan, self.answers.values[self.at])

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Whether each item has an answer, [items]."""
        return ~np.isnan(self.values)

    def of(self, items: NDArray[np.bool_]) -> JoinedColumns:
        """The answers to some of the items."""
        at = np.arange(len(items)) if self.at is None else self.at
        return JoinedColumns(self.answers, at[items])

    def __len__(self) -> int:
        return len(self.values)

    def entry(self, n: int) -> Answer | None:
        """The answer to item `n`."""
        if not self.there[n]:
            return None
        return self.answers.of_row(n if self.at is None else int(self.at[n]))
