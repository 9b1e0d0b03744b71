"""The values that keys of the manifest take: names, numbers, and the rules that they follow."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PlainSerializer, PlainValidator

Missing = Literal["reject", "worst", "drop", "own"]
Kind = Literal["primary", "contrastive", "baseline"]

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_slug(text: str) -> str:
    """Accept letters, digits, `.`, `_` and `-`, so that the name can stand in a path, a signature and SQL."""
    if not _SLUG.fullmatch(text):
        raise ValueError(f"{text!r} is not made of letters, digits, '.', '_' and '-' with a letter or digit first")
    return text


def check_name(text: str) -> str:
    """Accept any one-line text that can be told apart by eye and stands in `team/system@version`."""
    if not text or text != text.strip() or len(text) > 200:
        raise ValueError(f"{text!r} is empty, longer than 200 characters, or begins or ends with a space")
    if bad := [c for c in text if c in "/@" or unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]:
        raise ValueError(f"{text!r} contains {bad[0]!r}; '/', '@' and invisible characters cannot stand in a name")
    if unicodedata.normalize("NFC", text) != text:
        raise ValueError(f"{text!r} is not in Unicode normal form NFC, so that equal names would differ")
    return text


def no_equals(text: str) -> str:
    """Accept what can stand before the = of a facet."""
    if "=" in text:
        raise ValueError(f"{text!r} contains '=', which parts a facet's name from its value")
    return text


def check_attribute(value: Any) -> Any:
    """Accept text, finite numbers and truth values."""
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"is {value!r}; expected text, a finite number, true or false")
    return value


def number(says: str, fits: Callable[[float], bool]) -> AfterValidator:
    """Accept the numbers that fit, none of which is nan or infinite; `says` which they are."""
    def check(value: float) -> float:
        if not fits(value):
            raise ValueError(f"is {value!r}; expected {says}")
        return value

    return AfterValidator(check)


def check_resamples(value: Any) -> Any:
    """Accept a number of draws, or "auto"."""
    if value != "auto" and not (type(value) is int and 100 <= value <= 2**30):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        raise ValueError(f"is {shown}; expected a whole number from 100 to 2^30, or 'auto'")
    return value


def check_until(value: Any) -> Any:
    """Accept true, false, or a time with its time zone: a date and time of TOML, or a text as ISO 8601 writes it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not isinstance(value, datetime) or value.tzinfo is None:
        shown = f"{value:%Y-%m-%d}" if isinstance(value, date) else repr(value)
        raise ValueError(f"is {shown}; expected true, false, or a time with its time zone such as 2026-12-01T12:00:00Z")
    return value.astimezone(UTC)


# The default of `resamples`, and what "auto" begins with: it is never less exact than the default, and shares its
# results. MOST_DRAWS bounds "auto": a p-value at Holm's level for 1128 pairs then has a standard error of 5 %.
DRAWS, MOST_DRAWS = 10**5, 10**7

Until = Annotated[bool | datetime, PlainValidator(check_until), PlainSerializer(
    lambda until: until if isinstance(until, bool) else until.isoformat(), return_type=bool | str)]
Slug = Annotated[str, AfterValidator(check_slug)]
Name = Annotated[str, AfterValidator(check_name)]
Resamples = Annotated[int, number("a whole number from 100 to 2^30", lambda n: 100 <= n <= 2**30)]
Options = dict[str, Any]
