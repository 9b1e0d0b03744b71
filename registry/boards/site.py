"""Data for the pages of a site that cover all of its tasks.

The feed needs the changes of all tasks. The index needs an overview of systems that take part in several tasks, and the
reasons why some tasks have no page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
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


def explain_missing_tasks(connection: Connection) -> dict[str, str]:
    """Explain why tasks have no visible leaderboard.

    Returns:
        A sentence for each such task, by the id of the task.
    """
    hidden = find_left_out(connection)
    reasons = {task: f"{sentence}." for task, sentence in zip(hidden.blind, hidden.sentences, strict=True)}
    return reasons | {task: f"task {task!r}: nothing has been compared yet." for task in connection.execute(
        _NOT_COMPARED).scalars() if task not in reasons}


@dataclass(frozen=True)
class NewGold:
    """A new revision of a test set's gold; the first revision has number 1."""

    test_set: str
    revision: int
    n_items: int


@dataclass(frozen=True)
class NewSystems:
    """Systems that one command added to a task.

    Attributes:
        new: Display names of new systems.
        new_versions: Display names of systems that had an earlier version.
    """

    new: tuple[str, ...]
    new_versions: tuple[str, ...]


@dataclass(frozen=True)
class WithdrawnSubmissions:
    """Submissions that one command withdrew and that are still withdrawn."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class NewLeader:
    """A new best system, or a new best score, on a leaderboard by the primary metric.

    Attributes:
        key: Identifies the leaderboard.
        metric: The title of the primary metric.
        decimals: The number of decimals of displayed scores.
        best: The new best system.
        before: The previous best system.
    """

    key: LeaderboardKey
    metric: str
    decimals: int
    best: NewBest
    before: NewBest


Event = NewGold | NewSystems | WithdrawnSubmissions | NewLeader


@dataclass(frozen=True)
class Change:
    """An event in a task that a news feed can report, such as a new system.

    Attributes:
        key: A unique and permanent identifier of the event, without names of teams and systems.
        time: The time of the change, in UTC.
        task, title: The id and the title of the task.
        organisers: The organisers of the task.
        event: The kind of the change, and its details.
    """

    key: str
    time: datetime
    task: str
    title: str
    organisers: tuple[str, ...]
    event: Event


@dataclass(frozen=True)
class Changes:
    """Events in all tasks of a registry, such as new systems, for a news feed.

    Attributes:
        origin: The digest of the first command that wrote into the registry. It identifies the registry.
        changes: The changes, the newest first.
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


def load_changes(connection: Connection, tasks: Sequence[str] | None = None) -> Changes:
    """Load all events in tasks with visible scores, such as new systems.

    Args:
        connection: A connection to the store.
        tasks: The ids of tasks; None: all tasks with visible scores.
    """
    try:
        rows = {row.task_id: row for row in catalog.tasks(connection) if tasks is None or row.slug in tasks}
    except (HiddenError, InputError):  # all tasks are hidden, or the registry has none
        rows = {}
    changes = [*_load_golds(connection, rows), *_load_systems(connection, rows), *_load_withdrawn(connection, rows),
               *_load_leaders(connection, rows)]
    origin = connection.execute(_ORIGIN).scalar()
    return Changes(origin or "", tuple(sorted(changes, key=lambda change: (change.time, change.key), reverse=True)))


def _make_change(row: TaskRow, time: datetime, key: str, event: Event) -> Change:
    organisers = tuple(decode_manifest(row.manifest).task.organisers)
    return Change(f"{key}|{row.slug}", time, row.slug, row.title, organisers, event)


def _load_golds(connection: Connection, tasks: Mapping[int, TaskRow]) -> Iterator[Change]:
    for row in connection.execute(_GOLD):
        if row.task_id in tasks:
            yield _make_change(tasks[row.task_id], row.made, f"gold|{row.digest}|{row.name}",
                               NewGold(row.name, row.revision, row.n_items))


def _load_systems(connection: Connection, tasks: Mapping[int, TaskRow]) -> Iterator[Change]:
    rows = [dict(row._mapping) for row in connection.execute(_SUBMITTED) if row.task_id in tasks]
    for task_id, task_rows in groupby(rows, key=lambda row: row["task_id"]):
        submissions: list[dict[str, Any]] = list(task_rows)
        for submission, name in zip(submissions, make_display_names(submissions), strict=True):
            submission["display_name"] = name
        for _, run_rows in groupby(submissions, key=lambda row: row["run_id"]):
            run = list(run_rows)
            new = tuple(dict.fromkeys(row["display_name"] for row in run if row["nth"] == 1))
            versions = dict.fromkeys(row["display_name"] for row in run if row["nth"] > 1)
            yield _make_change(tasks[task_id], max(row["made"] for row in run), f"systems|{run[0]['digest']}",
                               NewSystems(new, tuple(name for name in versions if name not in new)))


def _load_withdrawn(connection: Connection, tasks: Mapping[int, TaskRow]) -> Iterator[Change]:
    rows = [row for row in connection.execute(_WITHDRAWN) if row.task_id in tasks]
    for (task_id, _), run_rows in groupby(rows, key=lambda row: (row.task_id, row.run_id)):
        run = list(run_rows)
        yield _make_change(tasks[task_id], max(row.made for row in run), f"withdrawn|{run[0].digest}",
                           WithdrawnSubmissions(tuple(dict.fromkeys(row.submission for row in run))))


def _load_leaders(connection: Connection, tasks: Mapping[int, TaskRow]) -> Iterator[Change]:
    """Find out when the best system on a leaderboard changed.

    Only leaderboards by the primary metric count. The first best system of a leaderboard is not a change.
    """
    changed = [task_id for task_id in connection.execute(_MOVED).scalars() if task_id in tasks]
    digests = dict(map(tuple, connection.execute(_OF_ENTRY))) if changed else {}
    for row in (tasks[task_id] for task_id in sorted(changed)):
        primary = catalog.primary_metric(connection, row.task_id)
        display = get_metric_display(row.manifest, primary.alias, primary.name)
        title = display["declared_title"] or metric_title(primary.name)
        for history in load_histories(connection, row, load_phases(connection, row.slug)):
            if history.key.metric != primary.alias:
                continue
            for before, best in pairwise(history.bests):
                key = f"best|{digests.get(best.entry, '')}|{history.key.name}"
                yield _make_change(row, best.time, key,
                                   NewLeader(history.key, title, display["decimals"], best, before))


@dataclass(frozen=True)
class PlacedSystem:
    """Rank of a system on the first leaderboard of one task.

    Attributes:
        team, system: The names of the team and the system.
        rank: The rank by the score.
        low, high: The first and the last rank of the system's rank range.
        above: The share of the other ranked systems that have a worse score. Ties count half. None if no other system
            is ranked.
        wins, losses: The number of significant differences in the system's favour, and against the system.
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
    """The first leaderboard of a task on all items, for an overview of several tasks.

    Attributes:
        task: The task's id.
        anonymous: True if systems have pseudonyms, which differ between tasks.
        systems: The ranked systems; None if the task has only leaderboards of facets, because a facet does not
            represent the whole task.
    """

    task: str
    anonymous: bool
    systems: tuple[PlacedSystem, ...] | None


@dataclass(frozen=True)
class SystemOverview:
    """Summary of one system over several tasks.

    Attributes:
        team, system: The names of the team and the system, which are the same in all tasks.
        places: The system's place in each task, by the task's id.
        mean_rank: The mean of the system's ranks.
        mean_above: The mean share of other systems with a worse score, over the tasks that rank other systems too.
        may_be_first: The number of tasks in which the system's rank range includes the first rank.
        wins, losses: The number of significant differences in the system's favour, and against it, in all tasks.
    """

    team: str
    system: str
    places: Mapping[str, PlacedSystem]
    mean_rank: float
    mean_above: float | None
    may_be_first: int
    wins: int
    losses: int


@dataclass(frozen=True)
class Overview:
    """Systems that take part in several tasks.

    Attributes:
        tasks: The ids of the tasks in which these systems take part.
        systems: First the systems in all of these tasks, by mean rank. The other systems follow, by descending
            `mean_above`.
        sentences: Sentences that explain the numbers and their limits.
    """

    tasks: tuple[str, ...]
    systems: tuple[SystemOverview, ...]
    sentences: tuple[str, ...]


def find_first_board(task: TaskBoards) -> FirstBoard:
    """Return the ranks of the systems on a task's first leaderboard on all items."""
    board = next((board for board in task.primary_first if board.facet is None), None)
    if board is None:
        return FirstBoard(task.task, task.about.anonymous, None)
    ranks = sorted(standing.rank for standing in board.standings if standing.rank is not None)
    return FirstBoard(task.task, task.about.anonymous, tuple(
        PlacedSystem(standing.team, standing.system, standing.rank, *(places or (standing.rank, standing.rank)),
                     _compute_share_above(standing.rank, ranks), standing.wins, standing.losses)
        for standing, places in zip(board.standings, board.rank_ranges, strict=True) if standing.rank is not None))


def _compute_share_above(rank: int, ranks: Sequence[int]) -> float | None:
    """Return the share of the other systems that have a worse rank.

    Args:
        rank: The rank of a system.
        ranks: The ranks of all systems, in ascending order.

    Returns:
        The share; systems with the same rank count half. None if there is no other system.
    """
    first, end, n_others = bisect_left(ranks, rank), bisect_right(ranks, rank), len(ranks) - 1
    return (len(ranks) - end + (end - first - 1) / 2) / n_others if n_others else None


def make_overview(boards: Sequence[FirstBoard]) -> Overview | None:
    """Return an overview of the systems that take part in several tasks.

    Anonymous tasks are left out, because a system has different pseudonyms in different tasks. Tasks that have only
    leaderboards of facets are left out too.

    Returns:
        The overview; None if no system takes part in two tasks.
    """
    anonymous = {board.task for board in boards if board.anonymous}
    partial = {board.task for board in boards if board.systems is None}
    places: dict[tuple[str, str], dict[str, PlacedSystem]] = {}
    for board in boards:
        for system in () if board.systems is None or board.task in anonymous else board.systems:
            places.setdefault((system.team, system.system), {}).setdefault(board.task, system)
    shared = {name: tasks for name, tasks in places.items() if len(tasks) > 1}
    if not shared:
        return None
    shared_tasks = {task for tasks in shared.values() for task in tasks}
    tasks = tuple(board.task for board in boards if board.task in shared_tasks)

    def get_sort_key(system: SystemOverview) -> tuple[bool, float, str, str]:
        is_partial = len(system.places) < len(tasks)
        return is_partial, -(system.mean_above or 0.0) if is_partial else system.mean_rank, system.team, system.system

    systems = sorted((_summarise_system(*name, system_places) for name, system_places in shared.items()),
                     key=get_sort_key)
    return Overview(tasks, tuple(systems), tuple(_describe_overview(len(places), systems, tasks, anonymous, partial)))


def _summarise_system(team: str, system: str, places: Mapping[str, PlacedSystem]) -> SystemOverview:
    shares = [place.above for place in places.values() if place.above is not None]
    return SystemOverview(team, system, places, sum(place.rank for place in places.values()) / len(places),
                          sum(shares) / len(shares) if shares else None,
                          sum(place.low == 1 for place in places.values()),
                          sum(place.wins for place in places.values()),
                          sum(place.losses for place in places.values()))


def _describe_overview(n_systems: int, systems: Sequence[SystemOverview], tasks: Sequence[str], anonymous: set[str],
                       partial: set[str]) -> list[str]:
    n_complete = sum(len(system.places) == len(tasks) for system in systems)
    is_, are = ("is" if n == 1 else "are" for n in (len(systems), n_complete))
    sentences = [
        f"{counted(len(systems), 'system')} of {n_systems:,} {is_} on two tasks or more, by the same names of team and "
        "system; the registry does not check that the same names mean the same system.",
        "Ranks are those of each task's first leaderboard, and their mean counts each task the same."]
    if n_complete < len(systems):
        first = ", and first" if n_complete else ""
        sentences.append(f"{n_complete or 'None'} of them {are} on all {len(tasks)} tasks{first}. The others are in "
                         "the order of the share of systems that they score above. They met other systems on other "
                         "tasks, so even this order is not a fair comparison.")
    sentences.append("Nothing is tested here; the pages of the tasks have the tests.")
    if anonymous:
        sentences.append(f"Without names, and so left out: {', '.join(sorted(anonymous))}.")
    if partial:
        sentences.append(f"With leaderboards of facets only, and so left out: {', '.join(sorted(partial))}.")
    return sentences
