"""Strict parsing of JSON: one value per file, or one object per line.

A column is named by its key or by a path. `results.rouge2.f` is the value of `f` in the object `rouge2` in the object
`results`. A number in a path is the index of a list element, from 0. A key that itself contains dots takes precedence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from registry.errors import InputError, suggest
from registry.readers.parsing.delimited import TextFormat, read_content_lines
from registry.readers.parsing.document import Document

MAX_KEYS = 2**18  # in a line, nested ones included: each takes some 200 bytes
MAX_CONTAINERS = 2**20  # lists and objects in a line: each takes some 70 bytes
_CONTAINER = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[{]', re.DOTALL)  # or a text, which may hold brackets
_KEY_END = re.compile(r'(?<!\\)"\s*:')  # in texts a double quote has a backslash before it


def parse_object(line: str, path: str, number: int | None, *, nan: bool = False) -> dict[str, Any]:
    """Parse one line of a JSON Lines file, which must be a JSON object.

    Args:
        line: Text of the line.
        path: Path of the file, for errors.
        number: Line number, for errors.
        nan: True to allow NaN and Infinity.

    Raises:
        InputError: The line is not a JSON object, a key occurs twice, or there are too many keys, lists or objects.
    """
    if (n := _count_keys(line)) > MAX_KEYS:
        raise InputError(f"the line has {n:,} keys; at most {MAX_KEYS:,} are allowed", path=path, line=number)
    if has_more_containers(line, MAX_CONTAINERS):
        raise InputError(f"the line has more than {MAX_CONTAINERS:,} lists and objects; write fewer", path=path,
                         line=number)
    try:
        value = parse_json(line, nan=nan)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}; write one complete JSON object in each line",
                         path=path, line=number) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path, line=number) from None
    if not isinstance(value, dict):
        raise InputError("the line is not a JSON object; write an object such as {\"id\": \"d1\", ...}", path=path,
                         line=number)
    return value


def parse_columns(block: str) -> dict[str, list[Any]] | None:
    """Parse lines of JSON objects with the same keys, and return their columns.

    For example, the lines `{"a": 1}` and `{"a": 2}` give `{"a": [1, 2]}`.

    Args:
        block: Lines of a JSON Lines file.

    Returns:
        Cells by key; None if a line is not a valid object, or if two objects have different keys.
    """
    if _count_keys(block) > MAX_KEYS or has_more_containers(block, MAX_CONTAINERS):
        return None
    try:
        objects = list(map(STRICT.decode, block.split("\n")))
    except (ValueError, RecursionError):
        return None
    if not all(type(row) is dict and row.keys() == objects[0].keys() for row in objects):
        return None
    return {name: [row[name] for row in objects] for name in objects[0]}


def parse_json(text: str | bytes, *, nan: bool = False) -> Any:
    """Parse JSON strictly: duplicate keys are errors, and so is NaN by default.

    Args:
        text: The text.
        nan: True to allow NaN and Infinity, which some programs write.

    Raises:
        ValueError: The text is not JSON, or a key occurs twice in an object.
    """
    try:
        return json.loads(text, object_pairs_hook=_make_object, parse_constant=float if nan else _refuse_constant,
                          parse_int=_parse_whole)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def has_more_containers(text: str, most: int) -> bool:
    """Return True if a JSON text has more than `most` lists and objects together."""
    if text.count("[") + text.count("{") <= most:
        return False
    containers = (text[match.start()] != '"' for match in _CONTAINER.finditer(text))
    return next(islice(filter(None, containers), most, None), False)


def _count_keys(text: str) -> int:
    return sum(1 for _ in _KEY_END.finditer(text)) if len(text) > 4 * MAX_KEYS else 0


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _parse_whole(digits: str) -> float:
    return int(digits) if len(digits) < 400 else float(digits)  # Python refuses to read very long whole numbers


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


STRICT = json.JSONDecoder(object_pairs_hook=_make_object, parse_constant=_refuse_constant, parse_int=_parse_whole)


ABSENT = object()  # value at the end of an invalid path

_BLANKS = re.compile(r"[ \t\n\r]*")
_PLACE = re.compile(r"[0-9]{1,9}")
_DEEPEST = 8  # levels of nested objects whose columns are read as columns and suggested
_MOST_SUGGESTED = 1000  # columns
_MOST_HINTS = 100  # rows of a file
_CONTAINERS_PER_LINE = 64  # lists and objects per allowed entry, in a file that is one JSON value


def read_json_rows(document: Document, text_format: TextFormat) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line of a JSON Lines file.

    Lines that are not valid are reported and left out.
    """
    for number, line in read_content_lines(document, text_format):
        try:
            entry = parse_object(line, document.path, number)
        except InputError as error:
            document.report(error)
        else:
            yield number, entry


def read_json_entries(document: Document, item: str | None, column: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the row of each entry of a file with one JSON value.

    The value is a list or an object. The elements of a list are rows. A member of an object, such as `"d1": "A"`,
    becomes the row `{"item": "d1", "label": "A"}` if item="item" and column="label". If the member's value is an
    object, only the name is added to it.

    Args:
        document: The file.
        item: Key for the name of a member.
        column: Key for a member's value that is not an object.

    Raises:
        InputError: The file is not JSON, has another structure, or is too large; the error names the line.
    """
    for line, name, value in read_json_members(document):
        entry = _make_entry(name, value, item, column)
        if isinstance(entry, str):
            document.refuse(entry, line)
        else:
            yield line, entry


def read_json_members(document: Document) -> Iterator[tuple[int, str | None, Any]]:
    """Yield line number, name and value of each member of a file with one JSON value.

    The value is an object, or a list, in which members have the name None.

    Raises:
        InputError: The file is not JSON, is neither a list nor an object, or is too large; the error names the line.
    """
    text, line, counted_to = document.text(), 1 + document.skip, 0
    if has_more_containers(text, most := _CONTAINERS_PER_LINE * document.most_lines):
        raise document.error(f"the file has more than {most:,} lists and objects, the most that are allowed"
                             f"{document.bounds.reason}")
    try:
        for n, (offset, name, value) in enumerate(_read_members(text)):
            line, counted_to = line + text.count("\n", counted_to, offset), offset
            if n == document.most_lines:
                raise document.make_bounds_error("more entries", n, line)
            yield line, name, value
    except json.JSONDecodeError as error:
        raise document.error(f"not JSON: {error.msg} at column {error.colno}", error.lineno + document.skip) from None


def get_value(entry: Any, name: str) -> Any:
    """Return the value of a column in a JSON row; `ABSENT` if there is none.

    Args:
        entry: The row, a parsed JSON value.
        name: Key of the column, or path to a nested value such as "scores.0".
    """
    return entry[name] if type(entry) is dict and name in entry else follow_path(entry, name.split("."))


def describe_missing(document: Document, entry: Mapping[str, Any], name: str, kind: str = "key") -> str:
    """Return a message about a column that is absent from a JSON row.

    In the first rows of a file the message suggests a similar column; later ones do not, because that is slow.

    Args:
        document: The file.
        entry: The row.
        name: Key or path of the absent column.
        kind: The word for columns in the message.
    """
    n = document.cache[describe_missing] = document.cache.get(describe_missing, 0) + 1
    return f"the {kind} {name!r} is missing" + (f"; {suggest(name, _list_paths(entry))}" if n <= _MOST_HINTS else "")


def get_column(columns: Mapping[str, list[Any]], name: str) -> list[Any] | None:
    """Return the cells of a column; None if a row lacks it.

    Args:
        columns: Cells of JSON rows, by key.
        name: Key of the column, or path to a nested value such as "scores.0".
    """
    if name in columns:
        return columns[name]
    first, *rest = name.split(".")
    cells = [follow_path(cell, rest) for cell in columns.get(first, [ABSENT])]
    return None if any(cell is ABSENT for cell in cells) else cells


def flatten_columns(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Add columns for nested values: {"a": [{"b": 1}]} also gets {"a.b": [1]}.

    This requires that the nested objects have the same keys in all rows.
    """
    flat = dict(columns)
    nested = {name: cells for name, cells in columns.items() if "." not in name}
    for _ in range(_DEEPEST):
        deeper: dict[str, list[Any]] = {}
        for name, cells in nested.items():
            if all(type(cell) is dict and cell.keys() == cells[0].keys() for cell in cells):
                deeper |= {f"{name}.{key}": [cell[key] for cell in cells] for key in cells[0] if "." not in key}
        nested = {name: cells for name, cells in deeper.items() if name not in columns}
        flat |= nested
    return flat


def follow_path(value: Any, path: Sequence[str]) -> Any:
    """Return a nested value of JSON: path ("a", "0") gives `value["a"][0]`.

    Args:
        value: JSON value in which the path begins.
        path: Keys of objects, and indexes of lists as text.

    Returns:
        The value; `ABSENT` if there is none.
    """
    for key in path:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and _PLACE.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return ABSENT
    return value


def _list_paths(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a nested JSON row, for messages: {"a": {"b": 1}} -> {"a.b": 1}."""
    paths: dict[str, Any] = {}
    nested: Mapping[str, Any] = entry
    for _ in range(_DEEPEST):
        if len(paths) + len(nested) > _MOST_SUGGESTED:
            break
        paths |= {name: cell for name, cell in nested.items() if not isinstance(cell, Mapping)}
        nested = {f"{name}.{key}": cell for name, members in nested.items() if isinstance(members, Mapping)
                  for key, cell in members.items()}
    return paths


def _read_members(text: str) -> Iterator[tuple[int, str | None, Any]]:
    """Yield position, name and value of each member of a JSON list or object.

    In a list the name is None. The position is an index into the text.

    Raises:
        JSONDecodeError: The text is not JSON, or is neither a list nor an object.
    """
    offset = _skip_blanks(text, 0)
    ends = {"[": "]", "{": "}"}.get(text[offset:offset + 1])
    if ends is None:
        raise json.JSONDecodeError("expected a list of objects, or an object of items", text, offset)
    is_first, offset = True, _skip_blanks(text, offset + 1)
    while not (text.startswith(ends, offset) and is_first):
        begins, name = offset, None
        if ends == "}":
            if not text.startswith('"', offset):
                raise json.JSONDecodeError("expected the name of an item in double quotes", text, offset)
            name, offset = _decode(text, offset)
            offset = _skip_mark(text, _skip_blanks(text, offset), ":")
        value, offset = _decode(text, offset)
        yield begins, name, value
        del value
        is_first, offset = False, _skip_blanks(text, offset)
        if text.startswith(ends, offset):
            break
        offset = _skip_mark(text, offset, ",")
    if (offset := _skip_blanks(text, offset + 1)) < len(text):
        raise json.JSONDecodeError("unexpected text after the end of the JSON value", text, offset)


def _decode(text: str, offset: int) -> tuple[Any, int]:
    try:
        return STRICT.raw_decode(text, offset)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, offset) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # without a position
        raise json.JSONDecodeError(str(error), text, offset) from None


def _skip_blanks(text: str, offset: int) -> int:
    match = _BLANKS.match(text, offset)
    return match.end() if match else offset


def _skip_mark(text: str, offset: int, mark: str) -> int:
    if not text.startswith(mark, offset):
        raise json.JSONDecodeError(f"expected {mark!r}", text, offset)
    return _skip_blanks(text, offset + 1)


def _make_entry(name: str | None, value: Any, item: str | None, column: str | None) -> dict[str, Any] | str:
    """Convert a member of a JSON list or object to a row.

    For example, with item="id" and column="label" the member `"d1": "A"` becomes the row `{"id": "d1", "label": "A"}`.
    If the member's value is an object, only the name is added to it.

    Args:
        name: Name of the member, such as "d1"; None in a list.
        value: Value of the member.
        item: Key under which the row has the name of the member.
        column: Key under which the row has a value that is not an object.

    Returns:
        The row (a dict), or a message (a text) if the member is not valid.
    """
    if name is None:
        return value if isinstance(value, dict) else "an entry of the list is not a JSON object; write an object"
    if item is None:
        return "the file is an object with one entry per item; set the option 'item' to one column, or write a list"
    if isinstance(value, dict):
        if value.get(item, name) != name:
            return f"item {name!r} has another name in its own key {item!r}; write the same name"
        return {**value, item: name}
    if column is None:
        return f"the value of item {name!r} is not a JSON object; write an object"
    return {item: name, column: value}
