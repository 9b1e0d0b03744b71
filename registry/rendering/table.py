"""Plain tables: rows as data, the columns that people see, and how single values are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from registry.identity import plain_value

Row = Mapping[str, Any]
# The page's script reads the same rules (reports/page/scripts/numbers.js).
NUMBERS: dict[str, Any] = json.loads((Path(__file__).parent / "numbers.json").read_text("utf-8"))


@dataclass(frozen=True)
class Column:
    """A column for people: the key it shows, its heading, and how a value is written.

    Attributes:
        key: The key of a row that it shows.
        heading: What stands above.
        write: Writes a value.
        right: Whether it holds numbers, which stand at the right and are never folded.
        decided: Of a row, whether its value tells of a decision (True) or of an open one (False), for colours; None
            is neither.
    """

    key: str
    heading: str
    write: Callable[[Any], str] = str
    right: bool = False
    decided: Callable[[Row], bool | None] | None = None


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


def number(digits: int) -> Callable[[Any], str]:
    """Return a function that writes numbers with so many decimals, and undefined ones as n/a."""
    return lambda value: NUMBERS["undefined"] if plain_value(value) is None else f"{value:.{digits}f}"


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.{NUMBERS['percentDecimals']}f} %"


def p_value(value: Any, log10_p: float | None = None) -> str:
    """Write a p-value so that it is never rounded to 0 or 1; `log10_p` is its logarithm, for values below all floats.

    >>> [p_value(p) for p in (1.0, 0.04996, 0.0000123, 3e-200, 0.99999, 0.9999999, 0.0)]
    ['1', '0.0500', '1.2e-05', '3.0e-200', '0.99999', '>0.99999', '<1e-323']
    >>> p_value(0.0, -512.25)
    '5.6e-513'
    """
    rules = NUMBERS["pValue"]
    if plain_value(value) is None:
        return str(NUMBERS["undefined"])
    if value == 1:
        return str(rules["one"])
    if value == 0 and plain_value(log10_p) is None:
        return str(rules["zero"])
    if value < rules["scientificBelow"]:
        number = value or Decimal(10) ** Decimal(log10_p or 0)
        return f"{number:.{rules['scientificDigits']}e}"
    if value < rules["preciseFrom"]:
        return f"{value:.{rules['decimals']}f}"
    written = f"{value:.{rules['preciseDigits']}g}"
    return str(rules["almostOne"]) if float(written) == 1 else written


def is_significant(row: Row) -> bool:
    """Whether the difference that a row is about is significant, for `Column.decided`."""
    return bool(row["significant"])


def text(value: Any) -> str:
    """Write a text, a missing one as a dash."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-" if plain_value(value) is None else str(value)


def cells(table: Table) -> tuple[list[Column], list[list[str]]]:
    """The columns that people see, and every row's cells as they see them."""
    keys = table.keys or (list(table.rows[0]) if table.rows else [])
    columns = list(table.columns) or [Column(key, key, text) for key in keys]
    return columns, [[column.write(row[column.key]) for column in columns] for row in table.rows]


def visible(cell: str) -> str:
    """Write control characters, which could steer a terminal or break a line, as escapes."""
    if cell.isprintable():
        return cell
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cell)
