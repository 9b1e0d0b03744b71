"""What of a task is hidden until when: as its manifest declares, or as a command says; what was said last counts.

And what a command brings in, as messages may call it: for an anonymous task they must not.

A key of the manifest says something when it is there first or has changed, so applying the same manifest once more does
not undo a command.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection

from registry.errors import HiddenError, InputError, RegistryError
from registry.evaluation.ingest.declared import Declared, declared
from registry.evaluation.resolve import ResolvedTask
from registry.identity import digest
from registry.manifest import NAMES_PARTICIPANT, Manifest, stored_manifest
from registry.provenance import recorded_name
from registry.readers import Document
from registry.store import catalog, models
from registry.store.database import Database
from registry.store.hiding import pseudonyms
from registry.store.hiding.concealment import SAID, until_told
from registry.store.hiding.names import Bringing, GivenSubmission, Names, names_of, names_without_registry
from registry.store.log.journal import Journal, new_salt, now
from registry.store.row_types import TaskRow

Hiding = dict[str, datetime | None]  # the columns of `task` that say until when


def declared_hiding(manifest: Manifest, before: TaskRow | None) -> Hiding:
    """What a manifest newly says of what is hidden; `before` is the task as it was."""
    earlier = {} if before is None else _of(stored_manifest(before.manifest))
    return {column: until for column, until in _of(manifest).items() if until != earlier.get(column)}


def refuse_to_reveal(connection: Connection, manifest: Manifest) -> None:
    """Refuse a dry run of a manifest that would show what is hidden now: anybody who reads the registry can try it.

    Raises:
        HiddenError: The manifest shows names or scores earlier than the registry does.
    """
    row = catalog.find(connection, TaskRow, slug=manifest.task.id)
    for column, until in declared_hiding(manifest, row).items():
        hidden_until = None if row is None else getattr(row, column)
        if hidden_until is not None and hidden_until > now() and (until is None or until < hidden_until):
            raise HiddenError(f"{manifest.task.id}: this manifest shows what is hidden {until_told(hidden_until)}; "
                              "`registry --organiser run --dry-run` shows what it would do")


def newly_anonymous(manifest: Manifest, before: TaskRow | None) -> bool:
    """Whether a manifest newly says that names are hidden now."""
    until = declared_hiding(manifest, before).get("anonymous_until")
    return until is not None and until > now()


def _of(manifest: Manifest) -> Hiding:
    board = manifest.board
    return {"anonymous_until": _until(board.anonymous),
            "blind_until": _until(board.hidden or board.release == "ladder")}


def _until(value: bool | datetime) -> datetime | None:
    """The time in UTC, as the database keeps it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    return SAID if value else None


def told(hiding: Hiding) -> dict[str, str | None]:
    """What the log says of it."""
    return {column: None if until is None else until.isoformat() for column, until in hiding.items()}


def draw_salt(before: TaskRow | None, hiding: Hiding, *, gold: bool = True) -> dict[str, str]:
    """Draw the salt of a task's digests if it hides something for the first time.

    A digest of names or gold confirms a guess at them, and eight of its digits are in every signature. A salt stays
    for good, so that a comparison has one id, before and after names are shown.

    Args:
        before: The task as it is stored.
        hiding: What is newly hidden, and until when.
        gold: False if releases withhold the gold.

    Returns:
        The column `salt` and its value; nothing if the task needs no salt or has one.
    """
    is_hidden = not gold or any(until is not None for until in hiding.values())
    return {} if not is_hidden or (before is not None and before.salt is not None) else {"salt": new_salt()}


def refuse_candidate(manifest: Manifest, before: TaskRow | None, hiding: Hiding) -> None:
    """Raise an error if a manifest names a participant as the candidate of a task whose names are or will be hidden.

    Args:
        manifest: The manifest.
        before: The task as it is stored.
        hiding: What is newly hidden, and until when.

    Raises:
        InputError: It does; anybody can read the manifest and the recorded settings by SQL.
    """
    until = hiding.get("anonymous_until", None if before is None else before.anonymous_until)
    if manifest.significance.candidate is not None and until is not None and until > now():
        raise InputError(f"significance.candidate {NAMES_PARTICIPANT}", category="manifest")


def describe_salt(drawn: dict[str, str]) -> dict[str, str]:
    """Return what the log records of a new salt: its digest, which reveals nothing of 128 random bits."""
    return {name: digest(salt.encode()) for name, salt in drawn.items()}


def set_hiding(connection: Connection, journal: Journal, task: TaskRow, column: str, until: datetime | None) -> bool:
    """Hide names or scores of a task until a time in UTC, or show them from now on (None); says whether that is new."""
    if getattr(task, column) == until:
        return False
    hiding: Hiding = {column: until}
    refuse_candidate(stored_manifest(task.manifest), task, hiding)
    salt = draw_salt(task, hiding)
    catalog.set_values(connection, models.task, task.task_id, **hiding, **salt)
    journal.event(connection, "reveal" if until is None else "hide", task.slug, **told(hiding), **describe_salt(salt))
    if column == "anonymous_until" and until is not None and (drawn := pseudonyms.draw(connection, task.task_id)):
        journal.event(connection, "pseudonyms", task.slug, **drawn)
    return True


def bringing(task: ResolvedTask, chosen: Sequence[Declared] | None = None) -> Bringing:
    """What a task's manifest declares to be submitted; or, of a task that is there, some `chosen` submissions."""
    return Bringing(task.manifest.task.id, lambda: _of_task(task) if chosen is None else list(map(_given, chosen)),
                    lambda before: newly_anonymous(task.manifest, before))


def hidden_names(task: ResolvedTask, database: Database | None) -> Names:
    """Return what to print instead of the names and files that a manifest declares, as far as they are hidden.

    Args:
        task: The resolved manifest.
        database: The registry that the manifest is compared with; if it cannot be read, all names are hidden.
    """
    declares = bringing(task)
    if database is None or not database.exists():
        return names_without_registry(declares) if declares.anonymous(None) else Names()
    try:
        with Database(database.path, organiser=True).reading() as connection:
            return names_of(connection, declares)
    except RegistryError:
        return names_without_registry(declares)


def _of_task(task: ResolvedTask) -> list[GivenSubmission]:
    """What it declares, and what of it is wrong, and none of these."""
    return [*map(_given, declared(task, refuse=lambda _: None)),  # it is told where the manifest is applied
            *(GivenSubmission((submit.file, str(task.root.folder / submit.file)), submit.team or submit.system,
                              submit.system, submit.version or "1") for submit in task.manifest.submit)]


def _given(one: Declared) -> GivenSubmission:
    files = [path for file in one.files for path in (
        (file.path, file.name) if isinstance(file, Document) else (str(file), recorded_name(file, one.within)))]
    return GivenSubmission(files, one.team, one.system, one.version)
