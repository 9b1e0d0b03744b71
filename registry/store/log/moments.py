"""Moments of a registry's past, as places in its log.

What a command wrote is there when the command has ended, so a moment is the last entry of a command that had ended by
then. The order is that of the log, whatever the clocks said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Connection, text

from registry.errors import InputError, UnknownNameError

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TO_THE_MINUTE = re.compile(r"[Tt ]\d\d:\d\d(?!:)")


@dataclass(frozen=True)
class Moment:
    """A moment of the past.

    Attributes:
        entry: The last entry of the log that had been written.
        told: When that was, for people.
        signature: Of the comparison that was named for it; None where a time was.
    """

    entry: int
    told: str
    signature: str | None = None

    @property
    def said(self) -> str:
        """What marks a thing as of that moment."""
        return f"As it stood {self.told}."


def is_time(name: str) -> bool:
    """Whether a name is a date, or begins with one, and no signature.

    >>> [is_time(name) for name in ("2026-11-22", "2026-11-22T12:00Z", "20261122", "id:20261122")]
    [True, True, False, False]
    """
    return _DATE.match(name) is not None


def moment_of(connection: Connection, name: str) -> Moment:
    """The moment that is meant.

    Args:
        connection: To the registry.
        name: A date, for its end in UTC; a date and time with its zone, for the end of its minute or second; or the
            signature of a comparison or a study, or the id at its end, for the moment when the command that made it
            ended.

    Raises:
        InputError: It is no time, has no zone, or nothing was there by then.
        UnknownNameError: No comparison or study has the signature.
    """
    if not is_time(name):
        return _of_signature(connection, name)
    before = _before(name)
    entry = _ended_by(connection, 'SELECT max(event_id) FROM event WHERE "at" < :before', before=before)
    if entry is None:
        first = connection.execute(text('SELECT min("at") FROM event')).scalar()
        raise InputError(f"{name} is before all that is known; " + (
            "the registry's log is empty" if first is None else f"the log begins at {_written(first)}"))
    last = before - timedelta(microseconds=1)
    return Moment(entry, f"on {name}" if _DATE.fullmatch(name) else f"at {_written(last)}")


def _before(name: str) -> datetime:
    """The time in UTC before which everything counts."""
    try:
        if _DATE.fullmatch(name):
            return datetime.combine(date.fromisoformat(name), time.min) + timedelta(days=1)
        given = datetime.fromisoformat(name)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name!r} is no date or time: {error}; write 2026-11-22 or 2026-11-22T12:00Z") from None
    if given.tzinfo is None:
        raise InputError(f"{name!r} has no time zone; add Z for UTC, or an offset such as +02:00")
    try:
        return given.astimezone(UTC).replace(tzinfo=None) + _unit(name)
    except OverflowError:
        raise InputError(f"{name!r} is out of range") from None


def _unit(time_: str) -> timedelta:
    """The unit to which a time is given, to whose end it is meant: a minute, a second or less."""
    if "." in time_ or "," in time_:
        return timedelta(microseconds=1)
    return timedelta(minutes=1) if _TO_THE_MINUTE.search(time_) else timedelta(seconds=1)


def _of_signature(connection: Connection, name: str) -> Moment:
    made = {row.signature.rpartition("id:")[2]: row for row in connection.execute(text("""
        SELECT signature, run_id, created_at, FALSE AS of_board FROM study UNION ALL
        (SELECT signature, run_id, created_at, TRUE FROM comparison ORDER BY comparison_id)"""))}  # the last of each
    if (row := made.get(name.rpartition("id:")[2])) is None:
        raise UnknownNameError("date, time or signature", name, made)
    entry = _ended_by(connection, "SELECT max(event_id) FROM event WHERE run_id = :run", run=row.run_id)
    if entry is None:
        raise InputError(f"the log does not say when {name} was made")
    return Moment(entry, f"at {_written(row.created_at)}", row.signature if row.of_board else None)


def _ended_by(connection: Connection, latest: str, **values: object) -> int | None:
    """The last entry, up to the one that `latest` selects, with which a command ended or was cut short."""
    found = connection.execute(text(f"""
        SELECT max(event_id) FROM (
            SELECT event_id, action = 'end' OR run_id IS DISTINCT FROM lead(run_id) OVER (ORDER BY event_id) AS ends
            FROM event)
        WHERE ends AND event_id <= ({latest})"""), values).scalar()  # noqa: S608
    return None if found is None else int(found)


def _written(at: datetime) -> str:
    """A time for people, to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
