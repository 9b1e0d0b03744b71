"""Tables for programs, and their description in `openapi.json`.

The tables have the same keys as the output of `registry list`, `registry board`, `registry pairs` and `registry items`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from registry.boards import items as board_items
from registry.boards.choose import select_pairs
from registry.boards.leaderboard import SHARED_KEYS, Leaderboard
from registry.errors import UnknownNameError
from registry.query.schema import Relation
from registry.reports.boards import make_board_table
from registry.reports.columns import BOARD_KEYS, MESSAGE, PAIR_KEYS, make_board_schema, make_pairs_schema
from registry.reports.items import make_item_table
from registry.serve.answers import (
    AT,
    FORMAT,
    FORMS,
    MEDIA,
    PAGED,
    Content,
    Parameter,
    choose_form,
    read_parameters,
    respond,
    write_rows,
)
from registry.serve.queries import Served
from registry.serve.source import CachedSnapshot, OpenSnapshot, ProblemError, load_task_boards
from registry.store import catalog, history
from registry.version import __version__

Values = Mapping[str, Any]  # values of parameters in the path and in the query string


@dataclass(frozen=True)
class Rows:
    """The rows of a table, which can be produced part by part.

    Attributes:
        keys: Names of the columns.
        total: Number of rows.
        part: Function with the arguments `start` and `n`, which returns `n` rows beginning with the row `start`.
    """

    keys: Sequence[str]
    total: int
    part: Callable[[int, int], Iterable[Sequence[Any]]]

    @classmethod
    def from_dicts(cls, rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Rows:
        """Make a table from a list of dictionaries, with the columns `keys`."""
        return cls(keys, len(rows), lambda start, n: ([row.get(key) for key in keys] for row in rows[start:start + n]))


@dataclass(frozen=True)
class Endpoint:
    """A URL of the server's API that responds with a table.

    Attributes:
        path: Path of the URL, with parameters in braces.
        about: Description of the rows.
        rows: Function that loads the rows.
        schema: Name of the JSON Schema of a row.
        parameters: Parameters after the question mark, except the format and the parameters for pages of rows.
        paged: Whether a response contains only some of the rows.
    """

    path: str
    about: str
    rows: Callable[[CachedSnapshot, Values], Awaitable[Rows]]
    schema: str
    parameters: tuple[Parameter, ...] = ()
    paged: bool = False

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """All parameters that may follow the question mark in the URL."""
        return (*self.parameters, *(PAGED if self.paged else ()), FORMAT)

    async def answer(self, served: Served, request: Request) -> Response:
        """Respond to a request with the rows of the table, in the requested format."""
        values = {**request.path_params, **read_parameters(request.query_params, self.all_parameters)}
        form = values["format"] = values["format"] or choose_form(request.headers.get("accept", ""), FORMAT.choices)
        key: tuple[Hashable, ...] = (self.path, *values.items())

        async def make(snapshot: CachedSnapshot) -> Content:
            if values.get("state") not in (None, snapshot.file.name):
                raise ProblemError(410, "the registry has changed since; start again with the first rows")
            rows = await self.rows(snapshot, values)
            return await snapshot.run_in_thread(lambda: self._content(rows, values, form, snapshot.file.name))

        return await respond(request, served, key, make)

    def _content(self, rows: Rows, values: Values, form: str, state: str) -> Content:
        start, n = values.get("offset", 0), values.get("limit", rows.total)
        headers = {"X-Total-Count": str(rows.total)}
        if self.paged and (links := _make_link_header(values, self.all_parameters, rows.total, state)):
            headers["Link"] = links
        return Content(MEDIA[form], write_rows(rows.keys, rows.part(start, n), form), headers)


def _make_link_header(values: Values, parameters: Sequence[Parameter], total: int, state: str) -> str:
    """Return the HTTP header Link: URLs of the first, previous, next and last rows.

    Each URL contains the name of the state of the registry, so that all pages of rows come from the same state.

    Args:
        values: Values of the parameters in the request.
        parameters: Parameters to repeat in the URLs.
        total: Number of rows.
        state: Name of the state of the registry.
    """
    start, n = values["offset"], values["limit"]
    offsets = {"first": 0, "prev": max(0, start - n) if start else None,
               "next": start + n if start + n < total else None, "last": (total - 1) // n * n if total else 0}
    names = [parameter.name for parameter in parameters]
    query = {name: values[name] for name in names if values.get(name) is not None}
    return ", ".join(f'<?{urlencode(query | {"offset": offset, "state": state})}>; rel="{rel}"'
                     for rel, offset in offsets.items() if offset is not None)


_BYTES_PER_ROW = 400
_NO_TEXTS = "items are not shown here; `registry serve --items N` shows items"
ITEM_LISTS = {"disagree": board_items.list_disputed_items, "hard": board_items.list_hard_items,
              "suspect": board_items.list_suspect_items}

BOARD_LIST_KEYS = ("board", *SHARED_KEYS, "title", "better", "unit", "test", "alternative", "correction", "alpha",
                   "items", "units", "systems", "pairs", "best", "sentences", "footnotes", "warnings")
TASK_KEYS = ("id", "title", "version", "seed", "test_sets", "submissions", "date", "deadline", "licence", "url")
SUBMISSION_KEYS = ("id", "task", "test_set", "team", "system", "version", "track", "kind", "withdrawn", "late",
                   "ranked", "created_at")


async def list_tasks(snapshot: CachedSnapshot, _: Values) -> Rows:
    """Load the table of all tasks, including tasks with hidden scores."""
    return await snapshot.read(lambda opened: Rows.from_dicts(history.list_tasks(opened.connection)[1], TASK_KEYS))


async def list_metrics(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the table of the metrics of a task."""
    def read(opened: OpenSnapshot) -> Rows:
        (row,) = catalog.tasks(opened.connection, values["task"])
        rows = [{"id": metric.alias, "name": metric.name, "better": metric.better, "primary": metric.is_primary}
                for metric in catalog.task_metrics(opened.connection, row.task_id)]
        return Rows.from_dicts(rows, ("id", "name", "better", "primary"))

    return await snapshot.read(read)


async def list_boards(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the table of the leaderboards of a task."""
    shown = await load_task_boards(snapshot, values["task"], values["at"])
    boards = shown.public_boards.boards
    return Rows.from_dicts([_board_row(n, board) for n, board in enumerate(boards)], BOARD_LIST_KEYS)


def _board_row(n: int, board: Leaderboard) -> dict[str, Any]:
    comparison = board.comparison
    return board.shared_values | {
        "board": n, "title": board.title, "better": board.better, "unit": comparison.unit, "test": comparison.test,
        "alternative": comparison.alternative, "correction": comparison.correction, "alpha": comparison.alpha,
        "items": comparison.n_items, "units": comparison.n_units, "systems": len(board.standings),
        "pairs": len(board.decisions), "best": board.standings[0].submission, "sentences": list(board.sentences),
        "footnotes": list(board.footnotes), "warnings": board.warnings}


async def list_standings(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the table of the systems on a leaderboard, best first."""
    return Rows.from_dicts(make_board_table(await _find_board(snapshot, values)).rows, BOARD_KEYS)


async def list_pairs(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the test results of the pairs on a leaderboard, the best systems first."""
    board = await _find_board(snapshot, values)
    (board,) = select_pairs([board], values["system"], values["top"], values["neighbours"])
    decisions = board.decisions

    def part(start: int, n: int) -> list[list[Any]]:
        return [[decision.row[key] for key in PAIR_KEYS] for decision in decisions[start:start + n]]

    return Rows(PAIR_KEYS, len(decisions), part)


async def _find_board(snapshot: CachedSnapshot, values: Values) -> Leaderboard:
    boards = (await load_task_boards(snapshot, values["task"], values["at"])).public_boards.boards
    if values["board"] >= len(boards):
        raise ProblemError(404, f"{values['task']} has the boards 0 to {len(boards) - 1}; "
                           f"/api/tasks/{values['task']}/boards lists them")
    return boards[values["board"]]


async def list_submissions(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the table of the submissions to a task."""
    def read(opened: OpenSnapshot) -> Rows:
        _, tasks = history.list_tasks(opened.connection)
        if values["task"] not in (names := [row["id"] for row in tasks]):
            raise UnknownNameError("task", values["task"], names)
        rows = [row for row in history.list_submissions(opened.connection)[1] if row["task"] == values["task"]]
        return Rows.from_dicts(rows, SUBMISSION_KEYS)

    return await _load_rows_once(snapshot, ("submissions", values["task"]), read)


async def list_items(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load a list of items of a task that deserve a look.

    The parameter `list` in `values` selects them: items on which systems disagree, items with the worst scores, or
    items whose gold may be wrong.
    """
    if not snapshot.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: OpenSnapshot) -> Rows:
        (row,) = catalog.tasks(opened.connection, values["task"])
        rows = ITEM_LISTS[values["list"]](opened.connection, row, board_items.ALL_ITEMS)
        return Rows.from_dicts(rows, tuple(rows[0]) if rows else ("task", "test_set", "item"))

    return await _load_rows_once(snapshot, ("items", values["task"], values["list"]), read)


async def list_answers(snapshot: CachedSnapshot, values: Values) -> Rows:
    """Load the table of all answers to an item."""
    if not snapshot.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: OpenSnapshot) -> Rows:
        (row,) = catalog.tasks(opened.connection, values["task"])
        tables = [make_item_table(view) for view in board_items.load_item_views(opened.connection, row, values["item"])]
        keys = list(dict.fromkeys(key for table in tables for key in table.keys))
        return Rows.from_dicts([dict(row) for table in tables for row in table.rows], keys)

    return await snapshot.read(read)


async def _load_rows_once(snapshot: CachedSnapshot, key: tuple[str, ...],
                          read: Callable[[OpenSnapshot], Rows]) -> Rows:
    """Load the rows of a table, or return them from the cache of this snapshot."""
    return await snapshot.make_once(
        ("rows", *key), lambda: snapshot.read(read), lambda rows: _BYTES_PER_ROW * rows.total)


TABLES = (
    Endpoint("/api/tasks", "every task", list_tasks, "task"),
    Endpoint("/api/tasks/{task}/metrics", "the metrics of a task", list_metrics, "metric"),
    Endpoint("/api/tasks/{task}/boards", "the leaderboards of a task, by numbers from 0 in the order of its manifest",
             list_boards, "board", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/standings", "the systems of a leaderboard, best first; as "
             "`registry board --format json`", list_standings, "standing", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/pairs", "the pairs of a leaderboard, those of the best systems "
             "first; as `registry pairs --format json`", list_pairs, "pair", (
                 Parameter("system", "only the pairs of this system"),
                 Parameter("top", "only pairs of this number of best systems", least=2),
                 Parameter("neighbours", "only pairs at most this number of ranks apart", least=1), AT), paged=True),
    Endpoint("/api/tasks/{task}/submissions", "the submissions to a task; as `registry list submissions`",
             list_submissions, "submission", paged=True),
    Endpoint("/api/tasks/{task}/items", "notable items of a task; as `registry items`", list_items, "item", (
        Parameter("list", "items on which systems disagree most, with the worst scores, or on which all systems "
                  "contradict the gold", choices=tuple(ITEM_LISTS), default="disagree"),), paged=True),
    Endpoint("/api/tasks/{task}/items/{item:path}", "all answers to an item, the gold first; as `registry "
             "items TASK show`", list_answers, "output"),
)


Json = dict[str, Any]

_CONVERTED = re.compile(r"\{(\w+):(\w+)\}")
_TEXT, _INTEGER, _NUMBER, _BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
_OTHERS = {"seed": _INTEGER, "test_sets": _INTEGER, "submissions": _INTEGER, "board": _INTEGER, "alpha": _NUMBER,
           "items": _INTEGER, "units": _INTEGER, "systems": _INTEGER, "pairs": _INTEGER, "withdrawn": _BOOLEAN,
           "late": _BOOLEAN, "ranked": _BOOLEAN, "primary": _BOOLEAN, "sentences": {"type": "array", "items": _TEXT},
           "footnotes": {"type": "array", "items": _TEXT},
           "warnings": {"type": "array", "items": MESSAGE}, "better": {"enum": ["higher", "lower"]}}
_OR_NULL = ("track", "facet", "date", "deadline", "licence", "url")
_ANY = {"type": "object", "required": ["task", "test_set", "item"]}
_PATH = {"task": "a task's id", "board": "the number of a leaderboard", "item": "an item's id"}
_PROBLEM: Json = {
    "type": "object", "required": ["status", "title", "detail"],
    "properties": {"status": _INTEGER, "title": _TEXT, "detail": {**_TEXT, "description": "the error and its remedy"},
                   "excerpt": {**_TEXT, "description": "the line of a query with a caret below the error"}}}
PAGES = {
    "/": "the index of all leaderboards", "/feed.xml": "changes, as an Atom feed",
    "/tasks/{task}": "a task's page",
    "/tasks/{folder}/{board}/{place}.js": "pairs of one system that do not fit into a page",
}
SQL_PARAMETERS = (Parameter("q", "one SELECT or EXPLAIN; the parameter `$name` has the value of `$name` in it"),
                  Parameter("format", "the format; otherwise that of the header Accept, otherwise json", choices=FORMS))


def describe_api(relations: Sequence[Relation]) -> Json:
    """Return the documentation of the server's API in the OpenAPI format.

    Args:
        relations: Tables, views and macros of the registry, whose comments describe the columns.
    """
    schemas = {
        "task": _make_object_schema(TASK_KEYS), "metric": _make_object_schema(("id", "name", "better", "primary")),
        "board": _make_object_schema(BOARD_LIST_KEYS), "standing": make_board_schema(relations)["items"],
        "pair": make_pairs_schema(relations)["items"], "submission": _make_object_schema(SUBMISSION_KEYS), "item": _ANY,
        "output": _ANY, "problem": _PROBLEM}
    paths = {_CONVERTED.sub(r"{\1}", table.path): {"get": _describe_table(table)} for table in TABLES}
    pages = {path: {"get": _describe_page(path, about)} for path, about in PAGES.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "evalregistry", "version": __version__, "description": (
            "A registry of shared tasks, read-only. Every answer has an ETag, which changes if the registry "
            "changes. The formats of rows are JSON, JSON Lines, CSV and TSV.")},
        "paths": {**pages, **paths, "/sql": {"get": _describe_sql(), "post": _describe_posted_sql()}},
        "components": {"schemas": schemas},
    }


def _make_object_schema(keys: Sequence[str]) -> Json:
    return {"type": "object", "additionalProperties": False, "required": list(keys), "properties": {
        key: {"type": ["string", "null"]} if key in _OR_NULL else _OTHERS.get(key, _TEXT) for key in keys}}


def _describe_table(table: Endpoint) -> Json:
    headers = {"X-Total-Count": {"description": "the number of all rows", "schema": _INTEGER}}
    if table.paged:
        headers["Link"] = {"description": "links to the first, previous, next and last rows of the same state "
                                          "(RFC 8288)", "schema": _TEXT}
    rows = {"type": "array", "items": {"$ref": f"#/components/schemas/{table.schema}"}}
    content = {MEDIA[form].partition(";")[0]: {"schema": rows if form == "json" else _TEXT}
               for form in ("json", "jsonl", "csv", "tsv")}
    statuses = {"304": "not modified", "400": "a parameter is invalid", "403": "hidden by an embargo, or not shown",
                "404": "the table does not exist", "503": "the registry is busy"}
    statuses |= {"410": "the registry has changed since the requested state"} if table.paged else {}
    parameters = [*_describe_path(table.path), *map(_describe_parameter, table.all_parameters)]
    return {"summary": table.about, "parameters": parameters,
            "responses": {"200": {"description": table.about, "headers": headers, "content": content},
                          **_describe_errors(statuses)}}


def _describe_page(path: str, about: str) -> Json:
    form = {"js": "text/javascript", "xml": "application/atom+xml"}.get(path.rpartition(".")[2], "text/html")
    parameters = [*_describe_path(path), *([_describe_parameter(AT)] if path == "/tasks/{task}" else [])]
    return {"summary": about, "parameters": parameters, "responses": {
        "200": {"description": about, "content": {form: {"schema": _TEXT}}},
        **_describe_errors({"304": "not modified", "404": "the page does not exist"})}}


def _describe_sql() -> Json:
    about = "the rows of a query, or a page to write one on; POST takes a form, JSON with q, format and params, or SQL"
    return {"summary": about, "parameters": list(map(_describe_parameter, SQL_PARAMETERS)), "responses": {
        "200": {"description": about, "content": {MEDIA[form].partition(";")[0]: {"schema": (
            {"type": "array", "items": {"type": "object"}} if form == "json" else _TEXT)} for form in FORMS}},
        **_describe_errors({"400": "the query is invalid", "403": "SQL is disabled", "422": "the query exceeds a limit",
                     "503": "too many queries are waiting"})}}


def _describe_posted_sql() -> Json:
    schema = {"type": "object", "required": ["q"], "properties": {
        "q": _TEXT, "format": {"enum": list(FORMS)}, "params": {"type": "object"}}}
    description = {key: value for key, value in _describe_sql().items() if key != "parameters"}
    return description | {"requestBody": {"required": True, "content": {
        "application/json": {"schema": schema}, "application/x-www-form-urlencoded": {"schema": schema},
        "text/plain": {"schema": _TEXT}}}}


def _describe_path(path: str) -> list[Json]:
    return [{"name": name, "in": "path", "required": True, "description": _PATH.get(name, name),
             "schema": _INTEGER if name in ("board", "place") else _TEXT} for name in re.findall(r"\{(\w+)", path)]


def _describe_parameter(parameter: Parameter) -> Json:
    return {"name": parameter.name, "in": "query", "description": parameter.about, "schema": parameter.schema}


def _describe_errors(statuses: dict[str, str]) -> Json:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}}
    return {status: {"description": about, **({} if status == "304" else {"content": problem})}
            for status, about in sorted(statuses.items())}
