"""Reader of relevance judgments (qrels) and runs of TREC.

Queries are items, and ranked documents are their answers.

    query iteration document relevance          a line of the judgments; the iteration is not used
    query Q0 document rank score tag            a line of a run; Q0 and the rank are not used

A run may begin with comments (lines that start with #), as in trec_eval 10. Comments may contain metadata in the form
of ir_metadata (Breuer, Keller and Schaer 2022): YAML between the lines `# ir_metadata.start` and `# ir_metadata.end`.

Other tasks have other columns, or one JSON object for the whole file: `{"query": {"document": 0.5}}`. In a run the
object may also list the documents in their order, `{"query": ["first", "second"]}`, with the scores 1, 1/2, 1/3 and so
on.

Runs often have more than 10^5 lines. The reader therefore reads and checks whole columns of a block of lines, and reads
only blocks with faults line by line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, repeat, takewhile
from operator import ne
from typing import Any, Generic, Literal, TypeVar

from registry.errors import InputError, counted
from registry.items import Answer, Item, Response
from registry.readers.base import Reader
from registry.readers.parsing.delimited import FEW_CELLS, split_cells, split_columns
from registry.readers.parsing.document import Document, Problems
from registry.readers.parsing.json_values import read_json_members
from registry.readers.tables import shorten, to_number
from registry.values import TERSE

HIGHEST = 1000  # a relevance; trec_eval counts how many documents there are of each
_START, _END = "ir_metadata.start", "ir_metadata.end"
RELEVANT = 1  # from this relevance on a document is one of the gold's answers

N = TypeVar("N", int, float)
_JUDGMENTS = ("query", "iteration", "document", "relevance")
_RUN = ("query", "Q0", "document", "rank", "score", "tag")


class Trec(Reader):
    """Judgments and runs in the format of trec_eval, separated by blanks.

    This file format is for document retrieval: judgments are the gold, and a run is a submission. The documents of a
    query are ordered by their scores. Documents with equal scores are in the reverse order of their names. The rank in
    the file is ignored. Every line of a run must have the same tag. Comments (#) at the beginning are ignored.

    Attributes:
        judgments: Columns of the judgments: `query`, `document`, `relevance`, and others that are not used.
        run: Columns of a run: `query`, `document`, `score`, optionally `tag`, and others that are not used.
        syntax: `delimited`, or `json`: an object with a member for each query. The member is an object with the number
            of each document; in runs it may be a list of documents, with the best document first.
    """

    name = "trec"
    gives = "ranking"
    absent = "this query has no result"

    judgments: tuple[str, ...] = field(default=_JUDGMENTS, kw_only=True, metadata=TERSE)
    run: tuple[str, ...] = field(default=_RUN, kw_only=True, metadata=TERSE)
    syntax: Literal["delimited", "json"] = field(default="delimited", kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, names, number in (("judgments", self.judgments, "relevance"), ("run", self.run, "score")):
            for name in ("query", "document", number, *names):
                if names.count(name) != 1:
                    raise InputError(f"option {option!r} of trec is {', '.join(names)}; name the column {name!r} "
                                     "exactly once")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        return [Item(query, judged, {}, line) for query, (line, judged) in
                self._read(documents["gold"], _make_qrel_format(self.judgments)).items()]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(query, ranked, line) for query, (line, ranked) in
                self._read(document, _make_run_format(self.run)).items()]

    def _read(self, document: Document, format_: _Format[N]) -> ByQuery[N]:
        return _read_object(document, format_) if self.syntax == "json" else _read_lines(document, format_)

    def content(self, value: Any) -> Any:
        return [[name, value[name]] for name in sorted(value)]

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return the documents of a query: relevant ones of the gold, or all of a run.

        In a run, each document has its score.
        """
        return [Response(name, "", None if isinstance(number, int) else number) for name, number in value.items()
                if not isinstance(number, int) or number >= RELEVANT]

    def answer_names(self, value: Any) -> tuple[Sequence[tuple[str, str]], Sequence[float | None]]:
        return list(zip(value, repeat(""), strict=False)), list(value.values())


ByQuery = dict[str, tuple[int, dict[str, N]]]  # of every query its first line, and its documents with their numbers


@dataclass(frozen=True)
class _Format(Generic[N]):
    """Format of a line in a file of judgments or in a run.

    Attributes:
        names: Names of the columns.
        number: Name of the column with the number: `relevance` or `score`.
        characters: Characters that may occur in the number.
        read: Function that converts the number from text.
        fits: Function that returns True for valid numbers.
        expected: Description of valid numbers, for errors.
    """

    names: tuple[str, ...]
    number: str
    characters: bytes
    read: Callable[[str | float], N]
    fits: Callable[[N], bool]
    expected: str

    @cached_property
    def places(self) -> tuple[int, int, int]:
        query, document, number = (self.names.index(name) for name in ("query", "document", self.number))
        return query, document, number

    def read_columns(self, block: str, tag: str) -> tuple[list[str], list[str], list[N]] | None:
        """Parse lines to three columns: queries, documents and numbers.

        The numbers are scores or relevances. The result is None if a line has a fault.

        Args:
            block: Lines of the file.
            tag: Tag that every line must have; empty if there is none.
        """
        if (columns := split_columns(block, len(self.names), "whitespace")) is None:
            return None
        queries, documents, texts = (columns[n] for n in self.places)
        if tag and (tags := columns[self.names.index("tag")]).count(tag) != len(tags):
            return None
        try:
            numbers = list(map(self.read, texts))
        except ValueError:
            return None
        good = (all(map(self.fits, numbers)) and not "".join(texts).encode().translate(None, self.characters)
                and "".join(queries).isprintable() and "".join(documents).isprintable())
        return (queries, documents, numbers) if good else None

    def find_fault(self, cells: Sequence[str], tag: str) -> str | None:
        if len(cells) != len(self.names):
            return f"the line has {counted(len(cells), 'column')}; expected {len(self.names)} ({', '.join(self.names)})"
        *texts, number = self.places
        for n in texts:
            if not cells[n].isprintable():
                return f"the {self.names[n]} has a control or invisible character; remove it"
        cell = cells[number]
        try:
            good = self.fits(self.read(cell)) and not cell.encode().translate(None, self.characters)
        except ValueError:
            good = False
        if not good:
            return f"the {self.number} is {cell[:60]!r}; expected {self.expected}"
        if tag and (other_tag := cells[self.names.index("tag")]) != tag:
            return f"the tag is {other_tag[:60]!r}, but {tag!r} in earlier lines; write only one run into a file"
        return None


def _make_qrel_format(names: tuple[str, ...]) -> _Format[int]:
    return _Format(names, "relevance", b"0123456789+-", int, lambda grade: -HIGHEST <= grade <= HIGHEST,
                   f"a whole number from -{HIGHEST} to {HIGHEST}")


def _make_run_format(names: tuple[str, ...]) -> _Format[float]:
    return _Format(names, "score", b"0123456789+-.eE", float, math.isfinite, "a finite number")


def _to_number(cell: Any, format_: _Format[N]) -> N | None:
    if not math.isfinite(value := to_number(cell, text=False)) or (format_.read is int and not isinstance(cell, int)):
        return None
    number = format_.read(value)
    return number if format_.fits(number) else None


def _read_object(document: Document, format_: _Format[N]) -> ByQuery[N]:
    rankings: ByQuery[N] = {}
    for line, query, member in read_json_members(document):
        values = _score_ranking(member, document, line, query) if format_.number == "score" else member
        if not query or not query.isprintable() or not isinstance(values, dict):
            document.refuse('an entry is not a query with its documents; write {"query": {"document": 0.5}}', line)
            continue
        numbers = {name: number for name, cell in values.items()
                if name and name.isprintable() and (number := _to_number(cell, format_)) is not None}
        if lacking := values.keys() - numbers.keys():
            name = min(lacking)
            document.refuse(f"the {format_.number} of document {name[:60]!r} is {shorten(values[name])}; expected "
                            f"{format_.expected}", line, query)
        if query in rankings:
            document.refuse("occurs twice; keep one", line, query, category="duplicate")
        rankings.setdefault(query, (line, numbers))
    if not rankings:
        document.report_empty("query")
    return rankings


def _score_ranking(member: Any, document: Document, line: int, query: str | None) -> Any:
    """Give documents in a ranked list the scores 1, 1/2, 1/3 and so on.

    For example, `["d7", "d2"]` becomes `{"d7": 1, "d2": 0.5}`. Values other than lists of names are returned unchanged.

    Args:
        member: Value of a query in a JSON file.
        document: The file, for errors.
        line: Line number, for errors.
        query: Name of the query, for errors.
    """
    if not isinstance(member, list) or not all(type(name) in (str, int) for name in member):
        return member
    scores: dict[str, float] = {}
    for rank, name in enumerate(map(str, member), 1):
        if scores.setdefault(name, 1 / rank) != 1 / rank:
            document.refuse(f"document {name[:60]!r} occurs twice; keep one", line, query, category="duplicate")
    return scores


def read_metadata(document: Document) -> list[str]:
    """Return the lines of YAML metadata (ir_metadata) in the first comments of a run.

    The list is empty if there is no metadata. The YAML is not parsed.
    """
    header = [line[1:].removeprefix(" ") for _, line in takewhile(
        lambda numbered: _is_comment(numbered[1], _make_run_format(_RUN)), document.lines())]
    stripped = [line.strip() for line in header]
    if _START not in stripped:
        return []
    start = stripped.index(_START) + 1
    end = stripped.index(_END, start) if _END in stripped[start:] else len(header)
    return [line.rstrip() for line in header[start:end]]


def _is_comment(line: str, format_: _Format[N]) -> bool:
    cells = split_cells(line, "whitespace", FEW_CELLS)
    return line.startswith("#") and (cells[0] == "#" or format_.find_fault(cells, "") is not None)


def _skip_comments(number: int, block: str, format_: _Format[N]) -> tuple[int, str]:
    lines = block.split("\n") if block.startswith("#") else []
    n = sum(1 for _ in takewhile(lambda line: _is_comment(line, format_), lines))
    return (number + n, "\n".join(lines[n:])) if n else (number, block)


def _read_lines(document: Document, format_: _Format[N]) -> ByQuery[N]:
    rankings: ByQuery[N] = {}
    tag = ""
    for number, block in document.blocks():
        if format_.number == "score" and not (tag or rankings):
            number, block = _skip_comments(number, block, format_)
        if format_.number == "score" and "tag" in format_.names and not tag:
            rows = (split_cells(line, "whitespace", FEW_CELLS) for line in block.split("\n"))
            tag = next((row[format_.names.index("tag")] for row in rows if len(row) == len(format_.names)), "")
        lines: Sequence[int] = range(number, number + block.count("\n") + 1)
        if (columns := format_.read_columns(block, tag)) is None:
            lines, columns = _read_one_by_one(document, format_, zip(lines, block.split("\n"), strict=True), tag)
        queries, names, numbers = columns
        for start, end in _find_stretches(queries):
            _, documents = rankings.setdefault(queries[start], (lines[start], {}))
            n_before = len(documents)
            documents.update(zip(names[start:end], numbers[start:end], strict=True))
            if len(documents) < n_before + end - start:
                _report_duplicates(document, format_, queries[start])
    if not rankings:
        document.report_empty("query")
    return rankings


def _find_stretches(queries: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sequence of equal neighbours in a list.

    For example, `["a", "a", "b"]` yields (0, 2) and (2, 3).
    """
    starts = [0, *compress(range(1, len(queries)), map(ne, queries[:-1], queries[1:]))] if queries else []
    return zip(starts, [*starts[1:], len(queries)], strict=False)


def _read_one_by_one(document: Document, format_: _Format[N], numbered: Iterable[tuple[int, str]],
                     tag: str) -> tuple[list[int], tuple[list[str], list[str], list[N]]]:
    """Parse lines one by one: return valid lines as columns, and report the others.

    Blank lines are ignored.

    Args:
        document: The file, to which faults are reported.
        format_: Format of a line.
        numbered: Line numbers and lines.
        tag: Tag that every line must have; empty if there is none.

    Returns:
        Line numbers; and the columns of queries, documents, and scores or relevances.
    """
    rows: list[tuple[int, str, str, N]] = []
    for number, line in numbered:
        cells = split_cells(line, "whitespace", FEW_CELLS)
        if not cells:
            continue
        if fault := format_.find_fault(cells, tag):
            place = format_.places[0]
            query = cells[place] if len(cells) == len(format_.names) and cells[place].isprintable() else None
            document.refuse(fault, number, query)
        else:
            query, name, text = (cells[place] for place in format_.places)
            rows.append((number, query, name, format_.read(text)))
    columns = [row[1] for row in rows], [row[2] for row in rows], [row[3] for row in rows]
    return [row[0] for row in rows], columns


def _report_duplicates(document: Document, format_: _Format[N], query: str) -> None:
    first: dict[str, int] = {}
    query_index, document_index, _ = format_.places
    for number, line in document.collect(Problems(0, stops=False)).lines():
        cells = split_cells(line, "whitespace", FEW_CELLS)
        if len(cells) == len(format_.names) and cells[query_index] == query and first.setdefault(
                name := cells[document_index], number) != number:
            document.refuse(f"document {name!r} occurs twice, first in line {first[name]}; keep one", number, query,
                            category="duplicate")
