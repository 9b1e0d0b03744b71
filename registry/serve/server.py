"""The server: an address of this machine, and limits on connections.

Beyond the limit of connections requests are answered by 503, and beyond twice as many nobody is let in. Connections
without a complete request are closed, so that slow clients keep nobody out for long.
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
from registry.serve.app import LONGEST_HEAD, application
from registry.serve.queries import Served
from registry.serve.source import Settings

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
        prepare_listener(listener, _UNREAD)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if is_port_in_use(error):
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
    allow_open_files(_FILES)
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
