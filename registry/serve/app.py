"""The application: the pages of the site by the addresses of `registry site`, SQL, and a guard before all answers.

A browser that visits a stranger's page must not be made to read the registry for it. A page can have its own name point
to this machine (DNS rebinding), so a request must call it by an address, which cannot be made to point elsewhere, or by
a name that was given. Scripts of other pages cannot read answers, unless `--cors` names them, and no frame shows them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.boards.load import BOARD_PAIRS
from registry.boards.site import changes
from registry.boards.snapshot import TaskBoards, load_snapshot
from registry.boards.submissions import Ladder
from registry.errors import RegistryError, UnknownNameError
from registry.query import schema
from registry.query.request import Query, parameter_value
from registry.rendering.table import format_cells
from registry.reports.boards import make_ladder_table
from registry.reports.page import card, feed, pair_file, site_index
from registry.reports.page import page as task_page
from registry.serve.answers import (
    AT,
    FORMS,
    MEDIA,
    Content,
    accepts_gzip,
    answer_problem,
    choose_form,
    is_known,
    notice,
    read_parameters,
    render_page,
    respond,
)
from registry.serve.queries import Answer, Queries, Served
from registry.serve.source import (
    FAILED,
    Opened,
    ProblemError,
    Reading,
    Settings,
    Shown,
    open_tasks,
    problem_of,
    task_boards,
)
from registry.serve.tables import TABLES, description

_FILE, _PAIRS = ".html", ".pairs"
_HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_OF_A_CHANGE = 2_000  # bytes
_ATOM = "application/atom+xml; charset=utf-8"
# A page has its own policy in itself; what shows it in a frame could have its reader click on something.
_PAGE = {"Content-Security-Policy": "frame-ancestors 'self'"}


async def index(served: Served, request: Request) -> Response:
    """The index: all tasks with boards."""
    read_parameters(request.query_params, ())
    return await respond(request, served, ("index",), _index)


async def _index(reading: Reading) -> Content:
    boards, missing = await reading.read(_shown)
    return await reading.draw(lambda: Content(MEDIA["html"], site_index(
        [card(f"tasks/{of.task}.html", of) for of in boards], missing).encode(), _PAGE))


def _shown(opened: Opened) -> tuple[Sequence[TaskBoards], list[str]]:
    """Read the boards of all tasks that show some, and why other tasks do not."""
    tasks, missing = open_tasks(opened)
    return load_snapshot(opened.connection, tasks, pairs=BOARD_PAIRS).tasks if tasks else (), missing


async def changed(served: Served, request: Request) -> Response:
    """The feed of what changed, whose links lead to where it was asked for: programs keep it apart from its place."""
    read_parameters(request.query_params, ())
    address = served.settings.url or address_of(request.url.scheme, request.headers.get("host", ""))
    return await respond(request, served, ("feed", address), lambda reading: _changed(reading, address))


def address_of(scheme: str, host: str) -> str:
    """The address of the site as a request names it; nothing where its header Host is none.

    >>> [address_of("http", host) for host in ("eval.example.org", "[::1]:8000", '127.0.0.1:80"/><a', "a/b", "a@b", "")]
    ['http://eval.example.org/', 'http://[::1]:8000/', '', '', '', '']
    """
    return f"{scheme}://{host}/" if scheme in ("http", "https") and _HOST.fullmatch(host) else ""


async def _changed(reading: Reading, address: str) -> Content:
    found = await reading.make_once(
        ("changes",), lambda: reading.read(lambda opened: changes(opened.connection, open_tasks(opened)[0])),
        lambda found: _OF_A_CHANGE * len(found.changes))
    return await reading.draw(lambda: Content(_ATOM, feed(found, address).encode()))


async def task(served: Served, request: Request) -> Response:
    """The page of a task, by its id with or without .html."""
    name, at = request.path_params["task"], read_parameters(request.query_params, (AT,))["at"]
    return await respond(request, served, ("page", name, at), lambda reading: _task(reading, name, at))


async def _task(reading: Reading, name: str, at: str | None) -> Content:
    try:
        shown = await task_boards(reading, name, at)
    except UnknownNameError:
        if not name.endswith(_FILE):
            raise
        shown = await task_boards(reading, name := name.removesuffix(_FILE), at)
    return await reading.draw(lambda: _page(name, shown, at))


def _page(name: str, shown: Shown, at: str | None) -> Content:
    if shown.boards is None:
        return notice(name, shown.hidden, tables=[_plain(ladder) for ladder in shown.ladders])
    folder = f"{name}{_PAIRS}" if at is None else None  # files of pairs are those of today
    page = task_page(shown.boards, home="../index.html", folder=folder)
    return Content(MEDIA["html"], page.encode(), _PAGE)


def _plain(ladder: Ladder) -> dict[str, object]:
    """A table as a notice has it."""
    table = make_ladder_table(ladder)
    columns, rows = format_cells(table)
    return {"title": table.title, "columns": [column.heading for column in columns], "rows": rows,
            "captions": table.captions}


async def pairs_of(served: Served, request: Request) -> Response:
    """The pairs of one system that a page of many systems has no room for."""
    read_parameters(request.query_params, ())
    folder, board, place = (request.path_params[name] for name in ("folder", "board", "place"))
    if not folder.endswith(_PAIRS):
        raise ProblemError(404, "there is no such file")
    name = folder.removesuffix(_PAIRS)
    return await respond(request, served, ("pairs file", name, board, place),
                         lambda reading: _pairs_of(reading, name, board, place))


async def _pairs_of(reading: Reading, name: str, board: int, place: int) -> Content:
    boards = (await task_boards(reading, name, None)).open.primary_first
    file = await reading.draw(lambda: pair_file(boards, board, place))
    if file is None:
        raise ProblemError(404, f"the page of {name} holds all pairs of that system, or there is no such system")
    return Content("text/javascript; charset=utf-8", file.encode())


SHOWN = 1_000  # rows on a page
_LONGEST = 2**20  # bytes of a request
_MOST_FIELDS, _DEEPEST = 100, 20
_PATIENCE = 10.0  # seconds for which a request's body is waited for
_KINDS = {"view": "Views", "macro": "Macros", "table": "Tables"}
OFF = ("SQL is not answered here, as others than this machine's users could ask; `registry serve --sql` answers it, "
       "which shows gold and submissions")


async def sql(served: Served, request: Request) -> Response:
    """Answer a query, or show the page to write one on."""
    if served.queries is None:
        raise ProblemError(403, OFF)
    _refuse_strangers(request, served)
    query, form = await _read_query(request)  # completely: the next message can only be a disconnect
    return await _while_connected(request, _answered(served, served.queries, request, query, form))


async def _while_connected(request: Request, answered: Coroutine[Any, Any, Response]) -> Response:
    """Await a response; cancel it when the client disconnects, so that its query ends."""
    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = answering, _ = asyncio.ensure_future(answered), asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else Response(status_code=499)  # for the log, as of nginx
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _answered(served: Served, queries: Queries, request: Request, query: Query | None, form: str) -> Response:
    """Answer with the result of a query, or with a page."""
    if form == "html":
        return await _sql_page(served, queries, query)
    if query is None:
        raise ProblemError(400, "there is no query; q= gives one: one SELECT or EXPLAIN")
    zipped = form != "parquet" and accepts_gzip(request.headers.get("accept-encoding", ""))
    answer = await queries.answer(query, form, zipped=zipped)
    # The same query can have another result each time, as of random(), so its tag is of the result itself.
    tag = f'"{answer.digest[:40]}{"-gzip" if zipped else ""}"'
    headers = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": served.settings.caching}
    if answer.told:
        headers["X-Note"] = "; ".join(answer.told)
    if request.method != "POST" and is_known(request, tag):
        answer.file.close()
        return Response(status_code=304, headers=headers)
    headers |= {"Content-Length": str(answer.size), "Content-Type": MEDIA[form]}
    headers |= {"Content-Encoding": "gzip"} if zipped else {}
    if form == "parquet":
        headers["Content-Disposition"] = 'attachment; filename="result.parquet"'
    if answer.is_in_memory:  # to send it piece by piece takes several turns of the loop
        return Response(b"".join(answer.pieces()), headers=headers)
    return Sent(answer, headers)


class Sent(StreamingResponse):
    """A result that is sent; its file is gone when that ends, also where who asked went away."""

    def __init__(self, answer: Answer, headers: Mapping[str, str]) -> None:
        super().__init__(answer.pieces(), headers=headers)
        self._file = answer.file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._file:
            await super().__call__(scope, receive, send)


def _refuse_strangers(request: Request, served: Served) -> None:
    """Refuse what pages of other sites ask behind a user's back: they could not read it, but queries cost time."""
    headers, origins = request.headers, served.settings.origins
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is not None and (origin in origins or "*" in origins):
        return
    is_followed = headers.get("sec-fetch-dest") == "document" and request.method in ("GET", "HEAD")
    is_strange = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not is_followed
    if is_strange or (origin is not None and origin.partition("://")[2] != host):
        raise ProblemError(403, "a page of another site asks for this; `registry serve --cors ORIGIN` allows it to")


async def _read_query(request: Request) -> tuple[Query | None, str]:
    """The query that the address or the body asks, None where only the form is asked for; and the result's form."""
    given = _fields(request.query_params.multi_items())
    if request.method == "POST":
        given |= await _body(request)
    form, text = given.pop("format", None), given.pop("q", None)
    parameters = given.pop("params", {})
    if unknown := next(iter(given), None):
        raise ProblemError(400, f"there is no {unknown[:40]!r} here; known are q, format, and $NAME for each "
                                "parameter of the query")
    if form not in (None, *FORMS):
        raise ProblemError(400, f"format cannot be {str(form)[:40]!r}; known: {', '.join(FORMS)}")
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise ProblemError(400, "q must be a text, one SELECT or EXPLAIN")
    _check([text, parameters])
    form = form or choose_form(request.headers.get("accept", ""), FORMS)
    return None if text is None else Query(text, parameters), form


def _check(value: Any, depth: int = 0) -> None:
    """Refuse what no process could be sent: half a character, as JSON can name one, and what nests without an end."""
    if depth > _DEEPEST:
        raise ProblemError(400, "a parameter is nested too deeply")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise ProblemError(400, "the query or a parameter is no Unicode text")
    for part in value if isinstance(value, list) else (*value, *value.values()) if isinstance(value, dict) else ():
        _check(part, depth + 1)


def _fields(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """What a form or an address gives; what begins with $ is a parameter of the query."""
    found: dict[str, Any] = {"params": {}}
    for name, value in pairs:
        into, key = (found["params"], name[1:]) if name.startswith("$") else (found, name)
        if key in into and key != "params":
            raise ProblemError(400, f"{name[:40]} stands twice")
        into[key] = parameter_value(value) if into is found["params"] else value
    return found


async def _body(request: Request) -> dict[str, Any]:
    """What the body of a request gives: a form's fields, JSON, or the query alone."""
    try:
        body = (await asyncio.wait_for(_read(request), _PATIENCE)).decode()
    except TimeoutError:
        raise ProblemError(408, "the request did not come in time") from None
    except UnicodeDecodeError:
        raise ProblemError(400, "the request is not UTF-8") from None
    match request.headers.get("content-type", "").partition(";")[0].strip().lower():
        case "application/x-www-form-urlencoded":
            try:
                return _fields(parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
            except ValueError:
                raise ProblemError(400, f"a form has at most {_MOST_FIELDS} fields") from None
        case "application/json":
            return _of_json(body)
        case "" | "text/plain" | "application/sql":
            return {"q": body}
    raise ProblemError(415, "a query comes as a form, as application/json with q, format and params, or as text/plain")


async def _read(request: Request) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > _LONGEST:
                raise ProblemError(413, f"a query has at most {_LONGEST:,} bytes")
    except ClientDisconnect:
        raise ProblemError(400, "the request ended early") from None
    return bytes(body)


def _of_json(body: str) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise ProblemError(400, "the request is no JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("params", {}), dict):
        raise ProblemError(400, 'JSON must be an object: {"q": "SELECT ...", "format": "csv", "params": {"name": 1}}')
    return given


async def _sql_page(served: Served, queries: Queries, query: Query | None) -> Response:
    """The page with a form, and below it the result or what is wrong."""
    with served.source.lease() as reading:
        things = await reading.make_once(
            ("things",), lambda: reading.read(lambda opened: schema.load_data_model(opened.connection)),
            lambda found: 500 * len(found))
    by_kind = {title: [thing for thing in things if thing.kind == kind] for kind, title in _KINDS.items()}
    shown: dict[str, Any] = {"columns": None, "rows": [], "told": [], "problem": "", "excerpt": ""}
    status = 200
    if query is not None:
        try:
            shown |= await _result(queries, query)
        except ProblemError as problem:
            if problem.status == 503:
                raise
            status = problem.status
            shown |= {"problem": problem.message, "excerpt": problem.excerpt}
    content: Content = await run_in_threadpool(
        render_page, "sql.html", sql="" if query is None else query.sql, forms=FORMS[:-1], limits=queries.limits,
        shown=SHOWN, things=by_kind, **shown)
    return Response(content.body, status, {**content.headers, "Content-Type": content.media, "Vary": "Accept",
                                           "Cache-Control": served.settings.caching})


async def _result(queries: Queries, query: Query) -> Mapping[str, Any]:
    """The rows of a result, as many as a page shows."""
    answer = await queries.answer(query, "jsonl", first=SHOWN)
    rows = [json.loads(line) for line in b"".join(answer.pieces()).splitlines()]
    return {"columns": list(rows[0]) if rows else [], "rows": [list(row.values()) for row in rows],
            "told": answer.told}


_Answer = Callable[[Served, Request], Awaitable[Response]]
_ROUTES: dict[str, _Answer] = {
    "/": index, "/index.html": index, "/feed.xml": changed,
    "/tasks/{task}": task, "/tasks/{folder}/{board:int}/{place:int}.js": pairs_of,
    **{table.path: table.answer for table in TABLES},
}


def application(served: Served) -> ASGIApp:
    """What answers requests (ASGI)."""
    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(served.source.follow())
        try:
            yield
        finally:
            following.cancel()
            served.close()

    routes = [Route(path, partial(answer, served), methods=["GET"]) for path, answer in _ROUTES.items()]
    routes += [Route("/openapi.json", partial(_answer_openapi, served), methods=["GET"]),
               Route("/sql", partial(sql, served), methods=["GET", "POST"])]
    handlers = dict.fromkeys((ProblemError, RegistryError), _answer_error)
    app = Starlette(routes=routes, lifespan=running,
                    exception_handlers={**handlers, HTTPException: _answer_http_error, Exception: _failed})
    app.router.redirect_slashes = False
    return Guard(app, served.settings)


async def _answer_openapi(served: Served, request: Request) -> Response:
    read_parameters(request.query_params, ())
    return await respond(request, served, ("openapi",), _described)


async def _described(reading: Reading) -> Content:
    things = await reading.read(lambda opened: schema.load_data_model(opened.connection))
    return Content(MEDIA["json"], (json.dumps(description(things), indent=2, ensure_ascii=False) + "\n").encode())


def _answer_error(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    return _failed(request, error) if problem is None else answer_problem(request, problem)


def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "there is nothing at this address; / has all leaderboards, /openapi.json says what else there is",
               405: "nothing can be changed here: GET and HEAD alone are answered, and POST at /sql"}
    return answer_problem(request, ProblemError(error.status_code, message.get(error.status_code, error.detail),
                                 headers=dict(error.headers or {})))


def _failed(request: Request, _: Exception) -> Response:
    """What nobody foresaw: the server's log has it, with its traceback."""
    return answer_problem(request, ProblemError(500, FAILED))


_ALWAYS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LONGEST_HEAD = 2**15  # bytes of a request's first line and headers
_NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_METHODS, _EXPOSED = "GET, HEAD, OPTIONS", "ETag, Link, X-Total-Count, X-Note, Retry-After"
_OF_SQL = "GET, HEAD, POST, OPTIONS"
class Guard:
    """An application behind the guard."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = self._allowed(headers.get("origin"))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                _complete(message, origin, varies=bool(self._settings.origins))
            await send(message)

        if _size_of_head(scope) > LONGEST_HEAD:  # the server itself limits only what it receives in several pieces
            problem = ProblemError(431, f"the first line and the headers of a request have at most {LONGEST_HEAD:,} "
                                   "bytes; POST a long query")
            await answer_problem(Request(scope), problem)(scope, receive, sending)
        elif not is_known_host(headers.get("host"), self._settings.hosts):
            problem = ProblemError(421, "this machine is not called so here; ask by its address, or `registry serve "
                                   "--allow-host NAME` lets it be called by a name")
            await answer_problem(Request(scope), problem)(scope, receive, sending)
        elif scope["method"] == "OPTIONS":
            await _options(scope, headers, origin)(scope, receive, sending)
        else:
            await self._app(scope, receive, sending)

    def _allowed(self, origin: str | None) -> str | None:
        """The origin whose scripts may read the answer, if any may."""
        if "*" in self._settings.origins:
            return "*"
        return origin if origin in self._settings.origins else None


def _size_of_head(scope: Scope) -> int:
    """Return how many bytes the first line and the headers of a request have."""
    first = f"{scope['method']}  HTTP/1.1\r\n\r\n{'?' if scope['query_string'] else ''}"
    return (len(first) + len(scope["raw_path"]) + len(scope["query_string"])
            + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"]))


def is_known_host(header: str | None, names: tuple[str, ...]) -> bool:
    """Whether a header Host is an address, localhost or one of these names, with any port.

    >>> [is_known_host(host, ("eval.example.org",)) for host in ("127.0.0.1:8000", "[::1]:8000", "localhost",
    ...     "Eval.Example.org:80", "evil.example", "localhost.evil.example", "", None)]
    [True, True, True, True, False, False, False, False]
    """
    name = (header or "").lower()
    if name.startswith("["):
        name, closed, port = name[1:].partition("]")
        name = name if closed and (not port or port[1:].isdecimal()) else ""
    elif name.count(":") <= 1:
        name = name.partition(":")[0]
    try:
        ip_address(name)
    except ValueError:
        return name.removesuffix(".") in ("localhost", *(known.lower() for known in names))
    return True


def _complete(message: MutableMapping[str, Any], origin: str | None, *, varies: bool) -> None:
    """Say in an answer what it always says, and which `origin` may read it; `varies` where some may."""
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    for name, value in _ALWAYS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", _NOTHING)
    headers.setdefault("Cache-Control", "no-store")
    headers["Cross-Origin-Resource-Policy"] = "same-origin" if origin is None else "cross-origin"
    if origin is not None:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = _EXPOSED
    if varies:
        headers.add_vary_header("Origin")


def _options(scope: Scope, headers: Headers, origin: str | None) -> Response:
    """What may be asked for at an address; of a script of another page, also whether it may be by it."""
    allowed = _OF_SQL if scope["path"] == "/sql" else _METHODS
    answer = {"Allow": allowed}
    if origin is not None and "access-control-request-method" in headers:
        answer |= {"Access-Control-Allow-Methods": allowed, "Access-Control-Max-Age": "600",
                   "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match"}
    return Response(status_code=204, headers=answer)
