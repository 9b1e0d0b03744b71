"""Selection of leaderboards, systems and pairs, and values that need resampling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from sqlalchemy import Connection, text

from registry.boards.leaderboard import Leaderboard, Ranks, Standing
from registry.boards.load import PAGE_PAIRS, explain_no_boards, load_leaderboards, summarise_resampled_ranks
from registry.boards.results import select_pair
from registry.errors import InputError, MismatchError, UnknownNameError, listed
from registry.evaluation.comparing.settings import build_request
from registry.evaluation.metric_ids import choose_alias
from registry.significance.ranks import find_groups
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.score_distributions import resample_ranks, resample_score_intervals
from registry.studies.study import is_named


def load_metric_leaderboards(connection: Connection, task_row: TaskRow, metric: str | None = None,
                             ranks: Ranks | None = None) -> list[Leaderboard]:
    """Load all leaderboards of one metric of a task.

    Args:
        connection: A connection to the store.
        task_row: The task.
        metric: The metric's alias; None for the primary metric.
        ranks: The kind of rank ranges to show, such as `simultaneous`; None for the kind that the task declares.

    Raises:
        UnknownNameError: The metric is unknown.
        MismatchError: There is no leaderboard.
    """
    alias = choose_alias(connection, [task_row], metric) or catalog.primary_metric(connection, task_row.task_id).alias
    boards = load_leaderboards(connection, task_row, alias, ranks, PAGE_PAIRS)
    if not boards:
        raise MismatchError(explain_no_boards(connection, task_row.slug))
    return boards


def select_leaderboard(boards: Sequence[Leaderboard], test_set: str | None = None, track: str | None = None,
                       facet: str | None = None) -> Leaderboard:
    """Return the only leaderboard of a test set, a track and a facet.

    Args:
        boards: The leaderboards to select from.
        test_set: The test set; None selects any.
        track: The track; None selects leaderboards without a track, or any if all have a track.
        facet: The facet, such as `genre=news`; None selects leaderboards of all items, or any if all have a facet.

    Raises:
        UnknownNameError: There is no board of that test set, track or facet.
        MismatchError: Several leaderboards match.
    """
    for kind, name in (("test_set", test_set), ("track", track), ("facet", facet)):
        names = {getattr(board, kind) for board in boards}
        if name is None and None not in names:
            continue
        if name not in names:
            raise UnknownNameError(kind.replace("_", " "), str(name), sorted(filter(None, names)))
        boards = [board for board in boards if getattr(board, kind) == name]
    if len(boards) > 1:
        titles = "; ".join(board.title for board in boards[:5]) + ("; ..." if len(boards) > 5 else "")
        raise MismatchError(f"{len(boards)} leaderboards match; choose one by --test-set and --track: {titles}")
    return boards[0]


def select_standing(board: Leaderboard, submission: str) -> Standing:
    """Return the result of one system on a leaderboard, such as its rank and score.

    Args:
        board: The leaderboard.
        submission: The system's displayed name, its own name, `team/system` or `team/system@version`.

    Raises:
        UnknownNameError: The leaderboard has no such system.
    """
    places = _find_places(board, submission)
    if not places:
        raise UnknownNameError("submission", submission, [standing.submission for standing in board.standings])
    return board.standings[places[0]]


def select_best(board: Leaderboard, top: int | None, limit: int) -> Leaderboard:
    """Return a leaderboard with only its best systems, for a figure.

    Ranks and significant differences stay the same.

    Args:
        board: The leaderboard.
        top: The number of systems to select; None for all systems.
        limit: The largest number of systems that a figure can show.

    Raises:
        MismatchError: More than `limit` systems would remain.
    """
    n = min(top or len(board.standings), len(board.standings))
    if n > limit:
        raise MismatchError(f"{board.title}: {n:,} systems are too many for one figure; --top {limit} draws the best "
                            f"{limit}")
    pairs = board.decisions.select(np.maximum(board.decisions.a, board.decisions.b) < n)
    significant = pairs.select(pairs.significant)
    differs = np.zeros((n, n), dtype=bool)
    differs[significant.a, significant.b] = differs[significant.b, significant.a] = True
    ranked = np.flatnonzero([standing.rank is not None for standing in board.standings[:n]])
    groups = tuple(tuple(ranked[list(group)].tolist()) for group in find_groups(differs[np.ix_(ranked, ranked)]))
    return replace(board, standings=board.standings[:n], decisions=pairs, groups=groups)


def select_pairs(boards: Sequence[Leaderboard], system: str | None = None, top: int | None = None,
                 neighbours: int | None = None, limit: int | None = None) -> list[Leaderboard]:
    """Return the leaderboards with only some of their pairs of systems.

    Args:
        boards: The leaderboards.
        system: Select pairs of this system: its displayed name, its own name, `team/system` or `team/system@version`.
        top: Select pairs among this number of best systems.
        neighbours: Select pairs of systems that are at most this many positions apart on the leaderboard.
        limit: The largest number of pairs of each leaderboard. If there are more, the first pairs are returned.

    Raises:
        UnknownNameError: No leaderboard has such a system.
    """
    places = [_find_places(board, system) for board in boards]
    if system is not None and not any(places):
        raise UnknownNameError("system", system, sorted(
            {standing.display_name for board in boards for standing in board.standings}))
    selected = []
    for board, board_places in zip(boards, places, strict=True):
        pairs = board.decisions
        mask = np.isin(pairs.a, board_places) | np.isin(pairs.b, board_places)
        if top is not None:
            mask &= np.maximum(pairs.a, pairs.b) < top
        if neighbours is not None:
            mask &= np.abs(pairs.a - pairs.b) <= neighbours
        selected.append(replace(board, decisions=pairs.select(np.flatnonzero(mask)[:limit])))
    return selected


def find_pair_boards(boards: Sequence[Leaderboard], a: str, b: str) -> list[Leaderboard]:
    """Return the leaderboards that compare two systems, reduced to these systems.

    Leaderboards of facets (items with one value of an attribute) are returned only if no other leaderboard compares the
    systems.

    Args:
        boards: The leaderboards.
        a: The first system: its displayed name, its own name, `team/system` or `team/system@version`.
        b: The second system, named in the same way.

    Raises:
        UnknownNameError: No leaderboard has a system of this name.
        InputError: Several systems of a task have one of the names.
        MismatchError: The systems are on no leaderboard together, or both names are of one system.
    """
    for name in (a, b):
        select_pairs(boards, name)  # raises if the name is unknown
        _require_one_system(boards, name)
    found = []
    for board in boards:
        for place_a, place_b in product(_find_places(board, a), _find_places(board, b)):
            if place_a != place_b and (pair := select_pair(board, place_a, place_b)).decisions:
                found.append(pair)
    if not found:
        raise MismatchError(f"{a} and {b} are not compared on any leaderboard; name two systems of one test set and "
                            "track")
    return [board for board in found if board.facet is None] or found


def _require_one_system(boards: Sequence[Leaderboard], name: str) -> None:
    """Raise an error if several systems of a task have this name, or several versions on one leaderboard."""
    names: dict[tuple[str | None, ...], set[str]] = {}
    for board in boards:
        for place in _find_places(board, name):
            standing = board.standings[place]
            names.setdefault((board.task,), set()).add(f"{standing.team}/{standing.system}")
            names.setdefault(board.key, set()).add(standing.submission)
    for full_names in names.values():
        if len(full_names) > 1:
            raise InputError(f"{name} is the name of {len(full_names)} systems; give one of "
                             f"{listed(sorted(full_names), 4)}")


def _find_places(board: Leaderboard, system: str | None) -> list[int]:
    return [place for place, standing in enumerate(board.standings)
            if system is None or system == standing.display_name or is_named(standing, system)]


def add_score_intervals(connection: Connection, task_row: TaskRow, board: Leaderboard) -> Leaderboard:
    """Return a leaderboard with confidence intervals of scores.

    Intervals that are not stored are computed by the bootstrap (percentiles).
    """
    if any(standing.ci_low is not None for standing in board.standings):
        return board
    names = _get_full_names(board)
    intervals = resample_score_intervals(connection, task_row, build_request(task_row, metrics=(board.metric,)),
                                         board.key.name, set(names))
    standings = []
    for standing, name in zip(board.standings, names, strict=True):
        low, high = (None if math.isnan(end) else end for end in intervals.get(name, (math.nan, math.nan)))
        standings.append(replace(standing, ci_low=low, ci_high=high))
    return replace(board, standings=tuple(standings))


def add_resampled_ranks(connection: Connection, task_row: TaskRow, board: Leaderboard) -> Leaderboard:
    """Return a leaderboard with rank ranges from bootstrap resamples of the items.

    Each system also gets the share of resamples in which it has each rank.

    Raises:
        InputError: The board cannot be resampled.
    """
    request = build_request(task_row, metrics=(board.metric,))
    frequencies = resample_ranks(connection, task_row, request, board.key.name)
    standings = []
    for standing, name in zip(board.standings, _get_full_names(board), strict=True):
        if (shares := frequencies.get(f"{board.key.name}: {name}")) is not None:
            standing = replace(standing, **summarise_resampled_ranks(shares, board.comparison.confidence))
        standings.append(standing)
    return replace(board, ranks="bootstrap", standings=tuple(standings),
                   rank_resamples=(request.settings.resamples, request.settings.seed))


def _get_full_names(board: Leaderboard) -> list[str]:
    return [f"{board.task}/{board.test_set}/{standing.submission}" for standing in board.standings]


def load_submission_attributes(connection: Connection, board: Leaderboard, name: str) -> Mapping[str, str]:
    """Return the value of an attribute of each submission on a leaderboard.

    The keys are names `team/system@version`. Submissions without the attribute are absent.

    Args:
        connection: A connection to the store.
        board: The leaderboard.
        name: The attribute: `team`, `kind`, or an attribute that the manifest declares.

    Raises:
        UnknownNameError: No submission on the board has the attribute.
    """
    rows = connection.execute(text("SELECT submission, submission_id FROM leaderboard WHERE signature = :signature"),
                              {"signature": board.signature}).all()
    attributes = catalog.submission_attributes(connection, [row.submission_id for row in rows])
    names = sorted({key for values in attributes.values() for key in values})
    if name not in names:
        raise UnknownNameError("attribute of submissions", name, names)
    return {row.submission: values[name] for row in rows if name in (values := attributes[row.submission_id])}
