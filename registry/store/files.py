"""DuckDB files: how this process opens them, what connections may reach, and what errors of DuckDB mean.

Inside one process DuckDB takes two files of one path for the same, even if another file has replaced the first, and
opens a path with one configuration only. So a file whose path is still open for an older file, or with other settings,
is opened by another name. A connection reaches no other files unless they are listed.
"""

from __future__ import annotations

import glob
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from registry.errors import InputError, LockedError, RegistryError, StoreError
from registry.platforms import link_or_copy
from registry.store.rows import driver_of, quote

_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: \(PID (\d+)\))?(?: by user .+?)?\. "
                     r"|File is already open in\s+(.+?) \(PID (\d+)\)")  # the second on Windows
_FAILURE = re.compile(r"(?:IO Error|Failed to commit): (.+)")


FAILURES = (DBAPIError, duckdb.Error)  # what a failure of DuckDB is raised as, by SQLAlchemy or without it


def cause_of(error: BaseException) -> BaseException | None:
    """DuckDB's own error, whichever raised it."""
    return error.orig if isinstance(error, DBAPIError) else error


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn what DuckDB says of the file at `path` into the registry's errors."""
    try:
        yield
    except FAILURES as error:
        cause = cause_of(error)
        if isinstance(cause, duckdb.OutOfMemoryException):
            raise MemoryError("DuckDB needs more memory than it may take") from None
        if (named := explain(str(cause), path)) is None:
            raise
        raise named from None


def explain(message: str, path: Path) -> RegistryError | None:
    """Name what DuckDB's `message` says of the database file; None where it says nothing of the file."""
    if _is_locked(message):
        holder = _HOLDER.search(message)
        name, pid = (holder[1] or holder[3], holder[2] or holder[4]) if holder else (None, None)
        return LockedError(path, int(pid) if pid else None, Path(name).name if name else None)
    if "not a valid DuckDB database file" in message:
        return InputError("this file is no DuckDB database; name another with --db", path=path)
    if "newer version" in message or "version number" in message:
        return InputError(f"written by another version of DuckDB than {duckdb.__version__} can open", path=path)
    full = ("No space left", "File too large", "Disk quota", "not enough disk space", "out of disk space")
    if any(sign.lower() in message.lower() for sign in full):
        return StoreError(path, "the disk is full or a size limit is reached; nothing of this step was written: "
                                "free some space and run the command again")
    if failure := _FAILURE.search(message):  # which names the path that DuckDB was given
        told = failure[1].replace(str(path.resolve().parent), str(path.parent))
        return StoreError(path, f"cannot use the file: {told}")
    return None


def _is_locked(message: str) -> bool:
    """Return True if DuckDB could not open a file that another process has open; Windows reports it differently."""
    return any(words in message for words in (
        "Could not set lock", "File is already open in", "being used by another process"))


NO_ACCESS = {"enable_external_access": "false"}  # DuckDB still opens the database, its log and its temporary folder


class Reach(NamedTuple):
    """Files and folders that a connection may read and write."""

    files: Sequence[Path] = ()
    folders: Sequence[Path] = ()


NOWHERE = Reach()


def confine(driver: Any, reach: Reach) -> None:
    """Switch off access to all files but those of `reach`, before anything of the database is read.

    DuckDB accepts these settings only after it has started, and only while access is on.
    """
    # DuckDB checks the pattern of `read_parquet` too, not only the files that match it.
    folders = [name for folder in reach.folders for name in (str(folder), glob.escape(str(folder)))]
    for setting, paths in (("allowed_paths", reach.files), ("allowed_directories", folders)):
        driver.execute(f"SET {setting} = [{', '.join(map(quote, paths))}]")
    driver.execute("SET enable_external_access = false")


# New files are written in a storage version that every DuckDB since 1.2 opens.
STORAGE_VERSION = "v1.2.0"
# An eighth of DuckDB's default: a small task takes 2.5 MB instead of 14, and 1,000 systems with 10,000 items 23 MB (25
# by 64 KiB); bulk inserts are as fast. With 16 KiB columns are no longer compressed.
BLOCK_SIZE = "32768"
# A registry may come from a stranger, and its views and macros may call any function of DuckDB. So no connection to one
# reaches other files, secrets or Python variables.
CONFIG: dict[str, Any] = NO_ACCESS | {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": BLOCK_SIZE,
}
# For SQL that a user wrote: no disk for what does not fit into memory.
CONFINED_CONFIG = CONFIG | {"temp_directory": ""}

# Bytes of a file and its log up to which texts are not compressed by FSST: it takes half of a checkpoint's time, and a
# small task (2.5 MB) is no smaller for it.
_SMALL = 5 * 2**20

Identity = tuple[int, int]  # what tells a file from another one at its path


@dataclass
class _Opened:
    """A file that this process has open: by which name, and how many times."""

    name: Path
    folder: TemporaryDirectory[str] | None = None
    times: int = 0


class _Key(NamedTuple):
    """An open file: its path, its identity, and how it is open."""

    path: Path
    identity: Identity | None
    read_only: bool
    config: str



@dataclass
class _Files:
    """The files that this process has open; change them under the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: dict[_Key, _Opened] = field(default_factory=dict)

    def named(self, key: _Key) -> _Opened:
        """Return the name by which to open a file.

        Of one file several names are open for reading only, because DuckDB would not know of the other's writing.
        """
        if (known := self.opened.get(key)) is not None:
            return known
        others = [other for other in self.opened if other.path == key.path]
        if not others or not all(other.read_only and key.read_only for other in others
                                 if other.identity == key.identity):
            return _Opened(key.path)
        folder = TemporaryDirectory(prefix="registry-")
        name = Path(folder.name) / key.path.name
        link_or_copy(key.path, name)
        return _Opened(name, folder)

    def close(self, key: _Key) -> None:
        """Note that a file was closed once."""
        opened = self.opened[key]
        opened.times -= 1
        if not opened.times:
            del self.opened[key]
            if opened.folder is not None:
                opened.folder.cleanup()


_files = _Files()


def is_open(path: Path) -> bool:
    """Say whether this process has the file at `path`, no link, open."""
    return any(key.path == path for key in list(_files.opened))


@contextmanager
def connected(path: Path, *, read_only: bool, config: dict[str, Any], patience: float,
              reach: Reach = NOWHERE) -> Iterator[Connection]:
    """Open the file at `path`, no link; wait for so many seconds where another process holds it.

    The connection reaches no other file than those of `reach`.
    """
    if any(reach):  # DuckDB takes what is allowed only after it has started, and only while access is on
        config = {key: value for key, value in config.items() if key not in NO_ACCESS}
    connection, key = _patiently(path, {"read_only": read_only, "config": config}, patience)
    try:
        if any(reach):
            confine(driver_of(connection), reach)
        yield connection
    finally:
        with _files.lock:
            roll_back(connection)
            connection.close()
            _files.close(key)


def roll_back(connection: Connection) -> None:
    """Undo a transaction, unless a fatal error has ended DuckDB's database, which then refuses all statements."""
    try:
        connection.rollback()
    except FAILURES as error:
        if not isinstance(cause_of(error), duckdb.FatalException):
            raise


def _connect(path: Path, arguments: dict[str, Any]) -> Connection:
    """Open a file by an engine of its own."""
    return create_engine("duckdb://", connect_args={"database": str(path), **arguments}, poolclass=NullPool,
                         pool_reset_on_return=None).connect()  # transactions end here: a failed file cannot roll back


def _patiently(path: Path, arguments: dict[str, Any], patience: float) -> tuple[Connection, _Key]:
    """Open a file, and give what `_Files.close` needs to know of it."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with _files.lock:
                before = _identity(path)
                key = _Key(path, before, arguments["read_only"], str(arguments["config"]))
                opened = _files.named(key)
                connection = _connect(opened.name, arguments)
                identity = _identity(path)
                if before not in (None, identity):  # by a file that took its place while this one was opened
                    connection.close()
                    continue
                opened.times += 1
                key = key._replace(identity=identity)
                _files.opened[key] = opened
                return connection, key
        except FAILURES as error:
            if not _is_locked(str(error)) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _identity(path: Path) -> Identity | None:
    """What tells a file from another of its name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def transaction(connection: Connection, *, dry_run: bool = False) -> Iterator[None]:
    """Commit what the block leaves open, or undo it; the block may commit in between."""
    try:
        yield
        if dry_run:
            connection.rollback()
        else:
            connection.commit()
    except BaseException:
        roll_back(connection)
        raise


def checkpoint(connection: Connection, path: Path, log: Path) -> None:
    """Bring what is committed from DuckDB's `log`, if it is there, into the file at `path`, no link, itself."""
    if not log.exists():
        return
    driver = driver_of(connection)
    if path.stat().st_size + log.stat().st_size < _SMALL:
        driver.execute("SET disabled_compression_methods = 'fsst'")
    driver.execute("CHECKPOINT")
