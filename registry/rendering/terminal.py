"""Tables for a terminal or a text file, as wide as their widest cells.

Where that is more than there is, texts are folded first. Numbers are never cut: what has no room is shown below, beside
the columns that name the rows once more.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import takewhile

from registry.rendering.table import Column, Table, cells, visible

_WIDTH = 200  # of a text file
_FOLDED = 12  # characters that a text is folded to at most
_BETWEEN = 3  # characters between two columns


def terminal_table(table: Table, width: int | None = None, *, color: bool = False) -> str:
    """Draw a table, at most as wide as the terminal; control characters in it are inert."""
    from rich.console import Console
    from rich.text import Text

    columns, rows = cells(table)
    written = [["\n".join(map(visible, cell.split("\n"))) for cell in row] for row in rows]
    out = io.StringIO()
    console = Console(file=out, width=width or _WIDTH, force_terminal=color, no_color=not color, highlight=False)
    if table.title:
        console.print(Text(visible(table.title), style="bold"))
    for chosen in _blocks(columns, written, width or _WIDTH):
        heading, *lines = _lines([columns[n] for n in chosen], [[row[n] for n in chosen] for row in written],
                                 width or _WIDTH)
        console.print()
        console.print(Text(heading, style="bold"), soft_wrap=True)
        out.writelines(f"{line}\n" for line in (*lines, ""))
    for caption in filter(None, (*table.captions, table.signature)):
        console.print(Text(visible(caption)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def _lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The headings, a rule, and the rows, of which some take several lines; texts are folded as far as is needed.

    rich draws such tables as well, but takes five times as long, which is much for the pairs of 200 systems.
    """
    from rich.cells import cell_len, set_cell_size

    headings = [visible(column.heading) for column in columns]
    natural = [max(cell_len(line) for row in (headings, *rows) for line in row[n].split("\n"))
               for n in range(len(columns))]
    sizes = _folded(natural, [column.right for column in columns], width)
    for row in (headings, None, *rows):
        if row is None:
            yield " " + "─" * (sum(sizes) + _BETWEEN * (len(sizes) - 1))
            continue
        parts = [_pieces(cell, size) for cell, size in zip(row, sizes, strict=True)]
        for n in range(max(map(len, parts))):
            pieces = [part[n] if n < len(part) else "" for part in parts]
            yield " " + (" " * _BETWEEN).join(
                " " * (size - cell_len(piece)) + piece if column.right else set_cell_size(piece, size)
                for column, piece, size in zip(columns, pieces, sizes, strict=True))


def _pieces(cell: str, size: int) -> list[str]:
    """The lines of a cell of so many characters, broken at words where that is possible."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    if cell_len(cell) <= size and "\n" not in cell:
        return [cell]
    return [line.plain.rstrip() for line in Text(cell).wrap(Console(width=size), size, overflow="fold")]


def _folded(natural: Sequence[int], right: Sequence[bool], width: int) -> list[int]:
    """How wide the columns are where there is so much room: the widest texts give way first."""
    room = width - 2 - _BETWEEN * (len(natural) - 1)
    cap = max(natural)
    while cap > 1 and sum(size if r else min(size, cap) for size, r in zip(natural, right, strict=True)) > room:
        cap -= 1
    return [size if r else min(size, cap) for size, r in zip(natural, right, strict=True)]


def _blocks(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns that have room beside each other, by their numbers; those that name the rows are in every block.

    These are one or two texts that the table begins with, or the first one after its ranks.
    """
    from rich.cells import cell_len

    everything = list(range(len(columns)))
    texts = [n for n in everything if not columns[n].right]
    names = list(takewhile(lambda n: not columns[n].right, everything[:2])) or texts[:1]
    needed = {n: _BETWEEN + max(map(cell_len, lines)) for n in everything if (lines := [
        visible(columns[n].heading), *(line for row in rows for line in row[n].split("\n"))])}
    needed |= {n: min(needed[n], _BETWEEN + _FOLDED) for n in texts}
    blocks: list[list[int]] = [[]]
    for n in everything:
        if n not in names and sum(needed[m] for m in {*names, *blocks[-1], n}) > width - 2 + _BETWEEN:
            blocks.append(names.copy())
        blocks[-1] += [n] if n not in blocks[-1] else []
    return [block for block in blocks if set(block) - set(names)] or [everything]
