"""Functions that read a `Manifest` from TOML; errors name the file and the key."""

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

from registry.errors import InputError, ManifestError, combine_errors, nearest, suggest
from registry.identity import canonical_json
from registry.manifest.fields import USUAL_TESTS, ContradictionsError
from registry.manifest.spec import Manifest, Significance, Submit, SystemFacts

_MAX_DOTS = 1000  # per line: the time and memory of tomllib grow with the square of the dots in a key
_KINDS: dict[type, str] = {dict: "a table", list: "a list"}
_EXPECTED = {  # the type that TOML expects, by pydantic's type of error
    "string_type": "text in quotes", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_type": "a number", "finite_number": "a finite number", "bool_type": "true or false", "tuple_type": "a list",
    "list_type": "a list", "dict_type": "a table", "model_type": "a table", "model_attributes_type": "a table",
}


def load_manifest(path: Path) -> tuple[Manifest, bytes]:
    """Read and check the manifest in a file.

    Returns:
        The manifest, and the content of the file.

    Raises:
        ManifestError: The file cannot be read, is not TOML, or does not declare a task. One error lists all invalid
            tables and keys.
    """
    try:
        if path.exists() and not path.is_file():
            raise ManifestError("this is not a regular file; name a manifest", path=path)
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"cannot read the manifest: {error.strerror}", path=path) from None
    return read_manifest(content, path), content


def read_manifest(content: bytes, path: str | Path) -> Manifest:
    """Parse and check a manifest whose file has been read.

    Args:
        content: The content of the file.
        path: The path of the file, for errors.

    Raises:
        ManifestError: The content is not TOML, or does not declare a task.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[:error.start].count(b"\n") + 1
        raise ManifestError(f"line {line} is not UTF-8; save the file as UTF-8", path=path) from None
    for number, row in enumerate(text.split("\n"), 1):
        if row.count(".") > _MAX_DOTS:
            raise ManifestError(f"line {number} has more than {_MAX_DOTS} dots; write it as several lines", path=path)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"not TOML: {error}", path=path) from None
    try:
        return Manifest.model_validate(tables)
    except ValidationError as error:
        faults = [ManifestError(message, path=path, key=key) for key, message in _list_faults(tables, error)]
        raise combine_errors(faults) from None


def encode_manifest(manifest: Manifest) -> str:
    """Convert a manifest to the JSON text that the registry stores.

    Equal manifests have the same text. Submissions (the `[[submit]]` tables) are left out.
    """
    tables = manifest.model_dump(mode="json", exclude={"submit"})
    optional = [(tables["task"], key) for key in ("plugins", "cost_unit")]
    optional += [(metric, key) for metric in tables["metric"] for key in ("title", "decimals")]
    optional += [(test_set, "metrics") for test_set in tables["test_set"]]
    optional += [(tables["significance"], "candidate")]
    for table, key in optional:  # absent from manifests of earlier versions
        if table[key] in (None, []):
            del table[key]
    return canonical_json(tables)


@lru_cache(maxsize=8)  # a command decodes the same manifest several times
def decode_manifest(stored: str) -> Manifest:
    """Convert the JSON text that the registry stores to a manifest."""
    return Manifest.model_validate(json.loads(stored))


def _list_faults(tables: dict[str, Any], error: ValidationError) -> list[tuple[str, str]]:
    """Return the key and an error message for every invalid key of a manifest.

    If a key is misspelled, its value is checked under the correct key, which is then not reported as missing.

    Args:
        tables: The parsed TOML.
        error: The error of pydantic for these tables.
    """
    corrected, faults = deepcopy(tables), []
    for detail in error.errors():
        if detail["type"] == "extra_forbidden" and _correct_key(corrected, detail["loc"]):
            faults += list(_explain_error(detail))
    if not faults:
        return [fault for detail in error.errors() for fault in _explain_error(detail)]
    try:
        Manifest.model_validate(corrected)
    except ValidationError as further:
        faults += _list_faults(corrected, further)
    return faults


def _correct_key(tables: Any, location: tuple[int | str, ...]) -> bool:
    """Rename a misspelled key of a manifest to the most similar valid key.

    Args:
        tables: The parsed TOML, which is changed.
        location: The path of the unknown key.

    Returns:
        True if the key was renamed; False if there is no similar key, or the table already has it.
    """
    for step in location[:-1]:
        tables = tables[step]
    key = str(location[-1])
    similar = next((name for name in nearest(key, _list_keys(location[:-1])) if name not in tables), None)
    if similar is not None:
        tables[similar] = tables.pop(key)
    return similar is not None


def _explain_error(detail: ErrorDetails) -> Iterator[tuple[str, str]]:
    """Convert an error of pydantic to messages, each with the key of the manifest.

    There are several messages if a table contradicts itself in several ways.
    """
    key = _format_path(detail["loc"])
    if detail["type"] == "value_error" and isinstance(error := detail["ctx"]["error"], ContradictionsError):
        yield from ((".".join(filter(None, (key, subkey))), message) for subkey, message in error.contradictions)
    else:
        yield key, _format_message(detail)


def _format_message(detail: ErrorDetails) -> str:
    """Convert an error of pydantic to a message with invalid and expected value."""
    location, kind, value = detail["loc"], detail["type"], detail["input"]
    heading = _format_heading(location) if location else ""
    if kind == "extra_forbidden":
        key, known = str(location[-1]), _list_keys(location[:-1])
        option = (f"; write an option of the format or metric as options = {{ {key} = ... }}" if "options" in known
                  else "")
        return f"unknown key; {suggest(key, known)}{'' if nearest(key, known) else option}"
    if kind == "missing":
        return f"this table is missing; add {heading}" if heading else "this key is missing; add it"
    if kind in ("literal_error", "enum"):
        return f"is {value!r}; expected {detail['ctx']['expected']}"
    if kind == "value_error":
        return str(detail["ctx"]["error"])
    if heading and isinstance(value, dict | list) and kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, not {_KINDS[type(value)]}; write {heading}"
    shown = _KINDS.get(type(value)) or (str(value).lower() if isinstance(value, bool) else repr(value))
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, not {shown}"
    return detail["msg"][0].lower() + detail["msg"][1:] + f", not {shown}"


def _format_heading(location: tuple[int | str, ...]) -> str:
    """Return the heading of a table in TOML: `[task]` or `[[metric]]`.

    Args:
        location: The path of a key in the manifest. If it is not such a table, the heading is empty.
    """
    name, *deeper = location
    if deeper or name not in Manifest.model_fields:
        return ""
    annotation = Manifest.model_fields[str(name)].annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{name}]"
    return f"[[{name}]]" if _find_model(annotation) else ""


def _format_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _list_keys(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Manifest
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            model = _find_model(model.model_fields[step].annotation) or model
    return list(model.model_fields)


def _find_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in typing.get_args(annotation) if (model := _find_model(part))), None)


def make_submit(**options: Any) -> Submit:
    """Make the declaration of a submission from command-line options.

    A `[[submit]]` table of a manifest contains the same declaration.

    Args:
        **options: Values of keys; None if an option is absent.

    Raises:
        InputError: A name or value is invalid.
    """
    return _validate(Submit, {name: value for name, value in options.items() if value is not None})


def check_system_facts(**options: Any) -> dict[str, Any]:
    """Check properties of a system, such as its paper, that are command-line options.

    Args:
        **options: Values of keys such as `paper` and `size`; None if an option is absent.

    Returns:
        The properties that are given, by key.

    Raises:
        InputError: A value is invalid.
    """
    return _validate(SystemFacts, {name: value for name, value in options.items() if value is not None}).facts


def update_significance(declared: Significance, options: Mapping[str, Any]) -> Significance:
    """Change the settings of significance tests by options of the command line.

    The manifest may contain defaults that depend on changed settings: a new value of `runs` changes the default test,
    and two-sided tests remove the declared candidate.

    Args:
        declared: The settings of the manifest.
        options: New values by key.

    Raises:
        InputError: A value is invalid.
    """
    runs = options.get("runs", declared.runs)
    is_default = runs != declared.runs and runs in USUAL_TESTS and declared.test == USUAL_TESTS[declared.runs]
    test = {"test": USUAL_TESTS[runs]} if is_default else {}
    candidate = {"candidate": None} if options.get("alternative") == "two-sided" else {}
    return _validate(Significance, declared.model_dump() | test | candidate | dict(options))


M = TypeVar("M", bound=BaseModel)


def _validate(model: type[M], values: dict[str, Any]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise combine_errors([InputError(f"{key}: {message}") for detail in error.errors()
                        for key, message in _explain_error(detail)]) from None
