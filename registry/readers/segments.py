"""Readers of texts: one segment per line, n-best lists, and columns of tables.

A text may have several references. Texts without names must be in the order of the gold. `find_misplaced` checks
whether each text resembles its own reference, or its own source, more than those of other segments.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from registry.errors import InputError, counted
from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.parsing.document import ONE_ROW, Document
from registry.readers.tables import Row, TableReader, shorten, to_number, to_text

BLOCK = 25  # segments that are checked together; twice as many if only the source is available
OTHERS = (1, -1, 7, 13)  # distances of the other references with which a segment's own reference competes

_COMPARED = 2**14  # compared characters of a text, because hostile texts may have 2^24
_SHIFTS = {1: "; most resemble the next one, as if a line were missing above",
           -1: "; most resemble the previous one, as if a line had been added above"}


def find_misplaced(items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
    """Check whether a system's texts seem to be in another order than the gold.

    A correct text resembles its own reference (or source) more than those of other segments.

    Args:
        items: Items of the gold.
        answers: Answers of the system, which are numbered from 1.

    Returns:
        Line number and message; None if the order seems to be correct, or cannot be checked because there are few
        texts, or neither references nor source.
    """
    by_source = "gold" not in items[0].gold
    if by_source and "source" not in items[0].gold:
        return None
    nearest = _find_nearest(items, answers, by_source=by_source)
    size, enough = (2 * BLOCK, 1 / 3) if by_source else (BLOCK, 1 / 2)  # about 1/5 if shuffled
    if len(nearest) < size:
        return None
    starts = [*range(0, len(nearest) - size, size), max(0, len(nearest) - size)]  # the last ends with the file
    blocks = [nearest[start:start + size] for start in starts]
    weak = [block for block in blocks if sum(distance == 0 for _, distance in block) < enough * size]
    if not weak:
        return None
    line, likeliest = weak[0][0][0], Counter(distance for block in weak for _, distance in block).most_common(1)[0]
    shift = _SHIFTS.get(likeliest[0], "") if likeliest[1] > size * len(weak) / 2 else ""
    from_there = "" if len(weak) == len(blocks) else f" from about line {line} on"
    problem = "seem to be shifted" if shift else (
        f"may be {'shifted, ' if from_there else ''}shuffled, or may belong to other segments")
    share, side = ("a third", "source") if by_source else ("half", "reference")
    return line, (f"the lines {problem}{from_there}, because fewer than {share} of them resemble their own {side} more "
                  f"than the {side}s of other lines{shift}; correct the order, or set check_order = false")


def _find_nearest(items: Sequence[Item], answers: Sequence[Answer], *, by_source: bool) -> list[tuple[int, int]]:
    """Find for each answer the most similar of its own and four other references.

    With `by_source` answers are compared with sources instead. A translation resembles its source in length (Gale and
    Church 1993, "A program for aligning sentences in bilingual corpora") and in names, numbers and punctuation, which
    are not translated. Very short segments are left out.

    Returns:
        Line of the answer, and distance in segments to the most similar text; 0 if this is its own text.
    """
    texts = [item.gold["source" if by_source else "gold"] for item in items]
    grams = [_make_trigrams(text) for text in texts]
    ratio = sum(len(answer.value) for answer in answers) / sum(len(texts[int(answer.key) - 1]) for answer in answers)

    def likeness(answer_grams: frozenset[str], length: float, other: int) -> float:
        overlap = _compute_dice(answer_grams, grams[other])
        return 4 * overlap - abs(length - math.log(ratio * len(texts[other]) + 1)) if by_source else overlap

    nearest = []
    for answer in answers:
        position = int(answer.key) - 1
        answer_grams, length = _make_trigrams(answer.value), math.log(len(answer.value) + 1)
        rivals = {distance: other for distance in OTHERS
                  if grams[other := (position + distance) % len(grams)] != grams[position]}
        if rivals and len(grams[position]) > 8:  # very short segments resemble anything
            similarities = {distance: likeness(answer_grams, length, other) for distance, other in rivals.items()}
            best = max(similarities, key=similarities.__getitem__)
            nearest.append((answer.line, 0 if likeness(answer_grams, length, position) > similarities[best] else best))
    return nearest


def _make_trigrams(text: str) -> frozenset[str]:
    folded = text[:_COMPARED].casefold()
    return frozenset(folded[n:n + 3] for n in range(len(folded) - 2))


def _compute_dice(a: frozenset[str], b: frozenset[str]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


class Lines(SegmentReader):
    """One segment per line, identified by its line number from 1.

    This file format is for texts, such as translations. The gold value of a segment has its references by name (`gold`,
    and the `references` of the manifest) and its `source`, if the manifest names that file. A blank line is neither a
    reference nor an answer.

    Attributes:
        attributes: Names of the tab-separated columns in the test set's `attributes` file, such as domain and document.
            The file has one line per segment.
        check_order: True to reject files whose lines seem to be shuffled or shifted: too few segments resemble their
            own reference (or source, if there are no references) more than those of other segments.
    """

    name = "lines"
    lines_per_item = ONE_ROW
    absent = "its line is blank or missing"
    takes_more_files = True
    _distinct = ("attributes",)

    attributes: tuple[str, ...] = ("document",)
    check_order: bool = True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        references = {role.removeprefix("reference:"): document for role, document in documents.items()
                      if role != "attributes"}
        texts = {name: [line for _, line in document.lines()] for name, document in references.items()}
        n = len(texts["gold"])
        for name, lines in texts.items():
            if len(lines) != n:
                raise references[name].error(f"the file has {counted(len(lines), 'line')}, but the gold has {n}; write "
                                             "one line for each segment of the gold")
            if name == "source" and (blank := next((n for n, line in enumerate(lines, 1) if not line.strip()), None)):
                raise references[name].error("the source is blank; write its text", blank + self.skip, str(blank))
        attributes: list[dict[str, str]] = [{}] * n
        if "attributes" in documents:
            attributes = read_attributes(documents["attributes"], self.attributes, n)
        return [Item(str(index + 1), {name: lines[index] for name, lines in texts.items()}, attributes[index],
                     index + 1 + self.skip)
                for index in range(n)]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(str(number - self.skip), line, number) for number, line in document.lines() if line.strip()]

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        if not answers:
            return 1, "all lines of the file are blank; write one segment in each line"
        last = int(answers[-1].key)
        if last > len(items):
            return answers[-1].line, (f"the file has {counted(last, 'line')}, but the gold has {len(items)}; remove "
                                      "added lines, and line ends within a segment")
        return find_misplaced(items, answers) if self.check_order else None


def read_attributes(document: Document, names: Sequence[str], n: int) -> list[dict[str, str]]:
    """Read attributes, such as documents, from a file with one line per segment.

    Args:
        document: The file; columns are separated by tabs.
        names: Names of the columns.
        n: Expected number of segments.

    Raises:
        InputError: A line has another number of columns, or the file has another number of lines.
    """
    rows = []
    for number, line in document.lines():
        if (columns := line.count("\t") + 1) != len(names):
            raise document.error(f"the line has {counted(columns, 'column')}; expected {len(names)} "
                                 f"({', '.join(names)})", number)
        rows.append(dict(zip(names, line.split("\t"), strict=True)))
    if len(rows) != n:
        raise document.error(f"the file has {counted(len(rows), 'line')}, but the gold has {n}; write one line for "
                             "each segment of the gold")
    return rows


_SEPARATOR = "|||"
_WHOLE = re.compile(r"[0-9]{1,15}")


class NBest(SegmentReader):
    """Several candidates per segment, in submissions for a gold in format `lines`.

    This file format is for n-best lists. A line is `id ||| text ||| features ||| score`. One candidate of each segment
    is the answer.

    Attributes:
        first_id: Id of the first segment.
        pick: Selected candidate: the `first` of the list, or the candidate with the highest `score`; if several have
            this score, the first of them.
    """

    name = "nbest"
    absent = "its candidate is missing or blank"

    first_id: int = 0
    pick: Literal["first", "score"] = "first"

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        raise documents["gold"].error('an n-best list cannot be the gold, because it has no references; set format = '
                                      '"lines" for the gold, and "nbest" for submissions')

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read an n-best list, and return the selected candidate of each segment.

        The candidates of a segment must be on consecutive lines.
        """
        picked: dict[str, tuple[float, Answer]] = {}
        previous = None
        for line, key, text, score in self._read_candidates(document):
            if key in picked and key != previous:
                document.refuse("the candidates of this segment are not in consecutive lines; sort the "
                                "lines", line, key)
            if key not in picked or (self.pick == "score" and score > picked[key][0]):
                picked[key] = score, Answer(key, text, line)
            previous = key
        if not picked:
            document.report_empty("candidate")
        return [answer for _, answer in picked.values() if answer.value]

    def _read_candidates(self, document: Document) -> Iterator[tuple[int, str, str, float]]:
        for number, line in document.lines():
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.split(_SEPARATOR, 5)]
            if wrong := self._find_fault(cells):
                document.refuse(wrong, number)
                continue
            score = to_number(cells[3], text=True) if self.pick == "score" else 0.0
            yield number, str(int(cells[0]) - self.first_id + 1), cells[1], score

    def _find_fault(self, cells: list[str]) -> str:
        if not 2 <= len(cells) <= 5:  # the fifth part contains alignments
            return "the line is not a candidate; expected `id ||| text ||| features ||| score`"
        if not _WHOLE.fullmatch(cells[0]) or int(cells[0]) < self.first_id:
            return (f"the segment id is {cells[0][:40]!r}; expected a whole number, {self.first_id} (option "
                    "'first_id') or more")
        if self.pick == "score" and (len(cells) < 4 or math.isnan(to_number(cells[3], text=True))):
            return 'the candidate has no score, which pick = "score" needs; add a score'
        return ""


class Texts(TableReader, SegmentReader):
    """Row per item with its text in a column.

    This file format is for tables of translations, summaries, transcripts or free-text answers. The gold value of an
    item has its references by name: `gold`, and the columns in `references`. A blank text (or null) is neither a
    reference nor an answer. Items may have different numbers of references.

    Attributes:
        text: Column with the text of a system; in the gold, column with the reference `gold`.
        references: Columns of the gold with further references. In JSON, `refs.0` is the first text of the list `refs`.
        source: Column of the gold with the input of the systems.
        check_order: True to reject files with numbered rows that seem to be shuffled or shifted, because few texts
            resemble their own reference (or source) most.
    """

    name: ClassVar[str] = "texts"
    absent: ClassVar[str] = "its text is blank or missing"

    text: str = "text"
    references: tuple[str, ...] = ()
    source: str | None = None
    check_order: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unscored != ("",):
            raise InputError("option 'unscored' applies only to numbers; remove it (a blank text is a missing answer)")
        if len({"gold", "source", *self.references}) < 2 + len(self.references):
            raise InputError("option 'references' of texts names a column twice, or a column called 'gold' or "
                             "'source'; rename this column")

    @property
    def optional(self) -> tuple[str, ...]:
        return self.references

    def offers(self) -> tuple[str, ...]:
        return ("gold", *self.references)

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document, names = documents["gold"], ("gold", *self.references, *("source",) * (self.source is not None))
        columns = (self.text, *self.references, *(() if self.source is None else (self.source,)))

        def gold(row: Row) -> dict[str, str]:
            return {name: _require_text(cell, column, row) if name == "source" else _to_text(cell, column, row)
                    for name, column, cell in zip(names, columns, row.cells, strict=True)}

        items = [Item(row.key, texts, row.attributes, row.line)
                 for row, texts in self.parse_rows(document, columns, gold, self.attributes)]
        for name, column in zip(names, columns, strict=True):
            self._check_quotes(column, [(item.gold[name], item) for item in items], document)
        return items

    def parse_answers(self, document: Document) -> list[Answer]:
        answers = [Answer(row.key, text, row.line) for row, text in self.parse_rows(
            document, (self.text,), lambda row: _to_text(row.cells[0], self.text, row)) if text.strip()]
        self._check_quotes(self.text, [(answer.value, answer) for answer in answers], document)
        return answers

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        if self.item or not self.check_order or not answers or int(answers[-1].key) > len(items):
            return None
        return find_misplaced(items, answers)

    def _check_quotes(self, column: str, texts: Sequence[tuple[str, Item | Answer]], document: Document) -> None:
        """Check that texts of a tab-separated file are not in CSV quotes.

        Only comma- and semicolon-separated files may have such quotes; in others, the quotes would count as words.

        Args:
            column: Name of the column.
            texts: Texts, each with its item or answer.
            document: The file.

        Raises:
            InputError: A text has doubled quotes within quotes, or all texts are in quotes.
        """
        if self.syntax != "delimited" or self.separator in ("comma", "semicolon"):
            return
        quoted = [(text, source) for text, source in texts
                  if text.startswith('"') and text.endswith('"') and len(text) > 1]
        example = next((source for text, source in quoted if _has_doubled_quotes(text[1:-1])), None)
        if example is None and 1 < len(quoted) == len(texts):
            example = quoted[0][1]
        if example is not None:
            raise document.error(f"column {column!r} has double quotes as in CSV, but metrics would count them as "
                                 "words in this tab-separated file; write the file with commas (pandas' to_csv without "
                                 "`sep`), and set separator = \"comma\"", example.line, example.key)


def _has_doubled_quotes(text: str) -> bool:
    return '""' in text and '"' not in text.replace('""', "")


def _to_text(cell: Any, column: str, row: Row) -> str:
    if (text := "" if cell is None else to_text(cell)) is None:
        raise row.error(f"{column!r} is {shorten(cell)}; expected text" + (
            f"; name one element of the list, such as {column + '.0'!r}" if isinstance(cell, list) else ""))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise row.error(f"{column!r} has half of a character (a lone surrogate); remove it, and cut texts only between "
                        "characters") from None
    return text


def _require_text(cell: Any, column: str, row: Row) -> str:
    if not (text := _to_text(cell, column, row)).strip():
        raise row.error(f"{column!r} is blank; write the source text")
    return text
