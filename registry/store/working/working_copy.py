"""A copy of the database in which a command computes, while others read the database itself.

What the command writes is written to the copy in one transaction that is never committed, and recorded. When all is
known, the database is opened, and what was recorded is written to it. A copy is under its process's lock as long as it
is used; those that killed processes have left are removed.
"""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from registry.errors import LockedError, StoreError
from registry.store.database import RETRY_SECONDS, Database
from registry.store.files.opening import is_open, opening
from registry.store.turns.gate import closed_gate, wait_before
from registry.store.turns.locks import has_locks, is_shared, taken, wait_until_free
from registry.store.upkeep.backup import copy
from registry.store.working.recording import Recording

_POLL = 0.05  # seconds
_CLOSED = (2.0, 8.0)  # seconds for which readers are kept out where one that is inside does not leave: first, at most
_OPEN = 0.2  # seconds for which they are let in then
_LEAST = 2**28  # bytes of memory
_BESIDE = (".wal", ".tmp")  # what DuckDB makes beside a database

State = tuple[int, int, int]  # what a commit changes of a file: its number, its size, and when it was changed


def limit(connection: Connection, memory: int | None) -> None:
    """Let the database take a quarter of so many bytes, of which it needs some; what is more goes to disk."""
    if memory is not None:
        connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST, memory // 4)}B'")


@contextmanager
def committing(database: Database, took: float = 0) -> Iterator[Connection]:
    """Open the database for one short transaction, before readers that come later; for whoever has the turn.

    Where a reader stays inside, others are let in from time to time.

    Raises:
        LockedError: It could not be opened for as long as the database's patience is, or as the work `took` before.
        StoreError: As `Database.writing`.
    """
    deadline = time.monotonic() + max(database.patience.seconds, took, RETRY_SECONDS)
    path, (closed, most) = database.path.resolve(), _CLOSED
    while True:
        with ExitStack() as stack:
            stack.enter_context(closed_gate(path))
            try:
                connection = stack.enter_context(database.writing(patience=closed))
            except LockedError:
                if time.monotonic() > deadline:
                    raise
            else:
                yield connection
                return
        time.sleep(_OPEN)
        closed = min(2 * closed, most)


def _state(path: Path) -> State:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


class WorkingCopy:
    """A copy of a database, and what was written to it.

    Attributes:
        connection: To the copy, in a transaction.
        recording: Of what is written to it.
    """

    def __init__(self, database: Database, connection: Connection, state: State) -> None:
        self.connection, self._database, self._state = connection, database, state
        self.recording = Recording(connection)
        self.memory: int | None = None

    @property
    def is_changed(self) -> bool:
        """Whether anything was written to it."""
        return self.recording.statements > 0

    def is_current(self) -> bool:
        """Whether the database is what it was when it was copied."""
        return _state(self._database.path) == self._state

    def publish(self, took: float = 0) -> None:
        """Write what was written to the copy to the database, whose writer this process is.

        Readers are waited for as long as other writers, and as long as the work `took`, if that is longer.

        Raises:
            LockedError: Readers stay, or another program has the file open.
            StoreError: Another program than the registry has written to it; or as `Database.writing`.
        """
        with committing(self._database, took) as connection:
            if not self.is_current():
                raise StoreError(self._database.named, "another program has written to the database meanwhile; nothing "
                                                       "of this command was kept, run it again")
            limit(connection, self.memory)
            self.recording.write_to(connection)


@contextmanager
def working_copy(database: Database, *, beside: bool) -> Iterator[WorkingCopy]:
    """Copy a database as it stands between two commits, `beside` it or where temporary files are.

    Raises:
        InputError, SchemaError, LockedError, StoreError: As `Database.reading`; or there is no room for the copy.
    """
    database.settle()
    with ExitStack() as stack:
        folder = database.path.resolve().parent if beside else Path(stack.enter_context(TemporaryDirectory()))
        try:
            held, path = _place(folder / f".{database.path.name}.work.")
            stack.callback(_remove, held, path)
            state = _copy(database, path)
        except OSError as error:
            raise StoreError(database.named, f"cannot be copied to be worked in: {error.strerror}; free some space and "
                                             "run the command again") from None
        connection = stack.enter_context(Database(path, named=database.named).writing(dry_run=True))
        connection.exec_driver_sql("SET force_compression = 'uncompressed'")  # what is not kept need not be small
        made = WorkingCopy(database, connection, state)
        stack.callback(made.recording.close)
        yield made


def _place(prefix: Path) -> tuple[int, Path]:
    """A new file whose lock this process holds; those of processes that were ended are removed."""
    while True:
        for left in prefix.parent.glob(f"{glob.escape(prefix.name)}[0-9]*"):
            if left.suffix not in _BESIDE and has_locks() and wait_until_free(left, 0):
                _remove(None, left)
        path = prefix.with_name(f"{prefix.name}{os.getpid()}{secrets.token_hex(2)}")
        if (held := taken(path)) is not None:
            return held, path


def _remove(held: int | None, path: Path) -> None:
    for suffix in _BESIDE:
        beside = path.with_name(path.name + suffix)
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)
    if held is not None:
        os.close(held)
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _copy(database: Database, to: Path) -> State:
    """Copy a database and the log beside it, if there is one, while nobody commits."""
    path, deadline = database.path.resolve(), time.monotonic() + database.patience.seconds
    if not has_locks() or is_open(path):  # who closes a file that DuckDB has open here frees DuckDB's lock
        copy(database, to)
        return _state(path)
    while True:
        wait_before(path, database.patience.seconds)
        with opening, path.open("rb") as file:
            if is_shared(file):
                _copy_bytes(path, to)
                if database.log.exists():  # it stays where readers keep it from being brought in
                    _copy_bytes(database.log, Database(to).log)
                return _state(path)
        if time.monotonic() > deadline:
            with database.reading():  # which names the process that holds it
                pass
        time.sleep(_POLL)


def _copy_bytes(path: Path, to: Path) -> None:
    """Copy a file, by reference where the file system can."""
    with path.open("rb") as file, to.open("wb") as copied:
        if hasattr(os, "copy_file_range"):
            with suppress(OSError):  # between file systems; what was copied so far stays
                while os.copy_file_range(file.fileno(), copied.fileno(), 2**30):
                    pass
        shutil.copyfileobj(file, copied, 2**20)
