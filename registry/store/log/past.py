"""A registry as it stood at an earlier entry of its log: catalog and comparisons, for one connection that only reads.

Nothing is ever taken away but what `purge` removes, and the log says whatever changed. So what was written later is
left out, what changed later has the values of then, and temporary tables, which SQL finds before the stored ones of the
same name, hold the outcome: every view and every query of the connection sees the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, text

from registry.store import models
from registry.store.log.journal import Entry, entries
from registry.submission_fields import CHANGEABLE

# What is there once the command that wrote it is.
_BY_RUN = ("submission", "scoring", "comparison", "study", "tombstone")
_WHOLE = ("task", "test_set", "task_metric")


def shadow(connection: Connection, entry: int) -> None:
    """Let temporary tables stand before those that change, with the rows that were there at an entry of the log."""
    name = str(connection.exec_driver_sql("SELECT current_database()").scalar_one()).replace('"', '""')
    by_then = "WHERE run_id NOT IN (SELECT run_id FROM event GROUP BY run_id HAVING min(event_id) > ?)"
    for table in (*_BY_RUN, *_WHOLE):
        there, values = (by_then, (entry,)) if table in _BY_RUN else ("", ())
        connection.exec_driver_sql(f'CREATE TEMP TABLE "{table}" AS FROM "{name}".main."{table}" {there}', values)


def set_back_salts(connection: Connection, entry: int) -> None:
    """Take the salt from every task that had none yet, so that digests are those of then."""
    connection.execute(text("""
        UPDATE task SET salt = NULL WHERE slug IN (
            SELECT subject FROM event WHERE action IN ('task', 'hide') AND (details ->> '$.salt') IS NOT NULL
            GROUP BY subject HAVING min(event_id) > :entry)"""), {"entry": entry})


def until(connection: Connection, entry: int, *actions: str) -> Iterator[Entry]:
    """What the log says under some actions by an entry of it, oldest first; what was blanked is left out.

    Of subjects that nothing is said of later, nothing is given: they are today what they were.
    """
    said = _said(connection, *actions)
    later = {of.subject for of in said if of.event_id > entry}
    yield from (of for of in said if of.event_id <= entry and of.subject in later)


def _said(connection: Connection, *actions: str) -> list[Entry]:
    """What the log says under some actions, in the order in which it was said first, as purges say some of it again."""
    found = [of._replace(event_id=of.details.get("said_in", of.event_id))
             for of in entries(connection, *actions) if of.details]
    return sorted(found, key=lambda of: of.event_id)


def set_back_gold(connection: Connection, entry: int) -> None:
    """Give every test set the gold that it had."""
    for of in until(connection, entry, "gold"):
        connection.execute(text("""
            UPDATE test_set SET gold_revision_id = revision.gold_revision_id
            FROM gold_revision AS revision, task
            WHERE revision.test_set_id = test_set.test_set_id AND task.task_id = test_set.task_id
                AND task.slug || '/' || test_set.name = :subject AND revision.digest = :digest"""),
            {"subject": of.subject, "digest": of.details.get("digest")})


def set_back_submissions(connection: Connection, entry: int) -> None:
    """Give every submission the properties that it had."""
    told: dict[str, dict[str, Any]] = {}
    for of in until(connection, entry, "submission-added", "submission-changed"):
        told.setdefault(of.subject, {}).update(
            {key: value for key, value in of.details.items() if key in CHANGEABLE})
    if not told:
        return
    ids = dict(map(tuple, connection.execute(text("""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version,
            submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id"""))))
    table = models.submission
    for name, values in told.items():
        if name in ids and values:
            connection.execute(table.update().where(table.c.submission_id == ids[name]).values(**values))


def set_back_comparisons(connection: Connection, entry: int) -> None:
    """Put the comparisons of every board into the order in which they had been asked for."""
    by_digest = dict(map(tuple, connection.execute(text("SELECT digest, comparison_id FROM comparison"))))
    sequence: dict[int, int] = {}
    for of in _said(connection, "compare", "compare-again", "board-retired"):
        number = by_digest.get(of.details["digest"])
        if number is not None and of.event_id <= entry:
            sequence[number] = 0 if of.action == "board-retired" else of.event_id
    if sequence:
        rows = [f"({number}, {place})" for number, place in sequence.items()]
        connection.exec_driver_sql(
            "UPDATE comparison SET sequence = replayed.sequence "  # noqa: S608 - whole numbers
            f"FROM (VALUES {', '.join(rows)}) AS replayed(number, sequence) WHERE comparison_id = number")
