"""What a page says of its task beside the numbers, where these come from, and what is known of the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from registry.errors import counted
from registry.identity import plain_value
from registry.leaderboards.leaderboard import Leaderboard
from registry.leaderboards.snapshot import TaskAbout, TaskBoards
from registry.manifest.spec import FACTS, Task
from registry.reports.page.data.columns import Json, embedded
from registry.reports.publishing.citations import bibtex

DESCRIPTIONS = 160_000  # bytes of what systems say of themselves; those of the first boards' best systems come first
_PREVIEW = 300  # characters that other pages show of a description
_LONGEST = 300  # characters of an address, or of the name of a number
_LINKS = ("paper", "code")


def page_about(contents: TaskBoards) -> Json:
    """What stands at the head and the foot of a page, in words; what the task does not declare is left out.

    `description` is a paragraph on it, `facts` who held it, when, and so on, `provenance` where the numbers come from,
    `citation` what to cite, as the task declares it, `entry` the same for BibTeX, and `preview` what pages that link
    here show of it.
    """
    about, task = contents.about, contents.about.declared
    description = " ".join(task.description.split())
    return {"description": description, "facts": tuple(_facts(task)), "provenance": tuple(_provenance(about)),
            "citation": task.citation or "", "entry": bibtex(task, task.date or about.compared),
            "preview": _preview(contents, description)}


def web_address(text: Any) -> str | None:
    """An address of the web, which may become a link; None for all else, which a link could run.

    >>> web_address("https://example.org/a"), web_address("javascript:alert(1)"), web_address(7)
    ('https://example.org/a', None, None)
    """
    try:
        parts = urlsplit(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return text if parts and parts.scheme in ("http", "https") and parts.netloc else None


def systems_data(boards: Sequence[Leaderboard]) -> Json:
    """Facts and numbers by the names of submissions, and of how many the description had no room."""
    room, left_out, found = DESCRIPTIONS, 0, dict[str, Json]()
    for of in (of for board in boards for of in board.standings):
        if not of.attributes or of.submission in found:
            continue
        known = {name: plain_value(value) for name, value in of.attributes.items() if _is_shown(name, value)}
        room -= len(embedded(known).encode())
        if room < 0 and known.pop("description", None) is not None:
            left_out += 1
        if known:
            found[of.submission] = known
    return {"of": found, "left_out": left_out}


def _is_shown(name: str, value: Any) -> bool:
    """Whether something that is declared of a system belongs on a page: a fact, or a number to hold scores against."""
    if isinstance(value, bool) or len(name) > _LONGEST or (name != "description" and len(str(value)) > _LONGEST):
        return False
    if name in _LINKS:
        return web_address(value) is not None
    return isinstance(value, int | float) or (name in FACTS and isinstance(value, str))


def _fact(name: str, text: str, address: str | None = None) -> Json:
    """Something that is known of a task: what, and where to read on if that is an address of the web."""
    return {"name": name, "text": text, "address": address}


def _facts(task: Task) -> Iterator[Json]:
    deadline = f"{task.deadline:%Y-%m-%d %H:%M %Z}" if task.deadline else None
    told = {"Organisers": ", ".join(task.organisers), "Date": task.date, "Deadline": deadline,
            "Licence": task.licence, "Contact": task.contact, "Task": task.url}
    for name, text in told.items():
        if text:
            yield _fact(name, text, web_address(text))


def _provenance(about: TaskAbout) -> Iterator[Json]:
    if about.compared:
        yield _fact("Compared", about.compared)
    if about.computed_by:
        yield _fact("Computed by", ", ".join(f"{name} {version}" for name, version in about.computed_by.items()))
    for test_set, digest in about.gold.items():
        yield _fact(f"Gold of {test_set}", digest)
    yield _fact("Licence", about.declared.licence or "none is declared: ask the organisers before you reuse it")


def _preview(contents: TaskBoards, said: str) -> str:
    if not said and contents.boards:
        first = contents.primary_first[0]
        said = f"{counted(len(first.standings), 'system')} on {first.test_set} by {first.metric_title}."
    return said if len(said) <= _PREVIEW else f"{said[:_PREVIEW - 1]}…"
