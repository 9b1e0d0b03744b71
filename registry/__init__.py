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


def open(path: str | Path, *, at: str | None = None, organiser: bool = False) -> Registry:  # noqa: A001  (its name)
    """Open the registry at `path` for reading; an `organiser` also reads hidden names and scores.

    Args:
        path: Its file.
        at: As it stood at the end of a date (UTC), at a time with its zone, or when the command had ended that made the
            comparison with this signature, or the id at its end; what is not known of then is a warning.
        organiser: Whether names in anonymous tasks and scores in blind phases are read too.

    Raises:
        InputError: There is no registry, or there was none then, or `at` is no moment.
        UnknownNameError: No comparison has the signature.
        SchemaError: It is of another version than this program.
        LockedError: Another process writes to it.
    """
    from registry.api import Registry

    return Registry(path, at=at, organiser=organiser)
