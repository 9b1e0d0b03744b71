"""Compute studies that are not stored yet, and store them with their provenance.

One transaction looks up all requested studies, and loads the statistics of the first new one. The database is closed
while a study computes. Parts of a long study are stored every few seconds, so that an interrupted study can continue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import InputError, LockedError, MismatchError, StoreError, counted
from registry.evaluation.comparing.settings import Request, build_request
from registry.evaluation.metric_ids import choose_alias
from registry.identity import digest_json, salt_digest
from registry.parallel.execution import Execution
from registry.plugins import versions
from registry.store import catalog, comparisons
from registry.store.catalog import StudyRow, TaskRow
from registry.store.database import Database
from registry.store.log import Journal, now
from registry.store.session import writing
from registry.studies.study import Choice, Finding, Parts, Study, Subject
from registry.version import __version__


@dataclass(frozen=True)
class StudyResult:
    """Result of a study for one subject, such as a leaderboard.

    `is_new` is True if the result was computed now, and False if it was read from the database.
    """

    study: Study
    task: str
    subject: str
    finding: Finding
    signature: str
    is_new: bool


@dataclass
class Archive:
    """Database of a command, in which it stores the results of studies.

    Attributes:
        database: Database of the task.
        journal: Log of the command.
        dry_run: True to store nothing.
        print_warning: Prints a warning before the computation.
        store_error: The reason if results cannot be stored. They are computed nevertheless.
        warnings: Warnings that are already printed.
    """

    database: Database
    journal: Journal
    dry_run: bool = False
    print_warning: Callable[[str], None] = lambda warning: None  # noqa: ARG005
    store_error: str | None = field(default=None, init=False)
    warnings: list[str] = field(default_factory=list, init=False)

    def warn(self, warning: str) -> None:
        """Print a warning, and add it to the list of printed warnings."""
        self.warnings.append(warning)
        self.print_warning(warning)

    def store_parts(self, digest: str, parts: Mapping[str, str]) -> None:
        """Store intermediate results of an unfinished study in a separate transaction.

        `digest` identifies the study and its data.
        """
        self._write(lambda connection: comparisons.store_parts(connection, digest, parts))

    def store(self, planned: PlannedStudy, result: StudyResult, content: str) -> None:
        """Store the result of a finished study; it replaces the intermediate results.

        Args:
            planned: The study and its subject.
            result: The result.
            content: The tables of the result as JSON.
        """
        def insert(connection: Connection) -> None:
            comparisons.store_study(
                connection, planned.digest, study=repr(result.study), task_id=planned.task.task_id,
                subject=result.subject, result=content, signature=result.signature,
                run_id=self.journal.run_id(connection), created_at=now())
            self.journal.event(connection, "study", planned.task.slug, signature=result.signature,
                               result=digest_json(content),
                               row=digest_json([repr(result.study), result.subject, planned.digest]))

        self._write(insert)

    def _write(self, insert: Callable[[Connection], None]) -> None:
        if self.dry_run or self.store_error:
            return
        try:
            with writing(self.database, self.journal) as session:
                insert(session.connection)
        except (StoreError, LockedError) as error:  # a result that cannot be stored is still shown
            self.store_error = str(error)


class Loaded(NamedTuple):
    """Data from which a study is computed.

    Attributes:
        parts: Intermediate results of an interrupted computation.
        case: Argument of `Study.run`; None if there is nothing to study.
    """

    parts: Parts
    case: Any


@dataclass(frozen=True, eq=False)
class PlannedStudy:
    """A study of one subject, such as a leaderboard, with its stored result if any.

    Attributes:
        study: The study with its options.
        task: The task.
        subject: The subject.
        request: The settings of the comparison.
        digest: Digest of everything on which the result depends.
        stored: The stored result; None if the study must be computed.
        parts: Stored parts of an interrupted computation.
    """

    study: Study
    task: TaskRow
    subject: Subject
    request: Request
    digest: str
    stored: StudyRow | None
    parts: dict[str, str]

    @classmethod
    def look_up(cls, connection: Connection, study: Study, task: TaskRow, subject: Subject,
                request: Request) -> PlannedStudy:
        """Find the stored result of a study of one subject, such as a leaderboard.

        If there is none, the study has to be computed; intermediate results of an interrupted computation are loaded.
        """
        content = {"study": repr(study), **subject.identity, "version": __version__, **versions([repr(study)])}
        digest = salt_digest(digest_json(content), task.salt)
        return cls(study, task, subject, request, digest, catalog.find(connection, StudyRow, digest=digest),
                   comparisons.load_parts(connection, digest))

    def load(self, archive: Archive, connection: Connection) -> Loaded:
        """Load the data of the study."""
        parts = Parts(dict(self.parts), partial(archive.store_parts, self.digest), self.request.execution.progress)
        return Loaded(parts, self.subject.load(connection, parts))

    def get_result(self, archive: Archive, loaded: Loaded | None = None) -> StudyResult | None:
        """Return the result of the study: the stored one, or a new one, which is stored.

        Return None if there is nothing to study.

        Args:
            archive: Stores the result.
            loaded: Data of the study; by default they are loaded if necessary.
        """
        if self.stored is not None:
            return self._make_result(self.stored.result, self.stored.signature, is_new=False)
        if loaded is None:
            with archive.database.reading() as connection:
                loaded = self.load(archive, connection)
        parts, case = loaded
        if case is None:
            return None
        try:
            for warning in self.study.check_case(case):
                archive.warn(f"{self.subject.name}: {warning}")
            content = self.study.run(case).dump()
        except BaseException as error:
            parts.flush()
            if isinstance(error, InputError):
                raise InputError(f"{self.subject.name}: {error}") from None
            raise
        result = self._make_result(content, str(self.subject.signature(case, self.digest)), is_new=True)
        archive.store(self, result, content)
        return result

    def _make_result(self, content: str, signature: str, *, is_new: bool) -> StudyResult:
        return StudyResult(self.study, self.task.slug, self.subject.name, Finding.load(content), signature, is_new)


def plan_studies(connection: Connection, study: Study, choice: Choice, settings: Mapping[str, Any] | None = None,
                 execution: Execution | None = None) -> list[PlannedStudy]:
    """Find the subjects of a study, such as leaderboards, and their stored results.

    Args:
        connection: Connection to the registry.
        study: The study with its options.
        choice: Selected leaderboards.
        settings: Significance settings that override the task's.
        execution: Workers and memory.

    Raises:
        UnknownNameError: A selected task, metric, test set, track or facet does not exist.
        InputError: The study does not apply to the data, or a setting is invalid.
    """
    tasks, planned = catalog.tasks(connection, choice.task), []
    choice = replace(choice, metric=choose_alias(connection, tasks, choice.metric))
    for task in tasks:
        metrics = choose_metrics(connection, task, choice.metric, every=study.every_metric)
        request = build_request(task, {**study.default_settings, **(settings or {}), **study.fixed_settings},
                                   metrics, execution)
        planned += [PlannedStudy.look_up(connection, study, task, subject, request)
                    for subject in study.find_subjects(connection, task, request, choice)]
    return planned


def run_study(archive: Archive, study: Study, choice: Choice, settings: Mapping[str, Any] | None = None,
              execution: Execution | None = None) -> list[StudyResult]:
    """Return the results of a study for all selected leaderboards.

    Stored results are reused; missing results are computed and stored.

    Args:
        archive: Database and log of the command.
        study: The study with its options.
        choice: Selected leaderboards.
        settings: Significance settings that override the task's.
        execution: Workers and memory.

    Raises:
        UnknownNameError: A selected task, metric, test set, track or facet does not exist.
        MismatchError: There is nothing to study.
        InputError: The study does not apply to the data, or a setting is invalid.
    """
    with archive.database.reading() as connection:
        plans = plan_studies(connection, study, choice, settings, execution)
        new = [plan for plan in plans if plan.stored is None]
        loaded = {plan: plan.load(archive, connection) for plan in new[:1]}
    results = [result for plan in plans if (result := plan.get_result(archive, loaded.pop(plan, None))) is not None]
    if not results:
        raise MismatchError(f"there is nothing to compare: no board has {counted(study.min_systems, 'scored system')} "
                            "with statistics of items; add systems by `registry submit` and `registry score` (a public "
                            "file has no items of a task that withholds its gold)")
    return results


def choose_metrics(connection: Connection, task: TaskRow, alias: str | None, *, every: bool = False) -> tuple[str, ...]:
    """Return the names of the metrics of a task that a study uses.

    Args:
        connection: Connection to the registry.
        task: Row of the task.
        alias: The only metric to use; the result is empty if the task does not have it. None: the default.
        every: True if the default is all metrics, False if it is the primary metric.
    """
    aliases = tuple(metric.alias for metric in catalog.task_metrics(connection, task.task_id))
    if alias is not None:
        return (alias,) if alias in aliases else ()
    return aliases if every else (str(catalog.primary_metric(connection, task.task_id).alias),)
