"""Opening of the DuckDB file of a registry.

Commands never write to a file that other processes may read: the module `session` writes a copy, and the copy then
replaces the file. Another program may still write to the file directly. A reader then waits for a moment, and raises an
error with the name of the process that has the file open.
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
    connecting,
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
    """How long a command waits if another command is writing to the same registry.

    Attributes:
        seconds: Longest waiting time in seconds.
        tell: Function that shows the user a message about the other command; None shows nothing.
    """

    seconds: float = 60.0
    tell: Callable[[str], None] | None = None


class Database:
    """The DuckDB file of a registry, which this class opens, checks and creates.

    Attributes:
        path: Path of the file.
        named: Path that error messages show.
        patience: How long commands wait until they may write to the registry.
        notify: Function that is called when the file is first read. It gets one sentence for each task with hidden
            data.
        moment: Time in the past; readers see the registry as it was then. None means the present.
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
        """Open the registry for reading; many processes may read at the same time.

        Args:
            config: Configuration of DuckDB.
            reach: Other files that SQL may read and write.

        Raises:
            InputError: The path has no registry.
            SchemaError: Another version of the program made the registry.
            LockedError: Another program writes to the registry.
        """
        self.require()
        with self._connection(read_only=True, config=config, reach=reach) as connection:
            schema.check(connection, self.named)
            if self.notify is not None:
                self.notify(note_hidden(connection))
                self.notify = None
            self._restore_past(connection)
            yield connection

    def _restore_past(self, connection: Connection) -> None:
        """Restore an earlier state of the registry; the base class does nothing."""

    @contextmanager
    def querying(self, *, memory: int | None = None, output: Path | None = None) -> Iterator[Connection]:
        """Open the registry for SQL from users, who may be malicious.

        The connection is read-only, cannot access other files, and cannot change settings of DuckDB.

        Args:
            memory: Bytes that DuckDB may use; None means DuckDB's default.
            output: The only other file that the SQL may write; None means no file.

        Raises:
            InputError: The path has no registry.
            SchemaError: Another version of the program made the registry.
            LockedError: Another program writes to the registry.
        """
        config = CONFINED_CONFIG | ({} if memory is None else {"memory_limit": f"{memory}B"})
        reach = NOWHERE if output is None else Reach(files=[output])
        with self.reading(config, reach=reach) as connection:
            if not connection.exec_driver_sql(_IS_LOCKED).scalar_one():  # true if this process has the file open
                connection.exec_driver_sql("SET lock_configuration = true")
            yield connection

    @contextmanager
    def writing(self, *, dry_run: bool = False, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open the file itself for one transaction, while no other process uses it.

        Commands use `session.writing` instead, which changes a copy of the file.

        Args:
            dry_run: Whether to roll the transaction back.
            reach: Other files that SQL may read and write.

        Raises:
            InputError: The path has no registry.
            SchemaError: Another version of the program made the registry.
            LockedError: Another program uses the registry.
            StoreError: The disk is full, or the file cannot be written; the transaction is rolled back.
        """
        self.require()
        with self._connection(reach=reach) as connection:
            schema.check(connection, self.named)
            with transaction(connection, dry_run=dry_run):
                yield connection
            checkpoint(connection, self._real, self.log)

    @contextmanager
    def holding(self, *, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open or create the file for writing, without a check of its tables.

        No other process may use the file meanwhile. The caller must commit all changes.

        Args:
            reach: Other files that SQL may read and write.

        Raises:
            InputError: The file is not a DuckDB database.
            LockedError: Another process has the file open.
        """
        with self._connection(reach=reach) as connection:
            yield connection

    def create(self) -> None:
        """Create a registry in a new file.

        Raises:
            InputError: The folder does not exist, or the path is in use.
        """
        self.require_free()
        with self._connection() as connection:
            with transaction(connection):
                schema.make(connection)
            checkpoint(connection, self._real, self.log)

    def settle(self) -> None:
        """Complete the work of an interrupted program: move its changes into the file.

        DuckDB writes changes into a write-ahead log first. The log remains only after an interruption.

        Raises:
            LockedError: The other program still has the file open.
        """
        if self.log.exists():
            with self._connection() as connection:
                checkpoint(connection, self._real, self.log)

    def require_free(self) -> None:
        """Check that a new registry can be created at the path.

        Raises:
            InputError: The folder does not exist, the path is in use, or DuckDB would not treat the file as a database.
        """
        if self.path.suffix.lower() in _TABLES:
            raise InputError(f"DuckDB reads files *{self.path.suffix} as tables, not as databases; name the file "
                             "*.duckdb",
                             path=self.path)
        if not self.path.parent.is_dir():
            raise InputError("this folder does not exist; create it first", path=self.path.parent)
        if self.exists():
            raise InputError("this file already exists; remove it, or name another file", path=self.path)
        if self.path.is_symlink():
            raise InputError("this symbolic link has no target; remove it, or name another file", path=self.path)
        if self.log.exists():
            raise InputError(f"the log {self.log.name} of a missing database exists, and DuckDB would apply it to a "
                             "new database; restore the database, or remove the log", path=self.path)

    @property
    def _real(self) -> Path:
        return self.path.resolve()

    @property
    def log(self) -> Path:
        """Path of DuckDB's write-ahead log, which remains only after an interruption."""
        return self._real.with_name(f"{self._real.name}.wal")

    def exists(self) -> bool:
        """Return whether a file or folder exists at the path of the registry.

        Raises:
            InputError: The operating system does not permit access to the path.
        """
        try:
            return self.path.exists()
        except OSError as error:
            raise InputError(f"cannot use this path: {error.strerror}", path=self.path) from None

    def require(self) -> None:
        """Check that the path is a readable DuckDB database.

        Raises:
            InputError: The file does not exist, cannot be read, or is not a database.
            LockedError: Another program has the file open, and Windows does not allow reading it.
        """
        if not self.exists():
            raise NoRegistryError(self.path)
        if not self.path.is_file():
            raise InputError("not a regular file; name a registry with --db", path=self.path)
        try:
            is_valid = is_open(self._real) or is_database(self.path)
        except OSError as error:
            if is_open_elsewhere(error):
                raise LockedError(self.path, None) from None
            raise InputError(f"cannot read the file: {error.strerror}", path=self.path) from None
        if not is_valid:  # DuckDB would read a file *.csv or *.parquet as a table
            raise InputError("not a DuckDB database; name another file with --db", path=self.path)

    def require_writable(self, *, create: bool = False) -> None:
        """Check that a command can write to the registry.

        A command writes a new file, which replaces the old one, so the file and its folder must be writable.

        Args:
            create: True if the registry may be absent; its folder must then be writable.
        """
        if create and not self.exists():
            self.require_free()
            if not os.access(self.path.parent, os.W_OK):
                raise StoreError(self.path, "cannot create the database, because its folder is read-only; name another "
                                            "path with --db")
            return
        self.require()
        if not (os.access(self._real, os.W_OK) and os.access(self._real.parent, os.W_OK)):
            raise StoreError(self.named, "the database or its folder is read-only; copy the file to a writable folder, "
                                         "and name the copy with --db")

    @contextmanager
    def _connection(self, *, read_only: bool = False, config: dict[str, Any] = CONFIG,
                    reach: Reach = NOWHERE) -> Iterator[Connection]:
        with (explaining(self.named), connecting(self._real, read_only=read_only, config=config,
                                                 patience=RETRY_SECONDS, reach=reach) as connection,
              definitions.explaining_alterations(connection, self.named)):
            yield connection
