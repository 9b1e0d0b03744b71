"""The server: an address of this machine, limits on connections, and a guard before all answers.

A browser that visits a stranger's page must not be made to read the registry for it. A page can have its own name point
to this machine (DNS rebinding), so a request must call it by an address, which cannot be made to point elsewhere, or by
a name that was given. Scripts of other pages cannot read answers, unless `--cors` names them, and no frame shows them.

Beyond the limit of connections requests are answered by 503, and beyond twice as many nobody is let in. Connections
without a complete request are closed, so that slow clients keep nobody out for long.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import closing, suppress
from ipaddress import ip_address
from types import FrameType
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from registry.errors import RegistryError
from registry.query.forked import prepare
from registry.serve.answers import answer_problem
from registry.serve.app import application
from registry.serve.queries import Served
from registry.serve.source import ProblemError, Settings

MOST_CONNECTIONS = 1000
_FILES = 4 * MOST_CONNECTIONS  # that the system is asked to allow: connections, the database, and what queries need
_PATIENCE, _HASTE = 20.0, 2.0  # seconds without a whole request: as a rule, and where half of the connections are taken
_UNREAD = 60_000  # milliseconds after which who reads nothing of an answer has gone


class Connection(H11Protocol):
    """A connection, which is closed at once where there are far too many."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        if len(self.connections) > 2 * MOST_CONNECTIONS:
            transport.abort()


class Idle:
    """The connections without a whole request, and since when."""

    def __init__(self) -> None:
        self._since: dict[Connection, tuple[RequestResponseCycle | None, float]] = {}

    def end(self, connections: Iterable[Connection], now: float) -> None:
        """Close those that have waited for too long `now`, in seconds of any clock."""
        known, there = self._since, list(connections)
        patience = _HASTE if len(there) > MOST_CONNECTIONS / 2 else _PATIENCE
        self._since = {}
        for one in there:
            if one.cycle is not None and not one.cycle.response_complete:
                continue
            before, since = known.get(one, (one.cycle, now))
            since = since if before is one.cycle else now  # it has asked since
            self._since[one] = one.cycle, since
            if now - since > patience:
                one.shutdown()  # what is still to be sent is


def allow_connections(listener: socket.socket) -> None:
    """Have the system allow so many connections, and end those whose other end reads nothing."""
    with suppress(ImportError, OSError, ValueError):  # where there are no such limits, or they are final
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD)


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


_GRACE = 5  # seconds for which answers that are being sent are waited for at the end


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1", "example.org")]
    [True, True, True, False, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """A socket at an address; of port 0 at one that is free.

    Raises:
        RegistryError: It cannot be had.
    """
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        raise RegistryError(f"{host} is no address of this machine ({getattr(error, 'strerror', error)}); --host "
                            "names another") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise RegistryError(f"port {port} of {host} is in use, by another `registry serve` or another program; "
                                "--port names another, 0 any that is free") from None
        raise RegistryError(f"cannot listen at {host}, port {port}: {error.strerror}; --host and --port name another "
                            "place") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """The address at which a browser finds what listens."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(settings: Settings, listener: socket.socket, announce: Callable[[], None], *, verbose: bool = False) -> None:
    """Answer until a signal ends it.

    Args:
        settings: What is served.
        listener: The socket at which clients ask.
        announce: Is called when the first snapshot is written, and requests are answered.
        verbose: Whether to log every request on stderr.

    Raises:
        RegistryError: The registry cannot be read, or its first snapshot cannot be written.
    """
    if settings.queries is not None:
        prepare()
    allow_connections(listener)
    with closing(Served(settings)) as served:
        config = uvicorn.Config(
            application(served), log_level="info" if verbose else "warning", access_log=verbose, server_header=False,
            proxy_headers=False, ws="none", http=Connection, loop="asyncio", timeout_keep_alive=15,
            timeout_graceful_shutdown=_GRACE, limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=LONGEST_HEAD)
        announce()
        with suppress(KeyboardInterrupt):  # which it raises again when all is closed
            _Server(config, served).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends queries as soon as it is told to end: who asked is told, and nobody waits for them."""

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self._served, self._idle = served, Idle()

    async def on_tick(self, counter: int) -> bool:
        """Close what stands open for too long; ten times a second."""
        if counter % 10 == 0:
            open_now = (one for one in self.server_state.connections if isinstance(one, Connection))
            self._idle.end(open_now, time.monotonic())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, on a signal."""
        self._served.stop()
        super().handle_exit(sig, frame)
