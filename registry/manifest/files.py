"""The files that a manifest names: kept inside the root, and found by patterns whose braces capture names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import ManifestError, suggest
from registry.manifest.fields import BRACES, COMPOSED, FACTORS, braces
from registry.manifest.spec import Submit
from registry.provenance import recorded_name

CAPTURES = (*COMPOSED, *FACTORS)
Identity = tuple[str, int]  # of a file: its real path, whose case may not matter, and its number in the file system
Found = tuple[Path, dict[str, str]]  # a file, and what its path's braces capture
_RELATIVE = "paths are relative to the manifest, or to --root"
_OUTSIDE = "leads out of the task's folder; keep the files beside the manifest, or name their folder with --root"


@dataclass(frozen=True)
class Root:
    """The folder that every path of the manifest `manifest` is relative to and must stay in."""

    folder: Path
    manifest: Path

    @property
    def manifest_name(self) -> str:
        """What records call the manifest."""
        return recorded_name(self.manifest, self.folder)

    def resolve(self, path: str, key: str) -> Path:
        """Resolve `path`, given at `key`, inside the root.

        Raises:
            ManifestError: The path is absolute or leads out of the root (also by a symbolic link), or no file is there.
        """
        joined = self.folder / path
        with self._usable(path, key):
            if not joined.resolve().is_relative_to(self.folder.resolve()):
                raise ManifestError(f"{path!r} {_OUTSIDE}", path=self.manifest, key=key)
            if Path(path).is_absolute():
                raise ManifestError(f"{path!r} is an absolute path, which would be recorded; {_RELATIVE}",
                                    path=self.manifest, key=key)
            if not joined.is_file():
                what = "not a regular file" if joined.exists() else "no such file"
                raise ManifestError(f"{what}: {joined}; {_RELATIVE}", path=self.manifest, key=key)
        return joined

    @contextmanager
    def _usable(self, path: str, key: str) -> Iterator[None]:
        """Name a path that the system itself refuses: too long, a loop of links, no permission."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ManifestError(f"cannot use the path {path[:100]!r}: {why}", path=self.manifest, key=key) from None

    def match(self, submit: Submit, key: str, single: frozenset[Identity] = frozenset()) -> Iterator[Found]:
        """Find the files that a `[[submit]]` at `key` names, in the order of their paths, with what its braces capture.

        A capture is one or more characters within one part of the path, the same wherever it stands; all else in the
        pattern is literal. What `exclude` names is left out, and so are the `single` files, which others name.

        Raises:
            ManifestError: A capture is unknown, no file matches, one matches in two ways, or `exclude` leaves nothing
                out.
        """
        pattern = submit.file
        known = {*CAPTURES, *(name for composed in COMPOSED for name in submit.composed(composed))}
        for name in braces(pattern):
            if name not in known or not name.isidentifier():
                raise ManifestError(f"{{{name}}} captures nothing known; {suggest(name, CAPTURES)}; or use it in a "
                                    f'key, such as system = "{{team}}-{{{name}}}"', path=self.manifest,
                                    key=f"{key}.file")
        if not braces(pattern):
            yield self.resolve(pattern, f"{key}.file"), {}
            return
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ManifestError(f"{pattern!r} {_OUTSIDE}", path=self.manifest, key=f"{key}.file")
        search = _Search(self, submit, key, single)
        with self._usable(pattern, f"{key}.file"):
            matches = sorted(search.walk(Path(), pattern.split("/"), {}), key=lambda found: found[0])
        if not matches and not search.n_left_out:
            raise ManifestError(f"no file matches {pattern!r}; {_RELATIVE}", path=self.manifest, key=f"{key}.file")
        if idle := [n for n in range(len(submit.exclude)) if n not in search.excluded]:
            raise ManifestError(f"{submit.exclude[idle[0]]!r} is no file that {pattern!r} matches; "
                                + suggest(submit.exclude[idle[0]], [str(path) for path, _ in matches]),
                                path=self.manifest, key=f"{key}.exclude[{idle[0]}]")
        for relative, captured in matches:
            yield self.resolve(str(relative), f"{key}.file"), captured


def identity(path: Path) -> Identity:
    """What tells a file from others, however its path is written: through links, `./`, or in another letter case."""
    try:
        return os.path.realpath(path).casefold(), path.stat().st_ino
    except (OSError, ValueError):  # which is told where the file is read
        return str(path), 0


@dataclass
class _Search:
    """The search for one pattern's files; `excluded` are those of its `exclude` that have left a file out."""

    root: Root
    submit: Submit
    key: str
    single: frozenset[Identity]
    excluded: set[int] = field(default_factory=set)
    n_left_out: int = 0

    def walk(self, at: Path, parts: list[str], captured: dict[str, str]) -> Iterator[Found]:
        """Go down the parts of the pattern that are left, from the folder `at`."""
        folder = self.root.folder
        if not parts:
            if os.path.lexists(folder / at) and not self._left_out(at):
                yield at, captured  # what is no regular file is refused when it is resolved
            return
        part, rest, here = parts[0], parts[1:], folder / at
        if "{" not in part:
            yield from self.walk(at / part, rest, captured)
            return
        if not here.is_dir() or not here.resolve().is_relative_to(folder.resolve()):
            return
        lazy, greedy = (_expression(part, captured, how) for how in ("+?", "+"))
        for entry in here.iterdir():
            if entry.name.startswith(".") or not (first := lazy.fullmatch(entry.name)):
                continue
            last = greedy.fullmatch(entry.name)
            if last is None or first.groupdict() != last.groupdict():
                if not rest and self._left_out(at / entry.name):
                    continue
                raise ManifestError(f"{entry} matches {self.submit.file!r} in more than one way; name it in a "
                                    "[[submit]] of its own, or in exclude", path=self.root.manifest,
                                    key=f"{self.key}.file")
            yield from self.walk(at / entry.name, rest, captured | first.groupdict())

    def _left_out(self, at: Path) -> bool:
        excluded = {n for n, glob in enumerate(self.submit.exclude) if _globbed(glob).fullmatch(
            at.as_posix() if "/" in glob else at.name)}
        self.excluded |= excluded
        found = bool(excluded) or identity(self.root.folder / at) in self.single
        self.n_left_out += found
        return found


def _expression(part: str, captured: Mapping[str, str], how: str) -> re.Pattern[str]:
    """A part of a path as an expression; what was captured before, here or further up, must be the same again."""
    text, here = "", set[str]()
    for n, piece in enumerate(BRACES.split(part)):
        if n % 2 == 0:
            text += re.escape(piece)
        elif piece in captured:
            text += re.escape(captured[piece])
        else:
            text += f"(?P={piece})" if piece in here else f"(?P<{piece}>.{how})"
            here.add(piece)
    return re.compile(text, re.DOTALL)


def _globbed(glob: str) -> re.Pattern[str]:
    """A name or path in which `*` stands for any characters but `/`, and `?` for one."""
    text = re.escape(glob.removeprefix("./")).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.compile(text, re.DOTALL)
