"""From a TOML file to a `Manifest`; every error names the file and the key path."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from registry.errors import InputError, ManifestError, suggest
from registry.manifest.spec import Manifest, Significance, Submit

_MAX_DOTS = 1000  # of a line: tomllib takes the square of the dots of a key in time and memory
_KINDS = {dict: "a table", list: "a list"}
_WANTED = {  # by what pydantic calls an error: what TOML calls that which is wanted
    "string_type": "text in quotes", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_type": "a number", "finite_number": "a finite number", "bool_type": "true or false", "tuple_type": "a list",
    "list_type": "a list", "dict_type": "a table", "model_type": "a table", "model_attributes_type": "a table",
}


def load_manifest(path: Path) -> tuple[Manifest, bytes]:
    """Read the manifest at `path`; returns it and the bytes that were read.

    Raises:
        ManifestError: The file cannot be read, is not TOML, or does not declare a task.
    """
    try:
        if path.exists() and not path.is_file():
            raise ManifestError("not a regular file", path=path)
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"cannot read the manifest: {error.strerror}", path=path) from None
    return read_manifest(content, path), content


def read_manifest(content: bytes, path: str | Path) -> Manifest:
    """Read a manifest from its bytes; `path` is where they came from, for errors."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[:error.start].count(b"\n") + 1
        raise ManifestError(f"line {line} is not UTF-8; save the file as UTF-8", path=path) from None
    for number, row in enumerate(text.split("\n"), 1):
        if row.count(".") > _MAX_DOTS:
            raise ManifestError(f"line {number} has more than {_MAX_DOTS} dots; break it", path=path)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"not TOML: {error}", path=path) from None
    try:
        return Manifest.model_validate(tables)
    except ValidationError as error:
        details = error.errors()
        key, message = _explain(details[0])
        if len(details) > 1:
            message += f" (and {len(details) - 1} more)"
        raise ManifestError(message, path=path, key=key) from None


def _explain(detail: ErrorDetails) -> tuple[str, str]:
    """Say where one of pydantic's errors is and what is wrong there."""
    location, kind, given = detail["loc"], detail["type"], detail["input"]
    key = _key_path(location)
    if kind == "extra_forbidden":
        return key, f"unknown key; {suggest(str(location[-1]), _keys_at(location[:-1]))}"
    if kind == "missing":
        return key, "this key is missing"
    if kind == "literal_error":
        return key, f"is {given!r}; expected {detail['ctx']['expected']}"
    if kind == "value_error":
        return key, str(detail["ctx"]["error"])
    shown = str(given).lower() if isinstance(given, bool) else repr(given)
    instead = _KINDS[dict] if isinstance(given, dict) else _KINDS[list] if isinstance(given, list) else shown
    if (wanted := _WANTED.get(kind)) is not None:
        return key, f"expected {wanted}, not {instead}"
    return key, detail["msg"][0].lower() + detail["msg"][1:] + f", not {instead}"


def _key_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    """List the keys that the manifest knows in the table at `location`."""
    model: type[BaseModel] = Manifest
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            inner = _model_in(model.model_fields[step].annotation)
            model = inner or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in typing.get_args(annotation) if (m := _model_in(a))), None)


def submit_entry(**given: Any) -> Submit:
    """Make a `[[submit]]` entry of what the command line gives; None is not given.

    Raises:
        InputError: A name or value is wrong.
    """
    return _validated(Submit, {name: value for name, value in given.items() if value is not None})


def significance_with(declared: Significance, given: Mapping[str, Any]) -> Significance:
    """Replace settings of the declared significance by given ones.

    Raises:
        InputError: A given value is wrong.
    """
    return _validated(Significance, declared.model_dump() | dict(given))


M = TypeVar("M", bound=BaseModel)


def _validated(model: type[M], values: dict[str, Any]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        key, message = _explain(error.errors()[0])
        raise InputError(f"{key}: {message}") from None
