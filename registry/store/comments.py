"""What every table and column is: read from `comments.toml`, and kept in the database for `registry schema`."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sqlalchemy import Connection, MetaData
from sqlalchemy.schema import ExecutableDDLElement, SetColumnComment, SetTableComment

from registry.store.rows import driver_of

_FILE = Path(__file__).parent / "comments.toml"


def attach(metadata: MetaData) -> None:
    """Give the tables and columns of the models their comments.

    Raises:
        KeyError: One has none.
    """
    comments = tomllib.loads(_FILE.read_text("utf-8"))
    shared = comments["shared"]
    for table in metadata.tables.values():
        own = comments[table.name]
        table.comment = own["_"]
        for column in table.columns:
            stem = column.name.rstrip("0123456789").removesuffix("_")  # correct_1 to correct_4 are one comment
            column.comment = own.get(column.name) or own.get(stem) or shared[column.name]


def create(connection: Connection, metadata: MetaData) -> None:
    """Write the comments of the models into the database."""
    comments: list[ExecutableDDLElement] = []
    for table in metadata.tables.values():
        comments += [SetTableComment(table), *(SetColumnComment(column) for column in table.columns)]
    statements = [str(comment.compile(dialect=connection.dialect)) for comment in comments]
    driver_of(connection).execute(";\n".join(statements))  # all at once: each alone takes several times as long
