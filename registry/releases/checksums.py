"""The checksums of a release's files, in the form that `sha256sum -c` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from registry.evaluation.verifying.faults import Fault
from registry.identity import digest

NAME = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def files(folder: Path) -> list[str]:
    """The paths of all files in a folder but the checksums themselves, in order."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*")
             if path.is_symlink() or not path.is_dir())
    return sorted(path for path in found if path != NAME)


def write(folder: Path) -> None:
    """Write the checksums of all files in a folder."""
    lines = [f"{_sum(folder / path)}  {path}\n" for path in files(folder)]
    (folder / NAME).write_text("".join(lines), "utf-8", newline="\n")


def verify(folder: Path) -> Iterator[Fault]:
    """Hold the files of a folder against its checksums."""
    try:
        lines = plain_text(folder / NAME).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        yield Fault("missing", "checksums", NAME, f"cannot be read: {error}")
        return
    said: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if (match := _LINE.fullmatch(line)) is None:
            yield Fault("damaged", "checksums", NAME, f"line {number} is no checksum of a file")
        elif match[2].startswith("/") or ".." in PurePosixPath(match[2]).parts:
            yield Fault("damaged", "checksums", NAME, f"line {number} names no path of this folder: {match[2]}")
        else:
            said[match[2]] = match[1]
    there = set(files(folder))
    for path in sorted(said.keys() | there):
        if path not in there:
            yield Fault("missing", "file", path, f"{NAME} lists it, and it is not there")
        elif path not in said:
            yield Fault("surplus", "file", path, f"{NAME} does not list it")
        elif (folder / path).is_symlink():
            yield Fault("altered", "file", path, "a symbolic link; releases have none")
        elif not (folder / path).is_file():
            yield Fault("altered", "file", path, "a pipe, a socket or a device; releases have plain files only")
        elif _sum(folder / path) != said[path]:
            yield Fault("altered", "file", path, f"its bytes are not those of {NAME}")


def plain_text(path: Path) -> str:
    """Read a text; what is there and is no file, such as a pipe, which nobody may ever write to, is refused.

    Raises:
        OSError, UnicodeDecodeError: It is none.
    """
    if path.exists() and not path.is_file():
        raise OSError("it is no plain file")
    return path.read_text("utf-8")


def _sum(path: Path) -> str:
    return digest(path.read_bytes()).removeprefix("sha256:")
