"""Writing files: a new file or folder gets its name when it is complete, and no other file is replaced by accident."""

from __future__ import annotations

import glob
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from registry.errors import InputError, StoreError
from registry.platforms import is_valid_name, lock_folder, rename_new

# names of devices on Windows, and the uppermost folder of a release's data
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9]|data)(\..*)?", re.IGNORECASE)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Return a temporary path to write to; the file gets the name `path` if the block succeeds.

    Raises:
        InputError: `path` already exists, its folder does not, or this system cannot have such a name.
        StoreError: The file cannot be written.
    """
    _require_new(path)
    try:
        with working_folder(path) as folder:
            unfinished = folder / path.name
            yield unfinished
            rename_new(unfinished, path)
    except FileExistsError:
        raise _make_exists_error(path) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Return an empty temporary folder to fill; it gets the name `path` if the block succeeds.

    Raises:
        InputError: `path` already exists, its folder does not, or this system cannot have such a name.
        StoreError: The folder cannot be written.
    """
    _require_new(path)
    try:
        with working_folder(path) as unfinished:
            yield unfinished
            if path.exists():
                raise _make_exists_error(path)
            unfinished.rename(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the folder: {error.strerror}") from None


@contextmanager
def working_folder(path: Path) -> Iterator[Path]:
    """Make an empty folder next to `path`, and remove it when the block ends.

    Its name is random, because processes in several containers that share a volume may have the same number. The
    process locks it: an unlocked folder is a leftover of a killed process, which the next writer removes.
    """
    _remove_leftovers(path)
    while True:
        folder = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new").absolute()
        with suppress(FileExistsError, FileNotFoundError, BlockingIOError):  # another process removes it as a leftover
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
        with suppress(OSError):  # a process works in it, or it is no folder
            if pattern.fullmatch(folder.name) and (lock := lock_folder(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def replace_file(path: Path, content: str) -> None:
    """Write a whole file, and its folders if necessary; another file of the name is replaced.

    Raises:
        InputError: The other file is a DuckDB database, or this system cannot have such a name.
        StoreError: The file cannot be written; the other file is unchanged.
    """
    _require_valid_name(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        if is_database(path):
            raise InputError("this file is a database and is not replaced; name another", path=path)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(content, "utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def update_file(path: Path, content: str) -> bool:
    """Write a file as `replace_file` does unless it has this content; return whether it was written."""
    with suppress(OSError):  # a file that cannot be read may still be replaced
        if path.is_file() and path.read_bytes() == content.encode():
            return False
    replace_file(path, content)
    return True


def replace_files(folder: Path, pattern: str, files: Iterable[tuple[str, str]]) -> None:
    """Write files into a folder, and remove all others that match a pattern; unchanged files are not written.

    Args:
        folder: Made if necessary; removed, with the folders in it, if nothing is left in them.
        pattern: As of `Path.glob`.
        files: Names and contents.

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
    """Return True if there is a file at `path` that begins like a DuckDB database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def portable_name(name: str) -> str:
    """Return a name for files and folders that every system accepts; different names may become equal.

    >>> portable_name("Ä b/../c"), portable_name("con"), portable_name("")
    ('b_.._c', '_con', '_')
    """
    shown = re.sub(r"[^\w.@+-]+", "_", name, flags=re.ASCII).strip("._ ")
    return f"_{shown}" if not shown or _RESERVED.fullmatch(shown) else shown


def _require_new(path: Path) -> None:
    _require_valid_name(path)
    if path.exists() or path.is_symlink():
        raise _make_exists_error(path)
    if not path.absolute().parent.is_dir():
        raise InputError("no such folder; make it first", path=path.parent)


def _require_valid_name(path: Path) -> None:
    if not is_valid_name(path.name):
        raise InputError('Windows has no files of this name (<>:"|?*, a device such as CON, or a dot or blank at the '
                         "end); name another", path=path)


def _make_exists_error(path: Path) -> InputError:
    return InputError(f"this {'folder' if path.is_dir() else 'file'} already exists; remove it, or name another",
                      path=path)
