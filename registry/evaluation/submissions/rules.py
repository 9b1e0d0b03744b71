"""What a task's rules say of a submission that comes by `registry submit`: whether it is late, whether one too many.

The manifest is the organiser's word: what it declares is neither late by the clock nor one too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from registry.errors import InputError, counted, duration
from registry.manifest import Manifest
from registry.store import catalog, models
from registry.store.log import Journal, entries

_MOVED = "the deadline was moved"


def lateness(manifest: Manifest, test_set: str, at: datetime) -> str | None:
    """Say how late a submission is that comes `at` this time (in UTC, as the database keeps it); None: in time."""
    deadline = manifest.deadline(test_set)
    if deadline is None or at.replace(tzinfo=UTC) <= deadline:
        return None
    seconds = (at.replace(tzinfo=UTC) - deadline).total_seconds()
    return f"comes {duration(seconds)} after the deadline of test set {test_set}, {deadline.isoformat(' ')}"


def check_limits(connection: Connection, manifest: Manifest, test_set_id: int, team: str, at: datetime) -> None:
    """Refuse one more submission of a team to a test set where it has reached a limit.

    Every version of every system counts, withdrawn or not, if it came by `registry submit`. Days are those of the
    deadline's zone, or else of UTC.

    Raises:
        InputError: It has; says when the next is possible.
    """
    limits = manifest.submission
    if limits.limit is None and limits.limit_per_day is None:
        return
    came = connection.exec_driver_sql("""
        SELECT submission.created_at, test_set.name FROM submission JOIN run USING (run_id)
        JOIN test_set USING (test_set_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE command = 'submit' AND test_set_id = ? AND team.name = ?""", (test_set_id, team)).all()
    if not came:
        return
    where = f"of team {team} to test set {came[0].name}"
    if limits.limit is not None and len(came) >= limits.limit:
        raise InputError(f"{counted(len(came), 'submission')} {where} came already, and the task's limit is "
                         f"{limits.limit}; another one can only come by the organisers' manifest", category="database")
    deadline = manifest.deadline(came[0].name)
    zone = UTC if deadline is None else deadline.tzinfo
    day = at.replace(tzinfo=UTC).astimezone(zone).date()
    today = sum(row.created_at.replace(tzinfo=UTC).astimezone(zone).date() == day for row in came)
    if limits.limit_per_day is not None and today >= limits.limit_per_day:
        following = datetime.combine(day + timedelta(days=1), datetime.min.time(), zone)
        raise InputError(f"{counted(today, 'submission')} {where} came today, and the task's limit is "
                         f"{limits.limit_per_day} a day; the next one is possible from {following.isoformat(' ')} on",
                         category="database")


def follow_deadlines(connection: Connection, journal: Journal, task_id: int,
                     manifest: Manifest) -> Iterator[tuple[str, bool]]:
    """Where a deadline was moved, make late or in time what came by `registry submit` in between.

    What somebody has declared late, or in time, stays so. Gives the names of those that are changed, and whether they
    are late now.
    """
    came = {row.submission_id: row.created_at for row in connection.exec_driver_sql(
        "SELECT submission_id, created_at FROM submission JOIN run USING (run_id) WHERE command = 'submit'")}
    for row in catalog.submissions(connection, task_id):
        if row.test_set not in [t.name for t in manifest.test_set] or not row.digest:  # of a team that was purged
            continue
        if row.submission_id not in came:
            continue
        late = lateness(manifest, row.test_set, came[row.submission_id]) is not None
        name = f"{manifest.task.id}/{row.full_name}"
        if row.late != late and _is_by_clock(connection, name):
            catalog.set_values(connection, models.submission, row.submission_id, late=late)
            journal.event(connection, "submission-changed", name, late=late, reason=_MOVED)
            yield name, late


def _is_by_clock(connection: Connection, name: str) -> bool:
    """Whether nobody has declared a submission late, or in time, since it came."""
    said = [of.details for of in entries(connection, "submission-changed", subject=name) if "late" in of.details]
    return not said or said[-1].get("reason") == _MOVED
