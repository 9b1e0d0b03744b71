"""Hints on stderr: the next step for newcomers, and remedies after mistakes."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from pathlib import Path
from typing import Any

from registry.errors import MOST_LISTED, NoRegistryError, UnknownNameError, nearest

# The command that lists the names of a kind; `UnknownNameError.kind` may continue with " of ...".
LIST_COMMANDS = {
    "task": "registry list tasks", "team": "registry list teams", "system": "registry list teams",
    "submission": "registry list submissions", "reader": "registry list readers",
    "importer": "registry list importers", "test": "registry list tests", "correction": "registry list corrections",
    "metric": "registry list metrics", "table, view or macro": "registry schema",
    "item": "registry items TASK disagree",
}
_MANIFEST_KEY = re.compile(rb"^\s*manifest\s*=", re.MULTILINE)
_HEAD_BYTES = 10_000  # the key is expected in this part of a manifest
_MOST_ENTRIES = 100  # entries of a folder that are inspected


def suggest_first_steps(database: Path) -> list[str]:
    """Return two sentences for new users: the next step, and how to get help."""
    if database.is_file():
        step = (f"{shlex.quote(str(database))} exists: `registry board` prints its leaderboards, `registry list tasks` "
                "its tasks")
    elif (manifest := find_manifest(Path())) is not None:
        step = f"`registry run {shlex.quote(str(manifest))}` evaluates the task of this manifest"
    else:
        step = ("`registry quick --gold GOLD SYSTEM...` prints the leaderboard of your files; `registry new TASK "
                "--gold GOLD SYSTEM...` writes a manifest for `registry run`")
    return [f"next: {step}",
            "`registry --help` lists all commands; `registry COMMAND --help` prints the options of a command"]


def find_manifest(folder: Path) -> Path | None:
    """Find the manifest in a folder or its direct subfolders.

    The result is None if there is no manifest, or several.
    """
    try:
        subfolders = [path for path in islice(folder.iterdir(), _MOST_ENTRIES)
                      if path.is_dir() and not path.name.startswith(".")]
        files = [path for place in (folder, *subfolders) for path in islice(place.glob("*.toml"), _MOST_ENTRIES)]
    except OSError:
        return None
    manifests = [path for path in files if str(path).isprintable() and _is_manifest(path)]
    return manifests[0] if len(manifests) == 1 else None


def _is_manifest(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MANIFEST_KEY.search(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def suggest_remedy(error: Exception) -> str:
    """Suggest a command that helps after an error.

    There are suggestions for a missing registry, and for an unknown name if the error cannot list all valid names. For
    other errors, the text is empty.

    >>> suggest_remedy(UnknownNameError("metric", "F2", map(str, range(100))))
    '`registry list metrics` lists all names'
    """
    if isinstance(error, NoRegistryError):
        manifest = find_manifest(Path())
        return f"in this folder, run `registry run {shlex.quote(str(manifest))}`" if manifest else ""
    if not isinstance(error, UnknownNameError) or len(error.known) <= MOST_LISTED:
        return ""
    command = LIST_COMMANDS.get(error.kind.partition(" of ")[0])
    return f"`{command}` lists all names" if command else ""


def add_remedy(error: Any) -> None:
    """Add a remedy to a usage error of typer, such as a missing argument.

    Other errors stay unchanged.
    """
    if type(error).__name__ == "MissingParameter" and not error.message:
        error.message = _describe_missing(error.param.name)
    elif type(error).__name__ == "NoSuchOption":
        option, root = error.option_name, error.ctx.find_root()
        if error.ctx is not root and any(option in parameter.opts for parameter in root.command.params):
            error.message += f"; this option goes before the command: `registry {option} {error.ctx.info_name} ...`"
            error.possibilities = None
        else:  # the usage above the error names --help
            error.possibilities = [flag for flag in error.possibilities or () if flag != "--help"]
        if error.ctx.info_name == "new" and option in ("--db", "--keep"):
            error.message += ("; `registry new` only writes a manifest. `registry run TASK/task.toml --db FILE` stores "
                              "the task; so does `registry quick --keep TASK --db FILE` without `registry new`")
            error.possibilities = None
        if error.ctx is root and not error.possibilities:
            error.message += f"; options of a command go after the command: `registry COMMAND {option} ...`"


def _describe_missing(parameter: str) -> str:
    if parameter == "manifest":
        manifest = find_manifest(Path())
        return f"This folder has {shlex.quote(str(manifest))}." if manifest else (
            "`registry new TASK --gold GOLD SYSTEM...` writes one; docs/manifest.md describes its keys.")
    return f"`{LIST_COMMANDS[parameter]}` lists all names." if parameter in LIST_COMMANDS else ""


def suggest_command(name: str, context: Any) -> str:
    """Suggest commands whose names are similar to a misspelt name."""
    program = context.find_root().command.commands
    paths = {study: f"registry study {study}" for study in program["study"].load("study").commands}
    paths |= {command: f"registry {command}" for command in program}
    matches = [name] if name in paths else nearest(name, paths)
    if not matches:
        return f"`{context.command_path} --help` lists all commands"
    return f"did you mean {' or '.join(f'`{paths[match]}`' for match in matches)}?"
