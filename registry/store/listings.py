"""What the registry holds, a list of rows with an `id` each."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, text

from registry.submission_fields import SUBMISSION_FIELDS

Listing = tuple[list[str], list[dict[str, Any]]]


def tasks(connection: Connection) -> Listing:
    """Every task."""
    keys, rows = _select(connection, """
        SELECT slug AS id, title, version, seed,
            (SELECT count(*) FROM test_set WHERE test_set.task_id = task.task_id) AS test_sets,
            (SELECT count(*) FROM ranked_submission WHERE ranked_submission.task = task.slug) AS submissions, manifest
        FROM task ORDER BY task_id""")
    told = ("date", "deadline", "licence", "url")
    for row in rows:
        declared = json.loads(row.pop("manifest"))["task"]
        row |= {key: declared.get(key) for key in told}
    return [*keys[:-1], *told], rows


def submissions(connection: Connection) -> Listing:
    """Every submission, with its full name as `id`; `ranked` tells whether it takes part now."""
    facts = ", ".join(f"submission.{field.column}" for field in SUBMISSION_FIELDS
                      if field.is_declared and field.type not in ("id", "object"))
    return _select(connection, f"""
        SELECT
            task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version
                AS id,
            task.slug AS task, test_set.name AS test_set, team.name AS team, system.name AS system,
            submission.version, track.name AS track, {facts},
            submission_id IN (SELECT submission_id FROM ranked_submission) AS ranked,
            submission.created_at
        FROM submission
        JOIN system USING (system_id) JOIN team USING (team_id)
        JOIN test_set USING (test_set_id) JOIN task ON task.task_id = test_set.task_id
        LEFT JOIN track ON track.track_id = submission.track_id
        ORDER BY submission_id""")  # noqa: S608


def teams(connection: Connection) -> Listing:
    """Every team and system that may be told apart, with its pseudonym where its task is or was anonymous."""
    return _select(connection, """
        SELECT task.slug || '/' || team.name || coalesce('/' || system.name, '') AS id, task.slug AS task,
            concat_ws('/', team.pseudonym, system.pseudonym) AS pseudonym, team.name AS team, system.name AS system
        FROM team JOIN task USING (task_id) LEFT JOIN system USING (team_id)
        ORDER BY task.task_id, team.name, system.name""")


def runs(connection: Connection) -> Listing:
    """Every command that changed something; `ended_at` is empty where it was cut short."""
    return _select(connection, """
        SELECT run_id AS id, command, parameters, started_at, ended_at, code_version, code_revision, code_dirty,
            (SELECT count(*) FROM event WHERE event.run_id = run.run_id) AS events
        FROM run ORDER BY run_id""")


def _select(connection: Connection, sql: str) -> Listing:
    found = connection.execute(text(sql))
    return list(found.keys()), [dict(row._mapping) for row in found]
