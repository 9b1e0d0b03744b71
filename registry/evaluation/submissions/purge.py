"""A team that asks to be forgotten: all that it gave goes, and so do its names, wherever they stand.

This works within a transaction. The file then still has the bytes of what was deleted; the caller has it written anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from sqlalchemy import Connection, select

from registry.errors import InputError, UnknownNameError
from registry.evaluation.submissions.erase import erase, mark
from registry.evaluation.submissions.names import TeamNames
from registry.evaluation.submissions.redact import redact
from registry.evaluation.submissions.tombstones import (
    digest_of_comparison,
    digest_of_rows,
    digest_of_tombstone,
    purged_as,
    salted,
)
from registry.evaluation.submissions.tombstones import tombstones as tombstones_of
from registry.store import catalog, models, sources
from registry.store.catalog import TaskRow
from registry.store.log import Journal, now
from registry.store.rows import insert


@dataclass
class Purged:
    """What a purge did.

    Attributes:
        name: What stands in the team's place now.
        removed: How many rows went, or were emptied, by table.
        boards: The boards that show the team's place until they are compared again.
        entries: How many entries of the log, and parameters of commands, were blanked.
        left: Where one of the names still stands, in what is not the team's.
    """

    name: str
    removed: dict[str, int] = field(default_factory=dict)
    boards: list[str] = field(default_factory=list)
    entries: int = 0
    left: list[str] = field(default_factory=list)


def team_to_purge(connection: Connection, task: str, team: str) -> tuple[TaskRow, int]:
    """Return the task and the id of the team that is meant.

    Raises:
        UnknownNameError: There is no such task or team.
        InputError: The team is a tombstone, or was purged.
    """
    (row,) = catalog.tasks(connection, task)
    query = select(models.team.c.name, models.team.c.team_id).where(models.team.c.task_id == row.task_id)
    known = {found.name: found.team_id for found in connection.execute(query)}
    tombstones = set(connection.execute(select(models.tombstone.c.team_id)).scalars())
    if known.get(team) in tombstones:
        raise InputError(f"{team} is what stands in the place of a team that was purged")
    if team not in known:
        if (before := purged_as(tombstones_of(connection, row.task_id), team)) is not None:
            raise InputError(f"a team or system of that name was purged already, and is {before} since")
        raise UnknownNameError("team", team, {name for name, team_id in known.items() if team_id not in tombstones})
    return row, known[team]


def new_name(connection: Connection, task_id: int) -> str:
    """The name of the next tombstone: `purged-1`, `purged-2`, ..."""
    taken = set(connection.execute(select(models.team.c.name).where(models.team.c.task_id == task_id)).scalars())
    return next(name for n in count(1) if (name := f"purged-{n}") not in taken)


def purge(connection: Connection, journal: Journal, task: TaskRow, team_id: int, name: str, reason: str) -> Purged:
    """Take a team out of a registry.

    Args:
        connection: In a transaction.
        journal: Of the command, which does not name the team.
        task: The team's task.
        team_id: The team.
        name: What is to stand in its place.
        reason: Why, for the log.

    Raises:
        InputError: The reason names the team.
    """
    names = TeamNames.of(connection, team_id, name)
    if names.are_in(reason):
        raise InputError("--reason names the team or a system of it, and stays in the log; say it without names")
    if names.are_in(journal.actor):
        journal.actor = None
    own = connection.exec_driver_sql(
        "SELECT name FROM team WHERE team_id = $1 UNION SELECT name FROM system WHERE team_id = $1", (team_id,))
    salt, digests = salted(own.scalars())
    mark(connection, team_id)
    purged = Purged(name, boards=_boards(connection))
    prefixes = tuple(f"{task.slug}/{test_set}/{team}/" for test_set, team in connection.exec_driver_sql("""
        SELECT test_set.name, team.name FROM test_set JOIN team USING (task_id) WHERE team_id = ?""", (team_id,)))
    purged.removed, studies = erase(connection, team_id, task.task_id, names)
    entries, runs = redact(connection, journal, names, prefixes, studies)
    purged.entries = len(entries) + len(runs)
    tombstone = insert(connection, models.tombstone, task_id=task.task_id, team_id=team_id, name=name, salt=salt,
                       names=digests, run_id=journal.run_id(connection), created_at=now())
    row = connection.execute(select(models.tombstone).where(models.tombstone.c.tombstone_id == tombstone)).one()
    changed = connection.exec_driver_sql("SELECT comparison_id FROM changed_comparison ORDER BY ALL").scalars().all()
    journal.event(connection, "purge", f"{task.slug}/{name}", entries=entries, runs=runs,
                  tombstone=digest_of_tombstone(row), rows=digest_of_rows(connection, team_id),
                  comparisons={str(number): digest_of_comparison(connection, number) for number in changed})
    journal.event(connection, "purge-reason", f"{task.slug}/{name}", reason=reason)
    purged.left = list(_left(connection, names))
    return purged


def _boards(connection: Connection) -> list[str]:
    """The boards that the team takes part in, for people."""
    return list(connection.exec_driver_sql("""
        SELECT DISTINCT concat_ws(', ', task || '/' || test_set, 'track ' || latest.track, latest.facet)
            || ': ' || metric
        FROM latest_comparison AS latest SEMI JOIN changed_comparison USING (comparison_id) ORDER BY ALL""").scalars())


def _left(connection: Connection, names: TeamNames) -> list[str]:
    """Where one of the names still stands: in gold, in files or names of others, in what the task itself declares."""
    found = []
    for table in models.metadata.tables.values():
        for column in (column.name for column in table.columns if str(column.type) == "VARCHAR"):
            texts = connection.exec_driver_sql(f"""
                SELECT "{column}" FROM "{table.name}" WHERE {' OR '.join(
                    [f'contains(lower("{column}"), ?)'] * len(names.words)) or 'FALSE'}""",  # noqa: S608
                tuple(word.lower() for word in names.words)).scalars()
            if n := sum(map(names.are_in, texts)):
                found.append(f"{table.name}.{column} ({n})")
    for digest, name in connection.exec_driver_sql("SELECT digest, name FROM source ORDER BY name").all():
        if names.are_in(sources.fetch(connection, digest).decode("utf-8", "replace")):
            found.append(f"the kept file {name}")
    return found
