"""Search for the files that a manifest names, inside the folder of the task.

A pattern such as `{team}/{system}.tsv` finds several files. Its names in braces are captures: each stands for a part of
the path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import ManifestError, suggest
from registry.manifest.fields import BRACES, COMPOSED, FACTORS, list_captures
from registry.manifest.spec import Submit
from registry.provenance import recorded_name

CAPTURES = (*COMPOSED, *FACTORS)
Identity = tuple[str, int]  # real path in lower case, and inode
Match = tuple[Path, dict[str, str]]  # a file, and its captures
_RELATIVE = "paths are relative to the manifest, or to --root"
_OUTSIDE = "is outside the task folder; put the files next to the manifest, or name their folder with --root"


@dataclass(frozen=True)
class Root:
    """Folder of a task, which contains all files that the manifest names.

    Attributes:
        folder: Path of the folder.
        manifest: Path of the manifest.
    """

    folder: Path
    manifest: Path

    @property
    def manifest_name(self) -> str:
        """Name of the manifest that the registry records as the source of its data."""
        return recorded_name(self.manifest, self.folder)

    def resolve(self, path: str, key: str) -> Path:
        """Return the path of a file that the manifest names.

        Args:
            path: Path relative to the folder.
            key: Key of the manifest with this path, for the error.

        Raises:
            ManifestError: The path is absolute, leads out of the folder (also by a symbolic link), or is not a file.
        """
        joined = self.folder / path
        with self._handle_errors(path, key):
            if not joined.resolve().is_relative_to(self.folder.resolve()):
                raise ManifestError(f"{path!r} {_OUTSIDE}", path=self.manifest, key=key)
            if Path(path).is_absolute():
                raise ManifestError(f"{path!r} is an absolute path; write a relative one: {_RELATIVE}",
                                    path=self.manifest, key=key)
            if not joined.is_file():
                problem = "not a regular file" if joined.exists() else "no such file"
                raise ManifestError(f"{problem}: {joined}; {_RELATIVE}", path=self.manifest, key=key)
        return joined

    @contextmanager
    def _handle_errors(self, path: str, key: str) -> Iterator[None]:
        """Convert system errors about a path to errors about the manifest.

        Causes are, for example, a path that is too long, a loop of links, or a missing permission.

        Args:
            path: The path as the manifest declares it.
            key: The key of the manifest with this path, for the error.
        """
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ManifestError(f"cannot use the path {path[:100]!r}: {reason}", path=self.manifest, key=key) from None

    def match(self, submit: Submit, key: str, single: frozenset[Identity] = frozenset()) -> Iterator[Match]:
        """Find the files of a `[[submit]]` table, whose pattern may match many files.

        A name in braces, as in `{team}/{system}.tsv`, matches one or more characters except `/`. If it occurs twice, it
        matches the same text. Files in `exclude` are skipped.

        Args:
            submit: The table with the pattern.
            key: The key of the table in the manifest, for errors.
            single: Files that other tables name without a pattern; they are skipped, too.

        Yields:
            Each file with the text that its names in braces match, sorted by path.

        Raises:
            ManifestError: A name in braces is unknown, no file matches, a file matches in two ways, or a name in
                `exclude` excludes no file.
        """
        pattern = submit.file
        known = {*CAPTURES, *(name for composed in COMPOSED for name in submit.list_captures(composed))}
        for name in list_captures(pattern):
            if name not in known or not name.isidentifier():
                raise ManifestError(f"{{{name}}} is an unknown field; {suggest(name, CAPTURES)}; or use it in another "
                                    f'key, such as system = "{{team}}-{{{name}}}"', path=self.manifest,
                                    key=f"{key}.file")
        if not list_captures(pattern):
            yield self.resolve(pattern, f"{key}.file"), {}
            return
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ManifestError(f"{pattern!r} {_OUTSIDE}", path=self.manifest, key=f"{key}.file")
        search = _Search(self, submit, key, single)
        with self._handle_errors(pattern, f"{key}.file"):
            matches = sorted(search.walk(Path(), pattern.split("/"), {}), key=lambda match: match[0])
        if not matches and not search.n_skipped:
            raise ManifestError(f"no file matches {pattern!r}; {_RELATIVE}", path=self.manifest, key=f"{key}.file")
        if unused := [n for n in range(len(submit.exclude)) if n not in search.used]:
            raise ManifestError(f"{submit.exclude[unused[0]]!r} is not a file that the pattern {pattern!r} matches; "
                                + suggest(submit.exclude[unused[0]], [str(path) for path, _ in matches]),
                                path=self.manifest, key=f"{key}.exclude[{unused[0]}]")
        for relative, captured in matches:
            yield self.resolve(str(relative), f"{key}.file"), captured


def identify_file(path: Path) -> Identity:
    """Return a key that identifies a file independently of its path.

    Paths of the same file can differ by links, by `./` or by letter case.
    """
    try:
        return os.path.realpath(path).casefold(), path.stat().st_ino
    except (OSError, ValueError):  # raised again when the file is read
        return str(path), 0


def list_exclusions(pattern: str, excluded: Collection[str], kept: Collection[str]) -> list[str]:
    """Return names for `exclude` that leave out some files of another pattern.

    The result is one name with wildcards if the pattern of the excluded files allows it.

    Args:
        pattern: Pattern that matches the excluded files, such as `{team}.{system}.tsv`.
        excluded: Paths of the excluded files.
        kept: Paths that must not be excluded.

    >>> list_exclusions("{team}.{system}.tsv", ["a.b.tsv"], ["a.tsv"])
    ['*.*.tsv']
    >>> list_exclusions("{system}.tsv", ["a.b.tsv"], ["a.tsv"])
    ['a.b.tsv']
    """
    glob = BRACES.sub("*", pattern)
    expression = _compile_glob(glob)
    is_exact = all(map(expression.fullmatch, excluded)) and not any(map(expression.fullmatch, kept))
    return [glob] if is_exact else sorted(excluded)


@dataclass
class _Search:
    """Search for the files that match the pattern of a `[[submit]]` table.

    Attributes:
        root: The folder of the task.
        submit: The table with the pattern.
        key: The key of the table in the manifest, for errors.
        single: Files that other tables name without a pattern; they are skipped.
        used: The indices of the names in `exclude` that have excluded a file.
        n_skipped: The number of matching files that were skipped.
    """

    root: Root
    submit: Submit
    key: str
    single: frozenset[Identity]
    used: set[int] = field(default_factory=set)
    n_skipped: int = 0

    def walk(self, path: Path, parts: list[str], captured: dict[str, str]) -> Iterator[Match]:
        """Yield the files below a folder that match the rest of the pattern.

        Args:
            path: The path of the folder, relative to the task's folder.
            parts: The remaining parts of the pattern, one per level of folders.
            captured: The text that names in braces matched in earlier parts.
        """
        root = self.root.folder
        if not parts:
            if os.path.lexists(root / path) and not self._is_skipped(path):
                yield path, captured  # `resolve` refuses a match that is no regular file
            return
        part, rest, folder = parts[0], parts[1:], root / path
        if "{" not in part:
            yield from self.walk(path / part, rest, captured)
            return
        if not folder.is_dir() or not folder.resolve().is_relative_to(root.resolve()):
            return
        lazy, greedy = (_make_expression(part, captured, quantifier) for quantifier in ("+?", "+"))
        for entry in folder.iterdir():
            if entry.name.startswith(".") or not (first := lazy.fullmatch(entry.name)):
                continue
            last = greedy.fullmatch(entry.name)
            if last is None or first.groupdict() != last.groupdict():
                if not rest and self._is_skipped(path / entry.name):
                    continue
                raise ManifestError(f"{entry} matches the pattern {self.submit.file!r} in more than one way; name the "
                                    "file in a separate [[submit]], or in exclude", path=self.root.manifest,
                                    key=f"{self.key}.file")
            yield from self.walk(path / entry.name, rest, captured | first.groupdict())

    def _is_skipped(self, path: Path) -> bool:
        used = {n for n, glob in enumerate(self.submit.exclude) if _compile_glob(glob).fullmatch(
            path.as_posix() if "/" in glob else path.name)}
        self.used |= used
        is_skipped = bool(used) or identify_file(self.root.folder / path) in self.single
        self.n_skipped += is_skipped
        return is_skipped


def _make_expression(part: str, captured: Mapping[str, str], quantifier: str) -> re.Pattern[str]:
    """Convert part of a file pattern, such as `{system}.tsv`, to a regex.

    Args:
        part: The text between two slashes of the pattern.
        captured: The text that names in braces matched in earlier parts. They must match the same text again.
        quantifier: The quantifier of new names in braces: `+`, or `+?` for the shortest match.
    """
    text, new = "", set[str]()
    for n, piece in enumerate(BRACES.split(part)):
        if n % 2 == 0:
            text += re.escape(piece)
        elif piece in captured:
            text += re.escape(captured[piece])
        else:
            text += f"(?P={piece})" if piece in new else f"(?P<{piece}>.{quantifier})"
            new.add(piece)
    return re.compile(text, re.DOTALL)


def _compile_glob(glob: str) -> re.Pattern[str]:
    """Convert a file name with wildcards to a regular expression.

    `*` matches any characters except `/`, and `?` matches one such character.
    """
    text = re.escape(glob.removeprefix("./")).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.compile(text, re.DOTALL)
