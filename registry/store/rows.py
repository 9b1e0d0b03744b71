"""Rows in and out: ids that the application allocates, single rows, and bulk columns."""

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

_WIDEST = 100  # characters of a text kept at fixed width, of 4 bytes each
_CUT = 50 * 2048  # rows of arrays that DuckDB gives to one thread
_FEW = 250  # values that DuckDB takes from a statement sooner than it finds them in arrays


class Coded(NamedTuple):
    """A column in which few texts stand in many rows: the place of each row's text in `texts`."""

    codes: NDArray[Any]
    texts: Sequence[str]


Columns = Mapping[str, NDArray[Any] | Coded | int | float | bool]


def driver_of(connection: Connection) -> Any:
    """DuckDB's own connection, in the same transaction."""
    return connection.connection.driver_connection


def next_id(connection: Connection, table: Table) -> int:
    """The first free id of a table whose first column is its id."""
    (column, *_) = table.columns
    query = f'SELECT max("{column.name}") FROM "{table.name}"'  # noqa: S608
    return int(connection.exec_driver_sql(query).scalar_one() or 0) + 1


def filled(connection: Connection, tables: Iterable[str]) -> set[str]:
    """Those of some tables that have a row."""
    query = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (FROM \"{table}\")" for table in tables)
    return set(connection.exec_driver_sql(query).scalars())


def has_row(connection: Connection, of: str) -> bool:
    """Whether a table has any such row: asked first where it takes DuckDB ten milliseconds to plan the views."""
    return connection.exec_driver_sql(f"SELECT 1 FROM {of} LIMIT 1").first() is not None  # noqa: S608 - the program's own


def insert(connection: Connection, table: Table, **values: Any) -> int:
    """Insert one row under the next free id, and return the id."""
    (column, *_) = table.columns
    allocated = next_id(connection, table)
    connection.execute(table.insert().values({column.name: allocated, **values}))
    return allocated


def insert_bulk(connection: Connection, table: Table, columns: Columns) -> None:
    """Insert rows, however many, at DuckDB's own speed, inside the connection's transaction; nan becomes NULL.

    Args:
        connection: Of the transaction.
        table: Whose every column is given.
        columns: An array for each column, all of one length, texts that are coded, or one number that stands in every
            row. What is masked becomes NULL.

    Raises:
        ValueError: A column is missing or unknown, or lengths differ.
    """
    if set(columns) != {c.name for c in table.columns}:
        raise ValueError(f"columns {sorted(columns)} are not those of table {table.name}")
    values, arrays = [], dict[str, NDArray[Any]]()
    for column in table.columns:
        value, registered = _value(column.name, columns[column.name])
        values.append(value)
        arrays |= registered
    if len({len(array) for array in arrays.values()}) != 1:
        raise ValueError(f"columns for table {table.name} differ in length")
    n = len(next(iter(arrays.values())))
    if n and n * len(values) <= _FEW:
        cells = [_cells(columns[column.name], n) for column in table.columns]
        row = f"({', '.join('?' * len(cells))})"
        query = f'INSERT INTO "{table.name}" VALUES {", ".join([row] * n)}'  # noqa: S608
        connection.exec_driver_sql(query, tuple(chain.from_iterable(zip(*cells, strict=True))))
    elif n:
        _insert_arrays(connection, table, values, arrays)


def _cells(column: NDArray[Any] | Coded | float, n: int) -> list[Any]:
    """The values of a column of `n` rows one by one, None for NULL."""
    if isinstance(column, Coded):
        return [column.texts[code] for code in column.codes]
    if isinstance(column, np.ndarray):
        return [None if value != value else value for value in column.tolist()]  # nan alone is not itself
    return [column] * n


def _insert_arrays(connection: Connection, table: Table, values: Sequence[str],
                   arrays: Mapping[str, NDArray[Any]]) -> None:
    """Insert what the values, in SQL, say of the arrays."""
    query = f'INSERT INTO "{table.name}" SELECT {", ".join(values)} FROM _columns'  # noqa: S608
    with with_arrays(connection, arrays):
        connection.exec_driver_sql(query)


@contextmanager
def with_arrays(connection: Connection, arrays: Mapping[str, NDArray[Any]]) -> Iterator[None]:
    """Let statements select from the arrays, as the columns of a table `_columns`.

    Many rows are inserted by one thread: several would cut them elsewhere than the table does, and copy them once more.
    """
    driver, many = driver_of(connection), len(next(iter(arrays.values()))) > _CUT
    driver.register("_columns", arrays)
    if many:
        driver.execute("SET threads = 1")
    try:
        yield
    finally:
        if many:
            driver.execute("RESET threads")
        driver.unregister("_columns")


def _value(name: str, column: NDArray[Any] | Coded | float) -> tuple[str, dict[str, NDArray[Any]]]:
    """What a column of a table is in SQL, and the arrays by name that this speaks of."""
    if isinstance(column, Coded):
        texts = ", ".join(map(quoted, column.texts))
        return f'([{texts}])["{name}" + 1]', {name: column.codes}
    if isinstance(column, np.ma.MaskedArray):  # DuckDB itself would take what is under a mask for data
        mask = f"{name} masked"
        return f'if("{mask}", NULL, "{name}")', {name: np.ma.getdata(column), mask: np.ma.getmaskarray(column)}
    if isinstance(column, np.ndarray):  # DuckDB misreads the columns of a structured array
        return f'"{name}"', {name: np.ascontiguousarray(column)}
    return repr(column), {}


def insert_many(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that carry every column, save that new ids are given where they have none; None and nan are NULL."""
    if not rows:
        return
    columns: dict[str, NDArray[Any] | int] = {name: _column([row[name] for row in rows]) for name in rows[0]}
    (column, *_) = table.columns
    if column.name not in columns:
        first = next_id(connection, table)
        columns[column.name] = np.arange(first, first + len(rows), dtype=np.int32)
    insert_bulk(connection, table, columns)


def _column(values: list[Any]) -> NDArray[Any]:
    """A column that DuckDB takes without pandas, for which it looks where it meets many a None."""
    if None not in values:
        if isinstance(values[0], datetime):
            return np.array(values, dtype="datetime64[us]")
        return texts(values) if isinstance(values[0], str) else np.array(values)
    there = [value for value in values if value is not None]
    stand_in = there[0] if there else 0
    filled = _column([stand_in if value is None else value for value in values])
    return np.ma.MaskedArray(filled, [value is None for value in values])


def texts(values: list[str]) -> NDArray[Any]:
    """A column of texts for `insert_bulk`.

    Of fixed width where that costs little memory: DuckDB looks for pandas at every single Python object it is given.
    """
    longest = max(map(len, values), default=0)
    if longest <= _WIDEST:
        return np.array(values, dtype=np.str_)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def selected(connection: Connection, query: str, **values: Any) -> list[dict[str, Any]]:
    """The rows of a SELECT, with what its parameters stand for, each by the names of the columns."""
    return [dict(row) for row in connection.execute(text(query), values).mappings()]


def quoted(text: str | Path) -> str:
    """Write a text as SQL does.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + str(text).replace("'", "''") + "'"


def parquet_at(path: Path) -> str:
    """The table of one Parquet file as SQL names it: no character of its path is a pattern, no folder a column.

    >>> parquet_at(Path("a[1]/key=b.parquet"))
    "read_parquet('a[[]1]/key=b.parquet', hive_partitioning = false)"
    """
    return f"read_parquet({quoted(glob.escape(str(path)))}, hive_partitioning = false)"
