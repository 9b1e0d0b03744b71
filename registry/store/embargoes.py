"""Embargoes: the names and scores of tasks that are not public yet, and so are in no public file.

A task's names are hidden until `anonymous_until` and its scores until `blind_until`. The registry's own file holds and
shows everything. `registry.publication` writes files without what is hidden; such a file says when it was published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from registry.errors import HiddenError
from registry.store import models
from registry.store.log.journal import now
from registry.store.rows import has_row

UNTIL_REVEALED = datetime.max  # hidden until a command says otherwise


class Hidden(NamedTuple):
    """The ids of tasks with hidden names, and of tasks with hidden scores with the end of their embargo."""

    anonymous: frozenset[str] = frozenset()
    blind: Mapping[str, datetime] = {}

    @property
    def sentences(self) -> list[str]:
        """Return a sentence for each task whose scores are hidden."""
        return [_sentence(slug, until) for slug, until in self.blind.items()]


def find_hidden(connection: Connection, at: datetime) -> Hidden:
    """Return the tasks whose names or scores are not public at a time in UTC."""
    table = models.task
    rows = connection.execute(select(table.c.slug, table.c.anonymous_until, table.c.blind_until).order_by(
        table.c.task_id)).all()
    return Hidden(
        frozenset(row.slug for row in rows if row.anonymous_until is not None and row.anonymous_until > at),
        {row.slug: row.blind_until for row in rows if row.blind_until is not None and row.blind_until > at})


def is_public(connection: Connection) -> bool:
    """Return whether a file is public, else a registry's own."""
    return has_row(connection, "publication")


def find_left_out(connection: Connection) -> Hidden:
    """Return what a public file leaves out, as of when it was published; of a registry's own file nothing."""
    time = connection.execute(select(models.publication.c.published_at)).scalar()
    return Hidden() if time is None else find_hidden(connection, time)


def describe_hidden(connection: Connection) -> dict[str, str]:
    """Say for each task, by its id, which of its data is not public now; nothing of a public file."""
    if is_public(connection):
        return {}
    hidden, table = find_hidden(connection, now()), models.task
    found = {}
    for row in connection.execute(select(table).order_by(table.c.task_id)).all():
        what = [f"{name} until {_time(until)}" for name, until in (
            ("names", row.anonymous_until if row.slug in hidden.anonymous else None),
            ("scores and ranks", hidden.blind.get(row.slug))) if until is not None]
        if json.loads(row.manifest).get("release", {}).get("gold") is False:
            what.append("gold")
        if what:
            found[row.slug] = ", ".join(what)
    return found


def note_hidden(connection: Connection) -> list[str]:
    """Return a sentence for each task with data that is not public now, and how to see what others see."""
    return [f"{slug}: not public: {what}; `--public` shows what others may see"
            for slug, what in describe_hidden(connection).items()]


def find_next_reveal(connection: Connection) -> datetime | None:
    """Return when, in UTC, the next embargo ends without a command; None if none will."""
    table, at = models.task, now()
    rows = connection.execute(select(table.c.anonymous_until, table.c.blind_until)).all()
    ahead = [until for row in rows for until in row if until is not None and at < until]
    return min((until for until in ahead if until.year < UNTIL_REVEALED.year), default=None)


def require_scores(connection: Connection, task: str | None) -> None:
    """Raise an error if a public file leaves out the scores of a task, or of all tasks if none is named.

    Raises:
        HiddenError: It does.
    """
    blind = find_left_out(connection).blind
    if task is None:
        slugs = set(connection.execute(select(models.task.c.slug)).scalars())
        if slugs and slugs <= blind.keys():
            raise HiddenError("; ".join(_sentence(slug, until) for slug, until in blind.items()))
    elif task in blind:
        raise HiddenError(_sentence(task, blind[task]))


def describe_until(until: datetime) -> str:
    """Return in words when an embargo ends.

    >>> describe_until(datetime(2026, 12, 1, 12)), describe_until(UNTIL_REVEALED)
    ('until 2026-12-01 12:00 UTC', 'until its organisers say otherwise')
    """
    return f"until {_time(until)}"


def _time(until: datetime) -> str:
    if until.year == UNTIL_REVEALED.year:  # DuckDB rounds the last microsecond
        return "its organisers say otherwise"
    return f"{until:%Y-%m-%d %H:%M} UTC"


def _sentence(task: str, until: datetime) -> str:
    return f"{task}: scores and ranks are hidden {describe_until(until)}"
