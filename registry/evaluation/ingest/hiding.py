"""Embargoes of a task, declared by its manifest or by a command; the latest declaration counts.

A key of the manifest counts as a declaration only if it is new or changed. So applying the same manifest again does not
undo a command.
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

Hiding = dict[str, datetime | None]  # columns of `task` with the end of an embargo, in UTC


def find_new_hiding(manifest: Manifest, previous: TaskRow | None) -> Hiding:
    """Return the embargoes of a manifest that differ from the stored manifest."""
    earlier = {} if previous is None else _list_hiding(decode_manifest(previous.manifest))
    return {column: until for column, until in _list_hiding(manifest).items() if until != earlier.get(column)}


def _list_hiding(manifest: Manifest) -> Hiding:
    board = manifest.board
    return {"anonymous_until": _to_utc(board.anonymous),
            "blind_until": _to_utc(board.hidden or board.release == "ladder")}


def _to_utc(value: bool | datetime) -> datetime | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    return UNTIL_REVEALED if value else None


def describe_hiding(hiding: Hiding) -> dict[str, str | None]:
    """Return the details of embargoes for the log."""
    return {column: None if until is None else until.isoformat() for column, until in hiding.items()}


def draw_salt(previous: TaskRow | None, hiding: Hiding, *, gold: bool = True) -> dict[str, str]:
    """Draw the salt of a task's digests if it hides something for the first time.

    A digest of names or gold confirms a guess at them, and eight of its digits are in every signature. A salt is never
    changed, so that a comparison has one id, before and after names are shown.

    Args:
        previous: The stored task.
        hiding: New embargoes.
        gold: False if releases withhold the gold.

    Returns:
        The column `salt` and its value; nothing if the task needs no salt or has one.
    """
    is_hidden = not gold or any(until is not None for until in hiding.values())
    return {} if not is_hidden or (previous is not None and previous.salt is not None) else {"salt": new_salt()}


def refuse_candidate(manifest: Manifest, previous: TaskRow | None, hiding: Hiding) -> None:
    """Refuse a candidate if the task's names are or will be hidden: manifest and settings are public.

    Args:
        manifest: The manifest.
        previous: The stored task.
        hiding: New embargoes.

    Raises:
        InputError: The manifest names a candidate.
    """
    until = hiding.get("anonymous_until", None if previous is None else previous.anonymous_until)
    if manifest.significance.candidate is not None and until is not None and until > now():
        raise InputError(f"significance.candidate {NAMES_PARTICIPANT}", category="manifest")


def describe_salt(columns: dict[str, str]) -> dict[str, str]:
    """Return the details of a new salt for the log: its digest, which reveals nothing of 128 random bits."""
    return {name: digest(salt.encode()) for name, salt in columns.items()}


def set_hiding(connection: Connection, journal: Journal, task: TaskRow, column: str, until: datetime | None) -> bool:
    """Hide names or scores of a task until a time in UTC, or show them (None); return whether that is a change."""
    if getattr(task, column) == until:
        return False
    hiding: Hiding = {column: until}
    refuse_candidate(decode_manifest(task.manifest), task, hiding)
    salt = draw_salt(task, hiding)
    catalog.set_values(connection, models.task, task.task_id, **hiding, **salt)
    journal.event(connection, "reveal" if until is None else "hide", task.slug, **describe_hiding(hiding),
                  **describe_salt(salt))
    if column == "anonymous_until" and until is not None and (
            names := embargoes.draw_pseudonyms(connection, task.task_id)):
        journal.event(connection, "pseudonyms", task.slug, **names)
    return True
