"""Judgments and runs of other columns than TREC's: BEIR's three under a header, MS MARCO's, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from shlex import quote
from typing import Any, NamedTuple

from registry.errors import InputError, counted
from registry.guessing.guess import OPEN, SURE, Asked, Given, Guess, reworded
from registry.guessing.looks import is_number, text_lines
from registry.guessing.records import members_of, records
from registry.guessing.trial import Trial
from registry.readers import Document, Trec

_QUERY = re.compile(r"(query|topic)([-_ ]?id)?|qid", re.I)
_JSON = {"syntax": "json"}


class _Form(NamedTuple):
    """How a file is written.

    Attributes:
        width: In how many columns; 0: as an object of queries in JSON.
        header: Whether below a header.
        numbers: The last ones of rows of three columns; none of other files.
        has_ranks: Whether the last of three columns counts the documents of every query from 1.
    """

    width: int
    header: bool = False
    numbers: frozenset[str] = frozenset()
    has_ranks: bool = False

    def options(self, of: str, number: str) -> dict[str, Any]:
        """The options of the reader, whose columns `of` names."""
        if not self.width:
            return dict(_JSON)
        return {**({of: ["query", "document", number]} if self.width == _THREE else {}),
                **({"skip": 1} if self.header else {})}


_THREE, _JUDGMENTS, _RUN = 3, 4, 6  # columns: of either, of TREC's judgments, of a run


def rankings(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Iterator[Guess]:
    """Guess the columns of judgments and runs that are not both TREC's own.

    Raises:
        InputError: Judgments that are surely some, and have a fault; or a run of ranks instead of scores, or an object
            for each query.
    """
    right = _form(gold, _JUDGMENTS)
    if not asked.allows("trec", "ranking") or right is None:
        return
    forms = [_form(given.document, _RUN) for given in systems]
    found = [form for form in forms if form is not None]
    if len(found) < len(forms) and asked.kind is None and (known := next((error for given, form in zip(
            systems, forms, strict=True) if form is None and (error := _objects(given.document, gold))), None)):
        raise known
    if len(found) < len(forms) or (right.width == _JUDGMENTS and all(form.width == _RUN for form in found)):
        return
    is_sure = right.header or right.width == _JUDGMENTS or all(form.width == _RUN for form in found) or (
        not right.width and not any(form.width for form in found))
    if not is_sure and any(form.width == _THREE and all(float(number).is_integer() for number in form.numbers)
                           for form in found):
        return  # places in a text, say
    ranks = next((given for given, form in zip(systems, found, strict=True) if form.has_ranks), None)
    if ranks is not None:
        raise InputError(f"its last column counts from 1 in each query, as ranks do, and {gold.path} has judgments: "
                         "a run needs scores, of which more is better; write 1/rank, say", path=ranks.document.path)
    reader = Trec.build(right.options("judgments", "relevance"))
    items = trial.items(gold, reader)
    if isinstance(items, InputError):
        if is_sure and right.width:
            raise reworded(items, f"{items.message} (read as trec)")
        return
    chosen = [trial.fitting(Guess(gold, reader, (), ()), items, given, [
        replace(Trec.build({**form.options("run", "score"), **more}), judgments=reader.judgments) for more in _MORE])
        for given, form in zip(systems, found, strict=True)]
    is_graded = right.width == _THREE and all(
        form.width == _THREE and form.numbers <= right.numbers for form in found)  # or labels of pairs
    yield Guess(gold, reader, tuple(chosen), (
        f"{gold.path}: judgments, {_written(right)}: {counted(len(items), 'query', 'queries')}",
        f"runs: {', '.join(dict.fromkeys(map(_written, found)))}"), SURE if is_sure and not is_graded else OPEN,
        "queries, documents, and their relevance or scores", answer="--as trec")


_MORE: tuple[Mapping[str, Any], ...] = ({}, {"other_queries": "ignore"})


def _written(form: _Form) -> str:
    return f"{form.width} columns{' below a header' if form.header else ''}" if form.width else "an object in JSON"


def _form(document: Document, usual: int) -> _Form | None:
    """How judgments or a run are written; None where a file is neither, or each query has one document alone."""
    rows = [line.split() for _, line in text_lines(document) if line.strip() and not line.startswith("#")]
    if rows and rows[0][0].startswith("{"):
        return _Form(0) if _is_object(document) or (usual == _RUN and _has_lists(document)) else None
    header = len(rows) > 1 and _QUERY.fullmatch(rows[0][0]) is not None and not is_number(rows[0][-1])
    rows = rows[header:]
    widths = {len(row) for row in rows}
    if widths == {usual}:
        number = 3 if usual == _JUDGMENTS else 4
        return _Form(usual, header) if all(is_number(row[number]) for row in rows) else None
    if widths != {_THREE} or not all(is_number(row[2]) for row in rows) or (
            not header and len({row[0] for row in rows}) == len(rows)):
        return None
    return _Form(_THREE, header, frozenset(row[2] for row in rows), all(
        [row[2] for row in of] == [str(n + 1) for n in range(len(of))] for of in (
            list(group) for _, group in groupby(rows, key=lambda row: row[0]))))


def _is_object(document: Document) -> bool:
    """Whether a file is an object of queries, each an object of its own documents' numbers."""
    queries = [value for _, value in members_of(document) or ()]
    if not queries or not all(isinstance(query, dict) and query for query in queries):
        return False
    names = {name for query in queries for name in query}
    return len(names) > max(map(len, queries)) and all(  # else they are columns
        isinstance(number, int | float) and not isinstance(number, bool) for of in queries for number in of.values())


def _has_lists(document: Document) -> bool:
    """Whether a file is an object of queries, each the list of its documents."""
    queries = [value for name, value in members_of(document) or () if name is not None]
    return bool(queries) and all(isinstance(query, list) and query and all(type(name) in (str, int) for name in query)
                                 for query in queries)


def _objects(document: Document, gold: Document) -> InputError | None:
    """Say how a run is written that has an object for each query of the gold, and the list of its documents within."""
    found = records(document)
    queries = {line.split()[0] for _, line in text_lines(gold) if line.strip()}
    for row in () if found is None else found.rows[:1]:
        lists = [name for name, value in row.items() if isinstance(value, list) and value]
        named = [name for name, value in row.items() if type(value) in (str, int) and str(value) in queries]
        if len(lists) == len(named) == 1 and (documents := _documents(row[lists[0]])):
            program = f"map({{(.[{json.dumps(named[0])}]|tostring): (.[{json.dumps(lists[0])}] | {documents})}}) | add"
            each = "-s " if found is not None and found.form["syntax"] == "jsonl" else ""
            return InputError("has an object for each query, and runs in JSON are read that are one object with all "
                              f"queries. Write it so, as `jq {each}{quote(program)} FILE` does", path=document.path)
    return None


def _documents(listed: list[Any]) -> str:
    """A program for jq that makes of a list its documents, with their scores if it has some; none of another list."""
    first = listed[0]
    if type(first) in (str, int):
        return "map(tostring)"
    if not isinstance(first, dict):
        return ""
    name = next((key for key, value in first.items() if isinstance(value, str)), None) or next(
        (key for key, value in first.items() if type(value) is int and key.casefold().endswith("id")), None)
    score = next((key for key, value in first.items() if isinstance(value, float)), None) or next(
        (key for key, value in first.items() if type(value) is int and key != name and key.casefold() == "score"), None)
    if name is None:
        return ""
    of = f".[{json.dumps(name)}]|tostring"
    return f"map({of})" if score is None else f"map({{({of}): .[{json.dumps(score)}]}}) | add // {{}}"
