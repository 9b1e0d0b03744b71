"""Leaderboards that are out of date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, text

from registry.boards.statements import find_changed_families
from registry.errors import InputError
from registry.evaluation.scorers import Scorer, describe_difference, describe_scorer, load_scorers
from registry.messages import Message
from registry.metrics import METRICS
from registry.plugins import find_package, versions
from registry.store.embargoes import find_left_out
from registry.store.log import has_rescored_since, rescorings
from registry.store.rows import has_row
from registry.values import parse

_CHANGED = text("""
    SELECT DISTINCT coalesce(s.task, r.task) AS task, coalesce(s.test_set, r.test_set) AS test_set
    FROM (  -- without purged teams, whose scores are deleted
        SELECT l.task, l.test_set, l.track, l.gold_revision_id, submission_id, standing.kind, standing.late, c.request
        FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id) JOIN standing USING (comparison_id)
        WHERE standing.scoring_id IS NOT NULL
    ) AS s FULL JOIN ranked_submission AS r USING (submission_id)
    WHERE (
        s.task IS NULL OR r.task IS NULL OR s.track IS DISTINCT FROM r.track
        OR s.gold_revision_id <> r.gold_revision_id OR s.kind <> r.kind
        OR (s.late <> r.late AND s.request LIKE '%"rank_late"_false%')
    ) AND (:task IS NULL OR coalesce(s.task, r.task) = :task)
    ORDER BY ALL""")
_PURGED = text("""
    SELECT l.task, l.test_set, list_sort(list(DISTINCT team.name)) AS teams
    FROM latest_comparison AS l
    JOIN standing USING (comparison_id)
    JOIN submission USING (submission_id)
    JOIN system USING (system_id)
    JOIN team USING (team_id)
    WHERE team_id IN (SELECT team_id FROM tombstone) AND (:task IS NULL OR l.task = :task)
    GROUP BY ALL ORDER BY ALL""")
_SCORED_BY = text("""
    SELECT DISTINCT score.run_id, metric.name FROM score JOIN metric USING (metric_id)
    WHERE metric_id IN (
        SELECT metric_id FROM task_metric JOIN task USING (task_id) WHERE :task IS NULL OR slug = :task)""")


class Outdated(NamedTuple):
    """Message that the leaderboards of one test set are out of date, and why."""

    task: str
    test_set: str
    message: Message

    def __str__(self) -> str:
        """Return the task, the test set and the message as one line."""
        return f"{self.task}/{self.test_set}: {self.message}"


def find_outdated(connection: Connection, task: str | None = None) -> list[Outdated]:
    """Return messages about leaderboards that are out of date, with the reasons.

    There are four reasons. Since the comparison, submissions, gold or the leaderboards whose p-values are corrected
    together have changed; or the data of a team was deleted; or scores were computed again. Or the installed code of a
    metric differs from the code that computed the scores.

    Args:
        connection: A connection to the store.
        task: A task's id; None: all tasks.
    """
    changed_rows = connection.execute(_CHANGED, {"task": task}).all()
    purged_rows = connection.execute(_PURGED, {"task": task}).all() if has_row(connection, "tombstone") else []
    blind = find_left_out(connection).blind  # boards of blind tasks are hidden, so they cannot be outdated
    changed = dict.fromkeys((row.task, row.test_set) for row in changed_rows if row.task not in blind)
    changed_families = set[tuple[str, str]]()
    if has_row(connection, "comparison WHERE request LIKE '%\"family\"%'"):
        changed_families = set(find_changed_families(connection, task, changed.keys())) - changed.keys()
    return [*_find_other_code(connection, task),
            *(Outdated(*place, Message("board-outdated")) for place in changed),
            *(Outdated(*place, Message("family-outdated"))
              for place in sorted(changed_families) if place[0] not in blind),
            *(Outdated(row.task, row.test_set, Message("team-purged", {"teams": list(row.teams)}))
              for row in purged_rows if row.task not in blind)]


def has_new_data(connection: Connection, task: str) -> bool:
    """Return True if a task has changed since its last comparison.

    A change is a new, changed or withdrawn submission, changed gold, or the deletion of a team's data.
    """
    return any(connection.execute(query, {"task": task}).first() for query in (_CHANGED, _PURGED))


def _find_other_code(connection: Connection, task: str | None) -> Iterator[Outdated]:
    """Find leaderboards with scores that were not computed by the installed code.

    Leaderboards whose scores were computed again after the comparison are found, too.

    Yields:
        Messages with the reasons.
    """
    rescored, runs = rescorings(connection), load_scorers(connection)
    if not rescored and not any(_describe_differences(runs, {row.run_id}, row.name) for row in connection.execute(
            _SCORED_BY, {"task": task})):
        return  # the usual case; planning the query below takes long
    boards: dict[tuple[str, str, str, str, int], list[RowMapping]] = {}
    for row in connection.execute(text("""
            SELECT l.task, l.test_set, l.metric, metric.name, c.run_id AS compared_by, score.scoring_id,
                score.metric_id, score.run_id
            FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id) JOIN standing USING (comparison_id)
            JOIN metric ON metric.metric_id = c.metric_id
            JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = c.metric_id
            WHERE :task IS NULL OR l.task = :task ORDER BY ALL"""), {"task": task}).mappings():
        key = (row["task"], row["test_set"], row["metric"], row["name"], row["compared_by"])
        boards.setdefault(key, []).append(row)
    outdated: list[Outdated] = []
    for (slug, test_set, alias, name, compared_by), rows in boards.items():
        if differences := _describe_differences(runs, {row["run_id"] for row in rows}, name):
            message = Message("other-code", {"metric": alias, "difference": "; ".join(sorted(differences))})
        elif has_rescored_since(connection, compared_by, [(row["scoring_id"], row["metric_id"]) for row in rows]):
            message = Message("scores-changed", {"metric": alias})
        else:
            continue
        if (board := Outdated(slug, test_set, message)) not in outdated:
            outdated.append(board)
    yield from outdated


def _describe_differences(runs: Mapping[int, Mapping[str, Scorer]], run_ids: Iterable[int], metric: str) -> set[str]:
    """Describe how the installed code of a metric differs from the code used earlier.

    Args:
        runs: The code of each metric, by the id of the command that used it.
        run_ids: The ids of the commands that computed the scores.
        metric: The name of the metric.

    Returns:
        The distinct differences; empty if there are none.
    """
    scorers = [run_scorer for run_id in run_ids if (run_scorer := runs.get(run_id, {}).get(metric))]
    return {describe_difference(before, _get_scorer(metric)) for before in scorers} - {""}


def _get_scorer(name: str) -> Scorer:
    try:
        return describe_scorer(parse("metric", METRICS, name))
    except InputError:
        if find_package(name) is None:
            raise
        return versions([name])
