"""Functions that run the SQL of users, and write the results."""

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
from registry.query.check import CheckedQuery, check
from registry.query.request import Query, QueryRequest
from registry.rendering.render import render, render_rows
from registry.rendering.table import Table
from registry.store.files import explain
from registry.store.rows import get_driver, quote

_NO_VALUES = re.compile("prepared statement parameters: |not provided for the following parameters: ")  # 1.5, 2.0
_NO_MEMORY = "Memory allocation failure"  # message of DuckDB if the operating system refuses memory
_OUT_OF_MEMORY = "the query needs more memory than it may take"
_PLACE = re.compile(r"\n\nLINE (\d+): ")
BATCH = 2048  # rows, as in DuckDB's own vectors
TABLE_ROWS = 10_000  # default limit for the format `table`, which needs all rows in memory

Row = tuple[Any, ...]


@dataclass(frozen=True)
class QueryResult:
    """The running result of a query.

    Attributes:
        columns: Names of the columns; a name may occur twice.
        batches: Batches of rows. A batch is computed when it is read.
        notes: Sentences about missing rows.
    """

    columns: list[str]
    batches: Iterator[list[Row]]
    notes: list[str]


def run_query(connection: Connection, query: Query) -> QueryResult:
    """Start a user's query; its rows are computed when they are read.

    Errors are raised by this function, or later while rows are read.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or DuckDB rejects it.
        MemoryError: The query needs more memory than permitted.
    """
    cursor = get_driver(connection).duplicate()
    notes = execute(cursor, query)
    return QueryResult([column[0] for column in cursor.description], fetch_batches(cursor, query), notes)


def execute(cursor: Any, query: Query) -> list[str]:
    """Start a user's query on a cursor of DuckDB, and return notes for the user.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or DuckDB rejects it.
        MemoryError: The query needs more memory than permitted.
    """
    with translate_errors(query):
        checked = check(cursor, query)
        notes = _unpack_texts(cursor, checked)
        cursor.execute(checked.sql, dict(query.parameters) or None)
    return notes


def describe_columns(cursor: Any, query: Query) -> list[str]:
    """Return the names of the columns of a query, without running the query.

    A repeated name gets a number.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or DuckDB rejects it.
    """
    with translate_errors(query, first_line=2):
        checked = check(cursor, query)
        if checked.explains:
            return ["explain_key", "explain_value"]
        cursor.execute(_wrap_query(cursor, query, checked, "FROM", "LIMIT 0"), dict(query.parameters) or None)
    return [column[0] for column in cursor.description]


def count_rows(cursor: Any, query: Query) -> int:
    """Run a query, and return the number of its rows.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or DuckDB rejects it.
        MemoryError: The query needs more memory than permitted.
    """
    with translate_errors(query, first_line=2):
        checked = check(cursor, query)
        if checked.explains:
            execute(cursor, query)
            return len(cursor.fetchall())
        _unpack_texts(cursor, checked)
        select = _wrap_query(cursor, query, checked, "SELECT count(*) FROM")
        (n,) = cursor.execute(select, dict(query.parameters) or None).fetchone()
    return int(n)


def write_parquet(connection: Connection, query: Query, path: Path, max_rows: int | None = None) -> list[str]:
    """Write the rows of a query to a Parquet file; return notes for the user.

    Args:
        connection: Connection that may write the file.
        query: The query.
        path: Path of the file.
        max_rows: Largest number of rows; None means no limit.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or DuckDB rejects it.
        MemoryError: The query needs more memory than permitted.
        LimitError: The result has more than `max_rows` rows.
        StoreError: The file cannot be written.
    """
    driver = get_driver(connection).duplicate()
    with translate_errors(query, first_line=2):
        checked = check(driver, query)
        if checked.explains:
            raise QueryError("EXPLAIN has no rows for a parquet file; choose another --format", path=query.source)
        notes = _unpack_texts(driver, checked)
        select = _wrap_query(driver, query, checked, "FROM", "" if max_rows is None else f"LIMIT {max_rows + 1}")
        copy = f"COPY ({select}) TO {quote(path)} (FORMAT parquet, USE_TMP_FILE false)"
        try:
            (n_rows,) = driver.execute(copy, dict(query.parameters) or None).fetchone()
        except duckdb.IOException as error:
            raise explain(str(error), path) or error from None
    if max_rows is not None and n_rows > max_rows:
        raise _make_row_error(max_rows)
    return notes


def _unpack_texts(driver: Any, checked: CheckedQuery) -> list[str]:
    """Load the stored texts of items into a view, if the query reads this view.

    The view is `item_text`. Loading takes time, and few queries need it.

    Returns:
        Messages for the user.
    """
    if not checked.reads_texts:
        return []
    from registry.query.texts import unpack  # few queries need the readers of files

    return unpack(driver)


def _wrap_query(driver: Any, query: Query, checked: CheckedQuery, prefix: str, suffix: str = "") -> str:
    """Put a checked query into a larger SELECT as a subquery, and check the result.

    Args:
        driver: DuckDB's own connection.
        query: The original query.
        checked: The checked query.
        prefix: SQL before the subquery, such as `SELECT count(*) FROM`.
        suffix: SQL after the subquery.
    """
    select = f"{prefix} (\n{_strip_end(checked.sql)}\n) {suffix}"
    return check(driver, replace(query, sql=select)).sql


def _strip_end(sql: str) -> str:
    """Remove the semicolons and comments at the end of a statement."""
    text = sql.encode()
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if text[start:start + 1] != b";" and kind != duckdb.token_type.comment:  # DuckDB 1.5 lists no comments
            break
        end = start
    return text[:end].decode()


def _make_row_error(max_rows: int) -> LimitError:
    return LimitError(f"the result has more than {max_rows} rows; allow more by --max-rows, or add LIMIT to the query")


def fetch_batches(cursor: Any, query: Query) -> Iterator[list[Row]]:
    """Yield the rows of a running query in batches, and translate DuckDB's errors.

    Raises:
        QueryError: DuckDB rejects the query.
        MemoryError: The query needs more memory than permitted.
    """
    while True:
        with translate_errors(query):
            rows = cursor.fetchmany(BATCH)
        if not rows:
            return
        yield rows


@contextmanager
def translate_errors(query: Query, *, first_line: int = 1) -> Iterator[None]:
    """Translate errors of DuckDB in a `with` block into errors about the user's SQL.

    The user's query may be a part of the SQL that DuckDB runs.

    Args:
        query: The user's query.
        first_line: Line of the SQL for DuckDB at which the user's query begins, from 1.
    """
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError(_OUT_OF_MEMORY) from None
    except (duckdb.InternalException, duckdb.FatalException) as error:
        if _NO_MEMORY in str(error):
            raise MemoryError(_OUT_OF_MEMORY) from None
        message, _, _ = str(error).partition("\nStack Trace:")
        raise RegistryError(f"DuckDB {duckdb.__version__} fails on this query: {_join_lines(message)}") from None
    except duckdb.Error as error:
        raise _make_query_error(str(error), query, first_line) from None


def _make_query_error(message: str, query: Query, first_line: int) -> QueryError:
    """Convert an error message of DuckDB into an error for the user.

    If the last lines of the message mark a place in the SQL with a caret, they become the excerpt of the error.
    """
    if _NO_VALUES.search(message):
        names = message.rpartition(": ")[2]
        return QueryError(f"the parameter {names} has no value; add --param NAME=VALUE, or name=value in Python",
                          path=query.source)
    if "excess parameters: " in message:
        return QueryError(f"the query has no parameter ${message.rpartition(': ')[2]}", path=query.source)
    *_, place = [None, *_PLACE.finditer(message)]
    if place is None:
        return QueryError(_join_lines(message), path=query.source)
    text, _, caret = message[place.end():].partition("\n")
    indent = len(place[0].strip()) + 1  # DuckDB indents the caret by "LINE n: "
    return QueryError(_join_lines(message[:place.start()]), path=query.source, line=int(place[1]) - first_line + 1,
                      excerpt=f"  {text}\n  {caret[indent:]}")


def _join_lines(message: str) -> str:
    return " ".join(message.split())


def write_result(connection: Connection, request: QueryRequest, output: TextIO) -> list[str]:
    """Run a query, and write its result in the requested format.

    A Parquet file is written to the path in the request, other formats to `output`.

    Returns:
        Notes for the user.

    Raises:
        QueryError: The query is invalid or not permitted.
        LimitError: The result has more rows than permitted.
        MemoryError: The query needs more memory than permitted.
        StoreError: The file cannot be written.
    """
    if request.output is not None:
        return write_parquet(connection, request.query, request.output, request.max_rows)
    result = run_query(connection, request.query)
    keys = _number_duplicates(result.columns)
    if request.format != "table":
        rows = _limit_rows(result, request.max_rows)
        output.writelines(render_rows(keys, rows, request.format, terminal=request.width is not None))
        return result.notes
    shown: list[Row] = []
    try:
        for row in _limit_rows(result, request.max_rows or TABLE_ROWS):
            shown.append(row)  # noqa: PERF402  (rows before an error are shown)
    except LimitError:
        output.write(_render_table(request, keys, shown))
        raise
    output.write(_render_table(request, keys, shown))
    return result.notes


def _render_table(request: QueryRequest, keys: list[str], rows: list[Row]) -> str:
    table = Table([dict(zip(keys, row, strict=True)) for row in rows], keys=keys)
    return render([table], "table", width=request.width, color=request.color)


def _limit_rows(result: QueryResult, max_rows: int | None) -> Iterator[Row]:
    for n, row in enumerate(chain.from_iterable(result.batches)):
        if max_rows is not None and n == max_rows:
            raise _make_row_error(max_rows)
        yield row


def _number_duplicates(columns: list[str]) -> list[str]:
    """Make column names distinct: a repeated name gets a number.

    >>> _number_duplicates(["a", "a", "a_2"])
    ['a', 'a_3', 'a_2']
    """
    keys: dict[str, None] = {}
    used, numbers = set(columns), defaultdict[str, Iterator[int]](lambda: count(2))
    for name in columns:
        key = name
        if name in keys:
            key = next(key for n in numbers[name] if (key := f"{name}_{n}") not in used)
        keys[key] = None
        used.add(key)
    return list(keys)
