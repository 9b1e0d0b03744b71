"""The files that a manifest names: kept inside the root, and found by patterns whose braces capture names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from registry.errors import ManifestError, suggest
from registry.provenance import recorded_name

CAPTURES = ("team", "system", "version", "test_set", "track", "run")
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

    def match(self, pattern: str, key: str,
              but: frozenset[Path] = frozenset()) -> Iterator[tuple[Path, dict[str, str]]]:
        """Find the files that `pattern` names, in the order of their paths, with what its braces capture.

        A capture is one or more characters within one part of the path; all else in the pattern is literal. The files
        in `but` are passed over.

        Raises:
            ManifestError: A capture is unknown or stands twice, no file matches, or one matches in two ways.
        """
        names = re.findall(r"\{([^{}]*)\}", pattern)
        for name in names:
            if name not in CAPTURES:
                raise ManifestError(f"{{{name}}} captures nothing known; {suggest(name, CAPTURES)}",
                                    path=self.manifest, key=key)
            if names.count(name) > 1:
                raise ManifestError(f"{{{name}}} stands twice in {pattern!r}", path=self.manifest, key=key)
        if not names:
            yield self.resolve(pattern, key), {}
            return
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ManifestError(f"{pattern!r} {_OUTSIDE}", path=self.manifest, key=key)
        found = False
        with self._usable(pattern, key):
            matches = sorted(self._walk(Path(), pattern.split("/"), {}, pattern, key, but))
        for relative, captured in matches:
            found = True
            yield self.resolve(str(relative), key), captured
        if not found:
            raise ManifestError(f"no file matches {pattern!r}; {_RELATIVE}", path=self.manifest, key=key)

    def _walk(self, at: Path, parts: list[str], captured: dict[str, str], pattern: str, key: str,
              but: frozenset[Path]) -> Iterator[tuple[Path, dict[str, str]]]:
        if not parts:
            if os.path.lexists(self.folder / at):  # what is no regular file is refused when it is resolved
                yield at, captured
            return
        part, rest = parts[0], parts[1:]
        if "{" not in part:
            yield from self._walk(at / part, rest, captured, pattern, key, but)
            return
        if not (self.folder / at).is_dir() or not (self.folder / at).resolve().is_relative_to(self.folder.resolve()):
            return
        lazy, greedy = (_expression(part, lazy=lazy) for lazy in (True, False))
        for entry in (self.folder / at).iterdir():
            if entry in but or entry.name.startswith(".") or not (first := lazy.fullmatch(entry.name)):
                continue
            last = greedy.fullmatch(entry.name)
            if last is None or first.groupdict() != last.groupdict():
                raise ManifestError(f"{entry} matches {pattern!r} in more than one way; name it in a [[submit]] "
                                    "of its own", path=self.manifest, key=key)
            yield from self._walk(at / entry.name, rest, captured | first.groupdict(), pattern, key, but)


def _expression(part: str, *, lazy: bool) -> re.Pattern[str]:
    pieces = re.split(r"\{([^{}]*)\}", part)
    how = "+?" if lazy else "+"
    return re.compile("".join(re.escape(p) if n % 2 == 0 else f"(?P<{p}>.{how})" for n, p in enumerate(pieces)),
                      re.DOTALL)
