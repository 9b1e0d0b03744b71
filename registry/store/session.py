"""One command's writing: one or more transactions with one journal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import InputError, MismatchError
from registry.store.concealment import concealing
from registry.store.database import Database, Unfinished
from registry.store.journal import Journal
from registry.store.names import Bringing, Names, names_of

_LEAST = 2**28  # bytes


class Session:
    """A connection in a transaction; `checkpoint` commits what is finished so far and goes on in a new one.

    `bringing` is what the command brings in, for what is said of it.
    """

    def __init__(self, database: Database, unfinished: Unfinished | None, opened: ExitStack, *, dry_run: bool) -> None:
        self._database, self._unfinished, self._opened, self._dry_run = database, unfinished, opened, dry_run
        self._memory: int | None = None
        self.bringing: Bringing | None = None
        self.connection = opened.enter_context((unfinished or database).writing(dry_run=dry_run))

    def bound(self, memory: int) -> None:
        """Let the database take a quarter of so many bytes, of which it needs some; what is more goes to disk."""
        self._memory = memory
        self.connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST, memory // 4)}B'")

    @property
    def names(self) -> Names:
        """What is said instead of names that are hidden from who gave the command."""
        return Names() if self._database.organiser else names_of(self.connection, self.bringing)

    @contextmanager
    def shown(self) -> Iterator[Connection]:
        """The connection, for reading what may be shown of what was written."""
        with nullcontext() if self._database.organiser else concealing(self.connection):
            yield self.connection

    def checkpoint(self) -> None:
        """Make what is finished durable, a new database under its name; on a dry run, nothing is."""
        if self._dry_run:
            return
        if self._unfinished is None:
            self.connection.commit()
        else:
            self.finish()
            self.connection = self._opened.enter_context(self._database.writing())
            if self._memory is not None:
                self.bound(self._memory)

    def finish(self) -> None:
        """End the transaction, and give a new database its name; without `checkpoint`, the connection is no more."""
        self._opened.close()
        if self._unfinished is not None:
            self._unfinished.publish()
            self._unfinished = None


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False) -> Iterator[Session]:
    """Open the database for the writing of one command; `create` makes it if it is not there.

    A new database appears under its name at the first checkpoint, or at the end; a command that fails before leaves
    none behind. A dry run does everything and undoes it; it creates no file either.
    """
    with ExitStack() as stack:
        if create and dry_run and not database.path.exists():
            database.require_free()
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            database = Database(Path(folder) / database.path.name, organiser=database.organiser)
            database.create()
        unfinished = stack.enter_context(database.creating()) if create and not dry_run else None
        session = Session(database, unfinished, stack.enter_context(ExitStack()), dry_run=dry_run)
        try:
            yield session
        except (InputError, MismatchError) as error:
            session.names.conceal(error)
            raise
        journal.close(session.connection)
        session.finish()
