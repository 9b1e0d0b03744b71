"""Writing a release: a new folder that is whole or not there.

First the tables are written. Boards and the page are then made of these alone, as whoever verifies the release makes
them, so they show nothing that is not in it. The same registry gives the same bytes: there is no time of now in them,
no path and no name of a user.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.boards.load import PAGE_PAIRS
from registry.boards.snapshot import TaskBoards, snapshot
from registry.errors import MismatchError
from registry.files import new_folder
from registry.manifest import Manifest, stored_manifest, toml
from registry.releases import checksums
from registry.releases.contents import Contents
from registry.releases.descriptions import croissant, ro_crate
from registry.releases.descriptions.licences import licence_files
from registry.releases.descriptions.readme import readme
from registry.releases.loading import load
from registry.releases.submitted import write_submitted
from registry.releases.tables import choose, released_tables, require_current, write_tables
from registry.rendering.render import render
from registry.reports.boards import board_table
from registry.reports.exports import CROISSANT_TASKS, croissant_tasks
from registry.reports.page import page
from registry.reports.papers import CITATION, citation_file
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.store.embargoes import find_left_out
from registry.store.files import Reach
from registry.version import __version__

FORMAT = 1  # of a release's layout
PROGRAM = f"evalregistry {__version__}"

_MANIFEST = """\
# What the task declares, with every default, and the seed of its random draws. {files}

"""
_WITHOUT = "The files that it names, and what was\n# submitted, are not part of the release."
_WITH = "Of the files that it names\n# those that were submitted are part of the release, in submitted/."


def write_release(database: Database, task: str, output: Path, *, sources: bool = False) -> None:
    """Write the boards of a task as they stand, and what they rest on, into a new folder.

    Args:
        database: A public file, or a registry that hides nothing.
        task: The task's id.
        output: The folder; there must be none of that name.
        sources: Whether to publish the submitted files too, which tell of single items.

    Raises:
        UnknownNameError: There is no such task.
        MismatchError: There is no board, or one is out of date.
        HiddenError: Scores are.
        InputError, StoreError: The folder is there already, or cannot be written.
    """
    with new_folder(output) as folder:
        (folder / "data").mkdir()
        with database.reading(reach=Reach(folders=[folder])) as connection:
            (row,) = catalog.tasks(connection, task)
            require_current(connection, row)
            gold = stored_manifest(row.manifest).release.gold
            if sources and not gold:
                raise MismatchError("submitted files tell of single items, and these are held back; leave --sources "
                                    "out")
            if sources and row.slug in find_left_out(connection).anonymous:
                raise MismatchError("submitted files may name who made them, and names are hidden; leave --sources out")
            manifest = released_manifest(row)
            choose(connection, row)
            write_tables(connection, folder, released_tables(gold=gold, sources=sources))
            if sources:
                write_submitted(connection, folder)
        heading = _MANIFEST.format(files=_WITH if sources else _WITHOUT)
        _write(folder / "manifest.toml", heading + toml(manifest.model_dump(
            mode="json", exclude={"submit"}, exclude_none=True)))
        told = {"format": FORMAT, "task": row.slug, "version": row.version, "gold": gold, "program": PROGRAM}
        _write(folder / "release.json", json.dumps(told, indent=2) + "\n")
        with as_registry(folder, told) as loaded, loaded.reading(
                reach=Reach(folders=[folder])) as connection:
            (boards,) = snapshot(connection, pairs=PAGE_PAIRS).tasks
            contents = Contents.of(connection, folder, boards, gold=gold)
        for name, text in (*rendered(boards), *for_readers(contents)):
            _write(folder / name, text)
        contents = contents.with_files(checksums.files(folder))
        _write(folder / croissant.NAME, croissant.croissant(contents))
        contents = contents.with_files(checksums.files(folder))
        _write(folder / ro_crate.NAME, ro_crate.ro_crate(contents))
        checksums.write(folder)


@contextmanager
def as_registry(folder: Path, told: dict[str, Any]) -> Iterator[Database]:
    """Give a registry, in a temporary file, that holds what a release does."""
    with tempfile.TemporaryDirectory() as workplace:
        database = Database(Path(workplace) / "registry.duckdb", named=folder)
        database.create()
        with database.writing(reach=Reach(folders=[folder])) as connection:
            load(connection, folder, told)
        yield database


def rendered(task: TaskBoards) -> Iterator[tuple[str, str]]:
    """The boards as files: name and text of each."""
    tables = [board_table(board) for board in task.boards]
    yield "boards/boards.tsv", render(tables, "tsv")
    yield "boards/boards.json", render(tables, "json")
    yield "boards/signatures.txt", "".join(f"{board.signature}\n" for board in task.boards)


def for_readers(contents: Contents) -> Iterator[tuple[str, str]]:
    """What people read beside the boards: name and text of each file."""
    yield from licence_files(contents.manifest.task.licence)
    yield "page.html", page(contents.boards)
    yield "README.md", readme(contents, f"evalregistry=={__version__}")
    yield CITATION, citation_file(contents.manifest.task, contents.date)
    yield CROISSANT_TASKS, croissant_tasks(contents.manifest, contents.boards.boards)


def released_manifest(row: TaskRow) -> Manifest:
    """Return the task's manifest with the seed that was drawn."""
    manifest = stored_manifest(row.manifest)
    return manifest.model_copy(update={
        "significance": manifest.significance.model_copy(update={"seed": row.seed})})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")
