"""Rows for programs, written one by one as they come: TSV, CSV, JSON, JSON Lines, and plain Markdown.

Names in them are untrusted: each form escapes what means something in it. TSV and CSV also guard texts that a
spreadsheet would compute as formulas; JSON has every text as it is.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from textwrap import indent
from typing import Any

from registry.identity import plain_value
from registry.messages import Message
from registry.rendering.markdown import markdown_rows
from registry.rendering.table import text, visible

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def lines(keys: Sequence[str], rows: Iterable[Sequence[Any]], format_: str, *, terminal: bool = False) -> Iterator[str]:
    """Write rows, each with a value for every key, as one of `FORMS`, piece by piece.

    On a terminal also what is only data elsewhere is written so that it cannot steer it: control characters as escapes,
    but for the ends of lines and columns.
    """
    written = FORMS[format_](keys, rows)
    return ("".join(c if c in "\n\t" else visible(c) for c in piece) for piece in written) if terminal else written


def _machine(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(_machine, value))
    if isinstance(value, Message):
        return value.code
    value = plain_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _cell(value: Any) -> str:
    """Write a value for a spreadsheet: numbers as they are, texts guarded."""
    return guard_formula(_machine(value)) if isinstance(value, str | tuple) else _machine(value)


def guard_formula(cell: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute as a formula.

    Texts that are plain numbers stay as they are. Double quotes before the text do not count, because a spreadsheet
    that reads TSV removes them.

    >>> guard_formula("=1+1"), guard_formula("-0.5"), guard_formula("-a")
    ("'=1+1", '-0.5', "'-a")
    """
    is_formula = cell.lstrip('"').startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula and not _NUMBER.fullmatch(cell) else cell


def _tsv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in chain([keys], rows):
        yield "\t".join([visible(_cell(value)) for value in row]) + "\n"


def _csv(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # the writer quotes cells with characters of its line end only
    for row in chain([keys], rows):
        writer.writerow(map(_cell, row))
        yield out.getvalue().removesuffix("\r\n") + "\n"
        out.seek(0)
        out.truncate()


def _md(keys: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    return markdown_rows(keys, ([text(value) for value in row] for row in rows))


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
    written = json.dumps({key: plain_value(value) for key, value in zip(keys, row, strict=True)}, indent=spaces,
                         ensure_ascii=False,
                         default=_json_value)
    if written.replace("\n", "").isprintable():
        return written
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in written)


def _json_value(value: Any) -> Any:
    if isinstance(value, Message):
        return value.described()
    return float(value) if isinstance(value, Decimal) else _machine(value)


FORMS = {"tsv": _tsv, "csv": _csv, "md": _md, "json": _json, "jsonl": _jsonl}
