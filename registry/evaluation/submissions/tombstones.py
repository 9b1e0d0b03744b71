"""What stays of a team that was purged: a name in its place, salted digests of its own, and its places on past boards.

Who knows the team's name can tell that it was purged; from the digests alone nobody can, as long as the name cannot be
guessed. Comparisons that it took part in can no longer be made again; the log has a digest of each instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from registry.identity import canonical_json, digest_json
from registry.store import models
from registry.store.log import new_salt
from registry.submission_fields import SUBMISSION_FIELDS

_COMPARISON = """
    SELECT * EXCLUDE (sequence) FROM comparison WHERE comparison_id = ?"""
_PLACES = "SELECT * FROM standing WHERE comparison_id = ? ORDER BY position"
_PAIRS = """
    SELECT comparison_pair.*, pair_result.* FROM comparison_pair JOIN pair_result USING (pair_result_id)
    WHERE comparison_id = ? ORDER BY position"""
_SYSTEMS = "SELECT system_id, name, pseudonym FROM system WHERE team_id = ? ORDER BY system_id"
_PURGED = ", ".join(field.column for field in SUBMISSION_FIELDS if field.purged != "kept" and field.name != "withdrawn")
_SUBMISSIONS = f"""
    SELECT submission_id, {_PURGED}
    FROM submission JOIN system USING (system_id) WHERE team_id = ? ORDER BY submission_id"""  # noqa: S608
_OVERALL = "SELECT * FROM overall_result WHERE comparison_id = ?"


def salted(names: Iterable[str]) -> tuple[str, str]:
    """A new salt, and the digests of names with it as JSON."""
    salt = new_salt()
    return salt, canonical_json(sorted(digest_json([salt, name]) for name in names))


def tombstones(connection: Connection, task_id: int) -> Sequence[Row[Any]]:
    """What stays of the teams that were purged from a task, the latest first."""
    table = models.tombstone
    return connection.execute(
        select(table).where(table.c.task_id == task_id).order_by(table.c.tombstone_id.desc())).all()


def purged_as(of_task: Sequence[Row[Any]], name: str) -> str | None:
    """The name of the tombstone, of those of a task, of a team or system of that name; None: none was purged."""
    return next((str(row.name) for row in of_task if digest_json([row.salt, name]) in row.names), None)


def digest_of_tombstone(row: Any) -> str:
    """The digest of a tombstone's row."""
    return digest_json([row.task_id, row.team_id, row.name, row.salt, row.names])


def digest_of_rows(connection: Connection, team_id: int) -> str:
    """The digest of what stays of a purged team: its systems and submissions under other names."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (team_id,))]
                        for query in (_SYSTEMS, _SUBMISSIONS)])


def digest_of_comparison(connection: Connection, comparison_id: int) -> str:
    """The digest of a comparison as it is stored: its settings, places and pairs, but not whether it is the latest."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (comparison_id,))]
                        for query in (_COMPARISON, _PLACES, _PAIRS, _OVERALL)])
