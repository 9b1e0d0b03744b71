"""The command that writes scores for competition platforms."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from registry.cli.console import write
from registry.cli.options import ChosenMetric, Db, Facet, Task, TestSet, Track, database
from registry.errors import InputError


def export(
    task: Task,
    platform: Annotated[Literal["codabench", "codalab", "evalai", "wmt"], typer.Argument(
        metavar="PLATFORM", case_sensitive=False, help=(
            "codabench (scores.json), codalab (scores.txt) or evalai (its result) for one submission; wmt (LaTeX) for "
            "a leaderboard."))],
    submission: Annotated[str | None, typer.Option("--submission", metavar="TEAM/SYSTEM", help=(
        "Whose scores, for all platforms but wmt."))] = None,
    metric: ChosenMetric = None, test_set: TestSet = None, track: Track = None, facet: Facet = None, db: Db = None,
) -> None:
    """Write scores as competition platforms read them."""
    from registry.leaderboards.choose import chosen_leaderboard, leaderboards_by
    from registry.leaderboards.scores import submission_scores
    from registry.reports.platforms import codabench, codalab, evalai, wmt
    from registry.store import catalog

    if submission is not None and platform == "wmt":
        raise InputError("wmt prints a leaderboard; leave --submission out")
    if submission is None and platform != "wmt":
        raise InputError(f"{platform} takes the scores of one submission; name it by --submission TEAM/SYSTEM")
    if submission is not None and (metric, test_set, track, facet) != (None,) * 4:
        raise InputError(f"{platform} takes all scores of a submission; leave --metric, --test-set, --track and "
                         "--facet out")
    with database(db).reading() as connection:
        (row,) = catalog.tasks(connection, task)
        if submission is None:
            written = wmt(chosen_leaderboard(leaderboards_by(connection, row, metric), test_set, track, facet))
        else:
            form = {"codabench": codabench, "codalab": codalab, "evalai": evalai}[platform]
            written = form(submission_scores(connection, task, submission))
    write(written)
