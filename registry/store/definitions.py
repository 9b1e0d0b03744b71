"""Compare the definitions of tables, views, macros and comments with those of this program.

A registry may come from a stranger. A macro that has the name of a function or an operator replaces it in every
statement, so these queries use neither: they list what DuckDB's own catalog functions return, by their full names.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import duckdb
from sqlalchemy import Connection
from sqlalchemy.exc import InvalidRequestError

from registry.errors import RegistryError, StoreError
from registry.store import schema
from registry.store.files import CONFIG, FAILURES, connected
from registry.store.rows import driver_of

# What a statement or the program's own code raises if a table or a view holds something else than it should.
_UNEXPECTED = (*FAILURES, InvalidRequestError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError,
               ValueError)
_NOT_OF_FILE = ("system", "temp")  # databases
_PLACE = "database_name, schema_name"
_LISTS = {  # by kind of thing: DuckDB's function, and the columns of the name and of the definition
    "view": ("views", "view_name", "sql, internal, temporary"),
    "macro": ("functions", "function_name", "function_type, parameters, macro_definition, internal"),
    "index": ("indexes", "index_name", "sql"),
    "sequence": ("sequences", "sequence_name", "sql"),
    "type": ("types", "type_name", "logical_type, labels, internal"),
    "schema": ("schemas", "schema_name", "sql, internal"),
}
_COLUMNS = f"""
    SELECT {_PLACE}, table_name, column_name, data_type, column_default,
        CASE WHEN is_nullable THEN 'NULL' ELSE 'NOT NULL' END
    FROM system.main.duckdb_columns()"""  # noqa: S608
_CONSTRAINTS = f"SELECT {_PLACE}, table_name, constraint_text FROM system.main.duckdb_constraints()"  # noqa: S608
_COMMENTS = {  # by kind of thing: DuckDB's function, the column of the name, and that of a part with its own comment
    "table": ("tables", "table_name", "NULL"),
    "column": ("columns", "table_name", "column_name"),
    "view": ("views", "view_name", "NULL"),
    "macro": ("functions", "function_name", "NULL"),
}
_OWN_FUNCTION = re.compile(r'main\.(?=(?:list_value|struct_pack|"row")\()')
_EXCLUDED = re.compile(r"EXCLUDE \(([^()]*)\)")
_TABLES = f"SELECT {_PLACE}, table_name FROM system.main.duckdb_tables()"  # noqa: S608

Key = tuple[str, str]  # kind and name; a name outside of the schema `main` begins with that of its schema
Definitions = Mapping[Key, tuple[Any, ...]]


class Alteration(NamedTuple):
    """A thing that is not defined as this program defines it.

    Attributes:
        fault: `altered`, `missing` or `surplus`.
        kind: Of thing: `table`, `view`, `macro`, `index`, `sequence`, `type`, `schema` or `comment`.
        name: Of the thing; a comment's is that of the thing that it is on, after its kind.
        detail: What of it differs, where that is known.
    """

    fault: Literal["altered", "missing", "surplus"]
    kind: str
    name: str
    detail: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong with the thing, without its name."""
        if self.kind == "comment":
            return {"altered": "is not the comment that this version of the program writes",
                    "missing": "is missing: this version of the program writes one",
                    "surplus": "is unknown: this version of the program writes none"}[self.fault]
        return {"altered": "is not defined as this version of the program defines it",
                "missing": "is missing: every registry has it",
                "surplus": "is unknown: no registry has it"}[self.fault] + (self.detail and f" ({self.detail})")


def alterations(driver: Any) -> list[Alteration]:
    """Compare what a database defines, and its comments, with a new registry.

    The comments on a thing whose own definition differs are not compared.

    Args:
        driver: DuckDB's own connection to the database.
    """
    definitions, comments = _expected()
    found = _compare(_definitions(driver), definitions)
    differing = {of.name for of in found}
    return sorted([*found, *(of for of in _compare(_comments(driver), comments) if _owner(of) not in differing)])


def _compare(stored: Definitions, expected: Definitions) -> list[Alteration]:
    """List everything that two databases do not define in the same way."""
    found = [Alteration("missing", *key) for key in expected.keys() - stored.keys()]
    found += [Alteration("surplus", *key) for key in stored.keys() - expected.keys()]
    for key in stored.keys() & expected.keys():
        if stored[key] != expected[key] and not _is_same_statement(key[0], stored[key], expected[key]):
            found.append(Alteration("altered", *key, _detail(key[0], stored[key], expected[key])))
    return found


def _owner(comment: Alteration) -> str:
    """Return the name of the table, view or macro that a comment is on, or on a part of."""
    kind, _, name = comment.name.partition(" ")
    return name.rpartition(".")[0] if kind == "column" else name


@contextmanager
def blaming(connection: Connection, path: Path) -> Iterator[None]:
    """Explain an unexpected error of a block by what the registry at `path` does not define as it should.

    Raises:
        StoreError: The block failed, and a definition was altered.
    """
    try:
        yield
    except _UNEXPECTED as error:
        found = []
        with suppress(duckdb.Error):  # the block's error says more
            driver = driver_of(connection).duplicate()
            if driver.execute("FROM main.alembic_version").fetchall() == [(schema.REVISION,)]:
                found = [of for of in alterations(driver) if of.kind != "comment"]
        if not found or isinstance(error, RegistryError):
            raise
        first, more = found[0], f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise StoreError(path, f"the {first.kind} {first.name} {first.sentence}{more}; `registry verify` names all: "
                               "restore a backup") from None


def restore_views(connection: Connection) -> None:
    """Replace all views and macros of a copy of a registry by this program's own, and tables that have their names."""
    driver = driver_of(connection)
    own = {view.name for view in schema.load_views()}
    tables = driver.execute(_TABLES).fetchall()
    drops = {f"DROP TABLE {_quoted(place)}.{_quoted(name)}" for database, place, name in tables
             if database not in _NOT_OF_FILE and name in own}
    for kind in ("view", "macro"):
        for _, place, name, *rest in _own(driver, kind):
            word = "VIEW" if kind == "view" else "MACRO TABLE" if rest[0] == "table_macro" else "MACRO"
            drops.add(f"DROP {word} {_quoted(place)}.{_quoted(name)}")
    for statement in sorted(drops):
        driver.execute(statement)
    schema.create_views(connection)


@cache
def _expected() -> tuple[Definitions, Definitions]:
    """The definitions and comments of a new registry, as DuckDB writes them once they were read from a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "registry.duckdb"
        with _opened(path) as connection:
            schema.make(connection)
            connection.commit()
        with _opened(path) as connection:
            driver = driver_of(connection)
            return _definitions(driver), _comments(driver)


def _opened(path: Path) -> AbstractContextManager[Connection]:
    return connected(path, read_only=False, config=CONFIG, patience=0)


def _definitions(driver: Any) -> Definitions:
    """All that the file of a connection defines, in an order that does not depend on that of the statements."""
    found: defaultdict[Key, list[Any]] = defaultdict(list)
    for database, place, name in driver.execute(_TABLES).fetchall():
        if database not in _NOT_OF_FILE:
            found[_key("table", place, name)] = []
    for query in (_COLUMNS, _CONSTRAINTS):
        for database, place, name, *column in driver.execute(query).fetchall():
            if database not in _NOT_OF_FILE and (key := _key("table", place, name)) in found and column != ["NOT NULL"]:
                found[key].append(" ".join(map(str, column)))
    for kind in _LISTS:
        for _, place, name, *rest in _own(driver, kind):
            found[_key(kind, "main" if kind == "schema" else place, name)].append(
                rest[0] if len(rest) == 1 else json.dumps(rest, default=str))
    return {key: tuple(sorted(_in_order(str(one)) for one in of_key)) for key, of_key in found.items()}


def _comments(driver: Any) -> Definitions:
    """List all comments in the file of a connection; the versions of a macro with several may have one each."""
    found: defaultdict[Key, list[str]] = defaultdict(list)
    for kind, (function, name, part) in _COMMENTS.items():
        cursor = driver.execute(
            f"SELECT {_PLACE}, {name}, {part}, comment FROM system.main.duckdb_{function}() WHERE comment IS NOT NULL")  # noqa: S608
        for database, place, thing, column, comment in cursor.fetchall():
            if database not in _NOT_OF_FILE:
                full_name = f"{_key(kind, place, thing)[1]}{'' if column is None else f'.{column}'}"
                found["comment", f"{kind} {full_name}"].append(comment)
    return {key: tuple(sorted(comments)) for key, comments in found.items()}


def _own(driver: Any, kind: str) -> Iterator[tuple[Any, ...]]:
    """The things of a kind in the file of a connection: database, schema, name, and the columns of the definition."""
    function, name, columns = _LISTS[kind]
    cursor = driver.execute(f"SELECT {_PLACE}, {name}, {columns} FROM system.main.duckdb_{function}()")  # noqa: S608
    flags = [n for n, column in enumerate(cursor.description) if column[0] in ("internal", "temporary")]
    for row in cursor.fetchall():
        if row[0] not in _NOT_OF_FILE and not any(row[n] for n in flags):
            yield tuple(value for n, value in enumerate(row) if n not in flags)


def _key(kind: str, place: str, name: str) -> Key:
    return kind, name if place == "main" else f"{place}.{name}"


def _detail(kind: str, stored: tuple[Any, ...], expected: tuple[Any, ...]) -> str:
    """The first column or constraint of a table that differs."""
    if kind != "table":
        return ""
    differing = sorted(set(stored) ^ set(expected))
    return f"{'has' if differing[0] in stored else 'lacks'} {differing[0]}" if differing else ""


def _is_same_statement(kind: str, *definitions: tuple[Any, ...]) -> bool:
    """True if two views or macros have the same syntax trees.

    DuckDB writes a statement in another way after it was stored and read again, and other versions may, too.
    """
    if kind not in ("view", "macro"):
        return False
    stored, expected = ([_tree(kind, one) for one in of_one] for of_one in definitions)
    return None not in stored and stored == expected


def _tree(kind: str, definition: str) -> Any:
    """The syntax tree of a view or a macro, with what is in front of its SELECT; None if it cannot be parsed."""
    if kind == "view":
        before, _, select = definition.partition(" AS ")
    else:
        *before, select = json.loads(definition)
    select = select.rstrip().rstrip(";")
    for text in (select, f"SELECT {select}"):  # a macro may be an expression
        (written,) = _parser().execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        if "statements" in (tree := json.loads(written)):
            return before, _without_places(tree)
    return None


@cache
def _parser() -> Any:
    return duckdb.connect(config=CONFIG)


def _without_places(node: Any) -> Any:
    """A syntax tree without the places of its nodes in the text."""
    if isinstance(node, list):
        return [_without_places(one) for one in node]
    if isinstance(node, dict):
        return {key: _without_places(value) for key, value in node.items() if key != "query_location"}
    return node


def _in_order(statement: str) -> str:
    """Undo what DuckDB changes when it stores a view and reads it again.

    It reverses the names after EXCLUDE. DuckDB 1.5 writes `main.list_value` and `CAST('t' AS BOOLEAN)`, DuckDB 2
    writes `list_value` and `true`.
    """
    statement = _OWN_FUNCTION.sub("", statement)
    for written, plain in (("CAST('t' AS BOOLEAN)", "true"), ("CAST('f' AS BOOLEAN)", "false")):
        statement = statement.replace(written, plain)
    return _EXCLUDED.sub(lambda match: f"EXCLUDE ({', '.join(sorted(match[1].split(', ')))})", statement)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
