"""Fast readers of whole tables, most of them by DuckDB, which can reach nothing but the one file.

`read_at_once` returns None for a file that is not certainly valid. Readers then read row by row and report errors with
their places.

A Parquet file of some kilobytes can unfold to gigabytes, because equal values are stored once. Its size is therefore
checked twice: by its footer before anything is decoded, and by its values before any leaves DuckDB.
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
from registry.readers.parsing.delimited import MARKS, Separator, unquoted
from registry.readers.parsing.document import MAX_CELLS, MAX_LINE, Document, most_unfolded
from registry.readers.parsing.json_values import flattened, json_columns

# A hostile file must not take more than a large honest one: no disk, no other file, no Python variable, no extension.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "temp_directory": "",
    "python_enable_replacements": "false", "allow_persistent_secrets": "false", "threads": "1",
}
LEAST_MEMORY = 2**28  # bytes for DuckDB; else twice what the file may unfold to


@contextmanager
def reading(content: bytes, name: str) -> Iterator[tuple[Any, Path]]:
    """Write a file with this content, called `name`, into a folder of its own, and open a connection that can read it.

    A path is a pattern to DuckDB: `as_pattern` names this file alone.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        memory = max(LEAST_MEMORY, 2 * most_unfolded(content))
        with duckdb.connect(config=_CONFIG | {"memory_limit": f"{memory}B"}) as connection:
            connection.execute(f"SET allowed_paths = [{quoted(str(path))}, {quoted(as_pattern(path))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection, path


def as_pattern(path: Path) -> str:
    """The pattern that a path alone fits."""
    return glob.escape(str(path))


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def named(column: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'


_BATCH = 2048  # rows; DuckDB's own vectors hold so many
MAGIC = b"PAR1"
# What the footer says: rows; and bytes of the columns wanted (nested ones are called `column, list, element`), of which
# no value takes less than one and what separates it from the next.
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


def parquet_rows(document: Document, names: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the columns that are named (None: all) of every row, with its number from 1.

    Raises:
        InputError: The file is not Parquet, is damaged or too large, or a column is not there.
    """
    with opened(document) as (connection, pattern):
        known = _names(connection, pattern, document)
        wanted = known if names is None else list(dict.fromkeys(names))
        for name in wanted:
            if name not in known:
                raise document.error(f"no column {name!r}; {suggest(name, known)}")
        require_declared(connection, pattern, document, wanted)
        columns = list(map(named, wanted)) or ["NULL"]
        require_measured(connection, pattern, document, columns)
        found = connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [pattern])  # noqa: S608 - quoted
        number = 0
        while batch := found.fetchmany(_BATCH):
            for number, row in enumerate(batch, number + 1):  # noqa: B020
                yield number, dict(zip(wanted, row[:len(wanted)], strict=True))


def parquet_head(document: Document) -> tuple[list[str], list[Any]]:
    """Give the names of the columns, and the first row; nothing where there is none.

    Raises:
        InputError: As `parquet_rows`.
    """
    with opened(document) as (connection, pattern):
        names = _names(connection, pattern, document)
        first = connection.execute("SELECT * FROM read_parquet(?) LIMIT 1", [pattern]).fetchone()
        return names, list(first or ())


@contextmanager
def opened(document: Document) -> Iterator[tuple[Any, str]]:
    """Open a connection that can read the file, and give the pattern by which queries name it.

    Raises:
        InputError: The file is not Parquet; or what the connection was asked for cannot be read.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise document.error("Parquet cannot be read here; give the table as text, or as JSON Lines") from None
    if document.repair or document.skip:
        option = "repair" if document.repair else "skip"
        raise document.error(f"a Parquet file holds no lines of text; leave the option {option!r} out")
    if not (document.content.startswith(MAGIC) and document.content.endswith(MAGIC)):
        raise document.error("not a Parquet file")
    with reading(document.content, "table.parquet") as (connection, path):
        try:
            yield connection, as_pattern(path)
        except (duckdb.OutOfMemoryException, MemoryError):
            raise document.error("unfolds to more than memory may take") from None
        except (duckdb.Error, RuntimeError, ValueError) as error:  # damaged text and dates are no duckdb.Error
            why = str(error).partition("\n")[0].replace(str(path), "it")
            raise document.error(f"cannot read this Parquet file: {why}") from None


def _names(connection: Any, pattern: str, document: Document) -> list[str]:
    """The names of the columns, unless there are too many."""
    (n_columns,) = connection.execute("SELECT count(*) FROM parquet_schema(?) WHERE num_children IS NULL",
                                       [pattern]).fetchone()
    if n_columns > MAX_CELLS:
        raise document.error(f"{n_columns:,} columns; {MAX_CELLS:,} are the most that are read")
    return [column[0] for column in connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern]).description]


def require_declared(connection: Any, pattern: str, document: Document, names: Sequence[str]) -> int:
    """Refuse a file whose footer says that these columns are too large; gives the number of its rows."""
    rows, size = connection.execute(_DECLARED, [pattern, list(names)]).fetchone()
    _require_bounded(document, rows, max(size, 2 * rows * len(names)))
    return int(rows)


def require_measured(connection: Any, pattern: str, document: Document, columns: Sequence[str]) -> None:
    """Refuse a file in which these columns, given as SQL, are too large.

    What is really there is asked for: rows, bytes of all values with what separates them, and of the longest.
    """
    sizes = [f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns]
    total, longest = " + ".join(f"{size} + 1" for size in sizes), ", ".join(sizes)
    query = (f"SELECT count(*), coalesce(sum({total}), 0), coalesce(max(greatest({longest})), 0) "  # noqa: S608 - quoted
             "FROM read_parquet(?)")
    _require_bounded(document, *connection.execute(query, [pattern]).fetchone())


def _require_bounded(document: Document, rows: int, size: int, longest: int = 0) -> None:
    """Refuse so many rows, and values of so many bytes in all, the `longest` of so many."""
    if rows > document.most_lines:
        raise document.beyond(f"{rows:,} rows", document.most_lines)
    if longest > MAX_LINE:
        raise document.error(f"a value of {longest:,} bytes; {MAX_LINE:,} is the most that is read")
    if size > document.most_unfolded:
        raise document.unfolds_to_more()


_SHARED = 2**12  # rows of attributes that are kept to be shared
ENOUGH = 2**15  # bytes of a file from which on DuckDB, which takes 10 ms to start, is the faster way

NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"  # as all tables have it, for DuckDB too
_BYTE_ORDER_MARK = "\ufeff"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_TEXTS = _WHOLE | {"VARCHAR", "BOOLEAN", "UUID"}
_DECIMAL = {"FLOAT", "DOUBLE"}  # what is the same number as a double

Syntax = Literal["delimited", "jsonl", "json", "parquet"]


@dataclass(frozen=True)
class Layout:
    """How a table is written; see `readers.tables.TableReader`."""

    syntax: Syntax
    separator: Separator
    columns: tuple[str, ...]
    comment: str | None
    item: tuple[str, ...]
    attributes: tuple[str, ...]
    unscored: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read.

    Attributes:
        rows: The item of each row.
        attributes: Of the items, by name, as far as they are text.
        numbers: The columns that hold numbers throughout, by name; nan is one that is not there.
    """

    rows: Rows
    attributes: dict[str, list[str]]
    numbers: dict[str, Floats]

    def items(self, attributes: Sequence[str], golds: Iterable[Any]) -> list[Item] | None:
        """The items with these golds and attributes; None where an attribute is none."""
        if not set(attributes) <= self.attributes.keys():
            return None
        of_rows = rows_of({name: self.attributes[name] for name in attributes})
        return list(map(Item, self.rows.keys, golds, of_rows, self.rows.lines))


def rows_of(columns: Mapping[str, list[str]]) -> Iterator[Mapping[str, str]]:
    """Give every row of attributes by its columns' names, without end if there are none.

    Equal rows are one object, as far as known: the documents of a test set are fewer than its items. The row before is
    known, and so are the first `_SHARED` ones.
    """
    if not columns:
        yield from repeat({})
    names = tuple(columns)
    known: dict[tuple[str, ...], dict[str, str]] = {}
    before: tuple[str, ...] = ()
    row: dict[str, str] = {}
    for cells in zip(*columns.values(), strict=True):
        if cells != before:
            before = cells
            found = known.get(cells)
            row = dict(zip(names, cells, strict=True)) if found is None else found
            if len(known) < _SHARED:
                known[cells] = row
        yield row


def read_at_once(document: Document, layout: Layout) -> Table | None:
    """Read a table, unless it was read in this way before; None where that cannot be done.

    This is where a file is found fit for the fast way, or left to the careful one.
    """
    if document.problems is not None or len(document.content) < ENOUGH or layout.syntax == "json":
        return None
    known = layout, document.repair, document.skip
    if known not in document.made:
        read = {"delimited": _delimited, "jsonl": _json_lines, "parquet": _parquet}[layout.syntax]
        try:
            document.made[known] = read(document, layout)
        except InputError:  # said again by whoever goes row by row, if nothing else is wrong before
            document.made[known] = None
        except ModuleNotFoundError:  # DuckDB, where a competition's platform runs the scoring program
            document.made[known] = None
    table: Table | None = document.made[known]
    return table


def _delimited(document: Document, layout: Layout) -> Table | None:
    import duckdb

    text, delimiter = document.text().rstrip("\n"), MARKS[layout.separator]
    if not _is_plain(text, layout) or not (plain := unquoted(text, layout.separator)):
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
    if body.count(delimiter) != n_rows * (len(names) - 1):  # DuckDB lets a row end with an empty cell too many
        return None
    columns = [f"c{n}" for n in range(len(names))]
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    table = (f"read_csv(?, auto_detect = false, header = false, delim = {quoted(delimiter)}, quote = '', escape = '', "
             f"columns = {{{types}}})")
    unscored = ", ".join(map(quoted, layout.unscored)) or "NULL"
    texts = {name: f"coalesce({column}, '')" for name, column in zip(names, columns, strict=True)
             if name in {*layout.item, *layout.attributes}}
    numbers = {name: f"CASE WHEN coalesce({column}, '') IN ({unscored}) THEN 'nan'::DOUBLE "
                     f"WHEN regexp_full_match({column}, '{NUMBER}') THEN try_cast({column} AS DOUBLE) END"
               for name, column in zip(names, columns, strict=True) if name not in texts}
    try:
        with reading(body.encode(), "table.csv") as (connection, path):
            found = _fetched(connection, {**texts, **numbers}, table, as_pattern(path))
    except (duckdb.Error, MemoryError):
        return None
    first = document.skip + (1 if layout.columns else 2)
    return _table(found, layout, texts, range(first, first + n_rows))


def _is_plain(text: str, layout: Layout) -> bool:
    """Whether every line of a text is a row whose cells its separator alone tells apart."""
    if text.startswith("\n") or "\n\n" in text or "\r" in text:
        return False
    if layout.comment and (text.startswith(layout.comment) or f"\n{layout.comment}" in text):
        return False
    return layout.separator != "whitespace" or not (
        text[0] == " " or text[-1] == " " or any(blank in text for blank in ("\t", "  ", " \n", "\n ")))


def _json_lines(document: Document, layout: Layout) -> Table | None:
    texts, numbers = dict[str, list[str]](), dict[str, list[Floats]]()
    n_rows = 0
    for number, block in document.blocks():
        if (plain := json_columns(block)) is None or (layout.comment and f"\n{layout.comment}" in f"\n{block}"):
            return None
        columns = flattened(plain)
        if number == 1 + document.skip:
            wanted = {*layout.item, *layout.attributes} & columns.keys()
            texts, numbers = {name: [] for name in wanted}, {name: [] for name in columns.keys() - wanted}
        if not columns.keys() >= texts.keys() or any(set(map(type, columns[name])) - {str, int} for name in texts):
            return None
        for name, cells in texts.items():
            cells += map(str, columns[name])
        of_block = {name: _json_numbers(columns[name], layout.unscored) for name in numbers if name in columns}
        numbers = {name: [*numbers[name], found] for name, found in of_block.items() if found is not None}
        n_rows += block.count("\n") + 1
    if not set(layout.item) <= texts.keys():
        return None
    found = {name: np.array(cells, dtype=object) for name, cells in texts.items()} | {
        name: np.concatenate(parts) for name, parts in numbers.items()}
    return _table(found, layout, texts, range(1 + document.skip, 1 + document.skip + n_rows))


def numbers_in(unscored: Iterable[str]) -> frozenset[float]:
    """The numbers among what stands in place of one: JSON and Parquet have -1 where text has "-1"."""
    return frozenset(float(mark) + 0.0 for mark in unscored if re.fullmatch(NUMBER, mark))


def _json_numbers(cells: list[Any], unscored: tuple[str, ...]) -> Floats | None:
    """A column of numbers; nan is one that is not there. None where a cell is neither."""
    if any(type(cell) is str and cell not in unscored for cell in cells):
        return None
    absent = np.array([cell is None or type(cell) is str for cell in cells], dtype=np.bool_)
    kept = [0.0 if is_absent else cell for cell, is_absent in zip(cells, absent.tolist(), strict=True)]
    if set(map(type, kept)) - {int, float}:
        return None
    try:
        values = np.array(kept, dtype=np.float64)
    except OverflowError:
        return None
    if not np.isfinite(values).all():
        return None
    return np.where(absent | np.isin(values, list(numbers_in(unscored))), np.nan, values)


def _parquet(document: Document, layout: Layout) -> Table | None:
    with opened(document) as (connection, pattern):
        types = {name: str(type_) for name, type_, *_ in connection.execute(
            "DESCRIBE SELECT * FROM read_parquet(?)", [pattern]).fetchall()}
        texts = {name: f"{named(name)}::VARCHAR" for name in dict.fromkeys((*layout.item, *layout.attributes))
                 if types.get(name) in _TEXTS}
        whole = {name: named(name) for name, type_ in types.items() if name not in texts and type_ in _WHOLE}
        numbers = whole | {
            name: f"CASE WHEN {named(name)} IS NULL THEN 'nan'::DOUBLE WHEN isfinite({named(name)}::DOUBLE) "
                  f"THEN {named(name)}::DOUBLE END"
            for name, type_ in types.items() if name not in texts and type_ in _DECIMAL}
        if len(types) > MAX_CELLS or not set(layout.item) <= texts.keys():
            return None
        n_rows = require_declared(connection, pattern, document, [*texts, *numbers])
        require_measured(connection, pattern, document, [*texts.values()] or ["NULL"])  # numbers are all as short
        found = _fetched(connection, {**texts, **numbers}, "read_parquet(?)", pattern)
    found |= {name: np.ma.filled(found[name].astype(np.float64), np.nan) for name in whole}
    if marks := list(numbers_in(layout.unscored)):
        for name in numbers:
            found[name] = found[name].astype(np.float64)
            found[name][np.isin(np.ma.getdata(found[name]), marks)] = np.nan
    return _table(found, layout, texts, range(1, n_rows + 1))


def _fetched(connection: Any, columns: Mapping[str, str], table: str, pattern: str) -> dict[str, Any]:
    """Columns, given as SQL by name, as arrays by name."""
    chosen = ", ".join(f"{column} AS v{n}" for n, column in enumerate(columns.values()))
    query = f"SELECT {chosen} FROM {table}"  # noqa: S608 - made of quoted names
    arrays = connection.execute(query, [pattern]).fetchnumpy()
    return dict(zip(columns, arrays.values(), strict=True))


def _table(found: Mapping[str, Any], layout: Layout, texts: Iterable[str], lines: range) -> Table | None:
    """The table of columns that were read, where each line has a row and every row a key."""
    cells = {name: found[name].tolist() for name in texts}
    if not lines or any(len(column) != len(lines) for column in found.values()):
        return None
    parts = [cells[name] for name in layout.item]
    if not all(all(column) and "".join(column).isprintable() for column in parts):
        return None
    keys = tuple(map(" ".join, zip(*parts, strict=True))) if parts else tuple(map(str, range(1, len(lines) + 1)))
    attributes = {name: cells[name] for name in layout.attributes
                  if name in cells and None not in cells[name] and "".join(cells[name]).isprintable()}
    numbers = {name: checked for name, column in found.items()
               if name not in texts and (checked := _checked(column)) is not None}
    return Table(Rows(keys, lines), attributes, numbers)


def _checked(column: Any) -> Floats | None:
    """A column of numbers, where each is one (nan where it is not there) and can be kept."""
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
