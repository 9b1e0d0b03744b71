"""Queries, and requests to the process that runs a query.

The import of this module is fast.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def parameter_value(text: str) -> Any:
    """Convert the text of a query parameter to a number, truth value, list or string.

    Texts are read as TOML; a text that is not TOML remains a string.

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
    """A user's SQL query, with values for its parameters.

    Attributes:
        sql: Text of the query.
        parameters: Value of each parameter, by name; `$name` in the SQL stands for the parameter `name`.
        source: Name of the query in error messages, such as the path of a file.
    """

    sql: str
    parameters: Mapping[str, Any]
    source: str = "SQL"


@dataclass(frozen=True)
class QueryRequest:
    """A query with its output format and its limits, as sent to another process.

    Attributes:
        path: Path of the database.
        query: One SELECT or EXPLAIN.
        format: `table`, `parquet` or one of `table.FORMS`.
        memory: Largest memory of the query process in bytes.
        max_rows: Largest number of rows; if the result has more, an error follows the rows. None means no limit.
        output: Path of the Parquet file to write; None for other formats.
        width: Number of columns of the terminal; None if the output is not a terminal.
        color: Whether the terminal shows colours.
        max_bytes: Largest size of the Parquet file in bytes; None means no limit.
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
