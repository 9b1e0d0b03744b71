"""What a site shows of all its tasks: changes, systems in several tasks, and hidden tasks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, text

from registry.boards.details import NewBest, load_histories, load_phases
from registry.boards.leaderboard import get_metric_display, make_display_names
from registry.boards.snapshot import TaskBoards
from registry.errors import HiddenError, InputError, counted
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.manifest import decode_manifest
from registry.metric_names import metric_title
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.embargoes import find_left_out

_NOT_COMPARED = text("SELECT slug FROM task WHERE slug NOT IN (SELECT task FROM latest_comparison) ORDER BY task_id")


def unshown(connection: Connection) -> dict[str, str]:
    """Why tasks have no leaderboard that can be shown, in a sentence for each, by their ids."""
    hidden = find_left_out(connection)
    told = {task: f"{sentence}." for task, sentence in zip(hidden.blind, hidden.sentences, strict=True)}
    return told | {task: f"{task}: nothing has been compared yet." for task in connection.execute(
        _NOT_COMPARED).scalars() if task not in told}


@dataclass(frozen=True)
class NewGold:
    """The gold of a test set: its first revision, or one that corrects the one before."""

    test_set: str
    revision: int
    n_items: int


@dataclass(frozen=True)
class NewSystems:
    """What one command brought in, by the names of systems for people: new ones, and new versions of known ones."""

    new: tuple[str, ...]
    again: tuple[str, ...]


@dataclass(frozen=True)
class Withdrawn:
    """What one command withdrew and is withdrawn still, by the names of submissions."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class BestOf:
    """A new best of a leaderboard by the primary metric, and the one before it."""

    key: LeaderboardKey
    metric: str
    decimals: int
    best: NewBest
    before: NewBest


What = NewGold | NewSystems | Withdrawn | BestOf


@dataclass(frozen=True)
class Change:
    """Something that changed.

    Attributes:
        key: What tells it from all else; it stays the same as long as the registry's log does, and names nobody.
        at: When, in UTC.
        task, title: Of which task: its id and title.
        organisers: Who holds that.
        what: The change.
    """

    key: str
    at: datetime
    task: str
    title: str
    organisers: tuple[str, ...]
    what: What


@dataclass(frozen=True)
class Changes:
    """What changed in a registry, the last first.

    Attributes:
        origin: What tells the registry from others: the digest of the first command that wrote into it.
        changes: What changed.
    """

    origin: str
    changes: tuple[Change, ...]


_ORIGIN = text("SELECT digest FROM run ORDER BY run_id LIMIT 1")
_GOLD = text("""
    SELECT test_set.task_id, test_set.name, revision, n_items, gold.created_at AS made,
        coalesce(run.digest, '') AS digest
    FROM gold_revision AS gold JOIN test_set USING (test_set_id) JOIN run ON run.run_id = gold.run_id
    WHERE test_set.is_declared ORDER BY gold.gold_revision_id""")
_SUBMITTED = text("""
    SELECT test_set.task_id, s.run_id, s.created_at AS made, coalesce(run.digest, '') AS digest, system.name AS system,
        team.name || '/' || system.name || '@' || s.version AS submission, team_id,
        row_number() OVER (PARTITION BY s.system_id, s.test_set_id ORDER BY s.submission_id) AS nth
    FROM submission AS s JOIN test_set USING (test_set_id) JOIN system USING (system_id) JOIN team USING (team_id)
    JOIN run ON run.run_id = s.run_id
    WHERE test_set.is_declared AND NOT s.withdrawn AND team_id NOT IN (SELECT team_id FROM tombstone)
    ORDER BY test_set.task_id, s.run_id, s.submission_id""")
_WITHDRAWN = text("""
    SELECT test_set.task_id, event.run_id, event."at" AS made, coalesce(run.digest, '') AS digest,
        team.name || '/' || system.name || if(s.version = '1', '', '@' || s.version) AS submission
    FROM submission AS s JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
    JOIN team USING (team_id)
    JOIN event ON event.action = 'submission-changed' AND (event.details ->> '$.withdrawn') = 'true' AND event.subject =
        concat_ws('/', task.slug, test_set.name, team.name, system.name || '@' || s.version)
    JOIN run ON run.run_id = event.run_id
    WHERE test_set.is_declared AND s.withdrawn AND team_id NOT IN (SELECT team_id FROM tombstone)
    QUALIFY row_number() OVER (PARTITION BY s.submission_id ORDER BY event_id DESC) = 1
    ORDER BY test_set.task_id, event.run_id, s.submission_id""")
_MOVED = text("""
    SELECT task_id FROM comparison JOIN test_set USING (test_set_id) WHERE facet IS NULL
    GROUP BY task_id HAVING count(*) > count(DISTINCT (test_set_id, track_id, alias))""")
_OF_ENTRY = text("SELECT event_id, coalesce(run.digest, '') FROM event JOIN run USING (run_id) WHERE action <> 'end'")


def changes(connection: Connection, tasks: Sequence[str] | None = None) -> Changes:
    """Read what changed, of some tasks or of all whose scores are shown; nothing where there is none."""
    try:
        rows = {row.task_id: row for row in catalog.tasks(connection) if tasks is None or row.slug in tasks}
    except (HiddenError, InputError):  # all are hidden, or there is none
        rows = {}
    found = [*_golds(connection, rows), *_systems(connection, rows), *_withdrawn(connection, rows),
             *_bests(connection, rows)]
    origin = connection.execute(_ORIGIN).scalar()
    return Changes(origin or "", tuple(sorted(found, key=lambda of: (of.at, of.key), reverse=True)))


def _change(row: TaskRow, at: datetime, key: str, what: What) -> Change:
    organisers = tuple(decode_manifest(row.manifest).task.organisers)
    return Change(f"{key}|{row.slug}", at, row.slug, row.title, organisers, what)


def _golds(connection: Connection, rows: Mapping[int, TaskRow]) -> Iterator[Change]:
    for of in connection.execute(_GOLD):
        if of.task_id in rows:
            yield _change(rows[of.task_id], of.made, f"gold|{of.digest}|{of.name}",
                          NewGold(of.name, of.revision, of.n_items))


def _systems(connection: Connection, rows: Mapping[int, TaskRow]) -> Iterator[Change]:
    found = [dict(of._mapping) for of in connection.execute(_SUBMITTED) if of.task_id in rows]
    for task_id, of_task in groupby(found, key=lambda of: of["task_id"]):
        submitted: list[dict[str, Any]] = list(of_task)
        for of, name in zip(submitted, make_display_names(submitted), strict=True):
            of["shown"] = name
        for _, of_run in groupby(submitted, key=lambda of: of["run_id"]):
            together = list(of_run)
            new = tuple(dict.fromkeys(of["shown"] for of in together if of["nth"] == 1))
            again = tuple(dict.fromkeys(of["shown"] for of in together if of["nth"] > 1))
            yield _change(rows[task_id], max(of["made"] for of in together), f"systems|{together[0]['digest']}",
                          NewSystems(new, tuple(name for name in again if name not in new)))


def _withdrawn(connection: Connection, rows: Mapping[int, TaskRow]) -> Iterator[Change]:
    found = [of for of in connection.execute(_WITHDRAWN) if of.task_id in rows]
    for (task_id, _), of_run in groupby(found, key=lambda of: (of.task_id, of.run_id)):
        together = list(of_run)
        yield _change(rows[task_id], max(of.made for of in together), f"withdrawn|{together[0].digest}",
                      Withdrawn(tuple(dict.fromkeys(of.submission for of in together))))


def _bests(connection: Connection, rows: Mapping[int, TaskRow]) -> Iterator[Change]:
    """The new bests of leaderboards by primary metrics; the first best of each came with its first systems."""
    moved = [task_id for task_id in connection.execute(_MOVED).scalars() if task_id in rows]
    digests = dict(map(tuple, connection.execute(_OF_ENTRY))) if moved else {}
    for row in (rows[task_id] for task_id in sorted(moved)):
        primary = catalog.primary_metric(connection, row.task_id)
        form = get_metric_display(row.manifest, primary.alias, primary.name)
        title = form["declared_title"] or metric_title(primary.name)
        for of in load_histories(connection, row, load_phases(connection, row.slug)):
            if of.key.metric != primary.alias:
                continue
            for before, best in zip(of.bests, of.bests[1:], strict=False):
                key = f"best|{digests.get(best.entry, '')}|{of.key.name}"
                yield _change(row, best.time, key, BestOf(of.key, title, form["decimals"], best, before))


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
        for standing, places in zip(board.standings, board.rank_ranges, strict=True) if standing.rank is not None))


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
