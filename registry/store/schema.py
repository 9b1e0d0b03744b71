"""The schema of a registry: tables, views and macros with their comments.

The file `models.py` declares the tables, and `comments.toml` documents them. A view has a file
`views/<order>_<view>.sql` with one SELECT; a macro has a file `macros/<order>_<macro>.sql` with one CREATE MACRO. The
comment lines at the beginning of the file document the view or macro. After a line with only `--`, each line
`-- name: text` documents a column or a parameter. The database stores these texts as comments. The function `make`
creates a schema without alembic, because the import of alembic takes 0.4 s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, MetaData
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.schema import CreateTable, ExecutableDDLElement, SetColumnComment, SetTableComment

from registry.errors import InputError, SchemaError
from registry.store import models
from registry.store.rows import get_driver, quote
from registry.version import __version__


def create_comments(connection: Connection, metadata: MetaData) -> None:
    """Store the comments on all tables and columns in the database."""
    comments: list[ExecutableDDLElement] = []
    for table in metadata.tables.values():
        comments += [SetTableComment(table), *(SetColumnComment(column) for column in table.columns)]
    statements = [str(comment.compile(dialect=connection.dialect)) for comment in comments]
    get_driver(connection).execute(";\n".join(statements))  # in one call, which is several times as fast


_ENTRY = re.compile(r"(\w+): (.+)")
_MACRO = re.compile(r"CREATE MACRO (\w+)\(([^)]*)\) AS (TABLE\b)?")


@dataclass(frozen=True)
class View:
    """A view: its name, its comment, the comments on its columns, and its SELECT."""

    name: str
    comment: str
    columns: Mapping[str, str]
    select: str


@dataclass(frozen=True)
class Macro:
    """An SQL macro: a function in the database with parameters and comments.

    Attributes:
        name: Name of the macro.
        comment: Comment on the macro.
        statement: CREATE MACRO statement.
        is_table: Whether the macro returns a table.
        parameters: Comment on each parameter, by name.
        columns: Comment on each column of the returned table, by name.
    """

    name: str
    comment: str
    statement: str
    is_table: bool
    parameters: Mapping[str, str]
    columns: Mapping[str, str]

    @property
    def full_comment(self) -> str:
        """The macro's comment, followed by one line for each parameter and column."""
        return "\n".join([self.comment, *(f"parameter {name}: {about}" for name, about in self.parameters.items()),
                          *(f"column {name}: {about}" for name, about in self.columns.items())])


def load_views() -> list[View]:
    """Read the SQL files of all views; a view follows the views that it uses."""
    return [View(path.stem.partition("_")[2], *parse_sql_file(path)) for path in _list_files("views")]


def load_macros() -> list[Macro]:
    """Read the SQL files of all macros, sorted so that a macro follows those it uses."""
    macros = []
    for path in _list_files("macros"):
        comment, about, statement = parse_sql_file(path)
        match = _MACRO.match(statement)
        assert match is not None
        parameters = [parameter.partition(" ")[0] for parameter in match[2].split(", ")]
        macros.append(Macro(match[1], comment, statement, match[3] is not None, {k: about[k] for k in parameters},
                            {k: v for k, v in about.items() if k not in parameters}))
    return macros


def _list_files(folder: str) -> list[Path]:
    return sorted((Path(__file__).parent / folder).glob("*.sql"))


def parse_sql_file(path: Path) -> tuple[str, dict[str, str], str]:
    """Parse the SQL file of a view or macro into comments and a statement.

    Returns:
        The comment on the view or macro; the comments on its columns or parameters, by name; and the SQL statement.
    """
    lines = path.read_text("utf-8").splitlines()
    n_head = next(n for n, line in enumerate(lines) if not line.startswith("--"))
    head = [line.removeprefix("--").strip() for line in lines[:n_head]]
    n_claim = head.index("")
    entries = [_ENTRY.fullmatch(line) for line in head[n_claim + 1:]]
    about = {entry[1]: entry[2] for entry in entries if entry is not None}
    return " ".join(head[:n_claim]), about, "\n".join(lines[n_head:]).strip()


def create_views(connection: Connection) -> None:
    """Create all views and macros in the database, with their comments."""
    statements = []
    for view in load_views():
        statements.append(f'CREATE VIEW "{view.name}" AS\n{view.select}')
        statements.append(_comment_on(f'VIEW "{view.name}"', view.comment))
        statements += [_comment_on(f'COLUMN "{view.name}"."{column}"', about) for column, about in view.columns.items()]
    for macro in load_macros():
        statements.append(macro.statement)
        statements.append(_comment_on(f'MACRO {"TABLE " if macro.is_table else ""}"{macro.name}"', macro.full_comment))
    get_driver(connection).execute(";\n".join(statements))  # in one call, which is several times as fast


def _comment_on(target: str, about: str) -> str:
    return f"COMMENT ON {target} IS {quote(about)}"


# The first digits of the digest of all declarations; `tests/store/test_schema.py` prints the new digits when a
# declaration changes. Until release 0.2.0, the program opens only registries of its own revision.
REVISION = "83522daf9ae3"

_VERSION = (
    "CREATE TABLE alembic_version (version_num VARCHAR NOT NULL, CONSTRAINT alembic_version_pkc "
    "PRIMARY KEY (version_num))")
_REVISION = "SELECT version_num FROM alembic_version LEFT JOIN (FROM pair_result LIMIT 0) ON TRUE"


def check(connection: Connection, path: Path) -> None:
    """Check that a database has the schema of this version of the program.

    Raises:
        SchemaError: Another version of the program made the registry.
        InputError: The database is not a registry.
    """
    try:
        revision = connection.exec_driver_sql(_REVISION).scalar_one()
    except (DBAPIError, NoResultFound, MultipleResultsFound):  # the two tables are missing, or not from this program
        raise InputError("a DuckDB database, but not a registry; name another file with --db", path=path) from None
    if revision != REVISION:
        raise SchemaError(path, f"another version of this program made this registry (its schema is {revision}, but "
                                f"evalregistry {__version__} needs {REVISION}); open it with that version, or create a "
                                "new registry by `registry run MANIFEST --db NEW.duckdb`")


def create(connection: Connection) -> None:
    """Create all tables, views and macros with their comments, without a commit."""
    tables = [str(CreateTable(table).compile(dialect=connection.dialect)) for table in models.metadata.sorted_tables]
    get_driver(connection).execute(";\n".join(tables))  # in one call, which is several times as fast
    create_comments(connection, models.metadata)
    create_views(connection)


def make(connection: Connection) -> None:
    """Create everything in a new registry: tables, views, macros and schema version.

    The version is stored in the table `alembic_version`, as alembic does.
    """
    connection.exec_driver_sql(_VERSION)  # begins the transaction of all statements
    create(connection)
    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (REVISION,))
