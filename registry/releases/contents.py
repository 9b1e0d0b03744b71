"""What is in a release, as its README, RO-Crate and Croissant descriptions tell it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection

from registry.boards.snapshot import TaskBoards
from registry.identity import digest
from registry.manifest import Manifest, stored_manifest
from registry.releases.tables import TOTALS, ReleasedTable, released_tables
from registry.store import catalog
from registry.store.rows import parquet_at

_ABOUT = {
    "README.md": ("What is in the release, how to cite it and how to verify it", "text/markdown"),
    "manifest.toml": ("What the task declares: test sets, metrics, tests", "application/toml"),
    "release.json": ("Which form the release has", "application/json"),
    "page.html": ("The leaderboards and their pairs, to be opened in a browser", "text/html"),
    "CITATION.cff": ("How to cite the task, for programs", "application/yaml"),
    "croissant-tasks.json": ("The task, its systems and scores, as Croissant Tasks", "application/ld+json"),
    "croissant.json": ("The tables and their columns, as Croissant", "application/ld+json"),
    "boards/boards.tsv": ("The leaderboards, with tabs between columns", "text/tab-separated-values"),
    "boards/boards.json": ("The leaderboards", "application/json"),
    "boards/signatures.txt": ("What identifies each leaderboard, a line each", "text/plain"),
    "SHA256SUMS": ("The checksums of all other files, for sha256sum", "text/plain"),
}
_SUBMITTED, _LICENCE = ("A submitted file", "application/octet-stream"), ("A licence", "text/plain")


@dataclass(frozen=True)
class WrittenTable:
    """A table that has rows: the type of each column, as DuckDB names it."""

    table: ReleasedTable
    types: Mapping[str, str]
    n_rows: int


@dataclass(frozen=True)
class WrittenFile:
    """A file: what it is, its media type, its size in bytes and its digest."""

    path: str
    about: str
    media_type: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Contents:
    """What is in a release.

    Attributes:
        folder: Where it is being written.
        manifest: Of the task.
        boards: The task's leaderboards.
        tables: Its tables.
        compared: The day and time of the newest comparison, in UTC.
        computed_by: The program that made that one, with the versions of what it used.
        gold: Whether it tells of single items.
        files: The files so far.
    """

    folder: Path
    manifest: Manifest
    boards: TaskBoards
    tables: Sequence[WrittenTable]
    compared: str
    computed_by: Mapping[str, str]
    gold: bool
    files: Sequence[WrittenFile] = ()

    @classmethod
    def of(cls, connection: Connection, folder: Path, boards: TaskBoards, *, gold: bool) -> Contents:
        """Look at what was written to `folder`; `connection` is to a registry that was made of it."""
        written = []
        for table in (*released_tables(gold=True, sources=True), TOTALS):
            if not (folder / table.path).is_file():
                continue
            rows = parquet_at(folder / table.path)
            types = {row[0]: row[1] for row in connection.exec_driver_sql(f"DESCRIBE FROM {rows}")}
            n_rows = connection.exec_driver_sql(f"SELECT count(*) FROM {rows}").scalar_one()  # noqa: S608
            written.append(WrittenTable(table, types, int(n_rows)))
        run = connection.exec_driver_sql("SELECT started_at, code_version, environment FROM run").one()
        (task,) = catalog.tasks(connection)
        return cls(folder, stored_manifest(task.manifest), boards, written,
                   run.started_at.isoformat(timespec="seconds"),
                   {"evalregistry": run.code_version, **json.loads(run.environment)}, gold)

    @property
    def title(self) -> str:
        """What the release is called."""
        return f"{self.manifest.task.title or self.manifest.task.id}, version {self.manifest.task.version}"

    @property
    def description(self) -> str:
        """What the release is."""
        systems = len({of.submission for board in self.boards.boards for of in board.standings})
        held = "" if self.gold else " The gold, and what tells of single items, is held back."
        told = f"{self.manifest.task.description} " if self.manifest.task.description else ""
        return (f"{told}Leaderboards of the shared task {self.manifest.task.id} with {systems} systems: scores, tests "
                f"of all pairs of systems, ranks, and what they rest on.{held}")

    @property
    def date(self) -> str:
        """When it was published: as the task declares, else when the newest comparison was made."""
        return self.manifest.task.date or self.compared[:10]

    @property
    def citation(self) -> str:
        """What to cite: as the task declares, else the release itself."""
        organisers = ", ".join(self.manifest.task.organisers)
        return self.manifest.task.citation or f"{organisers and f'{organisers}: '}{self.title} ({self.date[:4]})"

    def with_files(self, paths: Sequence[str]) -> Contents:
        """The same with what is in `folder`."""
        known = _ABOUT | {of.table.path: (of.table.comment, "application/vnd.apache.parquet") for of in self.tables}
        files = []
        for path in paths:
            of_folder = _SUBMITTED if path.startswith("submitted/") else _LICENCE
            about, media_type = known.get(path, of_folder)
            content = (self.folder / path).read_bytes()
            files.append(WrittenFile(path, about, media_type, len(content), digest(content).removeprefix("sha256:")))
        return replace(self, files=files)
