"""Files that are made for a user, written into a folder as a whole or not at all: tasks, task packs, training sets."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from registry.errors import InputError, RegistryError
from registry.files import new_file

MANIFEST = "task.toml"
OTHER = "is there already with other content; name another folder with --to, or remove this one"


@dataclass(frozen=True)
class TaskFolder:
    """A task that was made.

    Attributes:
        tables: Of its manifest, without `manifest` and the task's id.
        files: What the manifest names, by path in the task's folder.
        sources: What it was made from: digests by name.
        notes: What the user has to know, such as what was passed over.
        then: What answers a question that the user may have, in sentences; `{task}` stands for the task's id.
        copies: The path of the user's file, by the name of the file that is a copy of it; errors speak of that.
        comments: Lines that the manifest has above a table, by the table's name.
    """

    tables: Mapping[str, Any]
    files: Mapping[str, bytes]
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @contextmanager
    def written(self, folder: Path, task: str, *, dry_run: bool = False, other: str = OTHER) -> Iterator[Path]:
        """Write the task called `task` into a folder, and give the manifest's path; if the block fails, take it back.

        Files that are there with this content are left alone; `other` is said of one with other content. A dry run
        writes elsewhere, and takes that away.

        Raises:
            InputError: A file is there with other content, or the folder cannot be written.
        """
        if dry_run:
            with tempfile.TemporaryDirectory() as elsewhere, self.written(Path(elsewhere), task) as manifest:
                yield manifest
            return
        declared = {"manifest": 1, "task": {"id": task, **self.tables.get("task", {})}, **{
            name: table for name, table in self.tables.items() if name != "task"}}
        contents = {**self.files, MANIFEST: toml(declared, self.comments).encode()}
        new = write_files(folder, contents, other=other, failing="cannot write the task here")
        try:
            yield folder / MANIFEST
        except BaseException as error:
            _remove(new, folder)
            if isinstance(error, InputError):
                more = "; of an import the option 'missing' says it" if error.category == "missing" else ""
                given, *others = [self.of_user(one, folder, more) if isinstance(one, InputError) else one
                                  for one in (error, *error.others)]
                given.others = tuple(others)
                if given is not error:
                    raise given from None
            raise

    def of_user(self, error: InputError, folder: Path, more: str = "") -> InputError:
        """An error in a file that was written into `folder`, as one in the user's file of which it is a copy.

        The manifest that was made is none of the user's: what is wrong in it is something that the user has said.
        """
        if error.path == str(folder / MANIFEST):
            return InputError(error.message, category=error.category)
        given = {str(folder / name): path for name, path in self.copies.items()}
        path = given.get(error.path or "")
        if path is None and error.path is not None and Path(error.path).is_relative_to(folder):
            path = str(Path(error.path).relative_to(folder))  # a file that was made, whose folder may be temporary
        if path is None:
            return error
        return InputError(f"{error.message}{more}", path=path, line=error.line, item=error.item,
                          category=error.category)


def write_files(folder: Path, files: Mapping[str, bytes], *, other: str = OTHER, failing: str = "cannot write here",
                dry_run: bool = False) -> list[Path]:
    """Write files into a folder, made if need be, and give those that are new; if one fails, take them all back.

    Files that are there with this content are left alone. A dry run gives what would be new.

    Args:
        folder: Where to.
        files: Contents by path in the folder.
        other: What to say of a file that is there with other content.
        failing: What to say where they cannot be written.
        dry_run: Whether to write nothing.

    Raises:
        InputError: A file is there with other content, or the folder cannot be written.
    """
    new: list[Path] = []
    try:
        wanted = {folder / name: content for name, content in files.items()
                  if not _is_there(folder / name, content, other)}
        for path, content in {} if dry_run else wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(path) as unfinished:
                new.append(unfinished.parent)  # gone by then, but the folders made for it are removed too
                unfinished.write_bytes(content)
            new[-1] = path
    except OSError as error:
        _remove(new, folder)
        raise InputError(f"{failing}: {error.strerror}", path=folder) from None
    except (RegistryError, KeyboardInterrupt):
        _remove(new, folder)
        raise
    return list(wanted)


def _is_there(path: Path, content: bytes, other: str) -> bool:
    """Whether a file with this content is there already; nothing is, where it is still to be written."""
    if not path.exists() and not path.is_symlink():
        return False
    if not path.is_file() or path.read_bytes() != content:
        raise InputError(other, path=path)
    return True


def _remove(paths: list[Path], folder: Path) -> None:
    """Remove files, and the folders that this leaves empty."""
    for path in paths:
        path.unlink(missing_ok=True)
        for above in path.absolute().parents:
            if not above.is_relative_to(folder.absolute()) or not above.is_dir() or any(above.iterdir()):
                break
            above.rmdir()


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(tables: Mapping[str, Any], comments: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    r"""Write tables as TOML: lists of tables as `[[name]]`, all that is deeper inline.

    Values are text, numbers, truth values, and lists and mappings of them. Lines of `comments` stand above the first
    table of a name.

    >>> print(toml({"manifest": 1, "task": {"id": "t"}, "metric": [{"name": "SpanF", "options": {"beta": 1.0}}]}))
    manifest = 1
    <BLANKLINE>
    [task]
    id = "t"
    <BLANKLINE>
    [[metric]]
    name = "SpanF"
    options = { beta = 1.0 }
    <BLANKLINE>
    """
    return "\n".join(_lines(tables, comments)) + "\n"


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Write rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _lines(tables: Mapping[str, Any], comments: Mapping[str, Sequence[str]]) -> Iterator[str]:
    nested = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            nested[key] = [(f"[{_key(key)}]", value)]
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            nested[key] = [(f"[[{_key(key)}]]", one) for one in value]
        else:
            yield f"{_key(key)} = {_value(value)}"
    for key, found in nested.items():
        for n, (heading, table) in enumerate(found):
            yield ""
            yield from (f"# {_one_line(line)}" for line in (() if n else comments.get(key, ())))
            yield heading
            yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items())


def _one_line(text: str) -> str:
    """A comment without what TOML refuses in one."""
    return "".join(c if c.isprintable() else " " for c in text)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, str):  # JSON's escapes are TOML's, which wants DEL escaped too
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    return "[" + ", ".join(map(_value, value)) + "]"
