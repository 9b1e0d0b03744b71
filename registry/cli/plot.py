"""The command that draws leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import report
from registry.cli.options import (
    ChosenMetric,
    Db,
    Facet,
    OnlyWarnings,
    Public,
    Task,
    TestSet,
    Track,
    find_private_database,
)
from registry.errors import InputError, MismatchError, UnknownNameError
from registry.reports.figures.drawing import parse_limits
from registry.reports.figures.kinds import Kind, draw, make_look

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard, Ranks
    from registry.store.database import Database

_MAX_SYSTEMS = 200  # a figure with them, as wide as a column, is two feet high


def plot(
    task: Task,
    kind: Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False, help=(
        "scores (with intervals), pairs (a matrix of p-values), gains (1 - p by difference), groups (a "
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
    dpi: Annotated[int, typer.Option("--dpi", metavar="N", min=72, max=1200, help=(
        "The resolution of a .png file in dots per inch."))] = 300,
    wide: Annotated[bool, typer.Option("--wide", help=(
        "Draw the averages over test sets that `registry board --wide` prints."))] = False,
    db: Db = None, public: Public = False, quiet: OnlyWarnings = False,
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
        raise InputError(f"--by marks pairs only in the figure of gains; leave out --by for {kind}")
    look = make_look(kind, limits=None if limits is None else parse_limits(limits), width=width, height=height,
                    font_size=font_size, label=label, palette=palette, dpi=dpi)
    database = find_private_database(db, public=public)
    if wide:
        if kind == "ranks" or by != "team" or test_set is not None or facet is not None:
            raise InputError("--wide draws averages over test sets as scores, pairs, gains or groups; leave out "
                             "--test-set, --facet and --by")
        board = select_best(_load_average(database, task, metric, track), top, _MAX_SYSTEMS)
        draw(board, kind, output, look, ("team", {standing.submission: standing.team for standing in board.standings}))
        if not quiet:
            report(f"drawn: {output}")
        return
    with database.reading() as connection:
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
    if not quiet:
        report(f"drawn: {output}")


def _load_average(database: Database, task: str, metric: str | None, track: str | None) -> Leaderboard:
    """Return average scores over the test sets of a task, by one metric.

    The averages are computed if they are not stored yet.
    """
    from registry.boards.averages import make_average_leaderboard
    from registry.boards.choose import load_metric_leaderboards
    from registry.cli.results import load_averages, plan_macro_studies
    from registry.store import catalog

    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        boards = [board for board in load_metric_leaderboards(connection, row, metric, "range") if board.facet is None]
        tracks = sorted({board.track for board in boards if board.track is not None})
        if track is not None and track not in tracks:
            raise UnknownNameError("track", track, tracks)
        chosen = [board for board in boards if board.track == track] or boards
        if len({board.track for board in chosen}) > 1:
            raise MismatchError(f"{task} has several tracks; choose one by --track: {', '.join(tracks)}")
        if len({board.test_set for board in chosen}) < 2:
            raise MismatchError(f"{task} has only one test set, so there is no average")
        studies = plan_macro_studies(connection, task, chosen[0].metric)
    averages = [average for average in load_averages(studies, database) if average.track == chosen[0].track]
    if not averages:
        raise MismatchError(f"{task} has no average over test sets")
    return make_average_leaderboard(averages[0], chosen)
