"""Parquet files, read by DuckDB in a database of their own that can reach nothing else.

A file of some kilobytes can stand for gigabytes: equal values are kept once. So it is bounded as gzipped text is, by
the size of the text that it stands for: first by what its footer says, before anything is decoded, then by what is
really there, before any value is taken out of DuckDB.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from registry.errors import InputError, suggest
from registry.readers.parsing.document import (
    MAX_BYTES,
    MAX_CELLS,
    MAX_LINE,
    MAX_LINES,
    MAX_RATIO,
    Document,
    most_unfolded,
)

# A hostile file must not take more than a large honest one: no disk, no other file, no Python variable, no extension.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "temp_directory": "",
    "python_enable_replacements": "false", "allow_persistent_secrets": "false", "threads": "1",
}
_LEAST_MEMORY = 2**28  # bytes for DuckDB; else twice what the file may unfold to
_BATCH = 2048  # rows; DuckDB's own vectors hold so many
_MAGIC = b"PAR1"
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
    import duckdb

    if document.repair:
        raise InputError("a Parquet file holds no lines of text; leave the option 'repair' out", path=document.path)
    if not (document.content.startswith(_MAGIC) and document.content.endswith(_MAGIC)):
        raise InputError("not a Parquet file", path=document.path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        path.write_bytes(document.content)
        pattern = glob.escape(str(path))  # DuckDB takes a path for a pattern
        memory = max(_LEAST_MEMORY, 2 * most_unfolded(document.content))
        with duckdb.connect(config=_CONFIG | {"memory_limit": f"{memory}B"}) as connection:
            connection.execute(f"SET allowed_paths = [{_quoted(path)}, {_quoted(pattern)}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            try:
                yield from _rows(connection, pattern, document, names)
            except (duckdb.OutOfMemoryException, MemoryError):
                raise InputError("unfolds to more than memory may take", path=document.path) from None
            except (duckdb.Error, RuntimeError, ValueError) as error:  # damaged text and dates are no duckdb.Error
                why = str(error).partition("\n")[0].replace(str(path), "it")
                raise InputError(f"cannot read this Parquet file: {why}", path=document.path) from None


def _rows(connection: Any, pattern: str, document: Document,
          wanted: Sequence[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    (n_columns,) = connection.execute("SELECT count(*) FROM parquet_schema(?) WHERE num_children IS NULL",
                                       [pattern]).fetchone()
    if n_columns > MAX_CELLS:
        raise InputError(f"{n_columns:,} columns; {MAX_CELLS:,} are the most that are read", path=document.path)
    table = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern])
    known = [column[0] for column in table.description]
    names = known if wanted is None else list(dict.fromkeys(wanted))
    for name in names:
        if name not in known:
            raise InputError(f"no column {name!r}; {suggest(name, known)}", path=document.path)
    _require_bounded(document, *connection.execute(_DECLARED, [pattern, names]).fetchone())
    columns = ['"' + name.replace('"', '""') + '"' for name in names] or ["NULL"]
    _require_bounded(document, *connection.execute(_measuring(columns), [pattern]).fetchone())
    found = connection.execute(f"SELECT {', '.join(columns)} FROM read_parquet(?)", [pattern])  # noqa: S608 - quoted
    number = 0
    while batch := found.fetchmany(_BATCH):
        for number, row in enumerate(batch, number + 1):  # noqa: B020
            yield number, dict(zip(names, row[:len(names)], strict=True))


def _measuring(columns: Sequence[str]) -> str:
    """The query for what is really there: rows, bytes of all values with what separates them, and of the longest."""
    sizes = [f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns]
    total, longest = " + ".join(f"{size} + 1" for size in sizes), ", ".join(sizes)
    return (f"SELECT count(*), coalesce(sum({total}), 0), coalesce(max(greatest({longest})), 0) "  # noqa: S608 - quoted
            "FROM read_parquet(?)")


def _require_bounded(document: Document, rows: int, size: int, longest: int = 0) -> None:
    """Refuse so many rows, and values of so many bytes in all, the `longest` of so many."""
    if rows > MAX_LINES:
        raise InputError(f"{rows:,} rows; {MAX_LINES:,} are the most that are read", path=document.path)
    if longest > MAX_LINE:
        raise InputError(f"a value of {longest:,} bytes; {MAX_LINE:,} is the most that is read", path=document.path)
    if size > (most := most_unfolded(document.content)):
        why = "" if most == MAX_BYTES else f", over {MAX_RATIO} times its size"
        raise InputError(f"unfolds to more than {most >> 20} MiB{why}", path=document.path)


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"
