"""SQL that a user wrote: exactly one SELECT or EXPLAIN, on a connection that can change and reach nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import duckdb

from registry.errors import InputError
from registry.store.database import Database
from registry.store.rows import driver_of

# Table functions that a SELECT can call although they change settings, write logs or end the process.
_HARMFUL = re.compile(
    r'"?\b((?:enable|disable|set|truncate|reset)_\w*(?:log|profil)\w*|(?:force_)?checkpoint)\b"?\s*\(', re.IGNORECASE)


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query: the names of its columns and its rows."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def query(database: Database, sql: str) -> QueryResult:
    """Run one SELECT or EXPLAIN.

    Raises:
        InputError: It is not exactly one such statement, or DuckDB refuses it; carries DuckDB's own words.
    """
    with database.querying() as connection:
        driver = driver_of(connection)
        try:
            statements = driver.extract_statements(sql)
            allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if len(statements) != 1 or statements[0].type not in allowed:
                raise InputError("the query must be exactly one SELECT or EXPLAIN; a registry is changed by its own "
                                 "commands only")
            if found := _HARMFUL.search(sql):
                raise InputError(f"{found.group(1)} is not for queries: it changes how the program itself works")
            cursor = driver.execute(statements[0])
            return QueryResult([column[0] for column in cursor.description], cursor.fetchall())
        except duckdb.Error as error:
            raise InputError(f"SQL: {' '.join(str(error).split())}") from None
