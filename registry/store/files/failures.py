"""What DuckDB says of a file that it cannot use, as the registry's own errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from sqlalchemy.exc import DBAPIError

from registry.errors import InputError, LockedError, RegistryError, StoreError

_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: \(PID (\d+)\))?(?: by user .+?)?\. ")
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
    if "Could not set lock" in message:
        holder = _HOLDER.search(message)
        pid = int(holder.group(2)) if holder and holder.group(2) else None
        return LockedError(path, pid, Path(holder.group(1)).name if holder else None)
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
