"""Advice in messages, in the form of Python arguments.

Messages name settings in the syntax of manifests (`runs = "fixed"`) or of the command line (`--runs fixed`). Both forms
become arguments of `registry.evaluate` (`runs='fixed'`). Options of readers become `options={'header': False}`.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

from registry.manifest import Significance
from registry.quick.plan import suggest_options

FILE_OPTIONS = ("item", "in_order", "label", "score", "text", "system", "pool", "sets", "format", "options")
AGREEMENT_OPTIONS = ("annotator", "annotators", "value", "level", "order", "cluster")
_ARGUMENTS = {name.replace("_", "-"): name for name in (
    *Significance.model_fields, *FILE_OPTIONS, *AGREEMENT_OPTIONS, "gold", "metric", "missing", "average")} | {
        "as": "format", "option": "options"}
_FLAGS = {"in-order", "average"}
_COMMAND = re.compile(r"`registry (?:compare|quick) (--[^`]*)`")
_OPTION = re.compile(r"""--([a-z][a-z-]*)(?:[ ](?!(?:to|or|and)\b)('[^']*'|"[^"]*"|[^\s;]*[^\s,;.:)]))?""")
_SETTING = re.compile(r"(?:set )?\b([a-z_]+) = (\"[^\"]*\"|[\d.]+)(?: \(\1=[^)]*\))?")


def name_arguments(text: str) -> str:
    r"""Write settings in a message as arguments of `registry.evaluate`.

    >>> name_arguments("use --test permutation, or set runs = \"fixed\"")
    "use test='permutation', or runs='fixed'"
    >>> name_arguments("add --option header=false or --in-order")
    "add options={'header': False} or in_order=True"
    """
    parts = re.split("(`[^`]*`)", _COMMAND.sub(r"\1", text))  # other commands and code remain
    return "".join(part if part.startswith("`") else _OPTION.sub(_name_option, suggest_options(
        _SETTING.sub(_name_setting, _OPTION.sub(_name_option, part)))) for part in parts)


def format_arguments(options: str) -> str:
    """Write options of the command line as a list of arguments.

    >>> format_arguments("--item id --label gold --label pred --option header=true --option comment='#' --in-order")
    "item='id', label=['gold', 'pred'], options={'header': True, 'comment': '#'}, in_order=True"
    """
    values: dict[str, list[Any]] = {}
    for option in re.split(r"\s+--", f" {options}")[1:]:
        name, *rest = shlex.split(option)
        values.setdefault(_ARGUMENTS[name], []).append(" ".join(rest) if rest else True)
    settings = {key: _parse(text) for key, _, text in (value.partition("=") for value in values.get("options", ()))}
    arguments = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    return ", ".join(f"{name}={settings if name == 'options' else value!r}" for name, value in arguments.items())


def _name_setting(match: re.Match[str]) -> str:
    name, value = match.groups()
    return f"{name}={_parse(value)!r}" if name in _ARGUMENTS.values() else match[0]


def _name_option(match: re.Match[str]) -> str:
    name, value = match.groups()
    if name not in _ARGUMENTS:
        return match[0]
    if name in _FLAGS or value is None:
        return f"{_ARGUMENTS[name]}=" + ("True" if name in _FLAGS else "") + (f" {value}" if value else "")
    value = value[1:-1] if value[0] in "'\"" else value
    if name == "option":
        key, _, setting = value.partition("=")
        return f"options={{{key!r}: {_parse(setting)!r}}}"
    if value.isupper() and value.isalpha() and name != "missing":  # such as COLUMN, but not NA
        return f"{_ARGUMENTS[name]}={value}"
    return f"{_ARGUMENTS[name]}={(_parse(value) if name in Significance.model_fields else value)!r}"


def _parse(value: str) -> Any:
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
