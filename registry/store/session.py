"""Writing: a command works in a copy of the registry, which then takes the file's name.

So readers wait for nobody: who has the old file open reads it to the end. Whenever a process is killed, the name leads
to the old registry or to the new one, and both are complete. One process replaces a registry at a time. It holds the
system's lock on `.registry.duckdb.lock`, a file that stays, and writes its name to `.registry.duckdb.writer`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from sqlalchemy import Connection

from registry.errors import InputError, LockedError, StoreError
from registry.files import new_file, working_folder
from registry.platforms import is_open_elsewhere, keep_permissions, rename_new, sync_folder, try_read_lock
from registry.store import models
from registry.store.comparisons import PairsOfRun
from registry.store.database import RETRY_SECONDS, Database
from registry.store.embargoes import is_public
from registry.store.files import Reach
from registry.store.log import Journal
from registry.store.rows import quoted

_UNTOLD = 1.0  # seconds of waiting that nobody is told of
_POLL, _LEAST_POLL = 0.2, 0.002  # seconds between two looks at the lock, at first and after a while
_LOOK = 0.05  # seconds between two looks at what another program holds

State = tuple[int, int, int]  # what tells a file from the one that was there before: its number, size and time


@contextmanager
def write_lock(database: Database, command: str, patience: float = 0) -> Iterator[None]:
    """Hold the right to replace a registry, of which other writers are told the command.

    Waits for as long as the database's patience says, or `patience` seconds if that is longer.

    Raises:
        LockedError: Another process held it for longer.
        StoreError: The folder cannot be written to, or its file system has no locks.
    """
    path = database.path.resolve()
    lock = FileLock(_beside(path, "lock"), thread_local=False, fallback_to_soft=False)
    try:
        _acquire(lock, database, _beside(path, "writer"), max(patience, database.patience.seconds))
        _sign(_beside(path, "writer"), command)
    except (OSError, NotImplementedError) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(database.named, f"cannot be locked in this folder: {why}; copy the file to where you may "
                                         "write, on a file system that has locks, and name the copy with --db"
                         ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            _beside(path, "writer").unlink(missing_ok=True)
        lock.release()


def _acquire(lock: FileLock, database: Database, writer: Path, seconds: float) -> None:
    """Wait for the lock; who has waited for longer looks more often, and so mostly comes first."""
    began, is_told = time.monotonic(), False
    while True:
        with suppress(Timeout):
            lock.acquire(blocking=False)
            return
        waited = time.monotonic() - began
        if waited >= seconds:
            raise LockedError(database.named, *_writer(writer))
        if waited > _UNTOLD and not is_told and database.patience.tell is not None:
            is_told, (pid, command) = True, _writer(writer)
            who = "another process" if pid is None else f"process {pid} ({command})"
            database.patience.tell(f"waiting for {who} to write to {database.named}; at most {seconds:g} s (--wait)")
        time.sleep(min(max(_LEAST_POLL, _POLL / (1 + waited)**2), seconds - waited))


def _sign(writer: Path, command: str) -> None:
    """Write down who holds the lock; on a full disk it is held without a name."""
    with suppress(OSError):
        writer.write_text(json.dumps([os.getpid(), f"registry {command} since {datetime.now(UTC):%H:%M:%S} UTC"]),
                          "utf-8")


def _writer(writer: Path) -> tuple[int | None, str]:
    """Return the number of the process that holds the lock, and its command."""
    with suppress(OSError, ValueError):
        pid, command = json.loads(writer.read_text("utf-8"))
        return pid, command
    return None, ""


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}.{what}")


class Copy:
    """A copy of a registry, or a new registry, that may take the name of the original.

    Attributes:
        database: The copy.
        is_new: Whether there is no original.
    """

    def __init__(self, original: Database, database: Database, state: State | None) -> None:
        self.database, self.is_new = database, state is None
        self._original, self._state, self._copied = original, state, _state(database.path)

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to publish: DuckDB leaves a file alone in which nothing is written."""
        return self.is_new or _state(self.database.path) != self._copied

    def is_current(self) -> bool:
        """Say whether the original is still what was copied."""
        return self._original.exists() and _state(self._original.path) == self._state

    def publish(self, *, compact: bool = False) -> None:
        """Give the copy, which nobody has open, the name of the original; the caller holds the lock.

        Args:
            compact: Whether to write the file anew, so that nothing of rows that were deleted is left in it.

        Raises:
            InputError: Another program has made a file of that name meanwhile.
            StoreError: Another program has changed the original meanwhile; or the folder cannot be written to.
        """
        path, finished = self._original.path.resolve(), self.database.path
        try:
            if compact:
                finished = self._compacted()
                self.database.path.unlink()  # still has deleted rows, and would stay if this process were killed
            _sync_file(finished)
            if self.is_new:
                rename_new(finished, path)
            elif not self.is_current():
                raise StoreError(self._original.named, "another program has written to the database meanwhile; nothing "
                                                       "of this command was kept, run it again")
            else:
                keep_permissions(finished, path.stat())
                self._replace_original(finished, path)
            sync_folder(path.parent)
        except FileExistsError:
            raise InputError("another program has made this file meanwhile; run the command again",
                             path=self._original.named) from None
        except OSError as error:
            raise StoreError(self._original.named, f"cannot put a new file in its place: {error.strerror}") from None

    def _replace_original(self, finished: Path, path: Path) -> None:
        """Rename the finished file; on Windows, wait until no program has the original open."""
        deadline = time.monotonic() + max(RETRY_SECONDS, self._original.patience.seconds)
        while True:
            try:
                finished.replace(path)
                return
            except PermissionError as error:
                if not is_open_elsewhere(error):
                    raise
                if time.monotonic() > deadline:
                    raise StoreError(self._original.named, "another program has the database open, and Windows cannot "
                                                           "replace an open file; close it and run the command again"
                                     ) from None
            time.sleep(_LOOK)

    def _compacted(self) -> Path:
        """Copy tables, views and macros into a fresh file."""
        fresh = self.database.path.with_name("fresh.duckdb")
        with self.database.holding(reach=Reach(folders=[fresh.parent])) as connection:
            name = connection.exec_driver_sql("SELECT current_database()").scalar_one().replace('"', '""')
            connection.exec_driver_sql(f"ATTACH {quoted(fresh)} AS fresh")
            connection.exec_driver_sql(f'COPY FROM DATABASE "{name}" TO fresh')
            connection.commit()
            connection.exec_driver_sql("CHECKPOINT fresh")
            connection.exec_driver_sql("DETACH fresh")
            connection.commit()  # lets go of the file
        return fresh


@contextmanager
def working_copy(database: Database, *, create: bool = False) -> Iterator[Copy]:
    """Copy a registry into a folder beside it, which is removed at the end; with `create` make one that is not there.

    Raises:
        InputError, SchemaError: There is no registry at the path, or no new one can be made there.
        LockedError: Another program writes to it.
        StoreError: The folder cannot be written to, or has no room for the copy.
    """
    database.require_writable(create=create)
    database.settle()
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(working_folder(database.path.resolve())) / "private"
            folder.mkdir(0o700)  # nobody else may read a copy of what only its owner may
            copy = copy_into(folder, database, create=create)
        except OSError as error:
            raise StoreError(database.named, f"cannot be copied to be worked in: {error.strerror}; free some space and "
                                             "run the command again") from None
        yield copy


def copy_into(folder: Path, database: Database, *, create: bool = False) -> Copy:
    """Copy a registry into a folder, or make one there if there is none and it may be created.

    Raises:
        InputError, SchemaError, LockedError, OSError: As `working_copy`.
    """
    copied = Database(folder / database.path.name, named=database.named)
    if create and not database.exists():
        copied.create()
        return Copy(database, copied, None)
    return Copy(database, copied, copy_file(database, copied.path))


def copy_file(database: Database, to: Path) -> State:
    """Copy a registry's file as it stands, with the log that another program may have left beside it.

    Raises:
        InputError: There is no registry.
        LockedError: Another program writes to it.
        OSError: The copy cannot be written.
    """
    database.require()
    path, deadline = database.path.resolve(), time.monotonic() + RETRY_SECONDS
    while True:
        try:
            state = _state(path)
            with path.open("rb") as file:
                if try_read_lock(file):
                    shutil.copyfile(path, to)
                    if database.log.exists():
                        shutil.copyfile(database.log, Database(to).log)
                    if _state(path) == state:
                        return state
        except PermissionError as error:
            if not is_open_elsewhere(error):
                raise
        if time.monotonic() > deadline:
            with database.reading():  # names the process that holds it
                raise LockedError(database.named, None)
        time.sleep(_LOOK)


def _state(path: Path) -> State:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _sync_file(path: Path) -> None:
    """Have the system write a file to the disk."""
    with path.open("r+b") as file:  # Windows syncs no file that is open only for reading
        os.fsync(file.fileno())


_TRIES = 3  # of a long computation; on the last one other writers wait for it
_LEAST = 2**28  # bytes of memory that the database needs

T = TypeVar("T")


class Session:
    """A connection in the transaction of a command.

    Attributes:
        connection: To write with.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def bound(self, memory: int | None) -> None:
        """Let the database take a quarter of so many bytes; what needs more goes to disk."""
        if memory is not None:
            self.connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST, memory // 4)}B'")


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False,
            compact: bool = False) -> Iterator[Session]:
    """Do the writing of one command, while others read and no other command writes.

    All that the block writes is kept, or nothing if it fails. A dry run works in a temporary folder: it needs neither
    the lock nor the right to write.

    Args:
        database: The registry.
        journal: The record of the command.
        create: Whether to make the registry if it is not there.
        dry_run: Whether to keep nothing.
        compact: Whether nothing of what was deleted may be left in the file.

    Raises:
        LockedError: Another process wrote for longer than the database's patience.
        InputError, SchemaError, StoreError: As `working_copy`, or the disk is full.
    """
    with ExitStack() as stack:
        if dry_run:
            if create and not database.exists():
                database.require_free()
            copy = copy_into(Path(stack.enter_context(tempfile.TemporaryDirectory())), database, create=create)
        else:
            database.require_writable(create=create)
            stack.enter_context(write_lock(database, journal.command))
            copy = stack.enter_context(working_copy(database, create=create))
        with _session(copy, database, journal, dry_run=dry_run) as session:
            yield session
        if not dry_run and copy.is_changed:
            copy.publish(compact=compact)


def create(database: Database) -> bool:
    """Create a registry unless it is there; say whether it was created.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    if not database.exists():
        database.require_writable(create=True)
        with write_lock(database, "init"), working_copy(database, create=True) as copy:
            if copy.is_new:
                copy.publish()
                return True
    with database.reading():  # refuses another schema
        return False


def computed(database: Database, journal: Journal, work: Callable[[Session], T], *, dry_run: bool = False) -> T:
    """Do the writing of a command that computes for long: others write while it does.

    `work` is done in a copy, without the lock. If others have written meanwhile, it is done once more on what there is
    then, where it finds the results of pairs that it stored before; the last time others wait for it.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    if dry_run:
        with writing(database, journal, dry_run=True) as session:
            return work(session)
    pairs: PairsOfRun | None = None
    for is_last in (*[False] * (_TRIES - 1), True):
        began = time.monotonic()
        with ExitStack() as stack:
            if is_last:
                stack.enter_context(write_lock(database, journal.command))
            copy = stack.enter_context(working_copy(database))
            with _session(copy, database, journal) as session:
                if pairs is not None:
                    pairs.keep(session.connection, journal.run_id(session.connection))
                result = work(session)
            if not copy.is_changed:
                return result
            if not is_last:  # what took long to compute is not given up soon
                stack.enter_context(write_lock(database, journal.command, time.monotonic() - began))
            if is_last or copy.is_current():
                copy.publish()
                return result
            with copy.database.holding() as connection:
                pairs = PairsOfRun.of(connection, journal.run_id(connection))
            journal.forget()
    raise AssertionError


@contextmanager
def _session(copy: Copy, database: Database, journal: Journal, *, dry_run: bool = False) -> Iterator[Session]:
    """Do all of a command's writing.

    Raises:
        StoreError: The registry is a public file.
    """
    with copy.database.writing(dry_run=dry_run) as connection:
        if is_public(connection):
            raise StoreError(database.named, "this is a public file, which commands only read; name the registry's own "
                                             "file with --db")
        session = Session(connection)
        journal.begin(connection)
        yield session
        journal.close(connection)


def back_up(database: Database, to: Path) -> None:
    """Copy a database into a new file, and read that from the first block to the last before it gets its name.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`; or the new file is there already.
        StoreError: A block is damaged, or the copy cannot be written.
    """
    with new_file(to) as unfinished:
        copy_file(database, unfinished)
        with Database(unfinished, named=to).writing(dry_run=True) as connection:  # what is in the log comes into it
            for table, why in unreadable(connection).items():
                raise StoreError(database.path, f"table {table} cannot be read: {why}; nothing was backed up")
        _sync_file(unfinished)


def unreadable(connection: Connection) -> dict[str, str]:
    """Read every block of every table, each of which DuckDB holds against its checksum.

    Gives the first table that cannot be read, and why: the connection is of no use then.
    """
    for table in models.metadata.tables:
        try:
            connection.exec_driver_sql(f'SELECT count(*), bit_xor(hash(t)) FROM "{table}" AS t').all()  # noqa: S608
        except Exception as error:
            return {table: str(getattr(error, "orig", error)).partition("\n")[0]}
    return {}
