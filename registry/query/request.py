"""Queries, and requests to the process that answers them; imports nothing heavy."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def parameter_value(text: str) -> Any:
    """Return the TOML value of a text (a number, true, false or a list), or the text itself.

    >>> [parameter_value(text) for text in ("3", "true", "aspen-s", '"2"')]
    [3, True, 'aspen-s', '2']
    """
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except (ValueError, RecursionError):  # not TOML, or several lines
        return text
    return value


@dataclass(frozen=True)
class Query:
    """A query, the values of its parameters (`$name`), and the name of its source for errors."""

    sql: str
    parameters: Mapping[str, Any]
    source: str = "SQL"


@dataclass(frozen=True)
class QueryRequest:
    """A query with its output format and limits.

    Attributes:
        path: The database.
        query: One SELECT or EXPLAIN.
        format: `table`, `parquet` or one of `table.FORMS`.
        memory: The most bytes of memory.
        max_rows: The most rows; after them follows an error.
        output: The parquet file to write.
        width: Columns of the terminal; None if the output is no terminal.
        color: True if the terminal shows colours.
        max_bytes: The largest size of the parquet file; None: any.
    """

    path: Path
    query: Query
    format: str
    memory: int
    max_rows: int | None = None
    output: Path | None = None
    width: int | None = None
    color: bool = False
    max_bytes: int | None = None
