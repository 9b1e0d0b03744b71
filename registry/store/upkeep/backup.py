"""Copies of a database as it stands between two commits, and whether all of a database can be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.files import new_file
from registry.store import models
from registry.store.database import Database

_COPY = "import shutil, sys; shutil.copyfile(*sys.argv[1:])"


def copy(database: Database, to: Path) -> None:
    """Copy a database, byte by byte; writers wait as long as that takes, readers do not.

    Another process copies: a process that closes a file anywhere loses its lock on it.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`.
        StoreError: The copy cannot be written.
    """
    with database.reading():
        for file, copied in ((database.path.resolve(), to), (database.log, Database(to).log)):
            if copied is to or file.exists():  # the log stays where the disk is read-only
                done = subprocess.run([sys.executable, "-I", "-c", _COPY, file, copied], capture_output=True, text=True)  # noqa: S603
                if done.returncode:
                    raise StoreError(to, f"cannot copy the database: {done.stderr.strip().rpartition(chr(10))[2]}")


def back_up(database: Database, to: Path) -> None:
    """Copy a database into a new file, and read that from the first block to the last before it gets its name.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`; or the new file is there already.
        StoreError: A block is damaged, or the copy cannot be written.
    """
    with new_file(to) as unfinished:
        copy(database, unfinished)
        with Database(unfinished, named=to).writing(dry_run=True) as connection:  # what is in the log comes into it
            for table, why in unreadable(connection).items():
                raise StoreError(database.path, f"table {table} cannot be read: {why}; nothing was backed up")
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())


def unreadable(connection: Connection) -> dict[str, str]:
    """Read every block of every table, each of which DuckDB holds against its checksum.

    Gives the first table that cannot be read, and why: the connection is of no use then.
    """
    for table in models.metadata.tables:
        try:
            connection.exec_driver_sql(f'SELECT count(*), bit_xor(hash(t)) FROM "{table}" AS t').all()  # noqa: S608
        except Exception as error:
            return {table: str(getattr(error, "orig", error)).partition("\n")[0]}
    return {}
