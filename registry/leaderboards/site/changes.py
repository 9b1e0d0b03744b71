"""What changed in a registry, for those who follow it: tasks and corrected gold, systems that came and left, new bests.

All of it is read of what readers get to see now: names are those that are shown, tasks whose scores are hidden are left
out, a new best is of when it was first shown, and purged submissions did not come. Withdrawn ones left, but of tasks
that hide names, whose log does not say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import HiddenError, InputError
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.leaderboards.details.bests import NewBest, histories
from registry.leaderboards.details.phases import phases
from registry.leaderboards.leaderboard import metric_form, shown_names
from registry.manifest import stored_manifest
from registry.metric_names import metric_title
from registry.store import catalog
from registry.store.catalog import TaskRow


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
    organisers = tuple(stored_manifest(row.manifest).task.organisers)
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
        for of, name in zip(submitted, shown_names(submitted), strict=True):
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
        form = metric_form(row.manifest, primary.alias, primary.name)
        title = form["declared_title"] or metric_title(primary.name)
        for of in histories(connection, row, phases(connection, row.slug)):
            if of.key.metric != primary.alias:
                continue
            for before, best in zip(of.bests, of.bests[1:], strict=False):
                key = f"best|{digests.get(best.entry, '')}|{of.key.name}"
                yield _change(row, best.at, key, BestOf(of.key, title, form["decimals"], best, before))
