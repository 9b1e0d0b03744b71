"""The settings file `registry.toml`, and the choice of the database file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.cli.console import explain
from registry.errors import InputError, suggest


@dataclass(frozen=True)
class Settings:
    """Settings in `registry.toml`: the database, and the name of the user (`actor`)."""

    database: Path | None = None
    actor: str | None = None


def load_settings() -> Settings:
    """Load the nearest `registry.toml` in the current folder or the folders above it.

    Without such a file, all settings are None.
    """
    try:
        current = Path.cwd()
    except OSError as error:
        raise InputError(f"the current folder cannot be used: {error.strerror}") from None
    for folder in (current, *current.parents):
        if (file := folder / "registry.toml").is_file():
            try:
                tables = tomllib.loads(file.read_text("utf-8"))
            except (OSError, ValueError, RecursionError) as error:
                raise InputError(f"cannot read: {error}", path=os.path.relpath(file)) from None
            return _check_settings(tables, folder, os.path.relpath(file))
    return Settings()


def _check_settings(tables: dict[str, Any], folder: Path, file: str) -> Settings:
    """Check the content of a settings file, and return the settings.

    Args:
        tables: The parsed TOML.
        folder: The folder of the file; the path of the database is relative to it.
        file: The path of the file, for errors.

    Raises:
        InputError: A key is unknown, or a value has another type.
    """
    table = tables.get("registry", {})
    if not isinstance(table, dict):
        raise InputError("registry must be a table: [registry]", path=file)
    for keys, known in ((tables, ("database", "registry")), (table, ("actor",))):
        if unknown := sorted(keys.keys() - set(known)):
            raise InputError(f"unknown key {unknown[0]!r}; {suggest(unknown[0], known)}", path=file)
    database, actor = tables.get("database"), table.get("actor")
    if database is not None and not isinstance(database, str):
        raise InputError("database must be a path in quotes", path=file)
    if actor is not None and not isinstance(actor, str):
        raise InputError("registry.actor must be a name in quotes", path=file)
    if database and not Path(database).is_absolute():
        database = os.path.relpath(folder / database)
    return Settings(Path(database) if database else None, actor)


def choose_database_path(path: Path | None) -> Path:
    """Return the path of the database file.

    Args:
        path: The path that the user gives by `--db` or REGISTRY_DB. Without it, the path in `registry.toml` is used, or
            else `registry.duckdb`.
    """
    if path is not None:
        explain(f"database {path}: from {'REGISTRY_DB' if os.environ.get('REGISTRY_DB') == str(path) else '--db'}")
        return path
    if (configured := load_settings().database) is not None:
        explain(f"database {configured}: from the nearest registry.toml")
        return configured
    explain("database registry.duckdb: the default; --db, REGISTRY_DB and registry.toml name no other")
    return Path("registry.duckdb")
