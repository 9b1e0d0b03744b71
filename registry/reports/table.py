"""Plain tables and their text forms. Names in them are untrusted: each form escapes what means something in it.

All forms but `table`, whose columns are as wide as their widest cell, are written row by row.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from textwrap import indent
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
    """Write tables as `table`, `md`, or one of `FORMS`, which write all rows as one; `width` is a terminal's."""
    if format_ in ("table", "md"):
        one = _markdown if format_ == "md" else lambda table: _terminal(table, width, color=color)
        return "\n".join(one(table) for table in tables)
    rows = [row for table in tables for row in table.rows]
    keys = next((table.keys or list(table.rows[0]) for table in tables if table.keys or table.rows), [])
    return "".join(lines(keys, ([row[key] for key in keys] for row in rows), format_, terminal=width is not None))


def lines(keys: Sequence[str], rows: Iterable[Sequence[Any]], format_: str, *, terminal: bool = False) -> Iterator[str]:
    """Write rows, each with a value for every key, as one of `FORMS`, piece by piece.

    On a terminal also what is only data elsewhere is written so that it cannot steer it.
    """
    written = FORMS[format_](keys, rows)
    return map(_inert, written) if terminal else written


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
        grid.add_column(Text(_visible(column.heading)), justify="right" if column.right else "left",
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
    parts = [f"**{_escape_markdown(table.title)}**\n\n"] if table.title else []
    parts += _markdown_rows([c.heading for c in columns], cells, [c.right for c in columns])
    parts += [f"\n{_escape_markdown(caption)}\n" for caption in table.captions]
    if table.signature:
        parts.append(f"\n`{_visible(table.signature).replace('`', '')}`\n")
    return "".join(parts)


def _markdown_rows(headings: Sequence[str], rows: Iterable[Sequence[str]],
                   right: Sequence[bool] | None = None) -> Iterator[str]:
    yield "| " + " | ".join(map(_escape_markdown, headings)) + " |\n"
    yield "|" + "|".join(" ---: " if r else " --- " for r in right or [False] * len(headings)) + "|\n"
    for row in rows:
        yield "| " + " | ".join(map(_escape_markdown, row)) + " |\n"


def _escape_markdown(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\")
    for mark in "`*_[]<>|#":
        escaped = escaped.replace(mark, "\\" + mark)
    return _visible(escaped)


def _visible(cell: str) -> str:
    """Write control characters, which could steer a terminal or break a line, as escapes."""
    if cell.isprintable():
        return cell
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cell)


def _inert(written: str) -> str:
    """Write control characters as escapes, but for the ends of lines and columns."""
    return "".join(c if c in "\n\t" else _visible(c) for c in written)


def _machine(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _tsv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield "\t".join(map(_visible, keys)) + "\n"
    for row in rows:
        yield "\t".join([_visible(_machine(value)) for value in row]) + "\n"


def _csv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in chain([keys], rows):
        writer.writerow([_no_formula(value) if isinstance(value, str) else _machine(value) for value in row])
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def _md(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return _markdown_rows(keys, ([text(value) for value in row] for row in rows))


def _json(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    opening = "[\n"
    for row in rows:
        yield opening + indent(_json_object(keys, row, 2), "  ")
        opening = ",\n"
    yield "[]\n" if opening == "[\n" else "\n]\n"


def _jsonl(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return (_json_object(keys, row) + "\n" for row in rows)


def _json_object(keys: Sequence[str], row: Sequence[Any], spaces: int | None = None) -> str:
    """A row as JSON; what is no printable character is escaped, so that it stays inert and one line."""
    written = json.dumps({key: _plain(value) for key, value in zip(keys, row, strict=True)}, indent=spaces,
                         ensure_ascii=False, default=_json_value)
    if written.replace("\n", "").isprintable():
        return written
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in written)


def _json_value(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else _machine(value)


FORMS = {"tsv": _tsv, "csv": _csv, "md": _md, "json": _json, "jsonl": _jsonl}


def _no_formula(cell: str) -> str:
    """Keep a spreadsheet from computing a text that looks like a formula."""
    return "'" + cell if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
