"""Entries of the log, read: what was done to what, with the details of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from registry.store import models


class Entry(NamedTuple):
    """An entry of the log; one that a purge has blanked has neither subject nor details."""

    event_id: int
    run_id: int
    action: str
    subject: str
    details: Mapping[str, Any]


def entries(connection: Connection, *actions: str, subject: str | None = None) -> Iterator[Entry]:
    """What the log says under some actions (of one subject), oldest first."""
    event = models.event
    query = select(event.c.event_id, event.c.run_id, event.c.action, event.c.subject, event.c.details).where(
        event.c.action.in_(actions)).order_by(event.c.event_id)
    for *named, details in connection.execute(query if subject is None else query.where(event.c.subject == subject)):
        yield Entry._make((*named, json.loads(details or "{}")))
