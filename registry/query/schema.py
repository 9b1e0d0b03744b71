"""The data model of a registry, read from its comments, as text, Markdown or a diagram."""

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
class ThingColumn:
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
    columns: tuple[ThingColumn, ...]
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


def load_data_model(connection: Connection) -> list[Thing]:
    """Everything that can be asked for: tables, then views, then macros, each by name."""
    columns: dict[str, list[ThingColumn]] = {}
    for table, column, type_, comment in connection.execute(text(_COLUMNS)):
        columns.setdefault(table, []).append(ThingColumn(column, type_, comment or ""))
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
    taken = [ThingColumn(parameter, "parameter", told.get(("parameter", parameter), "")) for parameter in parameters]
    return Thing("macro", name, claim, (*taken, *(
        ThingColumn(column, kind, about) for (kind, column), about in told.items() if kind == "column")))


def schema(things: Sequence[Thing], name: str | None, format_: str) -> str:
    """Write all things, or the one called `name`, as one of `FORMS`.

    Raises:
        UnknownNameError: Nothing is called so.
        InputError: A macro is asked for as a diagram.
    """
    if name is not None and name not in [thing.name for thing in things]:
        raise UnknownNameError("table, view or macro", name, [thing.name for thing in things])
    return FORMS[format_]([thing for thing in things if name in (None, thing.name)])


def _text_of(thing: Thing) -> str:
    name = max((len(c.name) for c in thing.columns), default=0)
    type_ = max((len(c.type) for c in thing.columns), default=0)
    lines = [f"{thing.kind} {thing.call}", *wrap(thing.comment, 118, initial_indent="  ", subsequent_indent="  ")]
    lines += [f"    {c.name:{name}}  {c.type:{type_}}  {c.comment}".rstrip() for c in thing.columns]
    return "\n".join(lines) + "\n"


def _markdown(things: Sequence[Thing]) -> str:
    parts = []
    for kind, title in (("table", "Tables"), ("view", "Views"), ("macro", "Macros")):
        of_kind = [thing for thing in things if thing.kind == kind]
        parts += [f"## {title}\n"] if of_kind else []
        parts += map(_markdown_of, of_kind)
    return "\n".join(parts)


def _markdown_of(thing: Thing) -> str:
    rows = [{"name": c.name, "type": c.type, "comment": c.comment} for c in thing.columns]
    headings = (Column("name", "name" if thing.kind == "macro" else "column"), Column("type", "type"),
                Column("comment", "what it is"))
    return f"### `{thing.call}`\n\n{thing.comment}\n\n{render([Table(rows, headings)], 'md')}"


def _mermaid(things: Sequence[Thing]) -> str:
    """An entity-relationship diagram of the tables; of a view where it is alone."""
    drawn = [thing for thing in things if thing.kind == "table"] or [t for t in things if t.kind == "view"]
    if not drawn:
        raise InputError("a macro has no diagram; take --format text or md")
    known = {thing.name for thing in drawn}
    lines = ["erDiagram"]
    for thing in drawn:
        lines += [f"    {other} ||--o{{ {thing.name} : \"\"" for other in thing.references if other in known]
    for thing in drawn:
        lines.append(f"    {thing.name} {{")
        for column in thing.columns:
            key = " PK" if column.name == f"{thing.name}_id" else " FK" if column.name[:-3] in thing.references else ""
            about = column.comment.replace('"', "'")  # Mermaid has no escape for it
            comment = f' "{about}"' if about else ""
            lines.append(f"        {re.sub(r'[^A-Za-z0-9_]+', '_', column.type)} {column.name}{key}{comment}")
        lines.append("    }")
    return "\n".join(lines) + "\n"


FORMS: dict[str, Callable[[Sequence[Thing]], str]] = {
    "text": lambda things: "\n".join(map(_text_of, things)), "md": _markdown, "mermaid": _mermaid}
