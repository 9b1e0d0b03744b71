"""One command's writing: it waits for its turn, computes in a copy, and holds the database for its commit alone.

A long computation does not keep others from writing either: `computed` takes the turn only to commit, and computes once
more what is new where others have written meanwhile.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, StoreError
from registry.store.database import Database
from registry.store.hiding.concealment import concealing
from registry.store.hiding.names import Bringing, Names, names_of
from registry.store.log.journal import Journal
from registry.store.turns.tickets import Turn
from registry.store.working.pairs_of_run import PairsOfRun
from registry.store.working.working_copy import WorkingCopy, committing, limit, working_copy

_TRIES = 3  # the last of which others wait for
_SHORT = 1.0  # seconds for which others may wait

T = TypeVar("T")


class Session:
    """A connection in the transaction of a command, whatever that is made in.

    Attributes:
        connection: To write with.
        bringing: What the command brings in, for what is said of it.
    """

    def __init__(self, connection: Connection, database: Database, copy: WorkingCopy | None = None) -> None:
        self.connection, self._copy = connection, copy
        self.bringing: Bringing | None = None
        self._organiser = database.organiser

    def bound(self, memory: int) -> None:
        """Let the database take a quarter of so many bytes, of which it needs some; what is more goes to disk."""
        limit(self.connection, memory)
        if self._copy is not None:
            self._copy.memory = memory

    @property
    def names(self) -> Names:
        """What is said instead of names that are hidden from who gave the command."""
        return Names() if self._organiser else names_of(self.connection, self.bringing)

    @property
    def is_shown_later(self) -> bool:
        """Whether what was written is better read from the database, once it is there."""
        return self._copy is not None and self._copy.recording.has_postponed

    @contextmanager
    def shown(self) -> Iterator[Connection]:
        """The connection, for reading what may be shown of what was written."""
        with nullcontext() if self._organiser else concealing(self.connection):
            yield self.connection


@contextmanager
def _session(connection: Connection, database: Database, journal: Journal,
             copy: WorkingCopy | None = None) -> Iterator[Session]:
    """Do all of a command's writing; what goes wrong in the block is told without the names that are hidden."""
    session = Session(connection, database, copy)
    journal.begin(connection)
    try:
        yield session
    except (InputError, MismatchError) as error:
        session.names.conceal(error)
        raise
    journal.close(connection)


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False) -> Iterator[Session]:
    """Do the writing of one command in its turn; `create` makes the database if it is not there.

    Others read meanwhile: the block works in a copy, or in a new database, which appears under its name at the end.
    All that it writes is committed then, or nothing where it fails. A dry run does everything and undoes it; it needs
    no turn, and creates no file either.

    Raises:
        LockedError: Other writers, or readers, did not end in time.
        InputError, SchemaError, StoreError: As `Database.writing`, or `Database.creating`.
    """
    with ExitStack() as stack:
        if dry_run:
            yield from _rehearsing(stack, database, journal, create=create)
            return
        if create and not database.exists():
            database.require_free()
            if not os.access(database.path.parent, os.W_OK):
                raise StoreError(database.path, "cannot create the database: its folder is read-only; --db names "
                                                "another place")
        else:
            database.require_writable()
        stack.enter_context(Turn(database.path, journal.command, database.patience))
        unfinished = stack.enter_context(database.creating()) if create else None
        if unfinished is None:
            copy = stack.enter_context(working_copy(database, beside=True))
            with _session(copy.connection, database, journal, copy) as session:
                yield session
            if copy.is_changed:
                copy.publish()
        else:
            with unfinished.writing() as connection, _session(connection, database, journal) as session:
                yield session
            unfinished.publish()


def _rehearsing(stack: ExitStack, database: Database, journal: Journal, *, create: bool) -> Iterator[Session]:
    """What is done in a copy, or in a new database elsewhere, and not kept."""
    if create and not database.exists():
        database.require_free()
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        new = Database(Path(folder) / database.path.name)
        new.create()
        connection = stack.enter_context(new.writing(dry_run=True))
    else:
        connection = stack.enter_context(working_copy(database, beside=False)).connection
    with _session(connection, database, journal) as session:
        yield session


@contextmanager
def keeping(database: Database, journal: Journal) -> Iterator[Connection]:
    """Write what is known already, in the command's turn: the database is held as long as the block takes.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    database.require_writable()
    with (Turn(database.path, journal.command, database.patience),
          committing(database) as connection):
        journal.begin(connection)
        yield connection
        journal.close(connection)


def computed(database: Database, journal: Journal, work: Callable[[Session], T], *, dry_run: bool = False) -> T:
    """Do the writing of a command that computes for long: others write while it does.

    `work` is done in a copy that is made in the command's turn, and what it wrote is committed in another turn. Where
    others have written in between, it is done once more on what there is then, where the results of pairs that it
    stored before are known. Others wait for it when it takes no time, and on the last of a few tries.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    if dry_run:
        with writing(database, journal, dry_run=True) as session:
            return work(session)
    database.require_writable()
    pairs: PairsOfRun | None = None
    took = math.inf
    for tries in count(1):
        with ExitStack() as stack:
            turn = Turn(database.path, journal.command, database.patience)
            is_mine = stack.enter_context(ExitStack())
            is_mine.enter_context(turn)
            began = time.monotonic()
            copy = stack.enter_context(working_copy(database, beside=True))
            is_last = took < _SHORT or tries == _TRIES
            if not is_last:
                is_mine.close()
            with _session(copy.connection, database, journal, copy) as session:
                if pairs is not None:
                    pairs.keep(copy.connection, journal.run_id(copy.connection))
                result = work(session)
            if not copy.is_changed:
                return result
            took = time.monotonic() - began
            if not is_last:
                is_mine.enter_context(turn.lasting(took))
            if is_last or copy.is_current():
                copy.publish(took)
                return result
            pairs = PairsOfRun.of(copy.connection, journal.run_id(copy.connection))
            journal.forget()
    raise AssertionError
