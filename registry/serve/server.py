"""The server process: its address, and the limits of connections.

If the server has more connections than the limit, requests get the status 503. If it has more than twice the limit, new
connections are closed. A connection without a complete request is closed after some seconds, so that slow clients do
not block other clients.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from ipaddress import ip_address
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from registry.errors import RegistryError
from registry.platforms import allow_open_files, is_port_in_use, prepare_listener
from registry.query.waiting_process import prepare
from registry.serve.app import MAX_HEAD, make_application
from registry.serve.queries import Served
from registry.serve.source import Settings

MAX_CONNECTIONS = 1000
_MAX_FILES = 4 * MAX_CONNECTIONS  # open files for connections, the database, and queries
_IDLE_SECONDS = 20.0  # time after which a connection without a complete request is closed
_IDLE_SECONDS_IF_BUSY = 2.0  # the same time if more than half of the connections are used
_UNREAD_MILLISECONDS = 60_000  # time after which a client that does not read is disconnected
_GRACE_SECONDS = 5  # time to finish the current responses when the server stops


class Connection(H11Protocol):
    """Connection that is aborted at once if the server has far too many connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the connection, or abort it if the server has too many connections."""
        super().connection_made(transport)
        if len(self.connections) > 2 * MAX_CONNECTIONS:
            transport.abort()


class IdleConnections:
    """Connections whose client has not yet sent a complete request."""

    def __init__(self) -> None:
        self._idle: dict[Connection, tuple[RequestResponseCycle | None, float]] = {}

    def close_old(self, connections: Iterable[Connection], now: float) -> None:
        """Close connections that have been idle for too long.

        This method must be called regularly: one call notices that a connection is idle, and a later call closes it.

        Args:
            connections: All open connections.
            now: Current time in seconds of any clock.
        """
        previous, current = self._idle, list(connections)
        limit = _IDLE_SECONDS_IF_BUSY if len(current) > MAX_CONNECTIONS / 2 else _IDLE_SECONDS
        self._idle = {}
        for connection in current:
            if connection.cycle is not None and not connection.cycle.response_complete:
                continue
            cycle, start = previous.get(connection, (connection.cycle, now))
            if cycle is not connection.cycle:  # the connection has sent another request
                start = now
            self._idle[connection] = connection.cycle, start
            if now - start > limit:
                connection.shutdown()  # sends the rest of the response first


def is_loopback(host: str) -> bool:
    """Return True if an address accepts connections only from this machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1", "example.org")]
    [True, True, True, False, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def open_listener(host: str, port: int) -> socket.socket:
    """Open a socket that listens for connections; port 0 selects a free port.

    Raises:
        RegistryError: The address is unknown or in use.
    """
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", error)
        raise RegistryError(f"{host!r} is not an address of this machine ({reason}); choose another --host") from None
    try:
        prepare_listener(listener, _UNREAD_MILLISECONDS)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if is_port_in_use(error):
            raise RegistryError(f"port {port} of {host} is in use by another program; choose another --port, or 0 for "
                                "any free port") from None
        raise RegistryError(f"cannot listen at {host}, port {port}: {error.strerror}; choose another --host or --port"
                            ) from None
    return listener


def make_url(listener: socket.socket) -> str:
    """Return the URL at which a browser reaches a listening socket."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(settings: Settings, listener: socket.socket, announce: Callable[[], None], *, verbose: bool = False) -> None:
    """Run the web server until a signal ends the process.

    Args:
        settings: Settings of the server.
        listener: The listening socket.
        announce: Function that is called when the server is ready.
        verbose: Whether to log every request to stderr.

    Raises:
        RegistryError: The registry cannot be read, or its first snapshot cannot be written.
    """
    if settings.queries is not None:
        prepare()
    allow_open_files(_MAX_FILES)
    with closing(Served(settings)) as served:
        config = uvicorn.Config(
            make_application(served), log_level="info" if verbose else "warning", access_log=verbose,
            server_header=False, proxy_headers=False, ws="none", http=Connection, loop="asyncio", timeout_keep_alive=15,
            timeout_graceful_shutdown=_GRACE_SECONDS, limit_concurrency=MAX_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD)
        announce()
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after shutdown
            _Server(config, served).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A web server that ends running queries when it stops.

    Clients then do not wait for results.
    """

    def __init__(self, config: uvicorn.Config, served: Served) -> None:
        super().__init__(config)
        self._served, self._idle = served, IdleConnections()

    async def on_tick(self, counter: int) -> bool:
        """Close idle connections once a second; uvicorn calls this ten times a second."""
        if counter % 10 == 0:
            connections = self.server_state.connections
            self._idle.close_old((c for c in connections if isinstance(c, Connection)), time.monotonic())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End all queries, and then stop the server, after a signal."""
        self._served.stop()
        super().handle_exit(sig, frame)
