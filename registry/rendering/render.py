"""Tables as text: Markdown, LaTeX, HTML, and rows for programs (TSV, CSV, JSON, JSON Lines).

Names are untrusted: each form escapes what has a meaning in it. TSV and CSV also guard texts that a spreadsheet would
compute as formulas; JSON has every text as it is.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from textwrap import indent
from typing import Any

from registry.identity import plain_value
from registry.messages import Message
from registry.rendering.table import Table, cells, text, visible
from registry.rendering.terminal import terminal_table


def markdown_table(table: Table) -> str:
    """A table with its title, captions and signature."""
    columns, rows = cells(table)
    parts = [f"**{plain_markdown(table.title)}**\n\n"] if table.title else []
    parts += markdown_rows([c.heading for c in columns], rows, [c.right for c in columns])
    parts += [f"\n{plain_markdown(caption)}\n" for caption in table.captions]
    if table.signature:
        parts.append(f"\n`{visible(table.signature).replace('`', '')}`\n")
    return "".join(parts)


def markdown_rows(headings: Sequence[str], rows: Iterable[Sequence[str]],
                  right: Sequence[bool] | None = None) -> Iterator[str]:
    """The lines of a table, one after the other; `right` tells which columns are numbers."""
    yield "| " + " | ".join(map(plain_markdown, headings)) + " |\n"
    yield "|" + "|".join(" ---: " if r else " --- " for r in right or [False] * len(headings)) + "|\n"
    for row in rows:
        yield "| " + " | ".join(map(plain_markdown, row)) + " |\n"


def plain_markdown(cell: str) -> str:
    """A text with every mark escaped."""
    escaped = cell.replace("\\", "\\\\")
    for mark in "`*_[]<>|#$":
        escaped = escaped.replace(mark, "\\" + mark)
    return visible(escaped)


NEEDS = r"% Needs \usepackage{booktabs,longtable} and \usepackage[T1]{fontenc}."
LONG = 40  # rows from which on a table may break over pages
_FEW = 5  # columns that a column of a paper (7.7 cm) has room for at the usual distance
_CAPTION = 1500  # characters; LaTeX measures a caption as one line, which can be 5.7 m long
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "[": "{[}",
    "]": "{]}", "∞": r"$\infty$", "–": "--", "’": "'",
}


def escape_latex(written: str) -> str:
    r"""Write a text so that LaTeX prints it and does nothing else.

    Letters beyond Latin, which need fonts that nobody can know of, are written by their code points.

    >>> print(escape_latex(r"50 % of \input{x}_é漢"))
    50 \% of \textbackslash{}input\{x\}\_éU+6F22
    """
    escaped = "".join(_SPECIAL.get(c) or (c if _is_latin(c) else f"U+{ord(c):04X}") for c in written)
    return re.sub("(?<=([-'!?,<>]))(?=\\1)", "{}", escaped)  # two of them would be one other sign


def _is_latin(c: str) -> bool:
    return " " <= c <= "~" or ("\u00a1" <= c <= "\u017f" and unicodedata.category(c).startswith("L"))


def latex_table(table: Table) -> str:
    """A table with its title and captions; where these are more than LaTeX takes for one, below the table."""
    columns, rows = cells(table)
    captions = list(map(escape_latex, table.captions))
    long = sum(map(len, captions)) > _CAPTION
    caption = " ".join((escape_latex(table.title + "."), *([] if long else captions)))
    body = (" & ".join(map(escape_latex, row)) + r" \\" for row in rows)
    spec = "".join("r" if column.right else "l" for column in columns)
    return latex_environment(spec, [escape_latex(column.heading) for column in columns], list(body), caption,
                             table.signature, captions if long else ())


def latex_environment(spec: str, headings: Sequence[str], body: Sequence[str], caption: str, signature: str,
                notes: Sequence[str] = ()) -> str:
    """Rows in a floating table, or in one that may break over pages; notes are paragraphs below it."""
    below = [r"\par\medskip\begin{minipage}{\linewidth}\footnotesize\raggedright",
             " \\par\n".join(map(_breakable, notes)), r"\end{minipage}"] if notes else []
    if signature:
        caption += r" \texttt{" + _breakable(escape_latex(signature)) + "}"
    head = [r"\toprule", " & ".join(headings) + r" \\", r"\midrule"]
    spec = f"@{{}}{spec}@{{}}"  # as wide as its letters: a column of a paper is narrow
    size = r"\small" if len(headings) <= _FEW else r"\footnotesize\setlength{\tabcolsep}{2.5pt}"
    if len(body) > LONG:
        lines = [rf"\begingroup{size}", rf"\begin{{longtable}}{{{spec}}}", rf"\caption{{{caption}}} \\", *head,
                 r"\endhead", *body, r"\bottomrule", r"\end{longtable}", r"\endgroup", *below]
    else:
        lines = [r"\begin{table}", rf"\centering{size}", rf"\begin{{tabular}}{{{spec}}}", *head, *body, r"\bottomrule",
                 r"\end{tabular}", rf"\caption{{{caption}}}", *below, r"\end{table}"]
    return "\n".join([NEEDS, *lines]) + "\n"


def _breakable(escaped: str) -> str:
    """Let signatures break after each of their fields."""
    return escaped.replace(r"\textbar{}", r"\textbar\allowbreak{}")


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


def render(tables: Sequence[Table], format_: str, *, width: int | None = None, color: bool = False) -> str:
    """Write tables as `table`, `md` or `latex`, or as one of `FORMS`; `width` is a terminal's."""
    match format_:
        case "table":
            return "\n".join(terminal_table(table, width, color=color) for table in tables)
        case "md":
            return "\n".join(map(markdown_table, tables))
        case "latex":
            return "\n".join(map(latex_table, tables))
    keys = list(dict.fromkeys(key for table in tables for key in table.keys or (table.rows[0] if table.rows else ())))
    rows = ([row.get(key) for key in keys] for table in tables for row in table.rows)  # tables may differ in some
    return "".join(lines(keys, rows, format_, terminal=width is not None))


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
    title = f"<p><strong>{_html_text(table.title)}</strong></p>" if table.title else ""
    lines = ["<div>", title, "<table>", "<thead><tr>",
             *(f"<th{how}>{_html_text(column.heading)}</th>" for column, how in zip(columns, aligned, strict=True)),
             "</tr></thead>", "<tbody>"]
    for row in rows:
        written = "".join(f"<td{how}>{_html_text(cell)}</td>" for cell, how in zip(row, aligned, strict=True))
        lines.append(f"<tr>{written}</tr>")
    lines += ["</tbody>", "</table>", *(f"<p>{_html_text(caption)}</p>" for caption in table.captions)]
    lines += [f"<p><code>{_html_text(table.signature)}</code></p>" if table.signature else "", "</div>"]
    return "\n".join(filter(None, lines))


def _html_text(written: str) -> str:
    return html.escape("\n".join(map(visible, written.split("\n"))))
