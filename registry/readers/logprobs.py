"""Log-probabilities that language models give the tokens of a text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from registry.families import LARGEST_OTHER
from registry.items import Answer, Item
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, as_number, is_unscored, shown

_NATS: dict[str | int, float] = {"e": 1.0, 2: math.log(2), 10: math.log(10)}


class LogProbabilities(TableReader):
    """The log-probabilities of all tokens of an item in one cell: a list, or in delimited text numbers and blanks.

    What is kept of an item is their sum, in nats, and how many they are.

    Attributes:
        base: Of the logarithms: `"e"`, `2` or `10`; it is declared and never guessed.
        logprobs: The column that holds them.
        text: The column of the gold that holds the item's text; its characters (Unicode code points) are counted.
    """

    name = "logprobs"
    gives = "logprob"
    absent = "there are no log-probabilities of it"

    base: Literal["e", 2, 10] = field(kw_only=True)
    logprobs: str = "logprobs"
    text: str | None = None

    def offers(self) -> tuple[str, ...]:
        return () if self.text is None else ("text",)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with the number of characters of their texts where the option `text` says where they are."""
        column = self.text

        def characters(row: Row) -> int | None:
            if column is None:
                return None
            (text,) = row.cells
            if not (isinstance(text, str) and text):
                raise row.error(f"{column!r} is not a text")
            return len(text)

        return [Item(row.key, n, row.attributes, row.line) for row, n in self.parsed(
            documents["gold"], () if column is None else (column,), characters, self.attributes)]

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read (sum, number) of every item's log-probabilities."""
        return [Answer(row.key, (_NATS[self.base] * math.fsum(values), len(values)), row.line)
                for row, values in self.parsed(document, (self.logprobs,), self._values) if values is not None]

    def _values(self, row: Row) -> list[float] | None:
        (cell,) = row.cells
        if is_unscored(cell, self.unscored):
            return None
        given = cell.split() if self.syntax == "delimited" else cell
        if not isinstance(given, list) or not given:
            raise row.error(f"{self.logprobs!r} is no list of log-probabilities, one for each token")
        values = [as_number(one, text=self.syntax == "delimited") for one in given]
        for n, (one, value) in enumerate(zip(given, values, strict=True), 1):
            if not -LARGEST_OTHER < value <= 0:
                raise row.error(f"the log-probability of token {n} is {shown(one)}; expected a number of at most 0, "
                                "above -2^42 (leave out tokens that the model gives none)")
        return values
