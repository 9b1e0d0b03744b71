"""What a board that stays open shows while its scores are hidden: the submissions that its Ladder showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select, text

from registry.leaderboards.leaderboard import DECIMALS, metric_form
from registry.store import catalog, models
from registry.store.catalog import TaskRow


class LadderRow(NamedTuple):
    """A submission that raised the score that is shown: its rank among these, and to what."""

    rank: int
    system: str
    team: str
    submission: str
    score: float


@dataclass(frozen=True)
class Ladder:
    """A Ladder as it stands.

    Attributes:
        task, test_set, track, metric, metric_name: Where it is; the metric's alias, and its name with options.
        step: By how much a score had to be better than the one before to be shown, at last.
        shown: The score that is shown; None before any is.
        submitted: How many submissions have been scored.
        rows: Those that raised the score, the last of them first.
        declared_title, decimals: How the task has people see the metric (`Leaderboard`).
    """

    task: str
    test_set: str
    track: str | None
    metric: str
    metric_name: str
    step: float
    shown: float | None
    submitted: int
    rows: tuple[LadderRow, ...]
    declared_title: str | None = None
    decimals: int = DECIMALS


def ladders(connection: Connection, task: str | None) -> list[Ladder]:
    """The Ladders of a task, or of all of them, by today's gold and primary metric."""
    found = []
    named = [] if task is None else [models.task.c.slug == task]
    for row in connection.execute(select(*TaskRow.columns()).where(*named).order_by(models.task.c.task_id)):
        metric = catalog.primary_metric(connection, row.task_id)
        for test_set in catalog.test_sets(connection, row.task_id):
            shown = connection.execute(text("""
                SELECT name, track, step, shown, raised FROM released_score
                WHERE gold_revision_id = :gold AND metric = :metric ORDER BY entry"""),
                {"gold": test_set.gold_revision_id, "metric": metric.name}).all()
            for track in dict.fromkeys(of.track for of in shown):
                of_track = [of for of in shown if of.track == track]
                raised = [of for of in of_track if of.raised][::-1]
                rows = tuple(_row(n, of.name, of.shown) for n, of in enumerate(raised, 1))
                found.append(Ladder(row.slug, test_set.name, track, metric.alias, metric.name, of_track[-1].step,
                                    of_track[-1].shown, len(of_track), rows,
                                    **metric_form(row.manifest, metric.alias, metric.name)))
    return found


def _row(rank: int, name: str, shown: float) -> LadderRow:
    team, _, submission = name.split("/", 2)[2].partition("/")
    return LadderRow(rank, submission.rpartition("@")[0], team, f"{team}/{submission}", shown)
