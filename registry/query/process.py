"""Execution of a query in a separate process (query process) with limits.

DuckDB can interrupt a query only between batches of rows, and a single row may take hours or all memory. The parent
process therefore kills the query process at the time limit or after an interrupt. The query process ends itself if the
parent process dies. If the operating system permits, the memory of the query process is limited, and the query process
cannot write files after the database is open. The query process only reads, so it can be killed at any time. Only the
query process imports modules whose import is slow.
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
_LONGEST_WAIT = 3600.0  # seconds; system calls do not accept much longer times
_DUCKDB_SHARE = 0.8  # of the memory; the rest is for Python, and for memory that DuckDB does not count


def ask(request: QueryRequest, timeout: float | None, write_bytes: Callable[[bytes], object]) -> list[str]:
    """Run a query in a new process, and pass its output on in pieces.

    Args:
        request: The query with its format and limits.
        timeout: Time limit in seconds, without the time of `write_bytes`; None means no limit.
        write_bytes: Function that is called with each piece of the result, as UTF-8.

    Returns:
        Notes for the user, for example about rows that are missing because their texts are not in the registry.

    Raises:
        RegistryError: The query failed. The error has the exit status and the excerpt of the query process.
        LimitError: The query took longer than `timeout` seconds.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # to find the same modules
                   "PYTHONUNBUFFERED": ""}  # without a buffer, Python may lose a part of the output
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
        assert child.stdin is not None  # the pipe stays open: its end means that this process died
        assert child.stderr is not None
        assert isinstance(child.stdout, io.BufferedReader)
        output = child.stdout
        try:
            report = threads.submit(child.stderr.read)
            with suppress(OSError):  # the process has already ended; its report contains the reason
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
    """Copy the output of a process until the process ends.

    Args:
        receive: Function that returns the next bytes, or no bytes at the end. Its argument is the number of seconds to
            wait; after this time it raises a TimeoutError.
        write_bytes: Function that is called with each piece of the output.
        timeout: Total number of seconds to wait for output; None means no limit.

    Raises:
        LimitError: The process took longer than `timeout` seconds.
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
            raise LimitError(f"the query was stopped after {timeout:g} s; increase --timeout")
        if chunk is not None:
            if not chunk:
                return
            write_bytes(chunk)


def read_report(status: int, report: bytes) -> list[str]:
    """Read the report of a query process that has ended.

    Args:
        status: Exit status of the process.
        report: Text that the process has written. Its last line is JSON, with notes or an error.

    Returns:
        Notes for the user.

    Raises:
        RegistryError: The process has reported an error, or has crashed.
    """
    if crash := describe_crash(status):
        if crash in ("SIGKILL", "SIGABRT"):
            raise LimitError("the system ended the query's process, most likely for lack of memory; --max-memory sets "
                             "the limit of its memory")
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
    """Run the query that the parent process sends to stdin, then end this process.

    This function is the main function of the process that `ask` starts. It writes rows to stdout and a report to
    stderr.
    """
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
    """Run a query in this process, and write its rows.

    The limits of the request are set for the whole process and remain.

    Args:
        request: The query with its format and limits.
        output: File for the rows.

    Returns:
        The exit status, and a report as JSON: the notes, or the message and the excerpt of the error.
    """
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # otherwise DuckDB imports pandas, which takes half a second
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
            raise LimitError("the query needs more memory than its limit; increase --max-memory") from None
    except RegistryError as error:
        output.flush()
        return error.exit_code, json.dumps({"message": str(error), "excerpt": error.excerpt})
    return 0, json.dumps(notes)
