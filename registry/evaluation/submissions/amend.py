"""What is declared of submissions by command, after they came: withdrawn or restored, another kind or track, late."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import InputError, UnknownNameError, suggest
from registry.identity import canonical_json
from registry.store import catalog, models
from registry.store.hiding.concealment import concealing
from registry.store.log.journal import Journal
from registry.store.row_types import NamedSubmission, TaskRow


class Chosen(NamedTuple):
    """A submission by its full name, `task/test_set/team/system@version`; `said` is said instead of such names."""

    name: str
    task: TaskRow
    row: NamedSubmission
    said: Mapping[str, str] = {}

    @property
    def system(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("@")[0]


def chosen(connection: Connection, name: str, *, concealed: bool = False) -> list[Chosen]:
    """The submission called `task/test_set/team/system@version`, or without the version all of the system.

    Where names are `concealed` it may be called by its pseudonym too, and nothing is said that was not given or shown.

    Raises:
        InputError: There is none.
    """
    known = _submissions(connection)
    with concealing(connection) if concealed else nullcontext():
        shown = _submissions(connection)
    pairs = list(zip(known, shown, strict=True))
    if found := [one for one in known if name in (one.name, one.system)]:  # the versions of what was given by its name
        system = found[0].system
        said = {one.name: name if one.name == name else f"{system}@{as_shown.row.version}"
                for one, as_shown in pairs if one.system == system}
    else:
        said = {one.name: as_shown.name for one, as_shown in pairs}
        found = [one for one, as_shown in pairs if name in (as_shown.name, as_shown.system)]
    if not found:
        names = {one.system for one in shown} | {one.name for one in shown}
        if any(name != instead for name, instead in said.items()):  # what was given may have a name, which is not said
            raise InputError(f"no submission is called so; {suggest(name, names)}")
        raise UnknownNameError("submission", name, names)
    return [one._replace(said=said) for one in found]


def _submissions(connection: Connection) -> list[Chosen]:
    """All submissions as the connection shows them, but those of teams that were purged."""
    tombstones = {(row.task_id, row.name) for row in connection.execute(models.tombstone.select())}
    return [Chosen(f"{task.slug}/{row.full_name}", task, row)
            for task in catalog.tasks(connection) for row in catalog.submissions(connection, task.task_id)
            if (task.task_id, row.team) not in tombstones]


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
        declared: `withdrawn`, `late`, `kind`, `track` (None: none), or `attributes`, which are added to those it has.
    """
    task, said = submissions[0].task, submissions[0].said
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
            amended.changed.append(said.get(one.name, one.name))
    after = catalog.taking_part(connection, task.slug)
    amended.notes.extend(f"{said.get(name, name)} takes part now" for name in sorted(after - before))
    amended.notes.extend(f"{said.get(name, name)} takes part no more" for name in sorted(before - after))
    return amended
