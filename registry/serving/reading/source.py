"""Reads snapshots for requests, in a few threads; each answer is made once, however many clients request it.

When a new snapshot is written, recently requested answers are made of it first; until then requests see the old one.
So a commit makes no request slow.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection

from registry.errors import RegistryError
from registry.evaluation.past import PastDatabase
from registry.serving.answers.problems import busy
from registry.serving.settings import Settings
from registry.serving.snapshots import Snapshot, Snapshots
from registry.store.database import Database

_LOG = logging.getLogger(__name__)
_READERS = 4  # threads that read and draw
_MOST_AT_ONCE = 100  # things that are being made or wait for that; more are refused for now
_LOOK = 0.5  # seconds between two looks at the registry's file
_MOST_REMADE, _REMAKING = 100, 20.0  # answers that are made of a new snapshot before it is shown, and seconds for that

T = TypeVar("T")


@dataclass(frozen=True)
class Opened:
    """A snapshot that is open for reading, perhaps at a moment of the past."""

    database: Database
    connection: Connection


class Reading:
    """Reads one snapshot.

    Args:
        snapshot: The file.
        settings: Which items are shown, and how many bytes cached values may take.
        threads: They do all work but that of the event loop.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings, threads: ThreadPoolExecutor) -> None:
        self.snapshot, self.settings, self._threads = snapshot, settings, threads
        self._cache = Cache(settings.room)
        self._making: dict[Hashable, asyncio.Future[Any]] = {}
        self.requested: OrderedDict[Hashable, Callable[[Reading], Awaitable[object]]] = OrderedDict()

    def remember(self, key: Hashable, make: Callable[[Reading], Awaitable[object]]) -> None:
        """Note that a client requested something, so that it is made of the next snapshot before that is shown."""
        self.requested[key] = make
        self.requested.move_to_end(key)
        if len(self.requested) > _MOST_REMADE:
            self.requested.popitem(last=False)

    async def make_once(self, key: Hashable, make: Callable[[], Awaitable[T]], size: Callable[[T], int]) -> T:
        """Return a cached value, or make it, once however many requests wait for it.

        Args:
            key: Distinguishes it from all else that is made of a snapshot.
            make: Makes it; an error is not cached.
            size: Returns the bytes that it takes.

        Raises:
            ProblemError: Too many values are being made.
        """
        if (value := self._cache.get(key)) is not None:
            return value  # type: ignore[no-any-return]
        if key not in self._making:
            if len(self._making) >= _MOST_AT_ONCE:
                raise busy()
            self._making[key] = asyncio.ensure_future(self._make(key, make, size))
            self._making[key].add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait
        return await asyncio.shield(self._making[key])

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[T]], size: Callable[[T], int]) -> T:
        with self.snapshot.lease():  # also if the client that requested it has gone
            try:
                value = await make()
                self._cache.store(key, value, size(value))
                return value
            finally:
                del self._making[key]

    async def read(self, work: Callable[[Opened], T], at: str | None = None) -> T:
        """Read something from the snapshot, with `at` from a moment of the past.

        Raises:
            ProblemError: The snapshot cannot be read.
            RegistryError: `work` raises it, or there is no such moment.
        """
        return await self.draw(lambda: self._read(work, at))

    async def draw(self, work: Callable[[], T]) -> T:
        """Do work in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _read(self, work: Callable[[Opened], T], at: str | None) -> T:
        path = self.snapshot.path
        database = Database(path) if at is None else PastDatabase(path, at, lambda _: None)
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(database.reading())
            except RegistryError as error:
                if at is not None and getattr(error, "path", None) is None:  # it is the moment that is wrong
                    raise
                _LOG.warning("%s", error)  # which names the path, so no client gets to see it
                raise busy() from None
            return work(Opened(database, connection))


class Source:
    """The newest snapshot, for all requests.

    Args:
        settings: Settings of the server.
        snapshots: Writes the snapshots; the first one is written here.

    Raises:
        RegistryError: The first snapshot cannot be written.
    """

    def __init__(self, settings: Settings, snapshots: Snapshots) -> None:
        self._settings, self._snapshots = settings, snapshots
        self._threads = ThreadPoolExecutor(_READERS, "reader")
        self._held = ExitStack()
        self._show(Reading(snapshots.write(), settings, self._threads))

    def _show(self, reading: Reading) -> None:
        old, self._held = self._held, ExitStack()
        self._held.enter_context(reading.snapshot.lease())
        self._newest = reading
        old.close()

    @contextmanager
    def lease(self) -> Iterator[Reading]:
        """Keep the newest snapshot until the block ends."""
        reading = self._newest
        with reading.snapshot.lease():
            yield reading

    async def follow(self) -> None:
        """Show every change of the registry, without an end; if that fails, the old snapshot stays."""
        logged = ""
        while True:
            await asyncio.sleep(_LOOK)
            if self._snapshots.is_due():
                try:
                    await self.renew()
                    logged = ""
                except Exception as error:
                    if str(error) != logged:
                        _LOG.warning("changes of the registry are not shown until this is mended: %s", error)
                    logged = str(error)

    async def renew(self) -> None:
        """Write a snapshot, make recently requested answers of it, and show it.

        Raises:
            RegistryError: It cannot be written.
        """
        reading = Reading(await asyncio.to_thread(self._snapshots.write), self._settings, self._threads)
        with reading.snapshot.lease():
            with suppress(TimeoutError):
                async with asyncio.timeout(_REMAKING):
                    for make in reversed(list(self._newest.requested.values())):
                        with suppress(Exception):  # the client that requests it next gets the error
                            await make(reading)
            self._show(reading)

    def close(self) -> None:
        """Begin nothing any more, and remove all snapshots."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._snapshots.close()


class Cache:
    """A cache of values by key, which drops the least recently used ones.

    Args:
        room: The bytes that they may take together; a value that is larger than half of that is not stored.
    """

    def __init__(self, room: int) -> None:
        self._room, self._taken = room, 0
        self._stored: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """Return a value, or None."""
        if key not in self._stored:
            return None
        self._stored.move_to_end(key)
        return self._stored[key][0]

    def store(self, key: Hashable, value: Any, size: int) -> None:
        """Store a value of so many bytes."""
        if 2 * size > self._room or key in self._stored:
            return
        self._stored[key] = value, size
        self._taken += size
        while self._taken > self._room:
            self._taken -= self._stored.popitem(last=False)[1][1]
