"""Writing to a registry.

A command changes a copy of the file, and the copy then replaces the file.

Readers therefore never wait: a process that has the old file open can read that file to the end. If a process is killed
at any time, the path has either the complete old registry or the complete new registry. Only one process at a time may
replace a registry. That process holds a lock of the operating system on the file `.registry.duckdb.lock`, which is
never deleted, and writes its process id and command to `.registry.duckdb.writer`.
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

from registry.errors import InputError, LockedError, StoreError, has_written
from registry.files import new_file, working_folder
from registry.platforms import is_open_elsewhere, keep_permissions, rename_new, sync_folder, try_read_lock
from registry.store import models
from registry.store.comparisons import PairsOfRun
from registry.store.database import RETRY_SECONDS, Database
from registry.store.embargoes import is_public
from registry.store.files import Reach
from registry.store.log import Journal
from registry.store.rows import quote

_SILENT_SECONDS = 1.0  # waiting time after which the user is informed
_FIRST_POLL, _LAST_POLL = 0.2, 0.002  # seconds between two attempts to get the lock, at first and after a while
_FILE_POLL = 0.05  # seconds between two attempts to copy or replace a file that another program has open

State = tuple[int, int, int]  # identifies a version of a file: inode, size and time


@contextmanager
def write_lock(database: Database, command: str, patience: float = 0) -> Iterator[None]:
    """Hold the lock that a process needs to replace the file of a registry.

    Args:
        database: The registry.
        command: Name of the command; other processes show it while they wait for the lock.
        patience: Seconds to wait for the lock, if this is longer than the patience of `database`.

    Raises:
        LockedError: Another process has held the lock for the whole waiting time.
        StoreError: The folder is not writable, or its file system has no locks.
    """
    path = database.path.resolve()
    lock = FileLock(_lock_path(path, "lock"), thread_local=False, fallback_to_soft=False)
    writer = _lock_path(path, "writer")
    try:
        _wait_for_lock(lock, database, writer, max(patience, database.patience.seconds))
        with suppress(OSError):  # a full disk does not stop a command that may free space
            holder = [os.getpid(), f"registry {command} since {datetime.now(UTC):%H:%M:%S} UTC"]
            writer.write_text(json.dumps(holder), "utf-8")
    except (OSError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(database.named, f"cannot be locked in this folder: {reason}; copy the file to a writable "
                                         "folder, on a file system that has locks, and name the copy with --db"
                         ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            writer.unlink(missing_ok=True)
        lock.release()


def _wait_for_lock(lock: FileLock, database: Database, writer: Path, seconds: float) -> None:
    """Wait until this process gets the write lock, and inform the user.

    The longer a process waits, the more often it tries. So the process that has waited longest usually gets the lock
    first.

    Args:
        lock: The lock.
        database: The registry.
        writer: File in which the holder of the lock writes its id and command.
        seconds: Longest waiting time.

    Raises:
        LockedError: The waiting time is over.
    """
    began, is_informed = time.monotonic(), False
    while True:
        with suppress(Timeout):
            lock.acquire(blocking=False)
            return
        waited = time.monotonic() - began
        if waited >= seconds:
            raise LockedError(database.named, *_read_writer(writer))
        if waited > _SILENT_SECONDS and not is_informed and database.patience.tell is not None:
            is_informed, (pid, command) = True, _read_writer(writer)
            holder = "another process" if pid is None else f"process {pid} ({command})"
            database.patience.tell(f"waiting for {holder} to write to {database.named}; at most {seconds:g} s (--wait)")
        time.sleep(min(max(_LAST_POLL, _FIRST_POLL / (1 + waited)**2), seconds - waited))


def _read_writer(writer: Path) -> tuple[int | None, str]:
    """Return the process that holds the write lock: its id and its command.

    Args:
        writer: File that describes the process. If it cannot be read, the result is (None, "").
    """
    with suppress(OSError, ValueError):
        pid, command = json.loads(writer.read_text("utf-8"))
        return pid, command
    return None, ""


def _lock_path(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}.{suffix}")


class Copy:
    """A temporary copy of a registry, which a command changes and then publishes.

    Attributes:
        database: The copy.
        is_new: True if the registry is new, so that there is no original.
    """

    def __init__(self, original: Database, database: Database, state: State | None) -> None:
        self.database, self.is_new = database, state is None
        self._original, self._original_state, self._copied_state = original, state, _read_state(database.path)

    @property
    def is_changed(self) -> bool:
        """True if a command has changed the copy.

        DuckDB does not touch the file if nothing is written to it.
        """
        return self.is_new or _read_state(self.database.path) != self._copied_state

    def is_current(self) -> bool:
        """Return True if nobody has changed the original since it was copied."""
        return self._original.exists() and _read_state(self._original.path) == self._original_state

    def publish(self, *, compact: bool = False) -> None:
        """Replace the original file by the copy.

        The copy must be closed, and the caller must hold the lock.

        Args:
            compact: Whether to rewrite the file, so that deleted rows are physically gone.

        Raises:
            InputError: The registry is new, and another program has created a file at its path.
            StoreError: Another program has changed the original, or the folder is not writable.
        """
        path, finished = self._original.path.resolve(), self.database.path
        try:
            if compact:
                finished = self._write_compact()
                self.database.path.unlink()  # contains deleted rows, and would remain if this process were killed
            _sync_file(finished)
            has_written.set(True)
            if self.is_new:
                rename_new(finished, path)
            elif not self.is_current():
                raise StoreError(self._original.named, "another program has changed the database in the meantime, so "
                                                       "this command stored nothing; run it again")
            else:
                keep_permissions(finished, path.stat())
                self._replace_original(finished, path)
            sync_folder(path.parent)
        except FileExistsError:
            raise InputError("another program has created this file in the meantime; run the command again",
                             path=self._original.named) from None
        except OSError as error:
            raise StoreError(self._original.named, f"cannot be replaced by a new file: {error.strerror}") from None

    def _replace_original(self, finished: Path, path: Path) -> None:
        """Replace the original file by the finished copy, by renaming the copy.

        On Windows, this function first waits until no program has the original open.

        Args:
            finished: The finished copy.
            path: Path of the original, without symbolic links.
        """
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
            time.sleep(_FILE_POLL)

    def _write_compact(self) -> Path:
        """Write the copy again, without the space of deleted rows, into a new file.

        Returns:
            Path of the new file.
        """
        fresh = self.database.path.with_name("fresh.duckdb")
        with self.database.holding(reach=Reach(folders=[fresh.parent])) as connection:
            name = connection.exec_driver_sql("SELECT current_database()").scalar_one().replace('"', '""')
            connection.exec_driver_sql(f"ATTACH {quote(fresh)} AS fresh")
            connection.exec_driver_sql(f'COPY FROM DATABASE "{name}" TO fresh')
            connection.commit()
            connection.exec_driver_sql("CHECKPOINT fresh")
            connection.exec_driver_sql("DETACH fresh")
            connection.commit()  # closes the file
        return fresh


@contextmanager
def working_copy(database: Database, *, create: bool = False) -> Iterator[Copy]:
    """Copy a registry into a temporary folder next to it, for a `with` block.

    Args:
        database: The registry.
        create: True to make a new registry if it does not exist.

    Raises:
        InputError, SchemaError: The path has no registry, or no registry can be made there.
        LockedError: Another program writes to the registry.
        StoreError: The folder is not writable, or has no space for the copy.
    """
    database.require_writable(create=create)
    database.settle()
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(working_folder(database.path.resolve())) / "private"
            folder.mkdir(0o700)  # the copy must not be more readable than the original
            copy = copy_into(folder, database, create=create)
        except OSError as error:
            raise StoreError(database.named, f"the working copy cannot be written: {error.strerror}; free some space "
                                             "and run the command again") from None
        yield copy


def copy_into(folder: Path, database: Database, *, create: bool = False) -> Copy:
    """Copy a registry into an existing folder.

    Args:
        folder: The folder.
        database: The registry.
        create: True to make a new registry if it does not exist.

    Raises:
        InputError, SchemaError: The path has no registry, or no registry can be made there.
        LockedError: Another program writes to the registry.
        OSError: The copy cannot be written.
    """
    copied = Database(folder / database.path.name, named=database.named)
    if create and not database.exists():
        copied.create()
        return Copy(database, copied, None)
    return Copy(database, copied, copy_file(database, copied.path))


def copy_file(database: Database, target: Path) -> State:
    """Copy the file of a registry, with DuckDB's write-ahead log if it exists.

    Args:
        database: The registry.
        target: Path of the copy.

    Returns:
        Inode, size and modification time of the original, to detect later changes.

    Raises:
        InputError: The path has no registry.
        LockedError: Another program writes to the registry.
        OSError: The copy cannot be written.
    """
    database.require()
    path, deadline = database.path.resolve(), time.monotonic() + RETRY_SECONDS
    while True:
        try:
            state = _read_state(path)
            with path.open("rb") as file:
                if try_read_lock(file):
                    shutil.copyfile(path, target)
                    if database.log.exists():
                        shutil.copyfile(database.log, Database(target).log)
                    if _read_state(path) == state:
                        return state
        except PermissionError as error:
            if not is_open_elsewhere(error):
                raise
        if time.monotonic() > deadline:
            with database.reading():  # its error names the process that has the file open
                raise LockedError(database.named, None)
        time.sleep(_FILE_POLL)


def _read_state(path: Path) -> State:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _sync_file(path: Path) -> None:
    with path.open("r+b") as file:  # Windows cannot sync a file that is open only for reading
        os.fsync(file.fileno())


_TRIES = 3  # attempts of a long computation; during the last attempt, other writers wait
_LEAST_MEMORY = 2**28  # bytes that the database needs

T = TypeVar("T")


class Session:
    """A command that changes a registry: its database connection and its log.

    The command works in one transaction on a copy of the registry. The copy replaces the registry at the end.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def limit_memory(self, memory: int | None) -> None:
        """Let DuckDB use a quarter of `memory` bytes, and the disk for larger data.

        If `memory` is None, nothing changes.
        """
        if memory is not None:
            self.connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST_MEMORY, memory // 4)}B'")


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False,
            compact: bool = False) -> Iterator[Session]:
    """Let a command change a copy of the registry in a `with` block, then publish it.

    Meanwhile other commands may read, but not write. If the block fails, no change is stored. A dry run works in a
    temporary folder, and needs neither the lock nor the permission to write.

    Args:
        database: The registry.
        journal: Log of the command.
        create: Whether to create the registry if it does not exist.
        dry_run: Whether to discard all changes.
        compact: Whether to rewrite the file, so that deleted data is physically gone.

    Raises:
        LockedError: Another process has held the lock for the whole waiting time of `database`.
        InputError, SchemaError: The path has no registry, or no registry can be made there.
        StoreError: The folder is not writable, the disk is full, or the registry is a public file.
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
        with _open_session(copy, database, journal, dry_run=dry_run) as session:
            yield session
        if not dry_run and copy.is_changed:
            copy.publish(compact=compact)


def create(database: Database) -> bool:
    """Create a registry if it does not exist; return True if it was created.

    Raises:
        LockedError: Another process has held the lock for the whole waiting time.
        InputError, SchemaError: No registry can be made at the path, or another version of the program made the file.
        StoreError: The folder is not writable, or the disk is full.
    """
    if not database.exists():
        database.require_writable(create=True)
        with write_lock(database, "init"), working_copy(database, create=True) as copy:
            if copy.is_new:
                copy.publish()
                return True
    with database.reading():  # checks the schema
        return False


def compute(database: Database, journal: Journal, work: Callable[[Session], T], *, dry_run: bool = False) -> T:
    """Run a long computation and store its results, while other commands may write.

    The function `work` computes in a copy of the registry. If another command has changed the registry meanwhile,
    `work` is called again with a new copy, to which the test results of the previous call are added first. After two
    failed attempts, the third attempt prevents other commands from writing.

    Args:
        database: The registry.
        journal: Log of the command.
        work: Function that computes and stores results; its result is returned.
        dry_run: Whether to discard all changes.

    Raises:
        LockedError: Another process has held the lock for the whole waiting time.
        InputError, SchemaError: The path has no registry of this version of the program.
        StoreError: The folder is not writable, the disk is full, or the registry is a public file.
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
            with _open_session(copy, database, journal) as session:
                if pairs is not None:
                    pairs.store(session.connection, journal.run_id(session.connection))
                result = work(session)
            if not copy.is_changed:
                return result
            if not is_last:  # the results are expensive, so wait for the lock as long as the computation took
                stack.enter_context(write_lock(database, journal.command, time.monotonic() - began))
            if is_last or copy.is_current():
                copy.publish()
                return result
            with copy.database.holding() as connection:
                pairs = PairsOfRun.load(connection, journal.run_id(connection))
            journal.forget()
    raise AssertionError


@contextmanager
def _open_session(copy: Copy, database: Database, journal: Journal, *, dry_run: bool = False) -> Iterator[Session]:
    """Open a copy of a registry for a command, and log the command at the end.

    Args:
        copy: The copy.
        database: The original registry.
        journal: Log of the command.
        dry_run: Whether to discard all changes.

    Raises:
        StoreError: The registry is a public file.
    """
    with copy.database.writing(dry_run=dry_run) as connection:
        if is_public(connection):
            if not dry_run:  # no command ever writes to a public file, so no other process needs its lock
                with suppress(OSError):
                    _lock_path(database.path.resolve(), "lock").unlink(missing_ok=True)
            raise StoreError(database.named, "this is a public file, which commands only read; name the registry's own "
                                             "file with --db")
        session = Session(connection)
        journal.begin(connection)
        yield session
        journal.close(connection)


def back_up(database: Database, target: Path) -> None:
    """Copy a registry into a new file, and check every block of the copy.

    The copy gets its final name only after all blocks were read without error.

    Raises:
        InputError, SchemaError: The path has no registry of this version of the program, or the new file already
            exists.
        LockedError: Another program writes to the registry.
        StoreError: A block is damaged, or the copy cannot be written.
    """
    with new_file(target) as unfinished:
        copy_file(database, unfinished)
        with Database(unfinished, named=target).writing(dry_run=True) as connection:  # merges the write-ahead log
            for table, reason in find_unreadable(connection).items():
                raise StoreError(database.path, f"table {table} cannot be read: {reason}; nothing was backed up")
        _sync_file(unfinished)


def find_unreadable(connection: Connection) -> dict[str, str]:
    """Find damaged tables: read everything, so that DuckDB verifies its checksums.

    Returns:
        The first unreadable table with the reason; empty if all tables can be read. After an error, the connection
        cannot be used.
    """
    for table in models.metadata.tables:
        try:
            connection.exec_driver_sql(f'SELECT count(*), bit_xor(hash(t)) FROM "{table}" AS t').all()  # noqa: S608
        except Exception as error:
            return {table: str(getattr(error, "orig", error)).partition("\n")[0]}
    return {}
