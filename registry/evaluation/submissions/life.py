"""The life of a submission: its deadline and limits, and what commands declare of it after it came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import InputError, UnknownNameError, counted, duration, suggest
from registry.identity import canonical_json
from registry.manifest import Manifest
from registry.readers import READERS, Document
from registry.readers.trec import Trec, read_metadata
from registry.store import catalog, models, sources
from registry.store.catalog import NamedSubmission, TaskRow
from registry.store.log import Journal, read_entries
from registry.values import parse


class Chosen(NamedTuple):
    """A submission by its full name, `task/test_set/team/system@version`."""

    name: str
    task: TaskRow
    row: NamedSubmission

    @property
    def system(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("@")[0]


def chosen(connection: Connection, name: str) -> list[Chosen]:
    """Return the submission called `task/test_set/team/system@version`, or without the version all of the system.

    Raises:
        UnknownNameError: There is none.
    """
    tombstones = {(row.task_id, row.name) for row in connection.execute(models.tombstone.select())}
    known = [Chosen(f"{task.slug}/{row.full_name}", task, row)
             for task in catalog.tasks(connection) for row in catalog.submissions(connection, task.task_id)
             if (task.task_id, row.team) not in tombstones]
    found = [one for one in known if name in (one.name, one.system)]
    if not found:
        raise UnknownNameError("submission", name, {one.system for one in known} | {one.name for one in known})
    return found


class Amended(NamedTuple):
    """What an amendment did: the submissions that it changed by name, and what a reader has to know."""

    changed: list[str]
    notes: list[str]


def amend(connection: Connection, journal: Journal, submissions: Sequence[Chosen], reason: str,
          declared: Mapping[str, Any]) -> Amended:
    """Declare something of submissions, from now on; results change when they are compared next.

    Args:
        connection: In a transaction.
        journal: Of the command.
        submissions: To one task.
        reason: Why, for the log.
        declared: Values of declared `SUBMISSION_FIELDS` by name; `attributes` are added to those of the submission.
    """
    task = submissions[0].task
    before = catalog.current_names(connection, task.slug)
    amended, columns = Amended([], []), dict(declared)
    if (track := columns.pop("track", None)) is not None:
        if track not in (known := catalog.tracks(connection, task.task_id)):
            amended.notes.append(f"track {track!r} is new to {task.slug}; {suggest(track, known)}")
        columns["track_id"] = catalog.find_or_insert(
            connection, models.track, {"task_id": task.task_id, "name": track})
    elif "track" in declared:
        columns["track_id"] = None
    for one in submissions:
        if "attributes" in declared:
            columns["attributes"] = canonical_json(json.loads(one.row.attributes) | declared["attributes"])
        changed = {name: value for name, value in columns.items() if getattr(one.row, name) != value}
        if changed:
            catalog.set_values(connection, models.submission, one.row.submission_id, **changed)
            journal.event(connection, "submission-changed", one.name, **changed, reason=reason)
            amended.changed.append(one.name)
    after = catalog.current_names(connection, task.slug)
    amended.notes.extend(f"{name} takes part now" for name in sorted(after - before))
    amended.notes.extend(f"{name} takes part no more" for name in sorted(before - after))
    return amended


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
    said = [of.details for of in read_entries(connection, "submission-changed", subject=name) if "late" in of.details]
    return not said or said[-1].get("reason") == _MOVED


def run_metadata(connection: Connection, name: str) -> list[dict[str, Any]]:
    """The metadata of the runs of `task/test_set/team/system`, perhaps with `@version`: a row for each line.

    Args:
        connection: To the registry.
        name: The submission's, or the system's, of which all versions are meant.
    """
    slug, _, rest = name.partition("/")
    task = catalog.find(connection, TaskRow, slug=slug)
    if task is None:
        return []
    rows = []
    for of in catalog.submissions(connection, task.task_id):
        if rest not in (of.full_name, of.full_name.removesuffix(f"@{of.version}")) or not isinstance(
                parse("reader", READERS, of.reader), Trec):
            continue
        files = catalog.load_submitted(connection, [of.submission_id])[of.submission_id].files
        for run, kept in enumerate(files, 1):
            if sources.is_stored(connection, kept.source_digest):
                document = Document(kept.name, sources.fetch(connection, kept.source_digest))
                rows += [{"version": of.version, "run": run, "line": line} for line in read_metadata(document)]
    return rows
