"""Embargoes, and the pseudonyms of hidden teams and systems.

A task hides the names of teams and systems until `anonymous_until`, and its scores until `blind_until`. The registry's
own file contains and shows everything. The package `registry.publication` writes public files without the hidden data;
a public file records the time of its publication.

The pseudonym of a team is "Team 07", for example; its systems are then "System 07A", "System 07B" and so on. Each
pseudonym is drawn at random from the unused pseudonyms, so it reveals neither the name nor the order of submission. No
pseudonym is used twice. Purged teams have no pseudonym.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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

UNTIL_REVEALED = datetime.max  # the embargo has no date: it ends when a command reveals the data


class Hidden(NamedTuple):
    """Tasks whose names or scores are not public.

    Attributes:
        anonymous: Ids of the tasks that hide the names of participants.
        blind: For each task that hides its scores: the time when the scores become public, by task id.
    """

    anonymous: frozenset[str] = frozenset()
    blind: Mapping[str, datetime] = {}

    @property
    def sentences(self) -> list[str]:
        """Sentences for users, one for each task that hides its scores."""
        return [_sentence(slug, until) for slug, until in self.blind.items()]


def find_hidden(connection: Connection, time: datetime) -> Hidden:
    """Return the tasks whose names or scores are not yet public at a time (in UTC)."""
    table = models.task
    rows = connection.execute(select(table.c.slug, table.c.anonymous_until, table.c.blind_until).order_by(
        table.c.task_id)).all()
    return Hidden(
        frozenset(row.slug for row in rows if row.anonymous_until is not None and row.anonymous_until > time),
        {row.slug: row.blind_until for row in rows if row.blind_until is not None and row.blind_until > time})


def is_public(connection: Connection) -> bool:
    """Return True if a registry file is a public copy, which lacks hidden data."""
    return has_row(connection, "publication")


def find_left_out(connection: Connection) -> Hidden:
    """Return the tasks whose names or scores were left out of a public file.

    If the file is the registry itself, no task is returned.
    """
    time = connection.execute(select(models.publication.c.published_at)).scalar()
    return Hidden() if time is None else find_hidden(connection, time)


def describe_hidden(connection: Connection) -> dict[str, str]:
    """Describe the data of each task that is not public now, as a phrase for users.

    Returns:
        Phrases such as `names, which are not public until 2026-12-01 12:00 UTC`, by task id. Tasks without hidden data
        are absent. For a public file, the result is empty.
    """
    if is_public(connection):
        return {}
    hidden, table = find_hidden(connection, now()), models.task
    descriptions = {}
    for row in connection.execute(select(table).order_by(table.c.task_id)).all():
        parts = [f"{name}, which are not public until {_format_time(until)}" for name, until in (
            ("names", row.anonymous_until if row.slug in hidden.anonymous else None),
            ("scores and ranks", hidden.blind.get(row.slug))) if until is not None]
        if json.loads(row.manifest).get("release", {}).get("gold") is False:
            parts.append("the gold, which is not public")
        if parts:
            descriptions[row.slug] = ", and ".join(parts)
    return descriptions


def note_hidden(connection: Connection) -> list[str]:
    """Return a message for users about each task with data that is not public now."""
    return [f"task {slug!r}: this output may contain {description}; `--public` shows only public data"
            for slug, description in describe_hidden(connection).items()]


def find_next_reveal(connection: Connection) -> datetime | None:
    """Return the next time (in UTC) at which names or scores become public.

    The result is None if no task has such a time.
    """
    table, time = models.task, now()
    rows = connection.execute(select(table.c.anonymous_until, table.c.blind_until)).all()
    return min((until for row in rows for until in row
                if until is not None and time < until and until.year < UNTIL_REVEALED.year), default=None)


def require_scores(connection: Connection, task: str | None) -> None:
    """Raise an error if a registry file lacks the scores of a task.

    A public file lacks the scores of tasks that hide them.

    Args:
        connection: Connection to the registry file.
        task: The task's id. None: it is sufficient if the file has the scores of any task.

    Raises:
        HiddenError: The scores are missing.
    """
    blind = find_left_out(connection).blind
    if task is None:
        slugs = set(connection.execute(select(models.task.c.slug)).scalars())
        if slugs and slugs <= blind.keys():
            raise HiddenError("; ".join(_sentence(slug, until) for slug, until in blind.items()))
    elif task in blind:
        raise HiddenError(_sentence(task, blind[task]))


def describe_until(until: datetime) -> str:
    """Describe the time until which data is hidden, for a message.

    >>> describe_until(datetime(2026, 12, 1, 12)), describe_until(UNTIL_REVEALED)
    ('until 2026-12-01 12:00 UTC', 'until the organisers reveal them')
    """
    return f"until {_format_time(until)}"


def _format_time(until: datetime) -> str:
    if until.year == UNTIL_REVEALED.year:  # DuckDB rounds the last microsecond
        return "the organisers reveal them"
    return f"{until:%Y-%m-%d %H:%M} UTC"


def _sentence(task: str, until: datetime) -> str:
    return f"task {task!r}: scores and ranks are hidden {describe_until(until)}"


def draw_pseudonyms(connection: Connection, task_id: int) -> dict[str, dict[str, str]]:
    """Choose a random pseudonym for each team and system of a task that has none.

    Returns:
        The new pseudonyms: `{"teams": {"3": "Team 07"}, "systems": {"5": "System 07A"}}`, by id as text.

    Raises:
        InputError: The name of a team is the pseudonym of another team.
    """
    team, system = models.team, models.system
    teams = connection.execute(select(team).where(
        team.c.task_id == task_id, team.c.team_id.not_in(select(models.tombstone.c.team_id))
    ).order_by(team.c.team_id)).all()
    systems = connection.execute(select(system).join(team, team.c.team_id == system.c.team_id).where(
        team.c.task_id == task_id).order_by(system.c.system_id)).all()
    used = {row.pseudonym for row in teams} | _find_logged_pseudonyms(connection, task_id)
    for row in teams:
        if row.name in used:
            raise InputError(f"the name of team {row.name!r} is another team's pseudonym; choose another name")
    pseudonyms = {row.team_id: row.pseudonym for row in teams if row.pseudonym is not None}
    new = [row.team_id for row in teams if row.pseudonym is None]
    new_teams = dict(zip(new, _draw(_list_team_pseudonyms(len(teams)), used | {row.name for row in teams}, len(new)),
                         strict=True))
    new_systems: dict[int, str] = {}
    for team_id, pseudonym in (pseudonyms | new_teams).items():
        rows = [row for row in systems if row.team_id == team_id]
        new = [row.system_id for row in rows if row.pseudonym is None]
        new_systems |= zip(new, _draw(_list_system_pseudonyms(pseudonym, len(rows)), {row.pseudonym for row in rows},
                                      len(new)), strict=True)
    for table, names in ((team, new_teams), (system, new_systems)):
        (id_column, *_) = table.columns
        for row_id, name in names.items():
            connection.execute(table.update().where(id_column == row_id).values(pseudonym=name))
    return {table: {str(row_id): name for row_id, name in names.items()}
            for table, names in (("teams", new_teams), ("systems", new_systems)) if names}


def _find_logged_pseudonyms(connection: Connection, task_id: int) -> set[str]:
    task = models.task
    slug = connection.execute(select(task.c.slug).where(task.c.task_id == task_id)).scalar_one()
    return {name for entry in read_entries(connection, "pseudonyms", subject=slug)
            for name in entry.details.get("teams", {}).values()}


def is_system_of(pseudonym: str, team: str) -> bool:
    """Return True if the pseudonyms of a system and a team belong together.

    >>> is_system_of("System 07A", "Team 07"), is_system_of("System 071A", "Team 07")
    (True, False)
    """
    return pseudonym.rstrip(ascii_uppercase) == team.replace("Team", "System", 1)


def _list_team_pseudonyms(n: int) -> list[str]:
    """Return the names `Team 01`, `Team 02`, ..., from which pseudonyms are drawn.

    There are at least twice as many names as teams (`n`). All have the same number of digits.
    """
    digits = max(2, len(str(2 * n)))
    return [f"Team {number:0{digits}}" for number in range(1, 10**digits)]


def _list_system_pseudonyms(team: str, n: int) -> list[str]:
    """Return names such as `System 07A`, from which pseudonyms of systems are drawn.

    There are at least twice as many names as systems (`n`). All have the same number of letters.
    """
    size = 1
    while len(ascii_uppercase)**size < 2 * n:
        size += 1
    number = team.rpartition(" ")[2]
    return [f"System {number}{''.join(letters)}" for letters in product(ascii_uppercase, repeat=size)]


def _draw(names: Sequence[str], used: set[Any], n: int) -> list[str]:
    return SystemRandom().sample([name for name in names if name not in used], n)
