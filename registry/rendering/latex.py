r"""Tables as LaTeX, for papers in two columns.

A table is as wide as a column if it fits, otherwise as wide as the page. The width is estimated from the letters, for a
column of 3.03 inches and text of 11 points, as in papers of the ACL. Notes are below the table, and the caption is
short. Long tables are in two halves side by side, or in several floats; very wide ones are in several blocks.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from registry.messages import Messages
from registry.rendering.table import Column, Table, format_cells

NEEDS = r"% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}."
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "[": "{[}",
    "]": "{]}", "∞": r"$\infty$", "–": "--", "’": "'",
}
# Points.
_COLUMN, _PAGE = 219.0, 455.0
_LINE, _RULE = 12.0, 5.5  # heights
_TALLEST = 450.0  # height of all rows of a float; notes and caption are below
_NARROWEST_NAME = 70.0
_MOST_FLOATS = 8  # of one table before they are printed; LaTeX holds only 18
# Widths of letters in Computer Modern as shares of the font size; Times is narrower.
_WIDTHS = {**dict.fromkeys("ijl.,:;'!|-~ ", 0.31), **dict.fromkeys("rstfI()[]", 0.4), **dict.fromkeys("mM%@W", 0.93),
           **dict.fromkeys("acegoz0123456789/?*", 0.5), **dict.fromkeys("wBCEFJLPRSTZ", 0.73)}
_OTHERS, _CAPITALS = 0.56, 0.79
_AFTER_MARK, _IN_WORD = r"\allowbreak{}", r"\penalty500{}"  # possible line breaks


def escape_latex(text: str) -> str:
    r"""Escape a text so that LaTeX prints it and runs no command.

    Letters of other scripts than Latin need special fonts, so their code points are printed instead.

    >>> print(escape_latex(r"50 % of \input{x}_é漢"))
    50 \% of \textbackslash{}input\{x\}\_éU+6F22
    """
    escaped = "".join(_SPECIAL.get(c, c) for c in _replace_letters(text))
    return re.sub("(?<=([-'!?,<>]))(?=\\1)", "{}", escaped)  # LaTeX would join two of them into another sign


def _replace_letters(text: str) -> str:
    return "".join(c if c in _SPECIAL or _is_latin(c) else f"U+{ord(c):04X}" for c in text)


def _is_latin(c: str) -> bool:
    return " " <= c <= "~" or ("\u00a1" <= c <= "\u017f" and unicodedata.category(c).startswith("L"))


def escape_paragraph(text: str) -> str:
    r"""Escape a text for LaTeX, and allow line breaks in long words.

    >>> print(escape_paragraph("permutation(studentized=true)"))
    permutation(\allowbreak{}studentized=\allowbreak{}true)
    """
    return " ".join(_escape_word(word, 20, 12) for word in text.split(" "))


def escape_name(name: str) -> str:
    """Escape a name for LaTeX, with line breaks for the narrowest column of names."""
    return " ".join(_escape_word(word, 6, 6) for word in name.split(" "))


def _escape_word(word: str, longest: int, piece: int) -> str:
    """Escape a word; if it has more than `longest` letters, allow line breaks.

    A break is after punctuation, or else after `piece` letters.
    """
    word = _replace_letters(word)
    if len(word) <= longest:
        return escape_latex(word)
    parts = re.findall("[^-_/.,:;@=|(+]*[-_/.,:;@=|(+]?", word)[:-1]  # the last match is empty
    return _AFTER_MARK.join(
        _IN_WORD.join(escape_latex(part[n:n + piece]) for n in range(0, len(part), piece)) for part in parts)


def format_signature(signature: str) -> str:
    """Return a signature as LaTeX, with line breaks allowed between its fields."""
    fields = [_escape_word(field, 20, 12) for field in signature.split("|")]
    return r"\texttt{" + r"\textbar\allowbreak{}".join(fields) + "}"


def format_p_value(text: str) -> str:
    r"""Return a formatted p-value as LaTeX, with powers of ten.

    >>> print(format_p_value("1.2e-05"), format_p_value("<1e-323"), format_p_value("0.0312"))
    $1.2\cdot10^{-5}$ $<10^{-323}$ 0.0312
    """
    if text.startswith("≤ "):
        return rf"$\leq$ {format_p_value(text[2:])}"
    match = re.fullmatch(r"([<>]?)([0-9.]+)e(-?)0*([0-9]+)", text)
    if match is None:
        return escape_latex(text)
    sign, number, minus, exponent = match.groups()
    factor = "" if number == "1" else rf"{number}\cdot"
    return rf"${sign}{factor}10^{{{minus}{exponent}}}$"


def make_label(*parts: str | None) -> str:
    r"""Return the argument of `\label` for a table.

    >>> make_label("ner", "test", None, "span_f1")
    'tab:ner-test-span-f1'
    """
    words = (re.sub(r"[^A-Za-z0-9.]+", "-", part or "").strip("-") for part in parts)
    return "tab:" + "-".join(filter(None, words))


@dataclass(frozen=True)
class LatexColumn:
    """Column of a LaTeX table.

    Attributes:
        heading: The escaped heading.
        right: True if cells are aligned on the right.
        is_name: True for names and other text, which can be broken into several lines. The first two columns of names
            are repeated in every block of a wide table.
        is_required: True if the column is kept when all of its cells are equal.
    """

    heading: str
    right: bool = False
    is_name: bool = False
    is_required: bool = False


@dataclass(frozen=True)
class LatexTable:
    r"""Table for a paper; all texts are LaTeX.

    Attributes:
        columns: The columns.
        rows: The cells of each row.
        caption: A short caption.
        label: The argument of `\label`.
        notes: Paragraphs below the table.
        rules: Indices of rows that begin after a rule.
    """

    columns: Sequence[LatexColumn]
    rows: Sequence[Sequence[str]]
    caption: str
    label: str
    notes: Sequence[str] = ()
    rules: Collection[int] = ()

    def drop_constant_columns(self) -> LatexTable:
        """Return the table without columns of equal cells; a note names their values."""
        values = [{row[k] for row in self.rows} for k in range(len(self.columns))]
        kept = [k for k, column in enumerate(self.columns)
                if len(values[k]) > 1 or column.is_name or column.is_required]
        dropped = [f"{column.heading}: {value}" for k, column in enumerate(self.columns) if k not in kept
                   for value in values[k] if value not in ("", "-")]
        note = f"{'In all rows, ' if len(self.rows) > 1 else ''}{'; '.join(dropped)}." if dropped else ""
        first, *others = self.notes or [""]
        notes = [" ".join(filter(None, [note, first])), *others]
        return LatexTable([self.columns[k] for k in kept], [[row[k] for k in kept] for row in self.rows], self.caption,
                          self.label, list(filter(None, notes)), self.rules)


def measure(code: str) -> float:
    r"""Estimate the width of LaTeX code in points, in text of 10 points.

    >>> measure("0.95") < measure(r"\textbf{0.95}") < measure(r"\textbf{0.95}\textsuperscript{B}")
    True
    """
    width = 0.0
    for match in _TOKENS.finditer(code.replace("$-$", "+")):  # a minus is as wide as a plus
        if match[1]:
            width += _SCALES[match[1]] * measure(match[2])
        elif match[0].startswith(r"\text") or match[0] in (r"\cdot", r"\infty"):
            width += 10
        elif match[0] not in ("{", "}", "$", "^", _AFTER_MARK, _IN_WORD, r"\boldmath", r"\unboldmath"):
            letter = match[0][-1]
            width += 10 * _WIDTHS.get(letter, _CAPITALS if letter.isupper() or letter in "+=<>~&" else _OTHERS)
    return width


_TOKENS = re.compile(
    r"\\(textsuperscript|textbf|underline)\{((?:[^{}]|\{[^{}]*\})*)\}|\\[a-z]+[0-9]*(?:\{\})?|\\?.")
_SCALES = {"textsuperscript": 0.8, "textbf": 1.15, "underline": 1.0}


def render_latex_table(table: LatexTable) -> str:
    """Render a table, as wide as a column or a page, in one or more floats."""
    blocks = _choose_blocks(table)
    is_narrow = len(blocks) == 1 and blocks[0].width <= _COLUMN
    heights = [_measure_height(table, blocks[0], n) for n in range(len(table.rows))]
    stretches = _split_rows(heights, _TALLEST / len(blocks))
    floats = []
    if is_narrow and len(stretches) > 1:
        halves = _split_rows(heights, _TALLEST, parts=2 * -(-len(stretches) // 2))
        floats = [[_render_halves(blocks[0], table, halves[n:n + 2])] for n in range(0, len(halves), 2)]
    else:
        floats = [[_render_tabular(block, table, rows) for block in blocks] for rows in stretches]
    environment = "table" if is_narrow and len(stretches) == 1 else "table*"
    parts = [NEEDS]
    for n, bodies in enumerate(floats):
        is_last = n == len(floats) - 1
        if n and n % _MOST_FLOATS == 0:
            parts.append(r"\clearpage")
        parts += [rf"\begin{{{environment}}}", *([r"\addtocounter{table}{-1}"] if n else []),
                  rf"\centering{blocks[0].size.command}\emergencystretch=2em",
                  "\n\\par\\medskip\n".join(bodies), *(_render_notes(table.notes) if is_last else []),
                  *_render_caption(table, is_first=n == 0), rf"\end{{{environment}}}"]
    return "\n".join(parts) + "\n"


def _render_caption(table: LatexTable, *, is_first: bool) -> list[str]:
    if not table.caption:
        return []
    return [rf"\caption{{{table.caption}}}", rf"\label{{{table.label}}}"] if is_first else [r"\caption{Continued.}"]


def _render_notes(notes: Sequence[str]) -> list[str]:
    return [r"\par\medskip\begin{minipage}{\linewidth}\footnotesize\raggedright", " \\par\n".join(notes),
            r"\end{minipage}"] if notes else []


class _Size(NamedTuple):
    command: str
    scale: float
    gap: float


_SIZES = (_Size(r"\small\setlength{\tabcolsep}{4pt}", 1, 8),
          _Size(r"\footnotesize\setlength{\tabcolsep}{2.5pt}", 0.93, 5))  # small letters are relatively wider


@dataclass(frozen=True)
class _Block:
    """Some columns of a table that fit side by side.

    Attributes:
        columns: Indices of the columns.
        widths: The width of each column of the table, in points with text of 10 points.
        size: The size of the text.
    """

    columns: Sequence[int]
    widths: Sequence[float]
    size: _Size

    @property
    def width(self) -> float:
        return self.size.scale * sum(self.widths[k] for k in self.columns) + self.size.gap * (len(self.columns) - 1)


def _choose_blocks(table: LatexTable) -> list[_Block]:
    """Divide the columns of a table into blocks; use one block if the table fits."""
    cells = [max((measure(row[k]) for row in table.rows), default=0) for k in range(len(table.columns))]
    widths = [max(width, *map(measure, _BREAK.split(column.heading))) for width, column in
              zip(cells, table.columns, strict=True)]
    blocks = [_Block(range(len(widths)), widths, size) for size in _SIZES]
    fit = next((block for limit in (_COLUMN, _PAGE) for block in blocks if block.width <= limit), None)
    return [fit] if fit else _split_columns(table, widths, _SIZES[-1])


def _split_columns(table: LatexTable, widths: list[float], size: _Size) -> list[_Block]:
    """Split a table into blocks of columns that fit on a page.

    Columns of names become narrower first.
    """
    names = [k for k, column in enumerate(table.columns) if column.is_name]
    while _Block(range(len(widths)), widths, size).width > _PAGE and any(widths[k] > _NARROWEST_NAME for k in names):
        widest = max(names, key=lambda k: widths[k])
        widths[widest] = max(widths[widest] - 1, _NARROWEST_NAME)
    repeated = names[:2]
    blocks = [repeated]
    for k in (k for k in range(len(widths)) if k not in repeated):
        if _Block([*blocks[-1], k], widths, size).width > _PAGE and len(blocks[-1]) > len(repeated):
            blocks.append(repeated)
        blocks[-1] = sorted([*blocks[-1], k])
    return [_Block(block, widths, size) for block in blocks]


def _measure_height(table: LatexTable, block: _Block, row: int) -> float:
    lines = (measure(cell) / width for cell, width in zip(table.rows[row], block.widths, strict=True) if width)
    return _LINE * max((math.ceil(n) + 1 if n > 1.001 else 1 for n in lines), default=1) + _RULE * (row in table.rules)


def _split_rows(heights: Sequence[float], tallest: float, parts: int = 1) -> list[range]:
    """Split rows into parts of about equal height, for several columns or pages.

    Args:
        heights: The height of each row in points.
        tallest: The largest height of a part.
        parts: The smallest number of parts.
    """
    parts = max(parts, -int(-sum(heights) // tallest), 1)
    limit, total, ends = sum(heights) / parts, 0.0, [0]
    for n, height in enumerate(heights):
        if total >= limit * len(ends) - 0.01 and len(ends) < parts:
            ends.append(n)
        total += height
    return [range(start, end) for start, end in zip(ends, [*ends[1:], len(heights)], strict=True)]


def _render_halves(block: _Block, table: LatexTable, halves: Sequence[range]) -> str:
    """Render one or two parts of the rows side by side."""
    tabulars = [_render_tabular(block, table, rows) for rows in halves]
    return "\\hfill%\n".join("\n".join([r"\begin{minipage}[t]{\columnwidth}\centering", tabular, r"\end{minipage}"])
                            for tabular in tabulars)


def _render_tabular(block: _Block, table: LatexTable, rows: range) -> str:
    columns = [table.columns[k] for k in block.columns]
    spec = "".join("r" if column.right else "l" for column in columns)
    headings = [_break_heading(table.columns[k], block.widths[k]) for k in block.columns]
    lines = [rf"\begin{{tabular}}[t]{{@{{}}{spec}@{{}}}}", r"\toprule", " & ".join(headings) + r" \\", r"\midrule"]
    for n in rows:
        if n in table.rules and n != rows[0]:
            lines.append(r"\midrule")
        lines.append(" & ".join(_break_cell(table, block, n, k) for k in block.columns) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


_BREAK = re.compile(r"( |\\allowbreak\{\}|\\penalty500\{\})")


def _break_heading(column: LatexColumn, width: float) -> str:
    """Put the words of a heading that is wider than its column into several lines."""
    lines: list[str] = []
    separator = ""
    for n, part in enumerate(_BREAK.split(column.heading)):
        if n % 2:
            separator = part if part == " " else ""
        elif lines and measure(lines[-1] + separator + part) <= width:
            lines[-1] += separator + part
        else:
            lines.append(part)
    side = "r" if column.right else "l"
    return lines[0] if len(lines) == 1 else rf"\shortstack[{side}]{{" + r"\\".join(lines) + "}"


def _break_cell(table: LatexTable, block: _Block, row: int, column: int) -> str:
    """Put a name that is wider than its column into a box with several lines."""
    cell, width = table.rows[row][column], block.widths[column]
    if not table.columns[column].is_name or measure(cell) <= width + 0.01:
        return cell.replace(_AFTER_MARK, "").replace(_IN_WORD, "")
    return rf"\parbox[t]{{{block.size.scale * width:.0f}pt}}{{\raggedright\strut {cell}\strut}}"


def render_latex(table: Table) -> str:
    """Render any table as LaTeX, with its title as caption and its captions as notes."""
    columns, _ = format_cells(table)
    rows = [[_write_cell(column, row[column.key]) for column in columns] for row in table.rows]
    notes = " ".join(escape_paragraph(text) for text in map(remove_commands, table.lines) if text)
    signature = format_signature(table.signature) if table.signature else ""
    return render_latex_table(LatexTable(
        [LatexColumn(escape_paragraph(column.heading), column.right, is_name=not column.right) for column in columns],
        rows,
        escape_paragraph(f"{table.title}.") if table.title else "", make_label(*reversed(table.title.split("? ", 1))),
        list(filter(None, [notes, signature]))).drop_constant_columns())


def _write_cell(column: Column, value: Any) -> str:
    if isinstance(value, Messages):
        return escape_name(" ".join(message.finding for message in value))
    text = column.write(value)
    return re.sub("^-", "$-$", format_p_value(text)) if column.right else escape_name(text)


_COMMAND = re.compile(r"`|\bregistry (pairs|board|study|compare|score|query|show|list)\b|(?<![\w-])--[a-z]")


def remove_commands(text: str) -> str:
    """Remove clauses that name commands or options.

    Readers of a paper do not have the program.

    >>> remove_commands("This applies to other items; for other test sets run `registry study suite`. It is stable.")
    'This applies to other items. It is stable.'
    """
    return " ".join(filter(None, map(_remove_clauses, re.split(r"(?<=[.?]) (?=[A-Z])", text))))


def _remove_clauses(sentence: str) -> str:
    clauses = re.split("(?=[;:] )", sentence)
    kept = list(takewhile(lambda clause: not _COMMAND.search(clause), clauses))
    if len(kept) == len(clauses):
        return sentence
    return f"{''.join(kept)}." if kept else ""
