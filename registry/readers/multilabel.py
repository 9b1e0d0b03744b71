"""Several labels per item, in a table with a column of 0 and 1 for each label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Response
from registry.readers.names import NamedSetReader
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, as_number, shown


class Multilabel(TableReader, NamedSetReader):
    """A row per item and a column per label, with 1 where the item has it and 0 where not; true and false are as good.

    An item's answers are the labels that it has, as in `responses`; it may have none.

    Attributes:
        labels: The columns, which name the labels.
    """

    name: ClassVar[str] = "multilabel"
    absent: ClassVar[str] = "there is no row for it"

    labels: tuple[str, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unscored != ("",):
            raise InputError("option 'unscored' goes with numbers; of multilabel every cell is 1 or 0")
        for label in self.labels:
            if not label or not label.isprintable() or self.labels.count(label) > 1 or label in self.item:
                raise InputError(f"option 'labels' of multilabel has {label!r}, which is empty, invisible, the item's "
                                 "column, or there twice")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the labels of each item."""
        return [Item(row.key, found, row.attributes, row.line)
                for row, found in self._entries(documents["gold"], self.attributes)]

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read the labels that a system gives each item."""
        return [Answer(row.key, found, row.line) for row, found in self._entries(document, ())]

    def declared_names(self) -> tuple[str, ...]:
        """All labels, whether an item of the gold has them or not."""
        return self.labels

    def _entries(self, document: Document, attributes: Sequence[str]) -> Iterator[tuple[Row, AnswerSet]]:
        responses = {label: Response(label) for label in sorted(self.labels)}

        def found(row: Row) -> AnswerSet:
            is_given = {label: self._is_given(cell, label, row)
                        for label, cell in zip(self.labels, row.cells, strict=True)}
            return AnswerSet(tuple(response for label, response in responses.items() if is_given[label]))

        return self.parsed(document, self.labels, found, attributes)

    def _is_given(self, cell: Any, label: str, row: Row) -> bool:
        number = float(cell) if isinstance(cell, bool) else as_number(cell, text=self.syntax == "delimited")
        truth = {"true": 1.0, "false": 0.0}.get(cell.casefold(), number) if isinstance(cell, str) else number
        if truth not in (0, 1):
            raise row.error(f"{label!r} is {shown(cell)}; expected 1 where the item has this label, else 0")
        return truth == 1
