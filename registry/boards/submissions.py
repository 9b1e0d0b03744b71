"""Places and scores of one submission, and leaderboards by the Ladder mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, text

from registry.boards.leaderboard import DECIMALS, Leaderboard, get_metric_display
from registry.errors import MismatchError, UnknownNameError, counted
from registry.store import catalog, models
from registry.store.catalog import TaskRow
from registry.store.embargoes import require_scores


def describe_places(boards: Sequence[Leaderboard], test_set: str, submission: str) -> Iterator[str]:
    """Yield a sentence about a submission's rank on each leaderboard of a test set.

    Args:
        boards: The leaderboards.
        test_set: The test set.
        submission: The name of the submission, `team/system@version`.
    """
    sources = {"simultaneous": "simultaneous ranks", "bootstrap": "resamples"}
    for board in boards:
        for standing, ranks in zip(board.standings, board.rank_ranges, strict=True):
            if standing.submission != submission or board.test_set != test_set:
                continue
            n_ranked = sum(other.rank is not None for other in board.standings)
            score = "no score" if standing.score is None else f"{standing.score:.{board.decimals}f}"
            place = "without a rank" if standing.rank is None else f"rank {standing.rank} of {n_ranked}"
            if ranks is not None and ranks[0] != ranks[1]:
                source = sources.get(board.ranks, "significant differences")
                place += f" ({source} leave {ranks[0]} to {ranks[1]} open)"
            yield (f"{board.title}: {standing.display_name} has {score}, {place}; it beats "
                   f"{counted(standing.wins, 'system')} significantly and loses to {standing.losses}")


class SubmissionScore(NamedTuple):
    """Score of a submission by one metric on one test set; None if it is undefined."""

    test_set: str
    metric: str
    score: float | None


def load_submission_scores(connection: Connection, task: str, submission: str) -> list[SubmissionScore]:
    """Return all scores of a submission, in the order of the manifest.

    Args:
        connection: A connection to the store.
        task: The id of the task.
        submission: The name of the submission, `team/system` or `team/system@version`.

    Raises:
        UnknownNameError: No ranked submission has this name.
        MismatchError: The submission is not scored yet.
        HiddenError: Scores are not public yet.
    """
    require_scores(connection, task)
    rows = connection.execute(text("""
        SELECT name, team || '/' || system AS system, version FROM ranked_submission WHERE task = :task"""),
        {"task": task}).all()
    known_names = {name for row in rows for name in (row.system, f"{row.system}@{row.version}")}
    if submission not in known_names:
        raise UnknownNameError("submission", submission, known_names)
    names = [row.name for row in rows if submission in (row.system, f"{row.system}@{row.version}")]
    scores = [SubmissionScore._make(row) for row in connection.execute(
        text("SELECT test_set, metric, score FROM submission_score WHERE submission IN :names").bindparams(
            bindparam("names", expanding=True)), {"names": names})]
    if not scores:
        raise MismatchError(f"{submission} is not scored yet; run `registry score`")
    return scores


class LadderRow(NamedTuple):
    """Submission that improved the public score of a Ladder leaderboard.

    The Ladder mechanism publishes a score only if it is clearly better than the last published score.

    Attributes:
        rank: The rank among all submissions that raised the score.
        system, team: The names of the system and the team.
        submission: The name `team/system@version`.
        score: The score that was released for the submission.
    """

    rank: int
    system: str
    team: str
    submission: str
    score: float


@dataclass(frozen=True)
class Ladder:
    """Leaderboard of the Ladder mechanism (Blum and Hardt 2015).

    The mechanism releases a score only if it is clearly better than the last released score.

    Attributes:
        task, test_set, track: The task, the test set and the track.
        metric, metric_name: The metric's alias, and its name with options.
        step: The improvement that the last release required.
        shown: The last released score; None before the first release.
        submitted: The number of scored submissions.
        rows: The submissions that raised the released score, the latest submission first.
        declared_title: The title of the metric in tables; None if the task declares none.
        decimals: The number of decimals of displayed scores.
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


def load_ladders(connection: Connection, task: str | None) -> list[Ladder]:
    """Load the leaderboards of tasks that publish scores by the Ladder mechanism.

    The mechanism releases a score only if it is clearly better than the last released score. Only the current gold and
    the primary metric count.

    Args:
        connection: A connection to the store.
        task: The id of a task; None: all tasks.
    """
    ladders = []
    conditions = [] if task is None else [models.task.c.slug == task]
    for row in connection.execute(select(*TaskRow.columns()).where(*conditions).order_by(models.task.c.task_id)):
        metric = catalog.primary_metric(connection, row.task_id)
        for test_set in catalog.test_sets(connection, row.task_id):
            releases = connection.execute(text("""
                SELECT name, track, step, shown, raised FROM released_score
                WHERE gold_revision_id = :gold AND metric = :metric ORDER BY entry"""),
                {"gold": test_set.gold_revision_id, "metric": metric.name}).all()
            for track in dict.fromkeys(release.track for release in releases):
                entries = [release for release in releases if release.track == track]
                raised = [release for release in entries if release.raised][::-1]
                rows = tuple(_make_row(rank, release.name, release.shown) for rank, release in enumerate(raised, 1))
                ladders.append(Ladder(row.slug, test_set.name, track, metric.alias, metric.name, entries[-1].step,
                                      entries[-1].shown, len(entries), rows,
                                      **get_metric_display(row.manifest, metric.alias, metric.name)))
    return ladders


def _make_row(rank: int, name: str, score: float) -> LadderRow:
    team, _, submission = name.split("/", 2)[2].partition("/")
    return LadderRow(rank, submission.rpartition("@")[0], team, f"{team}/{submission}", score)
