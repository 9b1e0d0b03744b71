"""Functions that read and insert rows.

A single row gets a new id. Many rows are inserted as columns.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, text

_MAX_FIXED_WIDTH = 100  # longest text in an array of fixed width; a character needs 4 bytes
_ROWS_OF_A_THREAD = 50 * 2048  # number of rows that DuckDB gives to one thread
_MAX_VALUES = 250  # up to this number of values, INSERT with parameters is faster than INSERT with arrays


class Coded(NamedTuple):
    """A text column with few distinct values, stored as indices.

    Attributes:
        codes: For each row, the index of its text in `texts`.
        texts: The distinct texts.
    """

    codes: NDArray[Any]
    texts: Sequence[str]


Columns = Mapping[str, NDArray[Any] | Coded | int | float | bool]


def get_driver(connection: Connection) -> Any:
    """Return DuckDB's own connection inside an SQLAlchemy connection.

    Both connections use the same transaction.
    """
    return connection.connection.driver_connection


def register_arrays(driver: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Make arrays available to SQL as the columns of a temporary table.

    Args:
        driver: DuckDB's own connection.
        name: Name of the table.
        arrays: The columns by their names.
    """
    driver.execute("FROM range(0)").fetchall()  # DuckDB 2 registers nothing while rows of the last result are unread
    driver.register(name, arrays)


def next_id(connection: Connection, table: Table) -> int:
    """Return an unused id for a new row: the largest id in the table, plus 1.

    The first column of the table must be its id.
    """
    (column, *_) = table.columns
    query = f'SELECT max("{column.name}") FROM "{table.name}"'  # noqa: S608
    return int(connection.exec_driver_sql(query).scalar_one() or 0) + 1


def find_nonempty(connection: Connection, tables: Iterable[str]) -> set[str]:
    """Return the names of those tables that have at least one row."""
    query = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (FROM \"{table}\")" for table in tables)
    return set(connection.exec_driver_sql(query).scalars())


def has_row(connection: Connection, source: str) -> bool:
    """Return True if a table has at least one row.

    Use this check before a query of a complex view, because DuckDB needs ten milliseconds to plan such a query.

    Args:
        connection: Connection to the registry.
        source: Name of the table, with an optional WHERE clause.
    """
    query = f"SELECT 1 FROM {source} LIMIT 1"  # noqa: S608 - the program's own
    return connection.exec_driver_sql(query).first() is not None


def insert(connection: Connection, table: Table, **values: Any) -> int:
    """Insert one row with the next free id, and return the id."""
    (column, *_) = table.columns
    allocated = next_id(connection, table)
    connection.execute(table.insert().values({column.name: allocated, **values}))
    return allocated


def insert_bulk(connection: Connection, table: Table, columns: Columns) -> None:
    """Insert rows that are given as columns; this is fast even for millions of rows.

    Masked values and nan become NULL.

    Args:
        connection: Connection in a transaction.
        table: Table of the rows.
        columns: Values of all columns of the table, by name. Each is an array, a `Coded` column, or one number for all
            rows. All arrays have the same length.

    Raises:
        ValueError: A column is missing or unknown, or the lengths of the arrays differ.
    """
    if set(columns) != {c.name for c in table.columns}:
        raise ValueError(f"table {table.name} has other columns than {sorted(columns)}")
    values, arrays = [], dict[str, NDArray[Any]]()
    for column in table.columns:
        value, registered = _make_column_sql(column.name, columns[column.name])
        values.append(value)
        arrays |= registered
    if len({len(array) for array in arrays.values()}) != 1:
        raise ValueError(f"columns for table {table.name} differ in length")
    n = len(next(iter(arrays.values())))
    if n and n * len(values) <= _MAX_VALUES:
        cells = [_to_list(columns[column.name], n) for column in table.columns]
        row = f"({', '.join('?' * len(cells))})"
        query = f'INSERT INTO "{table.name}" VALUES {", ".join([row] * n)}'  # noqa: S608
        connection.exec_driver_sql(query, tuple(chain.from_iterable(zip(*cells, strict=True))))
    elif n:
        query = f'INSERT INTO "{table.name}" SELECT {", ".join(values)} FROM _columns'  # noqa: S608
        with with_arrays(connection, arrays):
            connection.exec_driver_sql(query)


def _to_list(column: NDArray[Any] | Coded | float, n: int) -> list[Any]:
    if isinstance(column, Coded):
        return [column.texts[code] for code in column.codes]
    if isinstance(column, np.ndarray):
        return [None if value != value else value for value in column.tolist()]  # only nan differs from itself
    return [column] * n


@contextmanager
def with_arrays(connection: Connection, arrays: Mapping[str, NDArray[Any]]) -> Iterator[None]:
    """Make arrays available to SQL as columns of a table `_columns` in a block.

    If the arrays are long, DuckDB uses only one thread. Several threads would divide the rows differently than the
    target table does, and DuckDB would have to copy the rows again.
    """
    driver, is_large = get_driver(connection), len(next(iter(arrays.values()))) > _ROWS_OF_A_THREAD
    register_arrays(driver, "_columns", arrays)
    if is_large:
        driver.execute("SET threads = 1")
    try:
        yield
    finally:
        if is_large:
            driver.execute("RESET threads")
        driver.unregister("_columns")


def _make_column_sql(name: str, column: NDArray[Any] | Coded | float) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the SQL expression that inserts a column, and the arrays that it needs."""
    if isinstance(column, Coded):
        literals = ", ".join(map(quote, column.texts))
        return f'([{literals}])["{name}" + 1]', {name: column.codes}
    if isinstance(column, np.ma.MaskedArray):  # DuckDB ignores masks
        mask = f"{name} masked"
        return f'if("{mask}", NULL, "{name}")', {name: np.ma.getdata(column), mask: np.ma.getmaskarray(column)}
    if isinstance(column, np.ndarray):  # DuckDB misreads the columns of a structured array
        return f'"{name}"', {name: np.ascontiguousarray(column)}
    return repr(column), {}


def insert_many(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that are given as dictionaries with a value for every column.

    If the ids are missing, the rows get new ids. None and nan become NULL.
    """
    if not rows:
        return
    columns: dict[str, NDArray[Any] | int] = {name: _mask_none([row[name] for row in rows]) for name in rows[0]}
    (column, *_) = table.columns
    if column.name not in columns:
        first = next_id(connection, table)
        columns[column.name] = np.arange(first, first + len(rows), dtype=np.int32)
    insert_bulk(connection, table, columns)


def _mask_none(values: list[Any]) -> NDArray[Any]:
    """Convert values to an array in which each None is masked.

    An array with many None would make DuckDB import pandas.
    """
    if None not in values:
        if isinstance(values[0], datetime):
            return np.array(values, dtype="datetime64[us]")
        return text_column(values) if isinstance(values[0], str) else np.array(values)
    placeholder = next((value for value in values if value is not None), 0)
    column = _mask_none([placeholder if value is None else value for value in values])
    return np.ma.MaskedArray(column, [value is None for value in values])


def text_column(values: list[str]) -> NDArray[Any]:
    """Convert texts to an array, for a column of `insert_bulk`.

    Short texts become an array of fixed width, because Python objects in an array can make DuckDB import pandas.
    """
    longest = max(map(len, values), default=0)
    if longest <= _MAX_FIXED_WIDTH:
        return np.array(values, dtype=np.str_)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def select_rows(connection: Connection, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the rows of a SELECT as dictionaries."""
    return [dict(row) for row in connection.execute(text(query), parameters).mappings()]


def quote(text: str | Path) -> str:
    """Return a text as an SQL literal.

    >>> quote("it's")
    "'it''s'"
    """
    return "'" + str(text).replace("'", "''") + "'"


def make_parquet_sql(path: Path) -> str:
    """Return the SQL expression that reads exactly one Parquet file.

    DuckDB would otherwise interpret special characters as a pattern, and add columns for folders named `key=value`.

    >>> make_parquet_sql(Path("a[1]/key=b.parquet"))
    "read_parquet('a[[]1]/key=b.parquet', hive_partitioning = false)"
    """
    return f"read_parquet({quote(glob.escape(str(path)))}, hive_partitioning = false)"
