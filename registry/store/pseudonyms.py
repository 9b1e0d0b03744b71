"""Pseudonyms of teams and systems: drawn once, at random, so that they tell neither names nor who came first.

A team is "Team 07", its systems are "System 07A" and so on. Numbers and letters are drawn from those that are free, and
never given again. What stands in the place of a team that was purged has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from secrets import SystemRandom
from string import ascii_uppercase
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import InputError
from registry.store import catalog, models
from registry.store.log.journal import entries


def draw(connection: Connection, task_id: int) -> dict[str, dict[str, str]]:
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
        for row_id, name in names.items():
            catalog.set_values(connection, table, row_id, pseudonym=name)
    found = {"teams": drawn, "systems": of_systems}
    return {what: {str(number): name for number, name in of.items()} for what, of in found.items() if of}


def _given(connection: Connection, task_id: int) -> set[str]:
    """The pseudonyms that teams of a task were given, by the log: of those that were purged only the log has them."""
    task = models.task
    slug = connection.execute(select(task.c.slug).where(task.c.task_id == task_id)).scalar_one()
    return {name for of in entries(connection, "pseudonyms", subject=slug)
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
