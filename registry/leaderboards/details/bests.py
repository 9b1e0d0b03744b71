"""How the best score of a leaderboard moved over time, and which new best was significantly better than the one before.

Every comparison that was made is kept with its standings and decisions; nothing is computed again. What was hidden when
it was made has its place in the history from when it was shown, if it was still the last one then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from sqlalchemy import Connection, text

from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.leaderboards.details.phases import Phases
from registry.leaderboards.leaderboard import shown_names
from registry.store.catalog import TaskRow


@dataclass(frozen=True)
class NewBest:
    """A new best of a leaderboard, or a new score of the same.

    Attributes:
        at: When it was first shown, in UTC.
        shown: The system's name for people; `tied`: how many others have the same rank.
        score: Of the comparison of then.
        significant: Whether it was significantly better than the best before, which was still on the board; None where
            the two were not compared, and of the first.
        p_adjusted: Of the two, corrected in their family of then.
        why: What else changed since the best before: the gold, the metric.
        entry: Of the log, which tells when it was compared.
    """

    at: datetime
    team: str
    system: str
    shown: str
    tied: int
    score: float
    significant: bool | None = None
    p_adjusted: float | None = None
    why: tuple[str, ...] = ()
    entry: int | None = None


@dataclass(frozen=True)
class History:
    """The bests of a leaderboard, the first one first; `n_states`: how many comparisons of it were shown so far."""

    key: LeaderboardKey
    n_states: int
    bests: tuple[NewBest, ...]


def histories(connection: Connection, task: TaskRow, phases: Phases, until: int | None = None) -> list[History]:
    """The histories of all leaderboards on all items that have been in several states.

    Args:
        connection: One transaction.
        task: Whose.
        phases: When its scores were hidden.
        until: The last entry of the log that counts; None: all do.
    """
    if connection.execute(_SEVERAL, {"task": task.slug, "task_id": task.task_id}).scalar_one() is None:
        return []
    rows = connection.execute(text(_STATES), {"task": task.slug, "task_id": task.task_id, "until": until}).all()
    found = []
    for key, of_board in groupby(rows, key=lambda row: LeaderboardKey(
            task.slug, row.test_set, row.track, None, row.metric)):
        states = [(at, state) for state in of_board
                  if (at := phases.seen_from(state.made, state.replaced)) is not None]
        if len(states) > 1:
            found.append(_history(connection, key, states))
    return found


# Whether some board of a task may have been in several states, which is found out sooner than which: a comparison for
# each, and each asked for once.
_SEVERAL = text("""
    WITH compared AS (
        SELECT count(*) AS n, count(DISTINCT (test_set_id, track_id, facet, alias)) AS boards
        FROM comparison JOIN test_set USING (test_set_id) WHERE task_id = :task_id)
    SELECT (
        SELECT 1 FROM compared WHERE boards < n OR boards < (
            SELECT count(*) FROM event WHERE action IN ('compare', 'compare-again') AND subject = :task))""")

# Every time that a comparison was asked for, with the best system of then, board by board in the order of the log.
_STATES = """
    WITH asked AS (
        SELECT details ->> '$.digest' AS digest, event_id, "at" FROM event
        WHERE action IN ('compare', 'compare-again') AND subject = :task
            AND event_id <= coalesce(CAST(:until AS INTEGER), event_id)),
    state AS (
        SELECT test_set.name AS test_set, test_set.position AS test_set_position, track.name AS track,
            c.alias AS metric, metric.name AS metric_name, task_metric.position, c.comparison_id, c.gold_revision_id,
            coalesce(asked.event_id, (SELECT min(event_id) FROM event WHERE event.run_id = c.run_id)) AS entry,
            coalesce(asked."at", c.created_at) AS made
        FROM comparison AS c JOIN test_set USING (test_set_id) JOIN metric USING (metric_id)
        JOIN task_metric ON task_metric.task_id = test_set.task_id AND task_metric.alias = c.alias
        LEFT JOIN track ON track.track_id = c.track_id LEFT JOIN asked USING (digest)
        WHERE test_set.task_id = :task_id AND c.facet IS NULL AND c.sequence > 0 AND task_metric.is_declared
            AND test_set.is_declared),
    first AS (
        SELECT comparison_id, arg_min(submission_id, standing.position) AS submission_id, count(*) - 1 AS tied,
            any_value(score) AS score
        FROM standing
        WHERE rank = 1 AND score IS NOT NULL AND comparison_id IN (SELECT comparison_id FROM state)
        GROUP BY comparison_id)
    SELECT state.*, first.tied, first.score, first.submission_id, team.name AS team, system.name AS system,
        team.name || '/' || system.name || '@' || submission.version AS submission,
        lead(made) OVER (PARTITION BY test_set, track, metric ORDER BY entry) AS replaced
    FROM state JOIN first USING (comparison_id) JOIN submission USING (submission_id) JOIN system USING (system_id)
    JOIN team USING (team_id)
    WHERE entry <= coalesce(CAST(:until AS INTEGER), entry)
    ORDER BY test_set_position, test_set, track NULLS FIRST, state.position, metric, entry"""


def _history(connection: Connection, key: LeaderboardKey, states: Sequence[tuple[datetime, Any]]) -> History:
    moved = [states[0]] + [
        after for before, after in pairwise(states)
        if (before[1].submission_id, before[1].score) != (after[1].submission_id, after[1].score)]
    decided = _decisions(connection, [(of.comparison_id, of.submission_id, before.submission_id)
                                      for (_, before), (_, of) in pairwise(moved)])
    bests = []
    names = shown_names([{"system": of.system, "submission": of.submission} for _, of in moved])
    for n, ((at, of), shown) in enumerate(zip(moved, names, strict=True)):
        before = moved[n - 1][1] if n else of
        why = [said for said, column in (("the gold was revised", "gold_revision_id"),
                                         ("the metric was changed", "metric_name"))
               if getattr(of, column) != getattr(before, column)]
        significant, p = decided.get((of.comparison_id, before.submission_id), (None, None))
        bests.append(NewBest(at, of.team, of.system, shown, of.tied, of.score, significant, p, tuple(why),
                             of.entry))
    return History(key, len(states), tuple(bests))


def _decisions(connection: Connection, pairs: Sequence[tuple[int, int, int]]) -> Mapping[
        tuple[int, int], tuple[bool, float | None]]:
    """What was decided of each new best and the one before it, by the comparison and the latter."""
    if not pairs:
        return {}
    rows = connection.execute(text(f"""
        SELECT comparison_id, asked.former, is_significant, p_adjusted
        FROM (VALUES {", ".join(str(pair) for pair in pairs)}) AS asked(comparison_id, best, former)
        JOIN comparison_pair AS pair USING (comparison_id)
        WHERE least(submission_a, submission_b) = least(best, former)
            AND greatest(submission_a, submission_b) = greatest(best, former)"""))  # noqa: S608 - whole numbers
    return {(comparison, former): (significant, p) for comparison, former, significant, p in rows}
