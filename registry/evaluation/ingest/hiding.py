"""What of a task is hidden until when: as its manifest declares, or as a command says; what was said last counts.

A key of the manifest says something when it is there first or has changed, so applying the same manifest once more does
not undo a command.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection

from registry.errors import InputError
from registry.identity import digest
from registry.manifest import NAMES_PARTICIPANT, Manifest, decode_manifest
from registry.store import catalog, embargoes, models
from registry.store.catalog import TaskRow
from registry.store.embargoes import UNTIL_REVEALED
from registry.store.log import Journal, new_salt, now

Hiding = dict[str, datetime | None]  # the columns of `task` that say until when


def declared_hiding(manifest: Manifest, before: TaskRow | None) -> Hiding:
    """What a manifest newly says of what is hidden; `before` is the task as it was."""
    earlier = {} if before is None else _of(decode_manifest(before.manifest))
    return {column: until for column, until in _of(manifest).items() if until != earlier.get(column)}


def _of(manifest: Manifest) -> Hiding:
    board = manifest.board
    return {"anonymous_until": _until(board.anonymous),
            "blind_until": _until(board.hidden or board.release == "ladder")}


def _until(value: bool | datetime) -> datetime | None:
    """The time in UTC, as the database keeps it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    return UNTIL_REVEALED if value else None


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
        InputError: It does; the manifest and the settings of comparisons are published.
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
    refuse_candidate(decode_manifest(task.manifest), task, hiding)
    salt = draw_salt(task, hiding)
    catalog.set_values(connection, models.task, task.task_id, **hiding, **salt)
    journal.event(connection, "reveal" if until is None else "hide", task.slug, **told(hiding), **describe_salt(salt))
    if column == "anonymous_until" and until is not None:
        drawn = embargoes.draw_pseudonyms(connection, task.task_id)
        if drawn:
            journal.event(connection, "pseudonyms", task.slug, **drawn)
    return True
