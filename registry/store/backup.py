"""Copies of a database as it stands between two commits, and whether all of a database can be read."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.files import new_file
from registry.store import models
from registry.store.database import Database
from registry.store.replacement import copy_file


def back_up(database: Database, to: Path) -> None:
    """Copy a database into a new file, and read that from the first block to the last before it gets its name.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`; or the new file is there already.
        StoreError: A block is damaged, or the copy cannot be written.
    """
    with new_file(to) as unfinished:
        copy_file(database, unfinished)
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
