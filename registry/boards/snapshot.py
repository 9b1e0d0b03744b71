"""What a command shows of leaderboards, read at one moment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, text

from registry.boards.details import NO_DETAILS, Details, details
from registry.boards.leaderboard import Leaderboard, Ranks
from registry.boards.load import ALL_PAIRS, StoredTask, declared_leaderboards, stored_boards
from registry.boards.stale import Outdated, stale
from registry.errors import MismatchError
from registry.identity import salt_digest
from registry.manifest import stored_manifest
from registry.manifest.spec import Task
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.store.embargoes import find_left_out
from registry.store.log import Moment

if TYPE_CHECKING:
    from registry.boards.items import ItemView
    from registry.studies.run import PlannedStudy
    from registry.studies.suites import MacroBoard

_COMPUTING = ("python", "numpy", "scipy")
_ORIGINS = text("""
    SELECT comparison_id, comparison.created_at, test_set.name AS test_set, gold.digest AS gold, task.salt,
        run.code_version, run.environment
    FROM comparison JOIN test_set USING (test_set_id) JOIN task USING (task_id)
    JOIN run ON run.run_id = comparison.run_id
    JOIN gold_revision AS gold ON gold.gold_revision_id = comparison.gold_revision_id
    WHERE comparison_id IN :numbers""").bindparams(bindparam("numbers", expanding=True))



@dataclass(frozen=True)
class TaskAbout:
    """What a page says of a task beside its leaderboards.

    Attributes:
        declared: What the task says of itself.
        compared: The day of its newest comparison, in UTC.
        computed_by: The program that made that one, and the packages it used, with their versions.
        gold: The digest of the gold of each test set that has a leaderboard.
        anonymous: Whether systems have pseudonyms, which are of this task alone.
    """

    declared: Task
    compared: str = ""
    computed_by: Mapping[str, str] = field(default_factory=dict)
    gold: Mapping[str, str] = field(default_factory=dict)
    anonymous: bool = False


@dataclass(frozen=True)
class TaskBoards:
    """The leaderboards of one task.

    Attributes:
        task, title, version: Of the task, by its id.
        primary: The alias of its primary metric.
        boards: Its leaderboards, in the order of the manifest.
        about: What else is known of the task.
        averages: Of scores over test sets, where they are asked for (`Snapshot.with_averages`).
        items: The items to look at, the worst first; None where they are not asked for.
        past: When they stood like this; empty: they stand like this now.
        details: What is said of single systems, pairs and former bests, where it is asked for (`detailed`).
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
        """The leaderboards, those by the primary metric first."""
        return sorted(self.boards, key=lambda board: board.metric != self.primary)


@dataclass(frozen=True)
class Snapshot:
    """The leaderboards of the tasks that are meant.

    Attributes:
        tasks: The tasks, with their leaderboards.
        warnings: Which of them are out of date or have ranks that are in doubt, and which are hidden.
        asked: Their averages over test sets, looked up, where they are asked for.
    """

    tasks: tuple[TaskBoards, ...]
    warnings: tuple[str, ...]
    asked: tuple[PlannedStudy, ...] = ()

    @property
    def boards(self) -> list[Leaderboard]:
        """All leaderboards."""
        return [board for of in self.tasks for board in of.boards]

    def with_averages(self, averages: Sequence[MacroBoard]) -> Snapshot:
        """The same with averages of scores over test sets, each at its task."""
        return replace(self, tasks=tuple(
            replace(of, averages=[average for average in averages if average.task == of.task]) for of in self.tasks))

    def past(self, moment: Moment) -> Snapshot:
        """The same, marked as of the past."""
        said = moment.heading
        return replace(self, warnings=tuple(f"then, {warning}" for warning in self.warnings), tasks=tuple(
            replace(of, past=said, boards=[replace(board, statements=(said, *board.statements)) for board in of.boards])
            for of in self.tasks))


def snapshot(connection: Connection, task: str | Sequence[str] | None = None, metric: str | None = None,
             ranks: Ranks | None = None, *, items: int = 0, pairs: Sequence[str] = ALL_PAIRS) -> Snapshot:
    """Read the leaderboards that a command shows, and the items to look at.

    Args:
        connection: One transaction.
        task: A task's id, or those of several; None: all tasks.
        metric: The alias of a metric; None: all metrics.
        ranks: The convention of the ranks that people see; None: as each task declares.
        items: How many items of each test set are to be looked at.
        pairs: What is read of pairs beside the decisions (`registry.boards.load.stored_boards`).

    Raises:
        UnknownNameError: There is no such task or metric.
        InputError: There is no task at all.
    """
    one = task if task is None or isinstance(task, str) else task[0] if len(task) == 1 else None
    rows = catalog.tasks(connection, one) if one or task is None else _named(connection, task)
    slugs = {row.slug for row in rows}
    found, doubts, hidden = [], list[str](), find_left_out(connection)
    catalog.check_metric(connection, rows, metric)
    stored = stored_boards(connection, [row.slug for row in rows], metric, pairs)
    origins, primary = _origins(connection, stored), catalog.primary_aliases(connection)
    outdated = [of for of in stale(connection, one) if task is None or of.task in slugs]
    for row in rows:
        boards = [_with_outdated(board, outdated) for board in declared_leaderboards(
            connection, row, metric, ranks, stored=stored[row.slug])]
        doubts += [f"{board.key.name}: simultaneous ranks: {warning}"
                   for board in boards for warning in board.rank_warnings]
        views = None
        if items and boards:
            from registry.boards.items import most_disagreed  # late: it reads golds again, and boards do not

            try:
                views = most_disagreed(connection, row, items)
            except MismatchError as error:
                doubts.append(f"{row.slug}: items are left out: {error}")
        about = _about(row, [origins[board.comparison.comparison_id] for board in boards],
                       anonymous=row.slug in hidden.anonymous)
        found.append(TaskBoards(row.slug, row.title, row.version, primary[row.task_id], boards, about, items=views))
    left_out = hidden.sentences if task is None else ()
    return Snapshot(tuple(found), (*map(str, outdated), *doubts, *left_out))


def _named(connection: Connection, tasks: Sequence[str]) -> list[TaskRow]:
    """The tasks of these ids; see `catalog.tasks`."""
    known = {row.slug: row for row in catalog.tasks(connection)} if len(tasks) > 1 else {}
    return [known[task] if task in known else catalog.tasks(connection, task)[0] for task in tasks]


def detailed(connection: Connection, found: Snapshot, items: int, moment: Moment | None = None) -> Snapshot:
    """A snapshot with the details of its tasks.

    Args:
        connection: The transaction in which it was read.
        found: What was read.
        items: How many items of each test set are shown.
        moment: As of when the connection reads; None: as of now.
    """
    until = None if moment is None else moment.entry
    return replace(found, tasks=tuple(
        replace(of, details=details(connection, row, of.boards, items, until))
        for of, row in zip(found.tasks, _named(connection, [of.task for of in found.tasks]), strict=True)))


def _origins(connection: Connection, stored: Mapping[str, StoredTask]) -> dict[int, Row[Any]]:
    """Where leaderboards come from, by the numbers of their comparisons."""
    numbers = [board.settings.comparison_id for of in stored.values() for board in of.boards]
    rows = connection.execute(_ORIGINS, {"numbers": numbers}).all() if numbers else []
    return {row.comparison_id: row for row in rows}


def _about(row: TaskRow, origins: Sequence[Row[Any]], *, anonymous: bool) -> TaskAbout:
    """What is known of a task, and where its leaderboards come from."""
    declared = stored_manifest(row.manifest).task
    if not origins:
        return TaskAbout(declared, anonymous=anonymous)
    last = max(origins, key=lambda of: of.comparison_id)
    there = json.loads(last.environment)
    packages = {name: there[name] for name in _COMPUTING if name in there}
    return TaskAbout(declared, f"{last.created_at:%Y-%m-%d}", {"evalregistry": last.code_version, **packages},
                     {of.test_set: salt_digest(of.gold, of.salt) for of in sorted(
                         origins, key=lambda of: of.comparison_id)}, anonymous)


def _with_outdated(board: Leaderboard, outdated: Sequence[Outdated]) -> Leaderboard:
    """Return the leaderboard with the messages about its test set."""
    return replace(board, outdated=tuple(
        of.message for of in outdated if (of.task, of.test_set) == (board.task, board.test_set)))
