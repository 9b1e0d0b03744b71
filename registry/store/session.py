"""One command's writing, in one transaction on a copy of the registry that takes its place at the end."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.store.database import Database
from registry.store.embargoes import is_public
from registry.store.log.journal import Journal
from registry.store.pairs_of_run import PairsOfRun
from registry.store.replacement import Copy, copy_into, working_copy, write_lock

_TRIES = 3  # of a long computation; on the last one other writers wait for it
_LEAST = 2**28  # bytes of memory that the database needs

T = TypeVar("T")


class Session:
    """A connection in the transaction of a command.

    Attributes:
        connection: To write with.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def bound(self, memory: int | None) -> None:
        """Let the database take a quarter of so many bytes; what needs more goes to disk."""
        if memory is not None:
            self.connection.exec_driver_sql(f"SET memory_limit = '{max(_LEAST, memory // 4)}B'")


@contextmanager
def writing(database: Database, journal: Journal, *, create: bool = False, dry_run: bool = False,
            compact: bool = False) -> Iterator[Session]:
    """Do the writing of one command, while others read and no other command writes.

    All that the block writes is kept, or nothing if it fails. A dry run works in a temporary folder: it needs neither
    the lock nor the right to write.

    Args:
        database: The registry.
        journal: The record of the command.
        create: Whether to make the registry if it is not there.
        dry_run: Whether to keep nothing.
        compact: Whether nothing of what was deleted may be left in the file.

    Raises:
        LockedError: Another process wrote for longer than the database's patience.
        InputError, SchemaError, StoreError: As `working_copy`, or the disk is full.
    """
    with ExitStack() as stack:
        if dry_run:
            if create and not database.exists():
                database.require_free()
            copy = copy_into(Path(stack.enter_context(tempfile.TemporaryDirectory())), database, create=create)
        else:
            database.require_writable(create=create)
            stack.enter_context(write_lock(database, journal.command))
            copy = stack.enter_context(working_copy(database, create=create))
        with _session(copy, database, journal, dry_run=dry_run) as session:
            yield session
        if not dry_run and copy.is_changed:
            copy.publish(compact=compact)


def create(database: Database) -> bool:
    """Create a registry unless it is there; say whether it was created.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    if not database.exists():
        database.require_writable(create=True)
        with write_lock(database, "init"), working_copy(database, create=True) as copy:
            if copy.is_new:
                copy.publish()
                return True
    with database.reading():  # refuses another schema
        return False


def computed(database: Database, journal: Journal, work: Callable[[Session], T], *, dry_run: bool = False) -> T:
    """Do the writing of a command that computes for long: others write while it does.

    `work` is done in a copy, without the lock. If others have written meanwhile, it is done once more on what there is
    then, where it finds the results of pairs that it stored before; the last time others wait for it.

    Raises:
        LockedError, InputError, SchemaError, StoreError: As `writing`.
    """
    if dry_run:
        with writing(database, journal, dry_run=True) as session:
            return work(session)
    pairs: PairsOfRun | None = None
    for is_last in (*[False] * (_TRIES - 1), True):
        began = time.monotonic()
        with ExitStack() as stack:
            if is_last:
                stack.enter_context(write_lock(database, journal.command))
            copy = stack.enter_context(working_copy(database))
            with _session(copy, database, journal) as session:
                if pairs is not None:
                    pairs.keep(session.connection, journal.run_id(session.connection))
                result = work(session)
            if not copy.is_changed:
                return result
            if not is_last:  # what took long to compute is not given up soon
                stack.enter_context(write_lock(database, journal.command, time.monotonic() - began))
            if is_last or copy.is_current():
                copy.publish()
                return result
            with copy.database.holding() as connection:
                pairs = PairsOfRun.of(connection, journal.run_id(connection))
            journal.forget()
    raise AssertionError


@contextmanager
def _session(copy: Copy, database: Database, journal: Journal, *, dry_run: bool = False) -> Iterator[Session]:
    """Do all of a command's writing.

    Raises:
        StoreError: The registry is a public file.
    """
    with copy.database.writing(dry_run=dry_run) as connection:
        if is_public(connection):
            raise StoreError(database.named, "this is a public file, which commands only read; name the registry's own "
                                             "file with --db")
        session = Session(connection)
        journal.begin(connection)
        yield session
        journal.close(connection)
