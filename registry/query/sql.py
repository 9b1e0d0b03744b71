"""SQL that a user wrote: exactly one SELECT or EXPLAIN, on a connection that can change and reach nothing else.

The connection (`Database.querying`) is read-only, without access to files, its settings locked. That leaves functions
that read memory by its address, tell settings and paths, wait, write logs or run SQL from a text; so a query is parsed
before it runs, and what it names of DuckDB's own must be `permitted`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection

from registry.errors import LimitError, QueryError, RegistryError
from registry.query import permitted
from registry.query.question import Query
from registry.store.files.failures import explain
from registry.store.hiding.concealment import another
from registry.store.hiding.shadows import HELPER
from registry.store.rows import quoted

_REFUSED = ("the query must be exactly one SELECT or EXPLAIN (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE); a "
            "registry is changed by its own commands only")
_SPACE = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*"
_EXPLAIN = re.compile(rf"{_SPACE}EXPLAIN\b{_SPACE}(?:ANALYZE\b{_SPACE})?(?:\([^()]*\))?", re.IGNORECASE | re.DOTALL)
_NO_MEMORY = "Memory allocation failure"  # where DuckDB asks the system for memory by itself
_PLACE = re.compile(r"\n\nLINE (\d+): ")
_MACROS = "SELECT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal"
_OWN_FUNCTIONS = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal"
_CONCEALED = (f"SELECT 1 FROM duckdb_tables() WHERE database_name = 'temp' "  # noqa: S608
              f"AND table_name <> '{permitted.ITEM_TEXT}' LIMIT 1")
_OWN_VIEWS = "SELECT view_name FROM duckdb_views() WHERE internal"
BATCH = 2048  # rows; DuckDB's own vectors hold so many


Row = tuple[Any, ...]


@dataclass(frozen=True)
class QueryResult:
    """What a query finds.

    Attributes:
        columns: Their names, of which one may stand twice.
        batches: The rows as they come, some at a time.
        told: What there is to tell beside them.
    """

    columns: list[str]
    batches: Iterator[list[Row]]
    told: list[str]


def answer(connection: Connection, query: Query) -> QueryResult:
    """Begin a query; its rows are computed as they are asked for.

    Raises:
        QueryError: It is not exactly one SELECT or EXPLAIN, or DuckDB refuses it; carries DuckDB's own words.
        MemoryError: It needs more memory than it may take. Both can also come with the rows.
    """
    cursor = another(connection)
    told = execute(cursor, query)
    return QueryResult([column[0] for column in cursor.description], batches(cursor, query), told)


def execute(cursor: Any, query: Query) -> list[str]:
    """Begin a query on a cursor of DuckDB; gives what there is to tell beside the rows. See `answer`."""
    with translating(query):
        told = _unpacked(cursor, check(cursor, query))
        cursor.execute(query.sql, dict(query.parameters) or None)
    return told


def columns_of(cursor: Any, query: Query) -> list[str]:
    """The names of a query's columns, of which those that are alike are numbered; it is not run.

    Raises:
        QueryError: As `answer`.
    """
    with translating(query, first_line=2):
        if check(cursor, query).explains:
            return ["explain_key", "explain_value"]
        cursor.execute(f"FROM (\n{_without_end(query.sql)}\n) LIMIT 0", dict(query.parameters) or None)
    return [column[0] for column in cursor.description]


def count_of(cursor: Any, query: Query) -> int:
    """How many rows a query has.

    Raises:
        QueryError, MemoryError: As `answer`.
    """
    with translating(query, first_line=2):
        checked = check(cursor, query)
        if checked.explains:
            execute(cursor, query)
            return len(cursor.fetchall())
        _unpacked(cursor, checked)
        select = f"SELECT count(*) FROM (\n{_without_end(query.sql)}\n)"  # noqa: S608 - it was checked
        (n,) = cursor.execute(select, dict(query.parameters) or None).fetchone()
    return int(n)


def write_parquet(connection: Connection, query: Query, path: Path, max_rows: int | None = None) -> list[str]:
    """Write a query's rows to the one file that the connection was opened for; gives what there is to tell beside them.

    Raises:
        QueryError, MemoryError: As `answer`.
        LimitError: There are more than `max_rows`.
        StoreError: The file cannot be written.
    """
    driver = another(connection)
    with translating(query, first_line=2):
        checked = check(driver, query)
        if checked.explains:
            raise QueryError("EXPLAIN has no rows for a parquet file; take another --format", path=query.source)
        told = _unpacked(driver, checked)
        limit = "" if max_rows is None else f"LIMIT {max_rows + 1}"
        select = f"FROM (\n{_without_end(query.sql)}\n) {limit}"
        copy = f"COPY ({select}) TO {quoted(path)} (FORMAT parquet, USE_TMP_FILE false)"
        try:
            (written,) = driver.execute(copy, dict(query.parameters) or None).fetchone()
        except duckdb.IOException as error:
            raise explain(str(error), path) or error from None
    if max_rows is not None and written > max_rows:
        raise too_many_rows(max_rows)
    return told


def _unpacked(driver: Any, checked: Checked) -> list[str]:
    """Make the rows of the view of texts where a query asks for them; gives notes on it."""
    if permitted.ITEM_TEXT not in checked.tables:
        return []
    from registry.query.texts import unpack  # late: few queries need the readers of files

    return unpack(driver)


def _without_end(sql: str) -> str:
    """One statement without the semicolons that end it and what comments follow them."""
    text = sql.encode()
    end = len(text)
    for at, _ in reversed(duckdb.tokenize(sql)):
        if text[at:at + 1] != b";":
            break
        end = at
    return text[:end].decode()


def too_many_rows(max_rows: int) -> LimitError:
    """The error of a result with more rows than were allowed."""
    return LimitError(f"the result has more than {max_rows} rows; --max-rows allows more, LIMIT asks for fewer")


@dataclass
class Checked:
    """Whether a query is an EXPLAIN, and all names in its syntax tree: of functions, tables, databases and schemas."""

    explains: bool
    table_functions: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)


def check(driver: Any, query: Query) -> Checked:
    """Refuse what is not exactly one harmless SELECT or EXPLAIN.

    Raises:
        QueryError: It is refused.
    """
    if "\0" in query.sql:
        raise QueryError("SQL cannot hold the character NUL", path=query.source)
    statements = driver.extract_statements(query.sql)
    allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in allowed:
        raise QueryError(_REFUSED, path=query.source)
    explains: bool = statements[0].type == duckdb.StatementType.EXPLAIN
    select = _EXPLAIN.sub("", query.sql, count=1) if explains else query.sql
    (tree,) = driver.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    try:
        parsed = json.loads(tree)
    except RecursionError:
        raise QueryError("the query is nested too deeply", path=query.source) from None
    if parsed["error"]:  # a SELECT only after DuckDB has rewritten it, as PRAGMA is
        raise QueryError(_REFUSED, path=query.source)
    named = _named(parsed, explains=explains)
    _require_permitted(driver, named, query)
    if driver.execute(_CONCEALED).fetchall():
        _require_concealed(driver, named, query)
    return named


def _named(tree: Any, *, explains: bool) -> Checked:
    named, nodes = Checked(explains), [tree]
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
    return named


def _require_permitted(driver: Any, named: Checked, query: Query) -> None:
    """Refuse what is DuckDB's own and not permitted; what does not exist DuckDB refuses, and shows where."""
    if others := named.table_functions - permitted.TABLE_FUNCTIONS:
        _refuse("table function", others - _all(driver, _MACROS), query)
    if others := named.functions - permitted.FUNCTIONS:
        _refuse("function", others & _all(driver, _OWN_FUNCTIONS), query)
    if others := named.tables - permitted.VIEWS:
        _refuse("view", others & _all(driver, _OWN_VIEWS), query)


def _require_concealed(driver: Any, named: Checked, query: Query) -> None:
    """Refuse what reaches the file's own tables, where temporary ones stand for those with hidden names or scores."""
    _refuse("table", {name for name in named.tables if name.startswith(HELPER)}, query)
    own = _all(driver, "SELECT lower(current_database())")  # which is the file's name, and may be any of these
    if named.schemas - ({"", "main", "temp", "information_schema", "pg_catalog"} - own):
        raise QueryError("names or scores are hidden, so a query names tables without their database; `registry "
                         "--organiser query` shows what is hidden", path=query.source)
    _refuse("table function", named.table_functions & permitted.BY_NAME, query)


def _refuse(kind: str, names: set[str], query: Query) -> None:
    if names:
        raise QueryError(f"the {kind} {min(names)!r} is not for queries, which compute over the registry's tables and "
                         "reach nothing else", path=query.source)


def _all(driver: Any, sql: str) -> set[str]:
    return {name for (name,) in driver.execute(sql).fetchall()}


def batches(cursor: Any, query: Query) -> Iterator[list[Row]]:
    """The rows of a query that a cursor has begun, some at a time; errors as of `answer`."""
    while True:
        with translating(query):
            rows = cursor.fetchmany(BATCH)
        if not rows:
            return
        yield rows


@contextmanager
def translating(query: Query, *, first_line: int = 1) -> Iterator[None]:
    """Turn what DuckDB says of a query, whose text begins at `first_line` of what DuckDB sees, into errors."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError("the query needs more memory than it may take") from None
    except (duckdb.InternalException, duckdb.FatalException) as error:
        if _NO_MEMORY in str(error):
            raise MemoryError("the query needs more memory than it may take") from None
        message, _, _ = str(error).partition("\nStack Trace:")
        raise RegistryError(f"DuckDB {duckdb.__version__} fails on this query: {_first(message)}") from None
    except duckdb.Error as error:
        raise _refusal(str(error), query, first_line) from None


def _refusal(message: str, query: Query, first_line: int) -> QueryError:
    """The error for DuckDB's `message`, whose last lines may show the place with a caret."""
    if "prepared statement parameters: " in message:
        names = message.rpartition(": ")[2]
        return QueryError(f"no value is given for the parameter {names}; --param NAME=VALUE, or in Python "
                          "name=value, gives one", path=query.source)
    if "excess parameters: " in message:
        return QueryError(f"the query has no parameter ${message.rpartition(': ')[2]}", path=query.source)
    *_, place = [None, *_PLACE.finditer(message)]
    if place is None:
        return QueryError(_first(message), path=query.source)
    line = int(place[1]) - first_line + 1
    shown = message[place.end():]
    indent = len(place[0].strip()) + 1  # DuckDB's caret stands below its own "LINE n: "
    text, _, caret = shown.partition("\n")
    return QueryError(_first(message[:place.start()]), path=query.source, line=line,
                      excerpt=f"  {text}\n  {caret[indent:]}")


def _first(message: str) -> str:
    return " ".join(message.split())
