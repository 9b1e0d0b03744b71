"""Types of the values in a manifest, such as names and numbers, and their checks.

A function `check_*` returns a valid value and raises ValueError for an invalid value.
"""

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


class ContradictionsError(ValueError):
    """Error for keys of a manifest's table that contradict each other.

    Attributes:
        contradictions: Pairs (key, message).
    """

    def __init__(self, contradictions: Iterable[tuple[str, str]]) -> None:
        self.contradictions = tuple(contradictions)
        super().__init__("; ".join(message for _, message in self.contradictions))


def check_slug(text: str) -> str:
    """Check that a text is a valid slug, and return it.

    A slug is an id that has only letters, digits, `.`, `_` and `-`, so it can be part of paths, signatures and SQL.

    Raises:
        ValueError: The text is no slug.
    """
    if not _SLUG.fullmatch(text):
        raise ValueError(f"{text!r} is not a valid name; use only letters from A to Z, digits, '.', '_' and '-', and "
                         "begin with a letter or digit")
    return text


def check_name(text: str) -> str:
    """Check that a text is a valid name of a team or system, and return it in Unicode normal form NFC.

    A name is one line without `/`, `@` and invisible characters, so that `team/system@version` is unambiguous. Names of
    files are often not in NFC, so that equal-looking names would differ.

    Raises:
        ValueError: The text is no such name.
    """
    if not text or text != text.strip() or len(text) > 200:
        raise ValueError(f"{text!r} is empty, longer than 200 characters, or begins or ends with a space")
    if bad := [c for c in text if c in "/@" or unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]:
        raise ValueError(f"{text!r} contains {bad[0]!r}; remove '/', '@' and invisible characters from the name")
    return unicodedata.normalize("NFC", text)


def check_facet(text: str) -> str:
    """Check that the name of a facet has no `=`, and return it.

    A facet is a part of a test set, such as `genre=news`, where `=` separates its name from its value.

    Raises:
        ValueError: The name has `=`.
    """
    if "=" in text:
        raise ValueError(f"{text!r} contains '=', which separates the name of a facet from its value; remove it")
    return text


def check_attribute(value: Any) -> Any:
    """Check that the value of an attribute is text, a finite number, true or false.

    Raises:
        ValueError: The value has another type.
    """
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"is {value!r}; expected text, a finite number, true or false")
    return value


def make_validator(expected: str, is_valid: Callable[[float], bool]) -> AfterValidator:
    """Make a function with which pydantic checks numbers.

    Args:
        expected: A description of valid numbers, for the error.
        is_valid: A function that returns True for valid numbers.
    """
    def check(value: float) -> float:
        if not is_valid(value):
            raise ValueError(f"is {value!r}; expected {expected}")
        return value

    return AfterValidator(check)


def check_resamples(value: Any) -> Any:
    """Check a number of resamples, and return it.

    Valid values are whole numbers from 100 to 2^30, and "auto".

    Raises:
        ValueError: The value is not valid.
    """
    if value != "auto" and not (type(value) is int and 100 <= value <= 2**30):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        raise ValueError(f"is {shown}; expected a whole number from 100 to 2^30, or 'auto'")
    return value


def check_family(value: Any) -> Any:
    """Check the declaration of the pairs whose p-values are corrected together.

    Such pairs are called a family. Valid values are "board", "task", and a list of metrics and leaderboards.

    Raises:
        ValueError: The value is not valid.
    """
    names = isinstance(value, list) and value and all(isinstance(name, str) and name for name in value)
    if value not in ("board", "task") and not names:
        raise ValueError(f"is {value!r}; expected 'board', 'task', or a list of metrics and boards")
    return value


def is_in_family(family: str | Sequence[str], task: str, board: str, metric: str) -> bool:
    """Return True if the pairs of a leaderboard belong to a family.

    A family is a set of pairs whose p-values are corrected together.

    Args:
        family: "task" for all leaderboards, or the names of metrics and leaderboards.
        task: The id of the task. Names of leaderboards may begin with this id and a slash.
        board: The name of the leaderboard.
        metric: The name of the leaderboard's metric.
    """
    return family == "task" or any(name in (metric, board, board.removeprefix(f"{task}/")) for name in family)


def check_moment(value: Any) -> datetime:
    """Convert a TOML value or a text in ISO 8601 to a time with date and time zone.

    Raises:
        ValueError: The value is not a time, or has no time zone.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"is {value!r}; expected a date and time with zone, such as "
                             "2026-11-30T23:59:59+01:00") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    if isinstance(value, date | time):
        raise ValueError(f"is {value.isoformat()}, which has no time zone; write date, time and zone, such as "
                         "2026-11-30T23:59:59+01:00; write Z for UTC, or -12:00 for anywhere on Earth")
    raise ValueError(f"is {value!r}; expected a date and time with zone, such as 2026-11-30T23:59:59+01:00")


def check_line(text: str) -> str:
    """Return a line of text without spaces at its ends.

    Raises:
        ValueError: The text is empty, long, or has several lines.
    """
    if not text.strip() or len(text) > 1000 or any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") for c in text):
        raise ValueError(f"{text[:50]!r} is empty, longer than 1000 characters, or more than one line")
    return text.strip()


def check_heading(text: str) -> str:
    """Check that a text is short enough for a heading or an axis, and return it.

    Raises:
        ValueError: The text is empty, too long, begins or ends with a space, or has invisible characters.
    """
    if text != text.strip() or not 1 <= len(text) <= LONGEST_HEADING or not text.isprintable():
        raise ValueError(f"{text[:50]!r} is empty, longer than {LONGEST_HEADING} characters, begins or ends with a "
                         "space, or has invisible characters")
    return text


def to_whole(value: float) -> float:
    """Convert a whole number to int, so that 7e9 and 7000000000 are stored alike."""
    return int(value) if value == int(value) else value


def check_until(value: Any) -> Any:
    """Check the declared end of an embargo, and return it.

    Args:
        value: True for an embargo without end, False for none, or a time with time zone (a TOML value or text in ISO
            8601).

    Raises:
        ValueError: The value is not valid.
    """
    if isinstance(value, bool):
        return value
    try:
        return check_moment(value).astimezone(UTC)
    except (ValueError, OverflowError):
        shown = f"{value:%Y-%m-%d}" if isinstance(value, date) else repr(value)
        raise ValueError(f"is {shown}; expected true, false, or a time with its time zone such as 2026-12-01T12:00:00Z"
                         ) from None


def check_system(text: str) -> str:
    """Check that a text has the form `system` or `team/system`, and return it.

    Raises:
        ValueError: The text has another form.
    """
    return "/".join(map(check_name, text.split("/", 1)))


def is_active(until: bool | datetime) -> bool:
    """Return True if an embargo applies now.

    Args:
        until: The end of the embargo; True for an embargo without end, False for no embargo.
    """
    return until.timestamp() > datetime.now(UTC).timestamp() if isinstance(until, datetime) else until


def check_address(text: str) -> str:
    """Check that a text is a web address, and return it.

    Raises:
        ValueError: The text is no web address.
    """
    if urlsplit(text).scheme not in ("http", "https") or not urlsplit(text).netloc or re.search(r"[\s<>\"]", text):
        raise ValueError(f"{text!r} is not a web address; expected one such as https://example.org/task")
    return text


def check_licence(text: str) -> str:
    """Check an SPDX licence such as `CC-BY-4.0`; return it in its usual letter case.

    Raises:
        ValueError: The text is not an SPDX identifier or an expression of several.
    """
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression  # rarely needed

    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise ValueError(f"{text!r} is not an SPDX licence identifier; expected one such as CC-BY-4.0 "
                         "(https://spdx.org/licenses), or LicenseRef-NAME for other licences") from None


def check_day(value: Any) -> str:
    """Convert a day to text such as "2027-03-01".

    Args:
        value: A TOML date, or text in ISO 8601.

    Raises:
        ValueError: The value is not a day.
    """
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(f"is {value!r}; expected a day such as 2027-03-01") from None


LONGEST_HEADING = 60
USUAL_TESTS = {"fixed": "permutation", "random": "crossed"}  # default test by the key `runs`
# DRAWS is the default of `resamples`, and the first number of "auto", which therefore shares the default's results and
# is never less exact. "auto" then continues until decisions are clear or p-values have a relative standard error of
# PRECISION, up to MOST_DRAWS resamples, which this precision requires at Holm's level for 100 systems.
DRAWS, MOST_DRAWS, PRECISION = 10**5, 10**7, 0.1
NAMES_PARTICIPANT = ("names a participant, but the task is anonymous; remove candidate, and set kind = \"baseline\" "
                     "for the system to beat")

Until = Annotated[bool | datetime, PlainValidator(check_until), PlainSerializer(
    lambda until: until if isinstance(until, bool) else until.isoformat(), return_type=bool | str)]
Slug = Annotated[str, AfterValidator(check_slug)]
Name = Annotated[str, AfterValidator(check_name)]
Package = Annotated[str, AfterValidator(check_slug)]
Address = Annotated[str, AfterValidator(check_address)]
Licence = Annotated[str, AfterValidator(check_licence)]
Day = Annotated[str, PlainValidator(check_day)]
Resamples = Annotated[int, make_validator("a whole number from 100 to 2^30", lambda n: 100 <= n <= 2**30)]
Limit = Annotated[int, make_validator("a whole number of 1 or more", lambda n: n >= 1)]
Moment = Annotated[datetime, BeforeValidator(check_moment)]
Line = Annotated[str, AfterValidator(check_line)]
Heading = Annotated[str, AfterValidator(check_heading)]
Decimals = Annotated[int, make_validator("a whole number from 0 to 12", lambda digits: 0 <= digits <= 12)]
Options = dict[str, Any]
