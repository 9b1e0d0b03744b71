"""DuckDB as a reader of one file: a database of its own, in memory, that can reach nothing but that file."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.readers.parsing.document import most_unfolded

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
