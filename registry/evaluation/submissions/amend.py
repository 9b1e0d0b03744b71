"""What is declared of submissions by command, after they came: withdrawn or restored, another kind or track, late."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import UnknownNameError, suggest
from registry.identity import canonical_json
from registry.store import catalog, models
from registry.store.catalog import NamedSubmission, TaskRow
from registry.store.log import Journal


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
    before = catalog.taking_part(connection, task.slug)
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
    after = catalog.taking_part(connection, task.slug)
    amended.notes.extend(f"{name} takes part now" for name in sorted(after - before))
    amended.notes.extend(f"{name} takes part no more" for name in sorted(before - after))
    return amended
