"""The command that draws leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import report
from registry.cli.options import ChosenMetric, Db, Facet, Public, Task, TestSet, Track, find_private_database
from registry.errors import InputError
from registry.reports.figures.drawing import parse_limits
from registry.reports.figures.kinds import Kind, draw, make_look

if TYPE_CHECKING:
    from registry.boards.leaderboard import Ranks

_MAX_SYSTEMS = 200  # a figure with them, as wide as a column, is two feet high


def plot(
    task: Task,
    kind: Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False, help=(
        "scores (with intervals), pairs (a matrix of p-values), gains (confidence by gain), groups (a "
        "critical-difference diagram) or ranks (frequencies of ranks in resamples)."))],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=(
        "The file to write: .svg, .pdf, .png, or .pgf for LaTeX."))],
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None,
    by: Annotated[str, typer.Option("--by", metavar="ATTRIBUTE", help=(
        "For gains: mark pairs of submissions with the same team, kind, or attribute of the manifest."))] = "team",
    top: Annotated[int | None, typer.Option("--top", metavar="N", min=2, help=(
        "Only the N best systems. Default: all; a figure can show 200."))] = None,
    width: Annotated[str, typer.Option("--width", metavar="LENGTH", help=(
        "The width of the figure: 7.7cm, 80mm, 3.5in, 219pt, or the column of a paper: acl, acl-wide, ieee, ieee-wide, "
        "lncs, neurips."))] = "acl",
    height: Annotated[str | None, typer.Option("--height", metavar="LENGTH", help=(
        "The height, with units as in --width. Default: depends on the number of systems."))] = None,
    font_size: Annotated[float, typer.Option("--font-size", metavar="POINTS", min=4, max=30, help=(
        "The size of all text."))] = 7,
    limits: Annotated[str | None, typer.Option("--limits", metavar="LOW,HIGH", help=(
        "The ends of the scale, for scores and gains; values outside are marked at its edge."))] = None,
    label: Annotated[str | None, typer.Option("--label", metavar="TEXT", help=(
        "The label of the scale. Default: the metric."))] = None,
    palette: Annotated[Literal["okabe-ito", "grey"], typer.Option("--palette", help=(
        "The colours: okabe-ito is safe for colour-blind readers. All figures are readable without colours."))] =
        "okabe-ito",
    db: Db = None, public: Public = False,
) -> None:
    """Draw a leaderboard for a paper.

    This command requires the extra plot: pip install 'evalregistry[plot]'.
    """
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
        raise InputError(f"--by marks pairs in a figure of gains; leave it out for {kind}")
    look = make_look(kind, limits=None if limits is None else parse_limits(limits), width=width, height=height,
                    font_size=font_size, label=label, palette=palette)
    with find_private_database(db, public=public).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        ranks: Ranks | None = None if kind == "scores" else "range"  # None: the manifest's ranks
        boards = load_metric_leaderboards(connection, row, metric, ranks)
        board = select_best(select_leaderboard(boards, test_set, track, facet), top, _MAX_SYSTEMS)
        if kind == "ranks":  # slow, hence after the check of the number of systems
            board = add_resampled_ranks(connection, row, board)
        if kind == "scores":
            board = add_score_intervals(connection, row, board)
        attributes = load_submission_attributes(connection, board, by) if kind == "gains" else {}
    draw(board, kind, output, look, (by, attributes))
    report(f"drawn: {output}")
