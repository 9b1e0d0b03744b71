"""One label per item: delimited columns, JSON Lines, or Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, count, repeat
from typing import Any, ClassVar, Literal

from registry.columns import AnswerColumns
from registry.errors import InputError, suggest
from registry.items import Answer, Item
from registry.readers.names import NamedReader, by_case
from registry.readers.parsing.delimited import Separator, even_columns, read_header, unquoted
from registry.readers.parsing.document import Document, split
from registry.readers.parsing.json_lines import json_columns
from registry.readers.parsing.parquet import parquet_rows
from registry.readers.tables import as_text, columns_expected, delimited_rows, json_rows, shown
from registry.values import TERSE

Row = tuple[int, dict[str, str]]

_SHARED = 2**12  # rows of attributes that are kept to be shared: the documents of a test set rather than its items
_JSON_LINES = 'this looks like JSON Lines; set syntax = "jsonl"'


class Labels(NamedReader):
    """Item and label on every line; further columns of the gold are attributes of the item.

    Attributes:
        separator: Between columns: `tab`, `comma` (with double quotes as in RFC 4180) or `whitespace` (any run of
            blanks).
        columns: The names of the columns, in order; with `header` the file's first line names them instead.
        item: The column (or JSON key) that holds the item's key.
        label: The column (or JSON key) that holds the label.
        header: The first line that is not a comment names the columns.
        comment: Lines that begin with this text are passed over.
        syntax: `delimited`, `jsonl` (one JSON object per line, whose keys are the columns) or `parquet`.
        labels: If given, the only labels that may occur.
        blank: What to do about a submission's labels that are blank: `reject` the file, or take them for `missing`
            answers.

    Blank lines are passed over.
    """

    name: ClassVar[str] = "labels"
    gives: ClassVar[str] = "label"
    named: ClassVar[str] = "label"
    forms: ClassVar[tuple[str, ...]] = ("separator", "header", "syntax")

    separator: Separator = "tab"
    columns: tuple[str, ...] = ("item", "label")
    item: str = "item"
    label: str = "label"
    header: bool = False
    comment: str | None = None
    syntax: Literal["delimited", "jsonl", "parquet"] = "delimited"
    labels: tuple[str, ...] | None = None
    blank: Literal["reject", "missing"] = field(default="reject", kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise InputError(f"option 'columns' of labels names a column twice: {', '.join(self.columns)}")
        if self.item == self.label:
            raise InputError("options 'item' and 'label' of labels name the same column")
        if self.syntax == "delimited" and not self.header:
            for role in (self.item, self.label):
                if role not in self.columns:
                    raise InputError(f"option 'columns' of labels has no column {role!r}; "
                                     f"{suggest(role, self.columns)}")

    @property
    def is_text(self) -> bool:
        """All but Parquet is."""
        return self.syntax != "parquet"

    @property
    def gives_columns(self) -> bool:
        return True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold labels; all columns but item and label become attributes."""
        document, reader = documents["gold"], replace(self, rename=(), fold_case=False, blank="reject")
        if (columns := reader._at_once(document)) is not None:
            keys, labels = columns.pop(self.item), columns.pop(self.label)
            return list(map(Item, keys, labels, _rows_of(columns), count(self._first_line)))
        return [
            Item(key, label, {k: v for k, v in row.items() if k not in (self.item, self.label)}, line)
            for line, key, label, row in reader._entries(document)
        ]

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's labels; further columns are passed over."""
        if (columns := self._at_once(document)) is not None:
            keys = columns[self.item]
            lines = range(self._first_line, self._first_line + len(keys))
            return AnswerColumns.of_labels(keys, columns[self.label], lines)
        known: dict[str, str] = {}
        found = [(key, known.setdefault(label, label), line) for line, key, label, _ in self._entries(document)
                 if label.strip() or self.blank == "reject"]
        return AnswerColumns.of_labels([key for key, *_ in found], [label for _, label, _ in found],
                                       [line for *_, line in found])

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count the labels."""
        return Counter(values)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Another label."""
        return name(value)

    def declared_names(self) -> tuple[str, ...]:
        """The only ones that may occur."""
        return self.labels or ()

    def _at_once(self, document: Document) -> dict[str, list[str]] | None:
        """Every column of a file in which nothing is wrong and no line blank or a comment; of others None.

        It is read block by block instead of line by line, which takes half the time.
        """
        if self.syntax == "parquet" or document.problems is not None:
            return None
        if self.syntax == "jsonl":
            return self._objects_at_once(document)
        names = () if self.header else self.columns
        found: list[list[str]] = [[] for _ in names]
        known: dict[str, str] = {}  # labels and attributes are few: each is kept once
        for _, block in document.blocks():
            if (rows := unquoted(block, self.separator)) is None:
                return None
            if not names:
                head, _, rows = rows.partition("\n")
                names = tuple(head.split(",") if self.separator == "comma" else split(head, self.separator))
                found = [[] for _ in names]
                if not {self.item, self.label} <= set(names) or len(set(names)) < len(names) or names[0][:1] == "{":
                    return None
            columns = even_columns(rows, len(names), self.separator)
            if columns is None or not self._fine(dict(zip(names, columns, strict=True)), f"\n{block}", block.replace(
                    "\n", "").replace("" if self.separator == "comma" else "\t", "")):
                return None
            for name, column, cells in zip(names, found, columns, strict=True):
                column += cells if name == self.item else map(known.setdefault, cells, cells)
        return dict(zip(names, found, strict=True))

    def _objects_at_once(self, document: Document) -> dict[str, list[str]] | None:
        found: dict[str, list[str]] = {}
        for number, block in document.blocks():
            texts = {name: list(map(as_text, cells)) for name, cells in (json_columns(block) or {}).items()}
            columns = {name: [cell for cell in cells if cell is not None] for name, cells in texts.items()}
            columns = {name: cells for name, cells in columns.items() if cells}
            if number == 1:
                found = {name: [] for name in columns}
            if not {self.item, self.label} <= columns.keys() or columns.keys() != found.keys() or any(
                    len(cells) < len(texts[name]) for name, cells in columns.items()):
                return None
            if not self._fine(columns, f"\n{block}", "".join(chain(columns, *columns.values()))):
                return None
            for name, cells in columns.items():
                found[name] += cells
        return found

    @property
    def _first_line(self) -> int:
        return 2 if self.header and self.syntax == "delimited" else 1

    def _fine(self, columns: Mapping[str, list[str]], block: str, text: str) -> bool:
        """Whether nothing is wrong with a block of rows, nor any a comment: what `_wrong` says of each of them.

        `text` is what of the block must be printable.
        """
        keys, labels = columns[self.item], columns[self.label]
        return (not (self.comment and f"\n{self.comment}" in block)
                and all(map(str.strip, keys)) and all(map(str.strip, labels))
                and text.isprintable()
                and (self.header or self.item not in keys)
                and all(map(self._may_occur, set(labels))))

    def _may_occur(self, label: str) -> bool:
        """Whether a label, renamed as the options say, is among the declared ones."""
        if self.labels is None:
            return True
        label = dict(self.rename).get(label, label)
        return label in self.labels or (self.fold_case and label.casefold() in self._by_case)

    @cached_property
    def _by_case(self) -> dict[str, str]:
        return by_case(self.labels or ())

    def _entries(self, document: Document) -> Iterator[tuple[int, str, str, dict[str, str]]]:
        rows = self._delimited(document) if self.syntax == "delimited" else self._objects(document)
        found = False
        for line, row in rows:
            found, key = True, row[self.item]
            if wrong := self._wrong(row):
                document.refuse(wrong, line, key or None)
            if key.strip():  # whose label is wrong is no item without an answer as well
                yield line, key, row[self.label], row
        if not found:
            document.report_empty("item")

    def _wrong(self, row: dict[str, str]) -> str | None:
        """Say what is wrong with a row; None if nothing is."""
        key, label = row[self.item], row[self.label]
        if not key.strip():
            return "the item is empty"
        if not label.strip():
            return None if self.blank == "missing" else (
                'the label is empty; of submissions, blank = "missing" takes such items for ones without an answer')
        if not "".join((*row, *row.values())).isprintable():
            return "a control or invisible character"
        if not self.header and (key, label) == (self.item, self.label):
            return "this looks like a header; set header = true"
        if self.labels is not None and not self._may_occur(label):
            return f"label {label!r} is not among the declared ones; {suggest(label, self.labels)}"
        return None

    def _delimited(self, document: Document) -> Iterator[Row]:
        def wrong(cells: list[str], columns: Sequence[str]) -> str:
            return _JSON_LINES if cells[0].startswith("{") else (
                f"{columns_expected(cells, columns)} ({', '.join(columns)}; separator {self.separator})")

        def header(cells: list[str], line: int) -> tuple[str, ...]:
            if cells[0].startswith("{"):
                raise document.error(_JSON_LINES, line)
            return read_header(cells, (self.item, self.label), document, line)

        declared = () if self.header else self.columns
        for number, columns, cells in delimited_rows(document, self.separator, self.comment, declared, header=header,
                                                     wrong=wrong):
            yield number, dict(zip(columns, cells, strict=True))

    def _objects(self, document: Document) -> Iterator[Row]:
        for number, value in (parquet_rows(document) if self.syntax == "parquet" else  # held by nothing but the loop
                              json_rows(document, self.separator, self.comment)):
            try:
                yield number, self._row(value)
            except ValueError as error:
                document.refuse(str(error), number)

    def _row(self, value: dict[str, Any]) -> dict[str, str]:
        for role in (self.item, self.label):
            if role not in value:
                what = "column" if self.syntax == "parquet" else "key"
                raise ValueError(f"no {what} {role!r}; {suggest(role, value)}")
        if self.blank == "missing" and value[self.label] is None:
            value = {**value, self.label: ""}
        return {k: _text(v, k) for k, v in value.items()
                if k in (self.item, self.label) or isinstance(v, str | int)}


def _rows_of(columns: Mapping[str, list[str]]) -> Iterator[Mapping[str, str]]:
    """Give every row by its columns' names, without end if there are none; equal rows are one object, as far as known.

    The row before is known, and so are the first `_SHARED` ones.
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


def _text(value: Any, key: str) -> str:
    if (text := as_text(value)) is None:
        raise ValueError(f"{key!r} is {shown(value)}; expected text, a whole number, true or false")
    return text
