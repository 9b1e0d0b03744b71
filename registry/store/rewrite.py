"""An older database becomes one of the program's schema: in a new file, which takes its place when it is complete.

A DuckDB file keeps in its free pages what was changed or deleted, such as names that are no longer to be in it. So the
upgrade works on a copy, and what that then holds is copied once more. The file as it was is kept beside the new one.
Both are read from the first block to the last before the new one takes the name, and must hold the same (`proof.py`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.store import proof, schema
from registry.store.database import Database, quoted


def upgrade(database: Database) -> Path | None:
    """Bring a database to the program's schema; says where the file as it was is kept, None where nothing was done.

    The old file stays locked until the new one has taken its place, by one step of the file system: whenever the
    program is ended, one of the two stands under the name, and is whole.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`, but for an older schema.
        StoreError: The disk is full, the folder cannot be written, a block of the old file is damaged, or the new one
            does not hold the same; the old file stays as it is.
    """
    link = database.path.is_symlink()  # which stays one
    path = Path(os.path.relpath(database.path.resolve())) if link else database.path
    try:
        before = path.stat()
        with database.holding(read_only=True) as connection:  # as others may at the same time
            if not schema.needs_upgrade(connection, database.path):
                return None
        with database.holding() as held:
            if not os.path.samestat(before, path.stat()):  # another process has been here while this one waited
                return None
            held.exec_driver_sql("CHECKPOINT")  # the log goes into its file: it would be played into the new one
            with _workplace(path) as folder:
                fresh = _upgraded(held, database, folder)
                fresh.chmod(before.st_mode)
                kept = _keep(path)
                fresh.replace(path)
            return kept
    except OSError as error:
        raise StoreError(database.path, f"cannot put a new file in its place: {error.strerror}") from None


def _upgraded(held: Connection, database: Database, folder: Path) -> Path:
    """Make the new file in a folder, and prove that it holds what the old one, which is `held`, does."""
    untouched = proof.untouched(held, database.path)
    before = proof.contents(held, {table: of.columns for table, of in untouched.items()}, database.path)
    upgraded, fresh = (Database(folder / name, named=database.path) for name in ("upgraded", "fresh"))
    _copy(held, upgraded.path)
    with upgraded.holding() as connection:
        schema.upgrade(connection)
        connection.commit()
        _copy(connection, fresh.path)
    with fresh.holding(read_only=True) as connection:
        proof.prove(connection, before, untouched, database.path)
    with fresh.path.open("rb") as file:
        os.fsync(file.fileno())
    return fresh.path


@contextmanager
def _workplace(path: Path) -> Iterator[Path]:
    """Give a new folder beside the database; the lock is held, so one that is there is of a process that is gone."""
    folder = path.with_name(f".{path.name}.upgrade")
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


def _keep(path: Path) -> Path:
    """Give the file a second name, `registry.old.duckdb`, or with a number where another file has that."""
    names = (path.with_name(f"{path.stem}.old{'' if n == 1 else n}{path.suffix}") for n in count(1))
    kept = next(name for name in names if not name.exists() or name.samefile(path))
    if not kept.exists():  # as it does where an earlier upgrade was ended just here
        try:
            os.link(path, kept)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            path.rename(kept)
    return kept
