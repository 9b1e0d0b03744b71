"""A table of the interface for programs: where it is, what its rows are, and how it is answered, all or in parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from registry.serving.answers.forms import MEDIA, chosen, written
from registry.serving.answers.parameters import FORMAT, PAGED, Parameter, read
from registry.serving.answers.problems import ProblemError
from registry.serving.answers.respond import Content, respond
from registry.serving.reading.source import Reading
from registry.serving.served import Served

Asked = Mapping[str, Any]  # the values of what stands in the path and behind the question mark


@dataclass(frozen=True)
class Rows:
    """Rows: their keys, how many there are, and some of them, from a place on."""

    keys: Sequence[str]
    total: int
    part: Callable[[int, int], Iterable[Sequence[Any]]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Rows:
        """Rows that are all at hand."""
        return cls(keys, len(rows), lambda start, n: ([row.get(key) for key in keys] for row in rows[start:start + n]))


@dataclass(frozen=True)
class Endpoint:
    """A table.

    Attributes:
        path: Where it is, with what stands for a value in braces.
        about: What its rows are.
        rows: Reads them.
        schema: The name of the schema of a row.
        parameters: What may be asked for beside the form.
        paged: Whether it is answered in parts.
    """

    path: str
    about: str
    rows: Callable[[Reading, Asked], Awaitable[Rows]]
    schema: str
    parameters: tuple[Parameter, ...] = ()
    paged: bool = False

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """All that may stand behind the question mark."""
        return (*self.parameters, *(PAGED if self.paged else ()), FORMAT)

    async def answer(self, served: Served, request: Request) -> Response:
        """Answer with its rows."""
        asked = {**request.path_params, **read(request.query_params, self.all_parameters)}
        form = asked["format"] = asked["format"] or chosen(request.headers.get("accept", ""), FORMAT.choices)
        key: tuple[Hashable, ...] = (self.path, *asked.items())

        async def make(reading: Reading) -> Content:
            if asked.get("state") not in (None, reading.snapshot.name):
                raise ProblemError(410, "the registry has changed since; begin again with the first rows")
            rows = await self.rows(reading, asked)
            return await reading.draw(lambda: self._content(rows, asked, form, reading.snapshot.name))

        return await respond(request, served, key, make)

    def _content(self, rows: Rows, asked: Asked, form: str, state: str) -> Content:
        start, n = asked.get("offset", 0), asked.get("limit", rows.total)
        headers = {"X-Total-Count": str(rows.total)}
        if self.paged and (links := _links(asked, self.all_parameters, rows.total, state)):
            headers["Link"] = links
        return Content(MEDIA[form], written(rows.keys, rows.part(start, n), form), headers)


def _links(asked: Asked, parameters: Sequence[Parameter], total: int, state: str) -> str:
    """Where the first, the previous, the next and the last part are, all of one state."""
    start, n = asked["offset"], asked["limit"]
    at = {"first": 0, "prev": max(0, start - n) if start else None, "next": start + n if start + n < total else None,
          "last": (total - 1) // n * n if total else 0}
    said = {of.name: asked[of.name] for of in parameters if asked.get(of.name) is not None}
    return ", ".join(f'<?{urlencode(said | {"offset": offset, "state": state})}>; rel="{rel}"'
                     for rel, offset in at.items() if offset is not None)
