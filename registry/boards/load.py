"""Loading of leaderboards from the database, for several tasks together.

DuckDB needs milliseconds to plan any query, so a fixed number of queries loads the leaderboards of all tasks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
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
    describe_intervals,
    get_metric_display,
    make_display_names,
)
from registry.boards.results import describe_result
from registry.boards.statements import (
    StoredFamily,
    describe_direction,
    describe_family,
    describe_judgments,
    has_observed_direction,
    make_statements,
    parse_families,
)
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.manifest import decode_manifest
from registry.messages import NO_MESSAGES, Message, Messages
from registry.significance.diagnostics.samples import warn_of_mixed_scales
from registry.significance.ranks import assign_letters, find_frequent_ranks, find_groups, find_neighbour_ranges
from registry.store import models
from registry.store.catalog import TaskRow
from registry.store.embargoes import is_public
from registry.store.rows import has_row
from registry.store.statistics import fetch_columns
from registry.values import get_name

# Columns of pairs to load, besides the decisions.
# Boards that do not show their pairs need these columns.
BOARD_PAIRS = ("p_value", "p_adjusted", "resolved", "resamples", "method", "messages")
PAGE_PAIRS = (*BOARD_PAIRS, "difference", "ci_low", "ci_high", "n_discordant")
ALL_PAIRS = (*PAGE_PAIRS, "alternative", "n_units", "log10_p", "p_low", "p_high", "statistic")
_VALUES = {key: key for key in ALL_PAIRS} | {
    "alternative": "CASE WHEN asked.alternative = 'two-sided' THEN 0"  # an index of `_ALTERNATIVES`
                   " WHEN (asked.alternative = 'greater') <> is_swapped THEN 1 ELSE 2 END",
    "resolved": "is_resolved", "difference": "if(is_swapped, -difference, difference)", "ci_low": "ends.ci_low",
    "ci_high": "ends.ci_high"}
_HAS_SUBMISSION = text("SELECT 1 FROM ranked_submission WHERE :task IS NULL OR task = :task LIMIT 1")
_ENDS = """JOIN (SELECT * FROM difference_interval WHERE comparison_id IN :comparisons) AS ends
            USING (comparison_id, position)"""
_REQUESTS = "JOIN (SELECT pair_request_id, alternative FROM pair_request) AS asked USING (pair_request_id)"
_ROWS = text("""
    SELECT * FROM leaderboard WHERE task IN :tasks AND (:metric IS NULL OR metric = :metric)
    """).bindparams(bindparam("tasks", expanding=True))  # no join, because a join loses the order of the view
_SETTINGS = text("""
    SELECT l.task, c.comparison_id, metric.better, c.test, c.alternative, c.unit, c.runs, c.alpha, c.correction,
        c.resamples, c.seed, c.confidence, c.n_items, c.n_units, c.n_systems, c.family_size, c.signature,
        o.test AS overall, o.statistic, o.degrees, o.p_value, c.request ->> '$.cluster' AS "cluster", c.request
    FROM latest_comparison AS l JOIN comparison AS c USING (comparison_id)
    JOIN metric ON metric.metric_id = c.metric_id LEFT JOIN overall_result AS o ON o.comparison_id = c.comparison_id
    WHERE l.task IN :tasks""").bindparams(bindparam("tasks", expanding=True))
_MESSAGES = text("""
    SELECT submission_id, replicate, code, parameters, runs.n > 1 AS several FROM submission_message
    JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
    WHERE task IN :tasks ORDER BY submission_id, replicate NULLS LAST, category, code, parameters
    """).bindparams(bindparam("tasks", expanding=True))
_LATE = text("SELECT submission_id FROM submission WHERE late")
_ATTRIBUTES = text("SELECT submission_id, attributes FROM submission WHERE attributes <> '{}'")
_ALTERNATIVES = np.array(["two-sided", "greater", "less"], dtype=object)
_WITHOUT_MANIFEST = ("quick", "evaluation")  # temporary tasks of `registry quick` and `registry.evaluate`
_TEXTS = ("method", "messages")  # columns with few different texts
_EQUAL_SUBMISSIONS = "submission GROUP BY test_set_id, digest HAVING count(DISTINCT system_id) > 1"

Row = dict[str, Any]
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class StoredBoard:
    """Stored data of one leaderboard: settings, systems and pairs of systems.

    Attributes:
        settings: The settings and the size of the comparison.
        standings: The rows of the systems, best first.
        pairs: Columns of the pairs, [pairs] each: the two submissions, the decision, and the requested columns.
    """

    settings: Comparison
    standings: Sequence[Row]
    pairs: Columns


@dataclass(frozen=True)
class StoredTask:
    """Stored data of a task's leaderboards.

    Attributes:
        boards: The leaderboards that were loaded.
        requests: The recorded settings of each comparison as JSON, by comparison id, for every leaderboard of the task.
    """

    boards: Sequence[StoredBoard]
    requests: Mapping[int, str]


def has_submission(connection: Connection, task: str | None = None) -> bool:
    """Return True if a task, or any task (None), has a submission that takes part."""
    return connection.execute(_HAS_SUBMISSION, {"task": task}).first() is not None


def explain_no_boards(connection: Connection, task: str | None = None) -> str:
    """Return why there is no leaderboard, and the next step if there is one.

    Args:
        connection: A connection to the store.
        task: The id of the task; None: all tasks.
    """
    if is_public(connection):
        return "there is no public leaderboard yet; organisers make one by `registry compare` and `registry publish`"
    if not has_submission(connection, task):
        return "there is no submission to compare; `registry submit` adds one"
    return "there is no comparison to show yet; `registry score` and `registry compare` make one"


def load_stored_boards(connection: Connection, tasks: Sequence[str], metric: str | None = None,
                       pairs: Sequence[str] = ALL_PAIRS) -> dict[str, StoredTask]:
    """Load the stored data of leaderboards, by the id of the task.

    Args:
        connection: A connection to the store.
        tasks: The ids of the tasks.
        metric: A metric's alias; None for all metrics.
        pairs: The columns to load for each pair of systems: `ALL_PAIRS`, `PAGE_PAIRS` or `BOARD_PAIRS`. Test decisions
            are always loaded.
    """
    rows = _load_rows(connection, tasks, metric)
    ids = [comparison_id for task_rows in rows.values() for comparison_id in task_rows]
    comparisons = connection.execute(_SETTINGS, {"tasks": list(tasks)}).all() if ids else []
    settings = {row.comparison_id: Comparison._make(row[1:-1]) for row in comparisons}
    requests: dict[str, dict[int, str]] = {task: {} for task in tasks}
    for row in comparisons:
        requests[row.task][row.comparison_id] = row.request
    # The result of two systems is a sentence with all numbers of the pair.
    small = [number for number in ids if settings[number].n_systems == 2]
    decisions = _load_pairs(connection, small, ALL_PAIRS) | _load_pairs(
        connection, [number for number in ids if settings[number].n_systems != 2], pairs)
    return {task: StoredTask([StoredBoard(settings[comparison_id], standings, decisions[comparison_id])
                              for comparison_id, standings in rows.get(task, {}).items()], requests[task])
            for task in tasks}


def _load_rows(connection: Connection, tasks: Sequence[str], metric: str | None) -> dict[str, dict[int, list[Row]]]:
    """Load the rows (one per system) of each leaderboard of some tasks.

    Args:
        connection: A connection to the store.
        tasks: The ids of the tasks.
        metric: A metric's alias; None for all metrics.

    Returns:
        The rows, by task id and comparison id.
    """
    rows = [dict(row._mapping) for row in connection.execute(_ROWS, {"tasks": list(tasks), "metric": metric})]
    if not rows:
        return {}
    late, messages = set(connection.execute(_LATE).scalars()), _load_messages(connection, tasks)
    attributes = {submission: json.loads(values) for submission, values in connection.execute(_ATTRIBUTES)}
    for row in rows:
        submission = row["submission_id"]
        row |= {"attributes": attributes.get(submission, {}), "late": submission in late,
                "messages": messages.get(submission, NO_MESSAGES)}
    return {task: {comparison_id: list(board_rows)
                   for comparison_id, board_rows in groupby(task_rows, lambda row: row["comparison_id"])}
            for task, task_rows in groupby(rows, lambda row: row["task"])}


def _load_messages(connection: Connection, tasks: Sequence[str]) -> dict[int, Messages]:
    """Load the messages about submissions, by the id of the submission.

    A message about one of several runs has the number of the run, counted from 1.
    """
    if not has_row(connection, "scoring_message") and not (
            has_row(connection, "gold_revision WHERE n_items >= 10") and has_row(connection, _EQUAL_SUBMISSIONS)):
        return {}
    messages: dict[int, list[Message]] = {}
    for row in connection.execute(_MESSAGES, {"tasks": list(tasks)}):
        run = {"run": row.replicate + 1} if row.several and row.replicate is not None else {}
        messages.setdefault(row.submission_id, []).append(Message(row.code, json.loads(row.parameters) | run))
    return {submission: Messages(submission_messages) for submission, submission_messages in messages.items()}


def _load_pairs(connection: Connection, ids: Sequence[int], pairs: Sequence[str]) -> dict[int, Columns]:
    """Load the test results of all pairs of systems, by the id of the comparison.

    Args:
        connection: A connection to the store.
        ids: The ids of the comparisons.
        pairs: The columns to load, in addition to the decisions.
    """
    if not ids:
        return {}
    texts = _list_texts(connection)
    values = {key: f"list_position(list_value :{key}, {key})" if key in texts else _VALUES[key] for key in pairs}
    columns = fetch_columns(connection, text(f"""
        SELECT comparison_pair.comparison_id, submission_a, submission_b, is_significant AS significant,
            {', '.join(f'{value} AS "{key}"' for key, value in values.items())}
        FROM comparison_pair JOIN pair_result USING (pair_result_id)
            {_ENDS if 'ci_low' in pairs else ''} {_REQUESTS if 'alternative' in pairs else ''}
        WHERE comparison_pair.comparison_id IN :comparisons
        ORDER BY comparison_pair.comparison_id, position""").bindparams(  # noqa: S608 - columns, of `_VALUES`
            bindparam("comparisons", list(ids), expanding=True),
            *(bindparam(key, values_of_key or [""], expanding=True) for key, values_of_key in texts.items())))
    for key, values_of_key in texts.items():  # rows with the same text share one object, to save memory
        objects = np.empty(len(values_of_key) + 1, dtype=object)
        objects[1:] = list(map(Messages.load, values_of_key)) if key == "messages" else values_of_key
        columns[key] = objects[columns[key]]
    if "alternative" in columns:
        columns["alternative"] = _ALTERNATIVES[columns["alternative"]]
    comparison_ids = np.ma.getdata(columns.pop("comparison_id"))
    slices = {number: slice(*np.searchsorted(comparison_ids, (number, number + 1)).tolist()) for number in ids}
    return {number: {key: column[part] for key, column in columns.items()} for number, part in slices.items()}


def _list_texts(connection: Connection) -> dict[str, list[str]]:
    rows = connection.execute(select(*(models.pair_result.c[key] for key in _TEXTS)).distinct()).all()
    return {key: sorted({row._mapping[key] for row in rows} - {None}) for key in _TEXTS}


_MEAN = "Mean"  # the metric of scores that users computed

ResampledRanks = Mapping[str, Floats]  # keys: `BOARD: SUBMISSION`


def make_leaderboards(task: StoredTask, ranks: Ranks = "range",
                      resampled: ResampledRanks | None = None) -> list[Leaderboard]:
    """Make the leaderboards of a task from its stored data.

    Args:
        task: The stored data.
        ranks: The kind of rank ranges to show.
        resampled: Ranks in resamples, by submission: the share of resamples in which it has each rank. If `ranks` is
            `simultaneous`: the first and the last rank of the submission instead.
    """
    families = parse_families(task.requests)
    return [_make_leaderboard(board, ranks, resampled or {}, task.requests[board.settings.comparison_id],
                              families[board.settings.comparison_id]) for board in task.boards]


def load_leaderboards(connection: Connection, task_row: TaskRow, metric: str | None = None,
                      ranks: Ranks | None = None, pairs: Sequence[str] = ALL_PAIRS,
                      stored: StoredTask | None = None) -> list[Leaderboard]:
    """Load the leaderboards of a task from the database.

    Args:
        connection: A connection to the store.
        task_row: The task.
        metric: A metric's alias; None for all metrics.
        ranks: The kind of rank ranges to show; None for the kind that the task declares.
        pairs: The columns to load for each pair of systems, such as `ALL_PAIRS`.
        stored: The stored data of these leaderboards; None: load the data.
    """
    manifest = decode_manifest(task_row.manifest)
    convention = ranks or manifest.board.ranks
    resampled, warnings, rank_resamples = None, dict[str, list[Message]](), None
    if convention in ("bootstrap", "simultaneous"):
        # Imported late, because other conventions do not resample.
        from registry.evaluation.comparing.settings import build_request
        from registry.significance.rank_sets import RANK_DRAWS
        from registry.studies.score_distributions import compute_all_rank_bounds, resample_ranks

        request = build_request(task_row, metrics=None if metric is None else (metric,))
        if convention == "bootstrap":
            resampled = resample_ranks(connection, task_row, request)
            rank_resamples = (request.settings.resamples, request.settings.seed)
        else:
            resampled, warnings = compute_all_rank_bounds(connection, task_row, request)
            rank_resamples = (RANK_DRAWS, request.settings.seed)
    stored = stored or load_stored_boards(connection, [task_row.slug], metric, pairs)[task_row.slug]
    boards = [replace(board, task_title=manifest.task.title, about=manifest.task.summary,
                      rank_warnings=tuple(warnings.get(board.key.name, ())),
                      rank_resamples=rank_resamples,
                      **get_metric_display(task_row.manifest, board.metric, board.metric_name))
              for board in make_leaderboards(stored, convention, resampled)]
    return [replace(board, result=describe_result(board)) for board in boards]


def _make_leaderboard(board: StoredBoard, ranks: Ranks, resampled: ResampledRanks, request: str,
                      family: StoredFamily) -> Leaderboard:
    comparison, rows, decisions = board.settings, board.standings, _make_decisions(board)
    key = LeaderboardKey(*(rows[0][name] for name in LeaderboardKey._fields))
    share = family.compute_share(key.name.removeprefix(f"{key.task}/"), len(decisions), comparison.family_size)
    wins = np.zeros((len(rows), len(rows)), dtype=bool)
    wins[decisions.a, decisions.b] = decisions.significant
    ranked = [n for n, row in enumerate(rows) if row["rank"] is not None]
    ranked_wins = wins[np.ix_(ranked, ranked)]
    differs = ranked_wins | ranked_wins.T
    groups = find_groups(differs)
    letters = assign_letters(groups, len(ranked)) if decisions else [""] * len(ranked)
    derived: dict[int, Row] = {
        n: {"letters": mark, "neighbour_low": int(low), "neighbour_high": int(high)}
        for n, mark, low, high in zip(ranked, letters, *find_neighbour_ranges(ranked_wins), strict=True)}
    names = make_display_names(rows)
    standings = tuple(
        Standing(display_name=name, **{key: row[key] for key in Standing.__dataclass_fields__ if key in row},
                 **derived.get(n, {}), **_get_resampled_ranks(row, resampled, ranks, comparison.confidence))
        for n, (row, name) in enumerate(zip(rows, names, strict=True)))
    statements = list(make_statements(comparison, [row["runs"] for row in rows], decisions, names, share, ranks,
                                      request, None if key.task in _WITHOUT_MANIFEST else key.task))
    if get_name(rows[0]["metric_name"]) == _MEAN:
        warning = warn_of_mixed_scales(names, [math.nan if row["score"] is None else row["score"] for row in rows])
        statements += [] if warning is None else [warning]
    direction = describe_direction(comparison, request, rows, names) if decisions else ""
    statements += [direction] if direction else []
    if (joint := json.loads(request).get("joint")) is not None:
        unscored = [name for name, row in zip(names, rows, strict=True) if row["score"] is None]
        statements += describe_judgments(joint, unscored, get_name(rows[0]["metric_name"]))
    intervals = describe_intervals(comparison, request, has_scores=any(row["ci_low"] is not None for row in rows))
    statements += intervals.statements(comparison)
    if comparison.n_systems > 1:
        statements += describe_family(family, comparison.correction, comparison.family_size)
    return Leaderboard(**{key: rows[0][key] for key in SHARED_KEYS}, better=comparison.better, comparison=comparison,
                       standings=standings, decisions=decisions,
                       groups=tuple(tuple(ranked[n] for n in group) for group in groups), ranks=ranks,
                       intervals=intervals, direction=direction, statements=tuple(statements))


def _make_decisions(board: StoredBoard) -> Decisions:
    comparison, rows, columns = board.settings, board.standings, dict(board.pairs)
    places = np.zeros(1 + max(row["submission_id"] for row in rows), dtype=np.int64)
    places[[row["submission_id"] for row in rows]] = np.arange(len(rows))
    a, b = (places[columns.pop(side)] for side in ("submission_a", "submission_b"))
    teams = np.unique([row["team"] for row in rows], return_inverse=True)[1]
    columns["same_team"] = teams[a] == teams[b]
    is_exact = np.ma.getmaskarray(columns["resamples"])
    columns["seed"] = np.ma.MaskedArray(np.full(len(a), comparison.seed), is_exact)
    common = {key: rows[0][key] for key in SHARED_KEYS} | {
        key: getattr(comparison, key) for key in ("test", "alternative", "correction", "family_size", "unit")}
    if has_observed_direction(comparison):
        columns.pop("alternative", None)
    return Decisions(a, b, columns, common, [{key: row[key] for key in ("system", "submission", "score")}
                                             for row in rows])


def _get_resampled_ranks(row: Row, resampled: ResampledRanks, ranks: Ranks, confidence: float) -> Row:
    """Return the rank range of a system from resamples, as fields of its `Standing`.

    The result is empty if ranks are not resampled.
    """
    if not resampled:
        return {}
    board = LeaderboardKey(*(row[key] for key in LeaderboardKey._fields))
    values = resampled.get(f"{board.name}: {board.task}/{board.test_set}/{row['submission']}")
    if values is None:
        return {}
    if ranks == "simultaneous":
        return {"simultaneous_low": int(values[0]), "simultaneous_high": int(values[1])}
    return summarise_resampled_ranks(values, confidence)


def summarise_resampled_ranks(frequencies: Floats, confidence: float) -> Row:
    """Compute a rank range from the ranks of a system in bootstrap resamples.

    Args:
        frequencies: The share of resamples in which the system has each rank, [ranks].
        confidence: The confidence of the rank range, such as 0.95.

    Returns:
        Values of fields of `Standing`.
    """
    ((low,), (high,)) = find_frequent_ranks(frequencies[None], confidence)
    return {"bootstrap_low": int(low), "bootstrap_high": int(high), "share_best": float(frequencies[0]),
            "frequencies": tuple(map(float, frequencies))}
