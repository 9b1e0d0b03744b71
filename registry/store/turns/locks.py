"""The system's locks on files: freed when the process that holds them ends, however it ends.

They are those of `flock`, which are none of DuckDB's: DuckDB locks the database itself by `fcntl`.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: there a lock is held as long as its file is there
    fcntl = None  # type: ignore[assignment]


def beside(path: Path, what: str) -> Path:
    """A file of the registry's own beside the database at `path`."""
    return path.with_name(f".{path.name}.{what}")


def has_locks() -> bool:
    """Whether the system has locks that end with their process."""
    return fcntl is not None


def taken(lock: Path) -> int | None:
    """The lock's open file, if it can be had now."""
    if fcntl is None:
        with suppress(FileExistsError):
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        return None
    file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file), lock.stat()):  # else its last holder has removed it meanwhile
            return file
    os.close(file)
    return None


def free(file: int, lock: Path) -> None:
    """Let the lock go; its file is removed under the lock, where the system lets open files be removed."""
    if fcntl is None:
        os.close(file)
        lock.unlink(missing_ok=True)
    else:
        lock.unlink(missing_ok=True)
        os.close(file)


def wait_until_free(lock: Path, seconds: float) -> bool:
    """Wait until nobody holds the lock, for so long at most; says whether that is so.

    The system wakes a process that waits, and a thread does the waiting, because the system knows no end of it.
    """
    if fcntl is None:
        return not lock.exists()
    try:
        file = os.open(lock, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
        if seconds <= 0:
            return False
        waiting = threading.Thread(target=fcntl.flock, args=(file, fcntl.LOCK_SH), daemon=True)
        waiting.start()
        waiting.join(seconds)
        return not waiting.is_alive()
    finally:
        os.close(file)


def is_shared(database: IO[bytes]) -> bool:
    """Take DuckDB's own lock of a file as its readers do, if no process writes to it now."""
    try:
        fcntl.lockf(database, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
