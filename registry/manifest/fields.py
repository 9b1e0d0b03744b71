"""The values that keys of the manifest take: names, numbers, and the rules that they follow."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, PlainValidator

from registry.missing import MissingPolicy

Missing = Annotated[MissingPolicy, Field(strict=False)]  # TOML has texts
Kind = Literal["primary", "contrastive", "baseline"]

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# the names in braces that a pattern of files captures: `{team}/{system}.{run}.tsv`
BRACES = re.compile(r"\{([^{}]*)\}")
COMPOSED = ("team", "system", "version", "test_set", "track")  # keys of a [[submit]] that captures can stand in
# captures that tell the replicates of one submission apart; a run is its system's own, all else is shared by systems
FACTORS = ("run", "prompt", "annotator", "seed")


class ContradictionsError(ValueError):
    """Keys that do not go together: `found` are the key and what is wrong there, for each."""

    def __init__(self, found: Iterable[tuple[str, str]]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(message for _, message in self.found))


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


def braces(text: str) -> list[str]:
    """The names in the braces of a text, in their order.

    >>> braces("{team}/{system}.{run}.tsv")
    ['team', 'system', 'run']
    """
    return BRACES.findall(text)


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


def check_family(value: Any) -> Any:
    """Accept "board", "task", or a list of names."""
    names = isinstance(value, list) and value and all(isinstance(name, str) and name for name in value)
    if value not in ("board", "task") and not names:
        raise ValueError(f"is {value!r}; expected 'board', 'task', or a list of metrics and boards")
    return value


def is_in_family(family: str | Sequence[str], task: str, board: str, metric: str) -> bool:
    """Whether a family means a board: all of the task, by its metric, or by its name with or without the task's."""
    return family == "task" or any(name in (metric, board, board.removeprefix(f"{task}/")) for name in family)


def check_moment(value: Any) -> datetime:
    """Accept a date and time with its zone: TOML's own, or the text of one, as stored manifests have it."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"is {value!r}; expected a date and time with zone, such as "
                             "2026-11-30T23:59:59+01:00") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    if isinstance(value, date | time):
        raise ValueError(f"is {value.isoformat()}, which is another moment in every time zone; write date, time and "
                         "zone, as in 2026-11-30T23:59:59+01:00, or Z for UTC and -12:00 for anywhere on Earth")
    raise ValueError(f"is {value!r}; expected a date and time with zone, such as 2026-11-30T23:59:59+01:00")


def check_line(text: str) -> str:
    """Accept one line of text."""
    if not text.strip() or len(text) > 1000 or any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") for c in text):
        raise ValueError(f"{text[:50]!r} is empty, longer than 1000 characters, or more than one line")
    return text.strip()


def check_heading(text: str) -> str:
    """Accept a few words, which stand above a column or beside an axis."""
    if text != text.strip() or not 1 <= len(text) <= LONGEST_HEADING or not text.isprintable():
        raise ValueError(f"{text[:50]!r} is empty, longer than {LONGEST_HEADING} characters, begins or ends with a "
                         "space, or has characters that cannot be seen")
    return text


def whole(value: float) -> float:
    """A number as an int where it is whole, so that 7e9 and 7000000000 are the same."""
    return int(value) if value == int(value) else value


def check_until(value: Any) -> Any:
    """Accept true, false, or a time with its time zone: a date and time of TOML, or a text as ISO 8601 writes it."""
    if isinstance(value, bool):
        return value
    try:
        return check_moment(value).astimezone(UTC)
    except (ValueError, OverflowError):
        shown = f"{value:%Y-%m-%d}" if isinstance(value, date) else repr(value)
        raise ValueError(f"is {shown}; expected true, false, or a time with its time zone such as 2026-12-01T12:00:00Z"
                         ) from None


def check_system(text: str) -> str:
    """Accept the name of a system, alone or after that of its team: `system`, `team/system`."""
    for name in text.split("/", 1):
        check_name(name)
    return text


def is_active(until: bool | datetime) -> bool:
    """Return whether names or scores that are hidden until then are hidden now."""
    return until.timestamp() > datetime.now(UTC).timestamp() if isinstance(until, datetime) else until


def check_address(text: str) -> str:
    """Accept the address of a page."""
    if urlsplit(text).scheme not in ("http", "https") or not urlsplit(text).netloc or re.search(r"[\s<>\"]", text):
        raise ValueError(f"{text!r} is no address such as https://example.org/task")
    return text


def check_licence(text: str) -> str:
    """Accept an SPDX identifier of a licence, or an expression of several; letter case is mended."""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression  # late: few declare one

    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise ValueError(f"{text!r} is no SPDX identifier of a licence, such as CC-BY-4.0 (https://spdx.org/licenses); "
                         "one that is not listed there is called LicenseRef-NAME") from None


def check_day(value: Any) -> str:
    """Accept a day, as TOML writes it or in quotes."""
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"is {value!r}; expected a day such as 2027-03-01") from None


LONGEST_HEADING = 60
USUAL_TESTS = {"fixed": "permutation", "random": "crossed"}  # by whether runs are; permutation swaps random ones whole
# The default of `resamples`, and what "auto" begins with: it is never less exact than the default, and shares its
# results. Beyond that "auto" draws until decisions are clear or p-values have a relative standard error of PRECISION,
# and MOST_DRAWS at the most: those that a p-value at Holm's level for 100 systems needs for that.
DRAWS, MOST_DRAWS, PRECISION = 10**5, 10**7, 0.1
NAMES_PARTICIPANT = ("names a participant, and the task is anonymous; leave candidate out, and mark the system to beat "
                     'by kind = "baseline"')

Until = Annotated[bool | datetime, PlainValidator(check_until), PlainSerializer(
    lambda until: until if isinstance(until, bool) else until.isoformat(), return_type=bool | str)]
Slug = Annotated[str, AfterValidator(check_slug)]
Name = Annotated[str, AfterValidator(check_name)]
Package = Annotated[str, AfterValidator(check_slug)]
Address = Annotated[str, AfterValidator(check_address)]
Licence = Annotated[str, AfterValidator(check_licence)]
Day = Annotated[str, PlainValidator(check_day)]
Resamples = Annotated[int, number("a whole number from 100 to 2^30", lambda n: 100 <= n <= 2**30)]
Limit = Annotated[int, number("a whole number of 1 or more", lambda n: n >= 1)]
Moment = Annotated[datetime, BeforeValidator(check_moment)]
Line = Annotated[str, AfterValidator(check_line)]
Heading = Annotated[str, AfterValidator(check_heading)]
Decimals = Annotated[int, number("a whole number from 0 to 12", lambda digits: 0 <= digits <= 12)]
Options = dict[str, Any]
