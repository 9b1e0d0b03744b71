"""A query in its own process, so that its limits hold.

DuckDB checks for an interrupt only between vectors of rows, and one row can hold a list that takes hours or all memory.
So this process ends the other one at the time limit and on an interrupt, and the other one ends when this one dies. The
operating system, if it can, refuses it more memory and any file once the database is open. It only reads, so it can be
ended at any time. Only the other process imports heavy modules.
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen
from typing import TextIO

from registry.errors import LimitError, RegistryError
from registry.platforms import describe_crash, limit_process
from registry.query.request import QueryRequest

CHUNK = 1 << 16  # bytes
_COMMAND = "from registry.query.process import answer_parent; answer_parent()"
_LONGEST_WAIT = 3600.0  # seconds; system calls accept no much longer waits
_DUCKDB_SHARE = 0.8  # of the memory; the rest is for Python and for what DuckDB does not count


def ask(request: QueryRequest, timeout: float | None, write_bytes: Callable[[bytes], object]) -> list[str]:
    """Answer a query in a new process; `write_bytes` receives the UTF-8 of the result as it comes.

    Returns:
        Notes, such as on rows that are missing because their texts are not in the registry.

    Raises:
        RegistryError: The query fails; has its exit status and excerpt.
        LimitError: It took longer than `timeout` seconds; the time of `write_bytes` does not count.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # it finds the same modules
                   "PYTHONUNBUFFERED": ""}  # unbuffered Python drops output that the system accepts only in part
    command = [sys.executable, "-P", "-c", _COMMAND]
    reading: Future[bytes] | None = None

    def receive(seconds: float) -> bytes:
        nonlocal reading
        reading = reading or threads.submit(output.read1, CHUNK)
        chunk = reading.result(seconds)
        reading = None
        return chunk

    with ThreadPoolExecutor(2) as threads, Popen(  # noqa: S603
            command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True) as child:
        assert child.stdin is not None  # it stays open: its end means that this process died
        assert child.stderr is not None
        assert isinstance(child.stdout, io.BufferedReader)
        output = child.stdout
        try:
            report = threads.submit(child.stderr.read)
            with suppress(OSError):  # the process has already ended; its report says why
                child.stdin.write(pickle.dumps(request))
                child.stdin.flush()
            copy_output(receive, write_bytes, timeout)
            child.wait()
        finally:
            child.kill()
            threads.shutdown()  # before the pipes that they read are closed
    return read_report(child.returncode, report.result())


def copy_output(receive: Callable[[float], bytes], write_bytes: Callable[[bytes], object],
                timeout: float | None) -> None:
    """Write the output of a process until it ends.

    Args:
        receive: Returns the next bytes, or none at the end. Raises TimeoutError if none come in so many seconds.
        write_bytes: Receives them.
        timeout: Seconds to wait for output.

    Raises:
        LimitError: The process took longer.
    """
    remaining = math.inf if timeout is None else timeout
    while True:
        start = time.monotonic()
        try:
            chunk = receive(min(remaining, _LONGEST_WAIT))
        except TimeoutError:
            chunk = None
        remaining -= time.monotonic() - start
        if remaining <= 0:
            raise LimitError(f"the query was ended after {timeout:g} s; --timeout allows more")
        if chunk is not None:
            if not chunk:
                return
            write_bytes(chunk)


def read_report(status: int, report: bytes) -> list[str]:
    """Return the notes in the report of a process that has ended.

    Args:
        status: Its exit status.
        report: JSON in the last line; see `answer`.

    Raises:
        RegistryError: The process reports an error, or crashed.
    """
    if crash := describe_crash(status):
        if crash in ("SIGKILL", "SIGABRT"):
            raise LimitError("the system ended the query's process, most likely for lack of memory; --max-memory sets "
                             "how much it may take")
        raise RegistryError(f"DuckDB crashed on this query ({crash})")
    text = report.decode(errors="replace")
    try:
        content = json.loads(text.rpartition("\n")[2])
    except ValueError:
        raise RuntimeError(f"the query's process failed:\n{text}") from None
    if status == 0:
        return content  # type: ignore[no-any-return]
    error = RegistryError(content["message"])
    error.exit_code, error.excerpt = status, content["excerpt"]
    raise error


def answer_parent() -> None:
    """Answer the query on stdin with rows on stdout and a report on stderr: all work of a process of `ask`."""
    request: QueryRequest = pickle.load(sys.stdin.buffer)  # noqa: S301  (from the process that started this one)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # type: ignore[union-attr]
    status, report = answer(request, sys.stdout)
    sys.stderr.write(f"\n{report}")
    sys.exit(status)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), CHUNK):  # the parent writes nothing more
        pass
    os._exit(1)


def answer(request: QueryRequest, output: TextIO) -> tuple[int, str]:
    """Write the rows of a query, with limits on this whole process.

    Returns:
        The exit status, and a report as JSON: notes, or message and excerpt of the error.
    """
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # or DuckDB imports it, for half a second
    try:
        from registry.query.sql import write_result
        from registry.store.database import Database
        from registry.store.embargoes import find_left_out, note_hidden

        try:
            memory = int(request.memory * _DUCKDB_SHARE)
            with Database(request.path).querying(memory=memory, output=request.output) as connection:
                limit_process(request.memory, 0 if request.output is None else request.max_bytes)
                notes = [*find_left_out(connection).sentences, *note_hidden(connection),
                         *write_result(connection, request, output)]
                output.flush()
        except MemoryError:
            raise LimitError("the query needs more memory than it may take; --max-memory allows more") from None
    except RegistryError as error:
        output.flush()
        return error.exit_code, json.dumps({"message": str(error), "excerpt": error.excerpt})
    return 0, json.dumps(notes)
