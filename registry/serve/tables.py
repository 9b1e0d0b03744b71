"""Tables for programs: what `registry list`, `board`, `pairs` and `items` print, by the same keys; and openapi.json."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from registry.boards import items as of_task
from registry.boards.choose import select_pairs
from registry.boards.leaderboard import SHARED_KEYS, Leaderboard
from registry.errors import UnknownNameError
from registry.query.schema import Relation
from registry.reports.boards import board_table
from registry.reports.columns import BOARD_KEYS, MESSAGE, PAIR_KEYS, make_board_schema, make_pairs_schema
from registry.reports.items import item_table
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
from registry.serve.source import Opened, ProblemError, Reading, task_boards
from registry.store import catalog, history
from registry.version import __version__

Asked = Mapping[str, Any]  # the values of what stands in the path and behind the question mark


@dataclass(frozen=True)
class Rows:
    """Rows: their keys, how many there are, and some of them, from a place on."""

    keys: Sequence[str]
    total: int
    part: Callable[[int, int], Iterable[Sequence[Any]]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Rows:
        """Rows that are all at hand."""
        return cls(keys, len(rows), lambda start, n: ([row.get(key) for key in keys] for row in rows[start:start + n]))


@dataclass(frozen=True)
class Endpoint:
    """A table.

    Attributes:
        path: Where it is, with what stands for a value in braces.
        about: What its rows are.
        rows: Reads them.
        schema: The name of the schema of a row.
        parameters: What may be asked for beside the form.
        paged: Whether it is answered in parts.
    """

    path: str
    about: str
    rows: Callable[[Reading, Asked], Awaitable[Rows]]
    schema: str
    parameters: tuple[Parameter, ...] = ()
    paged: bool = False

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """All that may stand behind the question mark."""
        return (*self.parameters, *(PAGED if self.paged else ()), FORMAT)

    async def answer(self, served: Served, request: Request) -> Response:
        """Answer with its rows."""
        asked = {**request.path_params, **read_parameters(request.query_params, self.all_parameters)}
        form = asked["format"] = asked["format"] or choose_form(request.headers.get("accept", ""), FORMAT.choices)
        key: tuple[Hashable, ...] = (self.path, *asked.items())

        async def make(reading: Reading) -> Content:
            if asked.get("state") not in (None, reading.snapshot.name):
                raise ProblemError(410, "the registry has changed since; begin again with the first rows")
            rows = await self.rows(reading, asked)
            return await reading.draw(lambda: self._content(rows, asked, form, reading.snapshot.name))

        return await respond(request, served, key, make)

    def _content(self, rows: Rows, asked: Asked, form: str, state: str) -> Content:
        start, n = asked.get("offset", 0), asked.get("limit", rows.total)
        headers = {"X-Total-Count": str(rows.total)}
        if self.paged and (links := _links(asked, self.all_parameters, rows.total, state)):
            headers["Link"] = links
        return Content(MEDIA[form], write_rows(rows.keys, rows.part(start, n), form), headers)


def _links(asked: Asked, parameters: Sequence[Parameter], total: int, state: str) -> str:
    """Where the first, the previous, the next and the last part are, all of one state."""
    start, n = asked["offset"], asked["limit"]
    at = {"first": 0, "prev": max(0, start - n) if start else None, "next": start + n if start + n < total else None,
          "last": (total - 1) // n * n if total else 0}
    said = {of.name: asked[of.name] for of in parameters if asked.get(of.name) is not None}
    return ", ".join(f'<?{urlencode(said | {"offset": offset, "state": state})}>; rel="{rel}"'
                     for rel, offset in at.items() if offset is not None)


_OF_A_ROW = 400  # bytes
_ALL = 2**31
_NO_TEXTS = "items are not shown here; `registry serve --items N` shows them"
ITEM_LISTS = {"disagree": of_task.disagreed, "hard": of_task.hard, "suspect": of_task.suspect}

BOARD_LIST_KEYS = ("board", *SHARED_KEYS, "title", "better", "unit", "test", "alternative", "correction", "alpha",
                   "items", "units", "systems", "pairs", "best", "sentences", "footnotes", "warnings")
TASK_KEYS = ("id", "title", "version", "seed", "test_sets", "submissions", "date", "deadline", "licence", "url")
SUBMISSION_KEYS = ("id", "task", "test_set", "team", "system", "version", "track", "kind", "withdrawn", "late",
                   "ranked", "created_at")


async def tasks(reading: Reading, _: Asked) -> Rows:
    """Every task, also those whose scores are hidden."""
    return await reading.read(lambda opened: Rows.of(history.list_tasks(opened.connection)[1], TASK_KEYS))


async def metrics(reading: Reading, asked: Asked) -> Rows:
    """The metrics of a task."""
    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        found = [{"id": of.alias, "name": of.name, "better": of.better, "primary": of.is_primary}
                 for of in catalog.task_metrics(opened.connection, row.task_id)]
        return Rows.of(found, ("id", "name", "better", "primary"))

    return await reading.read(read)


async def boards(reading: Reading, asked: Asked) -> Rows:
    """The boards of a task."""
    shown = await task_boards(reading, asked["task"], asked["at"])
    return Rows.of([_board_row(n, board) for n, board in enumerate(shown.open.boards)], BOARD_LIST_KEYS)


def _board_row(n: int, board: Leaderboard) -> dict[str, Any]:
    by = board.comparison
    return board.shared_values | {
        "board": n, "title": board.title, "better": board.better, "unit": by.unit, "test": by.test,
        "alternative": by.alternative, "correction": by.correction, "alpha": by.alpha, "items": by.n_items,
        "units": by.n_units, "systems": len(board.standings), "pairs": len(board.decisions),
        "best": board.standings[0].submission, "sentences": list(board.sentences), "footnotes": list(board.footnotes),
        "warnings": board.warnings}


async def standings(reading: Reading, asked: Asked) -> Rows:
    """The systems of a board, best first."""
    return Rows.of(board_table(await _find_board(reading, asked)).rows, BOARD_KEYS)


async def pairs(reading: Reading, asked: Asked) -> Rows:
    """The pairs of a board, those of the best systems first."""
    (board,) = select_pairs([await _find_board(reading, asked)], asked["system"], asked["top"], asked["neighbours"])
    decisions = board.decisions

    def part(start: int, n: int) -> list[list[Any]]:
        return [[decision.row[key] for key in PAIR_KEYS] for decision in decisions[start:start + n]]

    return Rows(PAIR_KEYS, len(decisions), part)


async def _find_board(reading: Reading, asked: Asked) -> Leaderboard:
    known = (await task_boards(reading, asked["task"], asked["at"])).open.boards
    if asked["board"] >= len(known):
        raise ProblemError(404, f"{asked['task']} has the boards 0 to {len(known) - 1}; "
                           f"/api/tasks/{asked['task']}/boards lists them")
    return known[asked["board"]]


async def submissions(reading: Reading, asked: Asked) -> Rows:
    """The submissions to a task."""
    def read(opened: Opened) -> Rows:
        _, known = history.list_tasks(opened.connection)
        if asked["task"] not in (names := [row["id"] for row in known]):
            raise UnknownNameError("task", asked["task"], names)
        found = [row for row in history.list_submissions(opened.connection)[1] if row["task"] == asked["task"]]
        return Rows.of(found, SUBMISSION_KEYS)

    return await _cached_rows(reading, ("submissions", asked["task"]), read)


async def items(reading: Reading, asked: Asked) -> Rows:
    """The items of a task to look at."""
    if not reading.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        found = ITEM_LISTS[asked["list"]](opened.connection, row, _ALL)
        return Rows.of(found, tuple(found[0]) if found else ("task", "test_set", "item"))

    return await _cached_rows(reading, ("items", asked["task"], asked["list"]), read)


async def item(reading: Reading, asked: Asked) -> Rows:
    """What everybody says of an item."""
    if not reading.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        tables = [item_table(view) for view in of_task.item_views(opened.connection, row, asked["item"])]
        keys = list(dict.fromkeys(key for table in tables for key in table.keys))
        return Rows.of([dict(row) for table in tables for row in table.rows], keys)

    return await reading.read(read)


async def _cached_rows(reading: Reading, key: tuple[str, ...], read: Callable[[Opened], Rows]) -> Rows:
    """Read rows once for all of their parts."""
    return await reading.make_once(("rows", *key), lambda: reading.read(read), lambda rows: _OF_A_ROW * rows.total)


TABLES = (
    Endpoint("/api/tasks", "every task", tasks, "task"),
    Endpoint("/api/tasks/{task}/metrics", "the metrics of a task", metrics, "metric"),
    Endpoint("/api/tasks/{task}/boards", "the leaderboards of a task, by numbers from 0 in the order of its manifest",
             boards, "board", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/standings", "the systems of a leaderboard, best first; as "
             "`registry board --format json`", standings, "standing", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/pairs", "the pairs of a leaderboard, those of the best systems "
             "first; as `registry pairs --format json`", pairs, "pair", (
                 Parameter("system", "only the pairs of this system"),
                 Parameter("top", "only pairs among so many of the best systems", least=2),
                 Parameter("neighbours", "only pairs at most so many places apart", least=1), AT), paged=True),
    Endpoint("/api/tasks/{task}/submissions", "the submissions to a task; as `registry list submissions`", submissions,
             "submission", paged=True),
    Endpoint("/api/tasks/{task}/items", "the items of a task to look at; as `registry items`", items, "item", (
        Parameter("list", "those on which systems disagree most, those with the worst scores, or those on which all "
                  "contradict the gold", choices=tuple(ITEM_LISTS), default="disagree"),), paged=True),
    Endpoint("/api/tasks/{task}/items/{item:path}", "what everybody says of an item, the gold first; as `registry "
             "items TASK show`", item, "output"),
)


Json = dict[str, Any]

_CONVERTED = re.compile(r"\{(\w+):(\w+)\}")
_TEXT, _WHOLE, _NUMBER, _TRUE = ({"type": of} for of in ("string", "integer", "number", "boolean"))
_OTHERS = {"seed": _WHOLE, "test_sets": _WHOLE, "submissions": _WHOLE, "board": _WHOLE, "alpha": _NUMBER,
           "items": _WHOLE, "units": _WHOLE, "systems": _WHOLE, "pairs": _WHOLE, "withdrawn": _TRUE, "late": _TRUE,
           "ranked": _TRUE, "primary": _TRUE, "sentences": {"type": "array", "items": _TEXT},
           "footnotes": {"type": "array", "items": _TEXT},
           "warnings": {"type": "array", "items": MESSAGE}, "better": {"enum": ["higher", "lower"]}}
_OR_NULL = ("track", "facet", "date", "deadline", "licence", "url")
_ANY = {"type": "object", "required": ["task", "test_set", "item"]}
_PATH = {"task": "a task's id", "board": "the number of a leaderboard", "item": "an item's id"}
_PROBLEM: Json = {
    "type": "object", "required": ["status", "title", "detail"],
    "properties": {"status": _WHOLE, "title": _TEXT, "detail": {**_TEXT, "description": "what is wrong, what to do"},
                   "excerpt": {**_TEXT, "description": "the line of a query with a caret below what is wrong"}}}
PAGES = {
    "/": "the index of all leaderboards", "/feed.xml": "what changed, as an Atom feed",
    "/tasks/{task}": "a task's page",
    "/tasks/{folder}/{board}/{place}.js": "the pairs of one system that a page has no room for",
}
SQL_PARAMETERS = (Parameter("q", "one SELECT or EXPLAIN; `$name` in it stands for the parameter `$name`"),
                  Parameter("format", "as which; else what the header Accept asks for, else json", choices=FORMS))


def description(things: Sequence[Relation]) -> Json:
    """The whole of it, from what any registry of this version holds."""
    schemas = {
        "task": _object(TASK_KEYS), "metric": _object(("id", "name", "better", "primary")),
        "board": _object(BOARD_LIST_KEYS), "standing": make_board_schema(things)["items"],
        "pair": make_pairs_schema(things)["items"], "submission": _object(SUBMISSION_KEYS), "item": _ANY,
        "output": _ANY, "problem": _PROBLEM}
    paths = {_CONVERTED.sub(r"{\1}", table.path): {"get": _of_table(table)} for table in TABLES}
    pages = {path: {"get": _of_page(path, about)} for path, about in PAGES.items()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "evalregistry", "version": __version__, "description": (
            "A registry of shared tasks, read-only. Every answer has an ETag, which is another one as soon as the "
            "registry changes; rows come as JSON, JSON Lines, CSV and TSV.")},
        "paths": {**pages, **paths, "/sql": {"get": _of_sql(), "post": _of_posted_sql()}},
        "components": {"schemas": schemas},
    }


def _object(keys: Sequence[str]) -> Json:
    return {"type": "object", "additionalProperties": False, "required": list(keys), "properties": {
        key: {"type": ["string", "null"]} if key in _OR_NULL else _OTHERS.get(key, _TEXT) for key in keys}}


def _of_table(table: Endpoint) -> Json:
    headers = {"X-Total-Count": {"description": "how many rows there are", "schema": _WHOLE}}
    if table.paged:
        headers["Link"] = {"description": "where the first, previous, next and last rows are, of the same state "
                                          "(RFC 8288)", "schema": _TEXT}
    rows = {"type": "array", "items": {"$ref": f"#/components/schemas/{table.schema}"}}
    content = {MEDIA[form].partition(";")[0]: {"schema": rows if form == "json" else _TEXT}
               for form in ("json", "jsonl", "csv", "tsv")}
    statuses = {"304": "not changed since", "400": "a parameter is wrong", "403": "hidden for now, or not shown here",
                "404": "there is none", "503": "the registry is busy"}
    statuses |= {"410": "the registry has changed since the state that was named"} if table.paged else {}
    return {"summary": table.about, "parameters": [*_of_path(table.path), *map(_of, table.all_parameters)],
            "responses": {"200": {"description": table.about, "headers": headers, "content": content},
                          **_problems(statuses)}}


def _of_page(path: str, about: str) -> Json:
    form = {"js": "text/javascript", "xml": "application/atom+xml"}.get(path.rpartition(".")[2], "text/html")
    parameters = [*_of_path(path), *([_of(AT)] if path == "/tasks/{task}" else [])]
    return {"summary": about, "parameters": parameters, "responses": {
        "200": {"description": about, "content": {form: {"schema": _TEXT}}},
        **_problems({"304": "not changed since", "404": "there is none"})}}


def _of_sql() -> Json:
    about = "the rows of a query, or a page to write one on; POST takes a form, JSON with q, format and params, or SQL"
    return {"summary": about, "parameters": list(map(_of, SQL_PARAMETERS)), "responses": {
        "200": {"description": about, "content": {MEDIA[form].partition(";")[0]: {"schema": (
            {"type": "array", "items": {"type": "object"}} if form == "json" else _TEXT)} for form in FORMS}},
        **_problems({"400": "it is refused", "403": "SQL is not answered here", "422": "it goes beyond a limit",
                     "503": "too many queries are waiting"})}}


def _of_posted_sql() -> Json:
    asked = {"type": "object", "required": ["q"], "properties": {
        "q": _TEXT, "format": {"enum": list(FORMS)}, "params": {"type": "object"}}}
    known = {key: value for key, value in _of_sql().items() if key != "parameters"}
    return known | {"requestBody": {"required": True, "content": {
        "application/json": {"schema": asked}, "application/x-www-form-urlencoded": {"schema": asked},
        "text/plain": {"schema": _TEXT}}}}


def _of_path(path: str) -> list[Json]:
    return [{"name": name, "in": "path", "required": True, "description": _PATH.get(name, name),
             "schema": _WHOLE if name in ("board", "place") else _TEXT} for name in re.findall(r"\{(\w+)", path)]


def _of(parameter: Parameter) -> Json:
    return {"name": parameter.name, "in": "query", "description": parameter.about, "schema": parameter.schema}


def _problems(statuses: dict[str, str]) -> Json:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}}
    return {status: {"description": about, **({} if status == "304" else {"content": problem})}
            for status, about in sorted(statuses.items())}
