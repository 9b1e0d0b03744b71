"""Reader of one label per item, from delimited columns, JSON or Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain, count
from typing import Any, ClassVar, Literal

from registry.columns import AnswerColumns, Rows
from registry.errors import InputError, counted, suggest
from registry.items import Answer, Item
from registry.readers.base import NamedReader, index_by_case
from registry.readers.parsing.delimited import (
    MARKS,
    Separator,
    TextFormat,
    read_header,
    split_cells,
    split_columns,
    strip_quotes,
)
from registry.readers.parsing.document import ONE_ROW, Document, describe_unprintable
from registry.readers.parsing.fast_tables import Syntax, make_attribute_rows
from registry.readers.parsing.json_values import ABSENT, describe_missing, get_value
from registry.readers.tables import (
    describe_width,
    read_delimited_rows,
    read_objects,
    read_text_columns,
    shorten,
    to_text,
)
from registry.values import TERSE

Row = tuple[int, dict[str, str]]

_JSON_LINES = 'this looks like JSON Lines; set syntax = "jsonl"'


class Labels(NamedReader):
    """Item and label on every line; other columns of the gold are attributes.

    This file format is for classification, in delimited text, JSON or Parquet. Blank lines are ignored, unless rows are
    numbered.

    Attributes:
        separator: Separator of columns: `tab`, `comma` or `semicolon` (with double quotes as in RFC 4180), or
            `whitespace` (any run of blanks).
        columns: Names of the columns, in order. If `header` is true, the first line of the file names the columns
            instead.
        item: Column with the name of the item. If empty, rows are numbered from 1: a submission must have the gold's
            items in the same order, and a blank row has no answer.
        within: Columns that make items distinct, such as the document of a sentence; names of items begin with their
            cells.
        label: Column with the label.
        header: True if the first line that is not a comment names the columns.
        comment: Beginning of lines that are ignored.
        syntax: `delimited`, `jsonl` (one JSON object per line), `json` (a list of such objects, or one object with
            items as keys) or `parquet`. Columns are keys of the objects, or paths to nested values: `answer.label`.
        labels: The only valid labels; None if all labels are valid.
        attributes: Columns of the gold that are attributes of the item; None for all other columns.
        blank: Treatment of blank labels in a submission: `reject` the file, or count them as `missing` answers.
    """

    name: ClassVar[str] = "labels"
    gives: ClassVar[str] = "label"
    named: ClassVar[str] = "label"
    forms: ClassVar[tuple[str, ...]] = ("separator", "header", "syntax")
    gives_columns: ClassVar[bool] = True
    lines_per_item: ClassVar[int] = ONE_ROW
    _distinct: ClassVar[tuple[str, ...]] = ("columns",)

    separator: Separator = "tab"
    columns: tuple[str, ...] = ("item", "label")
    item: str = "item"
    label: str = "label"
    header: bool = False
    comment: str | None = None
    syntax: Syntax = "delimited"
    labels: tuple[str, ...] | None = None
    attributes: tuple[str, ...] | None = field(default=None, kw_only=True, metadata=TERSE)
    blank: Literal["reject", "missing"] = field(default="reject", kw_only=True, metadata=TERSE)
    within: tuple[str, ...] = field(default=(), kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.item == self.label:
            raise InputError("options 'item' and 'label' of labels name the same column; name two different columns")
        if self.within and (not self.item or {self.item, self.label} & {*self.within}):
            raise InputError("option 'within' of labels needs the option 'item'; name columns there that are "
                             "neither 'item' nor 'label'")
        if self.syntax == "delimited" and not self.header:
            for role in (*self._roles, *self.within):
                if role not in self.columns:
                    raise InputError(f"the reader needs the column {role!r}, but the option 'columns' does not list "
                                     f"it; {suggest(role, self.columns)}")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document, reader = documents["gold"], replace(self, rename=(), fold_case=False, blank="reject")
        missing = set(self._required_columns) - set(self.columns)
        if self.syntax == "delimited" and not self.header and missing:
            raise document.error(f"the reader needs the column {min(missing)!r}, but the option 'columns' does not "
                                 "list it; name the columns of the file in their order")
        if (columns := reader._read_fast(document)) is not None:
            labels = columns.pop(self.label)
            keys = self._make_keys(columns, len(labels))
            attributes = make_attribute_rows({
                name: cells for name, cells in columns.items() if self._is_attribute(name)})
            return list(map(Item, keys, labels, attributes, count(self._first_line)))
        return [Item(key, label, {k: v for k, v in row.items() if self._is_attribute(k)}, line)
                for line, key, label, row in reader._read_entries(document)]

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        reader = replace(self, blank=self.blank if self.item else "missing", attributes=self.attributes and ())
        if (columns := reader._read_fast(document)) is not None:
            labels = columns[self.label]
            keys = self._make_keys(columns, len(labels))
            return AnswerColumns.from_labels(keys, labels, range(self._first_line, self._first_line + len(labels)))
        shared: dict[str, str] = {}
        entries = [(key, shared.setdefault(label, label), line)
                   for line, key, label, _ in reader._read_entries(document)
                   if label.strip() or not self.item or self.blank == "reject"]
        return AnswerColumns.from_labels([key for key, *_ in entries], [label for _, label, _ in entries],
                                       [line for *_, line in entries])

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        if not self.item and isinstance(answers, AnswerColumns):
            answers = assign_rows_in_order(answers, items, path)
        return super().assign(items, answers, path)

    def names(self, values: Iterable[Any]) -> Counter[str]:
        return Counter(values)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return name(value)

    def list_declared_names(self) -> tuple[str, ...]:
        return self.labels or ()

    def _read_fast(self, document: Document) -> dict[str, list[str]] | None:
        """Read a file in blocks of lines, which takes half the time of single lines.

        Returns:
            Cells by column; None if the file has a fault, a blank line or a comment, and must be read line by line.
        """
        if self.syntax in ("json", "parquet") or document.problems is not None:
            return None
        if self.syntax == "jsonl":
            return self._read_objects_fast(document)
        names = () if self.header else self.columns
        collected: list[list[str]] = [[] for _ in names]
        shared: dict[str, str] = {}  # shares equal labels and attributes to save memory
        for _, block in document.blocks():
            if (rows := strip_quotes(block, self.separator)) is None:
                return None
            if not names:
                head, _, rows = rows.partition("\n")
                names = tuple(split_cells(head, "whitespace") if self.separator == "whitespace" else
                              head.split(MARKS[self.separator]))
                collected = [[] for _ in names]
                if not set(self._required_columns) <= set(names) or len(set(names)) < len(names) or names[0][:1] == "{":
                    return None
            if (columns := split_columns(rows, len(names), self.separator)) is None:
                return None
            selected = dict(zip(names, columns, strict=True))
            text = block.replace("\n", "").replace("\t" if self.separator in ("tab", "whitespace") else "", "")
            if self.attributes is not None:
                selected = {name: selected[name] for name in self._required_columns}
                text = "".join(chain.from_iterable(selected.values()))
            if not self._is_valid(selected, f"\n{block}", text):
                return None
            for name, column in zip(names, collected, strict=True):
                cells = selected.get(name, [])
                column += cells if name == self.item else map(shared.setdefault, cells, cells)
        return {name: column for name, column in zip(names, collected, strict=True)
                if self.attributes is None or name in self._required_columns}

    def _read_objects_fast(self, document: Document) -> dict[str, list[str]] | None:
        collected: dict[str, list[str]] = {}
        for number, block in document.blocks():
            columns = read_text_columns(block, self._required_columns, alone=self.attributes is not None)
            if columns is not None and number == self._first_line:
                collected = {name: [] for name in columns}
            if columns is None or columns.keys() != collected.keys() or not self._is_valid(
                    columns, f"\n{block}", "".join(chain(columns, *columns.values()))):
                return None
            for name, cells in columns.items():
                collected[name] += cells
        return collected

    @cached_property
    def _roles(self) -> tuple[str, ...]:
        return (self.item, self.label) if self.item else (self.label,)

    @cached_property
    def _required_columns(self) -> tuple[str, ...]:
        return (*self._roles, *dict.fromkeys((*self.within, *(self.attributes or ()))))

    def _is_attribute(self, column: str) -> bool:
        return column not in self._roles and (self.attributes is None or column in self.attributes)

    def _make_keys(self, columns: Mapping[str, list[str]], rows: int) -> list[str]:
        if not self.within:
            return columns[self.item] if self.item else [*map(str, range(1, rows + 1))]
        return [" ".join(cells) for cells in zip(*(columns[name] for name in (*self.within, self.item)), strict=True)]

    @property
    def _first_line(self) -> int:
        return 1 + self.skip + (self.header and self.syntax == "delimited")

    def _is_valid(self, columns: Mapping[str, list[str]], block: str, text: str) -> bool:
        """Return True if all rows in a block of lines are valid and none is a comment.

        Args:
            columns: Cells of the block, by column.
            block: Text of the block.
            text: Part of the text that must be printable.
        """
        keys, labels = columns.get(self.item, []), columns[self.label]
        return (not (self.comment and f"\n{self.comment}" in block)
                and all(map(str.strip, chain(keys, *(set(columns[name]) for name in self.within))))
                and (all(map(str.strip, labels)) or (not self.item and self.blank == "missing" and not any(
                    label.isspace() for label in set(labels))))
                and text.isprintable()
                and (self.header or self.item not in keys)
                and all(map(self._may_occur, set(labels) - {""})))

    def _may_occur(self, label: str) -> bool:
        label = dict(self.rename).get(label, label)
        return self.labels is None or label in self.labels or (self.fold_case and label.casefold() in self._by_case)

    @cached_property
    def _by_case(self) -> dict[str, str]:
        return index_by_case(self.labels or ())

    def _read_entries(self, document: Document) -> Iterator[tuple[int, str, str, dict[str, str]]]:
        rows = self._read_delimited(document) if self.syntax == "delimited" else self._read_objects(document)
        n = 0
        for n, (line, row) in enumerate(rows, 1):
            parts = [row[name] for name in (*self.within, self.item)] if self.item else [str(n)]
            key, label, is_named = " ".join(parts), row[self.label], all(map(str.strip, parts))
            if wrong := self._find_fault(key, label, row) if is_named else "the item is empty":
                document.refuse(wrong, line, key.strip() or None)
            if is_named:  # an item with an invalid label does not also count as unanswered
                yield line, key, label if label.strip() else " " * (self.blank == "reject"), row
        if not n:
            document.report_empty("item")

    def _find_fault(self, key: str, label: str, row: dict[str, str]) -> str | None:
        if not label.strip():
            return None if self.blank == "missing" else "the label is empty; write a label" + (
                ', or set blank = "missing" to treat empty labels of submissions as missing answers' if self.item
                else "")
        if not "".join((*row, *row.values())).isprintable():
            return describe_unprintable(row, self._required_columns, can_repair=self.syntax == "delimited")
        if not self.header and (key, label) == (self.item, self.label):
            return "this looks like a header; set header = true"
        if not self._may_occur(label):
            return f"label {label!r} is not a declared label; {suggest(label, self.list_declared_names())}"
        return None

    def _read_delimited(self, document: Document) -> Iterator[Row]:
        def describe_fault(cells: list[str], columns: Sequence[str]) -> str:
            return _JSON_LINES if cells[0].startswith("{") and len(columns) > 1 else (
                f"{describe_width(cells, columns)} ({', '.join(columns)}) with the separator {self.separator}")

        def parse_header(cells: list[str], line: int) -> tuple[str, ...]:
            if cells[:1] and cells[0].startswith("{"):
                raise document.error(_JSON_LINES, line)
            return read_header(cells, self._required_columns, document, line, ["header=false"])

        declared = () if self.header else self.columns
        text_format = TextFormat(self.separator, self.comment, blank_rows=not self.item)
        for number, columns, cells in read_delimited_rows(document, text_format, declared, parse_header=parse_header,
                                                          describe_fault=describe_fault):
            row = dict(zip(columns, cells, strict=True))
            yield number, row if self.attributes is None else {name: row[name] for name in self._required_columns}

    def _read_objects(self, document: Document) -> Iterator[Row]:
        for number, value in read_objects(document, self.syntax, TextFormat(self.separator, self.comment),
                                          self.item or None, self.label):
            try:
                yield number, self._make_row(document, value)
            except ValueError as error:
                document.refuse(str(error), number)

    def _make_row(self, document: Document, value: dict[str, Any]) -> dict[str, str]:
        roles = {role: get_value(value, role) for role in self._required_columns}
        for role, cell in roles.items():
            if cell is ABSENT:
                raise ValueError(f"no column {role!r}; {suggest(role, value)}" if self.syntax == "parquet" else
                                 describe_missing(document, value, role))
        if self.blank == "missing" and roles[self.label] is None:
            roles[self.label] = ""
        attributes = value if self.attributes is None else {}
        return {k: _to_text(v, k) for k, v in (attributes | roles).items() if k in roles or isinstance(v, str | int)}


def _to_text(value: Any, key: str) -> str:
    if (text := to_text(value)) is None:
        raise ValueError(f"{key!r} is {shorten(value)}; expected text, a whole number, true or false")
    return text


def assign_rows_in_order(answers: AnswerColumns, items: Sequence[Item], path: str) -> AnswerColumns:
    """Assign row n of a submission to item n of the gold, if rows have no names.

    Blank rows at the end of the file are dropped.

    Args:
        answers: Answers of a submission whose rows are numbered.
        items: Items of the gold.
        path: Path of the submission, for errors.

    Raises:
        InputError: The number of rows differs from the number of items.
    """
    last = int(answers.given[-1]) + 1 if len(answers) else 0
    lines = answers.rows.lines
    n = len(lines) if len(lines) < len(items) else max(last, len(items))
    if n != len(items):
        raise InputError(f"the file has {counted(n, 'row')}, but the gold has {counted(len(items), 'item')}; write one "
                         "row per item in the order of the gold, and a blank row for an item without an answer",
                         path=path, line=lines[n - 1], category="order")
    return replace(answers, rows=Rows(tuple(item.key for item in items), lines[:n]), values=answers.values[:n])
