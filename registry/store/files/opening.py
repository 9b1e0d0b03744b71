"""How this process opens DuckDB files, and which of them it has open.

The system frees a process's lock on a file when the process closes that file anywhere. So while DuckDB has it open,
nothing else in this process may open it; whoever wants to look into a file takes the lock `opening`, asks `is_open`.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection, Dialect, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from registry.store.files.failures import FAILURES, cause_of
from registry.store.files.reach import NO_ACCESS, NOWHERE, Reach, confine
from registry.store.rows import driver_of
from registry.store.turns.gate import wait_before

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

opening = threading.Lock()
_opened: Counter[Path] = Counter()
_asked: list[dict[str, Any]] = []  # what the engine opens next, and how; for whoever holds the lock


def is_open(path: Path) -> bool:
    """Whether this process has the file at `path`, no link, open."""
    return _opened[path] > 0


@contextmanager
def connected(path: Path, *, read_only: bool, config: dict[str, Any], patience: float,
              commit: float, reach: Reach = NOWHERE) -> Iterator[Connection]:
    """Open the file at `path`, no link; wait for so many seconds where another process holds it.

    Who reads waits up to `commit` seconds more for a commit to be done. The connection reaches no other file than those
    of `reach`.
    """
    if any(reach):  # DuckDB takes what is allowed only after it has started, and only while access is on
        config = {key: value for key, value in config.items() if key not in NO_ACCESS}
    asked = {"database": str(path), "read_only": read_only, "config": config}
    connection = _patiently(path, asked, patience, commit if read_only else 0)
    try:
        if any(reach):
            confine(driver_of(connection), reach)
        yield connection
    finally:
        with opening:
            roll_back(connection)
            connection.close()
            _opened[path] -= 1


def roll_back(connection: Connection) -> None:
    """Undo a transaction, unless a fatal error has ended DuckDB's database, which then refuses all statements."""
    try:
        connection.rollback()
    except FAILURES as error:
        if not isinstance(cause_of(error), duckdb.FatalException):
            raise



@cache
def _engine() -> Engine:
    """The one engine of a process: it compiles a statement once, whatever file it is for."""
    engine = create_engine("duckdb://", poolclass=NullPool,
                           pool_reset_on_return=None)  # transactions end here, and a failed file cannot roll back
    event.listen(engine, "do_connect", _connect)
    return engine


def _connect(dialect: Dialect, *_: object) -> Any:
    if not _asked:  # SQLAlchemy would open a lost connection again, without the tables that hide names from it
        raise RuntimeError("a connection to a registry that was lost is not opened again")
    return dialect.connect(**_asked.pop())


def _patiently(path: Path, asked: dict[str, Any], patience: float, commit: float) -> Connection:
    deadline = time.monotonic() + patience
    while True:
        if commit > 0:
            began = time.monotonic()
            wait_before(path, commit)
            waited = time.monotonic() - began
            deadline, commit = deadline + waited, commit - waited
        try:
            with opening:
                before = _identity(path)
                _asked.append(asked)
                connection = _engine().connect()
                if before not in (None, _identity(path)):  # by a file that took its place while this one was opened
                    connection.close()
                    continue
                _opened[path] += 1
                return connection
        except FAILURES as error:
            if "Could not set lock" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _identity(path: Path) -> tuple[int, int] | None:
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
    """Bring what is committed from DuckDB's `log` into the file at `path`, no link, itself."""
    driver = driver_of(connection)
    if path.stat().st_size + log.stat().st_size < _SMALL:
        driver.execute("SET disabled_compression_methods = 'fsst'")
    driver.execute("CHECKPOINT")
