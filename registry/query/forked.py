"""Queries one after the other: each in a process of its own, that is forked of one which has imported all they need.

To start Python for a query takes more than half a second of a processor's time, and a fork some milliseconds, which can
pass before the question comes. What is forked has opened nothing and answers one question, so all limits of `process`
hold. Where there are no forks, as on
Windows, processes are started.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from registry.parallel.processes import CONTEXT, start_server
from registry.query.process import answer, copy, told_by
from registry.query.question import QueryRequest

_IMPORTED = ["registry.query.forked", "registry.query.warm"]

# Whoever begins a process asks all others whether they have ended, which each tells one thread alone.
_children = threading.RLock()


def prepare() -> None:
    """Start the process that others are forked of, in the main thread; it ends with this one."""
    if CONTEXT.get_start_method() == "forkserver":
        start_server(_IMPORTED)


class ForkedProcess:
    """A process that answers one question; it begins at once, and waits for that."""

    def __init__(self) -> None:
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._out, out = Pipe(duplex=False)
        self._told, told = Pipe(duplex=False)
        asked, self._asked = Pipe(duplex=False)
        begin: Any = CONTEXT
        self._process = begin.Process(target=_answer, args=(asked, out, told), daemon=True)
        with _children:
            self._process.start()
        for end in (asked, out, told):
            end.close()

    def ask(self, question: QueryRequest, timeout: float | None, write_bytes: Callable[[bytes], object]) -> list[str]:
        """Ask; see `registry.query.process.ask`."""
        with _children:
            has_ended = self._process.exitcode is not None
        if has_ended and not self._is_closed:  # by the system, while it waited
            self._begin()
        told = bytearray()
        try:
            with suppress(BrokenPipeError):  # it has ended already
                self._asked.send(question)
            copy({self._out.fileno(): write_bytes, self._told.fileno(): told.extend}, timeout)
            self._end()
        finally:
            self.close()
        return told_by(self._process.exitcode, told.decode())

    def close(self) -> None:
        """End the process, whatever it does."""
        self._is_closed = True
        self._process.kill()
        self._end()

    def _end(self) -> None:
        """Wait until the process has ended."""
        wait([self._process.sentinel])
        with _children:
            self._process.join()


def _answer(asked: Connection, out: Connection, told: Connection) -> None:
    """Answer the question that comes, in the forked process; its output goes to who asks and to nobody else."""
    if hasattr(os, "setsid"):  # an interrupt of the terminal is for who asks
        os.setsid()
    os.dup2(out.fileno(), 1)
    os.dup2(told.fileno(), 2)
    out.close()
    told.close()
    sys.stdout, sys.stderr = os.fdopen(1, "w", encoding="utf-8"), os.fdopen(2, "w", encoding="utf-8")
    with suppress(EOFError):  # nobody will ask any more
        answer(asked.recv(), asked.fileno())
