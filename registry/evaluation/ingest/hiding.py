"""Embargoes: the time until which a task hides names or scores.

The manifest or a command declares an embargo, and the latest declaration counts. A key of the manifest counts only if
it is new or changed. So applying the same manifest again does not undo a command.
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

Hiding = dict[str, datetime | None]  # end of each embargo in UTC, by column of table `task`; None: no embargo


def find_new_hiding(manifest: Manifest, previous: TaskRow | None) -> Hiding:
    """Return the embargoes that are new or changed in a manifest.

    An embargo hides names or scores until a time.

    Args:
        manifest: The manifest.
        previous: The stored task; None if the task is new.

    Returns:
        The end of each embargo in UTC, by column of table `task`; None: the embargo was removed.
    """
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
    """Convert the ends of embargoes to ISO texts, for the log.

    An embargo hides names or scores until a time.
    """
    return {column: None if until is None else until.isoformat() for column, until in hiding.items()}


def draw_salt(previous: TaskRow | None, hiding: Hiding, *, gold: bool = True) -> dict[str, str]:
    """Draw a random salt for a task that hides names, scores or gold.

    The signature of a result contains some digits of digests. A person who guesses hidden names or gold could compute
    the digests of the guess, and compare the digits. This is impossible if a secret salt is part of the digested text.
    A salt is never changed, so that comparisons keep their ids.

    Args:
        previous: The stored task; None if the task is new.
        hiding: New embargoes: the times until which names or scores are hidden.
        gold: False if releases withhold the gold.

    Returns:
        The column `salt` and its value; empty if the task needs no salt or already has a salt.
    """
    is_hidden = not gold or any(until is not None for until in hiding.values())
    return {} if not is_hidden or (previous is not None and previous.salt is not None) else {"salt": new_salt()}


def refuse_candidate(manifest: Manifest, previous: TaskRow | None, hiding: Hiding) -> None:
    """Raise an error if a task hides names, but its manifest names a candidate.

    The candidate is the system that one-sided tests expect to be better. Its name would be public, because the manifest
    is public.

    Args:
        manifest: The manifest.
        previous: The stored task; None if the task is new.
        hiding: New embargoes: the times until which names or scores are hidden.

    Raises:
        InputError: The task hides names, and the manifest names a candidate.
    """
    until = hiding.get("anonymous_until", None if previous is None else previous.anonymous_until)
    if manifest.significance.candidate is not None and until is not None and until > now():
        raise InputError(f"significance.candidate {NAMES_PARTICIPANT}", category="manifest")


def describe_salt(columns: dict[str, str]) -> dict[str, str]:
    """Return the digest of a new salt for the log, which does not reveal the salt.

    Args:
        columns: The column `salt` and its value; may be empty.
    """
    return {name: digest(salt.encode()) for name, salt in columns.items()}


def set_hiding(connection: Connection, journal: Journal, task: TaskRow, column: str, until: datetime | None) -> bool:
    """Hide the names or scores of a task until a time, or reveal them.

    Args:
        connection: Connection in a transaction.
        journal: Writes the change to the log.
        task: The task.
        column: Column of the embargo: `anonymous_until` for names, `blind_until` for scores.
        until: End of the embargo in UTC; None: reveal.

    Returns:
        True if this changes the embargo.
    """
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
