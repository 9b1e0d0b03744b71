"""What the store has of the leaderboards of some tasks, read for all of them at once.

A query takes milliseconds to be planned, whatever it finds: 200 tasks are read by as many queries as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select, text

from registry.leaderboards.comparison import Comparison
from registry.messages import NO_MESSAGES, Message, Messages
from registry.store import models
from registry.store.rows import has_row
from registry.store.statistics import fetch_columns

BOARD_PAIRS = ("p_value", "resolved", "resamples", "method", "messages")  # what a board without its pairs says of them
PAGE_PAIRS = (*BOARD_PAIRS, "p_adjusted", "difference", "ci_low", "ci_high", "n_discordant")
ALL_PAIRS = (*PAGE_PAIRS, "alternative", "n_units", "log10_p", "p_low", "p_high", "statistic")
NOT_COMPARED = "there is no comparison to show yet; `registry score` and `registry compare` make one"
_VALUES = {key: key for key in ALL_PAIRS} | {
    "alternative": "CASE WHEN asked.alternative = 'two-sided' THEN 0"  # its place in `_ALTERNATIVES`
                   " WHEN (asked.alternative = 'greater') <> is_swapped THEN 1 ELSE 2 END",
    "resolved": "is_resolved", "difference": "if(is_swapped, -difference, difference)", "ci_low": "ends.ci_low",
    "ci_high": "ends.ci_high"}
_ENDS = """JOIN (SELECT * FROM difference_interval WHERE comparison_id IN :comparisons) AS ends
            USING (comparison_id, position)"""
_REQUESTS = "JOIN (SELECT pair_request_id, alternative FROM pair_request) AS asked USING (pair_request_id)"
_ROWS = text("""
    SELECT * FROM leaderboard WHERE task IN :tasks AND (:metric IS NULL OR metric = :metric)
    """).bindparams(bindparam("tasks", expanding=True))  # a join loses its order
_SETTINGS = text("""
    SELECT l.task, c.comparison_id, metric.better, c.test, c.alternative, c.unit, c.runs, c.alpha, c.correction,
        c.resamples, c.seed, c.confidence, c.n_items, c.n_units, c.n_systems, c.family_size, c.signature,
        o.test AS overall, o.statistic, o.degrees, o.p_value, c.request ->> '$.cluster' AS "cluster", c.request
    FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id)
    JOIN metric ON metric.metric_id = c.metric_id LEFT JOIN overall_result AS o ON o.comparison_id = c.comparison_id
    WHERE l.task IN :tasks""").bindparams(bindparam("tasks", expanding=True))
_REMARKS = text("""
    SELECT submission_id, replicate, code, parameters, runs.n > 1 AS several FROM submission_remark
    JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
    WHERE task IN :tasks ORDER BY submission_id, replicate NULLS LAST, category, code, parameters
    """).bindparams(bindparam("tasks", expanding=True))
_LATE = text("SELECT submission_id FROM submission WHERE late")
_ATTRIBUTES = text("SELECT submission_id, attributes FROM submission WHERE attributes <> '{}'")
_ALTERNATIVES = np.array(["two-sided", "greater", "less"], dtype=object)
_TEXTS = ("method", "messages")  # of which there are few
_COPIES = "submission GROUP BY test_set_id, digest HAVING count(DISTINCT system_id) > 1"

Row = dict[str, Any]
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class StoredBoard:
    """A leaderboard as the store has it.

    Attributes:
        settings: Of its comparison.
        standings: Its rows, best first.
        pairs: What was decided of its pairs and what of them was asked for, [pairs] each, with the submissions.
    """

    settings: Comparison
    standings: Sequence[Row]
    pairs: Columns


@dataclass(frozen=True)
class StoredTask:
    """The leaderboards of a task, and what was asked of each of all that it has, by the number of the comparison."""

    boards: Sequence[StoredBoard]
    requests: Mapping[int, str]


def stored_boards(connection: Connection, tasks: Sequence[str], metric: str | None = None,
                  pairs: Sequence[str] = ALL_PAIRS) -> dict[str, StoredTask]:
    """Every leaderboard of some tasks (by one metric), by the tasks' ids.

    Args:
        connection: To the store.
        tasks: Their ids.
        metric: A metric's alias; None: by all.
        pairs: What is read of pairs beside the decisions: all, or as little as `PAGE_PAIRS` or `BOARD_PAIRS`.
    """
    rows = _rows(connection, tasks, metric)
    numbers = [number for of_task in rows.values() for number in of_task]
    found = connection.execute(_SETTINGS, {"tasks": list(tasks)}).all() if numbers else []
    settings = {of.comparison_id: Comparison._make(of[1:-1]) for of in found}
    requests: dict[str, dict[int, str]] = {task: {} for task in tasks}
    for of in found:
        requests[of.task][of.comparison_id] = of.request
    decided = _pairs(connection, numbers, pairs)
    return {task: StoredTask([StoredBoard(settings[number], standings, decided[number])
                              for number, standings in rows.get(task, {}).items()], requests[task]) for task in tasks}


def _rows(connection: Connection, tasks: Sequence[str], metric: str | None) -> dict[str, dict[int, list[Row]]]:
    """The rows of all boards, by task and comparison."""
    rows = [dict(of._mapping) for of in connection.execute(_ROWS, {"tasks": list(tasks), "metric": metric})]
    if not rows:
        return {}
    late, remarks = set(connection.execute(_LATE).scalars()), _remarks(connection, tasks)
    attributes = {submission: json.loads(of) for submission, of in connection.execute(_ATTRIBUTES)}
    for row in rows:
        submission = row["submission_id"]
        row |= {"attributes": attributes.get(submission, {}), "late": submission in late,
                "remarks": remarks.get(submission, NO_MESSAGES)}
    return {task: {number: list(of_board) for number, of_board in groupby(of_task, lambda row: row["comparison_id"])}
            for task, of_task in groupby(rows, lambda row: row["task"])}


def _remarks(connection: Connection, tasks: Sequence[str]) -> dict[int, Messages]:
    """Return the messages about submissions that take part, by their ids; runs are numbered from 1."""
    found: dict[int, list[Message]] = {}
    if not has_row(connection, "remark") and not (
            has_row(connection, "gold_revision WHERE n_items >= 10") and has_row(connection, _COPIES)):
        return {}
    for row in connection.execute(_REMARKS, {"tasks": list(tasks)}):
        run = {"run": row.replicate + 1} if row.several and row.replicate is not None else {}
        found.setdefault(row.submission_id, []).append(Message(row.code, json.loads(row.parameters) | run))
    return {submission: Messages(of) for submission, of in found.items()}


def _pairs(connection: Connection, numbers: Sequence[int], pairs: Sequence[str]) -> dict[int, Columns]:
    """The pairs of comparisons, by their numbers."""
    if not numbers:
        return {}
    texts = _texts(connection)
    values = {key: f"list_position(list_value :{key}, {key})" if key in texts else _VALUES[key] for key in pairs}
    columns = fetch_columns(connection, text(f"""
        SELECT comparison_pair.comparison_id, submission_a, submission_b, is_significant AS significant,
            {', '.join(f'{value} AS "{key}"' for key, value in values.items())}
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
            {_ENDS if 'ci_low' in pairs else ''} {_REQUESTS if 'alternative' in pairs else ''}
        WHERE comparison_pair.comparison_id IN :comparisons
        ORDER BY comparison_pair.comparison_id, position""").bindparams(  # noqa: S608 - columns, of `_VALUES`
            bindparam("comparisons", list(numbers), expanding=True),
            *(bindparam(key, known or [""], expanding=True) for key, known in texts.items())))
    for key, known in texts.items():  # one object of each text, not one in every row
        objects = np.empty(len(known) + 1, dtype=object)
        objects[1:] = list(map(Messages.load, known)) if key == "messages" else known
        columns[key] = objects[columns[key]]
    if "alternative" in columns:
        columns["alternative"] = _ALTERNATIVES[columns["alternative"]]
    return dict(_parted(columns, numbers))


def _parted(columns: Columns, numbers: Sequence[int]) -> Iterator[tuple[int, Columns]]:
    """Columns of several comparisons, each for itself; nothing is copied."""
    of = np.ma.getdata(columns.pop("comparison_id"))
    for number in numbers:
        part = slice(*np.searchsorted(of, (number, number + 1)).tolist())
        yield number, {key: column[part] for key, column in columns.items()}


def _texts(connection: Connection) -> dict[str, list[str]]:
    """What the columns of pairs that hold texts say anywhere."""
    rows = connection.execute(select(*(models.pair_result.c[key] for key in _TEXTS)).distinct()).all()
    return {key: sorted({row._mapping[key] for row in rows} - {None}) for key in _TEXTS}
