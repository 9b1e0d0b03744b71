"""The command that draws leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import say
from registry.cli.options import ChosenMetric, Db, Facet, Public, Task, TestSet, Track, private_database
from registry.errors import InputError
from registry.reports.figures.drawing import limits as scale_limits
from registry.reports.figures.kinds import Kind, draw, look_for

if TYPE_CHECKING:
    from registry.boards.leaderboard import Ranks

Palette = Literal["okabe-ito", "grey"]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=(
    "Where to: .svg, .pdf, .png, or .pgf for LaTeX."))]
By = Annotated[str, typer.Option("--by", metavar="ATTRIBUTE", help=(
    "Of submissions, for gains: pairs that share it are marked. team, kind, or what the manifest declares."))]
Width = Annotated[str, typer.Option("--width", metavar="LENGTH", help=(
    "7.7cm, 80mm, 3.5in, 219pt, or a paper's column: acl, acl-wide, ieee, ieee-wide, lncs, neurips."))]
Height = Annotated[str | None, typer.Option("--height", metavar="LENGTH", help=(
    "As --width; what the systems take if not given."))]
FontSize = Annotated[float, typer.Option("--font-size", metavar="POINTS", min=4, max=30, help="Of all text.")]
Limits = Annotated[str | None, typer.Option("--limits", metavar="LOW,HIGH", help=(
    "Ends of the scale, for scores and gains; what is beyond is marked at its edge."))]
Label = Annotated[str | None, typer.Option("--label", metavar="TEXT", help=(
    "What stands below the scale instead of the metric."))]
PaletteOption = Annotated[Palette, typer.Option("--palette", help=(
    "okabe-ito, which colour-blind readers tell apart, or grey; nothing is told by colour alone."))]

_ROOM = 200  # systems: a figure of a column's width that is two feet high


def plot(
    task: Task,
    kind: Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False, help=(
        "scores: with intervals; pairs: a matrix of their p-values; gains: confidence against gain; alike: the "
        "critical-difference diagram; ranks: how often resamples give each."))],
    output: Output,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    by: By = "team",
    top: Annotated[int | None, typer.Option("--top", metavar="N", min=2, help=(
        "Only the N best systems; a figure has room for 200."))] = None,
    width: Width = "acl", height: Height = None, font_size: FontSize = 7, limits: Limits = None, label: Label = None,
    palette: PaletteOption = "okabe-ito",
    db: Db = None, public: Public = False,
) -> None:
    """Draw a leaderboard for a paper; needs the extra plot."""
    from registry.boards.choose import (
        add_resampled_ranks,
        add_score_intervals,
        load_metric_leaderboards,
        load_submission_attributes,
        select_best,
        select_leaderboard,
    )
    from registry.store import catalog

    if by != "team" and kind != "gains":
        raise InputError("--by says which pairs to mark, for gains alone")
    look = look_for(kind, limits=None if limits is None else scale_limits(limits), width=width, height=height,
                    font_size=font_size, label=label, palette=palette)
    with private_database(db, public=public).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        shown: Ranks | None = None if kind == "scores" else "range"  # None: as the task says
        boards = load_metric_leaderboards(connection, row, metric, shown)
        board = select_best(select_leaderboard(boards, test_set, track, facet), top, _ROOM)
        if kind == "ranks":  # nothing is drawn before it is known that there is room
            board = add_resampled_ranks(connection, row, board)
        if kind == "scores":
            board = add_score_intervals(connection, row, board)
        values = load_submission_attributes(connection, board, by) if kind == "gains" else {}
    draw(board, kind, output, look, (by, values))
    say(f"drawn: {output}")
