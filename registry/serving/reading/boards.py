"""The leaderboards of tasks with all that pages and tables show of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from registry.boards.load import ALL_PAIRS, NOT_COMPARED
from registry.boards.site import unshown
from registry.boards.snapshot import Snapshot, TaskBoards, detailed, snapshot
from registry.boards.submissions import Ladder, ladders
from registry.errors import HiddenError, InputError, MismatchError
from registry.serving.reading.source import Opened, Reading
from registry.store import catalog
from registry.store.database import Database
from registry.store.log import Journal
from registry.studies.run import Archive, find_questions
from registry.studies.study import Choice
from registry.studies.suites import Macro, load_macro_boards

_OF_A_SYSTEM = 2000  # bytes of a standing with its remarks, and of what is computed of it
_OF_AN_ITEM = 500  # bytes of one answer to it


@dataclass(frozen=True)
class Shown:
    """A task's boards, or why none are shown: `hidden` until when, and the `ladders` that are shown meanwhile."""

    boards: TaskBoards | None
    hidden: str = ""
    ladders: tuple[Ladder, ...] = ()

    @property
    def open(self) -> TaskBoards:
        """The boards.

        Raises:
            HiddenError: They are hidden.
        """
        if self.boards is None:
            raise HiddenError(self.hidden)
        return self.boards

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        if self.boards is None:
            return _OF_A_SYSTEM
        found = 0
        for board in self.boards.boards:
            pairs = board.decisions
            found += pairs.a.nbytes + pairs.b.nbytes + sum(column.nbytes for column in pairs.columns.values())
            found += _OF_A_SYSTEM * len(board.standings)
        return found + sum(_OF_AN_ITEM * len(view.outputs) for view in self.boards.items or ())


async def task_boards(reading: Reading, task: str, at: str | None) -> Shown:
    """Return the boards of a task, with as many items of each test set as the settings say.

    Raises:
        UnknownNameError: There is no such task.
        MismatchError: There is nothing to show yet.
        InputError: The moment is none.
    """
    return await reading.make_once(("boards", task, at), lambda: _task_boards(reading, task, at),
                                   lambda shown: shown.size)


async def _task_boards(reading: Reading, task: str, at: str | None) -> Shown:
    items = reading.settings.items
    boards, database = await reading.read(lambda opened: (_read(opened, task, items), opened.database), at)
    if isinstance(boards, Shown):
        return boards
    return await reading.draw(lambda: Shown(_averaged(boards, database).tasks[0]))


def _read(opened: Opened, task: str, items: int) -> Shown | Snapshot:
    connection, moment = opened.connection, opened.database.moment
    try:
        found = snapshot(connection, task, items=items, pairs=ALL_PAIRS)
    except HiddenError as hidden:
        return Shown(None, str(hidden), tuple(ladders(connection, task)))
    if not found.boards:
        raise MismatchError(f"{task}: {NOT_COMPARED}")
    try:
        asked = tuple(find_questions(connection, Macro(), Choice(task)))
    except MismatchError:  # what was just submitted has no scores yet; the boards are there all the same, and say so
        asked = ()
    found = detailed(connection, found, items, moment)
    return replace(found if moment is None else found.past(moment), asked=asked)


def _averaged(found: Snapshot, database: Database) -> Snapshot:
    """The same with averages over test sets: those that are not kept are made for as long as they are shown."""
    try:
        archive = Archive(database, Journal("serve", {}), dry_run=True)
        return found.with_averages(load_macro_boards(found.asked, archive))
    except MismatchError:  # as above, of what was written since
        return found


def open_tasks(opened: Opened) -> tuple[list[str], list[str]]:
    """The tasks whose leaderboards are shown, and why others are not."""
    missing = unshown(opened.connection)
    try:
        tasks = catalog.tasks(opened.connection)
    except (HiddenError, InputError):  # all are hidden, or there is none
        tasks = []
    return [row.slug for row in tasks if row.slug not in missing], list(missing.values())
