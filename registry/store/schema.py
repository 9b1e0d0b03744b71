"""The schema of a registry: tables with comments, views and macros, and the revision.

`models.py` declares the tables and `comments.toml` says what they mean. A view's file `views/<order>_<view>.sql` is one
SELECT, a macro's `macros/<order>_<macro>.sql` one CREATE MACRO. Their leading comment lines say what the thing claims,
with its sources; after a line with nothing but `--`, each `-- name: text` describes a column or a parameter. The
database keeps all of it as comments. `make` creates everything without alembic, whose import takes 0.4 s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, MetaData
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.schema import CreateTable, ExecutableDDLElement, SetColumnComment, SetTableComment

from registry.errors import InputError, SchemaError
from registry.store import models
from registry.store.rows import driver_of, quoted
from registry.version import __version__


def create_comments(connection: Connection, metadata: MetaData) -> None:
    """Write the comments of the models into the database."""
    comments: list[ExecutableDDLElement] = []
    for table in metadata.tables.values():
        comments += [SetTableComment(table), *(SetColumnComment(column) for column in table.columns)]
    statements = [str(comment.compile(dialect=connection.dialect)) for comment in comments]
    driver_of(connection).execute(";\n".join(statements))  # all at once: each alone takes several times as long


_ENTRY = re.compile(r"(\w+): (.+)")
_WORD = re.compile(r"\w+")
_MACRO = re.compile(r"CREATE MACRO (\w+)\(([^)]*)\) AS (TABLE\b)?")


@dataclass(frozen=True)
class View:
    """One view: its name, what it claims, what its columns are, and its SELECT."""

    name: str
    comment: str
    columns: Mapping[str, str]
    select: str


@dataclass(frozen=True)
class Macro:
    """One macro: its name, what it claims, its statement, and what its parameters and, of tables, columns are."""

    name: str
    comment: str
    statement: str
    is_table: bool
    parameters: Mapping[str, str]
    columns: Mapping[str, str]

    @property
    def full_comment(self) -> str:
        """The claim, and a line for each parameter and column."""
        return "\n".join([self.comment, *(f"parameter {name}: {about}" for name, about in self.parameters.items()),
                          *(f"column {name}: {about}" for name, about in self.columns.items())])


def load_views() -> list[View]:
    """Read every view, in the order in which they can be created."""
    return [View(path.stem.partition("_")[2], *described(path)) for path in _files("views")]


def load_macros() -> list[Macro]:
    """Read every macro, in the order in which they can be created."""
    return [_macro(*described(path)) for path in _files("macros")]


@cache
def resting_on(tables: tuple[str, ...]) -> frozenset[str]:
    """The names of some tables, and of the views and macros that read them, by others too."""
    found = set(tables)
    for name, statement in (*((view.name, view.select) for view in load_views()),
                            *((macro.name, macro.statement) for macro in load_macros())):  # in an order that works
        if found & set(_WORD.findall(statement)):
            found.add(name)
    return frozenset(found)


def _files(folder: str) -> list[Path]:
    return sorted((Path(__file__).parent / folder).glob("*.sql"))


def described(path: Path) -> tuple[str, dict[str, str], str]:
    """What a file says: the claim, what each name is, and the statement."""
    lines = path.read_text("utf-8").splitlines()
    n_head = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    head = [line.removeprefix("--").strip() for line in lines[:n_head]]
    at = head.index("")
    entries = [_ENTRY.fullmatch(line) for line in head[at + 1:]]
    named = {entry[1]: entry[2] for entry in entries if entry is not None}
    return " ".join(head[:at]), named, "\n".join(lines[n_head:]).strip()


def _macro(claim: str, named: dict[str, str], statement: str) -> Macro:
    found = _MACRO.match(statement)
    assert found is not None
    taken = [parameter.partition(" ")[0] for parameter in found[2].split(", ")]
    return Macro(found[1], claim, statement, found[3] is not None, {k: named[k] for k in taken},
                 {k: v for k, v in named.items() if k not in taken})


def create_views(connection: Connection) -> None:
    """Create every view and macro, with its comments."""
    statements = []
    for view in load_views():
        statements.append(f'CREATE VIEW "{view.name}" AS\n{view.select}')
        statements.append(_comment_on(f'VIEW "{view.name}"', view.comment))
        statements += [_comment_on(f'COLUMN "{view.name}"."{column}"', about) for column, about in view.columns.items()]
    for macro in load_macros():
        statements.append(macro.statement)
        statements.append(_comment_on(f'MACRO {"TABLE " if macro.is_table else ""}"{macro.name}"', macro.full_comment))
    driver_of(connection).execute(";\n".join(statements))  # all at once: each alone takes several times as long


def _comment_on(thing: str, about: str) -> str:
    return f"COMMENT ON {thing} IS {quoted(about)}"


# The first digits of the digest of everything that the program declares; `tests/store/test_schema.py` prints the new
# ones if the declarations change. Registries of another revision cannot be opened until release 0.2.0.
REVISION = "94d59c87de42"

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
    create_comments(connection, models.metadata)
    create_views(connection)


def make(connection: Connection) -> None:
    """Make the schema of a new registry, and note its revision where alembic looks for it."""
    connection.exec_driver_sql(_VERSION)  # begins the transaction, without which each statement would be one
    create(connection)
    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (REVISION,))
