"""Write a release: a new folder that is complete or absent.

First the tables are written. Boards and the page are then made of these alone, as whoever verifies the release makes
them. The same registry gives the same bytes: they contain no current time, no path and no name of a user.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection

from registry.boards.load import PAGE_PAIRS
from registry.boards.snapshot import TaskBoards, load_snapshot
from registry.errors import MismatchError
from registry.evaluation.verifying.faults import Fault
from registry.files import new_folder
from registry.identity import digest
from registry.manifest import Manifest, stored_manifest, toml
from registry.releases import descriptions
from registry.releases.descriptions import Contents, licence_files, readme
from registry.releases.tables import SUBMITTED, choose, load, released_tables, require_current, write_tables
from registry.rendering.render import render
from registry.reports.boards import board_table
from registry.reports.exports import CROISSANT_TASKS, croissant_tasks
from registry.reports.page import page
from registry.reports.papers import CITATION, citation_file
from registry.store import catalog, sources
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.store.embargoes import find_left_out
from registry.store.files import Reach
from registry.store.rows import parquet_at
from registry.version import __version__

CHECKSUMS = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def files_of(folder: Path) -> list[str]:
    """The paths of all files in a folder but the checksums themselves, in order."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*")
             if path.is_symlink() or not path.is_dir())
    return sorted(path for path in found if path != CHECKSUMS)


def write_checksums(folder: Path) -> None:
    """Write the checksums of all files in a folder."""
    lines = [f"{_sum(folder / path)}  {path}\n" for path in files_of(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8", newline="\n")


def verify_checksums(folder: Path) -> Iterator[Fault]:
    """Hold the files of a folder against its checksums."""
    try:
        lines = plain_text(folder / CHECKSUMS).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        yield Fault("missing", "checksums", CHECKSUMS, f"cannot be read: {error}")
        return
    said: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if (match := _LINE.fullmatch(line)) is None:
            yield Fault("damaged", "checksums", CHECKSUMS, f"line {number} is no checksum of a file")
        elif match[2].startswith("/") or ".." in PurePosixPath(match[2]).parts:
            yield Fault("damaged", "checksums", CHECKSUMS, f"line {number} names no path of this folder: {match[2]}")
        else:
            said[match[2]] = match[1]
    there = set(files_of(folder))
    for path in sorted(said.keys() | there):
        if path not in there:
            yield Fault("missing", "file", path, f"{CHECKSUMS} lists it, and it is not there")
        elif path not in said:
            yield Fault("surplus", "file", path, f"{CHECKSUMS} does not list it")
        elif (folder / path).is_symlink():
            yield Fault("altered", "file", path, "a symbolic link; releases have none")
        elif not (folder / path).is_file():
            yield Fault("altered", "file", path, "a pipe, a socket or a device; releases have plain files only")
        elif _sum(folder / path) != said[path]:
            yield Fault("altered", "file", path, f"its bytes are not those of {CHECKSUMS}")


def plain_text(path: Path) -> str:
    """Read a text; what is there and is no file, such as a pipe, which nobody may ever write to, is refused.

    Raises:
        OSError, UnicodeDecodeError: It is none.
    """
    if path.exists() and not path.is_file():
        raise OSError("it is no plain file")
    return path.read_text("utf-8")


def _sum(path: Path) -> str:
    return digest(path.read_bytes()).removeprefix("sha256:")


FOLDER = "submitted"
_PATH = f"data/{SUBMITTED}.parquet"
_SUBMITTED_NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}(\.[a-z0-9]+)?")


def write_submitted(connection: Connection, folder: Path) -> None:
    """Write the files that the table in `folder` names.

    Raises:
        MismatchError: A digest in the registry is none: as a name it could lead out of the folder.
    """
    (folder / FOLDER).mkdir()
    for file, of in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest FROM {parquet_at(folder / _PATH)} ORDER BY file").all():  # noqa: S608
        if not _SUBMITTED_NAME.fullmatch(file):
            raise MismatchError(f"{of}: not a digest of a kept file; `registry verify` names what was altered")
        (folder / file).write_bytes(sources.fetch(connection, of))


def verify_submitted(connection: Connection, folder: Path) -> Iterator[Fault]:
    """Hold the files against the table, and the table against the submissions; both may be absent."""
    there = {path.relative_to(folder).as_posix() for path in (folder / FOLDER).rglob("*") if path.is_file()}
    if not (folder / _PATH).is_file():
        for file in sorted(there):
            yield Fault("surplus", "file", file, f"{_PATH} is not there to say whose it is")
        return
    table, submissions = (parquet_at(folder / path) for path in (_PATH, "data/submissions.parquet"))
    named = set()
    for row in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest, n_bytes FROM {table} ORDER BY ALL"):  # noqa: S608
        named.add(row.file)
        if row.file not in there:
            yield Fault("missing", "file", row.file, f"{_PATH} names it, and it is not there")
            continue
        content = (folder / row.file).read_bytes()
        if digest(content) != row.digest or len(content) != row.n_bytes:
            yield Fault("altered", "file", row.file, f"its bytes are not those of the digest in {_PATH}")
    for file in sorted(there - named):
        yield Fault("surplus", "file", file, f"{_PATH} does not say whose it is")
    for row in connection.exec_driver_sql(f"""
            SELECT coalesce(s.test_set, f.test_set) AS test_set, coalesce(s.submission, f.submission) AS submission,
                coalesce(s.runs, 0) AS runs, coalesce(f.runs, 0) AS files
            FROM {submissions} AS s FULL JOIN (
                SELECT test_set, submission, count(DISTINCT run) AS runs FROM {table} GROUP BY ALL
            ) AS f ON (s.test_set, s.submission) = (f.test_set, f.submission)
            WHERE s.runs IS DISTINCT FROM f.runs ORDER BY ALL"""):  # noqa: S608
        yield Fault("altered", "submission", f"{row.test_set}/{row.submission}",
                    f"has {row.runs} runs, and {row.files} files of it are named in {_PATH}")


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
            (boards,) = load_snapshot(connection, pairs=PAGE_PAIRS).tasks
            contents = Contents.of(connection, folder, boards, gold=gold)
        for name, text in (*rendered(boards), *for_readers(contents)):
            _write(folder / name, text)
        contents = contents.with_files(files_of(folder))
        _write(folder / descriptions.CROISSANT, descriptions.croissant(contents))
        contents = contents.with_files(files_of(folder))
        _write(folder / descriptions.RO_CRATE, descriptions.ro_crate(contents))
        write_checksums(folder)


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
