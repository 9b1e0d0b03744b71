"""What the process that answers queries is asked; nothing here is heavy to import."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def parameter_value(text: str) -> Any:
    """What a text stands for: a number, true, false or a list as TOML writes it, else the text itself.

    >>> [parameter_value(text) for text in ("3", "true", "aspen-s", '"2"')]
    [3, True, 'aspen-s', '2']
    """
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except (ValueError, RecursionError):  # no TOML, or several lines of it
        return text
    return value


@dataclass(frozen=True)
class Query:
    """A query and what its named parameters (`$name`) stand for; `source` says where its text was read from."""

    sql: str
    parameters: Mapping[str, Any]
    source: str = "SQL"


@dataclass(frozen=True)
class QueryRequest:
    """What the process is asked.

    Attributes:
        path: Of the database.
        query: One SELECT or EXPLAIN.
        format: `table`, `parquet` or one of `table.FORMS`.
        memory: The bytes that it may take.
        max_rows: A result with more of them is an error, after these have been written.
        output: The file that parquet is written to.
        width: Of the terminal that the text goes to; None if it goes elsewhere.
        color: Whether that terminal may be sent colours.
        max_bytes: That the output file may take.
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
