"""Answers: parameters, forms, tags, pages that only a server has, and problems.

A tag is strong: it names the snapshot, the request and the form of the bytes. So the server compares tags without
making an answer. Problems are pages for people alone; programs get JSON (RFC 9457).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from registry.errors import suggest
from registry.identity import digest_lines
from registry.rendering.render import render_rows
from registry.reports.page.html import environment, hashed
from registry.serve.queries import Served
from registry.serve.source import ProblemError, Reading
from registry.version import __version__

MOST_ROWS, ROWS = 10_000, 1_000  # of a part of a table: at most, and where nobody says how many


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, what it is, and what it may be.

    Attributes:
        least, most: Of a whole number; without `least` it is a text.
        choices: What a text may be; none: any.
    """

    name: str
    about: str
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    default: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON Schema."""
        found: dict[str, Any] = {"type": "string"} if self.least is None else {"type": "integer", "minimum": self.least}
        found |= {"maximum": self.most} if self.most is not None else {}
        found |= {"enum": list(self.choices)} if self.choices else {}
        return found | ({"default": self.default} if self.default is not None else {})

    def read(self, text: str) -> Any:
        """The value that a text stands for.

        Raises:
            ProblemError: It cannot be one.
        """
        if self.least is not None:
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1
            if number < self.least or (self.most is not None and number > self.most):
                allowed = f"from {self.least} on" if self.most is None else f"from {self.least} to {self.most}"
                raise ProblemError(400, f"{self.name} must be a whole number {allowed}, not {text[:40]!r}")
            return number
        if self.choices and text not in self.choices:
            raise ProblemError(400, f"{self.name} cannot be {text[:40]!r}; {suggest(text, self.choices)}")
        return text


FORMAT = Parameter("format", "as which; else what the header Accept asks for, else json",
                   choices=("json", "jsonl", "csv", "tsv"))
AT = Parameter("at", "as it stood: a date (its end in UTC), a time with its zone, or a signature")
LIMIT = Parameter("limit", "how many rows", least=1, most=MOST_ROWS, default=ROWS)
OFFSET = Parameter("offset", "how many rows to leave out before them", least=0, default=0)
STATE = Parameter("state", "the state that the rows before were of, as links to further rows name it: 410 where the "
                           "registry has changed since")
PAGED = (LIMIT, OFFSET, STATE)


def read_parameters(given: QueryParams, known: Sequence[Parameter]) -> dict[str, Any]:
    """The values of all known parameters, None where they have none.

    Raises:
        ProblemError: One is unknown, stands twice, or cannot be what it is.
    """
    by_name: Mapping[str, Parameter] = {one.name: one for one in known}
    values = {one.name: one.default for one in known}
    seen: set[str] = set()
    for name, text in given.multi_items():
        if name not in by_name:
            raise ProblemError(400, f"there is no parameter {name[:40]!r} here; {suggest(name, by_name)}")
        if name in seen:
            raise ProblemError(400, f"{name} stands twice")
        seen.add(name)
        values[name] = by_name[name].read(text)
    return values


MEDIA = {
    "json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8", "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
}
FORMS = ("json", "jsonl", "csv", "tsv", "parquet", "html")  # of results of SQL
_ALSO = {"application/jsonl": "jsonl", "application/jsonlines": "jsonl"}


def choose_form(accept: str, forms: Sequence[str]) -> str:
    """The form that a header Accept asks for, of those that there are; the first where all are alike.

    >>> choose_form("text/csv, application/json;q=0.9", ("json", "csv"))
    'csv'
    >>> choose_form("text/html,application/xhtml+xml,*/*;q=0.8", ("json", "csv"))
    'json'

    Raises:
        ProblemError: It allows none of them.
    """
    wanted = [_range(part) for part in accept.split(",") if part.strip()] or [("*/*", 1.0)]
    scores = {form: _quality(form, wanted) for form in forms}
    best = max(scores.values())
    if best <= 0:
        raise ProblemError(406, f"there is {', '.join(forms)} here, and none of them is asked for; mend Accept or say "
                           f"format={forms[0]}")
    return next(form for form in forms if scores[form] == best)


def _range(part: str) -> tuple[str, float]:
    """A media type and how much it is wanted."""
    media, *options = (piece.strip().lower() for piece in part.split(";"))
    quality = 1.0
    for option in options:
        name, _, value = option.partition("=")
        if name.strip() == "q":
            try:
                quality = min(1.0, max(0.0, float(value)))
            except ValueError:
                quality = 0.0
    return media, quality


def _quality(form: str, wanted: Sequence[tuple[str, float]]) -> float:
    """How much a form is wanted: the most exact range says so."""
    media = MEDIA[form].partition(";")[0]
    names = {media, *(name for name, of in _ALSO.items() if of == form)}
    for ranges in (names, {f"{media.partition('/')[0]}/*"}, {"*/*"}):
        if found := [quality for name, quality in wanted if name in ranges]:
            return max(found)
    return 0.0


def write_rows(keys: Sequence[str], rows: Iterable[Sequence[Any]], form: str) -> bytes:
    """Rows as a form, as all commands write it."""
    return "".join(render_rows(keys, rows, form)).encode("utf-8", "backslashreplace")


_SMALL = 1000  # bytes that are not worth compressing


@dataclass(frozen=True)
class Content:
    """Bytes of a media type, with what else is said of them."""

    media: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


async def respond(request: Request, served: Served, key: tuple[Hashable, ...],
                  make: Callable[[Reading], Awaitable[Content]]) -> Response:
    """Answer from the newest snapshot, or with 304 if the client has that answer.

    Args:
        request: The request, with its headers.
        served: The snapshots and settings.
        key: Distinguishes the answer from all others that are made of the same snapshot.
        make: Makes it.
    """
    zipped = accepts_gzip(request.headers.get("accept-encoding", ""))

    async def content_of(reading: Reading) -> Content:
        return await reading.make_once(key, lambda: make(reading), _size)

    async def compress(reading: Reading) -> Content:
        content = await content_of(reading)
        return content if len(content.body) <= _SMALL else await reading.draw(lambda: _compressed(content))

    async def answer(reading: Reading) -> Content:
        if not zipped:
            return await content_of(reading)
        return await reading.make_once((*key, "gzip"), lambda: compress(reading), _size)

    with served.source.lease() as reading:
        tag = _tag(reading.snapshot.name, key, zipped=zipped)
        headers = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": served.settings.caching}
        is_not_new = is_known(request, tag)
        if not is_not_new:
            content = await answer(reading)
        reading.remember((*key, zipped), answer)
    if is_not_new or request.headers.get("if-none-match", "").strip() == "*":  # `*` only if there is an answer
        return Response(status_code=304, headers=headers)
    return Response(content.body, headers={**content.headers, **headers, "Content-Type": content.media})


def _compressed(content: Content) -> Content:
    body = gzip.compress(content.body, 6, mtime=0)
    return replace(content, body=body, headers={**content.headers, "Content-Encoding": "gzip"})


def _size(content: Content) -> int:
    return len(content.body) + 500


def _tag(state: str, key: tuple[Hashable, ...], *, zipped: bool) -> str:
    request = digest_lines([state, *map(repr, key)]).partition(":")[2][:20]
    return f'"{state}-{request}{"-gzip" if zipped else ""}"'


def is_known(request: Request, tag: str) -> bool:
    """Whether the client has what bears a tag; proxies that compress it mark that as weak."""
    return tag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]


def accepts_gzip(header: str) -> bool:
    """Whether a header Accept-Encoding allows compressed answers.

    >>> accepts_gzip("br, gzip;q=1.0"), accepts_gzip("gzip;q=0, identity"), accepts_gzip("")
    (True, False, False)
    """
    for part in header.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def render_page(template: str, **values: object) -> Content:
    """A page of a template, which escapes all values, with its policy."""
    body = _environment().get_template(template).render(
        style=Markup(_style()), program=__version__, **values).encode()  # noqa: S704
    return Content(MEDIA["html"], body, {"Content-Security-Policy": _policy()})


def notice(title: str, *sentences: str, excerpt: str = "", tables: object = ()) -> Content:
    """A page that says something; `tables` have a title, columns, rows of cells, and captions."""
    return render_page("notice.html", title=title, sentences=sentences, excerpt=excerpt, tables=tables)


def answer_problem(request: Request, problem: ProblemError) -> Response:
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
        return choose_form(request.headers.get("accept", ""), ("json", "html")) == "html"
    except ProblemError:
        return False


def _title(status: int) -> str:
    return HTTPStatus(status).phrase


@cache
def _environment() -> Environment:
    """The templates; what is `shown` of a value of JSON is a text as it is, and all else as JSON writes it."""
    found = environment("registry.serve")
    found.filters["shown"] = lambda cell: cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return found


@cache
def _style() -> str:
    shared = files("registry.reports.page") / "styles"
    return "".join((shared / name).read_text("utf-8") for name in ("base.css", "table.css", "media.css")) + (
        files("registry.serve") / "templates" / "query.css").read_text("utf-8")


@cache
def _policy() -> str:
    return (f"default-src 'none'; style-src {hashed(_style())}; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'")
