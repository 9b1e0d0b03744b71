"""Writing of a release: a new folder that is either complete or does not exist.

The tables are written first. Boards and the page are then made only from the tables, so that `registry verify` can make
them again. Equal registries give equal bytes: a release contains no current time, no path and no name of a user.
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
from registry.manifest import decode_manifest, format_toml
from registry.releases import descriptions
from registry.releases.descriptions import Contents, render_licences, render_readme
from registry.releases.tables import SUBMITTED, list_tables, load_release, require_current, select_release, write_tables
from registry.rendering.render import render
from registry.reports.boards import make_board_table
from registry.reports.exports import CROISSANT_TASKS, make_croissant_tasks
from registry.reports.page import page
from registry.reports.papers import CITATION, citation_file
from registry.store import catalog, sources
from registry.store.database import Database
from registry.store.embargoes import find_left_out
from registry.store.files import Reach
from registry.store.rows import make_parquet_sql
from registry.version import __version__

CHECKSUMS = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def list_files(folder: Path) -> list[str]:
    """Return the sorted paths of all files of a release except `SHA256SUMS`."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*")
             if path.is_symlink() or not path.is_dir())
    return sorted(path for path in paths if path != CHECKSUMS)


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 checksums of all files in a folder into `SHA256SUMS`."""
    lines = [f"{_checksum(folder / path)}  {path}\n" for path in list_files(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8", newline="\n")


def verify_checksums(folder: Path) -> Iterator[Fault]:
    """Compare all files of a folder with their checksums in `SHA256SUMS`.

    Yields:
        Files that are altered, missing or not listed.
    """
    try:
        lines = read_text(folder / CHECKSUMS).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        yield Fault("missing", "checksums", CHECKSUMS, f"cannot be read: {error}")
        return
    checksums: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if (match := _LINE.fullmatch(line)) is None:
            yield Fault("damaged", "checksums", CHECKSUMS, f"line {number} is not the checksum of a file")
        elif match[2].startswith("/") or ".." in PurePosixPath(match[2]).parts:
            yield Fault("damaged", "checksums", CHECKSUMS, f"line {number} has a path outside this folder: {match[2]}")
        else:
            checksums[match[2]] = match[1]
    existing = set(list_files(folder))
    for path in sorted(checksums.keys() | existing):
        if path not in existing:
            yield Fault("missing", "file", path, f"{CHECKSUMS} lists this file, but the folder does not have it")
        elif path not in checksums:
            yield Fault("surplus", "file", path, f"{CHECKSUMS} does not list it")
        elif (folder / path).is_symlink():
            yield Fault("altered", "file", path, "a symbolic link; releases have none")
        elif not (folder / path).is_file():
            yield Fault("altered", "file", path, "a pipe, a socket or a device; releases have only regular files")
        elif _checksum(folder / path) != checksums[path]:
            yield Fault("altered", "file", path, f"its bytes do not match its checksum in {CHECKSUMS}")


def read_text(path: Path) -> str:
    """Read a UTF-8 text from a regular file.

    Raises:
        OSError: The file cannot be read, or is not a regular file. A pipe, for example, may have no end.
        UnicodeDecodeError: The file is not UTF-8.
    """
    if path.exists() and not path.is_file():
        raise OSError("it is not a regular file")
    return path.read_text("utf-8")


def _checksum(path: Path) -> str:
    return digest(path.read_bytes()).removeprefix("sha256:")


FOLDER = "submitted"
_TABLE = f"data/{SUBMITTED}.parquet"
_SUBMITTED_NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}(\.[a-z0-9]+)?")


def write_submitted(connection: Connection, folder: Path) -> None:
    """Write the participants' files into a release.

    The table of submitted files in the release lists them.

    Args:
        connection: Connection to the registry.
        folder: Folder of the release.

    Raises:
        MismatchError: The digest of a file is malformed. As the name of a file, it could lead outside the folder.
    """
    (folder / FOLDER).mkdir()
    for file, source_digest in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest FROM {make_parquet_sql(folder / _TABLE)} ORDER BY file").all():  # noqa: S608
        if not _SUBMITTED_NAME.fullmatch(file):
            raise MismatchError(f"{source_digest!r} is not the digest of a stored file; run `registry verify` to find "
                                "altered data")
        (folder / file).write_bytes(sources.fetch(connection, source_digest))


def verify_submitted(connection: Connection, folder: Path) -> Iterator[Fault]:
    """Verify the participants' files in a release; yield faults.

    The files are compared with a table of their digests, and this table is compared with the submissions. A release
    without these files does not have the table.

    Args:
        connection: Connection to a registry that may read the folder.
        folder: Folder of the release.
    """
    existing = {path.relative_to(folder).as_posix() for path in (folder / FOLDER).rglob("*") if path.is_file()}
    if not (folder / _TABLE).is_file():
        for file in sorted(existing):
            yield Fault("surplus", "file", file, f"its submission is unknown, because {_TABLE} is missing")
        return
    table, submissions = (make_parquet_sql(folder / path) for path in (_TABLE, "data/submissions.parquet"))
    listed = set()
    for row in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest, n_bytes FROM {table} ORDER BY ALL"):  # noqa: S608
        listed.add(row.file)
        if row.file not in existing:
            yield Fault("missing", "file", row.file, f"{_TABLE} lists this file, but the folder does not have it")
            continue
        content = (folder / row.file).read_bytes()
        if digest(content) != row.digest or len(content) != row.n_bytes:
            yield Fault("altered", "file", row.file, f"its bytes do not match its digest in {_TABLE}")
    for file in sorted(existing - listed):
        yield Fault("surplus", "file", file, f"its submission is unknown: {_TABLE} does not list it")
    for row in connection.exec_driver_sql(f"""
            SELECT coalesce(s.test_set, f.test_set) AS test_set, coalesce(s.submission, f.submission) AS submission,
                coalesce(s.runs, 0) AS runs, coalesce(f.runs, 0) AS files
            FROM {submissions} AS s FULL JOIN (
                SELECT test_set, submission, count(DISTINCT run) AS runs FROM {table} GROUP BY ALL
            ) AS f ON (s.test_set, s.submission) = (f.test_set, f.submission)
            WHERE s.runs IS DISTINCT FROM f.runs ORDER BY ALL"""):  # noqa: S608
        yield Fault("altered", "submission", f"{row.test_set}/{row.submission}",
                    f"has {row.runs} runs, but {_TABLE} lists {row.files} files of it")


FORMAT = 1  # version of the layout of a release
PROGRAM = f"evalregistry {__version__}"

_HEADING = """\
# The declaration of the task with all defaults and the seed of its random draws. {files}

"""
_WITHOUT_FILES = "The files that it names\n# and the submitted files are not part of the release."
_WITH_FILES = "Of the files that it names,\n# only the submitted files are part of the release, in submitted/."


def write_release(database: Database, task: str, output: Path, *, sources: bool = False) -> None:
    """Publish a task as a new folder: leaderboards, data and descriptions.

    The data are those from which the leaderboards were computed, so that others can verify them.

    Args:
        database: A public file, or a registry without embargoes.
        task: Id of the task.
        output: Path of the folder, which must not exist.
        sources: Whether to publish the submitted files, which contain data about single items.

    Raises:
        UnknownNameError: No task has this id.
        MismatchError: The task has no board, a board is out of date, or the submitted files may not be published.
        HiddenError: The scores are under an embargo.
        InputError, StoreError: The folder exists or cannot be written.
    """
    with new_folder(output) as folder:
        (folder / "data").mkdir()
        with database.reading(reach=Reach(folders=[folder])) as connection:
            (row,) = catalog.tasks(connection, task)
            require_current(connection, row)
            manifest = decode_manifest(row.manifest)
            has_gold = manifest.release.gold
            if sources and not has_gold:
                raise MismatchError("submitted files contain data about single items, which the manifest withholds; "
                                    "leave --sources out")
            if sources and row.slug in find_left_out(connection).anonymous:
                raise MismatchError("submitted files may contain the names of hidden teams; leave --sources out")
            select_release(connection, row)
            write_tables(connection, folder, list_tables(gold=has_gold, sources=sources))
            if sources:
                write_submitted(connection, folder)
        manifest = manifest.model_copy(update={
            "significance": manifest.significance.model_copy(update={"seed": row.seed})})
        heading = _HEADING.format(files=_WITH_FILES if sources else _WITHOUT_FILES)
        _write(folder / "manifest.toml", heading + format_toml(manifest.model_dump(
            mode="json", exclude={"submit"}, exclude_none=True)))
        release = {"format": FORMAT, "task": row.slug, "version": row.version, "gold": has_gold, "program": PROGRAM}
        _write(folder / "release.json", json.dumps(release, indent=2) + "\n")
        with loading_release(folder, release) as loaded, loaded.reading(
                reach=Reach(folders=[folder])) as connection:
            (boards,) = load_snapshot(connection, pairs=PAGE_PAIRS).tasks
            contents = Contents.read(connection, folder, boards, has_gold=has_gold)
        for name, text in (*render_boards(boards), *render_documents(contents)):
            _write(folder / name, text)
        contents = contents.with_files(list_files(folder))
        _write(folder / descriptions.CROISSANT, descriptions.render_croissant(contents))
        contents = contents.with_files(list_files(folder))
        _write(folder / descriptions.RO_CRATE, descriptions.render_ro_crate(contents))
        write_checksums(folder)


@contextmanager
def loading_release(folder: Path, release: dict[str, Any]) -> Iterator[Database]:
    """Load a release into a temporary registry, for a `with` block.

    Args:
        folder: Folder of the release.
        release: Contents of the file `release.json`.
    """
    with tempfile.TemporaryDirectory() as workplace:
        database = Database(Path(workplace) / "registry.duckdb", named=folder)
        database.create()
        with database.writing(reach=Reach(folders=[folder])) as connection:
            load_release(connection, folder, release)
        yield database


def render_boards(task: TaskBoards) -> Iterator[tuple[str, str]]:
    """Yield path and text of each leaderboard file of a release."""
    tables = [make_board_table(board) for board in task.boards]
    yield "boards/boards.tsv", render(tables, "tsv")
    yield "boards/boards.json", render(tables, "json")
    yield "boards/signatures.txt", "".join(f"{board.signature}\n" for board in task.boards)


def render_documents(contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield path and text of a release's licences, HTML page, README and citations."""
    yield from render_licences(contents.manifest.task.licence)
    yield "page.html", page(contents.boards)
    yield "README.md", render_readme(contents, f"evalregistry=={__version__}")
    yield CITATION, citation_file(contents.manifest.task, contents.date)
    yield CROISSANT_TASKS, make_croissant_tasks(contents.manifest, contents.boards.boards)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")
