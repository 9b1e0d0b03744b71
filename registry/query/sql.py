"""Answer a user's SQL, and write the result."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, TextIO

import duckdb
from sqlalchemy import Connection

from registry.errors import LimitError, QueryError, RegistryError
from registry.query.check import Checked, check
from registry.query.request import Query, QueryRequest
from registry.rendering.render import render, render_rows
from registry.rendering.table import Table
from registry.store.files import explain
from registry.store.rows import driver_of, quote

_NO_VALUES = re.compile("prepared statement parameters: |not provided for the following parameters: ")  # 1.5, 2.0
_NO_MEMORY = "Memory allocation failure"  # where DuckDB asks the system for memory by itself
_PLACE = re.compile(r"\n\nLINE (\d+): ")
BATCH = 2048  # rows; DuckDB's own vectors hold so many


Row = tuple[Any, ...]


@dataclass(frozen=True)
class QueryResult:
    """What a query finds.

    Attributes:
        columns: Their names, of which one may stand twice.
        batches: The rows as they come, some at a time.
        told: What there is to tell beside them.
    """

    columns: list[str]
    batches: Iterator[list[Row]]
    told: list[str]


def answer(connection: Connection, query: Query) -> QueryResult:
    """Begin a query; its rows are computed as they are asked for.

    Raises:
        QueryError: It is not exactly one SELECT or EXPLAIN, or DuckDB refuses it; carries DuckDB's own words.
        MemoryError: It needs more memory than it may take. Both can also come with the rows.
    """
    cursor = driver_of(connection).duplicate()
    told = execute(cursor, query)
    return QueryResult([column[0] for column in cursor.description], batches(cursor, query), told)


def execute(cursor: Any, query: Query) -> list[str]:
    """Begin a query on a cursor of DuckDB; gives what there is to tell beside the rows. See `answer`."""
    with translating(query):
        checked = check(cursor, query)
        told = _unpacked(cursor, checked)
        cursor.execute(checked.sql, dict(query.parameters) or None)
    return told


def columns_of(cursor: Any, query: Query) -> list[str]:
    """The names of a query's columns, of which those that are alike are numbered; it is not run.

    Raises:
        QueryError: As `answer`.
    """
    with translating(query, first_line=2):
        checked = check(cursor, query)
        if checked.explains:
            return ["explain_key", "explain_value"]
        cursor.execute(_wrap(cursor, query, checked, "FROM", "LIMIT 0"), dict(query.parameters) or None)
    return [column[0] for column in cursor.description]


def count_of(cursor: Any, query: Query) -> int:
    """How many rows a query has.

    Raises:
        QueryError, MemoryError: As `answer`.
    """
    with translating(query, first_line=2):
        checked = check(cursor, query)
        if checked.explains:
            execute(cursor, query)
            return len(cursor.fetchall())
        _unpacked(cursor, checked)
        select = _wrap(cursor, query, checked, "SELECT count(*) FROM")
        (n,) = cursor.execute(select, dict(query.parameters) or None).fetchone()
    return int(n)


def write_parquet(connection: Connection, query: Query, path: Path, max_rows: int | None = None) -> list[str]:
    """Write a query's rows to the one file that the connection was opened for; gives what there is to tell beside them.

    Raises:
        QueryError, MemoryError: As `answer`.
        LimitError: There are more than `max_rows`.
        StoreError: The file cannot be written.
    """
    driver = driver_of(connection).duplicate()
    with translating(query, first_line=2):
        checked = check(driver, query)
        if checked.explains:
            raise QueryError("EXPLAIN has no rows for a parquet file; take another --format", path=query.source)
        told = _unpacked(driver, checked)
        select = _wrap(driver, query, checked, "FROM", "" if max_rows is None else f"LIMIT {max_rows + 1}")
        copy = f"COPY ({select}) TO {quote(path)} (FORMAT parquet, USE_TMP_FILE false)"
        try:
            (written,) = driver.execute(copy, dict(query.parameters) or None).fetchone()
        except duckdb.IOException as error:
            raise explain(str(error), path) or error from None
    if max_rows is not None and written > max_rows:
        raise too_many_rows(max_rows)
    return told


def _unpacked(driver: Any, checked: Checked) -> list[str]:
    """Make the rows of the view of texts where a query asks for them; gives notes on it."""
    if not checked.reads_texts:
        return []
    from registry.query.texts import unpack  # late: few queries need the readers of files

    return unpack(driver)


def _wrap(driver: Any, query: Query, checked: Checked, before: str, after: str = "") -> str:
    """Return a SELECT over the rows of a checked query, which is checked again as the whole text that will run."""
    select = f"{before} (\n{_without_end(checked.sql)}\n) {after}"
    return check(driver, replace(query, sql=select)).sql


def _without_end(sql: str) -> str:
    """One statement without the semicolons that end it and what comments follow them."""
    text = sql.encode()
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if text[start:start + 1] != b";" and kind != duckdb.token_type.comment:  # DuckDB 1.5 lists no comments
            break
        end = start
    return text[:end].decode()


def too_many_rows(max_rows: int) -> LimitError:
    """The error of a result with more rows than were allowed."""
    return LimitError(f"the result has more than {max_rows} rows; --max-rows allows more, LIMIT asks for fewer")


def batches(cursor: Any, query: Query) -> Iterator[list[Row]]:
    """The rows of a query that a cursor has begun, some at a time; errors as of `answer`."""
    while True:
        with translating(query):
            rows = cursor.fetchmany(BATCH)
        if not rows:
            return
        yield rows


@contextmanager
def translating(query: Query, *, first_line: int = 1) -> Iterator[None]:
    """Turn what DuckDB says of a query, whose text begins at `first_line` of what DuckDB sees, into errors."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError("the query needs more memory than it may take") from None
    except (duckdb.InternalException, duckdb.FatalException) as error:
        if _NO_MEMORY in str(error):
            raise MemoryError("the query needs more memory than it may take") from None
        message, _, _ = str(error).partition("\nStack Trace:")
        raise RegistryError(f"DuckDB {duckdb.__version__} fails on this query: {_first(message)}") from None
    except duckdb.Error as error:
        raise _refusal(str(error), query, first_line) from None


def _refusal(message: str, query: Query, first_line: int) -> QueryError:
    """The error for DuckDB's `message`, whose last lines may show the place with a caret."""
    if _NO_VALUES.search(message):
        names = message.rpartition(": ")[2]
        return QueryError(f"no value is given for the parameter {names}; --param NAME=VALUE, or in Python "
                          "name=value, gives one", path=query.source)
    if "excess parameters: " in message:
        return QueryError(f"the query has no parameter ${message.rpartition(': ')[2]}", path=query.source)
    *_, place = [None, *_PLACE.finditer(message)]
    if place is None:
        return QueryError(_first(message), path=query.source)
    line = int(place[1]) - first_line + 1
    shown = message[place.end():]
    indent = len(place[0].strip()) + 1  # DuckDB's caret stands below its own "LINE n: "
    text, _, caret = shown.partition("\n")
    return QueryError(_first(message[:place.start()]), path=query.source, line=line,
                      excerpt=f"  {text}\n  {caret[indent:]}")


def _first(message: str) -> str:
    return " ".join(message.split())


TABLE_ROWS = 10_000  # that a table, which is written in one piece, has at most unless more are asked for


def write_result(connection: Connection, request: QueryRequest, output: TextIO) -> list[str]:
    """Write the answer to a request to `out`, or into its output file; gives what there is to tell beside it.

    Raises:
        QueryError: The query is refused.
        LimitError: There are more rows than allowed.
        MemoryError: They need more memory than allowed.
        StoreError: The file cannot be written.
    """
    if request.output is not None:
        return write_parquet(connection, request.query, request.output, request.max_rows)
    found = answer(connection, request.query)
    keys = _distinct(found.columns)
    if request.format != "table":
        rows = _bounded_rows(found, request.max_rows)
        output.writelines(render_rows(keys, rows, request.format, terminal=request.width is not None))
        return found.told
    shown: list[Row] = []

    def table() -> str:
        return render([Table([dict(zip(keys, row, strict=True)) for row in shown], keys=keys)], "table",
                      width=request.width, color=request.color)

    try:
        for row in _bounded_rows(found, request.max_rows or TABLE_ROWS):
            shown.append(row)  # noqa: PERF402  (what came before an error is kept)
    except LimitError:
        output.write(table())
        raise
    output.write(table())
    return found.told


def _bounded_rows(found: QueryResult, max_rows: int | None) -> Iterator[Row]:
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
