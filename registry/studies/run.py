"""Studies of a task's boards: found where they were made before, else made and kept with their provenance.

The database is open while boards are loaded and while something is kept, never while a study computes. What a study
has done is kept from time to time, so one that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, UnknownNameError, counted
from registry.evaluation import Request
from registry.evaluation.comparing.board_keys import BoardKey, board_keys
from registry.evaluation.comparing.board_statistics import Board, load
from registry.evaluation.comparing.by_response import by_response
from registry.identity import digest_json, plain_value
from registry.provenance import StudySignature
from registry.store import catalog, studies
from registry.store.database import Database
from registry.store.journal import Journal, now
from registry.store.row_types import Member, StudyRow, TaskRow
from registry.store.session import writing
from registry.studies.study import Case, Finding, Parts, Study
from registry.version import __version__

_OFTEN = 5.0  # seconds after which new parts are kept


@dataclass(frozen=True)
class Choice:
    """Which boards of a task are meant: None is every test set and track; the primary metric; all items."""

    metric: str | None = None
    test_set: str | None = None
    track: str | None = None
    facet: str | None = None


@dataclass(frozen=True)
class StudyResult:
    """One study that was made or found; `subject` is what it looks at, and `made` whether it was not there before."""

    study: Study
    task: str
    subject: str
    finding: Finding
    signature: str
    made: bool


def run_study(database: Database, journal: Journal, task: str, study: Study, choice: Choice,
            ask: Callable[[TaskRow, str], Request], *, dry_run: bool = False) -> list[StudyResult]:
    """Make a study of every board that is meant, or of all of them together, as its scope says.

    Args:
        database: With the task.
        journal: Records what is kept.
        task: Its id.
        study: What is asked.
        choice: Of which boards.
        ask: Gives the request, from the task's row and the metric's alias.
        dry_run: Whether to keep nothing.

    Raises:
        UnknownNameError: There is no such task, metric, test set, track or facet.
        MismatchError: There is nothing to study.
        InputError: The study cannot be made of what there is.
    """
    with database.reading() as connection:
        (row,) = catalog.tasks(connection, task)
        cases = [_Case.of(connection, row, study, boards, request)
                 for alias in chosen_metrics(connection, row, choice.metric, every=study.every_metric)
                 for request in (ask(row, alias),)
                 for boards in _joined(connection, row, request, study, choice)]
    return [case.run(database, journal, dry_run=dry_run) for case in cases]


@dataclass(frozen=True, eq=False)
class _Case:
    """One study to be made, with what was found of it."""

    study: Study
    task: TaskRow
    boards: tuple[Board, ...]
    attributes: dict[str, dict[str, str]]
    request: Request
    digest: str
    there: StudyRow | None
    parts: dict[str, str]

    @classmethod
    def of(cls, connection: Connection, task: TaskRow, study: Study, boards: tuple[Board, ...],
           request: Request) -> _Case:
        members = {member.submission_id: member.name for board in boards for member in board.members}
        attributes = {members[n]: of for n, of in catalog.submission_attributes(connection, list(members)).items()}
        digest = digest_json({"study": repr(study), "boards": [board.key.digest(request) for board in boards],
                              "attributes": attributes, "version": __version__})
        return cls(study, task, boards, attributes, request, digest, studies.find_study(connection, digest),
                   studies.parts_of(connection, digest))

    @property
    def subject(self) -> str:
        names = [board.key.name for board in self.boards]
        return "; ".join(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"])

    @property
    def signature(self) -> str:
        keys = [board.key for board in self.boards]
        return str(StudySignature(
            study=repr(self.study), metric=keys[0].metric.alias, task=self.task.slug, task_version=self.task.version,
            test_sets=_distinct(key.test_set.name for key in keys), track=keys[0].track,
            facet=None if self.study.facets_by else keys[0].facet_name,
            n_items=sum(len(board.items) for board in self.boards),
            n_systems=len({_system(m) for board in self.boards for m in board.members}),
            golds=_distinct(key.gold.digest for key in keys), seed=self.request.seed, identity=self.digest))

    def run(self, database: Database, journal: Journal, *, dry_run: bool) -> StudyResult:
        if self.there is not None:
            return self._result(self.there.result, made=False)
        keeping = _Keeping(database, journal, self.digest, dry_run)
        parts = Parts(dict(self.parts), keeping.keep, self.request.execution.progress)
        case = Case(self.boards, self.attributes, self.request, parts)
        try:
            finding = self.study.run(case)
        except InputError as error:
            raise InputError(f"{self.subject}: {error}") from None
        finally:
            keeping.flush()
        result = json.dumps(plain_value(asdict(finding)), ensure_ascii=False)  # its tables and keys stay in their order
        if dry_run:  # also where nothing may be written
            return self._result(result, made=True)
        with writing(database, journal) as session:
            studies.keep_study(
                session.connection, self.digest, study=repr(self.study), task_id=self.task.task_id,
                subject=self.subject, result=result, signature=self.signature,
                run_id=journal.run_id(session.connection), created_at=now())
            journal.event(session.connection, "study", self.task.slug, signature=self.signature)
        return self._result(result, made=True)

    def _result(self, result: str, *, made: bool) -> StudyResult:
        finding = Finding(**json.loads(result))
        return StudyResult(self.study, self.task.slug, self.subject, finding, self.signature, made)


class _Keeping:
    """Keeps the new parts of a study from time to time, each time in a transaction of its own."""

    def __init__(self, database: Database, journal: Journal, digest: str, dry_run: bool) -> None:
        self._database, self._journal, self._digest, self._dry_run = database, journal, digest, dry_run
        self._new: dict[str, str] = {}
        self._last = time.monotonic()

    def keep(self, key: str, result: str) -> None:
        self._new[key] = result
        if time.monotonic() - self._last > _OFTEN:
            self.flush()

    def flush(self) -> None:
        if self._new and not self._dry_run:
            with writing(self._database, self._journal) as session:
                studies.keep_parts(session.connection, self._digest, self._new)
        self._new, self._last = {}, time.monotonic()


def chosen_boards(connection: Connection, task: TaskRow, request: Request, choice: Choice, *, least: int,
                  facets_by: str | None = None) -> list[Board]:
    """The boards of a task that are meant, with their statistics, of at least so many systems.

    Raises:
        UnknownNameError: There is no such test set, track or facet.
        MismatchError: There is nothing to study.
        InputError: Systems are scored on different items, or no item has the attribute `facets_by`.
    """
    if facets_by is not None:
        request = replace(request, facets={t.name: [facets_by] for t in catalog.test_sets(connection, task.task_id)})
    known = list(board_keys(connection, task, request))
    if facets_by is not None:
        known = [key for key in known if key.facet is not None]
        if not known:
            raise InputError(f"items of {task.slug} have no attribute {facets_by!r}; the options of the gold's reader "
                             "name attributes")
    for kind, wanted in (("test set", choice.test_set), ("track", choice.track), ("facet", choice.facet)):
        names = {_called(key, kind) for key in known}
        if wanted is not None and wanted not in names:
            raise UnknownNameError(f"{kind} of {task.slug}", wanted, sorted(filter(None, names)))
        if wanted is not None or (kind == "facet" and facets_by is None):
            known = [key for key in known if _called(key, kind) == wanted]
    loaded = [board for key in known if (board := load(connection, key, request.significance)) is not None
              and len(board.members) >= least]
    if request.significance.unit == "response":
        loaded = [by_response(connection, board) for board in loaded]
    if not loaded:
        raise MismatchError(f"there is nothing to study: no board of {task.slug} has {counted(least, 'system')} that "
                            "are scored; `registry submit` brings one in, and `registry score` scores it")
    if uneven := next((board for board in loaded if board.matrix.unequal), None):
        raise InputError(f'{uneven.key.name}: systems are scored on items of their own (missing = "own"), which '
                         "studies cannot compare; take another policy for missing items")
    return loaded


def chosen_metrics(connection: Connection, task: TaskRow, alias: str | None, *, every: bool = False) -> list[str]:
    """The metric that is chosen; else the primary one, or all.

    Raises:
        UnknownNameError: The task has no such metric.
    """
    catalog.check_metric(connection, [task], alias)
    if alias is None and every:
        return [metric.alias for metric in catalog.task_metrics(connection, task.task_id)]
    return [alias or str(catalog.primary_metric(connection, task.task_id).alias)]


def _joined(connection: Connection, task: TaskRow, request: Request, study: Study,
            choice: Choice) -> Iterator[tuple[Board, ...]]:
    """The boards that each study looks at."""
    loaded = chosen_boards(connection, task, request, choice, least=study.least, facets_by=study.facets_by)
    if study.scope == "board":
        yield from ((board,) for board in loaded)
        return
    for track in sorted({board.key.track for board in loaded}, key=lambda name: (name is not None, name)):
        yield tuple(board for board in loaded if board.key.track == track)


def _called(key: BoardKey, kind: str) -> str | None:
    return {"test set": str(key.test_set.name), "track": key.track, "facet": key.facet_name}[kind]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _system(member: Member) -> str:
    return f"{member.team}/{member.system}"
