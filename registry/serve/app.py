"""The ASGI application: pages, SQL, and middleware for security.

A page of another site must not use the browser of a user to read the registry. The host name of the other site may
point to this machine (DNS rebinding). The Host header of a request must therefore be an IP address, localhost, or a
name that `--allow-host` permits. Scripts of other sites cannot read responses, except if `--cors` permits it. Pages of
other sites cannot show the responses in a frame.
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
from registry.boards.site import load_changes
from registry.boards.snapshot import TaskBoards, load_snapshot
from registry.boards.submissions import Ladder
from registry.errors import RegistryError, UnknownNameError
from registry.query.request import Query, parameter_value
from registry.query.schema import load_data_model
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
    is_cached_by_client,
    read_parameters,
    render_notice,
    render_page,
    respond,
)
from registry.serve.queries import Answer, Queries, Served
from registry.serve.source import (
    FAILED,
    CachedSnapshot,
    OpenSnapshot,
    ProblemError,
    Settings,
    VisibleBoards,
    list_public_tasks,
    load_task_boards,
    translate_error,
)
from registry.serve.tables import TABLES, describe_api

_PAGE_SUFFIX, _PAIRS_SUFFIX = ".html", ".pairs"
_HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_BYTES_PER_CHANGE = 2_000
_ATOM = "application/atom+xml; charset=utf-8"
# A page contains its own policy, which cannot forbid frames (clickjacking).
_PAGE_HEADERS = {"Content-Security-Policy": "frame-ancestors 'self'"}


async def serve_index(served: Served, request: Request) -> Response:
    """Respond with the start page, which lists all tasks that have leaderboards."""
    read_parameters(request.query_params, ())
    return await respond(request, served, ("index",), _make_index)


async def _make_index(snapshot: CachedSnapshot) -> Content:
    boards, missing = await snapshot.read(_load_public_boards)
    return await snapshot.run_in_thread(lambda: Content(MEDIA["html"], site_index(
        [card(f"tasks/{task.task}.html", task) for task in boards], missing).encode(), _PAGE_HEADERS))


def _load_public_boards(opened: OpenSnapshot) -> tuple[Sequence[TaskBoards], list[str]]:
    """Load the leaderboards of all tasks.

    Returns:
        The leaderboards of each task, and for each task without public leaderboards a sentence with the reason.
    """
    tasks, missing = list_public_tasks(opened)
    return load_snapshot(opened.connection, tasks, pairs=BOARD_PAIRS).tasks if tasks else (), missing


async def serve_feed(served: Served, request: Request) -> Response:
    """Respond with an Atom feed of the changes of the leaderboards.

    The links in the feed are absolute, because feed readers store the feed on other machines.
    """
    read_parameters(request.query_params, ())
    address = served.settings.url or make_site_url(request.url.scheme, request.headers.get("host", ""))
    return await respond(request, served, ("feed", address), lambda snapshot: _make_feed(snapshot, address))


def make_site_url(scheme: str, host: str) -> str:
    """Return the URL of this site, from the Host header of a request.

    The result is an empty text if the header is malformed.

    >>> hosts = ("eval.example.org", "[::1]:8000", '127.0.0.1:80"/><a', "a/b", "a@b", "")
    >>> [make_site_url("http", host) for host in hosts]
    ['http://eval.example.org/', 'http://[::1]:8000/', '', '', '', '']
    """
    return f"{scheme}://{host}/" if scheme in ("http", "https") and _HOST.fullmatch(host) else ""


async def _make_feed(snapshot: CachedSnapshot, address: str) -> Content:
    changes_found = await snapshot.make_once(
        ("changes",), lambda: snapshot.read(
            lambda opened: load_changes(opened.connection, list_public_tasks(opened)[0])),
        lambda changes: _BYTES_PER_CHANGE * len(changes.changes))
    return await snapshot.run_in_thread(lambda: Content(_ATOM, feed(changes_found, address).encode()))


async def serve_task(served: Served, request: Request) -> Response:
    """Respond with the HTML page of a task.

    The URL ends in the id of the task, with or without `.html`.
    """
    name, at = request.path_params["task"], read_parameters(request.query_params, (AT,))["at"]
    return await respond(request, served, ("page", name, at), lambda snapshot: _make_task_page(snapshot, name, at))


async def _make_task_page(snapshot: CachedSnapshot, name: str, at: str | None) -> Content:
    try:
        shown = await load_task_boards(snapshot, name, at)
    except UnknownNameError:
        if not name.endswith(_PAGE_SUFFIX):
            raise
        shown = await load_task_boards(snapshot, name := name.removesuffix(_PAGE_SUFFIX), at)
    return await snapshot.run_in_thread(lambda: _render_task(name, shown, at))


def _render_task(name: str, shown: VisibleBoards, at: str | None) -> Content:
    if shown.boards is None:
        return render_notice(name, shown.hidden, tables=[_make_plain_table(ladder) for ladder in shown.ladders])
    folder = f"{name}{_PAIRS_SUFFIX}" if at is None else None  # files of pairs are current
    page = task_page(shown.boards, home="../index.html", folder=folder)
    return Content(MEDIA["html"], page.encode(), _PAGE_HEADERS)


def _make_plain_table(ladder: Ladder) -> dict[str, object]:
    table = make_ladder_table(ladder)
    columns, rows = format_cells(table)
    return {"title": table.title, "columns": [column.heading for column in columns], "rows": rows,
            "captions": table.lines}


async def serve_pair_file(served: Served, request: Request) -> Response:
    """Respond with the test results of one system, which a page loads when needed.

    The page of the task itself contains only some of the pairs.
    """
    read_parameters(request.query_params, ())
    folder, board, place = (request.path_params[name] for name in ("folder", "board", "place"))
    if not folder.endswith(_PAIRS_SUFFIX):
        raise ProblemError(404, "there is no such file")
    name = folder.removesuffix(_PAIRS_SUFFIX)
    return await respond(request, served, ("pairs file", name, board, place),
                         lambda snapshot: _make_pair_file(snapshot, name, board, place))


async def _make_pair_file(snapshot: CachedSnapshot, name: str, board: int, place: int) -> Content:
    boards = (await load_task_boards(snapshot, name, None)).public_boards.primary_first
    file = await snapshot.run_in_thread(lambda: pair_file(boards, board, place))
    if file is None:
        raise ProblemError(404, f"the page of {name} holds all pairs of that system, or there is no such system")
    return Content("text/javascript; charset=utf-8", file.encode())


MAX_SHOWN_ROWS = 1_000  # on a page
_MAX_BODY = 2**20  # bytes of a request
_MAX_FIELDS, _MAX_DEPTH = 100, 20
_BODY_SECONDS = 10.0  # time after which the body of a request must be complete
_KINDS = {"view": "Views", "macro": "Macros", "table": "Tables"}
OFF = ("SQL is disabled, because other machines can reach this server; `registry serve --sql` enables it, and then "
       "shows gold and submissions")


async def serve_sql(served: Served, request: Request) -> Response:
    """Respond with the result of an SQL query, or with a page to write a query."""
    if served.queries is None:
        raise ProblemError(403, OFF)
    _refuse_other_sites(request, served)
    query, form = await _read_query(request)  # reads the whole body, so that the next message can only be a disconnect
    return await _cancel_if_disconnected(request, _run_query(served, served.queries, request, query, form))


async def _cancel_if_disconnected(request: Request, response: Coroutine[Any, Any, Response]) -> Response:
    """Wait for a response, but cancel it if the client disconnects.

    The cancellation ends the query that is running for the response.
    """
    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = responding, _ = asyncio.ensure_future(response), asyncio.ensure_future(wait_for_disconnect())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return responding.result() if responding.done() else Response(status_code=499)  # for the log, like nginx
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_query(served: Served, queries: Queries, request: Request, query: Query | None, form: str) -> Response:
    if form == "html":
        return await _serve_sql_page(served, queries, query)
    if query is None:
        raise ProblemError(400, "there is no query; add q= with one SELECT or EXPLAIN")
    zipped = form != "parquet" and accepts_gzip(request.headers.get("accept-encoding", ""))
    answer = await queries.answer(query, form, zipped=zipped)
    # A query such as SELECT random() has another result each time, so the ETag depends on the result.
    tag = f'"{answer.digest[:40]}{"-gzip" if zipped else ""}"'
    headers = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": served.settings.caching}
    if answer.notes:
        headers["X-Note"] = "; ".join(answer.notes)
    if request.method != "POST" and is_cached_by_client(request, tag):
        answer.file.close()
        return Response(status_code=304, headers=headers)
    headers |= {"Content-Length": str(answer.size), "Content-Type": MEDIA[form]}
    headers |= {"Content-Encoding": "gzip"} if zipped else {}
    if form == "parquet":
        headers["Content-Disposition"] = 'attachment; filename="result.parquet"'
    if answer.is_in_memory:  # to send pieces takes several turns of the event loop
        return Response(b"".join(answer.read_pieces()), headers=headers)
    return ResultResponse(answer, headers)


class ResultResponse(StreamingResponse):
    """A response that sends the result of a query in pieces.

    At the end, or if the client disconnects, the file with the result is closed.
    """

    def __init__(self, answer: Answer, headers: Mapping[str, str]) -> None:
        super().__init__(answer.read_pieces(), headers=headers)
        self._file = answer.file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        with self._file:
            await super().__call__(scope, receive, send)


def _refuse_other_sites(request: Request, served: Served) -> None:
    """Refuse queries that a web page of another site sends to this server.

    Browsers hide the result from such a page, but its queries would need the server's time.

    Raises:
        ProblemError: The request comes from such a page.
    """
    headers, origins = request.headers, served.settings.origins
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is not None and (origin in origins or "*" in origins):
        return
    is_navigation = headers.get("sec-fetch-dest") == "document" and request.method in ("GET", "HEAD")
    is_cross_site = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not is_navigation
    if is_cross_site or (origin is not None and origin.partition("://")[2] != host):
        raise ProblemError(403, "the request comes from a page of another site; `registry serve --cors ORIGIN` permits "
                                "it")


async def _read_query(request: Request) -> tuple[Query | None, str]:
    """Read the SQL query and the requested format from a request.

    The query and the format can be in the URL or in the body of the request. The query is None if the request has none.
    """
    fields = _parse_fields(request.query_params.multi_items())
    if request.method == "POST":
        fields |= await _read_body_fields(request)
    form, text = fields.pop("format", None), fields.pop("q", None)
    parameters = fields.pop("params", {})
    if unknown := next(iter(fields), None):
        raise ProblemError(400, f"unknown field {unknown[:40]!r}; known: q, format, and $NAME for each parameter of "
                                "the query")
    if form not in (None, *FORMS):
        raise ProblemError(400, f"format cannot be {str(form)[:40]!r}; known: {', '.join(FORMS)}")
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise ProblemError(400, "q must be a text, one SELECT or EXPLAIN")
    _check_value([text, parameters])
    form = form or choose_form(request.headers.get("accept", ""), FORMS)
    return None if text is None else Query(text, parameters), form


def _check_value(value: Any, depth: int = 0) -> None:
    """Check that a query parameter can be sent to a query process.

    JSON permits deeply nested values and texts with lone surrogates, which cannot be sent.

    Raises:
        ProblemError: The parameter is such a value.
    """
    if depth > _MAX_DEPTH:
        raise ProblemError(400, "a parameter is nested too deeply")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise ProblemError(400, "the query or a parameter is not Unicode text")
    for part in value if isinstance(value, list) else (*value, *value.values()) if isinstance(value, dict) else ():
        _check_value(part, depth + 1)


def _parse_fields(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Convert the fields of a form or URL to a dictionary.

    Fields whose names begin with `$` are parameters of the query: the fields `q=SELECT $n` and `$n=3` become
    {"q": "SELECT $n", "params": {"n": 3}}.
    """
    parameters: dict[str, Any] = {}
    fields: dict[str, Any] = {"params": parameters}
    for name, value in pairs:
        target, key = (parameters, name[1:]) if name.startswith("$") else (fields, name)
        if key in target and key != "params":
            raise ProblemError(400, f"{name[:40]} occurs twice; remove one")
        target[key] = parameter_value(value) if target is parameters else value
    return fields


async def _read_body_fields(request: Request) -> dict[str, Any]:
    """Return the fields in the body of a request: the query, format and parameters.

    The body may be a form, a JSON object, or only the SQL.
    """
    try:
        body = (await asyncio.wait_for(_read_body(request), _BODY_SECONDS)).decode()
    except TimeoutError:
        raise ProblemError(408, "the request was not complete in time") from None
    except UnicodeDecodeError:
        raise ProblemError(400, "the request is not UTF-8") from None
    match request.headers.get("content-type", "").partition(";")[0].strip().lower():
        case "application/x-www-form-urlencoded":
            try:
                return _parse_fields(parse_qsl(body, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
            except ValueError:
                raise ProblemError(400, f"a form has at most {_MAX_FIELDS} fields") from None
        case "application/json":
            return _parse_json(body)
        case "" | "text/plain" | "application/sql":
            return {"q": body}
    raise ProblemError(415, "send a query as a form, as application/json with q, format and params, or as text/plain")


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > _MAX_BODY:
                raise ProblemError(413, f"a query has at most {_MAX_BODY:,} bytes")
    except ClientDisconnect:
        raise ProblemError(400, "the request ended early") from None
    return bytes(body)


def _parse_json(body: str) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise ProblemError(400, "the request is not JSON") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("params", {}), dict):
        raise ProblemError(400, 'JSON must be an object: {"q": "SELECT ...", "format": "csv", "params": {"name": 1}}')
    return fields


async def _serve_sql_page(served: Served, queries: Queries, query: Query | None) -> Response:
    """Respond with an HTML page that has a form for SQL, and the result or the error."""
    with served.source.lease() as snapshot:
        relations = await snapshot.make_once(
            ("relations",), lambda: snapshot.read(lambda opened: load_data_model(opened.connection)),
            lambda relations: 500 * len(relations))
    by_kind = {title: [relation for relation in relations if relation.kind == kind] for kind, title in _KINDS.items()}
    shown: dict[str, Any] = {"columns": None, "rows": [], "told": [], "problem": "", "excerpt": ""}
    status = 200
    if query is not None:
        try:
            shown |= await _load_result(queries, query)
        except ProblemError as problem:
            if problem.status == 503:
                raise
            status = problem.status
            shown |= {"problem": problem.message, "excerpt": problem.excerpt}
    content: Content = await run_in_threadpool(
        render_page, "sql.html", sql="" if query is None else query.sql, forms=FORMS[:-1], limits=queries.limits,
        shown=MAX_SHOWN_ROWS, things=by_kind, **shown)
    return Response(content.body, status, {**content.headers, "Content-Type": content.media, "Vary": "Accept",
                                           "Cache-Control": served.settings.caching})


async def _load_result(queries: Queries, query: Query) -> Mapping[str, Any]:
    answer = await queries.answer(query, "jsonl", first=MAX_SHOWN_ROWS)
    rows = [json.loads(line) for line in b"".join(answer.read_pieces()).splitlines()]
    return {"columns": list(rows[0]) if rows else [], "rows": [list(row.values()) for row in rows],
            "told": answer.notes}


_ROUTES: dict[str, Callable[[Served, Request], Awaitable[Response]]] = {
    "/": serve_index, "/index.html": serve_index, "/feed.xml": serve_feed,
    "/tasks/{task}": serve_task, "/tasks/{folder}/{board:int}/{place:int}.js": serve_pair_file,
    **{table.path: table.answer for table in TABLES},
}


def make_application(served: Served) -> ASGIApp:
    """Build the web application (ASGI) that handles all requests of the server."""
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(served.source.follow())
        try:
            yield
        finally:
            following.cancel()
            served.close()

    routes = [Route(path, partial(answer, served), methods=["GET"]) for path, answer in _ROUTES.items()]
    routes += [Route("/openapi.json", partial(_serve_openapi, served), methods=["GET"]),
               Route("/sql", partial(serve_sql, served), methods=["GET", "POST"])]
    handlers = dict.fromkeys((ProblemError, RegistryError), _answer_error)
    app = Starlette(routes=routes, lifespan=lifespan,
                    exception_handlers={**handlers, HTTPException: _answer_http_error, Exception: _respond_to_bug})
    app.router.redirect_slashes = False
    return SecurityMiddleware(app, served.settings)


async def _serve_openapi(served: Served, request: Request) -> Response:
    read_parameters(request.query_params, ())
    return await respond(request, served, ("openapi",), _make_openapi)


async def _make_openapi(snapshot: CachedSnapshot) -> Content:
    relations = await snapshot.read(lambda opened: load_data_model(opened.connection))
    return Content(MEDIA["json"], (json.dumps(describe_api(relations), indent=2, ensure_ascii=False) + "\n").encode())


def _answer_error(request: Request, error: Exception) -> Response:
    problem = translate_error(error)
    return _respond_to_bug(request, error) if problem is None else answer_problem(request, problem)


def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "there is no page at this address; / lists all leaderboards, /openapi.json all other addresses",
               405: "the server is read-only: use GET or HEAD, or POST for /sql"}
    return answer_problem(request, ProblemError(error.status_code, message.get(error.status_code, error.detail),
                                 headers=dict(error.headers or {})))


def _respond_to_bug(request: Request, _: Exception) -> Response:
    return answer_problem(request, ProblemError(500, FAILED))


_DEFAULT_HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Opener-Policy": "same-origin",
}
MAX_HEAD = 2**15  # bytes of a request's first line and headers
_STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_METHODS, _EXPOSED_HEADERS = "GET, HEAD, OPTIONS", "ETag, Link, X-Total-Count, X-Note, Retry-After"
_SQL_METHODS = "GET, HEAD, POST, OPTIONS"


class SecurityMiddleware:
    """ASGI middleware that refuses dangerous requests and adds security headers.

    It limits the size of the headers of a request, checks the host name, and lets permitted sites read responses
    (CORS).
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a forbidden request, and pass other requests to the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = self._get_allowed_origin(headers.get("origin"))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, origin, varies=bool(self._settings.origins))
            await send(message)

        if _measure_head(scope) > MAX_HEAD:  # uvicorn limits the head of a request only if it arrives in several pieces
            problem = ProblemError(431, f"the first line and the headers of a request have at most {MAX_HEAD:,} "
                                   "bytes; POST a long query")
            await answer_problem(Request(scope), problem)(scope, receive, send_with_headers)
        elif not is_known_host(headers.get("host"), self._settings.hosts):
            problem = ProblemError(421, "this host name is not permitted; use the IP address, or permit the name by "
                                   "`registry serve --allow-host NAME`")
            await answer_problem(Request(scope), problem)(scope, receive, send_with_headers)
        elif scope["method"] == "OPTIONS":
            await _make_options_response(scope, headers, origin)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _get_allowed_origin(self, origin: str | None) -> str | None:
        """Return the web site whose scripts may read a response, or `*` for all sites.

        Args:
            origin: The site from which a browser sent the request. If it is not permitted, the result is None.
        """
        if "*" in self._settings.origins:
            return "*"
        return origin if origin in self._settings.origins else None


def _measure_head(scope: Scope) -> int:
    first = f"{scope['method']}  HTTP/1.1\r\n\r\n{'?' if scope['query_string'] else ''}"
    return (len(first) + len(scope["raw_path"]) + len(scope["query_string"])
            + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"]))


def is_known_host(header: str | None, names: tuple[str, ...]) -> bool:
    """Return True if a Host header has an IP address, localhost or a permitted name.

    The header may have any port.

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


def _add_headers(message: MutableMapping[str, Any], origin: str | None, *, varies: bool) -> None:
    """Add security headers to an HTTP response.

    Args:
        message: ASGI message that starts the response.
        origin: Web site whose scripts may read the response; None means no other site.
        varies: Whether the response depends on the site that sent the request.
    """
    headers = MutableHeaders(raw=message.setdefault("headers", []))
    for name, value in _DEFAULT_HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", _STRICT_POLICY)
    headers.setdefault("Cache-Control", "no-store")
    headers["Cross-Origin-Resource-Policy"] = "same-origin" if origin is None else "cross-origin"
    if origin is not None:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
    if varies:
        headers.add_vary_header("Origin")


def _make_options_response(scope: Scope, headers: Headers, origin: str | None) -> Response:
    """Make the response for an HTTP OPTIONS request.

    It lists the permitted methods and, for permitted other sites, the CORS headers.
    """
    allowed = _SQL_METHODS if scope["path"] == "/sql" else _METHODS
    answer = {"Allow": allowed}
    if origin is not None and "access-control-request-method" in headers:
        answer |= {"Access-Control-Allow-Methods": allowed, "Access-Control-Max-Age": "600",
                   "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match"}
    return Response(status_code=204, headers=answer)
