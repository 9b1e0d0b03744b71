"""What a query finds, written row by row as it comes, in every question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, count
from typing import TextIO

from sqlalchemy import Connection

from registry.errors import LimitError
from registry.query.question import QueryRequest
from registry.query.sql import QueryResult, Row, answer, too_many_rows, write_parquet
from registry.rendering.render import lines, render
from registry.rendering.table import Table

TABLE_ROWS = 10_000  # that a table, which is written in one piece, has at most unless more are asked for


def write(connection: Connection, question: QueryRequest, out: TextIO) -> list[str]:
    """Write the answer to a question to `out`, or into its output file; gives what there is to tell beside it.

    Raises:
        QueryError: The query is refused.
        LimitError: There are more rows than allowed.
        MemoryError: They need more memory than allowed.
        StoreError: The file cannot be written.
    """
    if question.output is not None:
        return write_parquet(connection, question.query, question.output, question.max_rows)
    found = answer(connection, question.query)
    keys = _distinct(found.columns)
    if question.format != "table":
        rows = _rows(found, question.max_rows)
        out.writelines(lines(keys, rows, question.format, terminal=question.width is not None))
        return found.told
    shown: list[Row] = []

    def table() -> str:
        return render([Table([dict(zip(keys, row, strict=True)) for row in shown], keys=keys)], "table",
                      width=question.width, color=question.color)

    try:
        for row in _rows(found, question.max_rows or TABLE_ROWS):
            shown.append(row)  # noqa: PERF402  (what came before an error is kept)
    except LimitError:
        out.write(table())
        raise
    out.write(table())
    return found.told


def _rows(found: QueryResult, max_rows: int | None) -> Iterator[Row]:
    for n, row in enumerate(chain.from_iterable(found.batches)):
        if max_rows is not None and n == max_rows:
            raise too_many_rows(max_rows)
        yield row


def _distinct(columns: list[str]) -> list[str]:
    """The columns' names; one that stands twice is numbered.

    >>> _distinct(["a", "a", "a_2"])
    ['a', 'a_3', 'a_2']
    """
    keys: list[str] = []
    seen, taken, numbers = set[str](), set(columns), defaultdict[str, Iterator[int]](lambda: count(2))
    for name in columns:
        unused = (key for n in numbers[name] if (key := f"{name}_{n}") not in taken)
        keys.append(name if name not in seen else next(unused))
        seen.add(name)
        taken.add(keys[-1])
    return keys
