"""What importers are pointed at: the files of another program's log in a folder, and the JSON in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from registry.errors import Category, InputError, suggest
from registry.readers import Document
from registry.readers.parsing.json_lines import json_object, json_value

MAX_FILES = 2**16  # that are looked at below one folder


class Place(NamedTuple):
    """Where something was found; `line` counts from 1."""

    path: str
    line: int | None = None

    def error(self, message: str, item: str | None = None, *, category: Category = "format") -> InputError:
        """Say what is wrong here."""
        return InputError(message, path=self.path, line=self.line, item=item, category=category)


class Sources:
    """What is read of the files at a path; `digests` are those of all that were, by their names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: dict[str, str] = {}

    def load(self, file: Path) -> Document:
        """Read a file, and note its digest.

        Raises:
            InputError: It cannot be read.
        """
        document = Document.load(file, self.path)
        self.digests[document.name] = document.digest
        return document

    def json(self, file: Path) -> tuple[Any, Place]:
        """Read a file that is one JSON value, and say where that stands; see `whole_json`."""
        document = self.load(file)
        return whole_json(document), Place(document.path)


def find_files(path: Path, fits: Callable[[str], bool], what: str, *, deep: bool = True) -> list[Path]:
    """Find the files whose names fit, in a folder and (`deep`) below it; or take the file `path` itself.

    They are ordered by their names, folder by folder. Links to folders are not followed.

    Raises:
        InputError: There is none, there are too many, one's name is no text, or a link leads out of the folder.
    """
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    n = 0
    for folder, below, names in os.walk(path):
        below[:] = sorted(below) if deep else []
        n += len(names)
        if n > MAX_FILES:
            raise InputError(f"more than {MAX_FILES:,} files; name the folder of the logs themselves", path=path)
        found += (Path(folder) / name for name in sorted(names) if fits(name))
    if not found:
        raise InputError(f"no {what} in this folder", path=path)
    inside = path.resolve()
    for file in found:
        if not str(file.relative_to(path)).isprintable():
            raise InputError(f"the name {str(file.relative_to(path))!r} is no printable text", path=path)
        if file.is_symlink() and not file.resolve().is_relative_to(inside):
            raise InputError("a link that leads out of the folder; put the file itself here", path=file)
    return found


def check_known(wanted: Iterable[str], known: Iterable[str], what: str, path: Path) -> None:
    """Refuse what is wanted and not there; errors say that there is no `what` of its name.

    Raises:
        InputError: One is not among those that are known at the path.
    """
    known = set(known)
    for name in wanted:
        if name not in known:
            raise InputError(f"no {what} {name!r}; {suggest(name, known)}", path=path)


def whole_json(document: Document) -> Any:
    """Read a file that is one JSON value; NaN and Infinity pass.

    Raises:
        InputError: It is not JSON; names the line.
    """
    return parsed_json(document.text(), document.path)


def objects(document: Document, *, nan: bool = False) -> Iterator[tuple[dict[str, Any], Place]]:
    """Read a file of JSON Lines, giving where each object stands; blank lines are passed over.

    Raises:
        InputError: A line is no JSON object; see `json_object`.
    """
    for line, text in document.lines():
        if text.strip():
            yield json_object(text, document.path, line, nan=nan), Place(document.path, line)


def parsed_json(text: str | bytes, path: str) -> Any:
    """Read the text of the file at `path`; see `whole_json`."""
    try:
        return json_value(text, nan=True)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}", path=path, line=error.lineno) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path) from None


def is_whole(value: Any) -> bool:
    """Whether a JSON value can be written into a file: JSON can escape half of a character, as UTF-8 can not."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def member(value: Any, *keys: str, of: type | tuple[type, ...], place: Place) -> Any:
    """Take what stands under a key of nested objects.

    Raises:
        InputError: It is not there, or not of the type `of`; names the keys.
    """
    for n, key in enumerate(keys, 1):
        if not isinstance(value, dict) or key not in value:
            raise place.error(f"no key {'.'.join(keys[:n])!r}")
        value = value[key]
    if not isinstance(value, of) or (isinstance(value, bool) and of is int):
        raise place.error(f"{'.'.join(keys)!r} is {json.dumps(value)[:60]}, which does not belong there")
    return value
