"""Answers with tags, by which clients ask whether anything is new, and compressed if clients accept that.

A tag is strong: it names the snapshot, the request and the form of the bytes. So the server compares tags without
making an answer.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from starlette.requests import Request
from starlette.responses import Response

from registry.identity import digest_lines
from registry.serving.reading.source import Reading
from registry.serving.served import Served

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
