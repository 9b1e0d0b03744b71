"""Tables for a terminal or a text file.

If a table is too wide, long names are shortened, and optional columns are left out. Other texts are wrapped between
words, and long words between characters; numbers are never wrapped. Columns that still do not fit are printed below,
next to a repetition of the columns that name the rows. Colours only repeat information that words or numbers give.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from registry.errors import counted
from registry.rendering.table import Column, Table, escape_controls, format_cells

_FILE_WIDTH = 200  # characters of a line of a text file
_SHORT_NAMES = (20, 9)  # characters of the shortest names before, and after, optional columns are left out
_MOST_NOTES = 2  # on a terminal
_WRAP_WIDTH = 12  # a text column is not wrapped to fewer characters than this
_GAP = 3  # characters between two columns
_LONGEST_NUMBER = 24  # characters; longer numbers are identifiers, which may be broken
_NUMBER = re.compile(r"[-+<]?\d(?:[\d.,]*\d)?(?:[eE][-+]?\d+)?")
_ATOM = re.compile(rf"{_NUMBER.pattern}|.")
_BOLD = "1"
_STYLES = {True: "1;36", False: "2", None: ""}  # by the column's emphasis: bold cyan, dim, unchanged


def find_left_out(tables: Sequence[Table], width: int | None) -> set[str]:
    """Return the keys of the columns that one of several tables leaves out to fit the terminal.

    The other tables leave them out, too, so that all tables of one output have the same columns.
    """
    if width is None or len(tables) == 1:
        return set()
    left_out = set[str]()
    for table in tables:
        columns, cells = _format_escaped(table)
        fitting, _ = _fit_columns(columns, cells, width)
        left_out |= {column.key for column in columns if column not in fitting}
    return left_out


def _format_escaped(table: Table) -> tuple[list[Column], list[list[str]]]:
    columns, rows = format_cells(table)
    return columns, [["\n".join(map(escape_controls, cell.split("\n"))) for cell in row] for row in rows]


def render_terminal(table: Table, width: int | None = None, *, color: bool = False, all_notes: bool = False,
                    left_out: Collection[str] = ()) -> str:
    """Render a table for a terminal, with control characters escaped.

    Args:
        table: The table.
        width: The width of the terminal in characters; None: write for a text file.
        color: True to highlight cells with colours.
        all_notes: True to print all notes on a terminal; a text file always has them.
        left_out: Keys of optional columns that a terminal does not show.
    """
    columns, cells = _format_escaped(table)
    absent = list[str]()
    if width is not None:
        fitting, cells = _fit_columns(columns, cells, width, left_out)
        absent = [escape_controls(column.heading) for column in columns if column not in fitting]
        columns = fitting
    styles = [[_STYLES[column.emphasis(row)] if color and column.emphasis else "" for column in columns]
              for row in table.rows]
    bold, max_width = _BOLD if color else "", width or _FILE_WIDTH
    titles = wrap_text(escape_controls(table.title), max_width) if table.title else ()
    lines = [_add_style(line, bold) for line in titles]
    for block in _split_columns(columns, cells, max_width) if columns else ():
        heading, *body = _make_lines([columns[n] for n in block], [[row[n] for n in block] for row in cells],
                                     [[row[n] for n in block] for row in styles], max_width)
        lines += ["", _add_style(heading.rstrip(), bold), *body, ""]
    if not columns:
        lines.append("")
    notes = list(filter(None, table.notes))
    if width is not None and not all_notes and len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"{counted(len(notes) - _MOST_NOTES, 'more note')}: --notes"]
    if absent:
        notes.append(f"Left out at a width of {width}: {', '.join(absent)}.")
    for line in (*filter(None, table.captions), *notes):
        lines += [escape_controls(line)] if width is None else wrap_text(escape_controls(line), max_width)
    if table.signature:
        lines.append(escape_controls(table.signature))  # one line, so that people can copy it
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _add_style(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def _fit_columns(columns: Sequence[Column], rows: list[list[str]],
                 width: int, left_out: Collection[str] = ()) -> tuple[list[Column], list[list[str]]]:
    """Shorten names and leave out optional columns, until a table fits the terminal.

    Long names are shortened first, then columns are left out, then all names are shortened. Optional columns with the
    keys `left_out` are always left out.
    """
    from rich.cells import cell_len

    def measure(kept: Sequence[int], shortest: int) -> list[int]:
        least = [min(sizes[n], max(shortest, cell_len(columns[n].heading))) if columns[n].is_name else sizes[n]
                 for n in kept]
        return _shrink_widths([sizes[n] for n in kept], least, width - 2 - _GAP * (len(kept) - 1))

    def fits(kept: Sequence[int], shortest: int) -> bool:
        return sum(measure(kept, shortest)) <= width - 2 - _GAP * (len(kept) - 1)

    if not any(column.is_name or column.optional for column in columns):
        return list(columns), rows
    sizes = [max(cell_len(line) for text in (column.heading, *(row[n] for row in rows)) for line in text.split("\n"))
             for n, column in enumerate(columns)]
    kept = [n for n, column in enumerate(columns) if not column.optional or column.key not in left_out]
    shortest = _SHORT_NAMES[0]
    while not fits(kept, shortest) and (last := max(columns[n].optional for n in kept)):
        kept = [n for n in kept if columns[n].optional != last]
    if not fits(kept, shortest):
        shortest = _SHORT_NAMES[1]
    shown = [[row[n] for n in kept] for row in rows]
    for place, (n, size) in enumerate(zip(kept, measure(kept, shortest), strict=True)):
        names = {row[place] for row in shown}
        if columns[n].is_name and len({shorten_name(name, size) for name in names}) == len(names):
            for row in shown:
                row[place] = shorten_name(row[place], size)
    return [columns[n] for n in kept], shown


def shorten_name(name: str, size: int) -> str:
    """Replace the middle of a long name by an ellipsis.

    >>> shorten_name("roberta-large-v2", 9)
    'robe…e-v2'
    """
    from rich.cells import cell_len

    if cell_len(name) <= size:
        return name
    begin, end = len(name) // 2, len(name) - len(name) // 2
    while begin > 1 and cell_len(name[:begin] + name[end:]) > size - 1:
        begin, end = (begin, end + 1) if len(name) - end > begin - 1 else (begin - 1, end)
    return f"{name[:begin]}…{name[end:]}"


def _make_lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[Sequence[str]],
                width: int) -> Iterator[str]:
    """Yield the lines of a table: headings, a horizontal line, and rows.

    The library rich renders such tables too, but takes five times as long for the pairs of 200 systems.
    """
    from rich.cells import cell_len

    headings = [escape_controls(column.heading) for column in columns]
    full = [max(cell_len(line) for row in (headings, *rows) for line in row[n].split("\n"))
            for n in range(len(columns))]
    available = width - 2 - _GAP * (len(full) - 1)
    sizes = full if sum(full) <= available else _shrink_widths(full, [
        size if column.right else find_least_width(row[n] for row in (headings, *rows))
        for n, (column, size) in enumerate(zip(columns, full, strict=True))], available)
    unstyled = [""] * len(columns)
    for row, row_styles in zip((headings, None, *rows), (unstyled, unstyled, *styles), strict=True):
        if row is None:
            yield " " + "─" * (sum(sizes) + _GAP * (len(sizes) - 1))
            continue
        parts = [wrap_text(cell, size) for cell, size in zip(row, sizes, strict=True)]
        for n in range(max(map(len, parts))):
            pieces = [part[n] if n < len(part) else "" for part in parts]
            blanks = [" " * (size - cell_len(piece)) for piece, size in zip(pieces, sizes, strict=True)]
            pieces = [_add_style(piece, style) for piece, style in zip(pieces, row_styles, strict=True)]
            yield " " + (" " * _GAP).join(blank + piece if column.right else piece + blank
                                          for column, piece, blank in zip(columns, pieces, blanks, strict=True))


def _shrink_widths(full: Sequence[int], minimum: Sequence[int], total: int) -> list[int]:
    """Reduce the widths of columns so that a table fits into a total width.

    The widest columns shrink first.

    Args:
        full: The widths of the columns without line breaks.
        minimum: The smallest width of each column.
        total: The largest sum of all widths; it is exceeded if the smallest widths require it.
    """
    cap, sizes = max(full), list(full)
    while cap > 1 and sum(sizes) > total:
        cap -= 1
        sizes = [max(smallest, min(size, cap)) for size, smallest in zip(full, minimum, strict=True)]
    return sizes


def _split_columns(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Split a wide table into several that fit into the width.

    Every part has the columns that identify the rows: those with `is_key`, or else the first one or two columns if they
    are texts, otherwise the first column of texts.

    Returns:
        A list of column numbers for each part.
    """
    from rich.cells import cell_len

    numbers = list(range(len(columns)))
    texts = [n for n in numbers if not columns[n].right]
    leading = list(takewhile(lambda n: not columns[n].right, numbers[:2]))
    names = [n for n in numbers if columns[n].is_key] or leading or texts[:1]
    cells = [[escape_controls(column.heading), *(row[n] for row in rows)] for n, column in enumerate(columns)]
    sizes = {n: _GAP + max(cell_len(line) for cell in cells[n] for line in cell.split("\n")) for n in numbers}
    if sum(sizes.values()) <= width - 2 + _GAP:
        return [numbers]
    sizes |= {n: min(sizes[n], _GAP + max(_WRAP_WIDTH, find_least_width(cells[n]))) for n in texts}
    blocks: list[list[int]] = [[]]
    for n in numbers:
        if n not in names and sum(sizes[m] for m in {*names, *blocks[-1], n}) > width - 2 + _GAP:
            blocks.append(names.copy())
        if n not in blocks[-1]:
            blocks[-1].append(n)
    return [block for block in blocks if set(block) - set(names)] or [numbers]


def wrap_text(text: str, size: int) -> list[str]:
    """Split a text into lines of at most `size` characters.

    A number that is longer than `size` is not split; it has its own line.

    >>> wrap_text("F1 of 0.123456 to 0.5", 9)
    ['F1 of', '0.123456', 'to 0.5']
    >>> wrap_text("score=0.123456", 8)
    ['score=', '0.123456']
    """
    from rich.cells import cell_len

    if "\n" in text:
        return [line for part in text.split("\n") for line in wrap_text(part, size)]
    if cell_len(text) <= size:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= size:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for atom in [word] if cell_len(word) <= size else _split_word(word):
            if lines[-1] and cell_len(lines[-1] + atom) > size:
                lines.append("")
            lines[-1] += atom
    return lines


def find_least_width(texts: Iterable[str]) -> int:
    """Return the width of the longest number in some texts, so that none is split.

    The result is 1 if there is no number. A number is ignored if it is so long that it must be an identifier.
    """
    numbers = (number for text in texts for number in _NUMBER.findall(text))
    return max((len(number) for number in numbers if len(number) <= _LONGEST_NUMBER), default=1)


def _split_word(word: str) -> list[str]:
    """Split a word into characters and whole numbers: `f1.25x` into f, 1.25, x."""
    return [piece for atom in _ATOM.findall(word) for piece in ([atom] if len(atom) <= _LONGEST_NUMBER else atom)]
