"""The description of a release as RO-Crate 1.3 (https://w3id.org/ro/crate/1.3), which archives of research read.

A flat list of entities that refer to each other by `@id`: the metadata file itself, the release as root, its folders
and files, and whom and what it names. Every file is part of its folder, every folder part of the root.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from registry.releases.contents import Contents
from registry.releases.descriptions.licences import NONE_DECLARED, address, identifiers, is_listed

NAME = "ro-crate-metadata.json"
VERSION = "https://w3id.org/ro/crate/1.3"

Entity = dict[str, Any]

_FOLDERS = {"data": "Tables, as Parquet", "boards": "Leaderboards", "LICENSES": "Licences",
            "submitted": "Submitted files, each under the digest of its bytes"}


def ro_crate(contents: Contents) -> str:
    """Write the description of a release all of whose other files are known."""
    graph = [
        {"@id": NAME, "@type": "CreativeWork", "about": _to("./"), "conformsTo": _to(VERSION)},
        _root(contents), *_folders(contents), *_files(contents), *_people(contents), *_licence(contents),
        *_making(contents)]
    return json.dumps({"@context": f"{VERSION}/context", "@graph": graph}, indent=2, ensure_ascii=False) + "\n"


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


def _files(contents: Contents) -> Iterator[Entity]:
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
