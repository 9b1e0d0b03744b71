"""Rows of measure, item and value, as trec_eval and ir_measures print them for each query.

    map    301    0.2501          trec_eval -q qrels run
    301    AP     0.2501          ir_measures qrels run AP -q

Rows of all items together (`all`) are ignored. Values that are not numbers, such as names of runs, are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from registry.errors import counted
from registry.readers.parsing.delimited import TextFormat, read_cells
from registry.readers.parsing.document import Document
from registry.readers.parsing.fast_tables import NUMBER

COLUMNS = ("measure", "item", "value")  # of trec_eval
_ALL = "all"  # in place of the item: the mean over all items
_NUMBER = re.compile(NUMBER)


def read_measures(document: Document, text_format: TextFormat,
                  columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the first line and the measures of each item: `{"item": "301", "map": 0.25}`.

    Args:
        document: The file.
        text_format: The separator of cells, and the beginning of comments.
        columns: Names of the columns. Those called `measure` and `value` have measures and values; the others together
            name the item.

    Raises:
        InputError: A row has another number of cells, an item has two values of a measure, or all rows are averages.
            If the document collects problems, the error is stored there instead.
    """
    measure, value = columns.index("measure"), columns.index("value")
    rows: dict[tuple[str, ...], tuple[int, dict[str, Any]]] = {}
    number = 0
    for number, raw_cells in read_cells(document, text_format):
        cells = [cell.strip() for cell in raw_cells]
        keys = {name: cell for name, cell in zip(columns, cells, strict=False) if name not in ("measure", "value")}
        if not cells or _ALL in keys.values():
            continue
        if len(cells) != len(columns):
            document.refuse(f"the line has {counted(len(cells), 'column')}; expected {', '.join(columns)}", number)
            continue
        _, row = rows.setdefault(tuple(keys.values()), (number, {**keys}))
        if cells[measure] in row:
            document.refuse(f"has two values of {cells[measure]!r}; keep one", number, " ".join(keys.values()),
                            category="duplicate")
        row[cells[measure]] = float(cells[value]) if _NUMBER.fullmatch(cells[value]) else cells[value]
    if number and not rows:
        document.refuse("all rows are averages over all items; write the values of each item: trec_eval -q", number)
    yield from rows.values()
