"""The check of a user's SQL: exactly one SELECT or EXPLAIN that names nothing of DuckDB's own but what is `permitted`.

DuckDB itself finds the statements and their syntax trees. Only the text that it parsed may run: `Checked.sql`.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import duckdb

from registry.errors import QueryError
from registry.query import permitted
from registry.query.question import Query
from registry.store.hiding.shadows import HELPER

_REFUSED = ("the query must be exactly one SELECT or EXPLAIN (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE); a "
            "registry is changed by its own commands only")
_ORGANISER = "`registry --organiser query` shows what is hidden"
# None of its characters can begin a comment or a literal, so DuckDB parses the text after it as it parses that alone.
_EXPLAIN = re.compile(r"\s*EXPLAIN\b\s*(?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?",
                      re.IGNORECASE | re.ASCII)
_FILE = re.compile(r"[./\\:]")  # in the name of a file, which DuckDB would read as a table
_MACROS = "SELECT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal"
_OWN_FUNCTIONS = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal"
_CONCEALING = (f"SELECT table_name FROM duckdb_tables() WHERE database_name = 'temp' "  # noqa: S608
               f"AND table_name <> '{permitted.ITEM_TEXT}'")
_OWN_VIEWS = "SELECT view_name FROM duckdb_views() WHERE internal"


@dataclass
class Checked:
    """A query that may run.

    Attributes:
        sql: The text that was parsed. No other text may run.
        explains: True if it is an EXPLAIN.
        table_functions: Names of table functions in the syntax tree.
        functions: Names of all other functions.
        tables: Names of tables and views.
        schemas: Names of databases and schemas.
    """

    sql: str
    explains: bool
    table_functions: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)


def check(driver: Any, query: Query) -> Checked:
    """Parse a query, and raise an error unless it is one SELECT or EXPLAIN that may run.

    Raises:
        QueryError: It may not run.
    """
    if "\0" in query.sql:
        raise QueryError("SQL cannot hold the character NUL", path=query.source)
    if not query.sql.isascii() and any("\ud800" <= character <= "\udfff" for character in query.sql):
        raise QueryError("SQL must be Unicode text", path=query.source)
    kind = _parse_kind(driver, query.sql, query)
    checked = Checked(query.sql, explains=kind == duckdb.StatementType.EXPLAIN)
    select = query.sql
    concealing = _fetch_names(driver, _CONCEALING)
    if checked.explains:
        _require_nothing_hidden(concealing, query)
        checked.sql, select = _split_explain(driver, query)
    elif kind != duckdb.StatementType.SELECT:
        raise QueryError(_REFUSED, path=query.source)
    _collect_names(_parse_tree(driver, select, query), checked)
    _require_permitted(driver, checked, query)
    if concealing:
        _require_concealed(driver, checked, query)
    return checked


def _parse_kind(driver: Any, sql: str, query: Query) -> Any:
    """Return the type of the only statement in a text."""
    statements = driver.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(_REFUSED, path=query.source)
    return statements[0].type


def _require_nothing_hidden(concealing: set[str], query: Query) -> None:
    if any(name.startswith(HELPER) for name in concealing):
        raise QueryError("names or scores are hidden, and a plan counts rows that have them, so EXPLAIN is refused; "
                         f"{_ORGANISER}", path=query.source)


def _split_explain(driver: Any, query: Query) -> tuple[str, str]:
    """Return an EXPLAIN without the comments before it, and its SELECT alone.

    Blanks replace the removed text, so that errors show the user's lines and columns.

    Raises:
        QueryError: The beginning of the SELECT is not certain.
    """
    start = duckdb.tokenize(query.sql)[0][0]  # in bytes
    sql = _blank_out(query.sql, len(query.sql.encode()[:start].decode()))
    prefix = _EXPLAIN.match(sql)
    select = "" if prefix is None else _blank_out(sql, prefix.end())
    with suppress(duckdb.ParserException):  # DuckDB parsed the whole text, so the prefix ends in another place
        if _parse_kind(driver, select, query) == duckdb.StatementType.SELECT:
            return sql, select
    raise QueryError("only EXPLAIN, EXPLAIN ANALYZE or EXPLAIN (FORMAT json) can explain a SELECT here, without "
                     "comments among these words", path=query.source)


def _blank_out(sql: str, end: int) -> str:
    return re.sub(r"[^\n]", " ", sql[:end]) + sql[end:]


def _parse_tree(driver: Any, select: str, query: Query) -> Any:
    (text,) = driver.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    try:
        tree = json.loads(text)
    except RecursionError:
        raise QueryError("the query is nested too deeply", path=query.source) from None
    if tree["error"]:  # a SELECT only after DuckDB has rewritten it, as PRAGMA is
        raise QueryError(_REFUSED, path=query.source)
    return tree


def _collect_names(tree: Any, named: Checked) -> None:
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            children = dict(node)
            if node.get("type") == "TABLE_FUNCTION":
                call = children.pop("function")
                named.table_functions.add(call["function_name"].lower())
                nodes += call["children"]
            if "function_name" in node:  # a scalar function, an aggregate, or one over a window
                named.functions.add(node["function_name"].lower())
            if table := node.get("table_name"):  # in quotation marks after SHOW
                named.tables.add(table.strip('"').lower())
            named.schemas |= {node.get("catalog_name", "").lower(), node.get("schema_name", "").lower()}
            nodes += children.values()


def _require_permitted(driver: Any, named: Checked, query: Query) -> None:
    """Refuse files and what is DuckDB's own and not permitted; what does not exist DuckDB refuses, and shows where."""
    _refuse("table", {name for name in named.tables if _FILE.search(name)}, query)
    if others := named.table_functions - permitted.TABLE_FUNCTIONS:
        _refuse("table function", others - _fetch_names(driver, _MACROS), query)
    if others := named.functions - permitted.FUNCTIONS:
        _refuse("function", others & _fetch_names(driver, _OWN_FUNCTIONS), query)
    if others := named.tables - permitted.VIEWS:
        _refuse("view", others & _fetch_names(driver, _OWN_VIEWS), query)


def _require_concealed(driver: Any, named: Checked, query: Query) -> None:
    """Refuse what reaches the file's own tables, where temporary ones stand for those with hidden names or scores."""
    _refuse("table", {name for name in named.tables if name.startswith(HELPER)}, query)
    own = _fetch_names(driver, "SELECT lower(current_database())")  # which is the file's name, and may be any of these
    if named.schemas - ({"", "main", "temp", "information_schema", "pg_catalog"} - own):
        raise QueryError(f"names or scores are hidden, so a query names tables without their database; {_ORGANISER}",
                         path=query.source)
    _refuse("table function", named.table_functions & permitted.OF_FILE, query)
    _refuse("view", named.tables & permitted.OF_FILE, query)


def _refuse(kind: str, names: set[str], query: Query) -> None:
    if names:
        raise QueryError(f"the {kind} {min(names)!r} is not for queries, which compute over the registry's tables and "
                         "reach nothing else", path=query.source)


def _fetch_names(driver: Any, sql: str) -> set[str]:
    return {name for (name,) in driver.execute(sql).fetchall()}
