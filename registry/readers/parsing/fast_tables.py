"""Fast readers of whole tables; most of them use DuckDB.

DuckDB can access only the one file that is read. `read_table` returns None for a file that may have a fault. Readers
then read the file row by row, and report errors with their lines.

A Parquet file of some kilobytes can decompress to gigabytes, because equal values are stored once. Its size is
therefore checked twice: by its footer before any data are decoded, and by its values before any leave DuckDB.
"""

from __future__ import annotations

import glob
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import Rows
from registry.errors import InputError, suggest
from registry.families import LARGEST_OTHER, LARGEST_WHOLE
from registry.items import Item
from registry.readers.parsing.delimited import MARKS, Separator, strip_quotes
from registry.readers.parsing.document import MAX_CELLS, MAX_LINE, Document, get_decompression_limit
from registry.readers.parsing.json_values import flatten_columns, parse_columns

# A hostile file must not take more than a large honest one: no disk, no other file, no Python variable, no extension.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "temp_directory": "",
    "python_enable_replacements": "false", "allow_persistent_secrets": "false", "threads": "1",
}
LEAST_MEMORY = 2**28  # bytes for DuckDB; more if a file may decompress to more than half of it


@contextmanager
def open_duckdb(content: bytes, name: str) -> Iterator[tuple[Any, Path]]:
    """Write content to a temporary file, and open it in DuckDB for a `with` block.

    DuckDB interprets a path as a pattern, so queries must use `escape_path(path)`.

    Args:
        content: Content of the file.
        name: Name of the file, in a temporary folder.

    Yields:
        The connection, which can read no other file, and the path.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        memory = max(LEAST_MEMORY, 2 * get_decompression_limit(content))
        with duckdb.connect(config=_CONFIG | {"memory_limit": f"{memory}B"}) as connection:
            connection.execute(f"SET allowed_paths = [{quote_text(str(path))}, {quote_text(escape_path(path))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection, path


def escape_path(path: Path) -> str:
    """Escape a path so that it is a pattern (glob) that matches only this path."""
    return glob.escape(str(path))


def quote_text(text: str) -> str:
    """Return a text as a quoted SQL literal: it's -> 'it''s'."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(column: str) -> str:
    """Return a column name as a quoted SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


_BATCH = 2048  # rows; DuckDB's own vectors hold so many
MAGIC = b"PAR1"
# Rows by the footer, and bytes of the requested columns (nested ones are called `column, list, element`); a value with
# its separator takes at least one byte.
_DECLARED = """
    SELECT greatest((SELECT max(num_rows) FROM parquet_file_metadata($1)), coalesce(sum(rows), 0)),
        coalesce(sum(size), 0)
    FROM (
        SELECT max(row_group_num_rows) AS rows,
            sum(greatest(total_uncompressed_size, 2 * num_values))
                FILTER (WHERE list_contains($2, split_part(path_in_schema, ', ', 1))) AS size
        FROM parquet_metadata($1) GROUP BY row_group_id
    )
"""


def read_parquet_rows(document: Document, names: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number (from 1) and the cells of each row of a Parquet file.

    Args:
        document: The file.
        names: Columns to read; None for all.

    Raises:
        InputError: The file is not Parquet, is damaged or too large, or a column is missing.
    """
    with open_parquet(document) as (connection, pattern):
        available = _read_names(connection, pattern, document)
        requested = available if names is None else list(dict.fromkeys(names))
        for name in requested:
            if name not in available:
                raise document.error(f"the file has no column {name!r}; {suggest(name, available)}")
        check_footer(connection, pattern, document, requested)
        columns = list(map(quote_name, requested)) or ["NULL"]
        check_sizes(connection, pattern, document, columns)
        result = connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [pattern])  # noqa: S608 - quoted
        number = 0
        while batch := result.fetchmany(_BATCH):
            for number, row in enumerate(batch, number + 1):  # noqa: B020
                yield number, dict(zip(requested, row[:len(requested)], strict=True))


def read_parquet_head(document: Document) -> tuple[list[str], list[Any]]:
    """Return the column names and the cells of the first row of a Parquet file.

    An empty table has no cells.

    Raises:
        InputError: The file is not Parquet, or is damaged.
    """
    with open_parquet(document) as (connection, pattern):
        names = _read_names(connection, pattern, document)
        first = connection.execute("SELECT * FROM read_parquet(?) LIMIT 1", [pattern]).fetchone()
        return names, list(first or ())


@contextmanager
def open_parquet(document: Document) -> Iterator[tuple[Any, str]]:
    """Open a Parquet file in DuckDB for a `with` block.

    Yields:
        The connection, and the pattern that names the file in queries.

    Raises:
        InputError: The file is not Parquet, or a query of the caller cannot read it.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise document.error("Parquet files cannot be read here; write the table as text or JSON Lines") from None
    if document.repair or document.skip:
        option = "repair" if document.repair else "skip"
        raise document.error(f"option {option!r} does not apply to Parquet files, which have no lines; remove the "
                             "option")
    if not (document.content.startswith(MAGIC) and document.content.endswith(MAGIC)):
        raise document.error("this is not a Parquet file; save the table as Parquet")
    with open_duckdb(document.content, "table.parquet") as (connection, path):
        try:
            yield connection, escape_path(path)
        except (duckdb.OutOfMemoryException, MemoryError):
            raise document.error("the file decompresses to more than the memory limit; split it, or make it "
                                 "smaller") from None
        except (duckdb.Error, RuntimeError, ValueError) as error:  # damaged text and dates are no duckdb.Error
            reason = str(error).partition("\n")[0].replace(str(path), "it")
            raise document.error(f"cannot read this Parquet file: {reason}") from None


def _read_names(connection: Any, pattern: str, document: Document) -> list[str]:
    (n_columns,) = connection.execute("SELECT count(*) FROM parquet_schema(?) WHERE num_children IS NULL",
                                       [pattern]).fetchone()
    if n_columns > MAX_CELLS:
        raise document.error(f"the file has {n_columns:,} columns; at most {MAX_CELLS:,} are allowed")
    return [column[0] for column in connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern]).description]


def check_footer(connection: Any, pattern: str, document: Document, names: Sequence[str]) -> int:
    """Check the sizes in a Parquet file's footer before any data are decoded.

    Args:
        connection: Connection from `open_parquet`.
        pattern: Pattern that names the file, from `open_parquet`.
        document: The file, for its limits and errors.
        names: Columns to read, whose sizes count.

    Returns:
        Number of rows.

    Raises:
        InputError: The columns are too large.
    """
    rows, size = connection.execute(_DECLARED, [pattern, list(names)]).fetchone()
    _require_bounded(document, rows, max(size, 2 * rows * len(names)))
    return int(rows)


def check_sizes(connection: Any, pattern: str, document: Document, columns: Sequence[str]) -> None:
    """Check the actual sizes of a Parquet file's columns; its footer may be false.

    The number of rows, the bytes of all values, and the bytes of the longest value are limited.

    Args:
        connection: Connection from `open_parquet`.
        pattern: Pattern that names the file, from `open_parquet`.
        document: The file, for its limits and errors.
        columns: SQL expressions of the columns.

    Raises:
        InputError: The columns are too large.
    """
    sizes = [f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns]
    total, longest = " + ".join(f"{size} + 1" for size in sizes), ", ".join(sizes)
    query = (f"SELECT count(*), coalesce(sum({total}), 0), coalesce(max(greatest({longest})), 0) "  # noqa: S608 - quoted
             "FROM read_parquet(?)")
    _require_bounded(document, *connection.execute(query, [pattern]).fetchone())


def _require_bounded(document: Document, rows: int, size: int, longest: int = 0) -> None:
    """Check that a table is not larger than the limits of its file.

    Args:
        document: The file, which has the limits.
        rows: Number of rows.
        size: Size of all values, in bytes.
        longest: Size of the longest value, in bytes.

    Raises:
        InputError: A number is larger than its limit.
    """
    if rows > document.most_lines:
        raise document.make_bounds_error(f"{rows:,} rows", document.most_lines)
    if longest > MAX_LINE:
        raise document.error(f"the file has a value of {longest:,} bytes; at most {MAX_LINE:,} are allowed")
    if size > document.max_bytes:
        raise document.make_size_error()


_SHARED = 2**12  # number of distinct rows of attributes that are stored once and shared
ENOUGH = 2**15  # bytes; for smaller files DuckDB is slower, because it takes 10 ms to start

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"  # syntax of numbers in all tables, also for DuckDB
_BYTE_ORDER_MARK = "\ufeff"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_TEXTS = _WHOLE | {"VARCHAR", "BOOLEAN", "UUID"}
_DECIMAL = {"FLOAT", "DOUBLE"}  # exact as double

Syntax = Literal["delimited", "jsonl", "json", "parquet"]


@dataclass(frozen=True)
class Layout:
    """Options of a reader that declare how to read a table."""

    syntax: Syntax
    separator: Separator
    columns: tuple[str, ...]
    comment: str | None
    item: tuple[str, ...]
    attributes: tuple[str, ...]
    unscored: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Content of a table with a row per item, as columns.

    Attributes:
        rows: Name of the item and line number of each row.
        attributes: Maps names of columns that are attributes of items to their texts.
        numbers: Maps names of columns of numbers to arrays; NaN for a missing number.
    """

    rows: Rows
    attributes: dict[str, list[str]]
    numbers: dict[str, Floats]

    def make_items(self, attributes: Sequence[str], golds: Iterable[Any]) -> list[Item] | None:
        """Make one gold item per row.

        Args:
            attributes: Columns that are attributes of items.
            golds: Gold value of each row.

        Returns:
            Items; None if a column of attributes is missing.
        """
        if not set(attributes) <= self.attributes.keys():
            return None
        attribute_rows = make_attribute_rows({name: self.attributes[name] for name in attributes})
        return list(map(Item, self.rows.keys, golds, attribute_rows, self.rows.lines))


def make_attribute_rows(columns: Mapping[str, list[str]]) -> Iterator[Mapping[str, str]]:
    """Convert columns of attributes to rows: {"doc": ["a", "b"]} -> {"doc": "a"}, ...

    Equal rows share one dict if possible, to save memory. Without columns, the function yields empty dicts without end.
    """
    if not columns:
        yield from repeat({})
    names = tuple(columns)
    shared_rows: dict[tuple[str, ...], dict[str, str]] = {}
    previous: tuple[str, ...] = ()
    row: dict[str, str] = {}
    for cells in zip(*columns.values(), strict=True):
        if cells != previous:
            previous = cells
            stored = shared_rows.get(cells)
            row = dict(zip(names, cells, strict=True)) if stored is None else stored
            if len(shared_rows) < _SHARED:
                shared_rows[cells] = row
        yield row


def read_table(document: Document, layout: Layout) -> Table | None:
    """Read a table column by column with DuckDB or NumPy.

    The result is cached in the document, because a file may have the scores of several systems.

    Returns:
        The table. None if it must be read row by row, because it may have a fault, is small or one JSON value, or
        because errors are collected.
    """
    if document.problems is not None or len(document.content) < ENOUGH or layout.syntax == "json":
        return None
    key = layout, document.repair, document.skip
    if key not in document.cache:
        readers = {"delimited": _read_delimited, "jsonl": _read_json_lines, "parquet": _read_parquet}
        try:
            document.cache[key] = readers[layout.syntax](document, layout)
        except InputError:  # the slow reader raises this error again, unless there is an earlier fault
            document.cache[key] = None
        except ModuleNotFoundError:  # DuckDB is not installed on some competition platforms
            document.cache[key] = None
    table: Table | None = document.cache[key]
    return table


def _read_delimited(document: Document, layout: Layout) -> Table | None:
    import duckdb

    text, delimiter = document.text().rstrip("\n"), MARKS[layout.separator]
    if not _is_plain(text, layout) or not (plain := strip_quotes(text, layout.separator)):
        return None
    head, _, rest = plain.partition("\n")
    if head.count(delimiter) >= MAX_CELLS:
        return None
    names, body = (layout.columns, plain) if layout.columns else (tuple(head.split(delimiter)), rest)
    n_rows = body.count("\n") + 1
    if n_rows > document.most_lines or not (
            body and len(set(names)) == len(names) >= 2 and set(layout.item) <= set(names)) or (
            body[0] == _BYTE_ORDER_MARK):  # which DuckDB drops
        return None
    if body.count(delimiter) != n_rows * (len(names) - 1):  # DuckDB accepts a surplus empty cell at the end of a row
        return None
    columns = [f"c{n}" for n in range(len(names))]
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    table = (f"read_csv(?, auto_detect = false, header = false, delim = {quote_text(delimiter)}, quote = '', "
             f"escape = '', columns = {{{types}}})")
    unscored = ", ".join(map(quote_text, layout.unscored)) or "NULL"
    texts = {name: f"coalesce({column}, '')" for name, column in zip(names, columns, strict=True)
             if name in {*layout.item, *layout.attributes}}
    numbers = {name: f"CASE WHEN coalesce({column}, '') IN ({unscored}) THEN 'nan'::DOUBLE "
                     f"WHEN regexp_full_match({column}, '{NUMBER}') THEN try_cast({column} AS DOUBLE) END"
               for name, column in zip(names, columns, strict=True) if name not in texts}
    try:
        with open_duckdb(body.encode(), "table.csv") as (connection, path):
            fetched = _fetch(connection, {**texts, **numbers}, table, escape_path(path))
    except (duckdb.Error, MemoryError):
        return None
    first = document.skip + (1 if layout.columns else 2)
    return _make_table(fetched, layout, texts, range(first, first + n_rows))


def _is_plain(text: str, layout: Layout) -> bool:
    if text.startswith("\n") or "\n\n" in text or "\r" in text:
        return False
    if layout.comment and (text.startswith(layout.comment) or f"\n{layout.comment}" in text):
        return False
    return layout.separator != "whitespace" or not (
        text[0] == " " or text[-1] == " " or any(blank in text for blank in ("\t", "  ", " \n", "\n ")))


def _read_json_lines(document: Document, layout: Layout) -> Table | None:
    texts, numbers = dict[str, list[str]](), dict[str, list[Floats]]()
    n_rows = 0
    for number, block in document.blocks():
        if (plain := parse_columns(block)) is None or (layout.comment and f"\n{layout.comment}" in f"\n{block}"):
            return None
        columns = flatten_columns(plain)
        if number == 1 + document.skip:
            text_names = {*layout.item, *layout.attributes} & columns.keys()
            texts, numbers = {name: [] for name in text_names}, {name: [] for name in columns.keys() - text_names}
        if not columns.keys() >= texts.keys() or any(set(map(type, columns[name])) - {str, int} for name in texts):
            return None
        for name, cells in texts.items():
            cells += map(str, columns[name])
        block_numbers = {name: _to_numbers(columns[name], layout.unscored) for name in numbers if name in columns}
        numbers = {name: [*numbers[name], arrays] for name, arrays in block_numbers.items() if arrays is not None}
        n_rows += block.count("\n") + 1
    if not set(layout.item) <= texts.keys():
        return None
    arrays = {name: np.array(cells, dtype=object) for name, cells in texts.items()} | {
        name: np.concatenate(parts) for name, parts in numbers.items()}
    return _make_table(arrays, layout, texts, range(1 + document.skip, 1 + document.skip + n_rows))


def parse_unscored(unscored: Iterable[str]) -> frozenset[float]:
    """Return the numbers among texts that mark missing scores: ("", "-1") -> {-1.0}.

    In JSON and Parquet, these numbers mark missing scores too.
    """
    return frozenset(float(mark) + 0.0 for mark in unscored if re.fullmatch(NUMBER, mark))


def _to_numbers(cells: list[Any], unscored: tuple[str, ...]) -> Floats | None:
    """Convert the cells of a JSON column to an array, with NaN for missing numbers.

    Returns:
        The numbers; None if a cell is not a finite number and does not mark a missing number.
    """
    if any(type(cell) is str and cell not in unscored for cell in cells):
        return None
    absent = np.array([cell is None or type(cell) is str for cell in cells], dtype=np.bool_)
    numbers = [0.0 if is_absent else cell for cell, is_absent in zip(cells, absent.tolist(), strict=True)]
    if set(map(type, numbers)) - {int, float}:
        return None
    try:
        values = np.array(numbers, dtype=np.float64)
    except OverflowError:
        return None
    if not np.isfinite(values).all():
        return None
    return np.where(absent | np.isin(values, list(parse_unscored(unscored))), np.nan, values)


def _read_parquet(document: Document, layout: Layout) -> Table | None:
    with open_parquet(document) as (connection, pattern):
        types = {name: str(type_) for name, type_, *_ in connection.execute(
            "DESCRIBE SELECT * FROM read_parquet(?)", [pattern]).fetchall()}
        texts = {name: f"{quote_name(name)}::VARCHAR" for name in dict.fromkeys((*layout.item, *layout.attributes))
                 if types.get(name) in _TEXTS}
        whole_numbers = {name: quote_name(name) for name, type_ in types.items()
                         if name not in texts and type_ in _WHOLE}
        numbers = whole_numbers | {
            name: f"CASE WHEN {quote_name(name)} IS NULL THEN 'nan'::DOUBLE WHEN isfinite({quote_name(name)}::DOUBLE) "
                  f"THEN {quote_name(name)}::DOUBLE END"
            for name, type_ in types.items() if name not in texts and type_ in _DECIMAL}
        if len(types) > MAX_CELLS or not set(layout.item) <= texts.keys():
            return None
        n_rows = check_footer(connection, pattern, document, [*texts, *numbers])
        check_sizes(connection, pattern, document, [*texts.values()] or ["NULL"])  # numbers are all as short
        fetched = _fetch(connection, {**texts, **numbers}, "read_parquet(?)", pattern)
    fetched |= {name: np.ma.filled(fetched[name].astype(np.float64), np.nan) for name in whole_numbers}
    if marks := list(parse_unscored(layout.unscored)):
        for name in numbers:
            fetched[name] = fetched[name].astype(np.float64)
            fetched[name][np.isin(np.ma.getdata(fetched[name]), marks)] = np.nan
    return _make_table(fetched, layout, texts, range(1, n_rows + 1))


def _fetch(connection: Any, columns: Mapping[str, str], table: str, pattern: str) -> dict[str, Any]:
    """Query columns of a table in DuckDB, and return them as NumPy arrays by name.

    Args:
        connection: DuckDB connection.
        columns: Maps the name of each column to its SQL expression.
        table: SQL expression of the table, such as "read_parquet(?)".
        pattern: Pattern that names the file, which replaces the `?`.
    """
    chosen = ", ".join(f"{column} AS v{n}" for n, column in enumerate(columns.values()))
    query = f"SELECT {chosen} FROM {table}"  # noqa: S608 - made of quoted names
    arrays = connection.execute(query, [pattern]).fetchnumpy()
    return dict(zip(columns, arrays.values(), strict=True))


def _make_table(fetched: Mapping[str, Any], layout: Layout, texts: Iterable[str], lines: range) -> Table | None:
    """Make a table from arrays.

    Args:
        fetched: Maps the name of each column to an array.
        layout: Options that declare which columns are names and attributes.
        texts: Names of the columns of text.
        lines: Line numbers of the rows.

    Returns:
        The table; None if a row is missing or has no valid name.
    """
    cells = {name: fetched[name].tolist() for name in texts}
    if not lines or any(len(column) != len(lines) for column in fetched.values()):
        return None
    parts = [cells[name] for name in layout.item]
    if not all(all(column) and "".join(column).isprintable() for column in parts):
        return None
    keys = tuple(map(" ".join, zip(*parts, strict=True))) if parts else tuple(map(str, range(1, len(lines) + 1)))
    attributes = {name: cells[name] for name in layout.attributes
                  if name in cells and None not in cells[name] and "".join(cells[name]).isprintable()}
    numbers = {name: checked for name, column in fetched.items()
               if name not in texts and (checked := _check_numbers(column)) is not None}
    return Table(Rows(keys, lines), attributes, numbers)


def _check_numbers(column: Any) -> Floats | None:
    """Check that the numbers in a column are small enough to be summed exactly.

    Returns:
        The column, with NaN for missing numbers; None if a number is too large or a cell is not a number.
    """
    if np.ma.is_masked(column):
        return None
    values: Floats = np.ma.getdata(column) + 0.0  # no -0.0
    sizes = np.abs(values)
    largest = np.fmax.reduce(sizes, initial=0.0)
    if largest < LARGEST_OTHER:
        return values
    if largest >= LARGEST_WHOLE or (sizes[values != np.rint(values)] >= LARGEST_OTHER).any():  # nan is not
        return None
    return values
