"""Access of requests to snapshots.

A few threads read snapshots, and content is made once for all clients.

Before a new snapshot replaces the old snapshot, the server makes recently requested content from the new snapshot.
Requests are therefore not slow after a commit.
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

from registry.boards.load import ALL_PAIRS, explain_no_boards
from registry.boards.site import explain_missing_tasks
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
    """Limits of the SQL queries that clients send to the server.

    Attributes:
        seconds: Time limit of a query in seconds.
        rows: Largest number of rows of a result; a page shows fewer rows.
        memory: Largest memory of a query process in bytes.
        size: Largest size of a result in bytes.
        at_once: Number of queries that may run at the same time.
        waiting: Number of queries that may wait.
        patience: Seconds after which a waiting query fails.
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
    """Settings of the web server.

    Attributes:
        path: Path of the registry.
        private: Whether everything is shown, and not only public data.
        every: Smallest number of seconds between two snapshots of the registry.
        items: Number of items of each test set on a page.
        queries: Limits of SQL queries; None disables SQL, and items are then shown only on pages.
        room: Largest size of all cached content in bytes.
        hosts: Permitted host names, in addition to IP addresses and localhost.
        origins: Web sites whose scripts may read responses, such as `https://example.org`; `*` permits all sites.
        url: Public URL of the site with a slash at the end, for links in the feed. If it is empty, the links use the
            address in the request.
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
        """Value of the HTTP header Cache-Control for all content from the registry."""
        return "private, no-store" if self.private else "no-cache"

    @property
    def shows_texts(self) -> bool:
        """True if clients may read items with their texts, gold and answers."""
        return self.queries is not None or self.items > 0


BUSY = "the registry is busy or cannot be read now; try again in a moment"
FAILED = "something went wrong here; the log of the server has the details"


class ProblemError(Exception):
    """An error that is sent to the client as an HTTP response.

    Attributes:
        status: HTTP status.
        message: Description of the error, with advice.
        excerpt: Line of a query, with a caret below the error.
        headers: Additional headers of the response.
    """

    def __init__(self, status: int, message: str, excerpt: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.excerpt, self.headers = status, message, excerpt, headers or {}


def make_busy_error() -> ProblemError:
    """Make the error that the server is busy, so that the client tries again later."""
    return ProblemError(503, BUSY, headers={"Retry-After": "2"})


def translate_error(error: Exception) -> ProblemError | None:
    """Convert an exception into an error that can be sent to the client.

    The result is None if the exception is a bug of the server.
    """
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
            return make_busy_error()
    return None


_LOG = logging.getLogger(__name__)
_READER_THREADS = 4
_MAX_PENDING = 100  # values that may be in production or waiting at the same time
_POLL_SECONDS = 0.5  # time between two checks whether the registry has changed
_MAX_REMADE, _REMAKE_SECONDS = 100, 20.0  # limits for content that is made before a new snapshot is shown

T = TypeVar("T")


@dataclass(frozen=True)
class OpenSnapshot:
    """A database connection to a snapshot, which shows the present or a past state."""

    database: Database
    connection: Connection


class CachedSnapshot:
    """A snapshot (copy) of the registry, with a cache of the content made from it.

    Args:
        file: The file of the snapshot.
        settings: Settings of the server.
        threads: Threads for all work outside the event loop.
    """

    def __init__(self, file: Snapshot, settings: Settings, threads: ThreadPoolExecutor) -> None:
        self.file, self.settings, self._threads = file, settings, threads
        self._cache = Cache(settings.room)
        self._making: dict[Hashable, asyncio.Future[Any]] = {}
        self.requested: OrderedDict[Hashable, Callable[[CachedSnapshot], Awaitable[object]]] = OrderedDict()

    def remember(self, key: Hashable, make: Callable[[CachedSnapshot], Awaitable[object]]) -> None:
        """Record that a client has requested some content.

        After a change of the registry, this content is made again before other clients request it.

        Args:
            key: Key that identifies the content.
            make: Function that makes the content from a snapshot.
        """
        self.requested[key] = make
        self.requested.move_to_end(key)
        if len(self.requested) > _MAX_REMADE:
            self.requested.popitem(last=False)

    async def make_once(self, key: Hashable, make: Callable[[], Awaitable[T]], size: Callable[[T], int]) -> T:
        """Return a value from the cache, or make it once for all waiting requests.

        Args:
            key: Key that identifies the value among all values made from this snapshot.
            make: Function that makes the value. An error is not cached.
            size: Function that returns the size of the value in bytes.

        Raises:
            ProblemError: Too many values are being made.
        """
        if (value := self._cache.get(key)) is not None:
            return value  # type: ignore[no-any-return]
        if key not in self._making:
            if len(self._making) >= _MAX_PENDING:
                raise make_busy_error()
            self._making[key] = asyncio.ensure_future(self._make(key, make, size))
            # An exception that no request retrieves would be logged.
            self._making[key].add_done_callback(lambda future: future.cancelled() or future.exception())
        return await asyncio.shield(self._making[key])

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[T]], size: Callable[[T], int]) -> T:
        with self.file.lease():  # the lease remains if the client disconnects
            try:
                value = await make()
                self._cache.store(key, value, size(value))
                return value
            finally:
                del self._making[key]

    async def read(self, work: Callable[[OpenSnapshot], T], at: str | None = None) -> T:
        """Run a function that reads the snapshot, in a thread, and return its result.

        Args:
            work: Function that reads the open snapshot.
            at: Time in the past whose state is read; None means the present.

        Raises:
            ProblemError: The snapshot cannot be read.
            RegistryError: `at` is not a valid time, or `work` has raised this error.
        """
        return await self.run_in_thread(lambda: self._read(work, at))

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run a function outside the event loop, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _read(self, work: Callable[[OpenSnapshot], T], at: str | None) -> T:
        path = self.file.path
        database = Database(path) if at is None else PastDatabase(path, at, lambda _: None)
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(database.reading())
            except RegistryError as error:
                if at is not None and getattr(error, "path", None) is None:  # the moment is invalid
                    raise
                _LOG.warning("%s", error)  # the message contains the path, which clients must not see
                raise make_busy_error() from None
            return work(OpenSnapshot(database, connection))


class Source:
    """Provider of the newest snapshot (copy) of the registry, for all requests.

    Args:
        settings: Settings of the server.
        snapshots: Writer of snapshots; the constructor writes the first snapshot.

    Raises:
        RegistryError: The first snapshot cannot be written.
    """

    def __init__(self, settings: Settings, snapshots: Snapshots) -> None:
        self._settings, self._snapshots = settings, snapshots
        self._threads = ThreadPoolExecutor(_READER_THREADS, "reader")
        self._lease = ExitStack()
        self._show(CachedSnapshot(snapshots.write(), settings, self._threads))

    def _show(self, snapshot: CachedSnapshot) -> None:
        old, self._lease = self._lease, ExitStack()
        self._lease.enter_context(snapshot.file.lease())
        self._newest = snapshot
        old.close()

    @contextmanager
    def lease(self) -> Iterator[CachedSnapshot]:
        """Provide the newest snapshot in a `with` block, and keep its file until the end."""
        snapshot = self._newest
        with snapshot.file.lease():
            yield snapshot

    async def follow(self) -> None:
        """Replace the snapshot by a new one whenever the registry changes.

        This coroutine runs until it is cancelled. If a new snapshot cannot be written, the old snapshot remains.
        """
        logged = ""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            if self._snapshots.is_due():
                try:
                    await self.renew()
                    logged = ""
                except Exception as error:
                    if str(error) != logged:
                        _LOG.warning("changes of the registry are not shown until this error is fixed: %s", error)
                    logged = str(error)

    async def renew(self) -> None:
        """Write a new snapshot, from which later requests are answered.

        Recently requested content is made first, so that no client waits for it.

        Raises:
            RegistryError: The snapshot cannot be written.
        """
        snapshot = CachedSnapshot(await asyncio.to_thread(self._snapshots.write), self._settings, self._threads)
        with snapshot.file.lease():
            with suppress(TimeoutError):
                async with asyncio.timeout(_REMAKE_SECONDS):
                    for make in reversed(list(self._newest.requested.values())):
                        with suppress(Exception):  # the next client that requests the content gets the error
                            await make(snapshot)
            self._show(snapshot)

    def close(self) -> None:
        """Stop the threads, and remove all snapshots."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._snapshots.close()


class Cache:
    """A cache of limited size in bytes, which drops the least recently used values.

    Args:
        room: Largest size of all values in bytes. A value that is larger than half of this size is not stored.
    """

    def __init__(self, room: int) -> None:
        self._room, self._taken = room, 0
        self._stored: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """Return the value that is stored under a key; None if there is none."""
        if key not in self._stored:
            return None
        self._stored.move_to_end(key)
        return self._stored[key][0]

    def store(self, key: Hashable, value: Any, size: int) -> None:
        """Store a value of `size` bytes under a key, unless it is too large."""
        if 2 * size > self._room or key in self._stored:
            return
        self._stored[key] = value, size
        self._taken += size
        while self._taken > self._room:
            self._taken -= self._stored.popitem(last=False)[1][1]


_BYTES_PER_SYSTEM = 2000  # approximate size of a row of a board with its messages and details
_BYTES_PER_ANSWER = 500


@dataclass(frozen=True)
class VisibleBoards:
    """The leaderboards of a task, or the reason why they are hidden.

    Attributes:
        boards: Leaderboards of the task; None if they are hidden.
        hidden: Reason why the leaderboards are hidden; empty if they are visible.
        ladders: Public ladders of the task, if its leaderboards are hidden.
    """

    boards: TaskBoards | None
    hidden: str = ""
    ladders: tuple[Ladder, ...] = ()

    @property
    def public_boards(self) -> TaskBoards:
        """The leaderboards of the task.

        Raises:
            HiddenError: The leaderboards are hidden.
        """
        if self.boards is None:
            raise HiddenError(self.hidden)
        return self.boards

    @property
    def size(self) -> int:
        """Approximate size of this object in memory, in bytes."""
        if self.boards is None:
            return _BYTES_PER_SYSTEM
        size = 0
        for board in self.boards.boards:
            pairs = board.decisions
            size += pairs.a.nbytes + pairs.b.nbytes + sum(column.nbytes for column in pairs.columns.values())
            size += _BYTES_PER_SYSTEM * len(board.standings)
        return size + sum(_BYTES_PER_ANSWER * len(view.outputs) for view in self.boards.items or ())


async def load_task_boards(snapshot: CachedSnapshot, task: str, at: str | None) -> VisibleBoards:
    """Return the leaderboards of a task, with items if the settings allow it.

    Args:
        snapshot: The snapshot to read.
        task: Id of the task.
        at: Time in the past, such as `2026-11-22`; None means the present.

    Raises:
        UnknownNameError: No task has this id.
        MismatchError: The task has no comparison yet.
        InputError: `at` is not a valid time.
    """
    return await snapshot.make_once(("boards", task, at), lambda: _load_task_boards(snapshot, task, at),
                                   lambda boards: boards.size)


async def _load_task_boards(snapshot: CachedSnapshot, task: str, at: str | None) -> VisibleBoards:
    items = snapshot.settings.items
    boards, database = await snapshot.read(lambda opened: (_read_boards(opened, task, items), opened.database), at)
    if isinstance(boards, VisibleBoards):
        return boards
    return await snapshot.run_in_thread(lambda: VisibleBoards(_add_averages(boards, database).tasks[0]))


def _read_boards(opened: OpenSnapshot, task: str, items: int) -> VisibleBoards | Boards:
    connection, moment = opened.connection, opened.database.moment
    try:
        snapshot = load_snapshot(connection, task, items=items, pairs=ALL_PAIRS)
    except HiddenError as hidden:
        return VisibleBoards(None, str(hidden), tuple(load_ladders(connection, task)))
    if not snapshot.boards:
        raise MismatchError(f"{task}: {explain_no_boards(connection, task)}")
    try:
        studies = tuple(plan_studies(connection, Macro(), Choice(task)))
    except MismatchError:  # a new submission has no scores yet; the boards report this
        studies = ()
    snapshot = add_details(connection, snapshot, items, moment)
    return replace(snapshot if moment is None else snapshot.past(moment), asked=studies)


def _add_averages(boards: Boards, database: Database) -> Boards:
    """Add each system's average score over several test sets to the leaderboards.

    Averages that are not stored are computed.
    """
    try:
        archive = Archive(database, Journal("serve", {}), dry_run=True)
        return boards.with_averages(load_macro_boards(boards.asked, archive))
    except MismatchError:  # another new submission has no scores yet
        return boards


def list_public_tasks(opened: OpenSnapshot) -> tuple[list[str], list[str]]:
    """Return the tasks with public leaderboards.

    Returns:
        The ids of the tasks; and a sentence for each other task, which says why it has no public leaderboards.
    """
    missing = explain_missing_tasks(opened.connection)
    try:
        tasks = catalog.tasks(opened.connection)
    except (HiddenError, InputError):  # all tasks are hidden, or the registry has no tasks
        tasks = []
    return [row.slug for row in tasks if row.slug not in missing], list(missing.values())
