"""Remedies after mistakes: the command that was probably meant, and the command that lists all names."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from registry.cli.guide.start import found_manifest
from registry.errors import MOST_LISTED, NoRegistryError, UnknownNameError, nearest

# Which command lists the names of a kind; an error that names the kind in more words has one of these first.
LISTED = {
    "task": "registry list tasks", "team": "registry list teams", "system": "registry list teams",
    "submission": "registry list submissions", "reader": "registry list readers",
    "importer": "registry list importers", "test": "registry list tests", "correction": "registry list corrections",
    "metric": "registry list metrics", "table, view or macro": "registry schema",
    "item": "registry items TASK disagree",
}


def where_to_look(error: Exception) -> str:
    """Which command or page helps where an error misses a registry, or a name and cannot list all; "" elsewhere.

    >>> where_to_look(UnknownNameError("metric", "F2", map(str, range(100))))
    '`registry list metrics` says what there is'
    """
    if isinstance(error, NoRegistryError):
        found = found_manifest(Path())
        return f"here `registry run {shlex.quote(str(found))}` does" if found else (
            "`registry quick --gold GOLD SYSTEM...` needs none")
    if not isinstance(error, UnknownNameError) or len(error.known) <= MOST_LISTED:
        return ""
    listed = LISTED.get(error.kind.partition(" of ")[0])
    return f"`{listed}` says what there is" if listed else ""


def add_remedy(error: Any) -> None:
    """Add a remedy to a usage error of typer; leave other errors as they are."""
    if type(error).__name__ == "MissingParameter" and not error.message:
        error.message = _missing(error.param)
    elif type(error).__name__ == "NoSuchOption":
        option, root = error.option_name, error.ctx.find_root()
        if error.ctx is not root and any(option in parameter.opts for parameter in root.command.params):
            error.message += f"; it precedes the command: `registry {option} {error.ctx.info_name} ...`"
            error.possibilities = None
        elif error.ctx is root and not error.possibilities:
            error.message += f"; options of a command follow it: `registry COMMAND {option} ...`"


def suggest_command(name: str, context: Any) -> str:
    """Suggest commands, also those of studies, whose names are near."""
    program = context.find_root().command.commands
    paths = {study: f"registry study {study}" for study in program["study"].load("study").commands}
    paths |= {command: f"registry {command}" for command in program}
    near = [name] if name in paths else nearest(name, paths)
    if not near:
        return f"`{context.command_path} --help` lists all commands"
    return f"did you mean {' or '.join(f'`{paths[match]}`' for match in near)}?"


def _missing(parameter: Any) -> str:
    """What to give, where the parser only says that something is missing."""
    if parameter.name == "manifest":
        found = found_manifest(Path())
        return f"Here is {shlex.quote(str(found))}." if found else (
            "`registry new TASK --gold GOLD SYSTEM...` writes one; docs/manifest.md says what it may hold.")
    return f"`{LISTED[parameter.name]}` says what there is." if parameter.name in LISTED else ""
