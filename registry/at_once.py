"""A task in one go: brought in, scored and compared, and its leaderboards read.

That is done in a registry that stays, or in a temporary one that is removed again. What is told meanwhile goes to
whoever listens, sentence by sentence: a terminal, or a list.
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

from registry.boards.leaderboard import Leaderboard
from registry.boards.load import ALL_PAIRS, BOARD_PAIRS, load_leaderboards
from registry.boards.planned import describe_plan
from registry.evaluation.comparing.compare import ComparisonSummary, compare, prepare
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

OF_SCORES = ("label", "gold", "copy")  # categories of remarks that tell how good a submission is

Boards = list[Leaderboard]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """What somebody wants done with a task.

    Attributes:
        database: The registry that it is done in.
        journal: The record of it.
        how: Who computes.
        tell: Called with what is told, in sentences; warnings begin with `warning: `, notes with `note: `.
        pairs: What is read of pairs beside the decisions.
        public: Whether messages are for everybody, and so show no hidden names and nothing that hidden scores imply.
    """

    database: Database
    journal: Journal
    how: Execution
    tell: Tell
    pairs: Sequence[str] = BOARD_PAIRS
    public: bool = False


class Shown(NamedTuple):
    """What messages may show: names of participants, and what depends on scores."""

    names: bool = True
    scores: bool = True


_EVERYTHING = Shown()


class BroughtUp(NamedTuple):
    """What was computed of a task, its leaderboards, and sentences about what of the registry is not public."""

    task: str
    scored: ScoringSummary
    compared: ComparisonSummary
    boards: Boards
    not_public: list[str]
    changed: bool


class Kept(NamedTuple):
    """Where a task is kept that somebody wants to keep: its folder, and the registry that it is brought into."""

    folder: Path
    database: Database


def at_once(made: TaskFolder, task: str, journal: Journal, how: Execution, tell: Tell,
            keep: Kept | None = None) -> BroughtUp:
    """Bring in, score and compare a task that was made, as it declares; nothing of it stays unless it is to be kept.

    Args:
        made: Its manifest and files.
        task: Its id.
        journal: Of the command.
        how: Who computes.
        tell: Told what is found, as a job's is.
        keep: Where it is kept; None: in a temporary folder and registry, which are removed also where anything fails.

    Raises:
        InputError: The task is wrong; the place is the user's, where `made` says what its files are copies of.
    """
    with _place(keep) as (folder, database), made.write(folder, task) as manifest:
        specification, content = load_manifest(manifest)
        known = resolve(specification, manifest)

        def bring(session: Session) -> Ingest:
            ingest, applied = applying(session, journal, known, content, how.progress)
            applied.remarks = [made.translate_error(remark, folder) for remark in applied.remarks]
            _tell(tell, applied_sentences(applied))
            return ingest

        return evaluated(Job(database, journal, how, tell, ALL_PAIRS), bring, create=True)


@contextmanager
def _place(keep: Kept | None) -> Iterator[Kept]:
    """Where a task is to be, for as long as it is worked on."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="registry-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        yield Kept(folder / "task", Database(folder / "registry.duckdb"))


def applying(session: Session, journal: Journal, task: ResolvedTask, content: bytes,
             progress: Progress | None) -> tuple[Ingest, IngestSummary]:
    """Bring in what a manifest declares, of which `content` are the bytes."""
    ingest = Ingest(session.connection, journal, task, progress=progress)
    return ingest, apply(ingest, content)


def evaluated(job: Job, bring: Callable[[Session], Ingest], *, create: bool = False,
              dry_run: bool = False) -> BroughtUp:
    """Score and compare what a function brings in, and tell what was computed.

    Comparisons that take long are made when all before them is in the database, and others may write.
    """
    how, journal = job.how, job.journal
    with writing(job.database, journal, create=create, dry_run=dry_run) as session:
        session.limit_memory(how.memory)
        ingest = bring(session)
        scored = score(ingest, how)
        row = ingest.row
        request = build_request(row, execution=how)
        vetted, planned = prepare(session.connection, row, request)  # refused before anything is kept
        _tell(job.tell, describe_plan(planned, in_full=how.progress is not None))

        def compared(session: Session, vetted: VettedTask | None = None) -> tuple[ComparisonSummary, Boards]:
            session.limit_memory(how.memory)
            done = compare(session.connection, journal, row, request, vetted)
            return done, load_leaderboards(session.connection, row, pairs=job.pairs)

        shown = shown_in_messages(session.connection, ingest.slug, public=job.public)
        hidden = note_hidden(session.connection)
        found = compared(session, vetted) if dry_run or planned.is_short else None
    done, boards = found or compute(job.database, journal, compared)
    _tell(job.tell, result_sentences(scored, done, shown))
    return BroughtUp(ingest.slug, scored, done, boards, hidden, journal.changed)


def shown_in_messages(connection: Connection, task: str, *, public: bool) -> Shown:
    """Return what messages about a task may show; `public` messages show nothing that is hidden now."""
    if not public:
        return Shown()
    hidden = find_hidden(connection, now())
    return Shown(task not in hidden.anonymous, task not in hidden.blind)


def _tell(tell: Tell, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        tell(sentence)


def applied_sentences(applied: IngestSummary, shown: Shown = _EVERYTHING) -> Iterator[str]:
    """Say what was brought in; warnings and notes name submissions and their files."""
    if shown.names:
        remarks = [remark for remark in applied.remarks if shown.scores or remark.category not in OF_SCORES]
        for warning in (*applied.registry_warnings, *applied.warnings, *map(str, remarks),
                        *warnings_about(applied.similar)):
            yield f"warning: {warning}"
        for note in applied.notes:
            yield f"note: {note}"
    if applied.drawn_seed is not None:
        yield f"no seed was given: drew {applied.drawn_seed}, kept with the task"
    changes = Counter(applied.changes.values())
    parts = [f"{n} {change.value}" for change in sorted(changes) if (n := changes[change])]
    gold = "".join(f"gold of {', '.join(names)} {what}; " for what, names in (
        ("new", [name for name, change in applied.gold.items() if change == "added"]),
        ("changed", [name for name, change in applied.gold.items() if change == "changed"])) if names)
    yield f"{applied.task}: {gold}submissions: {', '.join(parts) or 'none'}"


def result_sentences(scored: ScoringSummary | None = None, compared: ComparisonSummary | None = None,
                     shown: Shown = _EVERYTHING) -> Iterator[str]:
    """Say what was computed; warnings and notes may name submissions and depend on scores."""
    if scored is not None and scored.n_computed:
        yield f"scores: {scored.n_computed} computed, {scored.n_unchanged} there already"
    if compared is not None and all(shown):
        yield from (f"warning: {warning}" for warning in compared.warnings)
        yield from (f"note: {note}" for note in compared.notes)
    if compared is not None and compared.n_comparisons:
        yield (f"comparisons: {compared.n_comparisons} made; pairs: {compared.n_tested} tested, {compared.n_reused} "
               "known")
