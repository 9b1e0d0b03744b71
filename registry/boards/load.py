"""Leaderboards read from the database, for several tasks at once.

DuckDB takes milliseconds to plan a query, whatever its size: 200 tasks are read by as many queries as one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, select, text

from registry.arrays import Floats
from registry.boards.leaderboard import (
    SHARED_KEYS,
    Comparison,
    Decisions,
    Leaderboard,
    Ranks,
    Standing,
    intervals_of,
    metric_form,
    shown_names,
)
from registry.boards.statements import (
    StoredFamily,
    describe_direction,
    families_of,
    family_sentences,
    separable,
    statements,
    takes_observed,
)
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.manifest import stored_manifest
from registry.messages import NO_MESSAGES, Message, Messages
from registry.significance.diagnostics.samples import mixed_scales
from registry.significance.ranks import assign_letters, bound_frequent_ranks, find_groups, find_neighbour_ranges
from registry.store import models
from registry.store.catalog import TaskRow
from registry.store.rows import has_row
from registry.store.statistics import fetch_columns
from registry.values import name_of

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


_MEAN = "Mean"  # the metric whose scores are the user's

Places = Mapping[str, Floats]  # by the name of the board and the submission


def leaderboards(of: StoredTask, ranks: Ranks = "range", drawn: Places | None = None) -> list[Leaderboard]:
    """Every leaderboard of a task that was read.

    Args:
        of: As the store has it.
        ranks: The convention of the ranks that people see.
        drawn: By the board's and its own name, how often every submission has every place in resamples; of
            `simultaneous` ranks its least and its last place.
    """
    families = families_of(of.requests)
    return [_leaderboard(stored, ranks, drawn or {}, of.requests[number], families[number])
            for stored in of.boards for number in [stored.settings.comparison_id]]


def declared_leaderboards(connection: Connection, task_row: TaskRow, metric: str | None = None,
                          ranks: Ranks | None = None, pairs: Sequence[str] = ALL_PAIRS,
                          stored: StoredTask | None = None) -> list[Leaderboard]:
    """Every leaderboard of a task (by one metric), with the ranks that it declares unless others are asked for.

    Args:
        connection: To the store.
        task_row: The task.
        metric: A metric's alias; None: by all.
        ranks: The convention of the ranks that people see; None: as the task declares.
        pairs: What is read of pairs (`stored_boards`).
        stored: What was read of these boards, as with those of other tasks; None: nothing yet.
    """
    manifest = stored_manifest(task_row.manifest)
    chosen = ranks or manifest.board.ranks
    drawn, warnings = None, dict[str, list[Message]]()
    if chosen in ("bootstrap", "simultaneous"):
        from registry.evaluation.comparing.settings import declared_request  # late: other ranks draw nothing
        from registry.studies.score_distributions import compute_all_rank_bounds, resample_ranks

        request = declared_request(task_row, metrics=None if metric is None else (metric,))
        if chosen == "bootstrap":
            drawn = resample_ranks(connection, task_row, request)
        else:
            drawn, warnings = compute_all_rank_bounds(connection, task_row, request)
    slug = task_row.slug
    found = leaderboards(stored or stored_boards(connection, [slug], metric, pairs)[slug], chosen, drawn)
    return [replace(board, about=manifest.task.said, rank_warnings=tuple(warnings.get(board.key.name, ())),
                    **metric_form(task_row.manifest, board.metric, board.metric_name)) for board in found]


def _leaderboard(of: StoredBoard, ranks: Ranks, drawn: Places, request: str,
                 family: StoredFamily) -> Leaderboard:
    """One leaderboard from its rows, best first."""
    comparison, rows, decisions = of.settings, of.standings, _decisions(of)
    key = LeaderboardKey(*(rows[0][name] for name in LeaderboardKey._fields))
    share = family.share(key.name.removeprefix(f"{key.task}/"), len(decisions), comparison.family_size)
    wins = np.zeros((len(rows), len(rows)), dtype=bool)
    wins[decisions.a, decisions.b] = decisions.significant
    ranked = [n for n, row in enumerate(rows) if row["rank"] is not None]
    among = wins[np.ix_(ranked, ranked)]
    differ = among | among.T
    groups = find_groups(differ)
    marks = assign_letters(groups, len(ranked)) if decisions else [""] * len(ranked)
    more: dict[int, Row] = {
        n: {"letters": mark, "neighbour_low": int(low), "neighbour_high": int(high)}
        for n, mark, low, high in zip(ranked, marks, *find_neighbour_ranges(among), strict=True)}
    names = shown_names(rows)
    standings = tuple(
        Standing(shown=name, **{key: row[key] for key in Standing.__dataclass_fields__ if key in row},
                 **more.get(n, {}), **_resampled(row, drawn, ranks, comparison.confidence))
        for n, (row, name) in enumerate(zip(rows, names, strict=True)))
    said = statements(comparison, [row["runs"] for row in rows], decisions, share, ranks, request)
    if len(ranked) > 1:
        told = separable([names[n] for n in ranked], [rows[n]["rank"] for n in ranked], differ, groups, comparison)
        said = (said[0], told, *said[1:])
    sides = describe_direction(comparison, request, rows, names) if decisions else ""
    over = () if comparison.n_systems == 1 else family_sentences(
        family, comparison.correction, comparison.alpha, comparison.family_size)
    intervals = intervals_of(comparison, request, scores=any(row["ci_low"] is not None for row in rows))
    alike = tuple(tuple(ranked[n] for n in group) for group in groups)
    return Leaderboard(**{key: rows[0][key] for key in SHARED_KEYS}, better=comparison.better, comparison=comparison,
                       standings=standings, decisions=decisions, alike=alike, ranks=ranks, intervals=intervals,
                       direction=sides,
                       statements=(*said, *_mixed_scales(names, rows), *filter(None, [sides]),
                                   *intervals.statements(comparison), *over))


def _mixed_scales(names: Sequence[str], rows: Sequence[Row]) -> list[Message]:
    """Warn if some systems seem to have scores in percent and others fractions."""
    if name_of(rows[0]["metric_name"]) != _MEAN:
        return []
    warning = mixed_scales(names, [math.nan if row["score"] is None else row["score"] for row in rows])
    return [] if warning is None else [warning]


def _decisions(of: StoredBoard) -> Decisions:
    """The pairs of a comparison."""
    comparison, rows, columns = of.settings, of.standings, dict(of.pairs)
    place = np.zeros(1 + max(row["submission_id"] for row in rows), dtype=np.int64)
    place[[row["submission_id"] for row in rows]] = np.arange(len(rows))
    a, b = (place[columns.pop(side)] for side in ("submission_a", "submission_b"))
    teams = np.unique([row["team"] for row in rows], return_inverse=True)[1]
    columns["same_team"] = teams[a] == teams[b]
    drawn = np.ma.getmaskarray(columns["resamples"])
    columns["seed"] = np.ma.MaskedArray(np.full(len(a), comparison.seed), drawn)
    shared = {key: rows[0][key] for key in SHARED_KEYS} | {
        key: getattr(comparison, key) for key in ("test", "alternative", "correction", "family_size", "unit")}
    if takes_observed(comparison):
        columns.pop("alternative", None)
    return Decisions(a, b, columns, shared, [{key: row[key] for key in ("system", "submission", "score")}
                                             for row in rows])


def _resampled(row: Row, drawn: Places, ranks: Ranks, confidence: float) -> Row:
    """The resampled ranks of a row's system; nothing where there are none."""
    board = LeaderboardKey(*(row[key] for key in LeaderboardKey._fields))
    name = f"{board.name}: {board.task}/{board.test_set}/{row['submission']}" if drawn else ""
    if (of_system := drawn.get(name)) is None:
        return {}
    if ranks == "simultaneous":
        return {"simultaneous_low": int(of_system[0]), "simultaneous_high": int(of_system[1])}
    return resampled_places(of_system, confidence)


def resampled_places(frequencies: Floats, confidence: float) -> Row:
    """What a standing says of how often its system has each place in resamples, [places]."""
    ((low,), (high,)) = bound_frequent_ranks(frequencies[None], confidence)
    return {"frequent_low": int(low), "frequent_high": int(high), "first": float(frequencies[0]),
            "frequencies": tuple(map(float, frequencies))}
