"""The forms that answers have: which one a client asks for, and rows written as it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from registry.rendering.render import lines
from registry.serving.answers.problems import ProblemError

MEDIA = {
    "json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8; header=present",
    "tsv": "text/tab-separated-values; charset=utf-8", "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
}
_ALSO = {"application/jsonl": "jsonl", "application/jsonlines": "jsonl"}


def chosen(accept: str, forms: Sequence[str]) -> str:
    """The form that a header Accept asks for, of those that there are; the first where all are alike.

    >>> chosen("text/csv, application/json;q=0.9", ("json", "csv"))
    'csv'
    >>> chosen("text/html,application/xhtml+xml,*/*;q=0.8", ("json", "csv"))
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


def written(keys: Sequence[str], rows: Iterable[Sequence[Any]], form: str) -> bytes:
    """Rows as a form, as all commands write it."""
    return "".join(lines(keys, rows, form)).encode("utf-8", "backslashreplace")
