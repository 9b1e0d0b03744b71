"""One DuckDB file, opened briefly for reading or for one transaction; what can go wrong is named.

One process writes or many read. A reader that meets a writer waits a little, then says which process holds the file.

What is committed stands in DuckDB's log beside the file at first. It is brought into the file before a transaction is
said to have succeeded, and by the next process that opens the database after one was killed: people copy that file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection

from registry.errors import InputError, NoRegistryError, RegistryError, StoreError
from registry.files import is_database
from registry.store import schema
from registry.store.files import definitions
from registry.store.files.creation import Creation, sweep
from registry.store.files.failures import explaining
from registry.store.files.opening import CONFIG, CONFINED_CONFIG, checkpoint, connected, is_open, opening, transaction
from registry.store.files.reach import NOWHERE, Reach
from registry.store.hiding.concealment import conceal
from registry.store.log.moments import Moment
from registry.store.turns.tickets import PATIENCE, Patience

_IS_LOCKED = "SELECT current_setting('lock_configuration')"
RETRY_SECONDS = 2.0
CREATION_SECONDS = 10.0  # to wait for another process that creates the file: making the schema alone takes a second
_TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")


class Database:
    """The registry's file at `path`.

    Attributes:
        path: Where it is.
        named: What errors call it.
        patience: How long commands wait for their turn to write to it, and who is told.
        organiser: Whether its readers see also what is hidden from others.
        moment: The moment of the past that its readers see; None: they see it as it is.
    """

    moment: Moment | None = None

    def __init__(self, path: str | Path, *, named: Path | None = None, patience: Patience = PATIENCE,
                 organiser: bool = False) -> None:
        self.path = Path(path)
        self.named = named or self.path
        self.patience = patience
        self.organiser = organiser

    @contextmanager
    def reading(self, config: dict[str, Any] = CONFIG, *, asks: bool = False,
                reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open for reading what is not hidden; many processes may at a time.

        Args:
            config: Of DuckDB.
            asks: Whether SQL that a user wrote is to be answered.
            reach: The other files that may be read and written.

        Raises:
            InputError: There is no registry at the path.
            SchemaError: It is of another version than the program.
            LockedError: A writer holds it.
        """
        self._require()
        self.settle()
        with self._connection(read_only=True, config=config, reach=reach) as connection:
            schema.check(connection, self.named)
            self._turn_back(connection)
            if not self.organiser:
                conceal(connection, asks=asks)
            yield connection

    def _turn_back(self, connection: Connection) -> None:
        """Let readers see the moment that is meant."""

    @contextmanager
    def querying(self, *, memory: int | None = None, output: Path | None = None) -> Iterator[Connection]:
        """Open for SQL that a user wrote: read-only, without access to files or disk, its settings locked.

        Args:
            memory: How many bytes DuckDB may take; None: as many as it does by itself.
            output: The one file that may be written.

        Raises:
            InputError, SchemaError, LockedError: As `reading`.
        """
        config = CONFINED_CONFIG | ({} if memory is None else {"memory_limit": f"{memory}B"})
        reach = NOWHERE if output is None else Reach(files=[output])
        with self.reading(config, asks=True, reach=reach) as connection:
            if not connection.exec_driver_sql(_IS_LOCKED).scalar_one():  # as where this process has it open already
                connection.exec_driver_sql("SET lock_configuration = true")
            yield connection

    @contextmanager
    def writing(self, *, dry_run: bool = False, patience: float | None = None,
                reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open for one transaction, committed at the end unless something is raised or it is a dry run.

        Commands go by `session.writing`, which waits for their turn and computes nothing while the file is held. Other
        files than those of `reach` cannot be read or written.

        Raises:
            InputError, SchemaError, LockedError: As `reading`.
            StoreError: The disk is full, or the file cannot be written; the transaction is undone.
        """
        self.require_writable()
        with self._connection(patience=patience, reach=reach) as connection:
            schema.check(connection, self.named)
            with transaction(connection, dry_run=dry_run):
                yield connection
            self._complete(connection)

    @contextmanager
    def holding(self, *, read_only: bool = False, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open whatever the schema is, for this process alone unless `read_only`; the block commits.

        A file that is not there is made. Other files than those of `reach` cannot be read or written.

        Raises:
            InputError: It is no DuckDB database.
            LockedError: Another process has it open.
            StoreError: It is read-only, and more is wanted.
        """
        if self.exists():
            self._require()
            if not read_only:
                self.require_writable()
        with self._connection(read_only=read_only, reach=reach) as connection:
            yield connection

    def create(self) -> bool:
        """Create the registry, unless it is there; says whether it was created.

        Raises:
            InputError: The path cannot hold a registry: no such folder, or another file is there.
            SchemaError: Another version of the program made it.
            LockedError: Another process is creating it, or holds it.
        """
        with self.creating() as unfinished:
            if unfinished is not None:
                unfinished.publish()
                return True
        self._require()
        self.settle()
        with self.holding(read_only=True) as connection:
            schema.check(connection, self.path)
        return False

    @contextmanager
    def creating(self) -> Iterator[Unfinished | None]:
        """Make a new registry that has no name yet; gives None where a database is there already.

        Raises:
            InputError, LockedError: As `create`.
            StoreError: The folder cannot be written to.
        """
        with ExitStack() as stack:
            unfinished = None
            if self.exists():
                sweep(self.path)
            else:
                self.require_free()
                try:
                    creation = stack.enter_context(Creation(self.path, CREATION_SECONDS))
                except OSError as error:
                    raise StoreError(self.path, f"cannot create the database: {error.strerror}; --db names another "
                                                "place") from None
                if self.exists():  # by now
                    stack.close()
                else:
                    unfinished = Unfinished(creation)
                    unfinished._make()
            yield unfinished

    def _make(self) -> None:
        """Make the schema."""
        with self._connection() as connection:
            with transaction(connection):
                schema.make(connection)
            self._complete(connection)

    def _complete(self, connection: Connection) -> None:
        """Bring what is committed from the log into the file itself."""
        if not self.log.exists():
            return
        try:
            checkpoint(connection, self._real, self.log)
        except duckdb.Error as error:
            why = str(error).partition("\n")[0]
            raise StoreError(self.named, f"all is committed, but stands in {self.log.name} and not yet in the file; "
                                         f"keep the two together, and run the command again ({why})") from None

    def settle(self) -> None:
        """Bring what a killed process has committed into the file itself, where that can be done now.

        Where it cannot, as on a read-only disk or beside other readers, DuckDB reads the log too.
        """
        if self.log.exists() and not is_open(self._real) and self._is_writable():
            with suppress(RegistryError), self._connection(patience=0) as connection:
                self._complete(connection)

    def require_free(self) -> None:
        """Refuse a path where no new registry can or should be made."""
        if self.path.suffix.lower() in _TABLES:
            raise InputError(f"DuckDB would take a file called *{self.path.suffix} for a table; name it *.duckdb",
                             path=self.path)
        if not self.path.parent.is_dir():
            raise InputError("no such folder; make it first", path=self.path.parent)
        if self.path.is_symlink():
            raise InputError("a symbolic link that leads nowhere; remove it or name another file", path=self.path)
        if self.log.exists():
            raise InputError(f"{self.log.name} stands here without its database, and would be played into a new one; "
                             "put the database back beside it, or remove it", path=self.path)

    @property
    def _real(self) -> Path:
        """The file that symbolic links lead to, which DuckDB opens, with its log beside it."""
        return self.path.resolve()

    @property
    def log(self) -> Path:
        """DuckDB's write-ahead log, which need not be there."""
        return self._real.with_name(f"{self._real.name}.wal")

    def exists(self) -> bool:
        """Whether anything has the name.

        Raises:
            InputError: The path cannot be used.
        """
        try:
            return self.path.exists()
        except OSError as error:
            raise InputError(f"cannot use this path: {error.strerror}", path=self.path) from None

    def _require(self) -> None:
        if not self.exists():
            raise NoRegistryError(self.path)
        if not self.path.is_file():
            raise InputError("not a file, so not a registry", path=self.path)
        with opening:
            try:
                known = is_open(self._real) or is_database(self.path)
            except OSError as error:
                raise InputError(f"cannot read the file: {error.strerror}", path=self.path) from None
        if not known:  # DuckDB itself would read a file called *.csv or *.parquet as a table
            raise InputError("this file is no DuckDB database; name another with --db", path=self.path)

    def _is_writable(self) -> bool:
        return os.access(self._real, os.W_OK) and os.access(self._real.parent, os.W_OK)

    def require_writable(self) -> None:
        """Refuse a file that is no database, and to write where only the log, or not even that, could be written."""
        self._require()
        if not self._is_writable():
            raise StoreError(self.named, "the database is read-only, the file or its folder, so commands can only read "
                                         "it; copy the file to where you may write, and name the copy with --db")

    @contextmanager
    def _connection(self, *, read_only: bool = False, config: dict[str, Any] = CONFIG,
                    patience: float | None = None, reach: Reach = NOWHERE) -> Iterator[Connection]:
        patience = RETRY_SECONDS if patience is None else patience
        with (explaining(self.named), connected(self._real, read_only=read_only, config=config, patience=patience,
                                                commit=self.patience.seconds, reach=reach) as connection,
              definitions.blaming(connection, self.named)):
            yield connection


class Unfinished(Database):
    """A new registry that has no name yet; no other process opens it."""

    def __init__(self, creation: Creation) -> None:
        super().__init__(creation.unfinished, named=creation.path)
        self._creation = creation

    def publish(self) -> None:
        """Give it its name; no connection to it may be open.

        Raises:
            InputError: Another program has made a file of that name meanwhile.
            StoreError: The folder cannot be written to any more.
        """
        try:
            self._creation.publish()
        except FileExistsError:
            raise InputError("another program has made this file meanwhile; run the command again", path=self.named
                             ) from None
        except OSError as error:
            raise StoreError(self.named, f"cannot create the database: {error.strerror}") from None
