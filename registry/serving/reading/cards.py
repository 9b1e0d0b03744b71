"""The tasks on the index: a card is made once for all states of the registry in which nothing of its task changed."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from sqlalchemy import text

from registry.leaderboards.snapshot import TaskBoards, snapshot
from registry.leaderboards.stored import BOARD_PAIRS
from registry.reports.page import Card, card
from registry.serving.reading.boards import open_tasks
from registry.serving.reading.source import Found, Opened, Source
from registry.store.hiding.concealment import concealed_of

# The hash of an entry covers all before it, so that it also tells two registries apart.
_LAST = text("""
    SELECT split_part(subject, '/', 1) AS task, max(event_id) || ' ' || arg_max(hash, event_id) AS entry
    FROM event WHERE action <> 'end' GROUP BY ALL""")


_Like = tuple[str, str, bool]  # a task, the last entry of the log about it, and whether its systems are anonymous


class Cards:
    """Cards of tasks, for as long as these stay as they are."""

    def __init__(self) -> None:
        self._made: dict[_Like, Card] = {}

    async def read(self, source: Source) -> Found[tuple[list[Card], Sequence[str]]]:
        """The cards of all tasks whose boards are shown, and why others are not."""
        made = self._made
        found = await source.read(lambda opened: _read(opened, made))
        return await source.draw(found.state, lambda: self._drawn(*found.value, made))

    def _drawn(self, tasks: Sequence[_Like], changed: Sequence[TaskBoards], left_out: Sequence[str],
               made: Mapping[_Like, Card]) -> tuple[list[Card], Sequence[str]]:
        new = {of.task: card(f"tasks/{of.task}.html", of) for of in changed}
        now = self._made = {like: made[like] if like in made else new[like[0]] for like in tasks}
        return list(now.values()), left_out


def _read(opened: Opened, made: Container[_Like]) -> tuple[Sequence[_Like], Sequence[TaskBoards], Sequence[str]]:
    """What the tasks that are shown are like now, the boards of those that changed, and why others are not shown."""
    connection = opened.connection
    names, left_out = open_tasks(opened)
    last, anonymous = dict(map(tuple, connection.execute(_LAST))), concealed_of(connection).anonymous
    tasks = [(name, last.get(name, ""), name in anonymous) for name in names]
    changed = [like[0] for like in tasks if like not in made]
    return tasks, snapshot(connection, changed, pairs=BOARD_PAIRS).tasks if changed else (), left_out
