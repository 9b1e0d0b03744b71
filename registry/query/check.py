"""The check of a user's SQL.

A query must be exactly one SELECT or EXPLAIN, and must not use a function or table on a short deny-list. DuckDB itself
parses the text, and only the parsed text may run: `CheckedQuery.sql`. A connection for queries (`Database.querying`)
cannot change anything and cannot access other files. The deny-list contains functions that are still dangerous:
functions that read settings, paths and logs of the process, that run SQL from a text, or that read memory by its
address.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import duckdb

from registry.errors import QueryError
from registry.query.request import Query

ITEM_TEXT = "item_text"  # name of a view; the module `texts` makes its rows for each query

_REFUSED = ("the query must be exactly one SELECT or EXPLAIN (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE); a "
            "registry is changed by its own commands only")
# No matched character can begin a comment or a literal. DuckDB therefore parses the rest of the text in the same way as
# if the rest were the whole text.
_EXPLAIN = re.compile(r"\s*EXPLAIN\b\s*(?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?",
                      re.IGNORECASE | re.ASCII)
_FILE = re.compile(r"[./\\:]")  # characters in paths of files; DuckDB would read such a file as a table
_DENIED = re.compile(r"""
    # Settings, paths, logs, memory and connections. The exceptions describe tables.
    (duckdb|pragma)_(?!(columns|constraints|functions|indexes|keywords|schemas|sequences|tables|types|views|storage_info
                       |table_info|version)$).*
    | .*_settings? | .*secrets?(_.*)? | getenv
    # SQL in a text, and tables by a text.
    | (.*_)?query(_table)? | json_execute_.* | json_serialize_plan | .*substrait.*
    # Files, and memory by its address.
    | read_.* | write_.* | parquet_.* | glob | sniff_.* | (.*_)?scan(_.*)? | python_.*
    # Commands and waiting.
    | (enable|disable|truncate)_.* | (force_)?checkpoint | .*sleep(_.*)? | (add|remove)_.*extension
    | .*external_resource.* | (__internal_)?json_copy_.*
    """, re.VERBOSE)
_DENIED_IN_FROM = {"histogram", "histogram_values"}  # as table functions, they call query_table
_SYSTEM_VIEW = ("duckdb_", "pragma_", "pg_")


@dataclass(frozen=True)
class CheckedQuery:
    """A user's query that was checked and may run.

    Attributes:
        sql: Text of the query that was checked. No other text may run.
        explains: Whether the query is an EXPLAIN.
        reads_texts: Whether the query uses the view `item_text`.
    """

    sql: str
    explains: bool
    reads_texts: bool


def check(driver: Any, query: Query) -> CheckedQuery:
    """Check that a user's query only reads permitted data; return the checked query.

    Raises:
        QueryError: The query is not exactly one SELECT or EXPLAIN, or uses a forbidden function, table or view.
    """
    if "\0" in query.sql:
        raise QueryError("SQL cannot contain the character NUL", path=query.source)
    if not query.sql.isascii() and any("\ud800" <= character <= "\udfff" for character in query.sql):
        raise QueryError("SQL must be Unicode text", path=query.source)
    kind = _parse_kind(driver, query.sql, query)
    sql = select = query.sql
    explains = kind == duckdb.StatementType.EXPLAIN
    if explains:
        sql, select = _split_explain(driver, query)
    elif kind != duckdb.StatementType.SELECT:
        raise QueryError(_REFUSED, path=query.source)
    names = _collect_names(_parse_tree(driver, select, query))
    for use, name in sorted(names):
        if is_denied(use, name):
            raise QueryError(f"queries may not use the {use} {name!r}; they may only read the tables and views of the "
                             "registry", path=query.source)
    return CheckedQuery(sql, explains, ("table", ITEM_TEXT) in names)


def is_denied(use: str, name: str) -> bool:
    """Return True if queries may not use the function, table or view of this name.

    Args:
        use: Kind of object: "function", "table function" or "table". A view is a "table".
        name: Name in lower case.
    """
    if use == "table":
        return bool(_FILE.search(name) or (name.startswith(_SYSTEM_VIEW) and _DENIED.fullmatch(name)))
    return bool(_DENIED.fullmatch(name)) or (use == "table function" and name in _DENIED_IN_FROM)


def _parse_kind(driver: Any, sql: str, query: Query) -> Any:
    """Return the type of an SQL statement, such as SELECT.

    Raises:
        QueryError: The text has no statement, or several.
    """
    statements = driver.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(_REFUSED, path=query.source)
    return statements[0].type


def _split_explain(driver: Any, query: Query) -> tuple[str, str]:
    """Split an EXPLAIN query into the whole statement and the explained SELECT.

    Blanks replace comments and the word EXPLAIN, so that line and column numbers in error messages remain correct.

    Raises:
        QueryError: The beginning of the SELECT cannot be found.
    """
    start = next(start for start, kind in duckdb.tokenize(query.sql) if kind != duckdb.token_type.comment)  # in bytes
    sql = _blank_out(query.sql, len(query.sql.encode()[:start].decode()))
    prefix = _EXPLAIN.match(sql)
    select = "" if prefix is None else _blank_out(sql, prefix.end())
    with suppress(duckdb.ParserException):  # an error means that the SELECT does not begin after this prefix
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
    if tree["error"]:  # for example a PRAGMA, which DuckDB rewrites as a SELECT
        raise QueryError(_REFUSED, path=query.source)
    return tree


def _collect_names(tree: Any) -> set[tuple[str, str]]:
    """Collect the names of all functions, tables and views in a query.

    Args:
        tree: The syntax tree of the query.

    Returns:
        Pairs of a kind and a name, which are the arguments of `is_denied`.
    """
    names = set[tuple[str, str]]()
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            children = dict(node)
            if node.get("type") == "TABLE_FUNCTION":
                call = children.pop("function")
                names.add(("table function", call["function_name"].lower()))
                nodes.append({key: value for key, value in call.items() if key != "function_name"})
            if "function_name" in node:  # a scalar function, an aggregate function, or a window function
                names.add(("function", node["function_name"].lower()))
            if table := node.get("table_name"):  # the name has quotation marks after SHOW
                names.add(("table", table.strip('"').lower()))
            nodes += children.values()
    return names
