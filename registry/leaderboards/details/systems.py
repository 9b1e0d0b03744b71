"""The systems of a task: their versions in the order of time, and the scores of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, text

from registry.leaderboards.details.phases import Phases
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.rows import has_row


class Version(NamedTuple):
    """A version of a system on a test set.

    `score` is by the primary metric and today's gold; None where it has none, or was hidden as long as the version was
    the system's last.
    """

    test_set: str
    team: str
    system: str
    version: str
    at: datetime
    late: bool
    score: float | None


class Runs(NamedTuple):
    """The scores of a system's runs by one metric, over all items of a test set; `names` tell the runs apart."""

    test_set: str
    team: str
    system: str
    metric: str
    scores: tuple[float | None, ...]
    names: tuple[str, ...]


def versions(connection: Connection, task: TaskRow, phases: Phases) -> list[Version]:
    """All versions of all systems but withdrawn ones, each system's in the order in which they came."""
    metric = catalog.primary_metric(connection, task.task_id)
    rows = connection.execute(text("""
        SELECT test_set.name AS test_set, team.name AS team, system.name AS system, s.version, s.created_at, s.late,
            score.value, lead(s.created_at) OVER (PARTITION BY s.test_set_id, s.system_id ORDER BY s.submission_id)
                AS replaced
        FROM submission AS s JOIN test_set USING (test_set_id) JOIN system USING (system_id) JOIN team USING (team_id)
        LEFT JOIN scoring ON scoring.submission_id = s.submission_id
            AND scoring.gold_revision_id = test_set.gold_revision_id AND scoring.missing = s.missing
        LEFT JOIN score ON score.scoring_id = scoring.scoring_id AND score.metric_id = :metric
        WHERE test_set.task_id = :task AND test_set.is_declared AND NOT s.withdrawn
        ORDER BY test_set.position, s.system_id, s.submission_id"""),
        {"task": task.task_id, "metric": metric.metric_id})
    return [Version(of.test_set, of.team, of.system, of.version, of.created_at, of.late,
                    of.value if phases.seen_from(of.created_at, of.replaced) is not None else None) for of in rows]


def runs(connection: Connection, task: TaskRow) -> list[Runs]:
    """The scores of the runs of every system that has several, by all metrics."""
    if not has_row(connection, "submission_source WHERE replicate > 0"):
        return []
    rows = connection.execute(text("""
        SELECT ranked.test_set, ranked.team, ranked.system, task_metric.alias, ranked.submission_id,
            list(of_run.value ORDER BY of_run.replicate) AS scores
        FROM ranked_submission AS ranked JOIN replicate_score AS of_run USING (scoring_id)
        JOIN task_metric ON task_metric.metric_id = of_run.metric_id AND task_metric.is_declared
            AND task_metric.task_id = :task_id
        WHERE ranked.task = :task
        GROUP BY ranked.test_set, ranked.team, ranked.system, alias, ranked.submission_id, task_metric.position
        HAVING count(*) > 1
        ORDER BY ranked.submission_id, task_metric.position"""), {"task": task.slug, "task_id": task.task_id}).all()
    factors = catalog.replicate_factors(connection, sorted({row.submission_id for row in rows}))
    return [Runs(of.test_set, of.team, of.system, of.alias, tuple(of.scores),
                 _names(factors.get(of.submission_id, ()), len(of.scores))) for of in rows]


def _names(factors: Sequence[Mapping[str, str]], n: int) -> tuple[str, ...]:
    """What tells runs apart: what is declared of them, else their numbers."""
    if len(factors) == n:
        return tuple(", ".join(f"{name} {level}" for name, level in of.items()) for of in factors)
    return tuple(f"run {number}" for number in range(1, n + 1))
