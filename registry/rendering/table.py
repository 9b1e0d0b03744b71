"""Tables as data: rows, the columns that people see, and formats of single values."""

from __future__ import annotations

import json
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
    """A column for people.

    Attributes:
        key: The key of its values in a row.
        heading: The heading for people.
        write: Formats a value.
        right: True for numbers, which are aligned on the right and never wrapped.
        emphasis: Returns True to highlight the cell of a row, False to dim it, and None to leave it as it is.
    """

    key: str
    heading: str
    write: Callable[[Any], str] = str
    right: bool = False
    emphasis: Callable[[Row], bool | None] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of data with their columns for people.

    Attributes:
        rows: All rows. Formats for programs write all of their keys.
        columns: The columns that people see. Empty: every key is a column.
        title: The line above the table.
        captions: Lines below the table.
        keys: The keys that formats for programs write, in this order. Empty: the keys of the first row.
        signature: The last line, which people copy.
    """

    rows: Sequence[Row]
    columns: Sequence[Column] = ()
    title: str = ""
    captions: Sequence[str] = field(default=())
    keys: Sequence[str] = ()
    signature: str = ""


def make_number_format(decimals: int) -> Callable[[Any], str]:
    """Return a function that formats a number with some decimals, and None or nan as n/a."""
    return lambda value: NUMBERS["undefined"] if replace_undefined(value) is None else f"{value:.{decimals}f}"


def format_percent(share: float) -> str:
    """Format a share as a percentage."""
    return f"{100 * share:.{NUMBERS['percentDecimals']}f} %"


def format_p_value(value: Any, log10_p: float | None = None) -> str:
    """Format a p-value without rounding it to 0 or 1; its logarithm replaces values below the range of floats.

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


def is_significant(row: Row) -> bool:
    """Return True if the difference in a row is significant (an emphasis of `Column`)."""
    return bool(row["significant"])


def format_text(value: Any) -> str:
    """Format a text, and None or nan as a dash."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if replace_undefined(value) is None else str(value)


def format_cells(table: Table) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that people see, and the formatted cells of every row."""
    keys = table.keys or (list(table.rows[0]) if table.rows else [])
    columns = list(table.columns) or [Column(key, key, format_text) for key in keys]
    return columns, [[column.write(row[column.key]) for column in columns] for row in table.rows]


def escape_controls(cell: str) -> str:
    """Replace control characters, which could steer a terminal or break a line, by escapes."""
    if cell.isprintable():
        return cell
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cell)
