"""For every track that has several, the leaderboards side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.leaderboards.leaderboard import Leaderboard
from registry.rendering.latex import latex_table
from registry.reports.page.data.boards import LATEX
from registry.reports.page.data.columns import Json, as_column
from registry.reports.wide import PARTS, WideColumn, part, wide_boards, wide_table
from registry.studies.suites import MacroBoard


def wide_data(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> Iterator[Json]:
    """One entry for each such track, with the page's boards by their numbers."""
    for wide in wide_boards(boards, averages, boards[0].metric):
        if len(wide.columns) > 1:
            rows = {key: as_column(getattr(of, key) for _, of in wide.rows)
                    for key in ("system", "team", "kind", "late")}
            yield {"track": wide.track, "title": wide.title, "n": len(wide.rows), "notes": wide.notes, "parts": PARTS,
                   "rows": rows | {"shown": as_column(wide.shown)},
                   "latex": latex_table(wide_table(wide)) if len(wide.rows) <= LATEX else None,
                   "columns": [_wide_column(column, [name for name, _ in wide.rows], boards)
                               for column in wide.columns]}


def _wide_column(column: WideColumn, names: Sequence[str], boards: Sequence[Leaderboard]) -> Json:
    """A column: a leaderboard of the page by its number, or figures of its own, and where in them each row is."""
    at = {name: n for n, name in enumerate(column.cells)}
    found: Json = {"name": column.name, "title": column.title, "better": column.better, "said": column.said,
                   "at": as_column(at.get(name) for name in names)}
    if column.board is not None:
        return found | {"board": next(n for n, board in enumerate(boards) if board is column.board)}
    cells = column.cells.values()
    return found | {"figures": {
        **{key: as_column(part(cell, key) for cell in cells) for key in PARTS},
        "printed": as_column(map(column.printed, cells)),
        "beside": as_column(map(column.beside, column.cells))}}
