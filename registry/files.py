"""New files: written under another name, and given their own only when they are complete."""

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

try:
    import fcntl
except ImportError:  # Windows: there nothing is locked, and nothing swept
    fcntl = None  # type: ignore[assignment]

# what Windows keeps for itself, and data stores for their uppermost folder
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9]|data)(\..*)?", re.IGNORECASE)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give the path under which to write a new file; it becomes `path` when the block ends well, else it is removed.

    Raises:
        InputError: There is a file at `path` already, or no such folder.
        StoreError: The file cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise _is_there(path)
    if not path.parent.is_dir():
        raise InputError("no such folder; make it first", path=path.parent)
    try:
        with workplace(path) as folder:
            unfinished = folder / path.name
            yield unfinished
            publish(unfinished, path)
    except FileExistsError:
        raise _is_there(path) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None


@contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """Make an empty folder next to `path` to write in, and remove it when the block ends.

    Its name is random, because processes in several containers that share a volume may have the same number. The
    process holds the system's lock on it; an unlocked folder is a leftover of a killed process.
    """
    _sweep(path)
    while True:
        folder = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new").absolute()
        with suppress(FileExistsError, FileNotFoundError, BlockingIOError):  # another process sweeps it: try another
            folder.mkdir()
            held = _lock(folder)
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _lock(folder: Path) -> int | None:
    """Take the system's lock on a folder, which ends with the process; None if the file system has no such locks.

    Raises:
        BlockingIOError: Another process holds it.
        FileNotFoundError: The folder was removed.
        NotADirectoryError: It is no folder.
    """
    if fcntl is None:
        return None
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except (BlockingIOError, FileNotFoundError):
        os.close(held)
        raise
    except OSError:
        os.close(held)
        return None
    return held


def _sweep(path: Path) -> None:
    """Remove the leftovers of processes that were killed while they wrote this file or folder."""
    named = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{12}}\.new")
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with suppress(OSError):  # a process works in it, or it is no folder
            if named.fullmatch(left.name) and (held := _lock(left)) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(held)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to fill; it becomes `path` when the block ends well, else it is removed.

    Raises:
        InputError: There is something at `path` already, or no such folder to make it in.
        StoreError: The folder cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise _is_there(path)
    if not path.absolute().parent.is_dir():
        raise InputError("no such folder; make it first", path=path.parent)
    try:
        with workplace(path) as unfinished:
            yield unfinished
            if path.exists():
                raise _is_there(path)
            unfinished.rename(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the folder: {error.strerror}") from None


def replace_file(path: Path, content: str) -> None:
    """Write a file whole, in place of the one that may be there; its folders are made if need be.

    Raises:
        InputError: A DuckDB database is there.
        StoreError: It cannot be written; what was there stays.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        if is_database(path):
            raise InputError("this file is a database, which nothing replaces; name another", path=path)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(content, "utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(path, f"cannot write the file: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def update_file(path: Path, content: str) -> bool:
    """Write a file as `replace_file` does, unless it is as it should be; give whether it was written."""
    try:
        same = path.is_file() and path.read_bytes() == content.encode()
    except OSError:  # what is in the way of reading may not be in the way of replacing it
        same = False
    if not same:
        replace_file(path, content)
    return not same


def replace_files(folder: Path, pattern: str, files: Iterable[tuple[str, str]]) -> None:
    """Write the files of a folder that a pattern finds: those that are as they were stay untouched, what is more goes.

    Args:
        folder: Where to; it is made if need be, and taken away with its own folders where they are empty.
        pattern: Of names within it, as `Path.glob` has them.
        files: Name and content of each.

    Raises:
        StoreError: One cannot be written or taken away.
    """
    kept = set()
    for name, content in files:
        kept.add(folder / name)
        update_file(folder / name, content)
    try:
        for path in set(folder.glob(pattern)) - kept:
            path.unlink()
        for emptied in (*folder.glob("*"), folder):
            if emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()
    except OSError as error:
        raise StoreError(folder, f"cannot take away what is of before: {error.strerror}") from None


def is_database(path: Path) -> bool:
    """Whether the file at `path`, if one is there, begins as DuckDB's do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def _is_there(path: Path) -> InputError:
    return InputError(f"this {'folder' if path.is_dir() else 'file'} is there already; remove it, or name another",
                      path=path)


def portable(name: str) -> str:
    """What a folder or file can be called on every system, for a name of any letters; several may become the same.

    >>> portable("Ä b/../c"), portable("con"), portable("")
    ('b_.._c', '_con', '_')
    """
    shown = re.sub(r"[^\w.@+-]+", "_", name, flags=re.ASCII).strip("._ ")
    return f"_{shown}" if not shown or _RESERVED.fullmatch(shown) else shown


def publish(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, never replacing a file that came meanwhile.

    Raises:
        FileExistsError: One did.
    """
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))  # the name is ours: what is replaced is empty
        unfinished.replace(path)
