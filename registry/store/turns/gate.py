"""A gate before the database: who is about to commit closes it, so that readers who come one after the other let it in.

A reader waits before a closed gate until the commit is done, for as long as that takes; one that finds it open goes in.
The gate is the system's lock on `.r.duckdb.gate`, which is there while it is closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from registry.store.turns.locks import beside, free, has_locks, taken, wait_until_free


def wait_before(path: Path, seconds: float) -> None:
    """Wait until the gate of the file at `path`, no link, is open, for so many seconds at most."""
    gate = beside(path, "gate")
    if has_locks() and wait_until_free(gate, seconds) and gate.exists():  # of a process that was killed
        with suppress(OSError):  # where the folder is read-only it stays, which does no harm
            if (held := taken(gate)) is not None:
                free(held, gate)


@contextmanager
def closed_gate(path: Path) -> Iterator[None]:
    """Keep further readers of the file at `path` out, where that can be done now."""
    gate = beside(path, "gate")
    held = taken(gate) if has_locks() else None
    try:
        yield
    finally:
        if held is not None:
            free(held, gate)
