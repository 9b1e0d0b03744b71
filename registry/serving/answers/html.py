"""Pages that only a server has, in the style of the others: notices, problems, and the form for SQL.

Problems are pages for people alone; programs get JSON (RFC 9457).
"""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from registry.reports.page.html import environment, hashed
from registry.serving.answers.forms import MEDIA, chosen
from registry.serving.answers.problems import ProblemError
from registry.serving.answers.respond import Content
from registry.version import __version__


def written(template: str, **values: object) -> Content:
    """A page of a template, which escapes all values, with its policy."""
    body = _environment().get_template(template).render(
        style=Markup(_style()), program=__version__, **values).encode()  # noqa: S704
    return Content(MEDIA["html"], body, {"Content-Security-Policy": _policy()})


def notice(title: str, *sentences: str, excerpt: str = "", tables: object = ()) -> Content:
    """A page that says something; `tables` have a title, columns, rows of cells, and captions."""
    return written("notice.html", title=title, sentences=sentences, excerpt=excerpt, tables=tables)


def told(request: Request, problem: ProblemError) -> Response:
    """Answer with a problem."""
    if _is_for_people(request):
        page = notice(_title(problem.status), problem.message, excerpt=problem.excerpt)
        return Response(page.body, problem.status, {**page.headers, **problem.headers, "Content-Type": page.media})
    said = {"status": problem.status, "title": _title(problem.status), "detail": problem.message}
    if problem.excerpt:
        said["excerpt"] = problem.excerpt
    return Response(json.dumps(said, indent=2) + "\n", problem.status,
                    {**problem.headers, "Content-Type": "application/problem+json"})


def _is_for_people(request: Request) -> bool:
    """Whether a browser shows it."""
    if request.url.path.startswith(("/api", "/openapi")):
        return False
    try:
        return chosen(request.headers.get("accept", ""), ("json", "html")) == "html"
    except ProblemError:
        return False


def _title(status: int) -> str:
    return HTTPStatus(status).phrase


@cache
def _environment() -> Environment:
    """The templates; what is `shown` of a value of JSON is a text as it is, and all else as JSON writes it."""
    found = environment("registry.serving.answers")
    found.filters["shown"] = lambda cell: cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return found


@cache
def _style() -> str:
    shared = files("registry.reports.page") / "styles"
    return "".join((shared / name).read_text("utf-8") for name in ("base.css", "table.css", "media.css")) + (
        files("registry.serving.answers") / "templates" / "query.css").read_text("utf-8")


@cache
def _policy() -> str:
    return (f"default-src 'none'; style-src {hashed(_style())}; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'")
