"""Numbered snapshots of a registry: files that a server reads and that never change.

A child process writes them, so that the server never opens the registry itself, and no reader's file is replaced. A
snapshot is deleted when its last lease ends. Leases begin and end in the event loop, so counting them needs no lock.

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
    """A file with the content of a registry at one time, in a folder of its own.

    Attributes:
        path: The file.
        name: Distinguishes the snapshot from all others, also from snapshots of other servers.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, secrets.token_hex(8)
        self._leases = 0

    @contextmanager
    def lease(self) -> Iterator[None]:
        """Keep the file until the block ends; with the last lease it is deleted."""
        self._leases += 1
        try:
            yield
        finally:
            self._leases -= 1
            if not self._leases:
                shutil.rmtree(self.path.parent, ignore_errors=True)


class Snapshots:
    """Writes snapshots of a registry into a temporary folder of its own, which only this user can read.

    Args:
        database: The registry's file; symbolic links are followed each time.
        private: Whether to copy everything, else only public data.
        sources: Whether the texts of gold and outputs are needed.
        every: The least seconds from one snapshot to the next.
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
        """End the child process, if one is writing, and remove the folder."""
        if self._child is not None:
            self._child.kill()
        self._opened.close()

    def is_due(self) -> bool:
        """Return whether the registry has changed or an embargo has ended, and the last snapshot is old enough."""
        if time.monotonic() < self._earliest:
            return False
        return _stamp(self._database) != self._stamp or (self._reveal is not None and now() >= self._reveal)

    def write(self) -> Snapshot:
        """Write the next snapshot.

        Raises:
            RegistryError: It cannot be written; its exit code is the child process's.
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
        self._stamp = stamp  # taken before the child read: a later commit makes the next one due
        return Snapshot(output)

    def run_child(self, output: Path) -> datetime | None:
        """Have a child process write a snapshot; return what `write_snapshot` does."""
        command = [sys.executable, "-P", "-m", __name__, str(self._database), str(output), *self._options]
        modules = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # the same as here
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
    """Return what every commit changes of a database's file and of DuckDB's log next to it, without opening them."""
    return tuple(_stamp_of_file(f"{os.path.realpath(path)}{suffix}") for suffix in ("", ".wal"))


def _stamp_of_file(name: str) -> tuple[int, ...]:
    try:
        status = os.stat(name)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def write_snapshot(database: Path, output: Path, *, private: bool, sources: bool) -> datetime | None:
    """Write a snapshot; return when, in UTC, more of the registry becomes public without a commit.

    Raises:
        RegistryError: The registry cannot be read, or the snapshot cannot be written.
    """
    registry = Database(database)
    try:
        with registry.reading() as connection:
            reveal = find_next_reveal(connection)  # first, or an embargo that ends while it publishes would be missed
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
    """Write a snapshot and print its next reveal; an error goes to stderr, and its exit code is the process's."""
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type] # DuckDB imports it, and nothing here needs it
    try:
        reveal = write_snapshot(Path(database), Path(output), private="--private" in options,
                                sources="--sources" in options)
    except RegistryError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    print("" if reveal is None else reveal.isoformat())


if __name__ == "__main__":
    main(*sys.argv[1:])
