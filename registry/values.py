"""Named values: metrics, readers and tests are frozen dataclasses whose `repr` parses back to an equal value.

`repr(value)` is the value's canonical name, and its identity in the database. The name is `Name` or `Name(option=value,
...)`, with the options in the order of their definition. Text that is not a plain word is in double quotes. A tuple is
in square brackets, unless it has only one member. Pairs of a text and a value are written as `{text=value, ...}`.
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

TERSE = {"terse": True}  # metadata of an option that canonical names omit if it has its default value

_NAMED = re.compile(r"\s*(?:([\w.+@-]+)\s*(?:\((.*)\)\s*)?)?", re.DOTALL)
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|([\w.+-]+)(\s*=)?|(\S)')
_WORD = re.compile(r"[\w.+-]+")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, repr=False)
class Value(ABC):
    """Base class of metrics, readers and others, written as `SpanF(beta=2)`.

    A subclass declares its options as fields, and becomes a frozen dataclass without a decorator. `repr` returns the
    canonical name: the name with the options.

    Attributes:
        name: The name in manifests and commands; by default the name of the class.
        terse: True if canonical names omit all options that have their default value.
    """

    name: ClassVar[str]
    terse: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__
        dataclass(frozen=True, repr=False)(cls)

    def __post_init__(self) -> None:
        """Check the options that allow only certain words (`Literal`).

        A subclass that extends this method calls it first.

        Raises:
            InputError: An option has another value. Python itself does not check this.
        """
        for option, hint in self._words().items():
            _convert(getattr(self, option), hint, f"option {option!r} of {self.name}")

    def __repr__(self) -> str:
        shown = [f for f in fields(self)
                 if not ((self.terse or f.metadata.get("terse")) and getattr(self, f.name) == f.default)]
        options = ", ".join(f"{f.name}={format_option(getattr(self, f.name))}" for f in shown)
        return f"{self.name}({options})" if options else self.name

    @classmethod
    @cache
    def _hints(cls) -> dict[str, Any]:
        return typing.get_type_hints(cls)

    @classmethod
    @cache
    def _words(cls) -> dict[str, Any]:
        hints = {f.name: cls._hints()[f.name] for f in fields(cls)}
        return {option: hint for option, hint in hints.items()
                if any(typing.get_origin(type_) is typing.Literal for type_ in (hint, *typing.get_args(hint)))}

    @classmethod
    def build(cls, options: Mapping[str, Any]) -> Self:
        """Make an instance of this class from the values of its options, by name.

        Raises:
            InputError: Options are unknown, missing or of the wrong type; there is one error for each such option.
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
    """Make a metric, reader or other value from its name and its options.

    Args:
        kind: Word for error messages, such as `metric`.
        known: Classes by name.
        name: Name of the class.
        options: Values of options, by name.

    Raises:
        UnknownNameError: No class has this name.
        InputError: An option is unknown, missing or of the wrong type.
    """
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name].build(options)


def parse(kind: str, known: Mapping[str, type[V]], text: str) -> V:
    """Make a metric, reader or other value from a text such as `SpanF(beta=2)`.

    The inverse of `repr`: `parse(kind, known, repr(value)) == value`.

    Args:
        kind: Word for error messages, such as `metric`.
        known: Classes by name.
        text: Name with options.

    Raises:
        InputError: `text` is not of the form `Name(option=value, ...)`, or a name in it is unknown.
    """
    try:
        name, options = _split_call(text)
    except (ValueError, RecursionError):
        raise InputError(f"cannot read {kind} {text!r}: write it as Name or Name(option=value, ...)") from None
    return build(kind, known, name, options)


def get_name(text: str) -> str:
    """Return the name before the options, as in `SpanF(beta=2)`.

    >>> get_name("SpanF(beta=2)"), get_name("acc")
    ('SpanF', 'acc')
    """
    return text.partition("(")[0].strip()


def format_option(value: Any) -> str:
    """Format the value of an option as in `SpanF(beta=2)`; the inverse of parsing."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{format_option(key)}={format_option(text)}" for key, text in value) + "}"
    if isinstance(value, tuple):
        return format_option(value[0]) if len(value) == 1 else "[" + ", ".join(map(format_option, value)) + "]"
    if isinstance(value, str):
        is_plain = _WORD.fullmatch(value) and isinstance(_parse_word(value), str)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return repr(int(value))
    return repr(value)


def to_toml(value: Any) -> Any:
    """Convert the value of an option for TOML and JSON, which have no tuples.

    A tuple becomes a list, and a tuple of pairs becomes a dictionary.
    """
    if isinstance(value, tuple):
        return dict(value) if value and isinstance(value[0], tuple) else list(value)
    return value


def _split_call(text: str) -> tuple[str, dict[str, Any]]:
    """Split a text such as `SpanF(beta=2)` into a name and a dictionary of options."""
    if (match := _NAMED.fullmatch(text)) is None:
        raise ValueError(text)
    name, options = match.groups()
    if options is None:
        return name or "", {}
    tokens = " ".join(_as_json(*token) for token in _TOKEN.findall(options))
    return name, json.loads(f"{{{tokens}}}", object_pairs_hook=_unique)


def _as_json(quoted: str, word: str, equals: str, mark: str) -> str:
    if mark and mark not in "[]{}=,":
        raise ValueError(mark)
    if word:
        return f"{json.dumps(word)}:" if equals else json.dumps(_parse_word(word))
    return quoted or mark.replace("=", ":")


def _parse_word(word: str) -> Any:
    """Convert a word without quotes to a value, such as a number or a truth value.

    For example, `true` -> True, `3` -> 3, and `a` -> "a".
    """
    if word in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[word]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in pairs}
    if not pairs or len(options) < len(pairs):
        raise ValueError("no option, or one that is given twice")
    return options


def _convert(value: Any, hint: Any, what: str) -> Any:
    """Convert the value of an option to the declared type.

    Only safe conversions are done, such as 1 to 1.0, but not "1" to 1.

    Args:
        value: The value.
        hint: The declared type.
        what: Description of the option for error messages.

    Raises:
        InputError: The value has another type.
    """
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
        _, type_ = typing.get_args(arguments[0])
        pairs = dict(value).items()
        return tuple(sorted((_convert(key, str, what), _convert(member, type_, f"{what}: {key!r}"))
                            for key, member in pairs))
    if origin is tuple:
        many = value if isinstance(value, list | tuple) else (value,)
        return tuple(_convert(member, arguments[0], what) for member in many)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        wanted = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[hint]
        in_quotes = f", in quotes: {json.dumps(shown)}" if hint is str and isinstance(value, int | float) else ""
        raise InputError(f"{what} is {shown}; expected {wanted}{in_quotes}")
    return value
