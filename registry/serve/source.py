"""Read snapshots for requests, in a few threads; each answer is made once, however many clients request it.

When a new snapshot is written, recently requested answers are made of it first; until then requests see the old one.
So a commit makes no request slow.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from registry.boards.load import ALL_PAIRS, NOT_COMPARED
from registry.boards.site import unshown
from registry.boards.snapshot import Snapshot as Boards
from registry.boards.snapshot import TaskBoards, add_details, load_snapshot
from registry.boards.submissions import Ladder, load_ladders
from registry.errors import HiddenError, InputError, LimitError, MismatchError, RegistryError, UnknownNameError
from registry.evaluation.past import PastDatabase
from registry.serve.snapshots import Snapshot, Snapshots
from registry.store import catalog
from registry.store.database import Database
from registry.store.log import Journal
from registry.studies.run import Archive, plan_studies
from registry.studies.study import Choice
from registry.studies.suites import Macro, load_macro_boards


@dataclass(frozen=True)
class QueryLimits:
    """What SQL of strangers may take.

    Attributes:
        seconds: After which a query is ended.
        rows: That a result has at most; a page shows fewer.
        memory: The bytes that the process of a query may take.
        size: The bytes that a result has at most.
        at_once: Queries that are answered at the same time.
        waiting: Queries that may wait for that.
        patience: The seconds that they wait.
    """

    seconds: float = 10
    rows: int = 100_000
    memory: int = 2**30
    size: int = 2**28
    at_once: int = 2
    waiting: int = 32
    patience: float = 20


@dataclass(frozen=True)
class Settings:
    """What is served.

    Attributes:
        path: Of the database.
        private: Whether everything is shown, else only what is public.
        every: The least seconds from one snapshot of the database to the next.
        items: How many items of each test set a page shows.
        queries: The limits of SQL; None: none is answered, and neither are items shown but as pages show them.
        room: The bytes that what is kept in memory may take.
        hosts: Names that this machine is called by, beside its addresses and localhost.
        origins: Whose pages' scripts may read what is served, `https://example.org`; `*`: everybody's.
        url: Where readers find the site, ending with a slash, for the links of the feed; else where they asked.
    """

    path: Path
    private: bool = False
    every: float = 10
    items: int = 0
    queries: QueryLimits | None = QueryLimits()
    room: int = 2**28
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    url: str = ""

    @property
    def caching(self) -> str:
        """The header Cache-Control of what is made of the registry."""
        return "private, no-store" if self.private else "no-cache"

    @property
    def shows_texts(self) -> bool:
        """Whether items may be read, with their texts, gold and answers."""
        return self.queries is not None or self.items > 0


BUSY = "the registry is busy or cannot be read now; ask again in a moment"
FAILED = "something went wrong here; the log of the server has the details"


class ProblemError(Exception):
    """An answer that is none.

    Attributes:
        status: Of HTTP.
        message: What is wrong, and what to do.
        excerpt: What is easier seen than told.
        headers: What else is answered.
    """

    def __init__(self, status: int, message: str, excerpt: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.excerpt, self.headers = status, message, excerpt, headers or {}


def busy() -> ProblemError:
    """Return the answer to a request that may succeed in a moment."""
    return ProblemError(503, BUSY, headers={"Retry-After": "2"})


def problem_of(error: Exception) -> ProblemError | None:
    """An error as HTTP tells it; None where it is nothing that a client could understand."""
    match error:
        case ProblemError():
            return error
        case HiddenError():
            return ProblemError(403, str(error))
        case UnknownNameError() | MismatchError():
            return ProblemError(404, str(error), error.excerpt)
        case InputError():
            return ProblemError(400, str(error), error.excerpt)
        case LimitError():
            return ProblemError(422, str(error))
        case RegistryError():
            return busy()
    return None


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


_OF_A_SYSTEM = 2000  # bytes of a standing with its remarks, and of what is computed of it
_OF_AN_ITEM = 500  # bytes of one answer to it


@dataclass(frozen=True)
class Shown:
    """A task's boards, or why none are shown: `hidden` until when, and the `ladders` that are shown meanwhile."""

    boards: TaskBoards | None
    hidden: str = ""
    ladders: tuple[Ladder, ...] = ()

    @property
    def open(self) -> TaskBoards:
        """The boards.

        Raises:
            HiddenError: They are hidden.
        """
        if self.boards is None:
            raise HiddenError(self.hidden)
        return self.boards

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        if self.boards is None:
            return _OF_A_SYSTEM
        found = 0
        for board in self.boards.boards:
            pairs = board.decisions
            found += pairs.a.nbytes + pairs.b.nbytes + sum(column.nbytes for column in pairs.columns.values())
            found += _OF_A_SYSTEM * len(board.standings)
        return found + sum(_OF_AN_ITEM * len(view.outputs) for view in self.boards.items or ())


async def task_boards(reading: Reading, task: str, at: str | None) -> Shown:
    """Return the boards of a task, with as many items of each test set as the settings say.

    Raises:
        UnknownNameError: There is no such task.
        MismatchError: There is nothing to show yet.
        InputError: The moment is none.
    """
    return await reading.make_once(("boards", task, at), lambda: _task_boards(reading, task, at),
                                   lambda shown: shown.size)


async def _task_boards(reading: Reading, task: str, at: str | None) -> Shown:
    items = reading.settings.items
    boards, database = await reading.read(lambda opened: (_read_boards(opened, task, items), opened.database), at)
    if isinstance(boards, Shown):
        return boards
    return await reading.draw(lambda: Shown(_averaged(boards, database).tasks[0]))


def _read_boards(opened: Opened, task: str, items: int) -> Shown | Boards:
    connection, moment = opened.connection, opened.database.moment
    try:
        found = load_snapshot(connection, task, items=items, pairs=ALL_PAIRS)
    except HiddenError as hidden:
        return Shown(None, str(hidden), tuple(load_ladders(connection, task)))
    if not found.boards:
        raise MismatchError(f"{task}: {NOT_COMPARED}")
    try:
        asked = tuple(plan_studies(connection, Macro(), Choice(task)))
    except MismatchError:  # what was just submitted has no scores yet; the boards are there all the same, and say so
        asked = ()
    found = add_details(connection, found, items, moment)
    return replace(found if moment is None else found.past(moment), asked=asked)


def _averaged(found: Boards, database: Database) -> Boards:
    """The same with averages over test sets: those that are not kept are made for as long as they are shown."""
    try:
        archive = Archive(database, Journal("serve", {}), dry_run=True)
        return found.with_averages(load_macro_boards(found.asked, archive))
    except MismatchError:  # as above, of what was written since
        return found


def open_tasks(opened: Opened) -> tuple[list[str], list[str]]:
    """The tasks whose leaderboards are shown, and why others are not."""
    missing = unshown(opened.connection)
    try:
        tasks = catalog.tasks(opened.connection)
    except (HiddenError, InputError):  # all are hidden, or there is none
        tasks = []
    return [row.slug for row in tasks if row.slug not in missing], list(missing.values())
