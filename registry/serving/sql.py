"""SQL over HTTP: the query in the address, in a form or in JSON, the result in any form, and a page to try it on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from registry.query import schema
from registry.query.question import Query, parameter_value
from registry.serving.answers.forms import MEDIA, chosen
from registry.serving.answers.html import written
from registry.serving.answers.problems import ProblemError
from registry.serving.answers.respond import Content, accepts_gzip, is_known
from registry.serving.queries import Answer, Queries
from registry.serving.served import Served

FORMS = ("json", "jsonl", "csv", "tsv", "parquet", "html")
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
    query, form = await _asked(request)  # all of the request: what comes next can only be that the client disconnects
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
        return await _page(served, queries, query)
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


async def _asked(request: Request) -> tuple[Query | None, str]:
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
    form = form or chosen(request.headers.get("accept", ""), FORMS)
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


async def _page(served: Served, queries: Queries, query: Query | None) -> Response:
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
        written, "sql.html", sql="" if query is None else query.sql, forms=FORMS[:-1], limits=queries.limits,
        shown=SHOWN, things=by_kind, **shown)
    return Response(content.body, status, {**content.headers, "Content-Type": content.media, "Vary": "Accept",
                                           "Cache-Control": served.settings.caching})


async def _result(queries: Queries, query: Query) -> Mapping[str, Any]:
    """The rows of a result, as many as a page shows."""
    answer = await queries.answer(query, "jsonl", first=SHOWN)
    rows = [json.loads(line) for line in b"".join(answer.pieces()).splitlines()]
    return {"columns": list(rows[0]) if rows else [], "rows": [list(row.values()) for row in rows],
            "told": answer.told}
