"""The states that leaderboards have been in: every comparison is one, whether a board still shows it or not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import UnknownNameError

Place = tuple[str, str, str | None, str | None, str]

# What a comparison was asked for, by the words for it.
SETTINGS = ("test", "alternative", "unit", "runs", "strata", "alpha", "correction", "resamples", "seed", "interval",
            "confidence", "overall")


@dataclass(frozen=True)
class Stood:
    """How a system stood: its version, score, rank, the ranks left open, and cluster."""

    version: str
    score: float | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None


@dataclass(frozen=True)
class Tested:
    """What a test said of two systems, the first less the second."""

    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    significant: bool


@dataclass(frozen=True)
class State:
    """One state of a leaderboard.

    Attributes:
        place: Task, test set, track, facet and metric.
        signature: Identifies it.
        metric_name: The metric with its options; `gold`: the digest of the gold; `task_version`: the task's; `n_items`,
            `n_units`: how many take part, and of what is resampled or permuted; `code`: the version of the program.
        settings: What was asked for, by `SETTINGS`.
        systems: By `team/system`, best first.
        pairs: By the names of both, in alphabetical order.
    """

    place: Place
    signature: str
    metric_name: str
    gold: str
    task_version: str
    n_items: int
    n_units: int
    code: str
    settings: Mapping[str, Any]
    systems: Mapping[str, Stood]
    pairs: Mapping[tuple[str, str], Tested]


def latest(connection: Connection, task: str | None = None, metric: str | None = None) -> dict[Place, list[State]]:
    """The last state of every board (of a task, of a metric), and the one before where there is one."""
    rows = connection.execute(text(f"""
        WITH stated AS ({_STATES} WHERE task_metric.is_declared AND test_set.is_declared AND c.sequence > 0)
        SELECT * FROM stated
        WHERE (:task IS NULL OR task = :task) AND (:metric IS NULL OR metric = :metric)
        QUALIFY row_number() OVER (
            PARTITION BY task, test_set, track, facet, metric ORDER BY sequence DESC) <= 2
        ORDER BY test_set_position, track NULLS FIRST, facet NULLS FIRST, metric_position, sequence DESC
        """), {"task": task, "metric": metric}).all()  # noqa: S608
    found: dict[Place, list[State]] = {}
    for row in rows:
        found.setdefault(_place(row), []).append(_state(connection, row))
    return found


def named(connection: Connection, name: str) -> State:
    """The state with this id, as signatures end with it, or with this signature.

    Raises:
        UnknownNameError: None is called so.
    """
    wanted = name.rpartition("id:")[2]
    rows = connection.execute(text(f"{_STATES} ORDER BY comparison_id")).all()  # the last of one signature
    known = {_id(row.signature): row for row in rows}
    if wanted not in known:
        raise UnknownNameError("database file or state of a board", name, known)
    return _state(connection, known[wanted])


_STATES = """
    SELECT task.slug AS task, test_set.name AS test_set, track.name AS track, c.facet, c.alias AS metric,
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


def _id(signature: str) -> str:
    return signature.rpartition("id:")[2]


def _place(row: Any) -> Place:
    return row.task, row.test_set, row.track, row.facet, row.metric


def _state(connection: Connection, row: Any) -> State:
    stood = connection.execute(text("""
        SELECT submission_id, team.name || '/' || system.name AS name, version, score, rank, rank_low, rank_high,
            cluster
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": row.comparison_id}).all()
    names = {of.submission_id: of.name for of in stood}
    tested = connection.execute(text("""
        SELECT submission_a, submission_b, if(is_swapped, -difference, difference) AS difference, p_value, p_adjusted,
            is_significant
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": row.comparison_id})
    settings = {name: getattr(row, name) for name in SETTINGS if name != "strata"} | {
        "strata": _signed(row.signature, "strata")}
    version = str(_signed(row.signature, "task")).rpartition("@")[2]
    return State(
        _place(row), row.signature, row.metric_name, row.gold, version, row.n_items, row.n_units, row.code, settings,
        {of.name: Stood(of.version, of.score, of.rank, of.rank_low, of.rank_high, of.cluster) for of in stood},
        dict(_pair(names, pair) for pair in tested))


def _signed(signature: str, key: str) -> str | None:
    """What a signature says of something; None where it says nothing."""
    found = re.search(rf"\|{key}:([^|]*)", signature)
    return found[1] if found else None


def _pair(names: Mapping[int, str], pair: Sequence[Any]) -> tuple[tuple[str, str], Tested]:
    a, b, difference, *others = pair
    first, second = names[a], names[b]
    if first < second:
        return (first, second), Tested(difference, *others)
    return (second, first), Tested(None if difference is None else -difference, *others)
