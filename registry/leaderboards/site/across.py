"""Systems over several tasks: where each stands on every task's first leaderboard of all items, and their averages.

Scores of different tasks do not add up, so ranks are averaged, as Demšar 2006 does. Nothing is tested here: tasks are
few, seldom a sample of any, and often share systems and data.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.errors import counted
from registry.leaderboards.snapshot import TaskBoards


@dataclass(frozen=True)
class Placed:
    """A ranked system on the first leaderboard of one task.

    Attributes:
        team, system: Its name.
        rank: By the score; `low` and `high`: what the board's ranks leave open.
        above: The share of the other ranked systems that it scores above, equal scores counted half; None where there
            are none.
        wins, losses: Significant differences in its favour and against it.
    """

    team: str
    system: str
    rank: int
    low: int
    high: int
    above: float | None
    wins: int
    losses: int


@dataclass(frozen=True)
class FirstBoard:
    """A task's first leaderboard of all items, as far as it is put beside those of other tasks.

    Attributes:
        task: The task's id.
        anonymous: Whether systems have pseudonyms, which are of this task alone.
        systems: Its ranked systems; None if all leaderboards are of facets, which do not stand for the task.
    """

    task: str
    anonymous: bool
    systems: tuple[Placed, ...] | None


@dataclass(frozen=True)
class Across:
    """A system that is on several tasks.

    Attributes:
        team, system: Its name, which is the same on all of them.
        places: By the task's id.
        mean_rank: Of its tasks, each counting the same.
        mean_above: The mean of `Placed.above`, over the tasks where it is not alone.
        may_be_first: On how many of them the first place is open to it.
        wins, losses: Significant differences in its favour and against it, of all of them.
    """

    team: str
    system: str
    places: Mapping[str, Placed]
    mean_rank: float
    mean_above: float | None
    may_be_first: int
    wins: int
    losses: int


@dataclass(frozen=True)
class Overview:
    """The systems that are on several tasks: those on all tasks by their mean ranks, then the others.

    Attributes:
        tasks: The tasks that have such a system, by their ids.
        systems: The systems.
        sentences: What the numbers say and what they do not.
    """

    tasks: tuple[str, ...]
    systems: tuple[Across, ...]
    sentences: tuple[str, ...]


def first_board(of: TaskBoards) -> FirstBoard:
    """Find a task's first leaderboard of all items."""
    board = next((board for board in of.primary_first if board.facet is None), None)
    if board is None:
        return FirstBoard(of.task, of.about.anonymous, None)
    ranks = sorted(standing.rank for standing in board.standings if standing.rank is not None)
    return FirstBoard(of.task, of.about.anonymous, tuple(
        Placed(standing.team, standing.system, standing.rank, *(places or (standing.rank, standing.rank)),
               _above(standing.rank, ranks), standing.wins, standing.losses)
        for standing, places in zip(board.standings, board.open_places, strict=True) if standing.rank is not None))


def _above(rank: int, ranks: Sequence[int]) -> float | None:
    """The share of the others, of all ranks in order, that a rank is above."""
    first, after, others = bisect_left(ranks, rank), bisect_right(ranks, rank), len(ranks) - 1
    return (len(ranks) - after + (after - first - 1) / 2) / others if others else None


def overview(boards: Sequence[FirstBoard]) -> Overview | None:
    """Put the systems of several tasks side by side; None where none is on two of them.

    Names of anonymous tasks are drawn for each task by itself, so these are left out; so are tasks that have
    leaderboards of facets only.
    """
    nameless, partial = {of.task for of in boards if of.anonymous}, {of.task for of in boards if of.systems is None}
    found: dict[tuple[str, str], dict[str, Placed]] = {}
    for board in boards:
        for of in () if board.systems is None or board.task in nameless else board.systems:
            found.setdefault((of.team, of.system), {}).setdefault(board.task, of)
    several = {name: at for name, at in found.items() if len(at) > 1}
    if not several:
        return None
    shared = {task for at in several.values() for task in at}
    there = tuple(board.task for board in boards if board.task in shared)
    systems = sorted((_across(*name, at) for name, at in several.items()), key=lambda of: (
        len(of.places) < len(there), of.mean_rank if len(of.places) == len(there) else -(of.mean_above or 0.0),
        of.team, of.system))
    return Overview(there, tuple(systems), tuple(_sentences(len(found), systems, there, nameless, partial)))


def _across(team: str, system: str, places: Mapping[str, Placed]) -> Across:
    there = places.values()
    above = [of.above for of in there if of.above is not None]
    return Across(team, system, places, sum(of.rank for of in there) / len(places),
                  sum(above) / len(above) if above else None, sum(of.low == 1 for of in there),
                  sum(of.wins for of in there), sum(of.losses for of in there))


def _sentences(n: int, systems: Sequence[Across], tasks: Sequence[str], nameless: set[str],
               partial: set[str]) -> list[str]:
    everywhere = sum(len(of.places) == len(tasks) for of in systems)
    is_, are = ("is" if k == 1 else "are" for k in (len(systems), everywhere))
    said = [f"{counted(len(systems), 'system')} of {n:,} {is_} on two tasks or more, by the same names of team and "
            "system; that the same names mean the same system is not checked.",
            "Ranks are those of each task's first leaderboard, and their mean counts each task the same."]
    if everywhere < len(systems):
        first = ", and first" if everywhere else ""
        said.append(f"{everywhere or 'None'} of them {are} on all {len(tasks)} tasks{first}. The others met other "
                    "systems on other tasks: they stand by the share that they score above, and still not on equal "
                    "terms.")
    said.append("Nothing is tested here: whether one system is better over several test sets is tested within a task, "
                "by the studies suite and replicability.")
    if nameless:
        said.append(f"Without names, and so left out: {', '.join(sorted(nameless))}.")
    if partial:
        said.append(f"With leaderboards of facets only, and so left out: {', '.join(sorted(partial))}.")
    return said
