"""Comparison of the definitions in a registry with those of a new registry.

The module compares tables, views, macros and comments.

A registry may come from a stranger, who may have defined a macro with the name of a function or an operator. DuckDB
then uses the macro in every statement. The queries of this module therefore use no operators, and only DuckDB's own
catalog functions, called by their full names.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import duckdb
from sqlalchemy import Connection
from sqlalchemy.exc import InvalidRequestError

from registry.errors import RegistryError, StoreError
from registry.store import schema
from registry.store.files import CONFIG, FAILURES, connecting
from registry.store.rows import get_driver

# Errors that SQL statements or this program may raise if a table or a view has been altered.
_UNEXPECTED = (*FAILURES, InvalidRequestError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError,
               ValueError)
_OTHER_DATABASES = ("system", "temp")  # databases of DuckDB that are not in the file
_LOCATION = "database_name, schema_name"
_OBJECTS = {  # by kind: DuckDB's function, the column of the name, and the columns of the definition
    "view": ("views", "view_name", "sql, internal, temporary"),
    "macro": ("functions", "function_name", "function_type, parameters, macro_definition, internal"),
    "index": ("indexes", "index_name", "sql"),
    "sequence": ("sequences", "sequence_name", "sql"),
    "type": ("types", "type_name", "logical_type, labels, internal"),
    "schema": ("schemas", "schema_name", "sql, internal"),
}
_COLUMNS = f"""
    SELECT {_LOCATION}, table_name, column_name, data_type, column_default,
        CASE WHEN is_nullable THEN 'NULL' ELSE 'NOT NULL' END
    FROM system.main.duckdb_columns()"""  # noqa: S608
_CONSTRAINTS = f"SELECT {_LOCATION}, table_name, constraint_text FROM system.main.duckdb_constraints()"  # noqa: S608
_COMMENTS = {  # by kind: DuckDB's function, the column of the name, and the column of a commented part
    "table": ("tables", "table_name", "NULL"),
    "column": ("columns", "table_name", "column_name"),
    "view": ("views", "view_name", "NULL"),
    "macro": ("functions", "function_name", "NULL"),
}
_OWN_FUNCTION = re.compile(r'main\.(?=(?:list_value|struct_pack|"row")\()')
_EXCLUDED = re.compile(r"EXCLUDE \(([^()]*)\)")
_TABLES = f"SELECT {_LOCATION}, table_name FROM system.main.duckdb_tables()"  # noqa: S608

Key = tuple[str, str]  # kind and name; names in schemas other than `main` begin with the schema
Definitions = Mapping[Key, tuple[Any, ...]]


class Alteration(NamedTuple):
    """Difference between a database and a new registry in one definition.

    Attributes:
        fault: `altered`, `missing` or `surplus`.
        kind: `table`, `view`, `macro`, `index`, `sequence`, `type`, `schema` or `comment`.
        name: Name of the object. For a comment: the kind and the name of the object that it describes.
        detail: Part of the definition that differs, such as a column; empty if no part is known.
    """

    fault: Literal["altered", "missing", "surplus"]
    kind: str
    name: str
    detail: str = ""

    @property
    def sentence(self) -> str:
        """Description of the difference, without the name of the table, view or macro."""
        if self.kind == "comment":
            return {"altered": "differs from the comment that this version of the program writes",
                    "missing": "is missing: this version of the program writes one",
                    "surplus": "is unknown: this version of the program writes none"}[self.fault]
        return {"altered": "differs from the definition of this version of the program",
                "missing": "is missing: every registry has it",
                "surplus": "is unknown: no registry has it"}[self.fault] + (self.detail and f" ({self.detail})")


def find_alterations(driver: Any) -> list[Alteration]:
    """List how the definitions in a database differ from those in a new registry.

    If the definition of a table, view or macro differs, its comments are not compared.

    Args:
        driver: DuckDB's own connection to the database.
    """
    definitions, comments = _read_expected()
    alterations = _compare(_read_definitions(driver), definitions)
    names = {alteration.name for alteration in alterations}
    return sorted([*alterations, *(alteration for alteration in _compare(_read_comments(driver), comments)
                                   if _find_owner(alteration) not in names)])


def _compare(stored: Definitions, expected: Definitions) -> list[Alteration]:
    alterations = [Alteration("missing", *key) for key in expected.keys() - stored.keys()]
    alterations += [Alteration("surplus", *key) for key in stored.keys() - expected.keys()]
    for key in stored.keys() & expected.keys():
        if stored[key] != expected[key] and not _is_same_statement(key[0], stored[key], expected[key]):
            alterations.append(Alteration("altered", *key, _find_detail(key[0], stored[key], expected[key])))
    return alterations


def _find_owner(comment: Alteration) -> str:
    kind, _, name = comment.name.partition(" ")
    return name.rpartition(".")[0] if kind == "column" else name


@contextmanager
def explaining_alterations(connection: Connection, path: Path) -> Iterator[None]:
    """Explain an error in a `with` block by an altered table, view or macro.

    If the registry at `path` has no altered definition, the original error is raised.

    Raises:
        StoreError: The block failed, and a definition was altered; the message names it.
    """
    try:
        yield
    except _UNEXPECTED as error:
        alterations = []
        with suppress(duckdb.Error):  # the error of the block is more informative
            driver = get_driver(connection).duplicate()
            if driver.execute("FROM main.alembic_version").fetchall() == [(schema.REVISION,)]:
                alterations = [alteration for alteration in find_alterations(driver) if alteration.kind != "comment"]
        if not alterations or isinstance(error, RegistryError):
            raise
        first, more = alterations[0], f", and {len(alterations) - 1} more" if len(alterations) > 1 else ""
        raise StoreError(path, f"the {first.kind} {first.name} {first.sentence}{more}; restore a backup (`registry "
                               "verify` lists all differences)") from None


def restore_views(connection: Connection) -> None:
    """Replace all views and macros in a copy of a registry by those of this program.

    A table is dropped if it has the name of a view.
    """
    driver = get_driver(connection)
    names = {view.name for view in schema.load_views()}
    tables = driver.execute(_TABLES).fetchall()
    drops = {f"DROP TABLE {_quote_name(place)}.{_quote_name(name)}" for database, place, name in tables
             if database not in _OTHER_DATABASES and name in names}
    for kind in ("view", "macro"):
        for _, place, name, *rest in _list_objects(driver, kind):
            keyword = "VIEW" if kind == "view" else "MACRO TABLE" if rest[0] == "table_macro" else "MACRO"
            drops.add(f"DROP {keyword} {_quote_name(place)}.{_quote_name(name)}")
    for statement in sorted(drops):
        driver.execute(statement)
    schema.create_views(connection)


@cache
def _read_expected() -> tuple[Definitions, Definitions]:
    """Make a new registry; return the definitions and the comments in it.

    The file is closed and opened again, because DuckDB then writes definitions in another form.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "registry.duckdb"
        with connecting(path, read_only=False, config=CONFIG, patience=0) as connection:
            schema.make(connection)
            connection.commit()
        with connecting(path, read_only=False, config=CONFIG, patience=0) as connection:
            driver = get_driver(connection)
            return _read_definitions(driver), _read_comments(driver)


def _read_definitions(driver: Any) -> Definitions:
    """Return the definitions of tables, views and other objects in a database.

    Columns and constraints are sorted, because their order does not matter.
    """
    definitions: defaultdict[Key, list[Any]] = defaultdict(list)
    for database, place, name in driver.execute(_TABLES).fetchall():
        if database not in _OTHER_DATABASES:
            definitions[_key("table", place, name)] = []
    for query in (_COLUMNS, _CONSTRAINTS):
        for database, place, name, *column in driver.execute(query).fetchall():
            if database not in _OTHER_DATABASES and (key := _key("table", place, name)) in definitions and (
                    column != ["NOT NULL"]):
                definitions[key].append(" ".join(map(str, column)))
    for kind in _OBJECTS:
        for _, place, name, *rest in _list_objects(driver, kind):
            definitions[_key(kind, "main" if kind == "schema" else place, name)].append(
                rest[0] if len(rest) == 1 else json.dumps(rest, default=str))
    return {key: tuple(sorted(_normalize(str(part)) for part in parts)) for key, parts in definitions.items()}


def _read_comments(driver: Any) -> Definitions:
    """Return all comments in a database.

    A macro with several versions may have several comments.
    """
    comments: defaultdict[Key, list[str]] = defaultdict(list)
    for kind, (function, name, part) in _COMMENTS.items():
        cursor = driver.execute(f"SELECT {_LOCATION}, {name}, {part}, comment "  # noqa: S608
                                f"FROM system.main.duckdb_{function}() WHERE comment IS NOT NULL")
        for database, place, owner, column, comment in cursor.fetchall():
            if database not in _OTHER_DATABASES:
                full_name = f"{_key(kind, place, owner)[1]}{'' if column is None else f'.{column}'}"
                comments["comment", f"{kind} {full_name}"].append(comment)
    return {key: tuple(sorted(texts)) for key, texts in comments.items()}


def _list_objects(driver: Any, kind: str) -> Iterator[tuple[Any, ...]]:
    """List all objects of one kind, such as views, in a database.

    Yields:
        Database, schema and name of an object, and the columns of its definition.
    """
    function, name, columns = _OBJECTS[kind]
    cursor = driver.execute(f"SELECT {_LOCATION}, {name}, {columns} FROM system.main.duckdb_{function}()")  # noqa: S608
    flags = [n for n, column in enumerate(cursor.description) if column[0] in ("internal", "temporary")]
    for row in cursor.fetchall():
        if row[0] not in _OTHER_DATABASES and not any(row[n] for n in flags):
            yield tuple(value for n, value in enumerate(row) if n not in flags)


def _key(kind: str, place: str, name: str) -> Key:
    return kind, name if place == "main" else f"{place}.{name}"


def _find_detail(kind: str, stored: tuple[Any, ...], expected: tuple[Any, ...]) -> str:
    """Describe the first column or constraint in which two tables differ.

    The result is empty if the objects are not tables.
    """
    if kind != "table":
        return ""
    differences = sorted(set(stored) ^ set(expected))
    return f"{'has' if differences[0] in stored else 'lacks'} {differences[0]}" if differences else ""


def _is_same_statement(kind: str, *definitions: tuple[Any, ...]) -> bool:
    """Return True if two definitions of a view or macro have equal syntax trees.

    The texts of equal definitions can differ, because each version of DuckDB formats stored statements in another way.
    """
    if kind not in ("view", "macro"):
        return False
    stored, expected = ([_parse(kind, statement) for statement in statements] for statements in definitions)
    return None not in stored and stored == expected


def _parse(kind: str, definition: str) -> Any:
    """Split the definition of a view or macro into its head and its SELECT.

    Returns:
        The text before the SELECT, and the syntax tree of the SELECT; None if DuckDB cannot parse the SELECT.
    """
    if kind == "view":
        before_select, _, select = definition.partition(" AS ")
    else:
        *before_select, select = json.loads(definition)
    select = select.rstrip().rstrip(";")
    for text in (select, f"SELECT {select}"):  # a macro may be an expression
        (serialized,) = _parser().execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        if "statements" in (tree := json.loads(serialized)):
            return before_select, _without_locations(tree)
    return None


@cache
def _parser() -> Any:
    return duckdb.connect(config=CONFIG)


def _without_locations(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_locations(child) for child in node]
    if isinstance(node, dict):
        return {key: _without_locations(value) for key, value in node.items()
                if not key.startswith("query_location")}
    return node


def _normalize(statement: str) -> str:
    """Convert a definition to a text that is the same in all versions of DuckDB.

    DuckDB changes the order of the names after EXCLUDE, so this function sorts them. DuckDB 1.5 writes
    `main.list_value` and `CAST('t' AS BOOLEAN)`, but DuckDB 2 writes `list_value` and `true`.
    """
    statement = _OWN_FUNCTION.sub("", statement)
    for written, plain in (("CAST('t' AS BOOLEAN)", "true"), ("CAST('f' AS BOOLEAN)", "false")):
        statement = statement.replace(written, plain)
    return _EXCLUDED.sub(lambda match: f"EXCLUDE ({', '.join(sorted(match[1].split(', ')))})", statement)


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
