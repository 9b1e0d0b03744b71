"""The tables for programs: what `registry list`, `board`, `pairs` and `items` print, by the same keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.boards import items as of_task
from registry.boards.choose import with_pairs
from registry.boards.leaderboard import SHARED_KEYS, Leaderboard
from registry.errors import UnknownNameError
from registry.reports.boards import board_table
from registry.reports.columns import BOARD_KEYS, PAIR_KEYS
from registry.reports.items import item_table
from registry.serving.answers.parameters import AT, Parameter
from registry.serving.answers.problems import ProblemError
from registry.serving.endpoint import Asked, Endpoint, Rows
from registry.serving.reading.boards import task_boards
from registry.serving.reading.source import Opened, Reading
from registry.store import catalog, history

_OF_A_ROW = 400  # bytes
_ALL = 2**31
_NO_TEXTS = "items are not shown here; `registry serve --items N` shows them"
ITEM_LISTS = {"disagree": of_task.disagreed, "hard": of_task.hard, "suspect": of_task.suspect}

BOARD_LIST_KEYS = ("board", *SHARED_KEYS, "title", "better", "unit", "test", "alternative", "correction", "alpha",
                   "items", "units", "systems", "pairs", "best", "sentences", "footnotes", "warnings")
TASK_KEYS = ("id", "title", "version", "seed", "test_sets", "submissions", "date", "deadline", "licence", "url")
SUBMISSION_KEYS = ("id", "task", "test_set", "team", "system", "version", "track", "kind", "withdrawn", "late",
                   "ranked", "created_at")


async def tasks(reading: Reading, _: Asked) -> Rows:
    """Every task, also those whose scores are hidden."""
    return await reading.read(lambda opened: Rows.of(history.list_tasks(opened.connection)[1], TASK_KEYS))


async def metrics(reading: Reading, asked: Asked) -> Rows:
    """The metrics of a task."""
    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        found = [{"id": of.alias, "name": of.name, "better": of.better, "primary": of.is_primary}
                 for of in catalog.task_metrics(opened.connection, row.task_id)]
        return Rows.of(found, ("id", "name", "better", "primary"))

    return await reading.read(read)


async def boards(reading: Reading, asked: Asked) -> Rows:
    """The boards of a task."""
    shown = await task_boards(reading, asked["task"], asked["at"])
    return Rows.of([_board_row(n, board) for n, board in enumerate(shown.open.boards)], BOARD_LIST_KEYS)


def _board_row(n: int, board: Leaderboard) -> dict[str, Any]:
    by = board.comparison
    return board.shared | {
        "board": n, "title": board.title, "better": board.better, "unit": by.unit, "test": by.test,
        "alternative": by.alternative, "correction": by.correction, "alpha": by.alpha, "items": by.n_items,
        "units": by.n_units, "systems": len(board.standings), "pairs": len(board.decisions),
        "best": board.standings[0].submission, "sentences": list(board.sentences), "footnotes": list(board.footnotes),
        "warnings": board.warnings}


async def standings(reading: Reading, asked: Asked) -> Rows:
    """The systems of a board, best first."""
    return Rows.of(board_table(await _board(reading, asked)).rows, BOARD_KEYS)


async def pairs(reading: Reading, asked: Asked) -> Rows:
    """The pairs of a board, those of the best systems first."""
    (board,) = with_pairs([await _board(reading, asked)], asked["system"], asked["top"], asked["neighbours"])
    decisions = board.decisions

    def part(start: int, n: int) -> list[list[Any]]:
        return [[decision.row[key] for key in PAIR_KEYS] for decision in decisions[start:start + n]]

    return Rows(PAIR_KEYS, len(decisions), part)


async def _board(reading: Reading, asked: Asked) -> Leaderboard:
    known = (await task_boards(reading, asked["task"], asked["at"])).open.boards
    if asked["board"] >= len(known):
        raise ProblemError(404, f"{asked['task']} has the boards 0 to {len(known) - 1}; "
                           f"/api/tasks/{asked['task']}/boards lists them")
    return known[asked["board"]]


async def submissions(reading: Reading, asked: Asked) -> Rows:
    """The submissions to a task."""
    def read(opened: Opened) -> Rows:
        _, known = history.list_tasks(opened.connection)
        if asked["task"] not in (names := [row["id"] for row in known]):
            raise UnknownNameError("task", asked["task"], names)
        found = [row for row in history.list_submissions(opened.connection)[1] if row["task"] == asked["task"]]
        return Rows.of(found, SUBMISSION_KEYS)

    return await _cached_rows(reading, ("submissions", asked["task"]), read)


async def items(reading: Reading, asked: Asked) -> Rows:
    """The items of a task to look at."""
    if not reading.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        found = ITEM_LISTS[asked["list"]](opened.connection, row, _ALL)
        return Rows.of(found, tuple(found[0]) if found else ("task", "test_set", "item"))

    return await _cached_rows(reading, ("items", asked["task"], asked["list"]), read)


async def item(reading: Reading, asked: Asked) -> Rows:
    """What everybody says of an item."""
    if not reading.settings.shows_texts:
        raise ProblemError(403, _NO_TEXTS)

    def read(opened: Opened) -> Rows:
        (row,) = catalog.tasks(opened.connection, asked["task"])
        tables = [item_table(view) for view in of_task.item_views(opened.connection, row, asked["item"])]
        keys = list(dict.fromkeys(key for table in tables for key in table.keys))
        return Rows.of([dict(row) for table in tables for row in table.rows], keys)

    return await reading.read(read)


async def _cached_rows(reading: Reading, key: tuple[str, ...], read: Callable[[Opened], Rows]) -> Rows:
    """Read rows once for all of their parts."""
    return await reading.make_once(("rows", *key), lambda: reading.read(read), lambda rows: _OF_A_ROW * rows.total)


TABLES = (
    Endpoint("/api/tasks", "every task", tasks, "task"),
    Endpoint("/api/tasks/{task}/metrics", "the metrics of a task", metrics, "metric"),
    Endpoint("/api/tasks/{task}/boards", "the leaderboards of a task, by numbers from 0 in the order of its manifest",
             boards, "board", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/standings", "the systems of a leaderboard, best first; as "
             "`registry board --format json`", standings, "standing", (AT,)),
    Endpoint("/api/tasks/{task}/boards/{board:int}/pairs", "the pairs of a leaderboard, those of the best systems "
             "first; as `registry pairs --format json`", pairs, "pair", (
                 Parameter("system", "only the pairs of this system"),
                 Parameter("top", "only pairs among so many of the best systems", least=2),
                 Parameter("neighbours", "only pairs at most so many places apart", least=1), AT), paged=True),
    Endpoint("/api/tasks/{task}/submissions", "the submissions to a task; as `registry list submissions`", submissions,
             "submission", paged=True),
    Endpoint("/api/tasks/{task}/items", "the items of a task to look at; as `registry items`", items, "item", (
        Parameter("list", "those on which systems disagree most, those with the worst scores, or those on which all "
                  "contradict the gold", choices=tuple(ITEM_LISTS), default="disagree"),), paged=True),
    Endpoint("/api/tasks/{task}/items/{item:path}", "what everybody says of an item, the gold first; as `registry "
             "items TASK show`", item, "output"),
)
