"""SQL of strangers: in processes of their own with limits, a few at a time.

A result is taken from the process as fast as that gives it, into memory or a file without a name, and sent when it is
complete. So a slow reader keeps no database open, and what exceeds a limit is an error and not half a result.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO

from registry.errors import LimitError, RegistryError
from registry.query.request import Query, QueryRequest
from registry.query.waiting_process import WaitingProcess
from registry.serve.snapshots import Snapshots
from registry.serve.source import BUSY, ProblemError, QueryLimits, Settings, Source

_IN_MEMORY, _CHUNK = 2**20, 2**16
_MORE = "the result has more than"
_IN_LINE = re.compile(r"^SQL:(\d+): ")
_RETRY = {"Retry-After": "5"}


@dataclass(frozen=True)
class Answer:
    """A whole result: the file that holds it, its size, the digest of its content, and what is to be told beside it."""

    file: IO[bytes]
    size: int
    digest: str
    told: tuple[str, ...]

    @property
    def is_in_memory(self) -> bool:
        """Whether it is so small that it never was on a disk."""
        return self.size <= _IN_MEMORY

    def pieces(self) -> Iterator[bytes]:
        """The bytes, some at a time; then the file is gone."""
        with self.file:
            self.file.seek(0)
            while piece := self.file.read(_CHUNK):
                yield piece


class _Running:
    """The process of one query, which any thread may end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: WaitingProcess | None = None
        self._is_ended = False

    def begin(self, process: WaitingProcess) -> None:
        """Set the process.

        Raises:
            LimitError: The query was ended before.
        """
        with self._lock:
            if self._is_ended:
                raise LimitError("the query was ended, as its client has disconnected")
            self._process = process

    def end(self) -> None:
        """End the process, now or as soon as it is set."""
        with self._lock:
            self._is_ended = True
            if self._process is not None:
                self._process.close()


class Queries:
    """Answers queries within limits.

    What answers the next ones has begun before they come, so that nobody waits for that.

    Args:
        source: Of snapshots, each query gets the newest one.
        limits: Of queries.
        begin: Begins what answers one.
    """

    def __init__(self, source: Source, limits: QueryLimits,
                 begin: Callable[[], WaitingProcess] = WaitingProcess) -> None:
        self._source, self.limits, self._begin = source, limits, begin
        self._threads = ThreadPoolExecutor(limits.at_once, "query")
        self._free = asyncio.Semaphore(limits.at_once)
        self._waiting = 0
        self._busy: set[WaitingProcess] = set()
        self._beginning = ThreadPoolExecutor(1, "begin")
        self._ready = deque(self._beginning.submit(begin) for _ in range(limits.at_once))

    def close(self) -> None:
        """End all that answers, or would."""
        for threads in (self._threads, self._beginning):
            threads.shutdown(wait=False, cancel_futures=True)
        begun = [one.result() for one in self._ready if one.done() and not one.cancelled() and not one.exception()]
        for process in (*self._busy, *begun):
            process.close()

    async def answer(self, query: Query, form: str, *, first: int | None = None, zipped: bool = False) -> Answer:
        """Answer a query.

        Args:
            query: One SELECT or EXPLAIN.
            form: Of `registry query`, but no table.
            first: Only so many of its rows, however many there are; None: it is an error if there are too many.
            zipped: Whether to compress the result.

        Raises:
            ProblemError: It is refused, goes beyond a limit, or there are too many queries now.
            CancelledError: The caller has cancelled it, as when the client disconnects; its process has ended.
        """
        if self._waiting >= self.limits.waiting:
            raise ProblemError(503, "too many queries are waiting; ask again later", headers=_RETRY)
        self._waiting += 1
        try:
            if self._free.locked():
                await asyncio.wait_for(self._free.acquire(), self.limits.patience)
            else:  # at once, without a turn of the loop, which takes long where many ask
                await self._free.acquire()
        except TimeoutError:
            raise ProblemError(503, "other queries take too long; ask again later", headers=_RETRY) from None
        finally:
            self._waiting -= 1
        running = _Running()
        with self._source.lease() as reading:
            request = QueryRequest(reading.snapshot.path, query, form, self.limits.memory, first or self.limits.rows,
                                   max_bytes=self.limits.size)
            answering = asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: self._answered(running, request, first, zipped=zipped))
            try:
                return await asyncio.shield(answering)
            except asyncio.CancelledError:
                running.end()
                await asyncio.wait([answering])  # its place is free when its thread has ended
                if answering.exception() is None:
                    answering.result().file.close()
                raise
            except RegistryError as error:
                raise _problem(error) from None
            finally:
                self._free.release()

    def _answered(self, running: _Running, request: QueryRequest, first: int | None, *, zipped: bool) -> Answer:
        with ExitStack() as failed:
            file = failed.enter_context(SpooledTemporaryFile(_IN_MEMORY))
            with closing(_Written(file, self.limits.size, zipped=zipped)) as written:
                try:
                    told = self._told(running, request, written)
                except RegistryError as error:
                    if first is None or not str(error).startswith(_MORE):
                        raise
                    told = [f"These are the first {first:,} rows; LIMIT and OFFSET ask for others."]
            failed.pop_all()  # who sends it closes it
        return Answer(file, file.tell(), written.digest.hexdigest(), tuple(told))

    def _told(self, running: _Running, request: QueryRequest, written: _Written) -> list[str]:
        """Have the result written; returns what is told of it."""
        if request.format != "parquet":
            return self._asked(running, request, written.write)
        with TemporaryDirectory() as folder:
            output = Path(folder) / "result.parquet"
            told = self._asked(running, replace(request, output=output), bytes)
            with output.open("rb") as result:
                shutil.copyfileobj(result, written)
        return told

    def _asked(self, running: _Running, request: QueryRequest,
               write_bytes: Callable[[bytes], object]) -> list[str]:
        ready = self._ready.popleft()
        self._ready.append(self._beginning.submit(self._begin))
        with closing(ready.result()) as process:
            self._busy.add(process)
            try:
                running.begin(process)
                return process.ask(request, self.limits.seconds, write_bytes)
            finally:
                self._busy.discard(process)


class _Written:
    """Takes a result's bytes, up to so many, compresses them if asked to, and digests them."""

    def __init__(self, file: IO[bytes], most: int, *, zipped: bool) -> None:
        self._left, self._most = most, most
        self._zip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=3, mtime=0) if zipped else None
        self._out: IO[bytes] = file if self._zip is None else self._zip  # type: ignore[assignment]
        self.digest = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        self._left -= len(piece)
        if self._left < 0:
            raise LimitError(f"the result has more than {self._most:,} bytes; LIMIT asks for fewer rows")
        self.digest.update(piece)
        return self._out.write(piece)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()


def _problem(error: RegistryError) -> ProblemError:
    """What is told of a query that failed; nothing of where the database is."""
    message = str(error)
    if error.exit_code == 3 and message.startswith("SQL:"):
        return ProblemError(400, _IN_LINE.sub(r"line \1: ", message).removeprefix("SQL: "), error.excerpt)
    if error.exit_code == 1:
        is_told = message.startswith((_MORE, "the query", "DuckDB"))
        return ProblemError(422, message if is_told else "the query cannot be answered within its limits")
    return ProblemError(503, BUSY, headers=_RETRY)


class Served:
    """The settings, the registry's newest snapshot, and the answers to SQL; without them if SQL is off.

    `begin` starts a process for a query.

    Raises:
        RegistryError: The first snapshot cannot be written.
    """

    def __init__(self, settings: Settings, begin: Callable[[], WaitingProcess] = WaitingProcess) -> None:
        self.settings = settings
        snapshots = Snapshots(settings.path, private=settings.private, sources=settings.shows_texts,
                              every=settings.every)
        try:
            self.source = Source(settings, snapshots)
        except BaseException:
            snapshots.close()
            raise
        self.queries = None if settings.queries is None else Queries(self.source, settings.queries, begin)

    def stop(self) -> None:
        """End the queries that run."""
        if self.queries is not None:
            self.queries.close()

    def close(self) -> None:
        """End everything, and remove all snapshots."""
        self.stop()
        self.source.close()
