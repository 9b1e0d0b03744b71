"""One DuckDB file, opened for reading, or for one transaction by the only process that knows it.

What everybody reads is never written to: `replacement` puts a new file in its place. Another program may write to it:
a reader that meets it waits a little, then says which process holds the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from registry.errors import InputError, LockedError, NoRegistryError, StoreError
from registry.files import is_database
from registry.platforms import is_open_elsewhere
from registry.store import definitions, schema
from registry.store.embargoes import note_hidden
from registry.store.files import (
    CONFIG,
    CONFINED_CONFIG,
    NOWHERE,
    Reach,
    checkpoint,
    connected,
    explaining,
    is_open,
    transaction,
)
from registry.store.log import Moment

_IS_LOCKED = "SELECT current_setting('lock_configuration')"
RETRY_SECONDS = 2.0
_TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Patience:
    """How long a command waits for its turn to write, and who is told whom it waits for."""

    seconds: float = 60.0
    tell: Callable[[str], None] | None = None


class Database:
    """The registry's file at `path`.

    Attributes:
        path: Where it is.
        named: What errors call it.
        patience: How long commands wait for their turn to write to it, and who is told.
        notify: Called with what of it is not public, in sentences, when it is read first.
        moment: The moment of the past that its readers see; None: they see it as it is.
    """

    moment: Moment | None = None

    def __init__(self, path: str | Path, *, named: Path | None = None, patience: Patience | None = None,
                 notify: Callable[[Sequence[str]], None] | None = None) -> None:
        self.path = Path(path)
        self.named = named or self.path
        self.patience = patience or Patience()
        self.notify = notify

    @contextmanager
    def reading(self, config: dict[str, Any] = CONFIG, *, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open for reading; many processes may at a time.

        Args:
            config: Of DuckDB.
            reach: The other files that may be read and written.

        Raises:
            InputError: There is no registry at the path.
            SchemaError: It is of another version than the program.
            LockedError: Another program writes to it.
        """
        self.require()
        with self._connection(read_only=True, config=config, reach=reach) as connection:
            schema.check(connection, self.named)
            if self.notify is not None:
                self.notify(note_hidden(connection))
                self.notify = None
            self._turn_back(connection)
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
        with self.reading(config, reach=reach) as connection:
            if not connection.exec_driver_sql(_IS_LOCKED).scalar_one():  # as where this process has it open already
                connection.exec_driver_sql("SET lock_configuration = true")
            yield connection

    @contextmanager
    def writing(self, *, dry_run: bool = False, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a file that only this process knows for one transaction, committed at the end unless it is a dry run.

        Commands go by `session.writing`. Other files than those of `reach` cannot be read or written.

        Raises:
            InputError, SchemaError, LockedError: As `reading`.
            StoreError: The disk is full, or the file cannot be written; the transaction is undone.
        """
        self.require()
        with self._connection(reach=reach) as connection:
            schema.check(connection, self.named)
            with transaction(connection, dry_run=dry_run):
                yield connection
            checkpoint(connection, self._real, self.log)

    @contextmanager
    def holding(self, *, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a file that only this process knows, whatever its schema; the block commits what it does.

        A file that is not there is made. Other files than those of `reach` cannot be read or written.

        Raises:
            InputError: It is no DuckDB database.
            LockedError: Another process has it open.
        """
        with self._connection(reach=reach) as connection:
            yield connection

    def create(self) -> None:
        """Make a registry in a new file that only this process knows.

        Raises:
            InputError: The path cannot hold a registry: no such folder, or another file is there.
        """
        self.require_free()
        with self._connection() as connection:
            with transaction(connection):
                schema.make(connection)
            checkpoint(connection, self._real, self.log)

    def settle(self) -> None:
        """Bring what another program has committed, and left in DuckDB's log, into the file itself.

        Raises:
            LockedError: It has the file open.
        """
        if self.log.exists():
            with self._connection() as connection:
                checkpoint(connection, self._real, self.log)

    def require_free(self) -> None:
        """Refuse a path where no new registry can or should be made."""
        if self.path.suffix.lower() in _TABLES:
            raise InputError(f"DuckDB would take a file called *{self.path.suffix} for a table; name it *.duckdb",
                             path=self.path)
        if not self.path.parent.is_dir():
            raise InputError("no such folder; make it first", path=self.path.parent)
        if self.exists():
            raise InputError("this file already exists; remove it, or name another", path=self.path)
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

    def require(self) -> None:
        """Refuse a path where there is no DuckDB database.

        Raises:
            InputError: There is none.
        """
        if not self.exists():
            raise NoRegistryError(self.path)
        if not self.path.is_file():
            raise InputError("not a file, so not a registry", path=self.path)
        try:
            known = is_open(self._real) or is_database(self.path)
        except OSError as error:
            if is_open_elsewhere(error):
                raise LockedError(self.path, None) from None
            raise InputError(f"cannot read the file: {error.strerror}", path=self.path) from None
        if not known:  # DuckDB itself would read a file called *.csv or *.parquet as a table
            raise InputError("this file is no DuckDB database; name another with --db", path=self.path)

    def require_writable(self, *, create: bool = False) -> None:
        """Refuse a file that is no database or must not be replaced, and a place where none can be created.

        Args:
            create: Whether a file that is not there is to be created.
        """
        if create and not self.exists():
            self.require_free()
            if not os.access(self.path.parent, os.W_OK):
                raise StoreError(self.path, "cannot create the database: its folder is read-only; --db names another "
                                            "place")
            return
        self.require()
        if not (os.access(self._real, os.W_OK) and os.access(self._real.parent, os.W_OK)):
            raise StoreError(self.named, "the database is read-only, the file or its folder, so commands can only read "
                                         "it; copy the file to where you may write, and name the copy with --db")

    @contextmanager
    def _connection(self, *, read_only: bool = False, config: dict[str, Any] = CONFIG,
                    reach: Reach = NOWHERE) -> Iterator[Connection]:
        with (explaining(self.named), connected(self._real, read_only=read_only, config=config,
                                                patience=RETRY_SECONDS, reach=reach) as connection,
              definitions.blaming(connection, self.named)):
            yield connection
