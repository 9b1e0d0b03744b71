"""Studies of a task: found where they were made before, else made, and kept with their provenance where they can be.

What is asked is looked up at once, in one transaction, and the statistics of the first study that is to be made are
loaded in it. The database is open again while those of others are loaded and while something is kept, never while a
study computes. What a study has done is kept from time to time, so one that was interrupted goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.errors import InputError, LockedError, MismatchError, StoreError, counted
from registry.evaluation.comparing.settings import Request, declared_request
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
    """One study that was made or found; `subject` is what it looks at, and `made` whether it was not there before."""

    study: Study
    task: str
    subject: str
    finding: Finding
    signature: str
    made: bool


@dataclass
class Archive:
    """Where studies are found and kept.

    Attributes:
        database: With the task.
        journal: Records what is kept.
        dry_run: Whether to keep nothing.
        tell: Called with what may be wrong with a study, before the work.
        refused: Why nothing can be kept, once that is known: then studies are made all the same.
        told: What was told.
    """

    database: Database
    journal: Journal
    dry_run: bool = False
    tell: Callable[[str], None] = lambda said: None  # noqa: ARG005
    refused: str | None = field(default=None, init=False)
    told: list[str] = field(default_factory=list, init=False)

    def warn(self, said: str) -> None:
        """Tell what may be wrong with a study that is about to be made."""
        self.told.append(said)
        self.tell(said)

    def keep_parts(self, digest: str, parts: Mapping[str, str]) -> None:
        """Keep parts of a study that is not finished, in a transaction of their own."""
        self._write(lambda connection: comparisons.keep_parts(connection, digest, parts))

    def keep(self, question: Question, result: StudyResult, written: str) -> None:
        """Keep a study in the place of its parts."""
        def store(connection: Connection) -> None:
            comparisons.keep_study(
                connection, question.digest, study=repr(result.study), task_id=question.task.task_id,
                subject=result.subject, result=written, signature=result.signature,
                run_id=self.journal.run_id(connection), created_at=now())
            self.journal.event(connection, "study", question.task.slug, signature=result.signature,
                               result=digest_json(written),
                               row=digest_json([repr(result.study), result.subject, question.digest]))

        self._write(store)

    def _write(self, store: Callable[[Connection], None]) -> None:
        if self.dry_run or self.refused:
            return
        try:
            with writing(self.database, self.journal) as session:
                store(session.connection)
        except (StoreError, LockedError) as error:  # what was found is worth more than that it is kept
            self.refused = str(error)


class Loaded(NamedTuple):
    """What a study is made of, with its parts that were kept; `case` is None where there is nothing to study."""

    parts: Parts
    case: Any


@dataclass(frozen=True, eq=False)
class Question:
    """A study of one subject, with what was found of it."""

    study: Study
    task: TaskRow
    subject: Subject
    request: Request
    digest: str
    found: StudyRow | None
    parts: dict[str, str]

    @classmethod
    def of(cls, connection: Connection, study: Study, task: TaskRow, subject: Subject, request: Request) -> Question:
        """Look up whether the study was made of this subject, or what is done of it."""
        content = {"study": repr(study), **subject.identity, "version": __version__, **versions([repr(study)])}
        digest = salt_digest(digest_json(content), task.salt)
        return cls(study, task, subject, request, digest, catalog.find(connection, StudyRow, digest=digest),
                   comparisons.parts_of(connection, digest))

    def load(self, archive: Archive, connection: Connection) -> Loaded:
        """Load what the study is to be made of."""
        parts = Parts(dict(self.parts), partial(archive.keep_parts, self.digest), self.request.execution.progress)
        return Loaded(parts, self.subject.load(connection, parts))

    def answer(self, archive: Archive, loaded: Loaded | None = None) -> StudyResult | None:
        """Give what was found, or make the study and keep it; None where there is nothing to study.

        Args:
            archive: Where it is kept.
            loaded: What it is made of; None: it is loaded.
        """
        if self.found is not None:
            return self._result(self.found.result, self.found.signature, made=False)
        if loaded is None:
            with archive.database.reading() as connection:
                loaded = self.load(archive, connection)
        parts, case = loaded
        if case is None:
            return None
        try:
            for doubt in self.study.doubts(case):
                archive.warn(f"{self.subject.name}: {doubt}")
            finding = self.study.run(case)
        except BaseException as error:
            parts.flush()
            if isinstance(error, InputError):
                raise InputError(f"{self.subject.name}: {error}") from None
            raise
        written = finding.dump()
        result = self._result(written, str(self.subject.signature(case, self.digest)), made=True)
        archive.keep(self, result, written)
        return result

    def _result(self, written: str, signature: str, *, made: bool) -> StudyResult:
        return StudyResult(self.study, self.task.slug, self.subject.name, Finding.load(written), signature,
                           made)


def find_questions(connection: Connection, study: Study, choice: Choice, given: Mapping[str, Any] | None = None,
                   execution: Execution | None = None) -> list[Question]:
    """Everything that a study is to be made of.

    Args:
        connection: To the store.
        study: What is asked.
        choice: Of what.
        given: Settings of significance in the place of those that a task declares.
        execution: Who computes.

    Raises:
        UnknownNameError: There is no such task, metric, test set, track or facet.
        InputError: The study cannot be made of what there is, or a setting is wrong.
    """
    rows, found = catalog.tasks(connection, choice.task), []
    catalog.check_metric(connection, rows, choice.metric)
    for row in rows:
        metrics = choose_metrics(connection, row, choice.metric, every=study.every_metric)
        request = declared_request(row, {**study.usual, **(given or {}), **study.fixed}, metrics,
                                   execution)
        found += [Question.of(connection, study, row, subject, request)
                  for subject in study.subjects(connection, row, request, choice)]
    return found


def run_study(archive: Archive, study: Study, choice: Choice, given: Mapping[str, Any] | None = None,
              execution: Execution | None = None) -> list[StudyResult]:
    """Make a study, or find it, of everything that is meant; arguments as of `questions`.

    Raises:
        UnknownNameError: There is no such task, metric, test set, track or facet.
        MismatchError: There is nothing to study.
        InputError: The study cannot be made of what there is, or a setting is wrong.
    """
    with archive.database.reading() as connection:
        asked = find_questions(connection, study, choice, given, execution)
        new = [question for question in asked if question.found is None]
        loaded = {question: question.load(archive, connection) for question in new[:1]}
    found = [question.answer(archive, loaded.pop(question, None)) for question in asked]
    answers = [answer for answer in found if answer is not None]
    if not answers:
        raise MismatchError(f"there is nothing to compare: no board has {counted(study.least, 'scored system')} with "
                            "statistics of items; `registry submit` and `registry score` add systems, and a public "
                            "file has no items of a task that withholds its gold")
    return answers


def choose_metrics(connection: Connection, task: TaskRow, alias: str | None, *, every: bool = False) -> tuple[str, ...]:
    """The metric of a task that is chosen, where it has it; else the primary one, or all."""
    known = tuple(metric.alias for metric in catalog.task_metrics(connection, task.task_id))
    if alias is not None:
        return (alias,) if alias in known else ()
    return known if every else (str(catalog.primary_metric(connection, task.task_id).alias),)
