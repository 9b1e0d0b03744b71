"""When the scores of a task were hidden: what nobody could see then is not shown as its past either."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text


@dataclass(frozen=True)
class Phases:
    """The times in which the scores of a task were hidden.

    Attributes:
        hidden: From when until when, in UTC, each after the one before.
    """

    hidden: tuple[tuple[datetime, datetime], ...] = ()

    def seen_from(self, begin: datetime, end: datetime | None) -> datetime | None:
        """The first moment from `begin`, and before `end`, at which scores were shown; None where there is none.

        >>> phases = Phases(((datetime(2026, 1, 5), datetime(2026, 1, 9)),))
        >>> phases.seen_from(datetime(2026, 1, 6), None), phases.seen_from(datetime(2026, 1, 6), datetime(2026, 1, 8))
        (datetime.datetime(2026, 1, 9, 0, 0), None)
        """
        for since, until in self.hidden:
            if since <= begin < until:
                begin = until
        return begin if end is None or begin < end else None


def phases(connection: Connection, task: str) -> Phases:
    """What the log says of when the scores of a task were hidden."""
    told = connection.execute(text("""
        SELECT "at", CAST(details ->> '$.blind_until' AS TIMESTAMP) AS until,
            lead("at") OVER (ORDER BY event_id) AS next
        FROM event
        WHERE action IN ('task', 'hide', 'reveal') AND subject = :task AND json_exists(details, '$.blind_until')
        ORDER BY event_id"""), {"task": task})
    ends = ((of.at, of.until if of.next is None else min(of.until, of.next)) for of in told if of.until is not None)
    return Phases(tuple((since, until) for since, until in ends if since < until))
