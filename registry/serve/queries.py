"""SQL queries of clients: each query runs in a separate process with limits.

Only a few queries run at the same time. A result is written to memory or to an unnamed file, and is sent when it is
complete. A slow client therefore does not keep a database open, and a client never gets an incomplete result: a result
above a limit is an error.
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

_MAX_IN_MEMORY, _CHUNK = 2**20, 2**16  # bytes
_TOO_LONG = "the result has more than"
_LINE = re.compile(r"^SQL:(\d+): ")
_RETRY_LATER = {"Retry-After": "5"}


@dataclass(frozen=True)
class Answer:
    """The complete result of an SQL query, in a temporary file.

    Attributes:
        file: File with the result.
        size: Size in bytes.
        digest: Digest of the result.
        notes: Notes for the user.
    """

    file: IO[bytes]
    size: int
    digest: str
    notes: tuple[str, ...]

    @property
    def is_in_memory(self) -> bool:
        """True if the result is small enough to be kept in memory instead of on the disk."""
        return self.size <= _MAX_IN_MEMORY

    def read_pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the result in pieces, then close the file."""
        with self.file:
            self.file.seek(0)
            while piece := self.file.read(_CHUNK):
                yield piece


class _RunningQuery:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: WaitingProcess | None = None
        self._has_ended = False

    def start(self, process: WaitingProcess) -> None:
        """Record the process that runs the query.

        Raises:
            LimitError: The query was ended before it had a process.
        """
        with self._lock:
            if self._has_ended:
                raise LimitError("the query was ended because its client disconnected")
            self._process = process

    def end(self) -> None:
        """End the process of the query, or prevent its start."""
        with self._lock:
            self._has_ended = True
            if self._process is not None:
                self._process.close()


class Queries:
    """The service that runs SQL queries of clients, within limits of time and number.

    Processes for the next queries are started in advance.

    Args:
        source: Provides the newest snapshot of the registry, which each query reads.
        limits: Limits of queries.
        start: Function that starts a process for a query.
    """

    def __init__(self, source: Source, limits: QueryLimits,
                 start: Callable[[], WaitingProcess] = WaitingProcess) -> None:
        self._source, self.limits, self._start = source, limits, start
        self._threads = ThreadPoolExecutor(limits.at_once, "query")
        self._free = asyncio.Semaphore(limits.at_once)
        self._waiting = 0
        self._busy: set[WaitingProcess] = set()
        self._starting = ThreadPoolExecutor(1, "start")
        self._ready = deque(self._starting.submit(start) for _ in range(limits.at_once))

    def close(self) -> None:
        """End all processes, running or waiting."""
        for threads in (self._threads, self._starting):
            threads.shutdown(wait=False, cancel_futures=True)
        waiting = [future.result() for future in self._ready
                   if future.done() and not future.cancelled() and not future.exception()]
        for process in (*self._busy, *waiting):
            process.close()

    async def answer(self, query: Query, form: str, *, first: int | None = None, zipped: bool = False) -> Answer:
        """Run an SQL query in another process, and return its result.

        Args:
            query: One SELECT or EXPLAIN.
            form: Format of the result: a format of `registry query` except `table`.
            first: Number of rows to return if the result has more rows. None means that too many rows are an error.
            zipped: Whether to compress the result.

        Raises:
            ProblemError: The query is not permitted or exceeds a limit, or too many queries are waiting.
            CancelledError: The caller cancelled the query, for example because the client disconnected.
        """
        if self._waiting >= self.limits.waiting:
            raise ProblemError(503, "too many queries are waiting; try again later", headers=_RETRY_LATER)
        self._waiting += 1
        try:
            if self._free.locked():
                await asyncio.wait_for(self._free.acquire(), self.limits.patience)
            else:  # not `wait_for`, which needs a turn of the event loop and is slow under load
                await self._free.acquire()
        except TimeoutError:
            raise ProblemError(503, "other queries take too long; try again later", headers=_RETRY_LATER) from None
        finally:
            self._waiting -= 1
        running = _RunningQuery()
        with self._source.lease() as snapshot:
            request = QueryRequest(snapshot.file.path, query, form, self.limits.memory, first or self.limits.rows,
                                   max_bytes=self.limits.size)
            answering = asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: self._run(running, request, first, zipped=zipped))
            try:
                return await asyncio.shield(answering)
            except asyncio.CancelledError:
                running.end()
                await asyncio.wait([answering])  # until then, the thread still uses the slot of the query
                if answering.exception() is None:
                    answering.result().file.close()
                raise
            except RegistryError as error:
                raise _make_problem(error) from None
            finally:
                self._free.release()

    def _run(self, running: _RunningQuery, request: QueryRequest, first: int | None, *, zipped: bool) -> Answer:
        with ExitStack() as failed:
            file = failed.enter_context(SpooledTemporaryFile(_MAX_IN_MEMORY))
            with closing(_ResultWriter(file, self.limits.size, zipped=zipped)) as writer:
                try:
                    notes = self._write(running, request, writer)
                except RegistryError as error:
                    if first is None or not str(error).startswith(_TOO_LONG):
                        raise
                    notes = [f"These are the first {first:,} rows; use LIMIT and OFFSET for others."]
            failed.pop_all()  # the file stays open until the answer is sent
        return Answer(file, file.tell(), writer.digest.hexdigest(), tuple(notes))

    def _write(self, running: _RunningQuery, request: QueryRequest, writer: _ResultWriter) -> list[str]:
        """Run a query, and write its result into a file.

        Args:
            running: The query, which other threads may end.
            request: The query with its format and limits.
            writer: File for the result.

        Returns:
            Notes for the user.
        """
        if request.format != "parquet":
            return self._ask(running, request, writer.write)
        with TemporaryDirectory() as folder:
            output = Path(folder) / "result.parquet"
            notes = self._ask(running, replace(request, output=output), bytes)
            with output.open("rb") as result:
                shutil.copyfileobj(result, writer)
        return notes

    def _ask(self, running: _RunningQuery, request: QueryRequest,
             write_bytes: Callable[[bytes], object]) -> list[str]:
        ready = self._ready.popleft()
        self._ready.append(self._starting.submit(self._start))
        with closing(ready.result()) as process:
            self._busy.add(process)
            try:
                running.start(process)
                return process.ask(request, self.limits.seconds, write_bytes)
            finally:
                self._busy.discard(process)


class _ResultWriter:
    """File for the result of a query; it limits the size and computes the digest.

    If requested, the content is compressed.
    """

    def __init__(self, file: IO[bytes], max_bytes: int, *, zipped: bool) -> None:
        self._left, self._max_bytes = max_bytes, max_bytes
        self._zip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=3, mtime=0) if zipped else None
        self._out: IO[bytes] = file if self._zip is None else self._zip  # type: ignore[assignment]
        self.digest = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        self._left -= len(piece)
        if self._left < 0:
            raise LimitError(f"the result has more than {self._max_bytes:,} bytes; add LIMIT to the query")
        self.digest.update(piece)
        return self._out.write(piece)

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()


def _make_problem(error: RegistryError) -> ProblemError:
    """Convert an error of a query into an error for the client, without file paths."""
    message = str(error)
    if error.exit_code == 3 and message.startswith("SQL:"):
        return ProblemError(400, _LINE.sub(r"line \1: ", message).removeprefix("SQL: "), error.excerpt)
    if error.exit_code == 1:
        is_harmless = message.startswith((_TOO_LONG, "the query", "DuckDB"))
        return ProblemError(422, message if is_harmless else "the query cannot be answered within its limits")
    return ProblemError(503, BUSY, headers=_RETRY_LATER)


class Served:
    """The running service: its settings, its snapshots of the registry, its queries.

    The attribute `queries` is None if the settings disable SQL.

    Args:
        settings: Settings of the server.
        start: Function that starts a process for a query.

    Raises:
        RegistryError: The first snapshot cannot be written.
    """

    def __init__(self, settings: Settings, start: Callable[[], WaitingProcess] = WaitingProcess) -> None:
        self.settings = settings
        snapshots = Snapshots(settings.path, private=settings.private, sources=settings.shows_texts,
                              every=settings.every)
        try:
            self.source = Source(settings, snapshots)
        except BaseException:
            snapshots.close()
            raise
        self.queries = None if settings.queries is None else Queries(self.source, settings.queries, start)

    def stop(self) -> None:
        """End all running queries."""
        if self.queries is not None:
            self.queries.close()

    def close(self) -> None:
        """End all running queries, and remove all snapshots."""
        self.stop()
        self.source.close()
