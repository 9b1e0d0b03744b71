"""Find scores that are missing or outdated, with the reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, text

from registry.evaluation.metric_ids import load_metrics
from registry.evaluation.scorers import describe_difference, describe_scorer, load_scorers
from registry.metrics import METRICS
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.values import parse

_SCORES = text("""
    SELECT scoring.scoring_id, score.value, score.run_id, run.code_version AS version
    FROM score JOIN scoring USING (scoring_id) JOIN run ON run.run_id = score.run_id
    WHERE metric_id = :metric AND gold_revision_id = (
        SELECT gold_revision_id FROM test_set WHERE test_set_id = :test_set)""")
_EARLIER = text("""
    SELECT submission_id, max_by(value, revision) AS value, max(revision) AS revision
    FROM score JOIN scoring USING (scoring_id) JOIN gold_revision USING (gold_revision_id)
    WHERE metric_id = :metric AND test_set_id = :test_set GROUP BY submission_id""")


@dataclass(frozen=True)
class StaleScore:
    """A score that is missing, or that another version of the code computed.

    Attributes:
        task, test_set: Ids of the task and the test set.
        submission: Name of the submission, `team/system@version`.
        metric: Alias of the metric.
        why: The reason in words, such as "not scored yet".
        value: The stored score, or else the score by an earlier version of the gold; None if there is neither.
        scoring_id, metric_id: Key of the score in the database.
    """

    task: str
    test_set: str
    submission: str
    metric: str
    why: str
    value: float | None
    scoring_id: int
    metric_id: int


def find_stale_scores(connection: Connection, task_id: int) -> Iterator[StaleScore]:
    """Find scores that are missing, or that another version of the code computed."""
    scorers, task_row = load_scorers(connection), catalog.get(connection, TaskRow, task_id=task_id)
    for test_set in catalog.test_sets(connection, task_id):
        members = catalog.load_ranked(connection, test_set.test_set_id)
        for metric in load_metrics(connection, task_row, test_set.name):
            parameters = {"metric": metric.metric_id, "test_set": test_set.test_set_id}
            current = {row.scoring_id: row for row in connection.execute(_SCORES, parameters)}
            earlier = {row.submission_id: row for row in connection.execute(_EARLIER, parameters)}
            installed = describe_scorer(parse("metric", METRICS, metric.name))
            for member in members:
                row, former = current.get(member.scoring_id), earlier.get(member.submission_id)
                if row is None:
                    why = "not scored yet" if former is None else f"last scored by gold revision {former.revision}"
                elif (stored := scorers.get(row.run_id, {}).get(metric.name)) is None:
                    why = f"the log does not name the code with which evalregistry {row.version} computed it"
                elif not (why := describe_difference(stored, installed)):
                    continue
                last = former if row is None else row
                task, test_set_name, submission = member.name.split("/", 2)
                yield StaleScore(task, test_set_name, submission, metric.alias, why,
                                 None if last is None else last.value, member.scoring_id, metric.metric_id)
