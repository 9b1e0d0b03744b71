"""A database changed in a new file, which takes its place when it is complete: upgrades, and purges.

A DuckDB file keeps in its free pages what was changed or deleted, such as names that are no longer to be in it. So the
change is made in a copy, and what that then holds is copied once more. An upgrade keeps the file as it was beside it:
both are read from the first block to the last before the new one takes the name, and must hold the same (`proof.py`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import StoreError
from registry.store import schema
from registry.store.database import Database
from registry.store.files.reach import Reach
from registry.store.rows import quoted
from registry.store.turns.locks import beside
from registry.store.turns.tickets import Turn
from registry.store.upkeep import proof


def upgrade(database: Database) -> Path | None:
    """Bring a database to the program's schema; says where the file as it was is kept, None where nothing was done.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`, but for an older schema.
        StoreError: The disk is full, the folder cannot be written, a block of the old file is damaged, or the new one
            does not hold the same; the old file stays as it is.
    """
    with _explaining(database):
        path = _real(database)
        before = path.stat()
        with database.holding(read_only=True) as connection:  # as others may at the same time
            if not schema.needs_upgrade(connection, database.path):
                return None
        with (Turn(database.path, "init", database.patience),
              database.holding(reach=Reach(folders=[_workplace(path)])) as held):
            if not os.path.samestat(before, path.stat()):  # another process has been here while this one waited
                return None
            untouched = proof.untouched(held, database.path)
            content = proof.contents(held, {table: of.columns for table, of in untouched.items()}, database.path)
            return _replace(held, database, path, schema.upgrade, lambda fresh: proof.prove(
                fresh, content, untouched, database.path), keep=True)


def rewrite(database: Database, command: str, change: Callable[[Connection], None]) -> None:
    """Change a database so that nothing of what is no more in it is in its file, nor in another one beside it.

    Args:
        database: It is of the program's schema.
        command: Whose turn to write it is.
        change: Makes the change, in a transaction on a copy; where it fails, the database stays as it is.

    Raises:
        InputError, SchemaError, LockedError: As `Database.reading`.
        StoreError: The disk is full, or the folder cannot be written; the old file stays as it is.
    """
    with _explaining(database):
        path = _real(database)
        with (Turn(database.path, command, database.patience),
              database.holding(reach=Reach(folders=[_workplace(path)])) as held):
            schema.check(held, database.path)
            _replace(held, database, path, change, keep=False)


def _real(database: Database) -> Path:
    """The file that is to be replaced: a symbolic link stays one."""
    link = database.path.is_symlink()
    return Path(os.path.relpath(database.path.resolve())) if link else database.path


@contextmanager
def _explaining(database: Database) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(database.path, f"cannot put a new file in its place: {error.strerror}") from None


def _replace(held: Connection, database: Database, path: Path, change: Callable[[Connection], None],
             prove: Callable[[Connection], None] | None = None, *, keep: bool) -> Path | None:
    """Put a changed copy that is `prove`d in the place of the file; gives what the old one is called, if it is kept.

    The old file stays locked until the new one has taken its place, by one step of the file system: whenever the
    program is ended, one of the two stands under the name, and is whole.
    """
    mode = path.stat().st_mode
    held.exec_driver_sql("CHECKPOINT")  # the log goes into its file: it would be played into the new one
    with _new_folder(_workplace(path)) as folder:
        changed, fresh = (Database(folder / name, named=database.path) for name in ("changed", "fresh"))
        _copy(held, changed.path)
        with changed.holding(reach=Reach(folders=[folder])) as connection:
            change(connection)
            connection.commit()
            _copy(connection, fresh.path)
        changed.path.unlink()
        if prove is not None:
            with fresh.holding(read_only=True) as connection:
                prove(connection)
        with fresh.path.open("rb") as file:
            os.fsync(file.fileno())
        fresh.path.chmod(mode)
        kept = _keep(path) if keep else None
        fresh.path.replace(path)
    return kept


def _workplace(path: Path) -> Path:
    """Return the folder next to the database that holds the copies."""
    return beside(path, "upgrade")


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
