"""Scores of items that were computed elsewhere: one number for each item, or the several that a formula needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from registry.columns import AnswerColumns, Rows, StatisticColumns
from registry.errors import InputError
from registry.items import Answer, Item
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, numbers_of


class Scores(TableReader):
    """One number per item, in a table of one system or of many.

    The gold lists the items and, where a metric compares with it, the right number. The scores of a system stand in a
    column of a file of its own, or of the gold's.

    Attributes:
        score: The column that holds a system's scores.
        gold: The column of the gold that holds the right numbers.
    """

    name: ClassVar[str] = "scores"
    gives: ClassVar[str] = "score"
    absent: ClassVar[str] = "there is no score of it"
    gives_columns: ClassVar[bool] = True

    score: str = "score"
    gold: str | None = None

    def offers(self) -> tuple[str, ...]:
        """The right numbers, where there are any."""
        return () if self.gold is None else ("gold",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with the right numbers where the option `gold` says where they are (else None)."""
        columns = () if self.gold is None else (self.gold,)
        return _items(self, documents["gold"], columns, lambda right: right[0] if right else None)

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's scores."""
        if (table := self.at_once(document)) is not None and self.score in table.numbers:
            return AnswerColumns(table.rows, table.numbers[self.score])
        found = [(row, score) for row, score in self.parsed(
            document, (self.score,), lambda row: self.number(row.cells[0], self.score, row))
            if score is not None]
        return AnswerColumns(_rows(found), np.array([score for _, score in found], dtype=np.float64))


class Statistics(TableReader):
    """Several numbers per item, which add up over items: counts, lengths, costs.

    Attributes:
        statistics: The columns of a submission that hold them; a formula calls them by these names.
        gold: Columns of the gold that hold further ones, which are the same for all systems.
    """

    name: ClassVar[str] = "statistics"
    gives: ClassVar[str] = "statistic"
    absent: ClassVar[str] = "there are no statistics of it"
    gives_columns: ClassVar[bool] = True

    statistics: tuple[str, ...] = field(kw_only=True)
    gold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.offers())) < len(names):
            raise InputError(f"options 'statistics' and 'gold' of statistics name a column twice: {', '.join(names)}")

    def offers(self) -> tuple[str, ...]:
        """The columns of a submission, and those of the gold."""
        return (*self.statistics, *self.gold)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with the gold's own numbers by name."""
        return _items(self, documents["gold"], self.gold, lambda right: dict(zip(self.gold, right, strict=True)))

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's numbers by name; all of an item's are there, or none."""
        if (table := self.at_once(document)) is not None and table.numbers.keys() >= set(self.statistics):
            values = np.stack([table.numbers[name] for name in self.statistics], axis=1)
            absent = np.isnan(values)
            if (absent.any(axis=1) == absent.all(axis=1)).all():
                return StatisticColumns(table.rows, values, names=self.statistics)

        def numbers(row: Row) -> dict[str, float]:
            found = {name: self.number(cell, name, row)
                     for name, cell in zip(self.statistics, row.cells, strict=True)}
            there = {name: number for name, number in found.items() if number is not None}
            if there and len(there) < len(found):
                raise row.error(f"{next(name for name in found if name not in there)!r} is not there, while others are")
            return there

        found = [(row, there) for row, there in self.parsed(document, self.statistics, numbers) if there]
        values = np.array([[there[name] for name in self.statistics] for _, there in found], dtype=np.float64)
        return StatisticColumns(_rows(found), values.reshape(-1, len(self.statistics)), names=self.statistics)

    def content(self, value: Any) -> Any:
        """Name and number of each."""
        return numbers_of(value)


def _items(reader: Scores | Statistics, document: Document, columns: Sequence[str],
           gold: Callable[[Sequence[float]], Any]) -> list[Item]:
    """The items, with what `gold` makes of the right numbers in these columns; at once where all have them."""
    table = reader.at_once(document)
    if table is not None and not any(np.isnan(table.numbers.get(name, math.nan)).any() for name in columns):
        numbers = [table.numbers[name].tolist() for name in columns]
        rows: Iterable[Sequence[float]] = zip(*numbers, strict=True) if columns else itertools.repeat(())
        if (items := table.items(reader.attributes, map(gold, rows))) is not None:
            return items
    return [Item(row.key, right, row.attributes, row.line) for row, right in reader.parsed(
        document, columns, lambda row: gold([reader.required(cell, name, row) for name, cell in zip(
            columns, row.cells, strict=True)]), reader.attributes)]


def _rows(found: Sequence[tuple[Row, Any]]) -> Rows:
    return Rows(tuple(row.key for row, _ in found), [row.line for row, _ in found])
