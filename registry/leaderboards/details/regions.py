"""How many answers two systems share and how many only one of them gives, right and wrong: Evert's regions (2004)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, text

from registry.leaderboards.leaderboard import Leaderboard
from registry.store.catalog import TaskRow

FEW = 30  # systems up to which all pairs are counted, unless they have so many answers that this takes long:
ANSWERS = 20_000_000  # that are looked up, of all pairs together


class PairRegions(NamedTuple):
    """The answers of two systems: how many only the first gives (D1), only the second (D2), and both.

    `_tp` are right, `_fp` wrong. Of systems with several runs it is the average over all pairs of runs.
    """

    a: tuple[str, str]
    b: tuple[str, str]
    d1_tp: float
    d1_fp: float
    d2_tp: float
    d2_fp: float
    shared_tp: float
    shared_fp: float


@dataclass(frozen=True)
class Regions:
    """The regions of pairs of systems on one test set.

    Attributes:
        test_set: Its name.
        gold: How many answers the gold has.
        complete: Whether all pairs are there; else those of systems that stand one above the other, and of each with
            the best one.
        pairs: Systems are (team, name).
    """

    test_set: str
    gold: int
    complete: bool
    pairs: tuple[PairRegions, ...]


class _Given(NamedTuple):
    """What a submission gives, over all of its runs."""

    name: tuple[str, str]
    scoring_id: int
    runs: int
    right: int
    answers: int


def regions(connection: Connection, task: TaskRow, boards: Sequence[Leaderboard]) -> Iterator[Regions]:
    """The regions of pairs on every test set whose items have answers, in the order of its first leaderboard."""
    for test_set in dict.fromkeys(board.test_set for board in boards):
        given, gold = _given(connection, task.slug, test_set), _gold(connection, task.task_id, test_set)
        if not gold or not given:
            continue
        of_track = [[given[of.team, of.system] for of in board.standings if (of.team, of.system) in given]
                    for board in _one_of_each_track(boards, test_set)]
        pairs, complete = _chosen(of_track)
        shared = _shared(connection, [(a.scoring_id, b.scoring_id) for a, b in pairs])
        yield Regions(test_set, gold, complete, tuple(
            _regions(a, b, *shared.get((a.scoring_id, b.scoring_id), (0, 0))) for a, b in pairs))


def _one_of_each_track(boards: Sequence[Leaderboard], test_set: str) -> list[Leaderboard]:
    """The first leaderboard of each track, on all items of a test set if there is one."""
    found: dict[str | None, Leaderboard] = {}
    for board in sorted(boards, key=lambda board: board.facet is not None):
        if board.test_set == test_set:
            found.setdefault(board.track, board)
    return list(found.values())


def _chosen(boards: Sequence[Sequence[_Given]]) -> tuple[list[tuple[_Given, _Given]], bool]:
    """The pairs to count, and whether these are all."""
    every = list(dict.fromkeys(pair for board in boards for pair in combinations(board, 2)))
    if all(len(board) <= FEW for board in boards) and sum(a.answers + b.answers for a, b in every) <= ANSWERS:
        return every, True
    near = dict.fromkeys(pair for board in boards for n, of in enumerate(board[1:])
                         for pair in ((board[n], of), (board[0], of)))
    return list(near), False


def _given(connection: Connection, task: str, test_set: str) -> Mapping[tuple[str, str], _Given]:
    rows = connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.scoring_id, any_value(runs.n) AS runs,
            count_if(response.correct) AS correct, count(response.answer_id) AS answers
        FROM ranked_submission AS ranked
        JOIN (SELECT submission_id, count(*) AS n FROM submission_source GROUP BY ALL) AS runs USING (submission_id)
        LEFT JOIN response USING (scoring_id)
        WHERE ranked.task = :task AND ranked.test_set = :test_set AND ranked.scoring_id IS NOT NULL
        GROUP BY ranked.team, ranked.system, ranked.scoring_id"""), {"task": task, "test_set": test_set})
    return {(team, system): _Given((team, system), *of) for team, system, *of in rows}


def _gold(connection: Connection, task_id: int, test_set: str) -> int:
    """How many answers the gold of a test set has."""
    return int(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.name = :test_set AND in_gold"""),
        {"task": task_id, "test_set": test_set}).scalar_one())


def _shared(connection: Connection, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, int]]:
    """How many answers two scorings share, over all pairs of runs: right ones, and all; none where they share none."""
    if not pairs:
        return {}
    rows = connection.execute(text("""
        WITH pair AS (SELECT unnest(list_value :first) AS a, unnest(list_value :second) AS b)
        SELECT a, b, count_if(ours.correct) AS correct, count(*) AS answers
        FROM pair JOIN response AS ours ON ours.scoring_id = a
        JOIN response AS theirs ON theirs.scoring_id = b AND theirs.answer_id = ours.answer_id
        GROUP BY a, b""").bindparams(bindparam("first", expanding=True), bindparam("second", expanding=True)),
        {"first": [a for a, _ in pairs], "second": [b for _, b in pairs]})
    return {(a, b): (correct, answers) for a, b, correct, answers in rows}


def _regions(a: _Given, b: _Given, right: int, answers: int) -> PairRegions:
    """The averages over all pairs of runs."""
    both = a.runs * b.runs
    shared_tp, shared_fp = right / both, (answers - right) / both
    return PairRegions(a.name, b.name, a.right / a.runs - shared_tp, (a.answers - a.right) / a.runs - shared_fp,
                       b.right / b.runs - shared_tp, (b.answers - b.right) / b.runs - shared_fp, shared_tp, shared_fp)
