"""The index of a site: every task with its first leaderboard, to be searched and sorted; and systems over tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from registry.leaderboards.site.across import FirstBoard, first_board, overview
from registry.leaderboards.snapshot import TaskBoards
from registry.reports.page.data.columns import Json, embedded
from registry.reports.page.data.site import searched, task_entry, totals
from registry.reports.page.data.skyline import HEIGHT, WIDTH
from registry.reports.page.templates import policy, rendered, script, style

STYLES = ("base.css", "about.css", "site.css")
_SYSTEMS = 100  # of the overview
_TASKS = 8  # whose ranks it shows one by one


@dataclass(frozen=True)
class Card:
    """A task on the index: what is said of it, the same as HTML, and its first leaderboard beside those of others."""

    entry: Json
    html: Markup
    first: FirstBoard


def card(file: str, contents: TaskBoards) -> Card:
    """The card of a task that has a leaderboard, and a page in a file."""
    entry = task_entry(file, contents)
    written = rendered("card.html", of=entry, width=WIDTH, height=HEIGHT)
    return Card(entry, Markup(written), first_board(contents))  # noqa: S704  (the template escapes)


def site_index(cards: Sequence[Card], left_out: Sequence[str] = ()) -> str:
    """The index of a site.

    Args:
        cards: The tasks; those that were compared last come first.
        left_out: What is said of tasks that have no page.
    """
    across = overview([of.first for of in cards])
    cards = sorted(cards, key=lambda of: of.entry["compared"], reverse=True)
    entries = [of.entry for of in cards]
    names, said = searched(entries), totals(entries)
    newest = max((of["compared"] for of in entries), default="")
    styled, scripted = style(STYLES), script("site")
    return rendered(
        "index.html", heading="Leaderboards", preview=f"{said}; last compared {newest}." if newest else f"{said}.",
        cards=[of.html for of in cards], links={of["task"]: of["link"] for of in entries}, totals=said, newest=newest,
        left_out=left_out, across=across, most=_SYSTEMS, each=across is not None and len(across.tasks) <= _TASKS,
        unsearched=names["left_out"], names=Markup(embedded(names["names"])),  # noqa: S704
        style=styled, script=scripted, policy=policy(styled, scripted))
