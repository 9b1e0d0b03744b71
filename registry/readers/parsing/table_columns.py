"""Tables read at once into columns, most by DuckDB: the fast way, for files in which nothing is wrong.

What cannot be shown to be right is not read here (None). Readers then go row by row, and say what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import Rows
from registry.errors import InputError
from registry.families import LARGEST_OTHER, LARGEST_WHOLE
from registry.items import Item
from registry.readers.parsing.delimited import MARKS, Separator, unquoted
from registry.readers.parsing.document import MAX_CELLS, Document
from registry.readers.parsing.json_entries import flattened
from registry.readers.parsing.json_lines import json_columns
from registry.readers.parsing.parquet import opened, require_declared, require_measured
from registry.readers.parsing.sandbox import as_pattern, named, quoted, reading

_SHARED = 2**12  # rows of attributes that are kept to be shared
ENOUGH = 2**15  # bytes of a file from which on DuckDB, which takes 10 ms to start, is the faster way

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"  # as all tables have it, for DuckDB too
_BYTE_ORDER_MARK = "\ufeff"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_TEXTS = _WHOLE | {"VARCHAR", "BOOLEAN", "UUID"}
_DECIMAL = {"FLOAT", "DOUBLE"}  # what is the same number as a double

Syntax = Literal["delimited", "jsonl", "json", "parquet"]


@dataclass(frozen=True)
class Layout:
    """How a table is written; see `readers.tables.TableReader`."""

    syntax: Syntax
    separator: Separator
    columns: tuple[str, ...]
    comment: str | None
    item: tuple[str, ...]
    attributes: tuple[str, ...]
    unscored: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read.

    Attributes:
        rows: The item of each row.
        attributes: Of the items, by name, as far as they are text.
        numbers: The columns that hold numbers throughout, by name; nan is one that is not there.
    """

    rows: Rows
    attributes: dict[str, list[str]]
    numbers: dict[str, Floats]

    def items(self, attributes: Sequence[str], golds: Iterable[Any]) -> list[Item] | None:
        """The items with these golds and attributes; None where an attribute is none."""
        if not set(attributes) <= self.attributes.keys():
            return None
        of_rows = rows_of({name: self.attributes[name] for name in attributes})
        return list(map(Item, self.rows.keys, golds, of_rows, self.rows.lines))


def rows_of(columns: Mapping[str, list[str]]) -> Iterator[Mapping[str, str]]:
    """Give every row of attributes by its columns' names, without end if there are none.

    Equal rows are one object, as far as known: the documents of a test set are fewer than its items. The row before is
    known, and so are the first `_SHARED` ones.
    """
    if not columns:
        yield from repeat({})
    names = tuple(columns)
    known: dict[tuple[str, ...], dict[str, str]] = {}
    before: tuple[str, ...] = ()
    row: dict[str, str] = {}
    for cells in zip(*columns.values(), strict=True):
        if cells != before:
            before = cells
            found = known.get(cells)
            row = dict(zip(names, cells, strict=True)) if found is None else found
            if len(known) < _SHARED:
                known[cells] = row
        yield row


def read_at_once(document: Document, layout: Layout) -> Table | None:
    """Read a table, unless it was read in this way before; None where that cannot be done.

    This is where a file is found fit for the fast way, or left to the careful one.
    """
    if document.problems is not None or len(document.content) < ENOUGH or layout.syntax == "json":
        return None
    known = layout, document.repair, document.skip
    if known not in document.made:
        read = {"delimited": _delimited, "jsonl": _json_lines, "parquet": _parquet}[layout.syntax]
        try:
            document.made[known] = read(document, layout)
        except InputError:  # said again by whoever goes row by row, if nothing else is wrong before
            document.made[known] = None
        except ModuleNotFoundError:  # DuckDB, where a competition's platform runs the scoring program
            document.made[known] = None
    table: Table | None = document.made[known]
    return table


def _delimited(document: Document, layout: Layout) -> Table | None:
    import duckdb

    text, delimiter = document.text().rstrip("\n"), MARKS[layout.separator]
    if not _is_plain(text, layout) or not (plain := unquoted(text, layout.separator)):
        return None
    head, _, rest = plain.partition("\n")
    if head.count(delimiter) >= MAX_CELLS:
        return None
    names, body = (layout.columns, plain) if layout.columns else (tuple(head.split(delimiter)), rest)
    n_rows = body.count("\n") + 1
    if n_rows > document.most_lines or not (
            body and len(set(names)) == len(names) >= 2 and set(layout.item) <= set(names)) or (
            body[0] == _BYTE_ORDER_MARK):  # which DuckDB drops
        return None
    if body.count(delimiter) != n_rows * (len(names) - 1):  # DuckDB lets a row end with an empty cell too many
        return None
    columns = [f"c{n}" for n in range(len(names))]
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    table = (f"read_csv(?, auto_detect = false, header = false, delim = {quoted(delimiter)}, quote = '', escape = '', "
             f"columns = {{{types}}})")
    unscored = ", ".join(map(quoted, layout.unscored)) or "NULL"
    texts = {name: f"coalesce({column}, '')" for name, column in zip(names, columns, strict=True)
             if name in {*layout.item, *layout.attributes}}
    numbers = {name: f"CASE WHEN coalesce({column}, '') IN ({unscored}) THEN 'nan'::DOUBLE "
                     f"WHEN regexp_full_match({column}, '{NUMBER}') THEN try_cast({column} AS DOUBLE) END"
               for name, column in zip(names, columns, strict=True) if name not in texts}
    try:
        with reading(body.encode(), "table.csv") as (connection, path):
            found = _fetched(connection, {**texts, **numbers}, table, as_pattern(path))
    except (duckdb.Error, MemoryError):
        return None
    first = document.skip + (1 if layout.columns else 2)
    return _table(found, layout, texts, range(first, first + n_rows))


def _is_plain(text: str, layout: Layout) -> bool:
    """Whether every line of a text is a row whose cells its separator alone tells apart."""
    if text.startswith("\n") or "\n\n" in text or "\r" in text:
        return False
    if layout.comment and (text.startswith(layout.comment) or f"\n{layout.comment}" in text):
        return False
    return layout.separator != "whitespace" or not (
        text[0] == " " or text[-1] == " " or any(blank in text for blank in ("\t", "  ", " \n", "\n ")))


def _json_lines(document: Document, layout: Layout) -> Table | None:
    texts, numbers = dict[str, list[str]](), dict[str, list[Floats]]()
    n_rows = 0
    for number, block in document.blocks():
        if (plain := json_columns(block)) is None or (layout.comment and f"\n{layout.comment}" in f"\n{block}"):
            return None
        columns = flattened(plain)
        if number == 1 + document.skip:
            wanted = {*layout.item, *layout.attributes} & columns.keys()
            texts, numbers = {name: [] for name in wanted}, {name: [] for name in columns.keys() - wanted}
        if not columns.keys() >= texts.keys() or any(set(map(type, columns[name])) - {str, int} for name in texts):
            return None
        for name, cells in texts.items():
            cells += map(str, columns[name])
        of_block = {name: _json_numbers(columns[name], layout.unscored) for name in numbers if name in columns}
        numbers = {name: [*numbers[name], found] for name, found in of_block.items() if found is not None}
        n_rows += block.count("\n") + 1
    if not set(layout.item) <= texts.keys():
        return None
    found = {name: np.array(cells, dtype=object) for name, cells in texts.items()} | {
        name: np.concatenate(parts) for name, parts in numbers.items()}
    return _table(found, layout, texts, range(1 + document.skip, 1 + document.skip + n_rows))


def numbers_in(unscored: Iterable[str]) -> frozenset[float]:
    """The numbers among what stands in place of one: JSON and Parquet have -1 where text has "-1"."""
    return frozenset(float(mark) + 0.0 for mark in unscored if re.fullmatch(NUMBER, mark))


def _json_numbers(cells: list[Any], unscored: tuple[str, ...]) -> Floats | None:
    """A column of numbers; nan is one that is not there. None where a cell is neither."""
    if any(type(cell) is str and cell not in unscored for cell in cells):
        return None
    absent = np.array([cell is None or type(cell) is str for cell in cells], dtype=np.bool_)
    kept = [0.0 if is_absent else cell for cell, is_absent in zip(cells, absent.tolist(), strict=True)]
    if set(map(type, kept)) - {int, float}:
        return None
    try:
        values = np.array(kept, dtype=np.float64)
    except OverflowError:
        return None
    if not np.isfinite(values).all():
        return None
    return np.where(absent | np.isin(values, list(numbers_in(unscored))), np.nan, values)


def _parquet(document: Document, layout: Layout) -> Table | None:
    with opened(document) as (connection, pattern):
        types = {name: str(type_) for name, type_, *_ in connection.execute(
            "DESCRIBE SELECT * FROM read_parquet(?)", [pattern]).fetchall()}
        texts = {name: f"{named(name)}::VARCHAR" for name in dict.fromkeys((*layout.item, *layout.attributes))
                 if types.get(name) in _TEXTS}
        whole = {name: named(name) for name, type_ in types.items() if name not in texts and type_ in _WHOLE}
        numbers = whole | {
            name: f"CASE WHEN {named(name)} IS NULL THEN 'nan'::DOUBLE WHEN isfinite({named(name)}::DOUBLE) "
                  f"THEN {named(name)}::DOUBLE END"
            for name, type_ in types.items() if name not in texts and type_ in _DECIMAL}
        if len(types) > MAX_CELLS or not set(layout.item) <= texts.keys():
            return None
        n_rows = require_declared(connection, pattern, document, [*texts, *numbers])
        require_measured(connection, pattern, document, [*texts.values()] or ["NULL"])  # numbers are all as short
        found = _fetched(connection, {**texts, **numbers}, "read_parquet(?)", pattern)
    found |= {name: np.ma.filled(found[name].astype(np.float64), np.nan) for name in whole}
    if marks := list(numbers_in(layout.unscored)):
        for name in numbers:
            found[name] = found[name].astype(np.float64)
            found[name][np.isin(np.ma.getdata(found[name]), marks)] = np.nan
    return _table(found, layout, texts, range(1, n_rows + 1))


def _fetched(connection: Any, columns: Mapping[str, str], table: str, pattern: str) -> dict[str, Any]:
    """Columns, given as SQL by name, as arrays by name."""
    chosen = ", ".join(f"{column} AS v{n}" for n, column in enumerate(columns.values()))
    query = f"SELECT {chosen} FROM {table}"  # noqa: S608 - made of quoted names
    arrays = connection.execute(query, [pattern]).fetchnumpy()
    return dict(zip(columns, arrays.values(), strict=True))


def _table(found: Mapping[str, Any], layout: Layout, texts: Iterable[str], lines: range) -> Table | None:
    """The table of columns that were read, where each line has a row and every row a key."""
    cells = {name: found[name].tolist() for name in texts}
    if not lines or any(len(column) != len(lines) for column in found.values()):
        return None
    parts = [cells[name] for name in layout.item]
    if not all(all(column) and "".join(column).isprintable() for column in parts):
        return None
    keys = tuple(map(" ".join, zip(*parts, strict=True))) if parts else tuple(map(str, range(1, len(lines) + 1)))
    attributes = {name: cells[name] for name in layout.attributes
                  if name in cells and None not in cells[name] and "".join(cells[name]).isprintable()}
    numbers = {name: checked for name, column in found.items()
               if name not in texts and (checked := _checked(column)) is not None}
    return Table(Rows(keys, lines), attributes, numbers)


def _checked(column: Any) -> Floats | None:
    """A column of numbers, where each is one (nan where it is not there) and can be kept."""
    if np.ma.is_masked(column):
        return None
    values: Floats = np.ma.getdata(column) + 0.0  # no -0.0
    sizes = np.abs(values)
    largest = np.fmax.reduce(sizes, initial=0.0)
    if largest < LARGEST_OTHER:
        return values
    if largest >= LARGEST_WHOLE or (sizes[values != np.rint(values)] >= LARGEST_OTHER).any():  # nan is not
        return None
    return values
