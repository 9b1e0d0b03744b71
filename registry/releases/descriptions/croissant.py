"""The description of a release's tables as Croissant 1.1 (https://docs.mlcommons.org/croissant), which mirrors read.

A file object for each table, and a record set that says what its columns are. The JSON-LD context stands in the file,
so that nothing has to be fetched to read it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from registry.releases.contents import Contents, WrittenTable
from registry.releases.descriptions.licences import NONE_DECLARED, address, identifiers, is_listed

NAME = "croissant.json"
VERSION = "http://mlcommons.org/croissant/1.1"

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
        "@context": _CONTEXT, "@type": "sc:Dataset", "conformsTo": VERSION, "name": _plain(task.id),
        "alternateName": contents.title, "description": contents.description, "version": _version(task.version),
        "datePublished": contents.date, "license": _licence(task.licence), "isLiveDataset": False}
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


def _licence(expression: str | None) -> str:
    names = identifiers(expression or "")
    if len(names) == 1 and is_listed(names[0]):
        return address(names[0])
    return expression or NONE_DECLARED
