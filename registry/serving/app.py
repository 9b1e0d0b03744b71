"""The application: what is at which address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from registry.errors import RegistryError
from registry.query import schema
from registry.serving import pages
from registry.serving.answers.forms import MEDIA
from registry.serving.answers.html import told
from registry.serving.answers.parameters import read
from registry.serving.answers.problems import FAILED, ProblemError, problem_of
from registry.serving.answers.respond import Content, respond
from registry.serving.guard import Guard
from registry.serving.openapi import description
from registry.serving.reading.source import Reading
from registry.serving.served import Served
from registry.serving.sql import sql
from registry.serving.tables import TABLES

_Answer = Callable[[Served, Request], Awaitable[Response]]
_ROUTES: dict[str, _Answer] = {
    "/": pages.index, "/index.html": pages.index, "/feed.xml": pages.changed,
    "/tasks/{task}": pages.task, "/tasks/{folder}/{board:int}/{place:int}.js": pages.pairs_of,
    **{table.path: table.answer for table in TABLES},
}


def application(served: Served) -> ASGIApp:
    """What answers requests (ASGI)."""
    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(served.source.follow())
        try:
            yield
        finally:
            following.cancel()
            served.close()

    routes = [Route(path, partial(answer, served), methods=["GET"]) for path, answer in _ROUTES.items()]
    routes += [Route("/openapi.json", partial(_openapi, served), methods=["GET"]),
               Route("/sql", partial(sql, served), methods=["GET", "POST"])]
    handlers = dict.fromkeys((ProblemError, RegistryError), _told)
    app = Starlette(routes=routes, lifespan=running,
                    exception_handlers={**handlers, HTTPException: _told_of_http, Exception: _failed})
    app.router.redirect_slashes = False
    return Guard(app, served.settings)


async def _openapi(served: Served, request: Request) -> Response:
    read(request.query_params, ())
    return await respond(request, served, ("openapi",), _described)


async def _described(reading: Reading) -> Content:
    things = await reading.read(lambda opened: schema.load_data_model(opened.connection))
    return Content(MEDIA["json"], (json.dumps(description(things), indent=2, ensure_ascii=False) + "\n").encode())


def _told(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    return _failed(request, error) if problem is None else told(request, problem)


def _told_of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {404: "there is nothing at this address; / has all leaderboards, /openapi.json says what else there is",
               405: "nothing can be changed here: GET and HEAD alone are answered, and POST at /sql"}
    return told(request, ProblemError(error.status_code, message.get(error.status_code, error.detail),
                                 headers=dict(error.headers or {})))


def _failed(request: Request, _: Exception) -> Response:
    """What nobody foresaw: the server's log has it, with its traceback."""
    return told(request, ProblemError(500, FAILED))
