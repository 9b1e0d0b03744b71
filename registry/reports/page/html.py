"""The page of a task as HTML, and all that it shows as data."""

from __future__ import annotations

from markupsafe import Markup

from registry.leaderboards.leaderboard import SHARED_KEYS
from registry.leaderboards.snapshot import TaskBoards
from registry.reports.columns import STANDING_KEYS, page_columns
from registry.reports.page.data.about import page_about, systems_data
from registry.reports.page.data.boards import board_data, board_key
from registry.reports.page.data.columns import Json, embedded
from registry.reports.page.data.confusion import confusions_data
from registry.reports.page.data.history import histories_data
from registry.reports.page.data.items import items_data
from registry.reports.page.data.pairs import reaches
from registry.reports.page.data.systems import details_data, names_of
from registry.reports.page.data.wide import wide_data
from registry.reports.page.templates import policy, rendered, script, style

STYLES = ("base.css", "about.css", "table.css", "charts.css", "pairs.css", "systems.css", "items.css", "media.css")


def page(contents: TaskBoards, home: str = "", folder: str | None = None) -> str:
    """A task's page; the same contents give the same bytes.

    Args:
        contents: What it shows.
        home: Where the site's index is, for a link to it.
        folder: Where `pair_files` are, beside the page; None: the page stands alone.
    """
    shown = page_data(contents, folder)
    data, beside = embedded(shown), any(board["files"] for board in shown["boards"])
    styled, scripted, about = style(STYLES), script("page"), page_about(contents)
    return rendered("page.html", heading=f"{contents.title or contents.task}: leaderboards", preview=about["preview"],
                    contents=contents, about=about, home=home, script=scripted, style=styled,
                    data=Markup(data), policy=policy(styled, scripted, beside=beside))  # noqa: S704


def page_data(contents: TaskBoards, folder: str | None = None) -> Json:
    """Everything that a page shows; `folder` has the files of pairs that are left out."""
    boards, details = contents.primary_first, contents.details
    written, names = [], names_of(boards)
    for n, (board, reach) in enumerate(zip(boards, reaches(boards), strict=True)):
        files = {"folder": f"{folder}/{n}", "key": board_key(board)} if folder and reach is not None else None
        written.append(board_data(board, reach) | {"files": files})
    task = {"id": contents.task, "title": contents.title, "version": contents.version,
            "cost_unit": contents.about.declared.cost_unit}
    return {"task": task, "keys": (*SHARED_KEYS, *STANDING_KEYS), "columns": page_columns(), "boards": written,
            "systems": systems_data(boards), "details": details_data(names, details),
            "confusions": confusions_data(details.confusions, list(names)),
            "histories": dict(histories_data(details.histories, boards, names)),
            "items": dict(items_data(contents.items or ())), "wide": list(wide_data(boards, contents.averages))}
