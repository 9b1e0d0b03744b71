"""Readers of sets of answers per item.

The formats are JSON Lines, tables with a column of 0 and 1 for each label, and tables of candidates with scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from registry.columns import CandidateColumns
from registry.errors import InputError, counted, suggest
from registry.items import Answer, AnswerSet, Item, Response
from registry.readers.base import AnswerSetReader, NamedSetReader
from registry.readers.parsing.delimited import Separator, TextFormat, read_header
from registry.readers.parsing.document import ONE_ROW, Document, describe_invisible
from registry.readers.parsing.fast_tables import Layout, Table, read_table
from registry.readers.parsing.json_values import parse_object
from registry.readers.tables import Row, TableReader, read_delimited_rows, shorten, to_number

_KEYS = ("item", "answers", "attributes")
_ANSWER_KEYS = ("key", "type", "score")


class Responses(NamedSetReader):
    """One JSON object per item: `{"item": "s1", "answers": [...]}`.

    This file format is for tasks in which an item has a set of answers, such as relations. An answer is a text, which
    is its key, or an object such as `{"key": "3-7", "type": "causes", "score": 0.9}`. The type is optional. Only
    submissions have scores, which are optional; a higher score is better. No two answers to an item have the same key
    and type. An empty list is a valid answer. In the gold, the key `attributes` has attributes of the item, such as
    `{"document": "d1"}`; their values are text. Blank lines are ignored. The name of an answer is its type, or its key
    if it has no type.
    """

    name = "responses"
    lines_per_item = ONE_ROW

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document = documents["gold"]
        items = [Item(key, answers, attributes, line) for line, key, answers, attributes in _read_objects(document)]
        for item in items:
            if any(response.score is not None for response in item.gold.responses):
                raise document.error("a gold answer has a score, but only answers of submissions have scores; remove "
                                     "it",
                                     item.line, item.key)
        return items

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(key, answers, line) for line, key, answers, _ in _read_objects(document)]


def _read_objects(document: Document) -> Iterator[tuple[int, str, AnswerSet, dict[str, str]]]:
    for number, line in document.lines():
        if not line.strip(" \t"):
            continue
        try:
            entry = _read_value(line, number, document)
        except InputError as error:
            document.report(error)
        else:
            yield entry


def _read_value(line: str, number: int, document: Document) -> tuple[int, str, AnswerSet, dict[str, str]]:
    entry = parse_object(line, document.path, number)
    try:
        _check_keys(entry, _KEYS, required=_KEYS[:2])
        return (number, _to_text(entry["item"], "item"), _parse_answer_set(entry["answers"]),
                _parse_attributes(entry.get("attributes", {})))
    except ValueError as error:
        item = entry.get("item")
        raise document.error(str(error), number, item if isinstance(item, str) else None) from None


def _parse_answer_set(answers: Any) -> AnswerSet:
    if not isinstance(answers, list):
        raise ValueError(f"'answers' is {_shorten(answers)}; expected a list")
    responses = sorted(map(_parse_response, answers), key=lambda response: response[:2])
    for first, second in pairwise(responses):
        if first[:2] == second[:2]:
            type_note = f" of type {first.type!r}" if first.type else ""
            raise ValueError(f"answer {first.key!r}{type_note} occurs twice; keep one")
    return AnswerSet(tuple(responses))


def _parse_response(answer: Any) -> Response:
    if isinstance(answer, str):
        return Response(_to_text(answer, "key"))
    if not isinstance(answer, dict):
        raise ValueError(f"an answer is {_shorten(answer)}; expected text, or an object with 'key'")
    _check_keys(answer, _ANSWER_KEYS, required=_ANSWER_KEYS[:1])
    type_, score = answer.get("type", ""), answer.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)
                              or not math.isfinite(score := _to_score(score))):
        raise ValueError(f"'score' is {_shorten(score)}; expected a finite number")
    return Response(_to_text(answer["key"], "key"), type_ if type_ == "" else _to_text(type_, "type"), score)


def _to_score(number: float) -> float:
    try:
        return float(number) + 0.0  # -0.0 is 0.0
    except OverflowError:
        return math.inf


def _parse_attributes(attributes: Any) -> dict[str, str]:
    if not isinstance(attributes, dict):
        raise ValueError(f"'attributes' is {_shorten(attributes)}; expected an object whose values are text")
    return {_to_text(name, "attributes"): _to_text(value, name) for name, value in attributes.items()}


def _check_keys(entry: Mapping[str, Any], allowed: tuple[str, ...], required: tuple[str, ...]) -> None:
    if unknown := [key for key in entry if key not in allowed]:
        raise ValueError(f"unknown key {unknown[0]!r}; {suggest(unknown[0], allowed)}")
    if lacking := [key for key in required if key not in entry]:
        raise ValueError(f"the key {lacking[0]!r} is missing; add it")


def _to_text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key!r} is {_shorten(value)}; expected text")
    if not value:
        raise ValueError(f"{key!r} is empty; write text")
    if not value.isprintable():
        raise ValueError(f"{key!r} has a control or invisible character; remove it")
    return value


def _shorten(value: Any) -> str:
    return json.dumps(value)[:60]


class Multilabel(TableReader, NamedSetReader):
    """Row per item and column per label: 1 if the item has the label, else 0.

    This file format is for multi-label classification. The values true and false are also valid. An item may have no
    label.

    Attributes:
        labels: Columns, whose names are the labels.
    """

    name: ClassVar[str] = "multilabel"
    absent: ClassVar[str] = "it has no row"

    labels: tuple[str, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unscored != ("",):
            raise InputError("option 'unscored' does not apply to multilabel, where every cell is 1 or 0; remove the "
                             "option")
        for label in self.labels:
            if not label or not label.isprintable() or self.labels.count(label) > 1 or label in self.item:
                raise InputError(f"option 'labels' of multilabel has {label!r}, which is empty, repeated, invisible, "
                                 "or the item's column; remove or rename it")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        return [Item(row.key, answers, row.attributes, row.line)
                for row, answers in self._read_entries(documents["gold"], self.attributes)]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(row.key, answers, row.line) for row, answers in self._read_entries(document, ())]

    def list_declared_names(self) -> tuple[str, ...]:
        return self.labels

    def _read_entries(self, document: Document, attributes: Sequence[str]) -> Iterator[tuple[Row, AnswerSet]]:
        responses = {label: Response(label) for label in sorted(self.labels)}

        def parse_answers(row: Row) -> AnswerSet:
            is_given = {label: self._is_given(cell, label, row)
                        for label, cell in zip(self.labels, row.cells, strict=True)}
            return AnswerSet(tuple(response for label, response in responses.items() if is_given[label]))

        return self.parse_rows(document, self.labels, parse_answers, attributes)

    def _is_given(self, cell: Any, label: str, row: Row) -> bool:
        number = float(cell) if isinstance(cell, bool) else to_number(cell, text=self.syntax == "delimited")
        truth = {"true": 1.0, "false": 0.0}.get(cell.casefold(), number) if isinstance(cell, str) else number
        if truth not in (0, 1):
            raise row.error(f"{label!r} is {shorten(cell)}; expected 1 if the item has this label, else 0")
        return truth == 1


ACCEPTED = "true"  # the only possible answer to a candidate


class Candidates(AnswerSetReader):
    """One candidate per line, with a header; candidates are the items.

    This file format is for tasks that extract correct candidates from a list, such as collocations. The gold marks
    correct candidates. A system returns the candidates to which it assigns a score; these scores may be a column of the
    gold file. The answer to a returned candidate is `true`; other candidates have no answer. The header names the
    columns. Blank lines and other columns are ignored.

    Attributes:
        item: Columns that together name a candidate; the name is their cells, separated by blanks.
        gold: Column of the gold that marks correct candidates.
        true: Cell values that mark correct candidates.
        false: Cell values that mark incorrect candidates.
        score: Column of a submission with its scores.
        order: `descending` if the best candidate has the highest score, `ascending` if it has the lowest. With
            `ascending` the reader returns negative scores, so that higher scores are always better.
        unscored: Cell values of candidates that the system does not return.
        attributes: Columns of the gold that are attributes of the candidate.
        separator: Separator of columns: `tab`, `comma` or `semicolon` (with double quotes as in RFC 4180), or
            `whitespace`.
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
            raise InputError("options 'true' and 'false' of candidates must each list at least one value")
        if both := sorted(set(self.true) & set(self.false)):
            raise InputError(f"options 'true' and 'false' of candidates both have {both[0]!r}; remove it from one")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document = documents["gold"]
        if (table := self._read_fast(document)) is not None and (items := self._make_items(table)) is not None:
            return items
        items = []
        for line, key, (flag, *attributes) in self._read_rows(document, (self.gold, *self.attributes)):
            if flag not in (*self.true, *self.false):
                document.refuse(f"{self.gold!r} is {flag!r}; expected {' or '.join(map(repr, self.true))}, or "
                                f"{' or '.join(map(repr, self.false))} (options 'true' and 'false')", line, key)
                continue
            gold = AnswerSet((Response(ACCEPTED),) if flag in self.true else ())
            items.append(Item(key, gold, dict(zip(self.attributes, attributes, strict=True)), line))
        return items

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's scores of candidates.

        Raises:
            InputError: The option `score` is not set, or the file is not valid.
        """
        if self.score is None:
            raise document.error("a submission of candidates needs scores; name their column with the option 'score'")
        if (table := self._read_fast(document)) is not None and self.score in table.numbers:
            numbers = table.numbers[self.score]
            scores = (-numbers if self.order == "ascending" else numbers) + 0.0  # -0.0 is 0.0
            return CandidateColumns(table.rows, np.where(np.isnan(scores), np.inf, scores), key=ACCEPTED)
        answers = []
        for line, key, (cell,) in self._read_rows(document, (self.score,)):
            if cell in self.unscored:
                answers.append(Answer(key, AnswerSet(), line))
                continue
            score = to_number(cell, text=True)
            if not math.isfinite(score):
                document.refuse(f"{self.score!r} is {cell!r}; expected a finite number, or what option 'unscored' "
                                "names", line, key)
                continue
            stored_score = (-score if self.order == "ascending" else score) + 0.0  # -0.0 is 0.0
            answers.append(Answer(key, AnswerSet((Response(ACCEPTED, score=stored_score),)), line))
        return answers

    def _read_fast(self, document: Document) -> Table | None:
        if not all(map(str.isprintable, self.unscored)):
            return None
        return read_table(document, Layout("delimited", self.separator, (), None, self.item,
                                           (self.gold, *self.attributes), self.unscored))

    def _make_items(self, table: Table) -> list[Item] | None:
        """Make gold items from a table of candidate answers.

        Returns:
            The items; None if the gold column does not mark each candidate as correct or incorrect.
        """
        gold = {flag: AnswerSet((Response(ACCEPTED),)) for flag in self.true} | dict.fromkeys(self.false, AnswerSet())
        flags = table.attributes.get(self.gold)
        if flags is None or not gold.keys() >= set(flags):
            return None
        return table.make_items(self.attributes, map(gold.__getitem__, flags))

    def _read_rows(self, document: Document, requested: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
        names, indexes = (*self.item, *requested), list[int]()
        for line, columns, cells in read_delimited_rows(
                document, TextFormat(self.separator), (),
                parse_header=lambda cells, line: read_header(cells, names, document, line),
                describe_fault=lambda cells, columns: (
                    f"the line has {counted(len(cells), 'cell')}, but the header has {len(columns)}; check the "
                    f"separator, which is {self.separator}")):
            indexes = indexes or [columns.index(name) for name in names]
            parts, row = [cells[n] for n in indexes[:len(self.item)]], [cells[n] for n in indexes[len(self.item):]]
            key, fault = " ".join(parts) if all(parts) else "", ""
            if not key:
                fault = f"a cell of the candidate's name (option 'item': {', '.join(self.item)}) is empty; fill it"
            elif not (key + "".join(row)).isprintable():
                fault = f"the row has {describe_invisible(key + ''.join(row))}; remove it"
            if fault:
                document.refuse(fault, line, key or None)
            else:
                yield line, key, row
        if not indexes:
            document.report_empty("candidate")
