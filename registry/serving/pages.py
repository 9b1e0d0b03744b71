"""The pages of the site as they are now, by the addresses that `registry site` gives them."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response

from registry.errors import UnknownNameError
from registry.leaderboards.ladders import Ladder
from registry.leaderboards.site.changes import changes
from registry.rendering.table import cells
from registry.reports.boards import ladder_table
from registry.reports.page import feed, pair_file, site_index
from registry.reports.page import page as task_page
from registry.serving.answers.forms import MEDIA
from registry.serving.answers.html import notice
from registry.serving.answers.parameters import AT, read
from registry.serving.answers.problems import ProblemError, for_readers
from registry.serving.answers.respond import Content, respond
from registry.serving.reading.boards import Shown, open_tasks, task_boards
from registry.serving.reading.source import Found
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
    return await respond(request, served.source, ("index",), lambda: _index(served))


async def _index(served: Served) -> Found[Content]:
    cards = await served.cards.read(served.source)
    return await served.source.draw(cards.state, lambda: Content(
        MEDIA["html"], site_index(*cards.value).encode(), _PAGE))


async def changed(served: Served, request: Request) -> Response:
    """The feed of what changed, whose links lead to where it was asked for: programs keep it apart from its place."""
    read(request.query_params, ())
    address = served.settings.url or address_of(request.url.scheme, request.headers.get("host", ""))
    return await respond(request, served.source, ("feed", address), lambda: _changed(served, address))


def address_of(scheme: str, host: str) -> str:
    """The address of the site as a request names it; nothing where its header Host is none.

    >>> [address_of("http", host) for host in ("eval.example.org", "[::1]:8000", '127.0.0.1:80"/><a', "a/b", "a@b", "")]
    ['http://eval.example.org/', 'http://[::1]:8000/', '', '', '', '']
    """
    return f"{scheme}://{host}/" if scheme in ("http", "https") and _HOST.fullmatch(host) else ""


async def _changed(served: Served, address: str) -> Found[Content]:
    found = await served.source.kept(
        ("changes",), lambda: served.source.read(lambda opened: changes(opened.connection, open_tasks(opened)[0])),
        lambda found: _OF_A_CHANGE * len(found.changes))
    return await served.source.draw(found.state, lambda: Content(_ATOM, feed(found.value, address).encode()))


async def task(served: Served, request: Request) -> Response:
    """The page of a task, by its id with or without .html."""
    name, at = request.path_params["task"], read(request.query_params, (AT,))["at"]
    return await respond(request, served.source, ("page", name, at), lambda: _task(served, name, at))


async def _task(served: Served, name: str, at: str | None) -> Found[Content]:
    try:
        found = await task_boards(served.source, name, at, served.settings.items)
    except UnknownNameError:
        if not name.endswith(_FILE):
            raise
        found = await task_boards(served.source, name := name.removesuffix(_FILE), at, served.settings.items)
    return await served.source.draw(found.state, lambda: _page(name, found.value, at))


def _page(name: str, shown: Shown, at: str | None) -> Content:
    if shown.boards is None:
        return notice(name, for_readers(shown.hidden), tables=[_plain(ladder) for ladder in shown.ladders])
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
    return await respond(request, served.source, ("pairs file", folder, board, place),
                         lambda: _pairs_of(served, folder.removesuffix(_PAIRS), board, place))


async def _pairs_of(served: Served, name: str, board: int, place: int) -> Found[Content]:
    found = await task_boards(served.source, name, None, served.settings.items)
    boards = found.value.open.primary_first
    drawn = await served.source.draw(found.state, lambda: pair_file(boards, board, place))
    if drawn.value is None:
        raise ProblemError(404, f"the page of {name} holds all pairs of that system, or there is no such system")
    return Found(found.state, Content("text/javascript; charset=utf-8", drawn.value.encode()))
