"""One leaderboard of those that a task has, with what only some renderers need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, text

from registry.boards.leaderboard import Leaderboard, Ranks, Standing
from registry.boards.load import NOT_COMPARED, PAGE_PAIRS, declared_leaderboards, resampled_places
from registry.errors import MismatchError, UnknownNameError
from registry.evaluation.comparing.settings import declared_request
from registry.significance.ranks import find_groups
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.score_distributions import resample_ranks, resample_score_intervals


def leaderboards_by(connection: Connection, task_row: TaskRow, metric: str | None = None,
                    ranks: Ranks | None = None) -> list[Leaderboard]:
    """The leaderboards of a metric, else of the primary one.

    Raises:
        UnknownNameError: There is no such metric.
        MismatchError: There is no leaderboard.
    """
    catalog.check_metric(connection, [task_row], metric)
    alias = metric or catalog.primary_metric(connection, task_row.task_id).alias
    found = declared_leaderboards(connection, task_row, alias, ranks, PAGE_PAIRS)
    if not found:
        raise MismatchError(NOT_COMPARED)
    return found


def chosen_leaderboard(boards: Sequence[Leaderboard], test_set: str | None = None, track: str | None = None,
                       facet: str | None = None) -> Leaderboard:
    """The leaderboard of a test set, a track (else of none) and a facet (else of all items).

    Raises:
        UnknownNameError: There is no board of that test set, track or facet.
        MismatchError: Several are left to choose from.
    """
    for kind, wanted in (("test_set", test_set), ("track", track), ("facet", facet)):
        known = {getattr(board, kind) for board in boards}
        if wanted is None and None not in known:
            continue
        if wanted not in known:
            raise UnknownNameError(kind.replace("_", " "), str(wanted), sorted(filter(None, known)))
        boards = [board for board in boards if getattr(board, kind) == wanted]
    if len(boards) > 1:
        titles = "; ".join(board.title for board in boards[:5]) + ("; ..." if len(boards) > 5 else "")
        raise MismatchError(f"{len(boards)} leaderboards are meant; choose by --test-set and --track: {titles}")
    return boards[0]


def chosen_standing(board: Leaderboard, submission: str) -> Standing:
    """The system on a leaderboard that is called `team/system`, `team/system@version`, or so for people.

    Raises:
        UnknownNameError: None is.
    """
    places = _places_of(board, submission)
    if not places:
        raise UnknownNameError("submission", submission, [of.submission for of in board.standings])
    return board.standings[places[0]]


def best(board: Leaderboard, top: int | None, room: int) -> Leaderboard:
    """The leaderboard of so many of its best systems, else of all; their ranks and decisions stay those of the whole.

    Raises:
        MismatchError: There is room for fewer.
    """
    n = min(top or len(board.standings), len(board.standings))
    if n > room:
        raise MismatchError(f"{board.title}: {n:,} systems are too many for one figure; --top {room} draws the best "
                            f"{room}")
    pairs = board.decisions.chosen(np.maximum(board.decisions.a, board.decisions.b) < n)
    won = pairs.chosen(pairs.significant)
    differ = np.zeros((n, n), dtype=bool)
    differ[won.a, won.b] = differ[won.b, won.a] = True
    ranked = np.flatnonzero([of.rank is not None for of in board.standings[:n]])
    groups = tuple(tuple(ranked[list(group)].tolist()) for group in find_groups(differ[np.ix_(ranked, ranked)]))
    return replace(board, standings=board.standings[:n], decisions=pairs, groups=groups)


def with_pairs(boards: Sequence[Leaderboard], system: str | None = None, top: int | None = None,
               neighbours: int | None = None, limit: int | None = None) -> list[Leaderboard]:
    """The leaderboards, each with some of its pairs.

    Args:
        boards: Their systems and what is said of them stay as they are.
        system: Only pairs of this system, by its name for people, `team/system` or `team/system@version`.
        top: Only pairs among so many of the best systems.
        neighbours: Only pairs at most so many places apart.
        limit: At most so many of each, the first.

    Raises:
        UnknownNameError: No leaderboard has such a system.
    """
    named = [_places_of(board, system) for board in boards]
    if system is not None and not any(map(len, named)):
        raise UnknownNameError("system", system, sorted({of.shown for board in boards for of in board.standings}))
    chosen = []
    for board, places in zip(boards, named, strict=True):
        pairs = board.decisions
        kept = np.isin(pairs.a, places) | np.isin(pairs.b, places)
        if top is not None:
            kept &= np.maximum(pairs.a, pairs.b) < top
        if neighbours is not None:
            kept &= np.abs(pairs.a - pairs.b) <= neighbours
        chosen.append(replace(board, decisions=pairs.chosen(np.flatnonzero(kept)[:limit])))
    return chosen


def _places_of(board: Leaderboard, system: str | None) -> list[int]:
    """The places of the systems that are called so; without a name all."""
    return [n for n, of in enumerate(board.standings) if system in (
        None, of.shown, of.system, of.submission, f"{of.team}/{of.system}")]


def with_intervals(connection: Connection, task_row: TaskRow, board: Leaderboard) -> Leaderboard:
    """The leaderboard with intervals of all scores: where its test gave none, percentiles of the bootstrap."""
    if any(of.ci_low is not None for of in board.standings):
        return board
    names = _names(board)
    drawn = resample_score_intervals(connection, task_row, declared_request(task_row, metrics=(board.metric,)),
                                     board.key.name, set(names))
    standings = []
    for of, name in zip(board.standings, names, strict=True):
        low, high = (None if math.isnan(end) else end for end in drawn.get(name, (math.nan, math.nan)))
        standings.append(replace(of, ci_low=low, ci_high=high))
    return replace(board, standings=tuple(standings))


def with_places(connection: Connection, task_row: TaskRow, board: Leaderboard) -> Leaderboard:
    """The leaderboard with how often each of its systems has each place in resamples of the whole board.

    Raises:
        InputError: The board cannot be resampled.
    """
    drawn = resample_ranks(connection, task_row, declared_request(task_row, metrics=(board.metric,)),
                           board.key.name)
    places = {name: resampled_places(drawn[of], board.comparison.confidence)
              for name in _names(board) if (of := f"{board.key.name}: {name}") in drawn}
    return replace(board, ranks="bootstrap", standings=tuple(
        replace(of, **places.get(name, {})) for of, name in zip(board.standings, _names(board), strict=True)))


def _names(board: Leaderboard) -> list[str]:
    """The full names of the submissions on a board."""
    return [f"{board.task}/{board.test_set}/{of.submission}" for of in board.standings]


def submission_attributes(connection: Connection, board: Leaderboard, name: str) -> Mapping[str, str]:
    """The values of an attribute by submission, `team/system@version`: team, kind, or what the manifest declares.

    Raises:
        UnknownNameError: No submission on the board has it.
    """
    rows = connection.execute(text("SELECT submission, submission_id FROM leaderboard WHERE signature = :signature"),
                              {"signature": board.signature}).all()
    attributes = catalog.submission_attributes(connection, [row.submission_id for row in rows])
    known = sorted({key for values in attributes.values() for key in values})
    if name not in known:
        raise UnknownNameError("attribute of submissions", name, known)
    return {row.submission: of[name] for row in rows if name in (of := attributes[row.submission_id])}
