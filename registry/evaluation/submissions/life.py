"""Deadlines and limits of submissions, and changes of stored submissions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import InputError, UnknownNameError, counted, format_duration, suggest
from registry.identity import canonical_json
from registry.manifest import Manifest
from registry.readers import READERS, Document
from registry.readers.trec import Trec, read_metadata
from registry.store import catalog, models, sources
from registry.store.catalog import NamedSubmission, TaskRow
from registry.store.log import Journal, read_entries
from registry.values import parse


class SelectedSubmission(NamedTuple):
    """A submission that a command selects by name, with its task.

    Attributes:
        name: The full name, `task/test_set/team/system@version`.
        task: Database row of the task.
        row: Database row of the submission.
    """

    name: str
    task: TaskRow
    row: NamedSubmission

    @property
    def system(self) -> str:
        """The submission's name without its version: `task/test_set/team/system`."""
        return self.name.rpartition("@")[0]


def select_submissions(connection: Connection, name: str) -> list[SelectedSubmission]:
    """Find submissions by their full name, with or without a version.

    Args:
        connection: Connection to the registry.
        name: `task/test_set/team/system@version`. Without `@version`, all versions of the system are returned.

    Raises:
        UnknownNameError: No submission has this name.
    """
    tombstones = {(row.task_id, row.name) for row in connection.execute(models.tombstone.select())}
    submissions = [SelectedSubmission(f"{task.slug}/{row.full_name}", task, row)
             for task in catalog.tasks(connection) for row in catalog.submissions(connection, task.task_id)
             if (task.task_id, row.team) not in tombstones]
    matches = [submission for submission in submissions if name in (submission.name, submission.system)]
    if not matches:
        names = {submission.system for submission in submissions} | {submission.name for submission in submissions}
        raise UnknownNameError("submission", name, names)
    return matches


class Amendment(NamedTuple):
    """Names of the submissions that `amend` has changed, and notes for the user."""

    changed: list[str]
    notes: list[str]


def amend(connection: Connection, journal: Journal, submissions: Sequence[SelectedSubmission], reason: str,
          declared: Mapping[str, Any]) -> Amendment:
    """Change declared properties of stored submissions, such as the track.

    Leaderboards do not change before the next comparison.

    Args:
        connection: Connection in a transaction.
        journal: Writes the command to the log.
        submissions: Submissions to one task.
        reason: The reason of the change, for the log.
        declared: New values by name, such as `track`. `attributes` are added to the stored attributes.
    """
    task = submissions[0].task
    members_before = catalog.current_names(connection, task.slug)
    amendment, columns = Amendment([], []), dict(declared)
    if (track := columns.pop("track", None)) is not None:
        if track not in (tracks := catalog.tracks(connection, task.task_id)):
            amendment.notes.append(f"track {track!r} is new to {task.slug}; {suggest(track, tracks)}")
        columns["track_id"] = catalog.find_or_insert(
            connection, models.track, {"task_id": task.task_id, "name": track})
    elif "track" in declared:
        columns["track_id"] = None
    for submission in submissions:
        row = submission.row
        if "attributes" in declared:
            columns["attributes"] = canonical_json(json.loads(row.attributes) | declared["attributes"])
        changed = {name: value for name, value in columns.items() if getattr(row, name) != value}
        if changed:
            catalog.set_values(connection, models.submission, row.submission_id, **changed)
            journal.event(connection, "submission-changed", submission.name, **changed, reason=reason)
            amendment.changed.append(submission.name)
    members_after = catalog.current_names(connection, task.slug)
    amendment.notes.extend(f"the next comparison will add {name} to the leaderboard"
                           for name in sorted(members_after - members_before))
    amendment.notes.extend(f"the next comparison will remove {name} from the leaderboard"
                           for name in sorted(members_before - members_after))
    return amendment


_MOVED = "the deadline was moved"


def describe_lateness(manifest: Manifest, test_set: str, moment: datetime) -> str | None:
    """Describe how long after the deadline a submission came; return None if in time.

    Args:
        manifest: The manifest, which declares deadlines.
        test_set: Name of the test set.
        moment: Time of the submission in UTC, without a time zone.
    """
    deadline = manifest.deadline(test_set)
    if deadline is None or moment.replace(tzinfo=UTC) <= deadline:
        return None
    seconds = (moment.replace(tzinfo=UTC) - deadline).total_seconds()
    return f"comes {format_duration(seconds)} after the deadline of test set {test_set}, {deadline.isoformat(' ')}"


def check_limits(connection: Connection, manifest: Manifest, test_set_id: int, team: str, moment: datetime) -> None:
    """Raise an error if a team has reached its limit of submissions to a test set.

    All submissions by the command `registry submit` count, also withdrawn ones. A limit per day counts from midnight in
    the time zone of the deadline, or in UTC if there is no deadline.

    Raises:
        InputError: The team has reached a limit. The message says what to do.
    """
    limits = manifest.submission
    if limits.limit is None and limits.limit_per_day is None:
        return
    submitted = connection.exec_driver_sql("""
        SELECT submission.created_at, test_set.name FROM submission JOIN run USING (run_id)
        JOIN test_set USING (test_set_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE command = 'submit' AND test_set_id = ? AND team.name = ?""", (test_set_id, team)).all()
    if not submitted:
        return
    place = f"of team {team} to test set {submitted[0].name}"
    if limits.limit is not None and len(submitted) >= limits.limit:
        exist = "exists" if len(submitted) == 1 else "exist"
        raise InputError(f"{counted(len(submitted), 'submission')} {place} already {exist}, and the task allows "
                         f"{limits.limit}; ask the organisers to add another submission to their manifest",
                         category="database")
    deadline = manifest.deadline(submitted[0].name)
    zone = UTC if deadline is None else deadline.tzinfo
    day = moment.replace(tzinfo=UTC).astimezone(zone).date()
    n_today = sum(row.created_at.replace(tzinfo=UTC).astimezone(zone).date() == day for row in submitted)
    if limits.limit_per_day is not None and n_today >= limits.limit_per_day:
        next_day = datetime.combine(day + timedelta(days=1), datetime.min.time(), zone)
        raise InputError(f"{counted(n_today, 'submission')} {place} came today, and the task allows "
                         f"{limits.limit_per_day} a day; submit again from {next_day.isoformat(' ')} on",
                         category="database")


def update_lateness(connection: Connection, journal: Journal, task_id: int,
                    manifest: Manifest) -> Iterator[tuple[str, bool]]:
    """Update which submissions are late, after the deadline was moved.

    Only submissions by the command `registry submit` can change. A submission does not change if a person has declared
    whether it is late.

    Yields:
        The name of each changed submission, and True if it is late now.
    """
    times = {row.submission_id: row.created_at for row in connection.exec_driver_sql(
        "SELECT submission_id, created_at FROM submission JOIN run USING (run_id) WHERE command = 'submit'")}
    for row in catalog.submissions(connection, task_id):
        is_purged = not row.digest
        if is_purged or row.submission_id not in times or row.test_set not in [t.name for t in manifest.test_set]:
            continue
        late = describe_lateness(manifest, row.test_set, times[row.submission_id]) is not None
        name = f"{manifest.task.id}/{row.full_name}"
        if row.late != late and not _has_declared_lateness(connection, name):
            catalog.set_values(connection, models.submission, row.submission_id, late=late)
            journal.event(connection, "submission-changed", name, late=late, reason=_MOVED)
            yield name, late


def _has_declared_lateness(connection: Connection, name: str) -> bool:
    changes = [entry.details for entry in read_entries(connection, "submission-changed", subject=name)
               if "late" in entry.details]
    return bool(changes) and changes[-1].get("reason") != _MOVED


def load_run_metadata(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Return the metadata lines in the TREC run files of a submission.

    Args:
        connection: Connection to the registry.
        name: `task/test_set/team/system@version`. Without `@version`, all versions of the system are read.

    Returns:
        A row for each line, with the keys `version`, `run` and `line`.
    """
    slug, _, rest = name.partition("/")
    task = catalog.find(connection, TaskRow, slug=slug)
    if task is None:
        return []
    rows = []
    for submission in catalog.submissions(connection, task.task_id):
        names = submission.full_name, submission.full_name.removesuffix(f"@{submission.version}")
        if rest not in names or not isinstance(parse("reader", READERS, submission.reader), Trec):
            continue
        files = catalog.load_submitted_files(connection, [submission.submission_id])[submission.submission_id].files
        for run, file in enumerate(files, 1):
            if sources.is_stored(connection, file.source_digest):
                document = Document(file.name, sources.fetch(connection, file.source_digest))
                rows += [{"version": submission.version, "run": run, "line": line}
                         for line in read_metadata(document)]
    return rows
