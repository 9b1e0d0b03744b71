"""Query processes for a server that start before their query arrives.

A new Python process for a query takes more than half a second of processor time. The fork of a process that has already
imported all modules takes a few milliseconds, and it starts before the query arrives. The forked process has no open
files and runs only one query, so all limits of `registry.query.process` hold. On Windows, each process is a new
interpreter.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from registry.parallel.processes import CONTEXT, end_with_parent, preload, shared_folder
from registry.platforms import leave_terminal
from registry.query.process import CHUNK, answer, copy_output, read_report
from registry.query.request import QueryRequest

# The start of a process polls all other processes, and only one thread may read the status of an ended process.
_children = threading.RLock()


def prepare() -> None:
    """Prepare for the fast start of processes that run queries.

    The fork server, from which they are forked, is started. Call this in the main thread.
    """
    preload(["registry.query.waiting_process", "registry.query.warm"])


class WaitingProcess:
    """A process that is started in advance, waits for one query, runs it, and ends."""

    def __init__(self) -> None:
        self._is_closed = False
        self._start()

    def _start(self) -> None:
        self._rows, rows = Pipe(duplex=False)
        self._control, control = Pipe()  # the request goes to the process, the report comes back
        begin: Any = CONTEXT
        self._process = begin.Process(target=_answer, args=(control, rows, str(shared_folder())), daemon=True)
        with _children:
            self._process.start()
        control.close()
        rows.close()

    def ask(self, request: QueryRequest, timeout: float | None, write_bytes: Callable[[bytes], object]) -> list[str]:
        """Run a query in the process, and pass its output on in pieces.

        Args:
            request: The query with its format and limits.
            timeout: Time limit in seconds, without the time of `write_bytes`; None means no limit.
            write_bytes: Function that is called with each piece of the result, as UTF-8.

        Returns:
            Notes for the user.

        Raises:
            RegistryError: The query failed.
            LimitError: The query took longer than `timeout` seconds.
        """
        with _children:
            has_ended = self._process.exitcode is not None
        if has_ended and not self._is_closed:  # the operating system ended the process while it waited
            self._start()
        report = b""
        try:
            with suppress(OSError):  # the process has already ended
                self._control.send(request)
            copy_output(self._receive, write_bytes, timeout)
            with suppress(EOFError, OSError):
                report = self._control.recv_bytes()
            self._join()
        finally:
            self.close()
        return read_report(self._process.exitcode, report)

    def _receive(self, seconds: float) -> bytes:
        if not self._rows.poll(seconds):
            raise TimeoutError
        try:
            return self._rows.recv_bytes(CHUNK)
        except (EOFError, OSError):
            return b""

    def close(self) -> None:
        """Kill the process, and wait until it has ended."""
        self._is_closed = True
        self._process.kill()
        self._join()

    def _join(self) -> None:
        wait([self._process.sentinel])
        with _children:
            self._process.join()


class _Rows(io.RawIOBase):
    """File object that sends what is written to the parent process, in pieces."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = memoryview(data)[:CHUNK]
        self._connection.send_bytes(piece)
        return len(piece)


def _answer(control: Connection, rows: Connection, folder: str) -> None:
    """Wait for a query and run it: the main function of a `WaitingProcess`.

    Args:
        control: Connection that receives the query and sends the report.
        rows: Connection that sends the rows.
        folder: Temporary folder of the parent process, which this process removes if the parent dies.
    """
    leave_terminal()  # the parent handles interrupts
    end_with_parent(folder)
    try:
        request = control.recv()
    except EOFError:  # no query will come
        return
    with closing(rows):
        output = io.TextIOWrapper(io.BufferedWriter(_Rows(rows), CHUNK), "utf-8", "backslashreplace", newline="\n")
        status, report = answer(request, output)
    control.send_bytes(report.encode())
    sys.exit(status)
