"""Leaderboards from the store: every board of a task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.leaderboards.decisions import Decisions
from registry.leaderboards.directions import describe_direction, takes_observed
from registry.leaderboards.families import StoredFamily, families_of, family_sentences
from registry.leaderboards.intervals import intervals_of
from registry.leaderboards.leaderboard import (
    SHARED_KEYS,
    Leaderboard,
    Ranks,
    Standing,
    metric_form,
    shown_names,
)
from registry.leaderboards.sentences import separable, statements
from registry.leaderboards.stored import ALL_PAIRS, Row, StoredBoard, StoredTask, stored_boards
from registry.manifest import stored_manifest
from registry.messages import Message
from registry.significance.diagnostics.samples import mixed_scales
from registry.significance.ranks import assign_letters, bound_frequent_ranks, find_groups, find_neighbour_ranges
from registry.store.catalog import TaskRow
from registry.values import name_of

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
        from registry.studies.score_distributions import bound_all_ranks, resample_ranks

        request = declared_request(task_row, metrics=None if metric is None else (metric,))
        if chosen == "bootstrap":
            drawn = resample_ranks(connection, task_row, request)
        else:
            drawn, warnings = bound_all_ranks(connection, task_row, request)
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
