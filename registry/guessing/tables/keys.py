"""Columns that name items: one of the gold's whose cells are found again in every system, or several together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from types import MappingProxyType
from typing import Any, Self

from registry.errors import counted
from registry.evaluation.ingest.remarks import COLUMN_NAMES
from registry.guessing.guess import Given, System
from registry.guessing.looks import EVEN, Column, Table, is_other_number, tables
from registry.readers import READERS, Reader

COMMON = 0.5  # the share of keys that gold and system have in common at the least; what lacks is told by reading
_PLACES = frozenset(("begin", "end", "offset", "onset", "start"))  # in a text or in time: several items may have them
_ID = re.compile(r"^(?:id|idx|uid|qid)$|[_. -](?:id|Id|ID)$|[a-z]I[dD]$|[A-Z]_?ID$")
_COSTS = frozenset(("cost", "elapsed", "latency", "ms", "runtime", "sec", "seconds", "time"))  # of an answer
_SUMMARY = re.compile(  # what a row is called that is none of an item
    r"all|average|avg|mean|median|overall|sum|total|std\W?(?:dev|deviation)?|sd|\d+ ?(?:quantile|percentile|%)", re.I)
_TOGETHER = (2, 3)  # columns that name items where no single one does
_MOST = 8  # columns of which such are looked for


@dataclass(frozen=True)
class Matched:
    """The gold's or a system's table, and which of its columns name the items: those of systems in the gold's order.

    Where none does, items have the numbers of the rows.
    """

    given: Given
    table: Table
    keys: tuple[int, ...]

    @cached_property
    def items(self) -> Column:
        """The keys of its rows."""
        return together(self.table, self.keys) if self.keys else Column([*map(str, range(len(self.table.rows)))])

    @property
    def path(self) -> str:
        """Of the file."""
        return self.given.document.path

    @property
    def told(self) -> tuple[str, str]:
        """How it is written, and what names its items, in words."""
        items = " and ".join(called(self.table, n) for n in self.keys) or "the number of the row"
        return (f"{self.path}: {self.table.written}; {self.table.why}",
                f"items by {items}: {counted(len(self.table.rows), 'item')}")

    def pairs(self, n: int) -> Iterator[tuple[str, str]]:
        """The items with their cells of a column."""
        return zip(self.items.cells, self.table.column(n).cells, strict=True)

    def of_items(self, n: int) -> dict[str, str]:
        """The cells of a column by item."""
        return dict(self.pairs(n))

    def has_item(self, key: str) -> bool:
        """Whether an item has this key, or the first line would have it if it were no header."""
        return key in self.items.values or (
            self.table.header and " ".join(self.table.names[n] for n in self.keys) == key)

    def aligned(self, keys: Sequence[str], n: int) -> list[str]:
        """The cells of a column in the order of the gold's keys, as far as these are there."""
        found = self.of_items(n)
        return [found[key] for key in keys if key in found]

    def of_column(self, n: int) -> Self:
        """The table as that of a system which a column is called after."""
        return replace(self, given=Given(self.table.names[n], self.given.document))

    def reader(self, format_: str, values: Mapping[str, int], attributes: Sequence[str] = (),
               options: Mapping[str, Any] = MappingProxyType({})) -> Reader:
        """The reader of the table: which of its columns have the keys, and by the reader's option each value."""
        table, keys = self.table, self.keys
        options = {**table.form, **options}
        names = list(table.names)
        if not table.header:
            for option, n in values.items():
                names[n] = option
            if len(keys) == 1 or (keys and format_ == "labels"):
                names[keys[-1]] = "item"
            options["columns"] = names
        elif format_ == "labels" and "syntax" not in table.form:
            options["header"] = True
        options |= {option: names[n] for option, n in values.items()}
        options["item"] = "".join(names[n] for n in keys[-1:]) if format_ == "labels" else [names[n] for n in keys]
        if format_ == "labels" and len(keys) > 1:
            options["within"] = [names[n] for n in keys[:-1]]
        others = [n for n in range(len(names)) if n not in (*keys, *values.values())]
        if (attributes and format_ != "labels") or (  # it takes all other columns for such, and refuses what is unseen
                format_ == "labels" and not all("".join((names[n], *table.column(n).cells)).isprintable()
                                                for n in others)):
            options["attributes"] = list(attributes)
        return READERS[format_].build(options)

    def system(self, format_: str, values: Mapping[str, int],
               options: Mapping[str, Any] = MappingProxyType({})) -> System:
        """The system whose values these columns have."""
        return System(self.given.name, self.given.document, self.reader(format_, values, options=options))


def together(table: Table, places: Sequence[int]) -> Column:
    """The cells of columns joined row by row, as readers join what names an item."""
    if len(places) == 1:
        return table.column(places[0])
    return Column([" ".join(cells) for cells in zip(*(table.column(n).cells for n in places), strict=True)])


def may_name(table: Table, n: int) -> bool:
    """Whether a column may name items: one of decimals or places does not, unless it is the first or called so."""
    name, column = table.names[n].casefold(), table.column(n)
    if table.names_items:
        return name == "item"
    is_named = name in COLUMN_NAMES if table.header else n == 0
    return not all(map(is_other_number, column.values)) and (
        is_named or (name not in _PLACES and (column.is_whole or not column.is_numeric)))


def called(table: Table, n: int) -> str:
    """What people call a column: its name, or its place."""
    return f"column {table.names[n]!r}" if table.header else f"column {n + 1} of {len(table.names)}"


def is_id(name: str) -> bool:
    """Whether a column is called as one of identifiers is."""
    return _ID.search(name) is not None


def is_cost(name: str) -> bool:
    """Whether a column is called as one of what answers took: `seconds`, `time_ms`."""
    return bool(words := re.findall("[a-z]+", name.casefold())) and _COSTS.issuperset(words)


def counts(column: Column) -> bool:
    """Whether a column numbers the rows, in whatever order."""
    if not column.is_whole or not column.is_key:
        return False
    numbers = sorted(float(cell) for cell in column.cells)
    return numbers == [numbers[0] + n for n in range(len(numbers))]


def is_sorted(column: Column) -> bool:
    """Whether the numbers of a column rise."""
    numbers = [float(cell) for cell in column.cells]
    return numbers == sorted(numbers)


def summary(column: Column) -> str | None:
    """What the last row is called, where that is the mean of the others or the like; None where it is not."""
    last = column.cells[-1].strip() if column.cells else ""
    return last if _SUMMARY.fullmatch(last) else None


def match(gold: Table, key: int, given: Given) -> Matched | None:
    """The column of a system's file that has most of the keys; of equals that of a table written as the gold's is."""
    best, most, keys = None, COMMON, gold.column(key)
    for table in _likest(gold, given):
        for n, column in enumerate(table.columns):
            if column.is_nearly_key and ((common := keys.shared(column)) > most or (
                    common == most and best is None)):
                best, most = Matched(given, table, (n,)), common
    return best


def naming(gold: Table, *, nearly: bool = False) -> Iterator[tuple[int, ...]]:
    """Columns of which none names the rows, and all do together: documents and sentences, items and annotators.

    One of them may do `nearly`, such as words of which few have several forms.
    """
    columns = [(n, column) for n, column in enumerate(gold.columns) if may_name(gold, n) and len(column.values) > 1
               and not (column.is_key if nearly else column.is_nearly_key)
               and all(cell.strip() and cell.isprintable() for cell in column.values)][:_MOST]
    for size in _TOGETHER:
        found = [places for places in combinations([n for n, _ in columns], size)
                 if prod(len(gold.column(n).values) for n in places) >= EVEN * len(gold.rows)
                 and together(gold, places).is_nearly_key]
        if found:  # of items that stand twice it is told then
            yield from [places for places in found if together(gold, places).is_key] or found
            return


def matches(gold: Table, places: tuple[int, ...], given: Given) -> list[Matched]:
    """The columns of a system's file that have most of the keys: several where nothing tells which is which of them."""
    keys = together(gold, places)
    shares: list[tuple[float, Matched]] = []
    for table in _likest(gold, given):
        alike = [[m for m, column in enumerate(table.columns) if gold.column(n).shared(column) > COMMON][:_MOST]
                 for n in places]
        found = [Matched(given, table, others) for others in product(*alike) if len({*others}) == len(others)]
        found = [one for one in found if _is_called_alike(gold, places, one)] or found
        shares += [(keys.shared(one.items), one) for one in found if one.items.is_nearly_key]
    most = max((common for common, _ in shares), default=0)
    best = [one for common, one in shares if common == most > COMMON]
    best = [one for one in best if one.table is best[0].table]
    return [one for one in best if _is_called_alike(gold, places, one)] or best


def _is_called_alike(gold: Table, places: tuple[int, ...], one: Matched) -> bool:
    """Whether columns have the gold's names, or without names its places."""
    if gold.header and one.table.header:
        return [gold.names[n] for n in places] == [one.table.names[n] for n in one.keys]
    return not gold.header and not one.table.header and places == one.keys


def _likest(gold: Table, given: Given) -> list[Table]:
    """A file's readings as a table, those first that are written as the gold's is."""

    def unlike(table: Table) -> int:
        names = table.form.keys() | gold.form.keys()
        return sum([table.header != gold.header, *(table.form.get(name) != gold.form.get(name) for name in names)])

    return sorted(tables(given.document), key=unlike)
