"""Candidates in a table: which of them are right, and the scores by which systems rank them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from registry.columns import CandidateColumns
from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Response
from registry.readers.base import AnswerSetReader
from registry.readers.parsing.bounds import ONE_ROW
from registry.readers.parsing.characters import invisible
from registry.readers.parsing.delimited import Separator, Written, read_header
from registry.readers.parsing.document import Document
from registry.readers.parsing.table_columns import Layout, Table, read_at_once
from registry.readers.tables import as_number, delimited_rows

ACCEPTED = "true"  # the one answer that there can be to a candidate


class Candidates(AnswerSetReader):
    """One candidate per line under a header that names the columns; every candidate is an item.

    The gold flags those that are right. A system returns the candidates that it gives a score, and its scores may stand
    in a column of the gold's own file. The answer to a candidate is `true`, or there is none.

    Attributes:
        item: The columns that together name a candidate; its key is their cells with a blank between them.
        gold: The column of the gold that flags the right candidates.
        true: What this flag is where a candidate is right.
        false: What it is where a candidate is not.
        score: The column of a submission that holds its scores.
        order: `descending` if the best candidate has the highest score, else `ascending`; the score that is kept is
            then its negative, so that higher is better everywhere.
        unscored: What stands for the score of a candidate that the system does not return.
        attributes: Columns of the gold that are attributes of the candidate.
        separator: Between columns: `tab`, `comma` or `semicolon` (with double quotes as in RFC 4180), or `whitespace`.

    Blank lines are passed over, and so are all other columns.
    """

    name = "candidates"
    forms = ("separator",)
    gives_columns = True
    lines_per_item = ONE_ROW

    item: tuple[str, ...]
    gold: str = "gold"
    true: tuple[str, ...] = ("1", "true", "True", "TRUE")
    false: tuple[str, ...] = ("0", "false", "False", "FALSE")
    score: str | None = None
    order: Literal["descending", "ascending"] = "descending"
    unscored: tuple[str, ...] = ("",)
    attributes: tuple[str, ...] = ()
    separator: Separator = "tab"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.item or len(set(self.item)) < len(self.item):
            raise InputError("option 'item' of candidates must name one or more columns, each once")
        if not self.true or not self.false:
            raise InputError("options 'true' and 'false' of candidates must name one flag or more")
        if both := sorted(set(self.true) & set(self.false)):
            raise InputError(f"options 'true' and 'false' of candidates both have {both[0]!r}")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read which candidates are right, and their attributes."""
        document = documents["gold"]
        if (table := self._at_once(document)) is not None and (items := self._items(table)) is not None:
            return items
        items = []
        for line, key, (flag, *attributes) in self._rows(document, (self.gold, *self.attributes)):
            if flag not in (*self.true, *self.false):
                document.refuse(f"{self.gold!r} is {flag!r}; expected {' or '.join(map(repr, self.true))}, or "
                                f"{' or '.join(map(repr, self.false))} (options 'true' and 'false')", line, key)
                continue
            gold = AnswerSet((Response(ACCEPTED),) if flag in self.true else ())
            items.append(Item(key, gold, dict(zip(self.attributes, attributes, strict=True)), line))
        return items

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's scores; the option `score` must say where they are."""
        if self.score is None:
            raise document.error("a submission of candidates needs the option 'score', the column of its scores")
        if (table := self._at_once(document)) is not None and self.score in table.numbers:
            numbers = table.numbers[self.score]
            scores = (-numbers if self.order == "ascending" else numbers) + 0.0  # -0.0 is 0.0
            return CandidateColumns(table.rows, np.where(np.isnan(scores), np.inf, scores), key=ACCEPTED)
        answers = []
        for line, key, (cell,) in self._rows(document, (self.score,)):
            if cell in self.unscored:
                answers.append(Answer(key, AnswerSet(), line))
                continue
            score = as_number(cell, text=True)
            if not math.isfinite(score):
                document.refuse(f"{self.score!r} is {cell!r}; expected a finite number, or what option 'unscored' "
                                "names", line, key)
                continue
            kept = (-score if self.order == "ascending" else score) + 0.0  # -0.0 is 0.0
            answers.append(Answer(key, AnswerSet((Response(ACCEPTED, score=kept),)), line))
        return answers

    def _at_once(self, document: Document) -> Table | None:
        """All columns of a file in which nothing is wrong, for all systems in it; of others None."""
        if not all(map(str.isprintable, self.unscored)):
            return None
        return read_at_once(document, Layout("delimited", self.separator, (), None, self.item,
                                             (self.gold, *self.attributes), self.unscored))

    def _items(self, table: Table) -> list[Item] | None:
        """The candidates of a table that was read at once, where all have a flag that is known."""
        gold = {flag: AnswerSet((Response(ACCEPTED),)) for flag in self.true} | dict.fromkeys(self.false, AnswerSet())
        flags = table.attributes.get(self.gold)
        if flags is None or not gold.keys() >= set(flags):
            return None
        return table.items(self.attributes, map(gold.__getitem__, flags))

    def _rows(self, document: Document, wanted: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
        """Give every candidate's line, key and wanted cells."""
        names, at = (*self.item, *wanted), list[int]()
        for line, columns, cells in delimited_rows(
                document, Written(self.separator), (),
                header=lambda cells, line: read_header(cells, names, document, line),
                wrong=lambda cells, columns: (f"{len(cells)} cells where the header names {len(columns)} "
                                              f"(separator {self.separator})")):
            at = at or [columns.index(name) for name in names]
            parts, row = [cells[n] for n in at[:len(self.item)]], [cells[n] for n in at[len(self.item):]]
            key, wrong = " ".join(parts) if all(parts) else "", ""
            if not key:
                wrong = "a cell of the candidate's name is empty"
            elif not (key + "".join(row)).isprintable():
                wrong = invisible(key + "".join(row))
            if wrong:
                document.refuse(wrong, line, key or None)
            else:
                yield line, key, row
        if not at:
            document.report_empty("candidate")
