"""A file looked at as a table: what may be between its cells, whether its first line names columns, what they hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

from registry.errors import InputError
from registry.evaluation.ingest.remarks import COLUMN_NAMES
from registry.guessing.guess import LIKELY, OPEN, SURE
from registry.guessing.records import OF_ITEMS, first_line, mended, readable, records
from registry.readers import Document
from registry.readers.parsing.delimited import MARKS, Separator, Written, read_cells
from registry.readers.parsing.fast_tables import MAGIC, NUMBER
from registry.readers.parsing.json_values import json_members
from registry.readers.tables import as_text

MOST_COLUMNS = 1000  # in which keys and values are looked for
PAIRED = 50  # columns of a gold, at the most, each of which is held against each of a system's
TYPES = ("type", "label", "tag", "class", "category", "entity_type", "entity_group", "entity", "labels")  # of spans
PLACES = (("start", "end"), ("begin", "end"), ("start_offset", "end_offset"), ("start_char", "end_char"),
          ("startOffset", "endOffset"), ("from", "to"))  # of spans
DOCUMENTS = frozenset(("document", "doc", "doc_id", "docid", "document_id"))  # the column that names them
ENOUGH_DOCUMENTS = 10  # of fewer, whole ones can hardly be tested
WORDS = 3  # of a segment of text, on average: fewer may be labels
EVEN = 0.95  # the share of lines that are as lines should be; the others are told of by the reader
_DEEPEST = 2  # objects within an object whose members are columns
NO_NUMBER = frozenset(("", "-", "?", "na", "n/a", "nan", "none", "null"))  # what stands where a number is not there
_MARKS = ";|\t,"  # in this order: commas stand in numbers, and in text
_NUMBER = re.compile(NUMBER)
_OTHER_NUMBER = re.compile(r"[+-]?\d++(?:,\d++|(?:[.,]\d*+)? ?%)", re.ASCII)  # no digit is tried twice
_BLANKS = " \t\r\n"  # around numbers, which Python takes too
_BRACKETS = frozenset("([{")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


@dataclass(frozen=True)
class Table:
    """A file as a table.

    Attributes:
        names: Of the columns; of one without a header made-up ones.
        rows: Their cells, as text; what is not there is empty.
        form: The options of readers of tables that say how it is written, but for the header.
        header: Whether the first line names the columns.
        sure: How sure that is.
        why: What that rests on.
        written: How it is written, in words.
    """

    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    form: dict[str, Any]
    header: bool
    sure: int
    why: str
    written: str
    _columns: dict[int, Column] = field(default_factory=dict, compare=False, repr=False)

    @property
    def names_items(self) -> bool:
        """Whether it is an object in JSON with the items by their names: those, and no column, name them then."""
        return self.written == f"JSON, one {OF_ITEMS}"

    @property
    def columns(self) -> list[Column]:
        """All columns, in their order."""
        return [self.column(n) for n in range(len(self.names))]

    def column(self, n: int) -> Column:
        """The column in place `n`."""
        if n not in self._columns:
            self._columns[n] = Column([row[n] if n < len(row) else "" for row in self.rows])
        return self._columns[n]


@dataclass(frozen=True)
class Column:
    """The cells of a column."""

    cells: list[str]

    @cached_property
    def values(self) -> frozenset[str]:
        """Its distinct cells."""
        return frozenset(self.cells)

    @cached_property
    def is_key(self) -> bool:
        """Whether it can name the rows: no cell is empty or stands twice."""
        return len(self.values) == len(self.cells) and all(map(str.strip, self.values))

    @cached_property
    def is_printable(self) -> bool:
        """Whether readers take the cells as names: no line ends and no invisible characters are in them."""
        return all(map(str.isprintable, self.values))

    @cached_property
    def is_nearly_key(self) -> bool:
        """Whether nearly all cells are different ones: of a key the others are mistakes."""
        return len(self.values) >= EVEN * len(self.cells) > 0

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers."""
        return all(map(is_number, self.values)) and bool(self.values)

    @cached_property
    def is_mostly_numeric(self) -> bool:
        """Whether at least half of the cells with something in them are numbers: the others may be mistakes."""
        filled = [cell for cell in self.cells if cell.strip().casefold() not in NO_NUMBER]
        return 2 * sum(map(is_number, filled)) >= len(filled) > 0

    @cached_property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers."""
        return self.is_numeric and all(float(cell).is_integer() for cell in self.values)

    def shared(self, other: Column) -> float:
        """The share of its values and another column's that both have."""
        return len(self.values & other.values) / max(len(self.values), len(other.values), 1)

    @property
    def is_of_decimals(self) -> bool:
        """Whether all cells are numbers, of which some are not whole."""
        return self.is_numeric and not self.is_whole


def is_number(text: str) -> bool:
    """Whether readers of tables take a cell as a number."""
    return _NUMBER.fullmatch(text.strip(_BLANKS)) is not None


def is_other_number(text: str) -> bool:
    """Whether a cell is a number as readers do not take it: with a decimal comma, or a sign of per cent."""
    return _OTHER_NUMBER.fullmatch(text.strip()) is not None


def text_lines(document: Document) -> Iterator[tuple[int, str]]:
    """The lines of a file, mended, with their numbers; of Parquet none."""
    if not document.content.startswith(MAGIC):
        yield from readable(document).lines()


def is_json(document: Document) -> bool:
    """Whether a file is one list or object in JSON."""
    if document.content.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        return all(True for _ in json_members(document))
    except InputError:
        return False


def even_mark(lines: Iterable[str]) -> str:
    """What stands equally often in all lines that are not blank, as between columns that no reader takes apart."""
    filled = [line for line in lines if line.strip()]
    return next((mark for mark in _MARKS if len(counts := {line.count(mark) for line in filled}) == 1
                 and counts != {0}), "")


def tables(document: Document) -> list[Table]:
    """All ways in which a file is a table of two columns or more, the usual ones first.

    Raises:
        InputError: The file is no text.
    """
    key = ("guessed", "tables")
    if key not in document.made:
        document.made[key] = list(_tables(document))
    found: list[Table] = document.made[key]
    return found


def _tables(document: Document) -> Iterator[Table]:
    if (found_records := records(document)) is not None:
        yield from _objects(*found_records)
        return
    given = readable(document)
    if first_line(given).startswith("{") or is_json(given):  # no table: another reader says what is wrong
        return
    text = "\n" + given.text()
    comments = [None, "#"] if "\n#" in text else [None]
    mark_of_all = even_mark(line for _, line in given.lines())
    has_decimal_commas = mark_of_all == ";" and "," not in _DECIMAL_COMMA.sub("", text)
    for separator in get_args(Separator):
        mark = MARKS[separator]
        found: list[Table] = []
        if mark in text and not (mark == "," and has_decimal_commas):  # of tabs alone whitespace makes the same
            for comment in comments:
                found += _delimited(given, separator, comment)
        yield from found
        if found and mark == "\t" == mark_of_all:
            return  # blanks stand within its cells


def single(document: Document) -> list[Table]:
    """A file of objects that have one value each which is no list, as a table of one column."""
    found = None if tables(document) else records(document)
    return [] if found is None else list(_objects(*found, least=1))


def _objects(rows: Sequence[dict[str, Any]], form: dict[str, Any], what: str, least: int = 2) -> Iterator[Table]:
    rows = [dict(members_within(row, _DEEPEST)) for row in rows]
    names = list(dict.fromkeys(name for row in rows for name, value in row.items()
                               if as_text(value) is not None or isinstance(value, float)))
    if least <= len(names) <= MOST_COLUMNS:
        cells = [[repr(cell) if isinstance(cell, float) else as_text(cell) or "" for cell in map(row.get, names)]
                 for row in rows]
        yield Table(tuple(names), cells, form, header=True, sure=SURE, why="keys name the columns", written=what)


def members_within(entry: Mapping[str, Any], depth: int, path: str = "") -> Iterator[tuple[str, Any]]:
    """What stands in an object, and by their paths in those within it, as readers know columns."""
    for name, value in entry.items():
        if not isinstance(value, Mapping):
            yield path + name, value
        elif depth and "." not in name:
            yield from members_within(value, depth - 1, f"{path}{name}.")


def _delimited(document: Document, separator: Separator, comment: str | None) -> Iterator[Table]:
    try:
        rows = [cells for _, cells in read_cells(document, Written(separator, comment))]
    except InputError:
        return
    if not rows:
        return
    (width, times), = Counter(map(len, rows)).most_common(1)
    if not 2 <= width <= MOST_COLUMNS or times < EVEN * len(rows):
        return
    if 2 * sum(map(_is_torn, rows)) > len(rows):
        return
    form = {"separator": separator, **({"comment": comment} if comment else {}), **mended(document)}
    what = f"{'blanks' if separator == 'whitespace' else f'{separator}s'} between columns" + (
        f", lines with {comment} passed over" if comment else "")
    sure, why = header(rows)
    names = tuple(f"column{n + 1}" for n in range(width))
    if len(rows) > 1 and len(rows[0]) == width and all(map(str.strip, rows[0][1:])) and len(set(rows[0])) == width:
        yield Table(tuple(rows[0]), rows[1:], form, header=True, sure=sure, why=why, written=what)
    yield Table(names, rows, form, header=False, sure={SURE: OPEN, LIKELY: LIKELY, OPEN: SURE}[sure],
                why=f"no header: {why}" if sure == OPEN else why, written=what)


def _is_torn(cells: Sequence[str]) -> bool:
    """Whether a bracket opens in one cell and closes in another: what stands between them is one."""
    text = "".join(cells)
    return not _BRACKETS.isdisjoint(text) and any(
        text.count(left) == text.count(right) and any(cell.count(left) != cell.count(right) for cell in cells)
        for left, right in ("()", "[]", "{}"))


def header(rows: Sequence[Sequence[str]]) -> tuple[int, str]:
    """How sure the first row is a header (`OPEN`: it is surely none), and why."""
    first, others = rows[0], rows[1:]
    columns = [Column([row[n] for row in others if n < len(row)]) for n in range(len(first))]
    if not all(map(str.strip, first[1:])) or len(set(first)) < len(first):  # of row names the column has no name
        return OPEN, "a cell of the first line is empty or stands twice"
    if any(column.is_numeric and not is_number(cell) and cell.strip().casefold() not in NO_NUMBER for cell, column in
           zip(first, columns, strict=True)):
        return SURE, "header: a column is of numbers but for the first line"
    if any(is_number(cell) for cell in first):
        return OPEN, "its first line has a number"
    again = [cell for cell, column in zip(first, columns, strict=True) if cell in column.values]
    called = [cell for cell in first if cell.casefold().strip("# ") in COLUMN_NAMES]
    if again:
        return (LIKELY if called and len(called) > len(again) else OPEN), f"{again[0]!r} stands in other lines as well"
    if called:
        return SURE, f"header: it names a column {called[0]!r}, and no cell of it stands elsewhere"
    if any(not _has_digit(cell) and all(map(_has_digit, column.values)) for cell, column in zip(
            first, columns, strict=True)):
        return SURE, "header: all names of items but its first have a digit"
    return LIKELY, "its first line may be a header"


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))
