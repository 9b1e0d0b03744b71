"""The version of a database's schema, its upgrade by the migrations, and the views that go with it.

A migration's file is named by its revision, `0001_the_first_schema.py`; the highest number is the program's own schema.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.schema import CreateTable

from registry.errors import InputError, SchemaError
from registry.store import comments, models, views
from registry.store.rows import driver_of
from registry.version import __version__

Touched = Mapping[str, tuple[str, ...]]  # columns that a migration rewrites or takes away, by table

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal"
_VERSION = (
    "CREATE TABLE alembic_version (version_num VARCHAR NOT NULL, CONSTRAINT alembic_version_pkc "
    "PRIMARY KEY (version_num))")
_REVISION = "SELECT version_num FROM alembic_version LEFT JOIN (FROM pair_result LIMIT 0) ON TRUE"


def migrations() -> Path:
    """The folder of the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    beside = package.parent / "migrations"
    return package / "migrations" if (package / "migrations").is_dir() else beside


@cache
def revisions() -> list[str]:
    """Every revision that this program knows, oldest first."""
    return sorted(file.name.partition("_")[0] for file in (migrations() / "versions").glob("[0-9]*.py"))


def current(connection: Connection, path: Path) -> str | None:
    """The database's revision; None where the database is empty.

    Raises:
        InputError: The database holds something else than a registry.
    """
    try:  # as every opening asks: to list the tables takes longer
        return str(connection.exec_driver_sql(_REVISION).scalar_one())
    except (DBAPIError, NoResultFound, MultipleResultsFound):  # the two tables are not those of a registry
        tables = connection.exec_driver_sql(_TABLES).scalars().all()
    if tables:
        raise InputError("a DuckDB database, but not a registry; name another file with --db", path=path)
    return None


def needs_upgrade(connection: Connection, path: Path) -> bool:
    """Say whether the schema is older than the program's, or not there yet.

    Raises:
        SchemaError: It is newer.
    """
    found, known = current(connection, path), revisions()
    if found is not None and found not in known:
        raise SchemaError(path, f"its schema {found} is newer than this program, evalregistry {__version__}, which "
                                f"knows {known[-1]}; upgrade the program: pip install --upgrade evalregistry")
    return found != known[-1]


def check(connection: Connection, path: Path) -> None:
    """Refuse a schema that is not the program's own.

    Raises:
        SchemaError: It is older, or newer.
        InputError: There is none.
    """
    if not needs_upgrade(connection, path):
        return
    found = current(connection, path)
    if found is None:
        raise InputError(f"an empty database; `registry init --db {path}` makes it a registry", path=path)
    raise SchemaError(path, f"its schema {found} is older than this program's {revisions()[-1]}; upgrade it with "
                            f"`registry init --db {path}`")


def migrations_after(revision: str | None) -> Iterator[tuple[Touched, dict[str, str]]]:
    """What each migration after a revision touches, oldest first: columns by table, and new names of tables."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(migrations())).iterate_revisions("head", revision or "base")
    for script in reversed(list(scripts)):
        yield getattr(script.module, "changes", {}), getattr(script.module, "renames", {})


def make(connection: Connection) -> None:
    """Make the schema of a new registry from the models, which takes less time than all migrations one by one."""
    views.drop(connection)  # none: it begins the transaction, without which each statement would be one
    tables = [str(CreateTable(table).compile(dialect=connection.dialect)) for table in models.metadata.sorted_tables]
    revision = f"INSERT INTO alembic_version VALUES ('{revisions()[-1]}')"  # noqa: S608 - a file's name
    driver_of(connection).execute(";\n".join([*tables, _VERSION, revision]))
    comments.create(connection, models.metadata)
    views.create(connection)


def upgrade(connection: Connection) -> None:
    """Bring the schema to the program's own, inside the connection's transaction, with its views and comments anew."""
    from alembic import command
    from alembic.config import Config

    config = Config(stdout=sys.stderr)
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    config.attributes["connection"] = connection
    views.drop(connection)  # no view may stand on a column that a migration takes away
    command.upgrade(config, "head")
    comments.create(connection, models.metadata)
    views.create(connection)
