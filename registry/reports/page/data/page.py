"""Everything that a page shows."""

from __future__ import annotations

from registry.leaderboards.snapshot import TaskBoards
from registry.reports.boards import BOARD_KEYS
from registry.reports.page.data.about import systems_data
from registry.reports.page.data.boards import board_data, board_key
from registry.reports.page.data.columns import Json
from registry.reports.page.data.confusion import confusions_data
from registry.reports.page.data.history import histories_data
from registry.reports.page.data.items import items_data
from registry.reports.page.data.pairs import reaches
from registry.reports.page.data.systems import details_data, names_of
from registry.reports.page.data.wide import wide_data


def page_data(contents: TaskBoards, folder: str | None = None) -> Json:
    """Everything that a page shows; `folder` has the files of pairs that are left out."""
    boards, details = contents.primary_first, contents.details
    written, names = [], names_of(boards)
    for n, (board, reach) in enumerate(zip(boards, reaches(boards), strict=True)):
        files = {"folder": f"{folder}/{n}", "key": board_key(board)} if folder and reach is not None else None
        written.append(board_data(board, reach) | {"files": files})
    task = {"id": contents.task, "title": contents.title, "version": contents.version,
            "cost_unit": contents.about.declared.cost_unit}
    return {"task": task, "keys": BOARD_KEYS, "boards": written, "systems": systems_data(boards),
            "details": details_data(names, details), "confusions": confusions_data(details.confusions, list(names)),
            "histories": dict(histories_data(details.histories, boards, names)),
            "items": dict(items_data(contents.items or ())), "wide": list(wide_data(boards, contents.averages))}
