"""Reader of spans in tables, by positions of characters or tokens.

A table has one span per row, or one item per row with the list of its spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from registry.errors import InputError, counted
from registry.items import Answer, Item, Span, Tagged
from registry.readers.base import SpanReader
from registry.readers.parsing.document import MANY_ROWS, Document
from registry.readers.parsing.json_values import ABSENT, describe_missing, get_value
from registry.readers.tables import Row, TableReader, is_unscored, shorten, to_number, to_text
from registry.values import TERSE

_POSITION = re.compile(r"[0-9]{1,9}")
_TOO_FAR = 10**9


class Spans(TableReader, SpanReader):
    """One span per row: item, start, end, type and, in submissions, a score.

    This file format is for spans, such as named entities. The score is optional. Positions may count characters or
    tokens, but must count the same in gold and submissions. A row without start, end and type is an item without spans.
    In JSON and Parquet, a row may be an item with the list of its spans.

    Attributes:
        start: Column with the first position of a span.
        end: Column with the position after the last position of a span.
        type: Column with the type of a span; empty if spans have no types.
        score: Column with the scores of a submission, which queries can show; higher scores are better.
        offset: Number of the first position in an item: 0 or 1.
        inclusive: True if the column `end` has the last position itself.
        overlaps: Treatment of spans in an item that share a position: `reject` the file, or `allow` such spans.
        spans: Column with the list of an item's spans, in JSON or Parquet. The columns above are then keys or paths in
            a span (`value.start`), or indexes from 0 if a span is a list such as `[0, 4, "PER"]`.
    """

    name = "spans"
    lines_per_item = MANY_ROWS
    absent = "it has no row"

    start: str = "start"
    end: str = "end"
    type: str = "type"
    score: str | None = None
    offset: Literal[0, 1] = 0
    inclusive: bool = False
    overlaps: Literal["reject", "allow"] = "reject"
    spans: str | None = field(default=None, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.item and self.spans is None:
            raise InputError("option 'item' of spans must name one column or more: an item may have several rows")
        if self.spans is not None and self.syntax == "delimited":
            raise InputError("option 'spans' of spans names a column of lists, which only JSON and Parquet files have; "
                             "set the option 'syntax'")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items with their gold spans.

        All rows of one item must have the same attributes.
        """
        return [Item(key, Tagged((), frozenset(entry.spans)), entry.attributes, entry.line)
                for key, entry in replace(self, score=None)._read_entries(documents["gold"])]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(key, Tagged((), frozenset(entry.spans)), entry.line)
                for key, entry in replace(self, attributes=())._read_entries(document)]

    def content(self, value: Any) -> Any:
        return [[s.start, s.end, s.type, *(() if s.score is None else (s.score,))] for s in sorted(value.spans)]

    def make_unanswered(self, text: Any) -> Any:  # noqa: ARG002
        return Tagged((), frozenset())

    def incomparable(self, gold: Any, answer: Any) -> str | None:
        outside = [span for span in sorted(answer.spans) if gold.tokens and span.end > len(gold.tokens)]
        if not outside:
            return None
        return (f"span {self._format_span(outside[0])} ends after the last token; the gold has "
                f"{counted(len(gold.tokens), 'token')}")

    def _read_entries(self, document: Document) -> Iterator[tuple[str, _Entry]]:
        names = [column for column in (self.start, self.end, self.type, self.score) if column]
        entries: dict[str, _Entry] = {}
        for row, span in self._read_lists(document, names) if self.spans else self.parse_rows(
                document, names, self._parse_span, self.attributes):
            entry = entries.setdefault(row.key, _Entry(row.line, row.attributes))
            if contradiction := self._find_contradiction(entry, row, span):
                document.refuse(contradiction, row.line, row.key)
            elif span is None:
                entry.no_span_line = row.line
            else:
                entry.spans[span] = row.line
        for key, entry in entries.items():
            if self.overlaps == "reject":
                self._check_overlaps(key, entry, document)
            yield key, entry

    def _read_lists(self, document: Document, names: Sequence[str]) -> Iterator[tuple[Row, Span | None]]:
        """Yield each span with its row, from a file with a list of spans in each row.

        An item without spans yields (row, None).

        Args:
            document: The file.
            names: Keys of a span's start, end and other parts.
        """
        first: dict[str, int] = {}
        for row in self.read_rows(document, [str(self.spans)], self.attributes):
            spans = [] if row.cells[0] is None else row.cells[0]
            if row.key in first:
                document.refuse(f"occurs twice, first in line {first[row.key]}; write all its spans in one list",
                                row.line, row.key, category="duplicate")
                continue
            first[row.key] = row.line
            if not isinstance(spans, list):
                document.refuse(f"{self.spans!r} is {shorten(spans)}; expected a list of spans", row.line, row.key)
                continue
            if not spans:
                yield row, None
            for element in spans:
                try:
                    span = self._parse_listed_span(element, names, row)
                except InputError as error:
                    document.report(error)
                else:
                    yield row, span

    def _parse_listed_span(self, element: Any, names: Sequence[str], row: Row) -> Span:
        cells = [get_value(element, name) for name in names]
        if ABSENT in cells:
            name = names[cells.index(ABSENT)]
            reason = (describe_missing(row.document, element, name) if isinstance(element, Mapping)
                      else f"it has no element {name!r}")
            raise row.error(f"the span {shorten(element)} is not valid: {reason}")
        span = self._parse_span(row._replace(cells=cells))
        if span is None:
            raise row.error(f"the span {shorten(element)} has no start and end; add them, or write an empty list if "
                            "the item has no span")
        return span

    def _find_contradiction(self, entry: _Entry, row: Row, span: Span | None) -> str | None:
        """Return a message if a row contradicts earlier rows of the same item; else None.

        For example, a span occurs twice.

        Args:
            entry: Attributes and spans of the item in earlier rows.
            row: The row.
            span: Span in the row; None if the row declares that the item has no span.
        """
        for name, value in row.attributes.items():
            if value != entry.attributes[name]:
                return (f"{name!r} is {value!r}, but {entry.attributes[name]!r} in line {entry.line}; write the same "
                        "value in all rows of the item")
        if span in entry.spans:
            type_note = f" of type {span.type!r}" if span.type else ""
            return (f"span {self._format_span(span)}{type_note} occurs twice, first in line {entry.spans[span]}; keep "
                    "one")
        if entry.no_span_line:
            return (f"this item has a span, but line {entry.no_span_line} says that it has none; remove one of the "
                    "two rows")
        if span is None and entry.spans:
            first = next(iter(entry.spans.values()))
            return (f"no start and end: the row says that this item has no span, but line {first} has a span; remove "
                    "one of the two rows")
        return None

    def _check_overlaps(self, key: str, entry: _Entry, document: Document) -> None:
        furthest: Span | None = None
        for span in sorted(entry.spans):
            if furthest is not None and span.start < furthest.end:
                first, second = sorted((furthest, span), key=entry.spans.__getitem__)
                document.refuse(
                    f"span {self._format_span(second)} overlaps {self._format_span(first)} in line "
                    f"{entry.spans[first]}; correct the file, or set overlaps = \"allow\"",
                    entry.spans[second], key)
            if furthest is None or span.end > furthest.end:
                furthest = span

    def _parse_span(self, row: Row) -> Span | None:
        if all(is_unscored(cell, self.unscored) for cell in row.cells):
            return None
        start, end, *rest = row.cells
        first, last = (self._parse_position(cell, column, row)
                       for cell, column in ((start, self.start), (end, self.end)))
        length = last - first + self.inclusive
        if length <= 0:
            fault = ("is empty; the end must be the position after the last one, or set inclusive = true"
                     if first == last else "ends before it starts; correct the positions")
            raise row.error(f"the span from {shorten(start)} to {shorten(end)} {fault}")
        type_ = to_text(rest[0]) if self.type else ""
        if self.type and not type_:
            raise row.error(f"{self.type!r} is {shorten(rest[0])}; expected text; if the item has no span, leave start "
                            "and end empty too")
        if type_ is None or not type_.isprintable():
            raise row.error(f"{self.type!r} has a control or invisible character; remove it")
        value = None if self.score is None else self.parse_number(rest[-1], self.score, row)
        return Span(first, first + length, type_, value)

    def _parse_position(self, cell: Any, column: str, row: Row) -> int:
        if self.syntax == "delimited":
            value = int(cell) if _POSITION.fullmatch(cell) else -1
        else:
            number = to_number(cell, text=False)
            value = int(number) if 0 <= number < _TOO_FAR and number.is_integer() else -1
        if value < self.offset:
            raise row.error(f"{column!r} is {shorten(cell)}; expected a whole number from {self.offset} to "
                            f"{_TOO_FAR - 1}")
        return value - self.offset

    def _format_span(self, span: Span) -> str:
        return f"{span.start + self.offset}-{span.end + self.offset - self.inclusive}"


@dataclass
class _Entry:
    """Spans of one item, collected from the rows of a table.

    Attributes:
        line: First line of the item.
        attributes: Maps attributes of the item, such as "document", to their values.
        spans: Maps each span to its line.
        no_span_line: Line of a row that declares that the item has no span; 0 if there is none.
    """

    line: int
    attributes: dict[str, str]
    spans: dict[Span, int] = field(default_factory=dict)
    no_span_line: int = 0
