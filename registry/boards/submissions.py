"""The place and the scores of one submission, and the submissions that a Ladder has shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, text

from registry.boards.leaderboard import DECIMALS, Leaderboard, metric_form
from registry.errors import MismatchError, UnknownNameError, counted
from registry.store import catalog, models
from registry.store.catalog import TaskRow
from registry.store.embargoes import require_scores

_LEFT = {"simultaneous": "simultaneous ranks", "bootstrap": "resamples"}  # by what conventions leave places open


def places(boards: Sequence[Leaderboard], test_set: str, submission: str) -> Iterator[str]:
    """Say where `team/system@version` stands on each board of a test set that it is on."""
    for board in boards:
        for of, open_places in zip(board.standings, board.open_places, strict=True):
            if of.submission != submission or board.test_set != test_set:
                continue
            ranked = sum(other.rank is not None for other in board.standings)
            score = "no score" if of.score is None else f"{of.score:.{board.decimals}f}"
            place = "without a rank" if of.rank is None else f"rank {of.rank} of {ranked}"
            if open_places is not None and open_places[0] != open_places[1]:
                place += f" ({_LEFT.get(board.ranks, 'significant differences')} leave {{}} to {{}} open)".format(
                    *open_places)
            yield (f"{board.title}: {of.shown} has {score}, {place}; it beats {counted(of.wins, 'system')} "
                   f"significantly and loses to {of.losses}")


class SubmissionScore(NamedTuple):
    """One score of a submission: by which metric on which test set; None where it is undefined."""

    test_set: str
    metric: str
    score: float | None


def submission_scores(connection: Connection, task: str, submission: str) -> list[SubmissionScore]:
    """All scores of one submission, `team/system` or `team/system@version`, in the order of the manifest.

    Raises:
        UnknownNameError: No submission that takes part is called so.
        MismatchError: It is not scored yet.
        HiddenError: Scores are not public yet.
    """
    require_scores(connection, task)
    rows = connection.execute(text("""
        SELECT name, team || '/' || system AS named, version FROM ranked_submission WHERE task = :task"""),
        {"task": task}).all()
    known = {name for row in rows for name in (row.named, f"{row.named}@{row.version}")}
    if submission not in known:
        raise UnknownNameError("submission", submission, known)
    names = [row.name for row in rows if submission in (row.named, f"{row.named}@{row.version}")]
    found = connection.execute(
        text("SELECT test_set, metric, score FROM submission_score WHERE submission IN :names").bindparams(
            bindparam("names", expanding=True)), {"names": names})
    scores = [SubmissionScore._make(row) for row in found]
    if not scores:
        raise MismatchError(f"{submission} is not scored yet; `registry score` does it")
    return scores


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
