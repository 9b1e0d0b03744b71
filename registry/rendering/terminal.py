"""Tables for a terminal or a text file, as wide as their widest cells.

Where that is more than there is, texts are folded first: between words, within a long one between characters, in a
number nowhere. What has no room is shown below, beside the columns that name the rows once more. Colours say nothing
that words or numbers do not say too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from registry.rendering.table import Column, Table, cells, visible

_WIDTH = 200  # of a text file
_FOLDED = 12  # characters that a text is folded to at most
_BETWEEN = 3  # characters between two columns
_LONGEST = 24  # characters of a number; what has more digits is an identifier, which may be broken
_NUMBER = re.compile(r"[-+<]?\d(?:[\d.,]*\d)?(?:[eE][-+]?\d+)?")
_ATOM = re.compile(rf"{_NUMBER.pattern}|.")
_BOLD = "1"
_STYLES = {True: "1;36", False: "2", None: ""}  # decided: bold and cyan; open: dim; no decision: as it is


def terminal_table(table: Table, width: int | None = None, *, color: bool = False) -> str:
    """Draw a table, at most as wide as the terminal; control characters in it are inert."""
    columns, rows = cells(table)
    written = [["\n".join(map(visible, cell.split("\n"))) for cell in row] for row in rows]
    styles = [[_STYLES[column.decided(row)] if color and column.decided else "" for column in columns]
              for row in table.rows]
    bold, room = _BOLD if color else "", width or _WIDTH
    lines = [_styled(line, bold) for line in (folded(visible(table.title), room) if table.title else ())]
    for chosen in _blocks(columns, written, room):
        heading, *drawn = _lines([columns[n] for n in chosen], [[row[n] for n in chosen] for row in written],
                                 [[row[n] for n in chosen] for row in styles], room)
        lines += ["", _styled(heading, bold), *drawn, ""]
    for caption in filter(None, table.captions):
        lines += [visible(caption)] if width is None else folded(visible(caption), room)
    lines += [visible(table.signature)] if table.signature else []  # in one piece, to be copied
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def _lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[Sequence[str]],
           width: int) -> Iterator[str]:
    """The headings, a rule, and the rows, of which some take several lines; texts are folded as far as is needed.

    rich draws such tables as well, but takes five times as long, which is much for the pairs of 200 systems.
    """
    from rich.cells import cell_len

    headings = [visible(column.heading) for column in columns]
    natural = [max(cell_len(line) for row in (headings, *rows) for line in row[n].split("\n"))
               for n in range(len(columns))]
    room = width - 2 - _BETWEEN * (len(natural) - 1)
    sizes = natural if sum(natural) <= room else _sizes(natural, [
        size if column.right else least_width(row[n] for row in (headings, *rows))
        for n, (column, size) in enumerate(zip(columns, natural, strict=True))], room)
    plain = [""] * len(columns)
    for row, of_row in zip((headings, None, *rows), (plain, plain, *styles), strict=True):
        if row is None:
            yield " " + "─" * (sum(sizes) + _BETWEEN * (len(sizes) - 1))
            continue
        parts = [folded(cell, size) for cell, size in zip(row, sizes, strict=True)]
        for n in range(max(map(len, parts))):
            pieces = [part[n] if n < len(part) else "" for part in parts]
            blanks = [" " * (size - cell_len(piece)) for piece, size in zip(pieces, sizes, strict=True)]
            shown = [_styled(piece, style) for piece, style in zip(pieces, of_row, strict=True)]
            yield " " + (" " * _BETWEEN).join(
                blank + piece if column.right else piece + blank
                for column, piece, blank in zip(columns, shown, blanks, strict=True))


def _sizes(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """How wide the columns are where there is so much room: the widest texts give way first."""
    cap, sizes = max(natural), list(natural)
    while cap > 1 and sum(sizes) > room:
        cap -= 1
        sizes = [max(at_least, min(size, cap)) for size, at_least in zip(natural, least, strict=True)]
    return sizes


def _blocks(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns that have room beside each other, by their numbers; those that name the rows are in every block.

    These are one or two texts that the table begins with, or the first one after its ranks.
    """
    from rich.cells import cell_len

    everything = list(range(len(columns)))
    texts = [n for n in everything if not columns[n].right]
    names = list(takewhile(lambda n: not columns[n].right, everything[:2])) or texts[:1]
    of_column = [[visible(column.heading), *(row[n] for row in rows)] for n, column in enumerate(columns)]
    needed = {n: _BETWEEN + max(cell_len(line) for cell in of_column[n] for line in cell.split("\n"))
              for n in everything}
    if sum(needed.values()) <= width - 2 + _BETWEEN:
        return [everything]
    needed |= {n: min(needed[n], _BETWEEN + max(_FOLDED, least_width(of_column[n]))) for n in texts}
    blocks: list[list[int]] = [[]]
    for n in everything:
        if n not in names and sum(needed[m] for m in {*names, *blocks[-1], n}) > width - 2 + _BETWEEN:
            blocks.append(names.copy())
        blocks[-1] += [n] if n not in blocks[-1] else []
    return [block for block in blocks if set(block) - set(names)] or [everything]


def folded(text: str, size: int) -> list[str]:
    """The lines of a text, each of at most so many characters' width; a number that is wider has a line of its own.

    >>> folded("F1 of 0.123456 to 0.5", 9)
    ['F1 of', '0.123456', 'to 0.5']
    >>> folded("score=0.123456", 8)
    ['score=', '0.123456']
    """
    from rich.cells import cell_len

    if "\n" in text:
        return [line for part in text.split("\n") for line in folded(part, size)]
    if cell_len(text) <= size:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= size:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for atom in [word] if cell_len(word) <= size else _atoms(word):
            if lines[-1] and cell_len(lines[-1] + atom) > size:
                lines.append("")
            lines[-1] += atom
    return lines


def least_width(texts: Iterable[str]) -> int:
    """The width of the longest number in texts, below which they cannot be folded; 1 if there is none."""
    return max((len(found) for text in texts for found in _NUMBER.findall(text) if len(found) <= _LONGEST), default=1)


def _atoms(word: str) -> list[str]:
    """A word in pieces that stay whole."""
    return [piece for atom in _ATOM.findall(word) for piece in ([atom] if len(atom) <= _LONGEST else atom)]
