"""The database as requests see it: opened by few threads, once for what many ask at the same time, and kept."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import Connection

from registry.errors import RegistryError
from registry.evaluation.past import PastDatabase
from registry.serving.reading.state import Stamp, State
from registry.store.database import Database
from registry.store.log.journal import now

_LOG = logging.getLogger(__name__)
_READERS = 4  # threads that read and draw
_AT_ONCE = 100  # things that are being made or wait for that; more are refused for now
_TRIES = 4  # to read a state that is still there when it is shown

T = TypeVar("T")


class UnavailableError(Exception):
    """The database cannot be read now, or so many ask that this has to be asked again later."""


@dataclass(frozen=True)
class Found(Generic[T]):
    """A value, and the state of the registry that it is of."""

    state: State
    value: T


@dataclass(frozen=True)
class Opened:
    """The database opened for reading, `at` a moment of the past or as it is, and the state that it is in."""

    database: Database
    connection: Connection
    state: State


class _Running(NamedTuple):
    """What is being made, of the state of a name or of a later one."""

    of: str
    made: asyncio.Future[Any]


class Source:
    """Reads a registry for those who ask.

    Args:
        path: Of the database.
        organiser: Whether what is hidden from others is shown.
        room: The bytes that what is kept may take.
    """

    def __init__(self, path: Path, *, organiser: bool, room: int) -> None:
        self.path, self.organiser = path.absolute(), organiser
        self._pool = ThreadPoolExecutor(_READERS, "reader")
        self._looking = ThreadPoolExecutor(1, "state")  # so that what takes long keeps nobody from what is there
        self._cache = Cache(room)
        self._running: dict[Hashable, _Running] = {}
        self._known: State | None = None
        self._logged = ""  # why the database could not be read the last time
        self.openings = 0  # of the database, since the start

    def close(self) -> None:
        """Begin nothing any more."""
        for threads in (self._pool, self._looking):
            threads.shutdown(wait=False, cancel_futures=True)

    async def state(self) -> State:
        """The state that the registry is in.

        Raises:
            UnavailableError: The database cannot be read.
        """
        for _ in range(_TRIES):
            if self._known is not None and self._known.holds(Stamp.of(self.path), now()):
                return self._known
            self._known = await self._once("state", lambda: _in_thread(
                self._looking, lambda: self._read(lambda opened: opened.state, None).value))
        return self._known  # type: ignore[return-value]  # as somebody writes all the time

    async def kept(self, key: Hashable, make: Callable[[], Awaitable[Found[T]]], size: Callable[[T], int]) -> Found[T]:
        """What was made of the registry as it is, or is made now, once however many ask.

        Args:
            key: What tells it from all else.
            make: Makes it; what it raises is not kept.
            size: The bytes that it takes.
        """
        state = await self.state()
        if (known := self._cache.get(state.name, key)) is not None:
            return known  # type: ignore[no-any-return]

        async def made() -> Found[T]:
            found = await make()
            if found.state.holds(Stamp.of(self.path), now()):
                self._cache.keep(found.state.name, key, found, size(found.value))
            return found

        return await self._once(key, made, state.name)

    async def read(self, work: Callable[[Opened], T], at: str | None = None) -> Found[T]:
        """Read something from the database, as it is or `at` a moment of the past.

        Raises:
            UnavailableError: The database cannot be read.
            RegistryError: What `work` raises, and of a moment that is none.
        """
        return await _in_thread(self._pool, lambda: self._read(work, at))

    async def draw(self, state: State, work: Callable[[], T]) -> Found[T]:
        """Make something of what was read."""
        return Found(state, await _in_thread(self._pool, work))

    def _read(self, work: Callable[[Opened], T], at: str | None) -> Found[T]:
        with self._opened(at) as opened:
            return Found(opened.state, work(opened))

    @contextmanager
    def _opened(self, at: str | None) -> Iterator[Opened]:
        """The database, whose errors in opening it are told to nobody who asks, as they name its path."""
        database = Database(self.path, organiser=self.organiser) if at is None else PastDatabase(
            self.path, at, lambda _: None, organiser=self.organiser)
        self.openings += 1
        before = Stamp.of(self.path)
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(database.reading())
            except RegistryError as error:
                if at is not None and getattr(error, "path", None) is None:  # it is the moment that is wrong
                    raise
                self._log(str(error))
                raise UnavailableError(str(error)) from None
            self._logged = ""
            stamp = Stamp.of(self.path)
            if before.file[:2] != stamp.file[:2]:  # another file took its place, before it was opened or after
                stamp = before
            yield Opened(database, connection, self._state_of(connection, stamp, past=at is not None))

    def _log(self, why: str) -> None:
        """Tell those who run the server why the database cannot be read, once for all who ask meanwhile."""
        if why != self._logged:
            _LOG.warning("%s", why)
        self._logged = why

    def _state_of(self, connection: Connection, stamp: Stamp, *, past: bool) -> State:
        """The state of an open database; who sees the past sees the log as it was, so the present is looked at."""
        known = self._known
        if known is not None and known.holds(stamp, now()):
            return known
        if past:
            with Database(self.path, organiser=self.organiser).reading() as present:
                return State.read(present, stamp, organiser=self.organiser)
        return State.read(connection, stamp, organiser=self.organiser)

    async def _once(self, key: Hashable, make: Callable[[], Awaitable[T]], of: str = "") -> T:
        """Make something, or wait for it where it is being made.

        What is being made of another state than `of` may be older than the question: the next one begins when it is
        done, once for all who wait for that.
        """
        if key in self._running and self._running[key].of != of:
            await asyncio.wait([self._running[key].made])
        if key not in self._running:
            if len(self._running) >= _AT_ONCE:
                raise UnavailableError("too much is asked at once")
            self._running[key] = _Running(of, asyncio.ensure_future(make()))
            self._running[key].made.add_done_callback(lambda done: self._done(key, done))
        return await asyncio.shield(self._running[key].made)

    def _done(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # who waited may have gone


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, work)


class Cache:
    """Values of one state of the registry, by their keys.

    Args:
        room: The bytes that they may take together; what is larger than half of that is not kept.
    """

    def __init__(self, room: int) -> None:
        self._room, self._taken, self._state = room, 0, ""
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, state: str, key: Hashable) -> Any:
        """The value that was kept of this state, or None."""
        if state != self._state or key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def keep(self, state: str, key: Hashable, value: Any, size: int) -> None:
        """Keep a value of so many bytes; those of another state are forgotten."""
        if state != self._state:
            self._kept.clear()
            self._taken, self._state = 0, state
        if 2 * size > self._room or key in self._kept:
            return
        self._kept[key] = value, size
        self._taken += size
        while self._taken > self._room:
            self._taken -= self._kept.popitem(last=False)[1][1]
