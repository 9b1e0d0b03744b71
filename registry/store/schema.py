"""The schema of a registry, and its revision.

The tables are declared in `models.py`, their comments in `comments.toml`, views and macros in SQL files. `make` creates
all of them without alembic, whose import takes 0.4 s. The migration `0001_initial.py` creates them by the same code.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.schema import CreateTable

from registry.errors import InputError, SchemaError
from registry.store import comments, models, views
from registry.store.rows import driver_of
from registry.version import __version__

# The first digits of the digest of everything that the program declares; `tests/store/test_schema.py` prints the new
# ones if the declarations change. Registries of another revision cannot be opened until release 0.2.0.
REVISION = "c78fe91fa108"

_VERSION = (
    "CREATE TABLE alembic_version (version_num VARCHAR NOT NULL, CONSTRAINT alembic_version_pkc "
    "PRIMARY KEY (version_num))")
_REVISION = "SELECT version_num FROM alembic_version LEFT JOIN (FROM pair_result LIMIT 0) ON TRUE"


def check(connection: Connection, path: Path) -> None:
    """Refuse a schema that is not the program's own.

    Raises:
        SchemaError: Another version of the program made it.
        InputError: The database is not a registry.
    """
    try:
        found = connection.exec_driver_sql(_REVISION).scalar_one()
    except (DBAPIError, NoResultFound, MultipleResultsFound):  # the two tables are not those of a registry
        raise InputError("a DuckDB database, but not a registry; name another file with --db", path=path) from None
    if found != REVISION:
        raise SchemaError(path, f"another version of this program made this registry: its schema is {found}, and that "
                                f"of evalregistry {__version__} is {REVISION}; make a new one by `registry run` of its "
                                "manifests with another --db, or open this one with that version")


def create(connection: Connection) -> None:
    """Create all tables, views and macros, with their comments, in the connection's transaction."""
    tables = [str(CreateTable(table).compile(dialect=connection.dialect)) for table in models.metadata.sorted_tables]
    driver_of(connection).execute(";\n".join(tables))  # all at once: each alone takes several times as long
    comments.create(connection, models.metadata)
    views.create(connection)


def make(connection: Connection) -> None:
    """Make the schema of a new registry, and note its revision where alembic looks for it."""
    connection.exec_driver_sql(_VERSION)  # begins the transaction, without which each statement would be one
    create(connection)
    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (REVISION,))
