"""Whether an upgraded file still holds what the old one did, in all that no migration touched.

A migration says by itself what it touches. `changes` names, by table, the columns that it rewrites or takes away, and
`renames` the new names of tables; all else must be the same after it, whatever it adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.store import schema

_COLUMNS = """
    SELECT table_name, column_name FROM duckdb_columns()
    JOIN duckdb_tables() USING (database_name, schema_name, table_name)
    WHERE database_name = current_database() AND table_name <> 'alembic_version' ORDER BY table_name, column_index"""

Columns = dict[str, list[str]]  # by table


class Content(NamedTuple):
    """What stands in some columns of a table, whatever the order of its rows."""

    n_rows: int
    hash: int


class Untouched(NamedTuple):
    """A table of the old file: what it is called after the upgrade, and the columns that stay as they are."""

    renamed: str
    columns: list[str]


def untouched(connection: Connection, path: Path) -> dict[str, Untouched]:
    """What the migrations from a database's schema to the program's leave as it is, by table."""
    found = {table: Untouched(table, columns) for table, columns in _columns(connection).items()}
    for changes, renames in schema.migrations_after(schema.current(connection, path)):
        for table, (renamed, columns) in found.items():
            kept = [column for column in columns if column not in changes.get(renamed, ())]
            found[table] = Untouched(renames.get(renamed, renamed), kept)
    return found


def contents(connection: Connection, tables: Mapping[str, Sequence[str]], path: Path) -> dict[str, Content]:
    """Read some columns of some tables, every block of which DuckDB holds against its checksum.

    Raises:
        StoreError: A block is damaged.
    """
    found = {}
    for table, columns in tables.items():
        hashed = f"hash({', '.join(map(_name, columns))})" if columns else "0"
        query = f"SELECT count(*), coalesce(sum({hashed}::HUGEINT), 0) FROM {_name(table)}"  # noqa: S608
        try:
            found[table] = Content(*connection.exec_driver_sql(query).one())
        except Exception as error:
            why = str(getattr(error, "orig", error)).partition("\n")[0]
            raise StoreError(path, f"table {table} cannot be read: {why}; restore a backup") from None
    return found


def prove(connection: Connection, before: Mapping[str, Content], kept: Mapping[str, Untouched], path: Path) -> None:
    """Hold an upgraded file against what stood in the old one, `path`.

    Raises:
        StoreError: A row or a value is not as it was.
    """
    there = _columns(connection)
    for table, (renamed, columns) in kept.items():
        if lost := [column for column in columns if column not in there.get(renamed, ())]:
            raise StoreError(path, f"the upgrade would lose column {lost[0]} of table {table}; nothing was changed")
    after = contents(connection, {of.renamed: of.columns for of in kept.values()}, path)
    for table, (renamed, _) in kept.items():
        if before[table] != after[renamed]:
            rows = f"{before[table].n_rows} rows, then {after[renamed].n_rows}"
            raise StoreError(path, f"the upgrade would change table {table} ({rows}); nothing was changed")


def _columns(connection: Connection) -> Columns:
    found: Columns = {}
    for table, column in connection.exec_driver_sql(_COLUMNS):
        found.setdefault(table, []).append(column)
    return found


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'
