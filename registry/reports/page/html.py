"""The page of a task as HTML."""

from __future__ import annotations

from markupsafe import Markup

from registry.leaderboards.snapshot import TaskBoards
from registry.reports.page.data.about import page_about
from registry.reports.page.data.columns import embedded
from registry.reports.page.data.page import page_data
from registry.reports.page.templates import policy, rendered, script, style

SCRIPTS = ("core.js", "about.js", "scale.js", "table.js", "names.js", "boards.js", "wide.js", "pairs.js", "opened.js",
           "forest.js", "points.js", "plot.js", "pareto.js", "charts.js", "versus.js",
           "items/data.js", "items/spans.js", "items/parses.js", "items/grid.js", "items/words.js", "items/numbers.js",
           "items/opened.js", "items/list.js", "past.js", "confusion.js", "system.js", "downloads.js", "main.js")
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
    styled, scripted, about = style(STYLES), script(SCRIPTS), page_about(contents)
    return rendered("page.html", heading=f"{contents.title or contents.task}: leaderboards", preview=about["preview"],
                    contents=contents, about=about, home=home, script=scripted, style=styled,
                    data=Markup(data), policy=policy(styled, scripted, beside=beside))  # noqa: S704
