"""The pages of the site as they are now, by the addresses that `registry site` gives them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from registry.boards.load import BOARD_PAIRS
from registry.boards.site import changes
from registry.boards.snapshot import TaskBoards, snapshot
from registry.boards.submissions import Ladder
from registry.errors import UnknownNameError
from registry.rendering.table import cells
from registry.reports.boards import ladder_table
from registry.reports.page import card, feed, pair_file, site_index
from registry.reports.page import page as task_page
from registry.serving.answers.forms import MEDIA
from registry.serving.answers.html import notice
from registry.serving.answers.parameters import AT, read
from registry.serving.answers.problems import ProblemError
from registry.serving.answers.respond import Content, respond
from registry.serving.reading.boards import Shown, open_tasks, task_boards
from registry.serving.reading.source import Opened, Reading
from registry.serving.served import Served

_FILE, _PAIRS = ".html", ".pairs"
_HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_OF_A_CHANGE = 2_000  # bytes
_ATOM = "application/atom+xml; charset=utf-8"
# A page has its own policy in itself; what shows it in a frame could have its reader click on something.
_PAGE = {"Content-Security-Policy": "frame-ancestors 'self'"}


async def index(served: Served, request: Request) -> Response:
    """The index: all tasks with boards."""
    read(request.query_params, ())
    return await respond(request, served, ("index",), _index)


async def _index(reading: Reading) -> Content:
    boards, missing = await reading.read(_shown)
    return await reading.draw(lambda: Content(MEDIA["html"], site_index(
        [card(f"tasks/{of.task}.html", of) for of in boards], missing).encode(), _PAGE))


def _shown(opened: Opened) -> tuple[Sequence[TaskBoards], list[str]]:
    """Read the boards of all tasks that show some, and why other tasks do not."""
    tasks, missing = open_tasks(opened)
    return snapshot(opened.connection, tasks, pairs=BOARD_PAIRS).tasks if tasks else (), missing


async def changed(served: Served, request: Request) -> Response:
    """The feed of what changed, whose links lead to where it was asked for: programs keep it apart from its place."""
    read(request.query_params, ())
    address = served.settings.url or address_of(request.url.scheme, request.headers.get("host", ""))
    return await respond(request, served, ("feed", address), lambda reading: _changed(reading, address))


def address_of(scheme: str, host: str) -> str:
    """The address of the site as a request names it; nothing where its header Host is none.

    >>> [address_of("http", host) for host in ("eval.example.org", "[::1]:8000", '127.0.0.1:80"/><a', "a/b", "a@b", "")]
    ['http://eval.example.org/', 'http://[::1]:8000/', '', '', '', '']
    """
    return f"{scheme}://{host}/" if scheme in ("http", "https") and _HOST.fullmatch(host) else ""


async def _changed(reading: Reading, address: str) -> Content:
    found = await reading.make_once(
        ("changes",), lambda: reading.read(lambda opened: changes(opened.connection, open_tasks(opened)[0])),
        lambda found: _OF_A_CHANGE * len(found.changes))
    return await reading.draw(lambda: Content(_ATOM, feed(found, address).encode()))


async def task(served: Served, request: Request) -> Response:
    """The page of a task, by its id with or without .html."""
    name, at = request.path_params["task"], read(request.query_params, (AT,))["at"]
    return await respond(request, served, ("page", name, at), lambda reading: _task(reading, name, at))


async def _task(reading: Reading, name: str, at: str | None) -> Content:
    try:
        shown = await task_boards(reading, name, at)
    except UnknownNameError:
        if not name.endswith(_FILE):
            raise
        shown = await task_boards(reading, name := name.removesuffix(_FILE), at)
    return await reading.draw(lambda: _page(name, shown, at))


def _page(name: str, shown: Shown, at: str | None) -> Content:
    if shown.boards is None:
        return notice(name, shown.hidden, tables=[_plain(ladder) for ladder in shown.ladders])
    folder = f"{name}{_PAIRS}" if at is None else None  # files of pairs are those of today
    page = task_page(shown.boards, home="../index.html", folder=folder)
    return Content(MEDIA["html"], page.encode(), _PAGE)


def _plain(ladder: Ladder) -> dict[str, object]:
    """A table as a notice has it."""
    table = ladder_table(ladder)
    columns, rows = cells(table)
    return {"title": table.title, "columns": [column.heading for column in columns], "rows": rows,
            "captions": table.captions}


async def pairs_of(served: Served, request: Request) -> Response:
    """The pairs of one system that a page of many systems has no room for."""
    read(request.query_params, ())
    folder, board, place = (request.path_params[name] for name in ("folder", "board", "place"))
    if not folder.endswith(_PAIRS):
        raise ProblemError(404, "there is no such file")
    name = folder.removesuffix(_PAIRS)
    return await respond(request, served, ("pairs file", name, board, place),
                         lambda reading: _pairs_of(reading, name, board, place))


async def _pairs_of(reading: Reading, name: str, board: int, place: int) -> Content:
    boards = (await task_boards(reading, name, None)).open.primary_first
    file = await reading.draw(lambda: pair_file(boards, board, place))
    if file is None:
        raise ProblemError(404, f"the page of {name} holds all pairs of that system, or there is no such system")
    return Content("text/javascript; charset=utf-8", file.encode())
