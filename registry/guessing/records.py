"""A file's objects, where it is in JSON or Parquet; and what has to be mended before any file is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from registry.errors import InputError
from registry.readers import Document
from registry.readers.parsing.fast_tables import MAGIC, parquet_rows
from registry.readers.parsing.json_values import json_members, json_object

_FEW_KEYS = 3  # of a file that is one object: with more, they are the items
_MANY_KEYS = 20  # of what so few hold: they are the items then
OF_ITEMS = "object of items"  # by their names
_BOM = b"\xef\xbb\xbf"


def repair(document: Document) -> tuple[str, ...]:
    """What has to be mended so that a file is read at all: a byte-order mark."""
    return ("bom",) if document.content.startswith(_BOM) else ()


def mended(document: Document) -> dict[str, Any]:
    """The option of readers that says so."""
    return {"repair": repair(document)} if repair(document) else {}


def readable(document: Document) -> Document:
    """The file, with that mended."""
    return document.declared(repair(document))


class Records(NamedTuple):
    """The objects that a file holds, the options of readers that say how, and the same in words."""

    rows: Sequence[dict[str, Any]]
    form: dict[str, Any]
    written: str


def records(document: Document) -> Records | None:
    """The objects of a file in JSON or Parquet; None where it is no such file.

    Raises:
        InputError: The file is no text.
    """
    key = ("guessed", "records")
    if key not in document.made:
        document.made[key] = _records(document)
    found: Records | None = document.made[key]
    return found


def _records(document: Document) -> Records | None:
    if document.content.startswith(MAGIC):
        return Records([row for _, row in parquet_rows(document)], {"syntax": "parquet"}, "Parquet")
    given = readable(document)
    if not first_line(given).startswith(("{", "[")):
        return None
    return _json(given, mended(document))


def first_line(document: Document) -> str:
    """The first line of a file that is not blank."""
    return next((line for _, line in document.lines() if line.strip()), "").lstrip()


def members_of(document: Document) -> list[tuple[str | None, Any]] | None:
    """What a file holds that is one list or object in JSON, by its names (None in a list); None where it is neither."""
    try:
        return [(name, value) for _, name, value in json_members(document)]
    except InputError:
        return None


def _json(document: Document, form: dict[str, Any]) -> Records | None:
    """JSON Lines, or one value that is a list of objects or names its items."""
    try:
        rows = [json_object(line, document.path, n) for n, line in document.lines() if line.strip()]
    except InputError:
        rows = []
    if len(rows) > 1 or (rows and len(rows[0]) <= _FEW_KEYS and not any(
            isinstance(value, dict) for value in rows[0].values())):
        return Records(rows, {"syntax": "jsonl", **form}, "JSON Lines")
    members = members_of(document)
    if members is None or _is_deep([value for name, value in members if name is not None]):
        return None
    rows = [value if name is None else {**(value if isinstance(value, dict) else {"value": value}), "item": name}
            for name, value in members if name is not None or isinstance(value, dict)]
    if not rows or len(rows) < len(members):
        return None
    named = OF_ITEMS if members[0][0] is not None else "list of objects"
    return Records(rows, {"syntax": "json", **form}, f"JSON, one {named}")


def _is_deep(members: Sequence[Any]) -> bool:
    """Whether an object's members are no items: some alone are objects, none shares a key, or they hold the items."""
    objects = [member for member in members if isinstance(member, dict)]
    lists = [member for member in members if isinstance(member, list)]
    if any(member and all(isinstance(one, dict) for one in member) for member in lists) and len(lists) < len(members):
        return True
    keys = Counter(key for member in objects for key in member)
    return bool(objects) and (
        len(objects) < len(members) or (len(members) > 1 and max(keys.values(), default=0) == 1)
        or (len(members) <= _FEW_KEYS and len(keys) > _MANY_KEYS))
