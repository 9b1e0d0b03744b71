"""Whose turn it is to write: first come, first served, and nobody is kept from reading.

Beside `r.duckdb` every process that is going to write has a ticket, `.r.duckdb.turn.NUMBER`, and holds the system's
lock on it. The lowest ticket has the turn, and whoever comes next waits for the lock of the one before. Tickets of
processes that were ended are under no lock: they are passed over and removed. Numbers are given out under the lock of
`.r.duckdb.queue`.

A turn may be long, since a command computes in it; DuckDB's own lock on the file is held by a commit alone.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from registry.errors import LockedError, StoreError
from registry.store.turns.locks import beside, free, has_locks, taken, wait_until_free

_UNTOLD = 1.0  # seconds of waiting that nobody is told of
_POLL = 0.05  # seconds between two looks at what the system wakes nobody for


@dataclass(frozen=True)
class Patience:
    """How long a command waits for its turn to write, and who is told whom it waits for."""

    seconds: float = 60.0
    tell: Callable[[str], None] | None = None


PATIENCE = Patience()


class Holder(NamedTuple):
    """The process of a ticket, its command, and since when it has had the turn or waited for it."""

    pid: int | None = None
    command: str = ""
    since: str = ""

    @classmethod
    def of(cls, ticket: Path | None) -> Holder:
        """What stands on a ticket."""
        with suppress(OSError, ValueError, TypeError):
            return cls(*json.loads("" if ticket is None else ticket.read_text("utf-8")))
        return cls()

    def __str__(self) -> str:
        """The command and its time."""
        return f"registry {self.command} since {self.since}" if self.command else ""


class Turn:
    """The right to write to the database at `path`, waited for on entering and given up on leaving.

    Args:
        path: Of the database, which need not be there.
        command: Who writes, for those who wait.
        patience: How long to wait.

    Raises:
        LockedError: It was not this process's turn in time.
        StoreError: The folder cannot be written to, or its file system has no locks.
    """

    def __init__(self, path: Path, command: str, patience: Patience) -> None:
        self._named, self._path = path, path.resolve()
        self._command, self._patience, self._queue = command, patience, beside(self._path, "queue")
        self._began = 0.0
        self._held: tuple[int, Path] | None = None  # the open ticket

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        try:
            number = self._draw()
            if self._held is None:
                raise LockedError(self._named, None)
            try:
                self._wait(number)
                self._sign()
            except BaseException:
                self.__exit__()
                raise
        except OSError as error:
            raise StoreError(self._named, f"writers cannot take turns in this folder: {error.strerror}; copy the file "
                                          "to where you may write, on a file system that has locks, and name the "
                                          "copy with --db") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is None:
            return
        free(*self._held)
        self._held = None
        if has_locks() and (queue := taken(self._queue)) is not None:
            if self._tickets():
                os.close(queue)
            else:
                free(queue, self._queue)

    def lasting(self, seconds: float) -> Turn:
        """The same, waited for as long as that if it is longer: what took long to compute is not given up soon."""
        return Turn(self._named, self._command, replace(self._patience, seconds=max(self._patience.seconds, seconds)))

    @property
    def _left(self) -> float:
        """The seconds that are left to wait."""
        return self._began + self._patience.seconds - time.monotonic()

    def _tickets(self) -> list[tuple[int, Path]]:
        """All tickets that are there, the lowest first."""
        before = beside(self._path, "turn.").name
        with os.scandir(self._path.parent) as files:
            numbers = [file.name.removeprefix(before) for file in files if file.name.startswith(before)]
        return [(number, beside(self._path, f"turn.{number}")) for number in sorted(
            int(number) for number in numbers if number.isdecimal())]

    def _draw(self) -> int:
        """Take a ticket, and give its number; without locks there is one ticket, which is waited for here."""
        while True:
            if has_locks():
                if (queue := taken(self._queue)) is not None:  # numbers are given out under its lock
                    try:
                        number = max((known for known, _ in self._tickets()), default=0) + 1
                        self._take(number)
                        return number
                    finally:
                        os.close(queue)
            else:
                self._take(1)
                if self._held is not None:
                    return 1
            if self._left <= 0:
                return 0
            if has_locks():
                wait_until_free(self._queue, _POLL)
            else:
                time.sleep(_POLL)

    def _take(self, number: int) -> None:
        ticket = beside(self._path, f"turn.{number}")
        if (file := taken(ticket)) is not None:
            self._held = file, ticket
            self._sign()

    def _sign(self) -> None:
        """Write on the ticket whose it is."""
        assert self._held is not None
        signed = json.dumps(Holder(os.getpid(), self._command, f"{datetime.now(UTC):%H:%M:%S} UTC"))
        with suppress(OSError):  # on a full disk it goes without a name
            os.pwrite(self._held[0], signed.encode().ljust(200), 0)

    def _wait(self, number: int) -> None:
        """Wait until no lower ticket is left."""
        told = False
        while before := self._before(number):
            if self._left <= 0:
                holder = Holder.of(before[0])
                raise LockedError(self._named, holder.pid, str(holder))
            if not told and self._left <= self._patience.seconds - _UNTOLD:
                told = True
                self._tell(before)
            wait_until_free(before[-1], self._left if told else min(self._left, _UNTOLD))

    def _before(self, number: int) -> list[Path]:
        """The tickets that come before a number, the lowest first; those of ended processes are removed."""
        before = []
        for known, ticket in self._tickets():
            if known < number:
                if wait_until_free(ticket, 0):
                    ticket.unlink(missing_ok=True)
                else:
                    before.append(ticket)
        return before

    def _tell(self, before: list[Path]) -> None:
        holder, more = Holder.of(before[0]), len(before) - 1
        if self._patience.tell is not None:
            who = "another process" if holder.pid is None else f"process {holder.pid} ({holder})"
            self._patience.tell(f"waiting for {who} to write to {self._named}"
                                + (f", and for {more} more before this one" if more else "")
                                + f"; at most {self._patience.seconds:g} s (--wait)")
