"""Tasks whose leaderboards are not shown for now, and why."""

from __future__ import annotations

from sqlalchemy import Connection, text

from registry.store.embargoes import find_left_out

_NOT_COMPARED = text("SELECT slug FROM task WHERE slug NOT IN (SELECT task FROM latest_comparison) ORDER BY task_id")


def unshown(connection: Connection) -> dict[str, str]:
    """Why tasks have no leaderboard that can be shown, in a sentence for each, by their ids."""
    hidden = find_left_out(connection)
    told = {task: f"{sentence}." for task, sentence in zip(hidden.blind, hidden.sentences, strict=True)}
    return told | {task: f"{task}: nothing has been compared yet." for task in connection.execute(
        _NOT_COMPARED).scalars() if task not in told}
