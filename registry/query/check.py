"""The check of a user's SQL: exactly one SELECT or EXPLAIN that names nothing on a short deny-list.

DuckDB itself finds the statements and their syntax trees. Only the text that it parsed may run: `Checked.sql`. A
connection for queries can change nothing and reaches no other file (`Database.querying`). The deny-list covers what
such a connection still offers: settings, paths and logs of the process, SQL in a text, and memory by its address.
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

ITEM_TEXT = "item_text"  # the view whose rows `texts` makes for each query

_REFUSED = ("the query must be exactly one SELECT or EXPLAIN (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE); a "
            "registry is changed by its own commands only")
# None of its characters can begin a comment or a literal, so DuckDB parses the text after it as it parses that alone.
_EXPLAIN = re.compile(r"\s*EXPLAIN\b\s*(?:ANALYZE\b\s*)?(?:\(\s*(?:ANALYZE|FORMAT)\b[\w\s,]*\)\s*)?",
                      re.IGNORECASE | re.ASCII)
_FILE = re.compile(r"[./\\:]")  # in the name of a file, which DuckDB would read as a table
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
_DENIED_IN_FROM = {"histogram", "histogram_values"}  # they call query_table; the aggregate `histogram` does not
_SYSTEM_VIEW = ("duckdb_", "pragma_", "pg_")


@dataclass(frozen=True)
class Checked:
    """A query that may run.

    Attributes:
        sql: The text that was parsed. No other text may run.
        explains: True if it is an EXPLAIN.
        reads_texts: True if it names the view `item_text`.
    """

    sql: str
    explains: bool
    reads_texts: bool


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
    sql = select = query.sql
    explains = kind == duckdb.StatementType.EXPLAIN
    if explains:
        sql, select = _split_explain(driver, query)
    elif kind != duckdb.StatementType.SELECT:
        raise QueryError(_REFUSED, path=query.source)
    names = _collect_names(_parse_tree(driver, select, query))
    for use, name in sorted(names):
        if is_denied(use, name):
            raise QueryError(f"the {use} {name!r} is not for queries, which compute over the registry's tables "
                             "and reach nothing else", path=query.source)
    return Checked(sql, explains, ("table", ITEM_TEXT) in names)


def is_denied(use: str, name: str) -> bool:
    """Return whether a query may not use a name.

    Args:
        use: "function", "table function" or "table"; views count as tables.
        name: In lower case.
    """
    if use == "table":
        return bool(_FILE.search(name) or (name.startswith(_SYSTEM_VIEW) and _DENIED.fullmatch(name)))
    return bool(_DENIED.fullmatch(name)) or (use == "table function" and name in _DENIED_IN_FROM)


def _parse_kind(driver: Any, sql: str, query: Query) -> Any:
    """Return the type of the only statement in a text."""
    statements = driver.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(_REFUSED, path=query.source)
    return statements[0].type


def _split_explain(driver: Any, query: Query) -> tuple[str, str]:
    """Return an EXPLAIN without the comments before it, and its SELECT alone.

    Blanks replace the removed text, so that errors show the user's lines and columns.

    Raises:
        QueryError: The beginning of the SELECT is not certain.
    """
    start = next(start for start, kind in duckdb.tokenize(query.sql) if kind != duckdb.token_type.comment)  # in bytes
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


def _collect_names(tree: Any) -> set[tuple[str, str]]:
    """Return the kinds and names of all functions and tables in a syntax tree; see `is_denied`."""
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
            if "function_name" in node:  # a scalar function, an aggregate, or one over a window
                names.add(("function", node["function_name"].lower()))
            if table := node.get("table_name"):  # in quotation marks after SHOW
                names.add(("table", table.strip('"').lower()))
            nodes += children.values()
    return names
