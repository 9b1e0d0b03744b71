"""Check that manifests hide nothing that the registry does not hide yet.

A change of a manifest has no effect on the registry before `registry run` or `registry apply`. Until then, a public
file would contain the names, scores or gold that the changed manifest hides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import Connection, text

from registry.errors import MismatchError
from registry.manifest import Manifest, decode_manifest, load_manifest
from registry.store.database import Database

_MANIFESTS = text("""
    SELECT task.slug, task.manifest, arg_max(json_extract_string(run.parameters, '$.manifest'), run.run_id) AS path
    FROM task JOIN event ON split_part(event.subject, '/', 1) = task.slug JOIN run USING (run_id)
    WHERE run.command IN ('run', 'apply') GROUP BY ALL ORDER BY slug""")


def refuse_unapplied(database: Database, tasks: Sequence[str] = ()) -> None:
    """Check that no manifest on disk hides more than the registry.

    A manifest is found only if it is below the folder of the registry, because the log has no other paths.

    Args:
        database: The registry.
        tasks: Ids of the tasks to check; an empty sequence means all tasks.

    Raises:
        MismatchError: A manifest hides names, scores or gold, but the registry does not hide them yet.
        ManifestError: A manifest is invalid, so its settings are unknown.
    """
    with database.reading() as connection:
        for path, settings in _find_unapplied(connection, database.path.parent, tasks):
            raise MismatchError(f"{path} has {' and '.join(settings)}, but the registry does not have this setting "
                                "yet, so the public would see what the manifest hides; run `registry apply "
                                f"{path}` first")


def _find_unapplied(connection: Connection, folder: Path, tasks: Sequence[str]) -> Iterator[tuple[Path, list[str]]]:
    for row in connection.execute(_MANIFESTS).all():
        if row.path is None or (tasks and row.slug not in tasks) or not (path := folder / row.path).is_file():
            continue
        manifest, _ = load_manifest(path)
        settings = _list_new_settings(manifest, decode_manifest(row.manifest))
        if manifest.task.id == row.slug and settings:
            yield path, settings


def _list_new_settings(manifest: Manifest, stored: Manifest) -> list[str]:
    settings = ["`[release] gold = false`"] if stored.release.gold and not manifest.release.gold else []
    return settings + [f"`[board] {key} = {_format(value)}`" for key, value, old in (
        ("anonymous", manifest.board.anonymous, stored.board.anonymous),
        ("hidden", manifest.board.hidden, stored.board.hidden)) if value and value != old]


def _format(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
