"""HTTP responses: parameters, formats, ETags, simple pages, and errors.

An ETag is strong: it depends on the snapshot, the request and the format. The server can therefore compare ETags
without making the content. An error is sent to browsers as a page, and to programs as JSON (RFC 9457).
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
from registry.reports.page.html import hash_source, make_environment
from registry.serve.queries import Served
from registry.serve.source import CachedSnapshot, ProblemError
from registry.version import __version__

MAX_ROWS, DEFAULT_ROWS = 10_000, 1_000  # number of rows in one response


@dataclass(frozen=True)
class Parameter:
    """A parameter that may follow the question mark in a URL.

    Attributes:
        name: Name of the parameter.
        about: Description for the documentation.
        least: Smallest permitted integer; None if the value is a text.
        most: Largest permitted integer; None means no limit.
        choices: Permitted texts; empty if every text is permitted.
        default: Value if the request does not have the parameter.
    """

    name: str
    about: str
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    default: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the parameter's value."""
        schema: dict[str, Any] = {"type": "string"} if self.least is None else {
            "type": "integer", "minimum": self.least}
        schema |= {"maximum": self.most} if self.most is not None else {}
        schema |= {"enum": list(self.choices)} if self.choices else {}
        return schema | ({"default": self.default} if self.default is not None else {})

    def read(self, text: str) -> Any:
        """Convert the text of the parameter in a request to its value.

        Raises:
            ProblemError: The value is not permitted.
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


FORMAT = Parameter("format", "the format; otherwise that of the header Accept, otherwise json",
                   choices=("json", "jsonl", "csv", "tsv"))
AT = Parameter("at", "an earlier state: a date (its end in UTC), a time with its zone, or a signature")
LIMIT = Parameter("limit", "the number of rows", least=1, most=MAX_ROWS, default=DEFAULT_ROWS)
OFFSET = Parameter("offset", "the number of rows to skip", least=0, default=0)
STATE = Parameter("state", "the state of earlier rows, as in links to more rows; status 410 if the registry changed "
                           "since")
PAGED = (LIMIT, OFFSET, STATE)


def read_parameters(query: QueryParams, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the values of all parameters of a request, by name.

    Args:
        query: The part of the URL after the question mark.
        parameters: The permitted parameters. Parameters that the request does not have get their defaults.

    Raises:
        ProblemError: A name is unknown or occurs twice, or a value is not permitted.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    values = {parameter.name: parameter.default for parameter in parameters}
    names: set[str] = set()
    for name, text in query.multi_items():
        if name not in by_name:
            raise ProblemError(400, f"unknown parameter {name[:40]!r}; {suggest(name, by_name)}")
        if name in names:
            raise ProblemError(400, f"parameter {name} occurs twice; remove one")
        names.add(name)
        values[name] = by_name[name].read(text)
    return values


MEDIA = {
    "json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8", "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
}
FORMS = ("json", "jsonl", "csv", "tsv", "parquet", "html")  # results of SQL
_OTHER_MEDIA = {"application/jsonl": "jsonl", "application/jsonlines": "jsonl"}


def choose_form(accept: str, forms: Sequence[str]) -> str:
    """Return the response format that an HTTP Accept header prefers.

    If the header prefers several formats equally, the first of these in `forms` is returned.

    >>> choose_form("text/csv, application/json;q=0.9", ("json", "csv"))
    'csv'
    >>> choose_form("text/html,application/xhtml+xml,*/*;q=0.8", ("json", "csv"))
    'json'

    Raises:
        ProblemError: The header accepts none of the formats.
    """
    accepted = [_parse_media_range(part) for part in accept.split(",") if part.strip()] or [("*/*", 1.0)]
    scores = {form: _get_quality(form, accepted) for form in forms}
    best = max(scores.values())
    if best <= 0:
        raise ProblemError(406, f"the header Accept permits none of {', '.join(forms)}; correct it, or add "
                           f"format={forms[0]} to the address")
    return next(form for form in forms if scores[form] == best)


def _parse_media_range(part: str) -> tuple[str, float]:
    """Parse one part of an Accept header: `text/csv;q=0.5` -> ("text/csv", 0.5)."""
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


def _get_quality(form: str, accepted: Sequence[tuple[str, float]]) -> float:
    """Return how much an HTTP client prefers a format, from 0 to 1.

    The header `Accept` contains media ranges such as `text/*`. The most specific range that matches the format decides.

    Args:
        form: The format, such as `csv`.
        accepted: Media range and quality of each part of the header.
    """
    media = MEDIA[form].partition(";")[0]
    names = {media, *(name for name, other in _OTHER_MEDIA.items() if other == form)}
    for ranges in (names, {f"{media.partition('/')[0]}/*"}, {"*/*"}):
        if qualities := [quality for name, quality in accepted if name in ranges]:
            return max(qualities)
    return 0.0


def write_rows(keys: Sequence[str], rows: Iterable[Sequence[Any]], form: str) -> bytes:
    """Convert the rows of a table to bytes in a format, such as CSV.

    The bytes are the same as those that commands print.
    """
    return "".join(render_rows(keys, rows, form)).encode("utf-8", "backslashreplace")


_MIN_COMPRESSED = 1000  # bytes; smaller content is not compressed


@dataclass(frozen=True)
class Content:
    """The content of an HTTP response: media type, body and additional headers."""

    media: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


async def respond(request: Request, served: Served, key: tuple[Hashable, ...],
                  make: Callable[[CachedSnapshot], Awaitable[Content]]) -> Response:
    """Respond to a request with content that is cached until the registry changes.

    The content comes from the cache, or is made from the newest snapshot (copy) of the registry. If the client already
    has it, the response has the status 304 and no content.

    Args:
        request: The request.
        served: The running service, with its snapshots and settings.
        key: Key that identifies the content among all content made from the same snapshot.
        make: Function that makes the content from a snapshot.
    """
    zipped = accepts_gzip(request.headers.get("accept-encoding", ""))

    async def load_content(snapshot: CachedSnapshot) -> Content:
        return await snapshot.make_once(key, lambda: make(snapshot), _measure_size)

    async def compress(snapshot: CachedSnapshot) -> Content:
        content = await load_content(snapshot)
        if len(content.body) <= _MIN_COMPRESSED:
            return content
        return await snapshot.run_in_thread(lambda: _compress(content))

    async def answer(snapshot: CachedSnapshot) -> Content:
        if not zipped:
            return await load_content(snapshot)
        return await snapshot.make_once((*key, "gzip"), lambda: compress(snapshot), _measure_size)

    with served.source.lease() as snapshot:
        tag = _make_tag(snapshot.file.name, key, zipped=zipped)
        headers = {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": served.settings.caching}
        is_known_content = is_cached_by_client(request, tag)
        if not is_known_content:
            content = await answer(snapshot)
        snapshot.remember((*key, zipped), answer)
    if is_known_content or request.headers.get("if-none-match", "").strip() == "*":  # `*`: any content
        return Response(status_code=304, headers=headers)
    return Response(content.body, headers={**content.headers, **headers, "Content-Type": content.media})


def _compress(content: Content) -> Content:
    body = gzip.compress(content.body, 6, mtime=0)
    return replace(content, body=body, headers={**content.headers, "Content-Encoding": "gzip"})


def _measure_size(content: Content) -> int:
    return len(content.body) + 500


def _make_tag(state: str, key: tuple[Hashable, ...], *, zipped: bool) -> str:
    request = digest_lines([state, *map(repr, key)]).partition(":")[2][:20]
    return f'"{state}-{request}{"-gzip" if zipped else ""}"'


def is_cached_by_client(request: Request, tag: str) -> bool:
    """Return True if the client already has some content, according to its request.

    A weak ETag in the request is accepted, because proxies make the ETag of compressed content weak.

    Args:
        request: The request.
        tag: ETag of the content.
    """
    tags = request.headers.get("if-none-match", "").split(",")
    return tag in [part.strip().removeprefix("W/") for part in tags]


def accepts_gzip(header: str) -> bool:
    """Return True if an Accept-Encoding header permits gzip.

    >>> accepts_gzip("br, gzip;q=1.0"), accepts_gzip("gzip;q=0, identity"), accepts_gzip("")
    (True, False, False)
    """
    for part in header.lower().split(","):
        name, _, quality = part.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def render_page(template: str, **values: object) -> Content:
    """Render an HTML page from a template, with a security policy in its headers.

    All values are escaped.
    """
    body = _load_templates().get_template(template).render(
        style=Markup(_load_style()), program=__version__, **values).encode()  # noqa: S704
    return Content(MEDIA["html"], body, {"Content-Security-Policy": _make_policy()})


def render_notice(title: str, *sentences: str, excerpt: str = "", tables: object = ()) -> Content:
    """Render a simple HTML page with sentences and tables.

    Args:
        title: Title of the page.
        sentences: Sentences on the page.
        excerpt: Excerpt of a query with a marked error.
        tables: Tables, each as a dictionary with the keys `title`, `columns`, `rows` (of cells) and `captions`.
    """
    return render_page("notice.html", title=title, sentences=sentences, excerpt=excerpt, tables=tables)


def answer_problem(request: Request, problem: ProblemError) -> Response:
    """Make the response for an error: an HTML page for browsers, JSON for programs."""
    if _is_browser(request):
        page = render_notice(HTTPStatus(problem.status).phrase, problem.message, excerpt=problem.excerpt)
        return Response(page.body, problem.status, {**page.headers, **problem.headers, "Content-Type": page.media})
    fields = {"status": problem.status, "title": HTTPStatus(problem.status).phrase, "detail": problem.message}
    if problem.excerpt:
        fields["excerpt"] = problem.excerpt
    return Response(json.dumps(fields, indent=2) + "\n", problem.status,
                    {**problem.headers, "Content-Type": "application/problem+json"})


def _is_browser(request: Request) -> bool:
    if request.url.path.startswith(("/api", "/openapi")):
        return False
    try:
        return choose_form(request.headers.get("accept", ""), ("json", "html")) == "html"
    except ProblemError:
        return False


@cache
def _load_templates() -> Environment:
    """Load the page templates of the server.

    The filter `shown` leaves texts unchanged and converts other values to JSON.
    """
    templates = make_environment("registry.serve")
    templates.filters["shown"] = lambda cell: cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return templates


@cache
def _load_style() -> str:
    shared = files("registry.reports.page") / "styles"
    return "".join((shared / name).read_text("utf-8") for name in ("base.css", "table.css", "media.css")) + (
        files("registry.serve") / "templates" / "query.css").read_text("utf-8")


@cache
def _make_policy() -> str:
    return (f"default-src 'none'; style-src {hash_source(_load_style())}; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'")
