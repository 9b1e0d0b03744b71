"""The files of a release that say in words and pictures what its tables hold, made again and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from registry.evaluation.verifying.faults import Fault
from registry.families import FAMILIES
from registry.leaderboards.snapshot import TaskBoards
from registry.manifest import read_manifest
from registry.releases import checksums
from registry.releases.contents import Contents
from registry.releases.descriptions import croissant, ro_crate
from registry.releases.tables import declared_tables, statistics_table
from registry.releases.totals import TABLE as TOTALS
from registry.releases.writing import for_readers


def verify_derived_files(connection: Connection, folder: Path, told: dict[str, Any], boards: TaskBoards,
                         known: Collection[str]) -> Iterator[Fault]:
    """Hold README, page, licences and descriptions against what the program that wrote them makes of the tables.

    Args:
        connection: To a registry that was made of the release.
        folder: Where the release is.
        told: What its `release.json` says.
        boards: Its boards.
        known: The names of files that are known to be wrong; while there are any, descriptions with digests are too.
    """
    manifest = folder / "manifest.toml"
    tables = (*declared_tables(gold=True, sources=True), *map(statistics_table, sorted(FAMILIES)), TOTALS)
    contents = Contents.of(connection, folder, read_manifest(manifest.read_bytes(), manifest), boards,
                           [table for table in tables if (folder / table.path).is_file()], gold=told["gold"])
    made = list(for_readers(contents))
    if not known:
        contents = contents.with_files([path for path in checksums.files(folder) if path != ro_crate.NAME])
        made += [(croissant.NAME, croissant.croissant(contents)), (ro_crate.NAME, ro_crate.ro_crate(contents))]
    for name, text in made:
        if name in known:
            continue
        if not (folder / name).is_file():
            yield Fault("missing", "file", name, "every release of this task has it")
        elif (folder / name).read_bytes() != text.encode():
            yield Fault("altered", "description", name, "is not what follows from the tables and the manifest")
