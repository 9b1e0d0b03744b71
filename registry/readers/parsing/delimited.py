"""Functions that divide delimited text into cells, with line numbers."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from shlex import quote
from typing import Literal, NamedTuple

from registry.errors import suggest
from registry.readers.parsing.document import MAX_CELLS, MAX_LINE, Document

MARKS = {"tab": "\t", "comma": ",", "semicolon": ";", "whitespace": " "}  # between cells
_QUOTED = {mark: re.compile(rf'(?<![^{mark}])"[^"]*+(?:""[^"]*+)*+"') for mark in ",;"}  # a cell
_PLAINLY_QUOTED = {  # a cell that stays the same without its quotes
    mark: re.compile(rf'(?<![^{mark}\n])"([^"{mark}\n]*)"(?![^{mark}\n])') for mark in ",;"}
FEW_CELLS = 2**7  # limit for formats with few columns

_CELL = re.compile(r"[^ \t]+")
csv.field_size_limit(MAX_LINE)  # the default limit is too small for long texts

Separator = Literal["tab", "comma", "semicolon", "whitespace"]


class TextFormat(NamedTuple):
    """Syntax of delimited text.

    Attributes:
        separator: Separator of columns.
        comment: Beginning of comment lines; None if there are no comments.
        blank_rows: True if blank lines are rows, False to ignore them.
    """

    separator: Separator
    comment: str | None = None
    blank_rows: bool = False


def read_content_lines(document: Document, text_format: TextFormat) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is a row, not a comment.

    Blank lines are skipped, unless `text_format.blank_rows` is set.
    """
    blank = " " if text_format.separator == "tab" else None
    for number, line in document.lines():
        if text_format.comment and line.startswith(text_format.comment):
            continue
        if line.strip(blank):
            yield number, line
        elif text_format.blank_rows:
            yield number, ""


def read_cells(document: Document, text_format: TextFormat) -> Iterator[tuple[int, list[str]]]:
    """Divide delimited text into cells; yield the line number and cells of each row.

    Blank rows have no cells. If the separator is a comma or semicolon, cells may have quotes as in RFC 4180.

    Raises:
        InputError: A line is not valid CSV (a quoted cell cannot contain a line end), or has more than `MAX_CELLS`
            cells.
    """
    mark = MARKS[text_format.separator]
    if mark not in _QUOTED:
        for number, line in read_content_lines(document, text_format):
            yield number, split_cells(line, text_format.separator) if line else []
        return
    pending: list[str] = []
    rows = csv.reader(iter(pending.pop, None), strict=True, delimiter=mark)  # ends early if a quoted cell continues
    for number, line in read_content_lines(document, text_format):
        if not line:
            yield number, []
        elif len(line) > MAX_CELLS and (n_cells := _QUOTED[mark].sub("", line).count(mark) + 1) > MAX_CELLS:
            raise document.error(f"the line has {n_cells:,} cells; at most {MAX_CELLS:,} are allowed", number)
        elif '"' not in line:
            yield number, line.split(mark)
        else:
            pending.append(line)
            try:
                cells = next(rows)
            except (csv.Error, IndexError):
                rows = csv.reader(iter(pending.pop, None), strict=True, delimiter=mark)
                document.refuse("not CSV: a cell that begins with a double quote must end with one in the same line; "
                                "close the cell, and double the quotes within it", number)
            else:
                yield number, cells


def strip_quotes(text: str, separator: Separator) -> str | None:
    """Remove the quotes around the cells of CSV lines, if they are not necessary.

    Args:
        text: Lines of a file.
        separator: Separator of columns; only commas and semicolons go with quotes.

    Returns:
        Lines without quotes; None if a cell contains a separator or a quote, so that quotes are necessary.
    """
    mark = MARKS[separator]
    if mark not in _PLAINLY_QUOTED or '"' not in text:
        return text
    text = _PLAINLY_QUOTED[mark].sub(r"\1", text)
    return None if '"' in text else text


def split_columns(block: str, width: int, separator: Separator) -> list[list[str]] | None:
    """Divide many lines into columns, in a fifth of the time of single lines.

    The lines must have no quotes around cells.

    Args:
        block: Lines of the file.
        width: Expected number of cells.
        separator: Separator of columns.

    Returns:
        Cells by column; None if a line has another number of cells.
    """
    n_lines, mark = block.count("\n") + 1, MARKS[separator]
    if sum(map(block.count, "\t " if mark == " " else mark)) > 8 * width * n_lines:
        return None  # a line of very many cells, which take much memory
    # Every line end becomes a separate cell. These cells must be at regular distances.
    if separator != "whitespace":
        cells = block.replace("\n", f"{mark}\n{mark}").split(mark)
    else:
        cells = list(filter(None, block.replace("\t", " ").replace("\n", " \n ").split(" ")))
    even = len(cells) == n_lines * (width + 1) - 1 and cells[width::width + 1].count("\n") == n_lines - 1
    return [cells[n::width + 1] for n in range(width)] if even else None


def read_header(names: list[str], required: Collection[str], document: Document, line: int,
                no_header: Sequence[str] | None = None) -> tuple[str, ...]:
    """Check the column names in a file's header, and return them as a tuple.

    Args:
        names: Cells of the header.
        required: Columns that must exist.
        document: The file, for errors.
        line: Line number of the header.
        no_header: Options of the reader for files without a header, in addition to `columns`; None if it reads no such
            files.

    Raises:
        InputError: A requested column is missing, or a name occurs twice.
    """
    for name in required:
        if name not in names:
            may_be_item = no_header is not None and {*required}.isdisjoint(names) and len(required) <= len(names)
            remedy = _suggest_no_header(names, required, no_header or ()) if may_be_item else ""
            raise document.error(f"the header has no column {name!r}; {suggest(name, names)}{remedy}", line)
    most, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise document.error(f"the header has the column {most!r} twice; rename one", line)
    return tuple(names)


def _suggest_no_header(names: Sequence[str], required: Collection[str], no_header: Sequence[str]) -> str:
    """Return options of the reader for a file that has no header.

    The options name the columns. The required columns are assumed to come first.
    """
    columns = [*required, *(f"column{n + 1}" for n in range(len(required), len(names)))]
    options = [*no_header, f"columns={json.dumps(columns, ensure_ascii=False)}"]
    return (f"; if the file has no header, set the options {' and '.join(options)} (registry submit: "
            f"{' '.join(f'--option {quote(option)}' for option in options)})")


def split_cells(line: str, separator: str, most: int = MAX_CELLS) -> list[str]:
    """Split a line into cells at every tab, or at runs of spaces and tabs.

    Args:
        line: The line.
        separator: "tab", or "whitespace" for runs of spaces and tabs. Other blank characters are part of cells.
        most: Maximal number of splits; the rest of the line is one more cell.
    """
    if separator == "tab":
        return line.split("\t", most)
    if len(line) < 2 * most:  # which has room for no more
        return _CELL.findall(line)
    cells: list[str] = []
    for cell in _CELL.finditer(line):
        if len(cells) == most:
            return [*cells, line[cell.start():]]
        cells.append(cell[0])
    return cells


def iterate_words(line: str) -> Iterator[str]:
    """Yield the words between spaces and tabs in a line.

    A list of all words could take much memory.
    """
    return (cell[0] for cell in _CELL.finditer(line))
