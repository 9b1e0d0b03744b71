"""Functions that write files and folders.

A new file or folder gets its name only when it is complete, and does not replace another file by accident.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from registry.errors import InputError, StoreError, has_written
from registry.platforms import is_valid_name, lock_folder, rename_new

# Names of devices on Windows, and `data`, the name of a folder in releases and exports.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9]|data)(\..*)?", re.IGNORECASE)


@contextmanager
def new_file(path: Path, *, replaces: bool = False) -> Iterator[Path]:
    """Write a new file completely or not at all.

    The `with` block gets a temporary path, and writes to it. If the block succeeds, the file is renamed to `path`.

    Args:
        path: Path of the file.
        replaces: True if the file may replace an existing file.

    Raises:
        InputError: `path` already exists, its folder does not exist, or this system does not permit the name.
        StoreError: The file cannot be written.
    """
    if not replaces:
        _require_new(path)
    try:
        with working_folder(path) as folder:
            unfinished = folder / path.name
            yield unfinished
            if replaces:
                unfinished.replace(path)
            else:
                rename_new(unfinished, path)
    except FileExistsError:
        raise _make_exists_error(path) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Make a new folder completely or not at all.

    The `with` block gets a temporary folder. If the block succeeds, the folder is renamed to `path`.

    Raises:
        InputError: `path` already exists, its parent folder does not exist, or this system does not permit the name.
        StoreError: The folder cannot be written.
    """
    _require_new(path)
    try:
        with working_folder(path) as unfinished:
            yield unfinished
            if path.exists():
                raise _make_exists_error(path)
            has_written.set(True)
            unfinished.rename(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the folder: {error.strerror}") from None


@contextmanager
def working_folder(path: Path) -> Iterator[Path]:
    """Make a temporary folder next to `path`, and remove it at the end of the block.

    If the process is killed, the next call for the same path removes the folder. Each process locks its folder, so a
    folder without a lock belongs to a killed process. (Process ids do not help: those of containers with a common disk
    may be equal.)
    """
    _remove_leftovers(path)
    while True:
        folder = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new").absolute()
        with suppress(FileExistsError, FileNotFoundError, BlockingIOError):  # another process has removed it
            folder.mkdir()
            lock = lock_folder(folder)
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_leftovers(path: Path) -> None:
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.new")
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with suppress(OSError):  # a process uses the folder, or the path is not a folder
            if pattern.fullmatch(folder.name) and (lock := lock_folder(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def replace_file(path: Path, content: str) -> None:
    """Write a text file, which replaces an existing file at `path`.

    Missing folders are created.

    Raises:
        InputError: The existing file is a DuckDB database, or this system does not permit the name.
        StoreError: The file cannot be written; the existing file is unchanged.
    """
    _require_valid_name(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        if path.is_dir():
            raise StoreError(path, "this is a folder; name a file")
        if is_database(path):
            raise InputError("this file is a database, and commands never replace a database; name another file",
                             path=path)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(content, "utf-8", newline="\n")
        has_written.set(True)
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def update_file(path: Path, content: str) -> bool:
    """Write a file only if its content changes; return True if it was written."""
    with suppress(OSError):  # a file that cannot be read may still be replaced
        if path.is_file() and path.read_bytes() == content.encode():
            return False
    replace_file(path, content)
    return True


def replace_files(folder: Path, pattern: str, files: Iterable[tuple[str, str]]) -> None:
    """Write the changed files into a folder, and remove outdated files.

    Folders that are empty at the end are removed.

    Args:
        folder: The folder, which is created if it does not exist.
        pattern: Pattern for `Path.glob`. Each file that matches the pattern and is not in `files` is removed.
        files: Name and content of each file.

    Raises:
        StoreError: A file cannot be written or removed.
    """
    written = set()
    for name, content in files:
        written.add(folder / name)
        update_file(folder / name, content)
    try:
        for path in set(folder.glob(pattern)) - written:
            path.unlink()
        for subfolder in (*folder.glob("*"), folder):
            if subfolder.is_dir() and not any(subfolder.iterdir()):
                subfolder.rmdir()
    except OSError as error:
        raise StoreError(folder, f"cannot remove old files: {error.strerror}") from None


def is_database(path: Path) -> bool:
    """Return True if a file begins like a DuckDB database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def portable_name(name: str) -> str:
    """Convert a text to a file name that all operating systems permit.

    Two different texts may get the same name.

    >>> portable_name("Ä b/../c"), portable_name("con"), portable_name("")
    ('b_.._c', '_con', '_')
    """
    shown = re.sub(r"[^\w.@+-]+", "_", name, flags=re.ASCII).strip("._ ")
    return avoid_reserved(shown) if shown else "_"


def avoid_reserved(name: str) -> str:
    """Prefix a file name with `_` if Windows reserves it for a device, such as `con`."""
    return f"_{name}" if _RESERVED.fullmatch(name) else name


def _require_new(path: Path) -> None:
    _require_valid_name(path)
    if path.exists() or path.is_symlink():
        raise _make_exists_error(path)
    if not path.absolute().parent.is_dir():
        raise InputError("this folder does not exist; create it first", path=path.parent)


def _require_valid_name(path: Path) -> None:
    if not is_valid_name(path.name):
        raise InputError('Windows has no files of this name (<>:"|?*, a device such as CON, or a dot or blank at the '
                         "end); name another", path=path)


def _make_exists_error(path: Path) -> InputError:
    kind = "folder" if path.is_dir() else "file"
    return InputError(f"this {kind} already exists; remove it, or name another {kind}", path=path)
