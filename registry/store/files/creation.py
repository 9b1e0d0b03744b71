"""Who may create a database: one process at a time, in an unfinished file that nobody else opens.

A process that creates `r.duckdb` holds the system's lock on `.r.duckdb.lock` beside it, does its work in
`.r.duckdb.new`, and gives that file its name when there is something in it to keep. A name that is taken is never
replaced, and nothing that has the name is ever removed, so no command can take away what another has written. The
system frees the lock of a process that ends, however it ends: what is unfinished under a free lock has no owner.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from registry.errors import LockedError
from registry.files import publish
from registry.store.turns.locks import beside, free, taken


class Creation:
    """The right to create the file at `path`, held from entering to `publish`, or to leaving.

    What is made in `unfinished` gets its name by `publish`, else it is removed.

    Args:
        path: Of the file to be.
        patience: How many seconds to wait where another process holds the right.

    Raises:
        LockedError: Another process holds it for longer.
        OSError: The folder cannot be written to.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self.path, self._patience = path, patience
        self.unfinished = beside(path, "new")
        self._lock = beside(path, "lock")
        self._held: int | None = None  # the open lock

    def __enter__(self) -> Self:
        deadline = time.monotonic() + self._patience
        while (held := taken(self._lock)) is None:
            if time.monotonic() > deadline:
                raise LockedError(self.path, _holder(self._lock))
            time.sleep(0.02)
        self._held = held
        os.write(held, str(os.getpid()).encode().ljust(20))
        self._discard()  # what a process that was killed has left
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def publish(self) -> None:
        """Give the unfinished file, which nobody has open, its name.

        Raises:
            FileExistsError: Another program has made a file there meanwhile; it stays as it is.
        """
        publish(self.unfinished, self.path)
        self._end()

    def _end(self) -> None:
        if self._held is not None:
            self._discard()
            free(self._held, self._lock)
            self._held = None

    def _discard(self) -> None:
        for path in (self.unfinished, self.unfinished.with_name(self.unfinished.name + ".wal")):
            path.unlink(missing_ok=True)


def sweep(path: Path) -> None:
    """Remove what a killed process has left beside the file at `path`, unless somebody is creating it right now."""
    if beside(path, "lock").exists():
        with suppress(LockedError, OSError), Creation(path, 0):
            pass


def _holder(lock: Path) -> int | None:
    """The process that holds the lock, as it has written there."""
    with suppress(OSError, ValueError):
        return int(lock.read_text())
    return None
