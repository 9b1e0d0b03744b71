"""Objects that are tables: how a terminal and a notebook show them."""

from __future__ import annotations

import shutil
import sys
from html import escape

from registry.rendering.render import render
from registry.rendering.table import Table, cells, visible


class Shown:
    """What is a table: `repr` is that of a terminal, and a notebook has HTML in which every text is escaped."""

    @property
    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if is_terminal else None
        return render([self._table], "table", width=width).rstrip("\n")

    def _repr_html_(self) -> str:
        return html_table(self._table)


def html_table(table: Table) -> str:
    """A table with its title above; captions and signature stand below."""
    columns, rows = cells(table)
    aligned = [' style="text-align: right"' if column.right else ' style="text-align: left"' for column in columns]
    lines = ["<div>", f"<p><strong>{_text(table.title)}</strong></p>" if table.title else "", "<table>", "<thead><tr>",
             *(f"<th{how}>{_text(column.heading)}</th>" for column, how in zip(columns, aligned, strict=True)),
             "</tr></thead>", "<tbody>"]
    for row in rows:
        written = "".join(f"<td{how}>{_text(cell)}</td>" for cell, how in zip(row, aligned, strict=True))
        lines.append(f"<tr>{written}</tr>")
    lines += ["</tbody>", "</table>", *(f"<p>{_text(caption)}</p>" for caption in table.captions)]
    lines += [f"<p><code>{_text(table.signature)}</code></p>" if table.signature else "", "</div>"]
    return "\n".join(filter(None, lines))


def _text(written: str) -> str:
    return escape("\n".join(map(visible, written.split("\n"))))
