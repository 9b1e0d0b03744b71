"""Which scores of a task are not what this program would compute of today's gold, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, text

from registry.evaluation.scorers import difference, recorded, scorer
from registry.metrics import METRICS
from registry.store import catalog
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
    """A score that is to be computed, or computed anew.

    Attributes:
        task, test_set, submission: Whose; `submission` is `team/system@version`, `metric` the alias.
        why: In words.
        value: The score that there is, or that an earlier gold gave; None where there is none.
        scoring_id, metric_id: Its keys.
    """

    task: str
    test_set: str
    submission: str
    metric: str
    why: str
    value: float | None
    scoring_id: int
    metric_id: int


def stale_scores(connection: Connection, task_id: int) -> Iterator[StaleScore]:
    """The scores of a task that are missing, or of other code than today's."""
    runs = recorded(connection)
    for test_set in catalog.test_sets(connection, task_id):
        members = catalog.load_ranked(connection, test_set.test_set_id)
        for metric in catalog.task_metrics(connection, task_id):
            asked = {"metric": metric.metric_id, "test_set": test_set.test_set_id}
            there = {row.scoring_id: row for row in connection.execute(_SCORES, asked)}
            earlier = {row.submission_id: row for row in connection.execute(_EARLIER, asked)}
            now = scorer(parse("metric", METRICS, metric.name))
            for member in members:
                row, former = there.get(member.scoring_id), earlier.get(member.submission_id)
                if row is None:
                    why = "not scored yet" if former is None else \
                        f"the gold was revised since revision {former.revision}, which it was scored by"
                elif (before := runs.get(row.run_id, {}).get(metric.name)) is None:
                    why = f"the log does not say by what code evalregistry {row.version} computed it"
                elif not (why := difference(before, now)):
                    continue
                last = former if row is None else row
                task, of_set, submission = member.name.split("/", 2)
                yield StaleScore(task, of_set, submission, metric.alias, why,
                                 None if last is None else last.value, member.scoring_id, metric.metric_id)
