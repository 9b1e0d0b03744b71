"""The command that draws leaderboards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import say
from registry.cli.options import ChosenMetric, Db, Facet, Task, TestSet, Track, database
from registry.errors import InputError

if TYPE_CHECKING:
    from registry.leaderboards.leaderboard import Leaderboard


Kind = Literal["scores", "pairs", "gains", "alike", "ranks"]

_ROOM = 200  # systems: a figure of a column's width that is two feet high


def plot(
    task: Task,
    kind: Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False, help=(
        "scores: with intervals; pairs: a matrix of their p-values; gains: confidence against gain; alike: the "
        "critical-difference diagram; ranks: how often resamples give each."))],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to: .svg, .pdf or .png.")],
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    by: Annotated[str, typer.Option("--by", metavar="ATTRIBUTE", help=(
        "Of submissions, for gains: pairs that share it are marked. team, kind, or what the manifest declares."))
    ] = "team",
    top: Annotated[int | None, typer.Option("--top", metavar="N", min=2, help=(
        "Only the N best systems; a figure has room for 200."))] = None,
    db: Db = None,
) -> None:
    """Draw a leaderboard for a paper; needs the extra plot."""
    from registry.leaderboards.choose import (
        best,
        chosen_leaderboard,
        leaderboards_by,
        submission_attributes,
        with_intervals,
        with_places,
    )
    from registry.store import catalog

    if by != "team" and kind != "gains":
        raise InputError("--by says which pairs to mark, for gains alone")
    with database(db).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        where = test_set, track, facet
        board = best(chosen_leaderboard(leaderboards_by(connection, row, metric, "range"), *where), top, _ROOM)
        if kind == "ranks":  # nothing is drawn before it is known that there is room
            board = with_places(connection, row, board)
        if kind == "scores":
            board = with_intervals(connection, row, board)
        values = submission_attributes(connection, board, by) if kind == "gains" else {}
    _draw(board, kind, output, by, values)
    say(f"drawn: {output}")


def _draw(board: Leaderboard, kind: Kind, output: Path, by: str, values: Mapping[str, str]) -> None:
    from registry.reports.figures.boards import draw_alike, draw_ranks, draw_scores
    from registry.reports.figures.pairs import draw_gains, draw_pairs

    if kind == "gains":
        draw_gains(board, output, by, values)
    else:
        draw = {"scores": draw_scores, "pairs": draw_pairs, "alike": draw_alike, "ranks": draw_ranks}
        draw[kind](board, output)
