"""JSON, read as strictly as the standard is written: a whole file, or one line of JSON Lines as an object."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

from registry.errors import InputError

MAX_KEYS = 2**18  # in a line, with all that is nested in it: each takes some 200 bytes
MAX_CONTAINERS = 2**20  # lists and objects in a line: each takes some 70 bytes
_CONTAINER = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[{]', re.DOTALL)  # or a text, which may hold brackets
_KEY_END = re.compile(r'(?<!\\)"\s*:')  # in texts a double quote has a backslash before it


def json_object(line: str, path: str, number: int | None, *, nan: bool = False) -> dict[str, Any]:
    """Read the object in line `number` of the file at `path`; see `json_value`.

    Raises:
        InputError: It is not JSON (nan and infinity are not), no object, or a key stands twice.
    """
    if (n := _count_keys(line)) > MAX_KEYS:
        raise InputError(f"{n:,} keys in one line; {MAX_KEYS:,} are the most that are read", path=path, line=number)
    if has_more_containers(line, MAX_CONTAINERS):
        raise InputError(f"more than {MAX_CONTAINERS:,} lists and objects in one line, which are the most that are "
                         "read", path=path, line=number)
    try:
        value = json_value(line, nan=nan)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}; every line must be one whole object",
                         path=path, line=number) from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", path=path, line=number) from None
    if not isinstance(value, dict):
        raise InputError("not a JSON object", path=path, line=number)
    return value


def json_columns(block: str) -> dict[str, list[Any]] | None:
    """The columns of a block of lines that are objects with the same keys; None where one is not."""
    if _count_keys(block) > MAX_KEYS or has_more_containers(block, MAX_CONTAINERS):
        return None
    try:
        objects = list(map(STRICT.decode, block.split("\n")))
    except (ValueError, RecursionError):
        return None
    if not all(type(one) is dict and one.keys() == objects[0].keys() for one in objects):
        return None
    return {name: [one[name] for one in objects] for name in objects[0]}


def json_value(text: str | bytes, *, nan: bool = False) -> Any:
    """Read any JSON value; `nan` lets Python's own NaN and Infinity pass, which programs write that do not look.

    Raises:
        ValueError: It is not JSON, or a key stands twice in an object.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=float if nan else _no_constant,
                          parse_int=_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def has_more_containers(text: str, most: int) -> bool:
    """Return whether a text of JSON has more lists and objects than `most`."""
    if text.count("[") + text.count("{") <= most:
        return False
    found = (text[match.start()] != '"' for match in _CONTAINER.finditer(text))
    return next(islice(filter(None, found), most, None), False)


def _count_keys(text: str) -> int:
    """Return how many keys a text of JSON has at the most, or 0 if it is too short for many."""
    return sum(1 for _ in _KEY_END.finditer(text)) if len(text) > 4 * MAX_KEYS else 0


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _number(digits: str) -> float:
    return int(digits) if len(digits) < 400 else float(digits)  # Python refuses to read very long whole numbers


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_number)
