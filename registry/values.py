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
from abc import ABC
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from registry.errors import InputError, UnknownNameError, combine_errors, nearest, suggest

TERSE = {"terse": True}  # metadata of an option that a name leaves out where it has its default value

_NAMED = re.compile(r"\s*(?:([\w.+@-]+)\s*(?:\((.*)\)\s*)?)?", re.DOTALL)
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|([\w.+-]+)(\s*=)?|(\S)')
_WORD = re.compile(r"[\w.+-]+")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, repr=False)
class Value(ABC):
    """The base of everything that is named by its options; a subclass is a frozen dataclass of them, undecorated.

    `name` is what manifests and commands call it, the name of its class unless it gives another; `terse` names leave
    out all options that have their default value.
    """

    name: ClassVar[str]
    terse: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__
        dataclass(frozen=True, repr=False)(cls)

    def __post_init__(self) -> None:
        """Check the options; a subclass does so after its bases.

        Raises:
            InputError: An option is none of the words that it may be: in Python nothing else would see that.
        """
        for option, hint in self._words().items():
            _convert(getattr(self, option), hint, f"option {option!r} of {self.name}")

    def __repr__(self) -> str:
        told = [f for f in fields(self)
                if not ((self.terse or f.metadata.get("terse")) and getattr(self, f.name) == f.default)]
        options = ", ".join(f"{f.name}={format_option(getattr(self, f.name))}" for f in told)
        return f"{self.name}({options})" if options else self.name

    @classmethod
    @cache
    def _hints(cls) -> dict[str, Any]:
        """The types of all options, which take a while to be found."""
        return typing.get_type_hints(cls)

    @classmethod
    @cache
    def _words(cls) -> dict[str, Any]:
        """The types of the options that are one of some words."""
        hints = {f.name: cls._hints()[f.name] for f in fields(cls)}
        return {option: hint for option, hint in hints.items()
                if any(typing.get_origin(one) is typing.Literal for one in (hint, *typing.get_args(hint)))}

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
            raise combine_errors(errors)
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
    try:
        name, options = _read(text)
    except (ValueError, RecursionError):
        raise InputError(f"cannot read {kind} {text!r}: write it as Name or Name(option=value, ...)") from None
    return build(kind, known, name, options)


def get_name(text: str) -> str:
    """The name of a value that is written with its options.

    >>> get_name("SpanF(beta=2)"), get_name("acc")
    ('SpanF', 'acc')
    """
    return text.partition("(")[0].strip()


def format_option(value: Any) -> str:
    """An option's value as names have it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{format_option(one)}={format_option(other)}" for one, other in value) + "}"
    if isinstance(value, tuple):
        return format_option(value[0]) if len(value) == 1 else "[" + ", ".join(map(format_option, value)) + "]"
    if isinstance(value, str):
        is_plain = _WORD.fullmatch(value) and isinstance(_plain(value), str)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return repr(int(value))
    return repr(value)


def to_toml(value: Any) -> Any:
    """An option's value as TOML and JSON have it."""
    if isinstance(value, tuple):
        return dict(value) if value and isinstance(value[0], tuple) else list(value)
    return value


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """Read a name and its options, by way of the JSON that says the same."""
    if (found := _NAMED.fullmatch(text)) is None:
        raise ValueError(text)
    name, options = found.groups()
    if options is None:
        return name or "", {}
    tokens = " ".join(_as_json(*token) for token in _TOKEN.findall(options))
    return name, json.loads(f"{{{tokens}}}", object_pairs_hook=_unique)


def _as_json(quoted: str, word: str, equals: str, mark: str) -> str:
    if mark and mark not in "[]{}=,":
        raise ValueError(mark)
    if word:
        return f"{json.dumps(word)}:" if equals else json.dumps(_plain(word))
    return quoted or mark.replace("=", ":")


def _plain(word: str) -> Any:
    """What a word without quotes stands for: a constant, a number, or itself."""
    if word in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[word]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in pairs}
    if not pairs or len(found) < len(pairs):
        raise ValueError("no option, or one that is given twice")
    return found


def _convert(value: Any, hint: Any, what: str) -> Any:
    """Give `value` as an instance of the annotated type `hint`, without guessing."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (hint,) = (a for a in arguments if a is not type(None))
        return _convert(value, hint, what)
    shown = format_option(value) if isinstance(value, bool | tuple) else repr(value)
    if origin is typing.Literal:
        if (type(value), value) not in [(type(argument), argument) for argument in arguments]:  # true is not 1
            raise InputError(f"{what} is {shown}; expected one of {', '.join(map(str, arguments))}")
        return value
    if origin is tuple and typing.get_origin(arguments[0]) is tuple:
        if not isinstance(value, Mapping) and value != ():
            raise InputError(f"{what} is {shown}; expected a table such as {{ PERSON = \"PER\" }}")
        pairs = dict(value).items()
        return tuple(sorted((_convert(one, str, what), _convert(other, str, f"{what}: {one!r}"))
                            for one, other in pairs))
    if origin is tuple:
        many = value if isinstance(value, list | tuple) else (value,)
        return tuple(_convert(one, arguments[0], what) for one in many)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        wanted = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[hint]
        in_quotes = f", in quotes: {json.dumps(shown)}" if hint is str and isinstance(value, int | float) else ""
        raise InputError(f"{what} is {shown}; expected {wanted}{in_quotes}")
    return value
