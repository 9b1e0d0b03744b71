"""Search for the files that a manifest names, inside the folder of the task.

A pattern such as `{team}/{system}.tsv` finds several files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from registry.errors import ManifestError, suggest
from registry.manifest.patterns import (
    BRACES,
    CAPTURES,
    COMPOSED,
    assign_names,
    compile_glob,
    find_matches,
    list_captures,
)
from registry.manifest.spec import Submit
from registry.provenance import recorded_name

Identity = tuple[str, int]  # real path in lower case, and inode
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

    def match(self, submit: Submit, key: str,
              single: frozenset[Identity] = frozenset()) -> Iterator[tuple[Path, dict[str, str]]]:
        """Find the files of a `[[submit]]` table, whose pattern may match many files.

        Files in `exclude` are skipped.

        Args:
            submit: The table with the pattern.
            key: The key of the table in the manifest, for errors.
            single: Files that other tables name without a pattern; they are skipped, too.

        Yields:
            Each file with the names that its path contains, sorted by path.

        Raises:
            ManifestError: A name in braces is unknown, no file matches, a file matches in two ways, or a name in
                `exclude` excludes no file.
        """
        pattern = submit.file
        used = {name for composed in COMPOSED for name in submit.list_captures(composed)}
        for name in list_captures(pattern):
            if name not in {*CAPTURES, *used} or not name.isidentifier():
                raise ManifestError(f"{{{name}}} is an unknown field; {suggest(name, CAPTURES)}; or use it in another "
                                    f'key, such as system = "{{team}}-{{{name}}}", or write * if it names nothing',
                                    path=self.manifest, key=f"{key}.file")
        if not list_captures(pattern):
            yield self.resolve(pattern, f"{key}.file"), {}
            return
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ManifestError(f"{pattern!r} {_OUTSIDE}", path=self.manifest, key=f"{key}.file")
        with self._handle_errors(pattern, f"{key}.file"):
            matches = sorted(find_matches(self.folder, pattern.split("/"), is_inside=True))
        excluded = {name: {match.path for match in matches if compile_glob(name).fullmatch(
            match.path.as_posix() if "/" in name else match.path.name)} for name in submit.exclude}
        skipped = {match.path for match in matches if identify_file(self.folder / match.path) in single}.union(
            *excluded.values())
        if not matches:
            raise ManifestError(f"no file matches {pattern!r}; {_RELATIVE}", path=self.manifest, key=f"{key}.file")
        if unused := [name for name, paths in excluded.items() if not paths]:
            raise ManifestError(f"{unused[0]!r} is not a file that the pattern {pattern!r} matches; "
                                + suggest(unused[0], [str(match.path) for match in matches]), path=self.manifest,
                                key=f"{key}.exclude[{submit.exclude.index(unused[0])}]")
        keys = [name for name in COMPOSED if getattr(submit, name) is not None]
        for path, captures, is_ambiguous in matches:
            if path in skipped:
                continue
            if is_ambiguous:
                raise ManifestError(f"{self.folder / path} matches the pattern {pattern!r} in more than one way; name "
                                    "the file in a separate [[submit]], or in exclude", path=self.manifest,
                                    key=f"{key}.file")
            yield self.resolve(str(path), f"{key}.file"), assign_names(captures, keys, used)


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
    expression = compile_glob(glob)
    is_exact = all(map(expression.fullmatch, excluded)) and not any(map(expression.fullmatch, kept))
    return [glob] if is_exact else sorted(excluded)
