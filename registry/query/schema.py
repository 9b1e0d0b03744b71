"""The data model of a registry as text, Markdown or a diagram.

The data model consists of the tables, views and macros of the registry with their comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from sqlalchemy import Connection, text

from registry.errors import InputError, UnknownNameError
from registry.rendering.render import render
from registry.rendering.table import Column, Table

Kind = Literal["table", "view", "macro"]


@dataclass(frozen=True)
class RelationColumn:
    """A column of a table or view, or a parameter or column of an SQL macro.

    For a macro, `type` is `parameter` or `column`; otherwise it is the type of the column in DuckDB.
    """

    name: str
    type: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Relation:
    """Documentation of a table, view or macro in the database.

    Attributes:
        kind: `table`, `view` or `macro`.
        name: Name in the database.
        comment: Comment on the table, view or macro.
        columns: Columns; for a macro, its parameters and columns.
        references: For a table: the other tables whose ids are columns of this table.
    """

    kind: Kind
    name: str
    comment: str
    columns: tuple[RelationColumn, ...]
    references: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """Name for use in SQL; for a macro with its parameters, such as `regions(a, b)`."""
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


def load_data_model(connection: Connection) -> list[Relation]:
    """Return the documentation of all tables, then views, then macros, each by name."""
    columns: dict[str, list[RelationColumn]] = {}
    for table, column, type_, comment in connection.execute(text(_COLUMNS)):
        columns.setdefault(table, []).append(RelationColumn(column, type_, comment or ""))
    tables = connection.execute(text(_TABLES)).all()
    # No table has foreign keys (see models.py), but a column with an id has the same name in all tables.
    owners = {f"{name}_id": name for name, _ in tables if columns[name][0].name == f"{name}_id"}
    return [
        *(Relation("table", name, comment or "", tuple(columns[name]), tuple(
            owners[c.name] for c in columns[name] if owners.get(c.name, name) != name)) for name, comment in tables),
        *(Relation("view", name, comment or "", tuple(columns[name]))
          for name, comment in connection.execute(text(_VIEWS))),
        *(_make_macro(name, comment or "", parameters)
          for name, comment, parameters in connection.execute(text(_MACROS))),
    ]


def _make_macro(name: str, comment: str, parameters: list[str]) -> Relation:
    """Make the documentation of an SQL macro from its comment.

    Args:
        name: Name of the macro.
        comment: Comment on the macro; lines such as `parameter a: ...` describe its parameters and columns.
        parameters: Names of the parameters.
    """
    lines = comment.splitlines()
    description = "\n".join(line for line in lines if not _ENTRY.fullmatch(line))
    comments = {(entry[1], entry[2]): entry[3] for entry in map(_ENTRY.fullmatch, lines) if entry is not None}
    return Relation("macro", name, description, (
        *(RelationColumn(name, "parameter", comments.get(("parameter", name), "")) for name in parameters),
        *(RelationColumn(column, kind, comment) for (kind, column), comment in comments.items() if kind == "column")))


def render_schema(relations: Sequence[Relation], name: str | None, format_: str) -> str:
    """Return the documentation of the tables, views and macros of a database as text.

    Args:
        relations: The tables, views and macros.
        name: Name of the only one to show; None means all.
        format_: A format of `FORMS`: `text`, `md` or `mermaid` (a diagram).

    Raises:
        UnknownNameError: No table, view or macro has the name.
        InputError: A diagram of a macro was requested.
    """
    if name is not None and name not in [relation.name for relation in relations]:
        raise UnknownNameError("table, view or macro", name, [relation.name for relation in relations])
    return FORMS[format_]([relation for relation in relations if name in (None, relation.name)])


def _render_text(relations: Sequence[Relation]) -> str:
    return "\n".join(map(_render_relation_text, relations))


def _render_relation_text(relation: Relation) -> str:
    name = max((len(c.name) for c in relation.columns), default=0)
    type_ = max((len(c.type) for c in relation.columns), default=0)
    lines = [f"{relation.kind} {relation.call}"]
    lines += wrap(relation.comment, 118, initial_indent="  ", subsequent_indent="  ")
    lines += [f"    {c.name:{name}}  {c.type:{type_}}  {c.comment}".rstrip() for c in relation.columns]
    return "\n".join(lines) + "\n"


def _render_markdown(relations: Sequence[Relation]) -> str:
    parts = []
    for kind, title in (("table", "Tables"), ("view", "Views"), ("macro", "Macros")):
        selected = [relation for relation in relations if relation.kind == kind]
        parts += [f"## {title}\n"] if selected else []
        parts += map(_render_relation_markdown, selected)
    return "\n".join(parts)


def _render_relation_markdown(relation: Relation) -> str:
    rows = [{"name": c.name, "type": c.type, "comment": c.comment} for c in relation.columns]
    headings = (Column("name", "name" if relation.kind == "macro" else "column"), Column("type", "type"),
                Column("comment", "what it is"))
    return f"### `{relation.call}`\n\n{relation.comment}\n\n{render([Table(rows, headings)], 'md')}"


def _render_mermaid(relations: Sequence[Relation]) -> str:
    """Return an entity-relationship diagram of the tables in Mermaid's language.

    If there are no tables, the diagram shows the views.
    """
    drawn = [relation for relation in relations if relation.kind == "table"] or [
        relation for relation in relations if relation.kind == "view"]
    if not drawn:
        raise InputError("a macro has no diagram; choose --format text or md")
    names = {relation.name for relation in drawn}
    lines = ["erDiagram"]
    for relation in drawn:
        lines += [f"    {other} ||--o{{ {relation.name} : \"\"" for other in relation.references if other in names]
    for relation in drawn:
        lines.append(f"    {relation.name} {{")
        for column in relation.columns:
            is_key, is_reference = column.name == f"{relation.name}_id", column.name[:-3] in relation.references
            key = " PK" if is_key else " FK" if is_reference else ""
            description = column.comment.replace('"', "'")  # Mermaid cannot escape quotation marks
            comment = f' "{description}"' if description else ""
            lines.append(f"        {re.sub(r'[^A-Za-z0-9_]+', '_', column.type)} {column.name}{key}{comment}")
        lines.append("    }")
    return "\n".join(lines) + "\n"


FORMS: dict[str, Callable[[Sequence[Relation]], str]] = {
    "text": _render_text, "md": _render_markdown, "mermaid": _render_mermaid}
