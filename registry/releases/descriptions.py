"""Descriptions of a release: README, Croissant 1.1 and RO-Crate 1.3, with licences.

Croissant (https://docs.mlcommons.org/croissant) describes the tables for mirrors, RO-Crate
(https://w3id.org/ro/crate/1.3) all files for archives: a flat list of entities that refer to each other by `@id`.
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
from registry.manifest import Manifest, stored_manifest
from registry.releases.tables import SUBMITTED, TOTALS, ReleasedTable, released_tables
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


NONE_DECLARED = "No licence is declared: whoever wants to reuse the release has to ask the organisers."


def identifiers(expression: str) -> list[str]:
    """The identifiers in an SPDX expression, in their order.

    >>> identifiers("(CC-BY-4.0 OR LicenseRef-ours) AND Apache-2.0 WITH LLVM-exception")
    ['CC-BY-4.0', 'LicenseRef-ours', 'Apache-2.0', 'LLVM-exception']
    """
    found = re.findall(r"[A-Za-z0-9.+-]+", expression)
    return list(dict.fromkeys(name for name in found if name not in ("AND", "OR", "WITH")))


def is_listed(identifier: str) -> bool:
    """Whether SPDX lists the licence, rather than the organisers."""
    return not identifier.startswith("LicenseRef-")


def address(identifier: str) -> str:
    """Where SPDX has the text of a licence that it lists."""
    return f"https://spdx.org/licenses/{identifier.removesuffix('+')}"


def licence_files(expression: str | None) -> Iterator[tuple[str, str]]:
    """A file for each licence: its name and what it says."""
    for identifier in identifiers(expression or ""):
        where = f"Its text: {address(identifier)}.html" if is_listed(identifier) else \
            "SPDX does not list it; its text is the organisers' to give."
        yield f"LICENSES/{identifier}.txt", f"SPDX-License-Identifier: {identifier}\n\n{where}\n"


CROISSANT = "croissant.json"
CROISSANT_VERSION = "http://mlcommons.org/croissant/1.1"

_OWN = ("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileProperty",
        "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
        "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
        "source", "subField", "transform")
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"}, "description": {"@container": "@language"},
    "name": {"@container": "@language"}, **{name: f"cr:{name}" for name in _OWN}}
_TYPES = {"VARCHAR": "sc:Text", "BOOLEAN": "sc:Boolean", "DOUBLE": "cr:Float64", "BIGINT": "cr:Int64",
          "INTEGER": "cr:Int32", "SMALLINT": "cr:Int16", "TINYINT": "cr:Int8", "TIMESTAMP": "sc:DateTime"}


def croissant(contents: Contents) -> str:
    """Write the description of a release whose tables are among its known files."""
    task = contents.manifest.task
    digests = {file.path: file for file in contents.files}
    told: dict[str, Any] = {
        "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": CROISSANT_VERSION, "name": _plain(task.id),
        "alternateName": contents.title, "description": contents.description, "version": _version(task.version),
        "datePublished": contents.date, "license": _croissant_licence(task.licence), "isLiveDataset": False}
    if task.organisers:
        told["creator"] = [{"@type": "sc:Person", "name": name} for name in task.organisers]
    told |= {key: value for key, value in {"url": task.url, "citeAs": contents.citation}.items() if value}
    told["distribution"] = [
        {"@type": "cr:FileObject", "@id": of.table.path, "name": _plain(of.table.name), "description": of.table.comment,
         "contentUrl": of.table.path, "contentSize": f"{digests[of.table.path].size} B",
         "encodingFormat": "application/x-parquet", "sha256": digests[of.table.path].sha256} for of in contents.tables]
    told["recordSet"] = [_record_set(of) for of in contents.tables]
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _record_set(of: WrittenTable) -> dict[str, Any]:
    name = of.table.name
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": of.table.comment, "field": [
        {"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, "description": of.table.columns[column],
         "dataType": _TYPES[type_],
         "source": {"fileObject": {"@id": of.table.path}, "extract": {"column": column}}}
        for column, type_ in of.types.items()]}


def _plain(name: str) -> str:
    """A name as Croissant has them."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def _version(version: str) -> str:
    """A version in three numbers, as Croissant has them, where it is made of fewer."""
    numbers = version.split(".")
    return ".".join([*numbers, "0", "0"][:3]) if all(map(str.isdecimal, numbers)) and len(numbers) < 3 else version


def _croissant_licence(expression: str | None) -> str:
    names = identifiers(expression or "")
    if len(names) == 1 and is_listed(names[0]):
        return address(names[0])
    return expression or NONE_DECLARED


RO_CRATE = "ro-crate-metadata.json"
RO_CRATE_VERSION = "https://w3id.org/ro/crate/1.3"

Entity = dict[str, Any]

_FOLDERS = {"data": "Tables, as Parquet", "boards": "Leaderboards", "LICENSES": "Licences",
            "submitted": "Submitted files, each under the digest of its bytes"}


def ro_crate(contents: Contents) -> str:
    """Write the description of a release all of whose other files are known."""
    graph = [
        {"@id": RO_CRATE, "@type": "CreativeWork", "about": _to("./"), "conformsTo": _to(RO_CRATE_VERSION)},
        _root(contents), *_folders(contents), *_file_entities(contents), *_people(contents), *_licence(contents),
        *_making(contents)]
    return json.dumps({"@context": f"{RO_CRATE_VERSION}/context", "@graph": graph}, indent=2, ensure_ascii=False) + "\n"


def _to(of: str) -> Entity:
    return {"@id": of}


def _root(contents: Contents) -> Entity:
    task = contents.manifest.task
    root: Entity = {
        "@id": "./", "@type": "Dataset", "name": contents.title, "description": contents.description,
        "datePublished": contents.date, "version": task.version, "license": _to(next(_licence(contents))["@id"]),
        "keywords": "shared task, evaluation, leaderboard, significance",
        "hasPart": [_to(f"{name}/") for name in _folders_there(contents)] + [
            _to(quote(file.path)) for file in contents.files if "/" not in file.path],
        "mentions": _to("#comparison")}
    if task.organisers:
        root["author"] = [_to(f"#organiser-{n}") for n in range(1, len(task.organisers) + 1)]
        root["publisher"] = _to("#organiser-1")
    optional = {"url": task.url, "creditText": contents.citation,
                "contactPoint": _to("#contact") if task.contact else None}
    return root | {key: value for key, value in optional.items() if value}


def _folders_there(contents: Contents) -> list[str]:
    return sorted({PurePosixPath(file.path).parts[0] for file in contents.files if "/" in file.path})


def _folders(contents: Contents) -> Iterator[Entity]:
    for name in _folders_there(contents):
        parts = [_to(quote(file.path)) for file in contents.files if file.path.startswith(f"{name}/")]
        yield {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": _FOLDERS[name],
               "hasPart": parts if len(parts) > 1 else parts[0]}


def _file_entities(contents: Contents) -> Iterator[Entity]:
    for file in contents.files:
        yield {"@id": quote(file.path), "@type": "File", "name": file.path, "description": file.about,
               "encodingFormat": file.media_type, "contentSize": str(file.size), "sha256": file.sha256}


def _people(contents: Contents) -> Iterator[Entity]:
    task = contents.manifest.task
    for n, name in enumerate(task.organisers, 1):
        reached = {"contactPoint": _to("#contact")} if task.contact and n == 1 else {}
        yield {"@id": f"#organiser-{n}", "@type": "Person", "name": name, **reached}
    if task.contact:
        how = "url" if task.contact.startswith("http") else "email"
        yield {"@id": "#contact", "@type": "ContactPoint", "contactType": "organisers", "name": "Organisers",
               how: task.contact}


def _licence(contents: Contents) -> Iterator[Entity]:
    """The licence; of an expression the whole first, then each one in it."""
    expression = contents.manifest.task.licence
    if expression is None:
        yield {"@id": "#licence", "@type": "CreativeWork", "name": "None", "description": NONE_DECLARED}
        return
    each = [{"@id": address(name) if is_listed(name) else f"#{name}", "@type": "CreativeWork", "name": name,
             "description": f"The licence that SPDX lists as {name}" if is_listed(name) else
             f"{name}, a licence of the organisers", "identifier": name} for name in identifiers(expression)]
    if len(each) > 1:
        yield {"@id": "#licence", "@type": "CreativeWork", "name": expression, "identifier": expression,
               "description": "An SPDX expression of several licences", "hasPart": [_to(of["@id"]) for of in each]}
    yield from each


def _making(contents: Contents) -> Iterator[Entity]:
    """The program that compared the systems, and that it did."""
    yield {"@id": "#evalregistry", "@type": "CreativeWork", "name": "evalregistry",
           "version": contents.computed_by["evalregistry"],
           "description": "The program that compared the systems, with " + ", ".join(
               f"{name} {version}" for name, version in contents.computed_by.items() if name != "evalregistry")}
    yield {"@id": "#comparison", "@type": "CreateAction", "name": "Comparison of all pairs of systems",
           "endTime": f"{contents.compared}Z", "instrument": _to("#evalregistry"),
           "result": [_to("data/"), _to("boards/")]}


_VERIFY = """\
## How to verify it

`sha256sum -c SHA256SUMS` holds every file against its checksum. The program that made the release,
`pip install {program}`, computes its numbers again, and needs nothing else:

    registry verify .

{what} Processors and versions of numpy and scipy other than those of `data/boards.parquet` (column
`environment`) may change the last bits of a number.
"""
_ALL = "It makes scores and results again from the statistics of single items, and asks that every bit is the same."
_HELD = """\
It makes scores again from totals, where the statistics of a metric add up, adjusted p-values from unadjusted ones, and
decisions and ranks from these. The p-values themselves cannot be made again without the statistics of single items,
which are held back with the gold; digests stand for them."""


def readme(contents: Contents, program: str) -> str:
    """Write the README; `program` is what made the release, as pip names it."""
    parts = [f"# {_inline(contents.title)}", _inline(contents.description), "\n".join(_facts(contents)),
             "## What is in it", "\n".join(_file_rows(contents)), "### Boards",
             "\n".join(f"- {_inline(board.title)} (`{board.signature}`)" for board in contents.boards.boards),
             "## How to cite it", _inline(contents.citation),
             _VERIFY.format(program=program, what=_ALL if contents.gold else _HELD).rstrip(), "## Columns",
             *(_columns(of) for of in contents.tables)]
    return "\n\n".join(parts) + "\n"


def _facts(contents: Contents) -> Iterator[str]:
    task = contents.manifest.task
    told = {"Published": contents.date, "Organisers": ", ".join(task.organisers), "Contact": task.contact,
            "Page": task.url, "Licence": task.licence or NONE_DECLARED}
    for name, value in told.items():
        if value:
            yield f"- {name}: {_inline(value)}"


def _file_rows(contents: Contents) -> Iterator[str]:
    yield "| file | what it is | rows |\n|---|---|---|"
    yield "| `manifest.toml` | what the task declares: test sets, metrics, tests; the seed | |"
    yield "| `boards/` | the leaderboards as `registry board` prints them, and what identifies each | |"
    yield "| `page.html` | leaderboards and pairs, to be opened in a browser; it needs no network | |"
    for of in contents.tables:
        yield f"| `{of.table.path}` | {of.table.comment} | {of.n_rows} |"
    if any(of.table.name == SUBMITTED for of in contents.tables):
        yield f"| `submitted/` | the files that were submitted; `data/{SUBMITTED}.parquet` says whose each is | |"
    yield "| `CITATION.cff` | how to cite the task, for programs | |"
    yield "| `ro-crate-metadata.json`, `croissant.json`, `croissant-tasks.json` | descriptions for programs | |"


def _columns(of: WrittenTable) -> str:
    rows = [f"| `{name}` | {of.table.columns[name]} | {type_.lower()} |" for name, type_ in of.types.items()]
    return "\n".join([f"### {of.table.path}", "", "| column | what it is | type |", "|---|---|---|", *rows])


def _inline(text: str) -> str:
    """A text of the task's as one line of Markdown that is nothing but text."""
    plain = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*[]<>#|" else c for c in plain)
