"""Functions that write files into a user's folder: either all files or none.

The files are, for example, a task or a training set.
"""

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
CONFLICT = "this file already exists with other content; remove it, or name another folder with --to"


@dataclass(frozen=True)
class TaskFolder:
    """Task that a program has generated, before its files are written.

    Attributes:
        tables: Tables of the manifest, without the key `manifest` and the task's id.
        files: Contents of the files that the manifest names, by path in the task's folder.
        sources: Digests of the user's files from which the task was made, by file name.
        notes: Messages for the user, for example about ignored data.
        advice: Sentences about further commands, in which the caller replaces `{task}` by the task's id.
        copies: For files that are copies of the user's files: the path of the user's file, by path of the copy in
            `files`.
        comments: Comment lines above a table of the manifest, by the table's name.
        is_import: True if an importer made the task, so that errors may name options of importers.
    """

    tables: Mapping[str, Any]
    files: Mapping[str, bytes]
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_import: bool = True

    @contextmanager
    def write(self, folder: Path, task: str, *, dry_run: bool = False, conflict: str = CONFLICT) -> Iterator[Path]:
        """Write the task into a folder, for a `with` block that uses it.

        If the block fails, the new files are removed. Existing files with the same content stay unchanged.

        Args:
            folder: Folder of the task.
            task: Id of the task.
            dry_run: True to write into a temporary folder instead.
            conflict: Message of the error if a file with other content exists.

        Yields:
            Path of the manifest.

        Raises:
            InputError: A file with other content exists, or the folder cannot be written.
        """
        if dry_run:
            with tempfile.TemporaryDirectory() as temporary, self.write(Path(temporary), task) as manifest:
                yield manifest
            return
        declared = {"manifest": 1, "task": {"id": task, **self.tables.get("task", {})}, **{
            name: table for name, table in self.tables.items() if name != "task"}}
        contents = {**self.files, MANIFEST: format_toml(declared, self.comments).encode()}
        new = write_files(folder, contents, conflict=conflict, failure="cannot write the task here")
        try:
            yield folder / MANIFEST
        except BaseException as error:
            _remove_files(new, folder)
            if isinstance(error, InputError):
                remedy = "; for an import set the option 'missing'" if (
                    error.category == "missing" and self.is_import) else ""
                first, *further = [
                    self.translate_error(fault, folder, remedy) if isinstance(fault, InputError) else fault
                    for fault in (error, *error.others)]
                first.others = tuple(further)
                if first is not error:
                    raise first from None
            raise

    def translate_error(self, error: InputError, folder: Path, remedy: str = "") -> InputError:
        """Make an error about a generated file an error about the user's file.

        The task contains copies of the user's files. Errors about the generated manifest get no path, because the user
        has not written it.

        Args:
            error: The error, which names a file of the task.
            folder: The folder of the task.
            remedy: Advice at the end of the message.
        """
        if error.path == str(folder / MANIFEST):
            return InputError(error.message, category=error.category)
        if error.path is None or not Path(error.path).is_relative_to(folder):
            return error
        name = str(Path(error.path).relative_to(folder))  # without the folder, which may be temporary
        return InputError(f"{error.message}{remedy}", path=self.copies.get(name, name), line=error.line,
                          item=error.item, category=error.category)


def write_files(folder: Path, files: Mapping[str, bytes], *, conflict: str = CONFLICT,
                failure: str = "cannot write here", dry_run: bool = False) -> list[Path]:
    """Write files into a folder: either all files or none.

    Existing files with the same content stay unchanged. If a file cannot be written, all new files are removed.

    Args:
        folder: The folder, which is created if it does not exist.
        files: Contents of the files, by path in the folder.
        conflict: Message of the error if a file with other content exists.
        failure: Message of the error if the folder cannot be written.
        dry_run: True to write nothing.

    Returns:
        Paths of the new files.

    Raises:
        InputError: A file with other content exists, or the folder cannot be written.
    """
    added: list[Path] = []
    try:
        new = {folder / name: content for name, content in files.items()
               if not _has_content(folder / name, content, conflict)}
        for path, content in {} if dry_run else new.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(path) as unfinished:
                added.append(unfinished.parent)  # so that a failure also removes the new folders above it
                unfinished.write_bytes(content)
            added[-1] = path
    except OSError as error:
        _remove_files(added, folder)
        raise InputError(f"{failure}: {error.strerror}", path=folder) from None
    except (RegistryError, KeyboardInterrupt):
        _remove_files(added, folder)
        raise
    return list(new)


def _has_content(path: Path, content: bytes, conflict: str) -> bool:
    """Return True if a file exists with this content, False if it does not exist.

    Raises:
        InputError: The file has other content. The message is the argument `conflict`.
    """
    if not path.exists() and not path.is_symlink():
        return False
    if not path.is_file() or path.read_bytes() != content:
        raise InputError(conflict, path=path)
    return True


def _remove_files(paths: list[Path], folder: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
        for parent in path.absolute().parents:
            if not parent.is_relative_to(folder.absolute()) or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def format_toml(tables: Mapping[str, Any], comments: Mapping[str, Sequence[str]] = MappingProxyType({})) -> str:
    """Format tables as the text of a TOML file.

    A list of tables becomes `[[name]]`. Tables inside of a table become inline tables.

    Args:
        tables: Text, numbers, truth values, and lists and mappings of such values.
        comments: Comment lines above the first table with a name, by the name.

    >>> metric = {"name": "SpanF", "options": {"beta": 1.0}}
    >>> print(format_toml({"manifest": 1, "task": {"id": "t"}, "metric": [metric]}))
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
    return "\n".join(_list_lines(tables, comments)) + "\n"


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Encode rows as JSON Lines, one JSON object per line, in UTF-8."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _list_lines(tables: Mapping[str, Any], comments: Mapping[str, Sequence[str]]) -> Iterator[str]:
    nested = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            nested[key] = [(f"[{_format_key(key)}]", value)]
        elif isinstance(value, list) and value and all(isinstance(table, Mapping) for table in value):
            nested[key] = [(f"[[{_format_key(key)}]]", table) for table in value]
        else:
            yield f"{_format_key(key)} = {format_value(value)}"
    for key, headed_tables in nested.items():
        for n, (heading, table) in enumerate(headed_tables):
            yield ""
            for line in () if n else comments.get(key, ()):
                yield "# " + "".join(c if c.isprintable() else " " for c in line)  # no control characters in TOML
            yield heading
            yield from (f"{_format_key(key)} = {format_value(value)}" for key, value in table.items())


def _format_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else format_value(key)


def format_value(value: Any) -> str:
    """Return a value in TOML."""
    if isinstance(value, str):  # TOML has JSON's escapes, and requires that DEL is escaped too
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, Mapping):
        members = ", ".join(f"{_format_key(key)} = {format_value(member)}" for key, member in value.items())
        return f"{{ {members} }}" if members else "{}"
    return "[" + ", ".join(map(format_value, value)) + "]"
