"""Connections to DuckDB files, and explanations of DuckDB's errors.

Within a process, DuckDB assumes that a path always means the same file, even if another file has replaced the first
file. DuckDB also opens a path with one configuration only. If a path is still open for an older file, or with other
settings, this module therefore opens the file under another name. A connection can access another file only if the
caller lists that file.
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
from registry.store.rows import get_driver, quote

_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: \(PID (\d+)\))?(?: by user .+?)?\. "
                     r"|File is already open in\s+(.+?) \(PID (\d+)\)")  # the second pattern is for Windows
_FAILURE = re.compile(r"(?:IO Error|Failed to commit): (.+)")
_DISK_FULL = ("No space left", "File too large", "Disk quota", "not enough disk space", "out of disk space")

FAILURES = (DBAPIError, duckdb.Error)  # types of DuckDB's errors, with or without SQLAlchemy


def unwrap_error(error: BaseException) -> BaseException | None:
    """Return the DuckDB error that an SQLAlchemy error wraps; other errors unchanged."""
    return error.orig if isinstance(error, DBAPIError) else error


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Convert DuckDB's errors in a `with` block into errors that users understand.

    Args:
        path: Path of the database file, for the messages.
    """
    try:
        yield
    except FAILURES as error:
        cause = unwrap_error(error)
        if isinstance(cause, duckdb.OutOfMemoryException):
            raise MemoryError("DuckDB needs more memory than its limit") from None
        if (explanation := explain(str(cause), path)) is None:
            raise
        raise explanation from None


def explain(message: str, path: Path) -> RegistryError | None:
    """Convert an error message of DuckDB into an error that users understand.

    The result is None if the message is not about the use of the file at `path`.
    """
    if _is_locked(message):
        holder = _HOLDER.search(message)
        name, pid = (holder[1] or holder[3], holder[2] or holder[4]) if holder else (None, None)
        return LockedError(path, int(pid) if pid else None, Path(name).name if name else None)
    if "not a valid DuckDB database file" in message:
        return InputError("not a DuckDB database; name another file with --db", path=path)
    if "newer version" in message or "version number" in message:
        return InputError(f"written by another version of DuckDB than {duckdb.__version__} can open", path=path)
    if any(phrase.lower() in message.lower() for phrase in _DISK_FULL):
        return StoreError(path, "the disk is full or a size limit is reached, so nothing was stored; "
                                "free some space and run the command again")
    if failure := _FAILURE.search(message):  # contains the resolved path
        reason = failure[1].replace(str(path.resolve().parent), str(path.parent))
        return StoreError(path, f"cannot use the file: {reason}")
    return None


def _is_locked(message: str) -> bool:
    """Return True if a DuckDB message says that another process has the file open.

    The messages on Windows and Linux differ.
    """
    return any(phrase in message for phrase in (
        "Could not set lock", "File is already open in", "being used by another process"))


NO_ACCESS = {"enable_external_access": "false"}  # DuckDB still opens the database, its log and its temporary folder


class Reach(NamedTuple):
    """Files and folders that SQL on a connection may read and write."""

    files: Sequence[Path] = ()
    folders: Sequence[Path] = ()


NOWHERE = Reach()


def confine(driver: Any, reach: Reach) -> None:
    """Forbid SQL on a connection to access any file that is not in `reach`.

    Call this before any query. DuckDB accepts these settings only after its start, and only while access to files is
    enabled.
    """
    # DuckDB checks the pattern in a call of `read_parquet`, and not only the files that match the pattern.
    folders = [name for folder in reach.folders for name in (str(folder), glob.escape(str(folder)))]
    for setting, paths in (("allowed_paths", reach.files), ("allowed_directories", folders)):
        driver.execute(f"SET {setting} = [{', '.join(map(quote, paths))}]")
    driver.execute("SET enable_external_access = false")


# The storage version of new files: every DuckDB since 1.2 opens it.
STORAGE_VERSION = "v1.2.0"
# An eighth of DuckDB's default: a small task needs 2.5 MB instead of 14 MB, and 1,000 systems with 10,000 items need
# 23 MB (25 MB with 64 KiB). Bulk inserts have the same speed. With 16 KiB, DuckDB does not compress columns.
BLOCK_SIZE = "32768"
# A registry may come from a stranger, and its views and macros may call any function of DuckDB. So connections cannot
# access other files, secrets or Python variables.
CONFIG: dict[str, Any] = NO_ACCESS | {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": BLOCK_SIZE,
}
# For SQL of users: DuckDB may not write temporary files for data that does not fit into memory.
CONFINED_CONFIG = CONFIG | {"temp_directory": ""}

# If file and log together are smaller than this size in bytes, texts are not compressed by FSST. FSST needs half of the
# time of a checkpoint, and does not make a small task (2.5 MB) smaller.
_SMALL = 5 * 2**20

Identity = tuple[int, int]  # device and inode; they change if another file replaces the file at a path


@dataclass
class _OpenFile:
    """A database file that this process has open.

    Attributes:
        name: Path under which DuckDB has opened the file.
        folder: Temporary folder that contains `name`; None if DuckDB has opened the original path.
        n_connections: Number of open connections.
    """

    name: Path
    folder: TemporaryDirectory[str] | None = None
    n_connections: int = 0


class _Key(NamedTuple):
    path: Path
    identity: Identity | None
    read_only: bool
    config: str


@dataclass
class _Files:
    """The database files that this process has open.

    The attribute `lock` must be held to change them.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    open_files: dict[_Key, _OpenFile] = field(default_factory=dict)

    def choose_name(self, key: _Key) -> _OpenFile:
        """Choose the path under which DuckDB opens a file.

        DuckDB cannot open one path with two configurations, or for two files. A second file or configuration therefore
        gets another path: a link in a temporary folder. This is done only if all connections to the file are read-only,
        because DuckDB does not notice changes that are made under another path.
        """
        if (open_file := self.open_files.get(key)) is not None:
            return open_file
        same_path = [other for other in self.open_files if other.path == key.path]
        if not same_path or not all(other.read_only and key.read_only for other in same_path
                                    if other.identity == key.identity):
            return _OpenFile(key.path)
        folder = TemporaryDirectory(prefix="registry-")
        name = Path(folder.name) / key.path.name
        link_or_copy(key.path, name)
        return _OpenFile(name, folder)

    def close(self, key: _Key) -> None:
        """Record that a connection was closed; forget a file without connections."""
        file = self.open_files[key]
        file.n_connections -= 1
        if not file.n_connections:
            del self.open_files[key]
            if file.folder is not None:
                file.folder.cleanup()


_files = _Files()


def is_open(path: Path) -> bool:
    """Return True if this process has the database at `path` open.

    `path` must have no symbolic links.
    """
    return any(key.path == path for key in list(_files.open_files))


@contextmanager
def connecting(path: Path, *, read_only: bool, config: dict[str, Any], patience: float,
               reach: Reach = NOWHERE) -> Iterator[Connection]:
    """Open a DuckDB file for a `with` block.

    Args:
        path: Path without symbolic links.
        read_only: Whether the connection only reads.
        config: Configuration of DuckDB.
        patience: Seconds to wait if another process has the file open.
        reach: Other files that the connection may access.
    """
    if any(reach):  # DuckDB accepts lists of allowed files only after its start, and only while access is enabled
        config = {key: value for key, value in config.items() if key not in NO_ACCESS}
    connection, key = _connect(path, read_only, config, patience)
    try:
        if any(reach):
            confine(get_driver(connection), reach)
        yield connection
    finally:
        with _files.lock:
            roll_back(connection)
            connection.close()
            _files.close(key)


def roll_back(connection: Connection) -> None:
    """Roll back the transaction of a connection.

    This does nothing after a fatal error, because DuckDB then refuses all statements.
    """
    try:
        connection.rollback()
    except FAILURES as error:
        if not isinstance(unwrap_error(error), duckdb.FatalException):
            raise


def _connect(path: Path, read_only: bool, config: dict[str, Any], patience: float) -> tuple[Connection, _Key]:
    deadline = time.monotonic() + patience
    while True:
        try:
            with _files.lock:
                identity = _identify(path)
                key = _Key(path, identity, read_only, str(config))
                file = _files.choose_name(key)
                arguments = {"database": str(file.name), "read_only": read_only, "config": config}
                # No reset on return, because the rollback of a damaged file fails.
                connection = create_engine("duckdb://", connect_args=arguments, poolclass=NullPool,
                                           pool_reset_on_return=None).connect()
                opened_identity = _identify(path)
                if identity not in (None, opened_identity):  # another file has replaced it in the meantime
                    connection.close()
                    continue
                file.n_connections += 1
                key = key._replace(identity=opened_identity)
                _files.open_files[key] = file
                return connection, key
        except FAILURES as error:
            if not _is_locked(str(error)) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _identify(path: Path) -> Identity | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


@contextmanager
def transaction(connection: Connection, *, dry_run: bool = False) -> Iterator[None]:
    """Commit the changes of a `with` block at its end; roll them back if it fails.

    A dry run also rolls them back. If the block itself commits, its earlier changes remain.
    """
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
    """Move committed changes from DuckDB's write-ahead log into the file.

    Args:
        connection: Connection to the file.
        path: Path of the file, without symbolic links.
        log: Path of the write-ahead log; nothing happens if it does not exist.
    """
    if not log.exists():
        return
    driver = get_driver(connection)
    if path.stat().st_size + log.stat().st_size < _SMALL:
        driver.execute("SET disabled_compression_methods = 'fsst'")
    driver.execute("CHECKPOINT")
