"""What stands before everything: whom this machine answers to, what may be asked at all, and what browsers are told.

A browser that visits a stranger's page must not be made to read the registry for it. A page can have its own name point
to this machine (DNS rebinding), so a request must call it by an address, which cannot be made to point elsewhere, or by
a name that was given. Scripts of other pages cannot read answers, unless `--cors` names them, and no frame shows them.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from ipaddress import ip_address
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.serving.answers.html import told
from registry.serving.answers.problems import ProblemError
from registry.serving.settings import Settings

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
            await told(Request(scope), problem)(scope, receive, sending)
        elif not is_known_host(headers.get("host"), self._settings.hosts):
            problem = ProblemError(421, "this machine is not called so here; ask by its address, or `registry serve "
                                   "--allow-host NAME` lets it be called by a name")
            await told(Request(scope), problem)(scope, receive, sending)
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
