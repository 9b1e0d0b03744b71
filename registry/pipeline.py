"""The complete evaluation of a task: ingest, score, compare, load leaderboards.

The evaluation uses a permanent or a temporary registry. It reports messages by calling a function with one sentence at
a time.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from registry.boards.averages import make_average_leaderboard
from registry.boards.leaderboard import Leaderboard
from registry.boards.load import ALL_PAIRS, BOARD_PAIRS, explain_no_boards, load_leaderboards
from registry.boards.pairs import add_details
from registry.boards.planned import describe_plan
from registry.errors import NOTHING_STORED
from registry.evaluation.comparing.compare import ComparisonSummary, compare, delete_unused_results, prepare
from registry.evaluation.comparing.settings import build_request
from registry.evaluation.comparing.vetting import VettedTask
from registry.evaluation.ingest.apply import IngestSummary, apply
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.similar_names import warnings_about
from registry.evaluation.resolve import ResolvedTask, resolve
from registry.evaluation.scoring.score import ScoringSummary, score
from registry.manifest import load_manifest
from registry.manifest.folder import TaskFolder
from registry.parallel.execution import Execution, Progress
from registry.store.database import Database
from registry.store.embargoes import find_hidden, note_hidden
from registry.store.log import Journal, now
from registry.store.session import Session, compute, writing
from registry.studies.run import Archive, plan_studies
from registry.studies.study import Choice
from registry.studies.suites import Macro, load_macro_boards

_CONFLICT = "this file already exists with other content; remove it, or name another task with --keep"
_ABOUT_SCORES = ("label", "gold", "copy")  # categories of messages that reveal how good a submission is

Boards = list[Leaderboard]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """The settings of one evaluation: the registry, the log and the resources.

    Attributes:
        database: The registry.
        journal: Log of the command.
        execution: Threads, processes and memory for the computations.
        report: Function that is called with each message. Warnings begin with `warning: `, explanations with `info: `.
        pairs: Columns of pairs that the boards need, in addition to the decisions.
        public: Whether everybody may read the messages. Public messages show no hidden data.
        details: Whether leaderboards of two systems get sentences about their comparison.
    """

    database: Database
    journal: Journal
    execution: Execution
    report: Report
    pairs: Sequence[str] = BOARD_PAIRS
    public: bool = False
    details: bool = False


class Visibility(NamedTuple):
    """Permission to show hidden data in messages.

    Attributes:
        names: Whether messages may show the names of participants.
        scores: Whether messages may depend on scores.
    """

    names: bool = True
    scores: bool = True


_EVERYTHING = Visibility()


class Evaluation(NamedTuple):
    """The results of the evaluation of a task.

    Attributes:
        task: Id of the task.
        scored: Summary of the scoring.
        compared: Summary of the comparisons.
        boards: Leaderboards of the task.
        hidden_notes: Sentences about data that is not public.
        is_changed: Whether the registry was changed.
    """

    task: str
    scored: ScoringSummary
    compared: ComparisonSummary
    boards: Boards
    hidden_notes: list[str]
    is_changed: bool


class TaskPlace(NamedTuple):
    """Where a task is written: the folder of its files, and its registry."""

    folder: Path
    database: Database


def evaluate_task(task_folder: TaskFolder, task: str, journal: Journal, execution: Execution, report: Report,
                  place: TaskPlace | None = None, *, averages: bool = False) -> Evaluation:
    """Write the manifest and files of a task into a folder, and evaluate the task.

    Args:
        task_folder: Manifest and files of the task.
        task: Id of the task.
        journal: Log of the command.
        execution: Threads, processes and memory for the computations.
        report: Function that is called with each message.
        place: Folder and registry to write. None means a temporary folder and registry, which are removed at the end.
        averages: Whether to add a leaderboard of average scores over the test sets for each metric.

    Raises:
        InputError: The manifest or a file is invalid. The message shows the path of the user's file, not of a copy.
    """
    with (_open_place(place) as (folder, database),
          task_folder.write(folder, task, conflict=_CONFLICT) as manifest):
        specification, content = load_manifest(manifest)
        resolved = resolve(specification, manifest)

        def ingest_manifest(session: Session) -> Ingest:
            ingest, applied = apply_manifest(session, journal, resolved, content, execution.progress)
            applied.remarks = [task_folder.translate_error(remark, folder) for remark in applied.remarks]
            _report_all(report, describe_applied(applied))
            return ingest

        job = Job(database, journal, execution, report, ALL_PAIRS, details=True)
        result = evaluate(job, ingest_manifest, create=True)
        return result._replace(boards=[*result.boards, *_load_averages(job, result)]) if averages else result


def _load_averages(job: Job, result: Evaluation) -> Iterator[Leaderboard]:
    """Compute average scores over the test sets as leaderboards, one for each metric and track."""
    with job.database.reading() as connection:
        studies = plan_studies(connection, Macro(), Choice(result.task), execution=job.execution)
    archive = Archive(job.database, job.journal, print_warning=lambda warning: job.report(f"warning: {warning}"))
    for average in load_macro_boards(studies, archive):
        yield make_average_leaderboard(average, result.boards)


@contextmanager
def _open_place(place: TaskPlace | None) -> Iterator[TaskPlace]:
    if place is not None:
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="registry-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        try:
            yield TaskPlace(folder / "task", Database(folder / "registry.duckdb"))
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(NOTHING_STORED) from None


def apply_manifest(session: Session, journal: Journal, task: ResolvedTask, content: bytes,
                   progress: Progress | None) -> tuple[Ingest, IngestSummary]:
    """Store the gold and the submissions that a manifest declares in the registry.

    Args:
        session: Transaction of the command.
        journal: Log of the command.
        task: The task.
        content: Bytes of the manifest.
        progress: Function that is called with the progress; None for no progress.

    Returns:
        Objects for the following steps, and a summary of the changes.
    """
    ingest = Ingest(session.connection, journal, task, progress=progress)
    return ingest, apply(ingest, content)


def evaluate(job: Job, run_ingest: Callable[[Session], Ingest], *, create: bool = False,
             dry_run: bool = False) -> Evaluation:
    """Run all steps of an evaluation: store data, score, compare and report.

    Data and scores are committed before a long comparison begins, so that other commands can write during the
    comparison.

    Args:
        job: The settings of the evaluation.
        run_ingest: Function that stores the data of the task.
        create: Whether to create the registry if it does not exist.
        dry_run: Whether to discard all changes of the registry.
    """
    execution, journal = job.execution, job.journal
    with writing(job.database, journal, create=create, dry_run=dry_run) as session:
        session.limit_memory(execution.memory)
        ingest = run_ingest(session)
        scored = score(ingest, execution)
        row = ingest.row
        request = build_request(row, execution=execution)
        vetted, plan = prepare(session.connection, row, request)  # raises before anything is stored
        _report_all(job.report, describe_plan(plan, in_full=execution.progress is not None))

        def compare_task(session: Session, vetted: VettedTask | None = None) -> tuple[ComparisonSummary, Boards]:
            session.limit_memory(execution.memory)
            compared = compare(session.connection, journal, row, request, vetted)
            delete_unused_results(session.connection, journal)
            boards = load_leaderboards(session.connection, row, pairs=job.pairs)
            if job.details:
                boards = [add_details(session.connection, row, board) for board in boards]
            if not boards:
                job.report(f"info: {explain_no_boards(session.connection, row.slug)}")
            return compared, boards

        visibility = load_visibility(session.connection, ingest.slug, public=job.public)
        hidden_notes = note_hidden(session.connection)
        result = compare_task(session, vetted) if dry_run or plan.is_short else None
    try:
        compared, boards = result or compute(job.database, journal, compare_task)
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)("gold, submissions and scores are stored; run the command again for the "
                              "comparisons") from None
    _report_all(job.report, describe_results(scored, compared, visibility))
    return Evaluation(ingest.slug, scored, compared, boards, hidden_notes, journal.changed)


def load_visibility(connection: Connection, task: str, *, public: bool) -> Visibility:
    """Find out whether messages about a task may show names and scores.

    Args:
        connection: Connection to the registry.
        task: Id of the task.
        public: Whether everybody may read the messages; otherwise they may show everything.
    """
    if not public:
        return Visibility()
    hidden = find_hidden(connection, now())
    return Visibility(task not in hidden.anonymous, task not in hidden.blind)


def _report_all(report: Report, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        report(sentence)


def describe_applied(applied: IngestSummary, visibility: Visibility = _EVERYTHING) -> Iterator[str]:
    """Yield messages that describe the stored gold and submissions.

    Warnings and notes are yielded only if names are visible, because they name submissions and files.

    Args:
        applied: Summary of the changes.
        visibility: Data that messages may show.
    """
    if visibility.names:
        remarks = [remark for remark in applied.remarks if visibility.scores or remark.category not in _ABOUT_SCORES]
        for warning in (*applied.registry_warnings, *applied.warnings, *map(str, remarks),
                        *warnings_about(applied.similar)):
            yield f"warning: {warning}"
        for note in applied.notes:
            yield f"info: {note}"
    if applied.drawn_seed is not None:
        yield f"no seed was given: the program drew {applied.drawn_seed} and stored it with the task"
    changes = Counter(applied.changes.values())
    parts = [f"{n} {change.value}" for change in sorted(changes) if (n := changes[change])]
    gold = "".join(f"gold of {', '.join(names)} {change}; " for change, names in (
        ("new", [name for name, change in applied.gold.items() if change == "added"]),
        ("changed", [name for name, change in applied.gold.items() if change == "changed"])) if names)
    yield f"{applied.task}: {gold}submissions: {', '.join(parts) or 'none'}"


def describe_results(scored: ScoringSummary | None = None, compared: ComparisonSummary | None = None,
                     visibility: Visibility = _EVERYTHING) -> Iterator[str]:
    """Yield messages that describe the computed scores and comparisons.

    Warnings and notes are yielded only if names and scores are visible.

    Args:
        scored: Summary of the scoring; None if nothing was scored.
        compared: Summary of the comparisons; None if nothing was compared.
        visibility: Data that messages may show.
    """
    if scored is not None and scored.n_computed:
        yield f"scores: {scored.n_computed} computed, {scored.n_unchanged} already stored"
    if compared is not None and all(visibility):
        yield from (f"warning: {warning}" for warning in compared.warnings)
        yield from (f"info: {note}" for note in compared.notes)
    if compared is not None and compared.n_comparisons:
        yield (f"comparisons: {compared.n_comparisons} made; pairs: {compared.n_tested} tested, {compared.n_reused} "
               "already stored")
