"""Commands about tasks: init, run, apply, submit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from registry.cli.console import say, say_all, show_boards
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution, say_unused
from registry.cli.guide import names
from registry.cli.options import (
    Actor,
    Attributes,
    Db,
    DryRun,
    ManifestPath,
    OutputFormat,
    Public,
    ReaderOptions,
    Root,
    Task,
    Wait,
    actor_name,
    database,
    declared_facts,
    named_values,
    private_database,
)
from registry.cli.pipeline import Submitting, bring_up, resolved, say_end
from registry.cli.progress import reporter
from registry.errors import HiddenError, InputError
from registry.missing import MissingPolicy

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard
    from registry.significance import Execution
    from registry.store.database import Database


System = Annotated[str, typer.Option("--system", "-s", autocompletion=names.systems, help="The system's name.")]
Team = Annotated[str | None, typer.Option("--team", autocompletion=names.teams, help=(
    "Its team's name; else the system's."))]
TestSet = Annotated[str | None, typer.Option("--test-set", autocompletion=names.test_sets, help=(
    "Needed where the task has several."))]
Track = Annotated[str | None, typer.Option("--track", autocompletion=names.tracks, help=(
    "The track it takes part in."))]


def init(db: Db = None) -> None:
    """Create the registry, unless it exists."""
    from registry.store.session import create

    target = database(db)
    say(f"{target.path}: {'created' if create(target) else 'nothing changed'}")


def run(context: typer.Context, manifest: ManifestPath, root: Root = None, db: Db = None, format_: OutputFormat = None,
        workers: Workers = None, cluster: Cluster = None, memory: Memory = None, actor: Actor = None,
        dry_run: DryRun = False, public: Public = False, wait: Wait = 60, quiet: Quiet = False) -> None:
    """Do the whole job: apply, score, compare, print boards."""
    if public and dry_run:
        raise InputError("--public prints boards of what was written; leave --dry-run or --public out")
    how = execution(workers, cluster, memory, quiet=quiet)
    done = bring_up(database(db, wait), manifest, root, how, actor_name(actor), dry_run=dry_run, public=public)
    say_unused(context, how, done.compared, done.scored)
    say_end(changed=done.changed, dry_run=dry_run)
    if not public:
        say_all(done.not_public, "note")
    show_boards(_public_boards(db, done.task) if public else done.boards, format_)


def _public_boards(db: Path | None, task: str) -> list[Leaderboard]:
    """Read the boards of a task as they are public; none while its scores are hidden, which is said."""
    from registry.boards.load import BOARD_PAIRS
    from registry.cli.board import read_boards

    with private_database(db, public=True).reading() as connection:
        try:
            return read_boards(connection, task, pairs=BOARD_PAIRS).boards
        except HiddenError as hidden:
            say(f"note: {hidden}")
            return []


def apply(manifest: ManifestPath, root: Root = None, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
          wait: Wait = 60, quiet: Quiet = False) -> None:
    """Bring what a manifest declares into the registry.

    Files that are there already are left alone.
    """
    from registry.at_once import applied_sentences, applying
    from registry.store.log import Journal
    from registry.store.session import writing

    task, content = resolved(manifest, root)
    journal = Journal("apply", {"manifest": task.root.manifest_name}, actor=actor_name(actor))
    with writing(database(db, wait), journal, create=True, dry_run=dry_run) as session:
        _, applied = applying(session, journal, task, content, reporter(quiet=quiet))
    say_all(applied_sentences(applied))
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")


def submit(
    task: Task,
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The system's output; several are its runs.")],
    system: System, team: Team = None, test_set: TestSet = None,
    kind: Annotated[Literal["primary", "contrastive", "baseline"], typer.Option("--kind", help=(
        "What the submission is."))] = "primary",
    version: Annotated[str, typer.Option("--version", help="Distinguishes submissions of one system.")] = "1",
    track: Track = None,
    missing: Annotated[MissingPolicy | None, typer.Option("--missing", help=(
        "What to do about items without answer."))] = None,
    option: ReaderOptions = None, attribute: Attributes = None,
    run: Annotated[bool, typer.Option("--run", help=(
        "Score and compare it too, print the boards, and tell its place."))] = False,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, memory: Memory = None, actor: Actor = None,
    dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Bring one more submission to a task into the registry.

    It is read under the rules of the task, which is there: what comes after the deadline is late, and what is beyond
    the limits of a team is refused.
    """
    from registry.evaluation.ingest.declared import natural
    from registry.manifest import submit_entry
    from registry.readers import Document
    from registry.store.log import Journal
    from registry.store.session import writing

    paths = sorted(map(str, file), key=natural)
    documents = [Document.load(path) for path in paths]
    entry = submit_entry(file=", ".join(paths), system=system, team=team, test_set=test_set, kind=kind,
                         version=version, track=track, missing=missing, **declared_facts(attribute, "participant"),
                         options=named_values(option or [], "--option"))
    journal = Journal("submit", {"task": task, **entry.model_dump(mode="json", exclude_defaults=True),
                                 "file": ", ".join(document.name for document in documents)}, actor=actor_name(actor))
    how, target = execution(workers, None, memory, quiet=quiet), database(db, wait)
    given = Submitting(task, entry, documents, journal, how.progress if run else None)
    if run:
        show_boards(_evaluated(target, given, how, dry_run=dry_run), format_)
        return
    with writing(target, journal, dry_run=dry_run) as session:
        given.bring(session)
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")


def _evaluated(target: Database, given: Submitting, how: Execution, *, dry_run: bool) -> list[Leaderboard]:
    """Submit, score and compare, and tell the place of what is submitted; gives the boards."""
    from registry.at_once import Job, evaluated
    from registry.boards.submissions import describe_places

    done = evaluated(Job(target, given.journal, how, say), given.bring, dry_run=dry_run)
    say_all(describe_places(done.boards, given.one.test_set.name, given.one.name))
    say_end(changed=given.journal.changed, dry_run=dry_run)
    say_all(done.not_public, "note")
    return done.boards
