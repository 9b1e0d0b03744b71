"""One command's writing: one or more transactions with one journal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import RegistryError
from registry.store.database import Database
from registry.store.journal import Journal

_LEAST = 2**28  # bytes


class Session:
    """A connection in a transaction; `checkpoint` commits what is finished so far and goes on in a new one."""

    def __init__(self, connection: Connection, *, dry_run: bool) -> None:
        self.connection, self._dry_run, self.kept = connection, dry_run, False

    def bound(self, memory: int) -> None:
        """Let the database take a quarter of so many bytes, of which it needs some; what is more goes to disk."""
        self.connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST, memory // 4)}B'")

    def checkpoint(self) -> None:
        """Make what is finished durable; on a dry run, nothing is."""
        if not self._dry_run:
            self.connection.commit()
            self.kept = True


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False) -> Iterator[Session]:
    """Open the database for the writing of one command; `create` makes it if it is not there.

    A dry run does everything and undoes it; it creates no file either.
    """
    with ExitStack() as stack:
        if create and dry_run and not database.path.exists():
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            database = Database(Path(folder) / database.path.name)
        new = create and not database.path.exists()
        if create and (new or not dry_run):
            database.create()
        session = None
        try:
            with database.writing(dry_run=dry_run) as connection:
                session = Session(connection, dry_run=dry_run)
                yield session
                journal.close(connection)
        except RegistryError:
            if new and session is not None and not session.kept:
                database.path.unlink()  # nothing came of it: leave no empty registry behind
            raise
