"""Plain tables and their text forms. Names in them are untrusted: each form escapes what means something in it."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column for people: the key it shows, its heading, and how a value is written."""

    key: str
    heading: str
    write: Callable[[Any], str] = str
    right: bool = False


@dataclass(frozen=True)
class Table:
    """Rows as data, and how people see them.

    Attributes:
        rows: Every row with all of its keys, as machine-readable forms give it.
        columns: What `table` and `md` show; empty: every key as it is.
        title: Above the table.
        captions: Lines below it.
        keys: What machine-readable forms give, in this order; empty: what the first row has.
        signature: A last line that is to be copied as it is.
    """

    rows: Sequence[Row]
    columns: Sequence[Column] = ()
    title: str = ""
    captions: Sequence[str] = field(default=())
    keys: Sequence[str] = ()
    signature: str = ""


def render(tables: Sequence[Table], format_: str, *, width: int | None = None, color: bool = False) -> str:
    """Write tables as `table`, `md`, `tsv`, `csv` or `json`; the last three write all rows as one."""
    if format_ in ("table", "md"):
        one = _markdown if format_ == "md" else lambda table: _terminal(table, width, color=color)
        return "\n".join(one(table) for table in tables)
    rows = [row for table in tables for row in table.rows]
    keys = next((table.keys or list(table.rows[0]) for table in tables if table.keys or table.rows), [])
    if format_ == "json":
        return json.dumps([{k: _plain(row[k]) for k in keys} for row in rows], indent=2, ensure_ascii=False,
                          default=str) + "\n"
    return _tsv(keys, rows) if format_ == "tsv" else _csv(keys, rows)


def number(digits: int) -> Callable[[Any], str]:
    """Write numbers with so many digits after the point, undefined ones as n/a."""
    return lambda value: "n/a" if _plain(value) is None else f"{value:.{digits}f}"


def p_value(value: Any) -> str:
    """Write a p-value so that it is never rounded to 0 or 1.

    >>> [p_value(p) for p in (1.0, 0.04996, 0.0000123, 3e-200, 0.99999)]
    ['1', '0.0500', '1.2e-05', '3.0e-200', '0.99999']
    """
    if _plain(value) is None:
        return "n/a"
    if value == 1:
        return "1"
    if value < 0.001:
        return f"{value:.1e}"
    return f"{value:.4f}" if value < 0.99995 else f"{value:.5g}"


def text(value: Any) -> str:
    """Write a text, a missing one as a dash."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if _plain(value) is None else str(value)


def _plain(value: Any) -> Any:
    """Nan, which JSON does not have, is null, also inside of lists and structures."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cells(table: Table) -> tuple[list[Column], list[list[str]]]:
    keys = table.keys or (list(table.rows[0]) if table.rows else [])
    columns = list(table.columns) or [Column(key, key, text) for key in keys]
    return columns, [[column.write(row[column.key]) for column in columns] for row in table.rows]


def _terminal(table: Table, width: int | None, *, color: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    columns, cells = _cells(table)
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        grid.add_column(Text(column.heading), justify="right" if column.right else "left",
                        no_wrap=column.right, overflow="fold")
    for row in cells:
        grid.add_row(*(Text("\n".join(map(_visible, cell.split("\n")))) for cell in row))
    console = Console(file=io.StringIO(), width=width or 200, force_terminal=color, no_color=not color,
                      highlight=False)
    if table.title:
        console.print(Text(_visible(table.title), style="bold"))
    console.print(grid)
    for caption in filter(None, (*table.captions, table.signature)):
        console.print(Text(_visible(caption)), soft_wrap=True)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in written.split("\n"))


def _markdown(table: Table) -> str:
    columns, cells = _cells(table)
    lines = [f"**{_escape_markdown(table.title)}**", ""] if table.title else []
    lines.append("| " + " | ".join(_escape_markdown(c.heading) for c in columns) + " |")
    lines.append("|" + "|".join(" ---: " if c.right else " --- " for c in columns) + "|")
    lines += ["| " + " | ".join(map(_escape_markdown, row)) + " |" for row in cells]
    for caption in table.captions:
        lines += ["", _escape_markdown(caption)]
    if table.signature:
        lines += ["", f"`{_visible(table.signature).replace('`', '')}`"]
    return "\n".join(lines) + "\n"


def _escape_markdown(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\")
    for mark in "`*_[]<>|#":
        escaped = escaped.replace(mark, "\\" + mark)
    return _visible(escaped)


def _visible(cell: str) -> str:
    """Write control characters, which could steer a terminal or break a line, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cell)


def _machine(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _tsv(keys: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [keys, *([_visible(_machine(row[k])) for k in keys] for row in rows)]
    return "".join("\t".join(line) + "\n" for line in lines)


def _csv(keys: Sequence[str], rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(keys)
    for row in rows:
        writer.writerow([_no_formula(_machine(row[k])) if isinstance(row[k], str) else _machine(row[k]) for k in keys])
    return out.getvalue()


def _no_formula(cell: str) -> str:
    """Keep a spreadsheet from computing a text that looks like a formula."""
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
