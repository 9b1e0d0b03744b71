"""Delimited text as cells with the numbers of their lines; a header names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from registry.errors import suggest
from registry.readers.parsing.document import MAX_CELLS, MAX_LINE, Document

MARKS = {"tab": "\t", "comma": ",", "semicolon": ";", "whitespace": " "}  # between cells
_QUOTED = {mark: re.compile(rf'(?<![^{mark}])"[^"]*+(?:""[^"]*+)*+"') for mark in ",;"}  # a cell
_PLAINLY_QUOTED = {  # one that says the same without its quotes
    mark: re.compile(rf'(?<![^{mark}\n])"([^"{mark}\n]*)"(?![^{mark}\n])') for mark in ",;"}
FEW_CELLS = 2**7  # where a format has but a few

_CELL = re.compile(r"[^ \t]+")
csv.field_size_limit(MAX_LINE)  # its own limit is for all of Python, and less than a long text takes

Separator = Literal["tab", "comma", "semicolon", "whitespace"]


class Written(NamedTuple):
    """How text is written: what separates its columns, how comments begin, and whether blank lines are rows."""

    separator: Separator
    comment: str | None = None
    blank_rows: bool = False


def read_content_lines(document: Document, written: Written) -> Iterator[tuple[int, str]]:
    """Yield lines and numbers without comments; blank lines are empty, or left out if they are no rows."""
    blank = " " if written.separator == "tab" else None
    for number, line in document.lines():
        if written.comment and line.startswith(written.comment):
            continue
        if line.strip(blank):
            yield number, line
        elif written.blank_rows:
            yield number, ""


def read_cells(document: Document, written: Written) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of every content line, none for a blank line; commas and semicolons with quotes as in RFC 4180.

    Raises:
        InputError: A line is not CSV (a quoted cell does not run over its end), or has more than `MAX_CELLS`.
    """
    mark = MARKS[written.separator]
    if mark not in _QUOTED:
        for number, line in read_content_lines(document, written):
            yield number, split_cells(line, written.separator) if line else []
        return
    pending: list[str] = []
    rows = csv.reader(iter(pending.pop, None), strict=True, delimiter=mark)  # finds nothing where a quoted cell runs on
    for number, line in read_content_lines(document, written):
        if not line:
            yield number, []
        elif len(line) > MAX_CELLS and (n_cells := _QUOTED[mark].sub("", line).count(mark) + 1) > MAX_CELLS:
            raise document.error(f"{n_cells:,} cells; {MAX_CELLS:,} are the most that are read", number)
        elif '"' not in line:
            yield number, line.split(mark)
        else:
            pending.append(line)
            try:
                cells = next(rows)
            except (csv.Error, IndexError):
                rows = csv.reader(iter(pending.pop, None), strict=True, delimiter=mark)
                document.refuse("not CSV: a cell that begins with a double quote must end with one in the same line, "
                                "and those within it be doubled", number)
            else:
                yield number, cells


def strip_quotes(text: str, separator: Separator) -> str | None:
    """Return CSV lines without quotes if their cells stay the same, else None; other formats unchanged."""
    mark = MARKS[separator]
    if mark not in _PLAINLY_QUOTED or '"' not in text:
        return text
    text = _PLAINLY_QUOTED[mark].sub(r"\1", text)
    return None if '"' in text else text


def split_columns(block: str, width: int, separator: Separator) -> list[list[str]] | None:
    """Return the columns of a block of lines that all have `width` cells; None if a line differs.

    Commas and semicolons are between cells wherever they stand: quotes are left out before, see `strip_quotes`.
    It takes a fifth of the time of splitting line by line: every line end is made a cell of its own, which must then be
    each last one of `width` and one.
    """
    n_lines, mark = block.count("\n") + 1, MARKS[separator]
    if sum(map(block.count, "\t " if mark == " " else mark)) > 8 * width * n_lines:
        return None  # a line of very many cells, which take much memory
    if separator != "whitespace":
        cells = block.replace("\n", f"{mark}\n{mark}").split(mark)
    else:
        cells = list(filter(None, block.replace("\t", " ").replace("\n", " \n ").split(" ")))
    even = len(cells) == n_lines * (width + 1) - 1 and cells[width::width + 1].count("\n") == n_lines - 1
    return [cells[n::width + 1] for n in range(width)] if even else None


def read_header(names: list[str], wanted: Iterable[str], document: Document, line: int) -> tuple[str, ...]:
    """Return the columns that a header names.

    Raises:
        InputError: A wanted column is not there, or one is named twice.
    """
    for name in wanted:
        if name not in names:
            raise document.error(f"the header names no column {name!r}; {suggest(name, names)}", line)
    most, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise document.error(f"the header names the column {most!r} twice", line)
    return tuple(names)


def split_cells(line: str, separator: str, most: int = MAX_CELLS) -> list[str]:
    """Split a line at tabs, or (`whitespace`) at runs of spaces and tabs; other blanks are part of cells.

    After `most` cells the rest of the line is one cell.
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
    """Yield the words between spaces and tabs one by one: a list of all could take much memory."""
    return (cell[0] for cell in _CELL.finditer(line))
