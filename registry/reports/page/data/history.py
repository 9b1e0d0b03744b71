"""How the best scores of the page's leaderboards moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from registry.boards.details import History
from registry.boards.leaderboard import Leaderboard
from registry.rendering.table import number
from registry.reports.page.data.columns import Json, as_column, rounded
from registry.reports.page.data.systems import Name, seconds

BESTS = 300  # of a leaderboard, the last ones


def histories_data(histories: Sequence[History], boards: Sequence[Leaderboard],
                   numbers: Mapping[Name, int]) -> Iterator[tuple[str, Json]]:
    """The history of each of the page's boards that has one, by the board's number."""
    by_key = {of.key: of for of in histories}
    for n, board in enumerate(boards):
        if (of := by_key.get(board.key)) is not None:
            bests = of.bests[-BESTS:]
            yield str(n), {
                "n": len(bests), "states": of.n_states, "left_out": len(of.bests) - len(bests),
                "at": as_column(seconds(best.at) for best in bests),
                "of": as_column(numbers.get((best.team, best.system)) for best in bests),
                "printed": as_column(number(board.decimals)(best.score) for best in bests),
                "p": as_column(rounded(best.p_adjusted, 4) for best in bests),
                **{key: as_column(getattr(best, key) for best in bests)
                   for key in ("shown", "tied", "score", "significant")},
                "why": ["; ".join(best.why) for best in bests]}
