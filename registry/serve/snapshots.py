"""Snapshots of a registry: copies that never change, and that a server reads.

A child process writes each snapshot, so the server never opens the registry itself. A request holds a lease of a
snapshot while it reads the snapshot; the snapshot is deleted when its last lease ends. Leases begin and end in the
event loop, so their count needs no lock. The child process runs this module:

    python -m registry.serve.snapshots DATABASE OUTPUT [--private] [--sources]
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import gettempdir

from registry.errors import RegistryError, StoreError
from registry.files import working_folder
from registry.platforms import describe_crash
from registry.publication.publish import publish
from registry.store.database import Database
from registry.store.embargoes import find_next_reveal, is_public
from registry.store.log import now
from registry.store.session import copy_file

_Stamp = tuple[tuple[int, ...], ...]


class Snapshot:
    """A copy of a registry at one time, as a file in its own folder.

    Attributes:
        path: Path of the file.
        name: Random name that identifies the snapshot, also among the snapshots of other servers.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, secrets.token_hex(8)
        self._leases = 0

    @contextmanager
    def lease(self) -> Iterator[None]:
        """Prevent the deletion of the file during a `with` block.

        The file is deleted when no block uses it any more.
        """
        self._leases += 1
        try:
            yield
        finally:
            self._leases -= 1
            if not self._leases:
                shutil.rmtree(self.path.parent, ignore_errors=True)


class Snapshots:
    """Writer of snapshots, which are copies of a registry that the server reads.

    Snapshots are written into a temporary folder that only this user can read.

    Args:
        database: File of the registry. A symbolic link is resolved again for each snapshot.
        private: Whether to copy everything, and not only public data.
        sources: Whether the texts of gold and outputs are needed.
        every: Smallest number of seconds between two snapshots.
    """

    def __init__(self, database: Path, *, private: bool = False, sources: bool = False, every: float = 10) -> None:
        self._database, self._every = database, every
        self._options = ["--private"] * private + ["--sources"] * sources
        self._number, self._earliest = 0, 0.0
        self._stamp: _Stamp = ()
        self._reveal: datetime | None = None
        self._child: Popen[str] | None = None
        self._opened = ExitStack()
        try:
            self._folder = self._opened.enter_context(working_folder(Path(gettempdir()) / "registry-serve")) / "private"
            self._folder.mkdir(0o700)
        except OSError as error:
            raise _unwritable(error) from None

    def close(self) -> None:
        """End the child process if it is running, and remove the folder."""
        if self._child is not None:
            self._child.kill()
        self._opened.close()

    def is_due(self) -> bool:
        """Return True if it is time to write a new snapshot.

        A new snapshot is due if the registry has changed or hidden data has become public, and if the last snapshot is
        old enough.
        """
        if time.monotonic() < self._earliest:
            return False
        return _stamp(self._database) != self._stamp or (self._reveal is not None and now() >= self._reveal)

    def write(self) -> Snapshot:
        """Write the next snapshot of the registry, in a child process.

        Raises:
            RegistryError: The snapshot cannot be written. The error has the exit code of the child process.
        """
        self._number += 1
        stamp, output = _stamp(self._database), self._folder / str(self._number) / "registry.duckdb"
        try:
            output.parent.mkdir()
            self._reveal = self.run_child(output)
        except BaseException:  # a process that was killed leaves unfinished files
            shutil.rmtree(output.parent, ignore_errors=True)
            raise
        finally:
            self._earliest = time.monotonic() + self._every
        self._stamp = stamp  # from before the child process read: after a later commit, the next snapshot is due
        return Snapshot(output)

    def run_child(self, output: Path) -> datetime | None:
        """Write a snapshot in a child process.

        Args:
            output: Path of the snapshot.

        Returns:
            Time in UTC when more data becomes public; None if there is no such time.
        """
        command = [sys.executable, "-P", "-m", __name__, str(self._database), str(output), *self._options]
        modules = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # the same modules as in this process
                   "PYTHONIOENCODING": "utf-8"}
        with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, encoding="utf-8",  # noqa: S603
                   env=os.environ | modules, start_new_session=True) as self._child:
            printed, message = self._child.communicate()
        if status := self._child.returncode:
            crash = describe_crash(status)
            error = RegistryError(f"the system ended the process that writes snapshots ({crash})" if crash else
                                  message.strip())
            error.exit_code = 1 if crash else status
            raise error
        return datetime.fromisoformat(printed.strip()) if printed.strip() else None


def _stamp(path: Path) -> _Stamp:
    """Return a value that changes when a database file changes.

    The value consists of inode, size and time of the file and of DuckDB's log next to it, so neither file is opened.
    """
    return tuple(_stamp_of_file(f"{os.path.realpath(path)}{suffix}") for suffix in ("", ".wal"))


def _stamp_of_file(name: str) -> tuple[int, ...]:
    try:
        status = os.stat(name)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def write_snapshot(database: Path, output: Path, *, private: bool, sources: bool) -> datetime | None:
    """Copy a registry, by default only its public data.

    Args:
        database: File of the registry.
        output: Path of the copy.
        private: Whether to copy everything.
        sources: Whether to copy the files from which the texts of items and outputs are read.

    Returns:
        Time in UTC when more data becomes public without a commit; None if there is no such time.

    Raises:
        RegistryError: The registry cannot be read, or the snapshot cannot be written.
    """
    registry = Database(database)
    try:
        with registry.reading() as connection:
            reveal = find_next_reveal(connection)  # before `publish`, so that no embargo that ends meanwhile is missed
            is_published = is_public(connection)
        if private or is_published:
            copy_file(registry, output)
            Database(output).settle()
            return None
        publish(registry, output, sources=sources)
    except OSError as error:
        raise _unwritable(error) from None
    return reveal


def _unwritable(error: OSError) -> StoreError:
    return StoreError(gettempdir(), f"a snapshot of the registry cannot be written: {error.strerror}; free some space, "
                                    "or set TMPDIR to another folder")


def main(database: str, output: str, *options: str) -> None:
    """Write a snapshot, and print the time when more data becomes public.

    This function is the program of the child process. An error is printed to stderr and becomes the exit code.
    """
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # DuckDB would import pandas, which is not needed
    try:
        reveal = write_snapshot(Path(database), Path(output), private="--private" in options,
                                sources="--sources" in options)
    except RegistryError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    print("" if reveal is None else reveal.isoformat())


if __name__ == "__main__":
    main(*sys.argv[1:])
