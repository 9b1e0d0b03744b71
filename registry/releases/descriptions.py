"""Descriptions of a release: README, Croissant 1.1, RO-Crate 1.3 and licences.

Croissant (https://docs.mlcommons.org/croissant) describes the tables, for sites that list data sets. RO-Crate
(https://w3id.org/ro/crate/1.3) describes all files, for archives. An RO-Crate description is a flat list of entities,
and an entity refers to another entity by its `@id`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection

from registry.boards.snapshot import TaskBoards
from registry.identity import digest
from registry.manifest import Manifest, decode_manifest
from registry.releases.tables import SUBMITTED, TOTALS, ReleasedTable, list_tables
from registry.store import catalog
from registry.store.rows import make_parquet_sql

_FILES = {  # description and media type of each file
    "README.md": ("Contents of the release, how to cite it and how to verify it", "text/markdown"),
    "manifest.toml": ("The declaration of the task: test sets, metrics, tests", "application/toml"),
    "release.json": ("Format of the release", "application/json"),
    "page.html": ("The leaderboards and their pairs, for a browser", "text/html"),
    "CITATION.cff": ("How to cite the task, for programs", "application/yaml"),
    "croissant-tasks.json": ("The task, its systems and scores, as Croissant Tasks", "application/ld+json"),
    "croissant.json": ("The tables and their columns, as Croissant", "application/ld+json"),
    "boards/boards.tsv": ("The leaderboards, with tabs between columns", "text/tab-separated-values"),
    "boards/boards.json": ("The leaderboards", "application/json"),
    "boards/signatures.txt": ("The signature of each leaderboard, one per line", "text/plain"),
    "SHA256SUMS": ("The checksums of all other files, for sha256sum", "text/plain"),
}
_SUBMITTED_FILE = ("A submitted file", "application/octet-stream")
_LICENCE_FILE = ("A licence", "text/plain")


@dataclass(frozen=True)
class WrittenTable:
    """A table that a release contains, because it has rows.

    Attributes:
        table: Definition of the table.
        types: DuckDB type of each column, by name.
        n_rows: Number of rows.
    """

    table: ReleasedTable
    types: Mapping[str, str]
    n_rows: int


@dataclass(frozen=True)
class WrittenFile:
    """A file that a release contains.

    Attributes:
        path: Path within the release.
        about: Description.
        media_type: Media type, such as `text/plain`.
        size: Size in bytes.
        sha256: SHA-256 digest of the bytes, as hexadecimal digits.
    """

    path: str
    about: str
    media_type: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Contents:
    """Data from which the descriptions of a release are made.

    The descriptions are a README and files in the formats Croissant and RO-Crate.

    Attributes:
        folder: Folder of the release.
        manifest: Manifest of the task.
        boards: Leaderboards of the task.
        tables: All tables that have rows.
        compared_at: Date and time of the newest comparison, in UTC.
        versions: Versions of the program and of the packages that made the newest comparison, by name.
        has_gold: Whether the release contains the gold and other data about single items.
        files: Files that are already written.
    """

    folder: Path
    manifest: Manifest
    boards: TaskBoards
    tables: Sequence[WrittenTable]
    compared_at: str
    versions: Mapping[str, str]
    has_gold: bool
    files: Sequence[WrittenFile] = ()

    @classmethod
    def read(cls, connection: Connection, folder: Path, boards: TaskBoards, *, has_gold: bool) -> Contents:
        """Collect the contents of a release from its folder and its tables.

        Args:
            connection: Connection to a registry that was made from the tables of the release.
            folder: Folder of the release.
            boards: Leaderboards of the task.
            has_gold: Whether the release contains data about single items.
        """
        tables = []
        for table in (*list_tables(gold=True, sources=True), TOTALS):
            if (folder / table.path).is_file():
                rows = make_parquet_sql(folder / table.path)
                types = {row[0]: row[1] for row in connection.exec_driver_sql(f"DESCRIBE FROM {rows}")}
                n_rows = connection.exec_driver_sql(f"SELECT count(*) FROM {rows}").scalar_one()  # noqa: S608
                tables.append(WrittenTable(table, types, int(n_rows)))
        run = connection.exec_driver_sql("SELECT started_at, code_version, environment FROM run").one()
        (task,) = catalog.tasks(connection)
        return cls(folder, decode_manifest(task.manifest), boards, tables, run.started_at.isoformat(timespec="seconds"),
                   {"evalregistry": run.code_version, **json.loads(run.environment)}, has_gold)

    @property
    def title(self) -> str:
        """Title of the release: title and version of the task."""
        return f"{self.manifest.task.title or self.manifest.task.id}, version {self.manifest.task.version}"

    @property
    def description(self) -> str:
        """Description of the release, which begins with the description of the task."""
        n_systems = len({standing.submission for board in self.boards.boards for standing in board.standings})
        declared = f"{self.manifest.task.description} " if self.manifest.task.description else ""
        withheld = "" if self.has_gold else " The gold and all data about single items are withheld."
        return (f"{declared}Leaderboards of the shared task {self.manifest.task.id} with {n_systems} systems: scores, "
                f"tests of all pairs of systems, ranks, and the data that they follow from.{withheld}")

    @property
    def date(self) -> str:
        """Date of publication: the date in the manifest, or that of the last comparison."""
        return self.manifest.task.date or self.compared_at[:10]

    @property
    def citation(self) -> str:
        """Text that says how to cite the release, from the manifest or from its facts.

        Without a text in the manifest, it consists of organisers, title and year.
        """
        organisers = ", ".join(self.manifest.task.organisers)
        return self.manifest.task.citation or f"{organisers and f'{organisers}: '}{self.title} ({self.date[:4]})"

    def with_files(self, paths: Sequence[str]) -> Contents:
        """Return a copy with descriptions of some files in the folder of the release."""
        descriptions = _FILES | {written.table.path: (written.table.comment, "application/vnd.apache.parquet")
                          for written in self.tables}
        files = []
        for path in paths:
            default = _SUBMITTED_FILE if path.startswith("submitted/") else _LICENCE_FILE
            about, media_type = descriptions.get(path, default)
            content = (self.folder / path).read_bytes()
            files.append(WrittenFile(path, about, media_type, len(content), digest(content).removeprefix("sha256:")))
        return replace(self, files=files)


NO_LICENCE = "No licence is declared: ask the organisers before you reuse the release."


def list_licences(expression: str | None) -> list[str]:
    """Return the licences in a licence expression (SPDX), in their order.

    >>> list_licences("(CC-BY-4.0 OR LicenseRef-ours) AND Apache-2.0 WITH LLVM-exception")
    ['CC-BY-4.0', 'LicenseRef-ours', 'Apache-2.0', 'LLVM-exception']
    """
    words = re.findall(r"[A-Za-z0-9.+-]+", expression or "")
    return list(dict.fromkeys(word for word in words if word not in ("AND", "OR", "WITH")))


def _make_licence_url(identifier: str) -> str | None:
    if identifier.startswith("LicenseRef-"):
        return None
    return f"https://spdx.org/licenses/{identifier.removesuffix('+')}"


def render_licences(expression: str | None) -> Iterator[tuple[str, str]]:
    """Yield a short file for each licence in a licence expression (SPDX).

    Yields:
        Path and text of the file; the text links to the licence.
    """
    for identifier in list_licences(expression):
        url = _make_licence_url(identifier)
        text = f"Its text: {url}.html" if url else "SPDX does not list this licence; ask the organisers for its text."
        yield f"LICENSES/{identifier}.txt", f"SPDX-License-Identifier: {identifier}\n\n{text}\n"


CROISSANT = "croissant.json"
CROISSANT_VERSION = "http://mlcommons.org/croissant/1.1"

_TERMS = ("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileProperty",
          "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
          "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate",
          "separator", "source", "subField", "transform")
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"}, "description": {"@container": "@language"},
    "name": {"@container": "@language"}, **{name: f"cr:{name}" for name in _TERMS}}
_TYPES = {"VARCHAR": "sc:Text", "BOOLEAN": "sc:Boolean", "DOUBLE": "cr:Float64", "BIGINT": "cr:Int64",
          "INTEGER": "cr:Int32", "SMALLINT": "cr:Int16", "TINYINT": "cr:Int8", "TIMESTAMP": "sc:DateTime"}


def render_croissant(contents: Contents) -> str:
    """Return a description of a release's tables for sites that list data sets.

    The format is Croissant, a JSON vocabulary. `contents.files` must contain the tables.
    """
    task = contents.manifest.task
    names = list_licences(task.licence)
    dataset: dict[str, Any] = {
        "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": CROISSANT_VERSION,
        "name": _format_croissant_name(task.id), "alternateName": contents.title, "description": contents.description,
        "version": _format_croissant_version(task.version), "datePublished": contents.date,
        "license": (_make_licence_url(names[0]) if len(names) == 1 else None) or task.licence or NO_LICENCE,
        "isLiveDataset": False}
    if task.organisers:
        dataset["creator"] = [{"@type": "sc:Person", "name": name} for name in task.organisers]
    dataset |= {key: value for key, value in {"url": task.url, "citeAs": contents.citation}.items() if value}
    files = {file.path: file for file in contents.files}
    dataset["distribution"] = [
        {"@type": "cr:FileObject", "@id": written.table.path, "name": _format_croissant_name(written.table.name),
         "description": written.table.comment, "contentUrl": written.table.path,
         "contentSize": f"{files[written.table.path].size} B", "encodingFormat": "application/x-parquet",
         "sha256": files[written.table.path].sha256} for written in contents.tables]
    dataset["recordSet"] = [_record_set(written) for written in contents.tables]
    return json.dumps(dataset, indent=2, ensure_ascii=False) + "\n"


def _record_set(written: WrittenTable) -> dict[str, Any]:
    name = written.table.name
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": written.table.comment, "field": [
        {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, "description": written.table.columns[column],
         "dataType": _TYPES[type_],
         "source": {"fileObject": {"@id": written.table.path}, "extract": {"column": column}}}
        for column, type_ in written.types.items()]}


def _format_croissant_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def _format_croissant_version(version: str) -> str:
    """Extend a version to three numbers, as Croissant requires: `2.1` -> `2.1.0`."""
    numbers = version.split(".")
    return ".".join([*numbers, "0", "0"][:3]) if all(map(str.isdecimal, numbers)) and len(numbers) < 3 else version


RO_CRATE = "ro-crate-metadata.json"
RO_CRATE_VERSION = "https://w3id.org/ro/crate/1.3"

Entity = dict[str, Any]

_FOLDERS = {"data": "Tables, as Parquet", "boards": "Leaderboards", "LICENSES": "Licences",
            "submitted": "Submitted files, named by the digests of their bytes"}


def render_ro_crate(contents: Contents) -> str:
    """Return the description of a release's files for research archives.

    The format is RO-Crate, a JSON vocabulary. `contents.files` must contain all other files.
    """
    licences = list(_make_licence_entities(contents.manifest.task.licence))
    graph = [
        {"@id": RO_CRATE, "@type": "CreativeWork", "about": _refer("./"), "conformsTo": _refer(RO_CRATE_VERSION)},
        _root_entity(contents, licences[0]), *_folder_entities(contents), *_file_entities(contents),
        *_people_entities(contents), *licences, *_make_program_entities(contents)]
    return json.dumps({"@context": f"{RO_CRATE_VERSION}/context", "@graph": graph}, indent=2, ensure_ascii=False) + "\n"


def _refer(entity_id: str) -> Entity:
    return {"@id": entity_id}


def _root_entity(contents: Contents, licence: Entity) -> Entity:
    task = contents.manifest.task
    root: Entity = {
        "@id": "./", "@type": "Dataset", "name": contents.title, "description": contents.description,
        "datePublished": contents.date, "version": task.version, "license": _refer(licence["@id"]),
        "keywords": "shared task, evaluation, leaderboard, significance",
        "hasPart": [_refer(f"{name}/") for name in _folder_names(contents)] + [
            _refer(quote(file.path)) for file in contents.files if "/" not in file.path],
        "mentions": _refer("#comparison")}
    if task.organisers:
        root["author"] = [_refer(f"#organiser-{n}") for n in range(1, len(task.organisers) + 1)]
        root["publisher"] = _refer("#organiser-1")
    optional = {"url": task.url, "creditText": contents.citation,
                "contactPoint": _refer("#contact") if task.contact else None}
    return root | {key: value for key, value in optional.items() if value}


def _folder_names(contents: Contents) -> list[str]:
    return sorted({PurePosixPath(file.path).parts[0] for file in contents.files if "/" in file.path})


def _folder_entities(contents: Contents) -> Iterator[Entity]:
    for name in _folder_names(contents):
        parts = [_refer(quote(file.path)) for file in contents.files if file.path.startswith(f"{name}/")]
        yield {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": _FOLDERS[name],
               "hasPart": parts if len(parts) > 1 else parts[0]}


def _file_entities(contents: Contents) -> Iterator[Entity]:
    for file in contents.files:
        yield {"@id": quote(file.path), "@type": "File", "name": file.path, "description": file.about,
               "encodingFormat": file.media_type, "contentSize": str(file.size), "sha256": file.sha256}


def _people_entities(contents: Contents) -> Iterator[Entity]:
    task = contents.manifest.task
    for n, name in enumerate(task.organisers, 1):
        contact = {"contactPoint": _refer("#contact")} if task.contact and n == 1 else {}
        yield {"@id": f"#organiser-{n}", "@type": "Person", "name": name, **contact}
    if task.contact:
        yield {"@id": "#contact", "@type": "ContactPoint", "contactType": "organisers", "name": "Organisers",
               "url" if task.contact.startswith("http") else "email": task.contact}


def _make_licence_entities(expression: str | None) -> Iterator[Entity]:
    """Yield the description of a release's licence in the RO-Crate format.

    If the licence expression (SPDX) combines several licences, a description of each licence follows.
    """
    if expression is None:
        yield {"@id": "#licence", "@type": "CreativeWork", "name": "None", "description": NO_LICENCE}
        return
    entities = []
    for name in list_licences(expression):
        url = _make_licence_url(name)
        entities.append({"@id": url or f"#{name}", "@type": "CreativeWork", "name": name, "description": (
            f"The licence that SPDX lists as {name}" if url else f"{name}, a licence of the organisers"),
            "identifier": name})
    if len(entities) > 1:
        yield {"@id": "#licence", "@type": "CreativeWork", "name": expression, "identifier": expression,
               "description": "An SPDX expression of several licences",
               "hasPart": [_refer(entity["@id"]) for entity in entities]}
    yield from entities


def _make_program_entities(contents: Contents) -> Iterator[Entity]:
    """Yield descriptions of this program and the comparison, in the RO-Crate format."""
    yield {"@id": "#evalregistry", "@type": "CreativeWork", "name": "evalregistry",
           "version": contents.versions["evalregistry"],
           "description": "The program that compared the systems, with " + ", ".join(
               f"{name} {version}" for name, version in contents.versions.items() if name != "evalregistry")}
    yield {"@id": "#comparison", "@type": "CreateAction", "name": "Comparison of all pairs of systems",
           "endTime": f"{contents.compared_at}Z", "instrument": _refer("#evalregistry"),
           "result": [_refer("data/"), _refer("boards/")]}


_VERIFY = """\
## How to verify it

`sha256sum -c SHA256SUMS` compares every file with its checksum. The program that made the release,
`pip install {program}`, computes its numbers again from the files in this folder:

    registry verify .

{method} Another processor or another version of numpy or scipy than in `data/boards.parquet` (column
`environment`) may change the last bits of a number.
"""
_WITH_GOLD = ("It computes scores and results from the statistics of single items, and reports every number that "
              "differs in any bit.")
_WITHOUT_GOLD = """\
It computes scores from totals, if the statistics of a metric add up, adjusted p-values from unadjusted ones, and
decisions and ranks from adjusted p-values. Unadjusted p-values cannot be computed again: they need the statistics of
single items, which are withheld with the gold. The release has only the digests of these statistics."""


def render_readme(contents: Contents, program: str) -> str:
    """Return the README of a release as Markdown.

    Args:
        contents: Contents of the release.
        program: Requirement for pip that installs this program, such as `evalregistry==0.1.0`.
    """
    task = contents.manifest.task
    facts = {"Published": contents.date, "Organisers": ", ".join(task.organisers), "Contact": task.contact,
             "Page": task.url, "Licence": task.licence or NO_LICENCE}
    parts = [f"# {_escape_inline(contents.title)}", _escape_inline(contents.description),
             "\n".join(f"- {name}: {_escape_inline(value)}" for name, value in facts.items() if value),
             "## Contents", "\n".join(_file_rows(contents)), "### Boards",
             "\n".join(f"- {_escape_inline(board.title)} (`{board.signature}`)" for board in contents.boards.boards),
             "## How to cite it", _escape_inline(contents.citation),
             _VERIFY.format(program=program, method=_WITH_GOLD if contents.has_gold else _WITHOUT_GOLD).rstrip(),
             "## Columns", *map(_column_table, contents.tables)]
    return "\n\n".join(parts) + "\n"


def _file_rows(contents: Contents) -> Iterator[str]:
    yield "| file | contents | rows |\n|---|---|---|"
    yield "| `manifest.toml` | the declaration of the task: test sets, metrics, tests; the seed | |"
    yield "| `boards/` | the leaderboards as `registry board` prints them, and the signature of each | |"
    yield "| `page.html` | leaderboards and pairs, for a browser; it needs no network | |"
    for written in contents.tables:
        yield f"| `{written.table.path}` | {written.table.comment} | {written.n_rows} |"
    if any(written.table.name == SUBMITTED for written in contents.tables):
        yield f"| `submitted/` | the submitted files; `data/{SUBMITTED}.parquet` lists the submission of each | |"
    yield "| `CITATION.cff` | how to cite the task, for programs | |"
    yield "| `ro-crate-metadata.json`, `croissant.json`, `croissant-tasks.json` | descriptions for programs | |"


def _column_table(written: WrittenTable) -> str:
    rows = [f"| `{name}` | {written.table.columns[name]} | {type_.lower()} |" for name, type_ in written.types.items()]
    return "\n".join([f"### {written.table.path}", "", "| column | meaning | type |", "|---|---|---|", *rows])


def _escape_inline(text: str) -> str:
    plain = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*[]<>#|" else c for c in plain)
