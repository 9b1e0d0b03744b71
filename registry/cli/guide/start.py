"""What to do next where a newcomer stands: in a folder without a registry, with a manifest, or with boards to see."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from pathlib import Path

_MANIFEST = re.compile(rb"^\s*manifest\s*=", re.MULTILINE)
_READ = 10_000  # bytes of a file in which a manifest says that it is one
_LOOKED_AT = 100  # files and folders of one that are looked into at most


def first_steps(database: Path) -> list[str]:
    """Two sentences: what there is to do here, and where to look for more."""
    more = "`registry --help` lists all commands, and `registry COMMAND --help` says what one takes"
    if database.is_file():
        return [f"next: {shlex.quote(str(database))} is here: `registry board` prints its leaderboards, `registry list "
                "tasks` its tasks", more]
    if (manifest := found_manifest(Path())) is not None:
        return [f"next: `registry run {shlex.quote(str(manifest))}` evaluates the task of this manifest", more]
    return ["next: `registry quick --gold GOLD SYSTEM...` prints the leaderboard of files as they are, `registry "
            "new TASK --gold GOLD SYSTEM...` writes a manifest of them for `registry run`", more]


def found_manifest(folder: Path) -> Path | None:
    """A manifest in a folder or one level below it, where there is exactly one."""
    try:
        below = [of for of in islice(folder.iterdir(), _LOOKED_AT) if of.is_dir() and not of.name.startswith(".")]
        files = [path for place in (folder, *below) for path in islice(place.glob("*.toml"), _LOOKED_AT)]
    except OSError:
        return None
    found = [path for path in files if str(path).isprintable() and _is_manifest(path)]
    return found[0] if len(found) == 1 else None


def _is_manifest(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MANIFEST.search(file.read(_READ)) is not None
    except OSError:
        return False
