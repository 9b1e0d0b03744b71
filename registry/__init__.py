"""A declarative, database-backed evaluation registry for shared tasks.

Gold annotations and system outputs become per-item sufficient statistics in DuckDB; significance tests run over those
statistics on demand; every result is stored with what it takes to reproduce it.

Public are `open`, the `Registry` and `Result` that it leads to (`registry.api`), and the errors (`registry.errors`).
All other modules are internal: the command line, SQL and files are the ways to use what they do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from registry.version import __version__

if TYPE_CHECKING:
    from registry.api import Registry

__all__ = ["__version__", "open"]


def open(path: str | Path, *, organiser: bool = False) -> Registry:  # noqa: A001  (registry.open is what it is)
    """Open the registry at `path` for reading; an `organiser` also reads hidden names and scores.

    Raises:
        InputError: There is no registry.
        SchemaError: It is of another version than this program.
        LockedError: Another process writes to it.
    """
    from registry.api import Registry

    return Registry(path, organiser=organiser)
