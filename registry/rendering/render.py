"""Tables in any format: drawn for people, or all rows as one for programs."""

from __future__ import annotations

from collections.abc import Sequence

from registry.rendering.latex import latex_table
from registry.rendering.markdown import markdown_table
from registry.rendering.rows import lines
from registry.rendering.table import Table
from registry.rendering.terminal import terminal_table


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
