"""A database changed in a new file, which takes its place when it is complete: purges.

A DuckDB file keeps in its free pages what was changed or deleted, such as names that are no longer to be in it. So the
change is made in a copy, and what that then holds is copied once more.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.store import schema
from registry.store.database import Database
from registry.store.files.reach import Reach
from registry.store.rows import quoted
from registry.store.turns.locks import beside
from registry.store.turns.tickets import Turn


def rewrite(database: Database, command: str, change: Callable[[Connection], None]) -> None:
    """Change a database so that deleted data is physically gone from its file, and from any other next to it.

    Args:
        database: The registry.
        command: The command that takes its turn to write.
        change: Makes the change, in a transaction on a copy; if it fails, the database stays as it is.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`.
        StoreError: The disk is full, or the folder cannot be written; the old file stays as it is.
    """
    path = _real(database)
    workplace = beside(path, "rewrite")
    try:
        with (Turn(database.path, command, database.patience),
              database.holding(reach=Reach(folders=[workplace])) as held):
            schema.check(held, database.path)
            _replace(held, database, path, workplace, change)
    except OSError as error:
        raise StoreError(database.path, f"cannot put a new file in its place: {error.strerror}") from None


def _real(database: Database) -> Path:
    """The file that is to be replaced: a symbolic link stays one."""
    link = database.path.is_symlink()
    return Path(os.path.relpath(database.path.resolve())) if link else database.path


def _replace(held: Connection, database: Database, path: Path, workplace: Path,
             change: Callable[[Connection], None]) -> None:
    """Replace the file by a changed copy.

    The old file stays locked until the new one has taken its place, by one step of the file system: whenever the
    program is ended, one of the two has the name, and is whole.
    """
    mode = path.stat().st_mode
    held.exec_driver_sql("CHECKPOINT")  # the log goes into its file: it would be played into the new one
    with _new_folder(workplace) as folder:
        changed, fresh = (Database(folder / name, named=database.path) for name in ("changed", "fresh"))
        _copy(held, changed.path)
        with changed.holding(reach=Reach(folders=[folder])) as connection:
            change(connection)
            connection.commit()
            _copy(connection, fresh.path)
        changed.path.unlink()
        with fresh.path.open("rb") as file:
            os.fsync(file.fileno())
        fresh.path.chmod(mode)
        fresh.path.replace(path)


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Give the folder anew; the lock is held, so one that is there is of a process that is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(connection: Connection, path: Path) -> None:
    """Copy what the connection's database holds, tables, views and macros, into a new file."""
    name = connection.exec_driver_sql("SELECT current_database()").scalar_one().replace('"', '""')
    connection.exec_driver_sql(f"ATTACH {quoted(path)} AS copied")
    connection.exec_driver_sql(f'COPY FROM DATABASE "{name}" TO copied')
    connection.commit()
    connection.exec_driver_sql("CHECKPOINT copied")
    connection.exec_driver_sql("DETACH copied")
    connection.commit()  # lets go of the file
