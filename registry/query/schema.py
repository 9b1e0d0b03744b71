"""The data model as text, Markdown and a Mermaid diagram."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import wrap

from registry.errors import InputError, UnknownNameError
from registry.query.data_model import Thing
from registry.rendering.render import render
from registry.rendering.table import Column, Table


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
