"""What a registry holds, as its own database tells it: tables, views and macros with their columns and comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, text

Kind = Literal["table", "view", "macro"]


@dataclass(frozen=True)
class Column:
    """A column of a table or view; a macro has no types but parameters and, if it gives a table, columns."""

    name: str
    type: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Thing:
    """A table, view or macro; `references` are the other tables whose ids the columns of a table hold."""

    kind: Kind
    name: str
    comment: str
    columns: tuple[Column, ...]
    references: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """How SQL names it."""
        if self.kind != "macro":
            return self.name
        return f"{self.name}({', '.join(c.name for c in self.columns if c.type == 'parameter')})"


_ENTRY = re.compile(r"(parameter|column) (\w+): (.*)")
_COLUMNS = """
    SELECT table_name, column_name, data_type, comment FROM duckdb_columns()
    WHERE database_name = current_database() AND NOT internal ORDER BY table_name, column_index"""
_TABLES = """
    SELECT table_name, comment FROM duckdb_tables()
    WHERE database_name = current_database() AND NOT internal AND table_name <> 'alembic_version' ORDER BY table_name"""
_VIEWS = """
    SELECT view_name, comment FROM duckdb_views()
    WHERE database_name = current_database() AND NOT internal ORDER BY view_name"""
_MACROS = """
    SELECT function_name, any_value(comment), arg_max(parameters, len(parameters)) FROM duckdb_functions()
    WHERE database_name = current_database() AND NOT internal AND function_type IN ('macro', 'table_macro')
    GROUP BY function_name ORDER BY function_name"""


def load(connection: Connection) -> list[Thing]:
    """Everything that can be asked for: tables, then views, then macros, each by name."""
    columns: dict[str, list[Column]] = {}
    for table, column, type_, comment in connection.execute(text(_COLUMNS)):
        columns.setdefault(table, []).append(Column(column, type_, comment or ""))
    tables = connection.execute(text(_TABLES)).all()
    # Nothing has a foreign key (see models.py), but an id is called after its table wherever it stands.
    owners = {f"{name}_id": name for name, _ in tables if columns[name][0].name == f"{name}_id"}
    return [
        *(Thing("table", name, comment or "", tuple(columns[name]), tuple(
            owners[c.name] for c in columns[name] if owners.get(c.name, name) != name)) for name, comment in tables),
        *(Thing("view", name, comment or "", tuple(columns[name]))
          for name, comment in connection.execute(text(_VIEWS))),
        *(_macro(name, comment or "", parameters) for name, comment, parameters in connection.execute(text(_MACROS))),
    ]


def _macro(name: str, comment: str, parameters: list[str]) -> Thing:
    """A macro; lines of its comment say what its parameters and columns are, which have no comments of their own."""
    entries = [_ENTRY.fullmatch(line) for line in comment.splitlines()]
    claim = "\n".join(line for line, entry in zip(comment.splitlines(), entries, strict=True) if entry is None)
    told = {(entry[1], entry[2]): entry[3] for entry in entries if entry is not None}
    taken = [Column(parameter, "parameter", told.get(("parameter", parameter), "")) for parameter in parameters]
    return Thing("macro", name, claim, (*taken, *(
        Column(column, kind, about) for (kind, column), about in told.items() if kind == "column")))
