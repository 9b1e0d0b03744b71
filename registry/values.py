"""Named values: metrics, readers and tests are frozen dataclasses whose `repr` parses back to an equal value.

`repr(value)` is the value's canonical name, `Name` or `Name(option=value, ...)` with the options in the order of their
definition, and its identity in the database. Text that is not a plain word is written in double quotes, several values
in square brackets; a tuple of one is written as that one, pairs of texts as `{one=other, ...}`.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from itertools import chain, repeat
from typing import Any, ClassVar, Self, TypeVar

from registry.errors import InputError, UnknownNameError, nearest, suggest, together

TERSE = {"terse": True}  # metadata of an option that a name leaves out where it has its default value

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([\w.+-]+)|([()\[\]{}=,]))')
_WORD = re.compile(r"[\w.+-]+")


@dataclass(frozen=True, repr=False)
class Value:
    """The base of everything that is named by its options; `name` is what manifests and commands call it.

    `terse` names leave out all options that have their default value.
    """

    name: ClassVar[str]
    terse: ClassVar[bool] = False

    def __repr__(self) -> str:
        written = [f for f in fields(self)
                   if not ((self.terse or f.metadata.get("terse")) and getattr(self, f.name) == f.default)]
        options = ", ".join(f"{f.name}={_write(getattr(self, f.name))}" for f in written)
        return f"{self.name}({options})" if options else self.name

    @classmethod
    @cache
    def _hints(cls) -> dict[str, Any]:
        """The types of all options, which take a while to be found."""
        return typing.get_type_hints(cls)

    @classmethod
    def build(cls, options: Mapping[str, Any]) -> Self:
        """Make the value that `options` describe.

        Raises:
            InputError: Options are unknown, absent or of the wrong type; each has an error that names it.
        """
        hints = cls._hints()
        known = [f.name for f in fields(cls)]
        unknown = [option for option in options if option not in known]
        absent = [f.name for f in fields(cls) if f.default is MISSING and f.name not in options]
        errors = [InputError(f"unknown option {option!r} of {cls.name}; "
                             + (suggest(option, known) if known else f"{cls.name} takes none")) for option in unknown]
        meant = {name for option in unknown for name in nearest(option, known)}
        errors += [InputError(f"{cls.name} needs the option {name!r}") for name in absent if name not in meant]
        values = {}
        for option, value in options.items():
            try:
                if option in known:
                    values[option] = _convert(value, hints[option], f"option {option!r} of {cls.name}")
            except InputError as error:
                errors.append(error)
        if errors:
            raise together(errors)
        return cls(**values)


V = TypeVar("V", bound=Value)


def build(kind: str, known: Mapping[str, type[V]], name: str, options: Mapping[str, Any]) -> V:
    """Make the value called `name`, one of the `known` ones, with `options`.

    Raises:
        UnknownNameError: No value of this `kind` is called `name`.
        InputError: An option is unknown or wrong.
    """
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name].build(options)


def parse(kind: str, known: Mapping[str, type[V]], text: str) -> V:
    """Read a canonical name back: `parse(kind, known, repr(value)) == value`.

    Raises:
        InputError: `text` is not of the form `Name(option=value, ...)`, or a name in it is unknown.
    """
    def malformed() -> InputError:
        return InputError(f"cannot read {kind} {text!r}: write it as Name or Name(option=value, ...)")

    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        if not (match := _TOKEN.match(text, at)):
            raise malformed()
        tokens.append(match.group().strip())
        at = match.end()
    stream = chain(tokens, repeat(""))
    name = next(stream)
    options: dict[str, Any] = {}
    mark = next(stream)
    if mark not in ("(", ""):
        raise malformed()
    while mark in ("(", ","):
        option, equals = next(stream), next(stream)
        if not _WORD.fullmatch(option) or equals != "=" or option in options:
            raise malformed()
        try:
            options[option] = _read(next(stream), stream)
        except (ValueError, RecursionError):
            raise malformed() from None
        mark = next(stream)
    if mark not in ((")",) if options else ("",)) or next(stream):
        raise malformed()
    return build(kind, known, name, options)


def _write(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{_write(one)}={_write(other)}" for one, other in value) + "}"
    if isinstance(value, tuple):
        return _write(value[0]) if len(value) == 1 else "[" + ", ".join(map(_write, value)) + "]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and isinstance(_read(value, iter(())), str)
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return repr(int(value))
    return repr(value)


def _read(token: str, stream: Iterator[str]) -> Any:
    if token == "[":
        found = []
        while (token := next(stream)) != "]":
            found.append(_read(token, stream))
            if (token := next(stream)) != ",":
                break
        if token != "]":
            raise ValueError(token)
        return tuple(found)
    if token == "{":
        return _read_pairs(stream)
    if token.startswith('"'):
        return json.loads(token)
    if not _WORD.fullmatch(token):
        raise ValueError(token)
    if token in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[token]
    for number in (int, float):
        try:
            return number(token)
        except ValueError:
            continue
    return token


def _read_pairs(stream: Iterator[str]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    mark = ","
    while mark == ",":
        one, equals = _read(next(stream), stream), next(stream)
        if equals != "=" or not isinstance(one, str) or one in found:
            raise ValueError(equals)
        found[one] = _read(next(stream), stream)
        mark = next(stream)
    if mark != "}":
        raise ValueError(mark)
    return found


def _convert(value: Any, hint: Any, what: str) -> Any:
    """Give `value` as an instance of the annotated type `hint`, without guessing."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (hint,) = (a for a in arguments if a is not type(None))
        return _convert(value, hint, what)
    shown = _write(value) if isinstance(value, bool | tuple) else repr(value)
    if origin is typing.Literal:
        if (type(value), value) not in [(type(argument), argument) for argument in arguments]:  # true is not 1
            raise InputError(f"{what} is {shown}; expected one of {', '.join(map(str, arguments))}")
        return value
    if origin is tuple and typing.get_origin(arguments[0]) is tuple:
        if not isinstance(value, Mapping) and value != ():
            raise InputError(f"{what} is {shown}; expected a table such as {{ PERSON = \"PER\" }}")
        pairs = dict(value).items()
        return tuple(sorted((_convert(one, str, what), _convert(other, str, what)) for one, other in pairs))
    if origin is tuple:
        many = value if isinstance(value, list | tuple) else (value,)
        return tuple(_convert(one, arguments[0], what) for one in many)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        wanted = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[hint]
        raise InputError(f"{what} is {shown}; expected {wanted}")
    return value
