"""The states that leaderboards have been in: every comparison is one, whether a board still shows it or not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import UnknownNameError
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.leaderboards.decisions import PairDecision
from registry.leaderboards.leaderboard import DECIMALS, Standing, metric_form, title
from registry.store.embargoes import require_scores

# What a comparison was asked for, by the words for it.
SETTINGS = ("test", "alternative", "candidate", "unit", "runs", "strata", "alpha", "correction", "resamples", "seed",
            "interval", "confidence", "overall", "family")


@dataclass(frozen=True)
class State:
    """One state of a leaderboard.

    Attributes:
        key: Of which leaderboard.
        comparison_id: Its number in its database; `signature` identifies it everywhere.
        metric_name: The metric with its options; `gold`: the digest of the gold; `task_version`: the task's; `n_items`,
            `n_units`: how many take part, and of what is resampled or permuted; `code`: the version of the program.
        settings: What was asked for, by `SETTINGS`.
        systems: By `team/system`, best first.
        pairs: By the names of both, in alphabetical order.
        declared_title, decimals: How the task has people see the metric (`Leaderboard`).
    """

    key: LeaderboardKey
    comparison_id: int
    signature: str
    metric_name: str
    gold: str
    task_version: str
    n_items: int
    n_units: int
    code: str
    settings: Mapping[str, Any]
    systems: Mapping[str, Standing]
    pairs: Mapping[tuple[str, str], PairDecision]
    declared_title: str | None = None
    decimals: int = DECIMALS

    @property
    def title(self) -> str:
        """Which board it is of, and by what that ranks."""
        return title(self.key._asdict() | {"metric_name": self.metric_name}, self.declared_title)


def latest(connection: Connection, task: str | None = None,
           metric: str | None = None) -> dict[LeaderboardKey, list[State]]:
    """The last state of every board (of a task, of a metric), and the one before where there is one.

    Raises:
        HiddenError: The scores of the task, or of all tasks, are hidden from the connection.
    """
    require_scores(connection, task)
    rows = connection.execute(text(f"""
        WITH stated AS ({_STATES} WHERE task_metric.is_declared AND test_set.is_declared AND c.sequence > 0)
        SELECT * FROM stated
        WHERE (:task IS NULL OR task = :task) AND (:metric IS NULL OR metric = :metric)
        QUALIFY row_number() OVER (
            PARTITION BY task, test_set, track, facet, metric ORDER BY sequence DESC) <= 2
        ORDER BY test_set_position, track NULLS FIRST, facet NULLS FIRST, metric_position, task, sequence DESC
        """), {"task": task, "metric": metric}).all()  # noqa: S608
    found: dict[LeaderboardKey, list[State]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(_state(connection, row))
    return found


def states(connection: Connection, name: str | None, task: str | None = None,
           metric: str | None = None) -> dict[LeaderboardKey, State]:
    """The one state with an id, as signatures end with it; without, the last of every board (of a task, of a metric).

    Raises:
        UnknownNameError: None is called so.
        HiddenError: As of `latest`.
    """
    if name is None:
        return {key: last for key, (last, *_) in latest(connection, task, metric).items()}
    rows = connection.execute(text(f"{_STATES} ORDER BY comparison_id")).all()  # the last of one signature
    known = {row.signature.rpartition("id:")[2]: row for row in rows}
    if (found := known.get(name.rpartition("id:")[2])) is None:
        raise UnknownNameError("database file or state of a board", name, known)
    state = _state(connection, found)
    return {state.key: state}


_STATES = """
    SELECT task.slug AS task, task.manifest, test_set.name AS test_set, track.name AS track, c.facet, c.alias AS metric,
        metric.name AS metric_name, gold.digest AS gold, run.code_version AS code,
        c.* EXCLUDE (facet), o.test AS overall, test_set.position AS test_set_position,
        task_metric.position AS metric_position
    FROM comparison AS c
    JOIN test_set USING (test_set_id)
    JOIN task USING (task_id)
    JOIN metric USING (metric_id)
    JOIN task_metric ON task_metric.task_id = task.task_id AND task_metric.alias = c.alias
    JOIN gold_revision AS gold ON gold.gold_revision_id = c.gold_revision_id
    JOIN run ON run.run_id = c.run_id
    LEFT JOIN overall_result AS o USING (comparison_id)
    LEFT JOIN track ON track.track_id = c.track_id"""


def _key(row: Any) -> LeaderboardKey:
    return LeaderboardKey(row.task, row.test_set, row.track, row.facet, row.metric)


def _state(connection: Connection, row: Any) -> State:
    stood = connection.execute(text("""
        SELECT submission_id, team.name AS team, system.name AS system, version, score, rank, rank_low, rank_high,
            cluster
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": row.comparison_id}).all()
    systems = {f"{of.team}/{of.system}": Standing(
        rank=of.rank, rank_low=of.rank_low, rank_high=of.rank_high, cluster=of.cluster, system=of.system,
        shown=of.system, team=of.team, submission=f"{of.team}/{of.system}@{of.version}", score=of.score)
        for of in stood}
    asked = json.loads(row.request)["significance"]
    family = asked.get("family", "board")
    family = family if isinstance(family, str) else "; ".join(family)
    settings = {name: getattr(row, name) for name in SETTINGS if name not in ("strata", "family", "candidate")} | {
        "candidate": asked.get("candidate"), "strata": _signed(row.signature, "strata"), "family": family}
    version = str(_signed(row.signature, "task")).rpartition("@")[2]
    pairs = _pairs(connection, row.comparison_id, [of.submission_id for of in stood], list(systems))
    return State(_key(row), row.comparison_id, row.signature, row.metric_name, row.gold, version, row.n_items,
                 row.n_units, row.code, settings, systems, dict(pairs),
                 **metric_form(row.manifest, row.metric, row.metric_name))


def _signed(signature: str, key: str) -> str | None:
    """What a signature says of something; None where it says nothing."""
    found = re.search(rf"\|{key}:([^|]*)", signature)
    return found[1] if found else None


def _pairs(connection: Connection, comparison_id: int, submissions: Sequence[int],
           names: Sequence[str]) -> Iterator[tuple[tuple[str, str], PairDecision]]:
    """The pairs of a comparison, each in the alphabetical order of the names; submissions are by their ids."""
    place = {submission: n for n, submission in enumerate(submissions)}
    tested = connection.execute(text("""
        SELECT submission_a, submission_b, if(is_swapped, -difference, difference) AS difference, p_value, p_adjusted,
            is_significant
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": comparison_id})
    for of in tested:
        a, b, difference = place[of.submission_a], place[of.submission_b], of.difference
        if names[a] >= names[b]:
            a, b, difference = b, a, None if difference is None else -difference
        row = {"difference": difference, "p_value": of.p_value, "p_adjusted": of.p_adjusted}
        yield (names[a], names[b]), PairDecision(a, b, of.is_significant, row)
