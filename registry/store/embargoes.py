"""Embargoes, and the pseudonyms of hidden teams and systems.

A task's names are hidden until `anonymous_until` and its scores until `blind_until`. The registry's own file holds and
shows everything. `registry.publication` writes files without hidden data; such a file says when it was published.

A team is "Team 07", its systems are "System 07A" and so on. Pseudonyms are drawn once, at random, from those that are
free, so that they reveal neither names nor order; none is given twice, and purged teams have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from secrets import SystemRandom
from string import ascii_uppercase
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from registry.errors import HiddenError, InputError
from registry.store import models
from registry.store.log import now, read_entries
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


def draw_pseudonyms(connection: Connection, task_id: int) -> dict[str, dict[str, str]]:
    """Give a pseudonym to every team and system of a task that has none; those that were drawn, by numbers of rows.

    Raises:
        InputError: A team is called as another one's pseudonym.
    """
    team, system = models.team, models.system
    teams = connection.execute(select(team).where(
        team.c.task_id == task_id, team.c.team_id.not_in(select(models.tombstone.c.team_id))
    ).order_by(team.c.team_id)).all()
    systems = connection.execute(select(system).join(team, team.c.team_id == system.c.team_id).where(
        team.c.task_id == task_id).order_by(system.c.system_id)).all()
    taken = {row.pseudonym for row in teams} | _given(connection, task_id)
    for row in teams:
        if row.name in taken:
            raise InputError(f"the name of team {row.name!r} is another team's pseudonym; choose another name")
    of_team = {row.team_id: row.pseudonym for row in teams if row.pseudonym is not None}
    new = [row.team_id for row in teams if row.pseudonym is None]
    drawn = dict(zip(new, _drawn(_numbers(len(teams)), taken | {row.name for row in teams}, len(new)), strict=True))
    of_team |= drawn
    of_systems: dict[int, str] = {}
    for team_id, pseudonym in of_team.items():
        there = [row for row in systems if row.team_id == team_id]
        new = [row.system_id for row in there if row.pseudonym is None]
        of_systems |= zip(new, _drawn(_letters(pseudonym, len(there)), {row.pseudonym for row in there}, len(new)),
                          strict=True)
    for table, names in ((team, drawn), (system, of_systems)):
        (number, *_) = table.columns
        for row_id, name in names.items():
            connection.execute(table.update().where(number == row_id).values(pseudonym=name))
    found = {"teams": drawn, "systems": of_systems}
    return {what: {str(number): name for number, name in of.items()} for what, of in found.items() if of}


def _given(connection: Connection, task_id: int) -> set[str]:
    """The pseudonyms that teams of a task were given, by the log: of those that were purged only the log has them."""
    task = models.task
    slug = connection.execute(select(task.c.slug).where(task.c.task_id == task_id)).scalar_one()
    return {name for of in read_entries(connection, "pseudonyms", subject=slug)
            for name in of.details.get("teams", {}).values()}


def is_system_of(pseudonym: str, team: str) -> bool:
    """Whether a system's pseudonym is of a team with the other one.

    >>> is_system_of("System 07A", "Team 07"), is_system_of("System 071A", "Team 07")
    (True, False)
    """
    return pseudonym.rstrip(ascii_uppercase) == team.replace("Team", "System", 1)


def _numbers(n: int) -> list[str]:
    """Pseudonyms for `n` teams, at least twice as many as are needed."""
    digits = max(2, len(str(2 * n)))
    return [f"Team {number:0{digits}}" for number in range(1, 10**digits)]


def _letters(team: str, n: int) -> list[str]:
    """Pseudonyms for the `n` systems of a team, at least twice as many as are needed."""
    size = 1
    while len(ascii_uppercase)**size < 2 * n:
        size += 1
    number = team.rpartition(" ")[2]
    return [f"System {number}{''.join(letters)}" for letters in product(ascii_uppercase, repeat=size)]


def _drawn(names: Sequence[str], taken: set[Any], n: int) -> Iterator[str]:
    yield from SystemRandom().sample([name for name in names if name not in taken], n)
