"""Leaderboards of several tasks, with warnings and details for the tasks' pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, text

from registry.boards.details import NO_DETAILS, Details, load_details
from registry.boards.leaderboard import Leaderboard, Ranks
from registry.boards.load import ALL_PAIRS, StoredTask, load_leaderboards, load_stored_boards
from registry.boards.stale import Outdated, find_outdated
from registry.errors import MismatchError, UnknownNameError
from registry.evaluation.metric_ids import choose_alias
from registry.identity import salt_digest
from registry.manifest import decode_manifest
from registry.manifest.spec import Task
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.embargoes import find_left_out
from registry.store.log import Moment

if TYPE_CHECKING:
    from registry.boards.items import ItemView
    from registry.studies.run import PlannedStudy
    from registry.studies.suites import MacroBoard

_PACKAGES = ("python", "numpy", "scipy")
_ORIGINS = text("""
    SELECT comparison_id, comparison.created_at, test_set.name AS test_set, gold.digest AS gold, task.salt,
        run.code_version, run.environment
    FROM comparison JOIN test_set USING (test_set_id) JOIN task USING (task_id)
    JOIN run ON run.run_id = comparison.run_id
    JOIN gold_revision AS gold ON gold.gold_revision_id = comparison.gold_revision_id
    WHERE comparison_id IN :ids""").bindparams(bindparam("ids", expanding=True))


@dataclass(frozen=True)
class TaskAbout:
    """Facts about a task for its web page.

    Attributes:
        declared: The declaration of the task in the manifest.
        compared: The day of the newest comparison, in UTC.
        computed_by: The versions of this program and of packages in the newest comparison.
        gold: The digest of the gold of each test set that has a leaderboard.
        anonymous: True if systems have pseudonyms. A system has different pseudonyms in different tasks.
    """

    declared: Task
    compared: str = ""
    computed_by: Mapping[str, str] = field(default_factory=dict)
    gold: Mapping[str, str] = field(default_factory=dict)
    anonymous: bool = False


@dataclass(frozen=True)
class TaskBoards:
    """The leaderboards of one task, with optional details.

    Attributes:
        task, title, version: The id, the title and the version of the task.
        primary: The alias of the primary metric.
        boards: The leaderboards, in the order of the manifest.
        about: Facts about the task.
        averages: Macro-averages over test sets, if requested.
        items: The items on which submissions disagree most; None if items were not requested.
        past: A sentence about the moment of the past that the boards show; empty for the present.
        details: Details of systems, pairs and former best systems, if requested.
    """

    task: str
    title: str
    version: str
    primary: str
    boards: Sequence[Leaderboard]
    about: TaskAbout
    averages: Sequence[MacroBoard] = ()
    items: Sequence[ItemView] | None = None
    past: str = ""
    details: Details = NO_DETAILS

    @property
    def primary_first(self) -> list[Leaderboard]:
        """The leaderboards of the task by metric, first those by the primary metric."""
        metrics = [self.primary, *(board.metric for board in self.boards)]
        return sorted(self.boards, key=lambda board: metrics.index(board.metric))


@dataclass(frozen=True)
class Snapshot:
    """The leaderboards of the requested tasks, all from one state of the registry.

    Attributes:
        tasks: The tasks with their leaderboards.
        warnings: Warnings about outdated boards, uncertain ranks and hidden tasks.
        asked: The studies that average scores over test sets, if requested.
    """

    tasks: tuple[TaskBoards, ...]
    warnings: tuple[str, ...]
    asked: tuple[PlannedStudy, ...] = ()

    @property
    def boards(self) -> list[Leaderboard]:
        """The leaderboards of all tasks in one list."""
        return [board for task in self.tasks for board in task.boards]

    def select(self, test_set: str | None = None, facet: str | None = None, *, whole: bool = False) -> Snapshot:
        """Return a copy with the leaderboards of one test set or facet, or of whole test sets only.

        Args:
            test_set: The test set; None for all.
            facet: The facet, such as `genre=news`; None for all.
            whole: True to select leaderboards of whole test sets.

        Raises:
            UnknownNameError: No leaderboard has this test set or facet.
        """
        names = {board.test_set for board in self.boards}
        if test_set is not None and test_set not in names:
            raise UnknownNameError("test set", test_set, sorted(names))
        facets = {board.facet for board in self.boards if test_set in (None, board.test_set)} - {None}
        if facet is not None and facet not in facets:
            raise UnknownNameError("facet", facet, sorted(filter(None, facets)))
        has_every_facet = facet is None and not whole
        tasks = (replace(task, boards=[board for board in task.boards if test_set in (None, board.test_set)
                                       and (has_every_facet or board.facet == facet)]) for task in self.tasks)
        return replace(self, tasks=tuple(task for task in tasks if task.boards))

    def with_averages(self, averages: Sequence[MacroBoard]) -> Snapshot:
        """Return a copy in which each task has its average scores over test sets."""
        return replace(self, tasks=tuple(
            replace(task, averages=[average for average in averages if average.task == task.task])
            for task in self.tasks))

    def past(self, moment: Moment) -> Snapshot:
        """Return a copy whose pages state the past date that the leaderboards show."""
        return replace(self, warnings=tuple(f"then, {warning}" for warning in self.warnings), tasks=tuple(
            replace(task, past=moment.heading, boards=[
                replace(board, details=(moment.heading, *board.details)) for board in task.boards])
            for task in self.tasks))


def load_snapshot(connection: Connection, task: str | Sequence[str] | None = None, metric: str | None = None,
                  ranks: Ranks | None = None, *, items: int = 0, pairs: Sequence[str] = ALL_PAIRS) -> Snapshot:
    """Load the leaderboards of some tasks, and optionally items of their test sets.

    The items are those on which submissions disagree most.

    Args:
        connection: A connection with one transaction for all queries.
        task: The id of one task, or the ids of several tasks; None: all tasks.
        metric: The alias of a metric; None: all metrics.
        ranks: The kind of rank ranges to show; None: the kind that each task declares.
        items: The number of items to load per test set.
        pairs: The columns to load for each pair of systems, such as `ALL_PAIRS`.

    Raises:
        UnknownNameError: The task or the metric is unknown.
        InputError: The registry has no task.
    """
    single = task if task is None or isinstance(task, str) else task[0] if len(task) == 1 else None
    rows = catalog.tasks(connection, single) if single or task is None else _get_tasks(connection, task)
    slugs = [row.slug for row in rows]
    hidden = find_left_out(connection)
    metric = choose_alias(connection, rows, metric)
    stored = load_stored_boards(connection, slugs, metric, pairs)
    origins, primary = _load_origins(connection, stored), catalog.primary_aliases(connection)
    outdated = [entry for entry in find_outdated(connection, single) if task is None or entry.task in slugs]
    tasks, warnings = [], list[str]()
    for row in rows:
        boards = [_add_outdated(board, outdated) for board in load_leaderboards(
            connection, row, metric, ranks, stored=stored[row.slug])]
        warnings += [f"{board.key.name}: simultaneous ranks: {warning}"
                     for board in boards for warning in board.rank_warnings]
        views = None
        if items and boards:
            from registry.boards.items import load_disputed_items  # imported late, because only items need parsed golds

            try:
                views = load_disputed_items(connection, row, items)
            except MismatchError as error:
                warnings.append(f"{row.slug}: items are left out: {error}")
        about = _make_about(row, [origins[board.comparison.comparison_id] for board in boards],
                            anonymous=row.slug in hidden.anonymous)
        tasks.append(TaskBoards(row.slug, row.title, row.version, primary[row.task_id], boards, about, items=views))
    left_out = hidden.sentences if task is None else ()
    return Snapshot(tuple(tasks), (*map(str, outdated), *warnings, *left_out))


def _get_tasks(connection: Connection, tasks: Sequence[str]) -> list[TaskRow]:
    rows = {row.slug: row for row in catalog.tasks(connection)} if len(tasks) > 1 else {}
    return [rows[task] if task in rows else catalog.tasks(connection, task)[0] for task in tasks]


def add_details(connection: Connection, snapshot: Snapshot, items: int, moment: Moment | None = None) -> Snapshot:
    """Add details to the tasks of a snapshot, such as runs and confusion matrices.

    Args:
        connection: The transaction in which the snapshot was loaded.
        snapshot: The snapshot.
        items: The number of items per test set that are shown.
        moment: The moment of the past that the connection shows; None: the present.
    """
    until = None if moment is None else moment.entry
    rows = _get_tasks(connection, [task.task for task in snapshot.tasks])
    return replace(snapshot, tasks=tuple(
        replace(task, details=load_details(connection, row, task.boards, items, until))
        for task, row in zip(snapshot.tasks, rows, strict=True)))


def _load_origins(connection: Connection, stored: Mapping[str, StoredTask]) -> dict[int, Row[Any]]:
    ids = [board.settings.comparison_id for task in stored.values() for board in task.boards]
    rows = connection.execute(_ORIGINS, {"ids": ids}).all() if ids else []
    return {row.comparison_id: row for row in rows}


def _make_about(row: TaskRow, origins: Sequence[Row[Any]], *, anonymous: bool) -> TaskAbout:
    declared = decode_manifest(row.manifest).task
    if not origins:
        return TaskAbout(declared, anonymous=anonymous)
    origins = sorted(origins, key=lambda origin: origin.comparison_id)
    newest = origins[-1]
    environment = json.loads(newest.environment)
    packages = {name: environment[name] for name in _PACKAGES if name in environment}
    return TaskAbout(declared, f"{newest.created_at:%Y-%m-%d}", {"evalregistry": newest.code_version, **packages},
                     {origin.test_set: salt_digest(origin.gold, origin.salt) for origin in origins}, anonymous)


def _add_outdated(board: Leaderboard, outdated: Sequence[Outdated]) -> Leaderboard:
    return replace(board, outdated=tuple(
        entry.message for entry in outdated if (entry.task, entry.test_set) == (board.task, board.test_set)))
