"""Texts of items in tables: what systems wrote, beside one or several references of the gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from registry.errors import InputError
from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.order import misplaced
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, as_text, shown


class Texts(TableReader, SegmentReader):
    """A row per item with its text in a column: translations, summaries, transcripts, answers in free text.

    The gold of an item is its references by name: `gold`, and the columns that `references` names by their names. A
    blank text, or null, is no reference and no answer; items may have different numbers of references.

    Attributes:
        text: The column of the text: of a system's, and of the reference `gold` in the gold.
        references: Columns of the gold with further references. Of a list in JSON `refs.0` is the first text.
        source: The column of the gold with the text that systems were given.
        check_order: Where rows are numbered, refuse files whose rows seem to be shuffled or shifted; see `Lines`.
    """

    name: ClassVar[str] = "texts"
    absent: ClassVar[str] = "its text is blank or not there"

    text: str = "text"
    references: tuple[str, ...] = ()
    source: str | None = None
    check_order: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unscored != ("",):
            raise InputError("option 'unscored' goes with numbers; of texts a blank one is no answer")
        if len({"gold", "source", *self.references}) < 2 + len(self.references):
            raise InputError("option 'references' of texts names a column twice, or as the reference `gold` or the "
                             "source is known: rename that column")

    @property
    def optional(self) -> tuple[str, ...]:
        return self.references

    def offers(self) -> tuple[str, ...]:
        """The text of the gold, and the further references."""
        return ("gold", *self.references)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the references of each item, and its source."""
        document, names = documents["gold"], ("gold", *self.references, *("source",) * (self.source is not None))
        columns = (self.text, *self.references, *(() if self.source is None else (self.source,)))

        def gold(row: Row) -> dict[str, str]:
            return {name: _required(cell, column, row) if name == "source" else _text(cell, column, row)
                    for name, column, cell in zip(names, columns, row.cells, strict=True)}

        items = [Item(row.key, found, row.attributes, row.line)
                 for row, found in self.parsed(document, columns, gold, self.attributes)]
        for name, column in zip(names, columns, strict=True):
            self._check_quotes(column, [(item.gold[name], item) for item in items], document)
        return items

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read the texts of a system."""
        answers = [Answer(row.key, text, row.line) for row, text in self.parsed(
            document, (self.text,), lambda row: _text(row.cells[0], self.text, row)) if text.strip()]
        self._check_quotes(self.text, [(answer.value, answer) for answer in answers], document)
        return answers

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        """Say where numbered rows do not seem to be in the gold's order."""
        if self.item or not self.check_order or not answers or int(answers[-1].key) > len(items):
            return None
        return misplaced(items, answers)

    def _check_quotes(self, column: str, texts: Sequence[tuple[str, Item | Answer]], document: Document) -> None:
        """See that no texts between tabs or blanks stand in quotes as CSV has them: they would count as words.

        Raises:
            InputError: One has its own quotes doubled within others, or all stand in quotes.
        """
        if self.syntax != "delimited" or self.separator in ("comma", "semicolon"):
            return
        quoted = [(text, of) for text, of in texts if text.startswith('"') and text.endswith('"') and len(text) > 1]
        found = next((of for text, of in quoted if _has_doubled_quotes(text[1:-1])), None)
        if found is None and 1 < len(quoted) == len(texts):
            found = quoted[0][1]
        if found is not None:
            raise document.error(f"{column!r} stands in double quotes as in CSV, which between tabs are a part of the "
                                 "text and would count as words; write the file with commas, as pandas' to_csv does "
                                 "without `sep`, and say separator = \"comma\"", found.line, found.key)


def _has_doubled_quotes(text: str) -> bool:
    """Whether a text has double quotes, all of them in pairs."""
    return '""' in text and '"' not in text.replace('""', "")


def _text(cell: Any, column: str, row: Row) -> str:
    """A cell as text; of null it is empty."""
    if (text := "" if cell is None else as_text(cell)) is None:
        raise row.error(f"{column!r} is {shown(cell)}; expected a text" + (
            f", such as {column + '.0'!r} is in a list" if isinstance(cell, list) else ""))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise row.error(f"{column!r} has half of a character (a lone surrogate); cut texts between characters, or "
                        "leave it out") from None
    return text


def _required(cell: Any, column: str, row: Row) -> str:
    if not (text := _text(cell, column, row)).strip():
        raise row.error(f"{column!r} is blank; an item needs its source")
    return text
