"""Base class of readers of tables with a row for every item.

A table is delimited text, JSON Lines, JSON or Parquet. DuckDB reads valid tables column by column, from a file that
this program writes. Other tables are read line by line, so that errors name the line of a faulty cell.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar
from uuid import UUID

from registry.errors import InputError, counted, suggest
from registry.families import LARGEST_OTHER, LARGEST_WHOLE
from registry.items import Item
from registry.readers.base import Reader
from registry.readers.parsing.delimited import Separator, TextFormat, read_cells, read_header
from registry.readers.parsing.document import ONE_ROW, Document, describe_invisible
from registry.readers.parsing.fast_tables import (
    NUMBER,
    Layout,
    Syntax,
    Table,
    parse_unscored,
    read_parquet_rows,
    read_table,
)
from registry.readers.parsing.json_values import (
    ABSENT,
    describe_missing,
    get_column,
    get_value,
    parse_columns,
    read_json_entries,
    read_json_rows,
)
from registry.readers.parsing.measures import COLUMNS, read_measures

TableSyntax = Literal[Syntax, "trec_eval"]
_TRUTHS = {"true": True, "false": False}  # spelling in text
_NUMBER = re.compile(NUMBER)
_SHOWN = 60  # characters of a cell in errors
_ENCODER = json.JSONEncoder(default=lambda value: f"{type(value).__name__} {value}")  # 1.5 is no Decimal 1.5
T = TypeVar("T")


class Row(NamedTuple):
    """One row of a table, which describes one item.

    Attributes:
        document: The file.
        line: Line number; in Parquet, row number.
        key: Name of the item.
        cells: Cells of the columns that the caller requested.
        attributes: Maps attributes of the item, such as "document", to their values.
    """

    document: Document
    line: int
    key: str
    cells: list[Any]
    attributes: dict[str, str]

    def error(self, message: str) -> InputError:
        """Return an error that names the line and the item of this row."""
        return self.document.error(message, self.line, self.key)


class TableReader(Reader):
    """Base class of readers of tables with a row per item, or per span of an item.

    Columns that do not occur in any option are ignored.

    Attributes:
        item: Columns that together identify an item; the name is their cells, separated by blanks. If empty, rows are
            numbered from 1, and gold and submissions must have the same order.
        attributes: Columns of the gold that are attributes of the item.
        syntax: `delimited`, `jsonl` (one JSON object per line), `json` (a list of such objects, or one object with
            items as keys), `parquet`, or `trec_eval` (rows of measure, item and value; each measure is a column, and
            rows of the item `all` are ignored). In JSON and Parquet, columns are keys of the objects, or paths to
            nested values: `results.rouge2.f`.
        separator: Separator of columns in delimited text: `tab`, `comma` or `semicolon` (with double quotes as in RFC
            4180), or `whitespace` (any run of blanks).
        columns: Names of the columns in order, if delimited text has no header. With `trec_eval`: the order of
            `measure`, `item` and `value`, if it is another one.
        comment: Beginning of lines that are ignored.
        unscored: Cell values that mean that a system has no number for the item, in addition to null in JSON. The value
            `"-1"` also matches the number -1 in JSON and Parquet.
    """

    forms: ClassVar[tuple[str, ...]] = ("separator", "syntax")
    repeated: ClassVar[str] = "keep one, or set item = [] to number the rows if this column has texts, not item names"
    lines_per_item: ClassVar[int] = ONE_ROW
    _distinct: ClassVar[tuple[str, ...]] = ("item", "attributes", "columns")

    item: tuple[str, ...] = ("item",)
    attributes: tuple[str, ...] = ()
    syntax: TableSyntax = "delimited"
    separator: Separator = "tab"
    columns: tuple[str, ...] = ()
    comment: str | None = None
    unscored: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.columns
        if self.syntax == "trec_eval" and names and (len(names) < 3 or not {"measure", "value"} <= {*names}):
            raise InputError(f"option 'columns' of {self.name} is {', '.join(names)}; with syntax = \"trec_eval\" the "
                             "columns are measure, value, and the columns that name the item")

    def most_lines(self, items: Sequence[Item]) -> int:
        return Reader.lines_per_item * len(items) if self.syntax == "trec_eval" else super().most_lines(items)

    def read_fast(self, document: Document) -> Table | None:
        """Read a table column by column; return None if this is not possible.

        Fast reading is possible for valid tables of 32 KiB or more. Callers read other tables row by row, so that
        errors name lines.
        """
        if self.syntax == "trec_eval":
            return None
        return read_table(document, Layout(self.syntax, self.separator, self.columns, self.comment, self.item,
                                           self.attributes, self.unscored))

    @property
    def optional(self) -> tuple[str, ...]:
        """Names of columns that may be absent in some rows of a JSON file."""
        return ()

    def read_rows(self, document: Document, requested: Sequence[str], attributes: Sequence[str] = ()) -> Iterator[Row]:
        """Yield every row of a table, with the cells of requested columns.

        Args:
            document: The file.
            requested: Requested columns. Cells are text, or values of JSON and Parquet.
            attributes: Columns that are attributes of items, returned as text.

        Raises:
            InputError: The file is not such a table, a column is missing, or a name or attribute is empty.
        """
        read = self._read_delimited if self.syntax == "delimited" else self._read_objects
        names = (*self.item, *attributes, *requested)
        key_end, attributes_end = len(self.item), len(self.item) + len(attributes)
        n = 0
        for n, (line, cells) in enumerate(read(document, names), 1):
            texts = [to_text(cell) for cell in cells[:attributes_end]]
            present = [text for text in texts if text is not None]
            key = " ".join(present[:key_end]) if key_end else str(n)
            if None in texts or "" in texts[:key_end]:
                index = next(m for m, text in enumerate(texts) if text is None or (m < key_end and not text))
                document.refuse(f"{names[index]!r} is {shorten(cells[index])}; expected text or a whole number", line)
            elif not (together := "".join(present)).isprintable():
                document.refuse(f"the row has {describe_invisible(together)}; remove it", line, key)
            else:
                item_attributes = dict(zip(attributes, present[key_end:], strict=True))
                yield Row(document, line, key, cells[attributes_end:], item_attributes)
        if not n:
            document.report_empty("item")

    def parse_rows(self, document: Document, requested: Sequence[str], parse: Callable[[Row], T],
                   attributes: Sequence[str] = ()) -> Iterator[tuple[Row, T]]:
        """Apply a function to every row of a table, and yield the rows with the results.

        Args:
            document: The file.
            requested: Columns whose cells the function needs.
            parse: The function. Rows for which it raises InputError are reported and left out.
            attributes: Columns that are attributes of items.
        """
        for row in self.read_rows(document, requested, attributes):
            try:
                value = parse(row)
            except InputError as error:
                document.report(error)
            else:
                yield row, value

    def parse_number(self, cell: Any, column: str, row: Row) -> float | None:
        """Convert a cell to a number; return None if the cell marks a missing number.

        True and false are 1 and 0 if all cells of the column are truth values.

        Raises:
            InputError: The cell is not a number, or mixes numbers and truth values in one column.
        """
        if is_unscored(cell, self.unscored):
            return None
        if isinstance(cell, str) and self.syntax == "delimited":
            cell = _TRUTHS.get(cell.strip().casefold(), cell)
        if (is_truth := isinstance(cell, bool)) != row.document.cache.setdefault(("truth", column), is_truth):
            expected = "numbers" if is_truth else "true or false"
            raise row.error(f"{column!r} is {shorten(cell)}, but earlier cells are {expected}; write only numbers, "
                            "with 1 for true and 0 for false")
        value = float(cell) if is_truth else to_number(cell, text=self.syntax == "delimited")
        if not math.isfinite(value):
            quoted = isinstance(cell, str) and self.syntax != "delimited" and _NUMBER.fullmatch(cell) is not None
            raise row.error(f"{column!r} is {shorten(cell)}; expected a finite number, or what option 'unscored' names"
                            f"{'; write numbers without quotes' * quoted}")
        if abs(value) >= (LARGEST_WHOLE if value.is_integer() else LARGEST_OTHER):
            raise row.error(f"{column!r} is {shorten(cell)}, which is too large: whole numbers must be below 2^52, "
                            "other numbers below 2^42; divide all values by the same number")
        return value

    def require_number(self, cell: Any, column: str, row: Row) -> float:
        """Convert a cell to a number.

        Raises:
            InputError: The cell is not a number, or marks a missing number.
        """
        if (value := self.parse_number(cell, column, row)) is None:
            raise row.error(f"{column!r} is {shorten(cell)}; expected a finite number")
        return value

    def _read_delimited(self, document: Document, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        for name in names if self.columns else ():
            if name not in self.columns:
                raise InputError(f"option 'columns' of {self.name} has no column {name!r}; "
                                 f"{suggest(name, self.columns)}")
        indexes: list[int] = []
        for number, columns, cells in read_delimited_rows(
                document, TextFormat(self.separator, self.comment), self.columns,
                parse_header=lambda cells, line: read_header(cells, names, document, line, []),
                describe_fault=lambda cells, columns: f"{describe_width(cells, columns)} with the separator "
                                                      f"{self.separator}"):
            indexes = indexes or [columns.index(name) for name in names]
            yield number, [cells[n] for n in indexes]

    def _read_objects(self, document: Document, names: Sequence[str]) -> Iterator[tuple[int, list[Any]]]:
        item_key = self.item[0] if len(self.item) == 1 else None
        value = (*names, "", "")[1] if len(names) <= 2 else None
        text_format = TextFormat(self.separator, self.comment)
        rows = read_measures(document, text_format, self.columns or COLUMNS) if self.syntax == "trec_eval" else (
            read_objects(document, self.syntax, text_format, item_key, value, names))
        kind = "measure" if self.syntax == "trec_eval" else "key"
        first: tuple[int, dict[str, Any]] | None = None
        unseen = {name for name in names if name in self.optional}
        for number, entry in rows:
            cells = [get_value(entry, name) for name in names]
            if unseen:
                first = first or (number, entry)
                unseen -= {name for name, cell in zip(names, cells, strict=True) if cell is not ABSENT}
            if self.optional:
                cells = [None if cell is ABSENT and name in self.optional else cell
                         for name, cell in zip(names, cells, strict=True)]
            if ABSENT in cells:
                document.refuse(describe_missing(document, entry, names[cells.index(ABSENT)], kind), number)
            else:
                yield number, cells
        if first is not None:
            for name in sorted(unseen):
                document.refuse(describe_missing(document, first[1], name, kind), first[0])


def read_objects(document: Document, syntax: Syntax, text_format: TextFormat, item: str | None, value: str | None,
                 names: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every row of a JSON or Parquet file as (line or row number, dict).

    A file that is one JSON object, such as `{"d1": "A", "d2": "B"}`, has one row per member: with item="item" and
    value="label" the first row is `{"item": "d1", "label": "A"}`.

    Args:
        document: The file.
        syntax: `jsonl`, `json` or `parquet`.
        text_format: Beginning of comments, and whether blank lines are rows, in JSON Lines.
        item: Key for the name of a member.
        value: Key for the value of a member, if it is not an object.
        names: Columns to read from Parquet; None for all.
    """
    if syntax == "parquet":
        return read_parquet_rows(document, names)
    if syntax == "json":
        return read_json_entries(document, item, value)
    return read_json_rows(document, text_format)


def read_delimited_rows(
    document: Document, text_format: TextFormat, columns: Sequence[str], *,
    parse_header: Callable[[list[str], int], tuple[str, ...]],
    describe_fault: Callable[[list[str], Sequence[str]], str],
) -> Iterator[tuple[int, Sequence[str], list[str]]]:
    """Yield line number, column names and cells of every row of delimited text.

    Rows with a wrong number of cells are reported and left out. A blank row has empty cells.

    Args:
        document: The file.
        text_format: Separator, beginning of comments, and whether blank lines are rows.
        columns: Names of the columns; empty if the first line has the names.
        parse_header: Function that receives the cells and the number of the first line, and returns the names.
        describe_fault: Function that receives the cells of a row and the columns, and returns the message for a row
            with a wrong number of cells.
    """
    for number, cells in read_cells(document, text_format):
        if not columns:
            columns = parse_header(cells, number)
        elif not cells:
            yield number, columns, [""] * len(columns)
        elif len(cells) == len(columns):
            yield number, columns, cells
        else:
            document.refuse(describe_fault(cells, columns), number)


def describe_width(cells: Sequence[str], columns: Sequence[str]) -> str:
    """Return a message such as "the line has 3 columns; expected 2"."""
    return f"the line has {counted(len(cells), 'column')}; expected {len(columns)}"


def to_number(cell: Any, *, text: bool) -> float:
    """Convert a table cell to a float; return NaN if it is not a number.

    -0.0 becomes 0.0.

    Args:
        cell: The cell.
        text: True to parse text as numbers.
    """
    if text and isinstance(cell, str):
        return float(cell) + 0.0 if _NUMBER.fullmatch(cell) else math.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return math.nan
    try:
        return float(cell) + 0.0
    except OverflowError:
        return math.nan


def is_unscored(cell: Any, unscored: tuple[str, ...]) -> bool:
    """Return True if a cell means that there is no number.

    Args:
        cell: The cell; null always has this meaning.
        unscored: Texts with this meaning. Numbers in JSON and Parquet are compared as numbers: "-1" matches -1.
    """
    if cell is None or isinstance(cell, str):
        return cell is None or cell in unscored
    return unscored != ("",) and to_number(cell, text=False) in parse_unscored(unscored)


def to_text(cell: Any) -> str | None:
    """Convert text, a whole number, a bool or a UUID to text; return None for others."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell) if isinstance(cell, str | int | UUID) else None


def read_text_columns(block: str, required: Sequence[str], *, alone: bool) -> dict[str, list[str]] | None:
    """Parse lines of JSON objects, and return their columns of text.

    Args:
        block: Lines of a JSON Lines file.
        required: Columns that must exist.
        alone: True to return only these columns, False to return all columns of text.

    Returns:
        Cells by column; None if a column has text in only some rows, or a requested column is missing.
    """
    plain = parse_columns(block) or {}
    plain |= {name: cells for name in required if (cells := get_column(plain, name)) is not None}
    text_columns = {}
    for name, cells in plain.items():
        is_selected = name in required or not alone
        texts = [text for cell in cells if (text := to_text(cell)) is not None] if is_selected else []
        if texts and len(texts) < len(cells):
            return None
        if texts:
            text_columns[name] = texts
    return text_columns if set(required) <= text_columns.keys() else None


def shorten(cell: Any) -> str:
    """Format a cell of any type as text of at most 60 characters, for messages."""
    if isinstance(cell, str) and len(cell) < _SHOWN:
        return repr(cell)
    text = ""
    for piece in _ENCODER.iterencode(cell):  # stops early, because a nested value may be large
        text += piece
        if len(text) >= _SHOWN:
            break
    return text[:_SHOWN]


def list_numbers(mapping: Mapping[str, float]) -> list[list[Any]]:
    """Sort the entries of a dict: `{"b": 2, "a": 1}` -> `[["a", 1], ["b", 2]]`."""
    return [[name, mapping[name]] for name in sorted(mapping)]
