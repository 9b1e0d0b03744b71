"""Tables as data: rows, columns for people, and formats of single values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from registry.identity import replace_undefined

Row = Mapping[str, Any]
# The page's script uses the same rules (reports/page/scripts/numbers.js).
NUMBERS: dict[str, Any] = json.loads((Path(__file__).parent / "numbers.json").read_text("utf-8"))


@dataclass(frozen=True)
class Column:
    """Displayed column of a table: its heading, and the format of its values.

    Attributes:
        key: The key of the column's values in a row.
        heading: The displayed heading.
        write: A function that formats a value.
        right: True for numbers, which are aligned on the right and never wrapped.
        emphasis: A function of a row. It returns True to highlight the cell, False to dim the cell, and None to leave
            the cell unchanged.
        is_name: True for names, which a narrow terminal shortens in the middle.
        optional: 0 if the column is always shown. Otherwise a narrow terminal may leave the column out; columns with
            the highest number are left out first.
        is_key: True if the column identifies the rows, so that each part of a split table repeats it.
    """

    key: str
    heading: str
    write: Callable[[Any], str] = str
    right: bool = False
    emphasis: Callable[[Row], bool | None] | None = None
    is_name: bool = False
    optional: int = 0
    is_key: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of data with the columns, title and captions with which they are shown.

    Attributes:
        rows: The rows; each row has values by key.
        columns: The displayed columns. Empty: every key is a column.
        title: The line above the table.
        captions: Lines below the table.
        keys: The keys that formats for programs (such as JSON) write, in this order. Empty: the keys of the first row.
        signature: The last line, which identifies the result; papers quote it.
        notes: Further lines after the captions, the most important first. A terminal shows only the first ones.
    """

    rows: Sequence[Row]
    columns: Sequence[Column] = ()
    title: str = ""
    captions: Sequence[str] = field(default=())
    keys: Sequence[str] = ()
    signature: str = ""
    notes: Sequence[str] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All captions and notes."""
        return tuple(filter(None, (*self.captions, *self.notes)))


def make_number_format(decimals: int) -> Callable[[Any], str]:
    """Return a function that formats numbers with this number of decimals.

    The function formats None and nan as `n/a`, and writes no minus sign before 0.00.

    >>> list(map(make_number_format(2), (0.126, -0.001, None)))
    ['0.13', '0.00', 'n/a']
    """
    return lambda value: NUMBERS["undefined"] if replace_undefined(value) is None else f"{value:z.{decimals}f}"


def format_percent(share: float) -> str:
    """Format a share as a percentage: 0.5 becomes `50.0 %`."""
    return f"{100 * share:.{NUMBERS['percentDecimals']}f} %"


def format_p_value(value: Any, log10_p: float | None = None) -> str:
    """Format a p-value without rounding it to 0 or 1.

    If the p-value is too small for a float, its logarithm `log10_p` is used.

    >>> [format_p_value(p) for p in (1.0, 0.04996, 0.0000123, 3e-200, 0.99999, 0.9999999, 0.0)]
    ['1', '0.0500', '1.2e-05', '3.0e-200', '0.99999', '>0.99999', '<1e-323']
    >>> format_p_value(0.0, -512.25)
    '5.6e-513'
    """
    rules = NUMBERS["pValue"]
    if replace_undefined(value) is None:
        return str(NUMBERS["undefined"])
    if value == 1:
        return str(rules["one"])
    if value == 0 and replace_undefined(log10_p) is None:
        return str(rules["zero"])
    if value < rules["scientificBelow"]:
        number = value or Decimal(10) ** Decimal(log10_p or 0)
        return f"{number:.{rules['scientificDigits']}e}"
    if value < rules["preciseFrom"]:
        return f"{value:.{rules['decimals']}f}"
    digits = f"{value:.{rules['preciseDigits']}g}"
    return str(rules["almostOne"]) if float(digits) == 1 else digits


def format_interval(low: float | None, high: float | None, decimals: int) -> str:
    """Format a confidence interval; an end that is missing is a dash.

    The text is empty if both ends are missing.
    """
    ends = [None if end is None or not math.isfinite(end) else f"{end:z.{decimals}f}" for end in (low, high)]
    return "" if ends == [None, None] else " to ".join(end or "-" for end in ends)


def is_significant(row: Row) -> bool:
    """Return True if the difference in a table row is significant."""
    return bool(row["significant"])


def format_text(value: Any) -> str:
    """Convert a value to text: None and nan to a dash, True to `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if replace_undefined(value) is None else str(value)


def format_cells(table: Table) -> tuple[list[Column], list[list[str]]]:
    """Return the columns to show, and the formatted cells of every row of a table."""
    keys = table.keys or (list(table.rows[0]) if table.rows else [])
    columns = list(table.columns) or [Column(key, key, format_text) for key in keys]
    return columns, [[column.write(row[column.key]) for column in columns] for row in table.rows]


def escape_controls(cell: str) -> str:
    r"""Replace unprintable characters by escapes, such as a tab by `\t`.

    Control characters could otherwise send commands to a terminal, or break a line.
    """
    if cell.isprintable():
        return cell
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cell)
