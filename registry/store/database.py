"""One DuckDB file, opened briefly for reading or for one transaction; what can go wrong is named.

One process writes or many read. A reader that meets a writer waits a little, then says which process holds the file.
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from registry.errors import InputError, LockedError, RegistryError, StoreError
from registry.store import schema
from registry.store.files import publish

# New files are written in a storage version that every DuckDB since 1.2 opens.
STORAGE_VERSION = "v1.2.0"
# A quarter of DuckDB's default: a small task takes 4 MB instead of 14, and bulk inserts are as fast.
BLOCK_SIZE = "65536"
CONFIG: dict[str, Any] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "storage_compatibility_version": STORAGE_VERSION,
    "default_block_size": BLOCK_SIZE,
}
# For SQL that a user wrote: no disk for what does not fit into memory, no secrets, no Python variables as tables.
CONFINED_CONFIG = CONFIG | {"temp_directory": "", "allow_persistent_secrets": "false",
                            "python_enable_replacements": "false"}
# Read-only alone would still let COPY write files and read_csv read them.
_LOCK = ("SET enable_external_access = false", "SET lock_configuration = true")
_IS_LOCKED = "SELECT current_setting('lock_configuration')"
RETRY_SECONDS = 2.0

_TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
_HOLDER = re.compile(r"Conflicting lock is held in (.+?)(?: \(PID (\d+)\))?(?: by user .+?)?\. ")


class Database:
    """The registry's file at `path`."""

    def __init__(self, path: str | Path, *, named: Path | None = None) -> None:
        self.path = Path(path)
        self.named = named or self.path  # what errors call it

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open for reading; many processes may at a time.

        Raises:
            InputError: There is no registry at the path.
            SchemaError: It is of another version than the program.
            LockedError: A writer holds it.
        """
        self._require()
        with self._connection(read_only=True) as connection:
            schema.check(connection, self.path)
            yield connection

    @contextmanager
    def querying(self, *, memory: int | None = None, output: Path | None = None) -> Iterator[Connection]:
        """Open for SQL that a user wrote: read-only, without access to files or disk, its settings locked.

        Args:
            memory: How many bytes DuckDB may take; None: as many as it does by itself.
            output: The one file that may be written.

        Raises:
            InputError, SchemaError, LockedError: As `reading`.
        """
        self._require()
        config = CONFINED_CONFIG | ({} if memory is None else {"memory_limit": f"{memory}B"})
        with self._connection(read_only=True, config=config) as connection:
            schema.check(connection, self.path)
            if output is not None:
                connection.exec_driver_sql(f"SET allowed_paths = [{quoted(output)}]")
            if not connection.exec_driver_sql(_IS_LOCKED).scalar_one():  # as where this process has it open already
                for statement in _LOCK:
                    connection.exec_driver_sql(statement)
            yield connection

    @contextmanager
    def writing(self, *, dry_run: bool = False) -> Iterator[Connection]:
        """Open for one transaction, committed at the end unless something is raised or it is a dry run.

        Raises:
            InputError, SchemaError, LockedError: As `reading`.
            StoreError: The disk is full, or the file cannot be written; the transaction is undone.
        """
        self._require()
        with self._connection() as connection:
            schema.check(connection, self.path)
            with _transaction(connection, dry_run=dry_run):
                yield connection

    def create(self) -> bool:
        """Create the registry, or upgrade its schema; says whether anything was done.

        A new file appears under its name only when it is complete.

        Raises:
            InputError: The path cannot hold a registry: no such folder, or another file is there.
            SchemaError: The schema is newer than the program.
        """
        if self._exists():
            self._require()
            with self._connection(read_only=True) as connection:
                if not schema.needs_upgrade(connection, self.path):
                    return False
            with self._connection() as connection, _transaction(connection):
                schema.upgrade(connection)
            return True
        self.require_free()
        self._remove_unfinished()
        unfinished = Database(self.path.with_name(f".{self.path.name}.{os.getpid()}.new"), named=self.path)
        try:
            unfinished._make()
            publish(unfinished.path, self.path)
        except FileExistsError:
            return self.create()
        except OSError as error:
            raise StoreError(self.path, f"cannot create the database: {error.strerror}") from None
        finally:
            unfinished._remove()
        return True

    def _make(self) -> None:
        """Make a new database with the schema."""
        with self._connection() as connection, _transaction(connection):
            schema.upgrade(connection)
        with self._connection() as connection:
            connection.exec_driver_sql("CHECKPOINT")  # into the file itself: it is published without its log

    def require_free(self) -> None:
        """Refuse a path where no new registry can or should be made."""
        if self.path.suffix.lower() in _TABLES:
            raise InputError(f"DuckDB would take a file called *{self.path.suffix} for a table; name it *.duckdb",
                             path=self.path)
        if not self.path.parent.is_dir():
            raise InputError("no such folder; make it first", path=self.path.parent)
        if self.path.is_symlink():
            raise InputError("a symbolic link that leads nowhere; remove it or name another file", path=self.path)
        if self._log.exists():
            raise InputError(f"{self._log.name} stands here without its database, and would be played into a new one; "
                             "put the database back beside it, or remove it", path=self.path)

    @property
    def _log(self) -> Path:
        """DuckDB's write-ahead log."""
        return self.path.with_name(self.path.name + ".wal")

    def _remove(self) -> None:
        for path in (self.path, self._log):
            path.unlink(missing_ok=True)

    def _remove_unfinished(self) -> None:
        """Remove what processes that are gone by now have left unfinished."""
        for path in self.path.parent.glob(f".{glob.escape(self.path.name)}.*.new"):
            pid = path.name.removesuffix(".new").rpartition(".")[2]
            if pid.isdecimal() and not Path(f"/proc/{pid}").exists() and Path("/proc/self").exists():
                Database(path)._remove()

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise InputError(f"cannot use this path: {error.strerror}", path=self.path) from None

    def _require(self) -> None:
        if not self._exists():
            raise InputError("no registry here; `registry run MANIFEST` or `registry init` creates one, "
                             "`--db` names another", path=self.path)
        if not self.path.is_file():
            raise InputError("not a file, so not a registry", path=self.path)
        try:
            with self.path.open("rb") as file:
                magic = file.read(12)[8:]
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror}", path=self.path) from None
        if magic != b"DUCK":  # DuckDB itself would read a file called *.csv or *.parquet as a table
            raise InputError("this file is no DuckDB database; name another with --db", path=self.path)

    @contextmanager
    def _connection(self, *, read_only: bool = False, config: dict[str, Any] = CONFIG) -> Iterator[Connection]:
        engine = create_engine(URL.create("duckdb", database=str(self.path.absolute())), poolclass=NullPool,
                               pool_reset_on_return=None,  # transactions end here, and a failed file cannot roll back
                               connect_args={"read_only": read_only, "config": config})
        try:
            with self._explaining(), self._connect_patiently(engine) as connection:
                yield connection
        finally:
            engine.dispose()

    @contextmanager
    def _connect_patiently(self, engine: Any) -> Iterator[Connection]:
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                connection = engine.connect()
            except (DBAPIError, duckdb.Error) as error:
                if "Could not set lock" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                break
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what DuckDB says of the file into the registry's errors."""
        try:
            yield
        except (DBAPIError, duckdb.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if isinstance(cause, duckdb.OutOfMemoryException):
                raise MemoryError("DuckDB needs more memory than it may take") from None
            if (named := explain(str(cause), self.named)) is None:
                raise
            raise named from None


def quoted(text: str | Path) -> str:
    """Write a text as SQL does.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + str(text).replace("'", "''") + "'"


@contextmanager
def _transaction(connection: Connection, *, dry_run: bool = False) -> Iterator[None]:
    """Commit what the block leaves open, or undo it; the block may commit in between."""
    try:
        yield
        if dry_run:
            connection.rollback()
        else:
            connection.commit()
    except BaseException:
        connection.rollback()
        raise


def explain(message: str, path: Path) -> RegistryError | None:
    """Name what DuckDB's `message` says of the database file; None where it says nothing of the file."""
    if "Could not set lock" in message:
        holder = _HOLDER.search(message)
        pid = int(holder.group(2)) if holder and holder.group(2) else None
        return LockedError(path, pid, Path(holder.group(1)).name if holder else None)
    if "not a valid DuckDB database file" in message:
        return InputError("this file is no DuckDB database; name another with --db", path=path)
    if "newer version" in message or "version number" in message:
        return InputError(f"written by another version of DuckDB than {duckdb.__version__} can open", path=path)
    full = ("No space left", "File too large", "Disk quota", "not enough disk space", "out of disk space")
    if any(sign.lower() in message.lower() for sign in full):
        return StoreError(path, "the disk is full or a size limit is reached; nothing of this step was written: "
                                "free some space and run the command again")
    if "IO Error" in message:
        return StoreError(path, "cannot use the file: " + message.partition("IO Error: ")[2].splitlines()[0])
    return None
