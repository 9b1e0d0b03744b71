"""What is hidden of a task, and the pseudonyms of its participants, held against the log."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, select

from registry.evaluation.verifying.faults import Fault
from registry.store import models
from registry.store.row_types import TaskRow

_COLUMNS = {"anonymous_until": "its names are", "blind_until": "its scores are"}


def verify_hiding(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Hold what is hidden until when against what the log says last, and pseudonyms against those that were drawn."""
    said: dict[str, str | None] = dict.fromkeys(_COLUMNS)
    drawn: dict[str, dict[str, str]] = {"teams": {}, "systems": {}}
    event = models.event
    for action, details in connection.execute(select(event.c.action, event.c.details).where(
            event.c.subject == task.slug, event.c.action.in_(["task", "hide", "reveal", "pseudonyms"])).order_by(
            event.c.event_id)):
        entry = json.loads(details)
        if action == "pseudonyms":
            for what, names in entry.items():
                drawn[what] |= names
        else:
            said |= {column: entry[column] for column in _COLUMNS if column in entry}
    for column, what in _COLUMNS.items():
        until = getattr(task, column)
        if said[column] != (stored := until and until.isoformat()):
            yield Fault("altered", "task", task.slug,
                        f"{what} hidden until {stored}, and until {said[column]} in the log")
    team, system = models.team, models.system
    of_task = select(team.c.team_id).where(team.c.task_id == task.task_id)
    for what, table in (("teams", team), ("systems", system)):
        number, *_ = table.columns
        for row_id, pseudonym in connection.execute(
                select(number, table.c.pseudonym).where(table.c.team_id.in_(of_task)).order_by(number)):
            logged = drawn[what].get(str(row_id))
            if pseudonym != logged or (pseudonym is None and task.anonymous_until is not None):
                yield Fault("altered", "pseudonym", f"{task.slug}, {table.name} {row_id}",
                            f"is {pseudonym!r}, and {logged!r} in the log")
