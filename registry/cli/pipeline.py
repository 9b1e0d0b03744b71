"""The main job as commands do it: a manifest resolved, applied, scored and compared, and what is told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from registry.cli.console import say
from registry.cli.execution import say_plan
from registry.cli.options import organiser
from registry.errors import HiddenError, ManifestError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.evaluation.comparing.compare import Compared
    from registry.evaluation.comparing.vetting import Vetted
    from registry.evaluation.ingest.apply import Applied
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.ingest.declared import Declared
    from registry.evaluation.resolve import ResolvedTask
    from registry.evaluation.scoring.score import Scored
    from registry.leaderboards.leaderboard import Leaderboard
    from registry.manifest.spec import Submit
    from registry.parallel.execution import Progress
    from registry.readers import Document
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.hiding.names import Names
    from registry.store.log.journal import Journal
    from registry.store.row_types import TaskRow
    from registry.store.working.session import Session

    Boards = list[Leaderboard]

AT_ONCE = 1.0  # processor seconds of comparisons for which other writers wait
OF_SCORES = ("label", "gold", "copy")  # categories of remarks that tell how good a submission is


def resolved(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """Read a manifest and resolve its names; give the bytes that were read too."""
    from registry.evaluation.resolve import resolve
    from registry.manifest import load_manifest

    if root is not None and not root.is_dir():
        raise ManifestError(f"--root {root} is no folder", path=manifest)
    specification, content = load_manifest(manifest)
    return resolve(specification, manifest, root), content


def brought_in(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """The same of a manifest that will be brought in: of an anonymous task errors name no participants."""
    from registry.manifest import declares_anonymity
    from registry.store.hiding.names import without_names

    try:
        return resolved(manifest, root)
    except ManifestError as error:
        if not organiser.get() and manifest.is_file() and declares_anonymity(manifest.read_bytes()):
            without_names(error)
        raise


class BroughtUp(NamedTuple):
    """What was computed of a task, its leaderboards, and what is said instead of names that are hidden."""

    task: str
    scored: Scored
    compared: Compared
    boards: Boards
    names: Names
    changed: bool


def bring_up(database: Database, manifest: Path, root: Path | None, how: Execution, actor: str | None, *,
             dry_run: bool = False) -> BroughtUp:
    """Apply, score and compare what a manifest declares."""
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.ingest.given import bringing
    from registry.store.log.journal import Journal

    task, content = brought_in(manifest, root)
    journal = Journal("run", {"manifest": task.root.manifest_name}, actor=actor)

    def bring(session: Session) -> Ingest:
        session.bringing = bringing(task)
        ingest = Ingest(session.connection, journal, task, progress=how.progress)
        say_applied(apply(ingest, content), session.names)
        return ingest

    return evaluated(database, journal, bring, how, create=True, dry_run=dry_run)


def evaluated(database: Database, journal: Journal, bring: Callable[[Session], Ingest], how: Execution, *,
              create: bool = False, dry_run: bool = False) -> BroughtUp:
    """Score and compare what a function brings in, and tell what was computed.

    Comparisons that take long are made when all before them is in the database, and others may write.
    """
    from registry.evaluation.comparing.compare import compare
    from registry.evaluation.comparing.plan import plan
    from registry.evaluation.comparing.settings import declared_request
    from registry.evaluation.comparing.vetting import vet
    from registry.evaluation.scoring.score import score
    from registry.store import catalog
    from registry.store.working.session import computed, writing

    with writing(database, journal, create=create, dry_run=dry_run) as session:
        session.bound(how.memory)
        ingest, brought = bring(session), session.bringing
        scored = score(ingest, how)
        (row,) = catalog.tasks(session.connection, ingest.slug)
        request = declared_request(row, execution=how)
        vetted = vet(session.connection, row, request)
        vetted.require()  # before anything is kept
        planned = plan(session.connection, vetted.keys, request)
        say_plan(planned, how)

        def compared(session: Session, vetted: Vetted | None = None) -> tuple[Compared, Boards | None, Names]:
            session.bound(how.memory)
            session.bringing = brought
            done = compare(session.connection, journal, row, request, vetted)
            return done, shown_boards(session, [row]), session.names

        is_short = dry_run or planned.processor_seconds < AT_ONCE
        found = compared(session, vetted) if is_short else None
    done, boards, names = found or computed(database, journal, compared)
    if boards is None:
        boards = committed_boards(database, [row])
    say_results(names, scored, done)
    return BroughtUp(ingest.slug, scored, done, boards, names, journal.changed)


@dataclass
class Submitting:
    """One more submission to a task that is there.

    Attributes:
        task: The task's id.
        entry: What is said of the submission, as a manifest would.
        documents: Its files.
        journal: Of the command.
        progress: Told how far each stage of the work is.
        one: The submission by the rules of the task, once it is brought in.
    """

    task: str
    entry: Submit
    documents: Sequence[Document]
    journal: Journal
    progress: Progress | None
    one: Declared = field(init=False)

    def bring(self, session: Session) -> Ingest:
        """Bring it in, and tell what was found."""
        from registry.evaluation.ingest.apply import submit
        from registry.evaluation.ingest.context import Ingest
        from registry.evaluation.ingest.declared import declare
        from registry.evaluation.ingest.given import bringing
        from registry.evaluation.resolve import resolve_stored
        from registry.store import catalog

        (row,) = catalog.tasks(session.connection, self.task)
        known = resolve_stored(row.manifest, self.task)
        self.one = declare(known, self.entry, self.documents, {}, "")
        session.bringing = bringing(known, [self.one])
        ingest = Ingest(session.connection, self.journal, known, progress=self.progress)
        say_applied(submit(ingest, self.one), session.names)
        return ingest


def shown_boards(session: Session, rows: Sequence[TaskRow], metric: str | None = None) -> Boards | None:
    """Read the leaderboards that a command prints of what it has computed; None: `committed_boards` does it later."""
    if session.is_shown_later:
        return None
    with session.shown() as connection:
        return _boards(connection, rows, metric)


def committed_boards(database: Database, rows: Sequence[TaskRow], metric: str | None = None) -> Boards:
    """Read the leaderboards that a command prints of what it has computed and committed."""
    with database.reading() as connection:
        return _boards(connection, rows, metric)


def _boards(connection: Connection, rows: Sequence[TaskRow], metric: str | None) -> Boards:
    """The leaderboards of tasks; tells of those that are hidden."""
    from registry.leaderboards.load import BOARD_PAIRS, declared_leaderboards
    from registry.store.hiding.concealment import require_scores

    found: Boards = []
    for row in rows:
        try:
            require_scores(connection, row.slug)
            found += declared_leaderboards(connection, row, metric, pairs=BOARD_PAIRS)
        except HiddenError as hidden:
            say(f"note: {hidden}")
    return found


def say_applied(applied: Applied, names: Names) -> None:
    """Tell what was brought in; in a blind phase nothing that tells of scores."""
    remarks = [remark for remark in applied.remarks
               if applied.task not in names.blind or remark.category not in OF_SCORES]
    for warning in (*applied.of_registry, *applied.warnings, *map(str, remarks)):
        say(names.said(f"warning: {warning}"))
    for note in applied.notes:
        say(names.said(f"note: {note}"))
    if applied.drawn_seed is not None:
        say(f"no seed was given: drew {applied.drawn_seed}, kept with the task")
    changes = Counter(applied.changes.values())
    parts = [f"{n} {change.value}" for change in sorted(changes) if (n := changes[change])]
    gold = "".join(f"gold of {', '.join(names)} {what}; " for what, names in (
        ("new", [name for name, change in applied.gold.items() if change == "added"]),
        ("changed", [name for name, change in applied.gold.items() if change == "changed"])) if names)
    say(f"{applied.task}: {gold}submissions: {', '.join(parts) or 'none'}")


def say_results(names: Names, scored: Scored | None = None, compared: Compared | None = None) -> None:
    """Tell what was computed; in a blind phase no warnings, which may count pairs that are alike or not."""
    if scored is not None and scored.computed:
        say(f"scores: {scored.computed} computed, {scored.unchanged} there already")
    for warning in compared.warnings if compared is not None else ():
        if warning.partition("/")[0] in names.blind:
            continue
        say(names.said(f"warning: {warning}"))
    for note in compared.notes if compared is not None else ():
        say(names.said(f"note: {note}"))
    if compared is not None and compared.made:
        say(f"comparisons: {compared.made} made; pairs: {compared.pairs_computed} tested, {compared.pairs_found} known")


def say_end(*, changed: bool, dry_run: bool, then: str = "") -> None:
    """Tell whether anything was written, and what comes next, if anything does."""
    if not changed:
        say_unchanged("nothing changed")
    elif dry_run:
        say("dry run: nothing was written")
    elif then:
        say(f"next: {then} to date")


def say_unchanged(message: str) -> None:
    """Tell that everything was there; who changes the code is told why the numbers are those of before."""
    from registry.provenance import code

    say(message)
    if code().dirty:
        say("note: the code differs from its revision; `registry score --stale` computes scores anew whose metric is "
            "other code; all else is known by its name and the package's version, not computed anew: take another --db")
