"""Tables as Markdown, LaTeX and HTML, and as TSV, CSV, JSON and JSON Lines.

Names are untrusted, so each format escapes characters with a meaning in it. TSV and CSV also guard texts that a
spreadsheet would compute as formulas. JSON keeps every text unchanged.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from textwrap import indent
from typing import Any

from registry.identity import replace_undefined
from registry.messages import Message
from registry.rendering.latex import render_latex
from registry.rendering.table import Table, escape_controls, format_cells, format_text
from registry.rendering.terminal import find_left_out, render_terminal


def render_markdown(table: Table) -> str:
    """Render a table with its title, captions and signature as Markdown."""
    columns, rows = format_cells(table)
    parts = [f"**{escape_markdown(table.title)}**\n\n"] if table.title else []
    parts += render_markdown_rows([c.heading for c in columns], rows, [c.right for c in columns]) if columns else ()
    parts += [f"\n{escape_markdown(caption)}\n" for caption in table.lines]
    if table.signature:
        parts.append(f"\n`{escape_controls(table.signature).replace('`', '')}`\n")
    return "".join(parts)


def render_markdown_rows(headings: Sequence[str], rows: Iterable[Sequence[str]],
                         right: Sequence[bool] | None = None) -> Iterator[str]:
    """Yield the lines of a Markdown table.

    Args:
        headings: The headings.
        rows: The cells of each row.
        right: For each column, True to align it on the right, as numbers are.
    """
    yield "| " + " | ".join(map(escape_markdown, headings)) + " |\n"
    yield "|" + "|".join(" ---: " if r else " --- " for r in right or [False] * len(headings)) + "|\n"
    for row in rows:
        yield "| " + " | ".join(map(escape_markdown, row)) + " |\n"


def escape_markdown(cell: str) -> str:
    """Escape all characters of a text that have a meaning in Markdown."""
    escaped = cell.replace("\\", "\\\\")
    for mark in "`*_[]<>|#$":
        escaped = escaped.replace(mark, "\\" + mark)
    return escape_controls(escaped)


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def render_rows(keys: Sequence[str], rows: Iterable[Sequence[Any]], format_: str, *,
                terminal: bool = False) -> Iterator[str]:
    """Convert rows to a text format such as CSV or JSON, and yield it in parts.

    Args:
        keys: The keys of the values in each row.
        rows: Rows with a value for every key.
        format_: A key of `FORMATS`.
        terminal: True to escape control characters in all formats, because they could send commands to a terminal.
    """
    parts = FORMATS[format_](keys, rows)
    return ("".join(c if c in "\n\t" else escape_controls(c) for c in part) for part in parts) if terminal else parts


def _format_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(_format_value, value))
    if isinstance(value, Message):
        return value.code
    value = replace_undefined(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _format_cell(value: Any) -> str:
    return guard_formula(_format_value(value)) if isinstance(value, str | tuple) else _format_value(value)


def guard_formula(cell: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute as a formula.

    Plain numbers stay unchanged. Leading double quotes are ignored, because a spreadsheet that reads TSV removes them.

    >>> guard_formula("=1+1"), guard_formula("-0.5"), guard_formula("-a")
    ("'=1+1", '-0.5', "'-a")
    """
    is_formula = cell.lstrip('"').startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula and not _NUMBER.fullmatch(cell) else cell


def _render_tsv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in chain([keys], rows):
        yield "\t".join([escape_controls(_format_cell(value)) for value in row]) + "\n"


def _render_csv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # it quotes only cells with characters of its line end
    for row in chain([keys], rows):
        writer.writerow(map(_format_cell, row))
        yield out.getvalue().removesuffix("\r\n") + "\n"
        out.seek(0)
        out.truncate()


def _render_markdown_rows(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return render_markdown_rows(keys, ([format_text(value) for value in row] for row in rows))


def _render_json(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    opening = "[\n"
    for row in rows:
        yield opening + indent(_dump_row(keys, row, 2), "  ")
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


def _render_jsonl(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return (_dump_row(keys, row) + "\n" for row in rows)


def _dump_row(keys: Sequence[str], row: Sequence[Any], spaces: int | None = None) -> str:
    text = json.dumps({key: replace_undefined(value) for key, value in zip(keys, row, strict=True)}, indent=spaces,
                      ensure_ascii=False, default=_convert_for_json)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _convert_for_json(value: Any) -> Any:
    if isinstance(value, Message):
        return value.described()
    return float(value) if isinstance(value, Decimal) else _format_value(value)


FORMATS = {"tsv": _render_tsv, "csv": _render_csv, "md": _render_markdown_rows, "json": _render_json,
           "jsonl": _render_jsonl}


def render(tables: Sequence[Table], format_: str, *, width: int | None = None, color: bool = False,
           all_notes: bool = False) -> str:
    """Render tables in one format.

    Args:
        tables: The tables.
        format_: `table`, `md`, `latex`, or a key of `FORMATS`.
        width: The width of the terminal in characters; None: the output is no terminal.
        color: True to highlight cells with colours.
        all_notes: True to print all notes on a terminal.
    """
    match format_:
        case "table":
            left_out = find_left_out(tables, width)
            return "\n".join(render_terminal(table, width, color=color, all_notes=all_notes, left_out=left_out)
                             for table in tables)
        case "md":
            return "\n".join(map(render_markdown, tables))
        case "latex":
            return "\n".join(map(render_latex, tables))
    # Tables can have different keys.
    keys = list(dict.fromkeys(key for table in tables for key in table.keys or (table.rows[0] if table.rows else ())))
    rows = ([row.get(key) for key in keys] for table in tables for row in table.rows)
    return "".join(render_rows(keys, rows, format_, terminal=width is not None))


class TableDisplay:
    """Base class of objects that terminals and notebooks display as tables."""

    @property
    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if is_terminal else None
        return render([self._table], "table", width=width).rstrip("\n")

    def _repr_html_(self) -> str:
        return render_html(self._table)


def render_html(table: Table) -> str:
    """Render a table as HTML, with its title, captions and signature."""
    columns, rows = format_cells(table)
    styles = [' style="text-align: right"' if column.right else ' style="text-align: left"' for column in columns]
    title = f"<p><strong>{_escape_html(table.title)}</strong></p>" if table.title else ""
    lines = ["<div>", title, "<table>", "<thead><tr>",
             *(f"<th{style}>{_escape_html(column.heading)}</th>"
               for column, style in zip(columns, styles, strict=True)),
             "</tr></thead>", "<tbody>"]
    for row in rows:
        cells = "".join(f"<td{style}>{_escape_html(cell)}</td>" for cell, style in zip(row, styles, strict=True))
        lines.append(f"<tr>{cells}</tr>")
    lines += ["</tbody>", "</table>", *(f"<p>{_escape_html(caption)}</p>" for caption in table.lines)]
    lines += [f"<p><code>{_escape_html(table.signature)}</code></p>" if table.signature else "", "</div>"]
    return "\n".join(filter(None, lines))


def _escape_html(text: str) -> str:
    return html.escape("\n".join(map(escape_controls, text.split("\n"))))
