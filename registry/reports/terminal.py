"""Tables for a terminal or a text file, as wide as their widest cells.

Where that is more than there is, texts are folded first. Numbers are never cut: what has no room is shown below, beside
the columns that name the rows once more.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from registry.reports.table import Column, Table, cells, visible

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_WIDTH = 200  # of a text file
_FOLDED = 12  # characters that a text is folded to at most
_BETWEEN = 3  # characters between two columns


def terminal_table(table: Table, width: int | None = None, *, color: bool = False) -> str:
    """Draw a table, at most as wide as the terminal; control characters in it are inert."""
    from rich.console import Console
    from rich.text import Text

    columns, rows = cells(table)
    written = [["\n".join(map(visible, cell.split("\n"))) for cell in row] for row in rows]
    console = Console(file=io.StringIO(), width=width or _WIDTH, force_terminal=color, no_color=not color,
                      highlight=False)
    if table.title:
        console.print(Text(visible(table.title), style="bold"))
    for chosen in _blocks(columns, written, width or _WIDTH):
        console.print(_grid([columns[n] for n in chosen], [[row[n] for n in chosen] for row in written]))
    for caption in filter(None, (*table.captions, table.signature)):
        console.print(Text(visible(caption)), soft_wrap=True)
    lines = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines.split("\n"))


def _grid(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(Text(visible(column.heading)), justify="right" if column.right else "left",
                        no_wrap=column.right, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


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
