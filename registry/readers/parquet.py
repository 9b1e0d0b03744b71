"""Parquet files, read by DuckDB in a database of their own that can reach nothing else."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from registry.errors import InputError, suggest
from registry.readers.document import MAX_BYTES, Document

# A hostile file must not take more than a large honest one: no disk, no other file, no Python variable, no extension.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "temp_directory": "",
    "python_enable_replacements": "false", "allow_persistent_secrets": "false", "memory_limit": "2GB", "threads": "1",
}
_BATCH = 2048  # rows; DuckDB's own vectors hold so many
_MAGIC = b"PAR1"


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
        with duckdb.connect(config=_CONFIG) as connection:
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
    table = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern])
    known = [column[0] for column in table.description]
    names = known if wanted is None else list(dict.fromkeys(wanted))
    (n_rows,) = connection.execute("SELECT num_rows FROM parquet_file_metadata(?)", [pattern]).fetchone()
    if n_rows * max(1, len(names)) > MAX_BYTES // 8:
        raise InputError(f"{n_rows} rows are too many", path=document.path)
    for name in names:
        if name not in known:
            raise InputError(f"no column {name!r}; {suggest(name, known)}", path=document.path)
    chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names) or "NULL"
    found = connection.execute(f"SELECT {chosen} FROM read_parquet(?)", [pattern])  # noqa: S608 - quoted
    number = 0
    while batch := found.fetchmany(_BATCH):
        for number, row in enumerate(batch, number + 1):  # noqa: B020
            yield number, dict(zip(names, row[:len(names)], strict=True))


def _quoted(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"
