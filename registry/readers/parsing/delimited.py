"""Functions that divide delimited text into cells, with line numbers."""

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
_PLAINLY_QUOTED = {  # a cell that stays the same without its quotes
    mark: re.compile(rf'(?<![^{mark}\n])"([^"{mark}\n]*)"(?![^{mark}\n])') for mark in ",;"}
FEW_CELLS = 2**7  # limit for formats with few columns

_CELL = re.compile(r"[^ \t]+")
csv.field_size_limit(MAX_LINE)  # the default limit is too small for long texts

Separator = Literal["tab", "comma", "semicolon", "whitespace"]


class Written(NamedTuple):
    """Syntax of delimited text.

    Attributes:
        separator: Separator of columns.
        comment: Beginning of comments; None if there are no comments.
        blank_rows: True if blank lines are rows.
    """

    separator: Separator
    comment: str | None = None
    blank_rows: bool = False


def read_content_lines(document: Document, written: Written) -> Iterator[tuple[int, str]]:
    """Yield every line that is not a comment, with its number.

    A blank line is yielded as empty text if blank lines are rows, and is otherwise left out.
    """
    blank = " " if written.separator == "tab" else None
    for number, line in document.lines():
        if written.comment and line.startswith(written.comment):
            continue
        if line.strip(blank):
            yield number, line
        elif written.blank_rows:
            yield number, ""


def read_cells(document: Document, written: Written) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of every line that is not a comment.

    Blank lines have no cells. If the separator is a comma or semicolon, cells may have quotes as in RFC 4180.

    Raises:
        InputError: A line is not valid CSV (a quoted cell cannot contain a line end), or has more than `MAX_CELLS`
            cells.
    """
    mark = MARKS[written.separator]
    if mark not in _QUOTED:
        for number, line in read_content_lines(document, written):
            yield number, split_cells(line, written.separator) if line else []
        return
    pending: list[str] = []
    rows = csv.reader(iter(pending.pop, None), strict=True, delimiter=mark)  # ends early if a quoted cell continues
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
    """Return lines of CSV without the quotes around cells.

    Returns:
        The lines; None if a cell would change without quotes. Text with other separators is returned unchanged.
    """
    mark = MARKS[separator]
    if mark not in _PLAINLY_QUOTED or '"' not in text:
        return text
    text = _PLAINLY_QUOTED[mark].sub(r"\1", text)
    return None if '"' in text else text


def split_columns(block: str, width: int, separator: Separator) -> list[list[str]] | None:
    """Return the columns of a block of lines that have the same number of cells.

    Commas and semicolons always separate cells, so that quotes must be removed before; see `strip_quotes`. The function
    takes a fifth of the time that splitting line by line takes: it makes every line end a cell of its own, and then
    checks that these cells are at regular distances.

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
    if separator != "whitespace":
        cells = block.replace("\n", f"{mark}\n{mark}").split(mark)
    else:
        cells = list(filter(None, block.replace("\t", " ").replace("\n", " \n ").split(" ")))
    even = len(cells) == n_lines * (width + 1) - 1 and cells[width::width + 1].count("\n") == n_lines - 1
    return [cells[n::width + 1] for n in range(width)] if even else None


def read_header(names: list[str], wanted: Iterable[str], document: Document, line: int) -> tuple[str, ...]:
    """Return the column names in a header.

    Args:
        names: Cells of the header.
        wanted: Columns that must exist.
        document: The file, for errors.
        line: Line number of the header.

    Raises:
        InputError: A requested column is missing, or a name occurs twice.
    """
    for name in wanted:
        if name not in names:
            raise document.error(f"the header names no column {name!r}; {suggest(name, names)}", line)
    most, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise document.error(f"the header names the column {most!r} twice", line)
    return tuple(names)


def split_cells(line: str, separator: str, most: int = MAX_CELLS) -> list[str]:
    """Split a line at every tab, or at runs of spaces and tabs if `whitespace`.

    Other blank characters are part of cells. After `most` cells, the rest of the line is one cell.
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
    """Yield the words between spaces and tabs.

    A list of all words could take much memory.
    """
    return (cell[0] for cell in _CELL.finditer(line))
