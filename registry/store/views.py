"""The SQL views: one SELECT per file in `views/`, made anew after every upgrade, so they are never migrated.

A file is named `<order>_<view>.sql`; its leading comment lines become the view's comment in the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text


@dataclass(frozen=True)
class View:
    """One view: its name, what it claims, and its SELECT."""

    name: str
    comment: str
    select: str


def load() -> list[View]:
    """Read every view, in the order in which they can be created."""
    return [_parse(path) for path in sorted((Path(__file__).parent / "views").glob("*.sql"))]


def _parse(path: Path) -> View:
    lines = path.read_text("utf-8").splitlines()
    head = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    body = "\n".join(line for line in lines if not line.startswith("--"))
    return View(path.stem.partition("_")[2], " ".join(head), body.strip())


def drop(connection: Connection) -> None:
    """Drop every view of the registry."""
    found = connection.execute(text(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()"))
    for (name,) in found.all():
        connection.execute(text(f'DROP VIEW "{name}"'))


def create(connection: Connection) -> None:
    """Create every view, with its comment."""
    for view in load():
        connection.exec_driver_sql(f'CREATE VIEW "{view.name}" AS\n{view.select}')
        comment = view.comment.replace("'", "''")
        connection.exec_driver_sql(f"COMMENT ON VIEW \"{view.name}\" IS '{comment}'")
