"""What is hidden of a task, pseudonyms, and what Ladders have shown meanwhile, held against the log and the scores."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlalchemy import Connection, select

from registry.evaluation.scoring.score import ACTION, Rung, rungs, shown_after
from registry.evaluation.submissions.tombstones import tombstones
from registry.evaluation.verifying.faults import Fault
from registry.identity import digest
from registry.metrics import METRICS
from registry.store import models
from registry.store.catalog import TaskRow
from registry.store.embargoes import is_system_of
from registry.store.log import entries
from registry.values import parse

_COLUMNS = {"anonymous_until": "its names are", "blind_until": "its scores are"}
_SCORES = """
    SELECT e.event_id, s.value FROM event AS e
    JOIN metric AS m ON m.name = (e.details ->> '$.metric')
    JOIN score AS s ON s.metric_id = m.metric_id AND s.scoring_id = CAST(e.details ->> '$.scoring_id' AS INTEGER)
    WHERE e.action = 'ladder' AND s.run_id <= e.run_id"""


def verify_hiding(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Hold what is hidden until when against what the log says last, and pseudonyms against those that were drawn."""
    said, drawn, salt = _logged(connection, task)
    if salt is not None and salt != digest((task.salt or "").encode()):
        yield Fault("altered", "task", task.slug, "its salt is not the one that the log names")
    for column, what in _COLUMNS.items():
        until = getattr(task, column)
        if said[column] != (stored := until and until.isoformat()):
            yield Fault("altered", "task", task.slug,
                        f"{what} hidden until {stored}, and until {said[column]} in the log")
    team, system = models.team, models.system
    of_task = select(team.c.team_id).where(team.c.task_id == task.task_id)
    purged = select(models.tombstone.c.team_id)
    for what, table in (("teams", team), ("systems", system)):
        number, *_ = table.columns
        for row_id, pseudonym, is_purged in connection.execute(
                select(number, table.c.pseudonym, table.c.team_id.in_(purged)).where(
                    table.c.team_id.in_(of_task)).order_by(number)):
            logged = drawn[what].get(str(row_id))
            if pseudonym != logged or (pseudonym is None and task.anonymous_until is not None and not is_purged):
                yield Fault("altered", "pseudonym", f"{task.slug}, {table.name} {row_id}",
                            f"is {pseudonym!r}, and {logged!r} in the log")


def _logged(connection: Connection,
            task: TaskRow) -> tuple[dict[str, str | None], dict[str, dict[str, str]], str | None]:
    """Return what the log says last of a task.

    Returns:
        What is hidden until when; the pseudonyms by row, without those of purged teams; the digest of the salt.
    """
    said: dict[str, str | None] = dict.fromkeys(_COLUMNS)
    salt: str | None = None
    drawn: dict[str, dict[str, str]] = {"teams": {}, "systems": {}}
    purged = {f"{task.slug}/{row.name}": str(row.team_id) for row in tombstones(connection, task.task_id)}
    for of in entries(connection, "task", "hide", "reveal", "pseudonyms", "purge"):
        if of.action == "purge" and of.subject in purged:
            # Rows of the team and its systems may be there again, with other systems in them.
            if (of_team := drawn["teams"].pop(purged[of.subject], None)) is not None:
                drawn["systems"] = {row: name for row, name in drawn["systems"].items()
                                    if not is_system_of(name, of_team)}
        elif of.action == "pseudonyms" and of.subject == task.slug:
            for what, names in of.details.items():
                drawn[what] |= names
        elif of.subject == task.slug:
            said |= {column: of.details[column] for column in _COLUMNS if column in of.details}
            salt = of.details.get("salt", salt)
    return said, drawn, salt


def verify_ladders(connection: Connection) -> Iterator[Fault]:
    """Climb every Ladder again; scores that were computed anew since, or were purged, are taken as shown."""
    scores = dict(map(tuple, connection.exec_driver_sql(_SCORES)))
    blank = [of.event_id for of in entries(connection, ACTION) if not of.details]
    last: dict[tuple[int, str | None, str], Rung] = {}
    for rung in rungs(connection):
        earlier, last[rung.key] = last.get(rung.key), rung
        is_known = not any((0 if earlier is None else earlier.entry) < entry < rung.entry for entry in blank)
        shown = math.nan if earlier is None else earlier.shown
        if (is_known and not _same(rung.before, shown)) or (
                rung.entry in scores and not _follows(rung, scores[rung.entry])):
            yield Fault("altered", "ladder", rung.subject,
                        f"entry {rung.entry} of the log shows {rung.details['shown']}, which does not follow from its "
                        "score and from what was shown before")


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _follows(rung: Rung, score: float | None) -> bool:
    lower = parse("metric", METRICS, rung.key[2]).better == "lower"
    shown = shown_after(math.nan if score is None else score, rung.before, rung.details["step"], lower_is_better=lower)
    return _same(rung.shown, shown) and rung.details["raised"] == (not _same(shown, rung.before))
