"""Numbers that readers do not take as they are written: with a decimal comma, per cent, or something beside."""

from __future__ import annotations

import re

from registry.errors import InputError
from registry.guessing.guess import OPEN
from registry.guessing.looks import is_number, is_other_number, tables, text_lines
from registry.guessing.tables.keys import called
from registry.readers import Document

_BESIDE = re.compile(  # a deviation, an interval, marks of the best, a currency
    r"[$€£]\s*[\d.,]+|\*+[\d.]+\*+|[+-]?\d+(?:\.\d+)?\s*(?:±|\+/-|\(|\[|\*|†|[$€£]).*")
_SHOWN = 40  # characters of a cell


def otherwise(document: Document) -> InputError | None:
    """Say that a file has such numbers."""
    columns = [(f" in {called(table, n)}", table.column(n).cells) for table in tables(document) if table.sure > OPEN
               for n in range(len(table.names))]
    lines = [line for _, line in text_lines(document) if line.strip()]
    for where, cells in columns or [("", lines[1:])]:
        if (cell := next(filter(is_other_number, cells), None)) is not None and all(
                is_number(one) or is_other_number(one) for one in cells if one.strip()):
            return InputError(f"has numbers as {cell!r}{where}, and numbers are read with a decimal point and without "
                              "a sign of per cent; write them so", path=document.path)
        beside = [one for one in cells if _BESIDE.fullmatch(one)]
        if columns and 2 * len(beside) > len(cells):
            return InputError(f"has numbers as {beside[0][:_SHOWN]!r}{where}, with something before or behind them: "
                              "leave the numbers alone in these cells", path=document.path)
    return None
