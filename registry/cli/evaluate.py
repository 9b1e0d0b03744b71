"""Commands that fill a registry and compute results: init, run, apply, submit, score, compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli import completion
from registry.cli.commands import add_parameters
from registry.cli.console import print_boards, print_tables, report, report_all, report_end
from registry.cli.options import (
    SIGNIFICANCE,
    STUDY_SETTINGS,
    Actor,
    AllNotes,
    Attributes,
    Cluster,
    Db,
    DryRun,
    ManifestPath,
    Memory,
    MetricAlias,
    OutputFormat,
    Public,
    Quiet,
    ReaderOptions,
    Root,
    Task,
    TaskName,
    Wait,
    Workers,
    choose_actor,
    find_database,
    find_private_database,
    make_execution,
    parse_attributes,
    parse_named_values,
    parse_settings,
    report_unused_options,
)
from registry.cli.progress import make_reporter
from registry.errors import HiddenError, InputError, ManifestError, counted
from registry.missing import MissingPolicy

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.boards.leaderboard import Leaderboard
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.ingest.declared import DeclaredSubmission
    from registry.evaluation.resolve import ResolvedTask
    from registry.evaluation.scoring.stale import StaleScore
    from registry.pipeline import Evaluation, Job
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.session import Session

System = Annotated[str, typer.Option("--system", "-s", autocompletion=completion.systems, help="The system's name.")]
Team = Annotated[str | None, typer.Option("--team", autocompletion=completion.teams, help=(
    "The team's name. Default: the system's name."))]
TestSet = Annotated[str | None, typer.Option("--test-set", autocompletion=completion.test_sets, help=(
    "The test set; required if the task has several."))]
Track = Annotated[str | None, typer.Option("--track", autocompletion=completion.tracks, help=(
    "The track of the submission. Default: no track."))]


def suggest_update(connection: Connection, task: str) -> str:
    """Suggest the next step after a change of a task, such as `registry compare`.

    The text is empty if the leaderboards do not change.
    """
    from registry.boards.load import has_submission
    from registry.boards.stale import has_new_data

    if has_new_data(connection, task):
        return f"`registry score {task}` and `registry compare {task}` update the leaderboards"
    if not has_submission(connection, task):
        return f"`registry submit {task} FILE --system NAME` adds a submission"
    return ""


def init(db: Db = None) -> None:
    """Create the registry file unless it exists."""
    from registry.store.session import create

    database = find_database(db)
    report(f"{database.path}: {'created' if create(database) else 'nothing changed'}")


def load_task(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """Load a manifest, and look up its readers, metrics and tests.

    Args:
        manifest: The path of the manifest.
        root: The folder of its files; None: the manifest's folder.

    Returns:
        The task, and the content of the manifest's file.
    """
    from registry.evaluation.resolve import resolve
    from registry.manifest import load_manifest

    if root is not None and not root.is_dir():
        raise ManifestError(f"--root {root} is not a folder", path=manifest)
    specification, content = load_manifest(manifest)
    return resolve(specification, manifest, root), content


def evaluate_manifest(database: Database, manifest: Path, root: Path | None, execution: Execution, actor: str | None,
                      *, dry_run: bool = False, public: bool = False) -> Evaluation:
    """Store the data of a manifest, score the submissions, and compare the systems.

    Args:
        database: The registry.
        manifest: The path of the manifest.
        root: The folder of its files; None: the manifest's folder.
        execution: The settings of parallel work.
        actor: The name of the user, for the log.
        dry_run: True to store nothing.
        public: True to print no hidden data in messages.
    """
    from registry.pipeline import Job, apply_manifest, describe_applied, evaluate, load_visibility
    from registry.provenance import recorded_name
    from registry.store.log import Journal

    task, content = load_task(manifest, root)
    journal = Journal("run", {"manifest": recorded_name(manifest, database.path.parent)}, actor=actor)

    def ingest_manifest(session: Session) -> Ingest:
        ingest, applied = apply_manifest(session, journal, task, content, execution.progress)
        report_all(describe_applied(applied, load_visibility(session.connection, ingest.slug, public=public)))
        return ingest

    job = Job(database, journal, execution, report, public=public)
    return evaluate(job, ingest_manifest, create=True, dry_run=dry_run)


def run(
    context: typer.Context, manifest: ManifestPath, root: Root = None, all_notes: AllNotes = False, db: Db = None,
    format_: OutputFormat = None, workers: Workers = None, cluster: Cluster = None, memory: Memory = None,
    actor: Actor = None, dry_run: DryRun = False, public: Public = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Evaluate a manifest: apply, score, compare, print boards.

    The command stores the results. Later runs compute only what changed.
    """
    if public and dry_run:
        raise InputError("--public prints stored leaderboards, but --dry-run stores none; leave out --public or "
                         "--dry-run")
    execution = make_execution(workers, cluster, memory, quiet=quiet)
    result = evaluate_manifest(find_database(db, wait), manifest, root, execution, choose_actor(actor),
                               dry_run=dry_run, public=public)
    report_unused_options(context, execution, result.compared, result.scored)
    report_end(changed=result.is_changed, dry_run=dry_run)
    if public:
        print_boards(_load_public_boards(db, result.task), format_, all_notes=all_notes)
    else:
        report_all(result.hidden_notes, "info")
        print_boards(result.boards, format_, all_notes=all_notes)


def _load_public_boards(db: Path | None, task: str) -> list[Leaderboard]:
    """Load the leaderboards of a task without hidden data.

    While the scores of the task are hidden, the list is empty and a note is printed.
    """
    from registry.boards.load import BOARD_PAIRS
    from registry.cli.results import load_boards

    with find_private_database(db, public=True).reading() as connection:
        try:
            return load_boards(connection, task, pairs=BOARD_PAIRS).boards
        except HiddenError as hidden:
            report(f"info: {hidden}")
            return []


def apply(manifest: ManifestPath, root: Root = None, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
          wait: Wait = 60, quiet: Quiet = False) -> None:
    """Store the gold and the submissions of a manifest.

    The command skips files that are already stored. Use `registry run` to apply, score and compare in one step.
    """
    from registry.pipeline import apply_manifest, describe_applied
    from registry.provenance import recorded_name
    from registry.store.log import Journal
    from registry.store.session import writing

    task, content = load_task(manifest, root)
    database = find_database(db, wait)
    journal = Journal("apply", {"manifest": recorded_name(manifest, database.path.parent)}, actor=choose_actor(actor))
    with writing(database, journal, create=True, dry_run=dry_run) as session:
        ingest, applied = apply_manifest(session, journal, task, content, make_reporter(quiet=quiet))
        next_step = suggest_update(session.connection, ingest.slug)
    report_all(describe_applied(applied))
    report_end(changed=journal.changed, dry_run=dry_run, next_step=next_step)


def submit(
    task: Task,
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help=(
        "The system's output; several files are runs of the system."))],
    system: System, team: Team = None, test_set: TestSet = None,
    kind: Annotated[Literal["primary", "contrastive", "baseline"], typer.Option("--kind", help=(
        "The kind of submission."))] = "primary",
    version: Annotated[str, typer.Option("--version", help="The version of the system's submission.")] = "1",
    track: Track = None,
    missing: Annotated[MissingPolicy | None, typer.Option("--missing", help=(
        "How items without an answer count. Default: the manifest's policy."))] = None,
    option: ReaderOptions = None, attribute: Attributes = None,
    run: Annotated[bool, typer.Option("--run", help=(
        "Also score, compare, and print the leaderboards and the submission's rank."))] = False,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None, actor: Actor = None,
    dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Add a submission to a task.

    The rules of the stored task apply: a submission after the deadline is late, and a submission above the limit per
    team is refused.
    """
    from registry.boards.submissions import describe_places
    from registry.evaluation.ingest.apply import submit as store_submission
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.ingest.declared import build_submission
    from registry.evaluation.resolve import resolve_stored
    from registry.manifest import make_submit
    from registry.manifest.naming import natural_key
    from registry.pipeline import Job, describe_applied, evaluate
    from registry.readers import Document
    from registry.store import catalog
    from registry.store.log import Journal
    from registry.store.session import writing

    paths = sorted(map(str, file), key=natural_key)
    documents = [Document.load(path) for path in paths]
    entry = make_submit(file=", ".join(paths), system=system, team=team, test_set=test_set, kind=kind,
                         version=version, track=track, missing=missing, **parse_attributes(attribute, "participant"),
                         options=parse_named_values(option, "--option"))
    journal = Journal("submit", {"task": task, **entry.model_dump(mode="json", exclude_defaults=True),
                                 "file": ", ".join(document.name for document in documents)},
                      actor=choose_actor(actor))
    execution = make_execution(workers, None, memory, quiet=quiet)
    database = find_database(db, wait)
    submissions: list[DeclaredSubmission] = []

    def ingest_submission(session: Session) -> Ingest:
        (row,) = catalog.tasks(session.connection, task)
        resolved = resolve_stored(row.manifest, task)
        submissions.append(build_submission(resolved, entry, documents, {}, ""))
        ingest = Ingest(session.connection, journal, resolved, progress=execution.progress if run else None)
        report_all(describe_applied(store_submission(ingest, submissions[0])))
        return ingest

    if not run:
        with writing(database, journal, dry_run=dry_run) as session:
            ingest_submission(session)
            next_step = suggest_update(session.connection, task)
        report_end(changed=journal.changed, dry_run=dry_run, next_step=next_step)
        return
    result = evaluate(Job(database, journal, execution, report), ingest_submission, dry_run=dry_run)
    report_all(describe_places(result.boards, submissions[0].test_set.name, submissions[0].name))
    report_end(changed=journal.changed, dry_run=dry_run)
    report_all(result.hidden_notes, "info")
    print_boards(result.boards, format_)


def score(
    task: TaskName = None,
    stale: Annotated[bool, typer.Option("--stale", help=(
        "Also recompute scores from older code, and list them with their reasons."))] = False,
    workers: Workers = None, cluster: Cluster = None, db: Db = None, format_: OutputFormat = None,
    actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Compute missing statistics per item."""
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.resolve import resolve_stored
    from registry.evaluation.scoring.score import score as score_task
    from registry.reports.differences import make_stale_table
    from registry.store import catalog
    from registry.store.log import Journal
    from registry.store.session import compute

    journal = Journal("score", {"task": task, **({"stale": True} if stale else {})}, actor=choose_actor(actor))
    execution = make_execution(workers, cluster, None, quiet=quiet)

    def score_tasks(session: Session) -> list[tuple[StaleScore, float | None]]:
        stale_scores = []
        for row in catalog.tasks(session.connection, task):
            resolved = resolve_stored(row.manifest, row.slug)
            ingest = Ingest(session.connection, journal, resolved, progress=execution.progress)
            scored = score_task(ingest, execution, stale=stale)
            stale_scores += scored.stale
            report(f"{row.slug}: {counted(scored.n_computed, 'score')} computed, {scored.n_unchanged} already stored")
        return stale_scores

    stale_scores = compute(find_database(db, wait), journal, score_tasks, dry_run=dry_run)
    if dry_run and journal.changed:
        report("dry run: nothing was written")
    if stale:
        print_tables([make_stale_table(stale_scores)], format_)


def compare(
    context: typer.Context, task: TaskName = None, metric: MetricAlias = None, workers: Workers = None,
    cluster: Cluster = None, memory: Memory = None, db: Db = None, format_: OutputFormat = None, actor: Actor = None,
    dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False, **settings: Any,
) -> None:
    """Test all pairs of systems, and rank the systems.

    Options of the test override the keys of [significance] in the manifest. The command prints the leaderboards;
    `registry pairs` prints the pairs.
    """
    from registry.pipeline import Job
    from registry.store.log import Journal
    from registry.store.session import compute

    settings = parse_settings(settings)
    journal = Journal("compare", {"task": task, "metric": metric, **settings}, actor=choose_actor(actor))
    execution = make_execution(workers, cluster, memory, quiet=quiet)
    job = Job(find_database(db, wait), journal, execution, report)
    boards = compute(job.database, journal, lambda session: _compare_tasks(
        session, job, task, metric, settings, context), dry_run=dry_run)
    report_end(changed=journal.changed, dry_run=dry_run)
    print_boards(boards, format_)


add_parameters(compare, [(name, option, None) for name, option in SIGNIFICANCE.items() if name not in STUDY_SETTINGS])


def _compare_tasks(session: Session, job: Job, task: str | None, metric: str | None, settings: Mapping[str, Any],
                   context: typer.Context) -> list[Leaderboard]:
    from registry.boards.load import explain_no_boards, load_leaderboards
    from registry.boards.planned import describe_plan
    from registry.evaluation.comparing.compare import compare as compare_task
    from registry.evaluation.comparing.compare import delete_unused_results, prepare
    from registry.evaluation.comparing.settings import build_request
    from registry.evaluation.metric_ids import choose_alias
    from registry.pipeline import describe_results
    from registry.store import catalog
    from registry.store.embargoes import note_hidden

    execution = job.execution
    session.limit_memory(execution.memory)
    report_all(note_hidden(session.connection), "info")
    boards = []
    for row in catalog.tasks(session.connection, task):
        alias = choose_alias(session.connection, [row], metric)
        request = build_request(row, settings, None if alias is None else (alias,), execution)
        vetted, planned = prepare(session.connection, row, request)
        report_all(describe_plan(planned, in_full=execution.progress is not None))
        compared = compare_task(session.connection, job.journal, row, request, vetted)
        report_all(describe_results(compared=compared))
        report_unused_options(context, execution, compared)
        boards += load_leaderboards(session.connection, row, alias, pairs=job.pairs)
    delete_unused_results(session.connection, job.journal)
    if not boards:
        report(f"info: {explain_no_boards(session.connection, task)}")
    return boards
