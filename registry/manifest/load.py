"""From a TOML file to a `Manifest`; every error names the file and the key path."""

from __future__ import annotations

import json
import tomllib
import typing
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from registry.errors import InputError, ManifestError, nearest, suggest, together
from registry.identity import canonical_json
from registry.manifest.fields import USUAL_TESTS, ContradictionsError
from registry.manifest.spec import Manifest, Significance, Submit, SystemFacts

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
        ManifestError: The file cannot be read, is not TOML, or does not declare a task; all that is wrong with its
            tables and keys is told together.
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
        raise together([ManifestError(message, path=path, key=key) for key, message in _all_wrong(tables, error)]) \
            from None


def stored_form(manifest: Manifest) -> str:
    """The manifest as the database keeps it: normalized JSON, without the submissions."""
    tables = manifest.model_dump(mode="json", exclude={"submit"})
    later = [(tables["task"], key) for key in ("plugins", "cost_unit")]
    later += [(metric, key) for metric in tables["metric"] for key in ("title", "decimals")]
    later += [(tables["significance"], "candidate")]
    for table, key in later:  # so that tasks without them are kept as ever
        if table[key] in (None, []):
            del table[key]
    return canonical_json(tables)


@lru_cache(maxsize=8)  # a command asks several times for the same one
def stored_manifest(stored: str) -> Manifest:
    """The manifest that the database keeps of a task, as JSON."""
    return Manifest.model_validate(json.loads(stored))


def _all_wrong(tables: dict[str, Any], error: ValidationError) -> list[tuple[str, str]]:
    """Say at which keys of the manifest what is wrong.

    What stands under a misspelt key is checked as if it were spelt right, and what it stands for is not missing.
    """
    mended, found = deepcopy(tables), []
    for detail in error.errors():
        if detail["type"] == "extra_forbidden" and _spelt_right(mended, detail["loc"]):
            found += list(_explain(detail))
    if not found:
        return [told for detail in error.errors() for told in _explain(detail)]
    try:
        Manifest.model_validate(mended)
    except ValidationError as others:
        found += _all_wrong(mended, others)
    return found


def _spelt_right(tables: Any, location: tuple[int | str, ...]) -> bool:
    """Rename an unknown key to what it likely means; False where nothing tells, or that is there too."""
    for step in location[:-1]:
        tables = tables[step]
    key = str(location[-1])
    meant = next((name for name in nearest(key, _keys_at(location[:-1])) if name not in tables), None)
    if meant is not None:
        tables[meant] = tables.pop(key)
    return meant is not None


def _explain(detail: ErrorDetails) -> Iterator[tuple[str, str]]:
    """Say where one of pydantic's errors is and what is wrong there; what contradicts itself may do so in many ways."""
    key = _key_path(detail["loc"])
    if detail["type"] == "value_error" and isinstance(error := detail["ctx"]["error"], ContradictionsError):
        yield from ((".".join(filter(None, (key, at))), message) for at, message in error.found)
    else:
        yield key, _message(detail)


def _message(detail: ErrorDetails) -> str:
    """Say what is wrong with the value at a key, and what is expected."""
    location, kind, given = detail["loc"], detail["type"], detail["input"]
    heading = _heading(location) if location else ""
    if kind == "extra_forbidden":
        key, known = str(location[-1]), _keys_at(location[:-1])
        option = f"; options of the format or metric go into options = {{ {key} = ... }}" if "options" in known else ""
        return f"unknown key; {suggest(key, known)}{'' if nearest(key, known) else option}"
    if kind == "missing":
        return f"this table is missing; add {heading}" if heading else "this key is missing; add it"
    if kind in ("literal_error", "enum"):
        return f"is {given!r}; expected {detail['ctx']['expected']}"
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    if heading and isinstance(given, dict | list) and kind in _WANTED:
        return f"expected {_WANTED[kind]}, not {_KINDS[type(given)]}; write {heading}"
    shown = str(given).lower() if isinstance(given, bool) else repr(given)
    instead = _KINDS[dict] if isinstance(given, dict) else _KINDS[list] if isinstance(given, list) else shown
    if (wanted := _WANTED.get(kind)) is not None:
        return f"expected {wanted}, not {instead}"
    return detail["msg"][0].lower() + detail["msg"][1:] + f", not {instead}"


def _heading(location: tuple[int | str, ...]) -> str:
    """How a table of the manifest begins, `[task]` or `[[metric]]`; empty for what is none."""
    name, *deeper = location
    if deeper or name not in Manifest.model_fields:
        return ""
    annotation = Manifest.model_fields[str(name)].annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{name}]"
    return f"[[{name}]]" if _model_in(annotation) else ""


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
            model = _model_in(model.model_fields[step].annotation) or model
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


def system_facts(**given: Any) -> dict[str, Any]:
    """Check facts of a system that the command line gives, by their names; None is not given.

    Raises:
        InputError: One is wrong.
    """
    return _validated(SystemFacts, {name: value for name, value in given.items() if value is not None}).facts


def significance_with(declared: Significance, given: Mapping[str, Any]) -> Significance:
    """Replace settings of the declared significance by given ones.

    Where other runs are given and no test, the usual test becomes that of these. Given two-sided tests drop the
    declared candidate.

    Raises:
        InputError: A given value is wrong.
    """
    runs = given.get("runs", declared.runs)
    is_other = runs != declared.runs and runs in USUAL_TESTS and declared.test == USUAL_TESTS[declared.runs]
    usual = {"test": USUAL_TESTS[runs]} if is_other else {}
    none = {"candidate": None} if given.get("alternative") == "two-sided" else {}
    return _validated(Significance, declared.model_dump() | usual | none | dict(given))


M = TypeVar("M", bound=BaseModel)


def _validated(model: type[M], values: dict[str, Any]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise together([InputError(f"{key}: {message}") for detail in error.errors()
                        for key, message in _explain(detail)]) from None
